#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""disasm: instructions as objdump has them, and their hits as brute force has
them; calls have the hits of what they called."""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

import cpprof
from claims import Claims
from terminal import ESCAPES, Terminal, has_terminals

CPPROF = cpprof.CPPROF
SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
FUNCTIONS = ["qsort", "printf", "getenv", "strtol", "fread", "system",
             "regcomp", "vfprintf"]
PREFIXES = {"rep", "repz", "repnz", "repe", "repne", "lock", "bnd", "notrack",
            "data16", "cs", "ds", "es", "fs", "gs", "ss", "addr32", "xacquire",
            "xrelease", "rex.W"}
# Recursion with an inlined function in it, and bytes that are no instruction.
PROGRAM = r"""
#include <stdlib.h>
typedef unsigned number;
static inline unsigned
spend(number n)
{
	for (unsigned i = 0; i < 40000000; i++)
		n = n * 1664525 + (n >> 7);
	return n;
}
static int odd;
static __attribute__((noinline)) unsigned
descend(unsigned n)
{
	unsigned spent = spend(n);

	__asm__ volatile("jmp 1f\n.byte 0x06, 0x07\n1:" : "+r"(spent));
	if (n > 0)
		spent += descend(n - 1) * 3;
	return spent;
}
int
main(void)
{
	return descend(3) == 7 + odd;
}
"""
# Calls of functions with the names that a C++ compiler gives them.
CALLS = r"""
#define NAMED(function, name) \
	__attribute__((noinline)) void function(void) __asm__(name); \
	void function(void) { __asm__ volatile(""); }
NAMED(put_numbers, "_ZN4acme14storage_engine5IndexISt6vectorIiSaIiEENS0_6Record"
      "EE19insert_or_overwriteERKS2_IS4_SaIS4_EE")
NAMED(put_records, "_ZN4acme14storage_engine5IndexIiNS0_6RecordEE"
      "19insert_or_overwriteERKSt6vectorIS2_SaIS2_EE")
NAMED(take, "_ZN4acme9take_themERSt6vectorIiSaIiEE")
NAMED(plain, "_ZN4acme66a_function_whose_name_alone_is_wider_than_what_a_terminal_"
      "can_showEv")
int
main(void)
{
	put_numbers();
	put_records();
	take();
	plain();
	return 0;
}
"""
claims = Claims()


# ---- a profile of addresses in a library ----

def varint(number):
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_profile(library, stacks, function=None):
    """pprof; a stack is (addresses, hits), outermost first, addresses those in
    the library's file.  function: the name of all of them, if not the
    library's symbols name them."""
    bias = 0x10000000
    strings = ["", "samples", "count", library, function or ""]
    named = field(4, field(1, 1)) if function else b""
    defined = field(5, field(1, 1) + field(2, 4)) if function else b""
    numbers = {}
    samples = b""
    for stack, hits in stacks:
        ids = b"".join(varint(numbers.setdefault(address, len(numbers) + 1))
                       for address in reversed(stack))
        samples += field(2, field(1, ids) + field(2, varint(hits)))
    locations = b"".join(
        field(4, field(1, number) + field(2, 1) + field(3, address + bias) +
              named)
        for address, number in numbers.items())
    mapping = field(3, field(1, 1) + field(2, bias) +
                    field(3, bias + (1 << 28)) + field(5, 3))
    path = os.path.join(WORK, "addresses.pb")
    with open(path, "wb") as file:
        file.write(field(1, field(1, 1) + field(2, 2)) + samples + mapping +
                   locations + defined + b"".join(field(6, string.encode())
                                        for string in strings))
    return path


def run(*words, check=True):
    return subprocess.run(words, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=check, timeout=120)


def ask(profile, *commands):
    answer = cpprof.ask(profile, *commands, options=("-F", "json"),
                        status=None)
    return ([json.loads(line) for line in answer.stdout.splitlines()],
            answer.stderr)


# ---- objdump ----

def library_of(program):
    for line in run("ldd", program).stdout.splitlines():
        if "libc.so" in line and "=> /" in line:
            return os.path.realpath(line.split("=> ")[1].split(" ")[0])
    return None


def symbols_of(library):
    """(start, size) of each function that the library exports."""
    found = {}
    for line in run("nm", "-DS", "--defined-only", library).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "TW":
            name = words[3].split("@")[0]
            found.setdefault(name, (int(words[0], 16), int(words[1], 16)))
    return found


