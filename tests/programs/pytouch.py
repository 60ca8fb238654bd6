#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pytouch.py DIRECTORY SEED STEPS FILE -- the walks of pystacks.py, for a
recorder outside: where that writes a byte, this touches a page that nobody has
touched, so that each note is one hit of the resource minor-faults.

Begins when there is a file DIRECTORY/go.
"""
import itertools
import mmap
import os
import sys
import time

import pystacks

PAGE = mmap.PAGESIZE
N_PAGES = 1 << 16
MEMORY = mmap.mmap(-1, N_PAGES * PAGE)
OFFSETS = itertools.count(0, PAGE)


def wait_until(path):
    while not os.path.exists(path):
        sum(range(1000))


def pause():
    """Recorders take a share of the time only."""
    end = time.perf_counter() + 0.0006
    while time.perf_counter() < end:
        pass


def leaf():
    pause()
    pystacks.note(sys._getframe()), MEMORY.__setitem__(next(OFFSETS), 1)


if __name__ == "__main__":
    wait_until(os.path.join(sys.argv.pop(1), "go"))
    pystacks.leaf = leaf
    pystacks.main()
    assert next(OFFSETS) < N_PAGES * PAGE
