#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""gmon.py -- cpprof shows the same of a gmon.out as gprof.

A recursive-descent parser is compiled with -pg, as a position-independent
program and at fixed addresses, and profiled.  Every figure of gprof's flat
profile and of its call graph profile must be there, in seconds to two decimal
places; also for two runs, summed by gprof and by cpprof.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cpprof

CPPROF = cpprof.CPPROF
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "sample-data", "rdparse.c")
CALLED = r"(\d+)(?:([+/])(\d+))?"


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          **options).stdout.decode()


def ask(folder, command, *files):
    return cpprof.table(files, "threshold 0", command, cwd=folder)


def near(hits, interval, seconds):
    """cpprof assigns ticks to whole addresses, gprof also to parts of them."""
    ours = (hits or 0) * interval / 1e6
    return abs(ours - seconds) <= 0.0101 + 0.003 * seconds


def check_flat(folder, files, gprof):
    flat = ask(folder, "flat", *files)
    interval = flat["resource"]["interval"]
    rows = {row["path"][0]: row for row in flat["rows"]}
    n = 0
    for line in run("gprof", "-b", "-p", *gprof, cwd=folder).split("\n"):
        match = re.match(r" *[\d.]+ +[\d.]+ +([\d.]+)(?: +(\d+))? .*? "
                         r"(\w+)$", line)
        if not match:
            continue
        row = rows.pop(match.group(3))
        assert near(row["hits"], interval, float(match.group(1))), (line, row)
        assert (row["calls"] or 0) == int(match.group(2) or 0), (line, row)
        n += 1
    assert n > 5 and not any(row["hits"] or row["calls"]
                             for row in rows.values()), rows
    return n


def entries_of_gprof(text):
    """{name: (percent, self, children, called, {(place, name): numbers})}"""
    entries = {}
    for block in re.split(r"^-+$", text, flags=re.M):
        calls, main = {}, None
        for line in block.split("\n"):
            line = re.sub(r"<cycle \d+>", "", line)
            is_main = re.match(r"\[(\d+)\] ", line)
            match = re.match(
                r"(?:\[\d+\] +([\d.]+))? +(?:([\d.]+) +([\d.]+) +)?"
                rf"(?:{CALLED} +)?(<cycle.*whole>|\w+) *\[\d+\]$", line)
            if not match or "spontaneous" in line:
                continue
            percent, self, children, count, sign, total, name = match.groups()
            numbers = (float(self or 0), float(children or 0),
                       int(count or 0), sign, int(total or 0))
            if is_main:
                main = ("whole" if name[0] == "<" else name, float(percent),
                        numbers)
            else:
                calls["parent" if main is None else "child", name] = numbers
        if main:
            entries[main[0]] = main[1], main[2], calls
    return entries


def entries_of_cpprof(graph):
    entries = {}
    for row in graph["rows"]:
        entry = entries.setdefault(row["entry"], [None, {}])
        name = row["path"][0] if row["path"] else "whole"
        if row["role"] in ("function", "cycle"):
            entry[0] = name, row
        else:
            role = "parent" if row["role"] == "parent" else "child"
            entry[1][role, name] = row
    return {name: (row, calls) for (name, row), calls in entries.values()}


def same(row, numbers, interval):
    self, children, calls, sign, total = numbers
    return (near(row["self"], interval, self) and
            near(row["descendants"], interval, children) and
            (row["calls"] or 0) == calls and
            (sign is None or
             (row["total_calls"] if sign == "/" else row["self_calls"]) ==
             total))


def check_graph(folder, files, gprof):
    graph = ask(folder, "graph", *files)
    interval = graph["resource"]["interval"]
    theirs = entries_of_gprof(run("gprof", "-b", "-q", *gprof, cwd=folder))
    ours = entries_of_cpprof(graph)
    assert len(theirs) > 5 and theirs["whole"][1][4] > 0, theirs
    for name, (percent, numbers, calls) in theirs.items():
        row, our_calls = ours[name]
        # gprof does not round hits to whole ones before it divides.
        assert abs(row["fraction"] * 100 - percent) < \
            0.2 + 100 / graph["total"], (name, percent, row)
        assert same(row, numbers, interval), (name, numbers, row)
        assert set(calls) == set(our_calls), (name, calls, our_calls)
        for call, call_numbers in calls.items():
            assert same(our_calls[call], call_numbers, interval), \
                (name, call, call_numbers, our_calls[call])
    return len(theirs)


def profile(folder, name, *flags):
    """Compiles the program and runs it twice: NAME, NAME.1 and NAME.2."""
    run("gcc", "-g", "-O1", "-fno-inline", "-fno-optimize-sibling-calls",
        "-pg", *flags, SOURCE, "-o", name, cwd=folder)
    for number, size in ((1, "3000"), (2, "1500")):
        run(os.path.join(".", name), size, cwd=folder)
        os.rename(os.path.join(folder, "gmon.out"),
                  os.path.join(folder, f"{name}.{number}"))


def check_export(folder, *files):
    """The profile exported by `export callgrind` reads back unchanged."""
    run(CPPROF, "-q", "-e", "export callgrind exported", *files, cwd=folder)
    for view in ("functions", "flat", "down main", "up main", "graph",
                 "graph --gprof", "never"):
        ours, theirs = (ask(folder, view, *names)
                        for names in (files, ("exported",)))
        assert ours == theirs, (view, ours, theirs)


def check(folder, name, *flags):
    profile(folder, name, *flags)
    run("gprof", "-s", name, f"{name}.1", f"{name}.2", cwd=folder)
    os.rename(os.path.join(folder, "gmon.sum"),
              os.path.join(folder, f"{name}.sum"))
    for files, gprof in (((f"{name}.1",), f"{name}.1"),
                         ((f"{name}.1", f"{name}.2"), f"{name}.sum"),
                         ((f"{name}.sum",), f"{name}.sum")):
        n = check_flat(folder, (name, *files), (name, gprof))
        m = check_graph(folder, (*files, name), (name, gprof))
        check_export(folder, name, *files)
        print(f"# {' '.join(files)}: {n} functions, {m} entries")


def main():
    cases = (("fixed", ["-no-pie"]), ("anywhere", ["-pie", "-fPIE"]))
    if not shutil.which("gcc") or not shutil.which("gprof"):
        print("1..0 # SKIP gcc or gprof not found")
        return 0
    for number, (name, flags) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(folder, name, *flags)
                print(f"ok {number} - {name}")
            except (AssertionError, KeyError) as error:
                print(f"# {error!r}")
                print(f"not ok {number} - {name}")
    print(f"1..{len(cases)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
