#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel-inside.py -- frames of the kernel in programs sampled from inside.

Which stacks have them, and where they cannot be had, what is said instead; their
shares are the claims of tests/kernel-shares.py.  Speaks TAP.
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402
from collector_file import Profile  # noqa: E402
from cpprof import copies_for_everyone, run, table  # noqa: E402

BUILD = os.path.abspath(os.environ.get("builddir", "build"))
PARTS = os.path.join(BUILD, "tests", "programs", "parts")
CROWD = os.path.join(BUILD, "tests", "programs", "crowd")
NOBODY = 65534
KERNEL_FRAMES = 0x8000
FOLDED = "processes whose time in the kernel is the calling function's"
UNKNOWN = "hits whose frames of the kernel are unknown: in new threads, " \
    "threads that switch often, or long stays in it"
claims = Claims()


def copies():
    """cpprof and the program, where another user can execute them."""
    place = copies_for_everyone(PARTS)
    return os.path.join(place, "cpprof"), os.path.join(place, "parts")


def record(path, *words, options=("-r", "cpu:1000"), **more):
    return run("record", "--no-prompt", *options, "-o", path, "--", *words,
               **more).stdout


def rows(path, view, *settings):
    """The paths of a view with their hits, and all hits."""
    answer = table(path, "threshold 0", *settings, view)
    return {tuple(row["path"]): row["hits"] for row in answer["rows"]}, \
        answer["total"]


def named(path, view, *settings):
    found, total = rows(path, view, *settings)
    return {name[0]: hits for name, hits in found.items()}, total


def of_kernel(found, function):
    """Hits of a function of the kernel: of all of it where it cannot be known,
    for want of /sys, and is one frame."""
    return max((hits for name, hits in found.items()
                if function in name or name == "[kernel]"), default=0)


def tallies(path):
    return table(path, "info")["tallies"]


def file_of(path):
    return Profile(os.path.join(path, next(
        name for name in os.listdir(path) if name.startswith("cpprofdata"))))


def is_possible(directory):
    path = os.path.join(directory, "first")
    record(path, PARTS, "100", "read")
    return file_of(path).flags & KERNEL_FRAMES != 0


def check_file(directory):
    path = os.path.join(directory, "first")
    profile = file_of(path)
    modules = {profile.string(module.path)
               for module in profile.modules.values()}
    assert "[kernel]" in modules, modules
    assert sorted(name for name in os.listdir(path)
                  if not name.startswith("cpprofdata")) == ["names"]


def check_long(directory):
    """Of a long stay in the kernel, each interval has a stack of its own, and
    all belong to the call; but of the first, for which there is little room.
    A stay lasts for some intervals on any machine; if it had one stack, there
    would be as many samples as stays.  Where a processor was not there for a
    while, intervals end together."""
    path = os.path.join(directory, "long")
    out = record(path, PARTS, "1500", "long")
    n, longest_ns = next(map(int, line.split()[1:])
                         for line in out.splitlines()
                         if line.startswith("long_reads "))
    found, total = named(path, "functions 1000")
    samples = table(path, "info")["samples"]
    unknown = tallies(path).get(UNKNOWN, 0)
    assert found["part_long"] > 0.8 * total, (found, total)
    # Nearly all, but of two stays: one that was interrupted, and the first, which
    # can be many times as long as the others.
    assert of_kernel(found, "read_zero") + unknown > 0.9 * found["read"] and \
        unknown < 2 * longest_ns / 1e6 + 0.1 * total, (
            found, unknown, n, longest_ns)
    assert samples > min(2 * n, 0.5 * found["read"]), (samples, n, found)


def check_longer(directory):
    """Of one that is too long for its stacks, those of its end are not taken
    for all of it."""
    path = os.path.join(directory, "longer")
    record(path, "dd", "if=/dev/zero", "of=/dev/null", "bs=1G", "count=1",
           options=("-r", "cpu:200"))
    found, total = named(path, "functions 1000")
    samples = table(path, "info")["samples"]
    unknown = tallies(path).get(UNKNOWN, 0)
    known = of_kernel(found, "read_zero")
    assert 0 < unknown < total and found["read"] > 0.9 * total, (found, total)
    assert abs(known + unknown - found["read"]) < 0.05 * total, (
        known, unknown, found, total)
    assert known < 2 * samples + 0.05 * total, (known, samples, total)


def check_processes(directory):
    path = os.path.join(directory, "processes")
    record(path, "sh", "-c", '"$0" 150 read & "$0" 150 calls & wait; '
           '( "$0" 150 read )', PARTS)
    found = tallies(path)
    assert found.get("processes with frames of the kernel", 0) >= 3, found
    found, total = named(path, "functions 1000")
    # Where a system call is slow, most of a read is not in that function.
    assert of_kernel(found, "read_zero") > 0.05 * found["part_read"] > 0, found


def check_events(directory):
    """Other events: the frames are those of a fault, a switch, a call."""
    for options, function, part in (
            ("page-faults:7", None, "part_faults"),
            ("context-switches:1", "schedule", "part_naps"),
            ("syscalls:50", None, "part_calls")):
        name = options.split(":")[0]
        path = os.path.join(directory, name)
        record(path, PARTS, "300", part[5:], options=("-r", options))
        found, total = named(path, "functions 1000")
        hidden, _ = named(path, "functions 1000", "kernel hide")
        # Reading the CPU clock is a call of the program, too.
        assert found[part] == hidden[part] and found[part] > 0.6 * total, (
            name, found, hidden)
        assert function is None or \
            of_kernel(found, function) > 0.5 * total, (name, found)


