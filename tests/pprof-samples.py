#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pprof-samples.py -- which numbers of pprof profiles are counts of samples.

Those of a file that says so in each of its values have the noise of as many
samples of one hit, as the same counts have as collapsed stacks with an interval.
Others, such as heap profiles, stay undecided.  The files are made by hand, by
Go (tests/data/go), and by a Go program that is built here if that is installed.
Speaks TAP.
"""
import gzip
import json
import os
import random
import shutil
import subprocess
import tempfile

from claims import Claims, rounds
from pprof_writer import Strings, message, number, varint

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
PERIOD = 10000000
UNKNOWN = "does not say how its numbers were sampled"
claims = Claims()


def run(*words):
    done = subprocess.run([CPPROF, "-q", *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode in (0, 4, 5) and not done.stderr, (words, done)
    return done


def text(path, *lines, base=()):
    return run(*base, *[word for line in lines for word in ("-e", line)],
               path).stdout


def rows(path, *lines, base=()):
    return {tuple(row["path"]): row for row in json.loads(
        text(path, "format json", *lines, base=base).splitlines()[-1])["rows"]}


# ---- files made by hand ----

def write(path, values, types=("samples", "count", "cpu", "nanoseconds"),
          period=PERIOD, period_type=("cpu", "nanoseconds"), default=""):
    """values: {("main", "f"): (count, value)}"""
    string = Strings()
    names = sorted({name for stack in values for name in stack})
    ids = {name: i + 1 for i, name in enumerate(names)}
    out = [message(1, number(1, string(types[i])) +
                   number(2, string(types[i + 1]))) for i in (0, 2)]
    for stack, pair in values.items():
        out.append(message(2, message(1, b"".join(
            varint(ids[name]) for name in reversed(stack))) +
            message(2, b"".join(map(varint, pair)))))
    for name, i in ids.items():
        out.append(message(4, number(1, i) +
                           message(4, number(1, i) + number(2, 1))))
        out.append(message(5, number(1, i) + number(2, string(name))))
    out.append(message(11, number(1, string(period_type[0])) +
                       number(2, string(period_type[1]))))
    out += [number(12, period), number(14, string(default))]
    out += [message(6, name.encode()) for name in string.all]
    with gzip.open(path, "wb", 1) as file:
        file.write(b"".join(out))
    return path


def write_raw(path, values):
    """The same, as `go tool pprof -raw` prints it."""
    names = sorted({name for stack in values for name in stack})
    ids = {name: i + 1 for i, name in enumerate(names)}
    with open(path, "w", encoding="ascii") as file:
        file.write(f"PeriodType: cpu nanoseconds\nPeriod: {PERIOD}\nSamples:\n"
                   "samples/count cpu/nanoseconds\n")
        for stack, (count, value) in values.items():
            file.write(f"{count:11} {value:10}: " + "".join(
                f"{ids[name]} " for name in reversed(stack)) + "\n")
        file.write("Locations\n")
        for name, i in ids.items():
            file.write(f"{i:6}: 0x{i:x} {name} f.go:1 s=0\n")
        file.write("Mappings\n")
    return path


def write_collapsed(path, values):
    with open(path, "w", encoding="ascii") as file:
        file.write("# cpprof 1\n# resource: cpu; gtick=nanosecond; "
                   f"interval={PERIOD}\n")
        for stack, (count, _) in values.items():
            file.write(f"{';'.join(stack)} {count}\n")
    return path


def random_values(rng, factor=1):
    counts = {("main",): rng.randrange(1, 20)}
    for _ in range(12):
        counts["main", *rng.choices("abcd", k=rng.randrange(1, 5))] = \
            rng.randrange(40)
    counts["main", "slow"] = rng.randrange(60, 90) * factor
    return {stack: (count, count * PERIOD) for stack, count in counts.items()}


def compare(mine, other, keys):
    """Rows whose values differ; keys: {name: in hits, which are periods}."""
    wrong = [path for path in mine if path not in other]
    wrong += [path for path in other if path not in mine]
    for path in mine.keys() & other.keys():
        for key, is_in_hits in keys.items():
            a, b = mine[path][key], other[path][key]
            if is_in_hits and None not in (a, b):
                b *= PERIOD
            if a != b and (a is None or b is None or isinstance(a, str) or
                           abs(a - b) > 1e-9 * max(abs(a), abs(b))):
                wrong.append((path, key, a, b))
    return wrong


def check_sampled(folder):
    """They have the noise of the same counts as collapsed stacks."""
    rng = random.Random(1)
    wrong = []
    verdicts = set()
    for i in range(rounds(8)):
        old, new = random_values(rng), random_values(rng, 1 + i % 3)
        files = [[writer(os.path.join(folder, f"{side}.{kind}"), values)
                  for side, values in (("old", old), ("new", new))]
                 for kind, writer in (("pb.gz", write), ("raw", write_raw),
                                      ("folded", write_collapsed))]
        for view in "functions", "down main", "tree":
            shown = [rows(now, "noise on", view) for _, now in files]
            changed = [rows(now, f"diff {view}", base=("--base", base))
                       for base, now in files]
            for k in 0, 1:
                wrong += compare(shown[k], shown[2], {
                    "hits": True, "fraction": False, "error": False})
                wrong += compare(changed[k], changed[2], {
                    "change": True, "low": True, "high": True,
                    "visible": True, "verdict": False})
            verdicts |= {row["verdict"] for row in changed[0].values()}
        for share in 5, 40:
            said = [text(now, f"assert functions slow below {share}%")
                    for _, now in files]
            if said[0] != said[2] or said[1] != said[2]:
                wrong.append(said)
    claims.make("a value of as many periods as samples has their noise",
                wrong or ([] if verdicts >= {"likely", "noise"} else
                          [verdicts]))


def check_others(folder):
    rng = random.Random(2)
    path = os.path.join(folder, "other.pb.gz")
    values = random_values(rng)
    other = dict(values)
    stack = max(values)
    other[stack] = values[stack][0], values[stack][1] + 1
    huge = {**values, ("main", "huge"): (1 << 41, (PERIOD << 41) % (1 << 64))}
    heap = ("objects", "count", "space", "bytes")
    claims.check("a file whose default is the samples is sampled, too",
                 "standard error by sampling" in text(
                     write(path, values, default="samples"), "noise on",
                     "functions"))
    for hint, written in [
            ("one value is no product", (other,)),
            ("a product passes 64 bits", (huge,)),
            ("it is a heap profile",
             (values, heap, PERIOD, ("space", "bytes"))),
            ("its types are bytes", (
                values, ("samples", "count", "space", "bytes"))),
            ("the period is of another type", (
                values, ("samples", "count", "cpu", "nanoseconds"), PERIOD,
                ("wall", "nanoseconds"))),
            ("the period has another unit", (
                values, ("samples", "count", "cpu", "nanoseconds"), PERIOD,
                ("cpu", "microseconds"))),
            ("there is no period", (
                values, ("samples", "count", "cpu", "nanoseconds"), 0)),
            ("the period is 1", (
                {stack: (n, n) for stack, (n, _) in values.items()},
                ("samples", "count", "cpu", "nanoseconds"), 1)),
            ("it counts contentions", (
                values, ("contentions", "count", "delay", "nanoseconds"),
                PERIOD, ("contentions", "count")))]:
        write(path, *written)
        said = text(path, "noise on", "functions")
        change = rows(path, "diff functions", base=("--base", path))
        decided = run("-e", "assert functions main below 50%", path)
        claims.check(f"nothing is known if {hint}", UNKNOWN in said and
                     {row["verdict"] for row in change.values()} ==
                     {"undecided"} and decided.returncode == 5 and
                     UNKNOWN in decided.stdout, (said, change, decided))


# ---- files made by Go ----

PROGRAM = """
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var kept [][]byte
var sum uint64