def objdump(library, start, size):
    """[(address, mnemonic)], without prefixes."""
    text = run("objdump", "-d", "-M", "intel", "--no-show-raw-insn",
               f"--start-address={start}", f"--stop-address={start + size}",
               library).stdout
    found = re.findall(r"^ +([0-9a-f]+):\t(.*)$", text, re.M)
    return [(int(address, 16), mnemonic(line)) for address, line in found]


def mnemonic(text):
    words = text.split()
    while len(words) > 1 and words[0] in PREFIXES:
        words.pop(0)
    return words[0]


def check_instructions(library, symbols):
    names = [name for name in FUNCTIONS if name in symbols]
    profile = write_profile(library, [([symbols[name][0]], 1)
                                      for name in names])
    wrong, n_instructions = [], 0
    for name in names:
        start, size = symbols[name]
        documents, notes = ask(profile, "threshold 0", f"disasm {name}")
        theirs = objdump(library, start, size)
        ours = [(int(row["address"], 16), mnemonic(row["instruction"]))
                for row in documents[0]["rows"]] if documents else notes
        n_instructions += len(theirs)
        if ours != theirs:
            wrong.append((name, [pair for pair in zip(ours, theirs)
                                 if pair[0] != pair[1]][:5]))
    claims.make(f"{len(names)} functions of {os.path.basename(library)} have "
                "the instructions that objdump shows", wrong)
    claims.check("that was worth while", n_instructions > 200, n_instructions)


# ---- hits ----

def check_hits(library, symbols):
    """Stacks of random addresses in two functions, with recursion."""
    wrong = []
    names = [name for name in FUNCTIONS if name in symbols][:2]
    code = {name: objdump(library, *symbols[name]) for name in names}
    ends = {name: [address for address, _ in code[name][1:]] +
            [sum(symbols[name])] for name in names}
    for seed in range(15):
        rng = random.Random(seed)
        stacks = []
        for _ in range(rng.randint(1, 30)):
            stack = []
            for _ in range(rng.randint(1, 6)):
                name = rng.choice(names)
                i = rng.randrange(min(12, len(code[name])))
                # Any byte of it: of a caller, the last byte of the call.
                stack.append((name, i, rng.randrange(code[name][i][0],
                                                     ends[name][i])))
            stacks.append((stack, rng.randint(0, 9)))
        profile = write_profile(library, [
            ([address for _, _, address in stack], hits)
            for stack, hits in stacks])
        for name in names:
            expected = collections.defaultdict(lambda: [0, 0])
            whole = [0, 0]
            for stack, hits in stacks:
                for i in {i for of, i, _ in stack if of == name}:
                    expected[code[name][i][0]][1] += hits
                whole[1] += hits * any(of == name for of, _, _ in stack)
                if stack[-1][0] == name:
                    expected[code[name][stack[-1][1]][0]][0] += hits
                    whole[0] += hits
            documents, notes = ask(profile, "threshold 0", "disasm " + name)
            if not documents:
                if any(of == name for stack, _ in stacks
                       for of, _, _ in stack):
                    wrong.append((seed, name, notes))
                continue
            ours = {int(row["address"], 16): [row["self"], row["hits"]]
                    for row in documents[0]["rows"] if row["hits"]}
            theirs = {at: own for at, own in expected.items() if own[1]}
            if ours != theirs or whole != [documents[0]["self"],
                                           documents[0]["hits"]]:
                wrong.append((seed, name, ours, theirs, whole))
    claims.make("random stacks with recursion: instructions have the hits of "
                "brute force", wrong)


def check_gaps(library, symbols):
    start, size = max((symbols[name] for name in FUNCTIONS if name in symbols),
                      key=lambda symbol: symbol[1])
    code = [address for address, _ in objdump(library, start, size)]
    profile = write_profile(library, [([code[5]], 6), ([code[30]], 3),
                                      ([16], 2)], "odd")
    (document,), notes = ask(profile, "disasm odd")
    shown = [(row["block"], int(row["address"], 16))
             for row in document["rows"]]
    claims.check("instructions around those with hits are shown",
                 shown == [(1, address) for address in code[2:9]] +
                 [(2, address) for address in code[27:34]], (shown, notes))
    claims.check("the heading has all hits",
                 (document["self"], document["hits"]) == (11, 11), document)
    text = run(CPPROF, "-q", "-e", "disasm odd", profile).stdout
    claims.check("a gap is shown as dots",
                 re.search(r"\n\.\.\.\n.*\n.*\n.*\n.* 6 +6 +0x(.*\n){4}\.\.\.\n",
                           text), text)
    claims.check("hits outside of the code are counted",
                 "2 hits at addresses that belong to no instruction" in text,
                 text)


