# SPDX-License-Identifier: GPL-3.0-or-later
"""locks.py -- what `record -r blame` adds to taking and leaving a lock.

Runs bench/programs/locks.c in turn: alone; with the collector and a resource
that no lock uses; with `blame`; with `blame-taken`.  Prints ns per pair, of CPU
time, or of real time where threads wait for each other: the least of all rounds,
and the median, since others use the machine, too.

	python3 bench/locks.py [ROUNDS [PAIRS]]

builddir as for the tests.
"""
import os
import statistics
import subprocess
import sys
import tempfile

BUILD = os.environ.get("builddir", "build")
LIBRARY = os.path.abspath(os.path.join(BUILD, ".libs", "libcpprof.so.0"))
SOURCES = os.path.dirname(os.path.abspath(__file__))
RESOURCES = (None, "major-faults", "blame", "blame-taken")
KINDS = ("mutex", "rwlock", "semaphore", "contended")


def pair_ns(program, kind, pairs, resources):
    with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as directory:
        environment = dict(os.environ)
        if resources is not None:
            environment.update(LD_PRELOAD=LIBRARY, CPPROF_OUTPUT=directory,
                               CPPROF_RESOURCES=resources)
        return float(subprocess.run([program, kind, pairs], env=environment,
                                    capture_output=True, check=True,
                                    text=True).stdout)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    pairs = sys.argv[2] if len(sys.argv) > 2 else "3000000"
    with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as directory:
        program = os.path.join(directory, "locks")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", program,
                        os.path.join(SOURCES, "programs", "locks.c"),
                        "-lpthread"], check=True)
        times = {(kind, resources): [] for kind in KINDS
                 for resources in RESOURCES}
        for _ in range(rounds):
            for kind, resources in times:
                times[kind, resources].append(pair_ns(program, kind, pairs,
                                                      resources))
    print("lock       least   median  resources")
    for (kind, resources), values in times.items():
        print(f"{kind:9}  {min(values):6.2f}  {statistics.median(values):7.2f}"
              f"  {resources or 'without the collector'}")


if __name__ == "__main__":
    main()
