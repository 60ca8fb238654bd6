#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""callgrind.py -- profiles of callgrind agree with callgrind_annotate.

tests/data/callgrind/NAME.out is a profile, NAME.exclusive.txt and
NAME.inclusive.txt what callgrind_annotate --threshold=100 prints of it.  Other
folders of that kind can be named.  Own costs must agree for every function.
Inclusive ones must, too, except for functions below themselves, for which
callgrind_annotate adds up all calls: there the row of the first level is
right.  NAME.lines.txt has its costs of lines, as printed by "make-lines"
below: own costs must agree for every line and for every file.  Calls are
compared with the lines of the profile itself.
"""
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

import cpprof

CPPROF = cpprof.CPPROF
HERE = os.path.dirname(os.path.abspath(__file__))
# The start of a program, seen twice; that of a thread, which nothing calls;
# and its end, which does not return.
ODD = ("(below main)", "clone", "_Exit")
ROW = re.compile(r"^ *([\d,]+) \(.*?%\)(?: +[\d,]+(?: \(.*?%\))?| +\.)*  +"
                 r"(\S*?):(.*?)(?: \[(/[^\]]*|\?\?\?)\])?$")


def read(path):
    """The lines of a file, packed or not."""
    if os.path.exists(path):
        return open(path, encoding="utf-8", errors="replace").read()
    return gzip.open(path + ".gz", "rt", errors="replace").read()


def shown(name, path):
    """The shown name; a function without a symbol is named after its object,
    too."""
    match = re.match(r"0x0*([0-9a-f]+.*)$", name)
    if path in (None, "???") or not match:
        return name
    return f"{os.path.basename(path)}+0x{match[1]}"


def oracle(path):
    """Rows as (function, level, cost of the first event)."""
    rows = []
    for line in read(path).split("\n"):
        match = ROW.match(line)
        if match:
            name, _, context = match.group(3).partition("'")
            level = context.split("'")[0]
            rows.append((shown(name, match.group(4)), int(level) if level.isdigit() else 1,
                         int(match.group(1).replace(",", "")),
                         match.group(3)))
    return rows


def ask(path, view, granularity="function"):
    answer = cpprof.table(path, "threshold 0", f"granularity {granularity}",
                          view)
    return {row["path"][0]: (row["hits"], row["estimated"])
            for row in answer["rows"]}


def check_bodies(profile, rows):
    sums = {}
    for name, _, cost, _ in rows:
        sums[name] = sums.get(name, 0) + cost
    bodies = ask(profile, "body")
    for name, cost in sums.items():
        assert bodies.get(name, (0, False)) == (cost, False), \
            f"{name}: {bodies.get(name)}, not {cost}"
    assert set(bodies) <= set(sums) | {name for name in bodies
                                       if bodies[name][0] == 0}
    return len(sums)


def sums(costs):
    """The sums of some of the costs that include the largest."""
    largest, *others = sorted(costs, reverse=True)
    found = {largest}
    for cost in others[:18]:
        found |= {cost + other for other in found}
    return found | {sum(costs)}


def check_inclusive(profile, rows):
    """Rows of level 1 hold what a function used, each for some callers."""
    first = {}
    for name, level, cost, text in rows:
        if level == 1 and text.split("'")[0] not in text.split("'")[1:]:
            first.setdefault(name, []).append(cost)
    functions = ask(profile, "functions")
    n = 0
    for name, costs in first.items():
        hits, is_estimated = functions[name]
        # Code from another file has a row of its own, which may be part of
        # the function's or of another one of that name.
        if not is_estimated and name not in ODD:
            n += 1
            assert hits in sums(costs), f"{name}: {hits}, not {costs}"
    return n


def make_lines(profile):
    """Makes NAME.lines.txt: "FILE:LINE COST" of the first event.

    callgrind_annotate must be installed.  It prints costs next to the lines of
    files that it finds.  So each file of the profile is made, with N as line
    N."""
    key = r"^([cj]?f[lie]=(?:\(\d+\) ?)?)"
    text = re.sub(key + "/", r"\1ROOT/", read(profile), flags=re.M)
    files = {file for _, file in re.findall(key + "(.+)$", text, re.M)}
    with tempfile.TemporaryDirectory() as folder:
        # Some paths begin with "../".
        below = os.path.join(folder, "a", "b", "c", "d")
        for file in files - {"???"}:
            os.makedirs(os.path.dirname(below + "/" + file), exist_ok=True)
            with open(below + "/" + file, "w") as source:
                source.writelines(f"line {n}\n" for n in range(1, 20000))
        path = os.path.join(folder, "profile")
        with open(path, "w") as out:
            out.write(text)
        answer = subprocess.run(
            ["callgrind_annotate", "--auto=yes", "--threshold=100",
             "--context=0", "--show-percs=no", path],
            check=True, cwd=below, encoding="utf-8",
            stdout=subprocess.PIPE, timeout=120).stdout
    with gzip.open(re.sub(r"\.gz$", "", profile) + ".lines.txt.gz", "wt",
                   compresslevel=9) as out:
        for line in answer.split("\n"):
            if line.startswith("-- Auto-annotated source: "):
                file = line.split(": ", 1)[1].replace("ROOT/", "/")
            match = re.match(r" *([\d,]+) .*line (\d+)$", line)
            if match:
                cost = match.group(1).replace(",", "")
                out.write(f"{file}:{match.group(2)} {cost}\n")


class Parsed:
    """A profile read line by line: own costs of objects, and calls from lines,
    (FILE:LINE, function) to their cost, of the first event."""

    def __init__(self, text):
        self.objects, self.calls, self.meaning = {}, {}, {}
        self.ob = self.cob = self.file = self.callee = None
        self.is_call, self.line, self.n_positions = False, 0, 1
        for line in text.split("\n"):
            if line.startswith("positions: "):
                self.n_positions = len(line.split()) - 1
            elif re.match(r"[0-9+*-]", line):
                self.cost(line.split())
            elif re.match(r"[a-z]+=", line):
                self.name(*line.split("=", 1))

    def name(self, key, text):
        if key == "calls":
            self.is_call = True
            return
        match = re.match(r"\((\d+)\) ?(.*)$", text)
        kind = "fn" if key.endswith("fn") else \
            "ob" if key.endswith("ob") else "file"
        if match and match.group(2):
            self.meaning[kind, match.group(1)] = match.group(2)
        if match:
            text = self.meaning[kind, match.group(1)]
        if key == "ob":
            self.ob = text
        elif key == "cob":
            self.cob = text
        elif key in ("fl", "fi", "fe"):
            self.file = text
        elif key == "cfn":
            self.callee = shown(text.split("'")[0], self.cob or self.ob)
            self.cob = None

    def cost(self, words):
        line = words[self.n_positions - 1]
        if line[0] in "+-":
            self.line += int(line)
        elif line != "*":
            self.line = int(line)
        cost = int(words[self.n_positions]) if \
            len(words) > self.n_positions else 0
        if self.is_call:
            key = f"{self.file}:{self.line}", self.callee
            self.calls[key] = self.calls.get(key, 0) + cost
        else:
            self.objects[self.ob] = self.objects.get(self.ob, 0) + cost
        self.is_call = False


def check_modules(profile, parsed):
    sums = {}
    for path, cost in parsed.objects.items():
        if path not in (None, "???"):
            name = path.split("/")[-1]
            sums[name] = sums.get(name, 0) + cost
    bodies = ask(profile, "body", "module")
    for name, cost in sums.items():
        assert bodies[name] == (cost, False), (name, bodies[name], cost)


def check_calls(profile, parsed):
    """Calls from lines, where none are below themselves; how many."""
    command = [CPPROF, "-q", "-F", "json", "-e", "threshold 0",
               "-e", "granularity line", "-e", "functions"]
    names = {row["path"][0] for row in json.loads(subprocess.run(
        command + [profile], check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, timeout=120).stdout)["rows"]}
    named = {}
    for line, callee in parsed.calls:
        for end in ends(line):
            if end in names:
                named[end] = line
    for name in named:
        command += ["-e", f"callees |{name}|"]
    answer = subprocess.run(command + [profile], check=True,
                            stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, timeout=120).stdout
    n = 0
    for view in map(json.loads, answer.splitlines()[1:]):
        for row in view["rows"]:
            name, callee = row["path"]
            if not row["estimated"]:
                expected = parsed.calls[named[name], callee]
                assert row["hits"] == expected, (row, expected)
                n += 1
    return n


def ends(path):
    """A path, and everything that is left when its first components are
    removed."""
    parts = path.split("/")
    return ["/".join(parts[i:]) for i in range(len(parts))]


def check_lines(profile, lines):
    """Own costs of lines and files; names are ends of the files' paths."""
    costs, files = {}, {}
    for line in lines.split("\n")[:-1]:
        name, cost = line.rsplit(" ", 1)
        costs[name] = int(cost)
        file = name.rsplit(":", 1)[0]
        files[file] = files.get(file, 0) + int(cost)
    for granularity, expected in (("line", costs), ("file", files)):
        bodies = ask(profile, "body", granularity)
        found = set()
        for name, cost in expected.items():
            named = [end for end in ends(name) if end in bodies]
            assert len(named) == 1, (granularity, name, named)
            assert bodies[named[0]] == (cost, False), \
                (granularity, name, bodies[named[0]], cost)
            found.add(named[0])
        if granularity == "line":
            more = {name for name, (hits, _) in bodies.items()
                    if hits and re.search(r":\d+$", name)}
            assert more <= found, more - found
    return len(costs)


