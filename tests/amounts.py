#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""amounts.py -- what numbers are said to be: samples, time, a saving.

Where hits are weights, text has time; other formats stay exact.  The threshold is
a share of what the refinement left.  A saving is promised only where there is
one.
"""
import os
import random
import re
import tempfile

import cpprof
import pprof_writer
from claims import Claims

SAMPLES = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")),
                       "sample-data")
FORMS = os.path.join(SAMPLES, "forms.folded")
SERVER = os.path.join(SAMPLES, "server.pb.gz")
claims = Claims()


def save(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def folded(folder, name, stacks, resource, gtick, interval):
    return save(folder, name, f"# cpprof 1\n# resource: {resource}; "
                f"gtick={gtick}; interval={interval}\n" + "".join(
                    f"{stack} {hits}\n" for stack, hits in stacks.items()))


def perf_script(folder, name, samples, event="cpu-clock"):
    """samples: [(program, tid, stack outermost first, period)]"""
    text = ""
    for i, (program, tid, stack, period) in enumerate(samples):
        text += (f"{program} {tid // 10}/{tid} {1 + i / 250:.6f}: {period:10} "
                 f"{event}: \n")
        text += "".join(f"\t{0x1000 + 16 * len(function):16x} {function}+0x4 "
                        "(/bin/prog)\n" for function in reversed(stack))
        text += "\n"
    return save(folder, name, text)


# ---- units ----

def plain_perf(folder):
    """What a plain perf record gives: 164 samples of 4 ms."""
    return perf_script(folder, "perf.txt", [
        ("prog", 100, ("main", "work") if i < 159 else ("main", "idle"),
         4000000) for i in range(164)])


VIEWS = ("top", "flat", "body", "functions", "functions all *", "down", "up work",
         "tree", "callers work", "callees main", "graph", "path main work",
         "threads", "processes", "explain", "timeline", "specialise main work",
         "steps")


def check_perf(folder):
    path = plain_perf(folder)
    text = cpprof.text(path, "functions")
    assert "\n164 samples, 656 ms\n" in text, text
    assert "\npercentages of the whole run (656 ms)\n" in text, text
    assert "\n0.9695 work [636 ms]\n" in text, text
    assert "[used]" in text, text
    text = cpprof.text(path, "narrow work", "down")
    assert "\nrefined: 636 ms of 656 ms (97.0% of the run)\n" in text, text
    for view in VIEWS:
        text = cpprof.text(path, "narrow main", "noise on", view)
        long = [word for word in re.findall(r"\d+", text) if len(word) > 6]
        assert not long, (view, long, text)
    exact = cpprof.documents(path, *VIEWS)
    for unit in ("hits", "gticks", "auto"):
        assert cpprof.documents(path, f"unit {unit}", *VIEWS) == exact, unit
    rows = {row["path"][-1]: row["hits"] for row in exact[3]["rows"]}
    assert rows == {"main": 656000000, "work": 636000000,
                    "idle": 20000000}, rows
    assert exact[3]["resource"] == {"name": "cpu-clock",
                                    "gtick": "nanosecond", "interval": 1}
    text = cpprof.text(path, "unit hits", "functions")
    assert "\n0.9695 work [636000000]\n" in text, text


def check_pictures(folder):
    path = plain_perf(folder)
    for name, what in (("x.svg", "[636 ms]"), ("x.html", "own 636 ms")):
        file = os.path.join(folder, name)
        cpprof.text(path, f"flame {file}")
        with open(file, encoding="utf-8") as text:
            got = text.read()
        assert what in got and "656 ms" in got, name
        assert "[636000000]" not in got and "own 636000000" not in got, name


def check_diff(folder):
    path = plain_perf(folder)
    text = cpprof.text(path, f"base {path}", "diff functions", "diff down")
    assert re.search(r"636 ms +636 ms +0 ", text), text
    assert not re.search(r"\d{7}", text), text


def check_weights(folder):
    """Counts of bytes and nanoseconds are amounts, not samples."""
    path = folded(folder, "bytes.folded",
                  {"main;grow": 3 << 20, "main": 1 << 20},
                  "alloc-bytes", "byte", 1)
    text = cpprof.text(path, "functions")
    assert "\n4 MiB\n" in text and "grow [3.00 MiB]" in text, text
    path = os.path.join(folder, "ns.pb.gz")
    pprof_writer.write(path, [((2, 1), 1500000, []), ((1,), 500000, [])],
                       names={1: "main", 2: "f"},
                       types=(("wall", "nanoseconds"),))
    text = cpprof.text(path, "functions")
    assert re.search(r"\n(2 samples, )?2 ms\n", text), text
    assert "f [1.50 ms]" in text and "main [2.00 ms]" in text, text
    # Others have no unit that is shorter than the number.
    path = perf_script(folder, "cycles.txt",
                       [("prog", 100, ("main",), 1000)] * 3, "cycles")
    text = cpprof.text(path, "functions")
    assert "\n3 samples, 3000 cycles\n" in text, text
    assert "main [3000 cycles]" in text, text
    text = cpprof.text(path, "narrow main", "functions")
    assert "\nrefined: 3000 of 3000 cycles (100.0% of the run)\n" in text, text


def check_clusters(folder):
    """A sample that stands for several hits, as in recordings of cpprof."""
    path = os.path.join(folder, "clusters.pb.gz")
    pprof_writer.write(
        path, [((1,), (1, 1000), [])] * 600 + [((1,), (1, 4000), [])] * 111,
        names={1: "main"}, types=(("samples", "count"),
                                  ("cpu", "microseconds")))
    text = cpprof.text(path, "resource cpu", "body")
    assert "\n711 samples, 1.044 s\n" in text, text
    assert "main [1.04 s]" in text, text


def check_paper():
    """Where one hit is one sample, the paper's formats stay."""
    text = cpprof.text(FORMS, "down")
    assert ("\n614 samples, one per 200 ms\n"
            "percentages of the whole run (614 hits)\n") in text, text
    assert "format: usage_fraction (call path) [#hits]\n" in text, text
    assert "\n1.0000 (main) [614]\n" in text, text
    assert cpprof.text(FORMS, "unit hits", "down") == text
    assert "\n1.0000 (main) [122.8 s]\n" not in text


