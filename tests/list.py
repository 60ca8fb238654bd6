#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""list: hits of source lines, against brute force over whole stacks, against
go tool pprof -list where nothing recurses, and against callgrind_annotate."""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time

import cpprof
from claims import Claims
from mcp_server import Server

CPPROF = cpprof.CPPROF
SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
SAMPLES = os.path.join(SOURCE, "sample-data")
N_RANDOM = 40
N_LINES = 30
claims = Claims()


# ---- profiles, as stacks of sites; a site is a chain of inlined calls ----

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


def encode(stacks):
    """A pprof profile.  A stack is (sites, hits), outermost first; a site a
    list of (function, file, line), outermost first."""
    strings, functions, sites = {"": 0, "samples": 1, "count": 2}, {}, {}

    def text(string):
        return strings.setdefault(string, len(strings))

    samples = b""
    for stack, hits in stacks:
        numbers = b""
        for site in reversed(stack):
            numbers += varint(sites.setdefault(tuple(site), len(sites) + 1))
        samples += field(2, field(1, numbers) + field(2, varint(hits)))
    locations = b""
    for site, number in sites.items():
        lines = b""
        for function, file, line in reversed(site):
            of = functions.setdefault((function, file), len(functions) + 1)
            lines += field(4, field(1, of) + field(2, line))
        locations += field(4, field(1, number) + lines)
    defined = b""
    for (function, file), number in functions.items():
        defined += field(5, field(1, number) + field(2, text(function)) +
                         field(4, text(file)))
    unit = field(1, field(1, text("samples")) + field(2, text("count")))
    table = b"".join(field(6, string.encode()) for string in strings)
    return unit + samples + locations + defined + table


def write_profile(name, stacks):
    path = os.path.join(WORK, name)
    with open(path, "wb") as file:
        file.write(encode(stacks))
    return path


def random_stacks(rng, recurses):
    files = [os.path.join(WORK, "src", name) for name in ("a.c", "b.c")]
    home = {name: rng.choice(files) for name in "fghij"}

    def level(name):
        # Now and then a macro or an included file.
        file = home[name] if rng.random() < 0.9 else rng.choice(files)
        return name, file, rng.randint(1, N_LINES // 3)

    def site(names):
        n = rng.choice((1, 1, 1, 2, 3))
        return [level(names.pop() if not recurses else rng.choice("fghij"))
                for _ in range(min(n, len(names)))]

    stacks = []
    for _ in range(rng.randint(1, 40)):
        stack = []
        if stacks and rng.random() < 0.6:
            stack = list(rng.choice(stacks)[0])
            stack = stack[:rng.randint(0, len(stack))]
        used = {name for at in stack for name, _, _ in at}
        left = [name for name in "fghij" if recurses or name not in used]
        rng.shuffle(left)
        for _ in range(rng.randint(1, 6)):
            if left:
                stack.append(site(left))
        stacks.append((stack, rng.randint(0, 9)))
    return [(stack, hits) for stack, hits in stacks if stack]


# ---- brute force ----

def expected(stacks, wanted, inlines=True):
    """By file and line, [self, total] of what is wanted; and of all of it."""
    lines = collections.defaultdict(lambda: [0, 0])
    whole = [0, 0]
    for stack, hits in stacks:
        levels = [level for site in stack
                  for level in (site if inlines else site[:1])]
        for level in {at for at in levels if wanted(at)}:
            lines[level[1:]]
        for place in {at[1:] for at in levels if wanted(at)}:
            lines[place][1] += hits
        whole[1] += hits if any(map(wanted, levels)) else 0
        if wanted(levels[-1]):
            lines[levels[-1][1:]][0] += hits
            whole[0] += hits
    return {place: own for place, own in lines.items() if any(own)}, whole


def ask(profile, *commands):
    """The documents of the commands that print one, and the notes."""
    answer = cpprof.ask(profile, f"directories |{WORK}|", *commands,
                        options=("-F", "json"), status=None)
    return ([json.loads(line) for line in answer.stdout.splitlines()],
            answer.stderr)


def listed(document):
    return ({(row["file"], row["line"]): [row["self"], row["hits"]]
             for row in document["rows"] if row["self"] or row["hits"]},
            [document["self"], document["hits"]])


def compare(name, stacks):
    profile = write_profile(name, stacks)
    levels = {at for stack, _ in stacks for site in stack for at in site}
    functions = sorted({at[0] for at in levels})
    files = sorted({at[1] for at in levels})
    commands = ["threshold 0", *["list " + name for name in functions],
                *["list " + name for name in files], "inlines off"]
    wanted = [lambda at, name=name: at[0] == name for name in functions]
    wanted += [lambda at, name=name: at[1] == name for name in files]
    outer = [name for name in functions
             if any(site[0][0] == name for stack, _ in stacks
                    for site in stack)]
    documents, notes = ask(profile, *commands,
                           *["list " + name for name in outer], "functions")
    different = [] if len(documents) == len(wanted) + len(outer) + 1 else [
        notes]
    wrong = [(command, listed(document), expected(stacks, is_wanted))
             for command, document, is_wanted
             in zip(commands[1:], documents, wanted)
             if listed(document) != expected(stacks, is_wanted)]
    off = [(name, listed(document))
           for name, document in zip(outer, documents[len(wanted):])
           if listed(document) != expected(
               stacks, lambda at, name=name: at[0] == name, inlines=False)]
    return different + wrong + off


def compare_random(recurses):
    wrong = []
    for seed in range(N_RANDOM):
        stacks = random_stacks(random.Random(seed), recurses)
        wrong += [(seed, *what) for what in compare("random.pb", stacks)]
    return wrong


def check_refinement():
    """narrow and drop select the stacks that are listed."""
    wrong = []
    for seed in range(N_RANDOM):
        rng = random.Random(seed)
        stacks = random_stacks(rng, True)
        profile = write_profile("random.pb", stacks)
        inlines = rng.random() < 0.6

        def names(stack):
            return [level[0] for site in stack
                    for level in (site if inlines else site[:1])]

        def has(stack, a, b):
            found = names(stack)
            return a in found and b in found[found.index(a) + 1:]

        a, b, c = (rng.choice("fghij") for _ in range(3))
        left = [(stack, hits) for stack, hits in stacks
                if has(stack, a, b) and c not in names(stack)]
        commands = ["threshold 0", "inlines " + ("auto" if inlines else "off"),
                    f"narrow {a} ... {b}", f"drop {c}"]
        functions = sorted({level[0] for stack, _ in stacks for site in stack
                            for level in (site if inlines else site[:1])})
        if not left or c not in {
                name for stack, _ in stacks if has(stack, a, b)
                for name in names(stack)}:
            continue
        documents, notes = ask(profile, *commands,
                               *["list " + name for name in functions])
        if len(documents) != len(functions):
            wrong.append((seed, commands, notes))
        for name, document in zip(functions, documents):
            theirs = expected(left, lambda at, name=name: at[0] == name,
                              inlines)
            if listed(document) != theirs:
                wrong.append((seed, commands, name, listed(document), theirs))
    claims.make("lines have the hits of the stacks that a refinement leaves",
                wrong)


def check_heading():
    """The value in the heading is that of functions."""
    wrong = []
    for seed in range(10):
        stacks = random_stacks(random.Random(seed), True)
        profile = write_profile("random.pb", stacks)
        rows = ask(profile, "threshold 0", "functions")[0][0]["rows"]
        for row in rows:
            name = row["path"][0]
            document = ask(profile, "list " + name)[0][0]
            if document["hits"] != row["hits"]:
                wrong.append((seed, name, document["hits"], row["hits"]))
    claims.make("the heading has the value that functions has", wrong)


# ---- other tools ----

def pprof_list(profile, function):
    """By line, [flat, cumulative], of each file."""
    answer = subprocess.run(
        ["go", "tool", "pprof", "-list", f"^{function}$", profile],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=True, timeout=120, env={**os.environ, "PPROF_TMPDIR": WORK})
    lines, file = {}, None
    for line in answer.stdout.splitlines():
        if line.startswith("ROUTINE"):
            file = line.split(" in ", 1)[1]
        found = re.match(r" +(\S+) +(\S+) +(\d+):", line)
        if found:
            own = [0 if number == "." else int(number)
                   for number in found.groups()[:2]]
            if any(own):
                lines[(file, int(found[3]))] = own
    return lines


def check_pprof():
    claim = "lists are those of go tool pprof where nothing recurses"
    if shutil.which("go") is None:
        claims.skip(claim, "no go")
        return
    wrong = []
    for seed in range(6):
        stacks = random_stacks(random.Random(seed), False)
        profile = write_profile("random.pb", stacks)
        for name in "fghij":
            documents, _ = ask(profile, "threshold 0", "list " + name)
            theirs = pprof_list(profile, name) if documents else {}
            if documents and listed(documents[0])[0] != theirs:
                wrong.append((seed, name, listed(documents[0])[0], theirs))
    claims.make(claim, wrong)


# ---- finding sources ----

def text_of(profile, *commands):
    words = [CPPROF, "-q"]
    for command in commands:
        words += ["-e", command]
    answer = subprocess.run(words + [profile], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=120,
                            check=False, cwd=WORK)
    return answer.stdout + answer.stderr


def check_sources():
    sites = os.path.join(SAMPLES, "sites.pb.gz")
    text = text_of(sites, "unit hits", "list mix")
    claims.check("a source that is missing is named, and what to type",
                 "source not found: /usr/src/sites/sites.c; say where it is "
                 'with "directories DIR"' in text, text)
    claims.check("lines have rows without their source",
                 re.search(r"41.46 +1816000 +1816000 +19\n", text), text)
    text = text_of(sites, "directories /nowhere " + WORK, "list mix")
    claims.check("the directories that were searched are named",
                 f"sites.c, nor in /nowhere, {WORK}; say" in text, text)
    text = text_of(sites, "unit hits",
                   f"directories /nowhere |{SAMPLES}|", "list mix")
    claims.check("a source is found by its last component",
                 f"source: {SAMPLES}/sites.c\n" in text and
                 re.search(r"1816000 +19      return \(sum << 5", text),
                 text)
    deep = os.path.join(WORK, "deep", "sites")
    os.makedirs(deep)
    with open(os.path.join(deep, "sites.c"), "w", encoding="utf-8") as file:
        file.write("\n" * 18 + "\tlonger end\n")
    with open(os.path.join(WORK, "deep", "sites.c"), "w",
              encoding="utf-8") as file:
        file.write("\n" * 18 + "shorter end\n")
    text = text_of(sites, "directories deep", "list mix")
    claims.check("the longest end of the path is tried first",
                 "19      longer end\n" in text, text)
    os.makedirs(os.path.join(WORK, "root", "usr", "src", "sites"))
    with open(os.path.join(WORK, "root", "usr", "src", "sites", "sites.c"),
              "w", encoding="utf-8") as file:
        file.write("\n" * 18 + "copied\n")
    text = text_of(sites, "symfs root", "list mix")
    claims.check("symfs finds sources", " 19  copied\n" in text, text)
    text = text_of(sites, "directories deep", "directories off", "show",
                   "list mix")
    claims.check("directories off takes them back",
                 "directories  off\n" in text and "not found" in text, text)
    text = text_of(sites, "directories |deep|", "show")
    claims.check("show shows the directories",
                 "directories  deep\n" in text, text)
    with open(os.path.join(deep, "sites.c"), "w", encoding="utf-8") as file:
        file.write("\n" * 18 + "\x1b[31mred\x9b\n")
    text = text_of(sites, "directories deep", "list mix")
    claims.check("control characters of a source are escaped",
                 r"\x1b[31mred" in text and "\x1b" not in text, text)
    os.remove(os.path.join(deep, "sites.c"))
    os.mkfifo(os.path.join(deep, "sites.c"))
    text = text_of(sites, "directories deep", "list mix")
    claims.check("a pipe is not read",
                 "source cannot be read: deep/sites/sites.c" in text, text)


# ---- a profile may name any file ----

SECRET = "correct horse battery staple"


def leaks(about, source, *commands, hint, cwd=None):
    """No answer has the secret, to which a profile leads as its source."""
    profile = write_profile("leak.pb", [([[("f", source, 1)]], 5)])
    page = os.path.join(WORK, "leak.html")
    words = [word for command in (*commands, "list f", f"report {page}")
             for word in ("-e", command)]
    begin = time.monotonic()
    shown = subprocess.run([CPPROF, "-q", *words, profile], text=True,
                           stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=60, check=False, cwd=cwd or ELSEWHERE)
    with Server(cwd=cwd or ELSEWHERE) as server:
        told, failed = server.call("ask", profile=profile,
                                   commands=["list f"])
    with open(page, encoding="utf-8") as file:
        text = shown.stdout + shown.stderr + told + file.read()
    claims.check(f"{about}: is not shown, and the answer says why",
                 SECRET not in text and hint in shown.stdout and
                 not failed and told != "" and
                 time.monotonic() - begin < 50, shown.stdout + shown.stderr)


def put(path, text=f"{SECRET}\n"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def check_untrusted():
    home = os.path.join(WORK, "home")
    secret = put(os.path.join(home, "secret"))
    code = put(os.path.join(home, "secret.c"))
    here = os.path.join(WORK, "here")
    os.makedirs(here)
    leaks("a source outside", code, hint=f'"directories {home}"')
    leaks("no source", secret, hint="ending of a programming language")
    leaks("no source, in a directory that was named", secret,
          f"directories |{home}|", hint="ending of a programming language")
    leaks("no source, in the current directory", "secret", cwd=home,
          hint="ending of a programming language")
    leaks("settings", put(os.path.join(home, ".c")),
          hint="ending of a programming language", cwd=home)
    leaks("bytes that are no text",
          put(os.path.join(home, "data.c"), f"{SECRET}\0\n"),
          hint="ending of a programming language", cwd=home)
    os.symlink(code, os.path.join(here, "link.c"))
    leaks("a link to the outside", "link.c", hint=home,
          cwd=here)
    os.symlink(secret, os.path.join(here, "other.c"))
    leaks("a link to no source", "other.c", cwd=here,
          hint="ending of a programming language")
    os.symlink(home, os.path.join(here, "sub"))
    leaks("a directory that is a link", "sub/secret.c", hint=home, cwd=here)
    leaks("a path with ..", "../home/secret.c", hint=home, cwd=here)
    leaks("a path with .. below a named directory", "x/../../home/secret.c",
          f"directories |{here}|", hint="")
    leaks("a directory whose name begins alike", code,
          f"directories |{home[:-1]}|", hint=f'"directories {home}"')
    leaks("the root as current directory", code, hint=home, cwd="/")
    leaks("a file of the kernel", "/proc/self/environ", hint="cannot be read")
    leaks("a device", "/dev/zero", hint="cannot be read")
    leaks("a directory", home, hint="cannot be read")
    os.mkfifo(os.path.join(here, "pipe.c"))
    leaks("a pipe", "pipe.c", hint="cannot be read", cwd=here)
    text = text_of(write_profile("own.pb", [([[("f", code, 1)]], 5)]),
                   f"directories |{home}|", "list f")
    claims.check("with its directory it is shown", SECRET in text, text)


def check_looks():
    """What looks like source, by its name or its first line."""
    home = os.path.join(WORK, "looks")
    script, header = f"#!/bin/sh {SECRET}\n", f"// -*- C++ -*- {SECRET}\n"
    for name, content in (
            ("tool", script), ("tool-3.11", script), ("run.cgi", script),
            ("vector", header), ("vector.tcc.in", header),
            *((f"a.{ending}", f"{SECRET}\n") for ending in (
                "c", "C", "CPP", "Py", "F90", "f90", "S", "cppm", "ixx", "mpp",
                "hip", "hlsl", "fish", "ksh", "ps1"))):
        put(os.path.join(home, name), content)
        text = text_of(write_profile("look.pb", [([[("f", name, 1)]], 5)]),
                       f"directories |{home}|", "list f")
        claims.check(f"{name} looks like source", SECRET in text, text)
    for name, content in (("other-3.11", f"{SECRET}\n"),
                          ("a.pem", f"{SECRET}\n#!/bin/sh\n"),
                          ("a.cc.bak", f"{SECRET}\n")):
        leaks(f"{name} without a first line that says so",
              put(os.path.join(home, "not", name), content),
              f"directories |{home}|", hint="ending of a programming language")


def check_recorded():
    """The sources of a recording of one's own need no typing, wherever one
    is; those of a copy of it do."""
    place = os.path.join(WORK, "program")
    source = put(os.path.join(place, "loop.c"), """
