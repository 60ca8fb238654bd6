#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What compilers read: export autofdo and bolt, and the start lines of pprof.

Witnesses: llvm-symbolizer, for lines, start lines, discriminators and inlined
calls; llvm-profdata, clang, llvm-bolt and go, which read the files.  Claims
whose tools are not installed are skipped.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile

import cpprof
from claims import Claims

SOURCE = os.path.abspath(os.environ.get("srcdir", ".."))
PROGRAM = os.path.join(SOURCE, "tests", "programs", "profiled.cc")
FLAGS = ["-O2", "-gline-tables-only", "-fdebug-info-for-profiling",
         "-funique-internal-linkage-names"]
ROUNDS = "60"


def tool(name):
    """The newest of a tool's versions, or None."""
    names = [name, *(f"{name}-{n}" for n in range(30, 13, -1))]
    return next(filter(None, map(shutil.which, names)), None)


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=300)


# ---- the format, read by its own rules ----

class Function:
    def __init__(self, total, head=0):
        self.total, self.head = total, head
        self.lines = {}         # (offset, discriminator): hits
        self.calls = {}         # likewise: {callee: hits}
        self.inlined = {}       # (offset, discriminator, name): Function

    def sum(self):
        return (sum(self.lines.values()) +
                sum(function.sum() for function in self.inlined.values()))

    def paths(self, name):
        """{((function, offset, discriminator), ...): hits}, outermost
        first."""
        found = {((name, *place),): hits
                 for place, hits in self.lines.items() if hits > 0}
        for (*place, callee), function in self.inlined.items():
            for path, hits in function.paths(callee).items():
                found[((name, *place), *path)] = hits
        return found


def read(text):
    functions, stack = {}, []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        del stack[depth:]
        if depth == 0:
            name, total, head = line.rsplit(":", 2)
            assert name not in functions, name
            functions[name] = Function(int(total), int(head))
            stack.append(functions[name])
            continue
        place, what = line.strip().split(": ", 1)
        offset, _, discriminator = place.partition(".")
        place = int(offset), int(discriminator or 0)
        if not what[0].isdigit():
            name, total = what.rsplit(":", 1)
            stack.append(Function(int(total)))
            stack[-2].inlined[(*place, name)] = stack[-1]
            continue
        hits, *calls = what.split()
        assert place not in stack[-1].lines, line
        stack[-1].lines[place] = int(hits)
        stack[-1].calls[place] = {call.rsplit(":", 1)[0]:
                                  int(call.rsplit(":", 1)[1])
                                  for call in calls}
    return functions


def all_paths(functions):
    return {path: hits for name, function in functions.items()
            for path, hits in function.paths(name).items()}


# ---- what llvm-symbolizer says ----

def base(discriminator):
    """llvm::DILocation::getBaseDiscriminatorFromDiscriminator."""
    if discriminator & 1:
        return 0
    value = discriminator >> 1
    return (value >> 1 & 0xfe0 | value & 0x1f) if value & 0x20 else value & 0x1f


def self_hits(recording, program):
    """Hits by address of the program, and all hits."""
    hits, everything = collections.Counter(), 0
    name = os.path.basename(program)
    for line in cpprof.text(recording, "set granularity address",
                            "export collapsed").splitlines():
        stack, _, n = line.rpartition(" ")
        everything += int(n)
        module, _, address = stack.rpartition(";")[2].partition("+")
        if module == name:
            hits[int(address, 16)] += int(n)
    return hits, everything


def symbolized(program, hits):
    """The paths of read, with the hits of the addresses that have them."""
    done = subprocess.run(
        [tool("llvm-symbolizer"), "--obj=" + program, "--no-demangle",
         "--inlines", "--output-style=JSON"], text=True, check=True,
        capture_output=True, timeout=120,
        input="".join(f"{address:#x}\n" for address in sorted(hits)))
    found = collections.Counter()
    for line in done.stdout.splitlines():
        (answer,) = [json.loads(line)] if line[0] == "{" else json.loads(line)
        levels = answer["Symbol"]
        if all(level["FunctionName"] and level["StartLine"] and level["Line"]
               for level in levels) and levels:
            found[tuple((level["FunctionName"],
                         (level["Line"] - level["StartLine"]) & 0xffff,
                         base(level["Discriminator"]))
                        for level in reversed(levels))] += \
                hits[int(answer["Address"], 16)]
    return found


# ---- claims ----

def build(place, *flags):
    program = os.path.join(place, "profiled")
    done = run(tool("clang++"), *FLAGS, *flags, PROGRAM, "-o", program)
    return program, done.stderr