# ---- the threshold ----

def check_threshold(folder, seed):
    random.seed(seed)
    names = ["main", "a", "b", "c", "d", "e"]
    stacks = {";".join(["main", *random.choices(names, k=random.randint(
        1, 5))]): random.choice((1, 2, 5, 40, 900)) for _ in range(40)}
    path = folded(folder, f"{seed}.folded", stacks, "cpu", "microsecond",
                  1000)
    kept = {stack: hits for stack, hits in stacks.items()
            if "e" in stack.split(";")}
    if not kept:
        return
    total, left = sum(stacks.values()), sum(kept.values())
    threshold = random.choice((0.01, 0.05, 0.3))
    inclusive = {name: sum(hits for stack, hits in kept.items()
                           if name in stack.split(";")) for name in names}
    for percent, whole in (("total", total), ("refined", left)):
        table, = cpprof.documents(path, f"threshold {threshold}", f"percent {percent}",
                                  "narrow e", "functions")
        rows = {row["path"][0]: row for row in table["rows"]}
        want = {name for name, hits in inclusive.items()
                if hits >= threshold * left and hits > 0}
        assert set(rows) == want, (seed, set(rows), want)
        for name, row in rows.items():
            assert row["hits"] == inclusive[name], (seed, name)
            assert abs(row["fraction"] - row["hits"] / whole) < 1e-12
    text = cpprof.text(path, f"threshold {threshold}", "narrow e", "functions")
    if want != {name for name, hits in inclusive.items() if hits}:
        assert f"below threshold {threshold} of what is left" in text, text


def check_threshold_of_diff(folder):
    stacks = {"main;big": 100000, "main;f;g": 30, "main;f;h": 70}
    path = folded(folder, "base.folded", stacks, "cpu", "microsecond", 1000)
    table, = cpprof.documents(path, f"base {path}", "narrow f", "diff functions")
    assert {row["path"][0] for row in table["rows"]} == {
        "main", "f", "g", "h"}, table
    for view in ("down", "tree", "flame", "graph", "callees f", "top"):
        table, = cpprof.documents(path, "narrow f", view)
        found = {row["path"][-1] for row in table["rows"]}
        assert {"g", "h"} <= found, (view, found)


# ---- savings ----

def check_saving(path, lines, expected, has_saving=True):
    text = cpprof.text(path, *lines)
    assert expected in text, (lines, expected, text)
    assert ("would take" in text or "would use" in text) == has_saving, text
    assert ("is not known" in text) != has_saving, text
    table = cpprof.documents(path, *lines)[-1]
    assert (table["saved"] is not None) == has_saving, table
    assert (table["new_total_gticks"] is not None) == has_saving, table


