#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns of several resources, against brute force and each resource alone.

    columns.py [FIRST-SEED]

Random profiles, most of them recursive, have several resources with gticks and
intervals of their own.  oracle.py, which has no tree and shares nothing with
cpprof, says what every row has of each resource; fractions, ratios and
differences are computed here from whole numbers.  For calls without stacks,
and after steps, the numbers are those of cpprof with each resource alone.
"""
import csv
import fractions
import gzip
import io
import json
import os
import random
import re
import sys
import tempfile

import cpprof
import oracle
from claims import Claims
from terminal import Terminal, has_terminals

SOURCE = os.environ.get("srcdir", ".")
SAMPLES = os.path.join(SOURCE, "sample-data")
PROCESS_DB = os.path.join(SAMPLES, "process_db-recorded.folded")
CALLGRIND = os.path.join(SAMPLES, "rdparse.callgrind.gz")
N_PROFILES = 60
claims = Claims()


def run(arguments, commands, status=0, script=None):
    """Standard output and error of cpprof with these commands."""
    words = [word for command in commands for word in ("-e", command)]
    done = cpprof.run("-q", *arguments, *(words if script is None else ()),
                      status=status, input=script or "")
    return done.stdout, done.stderr


def documents(path, commands, settings=()):
    """What each command prints, as JSON."""
    answer, _ = run(["-F", "json", "-e", "threshold 0", path],
                    [*settings, *commands])
    found = [json.loads(line) for line in answer.splitlines()]
    assert len(found) == len(commands), (commands, len(found))
    return found


# ---- formulas ----

SIZES = {"microsecond": 1000, "nanosecond": 1, "hundredth of a second": 10**7,
         "byte": 1, "kB": 1000}
TIMES = ("microsecond", "nanosecond", "hundredth of a second")


def kind(resource):
    gtick = resource["gtick"]
    return "time" if gtick in TIMES else "space" if gtick in SIZES else None


class Formula:
    """A ratio, or a difference of multiples; units are in their usual form."""

    UNITS = {"ms": ("time", 10**6), "s": ("time", 10**9), "us": ("time", 1000),
             "KiB": ("space", 1024), "MiB": ("space", 1 << 20),
             "B": ("space", 1)}

    def __init__(self, name, left, sign, right, factors=("", "")):
        self.name, self.left, self.sign, self.right = name, left, sign, right
        self.factors = factors

    def typed(self):
        terms = [(f"{factor} * " if factor else "") + oracle.quoted(name)
                 for factor, name in zip(self.factors, (self.left, self.right))]
        return (f"column {oracle.quoted(self.name)} = {terms[0]} {self.sign} "
                f"{terms[1]}")

    def wanted_unit(self, part, resource):
        unit = self.UNITS.get(part)
        return unit[1] if unit and unit[0] == kind(resource) else None

    def units(self, left, right):
        """What a gtick of each counts for, as fractions."""
        sizes = [fractions.Fraction(SIZES.get(one["gtick"], 1))
                 for one in (left, right)]
        alike = kind(left) == kind(right)
        named = [None, None]
        if self.sign == "/" and "/" in self.name:
            before, _, after = self.name.rpartition("/")
            named = [self.wanted_unit(before, left),
                     self.wanted_unit(after, right)]
        if self.sign == "/" and alike and kind(left) and None in named:
            return sizes
        if self.sign == "-" and not alike:
            return [fractions.Fraction(1)] * 2
        usual = [{"time": 10**6, "space": 1}.get(kind(left), 1),
                 {"time": 10**6, "space": 1024 if self.sign == "/" else 1}.get(
                     kind(right), 1)]
        return [size / (unit or other)
                for size, unit, other in zip(sizes, named, usual)]

    def value(self, hits, resources):
        """A fraction; None: 0 / 0; an infinity: x / 0."""
        left, right = resources[self.left], resources[self.right]
        amounts = [hits[name] * one["interval"] * unit *
                   fractions.Fraction(factor or 1)
                   for name, one, unit, factor in zip(
                       (self.left, self.right), (left, right),
                       self.units(left, right), self.factors)]
        if self.sign == "-":
            return amounts[0] - amounts[1]
        if amounts[1] == 0:
            return None if amounts[0] == 0 else float("inf")
        return amounts[0] / amounts[1]


def is_close(got, wanted):
    if wanted is None or wanted == float("inf"):
        return got is None
    return got is not None and abs(got - float(wanted)) <= \
        1e-12 * max(abs(got), abs(float(wanted)), 1e-300)


# ---- random profiles ----

GTICKS = ("microsecond", "nanosecond", "hundredth of a second", "fault",
          "byte", "kB", "cycle", "")
NAMES = ("cpu", "page faults", "alloc-bytes", "real", "a/b", "hits", "x")


def random_profile(rng):
    """Its text, and its resources by name."""
    names = rng.sample(NAMES, rng.randint(1, 4))
    resources = {name: {"gtick": rng.choice(GTICKS),
                        "interval": rng.choice((1, 1, 10, 4000))}
                 for name in names}
    lines = ["# cpprof 1"]
    for name, resource in resources.items():
        gtick = f"gtick={resource['gtick']}; " if resource["gtick"] else ""
        lines.append(f"# resource: {name}; {gtick}"
                     f"interval={resource['interval']}")
        resource["gtick"] = resource["gtick"] or "sample"
    stacks = set()
    functions = "abcdef"[:rng.randint(1, 6)]
    for _ in range(rng.randint(1, 14)):
        depth = rng.randint(1, 10)
        stacks.add(tuple(rng.choice(functions) for _ in range(depth)))
    for stack in sorted(stacks):
        counts = [rng.choice((0, 0, 1, 2, 3, 10, 10**12)) for _ in names]
        lines.append(";".join(stack) + " " + " ".join(map(str, counts)))
    return "\n".join(lines) + "\n", resources


def random_formula(rng, resources):
    left, right = (rng.choice(list(resources)) for _ in range(2))
    name = rng.choice(("r", "per time", "f/ms", "f/s", "MiB/s", "ms/f",
                       "B/KiB", "q"))
    if rng.random() < 0.4:
        return Formula(name, left, "-", right, (rng.choice(("", "4", "0.5")),
                                                rng.choice(("", "3"))))
    return Formula(name, left, "/", right,
                   (rng.choice(("", "", "100")), ""))


def is_possible(formula, resources):
    """Whether the units in a ratio's name are those of its resources."""
    if formula.sign == "-" or "/" not in formula.name:
        return True
    before, _, after = formula.name.rpartition("/")
    return all(part not in Formula.UNITS or
               Formula.UNITS[part][0] == kind(resources[name])
               for part, name in ((before, formula.left),
                                  (after, formula.right)))


