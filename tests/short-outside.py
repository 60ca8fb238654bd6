# SPDX-License-Identifier: GPL-3.0-or-later
"""short-outside.py -- threads and processes that end before their first sample.

tests/programs/shorts.c starts threads or child processes that run for less than
an interval.  The kernel begins each one's period anew, so few have a sample.  A
recording from outside must still have all that they used, by the kernel's own
account, though nobody knows where: of a static program from its start, of one
that runs already, and of one that runs on when the recording ends.  So it must
where the recorder is held up, so that samples are lost.  Speaks TAP.
"""
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time

import cpprof
import judge
from claims import Claims

BUILD = os.path.abspath(os.environ.get("builddir", "build"))
SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
PROGRAM = os.path.join(BUILD, "tests", "programs", "shorts")
PATIENCE = 120
N = 400                 # threads or processes
# A child process has 22 to 25 page faults, by where it is loaded; threads have
# a few dozen, all together.
INTERVALS = {"cpu": .004, "page-faults": 60, "syscalls": 100, "real": .004}
UNITS = {"cpu": "s", "real": "s"}
# How many calls each makes; those of system calls, fewer than an interval.
CALLS = {"cpu": 2000, "page-faults": 2000, "syscalls": 60,
         "real": 2000}
# Of these the kernel counts the same as the recording, but for what is used after
# the recorder's last look at it.  Threads hardly have page faults of their own.
JUDGED = ("cpu", "threads"), ("cpu", "processes"), ("page-faults", "processes")
# Elsewhere, and where the recorder is held up: samples of a process may be lost
# with the kernel's work for it after its events are gone; shorts.c does not count
# the calls that start threads and end them; and how long threads wait is between
# two times that it prints.
LESS = {"cpu": .2, "page-faults": .02, "syscalls": 0, "real": .2}
MORE = {"cpu": .1, "page-faults": .02, "syscalls": .4, "real": .1}

USED_BEFORE = .4       # seconds

claims = Claims()


def static_program(directory):
    """The same program without a loader; None: it cannot be built."""
    path = os.path.join(directory, "shorts-static")
    built = subprocess.run(
        ["cc", "-O2", "-static", "-pthread", "-o", path,
         os.path.join(SOURCE, "tests/programs/shorts.c")],
        capture_output=True, check=False)
    return path if built.returncode == 0 else None


def refusal(resource):
    """Why a static program's use cannot be counted whole; "": it can."""
    with open("/proc/sys/kernel/perf_event_paranoid",
              encoding="utf-8") as file:
        if resource != "cpu" and os.geteuid() != 0 and int(file.read()) > 1:
            return "this user may not sample the kernel"
    rows = json.loads(cpprof.run("-q", "-F", "json", "-e",
                                 f"record --list -p {os.getpid()}").stdout)
    return next(row["why"] for row in rows["rows"] if row["name"] == resource)


def total(path):
    """Hits of the whole recording, and those that are said to be lost."""
    info = cpprof.table(path, "info")
    return info["rows"][0]["hits"] + info["dropped"]


def record(path, resource, interval, *words, **options):
    return subprocess.Popen(
        [cpprof.CPPROF, "record", "--no-prompt", "--force", "-r",
         f"{resource}:{interval}{UNITS.get(resource, '')}", "-o", path,
         *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, **options)


def used(resource, output):
    """What the program has printed of a resource."""
    return dict(zip(INTERVALS, map(float, output.split())))[resource]


def differs(path, resource, output, interval):
    """What is left over at the end makes no hit; what starts the program and
    ends it is used, too."""
    least = most = used(resource, output)
    if resource == "real":
        most = float(output.split()[-1])
    found = total(path) * interval
    if least * (1 - LESS[resource]) - 2 * interval <= found <= \
            most * (1 + MORE[resource]) + 8 * interval:
        return []
    return [f"found {found} for {least} to {most}"]


def check(claim, resource, kind, interval, run):
    """run(n): records n threads or processes; where, what the program printed
    and, if that has failed, why."""
    def measure(times):
        path, output, why = run(N * times)
        assert not why, why
        return {claim: judge.Amount(total(path) * interval,
                                    used(resource, output), interval,
                                    judge.AMOUNT)}
    if (resource, kind) in JUDGED:
        judge.decide(claims, [claim], measure)
        return
    path, output, why = run(N)
    claims.make(claim, [why] if why else
                differs(path, resource, output, interval))


@contextlib.contextmanager
def busy_machine():
    """Each processor has other threads to run."""
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
              for _ in range(2 * os.cpu_count())]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def check_start(directory, static, kind, resource, where="static"):
    path = os.path.join(directory, f"{kind}-{resource}")
    interval = interval_of(kind, resource)

    def run(n):
        with record(path, resource, interval, static, kind, n,
                    CALLS[resource], stdin=subprocess.PIPE) as recorder:
            output, said = recorder.communicate("\n", timeout=PATIENCE)
        return path, output, said if recorder.returncode != 0 else ""
    check(f"{where}, {kind}: {resource} is what the kernel says", resource,
          kind, interval, run)


