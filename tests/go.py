# SPDX-License-Identifier: GPL-3.0-or-later
"""go.py -- Go programs: their names when stripped, and programs that have a
loader but do without the C library, as Go's do that can be loaded anywhere.

The names are compared with those that `go tool nm` lists of the same program
before it was stripped.  Speaks TAP.
"""
import collections
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402
import cpprof  # noqa: E402

claims = Claims()

PROGRAM = """
package main

import (
\t"fmt"
\t"sort"
\t"strconv"
\t"time"
)

type table map[string]int

//go:noinline
func (t table) fill(n int) {
\tfor i := 0; i < n; i++ {
\t\tt[strconv.Itoa(i*7919%n)] += i
\t}
}

//go:noinline
func largest[T any](all []T, less func(a, b T) bool) T {
\tsort.Slice(all, func(i, j int) bool { return less(all[i], all[j]) })
\treturn all[len(all)-1]
}

func main() {
\tt := table{}
\tfor start := time.Now(); time.Since(start) < 400*time.Millisecond; {
\t\tt.fill(1000)
\t}
\tall := []int{}
\tfor range t {
\t\tall = append(all, len(all))
\t}
\tfmt.Println(largest(all, func(a, b int) bool { return a < b }))
}
"""
CGO = PROGRAM.replace("import (", 'import "C"\n\nimport (', 1)

# Does all by system calls.
BARE = """
static long
call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a),
	    "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

void
_start(void)
{
	volatile unsigned long i;
	long now[2];

	do {
		for (i = 0; i < 1000000; i++)
			;
		call(228 /* clock_gettime */, 2 /* CPU time */, (long)now, 0);
	} while (now[0] == 0 && now[1] < 300000000);
	call(1 /* write */, 1, (long)"done\\n", 5);
	call(231 /* exit_group */, 7, 0, 0);
}
"""

# Nobody sees what it starts, into which the loader brings the collector.
STARTER = """
#include <unistd.h>

int
main(int n, char **words)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(59L /* execve */),
	    "D"(words[n - 1]), "S"(words + n - 1), "d"(environ) :
	    "rcx", "r11", "memory");
	return 9;
}
"""

KINDS = {
    "static": (PROGRAM, []),
    "loaded anywhere": (PROGRAM, ["-buildmode=pie"]),
    "with C": (CGO, []),
    "with C, loaded anywhere": (CGO, ["-buildmode=pie"]),
}


def build(folder, name, source, words):
    """The programs, whole and stripped; None: go cannot build it here."""
    path = os.path.join(folder, name + ".go")
    with open(path, "w", encoding="ascii") as file:
        file.write(source)
    built = []
    for kind, flags in ("whole", []), ("stripped", ["-ldflags=-s -w"]):
        program = os.path.join(folder, f"{name}-{kind}")
        done = subprocess.run(
            ["go", "build", *words, *flags, "-o", program, path], cwd=folder,
            env={**os.environ, "GOFLAGS": "", "GO111MODULE": "off",
                 "GOCACHE": os.path.join(folder, "cache")},
            timeout=600, capture_output=True, check=False)
        if done.returncode != 0:
            return None
        built.append(program)
    return built


def functions_of(program):
    """Functions written in Go: {address: name}."""
    listed = subprocess.run(["go", "tool", "nm", program], timeout=120,
                            capture_output=True, text=True, check=True).stdout
    words = (line.split(None, 2) for line in listed.splitlines())
    return {int(row[0], 16): row[2] for row in words
            if len(row) == 3 and row[1] in "tT" and row[2].startswith(
                ("main.", "sort.", "strconv.", "fmt.", "time.", "os."))}


def profile_of(program, addresses, path):
    """A CPU profile of gperftools: one sample at each address."""
    words = [0, 3, 0, 10000, 0]
    for address in addresses:
        words += [1, 1, address]
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(words) + 3}Q", *words, 0, 1, 0))
        # As if it were loaded at the addresses that it was linked at.
        segments = subprocess.run(["readelf", "-lW", program], text=True,
                                  capture_output=True, check=True).stdout
        for row in map(str.split, segments.splitlines()):
            if row and row[0] == "LOAD" and "E" in row[6:-1]:
                offset, start, size = (int(row[i], 16) for i in (1, 2, 5))
                file.write(f"{start:x}-{start + size + 4095 & ~4095:x} r-xp "
                           f"{offset:08x} 08:01 1 {program}\n".encode())


