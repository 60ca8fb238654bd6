#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What compilers read: export autofdo and bolt, and the start lines of pprof.

Witnesses: llvm-symbolizer, for lines, start lines, discriminators and inlined
calls; objdump, for basic blocks; llvm-profdata, clang, llvm-bolt and go, which
read the files.  Claims whose tools are not installed are skipped.
"""
import bisect
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
COUNTS_A_HIT = 1000


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


def every(functions):
    """The functions, and those that are inlined in them."""
    for function in functions:
        yield function
        yield from every(function.inlined.values())


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


def sampled(recording, program):
    """Hits by address of the program, also of calls, which have none of their
    own; and all hits."""
    hits, everything = collections.Counter(), 0
    name = os.path.basename(program)
    for line in cpprof.text(recording, "set granularity address",
                            "export collapsed").splitlines():
        stack, _, n = line.rpartition(" ")
        everything += int(n)
        for i, frame in enumerate(reversed(stack.split(";"))):
            module, _, address = frame.partition("+")
            if module == name:
                hits[int(address, 16)] += int(n) if i == 0 else 0
    return hits, everything


def symbolized(program, addresses):
    """The path of each address, as a path of read; without those that have
    none."""
    done = subprocess.run(
        [tool("llvm-symbolizer"), "--obj=" + program, "--no-demangle",
         "--inlines", "--output-style=JSON"], text=True, check=True,
        capture_output=True, timeout=120,
        input="".join(f"{address:#x}\n" for address in sorted(addresses)))
    found = {}
    for line in done.stdout.splitlines():
        (answer,) = [json.loads(line)] if line[0] == "{" else json.loads(line)
        levels = answer["Symbol"]
        if all(level["FunctionName"] and level["StartLine"] and level["Line"]
               for level in levels) and levels:
            found[int(answer["Address"], 16)] = tuple(
                (level["FunctionName"],
                 (level["Line"] - level["StartLine"]) & 0xffff,
                 base(level["Discriminator"]))
                for level in reversed(levels))
    return found


# ---- what objdump says ----

def blocks(program):
    """The basic block of each instruction of functions, as its first address;
    and the number of instructions of each block."""
    rows = [line.split() for line in
            run("nm", "-S", program).stdout.splitlines()]
    ranges = sorted({(int(row[0], 16), int(row[1], 16)) for row in rows
                     if len(row) == 4 and row[2] in "tTwW"})
    code, begins, begins_next = [], {start for start, _ in ranges}, False
    for line in run("objdump", "-d", "--no-show-raw-insn",
                    program).stdout.splitlines():
        row = re.match(r"\s+([0-9a-f]+):\t(?:(?:bnd|notrack|repz) )?"
                       r"(\S+) *([0-9a-f]+\b)?", line)
        if row is None:
            continue
        address, name, target = int(row[1], 16), row[2], row[3]
        if not any(start <= address < start + size for start, size in ranges):
            continue
        code.append(address)
        if begins_next:
            begins.add(address)
        begins_next = name.startswith(("j", "ret"))
        if target and name.startswith(("j", "call")):
            begins.add(int(target, 16))
    block, lengths = {}, collections.Counter()
    begin = None
    for address in code:
        begin = address if address in begins or begin is None else begin
        block[address] = begin
        lengths[begin] += 1
    return block, lengths


def executions(program, hits, every=False):
    """Hits of blocks by their instructions, at each address with hits or calls,
    or at every instruction."""
    block, lengths = blocks(program)
    ordered = sorted(block)
    of_block = collections.Counter()

    def find(address):          # a call's is of its last byte
        return block[ordered[bisect.bisect(ordered, address) - 1]]
    for address, n in hits.items():
        of_block[find(address)] += n
    return {address: COUNTS_A_HIT * of_block[find(address)] //
            lengths[find(address)] for address in (block if every else hits)}


# ---- claims ----

def build(place, *flags):
    program = os.path.join(place, "profiled")
    done = run(tool("clang++"), *FLAGS, *flags, PROGRAM, "-o", program)
    return program, done.stderr


def record(program):
    recording = program + ".cpprof"
    cpprof.run("record", "--no-prompt", "--force", "-o", recording, program,
               ROUNDS)
    return recording


def export(form, recording, *commands):
    """The file and what is said of it."""
    path = os.path.join(WORK, "exported." + form)
    return path, cpprof.ask(recording, *commands,
                            f"export {form} {path}").stderr


def compare(claim, functions, program, expected):
    """That the lines of the program have these counts.  Libraries may have debug
    information, too."""
    own = {line.split()[-1] for line in run("nm", program)
           .stdout.splitlines() if line.split()[-2] in "tTwW"}
    found = {path: n for path, n in all_paths(functions).items()
             if path[0][0] in own}
    expected = {path: n for path, n in expected.items() if n > 0}
    claims.make(claim, [(path, found.get(path, 0), expected.get(path, 0))
                        for path in {*found, *expected}
                        if found.get(path, 0) != expected.get(path, 0)])
    return found


def check_lines(program, hits, functions,
                claim="lines, start lines, discriminators and inlined calls "
                "are llvm-symbolizer's; their counts, hits by the instructions "
                "of objdump's blocks"):
    """The counts of a file that was written with the program's code."""
    count, paths = executions(program, hits), symbolized(program, hits)
    expected = collections.Counter()
    for address, path in paths.items():
        expected[path] = max(expected[path], count[address])
    return compare(claim, functions, program, expected)


