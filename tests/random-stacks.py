#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""random-stacks.py -- a small, heavily recursive profile in collapsed stacks.

    random-stacks.py SEED [N_STACKS] [N_NAMES] [DEPTH]

Prints N_STACKS lines (default 12) over N_NAMES functions (default 4), none
deeper than DEPTH (default 10).  The same arguments print the same bytes.
Stacks continue earlier ones, repeat whole pieces of themselves, and may come
twice, in no order.  Seeds differ in kind as well: one resource or several,
with headers or without, counts with zeros or up to 10**12, one outermost
function or several, plain names or ones with blanks, parentheses, "::",
digits at the end, quotes, bars and UTF-8.
"""
import random
import sys

PLAIN = [*"abcdefghijklmnopqrstuvwxyz"]
HARD = ["operator new(unsigned long)", "std::vector<int, A>::push_back(int&&)",
        "(anonymous namespace)::f(char const*)", "größe", "名前::関数()", "f 7",
        "f", "f 7 8", "Ünïcode<Ω>", "[lib.so.6]", "a|b", "a > b", "a #b",
        '"quoted"', "it's", "-1", "~T()", "operator||(A, B)", "\\", "f.part.0",
        "T* const", "a,b", "x=1", "/usr/bin/p", "%s", "main", "🙂"]


def random_stack(rng, names, earlier, depth):
    stack = []
    if earlier and rng.random() < 0.6:
        other = rng.choice(earlier)
        stack = other[:rng.randint(0, len(other))]
    wanted = rng.randint(1, depth)
    while len(stack) < wanted:
        if stack and rng.random() < 0.2:
            piece = stack[rng.randrange(len(stack)):]
            stack = stack + piece * rng.randint(1, 3)
        else:
            stack = stack + [rng.choice(names)]
    return stack[:depth]


def main(seed, n_stacks=12, n_names=4, depth=10):
    rng = random.Random(seed)
    pool = PLAIN if rng.random() < 0.7 else HARD
    names = [pool[i] if i < len(pool) else f"{pool[i % len(pool)]}{i}"
             for i in range(n_names)]
    if pool is HARD:
        names = rng.sample(HARD + names[len(HARD):], n_names)
    n_resources = rng.choice([0, 0, 1, 2, 3])
    largest = rng.choice([1, 9, 9, 100, 10**12])
    has_one_outermost = rng.random() < 0.5

    if n_resources:
        print("# cpprof 1")
    for name, gtick in [("cpu", "microsecond"), ("Page Faults", "fault"),
                        ("bytes", "byte")][:n_resources]:
        print(f"# resource: {name}; gtick={gtick}; "
              f"interval={rng.choice([1, 10, 1000])}")
    if n_resources and rng.random() < 0.5:
        print("# program: random")
    stacks = []
    for _ in range(n_stacks):
        stacks.append(random_stack(rng, names, stacks, depth))
    for stack in stacks:
        if has_one_outermost:
            stack = ["main"] + stack[:depth - 1]
        counts = [rng.randint(0, largest) for _ in range(max(1, n_resources))]
        print(";".join(stack), *counts)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    sys.stdout.reconfigure(encoding="utf-8")
    main(*map(int, sys.argv[1:]))