def check_names(whole, stripped, folder):
    want = functions_of(whole)
    assert len(want) > 80, want
    listed = subprocess.run(["nm", stripped], text=True, capture_output=True,
                            check=False).stdout
    assert "main.main" not in listed, "it is not stripped"
    path = os.path.join(folder, "profile")
    profile_of(stripped, [address + 1 for address in want], path)
    rows = cpprof.table(path, "functions all")["rows"]
    got = {row["path"][0]: row["hits"] for row in rows}
    # Several functions can have one name, such as those of two closures.  Go
    # itself leaves out for which types a function has been compiled.
    expected = dict(collections.Counter(
        re.sub(r"\[.*\]", "[...]", name) for name in want.values()))
    assert got == expected, [(name, got.get(name), expected.get(name))
                             for name in {*got, *expected}
                             if got.get(name) != expected.get(name)][:9]


def clear_text_start(program):
    """Some linkers leave to the relocations what is stored for them here.
    False: there is no such number."""
    with open(program, "rb+") as file:
        begins = re.search(rb"[\xf0\xf1]\xff\xff\xff\0\0\x01\x08",
                           file.read())
        if begins is None:
            return False
        file.seek(begins.start() + 24)
        file.write(bytes(8))
    return True


def can_sample_outside():
    rows = cpprof.documents([], f"record --list -p {os.getpid()}")[0]["rows"]
    return any(row["name"] == "cpu" and row["source"] != "not here"
               for row in rows)


def check_run(program, folder, words, functions, *options):
    """It does what it does by itself, and is sampled where that can be."""
    alone = subprocess.run(words, capture_output=True, timeout=120,
                           check=False)
    path = os.path.join(folder, "recording")
    shutil.rmtree(path, ignore_errors=True)
    done = cpprof.run("record", *options, "-o", path, "--", *words,
                      status=None, text=False)
    assert (done.returncode, done.stdout) == (
        alone.returncode, alone.stdout), (alone, done)
    if not can_sample_outside():
        return
    rows = cpprof.table(path, "threshold 0", "functions all")["rows"]
    got = {row["path"][0] for row in rows}
    assert functions <= got, (program, got)


# Its goroutines get stacks that others have left, with what these had there.
GOROUTINES = """
package main

import (
	"fmt"
	"sort"
	"time"
)

func work(n int) int {
	all := make([]int, n)
	for i := range all {
		all[i] = i * 7919 % 10007
	}
	sort.Ints(all)
	return all[n/2]
}

func main() {
	sum, results := 0, make(chan int)
	for start := time.Now(); time.Since(start) < time.Second; {
		for i := 0; i < 3; i++ {
			go func() { results <- work(30000) }()
		}
		for i := 0; i < 3; i++ {
			sum += <-results
		}
	}
	fmt.Println(sum > 0)
}
"""


def check_ends_of_stacks(folder):
    claim = "stacks of Go's runtime end where they begin"
    built = build(folder, "goroutines", GOROUTINES, [])
    if built is None or not can_sample_outside():
        claims.skip(claim, "no go, or nothing is sampled from outside")
        return
    path = os.path.join(folder, "goroutines.data")
    for program in built:
        cpprof.run("record", "--force", "-r", "cpu:100us", "-o", path, "--",
                   program)
        got = {row["path"][0] for row in cpprof.table(
            path, "threshold 0", "functions all")["rows"]}
        claims.check(f"{claim}, {os.path.basename(program)}",
                     "main.work" in got and "[jit]" not in got, got)


CLOCKS = """
package main

import (
	"fmt"
	"time"
)

func clock(n int) (sum int64) {
	for i := 0; i < n; i++ {
		sum += time.Now().UnixNano()
	}
	return sum
}

func main() {
	result := make(chan int64)
	go func() { result <- clock(10000000) }()
	fmt.Println(<-result != 0)
}
"""


