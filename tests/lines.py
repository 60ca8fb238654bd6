#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines, call sites and inlined calls of a program that is recorded here."""
import json
import os
import re
import shutil
import subprocess
import tempfile

import cpprof

CPPROF = cpprof.CPPROF
BUILD = os.path.abspath(os.environ.get("builddir", "."))
SOURCE = os.path.join(os.environ.get("srcdir", "."), "sample-data",
                      "sites.c")
GRANULARITIES = ("function", "module", "file", "line", "callsite", "address")
number = 0


def check(claim, is_true, *why):
    global number
    number += 1
    print("ok" if is_true else "not ok", number, "-", claim)
    if not is_true:
        for line in why:
            print("#", line)


def ask(profile, *commands, options=()):
    """The rows of the last command, by path, and its notes."""
    answer = cpprof.ask(profile, "threshold 0", "format json", *commands,
                        options=options)
    last = json.loads(answer.stdout.splitlines()[-1])
    return ({tuple(row["path"]): row["hits"] for row in last["rows"]},
            last["total"], answer.stderr)


def check_totals(profile):
    functions, total, _ = ask(profile, "inlines off", "functions")
    for inlines in ("auto", "on", "off"):
        for granularity in GRANULARITIES:
            body, whole, _ = ask(profile, "inlines " + inlines,
                                 "granularity " + granularity, "body")
            check(f"bodies by {granularity}, inlines {inlines}, sum up",
                  sum(body.values()) == whole == total, body)
        now, _, _ = ask(profile, "inlines " + inlines, "functions")
        check(f"functions have the same hits with inlines {inlines}",
              all(now[name] == functions[name] for name in functions))


def check_names(profile):
    body, _, _ = ask(profile, "inlines on", "body")
    check("an inlined function stands for itself",
          body.get(("mix",), 0) > 0, body)
    again, _, _ = ask(profile, "body")
    check("it does so by default, if there is little debug information",
          again == body, again)
    body, _, _ = ask(profile, "inlines off", "body")
    check("with inlines off it does not", ("mix",) not in body, body)
    body, _, _ = ask(profile, "inlines on", "granularity line", "body")
    check("lines are those of the source", ("sites.c:19",) in body, body)
    body, _, _ = ask(profile, "granularity file", "body")
    check("files have short names", ("sites.c",) in body, body)