static volatile unsigned long x;
__attribute__((noinline)) static void burn(void)
{ for (long i = 0; i < 100000000; i++) x += i; /* the loop */ }
int main(void) { burn(); return 0; }
""")
    program = os.path.join(place, "loop")
    if shutil.which("cc") is None:
        claims.skip("a recording's own sources", "no cc")
        return
    subprocess.run(["cc", "-g", "-O1", "-o", program, source], check=True)
    record = os.path.join(ELSEWHERE, "rec")
    cpprof.run("record", "-o", record, program, timeout=120)
    ask_for = [CPPROF, "-n", "-q", "-e", "list burn"]

    def text(name):
        return subprocess.run([*ask_for, name], text=True, timeout=120,
                              capture_output=True, check=False,
                              cwd=ELSEWHERE).stdout

    claims.check("a recording made here shows its sources",
                 "/* the loop */" in text(record), text(record))
    os.rename(record, record + "-moved")
    claims.check("also once it is renamed",
                 "/* the loop */" in text(record + "-moved"))
    shutil.copytree(record + "-moved", record + "-copy")
    copy = text(record + "-copy")
    claims.check("a copy may be of anybody", "/* the loop */" not in copy and
                 f'"directories {place}"' in copy, copy)
    os.remove(os.path.join(record + "-copy", "names"))
    copy = text(record + "-copy")
    claims.check("also if its names are found only now",
                 "/* the loop */" not in copy and
                 "/* the loop */" not in text(record + "-copy"), copy)


def check_names():
    stacks = [([[("main", "/x/one/a.c", 3)], [("f", "/x/two/a.c", 7)]], 5),
              ([[("main", "/x/one/a.c", 3)], [("fg", "/x/two/b.c", 7)]], 5)]
    profile = write_profile("names.pb", stacks)
    for command, says in (
            ("list a.c", "a.c matches 2 files: /x/one/a.c, /x/two/a.c"),
            ("list one/a.c", "Source file /x/one/a.c"),
            ("list wo/a.c", "has no function or source file wo/a.c"),
            ("list two/a.c:7", "Source at /x/two/a.c:7"),
            ("list f*", "f* matches 2 functions: f, fg"),
            ("list *g", "Source of fg"),
            ("list mian", "has no function or source file mian; did you "
             "mean main?"),
            ("list", "list needs FUNCTION|FILE:LINE|FILE")):
        text = text_of(profile, command)
        claims.check(f"{command}: {says}", says in text, text)


def check_reasons():
    folded = os.path.join(WORK, "a.folded")
    with open(folded, "w", encoding="utf-8") as file:
        file.write("main;f 3\n")
    text = text_of(folded, "list f")
    claims.check("a profile of names says that it has no lines",
                 "no lines are known for f: the profile has its name, but "
                 "neither lines nor addresses" in text, text)
    text = text_of(os.path.join(SAMPLES, "sites.pb.gz"), "inlines off",
                   "list mix")
    claims.check("a function that inlines off hides is named, and its callers",
                 "mix was inlined wherever it occurs, into checksum: inlines "
                 'is off; say "inlines auto"' in text, text)
    for command in "up mix", "path (checksum mix)", "narrow mix", "group x = mix":
        text = text_of(os.path.join(SAMPLES, "sites.pb.gz"), "inlines off",
                       command)
        claims.check(f"{command} says that inlines off hides the function",
                     re.search("mix,? (which )?was inlined wherever it occurs",
                               text), text)
    text = text_of(os.path.join(SAMPLES, "sites.pb.gz"), "narrow checksum",
                   "drop mix", "narrow mix")
    claims.check("what a step dropped is not called inlined",
                 "inlined wherever" not in text and
                 text.count("no frame is called mix") == 1, text)


def check_text():
    """Context, gaps, threshold and limit."""
    source = os.path.join(WORK, "long.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join(f"line {i}\n" for i in range(1, 101)))
    stacks = [([[("f", source, line)]], hits)
              for line, hits in ((20, 60), (24, 1), (32, 30), (60, 9),
                                 (90, 1), (120, 6))]
    profile = write_profile("long.pb", stacks)
    rows = ask(profile, "threshold 0.05", "list f")[0][0]
    claims.check("lines above the threshold and those around them are shown",
                 [row["line"] for row in rows["rows"]] ==
                 [*range(17, 36), *range(57, 64), 120], rows)
    claims.check("lines that are not shown are counted",
                 rows["hidden"] == 1, rows)
    claims.check("blocks number runs of lines",
                 [row["block"] for row in rows["rows"]] ==
                 [1] * 19 + [2] * 7 + [3], rows)
    text = text_of(profile, "threshold 0.05", "list f")
    claims.check("a gap is shown as dots",
                 re.search(r"35  line 35\n\.\.\.\n +57  line 57\n", text),
                 text)
    rows = ask(profile, "limit 1", "list f")[0][0]
    claims.check("limit keeps the lines with most hits",
                 [row["line"] for row in rows["rows"]] == [*range(17, 24)]
                 and rows["hidden"] == 5, rows)
    rows = ask(profile, "list f")[0][0]
    claims.check("a line beyond the end of the source has a row",
                 rows["rows"][-1]["line"] == 120 and
                 rows["rows"][-1]["hits"] == 6 and
                 rows["rows"][-1]["text"] is None, rows)
    rows = ask(profile, "list long.c:50")[0][0]
    text = ask(profile, "list long.c:999")[0][0]
    claims.check("a line far beyond the end has none around it",
                 text["rows"] == [], text)
    claims.check("and the footer says how long the file is",
                 "the file has 100 lines" in
                 text_of(profile, "list long.c:999"))
    claims.check("a line is shown with ten lines before and after it",
                 [row["line"] for row in rows["rows"]] == [*range(40, 61)],
                 rows)


# ---- callgrind ----

CALLGRIND = """# callgrind format
events: Ir
fl=/x/a.c
fn=main
3 10
4 5
cfn=f
calls=2 20
4 70
5 1
cfi=/x/b.c
cfn=g
calls=1 1
5 30
fi=/x/b.h
9 2
fn=f
fl=/x/a.c
20 50
cfn=f
calls=9 20
21 900
22 20
fl=/x/b.c
fn=g
1 30
"""


# Line 4 called for more than 64 bits can hold.
LARGE = """# callgrind format
events: Ir
fl=/x/a.c
fn=main
3 10
4 5
cfn=f
calls=1 20
4 18446744073709551610
cfn=g
calls=1 30
4 100
fn=f
20 50
fn=g
30 7
"""


def check_large_sums():
    profile = os.path.join(WORK, "large.callgrind")
    most = 2 ** 64 - 1
    with open(profile, "w", encoding="utf-8") as file:
        file.write(LARGE)
    for command, self in (("list main", 15), ("list a.c", 72)):
        document, = ask(profile, "threshold 0", command)[0]
        lines, whole = listed(document)
        claims.check(f"callgrind: sums stop at 64 bits: {command}",
                     lines["/x/a.c", 4] == [5, most] and
                     whole == [self, most], document)


def check_callgrind():
    profile = os.path.join(WORK, "callgrind.out")
    with open(profile, "w", encoding="utf-8") as file:
        file.write(CALLGRIND)
    document, = ask(profile, "threshold 0", "list main")[0]
    claims.check("callgrind: self by line, and calls lines",
                 listed(document) == (
                     {("/x/a.c", 3): [10, 10], ("/x/a.c", 4): [5, 75],
                      ("/x/a.c", 5): [1, 31], ("/x/b.h", 9): [2, 2]},
                     [18, 118]), document)
    document, = ask(profile, "threshold 0", "list f")[0]
    claims.check("callgrind: calls of a function by itself are estimates",
                 listed(document) == ({("/x/a.c", 20): [50, 50],
                                       ("/x/a.c", 21): [0, 70],
                                       ("/x/a.c", 22): [20, 20]}, [70, 70])
                 and
                 [row["estimated"] for row in document["rows"]] ==
                 [False, True, False], document)
    sample = os.path.join(SAMPLES, "rdparse.callgrind.gz")
    documents, _ = ask(sample, "threshold 0", "body", "list rdparse.c")
    body = {row["path"][0]: row["hits"] for row in documents[0]["rows"]}
    wrong = []
    for name in ("main", "gen", "skip", "number", "unary", "factor", "term",
                 "expr"):
        document, = ask(sample, "threshold 0", "list " + name)[0]
        if document["self"] != body[name] or sum(
                row["self"] for row in document["rows"]) != body[name]:
            wrong.append((name, document, body[name]))
    claims.make("callgrind: self of lines sums to the function's body", wrong)


def main():
    os.makedirs(os.path.join(WORK, "src"))
    for name in ("a.c", "b.c"):
        with open(os.path.join(WORK, "src", name), "w",
                  encoding="utf-8") as file:
            file.write("".join(f"{name} {i}\n" for i in range(N_LINES)))
    long_ago = time.time() - 86400
    for name in ("a.c", "b.c"):
        os.utime(os.path.join(WORK, "src", name), (long_ago, long_ago))
    claims.make("random stacks with recursion and inlined calls: lines have "
                "the hits of brute force", compare_random(True))
    claims.make("likewise without recursion", compare_random(False))
    check_refinement()
    check_heading()
    check_pprof()
    check_sources()
    check_untrusted()
    check_looks()
    check_recorded()
    check_names()
    check_reasons()
    check_text()
    check_callgrind()
    check_large_sums()
    claims.end()


with tempfile.TemporaryDirectory() as WORK:
    ELSEWHERE = os.path.join(WORK, "elsewhere")
    os.makedirs(ELSEWHERE)
    main()
