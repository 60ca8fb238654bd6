#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""explain.py -- the findings of explain are those of the manual's rules.

Planted profiles have known answers.  The findings of random recursive profiles
agree with section 2.11 of the manual, computed from whole stacks without a
tree; only oracle.py's views are shared with other tests.

    explain.py [FIRST-SEED [SEEDS]]
"""
import collections
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import cpprof
import oracle
from claims import Claims
from terminal import Terminal, has_terminals

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = cpprof.CPPROF
SAMPLES = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")),
                       "sample-data")
claims = Claims()


def run(path, *lines):
    done = cpprof.ask(path, *lines)
    assert not done.stderr, (lines, done.stderr)
    return done.stdout


def explain(path, *lines, command="explain"):
    return json.loads(run(path, *lines, "format json", command)
                      .splitlines()[-1])


# Hits after it are known to be samples.
SAMPLED = "# cpprof 1\n# resource: cpu; gtick=microsecond; interval=1000\n"


def write(folder, stacks, header=""):
    """stacks: {("main", "f"): hits}"""
    path = os.path.join(folder, "stacks.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write(header)
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {hits}\n")
    return path


def findings(table):
    """[(kind, [(path, hits)])]"""
    found = []
    for row in table["rows"]:
        if not found or found[-1][0] != row["finding"]:
            found.append((row["finding"], row["kind"], []))
        found[-1][2].append((tuple(row["path"]), row["hits"]))
    return [(kind, rows) for _, kind, rows in found]


def by_kind(table):
    """{kind: [(path, hits)]}, [] where there is no such finding"""
    return collections.defaultdict(list, findings(table))


def planted(folder, stacks, *lines, header=""):
    table = explain(write(folder, {tuple(stack.split(";")): hits
                                   for stack, hits in stacks.items()},
                          header), *lines)
    return by_kind(table), table


# ---- planted cases ----

def hot_leaf(folder):
    """One hot leaf, called from two places."""
    found, table = planted(folder, {
        "main;a;hot": 400, "main;b;hot": 350, "main;a": 30, "main;b": 60,
        "main;c": 60, "main;d": 100})
    assert found["hot path"] == [(("main",), 1000)], found
    assert found["split"] == [
        (("main", "a"), 430), (("main", "b"), 410), (("main", "d"), 100)]
    assert found["body"] == [(("hot",), 750), (("d",), 100)], found
    assert found["callers"] == [(("a", "hot"), 400), (("b", "hot"), 350)], \
        found
    assert table["rows"][0]["text"] == \
        "No hot path: no callee holds most of the root"
    assert table["rows"][1]["text"] == "The root splits there: " \
        "own body 0% of it, largest of 4 callees 43%", table
    assert table["next"] == {"1": "down main", "2": "up hot",
                             "3": "top 10"}, table


def chain(folder):
    """A hot path that ends in a body."""
    found, table = planted(folder, {
        "main;a;b;c": 700, "main;a;b;d": 100, "main;a;x": 50, "main;y": 150})
    assert found["hot path"] == [(("main", "a", "b", "c"), 700)]
    assert found["end"] == [(("c",), 700)]
    assert "split" not in found and "callers" not in found
    assert "recursion" not in found and "outside" not in found
    assert table["rows"][1]["text"] == \
        "The path ends there: 100% of it is the last function's own body"
    assert table["next"]["1"] == "narrow main ... c"
    # Exactly half is not most.
    found, _ = planted(folder, {"main;a": 50, "main;b": 50})
    assert found["hot path"] == [(("main",), 100)]
    assert found["split"] == [(("main", "a"), 50), (("main", "b"), 50)]
    found, _ = planted(folder, {"main;a": 51, "main;b": 50})
    assert found["hot path"] == [(("main", "a"), 51)]


def recursion(folder):
    """f is three times on its stacks, and the path goes back to it."""
    found, table = planted(folder, {"main;f;g;f;g;f": 90, "main;f;h": 10})
    assert found["hot path"] == [(("main", "f", "g"), 90)], found
    assert found["end"] == [(("main", "f", "g", "f"), 90)], found
    assert found["recursion"] == [(("f",), 100), (("g",), 90)], found
    times = {tuple(row["path"]): row["activations"] for row in table["rows"]
             if row["kind"] == "recursion"}
    assert times == {("f",): 2.8, ("g",): 2}, times
    assert "2 functions re-enter; the first is on its stacks 2.8 times" in \
        [row["text"] for row in table["rows"]
         if row["kind"] == "recursion"][0]


def flat(folder):
    found, table = planted(folder, {
        f"main;f{i:02};g{i:02}": 100 + i for i in range(20)})
    assert found["hot path"] == [(("main",), 2190)]
    assert [path for path, _ in found["flat"]] == \
        [("g19",), ("g18",), ("g17",)], found
    assert "body" not in found and "callers" not in found
    assert "of the 20 functions with hits of their own, none has 10%" in \
        [row["text"] for row in table["rows"] if row["kind"] == "flat"][0]


def cut(folder):
    """Most stacks lack their outer frames, or the root."""
    stacks = {"main;a": 200, "[partial];x;y": 500, "[partial];x;main;q": 60,
              "lost;z": 240}
    found, table = planted(folder, stacks)
    # main is on too few of them to be the root; then most begin here:
    assert table["root"] == "[partial]" and found["hot path"], table
    assert found["cut"] == [(("[partial]",), 560)], found
    assert findings(table)[-1] == (
        "outside", [(("lost",), 240), (("main",), 200)]), found
    # As a root that was chosen it lacks most of the run.
    table = explain(write(folder, {tuple(stack.split(";")): hits for
                                   stack, hits in stacks.items()}, SAMPLED),
                    "root main")
    assert findings(table)[0] == (
        "outside", [(("[partial]",), 500), (("lost",), 240)]), table
    assert table["rows"][0]["text"] == "The root is not on the stacks of " \
        "74%, which begin in 2 functions", table
    assert table["next"]["1"] == "down [partial]", table
    # A part that is no majority comes last, one below 5% not at all.
    found, table = planted(folder, {"main;a": 900, "other;a": 100})
    assert findings(table)[-1] == ("outside", [(("other",), 100)]), found
    found, table = planted(folder, {"main;a": 960, "[partial];a": 40})
    assert "outside" not in found and "cut" not in found, found


def modules(folder):
    """perf script: all bodies but few in one library."""
    path = os.path.join(folder, "modules.perf")
    stacks = [("inner", "/usr/lib/libz.so")] * 9 + [("other", "/bin/prog")]
    with open(path, "w", encoding="utf-8") as file:
        for i, (name, module) in enumerate(stacks * 20):
            file.write(f"prog 1 {i}.000000: 1 cycles:\n"
                       f"\t1000 {name} ({module})\n"
                       f"\t2000 main (/bin/prog)\n\n")
    found = by_kind(explain(path))
    assert found["module"] == [(("libz.so",), 180)], found
    found = by_kind(explain(path, "narrow main other"))
    assert "module" not in found, found
    # A group has no module, so it counts by its name.
    found = by_kind(explain(path, "group codec = inner"))
    assert found["module"] == [(("codec",), 180)], found
    found = by_kind(explain(path, "narrow main inner", "group x = main"))
    assert "module" not in found, found
    found = by_kind(explain(path, "group libz.so = other"))
    assert "module" not in found, found
    # So does a function of no module.
    with open(path, "a", encoding="utf-8") as file:
        for i in range(900):
            file.write(f"prog 1 {i}.000000: 1 cycles:\n"
                       "\t1000 nowhere ([unknown])\n"
                       "\t2000 main (/bin/prog)\n\n")
    for steps in (), ("group g = other",):
        found = by_kind(explain(path, *steps))
        assert found["module"] == [(("nowhere",), 900)], (steps, found)


BOTH = ("# cpprof 1\n# resource: latency; gtick=microsecond; interval=1000\n"
        "# resource: cpu; gtick=microsecond; interval=1000\n")


def write_both(folder, stacks):
    """stacks: {("main", "f"): (hits of latency, hits of cpu)}"""
    path = os.path.join(folder, "both.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write(BOTH)
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {hits[0]} {hits[1]}\n")
    return path


def serial_parts(folder):
    """What has a larger share of latency than of cpu, as far in as it is."""
    def serial(*lines, **stacks):
        table = explain(write_both(folder, {
            ("main", *stack.split("_")): hits
            for stack, hits in stacks.items()}), *lines)
        return by_kind(table)["serial"], table

    alone = {"go_link_emit": (900, 900), "go_link": (100, 100),
             "run_work": (1000, 2000)}
    rows, table = serial(**alone)
    assert rows == [(("emit",), 900)], rows
    assert table["rows"][0]["text"] == "Serial: 45% of the latency, 30% of " \
        "the CPU time; 1.0 ran on average", table
    assert math.isclose(table["rows"][0]["error"],
                        math.sqrt(.45 * .55 / 2000)), table
    assert table["next"]["1"] == "columns latency cpu", table
    rows, table = serial("resource cpu", **alone)
    assert rows == [(("emit",), 900)] and \
        table["next"]["1"] == "resource latency", table
    # A caller with more than a tenth of the difference is the place.
    rows, _ = serial(**{**alone, "go_link": (400, 400)})
    assert rows == [(("link",), 1300)], rows
    # Nothing, if it is no more than noise; after a step, of what is left.
    rows, _ = serial(go=(20, 20), work=(30, 40))
    assert not rows, rows
    rows, _ = serial("narrow main run", **alone)
    assert not rows, rows
    rows, _ = serial("drop emit", **{**alone, "go_link": (400, 400)})
    assert rows == [(("link",), 400)], rows
    # Two run on average, where all others are three.
    rows, table = serial(pair=(500, 1000), all=(1000, 3000))
    assert rows == [(("pair",), 500)] and \
        "2.0 ran on average" in table["rows"][0]["text"], table


def serial_by_rule(stacks):
    """The function, from whole stacks; None: there is none."""
    latency, cpu = (sum(hits[i] for hits in stacks.values()) for i in (0, 1))
    if not latency or not cpu:
        return None
    with_it = {name: [sum(hits[i] for stack, hits in stacks.items()
                          if name in stack) for i in (0, 1)]
               for name in {name for stack in stacks for name in stack}}
    shares = {name: (hits[0] / latency, hits[1] / cpu)
              for name, hits in with_it.items()}
    scores = {name: a - b for name, (a, b) in shares.items()}
    errors = {name: math.sqrt(a * (1 - a) / latency + b * (1 - b) / cpu)
              for name, (a, b) in shares.items()}
    sure = [name for name in scores
            if scores[name] >= .01 and scores[name] > 3 * errors[name]]
    if not sure:
        return None
    highest = max(scores[name] for name in sure)
    depth = {name: min(stack.index(name) for stack in stacks
                       if name in stack) for name in scores}
    return min((name for name in sure
                if scores[name] + errors[name] >= .9 * highest),
               key=lambda name: (with_it[name][1], -depth[name], name))


def serial_parts_at_random(folder):
    found = collections.Counter()
    for seed in range(150):
        chance = random.Random(seed)
        names = "abcdef"[:chance.randint(2, 6)]
        stacks = {}
        for _ in range(chance.randint(1, 12)):
            stack = ("main", *chance.choices(names, k=chance.randint(1, 5)))
            cpu = chance.choice([1, 30, 200, 1000])
            stacks[stack] = (cpu // chance.randint(1, 4), cpu)
        if not any(latency for latency, _ in stacks.values()):
            continue
        rows = by_kind(explain(write_both(folder, stacks)))["serial"]
        answer = serial_by_rule(stacks)
        assert [path for path, _ in rows] == \
            ([(answer,)] if answer else []), (seed, stacks, rows, answer)
        found[bool(rows)] += 1
    assert min(found.values()) > 30, found


def growth(_):
    """Two recordings of sample-data/relay.c: the second has no leak."""
    leaking, mended = (os.path.join(SAMPLES, f"relay-{n}.cpprofdata.gz")
                       for n in (0, 1))
    for resource in "live-bytes", "live-allocs":
        table = explain(leaking, f"resource {resource}")
        rows = by_kind(table)["growth"]
        assert [path for path, _ in rows] == [("keep_report",)], table
        row = table["rows"][0]
        assert row["kind"] == "growth" and \
            row["fraction"] > 3 * row["error"] > 0, row
        assert table["next"]["1"] == "leaks" and \
            table["next"]["2"].startswith("base time .."), table
        # The difference of the two times is what views say of them.
        half = table["next"]["2"].split()[-1]
        hits = [json.loads(run(leaking, f"resource {resource}", *step,
                               "threshold 0", "format json",
                               "functions keep_report")
                           .splitlines()[-1])["rows"][0]["hits"]
                for step in ((f"narrow time {half}",), ())]
        assert row["hits"] == hits[1] - hits[0], (row, hits)
        for path, lines in ((mended, ()), (leaking, ("drop keep_report",)),
                            (leaking, ("narrow time ..2s",))):
            table = explain(path, f"resource {resource}", *lines)
            assert "growth" not in by_kind(table), (lines, table)
    # What is allocated is no level.
    assert "growth" not in by_kind(explain(leaking, "resource alloc-bytes"))


def slow_calls(_):
    """A recording of tests/programs/calls planted: some calls wait."""
    path = os.path.join(SAMPLES, "../tests/data/calls/planted.cpprofdata.gz")


    def explained(*lines):
        return cpprof.documents([path], *lines, "explain")[-1]

    table = explained()
    (row,) = (row for row in table["rows"] if row["kind"] == "tail")
    (function,) = row["path"]
    assert [table["next"][n] for n in "12"] == [
        "base calls below p95", "narrow calls above p95"], table
    # Its hits, and the shares, are what the proposed command leaves.
    slow, others = (
        [(each["path"][0], each["hits"]) for each in cpprof.documents(
            [path], step, "threshold 0", "functions")[-1]["rows"]]
        for step in ("narrow calls above p95", "narrow calls below p95"))
    assert row["hits"] == dict(slow)[function], (row, slow)
    shares = [round(100 * dict(side).get(function, 0) / side[0][1])
              for side in (slow, others)]
    assert f"{shares[0]}% is here, of the others' {shares[1]}%" in \
        row["text"], (row, shares)
    assert shares[0] > shares[1] and row["error"] > 0, row
    more, error = re.search(r"\((\d+) \+- ([\d.]+) points more\)",
                            row["text"]).groups()
    assert abs(int(more) - shares[0] + shares[1]) <= 1, row
    # Shares of few samples, which have several hits each.
    assert 1 < float(error) < int(more) / 3, row
    # Not where steps left a part, and of no other resource.
    assert "tail" not in by_kind(explained("narrow calls above p95"))
    assert "tail" not in by_kind(explained("drop nanosleep"))


def waits(_):
    """A recording of tests/data/locks/server.c: get waits for put."""
    path = os.path.join(SAMPLES, "../tests/data/locks/server.cpprofdata.gz")
    first = json.loads(run(path, "format json", "waits").splitlines()[-1])
    (pair, *_), total = first["rows"], first["denominator"]
    for resource in "blame", "lock-waits", "lock-pairs":
        table = explain(path, f"resource {resource}")
        row = table["rows"][0]
        assert row["kind"] == "waits" and row["error"] == 0, row
        assert row["path"] == [pair["by"][-2]] and \
            row["hits"] == pair["hits"], (row, pair)
        assert row["text"] == (
            f"Waits: {100 * pair['hits'] / total:.0f}% of all waiting is "
            f"that of {pair['path'][-2]} for {pair['by'][-2]}"), row
        assert table["next"]["1"] == "waits", table
    # Pairs that steps left out do not count.
    row = explain(path, "drop put")["rows"][0]
    assert row["kind"] == "waits" and row["path"] != ["put"], row


# Pairs by what they are; the lists are in the order of waits.
PAIRS = {
    "held up by others": [
        "main;get;pthread_mutex_lock;[waited-for];w;put;pthread_mutex_unlock",
        # A condition was signalled, but the mutex not yet free.
        "main;get;__pthread_cond_wait@@GLIBC_2.3.2;[waited-for];w;put;"
        "__pthread_mutex_unlock",
        "main;take;pthread_barrier_wait;[waited-for];w;pthread_barrier_wait",
        "main;take;syscall;[waited-for];w;wake;syscall",
        "main;take;pthread_rwlock_rdlock;[waited-for];[not-ended]",
        "main;eval;take_gil;pthread_cond_timedwait;[waited-for];w;drop_gil;"
        "pthread_cond_signal",
        "main;f (x.py);PyThread_acquire_lock_timed;sem_clockwait;"
        "[waited-for];w;PyThread_release_lock;sem_post",
        "main;take;pthread_mutex_lock;[waited-for];[wake-up]",
    ],
    "waiting for threads to end": [
        "main;pthread_join;[waited-for];w",
        "main;pthread_timedjoin_np;[waited-for];w",
        "main;thrd_join;[waited-for];w",
    ],
    "waiting for work, or for a result": [
        "w;next;pthread_cond_wait;[waited-for];main;add;pthread_cond_signal",
        "w;next;pthread_cond_timedwait64;[waited-for];[gave-up]",
        "w;next;sem_wait;[waited-for];main;add;sem_post",
        "w;next;__read;[waited-for];main;add;write",
        "w;next;poll;[waited-for];main;add;write",
        "w;wait (threading.py);PyThread_acquire_lock_timed;sem_clockwait;"
        "[waited-for];main;PyThread_release_lock;sem_post",
    ],
}


def waits_by_kind(folder):
    """Each kind apart; what holds others up comes first, also if it is less."""
    header = "# cpprof 1\n# resource: lock-pairs; gtick=nanosecond; " \
        "interval=1\n"
    every = [(kind, pair) for kind, pairs in PAIRS.items() for pair in pairs]
    # The later, the more.
    stacks = {tuple(pair.split(";")): 100 + i
              for i, (_, pair) in enumerate(every)}
    path = write(folder, stacks, header)
    rows = explain(path, command="waits all")["rows"]
    wanted = [(kind, pair) for kind, pairs in PAIRS.items()
              for pair in reversed(pairs)]
    assert [(row["group"], ";".join((*row["path"], "[waited-for]",
                                     *row["by"]))) for row in rows] == \
        wanted, rows
    text = run(path, "waits all").splitlines()
    assert [line for line in text if line in PAIRS] == list(PAIRS), text

    # explain: the larger wait is for the end of a thread, or for work.
    lock, join, work = (pairs[0] for pairs in PAIRS.values())
    for few, said, which in (
            ({lock: 5, join: 80, work: 90}, "that of get for put", False),
            ({join: 80, work: 90}, "to end; no lock holds others up", True),
            ({lock: 0.5, work: 90}, "for work or a result", True)):
        path = write(folder, {tuple(pair.split(";")): int(hits * 10)
                              for pair, hits in few.items()}, header)
        row = explain(path)["rows"][0]
        assert row["kind"] == "waits" and said in row["text"], row
        assert ("no lock" in row["text"]) == which, row


def compared(folder, base, now, *lines):
    """explain with a base, and diff functions: documents and texts."""
    paths = []
    for name, stacks in ("base", base), ("now", now):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        paths.append(write(os.path.join(folder, name), stacks, SAMPLED))
    done = cpprof.run("-q", "--base", paths[0], *(
        word for line in (*lines, "explain", "format json", "explain",
                          "diff functions") for word in ("-e", line)),
        paths[1])
    assert not done.stderr, done.stderr
    *text, explained, changes = done.stdout.splitlines()
    return text, json.loads(explained), json.loads(changes)


def what_changed(folder):
    """With a base, explain begins with what diff functions says."""
    base = {("main", "parse"): 1000, ("main", "old"): 500,
            ("main", "same"): 2000}
    now = {("main", "parse"): 2500, ("main", "fresh"): 700,
           ("main", "same"): 2010}
    text, table, changes = compared(folder, base, now)
    names = [row["path"][0] for row in changes["rows"]
             if row["verdict"] == "likely"]
    assert names == ["main", "parse", "fresh", "old"], names
    assert table["changed"] == names, table
    assert table["comparison"] == {
        "base": 3500, "now": 5210, "change": 1710,
        "low": changes["whole"]["low"], "high": changes["whole"]["high"],
        "verdict": "likely"}, table
    assert table["next"]["1"] == "diff functions", table
    half = (changes["whole"]["high"] - changes["whole"]["low"]) / 2
    at = text.index("base: 1 run of 3.50 s; now: 1 run of 5.21 s")
    assert text[at + 1] == \
        f"whole run: +1.71 s (+48.9%) +- {half:.0f} ms, likely", text
    assert [line.split(": ")[-1] for line in text[at + 3:at + 7]] == names
    assert text[at + 4].startswith("  +1.50 s (+150.0%) +- "), text
    assert at < next(i for i, line in enumerate(text)
                     if line.startswith("----")), text
    assert any(line.endswith("type next: diff functions") for line in text)
    # The findings are those without a base.
    assert table["rows"] == explain(write(folder, now, SAMPLED))["rows"][
        :len(table["rows"])], table

    text, table, _ = compared(folder, base, base)
    assert "no function changed by more than noise" in text, text
    assert "changed" not in table and table["comparison"]["change"] == 0
    text, *_ = compared(folder, base, now, "scale work 2")
    assert any(line.startswith("compared: ") for line in text), text

    # Another resource is told, and the findings are there.
    other = os.path.join(folder, "other.folded")
    with open(other, "w", encoding="utf-8") as file:
        file.write(SAMPLED.replace("cpu", "real") + "main;parse 3\n")
    done = cpprof.run("-q", "--base", other, "-e", "explain",
                      write(folder, now, SAMPLED))
    assert "not compared with the base: " in done.stdout, done.stdout
    assert "type next: down main" in done.stdout, done.stdout


def what_changed_is_the_first_screen(folder):
    path = write(folder, {("main", "parse"): 1000}, SAMPLED)
    base = os.path.join(folder, "base.folded")
    with open(base, "w", encoding="utf-8") as file:
        file.write(SAMPLED + "main;parse 400\n")
    terminal = Terminal("-n", "--base", base, path, columns=100, rows=30)
    shown = terminal.expect("main cpu) ")
    assert "whole run: +600 ms (+150.0%)" in shown, shown
    assert "type next: diff functions" in shown, shown
    terminal.type("\x04")
    assert terminal.status() == 0


def few(folder):
    found, table = planted(folder, {"main;a": 9, "main;b": 3},
                           header=SAMPLED)
    assert table["samples"] == 12 and table["hits_per_sample"] == 1
    assert math.isclose(table["error_of_half"], math.sqrt(.25 / 12))
    text = run(os.path.join(folder, "stacks.folded"), "explain")
    assert "few samples: half of the hits is sure to +-14%; record longer" \
        in text, text
    _, table = planted(folder, {"main;a": 99, "main;b": 1}, header=SAMPLED)
    text = run(os.path.join(folder, "stacks.folded"), "explain")
    assert "few samples" not in text, text


def unknown(folder):
    """Hits that may be anything have no error, whatever their number."""
    for stacks, path in (
            ({("main", "a"): 9}, None),
            (None, os.path.join(SAMPLES, "sites.pb.gz"))):
        path = path or write(folder, stacks)
        table = explain(path)
        assert not {"samples", "error_of_half"} & set(table), table
        assert all(row["error"] is None for row in table["rows"]), table
        text = run(path, "explain")
        assert "+-" not in text and "record longer" not in text, text
        assert ("no errors are shown: the file does not say how its numbers "
                "were sampled") in text, text


def clusters(folder):
    """perf's samples stand for many hits."""
    path = os.path.join(folder, "perf.script")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(30):
            file.write(f"prog 1 {i}.000000: {2000 + i} cycles:\n"
                       f"\t1000 {'ab'[i % 2]} (/bin/prog)\n"
                       "\t2000 main (/bin/prog)\n\n")
    table = explain(path)
    phi = table["total"] / table["samples"]
    assert phi > 1000 and math.isclose(table["hits_per_sample"], phi)
    for row in table["rows"]:
        s = row["hits"] / table["total"]
        assert math.isclose(row["error"], math.sqrt(
            phi * s * (1 - s) / table["total"])), row


