#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""diff.py -- two sets of runs are compared as section 2.14 of the manual says.

    diff.py [FIRST-SEED]

What each run used is computed by oracle.py from its file alone, so that the
tree in which cpprof compares runs has an outside witness.  Changes are planted,
and equal runs are samples of the same stacks, drawn with fixed seeds.
"""
import collections
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import cpprof
import oracle
from claims import Claims, rounds
from terminal import Terminal, has_terminals

CPPROF = cpprof.CPPROF
SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
SAMPLES = os.path.join(SOURCE, "sample-data")
HEADER = "# cpprof 1\n# resource: {}; gtick=microsecond; interval={}\n"
SVG = "{http://www.w3.org/2000/svg}"
claims = Claims()


# ---- files and commands ----

def write(path, stacks, resource="cpu", interval=1000):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADER.format(resource, interval) if interval else "")
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {hits}\n")
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return oracle.Profile(file)


def outputs(*words, status=0):
    done = cpprof.run("-q", *words, status=status)
    return done.stdout, done.stderr


def compare(base, now, *lines):
    """The documents of the lines that print one."""
    words = [word for path in base for word in ("--base", path)]
    for line in ("format json", *lines):
        words += ["-e", line]
    out, err = outputs(*words, *now)
    assert not err, err
    return [json.loads(line) for line in out.splitlines()]


def refusal(base, now, *lines):
    words = [word for path in base for word in ("--base", path)]
    for line in lines:
        words += ["-e", line]
    return outputs(*words, *now, status=1)[1].strip()


def rows_of(table):
    return {tuple(row["path"]): row for row in table["rows"]}


def verdicts(table):
    return {tuple(row["path"]): row["verdict"] for row in table["rows"]}


# ---- what is compared ----

def random_stacks(draw, names, n):
    stacks = {}
    for _ in range(n):
        stack = ("main",) + tuple(draw.choice(names) for _ in range(
            draw.randrange(1, 9)))
        stacks[stack] = stacks.get(stack, 0) + draw.randrange(0, 30)
    return stacks


def mean(values):
    return sum(values) / len(values)


def expected(base, now, view, root):
    """{path: (mean of the base, mean now)}"""
    sides = []
    for side in (base, now):
        runs = [dict(oracle.view_rows(run, view, root)) for run in side]
        sides.append(runs)
    paths = {path for runs in sides for run in runs for path in run}
    return {path: tuple(mean([run.get(path, 0) for run in runs])
                        for runs in sides) for path in paths}


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def check_against_oracle(folder, seed):
    draw = random.Random(seed)
    names = ["main"] + [f"f{i}" for i in range(draw.randrange(2, 7))]
    n_base, n_now = draw.randrange(1, 4), draw.randrange(1, 4)
    paths = []
    for i in range(n_base + n_now):
        side = names + (["old"] if i < n_base else ["new"])
        paths.append(write(os.path.join(folder, f"r{i}.folded"), random_stacks(
            draw, side, draw.randrange(1, 25))))
    runs = [read(path) for path in paths]
    base, now = runs[:n_base], runs[n_base:]
    functions = sorted({name for run in runs for name in run.functions})
    queries = [(view, None) for view in ("functions", "body", "top", "tree")]
    queries += [(view, name) for name in functions
                for view in ("down", "up", "callers", "callees")]
    lines = ["threshold 0", "startup show"]
    lines += [f"diff {view} {root or ''}" for view, root in queries]
    tables = compare(paths[:n_base], paths[n_base:], *lines)
    wrong = []
    for (view, root), table in zip(queries, tables):
        want = expected(base, now, view, root)
        got = rows_of(table)
        if want.keys() != got.keys():
            wrong.append((seed, view, root, "paths",
                          want.keys() ^ got.keys()))
            continue
        for path, (old, new) in want.items():
            row = got[path]
            if not (near(row["base"], old) and near(row["now"], new) and
                    near(row["change"], new - old)):
                wrong.append((seed, view, root, path, old, new, row))
            if (row["change_fraction"] is None) != (old == 0):
                wrong.append((seed, view, root, path, row))
    assert len(tables) == len(queries)
    return wrong


def check_steps_of_base(folder):
    """What only the base has can be renamed and selected."""
    base = write(os.path.join(folder, "b.folded"), {
        ("main", "read_all"): 400, ("main", "gone", "x"): 100})
    now = write(os.path.join(folder, "n.folded"), {
        ("main", "read_some"): 300, ("main", "y"): 50})
    for line in ("group read_some = read_all", "narrow gone", "drop gone"):
        error = refusal([], [now], line)
        assert "no frame is called" in error, error

    def ask(*lines):
        words = [word for line in ("format json", "threshold 0", *lines)
                 for word in ("-e", line)]
        out, err = outputs("--base", base, *words, now)
        assert "step 1 matches only the base" in err, err
        return [json.loads(line) for line in out.splitlines()]

    table, alone = ask("group read_some = read_all", "diff functions",
                       "functions")
    row = rows_of(table)[("read_some",)]
    assert (row["base"], row["now"]) == (400, 300), row
    assert ("read_all",) not in rows_of(table), table
    assert {tuple(row["path"]): row["hits"] for row in alone["rows"]} == {
        ("main",): 350, ("read_some",): 300, ("y",): 50}, alone
    table, = ask("narrow gone", "diff functions")
    rows = rows_of(table)
    assert (rows[("main",)]["base"], rows[("main",)]["now"]) == (100, 0), rows
    table, = ask("drop gone", "diff functions")
    assert rows_of(table)[("main",)]["base"] == 400, table
    error = refusal([base], [now], "narrow neither")
    assert "no frame is called neither" in error, error
    script = os.path.join(folder, "saved.cmd")
    first = ask("group read_some = read_all", f"save {script}",
                "diff functions")[-1]
    out = outputs("-x", script, "-e", "diff functions", now)[0]
    assert json.loads(out) == first, out


def check_threshold(folder):
    """Shown is what has the threshold's share of either side."""
    base = write(os.path.join(folder, "b.folded"), {
        ("main", "a"): 97, ("main", "gone"): 2, ("main", "small"): 1})
    now = write(os.path.join(folder, "n.folded"), {
        ("main", "a"): 10000, ("main", "small"): 50, ("main", "come"): 150})
    table, = compare([base], [now], "threshold 1.2%", "diff body")
    assert set(rows_of(table)) == {("a",), ("gone",), ("come",)}, table
    assert table["hidden"] == 2, table
    table, = compare([base], [now], "threshold 1%", "diff body")
    assert ("small",) in rows_of(table), table


def check_steps(folder):
    """Steps and groups select and rename on both sides."""
    base = write(os.path.join(folder, "b.folded"), {
        ("main", "x_a", "m"): 40, ("main", "y", "m"): 60,
        ("main", "x_b", "m"): 7})
    now = write(os.path.join(folder, "n.folded"), {
        ("main", "x_c", "m"): 90, ("main", "y", "m"): 60})
    tables = compare([base], [now], "threshold 0", "group x = x_*",
                     "diff down", "narrow x", "diff functions", "undo",
                     "drop x", "diff functions")
    rows = rows_of(tables[0])
    assert rows[("main", "x", "m")]["base"] == 47, rows
    assert rows[("main", "x", "m")]["now"] == 90, rows
    rows = rows_of(tables[1])
    assert rows[("main",)]["base"] == 47 and rows[("main",)]["now"] == 90
    assert ("y",) not in rows or rows[("y",)]["base"] == 0, rows
    assert tables[1]["base"]["mean"] == 47, tables[1]
    rows = rows_of(tables[2])
    assert rows[("main",)]["base"] == rows[("main",)]["now"] == 60, rows
    text = outputs("--base", base, "-e", "narrow y", "-e", "diff", now)[0]
    assert "base: 1 run, 60.0 ms left; now: 1 run, 60.0 ms left" in text, text
    text = outputs("--base", base, "-e", "diff", now)[0]
    assert "base: 1 run of 107 ms; now: 1 run of 150 ms" in text, text


