#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processed profiles of Firefox give the sums that their samples have.

    firefox.py

Random threads are written in the forms of all versions of the format, and
summed up here without any of its tables.
"""
import collections
import gzip
import json
import os
import random
import shutil
import subprocess
import tempfile

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
FUNCTIONS = ["main", "f", "g<int>()", "", "é", "(root)", "h;h", "0x12ab"]


class Strings:
    def __init__(self):
        self.all = ["unused"]

    def index(self, text):
        if text not in self.all:
            self.all.append(text)
        return self.all.index(text)


class Tables:
    """The tables of one thread, or of all."""

    def __init__(self, strings, version):
        self.strings, self.version = strings, version
        self.functions, self.frames, self.stacks = [], [], []

    @staticmethod
    def add(rows, row):
        if row not in rows:
            rows.append(row)
        return rows.index(row)

    def stack(self, names):
        at = None
        for name in names:
            function = self.add(self.functions, name)
            frame = self.add(self.frames, (function, len(name)))
            at = self.add(self.stacks, (at, frame))
        return at

    def document(self, rng):
        n = len(self.functions)
        function = {
            "name": [self.strings.index(name) for name in self.functions],
            "isJS": [False] * n, "resource": [-1] * n, "lineNumber": [None] * n,
            "length": n}
        if self.version >= 58:
            function["source"] = [0 if name == "f" else None
                                  for name in self.functions]
        else:
            function["fileName"] = [self.strings.index("f.js") if name == "f"
                                    else None for name in self.functions]
        frame = {"func": [row[0] for row in self.frames],
                 "line": [row[1] for row in self.frames],
                 "address": [-1] * len(self.frames),
                 "category": [None] * len(self.frames),
                 "length": len(self.frames)}
        stack = {"frame": [row[1] for row in self.stacks],
                 "length": len(self.stacks)}
        if self.version >= 66:
            stack["prefixOffset"] = [0 if row[0] is None else i - row[0]
                                     for i, row in enumerate(self.stacks)]
        else:
            stack["prefix"] = [row[0] for row in self.stacks]
        if self.version >= 70:
            frame["lib"] = [-1] * len(self.frames)
        resource = {"length": 0, "name": [], "type": []}
        if self.version < 70:
            resource["lib"] = []
        return shuffled(rng, {
            "stackTable": shuffled(rng, stack),
            "frameTable": shuffled(rng, frame),
            "funcTable": shuffled(rng, function),
            "resourceTable": resource, "nativeSymbols": {"length": 0}})


def shuffled(rng, keys):
    items = list(keys.items())
    rng.shuffle(items)
    return dict(items)


def random_threads(rng):
    """[(name, [(stack or None, weight, CPU time or None)])]"""
    return [(f"thread {i}", [
        (tuple(rng.choices(FUNCTIONS, k=rng.randint(1, 9)))
         if rng.random() < 0.95 else None,
         rng.randint(0, 5), rng.choice([None, 0, rng.randint(1, 10**6)]))
        for _ in range(rng.randint(0, 60))]) for i in range(rng.randint(1, 4))]


def random_times(rng, threads):
    """When the samples of each thread were taken, in ms; None: unknown.  Only
    files with plain times have unknown ones."""
    has_unknown = rng.random() < 0.5
    all_times = []
    for _, samples in threads:
        time, times = rng.randint(0, 10**6) / 1000, []
        for _ in samples:
            times.append(None if has_unknown and rng.random() < 0.1 else
                         round(time, 4))
            time += rng.choice([0.5, 1, rng.random() * 500])
        all_times.append(times)
    return all_times


def time_column(rng, times):
    """As times, or as differences."""
    if None in times or rng.random() < 0.5:
        return {"time": times}
    return {"timeDeltas": [round(time - before, 4) for before, time in
                           zip([0, *times], times)]}


def slices_differ(path, resource, threads, all_times, value):
    """What `timeline` says, against the samples themselves."""
    samples = [(round(time * 10**6) if time is not None else None,
                value(sample, i))
               for (_, thread), times in zip(threads, all_times)
               for i, (sample, time) in enumerate(zip(thread, times))]
    known = [one for one in samples if one[0] is not None]
    out = subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", f"resource {resource}", "-e",
         "timeline", path], stdin=subprocess.DEVNULL, check=False,
        capture_output=True, text=True, timeout=120)
    if not any(hits for _, hits in samples):
        return []
    if not known:
        return [] if "does not say when" in out.stderr else ["has times"]
    answer = json.loads(out.stdout.splitlines()[-1])
    start = min(time for time, _ in known)
    wrong = [f"{resource}: {row}" for row in answer["rows"]
             if row["hits"] != sum(hits for time, hits in known if
                                   row["begin_ns"] <= time - start <
                                   row["end_ns"])]
    if sum(row["hits"] for row in answer["rows"]) != \
            sum(hits for _, hits in known):
        wrong.append("hits outside of all slices")
    if answer["without_time"] != sum(hits for time, hits in samples
                                     if time is None):
        wrong.append(f"without time: {answer['without_time']}")
    return wrong


def document(rng, threads, version, weights, unit, all_times):
    shared_strings = Strings()
    shared = Tables(shared_strings, version)
    written = []
    for name, samples in threads:
        own = Strings() if version < 56 else shared_strings
        tables = shared if version >= 60 else Tables(own, version)
        columns = {
            "stack": [tables.stack(stack) if stack else None
                      for stack, _, _ in samples],
            **time_column(rng, all_times[len(written)]),
            "weightType": weights, "length": len(samples),
            "weight": None if weights == "samples" else
            [weight for _, weight, _ in samples]}
        if unit:
            columns["threadCPUDelta"] = [cpu for _, _, cpu in samples]
        thread = {"name": name, "pid": "17.1", "tid": len(written),
                  "samples": shuffled(rng, columns),
                  "markers": {"data": [{"x": [{}]}], "length": 1}}
        if version < 60:
            thread.update(tables.document(rng))
        if version < 56:
            thread["stringArray"] = own.all
        written.append(shuffled(rng, thread))
    meta = {"interval": 2.5, "version": 29, "product": "Firefox",
            "preprocessedProfileVersion": version,
            "markerSchema": [{"name": "x"}]}
    if unit:
        meta["sampleUnits"] = {"time": "ms", "threadCPUDelta": unit}
    whole = {"meta": meta, "libs": [], "threads": written}
    if version >= 56:
        whole["shared"] = {"stringArray": shared_strings.all}
    if version >= 58:
        whole["shared"]["sources"] = {
            "length": 1, "filename": [shared_strings.index("f.js")]}
    if version >= 60:
        whole["shared"].update(shared.document(rng))
    return shuffled(rng, whole)


def name_of(function):
    return function or "(anonymous)"


def totals(threads, value):
    """{path from the outermost frame: its hits}; value(sample, i) gives the
    hits."""
    sums = collections.Counter()
    for _, samples in threads:
        for i, sample in enumerate(samples):
            stack = [name_of(name) for name in sample[0] or ["[no stack]"]]
            for n in range(len(stack)):
                sums[tuple(stack[:n + 1])] += value(sample, i)
    return {path: hits for path, hits in sums.items() if hits}


def tree(profile, resource):
    out = subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "threshold 0",
         "-e", f"resource {resource}", "-e", "tree", profile],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
        text=True, timeout=120).stdout
    return {tuple(row["path"]): row["hits"]
            for row in json.loads(out.splitlines()[-1])["rows"] if row["hits"]}


WEIGHTS = {"samples": ("samples", lambda sample, i: 1),
           "tracing-ms": ("time", lambda sample, i: sample[1] * 10**6),
           "bytes": ("bytes", lambda sample, i: sample[1])}
# The first time of a thread means nothing.
UNITS = {"ns": ("cpu", lambda sample, i: (sample[2] or 0) if i else 0),
         "µs": ("cpu", lambda sample, i: 1000 * (sample[2] or 0) if i else 0),
         "variable CPU cycles":
         ("cpu-cycles", lambda sample, i: (sample[2] or 0) if i else 0)}


def check(seed, version):
    rng = random.Random(seed)
    threads = random_threads(rng)
    if not any(samples for _, samples in threads):
        threads.append(("more", [(("main",), 1, 2), (("main",), 3, 4)]))
    weights = rng.choice(list(WEIGHTS))
    unit = rng.choice([None, *UNITS])
    path = os.path.join(WORK, "profile.json")
    all_times = random_times(rng, threads)
    text = json.dumps(document(rng, threads, version, weights, unit,
                               all_times),
                      ensure_ascii=rng.random() < 0.5)
    opened = gzip.open if seed % 2 else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(text)
    wrong = []
    for name, value in [WEIGHTS[weights]] + ([UNITS[unit]] if unit else []):
        wanted = totals(threads, value)
        got = tree(path, name) if wanted else {}
        wrong += [f"{name}: {key}: {got.get(key)}, expected {wanted.get(key)}"
                  for key in {*wanted, *got}
                  if got.get(key) != wanted.get(key)]
        wrong += slices_differ(path, name, threads, all_times, value)
    return wrong


PROGRAM = """
int inner(int x) { return x * 3 % 7; }
int main(void) { return inner(4) - inner(4); }
"""


def symbols_of_addresses():
    """Frames of a program that is linked at an address, as samply leaves them.

    The library's addresses count from its first segment."""
    program = os.path.join(WORK, "program")
    subprocess.run(["gcc", "-O0", "-no-pie", "-x", "c", "-o", program, "-"],
                   input=PROGRAM, check=True, text=True, timeout=120)
    table = {line.split()[2]: int(line.split()[0], 16) for line in
             subprocess.run(["nm", program], stdout=subprocess.PIPE, text=True,
                            check=True, timeout=120).stdout.splitlines()
             if line.split()[1] in "Tt"}
    addresses = [table["main"] + 4 - 0x400000, table["inner"] + 4 - 0x400000]
    names = [hex(address) for address in addresses]
    whole = {"meta": {"interval": 1, "preprocessedProfileVersion": 55},
             "libs": [{"path": "/nowhere"}, {"path": program, "codeId": None}],
             "threads": [{
                 "stringArray": [*names, "_Z5namedv"],
                 "stackTable": {"frame": [0, 1, 2], "prefix": [None, 0, 1]},
                 "frameTable": {"func": [0, 1, 2], "line": [None] * 3,
                                "address": [*addresses, addresses[1]]},
                 "funcTable": {"name": [0, 1, 2], "resource": [0, 0, 0],
                               "fileName": [None] * 3, "lineNumber": [None] * 3},
                 "resourceTable": {"lib": [1]},
                 "samples": {"stack": [2, 1, 2], "weight": None}}]}
    path = os.path.join(WORK, "addresses.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file)
    got = tree(path, "samples")
    wanted = {("main",): 3, ("main", "inner"): 3,
              ("main", "inner", "named()"): 2}
    return [] if got == wanted else [str(got)]


def main():
    versions = [1, 20, 41, 55, 56, 58, 60, 66, 70]
    for n, version in enumerate(versions, 1):
        wrong = []
        for seed in range(8):
            wrong += [f"seed {seed}: {line}" for line in check(seed, version)]
        print("not ok" if wrong else "ok", n, f"- sums of version {version}")
        for line in wrong[:10]:
            print("#", line)
    n = len(versions) + 1
    claim = f"{n} - addresses have the symbols of their library"
    if shutil.which("gcc") and shutil.which("nm"):
        wrong = symbols_of_addresses()
        print("not ok" if wrong else "ok", claim)
        for line in wrong:
            print("#", line)
    else:
        print("ok", claim, "# SKIP gcc or nm not found")
    print(f"1..{n}")


with tempfile.TemporaryDirectory() as WORK:
    main()