def parts_equal_whole(folder):
    """The same run in several parts; for calls that span parts,
    callgrind_annotate adds the cost to their callers' own."""
    views = ("body", "functions")
    return all(ask(os.path.join(folder, "parts.out.gz"), view) ==
               ask(os.path.join(folder, "uncompressed.out.gz"), view)
               for view in views)


def main():
    if sys.argv[1:2] == ["make-lines"]:
        for profile in sys.argv[2:]:
            make_lines(profile)
        return 0
    folders = sys.argv[1:] or [os.path.join(HERE, "data", "callgrind")]
    profiles = sorted(path for folder in folders for path in
                      glob.glob(os.path.join(folder, "*.out*")) if
                      re.search(r"\.out(-\d+)?(\.gz)?$", path))
    number = 0
    for number, profile in enumerate(profiles, 1):
        base = re.sub(r"\.gz$", "", profile)
        if not glob.glob(base + ".exclusive.txt*"):
            print(f"ok {number} - {os.path.basename(base)} # SKIP no oracle")
            continue
        try:
            bodies = check_bodies(profile, oracle(base + ".exclusive.txt"))
            n = 0
            if glob.glob(base + ".inclusive.txt*"):
                n = check_inclusive(profile,
                                    oracle(base + ".inclusive.txt"))
            lines = 0
            if glob.glob(base + ".lines.txt*"):
                lines = check_lines(profile, read(base + ".lines.txt"))
            parsed = Parsed(read(base))
            check_modules(profile, parsed)
            calls = check_calls(profile, parsed)
            print(f"ok {number} - {os.path.basename(base)}: {bodies} bodies, "
                  f"{n} with descendants, {lines} lines, {calls} calls")
        except (AssertionError, KeyError) as error:
            print(f"# {error!r}")
            print(f"not ok {number} - {os.path.basename(base)}")
    if not sys.argv[1:]:
        number += 1
        print("ok" if parts_equal_whole(folders[0]) else "not ok", number,
              "- parts add up to the whole")
    print(f"1..{number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
