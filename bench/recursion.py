#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""recursion.py CPPROF [ROUNDS] -- what profilers say of recursive functions:
writes doc/recursion.md.

Builds bench/programs/recursion.c, runs it under each profiler that is there
(perf, go, valgrind, gprof, and flamegraph.pl and stackcollapse-perf.pl in the
PATH or in the folder FLAMEGRAPH), and reads the shares from their output.  The
program's own clock is the witness.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
CPPROF = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "./cpprof")
ROUNDS = sys.argv[2] if len(sys.argv) > 2 else "1000"
# Optimised functions that call none have no frame, and perf then lacks their
# callers.
FLAGS = ["-g", "-O0", "-fno-omit-frame-pointer"]
# The columns: functions, then calls within the recursion.
FUNCTIONS = ("walk", "even", "odd")
CALLS = {"walk walk": "walk -> walk", "odd even": "odd -> even"}
# By units of the loop: of 37 in a round, walk's 8 levels and their leaves have
# 16; even and odd have 1 and 2 in each of their 3 turns.
UNITS = {"walk": 16, "even": 9, "odd": 8, "walk walk": 14, "odd even": 6}
ALL_UNITS = 37


class Missing(Exception):
    """A tool that is not installed, or cannot work on this machine."""


def run(*command, **options):
    if shutil.which(command[0]) is None:
        raise Missing("not installed")
    done = subprocess.run(command, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, **options)
    if done.returncode != 0:
        raise Missing("failed here: " + (done.stderr.strip().splitlines() or
                                         ["no message"])[-1])
    return done.stdout


def own_clock(printed):
    """What the program printed, by names; it does not say `odd even`, but the
    path even odd even, which is the same here."""
    shares = {name: 100 * float(share) for share, name in
              re.findall(r"^([0-9.]+)\t(.*)$", printed, re.M)}
    shares["odd even"] = shares["even odd even"]
    return shares


# ---- the tools: each returns {column: percent} ----

def cpprof():
    clock = own_clock(run(CPPROF, "record", "--no-prompt", "-r",
                          "cpu:1ms", "-o", "run.cpprof", "--", "./recursion",
                          ROUNDS))
    return clock, paths("run.cpprof", [*FUNCTIONS, *CALLS])


def paths(profile, wanted):
    questions = [word for path in wanted
                 for word in ("-e", f"path ({path})")]
    tables = [json.loads(line) for line in
              run(CPPROF, "-q", "-F", "json", *questions,
                  profile).splitlines()]
    return {path: 100 * table["rows"][0]["fraction"]
            for path, table in zip(wanted, tables)}


def perf():
    run("perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph",
        "fp", "-o", "perf.data", "./recursion", ROUNDS)
    text = run("perf", "report", "-i", "perf.data", "--children", "--stdio",
               "-g", "none")
    return {name: float(share) for share, name in re.findall(
        r"^ +([0-9.]+)% +[0-9.]+% .*\[\.\] (\w+) *$", text, re.M)}


def pprof(*words):
    """Of the recording of cpprof, whose samples it has."""
    if not os.path.exists("run.pb.gz"):
        run(CPPROF, "-q", "-e", "export pprof run.pb.gz", "run.cpprof")
    return run("go", "tool", "pprof", *words, "recursion", "run.pb.gz")


def pprof_top():
    return {name: float(share) for share, name in re.findall(
        r" ([0-9.]+)% +(\w+)(?: \(inline\))?$", pprof("-top", "-cum"), re.M)}


def milliseconds(text):
    number, unit = re.fullmatch(r"([0-9.]+)(\w+)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000,
                            "mins": 60000}[unit]


def pprof_list():
    shares = {}
    text = pprof("-list", "^(walk|even|odd)$")
    whole = milliseconds(re.search(r"^Total: (\S+)", text, re.M)[1])
    for part in text.split("ROUTINE ")[1:]:
        name = re.match(r"=+ (\w+) ", part)[1]
        shares[name] = float(re.search(r"\(flat, cum\) +([0-9.]+)%", part)[1])
        for taken, callee in re.findall(
                r"^ +\S+ +([0-9.]+m?s) +\d+:\t(walk|even)\(", part, re.M):
            shares[f"{name} {callee}"] = 100 * milliseconds(taken) / whole
    return shares