def check_kinds(found):
    def some(test):
        return any(test(level) for path in found for level in path)
    claims.check("they include inlined calls in inlined calls, small and large "
                 "discriminators, lines far from their function's first, and "
                 "functions local to the file",
                 any(len(path) > 2 for path in found) and
                 some(lambda level: 0 < level[2] < 32) and
                 some(lambda level: level[2] >= 32) and
                 some(lambda level: level[1] > 1000) and
                 some(lambda level: ".__uniq." in level[0]), found)


def check_entries(program, hits, functions):
    """Circle::area has a loop of 20 rounds; its first block has few hits, or
    none."""
    calls = collections.Counter()
    for function in every(functions.values()):
        for targets in function.calls.values():
            calls.update(targets)
    count = executions(program, hits, every=True)
    starts = {row[2]: int(row[0], 16) for row in
              (line.split() for line in run("nm", program).stdout.splitlines())
              if len(row) == 3 and row[1] in "tTwW"}
    claims.make("functions are entered as often as their first block is "
                "executed, or as they are called", [
                    (name, function.head, count[starts[name]], calls[name])
                    for name, function in functions.items() if name in starts
                    and function.head != max(count[starts[name]],
                                             calls[name])])
    (circle,) = (name for name in functions if "Circle4area" in name)
    function = functions[circle]
    loop = max(function.lines.values())
    claims.check("a function is entered less often than its loop is executed",
                 function.head < loop / 4, (function.head, loop))
    called = [(function.lines[place], calls)
              for function in every(functions.values())
              for place, calls in function.calls.items() if calls]
    claims.check("functions that a line calls share its count",
                 len(called) > 1 and
                 any(len(calls) > 1 for _, calls in called) and
                 all(-len(calls) <= sum(calls.values()) - count <= 0
                     for count, calls in called), called)