def check_errors(library, symbols):
    profile = write_profile(library + ".gone", [([symbols["qsort"][0]], 1)])
    _, notes = ask(profile, "disasm *")
    claims.check("a file that is missing is named",
                 ".gone was not found; say where it is with \"symfs DIR\""
                 in notes, notes)
    folded = os.path.join(WORK, "a.folded")
    with open(folded, "w", encoding="utf-8") as file:
        file.write("main;f 3\n")
    _, notes = ask(folded, "disasm f")
    claims.check("a profile of names says that it has no addresses",
                 "the profile has no address of it in a file" in notes, notes)
    _, notes = ask(os.path.join(SOURCE, "sample-data", "rdparse.callgrind.gz"),
                   "disasm main")
    claims.check("so does a profile of calls", "disasm needs addresses" in
                 notes, notes)


# ---- a recording ----

def check_recording():
    claim = "a program that was recorded"
    compiler = shutil.which("gcc")
    if compiler is None:
        claims.skip(claim, "no gcc")
        return
    program = os.path.join(WORK, "sites")
    source = shutil.copy(os.path.join(SOURCE, "sample-data", "sites.c"), WORK)
    os.utime(source, (1e9, 1e9))
    run(compiler, "-O2", "-g", source, "-o", program)
    recording = os.path.join(WORK, "sites.cpprof")
    made = run(CPPROF, "record", "--no-prompt", "-o", recording, program,
               "10000", check=False)
    if not os.path.isdir(recording):
        claims.skip(claim, made.stderr.strip().splitlines()[-1])
        return
    documents, notes = ask(recording, "threshold 0", "kernel hide",
                           "disasm copy_record", "disasm --source checksum",
                           "functions")
    functions = {row["path"][0]: row["hits"] for row in documents[2]["rows"]}
    claims.check("the heading has the function's value",
                 documents[0]["hits"] == functions["copy_record"] and
                 documents[1]["hits"] == functions["checksum"], documents)
    calls = [row for row in documents[0]["rows"] if row["hits"] > row["self"]]
    claims.check("what was called is charged to the call",
                 calls and all(row["instruction"].startswith("call ")
                               for row in calls), calls)
    claims.check("a call names its function",
                 any(row["instruction"].endswith(" <checksum>")
                     for row in calls), calls)
    lines = collections.Counter()
    for row in documents[1]["rows"]:
        lines[row["line"]] += row["hits"]
    listed, notes = ask(recording, "threshold 0", "kernel hide",
                        "list checksum", "list mix")
    own = {row["line"]: row["self"] for document in listed
           for row in document["rows"] if row["self"]}
    claims.check("--source has the lines that list has",
                 {line: hits for line, hits in lines.items() if hits} == own,
                 (lines, own))
    listed, notes = ask(recording, "kernel hide", "list main",
                        "list copy_record", "threshold 0", "list checksum")
    claims.check("list shows the whole function, and no other",
                 [[row["line"] for row in document["rows"]]
                  for document in listed] ==
                 [[*range(42, 58)], [*range(32, 41)], [*range(22, 31)]],
                 (listed, notes))
    text = run(CPPROF, "-q", "-e", "disasm --source checksum", recording).stdout
    claims.check("--source shows them between instructions",
                 re.search(r"sites\.c:19  return \(sum << 5 \|.*\n.* 0x", text),
                 text)
    text = run(CPPROF, "-q", "-e", "list mix", recording).stdout
    claims.check("a source that is older than the program is only named",
                 f"source: {source}\n" in text, text)
    claims.check("functions counts what list counts, if the debug information "
                 "is small", "of these in functions" not in text, text)
    os.utime(source, (4e9, 4e9))
    text = run(CPPROF, "-q", "-e", "list mix", recording).stdout
    claims.check("a source that is newer is said to be",
                 f"source: {source}, which is newer than sites: lines may not "
                 "match\n" in text, text)
    _, notes = ask(recording, "disasm mix")
    claims.check("an inlined function has no code of its own",
                 "mix was inlined wherever it occurs, into checksum" in notes,
                 notes)