class Case:
    """A profile with columns: the list, and what is current."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.text, self.resources = random_profile(rng)
        self.formulas = {}
        for _ in range(rng.randint(0, 3)):
            formula = random_formula(rng, self.resources)
            if is_possible(formula, self.resources) and \
                    formula.name not in self.resources:
                self.formulas[formula.name] = formula
        names = list(self.resources) + list(self.formulas)
        self.shown = rng.sample(names, rng.randint(1, len(names)))
        shown_resources = [name for name in self.shown
                           if name in self.resources]
        self.current = (shown_resources or list(self.resources))[0]
        self.settings = [formula.typed() for formula in self.formulas.values()]
        self.settings.append("columns " + " ".join(map(oracle.quoted,
                                                       self.shown)))
        if not shown_resources:
            self.shown.append(self.current)
        self.profiles = {}
        for name in self.resources:
            self.profiles[name] = oracle.Profile(io.StringIO(self.text), name)

    def views(self):
        profile = self.profiles[self.current]
        for view, root in oracle.queries(profile):
            yield view, root
        for view in ("flat", "functions all"):
            yield view, None
        rng = random.Random(self.text)
        paths = [path for name in profile.functions
                 for path in oracle.down(profile, name)]
        for path in rng.sample(sorted(paths), min(3, len(paths))):
            yield "path", path

    def command(self, view, root):
        if view == "functions all":
            return "functions all *"
        if view == "path":
            return "path (" + " ".join(map(oracle.quoted, root)) + ")"
        return view + (" " + oracle.quoted(root) if root else "")

    def rows(self, name, view, root):
        """(path, hits) of each row, of one resource."""
        profile = self.profiles[name]
        if view == "path":
            return [(root, oracle.down(profile, root[0])[root])]
        same = {"flat": "body", "functions all": "functions"}
        return oracle.view_rows(profile, same.get(view, view), root)

    def sort_key(self, path, hits):
        """The first column, the largest first; what is empty comes last."""
        first = self.shown[0]
        if first in self.resources:
            return -hits[first]
        value = self.formulas[first].value(hits, self.resources)
        return float("inf") if value is None else -value


def tree_order(rows, key):
    """Nodes in preorder, siblings by a key."""
    below = {}
    for path, hits in rows:
        below.setdefault(path[:-1], []).append((path, hits))
    ordered, waiting = [], sorted(below.get((), []), key=key, reverse=True)
    while waiting:
        row = waiting.pop()
        ordered.append(row)
        waiting += sorted(below.get(row[0], []), key=key, reverse=True)
    return ordered


def expected_rows(case, view, root):
    """[(path, {resource: hits})] in order."""
    values = {name: dict(case.rows(name, view, root))
              for name in case.resources}
    rows = [(path, {name: values[name][path] for name in case.resources})
            for path, _ in case.rows(case.current, view, root)]
    if view == "tree":
        place = {path: i for i, (path, _) in enumerate(rows)}
        return tree_order(rows, lambda row: (case.sort_key(*row),
                                             place[row[0]]))
    return sorted(rows, key=lambda row: case.sort_key(*row))


def row_difference(case, got, path, hits):
    if got["path"] != list(path) or got["hits"] != hits[case.current]:
        return f"{got}, expected {path} {hits}"
    for name in case.shown:
        if name in case.formulas:
            value = case.formulas[name].value(hits, case.resources)
            if not is_close(got[name + ".value"], value):
                return f"{got}, expected {name} {value}"
        elif name != case.current:
            total = case.profiles[name].total
            if got[name + ".hits"] != hits[name] or not is_close(
                    got[name + ".fraction"],
                    fractions.Fraction(hits[name], total or 1)):
                return f"{got}, expected {name} {hits}"
    more = {key for key in got if "." in key} - {
        name + end for name in case.shown for end in
        ((".value",) if name in case.formulas else (".hits", ".fraction"))}
    return f"{got}: has {more}" if more else None


def check_case(case, path, seed):
    """What is not as the oracle says."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(case.text)
    views = list(case.views())
    found = documents(path, [case.command(*view) for view in views],
                      case.settings)
    n = 0
    for (view, root), document in zip(views, found):
        rows = expected_rows(case, view, root)
        wrong = [row_difference(case, got, *row)
                 for got, row in zip(document["rows"], rows)]
        wrong = [one for one in wrong if one]
        if len(rows) != len(document["rows"]):
            wrong.append(f"{len(document['rows'])} rows, not {len(rows)}")
        if document["resource"]["name"] != case.current:
            wrong.append(document["resource"])
        assert not wrong, (f"seed {seed}, {case.settings}, {view} {root}: "
                           f"{wrong[0]}\n{case.text}")
        n += len(rows)
    return n


