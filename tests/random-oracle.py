#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program, given random recursive stacks, prints what the oracle computes.

    random-oracle.py [FIRST-SEED [SEEDS]]

For each seed, every view of every function as JSON, threshold 0.  The same
stacks in another order, compressed, in two files, must not change a byte of
the output.
"""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

import cpprof
from claims import rounds

HERE = os.path.dirname(os.path.abspath(__file__))


def stacks_of(seed):
    """The lines of a random profile: headers first."""
    shape = random.Random(seed)
    return subprocess.run(
        [sys.executable, os.path.join(HERE, "random-stacks.py"), str(seed),
         str(shape.randint(1, 40)), str(shape.randint(1, 7)),
         str(shape.randint(1, 14))],
        stdout=subprocess.PIPE, check=True, timeout=120).stdout


def ask(script, *files):
    """The program's output for a script, as bytes."""
    return cpprof.run("-q", "-F", "json", "-x", script, *files,
                      text=False).stdout


def oracle(view, path):
    return subprocess.run(
        [sys.executable, os.path.join(HERE, "oracle.py"), view, "-", path],
        stdout=subprocess.PIPE, check=True, timeout=120).stdout


def difference(want, got):
    """None, or the first view that differs from the oracle's."""
    views = [json.loads(line) for line in got.split(b"\n") if line]
    views = [view for view in views if "rows" in view and "total" in view]
    want = [json.loads(line) for line in want.split(b"\n") if line]
    if len(views) != len(want):
        return f"{len(views)} views, not {len(want)}"
    for expected, view in zip(want, views):
        keys = ("hits", "path") + (
            ("inclusive",) if view["view"] == "top" else ())
        rows = [{key: row[key] for key in keys} for row in view["rows"]]
        right = [{key: row[key] for key in keys} for row in expected["rows"]]
        for key in ("view", "root", "total"):
            if view[key] != expected[key]:
                return f"{key} {view[key]}, not {expected[key]}"
        if rows != right:
            return f"{view['view']} {view['root']}: {rows}, not {right}"
        if view["hidden"] != 0:
            return f"{view['view']} {view['root']} hides at threshold 0"
        for row in view["rows"]:
            share = row["hits"] / view["total"] if view["total"] else 0
            if abs(row["fraction"] - share) > 1e-12:
                return f"{row}: fraction is not {share}"
            if "inclusive_fraction" in row and abs(
                    row["inclusive_fraction"] * view["total"]
                    - row["inclusive"]) > 1e-6:
                return f"{row}: inclusive_fraction is wrong"
    return None


def shuffled(lines, seed, folder):
    """The same profile in another order, as two files, one compressed."""
    headers = [line for line in lines if line.startswith(b"# ")]
    stacks = lines[len(headers):]
    random.Random(seed).shuffle(stacks)
    half = len(stacks) // 2
    paths = [os.path.join(folder, name) for name in ("one", "two")]
    with open(paths[0], "wb") as one:
        one.writelines(headers + stacks[half:])
    with gzip.open(paths[1], "wb") as two:
        two.writelines(headers + stacks[:half])
    return paths if half else paths[:1]


def check(seed, folder):
    path, script = (os.path.join(folder, name) for name in ("all", "script"))
    stacks = stacks_of(seed)
    with open(path, "wb") as file:
        file.write(stacks)
    with open(script, "wb") as file:
        file.write(oracle("commands", path))
    got = ask(script, path)
    wrong = difference(oracle("all", path), got)
    if wrong:
        return wrong
    lines = stacks.splitlines(keepends=True)
    if ask(script, *shuffled(lines, seed, folder)) != got:
        return "another order of stacks and files changes the output"
    return None


def main():
    first, count = (int(argument) for argument in
                    (sys.argv[1:] + ["1", rounds(12)][len(sys.argv) - 1:]))
    for number, seed in enumerate(range(first, first + count), 1):
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(seed, folder)
        print("not ok" if wrong else "ok", number, "- random stacks", seed)
        if wrong:
            print("#", wrong.replace("\n", "\n# "))
    print(f"1..{count}")


main()
