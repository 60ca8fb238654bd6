# SPDX-License-Identifier: GPL-3.0-or-later
"""stepped.py -- every stack of programs without unwind tables, instruction by
instruction.

tests/step-stacks.c executes a program step by step, keeps the true stack by
watching calls and returns, and walks each stack as `record` does from outside.
No walk may have a frame that is not there, and hardly any may be partial.
STEPS: instructions of each program; more of those that cannot say where they
begin.  Speaks TAP.
"""
import os
import shutil
import subprocess
import tempfile

from claims import Claims

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
BUILD = os.path.abspath(os.environ.get("builddir", "build"))
STEP = os.path.join(BUILD, "tests", "step-stacks")
STEPS = int(os.environ.get("STEPS", "6000"))
PARTIAL = 0.01          # share of the walks
START = 5               # times as many steps from the start of a process
claims = Claims()

SHAPES = os.path.join(SOURCE, "tests", "programs", "tableless.c")
ASSEMBLY = os.path.join(SOURCE, "tests", "programs", "tableless-hand.S")
BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
        "-fno-exceptions"]
# Name, compiler, options.  -Os puts functions side by side without padding.
COMPILED = [
    ("gcc -O2", "gcc", ["-O2", "-fomit-frame-pointer"]),
    ("gcc -O2, stripped", "gcc", ["-O2", "-fomit-frame-pointer", "-s"]),
    ("gcc -Os, stripped, static", "gcc",
     ["-Os", "-fomit-frame-pointer", "-s", "-static"]),
    ("gcc -O0", "gcc", ["-O0"]),
    ("gcc -O3, anywhere", "gcc", ["-O3", "-fomit-frame-pointer", "-fPIE",
                                  "-pie", "-s"]),
    ("clang -O2", "clang", ["-O2", "-fomit-frame-pointer"]),
    ("musl", "musl-gcc", ["-O2"]),
    ("musl, stripped, static", "musl-gcc",
     ["-O2", "-fomit-frame-pointer", "-s", "-static"]),
]
BUSYBOX = [
    ["sh", "-c", 'i=0; while [ $i -lt 5000 ]; do case $i in *9) x="$i $x";;'
                 ' esac; i=$((i+1)); done'],
    ["awk", 'BEGIN { for (i = 0; i < 9999; i++) s = s "" i; print s }'],
]
GO = """
package main

import "sort"

//go:noinline
func leaf(n int) int { return n*n + 1 }

//go:noinline
func middle(n int) int { return leaf(n) + leaf(n+1) }

func deep(n int) int {
\tvar frame [100]int
\tframe[n%100] = middle(n)
\tif n == 0 {
\t\treturn frame[0]
\t}
\treturn deep(n-1) + frame[n%100]
}

func main() {
\tdone := make(chan int)
\tgo func() { done <- deep(500) }()
\tall := []int{}
\tfor i := 0; i < 200; i++ {
\t\tall = append(all, middle(i*7919%200))
\t}
\tsort.Ints(all)
\tprintln(<-done + all[3])
}
"""


def step(first, command, env=None):
    """The numbers of walks, whole, partial and wrong ones; what was said."""
    steps = STEPS if first == "trap" else STEPS * START
    done = subprocess.run([STEP, first, str(steps), *command], text=True,
                          capture_output=True, check=False, timeout=3000,
                          stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **(env or {})))
    assert done.returncode in (0, 1), (command, done.returncode, done.stderr)
    *notes, last = done.stdout.splitlines()
    return [int(word) for word in last.split()], "\n".join(notes[:6])


def check(name, first, command, env=None):
    (n, _, partial, wrong), notes = step(first, command, env)
    print(f"# {name}: {n} walks, {partial} partial, {wrong} wrong")
    claims.check(f"{name}: no wrong frame", wrong == 0 and n > 2000,
                 (n, wrong, notes))
    claims.check(f"{name}: hardly any stack is partial",
                 partial <= PARTIAL * n, (n, partial, notes))


def build(folder, name, compiler, words):
    """A program; None, and a skipped claim, where there is none."""
    program = os.path.join(folder, name.replace(" ", "").replace(",", ""))
    if shutil.which(compiler) is None:
        claims.skip(f"{name}: stacks", f"no {compiler}")
        return None
    done = subprocess.run([compiler, *words, "-o", program],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        claims.skip(f"{name}: stacks", done.stderr[-200:])
        return None
    return program


def check_compiled(folder):
    for name, compiler, options in COMPILED:
        program = build(folder, name, compiler, [*options, *BARE, SHAPES])
        if program is not None:
            claims.attempt(f"{name}: stacks", check, name, "trap",
                           [program])
    program = build(folder, "assembly", "gcc", ["-nostdlib", "-static",
                                                ASSEMBLY])
    if program is not None:
        claims.attempt("assembly: stacks", check, "assembly", "0",
                       [program])


def check_busybox():
    busybox = shutil.which("busybox")
    if busybox is None:
        claims.skip("busybox: stacks", "no busybox")
        return
    for words in BUSYBOX:
        name = f"busybox {words[0]}"
        claims.attempt(f"{name}: stacks", check, name, "0",
                       [busybox, *words])


def check_go(folder):
    source = os.path.join(folder, "shapes.go")
    with open(source, "w", encoding="ascii") as file:
        file.write(GO)
    program = os.path.join(folder, "shapes")
    if shutil.which("go") is None:
        claims.skip("Go, stripped: stacks", "no go")
        return
    done = subprocess.run(
        ["go", "build", "-ldflags=-s -w", "-o", program, source],
        capture_output=True, text=True, check=False,
        env=dict(os.environ, GOFLAGS="-mod=mod", CGO_ENABLED="0",
                 GOCACHE=os.path.join(folder, "cache"), HOME=folder))
    if done.returncode != 0:
        claims.skip("Go, stripped: stacks", done.stderr[-200:])
        return
    # A signal that preempts changes the stack that it returns to.
    claims.attempt("Go, stripped: stacks", check, "Go, stripped", "0",
                   [program], {"GODEBUG": "asyncpreemptoff=1", "GOMAXPROCS": "1"})


def can_trace():
    done = subprocess.run([STEP, "0", "10", "/bin/true"], text=True,
                          capture_output=True, check=False)
    return done.returncode != 2


def main():
    if not can_trace():
        claims.skip("stacks, instruction by instruction",
                    "processes cannot be traced here")
    else:
        with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
            check_compiled(folder)
            check_busybox()
            check_go(folder)
    claims.end()


if __name__ == "__main__":
    main()