def check_clocks(folder):
    """The vdso is called on the thread's stack.  The goroutine's is not in the
    copy, and has often changed when it is read; then it is [partial]."""
    claim = "who asks for the time, in Go"
    built = build(folder, "clocks", CLOCKS, [])
    if built is None or not can_sample_outside():
        claims.skip(claim, "no go, or nothing is sampled from outside")
        return
    path = os.path.join(folder, "clocks.data")
    for program in built:
        cpprof.run("record", "--force", "-o", path, "--", program)
        document = cpprof.table(path, "threshold 0", "functions all")
        hits = {row["path"][0]: row["hits"] for row in document["rows"]}
        claims.check(f"{claim}, {os.path.basename(program)}",
                     "[jit]" not in hits and
                     hits.get("main.main.func1", 0) > .1 * document["total"],
                     (document["total"], hits))


EXECUTES = """
package main

import "C"

import (
	"os"
	"syscall"
)

func main() {
	sum := 0
	for i := 0; i < 20000000; i++ {
		sum += i * i
	}
	if sum != 1 {
		syscall.Exec("/bin/true", []string{"true"}, os.Environ())
	}
}
"""


def check_executing(folder):
    """A trap that is due when Go executes a program would kill that."""
    claim = "a program of Go with C can execute another one"
    built = build(folder, "executes", EXECUTES, [])
    if built is None:
        claims.skip(claim, "go does not build such here")
        return
    ends = collections.Counter(
        cpprof.run("record", "--force", "-o", os.path.join(folder, "executed"),
                   "--", built[0], status=None).returncode
        for _ in range(30))
    claims.check(claim, set(ends) == {0}, ends)


def check_started(folder, program):
    claim = "so it does where nobody sees that it is executed"
    source, starter = (os.path.join(folder, name) for name in ("s.c", "start"))
    with open(source, "w", encoding="ascii") as file:
        file.write(STARTER)
    done = subprocess.run(["gcc", "-D_GNU_SOURCE", "-o", starter, source],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        claims.skip(claim, done.stderr)
        return
    # A trap of perf events would reach the other program.
    claims.attempt(claim, check_run, program, folder, [starter, program],
                   set(), "-r", "real")


def check_go(folder):
    check_executing(folder)
    check_ends_of_stacks(folder)
    check_clocks(folder)
    for name, (source, words) in KINDS.items():
        of = f"of Go, {name}"
        built = build(folder, name.replace(" ", "-").replace(",", ""), source,
                      words)
        if built is None:
            claims.skip(f"names of a stripped program {of}",
                        "go does not build such here")
            continue
        claims.attempt(f"names of a stripped program {of}", check_names,
                       *built, folder)
        for program in built:
            kind = os.path.basename(program).rsplit("-", maxsplit=1)[1]
            claims.attempt(
                f"a program {of}, {kind}, runs as without cpprof, and is "
                "sampled", check_run, program, folder, [program],
                {"main.main", "main.table.fill"})
        if name == "loaded anywhere":
            check_started(folder, built[1])
        if name == "with C, loaded anywhere" and clear_text_start(built[1]):
            claims.attempt("names by relocations", check_names, *built, folder)


def check_bare(folder):
    source, program = (os.path.join(folder, name) for name in ("b.c", "bare"))
    with open(source, "w", encoding="ascii") as file:
        file.write(BARE)
    done = subprocess.run(
        ["gcc", "-nostdlib", "-nostartfiles", "-pie", "-fPIE", "-O1",
         "-fno-stack-protector", "-o", program, source,
         "-Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2"],
        capture_output=True, text=True, check=False)
    claim = "a program with a loader and without libraries is left alone"
    if done.returncode != 0:
        claims.skip(claim, done.stderr)
        return
    claims.attempt(claim, check_run, program, folder, [program], set())
    claims.attempt("so it is if a shell starts it", check_run, program,
                   folder, ["/bin/sh", "-c", f'"{program}"; exit $?'], set())
    # A shell has no samples in it, and the program uses 300 ms.
    if can_sample_outside():
        path = os.path.join(folder, "recording")
        rows = cpprof.table(path, "processes")["rows"]
        claims.check("and its CPU time is sampled from outside",
                     any("bare" in row.values() and row["samples"] > 30
                         for row in rows), rows)


def main():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
        check_bare(folder)
        if shutil.which("go") is None:
            claims.skip("Go programs", "no go")
        else:
            check_go(folder)
    claims.end()


if __name__ == "__main__":
    main()