def check_targets():
    """On a terminal, names of what is called are short, and cut by the rule."""
    claim = "calls at a terminal name the last identifier of their function"
    compiler = shutil.which("gcc")
    if compiler is None or not has_terminals():
        claims.skip(claim, "no gcc or terminal")
        return
    program = os.path.join(WORK, "calls")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(CALLS)
    run(compiler, "-O1", program + ".c", "-o", program)
    start = next(int(line.split()[0], 16)
                 for line in run("nm", program).stdout.splitlines()
                 if line.endswith(" T main"))
    profile = write_profile(program, [([start + 1], 1)])

    def targets(columns, *commands):
        words = [word for command in (*commands, "disasm main")
                 for word in ("-e", command)]
        terminal = Terminal("-q", *words, profile, columns=columns,
                            PAGER="cat", NO_COLOR="1")
        terminal.status()
        text = ESCAPES.sub("", terminal.seen).replace("\r", "")
        claims.check(f"no instruction is wider than {columns} columns",
                     max(map(len, text.splitlines())) <= columns, text)
        return re.findall(r"call .* <(.*)", text)

    insert = "insert_or_overwrite"
    found = targets(160, "threshold 0")
    claims.check("short names differ where functions do", found[:3] == [
        f"acme::storage_engine::Index<std::vector>::{insert}>",
        f"acme::storage_engine::Index<int>::{insert}>",
        "acme::take_them>"], found)
    found = targets(80, "threshold 0")
    claims.check(claim, len(found) == 4 and
                 all(name.startswith("\u2026::") and
                     name.endswith(f"::{insert}>") for name in found[:2]) and
                 found[2] == "acme::take_them>" and
                 re.fullmatch("\u2026a_func.*\u2026.*_show>", found[3]), found)
    found = targets(80, "threshold 0", "names full")
    claims.check("whole names are cut likewise",
                 found[:3] == [f"\u2026{insert}\u2026>"] * 2 +
                 ["\u2026take_them\u2026>"], found)
    (document,), _ = ask(profile, "threshold 0", "disasm main")
    whole = [row["instruction"] for row in document["rows"]
             if row["instruction"].startswith("call ")]
    claims.check("data has whole names", whole[2].endswith(
        " <acme::take_them(std::vector<int, std::allocator<int> >&)>"), whole)


def check_digest():
    """clang writes the MD5 of sources; the last line that names the source."""
    claim = "a source with another MD5 than was compiled"
    compiler = shutil.which("clang")
    if compiler is None:
        claims.skip(claim, "no clang")
        return
    place = os.path.join(WORK, "digest")
    os.mkdir(place)
    source = shutil.copy(os.path.join(SOURCE, "sample-data", "sites.c"), place)
    program, recording = place + "/sites", place + "/sites.cpprof"
    made = subprocess.run([compiler, "-gdwarf-5", "-O1", "sites.c", "-o",
                           "sites"], cwd=place, capture_output=True,
                          text=True, check=False, timeout=120)
    if made.returncode == 0:
        made = run(CPPROF, "record", "--no-prompt", "-o", recording, program,
                   "5000", check=False)
    if not os.path.isdir(recording):
        claims.skip(claim, made.stderr.strip().splitlines()[-1])
        return

    def note():
        text = run(CPPROF, "-q", "-e", "list checksum", recording).stdout
        return re.findall("^source.*$", text, re.M)

    os.utime(source, (4e9, 4e9))
    claims.check("a source with the MD5 of the one compiled is that, whatever "
                 "its age", note() == [f"source: {source}"], note())
    with open(source, "a", encoding="utf-8") as file:
        file.write("\n")
    os.utime(source, (1e9, 1e9))
    claims.check(claim, note() == [
        f"source: {source}, which is not what was compiled (by its MD5): lines "
        "may not match"], note())
    check_damaged_tables(program, recording)