def limit_memory():
    """No pages for perf events beyond perf_event_mlock_kb."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))


def check_no_memory(directory):
    """Threads for whose stacks there is no memory are sampled without.  They
    wait now and then, so that all live at the same time."""
    claim = "without memory for all threads, the others are counted"
    with open("/proc/sys/kernel/perf_event_mlock_kb",
              encoding="ascii") as file:
        pages = int(file.read()) // 4 * os.cpu_count()
    n_threads, n_hits = 150 + pages // 2, 30
    if n_threads > 400:
        claims.skip(claim, "it would take too many threads")
        return
    setpriv = shutil.which("setpriv")
    words = (setpriv, "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock")
    if os.geteuid() != 0 or setpriv is None or subprocess.run(
            (*words, "true"), check=False).returncode != 0:
        claims.skip(claim, "needs root and setpriv")
        return
    path = os.path.join(directory, "crowd")
    done = subprocess.run(
        (*words, os.environ.get("CPPROF", "./cpprof"), "record", "--no-prompt",
         "-r", "cpu:500", "-o", path, "--", CROWD, "polls", str(n_threads),
         str(n_hits // 2), "1000", "200"),
        capture_output=True, text=True, preexec_fn=limit_memory, check=False)
    found = tallies(path)
    claims.check(claim, done.returncode == 0 and found.get(UNKNOWN, 0) >
                 0.5 * n_hits * (n_threads - pages // 2) and
                 found.get("processes with frames of the kernel") == 1,
                 (done.stderr, found, n_threads))


def check_forbidden(directory):
    """A user who may not see the kernel gets no frames, and info says so."""
    claim = "where the kernel is hidden, its time is the calling function's"
    if os.geteuid() != 0:
        claims.skip(claim, "only root becomes another user")
        return
    with open("/proc/sys/kernel/perf_event_paranoid",
              encoding="ascii") as file:
        if int(file.read()) < 2:
            claims.skip(claim, "every user may see it here")
            return
    os.chmod(directory, 0o777)
    path = os.path.join(directory, "nobody")
    cpprof, parts = copies()
    subprocess.run(
        [cpprof, "record", "--no-prompt", "-r", "cpu:1000", "-o", path, "--",
         parts, "1000", "read"], stdin=subprocess.DEVNULL, capture_output=True,
        check=True, user=NOBODY, group=NOBODY, extra_groups=[], timeout=120)
    found, total = named(path, "functions 1000")
    claims.check(claim, found["part_read"] > 0.8 * total and
                 found.get("read", 0) > 0.5 * total and
                 tallies(path).get(FOLDED) == 1 and not any(
                     "read_zero" in name for name in found),
                 (found, total, tallies(path)))


def check_capable(directory):
    """An ordinary user with CAP_PERFMON, who sees no names."""
    claim = "an ordinary user with CAP_PERFMON has frames of the kernel"
    setpriv = shutil.which("setpriv")
    words = (setpriv, "--reuid", str(NOBODY), "--regid", str(NOBODY),
             "--clear-groups", "--inh-caps", "+perfmon", "--ambient-caps",
             "+perfmon")
    if os.geteuid() != 0 or setpriv is None or subprocess.run(
            (*words, "true"), capture_output=True, check=False).returncode != 0:
        claims.skip(claim, "needs root and setpriv")
        return
    os.chmod(directory, 0o777)
    path = os.path.join(directory, "capable")
    cpprof, parts = copies()
    done = subprocess.run(
        (*words, cpprof, "record", "--no-prompt", "-r", "cpu:1000", "-o", path,
         "--", parts, "500", "read"),
        capture_output=True, text=True, check=False)
    found, total = named(path, "functions 1000")
    kernel = sum(hits for name, hits in
                 named(path, "body 1000", "group k = @kernel")[0].items()
                 if name in ("k", "[kernel]"))
    claims.check(claim, done.returncode == 0 and kernel > 0.5 * total and
                 found["part_read"] > 0.8 * total,
                 (done.stderr, found, total, kernel))


def check_unnamed(directory):
    """Where the kernel hides its addresses, it is one frame."""
    claim = "where the kernel hides its addresses, it is one frame"
    words = ("unshare", "-m", "sh", "-c",
             'mount --bind /dev/null /proc/kallsyms && exec "$@"', "sh")
    if os.geteuid() != 0 or subprocess.run(
            (*words, "true"), capture_output=True,
            check=False).returncode != 0:
        claims.skip(claim, "mount namespaces are not possible here")
        return
    path = os.path.join(directory, "unnamed")
    done = subprocess.run(
        (*words, os.environ.get("CPPROF", "./cpprof"), "record", "--no-prompt",
         "-r", "cpu:1000", "-o", path, "--", PARTS, "500", "read"),
        capture_output=True, text=True, check=False)
    found, total = named(path, "functions 1000")
    claims.check(claim, done.returncode == 0 and
                 0.5 * total < found.get("[kernel]", 0) <= total and
                 found["part_read"] > 0.8 * total,
                 (done.stderr, found, total))


with tempfile.TemporaryDirectory() as place:
    check_forbidden(place)
    if is_possible(place):
        claims.attempt("the kernel is a module of the file, whose functions "
                       "are in one beside it", check_file, place)
        claims.attempt("a long stay in the kernel has a stack for each "
                       "interval", check_long, place)
        claims.attempt("of one that is too long, the rest is told",
                       check_longer, place)
        claims.attempt("processes that the program starts have frames of the "
                       "kernel", check_processes, place)
        claims.attempt("so have other events than CPU time", check_events,
                       place)
        check_no_memory(place)
        check_capable(place)
        check_unnamed(place)
    else:
        claims.skip("frames of the kernel inside",
                    "the kernel does not show them to this user")
claims.end()