# ---- noise ----

SHAPE = {
    ("main", "parse", "lex"): 200, ("main", "parse", "build", "malloc"): 150,
    ("main", "eval", "apply", "malloc"): 100,
    ("main", "eval", "apply", "eval", "lookup"): 250,
    ("main", "print", "format"): 100,
    **{("main", "misc", f"f{i}"): 20 for i in range(10)},
}


def sample(draw, shape, n):
    """A run: n samples of the stacks, on average, each by chance alone."""
    total = sum(shape.values())
    drawn = {}
    for stack, weight in shape.items():
        chance = weight / total
        hits = sum(draw.random() < chance for _ in range(n))
        if hits:
            drawn[stack] = hits
    return drawn


def sides(folder, seed, base, now, n_runs, n=2000):
    draw = random.Random(seed)
    paths = []
    for name, shape in (("b", base), ("n", now)):
        scale = sum(shape.values()) / sum(SHAPE.values())
        paths.append([write(os.path.join(folder, f"{name}{i}.folded"),
                            sample(draw, shape, round(n * scale)))
                      for i in range(n_runs)])
    return paths


def check_equal(folder, n_runs, cases, most):
    """Of equal runs, few comparisons call anything changed."""
    alarms = []
    for seed in range(cases):
        base, now = sides(folder, seed, SHAPE, SHAPE, n_runs)
        table, = compare(base, now, "diff down")
        called = {path: verdict for path, verdict in verdicts(table).items()
                  if verdict not in ("noise", "moved", "undecided")}
        if called:
            alarms.append((seed, called))
    assert len(alarms) <= most, alarms


def check_planted(folder):
    """A path that grew, one that vanished and one that came are found."""
    slower = dict(SHAPE)
    slower[("main", "parse", "build", "malloc")] *= 2
    slower[("main", "misc", "extra")] = 40
    del slower[("main", "print", "format")]
    base, now = sides(folder, 5, SHAPE, slower, 5)
    table, functions = compare(base, now, "diff down", "diff functions")
    found = verdicts(table)
    for path, verdict in (
            (("main", "parse"), "grew"), (("main", "parse", "lex"), "noise"),
            (("main", "parse", "build", "malloc"), "grew"),
            (("main", "misc", "extra"), "grew"),
            (("main", "print"), "shrank"),
            (("main", "eval"), "noise")):
        assert found[path] == verdict, (path, found)
    rows = rows_of(table)
    assert rows[("main", "print")]["now"] == 0, rows
    assert rows[("main", "misc", "extra")]["base"] == 0, rows
    row = rows[("main", "parse", "build", "malloc")]
    assert row["low"] < 300 < row["high"], row
    assert 0 < row["visible"] < 300, row
    assert verdicts(functions)[("build",)] == "grew", functions
    for view in (table, functions):
        keys = [(row.get("role") is not None,
                 row["verdict"] in ("grew", "shrank"), abs(row["change"]))
                for row in view["rows"]]
        plain = [key[1:] for key in keys if not key[0]]
        assert plain == sorted(plain, reverse=True), plain
        assert keys == sorted(keys, key=lambda key: not key[0]), keys
    one, = compare(base[:1], now[:1], "diff down")
    kinds = set(verdicts(one).values())
    assert "likely" in kinds and not kinds & {"grew", "shrank"}, kinds


def check_roles(folder):
    """The shortest path that changed, then the longest with most of it."""
    slower = dict(SHAPE)
    slower[("main", "parse", "build", "malloc")] += 190
    slower[("main", "eval", "apply", "eval", "lookup")] -= 190
    base, now = sides(folder, 6, SHAPE, slower, 5)
    table, up = compare(base, now, "diff down main", "diff up malloc")
    first = [(tuple(row["path"]), row["role"]) for row in table["rows"]
             if row["role"]]
    assert [row["role"] for row in table["rows"]][:len(first)] == \
        [role for _, role in first], table
    paths = dict(first)
    assert verdicts(table)[("main",)] == "moved", table
    assert paths[("main", "parse")] == "shortest", first
    assert paths[("main", "parse", "build", "malloc")] == "longest", first
    assert paths[("main", "eval")] == "shortest", first
    roles = {tuple(row["path"]): row["role"] for row in up["rows"]}
    assert roles[("malloc",)] == "shortest", roles
    assert roles[("main", "parse", "build", "malloc")] == "longest", roles


def check_most(folder):
    """The longest path still has 80% of the change of the shortest."""
    def side(name, b, c):
        return [write(os.path.join(folder, f"{name}{i}.folded"), {
            ("main", "a", "b"): b, ("main", "a", "c"): c,
            ("main", "z"): 20000 + i}) for i in range(3)]

    for part, longest in (790, ("main", "a")), (810, ("main", "a", "b")):
        table, = compare(side("b", 2000, 2000),
                         side("n", 2000 + part, 3000 - part),
                         "diff down main")
        roles = {row["role"]: tuple(row["path"]) for row in table["rows"]}
        assert roles["shortest"] == ("main",), (part, roles)
        assert roles["longest"] == longest, (part, roles)


def check_totals(folder):
    """Totals that differ by more than 5% are pointed out."""
    base = write(os.path.join(folder, "b.folded"), {("main",): 10000})
    for hits, differ in (10490, False), (10510, True), (9510, False), \
            (9490, True):
        now = write(os.path.join(folder, "n.folded"), {("main",): hits})
        text = outputs("--base", base, "-e", "diff", now)[0]
        assert ("the totals differ" in text) == differ, (hits, text)


def check_moved(folder):
    """What moved from one callee to another did not grow."""
    moved = dict(SHAPE)
    moved[("main", "eval", "apply", "malloc")] += 150
    moved[("main", "eval", "apply", "eval", "lookup")] -= 150
    base, now = sides(folder, 7, SHAPE, moved, 5)
    found = verdicts(compare(base, now, "diff down")[0])
    assert found[("main", "eval", "apply")] == "moved", found
    assert found[("main", "eval", "apply", "malloc")] == "grew", found
    assert found[("main", "eval", "lookup")] == "shrank", found


def check_undecided(folder):
    """Counts that are not said to be samples say nothing of their noise."""
    base = write(os.path.join(folder, "b.folded"), SHAPE, interval=0)
    slower = dict(SHAPE)
    slower[("main", "print", "format")] = 1000
    now = write(os.path.join(folder, "n.folded"), slower, interval=0)
    table, = compare([base], [now], "diff functions")
    assert set(verdicts(table).values()) == {"undecided"}, table
    row = rows_of(table)[("print",)]
    assert row["low"] is None and row["p"] is None, row
    assert row["change"] == 900, row