def pprof_peek():
    text = pprof("-peek", "^(walk|odd)$")
    whole = milliseconds(re.search(r"Total samples = ([0-9.]+m?s)", text)[1])
    shares = {}
    for part in text.split("----+---"):
        name = re.search(r"% +\| (walk|odd)$", part, re.M)
        for taken, callee in re.findall(
                r"^ +([0-9.]+m?s) +[0-9.]+% \|   (walk|even)$",
                part[name.end():] if name else "", re.M):
            shares[f"{name[1]} {callee}"] = 100 * milliseconds(taken) / whole
    return shares


def boxes_of(svg):
    """[(name, x, width, y)] of the boxes of a flame graph."""
    return [(name, float(x), float(width), float(y))
            for name, x, y, width in re.findall(
                r'<title>([^<(]+?) \([0-9,]+ [^<]*</title><rect x="([0-9.]+)" '
                r'y="([0-9.]+)" width="([0-9.]+)"', svg)]


def flame_graph(folded):
    """What its search says, "excluding vertical overlap", and how many boxes
    each function has."""
    tool = shutil.which("flamegraph.pl")
    if tool is None:
        raise Missing("not installed")
    boxes = boxes_of(run(tool, folded))
    whole = max(width for _, _, width, _ in boxes)
    shares, numbers = {}, {}
    for wanted in {name for name, *_ in boxes}:
        own = sorted((x, -width) for name, x, width, _ in boxes
                     if name == wanted)
        covered = end = 0
        for x, width in own:
            if x >= end - 0.2:
                covered -= width
                end = x - width
        shares[wanted] = 100 * covered / whole
        numbers[wanted] = len(own)
    return shares, numbers


def flame_graph_of_perf():
    if not os.path.exists("perf.data"):
        raise Missing("needs perf here")
    with open("perf.script", "w", encoding="utf-8") as file:
        file.write(run("perf", "script", "-i", "perf.data"))
    with open("perf.folded", "w", encoding="utf-8") as file:
        file.write(run("stackcollapse-perf.pl", "perf.script"))
    return flame_graph("perf.folded")


def gprof():
    run("gcc", *FLAGS, "-pg", "-no-pie", "-o", "recursion-gprof", "source.c")
    run("./recursion-gprof", str(2 * int(ROUNDS)))
    text = run("gprof", "-b", "-q", "recursion-gprof", "gmon.out")
    return {name: float(share) for share, name in re.findall(
        r"^\[\d+\] +([0-9.]+) .* (\w+|<cycle 1 as a whole>)(?: <cycle \d+>)? "
        r"\[\d+\]$", text, re.M)}


def callgrind(*options):
    run("valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind.out",
        *options, "./recursion", "3")
    text = run("callgrind_annotate", "--inclusive=yes", "--threshold=100",
               "callgrind.out")
    shares = {name: float(share) for share, name in re.findall(
        r"\(([0-9.]+)%\) .*:(\w+(?:'2)?)(?: \[.*)?$", text, re.M)}
    return {**shares, "walk walk": shares.get("walk'2"),
            "odd even": shares.get("even'2")}


# ---- the page ----

def version(*command):
    try:
        return run(*command).splitlines()[0]
    except Missing:
        return None


def row(what, shares):
    cells = ["" if shares.get(name) is None else f"{shares[name]:.1f}"
             for name in (*FUNCTIONS, *CALLS)]
    return f"| {what} | " + " | ".join(cell or "-" for cell in cells) + " |"


def attempt(what, measure):
    """A row of the table and what was measured, if that is possible here."""
    try:
        shares = measure()
    except Missing as why:
        return f"| {what} | {why} |" + " |" * (len(FUNCTIONS) + len(CALLS) -
                                               1), {}
    return row(what, shares), shares


