#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""crowd.py -- real time where there are more threads than processors.

Most of it are waits for a processor.  tests/programs/crowd.c prints how long
its threads were in each of its parts by their own clocks, and a recording must
say the same; tests/judge.py decides.  Speaks TAP.
"""
import os
import subprocess
import tempfile

import cpprof
import judge
from claims import Claims

CPPROF = cpprof.CPPROF
CROWD = os.path.join(os.path.abspath(os.environ.get("builddir", "build")),
                     "tests", "programs", "crowd")
# A sample stands for waits of very different lengths, so that there are fewer
# of them in effect: half.
SPREAD = 2
# Samples are few, and there is much to wait for until they decide as much as
# elsewhere.  A wait that is charged to where the next sample happens to be is off by
# more than this.
TOLERANCE = 3 * judge.SHARE
ELSEWHERE = "in no part"
# What a run does, its words, the second of them how many threads and the third
# how often; its parts.
CASES = (
    ("of 2 threads", ("equals", 2, 1000, 100, 200), "ab"),
    ("of 20 threads", ("equals", 20, 200, 100, 200), "ab"),
    ("of 100 threads", ("equals", 100, 160, 100, 200), "ab"),
    ("of 500 threads", ("equals", 500, 64, 50, 100), "ab"),
    ("of two phases of 20 threads", ("equals", 20, 1, 20000, 40000), "ab"),
    ("of a pool of 20 workers", ("pool", 20, 100, 100, 200),
     ("a", "b", "take")),
    ("of 20 threads that make short calls", ("calls", 20, 50, 9000, 1500),
     ("b", "call")),
    ("of 20 threads that map memory", ("memory", 20, 300, 60, 150),
     ("b", "touch")),
    ("of 20 threads in a row", ("pipes", 20, 200, 100, 200),
     ("a", "b", "take", "pass")),
)
claims = Claims()


def rows(recording, *commands):
    return cpprof.table(recording, "resource real", "threshold 0", "limit off",
                        *commands)["rows"]


def run(recording, *words):
    """What the program prints when it is recorded."""
    done = subprocess.run(
        [CPPROF, "record", "--force", "-r", "real", "-o", recording, "--",
         CROWD, *map(str, words)], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=1200, check=True)
    return {name: int(number) for name, number in map(
        str.split, done.stdout.splitlines())}


def record(recording, *words):
    """Nanoseconds in each part by its threads; in each function and in threads by
    the recording; the interval, hits and samples."""
    true = run(recording, *words)
    column, = (row for row in rows(recording, "info")
               if row["name"] == "real")
    found = {}
    for row in rows(recording, "functions"):
        name = row["path"][0].replace("_item", "")
        found[name] = found.get(name, 0) + row["hits"]
    in_threads = sum(row["hits"] for row in rows(recording, "drop main",
                                                 "flat"))
    return true, found, in_threads, column


def counts(recording, words, parts, names):
    true, found, in_threads, column = record(recording, *words)
    assert set(true) == set(parts), (true, parts)
    bunch = SPREAD * column["hits"] / max(column["samples"], 1)
    ns = sum(true.values())
    of = ns / 1000 / column["interval"]
    shares = {part: judge.Share(min(found.get(part, 0), of), of,
                                true[part] / ns, bunch, TOLERANCE)
              for part in parts}
    elsewhere = in_threads - sum(found.get(part, 0) for part in parts)
    shares[ELSEWHERE] = judge.Share(max(elsewhere, 0), of + elsewhere, 0,
                                    bunch, TOLERANCE)
    return {names[part]: share for part, share in shares.items()}


def check(recording, what, words, parts):
    parts = [f"part_{part}" for part in parts]
    names = {part: f"real time {what} {part if part == ELSEWHERE else 'in ' + part}"
             for part in (*parts, ELSEWHERE)}

    def measure(times):
        kind, n, rounds, *more = words
        return counts(recording, (kind, n, rounds * times, *more), parts, names)
    judge.decide(claims, list(names.values()), measure)


def main():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        recording = os.path.join(directory, "r.cpprof")
        for case in CASES:
            check(recording, *case)
        claims.make("no wait is interrupted", [
            f"{n}" for n in (run(recording, "polls", *words)["interrupted"]
                             for words in ((16, 500, 100, 1),
                                           (90, 8, 8000, 1))) if n > 0])
    claims.end()


if __name__ == "__main__":
    main()