def check_hits(recording, program, functions):
    """The counts of a file that was written without the program's code: a
    function has the hits that the views say are its own, less those without a
    line.  Returns the least and the most share of hits that may have a line:
    libraries may have debug information, too."""
    hits, everything = sampled(recording, program)
    expected = collections.Counter()
    for address, path in symbolized(program + ".gone", hits).items():
        expected[path] += COUNTS_A_HIT * hits[address]
    compare("without its code, lines have their hits", functions,
            program + ".gone", expected)
    rows = cpprof.table(recording, "set inlines off", "set limit off",
                        "threshold 0", "flat")["rows"]
    symbols = {name: run(tool("llvm-cxxfilt"), name).stdout.strip()
               for name in functions}
    found = collections.Counter()
    for name, function in functions.items():
        plain = re.sub(r" \(\.__uniq.*\)| \[clone.*\]", "", symbols[name])
        found[plain] += function.total // COUNTS_A_HIT
    own = collections.Counter()
    for row in rows:
        own[re.sub(r" \[clone.*\]", "", row["path"][-1])] += row["hits"]
    claims.make("and functions at most those that flat says are their own", [
        (name, total, own[name]) for name, total in found.items()
        if total > own[name]])
    own = sum(expected.values()) / COUNTS_A_HIT
    return own / everything, (own + everything - sum(hits.values())) / everything


def check_totals(functions):
    claims.make("totals are sums of the parts", [
        name for name, function in functions.items()
        if function.total != function.sum()])


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


def check_elsewhere(program, recording):
    """Without the program, from what the recording keeps."""
    os.rename(program, program + ".gone")
    try:
        path, said = export("autofdo", recording)
        with open(path, encoding="utf-8") as file:
            before = file.read()
        least, most = check_hits(recording, program, read(before))
        share = float(re.search(r"([0-9.]+)% of \d+ hits have a line",
                                said)[1]) / 100
        claims.check("it says what share of the hits has lines, and what "
                     "counts are", least - 0.001 < share < most + 0.001 and
                     "not counts of branches" in said, (least, most, said))
        claims.check("and that the code cannot be found",
                     "in profiled they are not divided" in said and
                     "cannot be found" in said, said)
        copy = os.path.join(WORK, "copy.cpprofdata")
        cpprof.ask(recording, "export cpprofdata " + copy)
        again, _ = export("autofdo", copy)
        with open(again, encoding="utf-8") as file:
            claims.check("an export as cpprofdata keeps what the file needs",
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
    address = min(int(line.split()[0], 16) for line in
                  run("nm", program).stdout.splitlines()
                  if line.endswith(" T main"))
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


def check_whole_information():
    """With -g, functions of classes are declared apart from their code."""
    program, _ = build(WORK, "-g")
    recording = record(program)
    path, _ = export("autofdo", recording)
    with open(path, encoding="utf-8") as file:
        check_lines(program, sampled(recording, program)[0], read(file.read()),
                    "likewise with -g")


def check_autofdo():
    program, _ = build(WORK)
    recording = record(program)
    path, said = export("autofdo", recording)
    with open(path, encoding="utf-8") as file:
        functions = read(file.read())
    hits, everything = sampled(recording, program)
    check_kinds(check_lines(program, hits, functions))
    claims.check("it says of how many hits",
                 f"% of {everything} hits have a line" in said and
                 "not divided" not in said, said)
    check_entries(program, hits, functions)
    check_totals(functions)
    check_profdata(path, functions)
    check_compiler(path, program)
    check_elsewhere(program, recording)
    check_pprof(program, recording)
    check_whole_information()


def check_bolt():
    """The file against nm, and what llvm-bolt makes of it."""
    program = os.path.join(WORK, "linked")
    run(tool("c++"), "-O2", "-Wl,-q", PROGRAM, "-o", program)
    recording = record(program)
    path, said = export("bolt", recording)
    hits, everything = sampled(recording, program)
    starts = {}
    for line in run("nm", program).stdout.splitlines():
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
NEEDED = ["clang++", "llvm-symbolizer", "llvm-profdata", "llvm-cxxfilt", "nm",
          "objdump"]
with tempfile.TemporaryDirectory() as WORK:
    for claim, check, needed in (("export autofdo", check_autofdo, NEEDED),
                                 ("export bolt", check_bolt, ["c++", "nm"])):
        missing = [name for name in needed if tool(name) is None]
        if missing:
            claims.skip(claim, "no " + ", ".join(missing))
        else:
            check()
    check_without(os.path.join(SOURCE, "sample-data", "forms.folded"))
claims.end()