def check_random(directory, first):
    n = 0
    for seed in range(first, first + N_PROFILES):
        n += check_case(Case(seed), os.path.join(directory, "random.folded"),
                        seed)
    assert n > 1000, n


# ---- each resource alone ----

def compare_with_alone(path, resources, commands, before=()):
    """With columns, rows have the numbers of each resource alone."""
    together = documents(path, commands, [*before, "columns " + " ".join(
        map(oracle.quoted, resources))])
    n = 0
    for name in resources[1:]:
        alone = documents(path, commands, [
            *before, "resource " + oracle.quoted(name)])
        main = documents(path, commands, [
            *before, "resource " + oracle.quoted(resources[0])])
        for command, table, other, own in zip(commands, together, alone,
                                              main):
            values = {tuple(row["path"]): row for row in other["rows"]}
            assert [(row["path"], row["hits"]) for row in own["rows"]] == [
                (row["path"], row["hits"]) for row in table["rows"]], command
            assert table["columns"][name + ".total"] == other["total"]
            for row, mine in zip(table["rows"], own["rows"]):
                its = values.get(tuple(row["path"]),
                                 {"hits": 0, "fraction": 0})
                assert row[name + ".hits"] == its["hits"], (command, row, its)
                assert is_close(row[name + ".fraction"], its["fraction"])
                if len(resources) == 2 and "estimated" in row:
                    assert row["estimated"] == (
                        mine["estimated"] or its.get("estimated", False)), \
                        (command, row, its)
                n += 1
    assert n > 5, n


