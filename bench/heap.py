# SPDX-License-Identifier: GPL-3.0-or-later
"""heap.py -- what `record -r live` adds to a pair of malloc and free.

Runs bench/programs/pairs.c in turn: alone; with the collector and a resource
that no allocation uses; with `live` at its default interval, and at one so long
that hardly a block is sampled.  Prints ns of CPU time per pair: the least of
all rounds, and a quarter of the way up, since others use the machine, too.

	python3 bench/heap.py [ROUNDS [PAIRS]]

builddir as for the tests.
"""
import os
import subprocess
import sys
import tempfile

BUILD = os.environ.get("builddir", "build")
LIBRARY = os.path.abspath(os.path.join(BUILD, ".libs", "libcpprof.so.0"))
SOURCES = os.path.dirname(os.path.abspath(__file__))
KINDS = (None, "major-faults", "live", "live:1073741824")


def pair_ns(program, pairs, resources):
    with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as directory:
        environment = dict(os.environ)
        if resources is not None:
            environment.update(LD_PRELOAD=LIBRARY, CPPROF_OUTPUT=directory,
                               CPPROF_RESOURCES=resources)
        return float(subprocess.run([program, pairs], env=environment,
                                    capture_output=True, check=True,
                                    text=True).stdout)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    pairs = sys.argv[2] if len(sys.argv) > 2 else "3000000"
    with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as directory:
        program = os.path.join(directory, "pairs")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", program,
                        os.path.join(SOURCES, "programs", "pairs.c")],
                       check=True)
        times = {kind: [] for kind in KINDS}
        for _ in range(rounds):
            for kind in KINDS:
                times[kind].append(pair_ns(program, pairs, kind))
    print("least  quarter  resources")
    for kind in KINDS:
        ordered = sorted(times[kind])
        print(f"{ordered[0]:5.2f}  {ordered[len(ordered) // 4]:7.2f}  "
              f"{kind or 'without the collector'}")


if __name__ == "__main__":
    main()