def check_prompt(folder):
    """Rows have numbers, also those of what vanished."""
    slower = dict(SHAPE)
    slower[("main", "parse", "build", "malloc")] *= 3
    del slower[("main", "print", "format")]
    base, now = sides(folder, 8, SHAPE, slower, 1)
    terminal = Terminal("-n", "-q", "--base", base[0], now[0], columns=100,
                        rows=60)
    terminal.expect("main cpu) ")
    terminal.type("diff body\n")
    shown = terminal.expect("main cpu) ").replace("\r", "").splitlines()
    row = next(line for line in shown if line.endswith(" format"))
    assert " likely " in row and "-100.00" in row, row
    number = row.split()[0]
    terminal.type(f"diff up %{number}\n")
    assert "main print format" in terminal.expect("main cpu) ")
    terminal.type("up format\n")
    assert "no function" in terminal.expect("main cpu) ")
    terminal.type("diff caller\t mallo\t\n")
    assert "build malloc" in terminal.expect("main cpu) ")
    terminal.type("watch diff top 1\n")
    assert "malloc" in terminal.expect("main cpu) ")
    terminal.type("reload\n")
    terminal.expect("main cpu) ")
    terminal.type("diff top 1\n")
    assert "malloc" in terminal.expect("main cpu) ")
    terminal.type("\x04")
    assert terminal.status() == 0


def check_widths(folder):
    """On a terminal each row is one line, with the end of its path."""
    names = ["parse", "build_everything", "form::load", "form::row_of_table"]
    stacks = {("main", *(f"form::step_{i}" for i in range(4)), name): 300 + i
              for i, name in enumerate(names)}
    base, now = sides(folder, 9, stacks, {
        stack: hits * (3 if "parse" in stack else 1)
        for stack, hits in stacks.items()}, 1)
    for columns in 80, 90, 120:
        terminal = Terminal("-n", "-q", "--base", base[0], now[0],
                            columns=columns, rows=60)
        terminal.expect("main cpu) ")
        for view in "down main", "functions", "tree", "top":
            terminal.type(f"diff {view}\n")
            shown = terminal.expect("main cpu) ").replace("\r", "")
            head, lines, foot = re.split("\n---+\n", shown)
            lines = lines.splitlines()
            assert max(map(len, lines)) <= columns, shown
            assert all(re.match(r" *[0-9]+ +[0-9.]+ (ms|s) ", line)
                       for line in lines), shown
            for name in names:
                last = name.split("::")[-1]
                assert any(line.endswith(last) for line in lines), shown
            is_left_out = re.search(
                '"visible" needs? a wider terminal', foot) is not None
            assert is_left_out == (columns == 80), shown
            assert ("visible" in head.splitlines()[-1]) != is_left_out, shown
        terminal.type("\x04")
        assert terminal.status() == 0


def check_nothing(folder):
    """Runs without hits, and runs of which steps leave nothing."""
    empty = write(os.path.join(folder, "e.folded"), {("main",): 0})
    full = write(os.path.join(folder, "f.folded"), SHAPE)
    for base, now in ((empty, empty), (empty, full), (full, empty)):
        for line in ("diff", "diff functions", "diff down main", "diff tree",
                     "diff up main", "diff flame", "diff path main",
                     "diff callers main"):
            table, = compare([base], [now], line)
            for row in table["rows"]:
                assert row["verdict"] in ("noise", "likely", "undecided")
        outputs("--base", base, "-e", "diff flame", "-e",
            f"diff flame {folder}/x.svg", now)
    error = refusal([empty], [full], "scale by main", "diff")
    assert "no hits" in error and "\n" not in error, error
    error = refusal([empty], [full], "scale robust", "diff")
    assert "too few functions in common" in error and "\n" not in error, error


def check_number(folder):
    """A number of rows changes how many are shown, not what is said."""
    slower = dict(SHAPE)
    slower[("main", "parse", "lex")] += 60
    base, now = sides(folder, 9, SHAPE, slower, 3)
    all_rows, few = compare(base, now, "diff functions", "diff functions 4")
    assert few["rows"] == all_rows["rows"][:4], few


def check_many_changed(folder):
    """scale robust is not moved by many functions that changed to one side."""
    names = [f"f{i}" for i in range(40)]
    shape = {("main", name): 500 for name in names}
    for changed, factor, work in ((12, 2, 1), (18, 2, 1), (16, 0.4, 1),
                                  (12, 3, 1.5), (0, 1, 1.5)):
        now = {path: hits * work * (factor if i < changed else 1)
               for i, (path, hits) in enumerate(shape.items())}
        draw = random.Random(changed)
        paths = [[write(os.path.join(folder, f"{side}{i}.folded"), {
                      path: max(0, round(draw.gauss(hits, hits ** 0.5)))
                      for path, hits in mean.items()}) for i in range(3)]
                 for side, mean in (("b", shape), ("n", now))]
        table, = compare(*paths, "scale robust", "diff body")
        found = float(re.search(r"does ([0-9.]+) times", table["scale"])[1])
        assert abs(found / work - 1) < 0.025, (changed, table["scale"])
        rows = rows_of(table)
        wrong = [name for name in names[changed:]
                 if rows[(name,)]["verdict"] in ("grew", "shrank")]
        assert len(wrong) <= 2, (changed, wrong)


def check_robust_scale(folder):
    """How far off it may be; and functions with few hits have no say."""
    base, now = ([write(os.path.join(folder, f"{side}.folded"), {
        ("main", "f"): 2000,
        **{("main", f"g{i}"): few for i in range(3000)}})]
        for side, few in (("b", 1), ("n", 8)))
    table, = compare(base, now, "scale robust", "diff body")
    # The median of one ratio has the noise of 2/pi times its hits.
    half = 100 * 1.96 * math.sqrt(2 / (2000 * 2 / math.pi))
    assert f"does 1 times the work of one of the base (+-{half:.2g}%)" in \
        table["scale"], table["scale"]


# ---- pictures ----

def check_picture(folder):
    """Boxes are as wide as the larger side and have the verdict's colour."""
    slower = dict(SHAPE)
    slower[("main", "parse", "build", "malloc")] *= 2
    slower[("main", "eval", "apply", "malloc")] += 150
    slower[("main", "eval", "apply", "eval", "lookup")] -= 150
    slower[("main", "misc", "extra")] = 40
    del slower[("main", "print", "format")]
    base, now = sides(folder, 5, SHAPE, slower, 5)
    picture = os.path.join(folder, "picture.svg")
    lines = [word for path in base for word in ("--base", path)]
    outputs(*lines, "-e", f"diff flame {picture}", *now)
    boxes, rows, up, up_rows = map(rows_of, compare(
        base, now, "diff flame", "diff down", "diff flame up malloc",
        "diff up malloc"))
    assert boxes.keys() == rows.keys() and up.keys() == up_rows.keys()
    for path, box in [*boxes.items(), *up.items()]:
        row = rows[path] if path in rows else up_rows[path]
        assert abs(box["hits"] - max(row["base"], row["now"])) <= 0.5, box
        for key in ("base", "now", "change", "verdict"):
            assert box[key] == row[key], (path, key, box, row)
        assert 0 <= box["solid"] <= box["hits"], box
    assert boxes[("main", "print")]["now"] == 0
    colors = {}
    root = ElementTree.parse(picture).getroot()
    for element in root.iter(SVG + "svg"):
        if element.get("class") == "b":
            title = element.find(SVG + "title").text.splitlines()
            assert title[2].startswith("base ") and title[2].split(
                ", ")[-1] in ("grew", "shrank", "moved", "noise"), title
            colors[title[0]] = (element.find(SVG + "rect").get("class"),
                                title[2])
    for name, color, end in (("extra", "v2", "grew"), ("lex", "v1", "noise"),
                             ("format", "v4", "shrank")):
        assert colors[name][0] == color, colors
        assert colors[name][1].endswith(end), colors


