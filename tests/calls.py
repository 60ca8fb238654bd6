# SPDX-License-Identifier: GPL-3.0-or-later
"""calls.py -- what `record --calls` says of calls, against a program that
measures them with its own clock.

A length is known to within an interval, and a nap takes as long as it takes, so
nothing here depends on how busy the machine is: counts are compared with those
of the program's own lengths within these bounds.  Speaks TAP.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from claims import Claims, rounds
from cpprof import CPPROF, ask, documents, run, text

BUILD = os.path.abspath(os.environ.get("builddir", "."))
PROGRAM = os.path.join(BUILD, "tests/programs/calls")
MS = 1000000


def record(directory, mode, n, seed=1, functions="handle", status=0):
    """The recording of a run, and the true lengths in ns."""
    name = os.path.join(directory, f"{mode}-{seed}.cpprof")
    out = run("record", "--no-prompt", "--calls", functions, "-o", name,
              PROGRAM, mode, str(n), str(seed), status=status).stdout
    return name, sorted(int(line) for line in out.split())


def lengths(name, function="handle"):
    return documents([name], f"calls {function}")[-1]


def count_above(found, bound):
    return sum(row["calls"] for row in found["rows"]
               if row["least_ns"] >= bound)


def check_naps(directory, seed):
    """Counts above bounds, percentiles and the number of all calls."""
    name, true = record(directory, "naps", 1500, seed)
    found = lengths(name)
    true = [t for t in true if t >= found["rows"][0]["least_ns"]]
    differences, misses = [], []
    for row in found["rows"][2:]:
        bound = row["least_ns"]
        # A length is too great by at most half an interval.  The program reads
        # its clock outside of the call, and may lose the processor there.
        least = sum(t >= bound + MS // 4 for t in true)
        most = sum(t >= bound - 2.5 * MS for t in true)
        n = count_above(found, bound)
        if not least * 0.97 - 3 <= n <= most * 1.03 + 3:
            differences.append(f"above {bound} ns: {n}, not {least} to {most}")
    for key, share in (("p90", 0.9), ("p99", 0.99)):
        exact = true[int(share * len(true))]
        if not found[key]["low_ns"] <= exact <= (
                found[key]["high_ns"] or exact):
            misses.append(f"seed {seed}: {key} is {exact}: {found[key]}")
    value, error = found["calls"]["value"], found["calls"]["error"]
    if abs(value - len(true)) > 4 * error + 0.15 * len(true):
        differences.append(f"{value} calls +- {error}, not {len(true)}")
    return differences, misses


def check_planted(directory, seed):
    """The cause of slow calls is first, and parts add up."""
    name, true = record(directory, "planted", 3000, seed)
    sums = {}
    for step in ("", "narrow calls above 45ms", "narrow calls below 45ms",
                 "narrow label call:handle=unfinished",
                 "drop label call:handle"):
        done = ask([name], *([step] if step else []), "threshold 0",
                   "functions", options=("-F", "json"), status=None)
        rows = [line for line in done.stdout.splitlines()
                if '"rows"' in line]
        sums[step] = rows_of(rows[-1]) if rows and (
            done.returncode == 0) else {}
    whole = sums[""]
    differences = []
    for function in whole:
        parts = sum(part.get(function, 0) for step, part in sums.items()
                    if step)
        if parts != whole[function]:
            differences.append(f"{function}: {parts} of {whole[function]}")
    slow = sums["narrow calls above 45ms"]
    if slow.get("wait_for_lock", 0) != whole.get("wait_for_lock", -1):
        differences.append(f"waits: {slow} of {whole}")
    rows = documents([name], "base calls below 45ms", "threshold 0",
                     "diff functions")[-1]["rows"]
    first = [row["path"][0] for row in rows
             if row["path"][0].split("(")[0] not in
             ("main", "handle", "once", "call")]
    if first[0] not in ("wait_for_lock", "nap") and (
            "nanosleep" not in first[0]):
        differences.append(f"not first: {first[:5]}")
    if not rows[0]["change"] > 0:
        differences.append(str(rows[0]))
    return differences


def check_times(directory):
    """Classes of calls share the time of their hits: each hit has one."""
    name, _ = record(directory, "naps", 300, 300)
    found = documents([name], "timeline")[-1]
    assert found["without_time"] == 0 and sum(
        row["hits"] for row in found["rows"]) == found["total"], found


def check_crowd(directory):
    """All threads need room in the file at the same time.  All calls take longer
    than an interval, and hits of all that is counted are in some call."""
    name, true = record(directory, "crowd", 5)
    found = lengths(name)
    info = text([name], "info")
    late = sum(int(number) for number in re.findall(
        r"^(?:samples taken late|hits lost)\b.*: (\d+)$", info, re.M))
    # The first row is an estimate: of those that were not seen.
    seen = sum(row["calls"] for row in found["rows"][1:]) + \
        found["unfinished"]
    assert len(true) == 500, len(true)
    assert len(true) - late <= seen <= len(true), (len(true), late, found)
    hits = [sum(rows_of_functions(name, *steps).values())
            for steps in ((), ("narrow label call:handle",))]
    # What short threads leave is counted without their calls.
    assert 0 <= hits[0] - hits[1] <= late + hits[0] / 50, (hits, late)


def rows_of_functions(name, *steps):
    """Hits in handle, by function."""
    rows = documents([name], *steps, "threshold 0", "functions handle")
    return {row["path"][0]: row["hits"] for row in rows[-1]["rows"]}


def rows_of(line):
    import json
    return {row["path"][0]: row["hits"] for row in json.loads(line)["rows"]}


def cpu_hits(name, *steps):
    """Those below `handle`."""
    done = ask([name], "resource cpu", "threshold 0", *steps,
               "functions handle", options=("-F", "json"), status=None)
    return sum(rows_of(line).get("handle", 0)
               for line in done.stdout.splitlines() if '"rows"' in line)


def check_kernel(claims, directory):
    """Hits at frames of the kernel are in calls.  A call of 60 ms is seen after
    4 ms, or later on a busy machine."""
    claim = "hits at frames of the kernel are in calls"
    name = os.path.join(directory, "kernel.cpprof")
    run("record", "--no-prompt", "--calls", "handle", "-r", "cpu", "-r",
        "real", "-o", name, PROGRAM, "kernel", "15")
    inside, outside = "narrow label call:handle", "drop label call:handle"
    whole = cpu_hits(name, inside)
    kernel, outside = (cpu_hits(name, step, "narrow @kernel")
                       for step in (inside, outside))
    if kernel + outside == 0:
        claims.skip(claim, "stacks have no frames of the kernel here")
    else:
        claims.check(claim, kernel > outside and kernel > whole / 2,
                     f"{kernel} of {whole} in calls, {outside} outside")


def check_ending(directory, mode, n, returned, unfinished):
    """How many calls have a length, and how many have none."""
    name, true = record(directory, mode, n)
    done = ask([name], "calls", options=("-F", "json"), status=None)
    if done.returncode != 0 and returned == 0:
        assert f"has the {unfinished} unfinished" in done.stderr, done.stderr
        return
    found = lengths(name)
    seen = sum(row["calls"] for row in found["rows"][1:])
    # On a busy machine a sample can come too late to see a call.
    facts = text([name], "info")
    late = sum(int(n) for n in re.findall(
        r"^(?:samples taken late|hits lost)\b.*: (\d+)$", facts, re.M))
    assert returned - late <= seen <= returned and (
        unfinished - late <= found["unfinished"] <= unfinished), (
        seen, found["unfinished"], text([name], "calls"), facts)
    for row in found["rows"]:
        assert row["calls"] == 0 or row["end_ns"] >= true[0], (row, true)


def check_apart(directory):
    """A call of 100 ms has begun after the last sample without it, and not when
    the one before it ended, 400 ms earlier."""
    name, true = record(directory, "apart", 6)
    found = lengths(name)
    longest = max(row["least_ns"] for row in found["rows"] if row["calls"])
    assert longest <= 1.1 * true[-1] and found["p50"]["low_ns"] > 0, (
        found, true)


def check_killed(directory):
    """What had ended is in its class; the call that goes on is unfinished, and
    so are its hits."""
    name, true = record(directory, "killed", 15, functions="serve,handle",
                        status=137)
    assert len(true) == 15, true
    done = ask([name], "calls serve", status=None)
    assert "has the 1 unfinished" in done.stderr, done
    found = lengths(name)
    # The last one is counted when the thread waits again.
    assert (sum(row["calls"] for row in found["rows"][1:]),
            found["unfinished"]) == (15, 0), found
    serve, handle, both = (
        documents([name], f"narrow label {label}", "threshold 0",
                  "functions")[-1]["rows"][0]["hits"]
        for label in ("call:serve=unfinished", "call:handle>=20ms",
                      "call:handle"))
    assert serve > handle == both > 15 * 4, (serve, handle, both)


def check_same_output(mode):
    """The program does the same as by itself: as many lines, same status."""
    alone = subprocess.run([PROGRAM, mode, "5"], capture_output=True,
                           check=True, timeout=120)
    with tempfile.TemporaryDirectory() as directory:
        under = subprocess.run(
            [CPPROF, "record", "--no-prompt", "--calls", "handle,nap", "-o",
             os.path.join(directory, "r"), PROGRAM, mode, "5"],
            capture_output=True, check=True, timeout=120)
    assert len(alone.stdout.splitlines()) == len(under.stdout.splitlines())


def main():
    claims = Claims()
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        misses, tried = [], 0
        for seed in range(1, rounds(2) + 1):
            differences, missed = check_naps(directory, seed)
            tried += 2
            misses += missed
            claims.make(f"calls that sleep are counted by length, {seed}",
                        differences)
        claims.check("percentiles lie within their bounds",
                     len(misses) <= 1 + 0.1 * tried, "\n".join(misses))
        for seed in range(1, rounds(1) + 1):
            claims.make(f"the cause of slow calls comes first, {seed}",
                        check_planted(directory, seed))
        check_kernel(claims, directory)
        claims.attempt("of recursive calls the outermost counts",
                       check_ending, directory, "recursion", 15, 15, 0)
        claims.attempt("calls left by longjmp have no length", check_ending,
                       directory, "jumps", 15, 0, 15)
        claims.attempt("nor have calls left by jumps that nobody sees",
                       check_ending, directory, "own-jumps", 15, 0, 15)
        claims.attempt("what came before a call is not in its length",
                       check_apart, directory)
        claims.attempt("calls left by an exception have no length",
                       check_ending, directory, "throws", 15, 0, 15)
        claims.attempt("calls in which their threads end have no length",
                       check_ending, directory, "exits", 15, 0, 15)
        claims.attempt("calls that are all that their threads do have lengths",
                       check_ending, directory, "threads", 15, 15, 0)
        claims.attempt("all hits in calls have a time", check_times, directory)
        claims.attempt("calls of many threads that start at once are all "
                       "counted", check_crowd, directory)
        claims.attempt("a program that is killed leaves what it did",
                       check_killed, directory)
        for mode in ("jumps", "throws", "exits", "forks", "inner"):
            claims.attempt(f"the program does the same: {mode}",
                           check_same_output, mode)
        claims.attempt("a function that is not there is named",
                       check_unknown, directory)
        claims.attempt("what cannot be observed is refused", check_refusals,
                       directory)
        claims.attempt("what cannot be selected is refused", check_selections,
                       directory)
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            claims.skip("static programs are refused", "no compiler")
        else:
            claims.attempt("static programs are refused", check_static,
                           directory, compiler)
    claims.end()


def check_refusals(directory):
    """Each says in one line what was expected."""
    program = [PROGRAM, "naps", "1"]
    for words, said in (
            (["--calls", ",", *program], "--calls ,: expected names of"),
            (["--calls", "a,", *program], "--calls a,: expected names of"),
            (["--calls", "a,b,c,d,e", *program], "at most 4 functions"),
            (["--calls", "a,bb,a", *program], "a is named twice"),
            (["--calls", "a", "--calls", "b", *program],
             "expected one list of functions, such as --calls a,b"),
            (["--calls", "a", "--returns", *program], "leave one out"),
            (["--calls", "a", "-r", "real:500us", *program],
             "the kernel's tick, but it is 500"),
            (["--calls", "a", "-F", "2000", *program],
             "the kernel's tick, but it is 500"),
            (["--calls", "a", "-p", str(os.getpid())],
             "only be observed in a program that record starts"),
            (["--calls", "a", "-p", str(os.getpid()), "--inside"],
             "only be observed in a program that record starts")):
        done = run("record", "--no-prompt", "-o",
                   os.path.join(directory, "refused"), *words, status=None)
        assert done.returncode != 0 and said in done.stderr and (
            done.stderr.count("\n") == 1), (words, done)


def check_static(directory, compiler):
    """Without the collector inside, nothing can observe calls."""
    source, program = (os.path.join(directory, name) for name in (
        "static.c", "static"))
    with open(source, "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }\n")
    subprocess.run([compiler, "-static", "-o", program, source], check=True)
    for option in ["--calls", "main"], ["--returns"], ["--random"]:
        done = run("record", "--no-prompt", *option, "-o",
                   os.path.join(directory, "static.cpprof"), program,
                   status=None)
        assert done.returncode != 0 and (
            f"{option[0]} needs the collector inside") in done.stderr, done


def check_selections(directory):
    """What calls cannot be selected by."""
    name, _ = record(directory, "recursion", 4, 8, "handle,nap")
    for line, said in (
            ("narrow calls above 20ms", "calls of 2 functions were observed"),
            ("narrow calls other above 20ms", "calls of other were not"),
            ("narrow calls handle above 1ms", "shorter than the interval"),
            ("narrow calls handle above 20h",
             "no call of handle took so long; the longest took "),
            ("narrow calls handle above x", "expected a length, such as"),
            ("base calls handle nap below 20ms", "expected calls [FUNCTION]"),
            ("calls other", "calls of other were not observed")):
        done = ask([name], line, status=None)
        assert done.returncode != 0 and said in done.stderr, (line, done)


def check_unknown(directory):
    name, _ = record(directory, "recursion", 2, 9, "no_such_function")
    done = ask([name], "calls", status=(1, 2))
    assert "no function no_such_function was found" in done.stderr, done
    name = os.path.join(directory, "one-is-found.cpprof")
    done = run("record", "--no-prompt", "--calls",
               "no_such_function,handle,nor_this", "-o", name, PROGRAM,
               "recursion", "2", "10")
    assert re.findall("no function (.*) was found", done.stderr) == [
        "no_such_function", "nor_this"], done
    assert "no function no_such_function was found" in text([name], "calls")
    check_longer_names(directory)


MEMBER = """
#include <unistd.h>
namespace srv {
struct Server { int handle(int n); };
__attribute__((noinline)) int Server::handle(int n) { usleep(9000); return n; }
}
int main()
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += srv::Server().handle(i);
    return sum == 1;
}
"""
INTERPRETED = """
def handle(end):
    while time.thread_time() < end:
        pass
import time
handle(.3)
"""


def check_longer_names(directory):
    """A name may lack its namespace, or be a Python function's."""
    member = os.path.join(directory, "member")
    script = os.path.join(directory, "interpreted.py")
    subprocess.run(["c++", "-o", member, "-x", "c++", "-"], input=MEMBER,
                   text=True, check=True)
    with open(script, "w", encoding="utf-8") as file:
        file.write(INTERPRETED)
    for command, said in (
            ([member], "record --calls srv::Server::handle"),
            ([os.path.realpath(sys.executable), script],
             "handle (interpreted.py) is interpreted, and"
             if sys.version_info >= (3, 11) else "no function handle")):
        name = os.path.join(directory, "longer")
        run("record", "--no-prompt", "--force", "-r", "real", "--calls",
            "handle", "-o", name, "--", *command)
        done = ask([name], "calls", status=(1, 2))
        assert said in done.stderr, done


main()