//go:noinline
func slow() {
	for i := uint64(0); i < 400000000; i++ {
		sum = sum*31 + i
	}
}

//go:noinline
func quick() {
	for i := uint64(0); i < 50000000; i++ {
		sum = sum*31 + i
	}
}

func main() {
	cpu, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(cpu)
	for i := 0; i < 2; i++ {
		slow()
		quick()
		kept = append(kept, make([]byte, 1<<22))
	}
	pprof.StopCPUProfile()
	cpu.Close()
	heap, _ := os.Create(os.Args[2])
	runtime.GC()
	pprof.WriteHeapProfile(heap)
	heap.Close()
}
"""


def check_go(hint, cpu, heap, function):
    """cpu: of a run in which that function has more than a fifth."""
    said = run("-e", f"assert functions {function} above 20%", "-e",
               f"assert functions {function} below 1%", cpu)
    claims.check(f"a CPU profile {hint} decides", said.returncode == 4 and
                 said.stdout.count("95%:") == 2 and "holds" in said.stdout,
                 said)
    shown = rows(cpu, "noise on", "functions")
    claims.check("and has errors", all(row["error"] is not None
                                       for row in shown.values()), shown)
    changed = rows(cpu, "diff functions", base=("--base", cpu))
    claims.check("and no change to itself",
                 {row["verdict"] for row in changed.values()} == {"noise"},
                 changed)
    said = text(heap, "noise on", "functions")
    claims.check(f"a heap profile {hint} does not", UNKNOWN in said, said)


def check_stored():
    data = os.path.join(HERE, "data", "go")
    check_go("of Go", os.path.join(data, "cpu.pb.gz"),
             os.path.join(data, "heap.pb.gz"), "|main.(*node).insert|")


def check_built(folder):
    claim = "CPU and heap profiles of a program that is built here"
    if shutil.which("go") is None:
        claims.skip(claim, "no go")
        return
    source = os.path.join(folder, "work.go")
    with open(source, "w", encoding="ascii") as file:
        file.write(PROGRAM)
    cpu, heap = (os.path.join(folder, name) for name in ("cpu", "heap"))
    environment = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off",
                   "GOCACHE": os.path.join(folder, "cache")}
    built = subprocess.run(["go", "build", "-o", source[:-3], source],
                           env=environment, cwd=folder, timeout=300,
                           capture_output=True, check=False)
    if built.returncode != 0:
        claims.skip(claim, "go build does not work here")
        return
    subprocess.run([source[:-3], cpu, heap], timeout=120, check=True)
    check_go("of a Go program built here", cpu, heap, "main.slow")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_sampled(folder)
        check_others(folder)
        check_stored()
        check_built(folder)
    claims.end()


if __name__ == "__main__":
    main()
