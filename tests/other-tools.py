#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of other tools show the numbers that these tools print.

    other-tools.py [DIR]

DIR, tests/data by default, holds a folder per tool, with profiles and what the
tool itself printed for each.
"""
import glob
import json
import os
import re
import subprocess
import sys

from claims import Claims

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = os.environ.get("CPPROF", "./cpprof")


def numbers(profile, view, *commands, symfs=None):
    """{name: hits} of a view; programs are looked for next to the profile."""
    arguments = [CPPROF, "-q", "-F", "json", "-e", "startup show",
                 "-e", "threshold 0",
                 "--symfs", symfs or os.path.dirname(profile)]
    for command in (*commands, view):
        arguments += ["-e", command]
    answer = subprocess.run(arguments + [profile], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, check=True, timeout=120).stdout
    rows = json.loads(answer.splitlines()[-1])["rows"]
    return {row["path"][0]: row["hits"] for row in rows}


# ---- go tool pprof ----

UNITS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "mins": 60e9,
         "hrs": 3600e9, "B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30}


def between(text):
    """The smallest and the largest value that rounds to a number."""
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
    """The differences from an oracle file, which is named
    PROFILE[.TYPE].top..."""
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


# ---- perf report ----

def perf_sections(path):
    """(event, total, rows) of `perf report -t TAB`, rows as lists of cells."""
    event = total = None
    rows = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            header = re.match(r"# Samples: .* of events? '(.*)'", line)
            if header:
                if rows:
                    yield event, total, rows
                event, rows = header[1], []
            count = re.match(r"# Event count \(approx.\): (\d+)", line)
            if count:
                total = int(count[1])
            if line[0] not in "#\n":
                rows.append([cell.strip() for cell in line.split("\t")])
    if rows:
        yield event, total, rows


def bare(name):
    """A C++ name as perf writes it, without parameters."""
    depth = 0
    text = re.sub(r"\(anonymous namespace\)", "\1", name)
    text = text.replace("operator()", "\2")
    out = ""
    for i, letter in enumerate(text):
        if letter in "(<" and not text[:i].endswith("operator"):
            depth += letter == "("
        if depth == 0:
            out += letter
        if letter == ")" and depth > 0:
            depth -= 1
    out = re.sub(r"( const)?( \[clone .*\])?$", "", out)
    return out.replace("\1", "(anonymous namespace)").replace(
        "\2", "operator()")


def by_bare_name(hits):
    """{name: hits} with names as perf writes them; and hits of addresses."""
    summed = {}
    for name, n in hits.items():
        if re.search(r"\+0x[0-9a-f]+$|^0x[0-9a-f]+$", name):
            name = "[unknown]"
        summed[bare(name)] = summed.get(bare(name), 0) + n
    return summed


def perf_name(cell):
    """The symbol of "[.] symbol"; an address if it is unknown."""
    name = cell.split("] ", 1)[1]
    return bare("[unknown]" if re.match(r"0x[0-9a-f]+$|[0-9a-f]{16}$", name)
                else name)


def own_functions(stem):
    """Functions of the recorded program: those of libraries may be others.

    None if the program is not next to the profile: then all are compared.
    """
    program = re.sub("-[a-z]+$", "", stem)
    if not os.path.exists(program):
        return None
    name = re.escape(os.path.basename(program))
    with open(program + ".script", encoding="utf-8") as lines:
        return set(re.findall(r"^\s+[0-9a-f]+ (\w+)\+0x.*/" + name +
                              r"\)$", lines.read(), re.M))


def compare_perf_self(oracle, profile, only):
    """The differences from `perf report -F overhead,period,...,sym`."""
    differences = []
    for event, total, rows in perf_sections(oracle):
        wanted = {}
        for row in rows:
            name = perf_name(row[-1])
            wanted[name] = wanted.get(name, 0) + int(row[1])
        got = by_bare_name(numbers(profile, "body", "resource " + event))
        got = {name: n for name, n in got.items() if n}
        lost = got.pop("[no stack]", 0)     # perf script leaves some out
        for name in wanted:
            if 0 < wanted[name] - got.get(name, 0) <= lost:
                lost -= wanted[name] - got.get(name, 0)
                got[name] = wanted[name]
        if sum(got.values()) != total:
            differences.append(f"{event}: {sum(got.values())} in all, "
                               f"expected {total}")
        differences += [f"{event}: {name}: {got.get(name, 0)}, expected "
                        f"{wanted.get(name, 0)}"
                        for name in sorted({*got, *wanted})
                        if (only is None or name in only) and got.get(name, 0) != wanted.get(name, 0)]
    return differences or ([] if total else ["nothing was compared"])


def compare_perf_children(oracle, profile, only):
    """The differences from `perf report --children`: shares of functions."""
    differences = []
    seen = 0
    for event, total, rows in perf_sections(oracle):
        got = by_bare_name(numbers(profile, "functions", "resource " + event))
        wanted = {}
        for row in rows:
            seen += row[0] == "N/A"     # perf cannot tell, of pipes
            if row[0] != "N/A":
                wanted.setdefault(perf_name(row[-1]), []).append(
                    float(row[0].rstrip("%")))
        wanted.pop("[unknown]", None)   # perf tells these apart by address
        for name, shares in wanted.items():
            if only is not None and name not in only:
                continue
            seen += 1
            share = 100 * got.get(name, 0) / total
            # Overloaded functions have a row each, and may call each other.
            if not max(shares) - 0.0051 <= share <= \
                    sum(shares) + 0.0051 * len(shares):
                differences.append(f"{event}: {name}: {share:.4f}%, expected "
                                   f"{shares}")
    return differences if seen else ["nothing was compared"]


def compare_perf(folder, claims):
    for oracle in sorted(glob.glob(os.path.join(folder, "*.self.txt"))):
        stem = oracle[:-len(".self.txt")]
        children = stem + ".children.txt"
        for profile in (stem + ".script", stem + ".data",
                        stem + ".data.gz"):
            if not os.path.exists(profile):
                continue
            name = os.path.basename(profile)
            only = None
            if not profile.endswith(".script"):
                only = own_functions(stem)
            claims.make("as perf report: self of " + name,
                        compare_perf_self(oracle, profile, only))
            if os.path.exists(children):
                claims.make("as perf report: children of " + name,
                            compare_perf_children(children, profile, only))


# ---- google-pprof ----

def compare_gperftools(oracle, profile, symfs):
    """The differences from `google-pprof --text --cum --functions`.

    Only functions of the program are compared: names of libc need its debug
    symbols."""
    with open(os.path.join(symfs, "rec.c"), encoding="utf-8") as source:
        own = set(re.findall(r"\w+", source.read()))
    cumulative = numbers(profile, "functions", symfs=symfs)
    flat = numbers(profile, "body", symfs=symfs)
    differences = []
    seen = 0
    with open(oracle, encoding="utf-8") as lines:
        for line in lines:
            row = re.match(r"\s*(\d+) +\S+% +\S+% +(\d+) +\S+% (\w+)$", line)
            if not row or row[3] not in own:
                continue
            seen += 1
            got = (flat.get(row[3], 0), cumulative.get(row[3], 0))
            if got != (int(row[1]), int(row[2])):
                differences.append(f"{row[3]}: {got}, expected {row[0]}")
    return differences if seen else ["nothing was compared"]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "data")
    claims = Claims()
    for oracle in sorted(glob.glob(os.path.join(folder, "go",
                                                "*.top-cum.txt"))):
        claims.make("as go tool pprof: " + os.path.basename(oracle),
                    compare_go(oracle))
    compare_perf(os.path.join(folder, "perf"), claims)
    oracle = os.path.join(folder, "gperftools", "rec.cum.txt")
    if os.path.exists(oracle):
        claims.make("as google-pprof: rec.prof", compare_gperftools(
            oracle, oracle.replace(".cum.txt", ".prof"),
            os.path.join(folder, "perf")))
    claims.end()


main()