def check_steps():
    commands = ["functions", "body", "top", "tree", "down main",
                "up name_field_lt", "callees uniquify_db",
                "path main uniquify_db"]
    for steps in (["narrow uniquify_db ... quick_sort"],
                  ["drop quick_sort"],
                  ["group sorting = quick_sort name_field_lt"],
                  ["group sorting => quick_sort name_field_lt *strcmp*",
                   "narrow uniquify_db", "percent refined"]):
        some = commands if not steps[0].startswith("group") else \
            ["functions", "body", "tree", "down main", "up sorting"]
        some = ["functions", "tree"] if steps[0].startswith("drop") else some
        if len(steps) > 1:
            some = ["functions", "tree", "down main"]
        compare_with_alone(PROCESS_DB, ["page-faults", "cpu"], some, steps)
    for setting in ("startup show", "percent root", "granularity module"):
        compare_with_alone(PROCESS_DB, ["cpu", "page-faults"],
                           ["functions", "tree"] if "module" in setting else
                           commands, [setting])


def events_file(directory):
    """The calls of the sample with two more events."""
    rng = random.Random(5)
    path = os.path.join(directory, "events.callgrind")
    with gzip.open(CALLGRIND, "rt") as file, open(path, "w") as out:
        for line in file:
            words = line.split()
            if line.startswith("events:"):
                line = "events: Ir Dr D1mr\n"
            elif line.startswith(("summary:", "totals:")):
                continue
            elif re.match(r"[-+*\d]\S* \d+$", line):
                ir = int(words[-1])
                data = rng.randint(0, ir)
                line = f"{words[0]} {ir} {data} {rng.randint(0, data)}\n"
            out.write(line)
    return path


def check_events(directory):
    path = events_file(directory)
    profile = documents(path, ["functions"])[0]["rows"]
    names = [row["path"][0] for row in profile[:4]]
    commands = ["functions", "body", "flat", "top", "functions all *"]
    for name in names:
        commands += [f"callers {oracle.quoted(name)}",
                     f"callees {oracle.quoted(name)}"]
    commands += ["down main", f"up {oracle.quoted(names[-1])}",
                 f"path main {oracle.quoted(names[1])}"]
    for resources in (["Ir", "Dr"], ["D1mr", "Ir"], ["Dr", "D1mr", "Ir"]):
        # Rows of estimated paths below half a hit exist for one event alone.
        compare_flows(path, resources, commands)


def compare_flows(path, resources, commands):
    """Each row is compared with `path` of the other resources alone."""
    together = documents(path, commands, ["columns " + " ".join(resources)])
    own = documents(path, commands, ["resource " + resources[0]])
    n = 0
    for command, table, mine in zip(commands, together, own):
        assert [(row["path"], row["hits"]) for row in table["rows"]] == [
            (row["path"], row["hits"]) for row in mine["rows"]], command
        rows = table["rows"][:40]
        paths = ["path (" + " ".join(map(oracle.quoted, row["path"])) + ")"
                 for row in rows]
        is_body = command in ("body", "flat", "top")
        for name in resources[1:]:
            if is_body:
                bodies = documents(path, ["body"], ["resource " + name])[0]
                values = {tuple(row["path"]): row for row in bodies["rows"]}
                its = [values[tuple(row["path"])] for row in rows]
            else:
                its = [one["rows"][0] for one in documents(
                    path, paths, ["resource " + name])]
            for row, other, before in zip(rows, its, mine["rows"]):
                assert row[name + ".hits"] == other["hits"], (command, row,
                                                              other)
                if command not in ("top", "flat"):
                    assert row["estimated"] >= max(
                        before["estimated"], other["estimated"]), (command,
                                                                   row)
                n += 1
    assert n > 20, n


def check_real_events():
    """A run of callgrind with 13 events, by function and by file."""
    path = os.path.join(SOURCE, "tests", "data", "callgrind", "cache.out.gz")
    rows = documents(path, ["functions"], ["limit 400"])[0]["rows"]
    names = [row["path"][0] for row in rows]
    some = [names[1], names[5], names[-1]]
    commands = ["functions", "flat", "body", "down main"]
    for name in some:
        commands += [f"callers {oracle.quoted(name)}",
                     f"path main {oracle.quoted(name)}"]
    compare_flows(path, ["Ir", "DLmr", "Bcm"], commands)


# ---- the commands ----

FAULTS = "column faults/ms = page-faults / cpu"