def check_same_picture(folder):
    """A profile and itself have the picture of the profile, in grey."""
    draw = random.Random(3)
    path = write(os.path.join(folder, "p.folded"), random_stacks(
        draw, ["main", "a", "b", "c", "d"], 40))
    again = shutil.copy(path, os.path.join(folder, "again.folded"))
    for line in ("flame", "flame up a", "flame tree"):
        plain = json.loads(outputs("-e", "format json", "-e", "threshold 0",
                               "-e", line, path)[0])["rows"]
        same = compare([path, again], [path], "threshold 0",
                       f"diff {line}")[0]["rows"]
        keys = ("path", "hits", "solid", "begin", "depth")
        plain = [[row[key] for key in keys] for row in plain if row["hits"]]
        assert plain == [[row[key] for key in keys] for row in same], line


# ---- scales ----

def check_scales(folder):
    shape = dict(SHAPE)
    double = {stack: 2 * hits for stack, hits in SHAPE.items()}
    double[("main", "print", "format")] *= 2
    base = write(os.path.join(folder, "b.folded"), shape)
    now = write(os.path.join(folder, "n.folded"), double)
    tables = compare([base], [now], "threshold 0", "diff body",
                     "scale work 2", "diff body",
                     "scale work 3000/1500", "diff body",
                     "scale by lex", "diff body",
                     "scale robust", "diff body",
                     "scale absolute", "diff body")
    assert tables[0] == tables[5], "absolute again"
    assert tables[0]["scale"] == "absolute", tables[0]
    for table in tables[1:5]:
        rows = rows_of(table)
        assert near(rows[("lex",)]["now"], 200), rows
        assert near(rows[("format",)]["now"], 200), rows
        assert near(rows[("format",)]["base"], 100), rows
        assert table["scale"] != "absolute", table
    assert rows_of(tables[0])[("lex",)]["now"] == 400
    text = outputs("--base", base, "-e", "diff", now)[0]
    assert "the totals differ" in text, text
    text = outputs("--base", base, "-e", "scale work 2", "-e", "diff", now)[0]
    assert "the totals differ" not in text and "2 times" in text, text
    for work in "1e-300", "1e300":
        text = outputs("--base", base, "-e", f"scale work {work}",
                       "-e", "diff", now)[0]
        assert max(map(len, text.splitlines())) < 200, text
        assert not re.search(r"0\.0000? ns|[0-9]{20}", text), text
    name = 39 * "x" + "\u00fc" * 100 + 39 * "y"
    long = write(os.path.join(folder, "long.folded"), {("main", name): 9})
    text = outputs("--base", long, "-e", f"scale by {name}", "-e", "diff",
                   long)[0]
    cut = re.search("per use of (x{39}\u00fc+\u2026\u00fc+y{39}), of which", text)
    assert cut and len(cut[1]) == 120, text
    for line, words in (("scale work 0", "above 0"), ("scale work", "needs"),
                        ("scale by", "needs"), ("scale robust 2", "no argument"),
                        ("scale work x", "expected a number"),
                        ("scale by nothing_such", "no function")):
        error = refusal([base], [now], line)
        assert words in error and "\n" not in error, error


def check_noise_of_work(folder):
    """The noise of work that was counted is in the intervals and verdicts."""
    shape = {("main", "a"): 4000, ("main", "unit"): 50}
    now = {("main", "a"): 4000, ("main", "unit"): 65}
    base = write(os.path.join(folder, "b.folded"), shape)
    now = write(os.path.join(folder, "n.folded"), now)
    told, by, robust = compare(
        [base], [now], "scale work 1.3", "diff body", "scale by unit",
        "diff body", "scale robust", "diff body")
    rows = [rows_of(table)[("a",)] for table in (told, by)]
    assert near(rows[0]["change"], 4000 / 1.3 - 4000), rows
    assert near(rows[0]["change"], rows[1]["change"]), rows
    assert rows[0]["verdict"] == "likely", rows
    assert rows[1]["verdict"] == "noise", rows
    # Delta method: the relative variances of a ratio's parts add up.
    error = 4000 / 1.3 * (1 / 50 + 1 / 65) ** 0.5 * 1.959963984540054
    for key in ("low", "high"):
        known = rows[0][key] - rows[0]["change"]
        counted = rows[1][key] - rows[1]["change"]
        assert near(counted ** 2, known ** 2 + error ** 2), rows
    assert "(+-37%)" in by["scale"], by["scale"]
    assert "(+-" in robust["scale"], robust["scale"]
    one = write(os.path.join(folder, "one.folded"), {
        ("main", "a"): 4000, ("main", "unit"): 1})
    by, = compare([one], [one], "scale by unit", "diff body")
    assert "(+-277%)" in by["scale"], by["scale"]
    out = outputs("--base", base, "-e", "scale by unit", "-e",
              "assert change body a below -15%", now, status=5)[0]
    assert "undecided" in out, out
    outputs("--base", base, "-e", "scale work 1.3", "-e",
        "assert change body a below -15%", now)


def check_save(folder):
    """A saved script replays the same comparison."""
    draw = random.Random(11)
    os.mkdir(os.path.join(folder, "old runs"))
    base = [write(os.path.join(folder, "old runs", name), random_stacks(
        draw, ["main", "a", "b c", "d"], 30)) for name in ("1", "2")]
    now = write(os.path.join(folder, "now"), random_stacks(
        draw, ["main", "a", "b c", "d"], 30))
    script = os.path.join(folder, "saved.cmd")
    views = ["diff functions", "diff down main", "base", "scale"]
    shown = [word for view in views for word in ("-e", view)]
    named = [f"base |{base[0]}| |{base[1]}|"]
    for lines in (["scale by |b c|"], ["scale work 4/3"], ["scale robust"],
                  ["scale absolute"], [],
                  ["group g = a d", "scale by g", "narrow g", "root g"]):
        steps = [word for line in named + lines + [f"save {script}"]
                 for word in ("-e", line)]
        first = outputs(*steps, *shown, now)[0]
        again = outputs("-x", script, *shown, now)[0]
        assert first == again and "+-" in first, (lines, first, again)
        over = outputs("-e", "scale work 7", "-x", script, *shown, now)[0]
        assert first == over, (lines, first, over)
    outputs("-e", f"save {script}", now)
    assert "base" not in read_text(script), read_text(script)
    with open(base[0], "rb") as file:
        out = subprocess.run([CPPROF, "-q", "--base", "-", "-e", "save", now],
                             stdin=file, capture_output=True,
                             check=True).stdout.decode()
    assert "# the base was read from standard input\n" in out, out


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_missing_work(folder):
    base = write(os.path.join(folder, "b.folded"), {("main", "a"): 5})
    now = write(os.path.join(folder, "n.folded"), {("main", "b"): 5})
    error = refusal([base], [now], "scale by b", "diff")
    assert "a base run has no hits" in error, error