def refined_clusters(folder):
    """A thread of few samples with many hits each, beside one of many."""
    path = os.path.join(folder, "perf.script")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(530):
            name, hits = ("big", 1000 + i) if i < 30 else ("small", 1)
            file.write(f"{name} 1/{1 + (i < 30)} {i}.000000: {hits} cycles:\n"
                       f"\t1000 {name}_{'ab'[i % 2]} (/bin/prog)\n"
                       "\t2000 main (/bin/prog)\n\n")
    for steps in ("narrow thread big",), ("narrow main big_*",), \
            ("narrow thread small",):
        left = 500 if "small" in steps[0] else sum(range(1000, 1030))
        n = 500 if "small" in steps[0] else 30
        phi = left / n
        for percent in "total", "refined":
            lines = *steps, "percent " + percent
            table = explain(path, *lines)
            base = left if percent == "refined" else table["total"]
            assert table["refined"] == left, table
            assert table["samples"] == n, table
            assert math.isclose(table["hits_per_sample"], phi), table
            for row in table["rows"]:
                s = row["hits"] / base
                assert math.isclose(row["error"], math.sqrt(
                    phi * s * (1 - s) / base), abs_tol=1e-12), row
            text = run(path, *lines, "explain")
            assert ("few samples" in text) == (n == 30), text


