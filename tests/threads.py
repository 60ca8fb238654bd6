#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""threads.py -- threads and processes used what others say that they used.

A program's threads print their own CPU clocks; a recording of it and perf's of
it show these times for each name, and perf report the same for each thread.
Speaks TAP.
"""
import collections
import os
import shutil
import subprocess
import tempfile

import cpprof
from claims import Claims

CPPROF = cpprof.CPPROF
SOURCE = os.path.join(os.environ.get("srcdir", "."), "tests", "programs",
                      "named.c")
claims = Claims()


def rows(profile, command, *before):
    return cpprof.table(profile, "threshold 0", *before, command)


def sums(table, *keys):
    """Hits for each value of the keys, a tuple if there are several."""
    found = collections.Counter()
    for row in table["rows"]:
        key = tuple(row[k] for k in keys)
        found[key if len(keys) > 1 else key[0]] += row["hits"]
    return dict(found)


def clocks(text):
    """(milliseconds by name, the same by thread, threads by name)."""
    by_name = collections.Counter()
    by_tid = {}
    n = collections.Counter()
    for line in text.splitlines():
        name, pid, tid, ms = line.split()
        by_name[name] += float(ms)
        by_tid[int(pid), int(tid)] = float(ms)
        n[name] += 1
    return by_name, by_tid, n


def far(found, expected, ms_a_hit):
    """Those that differ by more than chance and a tick at each end allow."""
    wrong = []
    for key in set(found) | set(expected):
        ms = found.get(key, 0) * ms_a_hit
        true = expected.get(key, 0)
        if abs(ms - true) > 25 + 0.12 * true:
            wrong.append(f"{key}: {ms:.1f} ms, its clock says {true:.1f}")
    return wrong


def check_sums(profile):
    """The rows of each view sum to the whole run."""
    for command in ("threads", "threads all", "processes", "processes all"):
        table = rows(profile, command)
        assert sum(row["hits"] for row in table["rows"]) == table["total"], \
            f"{command}: {table}"


def record(recording, *words):
    """The run of a program that was recorded; None: it cannot be."""
    run = subprocess.run([CPPROF, "record", "--no-prompt", "-o", recording,
                          *words], capture_output=True, text=True,
                         timeout=120)
    if run.returncode == 0 and os.path.isdir(recording):
        return run
    claims.skip("a recording", "no collector here")
    return None


def check_recording(directory, program):
    recording = os.path.join(directory, "r.cpprof")
    run = record(recording, program, program + "-2")
    if run is None:
        return
    # A sample of the loading of a program is an entry of its own, under the
    # program's name: then another run.
    for _ in range(9):
        table = rows(recording, "threads")
        if not {"named", "named-2"} & {row["name"] for row in table["rows"]}:
            break
        run = record(recording, "--force", program, program + "-2")
    by_name, _, n = clocks(run.stdout)
    ms = table["resource"]["interval"] / 1000
    claims.make("a recording has the clocks of the threads of each name",
                far(sums(table, "name"), by_name, ms))
    found = {row["name"]: row["threads"] for row in table["rows"]}
    claims.check("a recording counts the threads of each name", found == n,
                 f"{found}, expected {n}")
    programs = {(row["name"], row["program"]) for row in table["rows"]}
    claims.check("a thread's program is the one that it ran",
                 programs == {(name, "named-2" if name == "other" else
                               "named") for name in n}, table)
    claims.attempt("a recording's rows sum to the whole run", check_sums,
                   recording)
    table = rows(recording, "processes")
    found = {row["program"]: (row["processes"], row["threads"])
             for row in table["rows"]}
    claims.check("a recording's processes have their programs and threads",
                 found == {"named": (1, sum(n.values()) - 1),
                           "named-2": (1, 1)}, table)


def check_real(directory, program):
    """Threads are known before they have named themselves."""
    recording = os.path.join(directory, "real.cpprof")
    run = record(recording, "-r", "real", "-r", "cpu", program)
    if run is None:
        return
    by_name, _, n = clocks(run.stdout)
    table = rows(recording, "threads", "resource cpu")
    claims.make("with real time, names have the clocks of their threads",
                far(sums(table, "name"), by_name,
                    table["resource"]["interval"] / 1000))
    found = {row["name"]: row["threads"] for row in table["rows"]}
    claims.check("with real time, the threads of each name are counted",
                 found == n, f"{found}, expected {n}")


def check_many(directory, program):
    """Up to 64 names are kept apart, and all time is somewhere.  A thread that
    has a sample before it has named itself can be left in the row of main."""
    recording = os.path.join(directory, "many.cpprof")
    run = record(recording, "-F", "1000", program, "many")
    if run is None:
        return
    by_name, _, n = clocks(run.stdout)
    table = rows(recording, "threads")
    ms = table["resource"]["interval"] / 1000
    found = sums(table, "name")
    whole = sum(found.values()) * ms
    claims.check("many names: their time is all there",
                 abs(whole - sum(by_name.values())) <
                 0.1 * sum(by_name.values()),
                 f"{whole} of {sum(by_name.values())}")
    n_missed = 1 + sum(n.values()) - sum(
        row["threads"] for row in table["rows"])
    # Where there are only ticks, samples are 4 ms apart: one in 55 of the threads
    # of 16 ms has none.
    claims.check("many names: each thread with a sample counts once",
                 0 <= n_missed <= 12 and
                 64 <= len([r for r in table["rows"] if r["threads"]]) <= 67,
                 f"{n_missed} threads of {1 + sum(n.values())} missed, "
                 f"{len(table['rows'])} names")
    n_unnamed = sum(row["threads"] for row in table["rows"]
                    if row["name"] == "main") - 1
    kept = {name: hits for name, hits in found.items()
            if name in [f"name-{i}" for i in range(1, 60)]}
    claims.make("many names: the first have their own time",
                far(kept, {name: by_name[name] for name in kept}, ms) +
                ([] if len(kept) >= 59 - n_unnamed - n_missed else
                 [f"only {kept}"]))
    # Each by itself may be off by chance; together they tell.
    true = sum(by_name[name] for name in kept)
    ms *= sum(kept.values())
    claims.check("many names: later threads of a name join the earlier ones",
                 abs(ms - true) < 0.15 * true, f"{ms} ms of {true}")


def perf_rows(data, keys, value="sample"):
    """perf report's own samples for each comm and thread or process."""
    text = subprocess.run(
        ["perf", "report", "-i", data, "--no-children", "-g", "none",
         "--stdio", "--sort", keys, "-F", f"{value},{keys}", "-t", "@"],
        capture_output=True, text=True, timeout=120, check=True).stdout
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield [word.strip() for word in line.split("@") if word.strip()]


