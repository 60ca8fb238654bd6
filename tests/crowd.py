#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""crowd.py -- real time where there are more threads than processors.

Most of it are waits for a processor.  tests/programs/crowd.c prints how long
its threads were in each of its parts by their own clocks, and a recording must
say the same.  Speaks TAP.
"""
import os
import subprocess
import tempfile

import cpprof
from claims import Claims

CPPROF = cpprof.CPPROF
CROWD = os.path.join(os.path.abspath(os.environ.get("builddir", "build")),
                     "tests", "programs", "crowd")
# A sample stands for waits of very different lengths, so that there are fewer
# of them in effect: half.
MOST_ERRORS = 4 * 2 ** .5
# Time of a thread outside its parts, such as its beginning, is not measured.
SLACK = 0.03
# Of very many, each wait is long, and few are found.  While threads wait for
# memory, so does the collector.
MANY_THREADS = 200
MORE_SLACK = 0.06
MOST_ELSEWHERE = 0.1
claims = Claims()


def rows(recording, *commands):
    return cpprof.table(recording, "resource real", "threshold 0", "limit off",
                        *commands)["rows"]


def run(recording, *words):
    """What the program prints when it is recorded."""
    done = subprocess.run(
        [CPPROF, "record", "--force", "-r", "real", "-o", recording, "--",
         CROWD, *map(str, words)], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=True)
    return {name: int(number) for name, number in map(
        str.split, done.stdout.splitlines())}


def record(directory, *words):
    """Nanoseconds in each part by its threads; in each function by the
    recording; in threads, elsewhere; and the number of samples."""
    recording = os.path.join(directory, "r.cpprof")
    true = run(recording, *words)
    column, = (row for row in rows(recording, "info")
               if row["name"] == "real")
    found = {}
    for row in rows(recording, "functions"):
        name = row["path"][0].replace("_item", "")
        found[name] = found.get(name, 0) + \
            row["hits"] * column["interval"] * 1000
    of_threads = column["interval"] * 1000 * sum(
        row["hits"] for row in rows(recording, "drop main", "flat"))
    return (true, found, of_threads - sum(found.get(name, 0) for name in true),
            column["samples"])


def differences(directory, *words):
    true, found, elsewhere, samples = record(directory, *words)
    wrong = []
    whole = sum(true.values())
    if elsewhere > MOST_ELSEWHERE * whole:
        wrong.append(f"{elsewhere / whole:.3f} of the time is in no part")
    for name, ns in true.items():
        share = ns / whole
        error = (share * (1 - share) / samples) ** .5
        seen = found.get(name, 0) / whole
        slack = SLACK + (MORE_SLACK if words[1] >= MANY_THREADS or
                         words[0] == "memory" else 0)
        if abs(seen - share) > MOST_ERRORS * error + slack:
            wrong.append(f"{name}: {seen:.3f} of the time, by the threads "
                         f"{share:.3f}; {samples} samples")
    return wrong


def main():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        for what, *words in (
                ("of 2 threads", "equals", 2, 1000, 100, 200),
                ("of 20 threads", "equals", 20, 200, 100, 200),
                ("of 100 threads", "equals", 100, 160, 100, 200),
                ("of 500 threads", "equals", 500, 64, 50, 100),
                ("of two phases of 20 threads", "equals", 20, 1, 20000, 40000),
                ("of a pool of 20 workers", "pool", 20, 100, 100, 200),
                ("of 20 threads that make short calls", "calls", 20, 50, 9000,
                 1500),
                ("of 20 threads that map memory", "memory", 20, 300, 60, 150),
                ("of 20 threads in a row", "pipes", 20, 200, 100, 200)):
            claims.make(f"real time {what} is what their clocks say",
                        differences(directory, *words))
        claims.make("no wait is interrupted", [
            f"{n}" for n in (run(os.path.join(directory, "r.cpprof"), "polls",
                                 *words)["interrupted"]
                             for words in ((16, 500, 100, 1),
                                           (90, 8, 8000, 1))) if n > 0])
    claims.end()


if __name__ == "__main__":
    main()
