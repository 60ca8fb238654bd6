#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tableless.py -- how many stacks of programs without unwind tables are whole.

\tbench/tableless.py [ROUNDS]

Records busybox's shell, a program of musl and a stripped one of Go, and prints
for each the samples, the share of `[partial]`, and the share that was guessed by
frame pointers; medians of the rounds.  CPPROF: which cpprof.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "tests", "programs", "tableless.c")
CPPROF = os.environ.get("CPPROF", os.path.join(HERE, "..", "cpprof"))
LOOP = ('i=0; while [ $i -lt 1500000 ]; do x="$i abc"; y=${x%% *}; '
        'case $y in *99) z=$((y * 3));; esac; i=$((i + 1)); done')
GO = """
package main

import "sort"

//go:noinline
func leaf(n int) int { s := n; for i := 0; i < 50; i++ { s += s ^ i }; return s }

//go:noinline
func middle(n int) int { return leaf(n) + leaf(n + 1) + 1 }

func main() {
\tt := 0
\tfor i := 0; i < 2000; i++ {
\t\tall := []int{}
\t\tfor k := 0; k < 3000; k++ { all = append(all, middle(k * 7919 % 3001)) }
\t\tsort.Ints(all)
\t\tt += all[7]
\t}
\tprintln(t)
}
"""


def programs(folder):
    """Names and commands of those that can be had here."""
    if shutil.which("busybox") is not None:
        yield "busybox sh", ["busybox", "sh", "-c", LOOP]
    for name, words in (("musl", []), ("musl, static, stripped",
                                       ["-static", "-s"])):
        program = os.path.join(folder, name.replace(", ", "-"))
        if shutil.which("musl-gcc") is not None:
            subprocess.run(["musl-gcc", "-O2", "-fomit-frame-pointer",
                            "-fno-asynchronous-unwind-tables", *words, "-o",
                            program, SOURCE], check=True)
            yield name, [program, "40000"]
    if shutil.which("go") is not None:
        source = os.path.join(folder, "program.go")
        with open(source, "w", encoding="ascii") as file:
            file.write(GO)
        program = os.path.join(folder, "go-stripped")
        subprocess.run(["go", "build", "-ldflags=-s -w", "-o", program,
                        source], check=True)
        yield "Go, stripped", [program]


def measure(command, folder):
    """The samples, and the shares of partial and of guessed ones."""
    path = os.path.join(folder, "recording")
    subprocess.run([CPPROF, "record", "--no-prompt", "--force", "-F", "997",
                    "-o", path, *command], check=True, capture_output=True)
    said = subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "threshold 0", "-e",
         "functions 10000", path], check=False, capture_output=True,
        text=True).stdout.splitlines()
    told = subprocess.run([CPPROF, "-q", "-e", "info", path], check=True,
                          capture_output=True, text=True).stdout
    numbers = dict(line.rsplit(": ", 1) for line in told.splitlines()
                   if ": " in line)
    samples = int(numbers["samples"])
    partial = 0
    for line in said:
        table = json.loads(line)
        for row in table.get("rows", []):
            if row.get("path") == ["[partial]"]:
                partial = row["hits"] / table["total"]
    guessed = next((int(numbers[key].split()[0]) for key in numbers
                    if key.startswith("stacks partly guessed")), 0)
    return samples, partial, guessed / samples


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        for name, command in programs(folder):
            found = [measure(command, folder) for _ in range(rounds)]
            n, partial, guessed = map(statistics.median, zip(*found))
            print(f"{name}: {n} samples, {100 * partial:.2f}% partial, "
                  f"{100 * guessed:.2f}% guessed", flush=True)


if __name__ == "__main__":
    main()