# ---- what can be compared ----

def check_intervals(folder):
    """Runs sampled at different intervals are compared in gticks."""
    base = write(os.path.join(folder, "b.folded"), {("main", "a"): 50},
                 interval=1000)
    now = write(os.path.join(folder, "n.folded"), {("main", "a"): 25},
                interval=4000)
    table, = compare([base], [now], "diff body")
    row = rows_of(table)[("a",)]
    assert table["resource"]["interval"] == 1, table
    assert row["base"] == 50000 and row["now"] == 100000, row


def check_clusters(folder):
    """A sample of several hits is a cluster: a row of such samples has a wider
    interval than one with as many hits in samples of one."""
    paths = []
    for name, few, many in (("b", 60, 600), ("n", 90, 900)):
        paths.append(os.path.join(folder, name + ".txt"))
        samples = [("few", 10)] * few + [("many", 1)] * many + \
            [("rest", 1)] * 3000
        with open(paths[-1], "w", encoding="utf-8") as file:
            for i, (leaf, period) in enumerate(samples):
                file.write(f"prog 1 {i}.0: {period:10} cycles: \n"
                           f"\t10 {leaf}+0x1 (/x)\n"
                           f"\t20 main+0x1 (/x)\n\n")
    views = ["functions", "body", "flat", "top", "tree", "down main",
             "callees main", "up few", "up many", "path (main few)",
             "path (main many)"]
    widths = collections.defaultdict(dict)
    for view, table in zip(views, compare(
            paths[:1], paths[1:], "threshold 0",
            *("diff " + view for view in views))):
        assert table["base"]["runs"] == table["now"]["runs"] == 1, table
        # Both sides have 9000 hits in 7650 samples.
        whole = table["whole"]["high"] - table["whole"]["low"]
        assert abs(whole / (2 * 1.96 * 9000 / math.sqrt(7650)) - 1) < 0.02, \
            (view, whole)
        for path, row in rows_of(table).items():
            assert "samples" not in row, row
            for leaf in "few", "many":
                if leaf in (path[-1], path[0]) and len(path) <= 2:
                    assert (row["base"], row["now"]) == (600, 900), (view, row)
                    widths[view.split()[0]][leaf] = row["high"] - row["low"]
    assert len(widths) == 9, widths
    for view, both in widths.items():
        ratio = both["few"] / both["many"] / math.sqrt(10)
        assert abs(ratio - 1) < 0.02, (view, both)


def check_resources(folder):
    """The current resource is compared; one that a run lacks is named."""
    base = os.path.join(folder, "b.folded")
    with open(base, "w", encoding="utf-8") as file:
        file.write("# resource: cpu; gtick=microsecond; interval=1000\n"
                   "# resource: faults; gtick=fault; interval=10\n"
                   "main;a 5 7\n")
    now = os.path.join(folder, "n.folded")
    with open(now, "w", encoding="utf-8") as file:
        file.write("# resource: faults; gtick=fault; interval=10\n"
                   "# resource: cpu; gtick=microsecond; interval=1000\n"
                   "main;a 70 50\n")
    tables = compare([base], [now], "resource cpu", "diff body",
                     "resource faults", "diff body")
    for table, name, old, new in (
            (tables[-2], "cpu", 5, 50), (tables[-1], "faults", 7, 70)):
        row = rows_of(table)[("a",)]
        assert table["resource"]["name"] == name, table
        assert (row["base"], row["now"]) == (old, new), row
    other = write(os.path.join(folder, "o.folded"), {("main",): 3},
                  resource="real")
    error = refusal([base], [other], "diff")
    assert "has no resource real to compare; it has cpu, faults" in error, \
        error
    assert "\n" not in error, error


def check_base(folder):
    """base replaces the base, stays when something is loaded, and ends."""
    one = write(os.path.join(folder, "one.folded"), {("main", "a"): 10})
    two = write(os.path.join(folder, "two.folded"), {("main", "a"): 20})
    three = write(os.path.join(folder, "three.folded"), {("main", "b"): 40})
    tables = compare([], [two], f"base {one}", "diff body",
                     f"load {three}", "diff body", f"base {two} {one}",
                     "diff body", "base")
    assert rows_of(tables[0])[("a",)]["change"] == 10, tables[0]
    assert rows_of(tables[1])[("b",)]["change"] == 40, tables[1]
    assert rows_of(tables[1])[("a",)]["now"] == 0, tables[1]
    assert rows_of(tables[2])[("a",)]["base"] == 15, tables[2]
    assert tables[2]["base"]["runs"] == 2, tables[2]
    assert [(row["side"], os.path.basename(row["file"]))
            for row in tables[3]["rows"]] == [
                ("base", "two.folded"), ("base", "one.folded"),
                ("now", "three.folded")], tables[3]
    link = os.path.join(folder, "link.folded")
    os.symlink("one.folded", link)
    for side, other in ([one, two, link], [three]), ([one, link], [three]), \
            ([three], [one, two, link]), ([three], [two, one, link]):
        error = refusal(side, other, "diff")
        assert f"{one} and {link} are the same file" in error and \
            "\n" not in error, error
    compare([one], [link], "diff")      # but a run may be compared with itself
    many = []
    for i in range(257):
        many.append(shutil.copy(one, os.path.join(folder, f"{i}.folded")))
    error = refusal(many, [three], "diff")
    assert "not 257" in error and "cpprof merge" in error, error
    error = refusal([two], many, "diff")
    assert "not 257" in error and "cpprof merge" in error, error
    error = refusal([one], [two], "base off", "diff")
    assert "base FILE" in error and "\n" not in error, error
    error = refusal([], [two], "diff functions")
    assert "nothing to compare with" in error, error
    error = refusal([one], [two], "base /nonexistent/x")
    assert "/nonexistent/x" in error and "\n" not in error, error
    error = refusal([one], [two], f"base {folder}")
    assert "name the profiles in it" in error and "\n" not in error, error
    error = refusal([one], [two], "diff explain")
    assert "cannot compare explain" in error and "\n" not in error, error
    error = refusal([one], [two], "diff down no_such")
    assert "no function no_such" in error, error
    done = outputs("--base", "/nonexistent/x", "-e", "top", two, status=1)
    assert "/nonexistent/x" in done[1] and not done[0], done


def check_pattern_of_base(folder):
    """--base DIR/*, as the shell expands it, takes one run for the base."""
    sides = []
    for side in ("old", "new"):
        os.mkdir(os.path.join(folder, side))
        sides.append([write(os.path.join(folder, side, f"{i}.folded"),
                            {("main", side): 10}) for i in range(2)])
    old, new = sides
    note = "Write --base before each run of the base"
    for words, is_noted in (
            (["--base", *old, *new], True),
            (["--base", old[0], "--base", old[1], *new], False),
            (["--base", old[0], *new], False),
            (["--base", old[0], old[1]], False)):
        err = outputs("-e", "diff top", "-e", "diff top", *words)[1]
        assert err.count(note) == is_noted, (words, err)
        assert (old[1] in err) == is_noted, (words, err)