def table_of_program():
    numbers = {}

    def flames():
        shares, found = flame_graph_of_perf()
        numbers.update(found)
        return shares

    clock, own = cpprof()
    rows, found = [], {}
    for what, measure in (
            ("`perf report --children`", perf),
            ("`flamegraph.pl`, its search", flames),
            ("`go tool pprof -top -cum`", pprof_top),
            ("`go tool pprof -peek`", pprof_peek),
            ("`go tool pprof -list`", pprof_list),
            ("`gprof`, its call graph", gprof),
            ("`callgrind_annotate --inclusive=yes`", callgrind),
            ("the same, with `--separate-recs=8`",
             lambda: callgrind("--separate-recs=8"))):
        line, found[what] = attempt(what, measure)
        rows.append(line)
    head = ("| percent of the run | " +
            " | ".join([*FUNCTIONS, *CALLS.values()]) + " |\n|---|" +
            "---:|" * (len(FUNCTIONS) + len(CALLS)))
    units = {name: 100 * n / ALL_UNITS for name, n in UNITS.items()}
    return "\n".join([
        head, row("by the program's text", units),
        row("**by the program's own clock**", clock),
        row("**`cpprof`**", own), *rows]), numbers, found


def table_of_file():
    profile = os.path.join(SOURCE, "sample-data", "recursion", "mutual.folded")
    with open(profile, encoding="utf-8") as file:
        text = file.read()
    wanted = ("a", "b", "a b", "b a")
    stacks = [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1]))
              for line in text.splitlines()]
    whole = sum(hits for _, hits in stacks)

    def has(stack, path):
        names = path.split()
        return any(stack[i:i + len(names)] == names for i in range(len(stack)))

    def cells(shares):
        return " | ".join("-" if name not in shares else
                          f"{shares[name]:.1f}" for name in wanted)

    counted = {path: 100 * sum(hits for stack, hits in stacks
                               if has(stack, path)) / whole for path in wanted}
    rows = ["| percent of the samples | a | b | a -> b | b -> a |",
            "|---|---:|---:|---:|---:|",
            f"| **the stacks themselves** | {cells(counted)} |",
            f"| **`cpprof`** | {cells(paths(profile, wanted))} |"]
    numbers = {}
    try:
        shares, numbers = flame_graph(profile)
        rows.append(f"| `flamegraph.pl`, its search | {cells(shares)} |")
    except Missing as why:
        rows.append(f"| `flamegraph.pl`, its search | {why} | | | |")
    try:
        run(CPPROF, "-q", "-e", "export pprof file.pb.gz", profile)
        top = run("go", "tool", "pprof", "-top", "-cum", "file.pb.gz")
        rows.append("| `go tool pprof -top -cum` | " + cells(
            {name: float(share) for share, name in
             re.findall(r" ([0-9.]+)% +(\w+)$", top, re.M)}) + " |")
    except Missing as why:
        rows.append(f"| `go tool pprof -top -cum` | {why} | | | |")
    return text, "\n".join(rows), numbers


def versions():
    all_versions = [version(CPPROF, "--version"), version("perf", "--version"),
                    version("go", "version"), version("gprof", "--version"),
                    version("valgrind", "--version"),
                    version("gcc", "--version")]
    return "\n".join(f"- {it}" for it in filter(None, all_versions))


def percent(found, what, name):
    share = found.get(what, {}).get(name)
    return "?" if share is None else f"{share:.0f}%"


