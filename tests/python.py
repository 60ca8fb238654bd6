#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""python.py -- Python functions in recordings of CPython programs.

Runs with each interpreter of 3.11 and later that is found.  The witness of the
stacks is the program itself: tests/programs/pystacks.py writes a byte where it
notes its own stack, and bytes-written finds each of them.  Speaks TAP.
"""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from claims import Claims, rounds  # noqa: E402
from cpprof import run, table, text  # noqa: E402

claims = Claims()
PROGRAMS = os.path.join(HERE, "programs")
NAMED = re.compile(r"^(.*) \(([^()]*?)(?::(\d+))?\)(?::(\d+))?$")


def interpreters():
    """Paths of interpreters, by version: those in PATH, and pyenv's."""
    found = {}
    names = [f"python3.{minor}" for minor in range(11, 15)] + ["python3"]
    paths = [shutil.which(name) for name in names]
    paths += ["/usr/bin/python3"]
    paths += sorted(glob.glob(os.path.expanduser(
        "~/.pyenv/versions/*/bin/python3")))
    for path in paths:
        if path is None or not os.path.exists(path):
            continue
        done = subprocess.run(
            [path, "-c", "import sys; print(sys.version.split()[0], "
             "sys.version_info >= (3, 11), sys.version_info < (3, 15),"
             "sys.implementation.name, sys.executable)"],
            capture_output=True, text=True, check=False)
        words = done.stdout.split()
        if words[1:4] == ["True", "True", "cpython"]:
            found.setdefault((words[0], os.path.realpath(words[4])), path)
    return {version: path for (version, _), path in found.items()}


def record(directory, name, python, words, *options, status=0):
    recording = os.path.join(directory, name)
    run("record", "-o", recording, *options, python, *words, status=status)
    return recording


def recorded_stacks(recording, path):
    """The Python frames of each stack with their hits: (name, line)."""
    exported = path + ".folded"
    text(recording, "granularity callsite", f"export collapsed {exported}")
    stacks = collections.Counter()
    with open(exported, encoding="utf-8") as file:
        for line in file:
            stack, hits = line.rsplit(" ", 1)
            frames = []
            for frame in stack.split(";"):
                match = NAMED.match(frame)
                if match and (".py" in match[2] or "<" in match[2]):
                    frames.append((match[1], int(match[4] or 0)))
            if frames and frames[-1][0] == "leaf":
                stacks[tuple(frames)] += int(hits)
    return stacks


def noted_stacks(path):
    stacks = collections.Counter()
    for name in (path, path + ".child"):
        with open(name, encoding="utf-8") as file:
            for stack, n in json.load(file):
                stacks[tuple((frame[0], frame[3]) for frame in stack)] += n
    return stacks


def check_stacks(directory, version, python):
    notes = os.path.join(directory, "notes")
    recording = record(directory, f"stacks-{version}", python,
                       [os.path.join(PROGRAMS, "pystacks.py"), version,
                        str(rounds(200)), notes], "-r", "bytes-written:1")
    recorded = recorded_stacks(recording, notes)
    noted = noted_stacks(notes)
    assert sum(noted.values()) > 1000, sum(noted.values())
    wrong = [(stack, n, recorded[stack]) for stack, n in noted.items()
             if recorded[stack] != n]
    wrong += [(stack, noted[stack], n) for stack, n in recorded.items()
              if stack not in noted]
    assert not wrong, (f"{len(wrong)} of {len(noted)} stacks differ",
                       wrong[:3])


def main():
    found = interpreters()
    with tempfile.TemporaryDirectory() as directory:
        for version, python in found.items():
            claims.attempt(
                f"{version}: stacks are those that the program sees",
                check_stacks, directory, version, python)
    if not found:
        claims.skip("Python functions", "no CPython from 3.11 on")
    claims.end()


if __name__ == "__main__":
    main()
