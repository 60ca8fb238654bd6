#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""thread-frames.py -- collapsed stacks whose outermost frames are threads.

Random stacks below frames as stackcollapse-perf.pl and async-profiler write
them are added up line by line.  Speaks TAP.
"""
import collections
import os
import random
import tempfile

import cpprof
from claims import Claims

# A frame with the name, process and thread that it stands for.
FRAMES = [
    ("java-4711/4712", "java", 4711, 4712),
    ("java-4711/4713", "java", 4711, 4713),
    ("my-prog-12", "my-prog", 12, None),
    ("swapper-?/7", "swapper", None, 7),
    ("[main tid=99]", "main", None, 99),
    ("[two words tid=98]", "two words", None, 98),
    ("[tid=97]", "[unknown]", None, 97),
    ("plain name", "plain name", None, None),
    ("-5", "-5", None, None),
    ("[unknown]", "[unknown]", None, None),
    ("x-99999999999", "x-99999999999", None, None),
    ("[tid=]", "[tid=]", None, None),
    ("a/5", "a/5", None, None),
]
claims = Claims()


def run(path, *commands, options=("--thread-frames",)):
    return cpprof.table(path, "threshold 0", *commands, options=options)


def check(path, seed):
    source = random.Random(seed)
    lines = []
    for _ in range(source.randrange(1, 40)):
        frame = source.choice(FRAMES)
        stack = [f"f{source.randrange(5)}"
                 for _ in range(source.choice([0, 1, 2, 3, 6]))]
        lines.append((frame, stack, source.randrange(1, 30)))
    with open(path, "w", encoding="utf-8") as out:
        for frame, stack, hits in lines:
            out.write(";".join([frame[0], *stack]) + f" {hits}\n")
    true = {"threads": collections.Counter(), "pids": collections.Counter(),
            "body": collections.Counter(), "all": collections.Counter()}
    for (text, name, pid, tid), stack, hits in lines:
        true["threads"][pid, tid, name] += hits
        true["pids"][pid] += hits
        # A stack of nothing but its thread keeps that.
        true["body"][(stack or [text])[-1]] += hits
        for function in set(stack or [text]):
            true["all"][function] += hits
    found = {"threads": collections.Counter(), "pids": collections.Counter(),
             "body": collections.Counter(), "all": collections.Counter()}
    for row in run(path, "threads all")["rows"]:
        found["threads"][row["pid"], row["tid"], row["name"]] += row["hits"]
    for row in run(path, "processes all")["rows"]:
        found["pids"][row["pid"]] += row["hits"]
    for view, command in (("body", "body"), ("all", "functions")):
        for row in run(path, command)["rows"]:
            if row["hits"]:
                found[view][row["path"][0]] += row["hits"]
    return [f"seed {seed} {what}: {dict(found[what])}, expected "
            f"{dict(true[what])}" for what in true
            if found[what] != true[what]]


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        path = os.path.join(directory, "stacks")
        for seed in range(40):
            wrong += check(path, seed)
        claims.make("outermost frames are threads, if asked", wrong)
        with open(path, "w", encoding="utf-8") as out:
            out.write("java-1/2;f 3\n")
        table = run(path, "functions", options=())
        claims.check("otherwise they are functions",
                     {row["path"][0] for row in table["rows"]} ==
                     {"java-1/2", "f"}, table)
    claims.end()


main()