PAGE = """\
# Recursive functions in six profilers

How much of the run is spent below a function, and how much in its calls of itself? With
recursion a function is several times on one stack, and tools add that up differently.
Here is what they say of a small program that knows the answer, and of a file of 15
samples that can be counted by hand. In short: perf, flamegraph.pl's search and `pprof
-top` have the right share of each function, but not what a recursive call costs;
`pprof -list`, gprof's cycles and callgrind's recursive calls have other numbers. In
cpprof a call within the recursion is a path like any other.

## A program

`bench/programs/recursion.c` burns CPU time by one loop: `walk` calls itself, 8 levels
deep; `even` and `odd` call each other, 6 levels deep. It reads its CPU clock where the
outermost call of a function begins and ends, and where the second call of a cycle does.
Each row but that of pprof, which has cpprof's samples, is another run; a sampled share of
40% has a standard error of about a point.

{program}

- Calls: *walk -> walk* is what `walk` spends in its calls of itself, *odd -> even* what
  `odd` spends in its calls of `even`; `-` where the tool has no number for it.
- **perf** counts a stack once for a function. It has no row for a call within the
  recursion: its call tree (`-g caller`) has one for each level.
- **flamegraph.pl** draws a box for each level ({walk_boxes} for `walk`, {even_boxes} for
  `even`). Its search leaves out boxes above others that match. The second box of
  `walk` is its call of itself here, since there is one way in; with several ways there
  are several boxes to add up.
- **pprof**: `-list` adds up the lines of a function, and a stack with several calls of
  it has several of its lines: {list_walk} for `walk`. Each line by itself is right, also
  that of the recursive call. `-peek` and the graph have the calls between two functions,
  but none from a function to itself.
- **gprof** has counts of calls and no stacks. `walk` is right; its calls of itself are
  counted, but have no time. `even` and `odd` are a cycle: {gprof_cycle} for the whole is
  right, and each member has its own time and what it calls outside the cycle. It takes
  100 samples a second, so its shares have errors of up to two points.
- **callgrind** counts instructions. Under `walk'2`, which stands for all calls but the
  outermost, it adds up nested calls: {callgrind_walk} of the run. With `--separate-recs`
  as deep as the recursion each level is a function of its own, and the second is right.

Each tool was used as its manual says:

```sh
{commands}
```

## A file

`sample-data/recursion/mutual.folded`:

```
{file}```

{file_table}

perf, gprof and callgrind do not read such files. pprof reads it as exported by cpprof.
flamegraph.pl draws {file_boxes} boxes for `a`.

## How it was made

`make recursion` writes this page anew (`bench/recursion.py`) with the tools that are
installed, here:

{versions}

flamegraph.pl has no version. What a path with recursion counts is in the manual, [2.1
Recursion](manual.md#21-recursion).
"""

COMMANDS = """\
gcc {flags} -o recursion recursion.c
cpprof record -r cpu:1ms -o run.cpprof -- ./recursion {rounds}
cpprof -e 'path (walk)' -e 'path (walk walk)' -e 'path (odd even)' run.cpprof
cpprof -e 'export pprof run.pb.gz' run.cpprof
go tool pprof -top -cum recursion run.pb.gz     # -list, -peek
perf record -e cpu-clock -F 997 --call-graph fp ./recursion {rounds}
perf report --children --stdio -g none
perf script | stackcollapse-perf.pl | flamegraph.pl
gcc {flags} -pg -no-pie -o recursion-gprof recursion.c
./recursion-gprof {twice} && gprof -b -q recursion-gprof gmon.out
valgrind --tool=callgrind [--separate-recs=8] ./recursion 3
callgrind_annotate --inclusive=yes callgrind.out"""


def main():
    global CPPROF
    flame_folder = os.environ.get("FLAMEGRAPH")
    if flame_folder:
        os.environ["PATH"] += ":" + os.path.abspath(flame_folder)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copy(os.path.join(HERE, "programs", "recursion.c"), "source.c")
        run("gcc", *FLAGS, "-o", "recursion", "source.c")
        program, numbers, found = table_of_program()
        text, file_table, file_numbers = table_of_file()
    sys.stdout.write(PAGE.format(
        program=program, walk_boxes=numbers.get("walk", "?"),
        even_boxes=numbers.get("even", "?"),
        list_walk=percent(found, "`go tool pprof -list`", "walk"),
        gprof_cycle=percent(found, "`gprof`, its call graph",
                            "<cycle 1 as a whole>"),
        callgrind_walk=percent(found, "`callgrind_annotate --inclusive=yes`",
                               "walk walk"),
        commands=COMMANDS.format(
            flags=" ".join(FLAGS), rounds=ROUNDS, twice=2 * int(ROUNDS)),
        file=text, file_table=file_table,
        file_boxes=file_numbers.get("a", "?"), versions=versions()))


main()