def record(program):
    recording = program + ".cpprof"
    cpprof.run("record", "--no-prompt", "-o", recording, program, ROUNDS)
    return recording


def export(form, recording, *commands):
    """The file and what is said of it."""
    path = os.path.join(WORK, "exported." + form)
    return path, cpprof.ask(recording, *commands,
                            f"export {form} {path}").stderr


def check_lines(program, recording, functions):
    hits, everything = self_hits(recording, program)
    expected = symbolized(program, hits)
    # Libraries may have debug information, too.
    own = {line.split()[-1] for line in run(tool("nm"), program)
           .stdout.splitlines() if line.split()[-2] in "tTwW"}
    placed = all_paths(functions)
    found = {path: n for path, n in placed.items() if path[0][0] in own}
    claims.make("lines, start lines, discriminators and inlined calls are "
                "llvm-symbolizer's, with the same hits",
                [(path, found.get(path, 0), expected.get(path, 0))
                 for path in {*found, *expected}
                 if found.get(path, 0) != expected.get(path, 0)])
    claims.check("they include inlined calls in inlined calls, "
                 "discriminators and functions local to the file",
                 any(len(path) > 2 for path in found) and
                 any(level[2] for path in found for level in path) and
                 any(".__uniq." in path[0][0] for path in found),
                 list(found)[:9])
    return sum(placed.values()), everything


def check_totals(recording, functions):
    """A function of the file has the hits that the views say are its own,
    less those without a line."""
    rows = cpprof.table(recording, "set inlines off", "set limit off",
                        "threshold 0", "flat")["rows"]
    symbols = {name: run(tool("llvm-cxxfilt"), name).stdout.strip()
               for name in functions}
    claims.make("totals are sums of the parts", [
        name for name, function in functions.items()
        if function.total != function.sum()])
    found = collections.Counter()
    for name, function in functions.items():
        plain = re.sub(r" \(\.__uniq.*\)| \[clone.*\]", "", symbols[name])
        found[plain] += function.total
    own = collections.Counter()
    for row in rows:
        own[re.sub(r" \[clone.*\]", "", row["path"][-1])] += row["hits"]
    claims.make("and at most what flat says is the function's own", [
        (name, total, own[name]) for name, total in found.items()
        if total > own[name]])


def check_profdata(path, functions):
    profdata = tool("llvm-profdata")
    merged = os.path.join(WORK, "merged.prof")
    run(profdata, "merge", "--sample", "--text", path, path, "-o", merged)
    with open(merged, encoding="utf-8") as file:
        twice = all_paths(read(file.read()))
    claims.make("llvm-profdata reads it: merged with itself it has twice the "
                "hits", [
                    (at, hits, twice.get(at))
                    for at, hits in all_paths(functions).items()
                    if twice.get(at) != 2 * hits])
    binary = os.path.join(WORK, "binary.prof")
    run(profdata, "merge", "--sample", path, "-o", binary)
    shown = run(profdata, "show", "--sample", "--function=main", binary).stdout
    claims.check("and finds main in it",
                 shown.startswith("Function: main: "
                                  f"{functions['main'].total}, "), shown)


def check_compiler(path, program):
    """The compiler says nothing of it, and the program is the same."""
    place = os.path.join(WORK, "again")
    os.mkdir(place)
    before = run(program, "3").stdout
    again, said = build(place, "-fprofile-sample-use=" + path, "-Wall")
    claims.check("clang builds with it without a warning", said == "", said)
    claims.check("and the program prints the same",
                 run(again, "3").stdout == before)
    taken = run(tool("clang++"), *FLAGS, "-fprofile-sample-use=" + path, "-S",
                "-emit-llvm", PROGRAM, "-o", "-").stdout
    claims.check("functions have counts in the compiler's own code",
                 taken.count("function_entry_count") >= 3)


def check_elsewhere(program, recording, path):
    """Without the program, from what the recording keeps."""
    with open(path, encoding="utf-8") as file:
        before = file.read()
    os.rename(program, program + ".gone")
    try:
        again, _ = export("autofdo", recording)
        with open(again, encoding="utf-8") as file:
            claims.check("a recording keeps what the file needs",
                         file.read() == before)
        copy = os.path.join(WORK, "copy.cpprofdata")
        cpprof.ask(recording, "export cpprofdata " + copy)
        again, _ = export("autofdo", copy)
        with open(again, encoding="utf-8") as file:
            claims.check("and so does its export as cpprofdata",
                         file.read() == before)
    finally:
        os.rename(program + ".gone", program)