# By what they are compared as: names of the base, and of now.
OF_RUNS = {
    "Shop$$Lambda$*.apply": ("Shop$$Lambda$12/345.apply",
                             "Shop$$Lambda$811/0x00007f8a.apply"),
    "App$$Lambda$*.get": ("App$$Lambda/0x00007f12.get",
                          "App$$Lambda/0x00007f34.get"),
    "x.GeneratedMethodAccessor*.invoke": ("x.GeneratedMethodAccessor31.invoke",
                                          "x.GeneratedMethodAccessor7.invoke"),
    "jdk.proxy2.$Proxy*.run": ("jdk.proxy2.$Proxy12.run",
                               "jdk.proxy2.$Proxy9.run"),
    "A$$EnhancerBySpringCGLIB$$*.f": ("A$$EnhancerBySpringCGLIB$$1a2b3c.f",
                                      "A$$EnhancerBySpringCGLIB$$ff01.f"),
    "__K*gen.run": ("__K41gen.run", "__K77gen.run"),
    "LambdaForm$MH/*.invoke": ("LambdaForm$MH/0x0123.invoke",
                               "LambdaForm$MH/0x0456.invoke"),
    "parse": ("parse.isra.0", "parse"),
    "scan": ("scan.constprop.0.isra.0", "scan.constprop.1"),
    "emit": ("emit.llvm.123456", "emit.llvm.99"),
    "ns::f(int)": ("ns::f(int) [clone .lto_priv.3]", "ns::f(int)"),
}
# These are others on both sides, on one, or are no such names.
KEPT = (("Kept$$Lambda$1/2.f", "Kept$$Lambda$1/2.f"),
        ("both.isra.0", "both.isra.0"), ("gone.isra.0", None),
        (None, "Fresh$$Lambda$3/4.f"), ("parse_v1", "parse_v2"),
        ("f$1", "f$2"))


def check_names_of_runs(folder):
    """Names that differ by numbers of one run are one, in diff alone."""
    names = [*OF_RUNS.values(), *KEPT]
    paths = [write(f"{folder}/{side}", {
        ("main", of[side], f"leaf{i}"): 100 + i for i, of in enumerate(names)
        if of[side] is not None}) for side in (0, 1)]
    rows = rows_of(compare(paths[:1], paths[1:], "diff functions")[0])
    seen = {name for (name,) in rows
            if name != "main" and not name.startswith("leaf")}
    assert seen == {*OF_RUNS, *(name for of in KEPT for name in of
                                if name is not None)}, seen
    for name in OF_RUNS:
        row = rows[name,]
        assert row["base"] == row["now"] > 0 and row["change"] == 0, row
    down = rows_of(compare(paths[:1], paths[1:], "root main",
                           "diff down")[0])
    assert down["main", "parse", "leaf7"]["change"] == 0, down

    # One line says so; steps and other views have the names of the profile.
    out, _ = outputs("--base", paths[0], "-e", "diff functions", paths[1])
    told = [line for line in out.splitlines() if "from run to run" in line]
    n = sum(of[side] != name for name, of in OF_RUNS.items()
            for side in (0, 1))
    assert len(told) == 1 and told[0].startswith(
        f"{n} names are compared without what differs from run to run: "), out
    rows = rows_of(compare(paths[:1], paths[1:], "functions")[0])
    assert ("__K77gen.run",) in rows and ("__K*gen.run",) not in rows, rows
    left = rows_of(compare(paths[:1], paths[1:], "narrow __K77gen.run",
                           "diff functions")[-1])
    assert left["main",]["now"] > 0 == left["main",]["base"], left
    out, _ = outputs("--base", paths[1], "-e", "diff functions", paths[1])
    assert "from run to run" not in out and "Lambda$811/" in out, out


def check_other_views_stay(folder):
    """diff changes nothing for the commands after it."""
    one = write(os.path.join(folder, "one.folded"), SHAPE)
    two = write(os.path.join(folder, "two.folded"), {
        ("z", "q"): 3, ("main", "z"): 3})
    lines = [word for line in ("functions", "down", "root", "tree", "info")
             for word in ("-e", line)]
    plain = outputs(*lines, one)[0]
    assert outputs("--base", two, *lines, one)[0] == plain
    after = outputs("--base", two, "-e", "diff down", *lines, one)[0]
    assert after.endswith(plain), after
    failed = subprocess.run(
        [CPPROF, "-q", "--keep-going", "--base", two, "-e", "diff up nothing",
         *lines, one], stdin=subprocess.DEVNULL, capture_output=True,
        check=False).stdout.decode()
    assert failed == plain, failed


def check_calls():
    """Without stacks, functions are compared; paths are estimates."""
    path = os.path.join(SAMPLES, "rdparse.callgrind.gz")
    alone = json.loads(outputs("-e", "format json", "-e", "threshold 0", "-e",
                           "functions", path)[0])
    table, body = compare([path], [path], "threshold 0", "diff functions",
                          "diff body")
    got = rows_of(table)
    assert got.keys() == {tuple(row["path"]) for row in alone["rows"]}
    for row in alone["rows"]:
        assert got[tuple(row["path"])]["now"] == row["hits"], row
        assert got[tuple(row["path"])]["change"] == 0, row
    assert body["rows"], body
    error = refusal([path], [path], "diff tree")
    assert "no stacks" in error and "\n" not in error, error
    folded = os.path.join(SAMPLES, "forms.folded")
    error = refusal([folded], [path], "diff")
    assert "cannot compare" in error and "\n" not in error, error


def check_exact(folder):
    """Sampling adds nothing to exact counts: what differs, differs."""
    def calls(name, own, shared=0):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"""creator: callgrind-3.19.0
events: Ir
fn=main
1 1000
cfn=a
calls=1 1
1 {own + shared}
cfn=b
calls=1 1
1 {3000 + shared}
fn=a
1 {own}
cfn=d
calls=1 1
1 {shared}
fn=b
1 3000
cfn=d
calls=1 1
1 {shared}
fn=d
1 0
cfn=e
calls=2 1
1 {2 * shared}
fn=e
1 {2 * shared}
totals: {4000 + own + 2 * shared}
""")
        return path

    base, more, less = (calls("exact-base", 500), calls("exact-more", 501),
                        calls("exact-less", 350))
    for now, verdict, change in (more, "likely", 1), (less, "likely", -150), (
            base, "noise", 0):
        for query in "functions", "down main":
            table, = compare([base], [now], f"diff {query}")
            rows = {path[-1]: row for path, row in rows_of(table).items()}
            assert rows["a"]["verdict"] == rows["main"]["verdict"] == verdict
            assert rows["b"]["verdict"] == "noise", rows
            assert rows["a"]["low"] == rows["a"]["high"] == change, rows
    out = outputs("--base", base, "-e", "diff functions", less)[0]
    assert "the counts are exact; one run on each side" in out, out
    assert ", likely\n" in out and "undecided" not in out, out
    # a and b call d, so that what d uses below each is an estimate.
    base, more = (calls("exact-base", 500, 40), calls("exact-more", 500, 90))
    for query in "down main", "flame main":
        table, = compare([base], [more], "threshold 0", f"diff {query}")
        rows = rows_of(table)
        assert rows[("main", "a")]["verdict"] == "likely", rows
        row = rows[("main", "a", "d", "e")]
        assert row["estimated"] and row["verdict"] == "undecided", rows
        assert row.get("low") is None, rows
    base, less = calls("exact-base", 500), calls("exact-less", 350)
    scaled, = compare([base], [less], "scale by b", "diff functions")
    assert rows_of(scaled)[("b",)]["verdict"] == "noise", scaled
    scaled, = compare([base], [less], "scale work 1/3", "diff functions")
    assert rows_of(scaled)[("b",)]["verdict"] == "likely", scaled
    outputs("--base", base, "-e", "assert change functions a below 1%", less)
    outputs("--base", base, "-e", "assert change functions a below 0%", more,
        status=4)


