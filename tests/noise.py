#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""noise.py -- the errors of shares that views show with noise on.

They are compared with a formula for random profiles whose samples are clusters
of hits, and with the spread of many simulated runs of one program.
"""
import collections
import math
import os
import random
import statistics
import tempfile
import types

import cpprof
import oracle
from claims import Claims

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")),
                       "sample-data")
FORMS = os.path.join(SAMPLES, "forms.folded")
claims = Claims()


def write(path, samples):
    """samples: [(("main", "f"), period)], as perf script prints them."""
    with open(path, "w", encoding="utf-8") as file:
        for i, (stack, period) in enumerate(samples):
            file.write(f"prog 1 {i}.0: {period:10} cycles: \n")
            for name in reversed(stack):
                file.write(f"\t10 {name}+0x1 (/x)\n")
            file.write("\n")
    return path


# ---- the formula ----

def error_of(part, whole):
    """By the delta method, from the variances of the part and the rest; each is
    (hits, samples)."""
    def variance(hits, samples):
        return max(hits / samples, 1) * hits if samples else hits

    total = whole[0]
    rest = whole[0] - part[0], whole[1] - part[1]
    share = part[0] / total
    return math.sqrt((1 - share) ** 2 * variance(*part) +
                     share ** 2 * variance(*rest)) / total


def random_samples(rng):
    names = "abcde"
    stacks = [("main", *rng.choices(names, k=rng.randrange(0, 6)))
              for _ in range(12)]
    return [(rng.choice(stacks), rng.choice([1, 1, 3, 10]))
            for _ in range(rng.randrange(20, 80))]


def profiles_of(samples):
    """The same stacks with hits, and with samples."""
    hits, counts = collections.Counter(), collections.Counter()
    for stack, period in samples:
        hits[stack] += period
        counts[stack] += 1
    functions = {name for stack in hits for name in stack}
    return [types.SimpleNamespace(stacks=stacks, functions=functions)
            for stacks in (hits, counts)]


VIEWS = ["top", "flat", "body", "functions", "functions all /./", "tree", "down a",
         "up a", "callers a", "callees a"]


def whole_of(profiles, percent, root):
    if percent == "total":
        return tuple(sum(profile.stacks.values()) for profile in profiles)
    return tuple(oracle.functions(profile, None).get((root,), 0)
                 for profile in profiles)


def check_view(path, profiles, view, percent, wrong):
    whole = whole_of(profiles, percent, "a")
    hits, counts = (oracle.values(view, profile, "a") for profile in profiles)
    rows = cpprof.table(path, "noise on", "threshold 0", "root a",
                        f"percent {percent}", view)["rows"]
    for row in rows:
        found = tuple(row["path"])
        part = hits[found], counts[found]
        if percent == "root" and part[0] > whole[0]:
            continue
        want = error_of(part, whole) if part[0] != whole[0] else 0
        if row["hits"] != part[0] or abs(row["error"] - want) > 1e-12:
            wrong.append((view, percent, row, part, whole, want))


def check_formula(folder):
    rng = random.Random(4)
    wrong = []
    n_views = 0
    path = os.path.join(folder, "random.txt")
    while n_views < 100:
        samples = random_samples(rng)
        profiles = profiles_of(samples)
        if "a" not in profiles[0].functions:
            continue
        write(path, samples)
        for view in VIEWS:
            check_view(path, profiles, view,
                       "total" if "a" not in view.split() else
                       rng.choice(["total", "root"]), wrong)
            n_views += 1
        for found, _ in list(oracle.down(profiles[0], "a").items())[:3]:
            part = tuple(oracle.down(profile, "a")[found]
                         for profile in profiles)
            whole = whole_of(profiles, "total", None)
            row, = cpprof.table(path, "noise on",
                                f"path ({' '.join(found)})")["rows"]
            if part[0] < whole[0] and \
                    abs(row["error"] - error_of(part, whole)) > 1e-12:
                wrong.append((found, row, part, whole))
    claims.make("each view's errors are those of its rows' samples", wrong)


# ---- many runs ----

def check_spread(folder, size):
    """The spread of the shares of 150 runs is the error that each shows; each
    sample has `size` hits."""
    rng = random.Random(8)
    shares = {("main", "a"): 0.3, ("main", "a", "b"): 0.1,
              ("main", "c"): 0.05, ("main", "d"): 0.05, ("main",): 0.5}
    found = collections.defaultdict(list)
    path = os.path.join(folder, "run.txt")
    for _ in range(80):
        stacks = rng.choices(list(shares), list(shares.values()), k=500)
        write(path, [(stack, size) for stack in stacks])
        for row in cpprof.table(path, "noise on", "functions")["rows"]:
            found[row["path"][0]].append((row["fraction"], row["error"]))
    wrong = []
    for name in "abcd":
        spread = statistics.stdev(share for share, _ in found[name])
        error = statistics.mean(error for _, error in found[name])
        print(f"# {name}: spread {spread:.4f}, error {error:.4f}")
        # The spread of 80 runs is itself sure to 8%.
        if not 0.77 < error / spread < 1.3:
            wrong.append((name, spread, error))
    claims.make(f"errors are the spread of many runs, samples of {size}",
                wrong)


# ---- the rest ----

def check_others(folder):
    text = cpprof.text(FORMS, "noise on", "path (main db_update_record)")
    claims.check("text has them beside the share",
                 "0.1368 +-0.0139 (main db_update_record) [84]" in text and
                 "+-: the share's standard error" in text, text)
    for command, line in [
            ("tree", "  db_update_record (0.1368 +-0.0139) [84]"),
            ("functions all db_update_record", "0.1368 +-0.0139 db_update_record [84]"),
            ("top", "self+-")]:
        text = cpprof.text(FORMS, "noise on", "limit off", command)
        claims.check(f"so has {command}", line in text, text)
    plain = os.path.join(folder, "plain.folded")
    with open(plain, "w", encoding="utf-8") as file:
        file.write("main;f 10\nmain;g 10\n")
    labels = os.path.join(HERE, "data", "raw", "labels.pb.gz")
    for view in ("labels", "threads", "processes"):
        row = cpprof.table(labels, "noise on", view)["rows"][0]
        share = row["fraction"]
        wanted = math.sqrt(share * (1 - share) / 50)
        claims.check(f"{view} have errors, of 50 samples",
                     abs(row["error"] - wanted) < 1e-9 and
                     row == {**row, **cpprof.table(labels, view)["rows"][0]}, row)
    text = cpprof.text(plain, "noise on", "functions")
    claims.check("counts of unknown origin have none, and a line says so",
                 "no errors are shown: the file does not say" in text and
                 "0.5000 f [10]" in text, text)
    claims.check("also in JSON", "error" not in
                 cpprof.table(plain, "noise on", "functions")["rows"][0])
    text = cpprof.text(os.path.join(SAMPLES, "rdparse.callgrind.gz"), "noise on",
                       "top")
    claims.check("exact counts have none either",
                 "no errors are shown: the counts are exact" in text, text)
    views = ["top", "flat", "body", "functions", "down", "up db_read_record",
             "tree", "callers db_read_record", "callees main"]
    claims.make("noise off shows what was shown before",
                [view for view in views if cpprof.text(FORMS, view) !=
                 cpprof.text(FORMS, "noise on", "noise off", view)])
    rows = cpprof.table(FORMS, "noise on", "narrow invoice", "percent refined",
                        "functions")["rows"]
    claims.check("of a refinement they are of what is left",
                 rows[0]["fraction"] == 1 and rows[0]["error"] == 0 and
                 cpprof.table(FORMS, "narrow invoice", "noise on",
                              "functions")["rows"][0]["error"] > 0.01, rows)
    out = cpprof.text(FORMS, "noise on", "format csv", "functions")
    claims.check("rows of CSV have them", "error" in out.splitlines()[0],
                 out)


def check_columns(folder):
    """Beside other resources, whose sets come before the samples."""
    path = os.path.join(folder, "two.txt")
    rng = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        for i in range(200):
            event = "cycles" if i % 3 else "faults"
            period = rng.choice([1, 5])
            stack = rng.choice([("main", "f"), ("main", "g", "f"),
                                ("main", "g")])
            file.write(f"prog 1 {i}.0: {period:10} {event}: \n")
            for name in reversed(stack):
                file.write(f"\t10 {name}+0x1 (/x)\n")
            file.write("\n")
    wrong = []
    for view in ["functions", "top", "flat", "tree", "down main", "up f",
                 "callers f", "callees main", "path (main f)"]:
        alone = {tuple(row["path"]): row["error"] for row in
                 cpprof.table(path, "noise on", "resource cycles", view)["rows"]}
        for columns in "columns cycles faults", "columns faults cycles":
            # The first of them is the current resource.
            lines = ["noise on", "threshold 0", columns, "resource cycles",
                     view]
            rows = cpprof.table(path, *lines)["rows"]
            for row in rows:
                want = alone.get(tuple(row["path"]))
                if want is not None and abs(row["error"] - want) > 1e-12:
                    wrong.append((view, columns, row, want))
    claims.make("errors are the same beside other columns", wrong)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_formula(folder)
        check_spread(folder, 1)
        check_spread(folder, 20)
        check_others(folder)
        check_columns(folder)
    claims.end()


if __name__ == "__main__":
    main()
