#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""sides.py -- parts of one profile are compared by the values of a label.

    sides.py [FIRST-SEED]

Each value stands for a run, so the answers must be those of the same stacks in a
file for each value.  What is left of each is added up by oracle.py, too.
"""
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
import pprof_writer
from claims import Claims, rounds

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = cpprof.CPPROF
HEADER = "# cpprof 1\n# resource: cpu; gtick=microsecond; interval={}\n"
SAME = ("base", "now", "change", "low", "high", "visible", "verdict", "role",
        "p", "q")
WHOLE = ("change", "low", "high", "visible", "verdict")
claims = Claims()


def lines_of(lines):
    return [word for line in ("format json", *lines) for word in ("-e", line)]


def ask(files, *lines, base=()):
    """The documents of the lines that print one."""
    words = [word for path in base for word in ("--base", path)]
    done = cpprof.run("-q", *words, *lines_of(lines), *files)
    return [json.loads(line) for line in done.stdout.splitlines()]


def refusal(path, *lines):
    return cpprof.run("-q", *lines_of(lines), path, status=1).stderr.strip()


def text(path, *lines):
    return cpprof.run("-q", *[word for line in lines for word in ("-e", line)],
                      path).stdout


# ---- profiles ----

def random_stacks(draw, names, n, most=60):
    stacks = {}
    for _ in range(n):
        stack = ("main",) + tuple(draw.choice(names) for _ in range(
            draw.randrange(0, 7)))
        stacks[stack] = stacks.get(stack, 0) + draw.randrange(1, most)
    return stacks


def write(path, stacks, interval=1000):
    with open(path, "w", encoding="ascii") as file:
        file.write(HEADER.format(interval))
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {hits}\n")
    return path


def write_clusters(path, stacks):
    """As perf writes them: each sample stands for several hits."""
    with open(path, "w", encoding="ascii") as file:
        for i, (stack, hits) in enumerate(stacks.items()):
            for k in range(1 + hits // 20):
                file.write(f"prog 1 {i}.{k}: {20:10} cycles: \n")
                for name in reversed(stack):
                    file.write(f"\t10 {name}+0x1 (/x)\n")
                file.write("\n")
    return path


def merge(folder, hosts):
    """hosts: {name: path}; the file by id."""
    parts = []
    for name, path in hosts.items():
        parts.append(os.path.join(folder, f"part-{name}"))
        cpprof.run("merge", "--by", "id", "--id", name, "-o", parts[-1], path)
    out = os.path.join(folder, "fleet")
    cpprof.run("merge", "-o", out, *parts)
    return out


def random_fleet(draw, folder, is_clustered=False, differs=False):
    """The file, and {name: path} of both sides; hosts differ in load."""
    names = [f"f{i}" for i in range(draw.randrange(2, 8))]
    shared = random_stacks(draw, names, draw.randrange(2, 25))
    shared[("main", "f1")] = shared[("main", "f0")] = 30
    hosts = {}
    for side in "old", "new":
        for i in range(draw.randrange(1, 6)):
            load = draw.uniform(0.7, 1.4)
            stacks = {stack: math.ceil(hits * load * draw.uniform(0.9, 1.1))
                      for stack, hits in shared.items()}
            stacks[("main", "f0", side)] = draw.randrange(1, 90)
            path = os.path.join(folder, f"{side}{i}")
            hosts[f"{side}{i}"] = write_clusters(path, stacks) \
                if is_clustered else write(path, stacks, draw.choice(
                    (1000, 2000)) if differs else 1000)
    return merge(folder, hosts), hosts


def side_of(hosts, start):
    return [path for name, path in sorted(hosts.items())
            if name.startswith(start)]


# ---- the same answers ----

def is_near(a, b):
    if isinstance(a, str) or a is None or b is None:
        return a == b
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def differences(got, want):
    """What differs between two documents of a comparison."""
    wrong = [(key, got["whole"][key], want["whole"][key]) for key in WHOLE
             if not is_near(got["whole"][key], want["whole"][key])]
    for side in "base", "now":
        if got[side]["runs"] != want[side]["runs"] or \
                not is_near(got[side]["mean"], want[side]["mean"]):
            wrong.append((side, got[side], want[side]))
    rows = [{tuple(row["path"]): row for row in table["rows"]}
            for table in (got, want)]
    if rows[0].keys() != rows[1].keys():
        wrong.append(("paths", rows[0].keys() ^ rows[1].keys()))
    for path in rows[0].keys() & rows[1].keys():
        wrong += [(path, key, rows[0][path][key], rows[1][path][key])
                  for key in SAME if key in rows[1][path] and not is_near(
                      rows[0][path][key], rows[1][path].get(key))]
    return wrong


VIEWS = ["functions", "body", "top", "tree", "flat", "down main", "up f0",
         "callers f0", "callees f0", "functions all f*", "path main f0"]


def queries(draw, lines, n=4):
    """Some views; of a function only where no group took it."""
    has_group = any(line.startswith("group") for line in lines)
    return [f"diff {view}" for view in draw.sample(
        VIEWS[:6] if has_group else VIEWS, n)]


def check_same(hint, fleet, sides, base, now, lines, asked, n_rows):
    """sides: of base; base, now: files; lines: before the views asked."""
    got = ask([fleet], f"base {sides}", *lines, *asked)
    want = ask(now, *(line for line in lines if " label id=" not in line),
               *asked, base=base)
    wrong = []
    for line, one, other in zip(asked, got, want, strict=True):
        wrong += [(hint, sides, lines, line, *what)
                  for what in differences(one, other)[:3]]
        n_rows.append(len(one["rows"]))
    return wrong


def check_fleets(first):
    wrong, n_rows = [], []
    for seed in range(first, first + rounds(10)):
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            fleet, hosts = random_fleet(draw, folder, seed % 4 == 1,
                                        seed % 4 == 2)
            base, now = side_of(hosts, "old"), side_of(hosts, "new")
            scale = draw.choice(["scale absolute", "scale work 1.5",
                                 "scale robust", "scale by main"])
            lines = ["threshold 0", "root main", "startup show", scale,
                     *draw.choice([[], ["narrow f0"], ["group g = f0 f1"],
                                   ["drop f1", "narrow main"]])]
            for sides in ("label id=old*", "label id=old* against id=new*"):
                wrong += check_same(seed, fleet, sides, base, now, lines,
                                    queries(draw, lines), n_rows)
    claims.make("a merged profile's hosts compare like their files",
                wrong or ([] if sum(n_rows) > 500 else n_rows))


def check_steps_of_key(first):
    """Hosts that steps about the key leave out are no runs without hits."""
    wrong, n_rows = [], []
    for seed in range(first, first + rounds(4)):
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            fleet, hosts = random_fleet(draw, folder)
            for step, kept in (("narrow label id=*0", "0"),
                               ("drop label id=*1", "02345")):
                base, now = ([path for path in side_of(hosts, side)
                              if path[-1] in kept] for side in ("old", "new"))
                if not any(name.endswith(step[-1]) for name in hosts):
                    continue		# then the step is an error
                lines = ["threshold 0", step]
                got = ask([fleet], *lines, "base label id=old*",
                          "diff functions", "diff tree")
                wrong += check_same(seed, fleet, "label id=old*", base, now,
                                    lines, ["diff functions", "diff tree"],
                                    n_rows)
                # The step is taken back.
                again = ask([fleet], "threshold 0", "base label id=old*",
                            "diff tree", step, "diff tree", "undo",
                            "diff tree")
                wrong += differences(again[0], again[2])
                wrong += differences(got[1], again[1])
    claims.make("steps about the key choose the hosts", wrong)


def check_sums(first):
    """By the oracle, and by merged files of each side; hosts have members."""
    wrong = []
    for seed in range(first, first + rounds(4)):
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            sums, parts = {}, {"old": [], "new": []}
            n = {"old": draw.randrange(1, 6), "new": draw.randrange(1, 6)}
            for side, n_hosts in n.items():
                stacks = []
                for i in range(n_hosts):
                    for k in range(draw.randrange(1, 4)):
                        member = random_stacks(draw, ["f0", "f1", "f2"], 6)
                        path = write(os.path.join(folder, f"{side}{i}-{k}"),
                                     member)
                        parts[side].append(path + ".part")
                        cpprof.run("merge", "--by", "id", "--id", f"{side}{i}",
                                   "-o", path + ".part", path)
                        stacks.append(member)
                added = {}
                for member in stacks:
                    for stack, hits in member.items():
                        added[stack] = added.get(stack, 0) + hits
                sums[side] = write(os.path.join(folder, side + ".sum"), added)
                cpprof.run("merge", "-o", os.path.join(folder, side),
                           *parts[side])
            fleet = os.path.join(folder, "fleet")
            cpprof.run("merge", "-o", fleet, *parts["old"], *parts["new"])
            for view, root in (("functions", None), ("tree", None),
                               ("down", "main"), ("up", "f0")):
                line = f"diff {view} {root or ''}"
                got, = ask([fleet], "threshold 0", "startup show",
                           "base label id=old*", line)
                apart, = ask([os.path.join(folder, "new")], "threshold 0",
                             "startup show", line,
                             base=[os.path.join(folder, "old")])
                want = []
                for side in "old", "new":
                    with open(sums[side], encoding="ascii") as file:
                        want.append(dict(oracle.view_rows(
                            oracle.Profile(file), view, root)))
                rows = {tuple(row["path"]): row for row in got["rows"]}
                merged = {tuple(row["path"]): row for row in apart["rows"]}
                if rows.keys() != want[0].keys() | want[1].keys() or \
                        rows.keys() != merged.keys():
                    wrong.append((seed, line, "paths"))
                    continue
                for path, row in rows.items():
                    for key, side, i in (("base", "old", 0),
                                         ("now", "new", 1)):
                        if not is_near(row[key] * n[side],
                                       want[i].get(path, 0)) or \
                                not is_near(row[key] * n[side],
                                            merged[path][key]):
                            wrong.append((seed, line, path, key, row,
                                          want[i].get(path)))
    claims.make("amounts are those of merged files of each side, per host",
                wrong)


# ---- labels of other profiles ----

def number_names(names):
    return {i + 1: name for i, name in enumerate(names)}


def write_pprof(path, samples, names):
    """samples: [(stack outermost first, hits, labels)]"""
    numbers = {name: i for i, name in number_names(names).items()}
    pprof_writer.write(path, [
        ([numbers[name] for name in reversed(stack)], hits, labels)
        for stack, hits, labels in samples], names=number_names(names),
        types=(("samples", "count"),))
    return path


def check_pprof(first):
    """Samples with labels, of which another one may be narrowed."""
    wrong, n_rows = [], []
    for seed in range(first, first + rounds(5)):
        draw = random.Random(seed)
        names = ["main"] + [f"f{i}" for i in range(5)]
        routes = [f"/old {i}" for i in range(draw.randrange(1, 4))] + \
            [f"/new {i}" for i in range(draw.randrange(1, 4))]
        samples = []
        for route in routes + [None]:
            for stack, hits in random_stacks(draw, names, 12, 200).items():
                labels = [("user", draw.choice("ab"), "")]
                if route is not None:
                    labels.append(("route", route, ""))
                samples.append((stack, hits, labels))
        draw.shuffle(samples)
        with tempfile.TemporaryDirectory() as folder:
            whole = write_pprof(os.path.join(folder, "all.pb.gz"), samples,
                                names)
            files = {route: write_pprof(
                os.path.join(folder, f"{i}.pb.gz"),
                [sample for sample in samples
                 if ("route", route, "") in sample[2]], names)
                for i, route in enumerate(routes)}
            base = [path for route, path in files.items() if "old" in route]
            now = [path for route, path in files.items() if "new" in route]
            for sides in ("label route=/old*",
                          "label route=/old* against route=/new*"):
                for lines in ([], ["narrow label user=a"],
                              ["narrow label user=a", "drop f1"]):
                    wrong += check_same(
                        seed, whole, sides, base, now,
                        ["threshold 0", "root main", *lines],
                        ["diff functions", "diff tree", "diff down main"] +
                        ["diff up f0"] * (len(lines) < 2), n_rows)
            # Stacks without the label are a value if they are asked for.
            rest = write_pprof(os.path.join(folder, "rest.pb.gz"),
                               [sample for sample in samples
                                if len(sample[2]) == 1], names)
            wrong += check_same(seed, whole,
                                "label route=/old* against route=[none]",
                                base, [rest], ["threshold 0"],
                                ["diff tree"], n_rows)
            unlabelled = sum(hits for _, hits, labels in samples
                             if len(labels) == 1)
            said = text(whole, "base label route=/old*", "diff functions")
            if f"; not compared: {unlabelled}" not in said.replace(",", "") \
                    and "without a value" not in said:
                wrong.append(said)
    claims.make("labels of pprof profiles compare like files of each value",
                wrong or ([] if sum(n_rows) > 500 else n_rows))


def check_numbers(folder):
    """Numbers have units, and a stack may have several values."""
    path = write_pprof(os.path.join(folder, "numbers.pb.gz"), [
        (("main",), 100, [("size", 64, "bytes")]),
        (("main",), 120, [("size", 128, "bytes")]),
        (("main", "f"), 70, [("size", 128, "bytes")]),
        (("main",), 130, [("size", 64, "bytes"), ("size", 256, "bytes")]),
        (("main",), 9, [])], ["main", "f"])
    both, = ask([path], "base label size=64 against size=128", "base")
    claims.check("numbers may be typed without their units, and a stack with "
                 "two values is a run of its own",
                 both["schema"] == "cpprof.sides/1" and both["key"] == "size"
                 and [(row["side"], row["value"]) for row in both["rows"]] ==
                 [("base", "256 bytes, 64 bytes"), ("base", "64 bytes"),
                  ("now", "128 bytes")], both)
    table, = ask([path], "base label size=64 against size=128",
                 "diff functions")
    rows = {row["path"][0]: (row["base"], row["now"])
            for row in table["rows"]}
    claims.check("and their hits are compared by value",
                 rows == {"main": (115, 190), "f": (0, 70)} and
                 table["base"]["runs"] == 2 and table["now"]["runs"] == 1 and
                 table["key"] == "size", table)
    both = refusal(path, "base label size=64 against size=256")
    claims.check("a stack on both sides is an error",
                 "size=256 bytes, 64 bytes matches both patterns" in both, both)


# ---- very many values ----

def host_samples(draw, n, names, factor):
    """Hosts of the same stacks by chance, f0 of a side times the factor."""
    samples = []
    for i in range(n):
        side = "old" if i < n // 3 else "new"
        load = draw.uniform(0.8, 1.25)
        for name in names[1:]:
            mean = 60 * load * (factor if side == "new" and name == "f0"
                                else 1)
            samples.append((("main", name),
                            max(1, round(draw.gauss(mean, mean ** 0.5))),
                            [("host", f"{side}{i}", "")]))
    return samples


def check_many(folder, first):
    """More values than columns are dealt to groups, and amounts stay per value."""
    names = ["main"] + [f"f{i}" for i in range(12)]
    wrong, alarms, found = [], 0, 0
    for seed in range(first, first + 6):
        draw = random.Random(seed)
        n, factor = 240, 1.25 if seed % 2 else 1
        samples = host_samples(draw, n, names, factor)
        path = write_pprof(os.path.join(folder, "many.pb.gz"), samples, names)
        tables = ask([path], "base label host=old*", "threshold 0",
                     "diff functions", "scale work 2", "diff functions",
                     "scale by main", "diff functions", "scale robust",
                     "diff functions")
        rows = [{row["path"][0]: row for row in table["rows"]}
                for table in tables]
        for i, table in enumerate(tables):
            if (table["base"]["runs"], table["now"]["runs"]) != (80, 160):
                wrong.append((seed, table["base"]))
            said = re.search("(?:has|does) ([0-9.]+) times", table["scale"])
            work = 2 if i < 2 else \
                rows[0]["f1"]["now"] / rows[i]["f1"]["now"]
            if i > 0 and not work * 0.99 < float(said[1]) < work * 1.01:
                wrong.append((seed, i, table["scale"], work))
            for name, row in rows[i].items():
                sums = [sum(hits for stack, hits, labels in samples
                            if name in stack and labels[0][1].startswith(side))
                        / count for side, count in (("old", 80),
                                                    ("new", 160))]
                work = 1 if i == 0 else 2 if i == 1 else \
                    rows[0]["main"]["now"] / rows[0]["main"]["base"] \
                    if i == 2 else rows[0]["f1"]["now"] / rows[3]["f1"]["now"]
                if not is_near(row["base"], sums[0]) or \
                        not is_near(row["now"], sums[1] / work):
                    wrong.append((seed, i, name, row, sums, work))
        changed = {name for name, row in rows[3].items()
                   if row["verdict"] in ("grew", "shrank")}
        found += factor > 1 and rows[3]["f0"]["verdict"] == "grew"
        alarms += bool(changed - {"f0", "main"} if factor > 1 else changed)
    claims.make("amounts of many values are per value", wrong)
    claims.check("their changes are found", found == 3 and alarms <= 1,
                 (found, alarms))
    said = text(path, "base label host=old*", "diff functions")
    claims.check("and the heading says what shows the noise",
                 "noise is estimated from 240 values of host, in 64 random "
                 "groups" in said and "host=old*, 80 values of" in said and
                 "all others of host, 160 values of" in said, said)


# ---- around it ----

def check_around(folder):
    draw = random.Random(5)
    fleet, hosts = random_fleet(draw, folder)
    base, now = side_of(hosts, "old"), side_of(hosts, "new")
    line = "diff functions"
    want, = ask([fleet], "base label id=old*", line)
    listed, files = ask([fleet], "base label id=old*", "base",
                        f"base {base[0]}", "base")
    claims.check("base lists the values of both sides",
                 [(row["side"], row["value"]) for row in listed["rows"]] ==
                 [("base", name) for name in sorted(hosts)
                  if name.startswith("old")] +
                 [("now", name) for name in sorted(hosts)
                  if name.startswith("new")], listed)
    claims.check("files take the place of a label",
                 files["schema"] == "cpprof.runs/1" and
                 files["rows"][0]["file"] == base[0], files)
    script = os.path.join(folder, "saved")
    for sides in "label id=old*", "label id=old* against id=new*", \
            "label |id=old0| against id=new0":
        first, = ask([fleet], f"base {sides}", "narrow f0", line,
                     f"save {script}", "base off")
        again, = ask([fleet], f"source {script}", line)
        claims.check(f"save keeps {sides}",
                     not differences(again, first), (again, first))
    named = [write(os.path.join(folder, name), {("main",): 9})
             for name in ("label", "x")]
    done = subprocess.run([CPPROF, "-q", "--base", "label", "--base", "x",
                           "-e", "save", fleet], capture_output=True,
                          text=True, check=True, cwd=folder, timeout=60)
    claims.check("a file may be called label", named and
                 "\nbase ./label x\n" in done.stdout, done.stdout)
    out = refusal(fleet, "base label id=old*", "base off", line)
    claims.check("base off forgets the sides",
                 "nothing to compare with" in out, out)
    again = ask([fleet], "base label id=old*", "reload", line,
                f"load {now[0]}", f"load {fleet}", line)
    claims.check("the sides stay when a profile is loaded",
                 not differences(again[0], want) and
                 not differences(again[1], want), again)
    out = refusal(fleet, "base label id=old*", f"load {now[0]}", line)
    claims.check("unless it has no such label",
                 "the profile has no labels" in out, out)
    held = {}
    for side in ((), base):
        words = [word for path in side for word in ("--base", path)]
        lines = ["assert change functions main below 1s",
                 "assert change functions f0 below 50%"]
        if not side:
            lines.insert(0, "base label id=old*")
        done = subprocess.run(
            [CPPROF, "-q", *words, *lines_of(lines),
             *(now if side else [fleet])], capture_output=True, text=True,
            timeout=60, check=False)
        held[bool(side)] = (done.returncode, [
            {key: row[key] for key in ("verdict", "value", "low", "high")}
            for out in done.stdout.splitlines()
            for row in json.loads(out)["rows"]])
    claims.check("assert change asks the values",
                 held[False][0] == held[True][0] and
                 len(held[False][1]) == 2 and
                 all(is_near(a[key], b[key]) for a, b in zip(
                     held[False][1], held[True][1]) for key in a), held)
    picture = os.path.join(folder, "flame.svg")
    cpprof.run("-q", "-e", "base label id=old*", "-e", f"diff flame {picture}", fleet)
    with open(picture, encoding="utf-8") as file:
        svg = file.read()
    claims.check("a flame graph compares them", "grew" in svg or "likely" in
                 svg or "noise" in svg, svg[:2000])
    one = text(fleet, "base label id=old0 against id=new0", line)
    claims.check("one value on each side is one run on each side",
                 "one value on each side: no verdict can be stronger than likely" in
                 one and "each value of id stands for a run" in one, one)


def check_errors(folder):
    fleet, hosts = random_fleet(random.Random(6), folder)
    single = next(iter(hosts.values()))
    calls = os.path.join(HERE, "..", "sample-data", "rdparse.callgrind.gz")
    for path, line, wanted in (
            (fleet, "base label hots=old*", "no label is called hots"),
            (fleet, "base label id=odl0", "did you mean old0"),
            (fleet, "base label id=old* against id=nwe0",
             "no value of id matches nwe0; did you mean new0"),
            (fleet, "base label id=*", "all values of id match"),
            (fleet, "base label id", "all values of id match"),
            (fleet, "base label id=old* against id=*0", "matches both patterns"),
            (fleet, "base label id=old* against id=[none]",
             "there are no stacks of id=[none]"),
            (fleet, "base label id=old* against host=new*",
             "both patterns must name the same label: id"),
            (fleet, "base label id=old* against", "against needs a label"),
            (fleet, "base label id=old* against label",
             "both patterns must name the same label"),
            (fleet, "base label =old*", "expected a label"),
            (fleet, "base label", "For a file named label, write ./label"),
            (fleet, "base label id=/(/", "(/"),
            (single, "base label id=old*", "the profile has no labels"),
            (calls, "base label id=old*", "no stacks")):
        out = refusal(path, line)
        claims.check(f"refused: {line} of {os.path.basename(path)}",
                     wanted in out and len(out.splitlines()) == 1, out)
    out = refusal(fleet, "base label id=old*", "narrow label id=old*",
                  "diff functions")
    claims.check("a side that the steps leave nothing of is an error",
                 "match" in out or "remove all stacks" in out, out)
    # An error leaves the base that was set before.
    table, = ask([fleet], "base label id=old*", "diff functions")
    done = subprocess.run(
        [CPPROF, "-q", "--keep-going", *lines_of(["base label id=old*",
                                        "base label id=nothing",
                                        "diff functions"]), fleet],
        capture_output=True, text=True, timeout=60, check=False)
    claims.check("an error leaves the sides as they were", done.stdout and
                 not differences(json.loads(done.stdout), table), done)


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    check_fleets(first)
    check_steps_of_key(first)
    check_sums(first)
    check_pprof(first)
    with tempfile.TemporaryDirectory() as folder:
        check_numbers(folder)
    with tempfile.TemporaryDirectory() as folder:
        check_many(folder, first)
    with tempfile.TemporaryDirectory() as folder:
        check_around(folder)
    with tempfile.TemporaryDirectory() as folder:
        check_errors(folder)
    claims.end()


main()