def check_text():
    """A line of 80 columns holds what matters; the numbers known by hand."""
    answer, _ = run([PROCESS_DB], [FAULTS, "columns cpu page-faults faults/ms",
                                   "top 2", "columns page-faults faults/ms",
                                   "top 1"])
    lines = answer.splitlines()
    for line in (
            "self      %  self+desc  page-faults      %  faults/ms  "
            "name",
            "1702  49.49       1702        25159  89.14      147.8  "
            "__strcmp_evex",
            "page-faults: 28223 hits, one per 10 faults",
            "faults/ms: page-faults per ms of cpu",
            "Top Functions for resource: page-faults"):
        assert line in lines, answer
    answer, _ = run([PROCESS_DB], ["unit gticks", "columns cpu page-faults",
                                   "top 1"])
    assert re.search(r"^1\.70 s  49\.49 +1\.70 s  251590 faults  89\.14  __str",
                     answer, re.MULTILINE), answer
    # 25159 hits of 10 faults in 1702 ms.
    assert abs(251590 / 1702 - 147.8) < 0.05


def check_list():
    """columns shows the list; resource changes its first one."""
    def list_after(*commands):
        answer, _ = run([PROCESS_DB], [*commands, "columns", "resource"])
        lines = answer.splitlines()
        current = [line.split()[-1] for line in lines
                   if line.startswith("*")]
        return lines[0].split()[1:], current[0]

    assert list_after() == (["off"], "cpu")
    assert list_after("columns page-faults cpu") == (
        ["page-faults", "cpu"], "page-faults")
    assert list_after("columns page-faults cpu", "resource cpu") == (
        ["cpu", "page-faults"], "cpu")
    assert list_after("columns page-faults", "resource cpu") == (
        ["cpu"], "cpu")
    assert list_after(FAULTS, "columns faults/ms page-faults",
                      "resource cpu") == (["faults/ms", "cpu"], "cpu")
    assert list_after(FAULTS, "columns faults/ms") == (["faults/ms"], "cpu")
    assert list_after(FAULTS, "columns cpu faults/ms",
                      "column faults/ms off") == (["cpu"], "cpu")
    assert list_after(FAULTS, "columns faults/ms",
                      "column faults/ms off") == (["off"], "cpu")
    assert list_after("columns pag", "columns off") == (["off"],
                                                        "page-faults")


def check_off():
    """After `columns off` everything is as before."""
    views = ["top", "flat", "functions", "down", "tree", "path main"]
    before = [view for view in views]
    plain, _ = run([PROCESS_DB], before)
    after, _ = run([PROCESS_DB], [FAULTS, "columns cpu faults/ms",
                                  "columns off", *views])
    assert plain == after, after


def check_save(directory):
    """show and save write what brings the columns back."""
    script = os.path.join(directory, "saved.cmd")
    formulas = [FAULTS, "column waste = 300 * cpu - 10 * page-faults",
                "column |a b| = cpu / cpu"]
    commands = [*formulas, "columns waste cpu |a b| faults/ms"]
    first, _ = run([PROCESS_DB], [*commands, f"save {script}", "functions",
                                  "show"])
    again, _ = run([PROCESS_DB], [f"source {script}", "functions", "show"])
    assert first == again, again
    with open(script, encoding="utf-8") as file:
        text = file.read()
    for line in commands:
        assert line + "\n" in text, text
    shown, _ = run([PROCESS_DB], [*commands, f"show > {script}"])
    again, _ = run([PROCESS_DB], [f"source {script}", "functions", "show"])
    assert first == again, again


