#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""real-errors.py -- waits are measured, so chance has no part in their length.

A thread of tests/programs/scripted.c waits, and is found for as long as its own
clock says.  Then two threads wait a few times, for lengths that are known.  One
sample stands for each wait, whatever its length: so the shares of the threads
have small errors, and a comparison sees that waits grew.  Speaks TAP.
"""
import glob
import json
import math
import os
import subprocess
import tempfile

import cpprof
import judge
from claims import Claims
from collector_file import Profile

PROGRAM = os.path.join(os.path.abspath(os.environ.get("builddir", "build")),
                       "tests", "programs", "scripted")
# What two threads of one sample of 2 s each would have is a quarter of the
# whole; what is claimed, a hundredth.
MOST_ERROR = .01
SCRIPT = "thread 1 {{ repeat 10 {{ sleep {ms}ms }} }} sleep 2000ms join"
claims = Claims()


def inside(path, ms, script=SCRIPT, interval="4ms"):
    cpprof.run("record", "--no-prompt", "--force", "-r", f"real:{interval}",
               "-o", path, PROGRAM, script.format(ms=ms))


def outside(path, ms, script=SCRIPT, interval="4ms"):
    """It is sampled before it begins."""
    script = "sleep 1000ms " + script.format(ms=ms)
    with subprocess.Popen([PROGRAM, script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as program:
        cpprof.run("record", "--no-prompt", "--force", "-r",
                   f"real:{interval}", "-o", path, "-p", str(program.pid))


def check_amount(directory):
    """All of a thread's waits, one after the other, are its real time."""
    claim = "inside: a thread that waits has its wall time"

    def measure(times):
        n = 60 * times
        path = os.path.join(directory, "amount")
        books = json.loads(cpprof.run(
            "record", "--no-prompt", "--force", "-r", "real", "-o", path,
            PROGRAM, f"repeat {n} {{ sleep 20ms }}").stdout)
        table = cpprof.table(path, "resource real", "functions main")
        interval = table["resource"]["interval"] / 1e6
        # Each wait is rounded to whole intervals at random.
        return {claim: judge.Amount(table["rows"][0]["hits"] * interval,
                                    books["wall_ns"] / 1e9,
                                    math.sqrt(n) * interval / 2)}
    judge.decide(claims, [claim], measure)


def errors(paths):
    rows = cpprof.table(paths, "resource real", "noise on", "functions")["rows"]
    return {row["path"][0]: row["error"] for row in rows}


def check_errors(what, paths):
    found = errors(paths)
    claims.check(f"{what}: the share of a thread that waits has a small error",
                 all(0 < found.get(name, 1) < MOST_ERROR
                     for name in ("main", "run_thread")), found)


def check_work(what, directory, record):
    """Chance decides where a thread that computes is found.  One that waits as
    long has no error of its own, so it has half of the variance."""
    path = os.path.join(directory, f"{what}-work")
    record(path, 1000, "thread 1 {{ a {ms}ms }} sleep {ms}ms join", "1ms")
    rows = cpprof.table(path, "resource real", "noise on", "functions")["rows"]
    found = next(row for row in rows if row["path"] == ["part_a"])
    whole = found["hits"] / found["fraction"]
    share = found["fraction"]
    variances = found["error"] ** 2 * whole / (share * (1 - share))
    claims.check(f"{what}: the share of a thread that computes has the error of "
                 "its samples", .45 < variances, (variances, found))
    profiles = [Profile(name) for name in
                glob.glob(os.path.join(path, "cpprofdata.[0-9]*"))]
    claims.check(f"{what}: the file says how large samples are that are drawn",
                 all(0 < profile.drawn_most < 1000 for profile in profiles),
                 [profile.drawn_most for profile in profiles])


def check_changes(what, before, after):
    rows = cpprof.documents([after], "resource real", f"base {before}",
                            "diff functions")[-1]["rows"]
    changes = [(row["verdict"], row["change"] > 0) for row in rows
               if row["path"] == ["run_thread"]]
    claims.check(f"{what}: waits that grew by half are no noise",
                 changes == [("likely", True)], changes)


def check(what, directory, record):
    paths = [os.path.join(directory, f"{what}-{ms}") for ms in (200, 300)]
    for path, ms in zip(paths, (200, 300)):
        record(path, ms)
    check_errors(what, paths[0])
    check_changes(what, *paths)
    check_work(what, directory, record)
    return paths


def main():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        check_amount(directory)
        paths = check("inside", directory, inside)
        check_errors("two recordings", paths)
        exported = os.path.join(directory, "exported")
        cpprof.text(paths[0], f"export cpprofdata {exported}")
        check_errors("an export", exported)
        if os.geteuid() == 0:
            check("outside", directory, outside)
        else:
            claims.skip("outside", "only root has a stack of each wait")
    claims.end()


if __name__ == "__main__":
    main()
