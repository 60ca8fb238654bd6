# SPDX-License-Identifier: GPL-3.0-or-later
"""tableless.py -- programs without unwind tables, sampled by the collector.

tests/programs/told-paths.c has functions whose names tell the only path that
leads to them.  It is compiled without tables in several ways, as a program and as
a library; no stack may have a frame that is not there, or lack one between two
others, and hardly any may be [partial] once `record` has read the code.
tests/test-tableless.c looks at each instruction.  Speaks TAP.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cpprof
from claims import Claims

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
TOLD = os.path.join(SOURCE, "tests", "programs", "told-paths.c")
BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
        "-fno-exceptions"]
PARTIAL = 0.01          # share of the hits
MILLISECONDS = int(os.environ.get("TABLELESS_MS", "1500"))
STEP = re.compile(r"w[0-9]+(_[0-9]+)*")
# What may lie between: the C library, the kernel, and signal frames.
PASSES = {"w4", "w5"}
HOPS = {"hop", "hop_anywhere"}
claims = Claims()


def stacks_of(path):
    """Hits by stack, outermost first."""
    found = collections.Counter()
    for line in cpprof.text(path, "threshold 0", "startup show",
                            "export collapsed").splitlines():
        stack, hits = line.rsplit(" ", 1)
        found[tuple(stack.split(";"))] += int(hits)
    return found


def fault(stack):
    """What is wrong with a stack; None: nothing."""
    before, is_next = None, True
    for name in stack:
        if not STEP.fullmatch(name):
            is_next &= before in PASSES
            if name == "main" and before is not None:
                return f"main below {before}"
            if name in ("paths_round", "paths_run") or name in HOPS:
                is_next = True
            continue
        if before is None:
            if "_" in name and stack[0] != "[partial]":
                return f"{name} without its caller"
        elif name == before:
            if name != "w6":
                return f"{name} in itself"
        elif name.rpartition("_")[0] != before:
            return f"{name} below {before}"
        elif not is_next:
            return f"something between {before} and {name}"
        before, is_next = name, True
    if before is not None and stack[0] != "[partial]" and (
            "main" not in stack or "paths_run" not in stack or
            "paths_round" not in stack):
        return "not all of main, paths_run, paths_round"
    return None


def record(folder, program, *options, waits=1):
    """waits: for so many files of rules."""
    path = os.path.join(folder, "recording")
    words = [program, str(MILLISECONDS)] + [path, str(waits)] * (waits > 0)
    cpprof.run("record", "--no-prompt", "--force", "-F", "1000", "-o", path,
               *options, *words)
    return path


def share_of_partial(stacks):
    counted = {stack: hits for stack, hits in stacks.items()
               if "warm" not in stack}
    partial = sum(hits for stack, hits in counted.items()
                  if stack[0] == "[partial]")
    return partial / max(sum(counted.values()), 1), sum(counted.values())


def check(name, folder, program):
    path = record(folder, program, waits=2 if "library" in name else 1)
    stacks = stacks_of(path)
    share, n = share_of_partial(stacks)
    print(f"# {name}: {n} hits, {100 * share:.2f}% partial")
    wrong = {stack: fault(stack) for stack in stacks if fault(stack)}
    claims.check(f"{name}: no stack has a wrong frame or lacks one",
                 not wrong, "\n".join(f"{why}: {';'.join(stack)} "
                                      f"{stacks[stack]}"
                                      for stack, why in wrong.items()))
    deepest = {name for stack in stacks for name in stack}
    claims.check(f"{name}: hardly any stack is partial",
                 share < PARTIAL and n > MILLISECONDS / 3 and
                 {"w2_1_1", "w4_1_1", "w5_1", "w7_1_1"} <= deepest,
                 (share, n, [(stack, hits) for stack, hits in
                             stacks.most_common()
                             if stack[0] == "[partial]"][:8]))
    claims.check(f"{name}: nothing else is left in the recording",
                 not [entry for entry in os.listdir(path)
                      if entry.startswith("code.")], os.listdir(path))


def build(folder, name, compiler, options):
    """A program without tables, or one with tables and a library without."""
    program = os.path.join(folder, "program")
    if shutil.which(compiler) is None:
        claims.skip(f"{name}: stacks", f"no {compiler}")
        return None
    if "library" in name:
        library = os.path.join(folder, "libpaths.so")
        commands = [[compiler, *options, *BARE, "-shared", "-fPIC",
                     "-DLIBRARY", "-o", library, TOLD],
                    [compiler, "-O2", "-DPROGRAM", "-o", program, TOLD,
                     library, "-Wl,-rpath," + folder]]
    else:
        commands = [[compiler, *options, *BARE, "-o", program, TOLD]]
    for words in commands:
        done = subprocess.run(words, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            claims.skip(f"{name}: stacks", done.stderr[-300:])
            return None
    return program


BUILDS = [
    ("gcc -O2", "gcc", ["-O2", "-fomit-frame-pointer"]),
    ("gcc -Os", "gcc", ["-Os", "-fomit-frame-pointer", "-no-pie"]),
    ("gcc -O2, a library", "gcc", ["-O2", "-fomit-frame-pointer"]),
    ("clang -O2", "clang", ["-O2", "-fomit-frame-pointer"]),
    ("gcc -O2 -g, with .debug_frame", "gcc", ["-O2", "-g"]),
]


LOADER = """
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]) / 50; i++) {
		void *library = dlopen(argv[3 + i % (argc - 3)], RTLD_NOW);
		void (*run)(int, const char *, unsigned) =
		    (void (*)(int, const char *, unsigned))
		    dlsym(library, "paths_run");
		run(50, i < argc - 3 ? argv[2] : 0, i + 1);
		dlclose(library);
	}
	return 0;
}
"""


def check_unloading(folder):
    """One library after the other at the same place, of different code."""
    name = "libraries that come and go"
    libraries = [os.path.join(folder, f"libpaths{i}.so") for i in range(2)]
    program = os.path.join(folder, "loader")
    for library, options in zip(libraries, (["-O2", "-DLIBRARY"],
                                            ["-Os", "-DLIBRARY"])):
        subprocess.run(["gcc", *options, *BARE, "-shared", "-fPIC",
                        "-fomit-frame-pointer", "-o", library, TOLD],
                       check=True)
    subprocess.run(["gcc", "-O2", "-x", "c", "-o", program, "-"], text=True,
                   input=LOADER, check=True)
    path = os.path.join(folder, "recording")
    cpprof.run("record", "--no-prompt", "--force", "-F", "1000", "-o", path,
               program, str(MILLISECONDS), path, *libraries)
    stacks = stacks_of(path)
    wrong = [f"{fault(stack)}: {';'.join(stack)}" for stack in stacks
             if fault(stack)]
    share, n = share_of_partial(stacks)
    print(f"# {name}: {n} hits, {100 * share:.2f}% partial")
    claims.make(f"{name}: no stack has a wrong frame or lacks one", wrong)


def check_questions(folder):
    """Questions are files that are none, and bytes that are no questions."""
    what = "record survives whatever processes ask"
    program, fifo = (os.path.join(folder, name) for name in ("asks", "fifo"))
    done = subprocess.run(
        ["gcc", "-I", SOURCE, "-o", program, os.path.join(
            SOURCE, "tests", "programs", "asks-codes.c")],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        claims.skip(what, done.stderr[-300:])
        return
    os.mkfifo(fifo)
    path = os.path.join(folder, "recording")
    done = cpprof.run("record", "--no-prompt", "--force", "-o", path, program,
                      program, fifo, folder, "/dev/zero", "/proc/self/mem",
                      "/nonexistent", "relative", cpprof.CPPROF, status=None)
    claims.check(what, done.returncode == 0 and "answered" in done.stdout and
                 cpprof.table(path, "functions")["total"] > 50,
                 (done.returncode, done.stdout, done.stderr))
    claims.check("and leaves nothing of it behind", not [
        entry for entry in os.listdir(path) if entry.startswith("code.")])


def main():
    if os.uname().machine != "x86_64":
        claims.skip("stacks without tables", "not x86-64")
        claims.end()
        return
    chosen = sys.argv[1:]
    for name, compiler, options in BUILDS:
        if chosen and not any(word in name for word in chosen):
            continue
        with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
            program = build(folder, name, compiler, options)
            if program is not None:
                check(name, folder, program)
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
        if not chosen:
            check_unloading(folder)
            check_questions(folder)
    claims.end()


if __name__ == "__main__":
    main()