def check_damaged_tables(program, recording):
    """The line tables' headers are read with nothing trusted."""
    found = re.search(r"\] \.debug_line +PROGBITS +\S+ +([0-9a-f]+)",
                      run("readelf", "-SW", program).stdout)
    with open(program, "rb") as file:
        whole = file.read()
    wrong = []
    for seed in range(40):
        rng = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            damaged[int(found[1], 16) + rng.randrange(150)] = rng.choice(
                (0, 1, 127, 128, 255, rng.randrange(256)))
        with open(program, "wb") as file:
            file.write(damaged)
        answer = run(CPPROF, "-q", "-e", "list checksum", recording,
                     check=False)
        if answer.returncode != 0:
            wrong.append((seed, answer.returncode, answer.stderr))
    claims.make("damaged line tables do no harm", wrong)


def check_own_program():
    claim = "a program with recursion and odd bytes"
    compiler = shutil.which("gcc")
    if compiler is None or os.uname().machine != "x86_64":
        claims.skip(claim, "no gcc for x86-64")
        return
    program = os.path.join(WORK, "descend")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    run(compiler, "-O2", "-g", "-fno-optimize-sibling-calls", program + ".c",
        "-o", program)
    recording = program + ".cpprof"
    made = run(CPPROF, "record", "--no-prompt", "-o", recording, program,
               check=False)
    if not os.path.isdir(recording):
        claims.skip(claim, made.stderr.strip().splitlines()[-1])
        return
    documents, notes = ask(recording, "threshold 0", "disasm descend",
                           "narrow descend descend", "functions descend",
                           "list descend", "disasm descend")
    code = [row["instruction"] for row in documents[0]["rows"]]
    at = [i for i, text in enumerate(code) if text.startswith(".byte")]
    claims.check("bytes that are no instruction are shown, and what follows",
                 [code[i] for i in at] == [".byte 0x06", ".byte 0x07"] and
                 at[-1] + 1 < len(code), code)
    values = [documents[1]["rows"][0]["hits"], documents[2]["hits"],
              documents[3]["hits"]]
    claims.check("hidden inlined calls do not count as frames of a path",
                 len(set(values)) == 1 and values[0] < documents[0]["hits"],
                 (values, documents[0]["hits"], notes))
    documents, _ = ask(recording, "list descend", "list main")
    claims.check("the head of a function does not reach into the one before",
                 [documents[0]["rows"][0]["text"],
                  documents[1]["rows"][0]["text"]] ==
                 ["static __attribute__((noinline)) unsigned", "int"],
                 documents)


def check_without_lines():
    claim = "a program without debug information"
    compiler = shutil.which("gcc")
    if compiler is None:
        claims.skip(claim, "no gcc")
        return
    program = os.path.join(WORK, "bare")
    run(compiler, "-O2", os.path.join(SOURCE, "sample-data", "sites.c"), "-o",
        program)
    recording = program + ".cpprof"
    made = run(CPPROF, "record", "--no-prompt", "-o", recording, program,
               "5000", check=False)
    if not os.path.isdir(recording):
        claims.skip(claim, made.stderr.strip().splitlines()[-1])
        return
    _, notes = ask(recording, "list checksum")
    claims.check("without debug information list says what to do",
                 "no lines are known for checksum: there is no debug "
                 "information for bare; compile it with -g, or install its "
                 "debug symbols" in notes, notes)
    documents, notes = ask(recording, "disasm checksum")
    claims.check("disasm needs none", documents and documents[0]["hits"] > 0,
                 notes)


def check_start():
    """The decoder's tables would cost each command more than all else."""
    path = os.path.join(WORK, "a.folded")
    with open(path, "w", encoding="ascii") as file:
        file.write("main;f 3\n")
    loaded = subprocess.run(
        [CPPROF, "-q", "-e", "functions", path], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, "LD_DEBUG": "files"}).stderr
    claims.check("capstone is not loaded where no code is shown",
                 "capstone" not in loaded, loaded)


def main():
    library = library_of("/bin/sh") if shutil.which("ldd") else None
    if library is None or os.uname().machine != "x86_64" or not all(
            map(shutil.which, ("objdump", "nm"))):
        claims.skip("instructions are those of objdump", "no library or "
                    "objdump for x86-64")
    else:
        symbols = symbols_of(library)
        check_instructions(library, symbols)
        check_hits(library, symbols)
        check_gaps(library, symbols)
        check_errors(library, symbols)
        check_targets()
    check_recording()
    check_digest()
    check_own_program()
    check_without_lines()
    check_start()
    claims.end()


with tempfile.TemporaryDirectory() as WORK:
    main()
