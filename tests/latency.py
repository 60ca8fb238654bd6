# SPDX-License-Identifier: GPL-3.0-or-later
"""latency.py -- CPU time divided by how many ran.

The threads and processes of tests/programs/runners.c note when they ran, and
put that side by side at the end.  A recording with -r latency must show the same
shares and the same sum, which is the time in which any ran: with long phases and
with ones of a third of a millisecond, many runners and short ones, sleepers
beside them, with the perf event and without.  What nothing runs beside has as
much latency as CPU time.  Speaks TAP.
"""
import functools
import math
import os
import subprocess
import sys
import tempfile
import time

import cpprof
import judge
from claims import Claims
from filters import forbid_events

BUILD = os.path.abspath(os.environ.get("builddir", "build"))
RUNNERS = os.path.join(BUILD, "tests", "programs", "runners")
LIBRARY = os.path.join(BUILD, ".libs", "libcpprof.so.0")
PARTS = "part_one", "part_all"
# Samples of one hit, but not as often as some of the parts end, which would keep
# step with them.
OFTEN = "-F", "2000"
# Of processes: how many of the others run is an estimate (lib/run/parallel.c),
# and these have run but a little, or keep step with each other.
OF_PROCESSES = 2 * judge.SHARE, 3 * judge.AMOUNT
# Ticks have several hits each, so they decide less in the same time.
OF_TICKS = 2 * judge.SHARE, 2 * judge.AMOUNT

claims = Claims()


class Recorded:
    """A program's output, and the hits of its recording by resource."""

    def __init__(self, *words, options=("-r", "latency"), before=None):
        with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
            path = os.path.join(directory, "r")
            self.out = cpprof.run(
                "record", "--no-prompt", "--no-symbols", *options, "-o", path,
                "--", *words, preexec_fn=before, timeout=600).stdout
            self.read(path)

    def read(self, path):
        info, latency, cpu = cpprof.documents(
            path, "threshold 0", "info", "resource latency", "functions",
            "resource cpu", "functions")
        self.rows = {row["name"]: row for row in info["rows"]}
        self.latency = self.hits_of(latency)
        self.cpu = self.hits_of(cpu)

    @staticmethod
    def hits_of(functions):
        return {row["path"][-1]: row["hits"] for row in functions["rows"]}


def share(values):
    """Of part_one."""
    one, other = (values.get(part, 0) for part in PARTS)
    return one / max(one + other, 1)


def largest_weight(run):
    """The hits of a sample: of the pace, or of a tick."""
    ticks = "perf event" not in run.rows["cpu"]["source"]
    return max(4 if run.rows["cpu"]["hits"] > 1250 else 1,
               2 * run.rows["cpu"]["hits"] / run.rows["cpu"]["samples"]
               if ticks else 1)


def tolerances_of(words):
    return OF_PROCESSES if "processes" in words else \
        (judge.SHARE, judge.AMOUNT)


def named(words, how):
    """The claims of a run: its shares, and its sum."""
    how = " ".join(map(str, words)) + how
    return f"shares hold in {how}", f"and the sum is what any ran in {how}"


def check(words, how, record, tolerances):
    """What the program prints is what the recording shows.  record(repeats):
    the recording, its output, and the hits of a sample.  tolerances: of the shares
    and of the sum."""
    names = named(words, how)

    def measure(times):
        run, out, weight = record(words[-1] * times)
        truth = {line.split()[0]: [float(n) for n in line.split()[1:]]
                 for line in out.splitlines()}
        one, other = (run.latency.get(part, 0) for part in PARTS)
        ran = truth["any"][0] / sum(truth[part][1] for part in PARTS)
        # Beside the CPU time, so that it does not matter how exact that is.
        hits = sum(run.cpu.get(part, 0) for part in PARTS)
        return {
            names[0]: judge.Share(one, one + other, share(
                {part: truth[part][0] for part in PARTS}), weight,
                tolerances[0]),
            names[1]: judge.Amount(
                one + other, ran * hits,
                math.sqrt(weight * max(one + other, 1)), tolerances[1])}
    judge.decide(claims, names, measure)


def check_runners(words, options=OFTEN, before=None):
    def record(repeats):
        run = Recorded(RUNNERS, *map(str, words[:-1]), str(repeats),
                       options=("-r", "latency", *options), before=before)
        return run, run.out, largest_weight(run) if before or \
            options == () else 1
    how = "".join(f" {word}" for word in options)
    check(words, how + (" without perf events" if before else ""), record,
          OF_TICKS if before else tolerances_of(words))


# HOW, WHO, how many, microseconds of the parts, how often.
LONG_PHASES = ("phases", "threads", 2, 500000, 500000, 2)
SHORT_PHASES = ("phases", "threads", 2, 300, 300, 2000)
PHASES_OF_PROCESSES = ("phases", "processes", 2, 500000, 500000, 2)
RUNS = (
    LONG_PHASES, PHASES_OF_PROCESSES, SHORT_PHASES,
    ("phases", "processes", 2, 300, 300, 2000),
    ("phases", "threads", 8, 1000, 1000, 200),
    ("short", "threads", 2, 3000, 3000, 150),
    ("short", "processes", 2, 3000, 3000, 150),
    ("alone", "processes", 2, 2000, 2000, 150),
    ("sleep", "threads", 60, 1000, 100, 400),
)
WITHOUT_EVENTS = (SHORT_PHASES[:-1] + (6000,),)
if judge.IS_LONG:
    RUNS += (("phases", "each", 2, 400000, 400000, 1),
             ("alone", "threads", 2, 2000, 2000, 150),
             ("sleep", "threads", 2, 300000, 300000, 1))
    WITHOUT_EVENTS = (LONG_PHASES, SHORT_PHASES, PHASES_OF_PROCESSES)