def check_reload(directory):
    """Columns survive a reload, and profiles that lack them."""
    path = os.path.join(directory, "grows.folded")
    header = ("# cpprof 1\n# resource: cpu; gtick=ms; interval=1\n"
              "# resource: page-faults; gtick=fault; interval=1\n")

    def write(text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    write(header + "main;f 1 2\n")
    first, _ = run(["-F", "json", path], [
        FAULTS, "columns page-faults cpu faults/ms",
        f"!printf 'main;f 5 7\\n' >> {path}", "reload", "functions"])
    document = json.loads(first.splitlines()[-1])
    assert [(row["hits"], row["cpu.hits"]) for row in document["rows"]] == [
        (9, 6), (9, 6)], document
    assert document["rows"][0]["faults/ms.value"] == 1.5
    write("# cpprof 1\n# resource: cpu; gtick=ms; interval=1\nmain 3\n")
    other, notes = run(["-F", "json", PROCESS_DB], [
        FAULTS, "columns page-faults cpu faults/ms", f"load {path}",
        "functions", f"load {oracle.quoted(PROCESS_DB)}", "functions"])
    lines = [json.loads(line) for line in other.splitlines()]
    assert lines[0]["resource"]["name"] == "cpu", lines[0]
    assert lines[0]["rows"] == [{"hits": 3, "fraction": 1,
                                 "path": ["main"]}], lines[0]
    assert lines[1]["resource"]["name"] == "page-faults"
    assert "faults/ms.value" in lines[1]["rows"][0]
    assert notes.count("no column page-faults") == 1, notes
    assert notes.count("no column faults/ms") == 1, notes
    # The list and the formulas may come before a profile.
    early, _ = run(["-F", "json"], [
        FAULTS, "columns cpu faults/ms",
        f"load {oracle.quoted(PROCESS_DB)}", "top 1"])
    assert "faults/ms.value" in json.loads(early)["rows"][0]


def check_empty_cells(directory):
    """0 / 0 and x / 0, in order, in every format."""
    path = os.path.join(directory, "zero.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# cpprof 1\n# resource: a\n# resource: b\n"
                   "none 0 0\nonly 0 7\nhalf 4 2\nall 4 4\n")
    settings = ["threshold 0", "column b/a = b / a", "columns b/a"]
    answer, _ = run([path], [*settings, "functions"])
    rows = [line.split() for line in answer.split("---\n")[1].splitlines()]
    assert [row[0] for row in rows[:3]] == ["7/0", "1.000", "0.5000"], answer
    assert rows[3] == ["0", "0.00", "none"], answer
    found = documents(path, ["functions"], settings)[0]["rows"]
    assert [(row["path"][0], row["b/a.value"]) for row in found] == [
        ("only", None), ("all", 1), ("half", 0.5), ("none", None)], found
    answer, _ = run(["-F", "csv", path], [*settings, "functions"])
    table = list(csv.DictReader(io.StringIO(answer)))
    assert [row["b/a.value"] for row in table] == ["", "1", "0.5", ""], answer
    with open(path, "w", encoding="utf-8") as file:
        file.write("# cpprof 1\n# resource: a; gtick=us; interval=500\n"
                   "# resource: b; gtick=ms\nonly 6 0\n")
    answer, _ = run([path], ["column a/b = a / b", "columns a a/b", "top"])
    assert "6  100.00          6  3/0  only" in answer, answer


def check_errors():
    """Wrong words: one clear line that says what to type."""
    answer, errors = run([PROCESS_DB], ["column"])
    assert answer.startswith("no column is defined; ") and not errors, answer
    answer, errors = run([PROCESS_DB], ["column x = cpu / cpu", "column"])
    assert "x = cpu / cpu" in answer and "no column" not in answer, answer
    for command, words in (
            ("columns page-fault cpu cp", "cpu is named twice"),
            ("columns page-falts", "did you mean page-faults?"),
            ("columns faults/mss", "there is no resource faults/mss"),
            ("columns zzz", "resource lists the resources"),
            ("column faults/ms", "expected NAME = A / B"),
            ("column x = cpu", "expected NAME = A / B"),
            ("column x = cpu /", "expected NAME = A / B"),
            ("column x = / cpu", "expected NAME = A / B"),
            ("column x = 0 * cpu - cpu", "0: expected a positive number"),
            ("column x = 1e99 * cpu - cpu", "expected a positive number"),
            ("column x = nan * cpu - cpu", "expected a positive number"),
            ("column x = cpu / nothing", "there is no resource nothing"),
            ("column cpu = cpu / cpu", "cpu is a resource"),
            ("column off = cpu / cpu", "off is not a name"),
            ("column || = cpu / cpu", "give the column another name"),
            ("column y off", "no column y is defined"),
            ("column faults/s = cpu / page-faults",
             "page-faults does not count time"),
            ("column MiB/s = cpu / cpu", "cpu does not count bytes")):
        answer, errors = run([PROCESS_DB], [command], status=1)
        assert answer == "" and errors.count("\n") == 1 and words in errors, \
            (command, answer, errors)
    _, errors = run([PROCESS_DB], [FAULTS, "column y = faults/ms / cpu"],
                    status=1)
    assert "is a formula" in errors, errors
    many = [f"column c{i} = cpu / cpu" for i in range(8)]
    names = " ".join(f"c{i}" for i in range(8))
    run([PROCESS_DB], [*many, f"columns {names[:-3]}", "functions", "flat"])
    _, errors = run([PROCESS_DB], [*many, f"columns {names}"], status=1)
    assert "at most 7 columns" in errors, errors


def check_other_views():
    """Views of one resource say so in a line."""
    for command in ("graph main", "explain", "list main", "flame",
                    "disasm main"):
        answer, errors = run([PROCESS_DB], ["columns cpu page-faults",
                                            command], status=None)
        line = "columns: this view shows cpu alone"
        assert answer.count(line) == 1 or errors.count("\n") == 1, answer
    base = f"base {oracle.quoted(PROCESS_DB)}"
    for command in "never", "diff top", "diff tree":
        answer, _ = run([PROCESS_DB], [base, command])
        assert "columns:" not in answer, answer
        answer, _ = run([PROCESS_DB], ["columns cpu page-faults",
                                       base, command])
        assert answer.count(line) == 1, answer


def check_large_numbers(directory):
    """Hits up to 64 bits, and factors, stay finite and right."""
    path = os.path.join(directory, "large.folded")
    most = 2**64 - 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# cpprof 1\n# resource: a; gtick=x; interval={2**63}\n"
                   f"# resource: b; gtick=ns; interval={2**63}\n"
                   f"f {most} 1\n")
    row = documents(path, ["functions"], [
        "column p = a / b", "column d = 1e15 * a - b",
        "columns a b p d"])[0]["rows"][0]
    assert is_close(row["p.value"], most * 10**6), row
    assert is_close(row["d.value"], 10**15 * most * 2**63), row