def check_pprof(program, recording):
    claim = "export pprof has the start lines and symbols of functions"
    if tool("go") is None:
        claims.skip(claim, "no go")
        return
    path, _ = export("pprof", recording)
    raw = run(tool("go"), "tool", "pprof", "-raw", path).stdout
    claims.check("export pprof has samples/count, for go build -pgo",
                 "samples/count" in raw.split("Samples:")[1][:100], raw[:400])
    found = dict(re.findall(r" (main) .*profiled\.cc:\d+ s=(\d+)", raw))
    hits, _ = self_hits(recording, program)
    address = min(int(line.split()[0], 16) for line in
                  run(tool("nm"), program).stdout.splitlines()
                  if line.endswith(" T main"))
    del hits
    said = json.loads(run(tool("llvm-symbolizer"), "--obj=" + program,
                          "--output-style=JSON", hex(address))
                      .stdout.splitlines()[0])
    said = said[0] if isinstance(said, list) else said
    claims.check(claim, found.get("main") ==
                 str(said["Symbol"][0]["StartLine"]), (found, said))
    again, _ = export("autofdo", path)
    with open(again, encoding="utf-8") as file:
        claims.check("which come back when it is read", "main" in
                     read(file.read()))


def check_without(recording):
    """A program without what is needed."""
    done = cpprof.ask(recording, "export autofdo", status=1)
    claims.check("without start lines, the error says how to build",
                 "-fdebug-info-for-profiling" in done.stderr, done.stderr)


def check_autofdo():
    program, _ = build(WORK)
    recording = record(program)
    path, said = export("autofdo", recording)
    with open(path, encoding="utf-8") as file:
        functions = read(file.read())
    placed, everything = check_lines(program, recording, functions)
    share = f"{100 * placed / everything:.1f}% of {everything} hits"
    claims.check("it says what share of the hits has lines, and what hits are",
                 share in said and "not counts of branches" in said, said)
    check_totals(recording, functions)
    check_profdata(path, functions)
    check_compiler(path, program)
    check_elsewhere(program, recording, path)
    check_pprof(program, recording)


def check_bolt():
    """The file against nm, and what llvm-bolt makes of it."""
    program = os.path.join(WORK, "linked")
    run(shutil.which("c++"), "-O2", "-Wl,-q", PROGRAM, "-o", program)
    recording = record(program)
    path, said = export("bolt", recording)
    hits, everything = self_hits(recording, program)
    starts = {}
    for line in run(tool("nm"), program).stdout.splitlines():
        address, kind, name = line.split()[-3:] if len(line.split()) == 3 \
            else ("0", "", "")
        if kind in ("t", "T", "W", "w"):
            starts[name + ("/1" if kind == "t" else "")] = int(address, 16)
    with open(path, encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    found = collections.Counter()
    for line in lines:
        is_symbol, name, offset, n = line.split()
        assert is_symbol == "1", line
        found[starts[name] + int(offset, 16)] += int(n)
    claims.check("export bolt: addresses and hits are those of the samples, "
                 "by the symbols that nm has",
                 found and head == "no_lbr cpu" and
                 all(hits[address] == n for address, n in found.items()),
                 (head, found, hits))
    share = f"{100 * sum(found.values()) / everything:.1f}% of {everything}"
    claims.check("and it says their share", share in said, said)
    os.rename(program, program + ".gone")
    done = cpprof.ask(recording, "export bolt", status=1)
    claims.check("without the program it says what it needs",
                 "needs the program's symbols" in done.stderr, done.stderr)
    os.rename(program + ".gone", program)
    claim = "llvm-bolt reads it, and the program prints the same"
    if tool("llvm-bolt") is None:
        claims.skip(claim, "no llvm-bolt")
        return
    bolted = os.path.join(WORK, "bolted")
    done = run(tool("llvm-bolt"), program, "-o", bolted, "--data=" + path,
               "--reorder-blocks=ext-tsp")
    profiled = re.search(r"(\d+) out of \d+ functions .* non-empty",
                         done.stdout + done.stderr)
    claims.check(claim, profiled and int(profiled[1]) >= 3 and
                 run(bolted, "3").stdout == run(program, "3").stdout,
                 done.stdout + done.stderr)


claims = Claims()
NEEDED = ["clang++", "llvm-symbolizer", "llvm-profdata", "llvm-cxxfilt"]
with tempfile.TemporaryDirectory() as WORK:
    missing = [name for name in NEEDED if tool(name) is None]
    if missing:
        claims.skip("export autofdo", "no " + ", ".join(missing))
    else:
        check_autofdo()
    check_bolt()
    check_without(os.path.join(SOURCE, "sample-data", "forms.folded"))
claims.end()
