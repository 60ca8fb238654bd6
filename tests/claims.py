# SPDX-License-Identifier: GPL-3.0-or-later
"""claims.py -- the output of a test: TAP, a line for each claim."""
import os
import subprocess
import sys
import traceback


def rounds(n):
    """How often to try something at random: n times in `make check`, and as
    many times more as TEST_ROUNDS says in `make check-rounds`."""
    return n * int(os.environ.get("TEST_ROUNDS", "1"))


class Claims:
    n = 0

    def __init__(self):
        sys.excepthook = self.stop

    def stop(self, kind, wrong, trace):
        """An exception that ends the test is a claim that does not hold, which
        says where: reports of failures have lines of claims only."""
        where = " in ".join(f"line {frame.lineno} of {frame.name}" for frame in
                            reversed(traceback.extract_tb(trace)))
        text = f"{kind.__name__} at {where}: {wrong}"
        self.check("the test runs to its end: " + " ".join(
            text.replace("#", "").split())[:2000], False)
        self.end()
        sys.__excepthook__(kind, wrong, trace)

    def check(self, claim, holds, why=""):
        """Prints a claim, and if it does not hold, the first lines of why."""
        self.n += 1
        print("ok" if holds else "not ok", self.n, "-", claim)
        if not holds:
            for line in str(why).splitlines()[:30]:
                print("#", line)
        sys.stdout.flush()

    def make(self, claim, differences):
        """Claims that there are no differences, which are given as a list."""
        self.check(claim, not differences, "\n".join(map(str, differences)))

    def attempt(self, claim, check, *arguments):
        """Claims that a function finds nothing wrong."""
        why = ""
        try:
            check(*arguments)
        except (AssertionError, subprocess.CalledProcessError) as wrong:
            why = str(wrong) or repr(wrong)
        self.check(claim, not why, why)

    def skip(self, claim, why):
        self.n += 1
        print(f"ok {self.n} - {claim} # SKIP {' '.join(str(why).split())}")

    def end(self):
        print(f"1..{self.n}")