def check_limits(directory):
    """The limit and the chains of equal paths go by all columns."""
    rows = documents(PROCESS_DB, ["functions"], [
        FAULTS, "columns faults/ms", "limit 3"])[0]
    values = [row["faults/ms.value"] for row in rows["rows"]]
    every = [row["faults/ms.value"] for row in documents(
        PROCESS_DB, ["functions"], [FAULTS, "columns faults/ms"])[0]["rows"]]
    assert values == every[:3], values
    path = os.path.join(directory, "chain.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# cpprof 1\n# resource: a\n# resource: b\n"
                   "main;f 0 3\nmain;f;g 5 1\n")
    for columns, paths in (("a", ["main f g"]),
                           ("a b", ["main f", "main f g"])):
        answer, _ = run([path], ["chains fold", "columns " + columns, "down"])
        assert [line.split("  ")[-1] for line in
                answer.split("---\n")[1].splitlines()[:-1]] == paths, answer


def check_when(directory):
    """When hits came is shown beside columns, of the current resource."""
    path = os.path.join(directory, "times.script")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(8):
            for event in ("cpu-clock", "faults"):
                if event == "faults" and i % 2:
                    continue
                file.write(f"prog 7 [0] {i}.000000: 1 {event}:\n"
                           f"\t1000 {'fg'[i // 4]} (prog)\n"
                           "\t2000 main (prog)\n\n")
    views = ["functions", "body", "down", "tree", "callees main", "top",
             "flat", "path main f"]
    names = [resource["name"] for resource in documents(
        path, ["resource"])[0]["rows"]]
    assert len(names) == 2, names
    plain = documents(path, views, ["when on", "resource " + names[0]])
    both = documents(path, views, [
        "when on", f"columns {names[0]} {names[1]}"])
    for view, one, two in zip(views, plain, both):
        assert one["rows"] and len(one["rows"]) == len(two["rows"]), view
        for row, other in zip(one["rows"], two["rows"]):
            assert row["when"] == other["when"] and len(row["when"]) > 2, view
            assert row == {key: other[key] for key in row}, (view, row, other)
    text, _ = run([path], ["when on", f"columns {names[0]} {names[1]}",
                           "functions", "tree"])
    assert text.count("  when") == 2, text


def check_sections(directory):
    """Threads, processes and labels, against sums over the samples."""
    rng = random.Random(3)
    path = os.path.join(directory, "threads.script")
    hits = {}
    with open(path, "w", encoding="utf-8") as file:
        for i in range(200):
            thread, event = rng.choice("abcd"), rng.choice(("cpu", "faults"))
            if (thread, event) == ("d", "cpu"):
                continue
            count, function = rng.randint(1, 9), rng.choice("fgh")
            file.write(f"{thread} {ord(thread)} [0] {i}.000000: {count} "
                       f"{event}:\n\t1000 {function} (prog)\n"
                       "\t2000 main (prog)\n\n")
            key = thread, event, function
            hits[key] = hits.get(key, 0) + count
    # In perf script, hits of an event that is no clock are samples' periods.
    for steps, functions in (([], "fgh"), (["narrow main f"], "f"),
                             (["drop g"], "fh")):
        sums = {thread: [sum(hits.get((thread, event, function), 0)
                             for function in functions)
                         for event in ("cpu", "faults")]
                for thread in "abcd"}
        tables = documents(path, ["threads", "threads all", "processes"], [
            "column r = faults / cpu", "columns r cpu faults", *steps])
        order = sorted(sums, key=lambda thread: (
            -sums[thread][1] / sums[thread][0] if sums[thread][0]
            else -float("inf"), -sums[thread][0], thread))
        for table in tables[:2]:
            rows = table["rows"]
            assert [row["name"] for row in rows] == order, (rows, sums)
            for row in rows:
                cpu, faults = sums[row["name"]]
                assert (row["hits"], row["faults.hits"]) == (cpu, faults), row
                assert is_close(row["r.value"],
                                fractions.Fraction(faults, cpu) if cpu
                                else None), row
        whole = tables[2]["rows"][0]
        assert [whole["hits"], whole["faults.hits"]] == [
            sum(one[i] for one in sums.values()) for i in range(2)], whole