def check_perf(directory, program):
    data = os.path.join(directory, "perf.data")
    run = None
    if shutil.which("perf"):
        run = subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock",
                              "-F", "997", "-o", data, program, program + "-2"],
                             capture_output=True, text=True, timeout=120)
    if run is None or run.returncode != 0:
        claims.skip("a profile of perf", "no perf, or it may not record")
        return
    expected = {}
    # perf's "pid" is the thread's number, and a name.
    for samples, comm, thread in perf_rows(data, "comm,pid"):
        expected[comm, int(thread.partition(":")[0])] = int(samples)
    table = rows(data, "threads all")
    found = {(row["name"], row["tid"]): row["samples"]
             for row in table["rows"]}
    claims.check("perf.data: threads are those of perf report --sort "
                 "comm,pid", found == expected, f"{found}\n{expected}")
    expected = collections.Counter()
    for (comm, _), samples in expected_by_comm(data).items():
        expected[comm] += samples
    table = rows(data, "threads")
    found = collections.Counter()
    for row in table["rows"]:
        found[row["name"]] += row["samples"]
    claims.check("perf.data: names are those of perf report --sort comm",
                 found == expected, f"{found}\n{expected}")
    expected = {comm: int(period) for period, comm in
                perf_rows(data, "comm", "period")}
    found = sums(table, "name")
    claims.check("perf.data: the time of each name is perf report's",
                 found == expected, f"{found}\n{expected}")
    # perf takes one sample for all the ticks that a machine sleeps through.
    by_name, _, _ = clocks(run.stdout)
    claims.make("perf.data: no name has more than the clocks of its threads",
                [line for name, hits in found.items() if name in by_name
                 for line in far({name: max(hits * 1e-6, by_name[name])},
                                 {name: by_name[name]}, 1)])
    claims.attempt("perf.data's rows sum to the whole run", check_sums, data)
    table = rows(data, "processes")
    claims.check("perf.data: processes are named after what they execute",
                 {row["program"] for row in table["rows"]} ==
                 {"named", "named-2"}, table)
    check_script(directory, data, rows(data, "threads all"))


def expected_by_comm(data):
    return {(comm, None): int(samples)
            for samples, comm in perf_rows(data, "comm")}


def check_script(directory, data, expected):
    """The same from what perf script prints."""
    path = os.path.join(directory, "script")
    text = subprocess.run(
        ["perf", "script", "-i", data, "-F",
         "comm,pid,tid,time,event,period,ip,sym"], capture_output=True,
        timeout=120, check=True).stdout
    with open(path, "wb") as out:
        out.write(text)
    found = rows(path, "threads all")
    keys = ("pid", "tid", "name")
    claims.check("perf script: the same threads as perf.data",
                 sums(found, *keys) == sums(expected, *keys),
                 f"{sums(found, *keys)}\n{sums(expected, *keys)}")


def main():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        program = os.path.join(directory, "named")
        subprocess.run([os.environ.get("CC", "cc"), "-g", "-O1", "-pthread",
                        "-o", program, SOURCE], check=True)
        shutil.copy(program, program + "-2")
        check_recording(directory, program)
        check_real(directory, program)
        check_many(directory, program)
        check_perf(directory, program)
    claims.end()


main()
