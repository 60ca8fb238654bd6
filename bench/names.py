# SPDX-License-Identifier: GPL-3.0-or-later
"""names.py [CPPROF] -- the cost of keeping the names of a recording.

Records gcc's C++ compiler on programs/templates.cc, cpprof itself, which has
debug information, and 600 short processes.  Then each recording is named
again, and opened with its names, in turn, ROUNDS times (5).  Prints medians of
CPU time.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

CPPROF = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "./cpprof")
HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SHORT = """i=0
while [ $i -lt 600 ]; do echo hello | sed s/h/j/; i=$((i + 1)); done"""


def cpu(*command):
    """CPU seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime +
            after.ru_stime - before.ru_stime)


def measure(name, *command):
    ran = cpu(CPPROF, "record", "--no-symbols", "-F", "1000", "-o", name,
              "--", *command)
    names = os.path.join(name, "names")
    named, kept = [], []
    for _ in range(ROUNDS):
        os.remove(names)
        named.append(cpu(CPPROF, "-q", "-e", "inlines on", "-e", "functions",
                         name))
        kept.append(cpu(CPPROF, "-q", "-e", "inlines on", "-e", "functions",
                        name))
    others = sum(os.path.getsize(os.path.join(name, file))
                 for file in os.listdir(name)) - os.path.getsize(names)
    print(f"{name}: ran {ran:.2f} s; opened with names {statistics.median(kept):.3f}"
          f" s, named first {statistics.median(named):.3f} s; names "
          f"{os.path.getsize(names) // 1024} KB, the rest {others // 1024} KB")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        measure("compiler", "g++", "-std=c++17", "-O2", "-c", "-o", "out.o",
                os.path.join(HERE, "programs", "templates.cc"))
        measure("cpprof", CPPROF, "-q", "-e", "threshold 0", "-e", "tree",
                "-e", "granularity line", "-e", "down", "compiler")
        measure("short", "sh", "-c", SHORT)
        os.chdir("/")


main()
