#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of other tools give the numbers that these tools print.

    other-tools.py [DIR]

DIR, tests/data by default, holds a folder a tool: profiles, and beside them
what the tool itself printed for each.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = os.environ.get("CPPROF", "./cpprof")


class Claims:
    """TAP, a line for each claim."""
    n = 0

    def make(self, claim, differences):
        self.n += 1
        print("not ok" if differences else "ok", self.n, "-", claim)
        for difference in differences[:20]:
            print("#", difference)


def numbers(profile, view, *commands):
    """{name: hits} of a view."""
    arguments = [CPPROF, "-q", "-F", "json", "-e", "threshold 0"]
    for command in (*commands, view):
        arguments += ["-e", command]
    answer = subprocess.run(arguments + [profile], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, check=True).stdout
    rows = json.loads(answer.splitlines()[-1])["rows"]
    return {row["path"][0]: row["hits"] for row in rows}


# ---- go tool pprof ----

UNITS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "mins": 60e9,
         "hrs": 3600e9, "B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30}


def between(text):
    """The least and the most that a rounded number can stand for."""
    number, unit = re.fullmatch(r"(-?[\d.]+)([a-zA-Z]*)", text).groups()
    half = 0.5 * 10 ** -len(number.partition(".")[2])
    if UNITS[unit] == 1:
        half = 0
    return ((float(number) - half) * UNITS[unit] - 1e-6,
            (float(number) + half) * UNITS[unit] + 1e-6)


def go_rows(path):
    """(flat, cumulative, name) of `go tool pprof -top -cum`."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = re.match(r"\s*([\d.]+\w*)\s+\S+%\s+\S+%\s+([\d.]+\w*)"
                           r"\s+\S+%\s+(.*)", line)
            if row:
                yield (between(row[1]), between(row[2]),
                       re.sub(r" \((partial-)?inline\)$", "", row[3]))


def compare_go(oracle):
    """What differs from an oracle file, which is named PROFILE[.TYPE].top..."""
    stem = oracle[:-len(".top-cum.txt")]
    folder, name = os.path.split(stem)
    name, _, resource = name.partition(".")
    profile = os.path.join(folder, name + ".pb.gz")
    commands = ["resource " + resource] if resource else []
    cumulative = numbers(profile, "functions", *commands)
    flat = numbers(profile, "body", *commands)
    differences = []
    seen = 0
    for flat_bounds, bounds, function in go_rows(oracle):
        seen += 1
        for what, got, (low, high) in (
                ("cum", cumulative.get(function, -1), bounds),
                ("flat", flat.get(function, 0), flat_bounds)):
            if not low <= got <= high:
                differences.append(f"{what} {function}: {got}, expected "
                                   f"{low:.0f} to {high:.0f}")
    if seen == 0:
        differences.append("nothing was compared")
    return differences


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "data")
    claims = Claims()
    for oracle in sorted(glob.glob(os.path.join(folder, "go",
                                                "*.top-cum.txt"))):
        claims.make("as go tool pprof: " + os.path.basename(oracle),
                    compare_go(oracle))
    print(f"1..{claims.n}")


main()