def check_labels():
    """Labels have the hits of each resource alone."""
    heap = os.path.join(SOURCE, "tests", "data", "go", "heap.pb.gz")
    server = os.path.join(SAMPLES, "server.pb.gz")
    n = 0
    for path, command, key, names in (
            (heap, "labels bytes", "value", ["alloc_objects", "inuse_space"]),
            (heap, "labels", "key", ["inuse_space", "alloc_space"]),
            (server, "labels thread", "value", ["cpu", "real"]),
            (server, "threads", "name", ["real", "cpu"])):
        both = documents(path, [command], ["columns " + " ".join(names)])[0]
        alone = [{row[key]: row for row in documents(
            path, [command], ["resource " + name])[0]["rows"]}
            for name in names]
        for row in both["rows"]:
            assert row["hits"] == alone[0][row[key]]["hits"], row
            other = alone[1][row[key]]
            assert row[names[1] + ".hits"] == other["hits"], row
            assert is_close(row[names[1] + ".fraction"],
                            other["fraction"]), row
            n += 1
    assert n > 15, n


def check_width(directory):
    """On a terminal of 80 columns, rows fit; all numbers are there."""
    path = os.path.join(directory, "wide.folded")
    stack = ";".join(["main"] + [f"form::function_{i}"
                                 for i in range(9)])
    with open(path, "w", encoding="utf-8") as file:
        file.write("# cpprof 1\n# resource: cpu; gtick=ms; interval=1\n"
                   "# resource: page-faults; gtick=fault; interval=1\n"
                   f"{stack} 123456 7654321\n")
    terminal = Terminal("-q", path)
    terminal.expect("(cpprof main cpu) ")
    for command in (FAULTS, "columns cpu page-faults faults/ms"):
        terminal.type(command + "\n")
        terminal.expect("(cpprof main cpu) ")
    for view in ("down", "tree", "functions", "top", "flat", "body"):
        terminal.type(view + "\n")
        shown = terminal.expect("(cpprof main cpu) ")
        rows = [line.strip("\r") for line in shown.split("\n")
                if re.search("7654321  ?100.00", line)]
        assert rows and all(len(row) <= 80 for row in rows), shown
        assert all("62.00" in row and "function_" in row or "main" in row
                   for row in rows), shown
    terminal.type("quit\n")
    assert terminal.status() == 0


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    with tempfile.TemporaryDirectory() as directory:
        claims.attempt("random columns are those of the oracle",
                       check_random, directory, first)
        claims.attempt("after steps, columns are the resources alone",
                       check_steps)
        claims.attempt("events of calls without stacks, too",
                       check_events, directory)
        claims.attempt("a real run of callgrind, too", check_real_events)
        claims.attempt("text has the columns in a line", check_text)
        claims.attempt("the list follows the resource", check_list)
        claims.attempt("columns off brings the views back", check_off)
        claims.attempt("save and show write columns", check_save, directory)
        claims.attempt("columns survive reload and load", check_reload,
                       directory)
        claims.attempt("0 / 0 is empty, x / 0 is shown", check_empty_cells,
                       directory)
        claims.attempt("wrong words get a clear line", check_errors)
        claims.attempt("other views say that they have no columns",
                       check_other_views)
        claims.attempt("large numbers stay right", check_large_numbers,
                       directory)
        claims.attempt("limit and chains go by the columns", check_limits,
                       directory)
        claims.attempt("when is shown beside columns", check_when, directory)
        claims.attempt("threads and processes have columns", check_sections,
                       directory)
        claims.attempt("labels have columns", check_labels)
        if has_terminals():
            claims.attempt("rows fit a terminal of 80 columns", check_width,
                           directory)
        else:
            claims.skip("rows fit a terminal of 80 columns",
                        "no pseudo terminals")
    claims.end()


main()
