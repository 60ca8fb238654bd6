# SPDX-License-Identifier: GPL-3.0-or-later
"""preempted-calls.py -- `record --calls` counts calls of threads that wait for
a processor.

tests/programs/scripted.c counts its calls itself, on a processor that it shares
with loops that never wait.  A call that is preempted is no end of a call, and
what passes then is no time in which a sample could have found it.
tests/judge.py decides.  Speaks TAP.
"""
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile

import judge
from claims import Claims
from cpprof import documents, run

BUILD = os.path.abspath(os.environ.get("builddir", "."))
SCRIPTED, CALLS = (os.path.join(BUILD, "tests/programs", name)
                   for name in ("scripted", "calls"))
# The number of calls is an estimate; see doc/manual.md, 5.10.
TOLERANCE = 0.5
N_LOOPS = 3
LONGER_NS = 4000000


@contextlib.contextmanager
def shared_processor():
    """On one processor, with loops."""
    allowed = os.sched_getaffinity(0)
    loops = []
    os.sched_setaffinity(0, {min(allowed)})
    try:
        for _ in range(N_LOOPS):
            loops.append(subprocess.Popen(
                [sys.executable, "-c", "while True: pass"]))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        os.sched_setaffinity(0, allowed)


def recorded(directory, function, *words):
    """What `calls` says of a function, and what the program printed."""
    file = os.path.join(directory, "preempted.cpprof")
    with shared_processor():
        done = run("record", "--no-prompt", "--force", "--calls", function,
                   "-o", file, *words, timeout=3600)
    return documents([file], f"calls {function}")[-1], done.stdout


def check_number(claims, directory, name, script):
    claim = f"{name} beside others are all counted"

    def measure(times):
        found, books = recorded(directory, "part_a", SCRIPTED,
                                script % (150 * times))
        return {claim: judge.Amount(
            found["calls"]["value"],
            json.loads(books)["parts"]["part_a"]["times"],
            found["calls"]["error"], TOLERANCE)}
    judge.decide(claims, [claim], measure)


def check_longer(claims, directory):
    """Calls of a tenth of a millisecond: those of 4 ms have waited for the
    processor.  A wait is seen if a sample follows in its call, for which there
    need not be a tick, so they may be too few (manual 5.10), but not too many."""
    claim = "of short calls, none are long but those that wait for the processor"
    are_seen = []

    def measure(times):
        found, lengths = recorded(directory, "handle", CALLS, "short",
                                  str(8000 * times))
        true = sum(int(ns) >= LONGER_NS for ns in lengths.split())
        seen = sum(row["calls"] for row in found["rows"]
                   if row["least_ns"] >= LONGER_NS)
        are_seen.append(seen > 0 or true < 50)
        return {claim: judge.Amount(max(seen, true), true,
                                    math.sqrt(2 * max(true, 1)), TOLERANCE)}
    judge.decide(claims, [claim], measure)
    claims.check("of those that wait, some are seen", all(are_seen), are_seen)


def main():
    claims = Claims()
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        check_number(claims, directory, "calls that compute",
                     "repeat %d { a ~12ms b 1ms }")
        check_number(claims, directory, "calls between sleeps",
                     "repeat %d { a ~8ms sleep ~2ms }")
        check_longer(claims, directory)
    claims.end()


if __name__ == "__main__":
    main()