def await_events(recorder):
    """Until it has opened its perf events: there are no more of them."""
    def is_event(name):
        try:
            return "perf_event" in os.readlink(name)
        except FileNotFoundError:       # it is closed by now
            return False

    def n_events():
        directory = f"/proc/{recorder.pid}/fd"
        return sum(is_event(os.path.join(directory, name))
                   for name in os.listdir(directory))

    end = time.monotonic() + PATIENCE
    before = -1
    while time.monotonic() < end and recorder.poll() is None:
        now = n_events()
        if now == before > os.cpu_count():
            return
        before = now
        time.sleep(.3)


def interval_of(kind, resource):
    return 10 if (kind, resource) == ("threads", "page-faults") else \
        INTERVALS[resource]


def check_attached(directory, kind, resource):
    path = os.path.join(directory, f"attached-{kind}-{resource}")
    interval = interval_of(kind, resource)
    told = []

    def run(n):
        with subprocess.Popen([PROGRAM, kind, str(n), str(CALLS[resource])],
                              text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as program:
            with record(path, resource, interval, "-p",
                        program.pid) as recorder:
                await_events(recorder)
                output = program.communicate("\n", timeout=PATIENCE)[0]
                said = recorder.communicate(timeout=PATIENCE)[1]
        told.append(said)
        return path, output, said if recorder.returncode != 0 else ""
    check(f"attached, {kind}: {resource} is what the kernel says", resource,
          kind, interval, run)
    if (kind, resource) != ("threads", "page-faults"):
        claims.check(f"attached, {kind}: what has no sample is told of "
                     f"{resource}", "[partial]" in told[0], told)


def check_second(directory):
    """What processes have used that have ended is known by their hits, also if cpu
    is not the first resource."""
    claim = "attached, processes: info has their CPU time if cpu comes second"
    path = os.path.join(directory, "second")

    def measure(times):
        with subprocess.Popen([PROGRAM, "processes", str(N * times),
                               str(CALLS["cpu"])], text=True,
                              stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as program:
            with record(path, "page-faults", 1 << 30, "-r",
                        f"cpu:{INTERVALS['cpu']}s", "-p",
                        program.pid) as recorder:
                await_events(recorder)
                output = program.communicate("\n", timeout=PATIENCE)[0]
                said = recorder.communicate(timeout=PATIENCE)[1]
        assert recorder.returncode == 0, said
        return {claim: judge.Amount(cpprof.table(path, "info")["cpu_seconds"],
                                    used("cpu", output), INTERVALS["cpu"],
                                    judge.AMOUNT)}
    judge.decide(claims, [claim], measure)


@contextlib.contextmanager
def stopped(process):
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def await_total(path, least):
    """Until the recorder has put down nearly all that the program has used."""
    def has_least():
        try:
            return total(path) >= least
        except AssertionError:          # there is no sample yet
            return False

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and not has_least():
        time.sleep(.1)


def check_held_up(directory, kind, resource, interval, n, n_calls, lives_on):
    """What has no room in the kernel's buffers is lost, and is missing from what
    was used: it is counted once.  lives_on: until that has been found."""
    claim = f"held up, {kind}: {resource} is what the kernel says"
    path = os.path.join(directory, f"held-up-{kind}-{resource}")
    with subprocess.Popen([PROGRAM, kind, str(n), str(n_calls)], text=True,
                          stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        with record(path, resource, interval, "-p", program.pid) as recorder:
            await_events(recorder)
            with stopped(recorder):
                program.stdin.write("\n")
                program.stdin.flush()
                output = program.stdout.readline()
                if not lives_on:
                    program.communicate(timeout=PATIENCE)
            if lives_on:
                await_total(path, .8 * used(resource, output) / interval)
                program.communicate(timeout=PATIENCE)
            said = recorder.communicate(timeout=PATIENCE)[1]
    if "lost, see info" in said:
        claims.make(claim, differs(path, resource, output, interval))
    else:
        claims.skip(claim, "the buffers have room for all samples")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_cut(directory):
    """A program that runs on has what it used while it was recorded."""
    path = os.path.join(directory, "cut")
    with subprocess.Popen([PROGRAM, "threads", "1000000", "2000"], text=True,
                          stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as program:
        program.stdin.write("\n")
        program.stdin.flush()
        first = cpu_seconds(program.pid)
        with record(path, "cpu", INTERVALS["cpu"], "-p",
                    program.pid) as recorder:
            await_events(recorder)
            begin = cpu_seconds(program.pid)
            time.sleep(1.5)
            end = cpu_seconds(program.pid)
            recorder.send_signal(signal.SIGINT)
            recorder.communicate(timeout=PATIENCE)
        last = cpu_seconds(program.pid)
        program.kill()
    found = total(path) * INTERVALS["cpu"]
    claims.check("who runs on has what it used while it was recorded",
                 .95 * (end - begin) < found < 1.05 * (last - first),
                 (end - begin, found, last - first))


def check_started_before(directory, names_child):
    """What a child has used before it is recorded is in no total, though the
    kernel adds it to its parent's when it ends meanwhile."""
    kind = "also" if names_child else "not"
    path = os.path.join(directory, f"before-{kind}")
    with subprocess.Popen(
            ["sh", "-c", "sh -c 'while :; do :; done' & echo $!; read line; "
             "kill $!; wait; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        end = time.monotonic() + PATIENCE
        while cpu_seconds(child) < USED_BEFORE:
            assert time.monotonic() < end, "the child does not run"
            time.sleep(.01)
        pids = f"{child}," * names_child + str(parent.pid)
        with record(path, "cpu", INTERVALS["cpu"], "-p",
                    pids) as recorder:
            await_events(recorder)
            parent.stdin.write("\n")
            parent.stdin.flush()
            parent.communicate(timeout=PATIENCE)
            said = recorder.communicate(timeout=PATIENCE)[1]
    hits = {row["path"][-1]: row["hits"] for row in
            cpprof.table(path, "threshold 0", "functions")["rows"]}
    claims.check("what a child had used before is in no total, where it is "
                 f"{kind} recorded", hits.get("[unsampled]", 0) <
                 USED_BEFORE / INTERVALS["cpu"] / 2, (said, hits))


def main():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        static = static_program(directory)
        for resource in INTERVALS:
            why = refusal(resource)
            for kind in "threads", "processes":
                if why or static is None:
                    claims.skip(f"static, {kind}: {resource}",
                                why or "no static libc")
                else:
                    check_start(directory, static, kind, resource)
                if resource == "real":
                    # Most threads have to wait before they run.
                    if not why and static is not None:
                        with busy_machine():
                            check_start(directory, static, kind, resource,
                                        "static, busy")
                    continue
                if why:
                    claims.skip(f"attached, {kind}: {resource}", why)
                else:
                    check_attached(directory, kind, resource)
        for case in (("processes", "page-faults", 10, 3 * N, 60, False),
                     ("threads", "cpu", .001, 10, 2000000, True)):
            if refusal(case[1]):
                claims.skip(f"held up, {case[0]}", refusal(case[1]))
            else:
                check_held_up(directory, *case)
        if refusal("cpu"):
            claims.skip("who runs on", refusal("cpu"))
        else:
            check_second(directory)
            check_cut(directory)
            for names_child in False, True:
                check_started_before(directory, names_child)
    claims.end()


main()
