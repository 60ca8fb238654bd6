#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""labels.py -- labels of pprof profiles have the hits of their samples.

Profiles of random labels are added up sample by sample, and real ones by `go
tool pprof -tags` where that is installed.  Speaks TAP.
"""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

import cpprof
from claims import Claims
from pprof_writer import write

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = cpprof.CPPROF
NONE = "[none]"
claims = Claims()


def run(profile, *commands, check=True):
    return cpprof.ask(profile, "threshold 0", *commands,
                      options=("-F", "json"), status=0 if check else None)


def rows(profile, command):
    return json.loads(run(profile, command).stdout.splitlines()[-1])["rows"]


def shown(text, unit):
    return f"{text} {unit}" if unit else str(text)


def expected(samples, key=None):
    """Hits by value of a key, or by key; a sample counts once for each."""
    found = collections.Counter()
    for _, value, labels in samples:
        names = {shown(text, unit) if key else k for k, text, unit in labels
                 if key in (None, k)}
        for name in names or ({NONE} if key else ()):
            found[name] += value
    return dict(found)


def random_samples(source):
    for _ in range(source.randrange(1, 200)):
        labels = []
        for key in ("route", "user", "step"):
            for _ in range(source.choice((0, 0, 1, 1, 2))):
                labels.append((key, f"{key}-{source.randrange(4)}", ""))
        for key, unit in (("size", "bytes"), ("n", "")):
            if source.random() < 0.4:
                labels.append((key, source.randrange(-2, 5) * 3 or 1, unit))
        source.shuffle(labels)
        stack = [source.randrange(1, 6)
                 for _ in range(source.randrange(1, 6))]
        yield stack, source.randrange(1, 50), labels


def differences(path, samples):
    """What is not as the samples say, in views and in the whole run."""
    wrong = []
    keys = expected(samples)
    found = {row["key"]: row["hits"] for row in rows(path, "labels")}
    if found != keys:
        wrong.append(f"labels: {found}, expected {keys}")
    n_values = {key: len({shown(text, unit) for _, _, labels in samples
                          for k, text, unit in labels if k == key})
                for key in keys}
    found = {row["key"]: row["values"] for row in rows(path, "labels")}
    if found != n_values:
        wrong.append(f"values: {found}, expected {n_values}")
    for key in keys:
        true = expected(samples, key)
        found = {row["value"]: row["hits"]
                 for row in rows(path, "labels " + key)}
        if found != true:
            wrong.append(f"labels {key}: {found}, expected {true}")
        order = [(-row["hits"], row["value"])
                 for row in rows(path, "labels " + key)]
        if [hits for hits, _ in order] != sorted(hits for hits, _ in order):
            wrong.append(f"labels {key}: not sorted: {order}")
    total = json.loads(run(path, "functions").stdout)["total"]
    if total != sum(value for _, value, _ in samples):
        wrong.append(f"total {total}")
    return wrong


def check_random(directory):
    wrong = []
    path = os.path.join(directory, "random.pb.gz")
    for seed in range(25):
        samples = list(random_samples(random.Random(seed)))
        write(path, samples)
        wrong += [f"seed {seed}: {line}"
                  for line in differences(path, samples)]
    claims.make("random labels have the hits of their samples", wrong)


def check_sum(directory):
    """Two files: the sum of both."""
    paths, samples = [], []
    for seed in (31, 32):
        paths.append(os.path.join(directory, f"{seed}.pb.gz"))
        samples.append(list(random_samples(random.Random(seed))))
        write(paths[-1], samples[-1])
    words = [CPPROF, "-q", "-F", "json", "-e", "threshold 0", "-e",
             "labels route", *paths]
    table = json.loads(subprocess.run(words, capture_output=True, text=True,
                                      check=True, timeout=60).stdout)
    true = expected(samples[0] + samples[1], "route")
    found = {row["value"]: row["hits"] for row in table["rows"]}
    claims.check("the labels of two files are those of both", found == true,
                 f"{found}, expected {true}")


def check_limits(directory):
    """Numbers with too many combinations are left out, strings never."""
    path = os.path.join(directory, "limits.pb.gz")
    for n, is_read in ((1024, True), (1025, False), (5000, False)):
        samples = [([1, 2], 1, [("time", i + 1, "us"),
                                ("route", f"r{i % 3}", "")])
                   for i in range(n) for _ in range(2)] + [([2], 7, [])]
        write(path, samples)
        true = expected(samples, "route")
        found = {row["value"]: row["hits"]
                 for row in rows(path, "labels route")}
        answer = run(path, "labels")
        keys = [row["key"] for row in
                json.loads(answer.stdout.splitlines()[-1])["rows"]]
        claims.check(f"{n} combinations of numbers: strings are whole",
                     found == true, f"{found}, expected {true}")
        claims.check(f"{n} combinations of numbers are "
                     f"{'' if is_read else 'not '}read",
                     keys == (["route", "time"] if is_read else ["route"]) and
                     ("numbers have more than 1024" in answer.stderr) !=
                     is_read, f"{keys} {answer.stderr}")


def check_threads(directory):
    """Labels that are threads' and processes' names and numbers."""
    path = os.path.join(directory, "threads.pb.gz")
    write(path, [
        ([1], 1, [("thread_name", "io", ""), ("tid", 11, ""),
                  ("pid", 1, "")]),
        ([1], 2, [("thread_name", "io", ""), ("tid", 12, ""),
                  ("pid", 1, "")]),
        ([1], 4, [("comm", "cpu", ""), ("thread id", "21", ""),
                  ("process_id", "2", "")]),
        # The better key is the name, wherever it is.
        ([2], 128, [("thread", "best", ""), ("comm", "cpu", "")]),
        ([1], 8, [("comm", "cpu", ""), ("thread", "best", "")]),
        ([1], 16, [("tid", "33", "")]),
        ([1], 32, [("pid", 2, "")]),
        ([1], 64, []),
    ])
    found = {(row["pid"], row["tid"], row["name"]): row["hits"]
             for row in rows(path, "threads all")}
    true = {(1, 11, "io"): 1, (1, 12, "io"): 2, (2, 21, "cpu"): 4,
            (1, None, "best"): 136, (1, 33, "33"): 16,
            (2, None, "[unknown]"): 32, (None, None, "[unknown]"): 64}
    claims.check("labels name threads and processes", found == true,
                 f"{found}\n{true}")
    found = {row["pid"]: row["hits"] for row in rows(path, "processes all")}
    true = {1: 155, 2: 36, None: 64}
    claims.check("labels tell processes apart", found == true,
                 f"{found}\n{true}")


# ---- go tool pprof ----

UNITS = {"ms": 1e6, "s": 1e9, "us": 1e3, "ns": 1, "B": 1, "kB": 1 << 10,
         "MB": 1 << 20}


def go_tags(path, directory):
    """{key: {value: (share of the key's total)}} of go tool pprof -tags."""
    answer = subprocess.run(
        ["go", "tool", "pprof", "-symbolize=none", "-tags", path],
        capture_output=True, text=True, check=True, timeout=120,
        stdin=subprocess.DEVNULL, env={**os.environ, "HOME": directory})
    tags, key = {}, None
    for line in answer.stdout.splitlines():
        if found := re.match(r"\s*(\S+): Total ([\d.]+)(\w+)", line):
            key = found[1]
            tags[key] = [float(found[2]) * UNITS[found[3]], {}]
        elif found := re.match(r"\s*([\d.]+)(\w+) \(\s*[\d.]+%\): (.*)", line):
            tags[key][1][found[3]] = float(found[1]) * UNITS[found[2]]
    return tags


def bytes_of(text):
    """pprof's 128kB as the number that it was."""
    found = re.fullmatch(r"(\d+)(B|kB|MB)", text)
    return str(int(found[1]) * int(UNITS[found[2]])) if found else text


def check_go(directory):
    if shutil.which("go") is None:
        claims.skip("labels are those of go tool pprof", "no go")
        return
    for name in ("raw/labels.pb.gz", "go/heap.pb.gz"):
        path = os.path.join(HERE, "data", name)
        wrong = []
        tags = go_tags(path, directory)
        found = {row["key"]: row["hits"] for row in rows(path, "labels")}
        if tags.keys() != found.keys() or not tags:
            wrong.append(f"{found} instead of {tags.keys()}")
        for key, (total, values) in tags.items():
            own = {row["value"]: row["hits"]
                   for row in rows(path, "labels " + key)
                   if row["value"] != NONE}
            values = {bytes_of(value) if key == "bytes" else value: hits
                      for value, hits in values.items()}
            if own.keys() != values.keys():
                wrong.append(f"{key}: {own} instead of {values}")
                continue
            for value, hits in values.items():
                if abs(own[value] - hits) > 0.05 * hits + 60:
                    wrong.append(f"{key} {value}: {own[value]} and {hits}")
            if abs(found[key] - total) > 0.05 * total:
                wrong.append(f"{key}: {found[key]} and {total}")
        claims.make(f"{name}: labels are those of go tool pprof -tags", wrong)


def check_raw():
    """The same from the text that pprof prints."""
    data = os.path.join(HERE, "data", "raw")
    wrong = []
    for command in ("labels", "labels thread", "labels step", "threads all"):
        one = rows(os.path.join(data, "labels.pb.gz"), command)
        other = rows(os.path.join(data, "labels.raw.gz"), command)
        if one != other:
            wrong.append(f"{command}: {one}\n{other}")
    heap = os.path.join(HERE, "data", "go", "heap.pb.gz")
    one = rows(heap, "labels bytes")
    other = rows(os.path.join(data, "heap.raw.gz"), "labels bytes")
    # pprof's text leaves out samples that are 0.
    if [r for r in one if r["hits"]] != [r for r in other if r["hits"]]:
        wrong.append(f"labels bytes: {one}\n{other}")
    claims.make("pprof -raw has the labels of the profile", wrong)


def check_raw_numbers(directory):
    path = os.path.join(directory, "numbers.raw")
    with open(path, "w", encoding="utf-8") as out:
        out.write("PeriodType: cpu ns\nPeriod: 1\nSamples:\ncpu/ns\n"
                  "          7: 1 \n                delta:[-5 bytes]\n"
                  "          2: 1 \n                delta:[5 bytes] k:[v]\n"
                  "Locations\n     1: 0x1 f :0:0 s=0\nMappings\n")
    found = {row["value"]: row["hits"] for row in rows(path, "labels delta")}
    claims.check("pprof -raw: numbers have their signs and units",
                 found == {"-5 bytes": 7, "5 bytes": 2}, found)


def check_export(directory):
    """Labels are in what is exported, and read back."""
    path = os.path.join(directory, "in.pb.gz")
    out = os.path.join(directory, "out.pb.gz")
    wrong = []
    for seed in (41, 42, 43):
        samples = list(random_samples(random.Random(seed)))
        samples += [([1], 3, [("thread", "t", ""), ("tid", 5, "")])]
        write(path, samples)
        run(path, "export pprof " + out)
        wrong += differences(out, samples)
        for command in ("threads all", "labels thread", "labels tid"):
            if rows(path, command) != rows(out, command):
                wrong.append(f"seed {seed} {command}: {rows(out, command)}")
        answer = run(path, f"export collapsed {out}.folded")
        if "labels" not in answer.stderr:
            wrong.append("no word of lost labels: " + answer.stderr)
    claims.make("export pprof keeps labels, and others say that they do not",
                wrong)


def check_messages(directory):
    path = os.path.join(directory, "m.pb.gz")
    write(path, [([1], 1, [("route", "/login", "")])])
    answer = run(path, "labels rout", check=False)
    claims.check("a label that no sample has is an error with near names",
                 answer.returncode != 0 and
                 "no label is called rout; did you mean route?" in
                 answer.stderr, answer.stderr)


def main():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        check_random(directory)
        check_sum(directory)
        check_limits(directory)
        check_threads(directory)
        check_go(directory)
        check_raw()
        check_raw_numbers(directory)
        check_export(directory)
        check_messages(directory)
    claims.end()


main()
