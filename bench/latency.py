# SPDX-License-Identifier: GPL-3.0-or-later
"""latency.py -- what `record -r latency` costs beside `record -r cpu`.

Runs bench/programs/crew.c in turn alone, with cpu and with latency, and prints
the CPU time that each took, all threads and processes together: the median of
the rounds, and its ratio to that of the program alone; and how much of it the
samples took, which is less noisy.

	python3 bench/latency.py [ROUNDS [MS]]

builddir as for the tests.
"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

BUILD = os.environ.get("builddir", "build")
CPPROF = os.path.abspath(os.path.join(BUILD, "cpprof"))
SOURCES = os.path.dirname(os.path.abspath(__file__))
KINDS = (None, "cpu", "latency")
# who, how many, sleepers
CREWS = (("threads", 1, 0), ("threads", 2, 0), ("threads", 2, 60),
         ("threads", 2, 500), ("processes", 2, 0), ("processes", 8, 0),
         ("processes", 2, 60))


def cpu_ms():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def run(words, kind, path):
    """The milliseconds used, and the nanoseconds a sample of cpu took."""
    before = cpu_ms()
    if kind is None:
        subprocess.run(words, check=True)
        return cpu_ms() - before, 0
    subprocess.run([CPPROF, "record", "--no-prompt", "--no-symbols", "-r",
                    kind, "-o", path, "--", *words], check=True,
                   capture_output=True)
    used = cpu_ms() - before
    info = json.loads(subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "info", path], check=True,
        capture_output=True, text=True).stdout)
    shutil.rmtree(path)
    samples = next(row["samples"] for row in info["rows"]
                   if row["name"] == "cpu")
    return used, info["sampling_share"] * info["cpu_seconds"] * 1e9 / \
        max(samples, 1)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    ms = sys.argv[2] if len(sys.argv) > 2 else "3000"
    with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as directory:
        program = os.path.join(directory, "crew")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-pthread", "-o",
                        program, os.path.join(SOURCES, "programs", "crew.c")],
                       check=True)
        print("crew                 resource  CPU ms   ratio  us a sample")
        for who, n, sleepers in CREWS:
            words = [program, who, str(n), ms, str(sleepers)]
            found = {kind: [] for kind in KINDS}
            for _ in range(rounds):
                for kind in KINDS:
                    found[kind].append(run(words, kind, os.path.join(
                        directory, "r")))
            alone = statistics.median(used for used, _ in found[None])
            for kind in KINDS:
                used = statistics.median(used for used, _ in found[kind])
                took = statistics.median(took for _, took in found[kind])
                print(f"{who:9} {n:3} {sleepers:4}   {kind or 'none':8} "
                      f"{used:7.0f}  {used / alone:6.4f}  {took / 1000:6.1f}",
                      flush=True)


if __name__ == "__main__":
    main()
