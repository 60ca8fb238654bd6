#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pgo.py -- what `export autofdo` gains, beside an instrumented profile.

    pgo.py [-n RUNS] [-r RECORDED] [-k DIRECTORY] [-f FLAGS] [--] WORDS... --
           SOURCES AND FLAGS...

Builds a program by clang -O2 three times: as it is, with cpprof's profile of
plain samples of RECORDED runs, and with counts of an instrumented build; all
from runs with the same WORDS, which follow "--" if the first begins with "-".
Then runs them in turn, and prints for each the least CPU time, and the median
of its ratios to the first.  -f: more flags of the build with samples.  -k keeps
the programs.  CPPROF: the program to test.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

LINES = ["-gline-tables-only", "-fdebug-info-for-profiling",
         "-funique-internal-linkage-names"]


def run(*words, **options):
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, **options)


def user_seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run(*words)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def build(place, name, sources, *flags):
    program = os.path.join(place, name)
    run("clang", "-O2", *flags, *sources, "-o", program)
    return program


def make(place, words, sources, recorded, flags):
    """The three programs, by name."""
    cpprof = os.environ.get("CPPROF", "cpprof")
    plain = build(place, "plain", sources, *LINES)
    recording = os.path.join(place, "plain.cpprof")
    profile = os.path.join(place, "plain.prof")
    run(cpprof, "record", "--no-prompt", "--force", "-r", "cpu:250us",
        "--repeat", str(recorded), "-o", recording, plain, *words)
    run(cpprof, "-q", "-e", "export autofdo " + profile, recording)
    counted = build(place, "counted", sources, "-fprofile-instr-generate")
    raw, counts = (os.path.join(place, name) for name in ("raw", "counts"))
    run(counted, *words, env={**os.environ, "LLVM_PROFILE_FILE": raw})
    run("llvm-profdata", "merge", raw, "-o", counts)
    return {
        "plain": plain,
        "samples": build(place, "samples", sources, *LINES,
                         "-fprofile-sample-use=" + profile, "-mllvm",
                         "-sample-profile-use-profi", *flags.split()),
        "instrumented": build(place, "instrumented", sources,
                              "-fprofile-instr-use=" + counts),
    }


def main():
    options = argparse.ArgumentParser()
    options.add_argument("-n", type=int, default=15)
    options.add_argument("-r", type=int, default=20)
    options.add_argument("-k", metavar="DIRECTORY")
    options.add_argument("-f", metavar="FLAGS", default="")
    options.add_argument("words", nargs=argparse.REMAINDER)
    at = len(sys.argv) - 1 - sys.argv[::-1].index("--")
    chosen = options.parse_args(sys.argv[1:at])
    words = chosen.words[chosen.words[:1] == ["--"]:]
    with tempfile.TemporaryDirectory() as temporary:
        place = chosen.k or temporary
        os.makedirs(place, exist_ok=True)
        programs = make(place, words, sys.argv[at + 1:], chosen.r, chosen.f)
        seconds = {name: [] for name in programs}
        for i in range(chosen.n):
            for name in sorted(programs, reverse=i % 2 == 1):
                seconds[name].append(user_seconds([programs[name], *words]))
        for name, times in seconds.items():
            ratio = statistics.median(x / y for x, y in
                                      zip(times, seconds["plain"]))
            print(f"{name:12} least {min(times):.3f} s, "
                  f"{100 * (min(times) / min(seconds['plain']) - 1):+.1f}%; "
                  f"median of ratios {100 * (ratio - 1):+.1f}%")


main()
