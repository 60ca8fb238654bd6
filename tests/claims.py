# SPDX-License-Identifier: GPL-3.0-or-later
"""claims.py -- the output of a test: TAP, a line for each claim."""
import os
import subprocess
import sys


def rounds(n):
    """How often to try something at random: n times in `make check`, and as
    many times more as TEST_ROUNDS says in `make check-rounds`."""
    return n * int(os.environ.get("TEST_ROUNDS", "1"))


class Claims:
    n = 0

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
        print(f"ok {self.n} - {claim} # SKIP {why}")

    def end(self):
        print(f"1..{self.n}")
