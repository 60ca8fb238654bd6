# SPDX-License-Identifier: GPL-3.0-or-later
"""greenlets.py MS ROUNDS -- greenlets that measure themselves.

For MS milliseconds of CPU time, twelve greenlets switch to each other.  Each
calls one of three functions for ROUNDS rounds of work, then the next greenlet.
They began at different depths of the stack and lie at different depths, so each
switch exchanges another part of it.

Prints one line of JSON, by CPU clocks: the nanoseconds of each function, and of
the process.
"""
import json
import sys
import time

import greenlet

clock = time.thread_time_ns
used = {}


def spin(n):
    total = 0
    for i in range(n):
        total = (total * 31 + i) & 0xffff


def part_a(n):
    spin(n)


def part_b(n):
    spin(2 * n)


def part_c(n):
    spin(4 * n)


def go_on(n, own, depth):
    """Switches to the next greenlet, from so deep."""
    if depth > 0:
        go_on(n, own, depth - 1)
    elif clock() > end:
        greenlet.getcurrent().parent.switch()
    else:
        ring[(own + 1) % len(ring)].switch(n)


def turns(part, n, own):
    while True:
        begin = clock()
        part(n)
        used[part.__name__] = used.get(part.__name__, 0) + clock() - begin
        go_on(n, own, own)


# One for each part: who calls a part is known.
def work_a(n, own):
    turns(part_a, n, own)


def work_b(n, own):
    turns(part_b, n, own)


def work_c(n, own):
    turns(part_c, n, own)


def begin_at(depth, one, n, own):
    """Begins a greenlet so deep, which comes back when time is over."""
    if depth > 0:
        begin_at(depth - 1, one, n, own)
    else:
        one.switch(n, own)


def main():
    n = int(sys.argv[2])
    for own, one in enumerate(ring):
        begin_at(own * 5 % 7, one, n, own)


# As it is 0, each begins and comes back after its first turn.
end = 0
ring = [greenlet.greenlet(work) for work in (work_a, work_b, work_c) * 4]
main()
end = clock() + int(sys.argv[1]) * 1000000
ring[0].switch()
used["all"] = time.process_time_ns()
print(json.dumps(used))
