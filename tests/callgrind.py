#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""callgrind.py -- profiles of callgrind say what callgrind_annotate says.

tests/data/callgrind/NAME.out is a profile, NAME.exclusive.txt and
NAME.inclusive.txt what callgrind_annotate --threshold=100 prints of it.  Other
folders of that kind can be named.  Own costs must agree for every function.
Inclusive ones must, too, but for functions below themselves, of which
callgrind_annotate adds up all calls: there the row of the first level is right.
"""
import glob
import gzip
import json
import os
import re
import subprocess
import sys

CPPROF = os.environ.get("CPPROF", "./cpprof")
HERE = os.path.dirname(os.path.abspath(__file__))
# A program's start, seen twice; a thread's, which nobody calls; and its end,
# which does not return.
ODD = ("(below main)", "clone", "_Exit")
ROW = re.compile(r"^ *([\d,]+) \(.*?%\)(?: +[\d,]+(?: \(.*?%\))?| +\.)*  +"
                 r"(\S*?):(.*?)(?: \[(?:/[^\]]*|\?\?\?)\])?$")


def read(path):
    """The lines of a file, or of the same packed."""
    if os.path.exists(path):
        return open(path, encoding="utf-8", errors="replace").read()
    return gzip.open(path + ".gz", "rt", errors="replace").read()


def oracle(path):
    """Rows as (function, level, cost of the first event)."""
    rows = []
    for line in read(path).split("\n"):
        match = ROW.match(line)
        if match:
            name, _, context = match.group(3).partition("'")
            level = context.split("'")[0]
            rows.append((name, int(level) if level.isdigit() else 1,
                         int(match.group(1).replace(",", "")),
                         match.group(3)))
    return rows


def ask(path, view):
    answer = subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "threshold 0", "-e", view, path],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {row["path"][0]: (row["hits"], row["estimated"])
            for row in json.loads(answer)["rows"]}


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
    """What some of the costs can add up to, the largest among them."""
    largest, *others = sorted(costs, reverse=True)
    found = {largest}
    for cost in others[:18]:
        found |= {cost + other for other in found}
    return found | {sum(costs)}


def check_inclusive(profile, rows):
    """Rows of level 1 hold what a function used, each for some callers."""
    first = {}
    for name, level, cost, text in rows:
        if level == 1 and name not in text.split("'")[1:]:
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


def parts_equal_whole(folder):
    """The same run in several parts (of calls that go on from part to part
    callgrind_annotate adds the cost to their callers' own)."""
    views = ("body", "functions")
    return all(ask(os.path.join(folder, "parts.out.gz"), view) ==
               ask(os.path.join(folder, "uncompressed.out.gz"), view)
               for view in views)


def main():
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
            print(f"ok {number} - {os.path.basename(base)}: {bodies} bodies, "
                  f"{n} with descendants")
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