def texts(profile, *commands):
    """What each command after `threshold 0` prints."""
    words = [CPPROF, "-q", "-e", "threshold 0"]
    for command in commands:
        words += ["-e", command, "-e", "!echo =end="]
    done = subprocess.run(words + [profile], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    return done.stdout.split("=end=\n")


def check_same(profile, what):
    """What is shown does not depend on what was read."""
    views = ("functions", "down", "body")
    shown = texts(profile, *views)[:3]
    again = texts(profile, "granularity line", "granularity function",
                  "list checksum", *views, "inlines on", "inlines auto",
                  *views)
    check(f"{what}, views are the same after lines were read",
          shown == again[3:6] == again[8:11], again[3], shown[0])
    return shown[0]


def check_large(profile, program):
    """Debug information that is too large to be read with a profile."""
    check("with little debug information nothing is said to be hidden",
          "inlined functions" not in check_same(profile, "with a little"))
    with open("much", "wb") as file:
        file.write(b"\1" * (49 << 20))
    shutil.copy("whole", program)
    subprocess.run(["objcopy", "--add-section", ".debug_much=much", program],
                   check=True, timeout=120)
    shown = check_same(profile, "with much debug information")
    check("much of it is not read, and the footer says so", " mix " not in
          shown and "inlined functions of sites are not shown: " in shown and
          "\"inlines on\" reads it" in shown, shown)
    shown = texts(profile, "kernel hide", "list mix")[1]
    check("the heading of list says what functions does not count",
          re.search(r"self (\d+) .*total \(self\+descendants\) \1 .*\n"
                    "0 of these in functions; the others only have inlined "
                    "copies", shown), shown)
    words = [CPPROF, "-q", "-F", "json", "-e", "body", "-e", "inlines on",
             "-e", "body", profile]
    documents = [json.loads(line) for line in subprocess.run(
        words, capture_output=True, check=True, timeout=120).stdout.splitlines()]
    check("JSON tells of how many modules",
          [document.get("modules_without_inlined") for document in documents]
          == [1, None], documents)
    shown = texts(profile, "inlines on", "functions", "inlines off",
                  "functions", "granularity module", "functions", "top")
    check("inlines off and back to auto shows the same", texts(
        profile, "inlines off", "functions", "inlines auto", "functions")[3:]
        == texts(profile, "functions"), shown)
    check("inlines on shows all", " mix " in shown[1] and
          "inlined functions" not in shown[1], shown[1])
    check("inlines off says that it hides them",
          'not shown; "inlines auto" shows them' in shown[3], shown[3])
    check("by module there are none to hide",
          "inlined functions" not in shown[5], shown[5])
    subprocess.run(["objcopy", "--compress-debug-sections=zlib", program],
                   check=True, timeout=120)
    check("compressed debug information is as large as without",
          "inlined functions of sites" in texts(profile, "functions")[0])
    shutil.copy("whole", program)


def check_sites(profile):
    functions, _, _ = ask(profile, "inlines off", "functions")
    own, _, _ = ask(profile, "body")
    own = {name: hits for name, hits in own.items() if hits}
    sites, _, _ = ask(profile, "granularity callsite", "functions")
    body, _, _ = ask(profile, "granularity callsite", "body")
    body = {name: hits for name, hits in body.items() if hits}
    check("call sites are distinguished",
          ("copy_record:35",) in sites and ("copy_record:36",) in sites,
          sites)
    check("they add up to their function",
          sum(hits for name, hits in sites.items()
              if name[0].startswith("copy_record")) ==
          functions[("copy_record",)],
          sites)
    check("a function's own time stays under its name", body == own, body)
    paths, _, _ = ask(profile, "inlines on", "granularity callsite",
                      "root copy_record:35", "down")
    check("a path goes through them",
          ("copy_record:35", "checksum:28", "mix") in paths, paths)


def check_offsets(profile, program):
    subprocess.run(["objcopy", "--strip-debug", program], check=True,
                   timeout=120)
    sites, _, notes = ask(profile, "granularity callsite", "functions")
    calls = [name for name, in sites if name.startswith("copy_record+0x")]
    check("without lines, call sites are offsets", len(calls) >= 2, sites)
    check("it is said, once, that there are no lines",
          notes.count("no debug information for") == 1 and "sites" in notes,
          notes)


def check_stripped(profile, program):
    """A stripped program has stubs, through which it calls its libraries."""
    subprocess.run(["objcopy", "--strip-all", program], check=True,
                   timeout=120)
    body, _, notes = ask(profile, "body")
    check("without symbols, functions are offsets",
          any(name.startswith("sites+0x") for name, in body), body)
    check("it is said, once, that there are none",
          notes.count("has no symbols") == 1 and "sites" in notes, notes)


def check_elsewhere(profile, program):
    """The program with its lines is in another directory."""
    shutil.rmtree("root", ignore_errors=True)
    os.makedirs("root" + os.path.dirname(os.path.abspath(program)))
    shutil.copy("whole", "root" + os.path.abspath(program))
    body, _, _ = ask(profile, "granularity file", "body",
                     options=("--symfs", "root"))
    check("--symfs finds it", ("sites.c",) in body, body)
    body, _, _ = ask(profile, "symfs root", "granularity file", "body")
    check("symfs does so when lines are read", ("sites.c",) in body, body)


def check_damage(profile, program):
    """Damaged debug information, and when it is noticed."""
    with open("zeros", "wb") as zeros:
        zeros.write(b"\xff" * 4000)
    shutil.copy("whole", program)
    subprocess.run(["objcopy", "--update-section", ".debug_info=zeros",
                    program], check=True, stderr=subprocess.DEVNULL,
                   timeout=120)
    functions, _, notes = ask(profile, "functions")
    check("damage is said when the profile is loaded",
          notes.count("is damaged") == 1, notes)
    lines, _, notes = ask(profile, "granularity line", "inlines on",
                          "granularity function", "functions")
    check("damage is said once", notes.count("is damaged") == 1, notes)
    check("and leaves the symbols", lines == functions, lines)


# GCC splits the second function, which has two paths, and inlines the rest
# into the first again.
SPLIT = '''
volatile int is_quick = 1;
volatile long sink;
__attribute__((noinline)) long enable(void) { return sink++; }
__attribute__((noinline)) void disable(long x) { sink += x; }
long work_in_split(int a, unsigned long n)
{
    long r = 0, o;
    unsigned long i;

    if (__builtin_expect(is_quick, 1)) {
        for (i = 0; i < n; i++)
            sink += r += i ^ a;
    } else {
        o = enable();
        for (i = 0; i < n; i++)
            sink += r += i * a;
        disable(o);
    }
    return r;
}
int main(int n, char **v)
{
    (void)v;
    is_quick = 0;
    for (int i = 0; i < 20; i++)
        work_in_split(n, 3000000);
    return 0;
}
'''


def check_split():
    subprocess.run(["cc", "-g", "-O2", "-x", "c", "-o", "split", "-"],
                   input=SPLIT, text=True, check=True, timeout=120)
    subprocess.run([CPPROF, "record", "--no-symbols", "-o", "in-parts", "--",
                    "./split"], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=120)
    arcs, _, _ = ask("in-parts", "inlines on", "callers work_in_split")
    check("a function that the compiler split does not call itself",
          arcs and ("work_in_split", "work_in_split") not in arcs, arcs)


def main():
    if (not os.path.exists(os.path.join(BUILD, ".libs", "libcpprof.so.0")) or
            not shutil.which("cc") or not shutil.which("objcopy")):
        print("1..0 # SKIP no collector, compiler or objcopy")
        return
    source = os.path.abspath(SOURCE)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        subprocess.run(["cc", "-O2", "-g", "-o", "sites", source], check=True,
                       timeout=120)
        shutil.copy("sites", "whole")
        subprocess.run([CPPROF, "record", "--no-symbols", "-o", "profile",
                        "--", "./sites", "10000"], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=120)
        check_totals("profile")
        check_names("profile")
        check_large("profile", "sites")
        check_sites("profile")
        check_offsets("profile", "sites")
        check_stripped("profile", "sites")
        check_elsewhere("profile", "sites")
        check_damage("profile", "sites")
        check_split()
        os.chdir("/")
    print(f"1..{number}")


main()
