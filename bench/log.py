#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""log.py -- how long log takes for many commits of a program of some size.

    log.py [COMMITS [RUNS]]     (1000, 5)

Each run has 5,000 samples of about 1,000 stacks of 600 functions, at addresses,
as a recording has them.  CPPROF: the program (./cpprof).
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tests"))
import pprof_writer

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
FUNCTIONS, STACKS, SAMPLES = 600, 1000, 5000


def make_stacks(draw):
    """Stacks of a call graph in which each function calls a few others."""
    callees = {i: [draw.randrange(i + 1, FUNCTIONS + 1)
                   for _ in range(draw.randrange(1, 5))]
               for i in range(1, FUNCTIONS)}
    stacks = set()
    while len(stacks) < STACKS:
        stack = [1]
        while stack[-1] < FUNCTIONS and draw.random() < 0.93:
            stack.append(draw.choice(callees[stack[-1]]))
        stacks.add(tuple(stack))
    return sorted(stacks)


def write_run(path, draw, stacks, weights, names):
    counts = {}
    for stack in draw.choices(stacks, weights, k=SAMPLES):
        counts[stack] = counts.get(stack, 0) + 1
    pprof_writer.write(path, [([*reversed(stack)], (n, 1000000 * n), [])
                              for stack, n in counts.items()], names,
                       types=(("samples", "count"), ("cpu", "nanoseconds")))


def main():
    commits = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    draw = random.Random(1)
    names = {i: f"project::module{i % 30}::Class{i}<int, long>::operation_"
                f"{i}(std::string const&, unsigned long)"
             for i in range(1, FUNCTIONS + 1)}
    stacks = make_stacks(draw)
    weights = [1 / (1 + draw.randrange(len(stacks))) for _ in stacks]
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, ".cpprof", "history")
        # Of some different ones, each stands for several.
        for commit in range(20):
            paths = [os.path.join(folder, f"run-{i}.pb.gz")
                     for i in range(runs)]
            for path in paths:
                write_run(path, draw, stacks, weights, names)
            subprocess.run([CPPROF, "keep", "--id", f"c{commit}", *paths],
                           cwd=folder, check=True, capture_output=True)
        for commit in range(20, commits):
            shutil.copy(os.path.join(kept, f"c{commit % 20}.merged"),
                        os.path.join(kept, f"c{commit}.merged"))
        size = sum(entry.stat().st_size for entry in os.scandir(kept))
        print(f"{commits} commits of {runs} runs, {size / commits / 1024:.1f} "
              "KiB each")
        hot = max(stacks, key=dict(zip(stacks, weights)).get)
        for what, command in (("a function", f"log operation_{hot[-1]}"),
                              ("a path", "log (" + " ".join(
                                  f"operation_{i}" for i in hot[-2:]) + ")"),
                              ("none", "log nobody")):
            best = float("inf")
            for _ in range(3):
                begin = time.monotonic()
                done = subprocess.run([CPPROF, "-q", "-e", command],
                                      cwd=folder, check=False,
                                      capture_output=True)
                assert (done.returncode == 0) == (what != "none"), done.stderr
                best = min(best, time.monotonic() - begin)
            print(f"log of {what}: {best:.2f} s")
        if "BENCH_KEEP" in os.environ:
            shutil.move(folder, os.environ["BENCH_KEEP"])
            os.mkdir(folder)


main()