def refined(folder):
    found, table = planted(
        folder, {"main;a;b": 600, "main;c;d": 300, "main;c;e": 50},
        "narrow main c")
    assert table["refined"] == 350 and table["total"] == 950
    assert found["hot path"] == [(("main", "c", "d"), 300)], found
    found, table = planted(folder, {"main;a": 5}, "percent refined")
    assert found["hot path"] == [(("main", "a"), 5)], found


def nothing(folder):
    path = write(folder, {("main", "a"): 0})
    done = subprocess.run([CPPROF, "-q", "-e", "explain", path],
                          stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                          check=False, timeout=60)
    assert done.returncode != 0
    assert b"nothing to explain: no hits of samples" in done.stderr, done


def calls(_):
    """callgrind: no stacks, so longer paths are estimates."""
    table = explain(os.path.join(SAMPLES, "rdparse.callgrind.gz"))
    for row in table["rows"]:
        assert row["estimated"] == (len(row["path"]) > 2), row
        assert "error" not in row
    kinds = {row["kind"] for row in table["rows"]}
    assert kinds == {"hot path", "split", "body"}, kinds
    assert not any(line.startswith("narrow")
                   for line in table["next"].values())


def names_are_typed(folder):
    """What is proposed runs, whatever the names hold."""
    for name in ("operator new(unsigned long)", "a b", "%1", "@libc", "x*",
                 "/x/", "file:x", "...", "thread", "-e", "a|b", "#", ">"):
        path = write(folder, {("main", "z", name): 60, ("main", "q"): 40})
        proposed = explain(path)["next"]
        assert len(proposed) == 3, proposed
        for line in proposed.values():
            run(path, line)
        left = run(path, proposed["1"], "format json", "explain")
        assert json.loads(left)["refined"] == 60, (name, left)