def write_calls(path, draw, names):
    """A callgrind file of random calls without cycles; main comes first."""
    calls = {name: [] for name in names}
    own = {name: draw.randrange(0, 200) for name in names}
    for i in range(len(names) - 1, 0, -1):
        cost = own[names[i]] + sum(part for _, part in calls[names[i]])
        callers = draw.sample(names[:i], draw.randrange(1, min(i, 3) + 1))
        for caller in callers[1:]:
            part = draw.randrange(0, cost + 1)
            calls[caller].append((names[i], part))
            cost -= part
        calls[callers[0]].append((names[i], cost))
    with open(path, "w", encoding="utf-8") as file:
        file.write("creator: callgrind-3.19.0\nevents: Ir\n")
        for name in names:
            file.write(f"fn={name}\n1 {own[name]}\n")
            for callee, cost in calls[name]:
                file.write(f"cfn={callee}\ncalls=1 1\n1 {cost}\n")
        file.write(f"totals: {sum(own.values())}\n")
    return path


def check_flows(folder, seed):
    """Each view of calls without stacks has what it has of each run alone."""
    draw = random.Random(seed)
    names = ["main"] + [f"f{i}" for i in range(7)]
    n_base, n_now = draw.randrange(1, 3), draw.randrange(1, 3)
    runs = [write_calls(
        os.path.join(folder, f"r{i}.callgrind"), draw,
        names[:-1] + ["old" if i < n_base else "new"])
        for i in range(n_base + n_now)]
    queries = ["functions", "body", "top"] + [
        f"{view} {name}" for view in ("down", "up", "callers", "callees")
        for name in names[:-1]] + ["path main f1", "functions all f*"]
    tables = compare(runs[:n_base], runs[n_base:], "threshold 0",
                     *[f"diff {query}" for query in queries])
    large = compare(runs[:n_base], runs[n_base:], "threshold 5%",
                    *[f"diff {query}" for query in queries])
    wrong = []
    for query, table, shown in zip(queries, tables, large):
        want = {path for path, row in rows_of(table).items() if any(
            row[side] >= 0.05 * table[side]["mean"] * (1 - 1e-12) and
            row[side] > 0 for side in ("base", "now"))}
        if not query.startswith(("functions all", "path")) and \
                rows_of(shown).keys() != want:
            wrong.append((seed, query, "threshold",
                          rows_of(shown).keys() ^ want))
        alone = []
        for run in runs:
            done = subprocess.run(
                [CPPROF, "-q", "-F", "json", "-e", "threshold 0", "-e", query,
                 run], capture_output=True, check=False)
            rows = json.loads(done.stdout)["rows"] if done.stdout else []
            alone.append({tuple(row["path"]): row for row in rows})
        want = {path for rows in alone for path in rows
                if rows[path]["hits"] > 0}
        got = rows_of(table)
        if want - got.keys():
            wrong.append((seed, query, "missing", want - got.keys()))
        for path, row in got.items():
            hits = [rows[path]["hits"] if path in rows else 0
                    for rows in alone]
            if not near(row["base"], mean(hits[:n_base])) or \
                    not near(row["now"], mean(hits[n_base:])):
                wrong.append((seed, query, path, hits, row))
            estimated = [rows[path]["estimated"] for rows in alone
                         if path in rows]
            # Where a run does not show a path, its 0 may be an estimate.
            if query != "top" and row["estimated"] != any(estimated) and (
                    any(estimated) or len(estimated) == len(runs)):
                wrong.append((seed, query, path, "estimated", row))
    return wrong


# ---- real runs ----

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
volatile unsigned long sum;
__attribute__((noinline)) void work(long n)
{ for (long i = 0; i < n; i++) sum += (unsigned long)i * sum; }
__attribute__((noinline)) void slower(long n) { work(n); sum++; }
__attribute__((noinline)) void same(long n) { work(n); sum += 2; }
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	double milliseconds = 0;
	for (int i = 0; i < 400; i++) {
		double before = now();
		slower(1000 * n);
		milliseconds += now() - before;
		same(300000);
	}
	printf("slower: %.3f\\n", milliseconds);
	return 0;
}
"""


def record_sides(program, sides):
    """Records three runs on each side and returns the milliseconds of CPU time
    that slower() took in each, by the program's own clock."""
    clocks = []
    for name, n in sides:
        done = subprocess.run(
            [CPPROF, "record", "--force", "--repeat", "3", "-r", "cpu:1ms",
             "-o", name, program, n], capture_output=True, check=False)
        said = done.stderr.decode()
        assert done.returncode == 0, said
        assert "3 runs in" in said and "standard deviation" in said, said
        clocks.append([float(line.split()[1])
                       for line in done.stdout.decode().splitlines()
                       if line.startswith("slower: ")])
        assert len(clocks[-1]) == 3, done.stdout
    return clocks


def check_whole(whole, interval, sides):
    """The runs as a whole have no noise of sampling: what they used is known,
    and varies as they do."""
    used, variances = [], []
    for side in sides:
        seconds = [json.loads(outputs(
            "-e", "format json", "-e", "info",
            os.path.join(side, run))[0])["cpu_seconds"]
            for run in sorted(os.listdir(side))]
        used.append([each / interval for each in seconds])
        variances.append(sum((each - mean(used[-1])) ** 2 for each in used[-1])
                         / (len(seconds) - 1) / len(seconds))
    change = mean(used[1]) - mean(used[0])
    assert abs(whole["change"] - change) < 2, (whole, used)
    half = (whole["high"] - whole["low"]) / 2
    # Student's t of four degrees of freedom; a larger mean may vary by more.
    assert half < 3 * 2.776 * sum(variances) ** 0.5 + 2, (whole, used)