# Where processes take turns on a processor, the kernel hands one's events on to
# the next: their samples can be in step with the turns.
OUTSIDE_IN_TURN = ("uneven", "processes", 2, 300, 300, 2000)


def can_sample_outside():
    rows = cpprof.documents([], f"record --list -p {os.getpid()}")[0]["rows"]
    return next(row["source"] for row in rows
                if row["name"] == "latency") != "not here"


def record_outside(words, repeats):
    """By the kernel's reports of switches, of a program that begins later."""
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        path, go = (os.path.join(directory, name) for name in ("r", "go"))
        with subprocess.Popen(
                ["/bin/sh", "-c", 'while ! [ -e "$0" ]; do :; done; exec "$@"',
                 go, RUNNERS, *map(str, words[:-1]), str(repeats)],
                stdout=subprocess.PIPE, text=True) as program, \
            subprocess.Popen(
                [cpprof.CPPROF, "record", "--no-prompt", "-p",
                 str(program.pid), "-r", "latency:1ms", "-o", path],
                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                text=True) as recorder:
            # The first sample of the shell makes a file.
            while recorder.poll() is None and not (
                    os.path.isdir(path) and
                    any(name.startswith("cpprofdata.")
                        for name in os.listdir(path))):
                time.sleep(.05)
            with open(go, "w", encoding="utf-8"):
                pass
            out, _ = program.communicate(timeout=600)
            _, said = recorder.communicate(timeout=600)
        assert recorder.returncode == 0, said
        run = Recorded.__new__(Recorded)
        run.read(path)
    return run, out, 1


def least(share, hits):
    """That share of hits of one sample each, less four standard errors."""
    return share * hits - 4 * math.sqrt(share * (1 - share) * hits)


def one_after_another():
    """Short programs, each waited for, are as long as the CPU time they use."""
    run = Recorded("/bin/sh", "-c",
                   "for i in $(seq 300); do /bin/true; done; echo done")
    assert run.out == "done\n", run.out
    latency, cpu = (run.rows[name]["hits"] for name in ("latency", "cpu"))
    assert run.rows["cpu"]["samples"] >= 40, run.rows
    # While a program starts, the shell may run beside it.
    assert latency >= least(.9, cpu), (latency, cpu)
    # Most of it was used by the loader, in processes without a file.
    assert run.latency["[loading]"] >= least(.8, run.cpu["[loading]"]) > 0, \
        (run.latency, run.cpu)


MANY = """
import subprocess, sys
many = [subprocess.Popen(["/bin/sh", "-c", "echo; exec sleep 600"],
                         stdout=subprocess.PIPE)
        for _ in range(int(sys.argv[1]))]
for one in many:
    one.stdout.read(1)
for one in many:
    one.kill()
    one.wait()
"""


def too_many_processes_are_told():
    """The list has 256 places."""
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        for n, is_told in (200, False), (300, True):
            run = cpprof.run(
                "record", "--no-prompt", "--no-symbols", "-r", "latency",
                "-o", os.path.join(directory, str(n)), "--", sys.executable,
                "-c", MANY, str(n), timeout=300)
            assert ("not seen by these" in run.stderr) == is_told, run.stderr


def cpu_is_recorded_too():
    for options in (("-r", "latency"), ("-r", "cpu", "-r", "latency"),
                    ("-r", "latency", "-F", "500"),
                    ("-r", "latency:2ms"), ("-r", "cpu:2ms", "-r", "latency")):
        run = Recorded(RUNNERS, "phases", "threads", "1", "20000", "20000",
                       "1", options=options)
        intervals = [run.rows[name]["interval"] for name in ("cpu", "latency")]
        assert intervals == [1000 if len(set(options) & {
            "500", "latency:2ms", "cpu:2ms"}) == 0 else 2000] * 2, \
            (options, intervals)
        assert list(run.rows)[0] == options[1].partition(":")[0], options
    for options in (("cpu:1ms", "latency:2ms"), ("latency:2ms", "cpu")):
        run = cpprof.run("record", "-r", options[0], "-r", options[1], "true",
                         status=2)
        assert "the interval of cpu" in run.stderr, run.stderr


def main():
    if not os.path.exists(LIBRARY):
        print("1..0 # SKIP no collector on this machine")
        return
    for words in RUNS:
        check_runners(words)
    check_runners(SHORT_PHASES, ("-F", "1000"))
    if judge.IS_LONG:
        check_runners(LONG_PHASES, ())
    for words in WITHOUT_EVENTS:
        check_runners(words, (), forbid_events)
    if can_sample_outside():
        for words in LONG_PHASES, OUTSIDE_IN_TURN:
            check(words, " from outside",
                  functools.partial(record_outside, words),
                  tolerances_of(words))
    else:
        claims.skip("shares hold from outside", "no perf events here")
    claims.attempt("short programs one after another have all their CPU time",
                   one_after_another)
    claims.attempt("more processes at once than can be seen are told",
                   too_many_processes_are_told)
    claims.attempt("cpu is recorded, too, at the same interval",
                   cpu_is_recorded_too)
    claims.end()


if __name__ == "__main__":
    main()