def sentences(folder):
    """Text has each finding once, and only recursion has activations."""
    recursive = write(folder, {("main", "f", "f", "f"): 50, ("main", "g"): 50})
    for path in (recursive, os.path.join(SAMPLES, "sites.pb.gz"),
                 os.path.join(SAMPLES, "rdparse.folded.gz")):
        table, lines = explain(path), run(path, "explain").splitlines()
        for text in {row["text"] for row in table["rows"]}:
            assert lines.count(text) == 1, (text, lines)
        for row in table["rows"]:
            is_recursion = row["kind"] == "recursion"
            assert (row["activations"] is not None) == is_recursion, row
    kinds = [row["kind"] for row in explain(recursive)["rows"]]
    assert "recursion" in kinds, kinds


def lines_of_a_body(folder):
    """Its lines are proposed if it has any, or else its instructions."""
    proposed = explain(os.path.join(SAMPLES, "sites.pb.gz"))["next"]
    assert "list checksum" in proposed.values(), proposed
    proposed = explain(write(folder, {("main", "a"): 9}))["next"]
    assert not any(line.startswith(("list", "disasm"))
                   for line in proposed.values())
    # Addresses alone, as if the C library were the user's.
    with open(os.path.join(HERE, "data/perf/rec.script"),
              encoding="utf-8") as file:
        text = file.read()
    script = os.path.join(folder, "rec.script")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text.replace("libc.so.6", "libmine.so.6"))
    words = {line.split()[0] for line in explain(script)["next"].values()}
    assert "disasm" in words and "list" not in words, words


