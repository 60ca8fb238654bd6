# SPDX-License-Identifier: GPL-3.0-or-later
"""user-time.py -- time in user mode is where it was used, in short processes,
too.

tests/programs/scripted.c computes in its children as in itself, and counts the
pieces of work.  tests/judge.py decides.  Speaks TAP.
"""
import json
import os
import tempfile

import judge
from claims import Claims
from cpprof import documents, run, text

BUILD = os.path.abspath(os.environ.get("builddir", "."))
SCRIPTED = os.path.join(BUILD, "tests/programs/scripted")
# Of what only computes: what interrupts and samples spend in the kernel.
IN_KERNEL = 0.02
# What a child's first sample takes in user mode, up to 0.3 ms where page faults are
# slow, is in part_b: no clock tells it from the rest.  part_a has as many hits as
# decide about its sum.
SCRIPT = "repeat %d { a 9ms fork 1 { b 6ms } }"


def hits_of(name):
    rows = documents([name], "resource user", "threshold 0",
                     "functions")[-1]["rows"]
    return {row["path"][0]: row["hits"] for row in rows}


def main():
    claims = Claims()
    claim = "children have their share of user"
    amount = "what only computes has all of its CPU time in user"
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        name = os.path.join(directory, "user.cpprof")

        def measure(times):
            done = run("record", "--no-prompt", "--force", "-r", "user:1000", "-o",
                       name, SCRIPTED, SCRIPT % (250 * times), timeout=3600)
            parts = json.loads(done.stdout)["parts"]
            hits = hits_of(name)
            found = [hits.get(part, 0) for part in ("part_a", "part_b")]
            true = [parts[part]["pieces"] for part in ("part_a", "part_b")]
            return {claim: judge.Share(found[1], sum(found),
                                       true[1] / sum(true)),
                    amount: judge.Amount.drawn(
                        found[0], parts["part_a"]["ns"] / 1e6,
                        tolerance=judge.AMOUNT + IN_KERNEL)}

        run("record", "--no-prompt", "-r", "user", "-o", name, SCRIPTED,
            "a 20ms")
        if "perf event" in text([name], "info"):
            judge.decide(claims, [claim, amount], measure)
        else:
            for skipped in claim, amount:
                claims.skip(skipped, "only ticks count time in user mode here")
    claims.end()


if __name__ == "__main__":
    main()
