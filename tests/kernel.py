#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel.py -- frames of the kernel, shown and hidden.

The witness of `kernel hide` is the same profile whose stacks were cut by this
script where they enter the kernel.  Speaks TAP.
"""
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims, rounds  # noqa: E402
from cpprof import ask, table, text  # noqa: E402

claims = Claims()
VIEWS = ("functions", "flat", "body", "down", "up main", "tree", "callers b",
         "callees b", "narrow main ... b", "functions", "down", "undo",
         "group g = b c", "tree", "up g", "steps")
USERS = "abc"
KERNEL = ("entry_SYSCALL_64_[k]", "do_syscall_64_[k]", "vfs_read_[k]",
          "asm_exc_page_fault", "x_[k]")
INSIDE = KERNEL + ("plain",)    # the kernel's, since that called it
BEGINS = ([], ["main"], ["_start", "main"], ["_start"], ["clone3", "main"])


def random_stacks(rng):
    """Stacks of a program, some of which end in the kernel, with their hits;
    and some of the kernel's threads."""
    stacks = []
    for _ in range(rng.randrange(5, 40)):
        stack = rng.choice(BEGINS) + rng.choices(USERS, k=rng.randrange(6))
        kernel = rng.choices(KERNEL, k=rng.choice((0, 1)))
        if kernel:
            kernel += rng.choices(INSIDE, k=rng.choice((0, 1, 3)))
        if stack + kernel:
            stacks.append((stack, kernel, rng.randrange(1, 100)))
    # So that steps match something.
    stacks.append((["main", "a", "b", "c"], ["x_[k]"], 7))
    return stacks


def write(path, stacks, hides):
    with open(path, "w", encoding="ascii") as file:
        for stack, kernel, hits in stacks:
            shown = stack if hides and stack else stack + kernel
            file.write(";".join(shown) + f" {hits}\n")


def views(path, *settings):
    return text(path, "threshold 0", "chains show", *settings, *VIEWS)


def check_against_cut_stacks(directory):
    rng = random.Random(27)
    for number in range(rounds(15)):
        stacks = random_stacks(rng)
        whole = os.path.join(directory, "whole.folded")
        cut = os.path.join(directory, "cut.folded")
        write(whole, stacks, False)
        write(cut, stacks, True)
        for startup in ("startup hide", "startup show"):
            got = views(whole, startup, "kernel hide")
            assert got == views(cut, startup), (number, startup, got)
            shown = views(whole, startup)
            assert shown == views(whole, startup, "kernel hide",
                                  "kernel show"), (number, startup)


def user_rows(path, *commands):
    """The program's paths with their hits."""
    return {";".join(row["path"]): row["hits"]
            for row in table(path, "threshold 0", "chains show",
                             *commands)["rows"]
            if not any("_[k]" in name or name in INSIDE
                       for name in row["path"])}


def check_user_paths(directory):
    rng = random.Random(28)
    path = os.path.join(directory, "whole.folded")
    for number in range(rounds(10)):
        write(path, random_stacks(rng), False)
        for startup in ("startup hide", "startup show"):
            for view in ("functions", "down", "up b", "callers c"):
                shown, hidden = (user_rows(path, startup, kernel, view)
                                 for kernel in ("kernel show", "kernel hide"))
                assert shown == hidden, (number, startup, view, shown, hidden)


PERF_SCRIPT = """\
app 10 1.0: 250000 cpu-clock:
\tffffffff81000010 read_zero+0x1 ([kernel.kallsyms])
\tffffffffc0000010 ext4_read+0x1 ([ext4])
\tffffffffc0000020 ext4_file+0x1 (/lib/modules/6.1/fs/ext4/ext4.ko.xz)
\tffffffff81000020 do_syscall_64+0x1 ([kernel.kallsyms])
\t401020 reader+0x1 (/usr/bin/app)
\t401010 main+0x1 (/usr/bin/app)

app 10 1.1: 250000 cpu-clock:
\tffffffffc0000999 bpf_prog_12_f+0x1 (bpf_prog_12_f)
\tffffffff81000020 do_syscall_64+0x1 (/boot/vmlinux-6.1)
\t7ffc0020 clock_gettime+0x1 ([vdso])
\t401010 main+0x1 (/usr/bin/app)

app 10 1.2: 250000 cpu-clock:
\t401030 do_syscall_64+0x1 (/usr/bin/app)
\t401010 main+0x1 (/usr/bin/app)

kworker 11 1.3: 250000 cpu-clock:
\tffffffff81000040 worker_thread+0x1 ([kernel.kallsyms])
\tffffffff81000050 kthread+0x1 ([kernel.kallsyms])

"""


def check_modules(directory):
    """Of a frame with a module that decides, whatever its name is."""
    path = os.path.join(directory, "perf.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write(PERF_SCRIPT)
    answer = table(path, "threshold 0", "kernel hide", "body")
    got = {row["path"][0]: 4 * row["hits"] / answer["total"]
           for row in answer["rows"] if row["hits"] > 0}
    assert got == {"reader": 1, "clock_gettime": 1, "do_syscall_64": 1,
                   "worker_thread": 1}, got


def check_pattern(directory):
    path = os.path.join(directory, "perf.txt")
    rows = {row["path"][0]: row["hits"] for row in
            table(path, "threshold 0", "group kernel = @kernel",
                  "functions")["rows"]}
    assert {"kernel", "main", "reader", "clock_gettime"} == set(rows), rows


def check_messages(directory):
    path = os.path.join(directory, "whole.folded")
    with open(path, "w", encoding="ascii") as file:
        file.write("main;a;vfs_read_[k] 5\nmain;b 5\n")
    for command in ("up vfs_read_[k]", "narrow vfs_read_[k]"):
        done = ask(path, "kernel hide", command, status=1)
        assert 'say "kernel show"' in done.stderr, done.stderr


with tempfile.TemporaryDirectory() as place:
    claims.attempt("hidden: views are those of stacks that end where they "
                   "enter the kernel", check_against_cut_stacks, place)
    claims.attempt("hidden or shown: the program's paths have the same values",
                   check_user_paths, place)
    claims.attempt("a frame's module says whether it is the kernel's",
                   check_modules, place)
    claims.attempt("@kernel matches the kernel and its modules, and not "
                   "[vdso]", check_pattern, place)
    claims.attempt("a hidden function's message says how to show it",
                   check_messages, place)
claims.end()