LIBRARY = """# callgrind format
events: Ir
ob=/opt/prog
fl=main.c
fn=main
1 100
cob={module}
cfi=inside.c
cfn={function}
calls=1 10
2 900

ob={module}
fl=inside.c
fn={function}
10 900

totals: 1000
"""


def code_of_libraries_is_not_proposed(folder):
    """Who calls them is; the same function of the user's own is listed."""
    path = os.path.join(folder, "library.out")
    for module, function, is_library in (
            ("/lib/x86_64-linux-gnu/libc.so.6", "write", True),
            ("/lib64/ld-linux-x86-64.so.2", "do_lookup_x", True),
            ("/usr/lib/libpthread-2.31.so", "pthread_mutex_lock", True),
            ("/usr/lib/libstdc++.so.6", "std::ostream::write", True),
            ("[vdso]", "clock_gettime", True),
            ("[kernel.kallsyms]", "do_epoll_wait", True),
            ("/opt/libcloud.so.1", "write", False),
            ("/opt/prog", "write", False)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(LIBRARY.format(module=module, function=function))
        proposed = explain(path)["next"].values()
        assert any(line.startswith("up ") for line in proposed), proposed
        assert any(line.startswith("list ") for line in proposed) != \
            is_library, (module, proposed)


def runs_without_symbols_are_folded(folder):
    path = write(folder, {
        ("main", "libx.so+0x10", "libx.so+0x20", "libx.so+0x30", "back",
         "liby.so+0x1", "libx.so+0x40", "0x7f10", "0x7f20", "leaf"): 90,
        ("main", "b+0x", "c+0xg"): 10})
    text = run(path, "explain")
    assert "main libx.so+0x30 back liby.so+0x1 libx.so+0x40 0x7f20 leaf" in \
        text, text
    table = explain(path)
    assert len(table["rows"][0]["path"]) == 10, table
    # Other views have all of them.
    assert "libx.so+0x10 libx.so+0x20" in run(path, "down"), path


def words_of(table):
    n, text = 0, None
    for row in table["rows"]:
        if row["text"] != text:
            text = row["text"]
            n += len(text.split())
        n += 3 + sum(len(name.split()) for name in row["path"])
    return n + sum(len(line.split())
                   for line in table.get("next", {}).values())


def words(_):
    path = os.path.join(SAMPLES, "rdparse.folded.gz")
    whole = explain(path)
    n = words_of(whole)
    sizes = set()
    for most in range(1, n + 3):
        table = explain(path, command=f"explain --words {most}")
        assert words_of(table) <= most, most
        rows = table["rows"]
        assert rows == whole["rows"][:len(rows)], most
        assert (table["left_out"] > 0) == (rows != whole["rows"]), most
        sizes.add(len(rows))
    assert table["rows"] == whole["rows"] and table["next"] == whole["next"]
    assert sizes == set(range(len(whole["rows"]) + 1)), sizes
    assert "left_out" in whole and whole["left_out"] == 0


# ---- random profiles ----

def ranked(values, most=3):
    """[(path, hits)] of {path: hits}, the most hits first."""
    return sorted(values.items(), key=oracle.row_order)[:most]


def expected(stacks, root):
    """Findings in order, from whole stacks."""
    profile = type("Profile", (), {})()
    profile.stacks = stacks
    profile.functions = {name for stack in stacks for name in stack}
    total = sum(stacks.values())
    found = []
    down = oracle.down(profile, root)
    starts = {}
    for stack, hits in stacks.items():
        if root not in stack and hits:
            starts[stack[:1]] = starts.get(stack[:1], 0) + hits
    outside = sum(starts.values())
    is_first = outside > total // 2
    if is_first:
        found.append(("outside", ranked(starts, 2)))
    least = max(1, math.ceil(down[root,] / 100))
    path = (root,)
    while True:
        longer = {p: h for p, h in down.items()
                  if p[:-1] == path and h >= least}
        callees = ranked({p: h for p, h in longer.items()
                          if p[-1] not in path})
        back = ranked({p: h for p, h in longer.items() if p[-1] in path})
        if not callees or callees[0][1] <= down[path] // 2:
            break
        path = callees[0][0]
    value = down[path]
    own = sum(hits for stack, hits in stacks.items() if root in stack and
              list(oracle.canonical_paths(stack, root))[-1] == path)
    if value >= least:
        found.append(("hot path", [(path, value)]))
        most_back = back[0][1] if back else 0
        if own > value // 2 or (not callees and own >= most_back):
            if own:
                found.append(("end", [(path[-1:], own)]))
        elif most_back > value // 2 or not callees:
            found.append(("end", back[:1]))
        else:
            found.append(("split", callees))
    bodies = ranked({p: h for p, h in oracle.body(profile, None).items() if h})
    found.append(("flat", bodies) if bodies[0][1] / total < .1 else
                 ("body", bodies[:2]))
    inclusive = oracle.functions(profile, None)
    again = {}
    for name in profile.functions:
        sum_all = sum(hits * stack.count(name)
                      for stack, hits in stacks.items())
        if inclusive[name,] / total >= .01 and sum_all > inclusive[name,]:
            again[name,] = sum_all - inclusive[name,]
    if again:
        found.append(("recursion", [(p, inclusive[p])
                                    for p, _ in ranked(again, 2)]))
    main = bodies[0][0][0]
    pairs = {}
    for stack, hits in stacks.items():
        for pair in {(a, b) for a, b in zip(stack, stack[1:]) if b == main}:
            pairs[pair] = pairs.get(pair, 0) + hits
    pairs = {pair: hits for pair, hits in pairs.items() if hits}
    if sum(hits / total >= .1 for hits in pairs.values()) >= 2:
        found.append(("callers", ranked(pairs)))
    if not is_first and outside / total >= .05:
        found.append(("outside", ranked(starts, 2)))
    return found


def random_profiles(folder, first, n):
    kinds, wrong = set(), []
    for seed in range(first, first + n):
        chance = random.Random(seed)
        names = "abcdefgh"[:chance.randint(2, 8)]
        stacks = {}
        for _ in range(chance.randint(1, 14)):
            stack = tuple(chance.choices(names, k=chance.randint(1, 6)))
            if chance.random() < .8:
                stack = ("main",) + stack
            stacks[stack] = stacks.get(stack, 0) + \
                chance.choice([1, 3, 10, 40, 200])
        table = explain(write(folder, stacks))
        answer, found = expected(stacks, table["root"]), findings(table)
        left = table["left_out"]
        # The screen may be full before the last rows.
        flat_found = [(kind, row) for kind, rows in found for row in rows]
        flat_answer = [(kind, row) for kind, rows in answer for row in rows]
        kinds.update(kind for kind, _ in found)
        if flat_found != flat_answer[:len(flat_found)] or \
                len(flat_found) + left != len(flat_answer):
            wrong.append((seed, stacks, flat_found, flat_answer))
    assert not wrong, "\n".join(map(str, wrong[0]))
    assert kinds >= {"hot path", "split", "end", "body", "recursion",
                     "callers", "outside"}, kinds


def screen(folder, columns, rows):
    stacks = {}
    chance = random.Random(5)
    for _ in range(80):
        stack = tuple("function_" + c for c in chance.choices("abcdefg", k=7))
        stacks[("main",) + stack] = chance.randint(1, 99)
        stacks[("start_of_thread",) + stack] = chance.randint(1, 99)
    terminal = Terminal("-q", write(folder, stacks), columns=columns,
                        rows=rows)
    terminal.expect("samples) ")
    terminal.type("explain\n")
    shown = terminal.expect("samples) ").split("\r\n")[1:]
    assert len(shown) <= rows, shown
    assert any("type next: " in line for line in shown), shown
    terminal.type("\x04")
    assert terminal.status() == 0


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as folder:
        for claim, check in {
                "one hot leaf that two functions call": hot_leaf,
                "a hot path that ends in a body": chain,
                "recursion": recursion,
                "a flat profile": flat,
                "stacks that were cut, or lack the root": cut,
                "most hits in one module": modules,
                "few samples": few,
                "serial parts": serial_parts,
                "serial parts at random": serial_parts_at_random,
                "memory in use that grows": growth,
                "slow calls": slow_calls,
                "who waits for whom": waits,
                "locks come before ends and work": waits_by_kind,
                "hits of unknown origin have no error": unknown,
                "samples of many hits widen the error": clusters,
                "samples that steps left": refined_clusters,
                "a refinement": refined,
                "no hits": nothing,
                "calls without stacks": calls,
                "proposed commands run, whatever names hold": names_are_typed,
                "text has a sentence for each finding": sentences,
                "lines of a body are proposed": lines_of_a_body,
                "runs of functions without symbols are folded":
                    runs_without_symbols_are_folded,
                "code of libraries is not proposed":
                    code_of_libraries_is_not_proposed,
                "what changed since the base comes first": what_changed,
                "--words": words}.items():
            claims.attempt(claim, check, folder)
        claims.attempt("random profiles agree with the rules",
                       random_profiles, folder, first, n)
        if has_terminals():
            claims.attempt("findings fit a screen", screen, folder, 80, 24)
            claims.attempt("the first screen begins with the comparison",
                           what_changed_is_the_first_screen, folder)
        else:
            claims.skip("findings fit a screen", "no pseudo-terminals")
    claims.end()


main()