def check_savings(folder):
    # One thread: its time is the run's.
    check_saving(FORMS, ["path (address_information db_get_property)"],
                 "without this path, the run would take 38.4 s instead of "
                 "122.8 s\n")
    check_saving(FORMS, ["specialise (address_information db_get_property)"],
                 "if it were free, the run would take 38.4 s instead of "
                 "122.8 s\n")
    # Five threads that wait for each other.
    for command in ("path", "specialise"):
        check_saving(SERVER, ["resource real", f"{command} main pthread_join"],
                     "summed over the 5 threads: how much shorter the run "
                     "would be is not known\n", False)
        check_saving(SERVER, [f"{command} parse_request compute"],
                     "the 5 threads would use 547 ms of CPU time instead of "
                     "844 ms\n")
    # Threads by tid, processes by pid.
    one = perf_script(folder, "one.txt", [
        ("prog", 100, ("main", "work"), 4000000)] * 3 + [
            ("prog", 100, ("main",), 4000000)])
    check_saving(one, ["path work"], "without this path, the run would use "
                 "4.00 ms of CPU time instead of 16.00 ms\n")
    two = perf_script(folder, "two.txt", [
        ("prog", tid, ("main", "work"), 4000000) for tid in (101, 102, 103)])
    check_saving(two, ["path work"], "the 3 threads would use 0 of CPU time "
                 "instead of 12.0 ms\n")
    many = perf_script(folder, "many.txt", [
        ("prog", tid, ("main", "work"), 10) for tid in (110, 120)], "cycles")
    check_saving(many, ["path work"], "the 2 processes would use 0 instead of "
                 "20 cycles\n")
    # Where the file does not tell threads apart.
    threads = folded(folder, "wall.folded", {
        "main;join": 10, "worker;work": 30, "worker;wait": 8},
        "wall-clock", "millisecond", 10)
    check_saving(threads, ["path worker wait"], "without this path, the run "
                 "would take 400 ms instead of 480 ms, if it has one thread\n")
    # More time than passed.
    for passed, line in ((2, "without this path, the run would take 0 instead "
                          "of 2.00 s\n"),
                         (1, "2 s of 2 s, summed over several threads: "
                          "how much shorter the run would be is not known\n")):
        path = os.path.join(folder, "wall.pb.gz")
        pprof_writer.write(path, [((1,), 10 ** 9, [])] * 2, names={1: "main"},
                           types=(("wall", "nanoseconds"),),
                           duration_ns=passed * 10 ** 9)
        check_saving(path, ["path main"], line, passed == 2)
    waits = folded(folder, "lock.folded", {"main;lock": 10, "main": 30},
                   "lock-delay", "millisecond", 10)
    check_saving(waits, ["path main lock"], "without this path, the run "
                 "would use 300 ms of lock-delay instead of 400 ms\n")
    delays = folded(folder, "delay.folded", {
        "main;lock": 10, "worker;lock": 30}, "delay", "millisecond", 10)
    check_saving(delays, ["path main lock"], "100 ms of 400 ms of delay: how "
                 "much shorter the run would be is not known\n", False)
    counts = folded(folder, "faults.folded", {
        "main;join": 10, "worker;work": 30}, "page-faults", "fault", 1)
    check_saving(counts, ["path work"], "without this path, the run would use "
                 "10 instead of 40 faults\n")


def main():
    claims.attempt("the formats of the paper stay", check_paper)
    with tempfile.TemporaryDirectory() as folder:
        claims.attempt("a plain perf record is samples and time", check_perf,
                       folder)
        claims.attempt("so are its pictures", check_pictures, folder)
        claims.attempt("so are comparisons", check_diff, folder)
        claims.attempt("weights of bytes, time and counts have their unit",
                       check_weights, folder)
        claims.attempt("a sample may stand for several hits", check_clusters,
                       folder)

        def thresholds():
            for seed in range(20):
                check_threshold(folder, seed)
        claims.attempt("the threshold is a share of what is left", thresholds)
        claims.attempt("also in comparisons and all views",
                       check_threshold_of_diff, folder)
        claims.attempt("a saving is promised only where there is one",
                       check_savings, folder)
    claims.end()


main()