def check_recordings(folder):
    """A path that takes four times as long is found."""
    source = os.path.join(folder, "work.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    program = os.path.join(folder, "work")
    subprocess.run(["cc", "-O1", "-g", "-o", program, source], check=True)
    old, new = (os.path.join(folder, name) for name in ("old", "new"))
    # A busy machine can make equal runs differ by more than the change.
    for _ in range(5):
        before, after = record_sides(program, ((old, "150"), (new, "600")))
        steady = max(max(side) / min(side) for side in (before, after)) < 1.3
        told_apart = steady and min(after) > 2 * max(before)
        if told_apart:
            break
    assert sorted(os.listdir(old)) == ["run-1", "run-2", "run-3"]
    table, whole, runs = compare([old], [new], "diff down main",
                                 "diff functions", "base")
    assert table["base"]["runs"] == table["now"]["runs"] == 3, table
    check_whole(whole["whole"], 1e-3, (old, new))
    rows = rows_of(table)
    row = rows[("main", "slower", "work")]
    for side, clocks in (("base", before), ("now", after)):
        error = (mean(clocks) / 3) ** 0.5
        assert abs(row[side] - mean(clocks)) < 5 * error + 0.05 * row[side], \
            (row, clocks)
    if told_apart:
        assert row["verdict"] == "grew", row
        assert rows_of(whole)[("slower",)]["verdict"] == "grew", whole
    assert [(run["side"], run["file"]) for run in runs["rows"]] == [
        (side, f"{name}/run-{i}") for side, name in (("base", old),
                                                     ("now", new))
        for i in (1, 2, 3)], runs
    # Other views show the sum of a directory of runs.
    total = json.loads(outputs("-e", "format json", "-e", "functions",
                           new)[0])["total"]
    each = [json.loads(outputs("-e", "format json", "-e", "functions",
                           os.path.join(new, one))[0])["total"]
            for one in os.listdir(new)]
    assert total == sum(each), (total, each)
    done = subprocess.run([CPPROF, "record", "--repeat", "2", "-o", old,
                           program, "1"], capture_output=True, check=False)
    assert done.returncode == 2 and b"--force" in done.stderr, done
    assert len(os.listdir(old)) == 3
    done = subprocess.run([CPPROF, "record", "--force", "-o", old, program,
                           "1"], capture_output=True, check=False)
    assert done.returncode == 0, done
    assert not [name for name in os.listdir(old) if name.startswith("run-")]
    for number in ("0", "x", "201", "-1"):
        done = subprocess.run([CPPROF, "record", "--repeat", number, program],
                              capture_output=True, check=False, cwd=folder)
        assert done.returncode == 2 and b"--repeat" in done.stderr, done
    done = subprocess.run([CPPROF, "record", "--repeat", "2", "/nonexistent"],
                          capture_output=True, check=False, cwd=folder)
    assert done.returncode != 0, done
    assert not os.path.exists(os.path.join(folder, "nonexistent.cpprof"))


def check_earlier(folder):
    """Without -o, earlier runs get a number."""
    for _ in range(2):
        done = subprocess.run([CPPROF, "record", "--repeat", "2", "true"],
                              capture_output=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stderr
    assert os.path.isdir(os.path.join(folder, "true.1.cpprof", "run-2"))
    assert os.path.isdir(os.path.join(folder, "true.cpprof", "run-2"))
    assert b"is now true.1.cpprof" in done.stderr, done.stderr
    done = subprocess.run([CPPROF, "record", "--repeat", "3", "false"],
                          capture_output=True, check=False, cwd=folder)
    assert done.returncode == 1, done


def with_folder(check, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        return check(folder, *arguments)


def check_inlining(folder):
    """Functions on one side alone, whose time is their caller's on the
    other."""
    apart = {("main", "work", "mix"): 3350, ("main", "work"): 1300,
             ("main", "other"): 970, ("main",): 200}
    together = {("main", "work"): 4600, ("main", "other"): 990,
                ("main",): 210}
    shared = {("main", "work", "mix"): 2000, ("main", "other", "mix"): 1500,
              ("main", "work"): 1300, ("main", "other"): 970}
    spread = {("main", "work"): 3350, ("main", "other"): 2420}
    gone = {**together, ("main", "work"): 1320}
    wrong = []

    def look(what, base, now, expected, *lines):
        words = []
        for line in (*lines, "diff functions", "diff body"):
            words += ["-e", line]
        out, _ = outputs("--base", write(os.path.join(folder, "base"), base),
                         write(os.path.join(folder, "now"), now), *words)
        told = [line for line in out.splitlines() if "inlined" in line]
        if len(told) != 2 * len(expected) or any(
                text not in line for text in expected for line in told):
            wrong.append((what, told))
    look("now", apart, together, ["mix was probably inlined now: work, its "
                                  "caller, has 3300 hits more of its own"])
    look("before", together, apart, [
        "mix was probably inlined in the base: work, its caller, has 3300 "
        "hits less of its own"])
    look("by two callers", shared, spread, [
        "mix was probably inlined now: its callers have 3500 hits more of "
        "their own"])
    look("not if the time is gone", apart, gone, [])
    look("not if the caller has much more", apart,
         {**together, ("main", "work"): 6500}, [])
    look("not if it stays in part", apart,
         {**together, ("main", "work", "mix"): 5}, [])
    look("not of recursion alone", {**gone, ("mix", "mix"): 3000}, together, [])
    look("not without a caller", {**gone, ("mix",): 3000}, together, [])
    assert not wrong, wrong


def main(first):
    for block in range(rounds(2)):
        wrong = []
        for seed in range(first + 10 * block, first + 10 * block + 10):
            wrong += with_folder(check_against_oracle, seed)
        claims.make(f"values of each run, seeds {first + 10 * block} to "
                    f"{first + 10 * block + 9}", wrong)
    for claim, check, *arguments in (
            ("the threshold is that of either side", check_threshold),
            ("steps and groups apply to both sides", check_steps),
            ("steps that match only the base", check_steps_of_base),
            ("equal runs are quiet, 3 a side", check_equal, 3, 15, 2),
            ("equal runs are quiet, 1 a side", check_equal, 1, 15, 3),
            ("planted changes are found", check_planted),
            ("shortest and longest path of a change", check_roles),
            ("the longest path has most of a change", check_most),
            ("totals that differ are pointed out", check_totals),
            ("moved is not grown", check_moved),
            ("undecided where nothing is known of the noise",
             check_undecided),
            ("exact counts decide by themselves, and one run on each side is likely",
             check_exact),
            ("nothing to compare", check_nothing),
            ("a number of rows", check_number),
            ("many functions that changed", check_many_changed),
            ("what a robust scale is made of", check_robust_scale),
            ("a picture of changes", check_picture),
            ("a picture without changes", check_same_picture),
            ("scales", check_scales),
            ("a scale that a run has nothing of", check_missing_work),
            ("the noise of a scale", check_noise_of_work),
            ("save writes base and scale", check_save),
            ("different intervals", check_intervals),
            ("samples of several hits", check_clusters),
            ("resources", check_resources),
            ("functions that were inlined", check_inlining),
            ("what is the base", check_base),
            ("a pattern after --base", check_pattern_of_base),
            ("names that differ by run are one", check_names_of_runs),
            ("other views do not change", check_other_views_stay)):
        claims.attempt(claim, with_folder, check, *arguments)
    claims.attempt("calls without stacks", check_calls)
    wrong = []
    for seed in range(first, first + 5):
        wrong += with_folder(check_flows, seed)
    claims.make("all views of calls without stacks", wrong)
    if has_terminals():
        claims.attempt("at the prompt", with_folder, check_prompt)
        claims.attempt("at its width", with_folder, check_widths)
    else:
        claims.skip("at its width", "no terminals")
        claims.skip("at the prompt", "no terminals")
    recorder = subprocess.run([CPPROF, "record", "--list"],
                              capture_output=True, check=False)
    if recorder.returncode != 0 or shutil.which("cc") is None:
        claims.skip("a slower path is found", "cannot record here")
        claims.skip("earlier runs", "cannot record here")
    else:
        claims.attempt("a slower path is found", with_folder,
                       check_recordings)
        claims.attempt("earlier runs", with_folder, check_earlier)
    claims.end()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
