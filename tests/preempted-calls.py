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
import os
import subprocess
import sys
import tempfile

import judge
from claims import Claims
from cpprof import documents, run

BUILD = os.path.abspath(os.environ.get("builddir", "."))
SCRIPTED = os.path.join(BUILD, "tests/programs/scripted")
# The number of calls is an estimate; see doc/manual.md, 5.10.
TOLERANCE = 0.5
N_LOOPS = 3


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


def measure(directory, name, script):
    """measure(times) for the judge: its calls of part_a."""
    def measured(times):
        file = os.path.join(directory, "preempted.cpprof")
        with shared_processor():
            done = run("record", "--no-prompt", "--force", "--calls", "part_a",
                       "-o", file, SCRIPTED, script % (150 * times),
                       timeout=3600)
        books = json.loads(done.stdout)
        calls = documents([file], "calls part_a")[-1]["calls"]
        return {name: judge.Amount(calls["value"],
                                   books["parts"]["part_a"]["times"],
                                   calls["error"], TOLERANCE)}
    return measured


def main():
    claims = Claims()
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        for name, script in (
                ("calls that compute", "repeat %d { a ~12ms b 1ms }"),
                ("calls between sleeps", "repeat %d { a ~8ms sleep ~2ms }")):
            claim = f"{name} beside others are all counted"
            judge.decide(claims, [claim], measure(directory, claim, script))
    claims.end()


if __name__ == "__main__":
    main()
