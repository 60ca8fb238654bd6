#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text profiles of gperftools, jemalloc and Go show the values of their tools.

    legacy.py [DIR]

DIR, tests/data/legacy by default, holds profiles and beside them what
`go tool pprof -raw` prints, NAME.raw, or `jeprof --text --cum --show_bytes`,
NAME.cum.
"""
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

from claims import Claims

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = os.environ.get("CPPROF", "./cpprof")


def run(profile, *commands):
    """The output of the last command."""
    arguments = [CPPROF, "-q", "-F", "json", "-e", "startup show",
                 "-e", "threshold 0",
                 "--symfs", os.path.dirname(profile)]
    for command in commands:
        arguments += ["-e", command]
    answer = subprocess.run(arguments + [profile], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, check=False, timeout=120)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr)
    return answer.stdout.splitlines()


def rows(profile, view, *commands):
    """Hits of a view's rows, in order of size, without zeros."""
    answer = json.loads(run(profile, *commands, view)[-1])
    return sorted(row["hits"] for row in answer["rows"] if row["hits"] > 0)


def read_raw(path):
    """Types of values, and samples: (values, stack of addresses)."""
    samples, addresses, part = [], {}, None
    with open(path, encoding="utf-8") as lines:
        for line in map(str.rstrip, lines):
            if line in ("Samples:", "Locations", "Mappings"):
                part = line
            elif part == "Samples:" and re.match(r"\w+/\w+", line):
                types = [word.split("/")[0] for word in line.split()]
            elif part == "Samples:" and re.match(r"[\s\d]+:", line):
                values, _, stack = line.partition(":")
                samples.append(([int(v) for v in values.split()],
                                stack.split()))
            elif part == "Locations":
                number, address = re.match(r"\s*(\d+): (0x\w+)",
                                           line).groups()
                addresses[number] = address
    return types, [(values, [addresses[number] for number in stack])
                   for values, stack in samples]


def read_names(profile):
    """Names that Go's comments give to addresses."""
    with open(profile, encoding="utf-8") as lines:
        found = (re.match(r"#\t(0x\w+)\t(\S+)\+0x", line) for line in lines)
        return {match[1]: match[2] for match in found if match}


def named(stack, names):
    """The names of a stack; Go leaves out its outermost function."""
    stack = stack or ["[no stack]"]
    last = [names.get(stack[-1], "runtime.goexit")] if names else stack[-1:]
    return [names.get(address, address) for address in stack[:-1]] + last


def sums(samples, column, of_stack, names):
    """The values of the stacks, summed by key, in order of size."""
    totals = {}
    for values, stack in samples:
        for name in of_stack(named(stack, names)):
            totals[name] = totals.get(name, 0) + values[column]
    return sorted(value for value in totals.values() if value > 0)


def compare_raw(profile, raw):
    """The differences from pprof's output."""
    types, samples = read_raw(raw)
    differences, names = [], read_names(profile)
    for column, name in enumerate(types):
        commands = ["resource " + name, "granularity address"]
        for view, of_stack in (("functions", set), ("body", lambda s: s[:1])):
            ours = rows(profile, view, *commands)
            theirs = sums(samples, column, of_stack, names)
            if ours != theirs:
                differences.append(f"{name} {view}: {ours}, pprof {theirs}")
    return differences


def compare_cum(profile, listing):
    """The differences from jeprof's output, which leaves out the allocator."""
    ours = rows(profile, "functions", "resource space", "granularity address")
    differences = []
    with open(listing, encoding="utf-8") as lines:
        total = int(re.match(r"Total: (\d+) B", next(lines))[1])
        if ours[-1] != total:
            differences.append(f"{ours[-1]} bytes, jeprof {total}")
        for line in lines:
            value = int(line.split()[3])
            if min(abs(value - our) for our in ours) > 2:
                differences.append(f"none has {value}: {line.rstrip()}")
    return differences


def elf():
    """A program of one function, f, at 0x1000 of its file."""
    names, symbol = b"\0f\0", struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x1000, 64)
    sections = [(0,) * 10,
                (1, 1, 6, 0x1000, 0x1000, 0x1000, 0, 0, 16, 0),
                (1, 2, 0, 0, 0x300, 48, 3, 1, 8, 24),
                (1, 3, 0, 0, 0x400, len(names), 0, 0, 1, 0)]
    header = struct.pack(
        "<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 3, 62, 1, 0, 64, 120,
        0, 64, 56, 1, 64, len(sections), 3)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x2000, 0x2000, 4096)
    table = b"".join(struct.pack("<IIQQQQIIQQ", *part) for part in sections)
    data = (header + segment + table).ljust(0x300, b"\0") + bytes(24) + symbol
    return (data.ljust(0x400, b"\0") + names).ljust(0x2000, b"\0")


def named_by_a_program(claims):
    """Addresses in Go's text belong to the program that is given."""
    program = os.path.abspath(CPPROF)
    with tempfile.TemporaryDirectory() as folder:
        for name, data in (("program", elf()), ("stacks", b"main;f 1\n"),
                           ("goroutine.txt",
                           b"goroutine profile: total 1\n1 @ 0x1009\n")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)

        def body(*words):
            return subprocess.run(
                [program, "-q", "-F", "tsv", "-e", "body", *words],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                text=True, check=False)

        for what, path in (("relative", "program"),
                           ("whole", os.path.join(folder, "program"))):
            answer = body(path, "goroutine.txt")
            claims.make(f"a program's {what} path names Go's addresses",
                        [] if answer.stdout.endswith("\tf\n") and
                        not answer.stderr else [answer.stdout, answer.stderr])
        answer = body("goroutine.txt")
        unused = body("program", "stacks")
        claims.make("a program that is not used is reported",
                    [] if "program: not used" in unused.stderr and
                    unused.returncode == 0 else [unused.stderr])
        claims.make("without a program, one is asked for",
                    [] if "addresses without a name: 1; give the program" in
                    answer.stderr else [answer.stderr])


def main():
    data = sys.argv[1] if len(sys.argv) > 1 else \
        os.path.join(HERE, "data", "legacy")
    claims = Claims()
    for raw in sorted(glob.glob(os.path.join(data, "*.raw"))):
        profile, = (path for path in glob.glob(raw[:-3] + "*")
                    if path != raw)
        claims.make(f"{os.path.basename(profile)}: values are pprof's",
                    compare_raw(profile, raw))
    listing = os.path.join(data, "jemalloc.cum")
    claims.make("jemalloc.heap: values are jeprof's",
                compare_cum(listing[:-3] + "heap", listing))
    stacks = run(os.path.join(data, "go-goroutine.txt"), "export collapsed")
    claims.make("recursion of Go is not taken for inlining",
                [] if any(line.startswith(
                    "runtime.goexit;main.recurse;main.recurse;main.recurse;"
                    "main.recurse;") and line.endswith(" 5")
                    for line in stacks) else stacks)
    named_by_a_program(claims)
    claims.end()


main()
