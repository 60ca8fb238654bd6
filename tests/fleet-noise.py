#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""fleet-noise.py -- the errors that merged profiles have from their groups.

Each view's errors are compared with those made from the members' stacks by the
formula of the jackknife, and with how much the shares of many simulated fleets
differ.  Speaks TAP.
"""
import collections
import ctypes
import ctypes.util
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import types

import cpprof
import oracle
from claims import Claims

claims = Claims()
HEADER = "# cpprof 1\n# resource: cpu; gtick=microsecond; interval=1000\n"
N_SPREAD = 60
FROM_GROUPS = "random groups of the"
VIEWS = ["top", "flat", "body", "functions", "functions all /./", "tree", "down a",
         "up a", "callers a", "callees a"]


def run(*words, status=0):
    return cpprof.run(*words, status=status, text=False)


def ask(path, *lines, base=None):
    return cpprof.text(path, *lines, options=["--base", base] if base else ())


def table(path, *lines, base=None):
    return cpprof.table(path, *lines,
                        options=["--base", base] if base else ())


def write(path, stacks):
    """stacks: {("main", "f"): hits}"""
    with open(path, "w", encoding="ascii") as file:
        file.write(HEADER)
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {hits}\n")
    return path


class Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash"))
for function, result in (XXHASH.XXH3_64bits, ctypes.c_uint64), \
        (XXHASH.XXH3_128bits, Digest):
    function.argtypes, function.restype = \
        [ctypes.c_char_p, ctypes.c_size_t], result


def group_of_id(identity):
    """As doc/merged.md defines it."""
    return XXHASH.XXH3_64bits(identity, len(identity)) % 32


def group_of(path):
    with open(path, "rb") as file:
        data = file.read()
    digest = XXHASH.XXH3_128bits(data, len(data))
    return group_of_id(b"%016x%016x" % (digest.high, digest.low))


def check_groups(folder):
    """The groups that the other claims use, by the head of a merged file."""
    path = write(os.path.join(folder, "grouped"), {("main",): 3})
    wrong = []
    for group, options in (group_of(path), ()), (group_of_id(b"x"),
                                                 ("--id", "x")):
        file = run("merge", *options, "-o", "-", path).stdout
        data = subprocess.run(["zstd", "-dcq"], input=file, check=True,
                              capture_output=True).stdout
        begin = len(b"cpprof merged profile 1\n")
        # Numbers of one byte: members, those with warnings, members by group.
        if data[begin] != 1 or data[begin + 2:begin + 34].index(1) != group:
            wrong.append((group, data[:60]))
    claims.make("a member's group is what merged.md says", wrong)


# ---- the formula ----

def jackknife(parts, wholes, sizes):
    """None: the groups do not show it."""
    if sum(map(bool, parts)) < 2 or sum(map(bool, wholes)) < 2:
        return None
    share = sum(parts) / sum(wholes)
    variance = 0
    for part, whole, size in zip(parts, wholes, sizes):
        without = (sum(parts) - part) / (sum(wholes) - whole)
        variance += (sum(sizes) / size - 1) * (without - share) ** 2
    return math.sqrt(variance / len(sizes))


def random_member(rng, stacks):
    return {stack: rng.randrange(1, 9)
            for stack in rng.sample(stacks, rng.randrange(1, len(stacks) + 1))}


def random_fleet(rng, folder, *options):
    """The file, and the members' stacks by group with the groups' sizes."""
    stacks = sorted({("main", *rng.choices("abcde", k=rng.randrange(0, 6)))
                     for _ in range(12)} | {("main", "a")})
    groups = collections.defaultdict(collections.Counter)
    sizes, paths, seen = collections.Counter(), [], set()
    for i in range(rng.randrange(2, 60)):
        member = random_member(rng, stacks)
        if tuple(member.items()) in seen:	# the same identity
            continue
        seen.add(tuple(member.items()))
        paths.append(write(os.path.join(folder, f"member-{i}"), member))
        group = group_of(paths[-1])
        groups[group].update(member)
        sizes[group] += 1
    out = os.path.join(folder, "fleet")
    run("merge", *options, "-o", out, *paths)
    return out, groups, sizes


def profile_of(stacks):
    return types.SimpleNamespace(
        stacks=stacks, functions={name for stack in stacks for name in stack})


def random_fleets(rng, folder, n, *options):
    """n times the file, and each group's profile and number of members; without
    those of one group."""
    for _ in range(n):
        path, groups, sizes = random_fleet(rng, folder, *options)
        order = sorted(sizes)
        if len(order) > 1:
            yield (path, [profile_of(groups[g]) for g in order],
                   [sizes[g] for g in order])


def check_rows(rows, found, wholes, sizes, hint, wrong):
    n = 0
    for row in rows:
        parts = [group[tuple(row["path"])] for group in found]
        if sum(parts) > sum(wholes) or row["hits"] != sum(parts):
            wrong += [(hint, row, parts)] * (row["hits"] != sum(parts))
            continue
        want = jackknife(parts, wholes, sizes)
        n += want is not None
        if (row["error"] is None) != (want is None) or (
                want is not None and abs(row["error"] - want) > 1e-9):
            wrong.append((hint, row, want))
    return n


def check_formula(folder, *options):
    rng = random.Random(7)
    wrong, n_rows = [], 0
    for path, profiles, counts in random_fleets(rng, folder, 8, *options):
        percents = [rng.choice(["total", "root"]) if "a" in view.split() else
                    "total" for view in VIEWS]
        answers = cpprof.documents(path, "noise on", "threshold 0", "root a", *(
            line for view, percent in zip(VIEWS, percents)
            for line in (f"percent {percent}", view)))
        for view, percent, answer in zip(VIEWS, percents, answers, strict=True):
            wholes = [sum(p.stacks.values()) if percent == "total" else
                      oracle.functions(p, None).get(("a",), 0)
                      for p in profiles]
            found = [collections.Counter(oracle.values(view, p, "a"))
                     for p in profiles]
            n_rows += check_rows(answer["rows"], found, wholes, counts,
                                 (view, percent), wrong)
        kept = [profile_of(collections.Counter(
            {stack: hits for stack, hits in p.stacks.items()
             if "b" in stack})) for p in profiles]
        if sum(bool(p.stacks) for p in kept) > 1:
            n_rows += check_rows(
                table(path, "noise on", "threshold 0", "narrow b", "root main",
                      "percent refined", "down main")["rows"],
                [collections.Counter(oracle.down(p, "main")) for p in kept],
                [sum(p.stacks.values()) for p in kept], counts, "narrow",
                wrong)
    claims.make(f"errors are the jackknife's {' '.join(options)}",
                wrong or ([] if n_rows > 300 else [n_rows]))


# ---- explain ----

def is_same(error, other):
    """Two errors, each of which may be unknown."""
    if error is None or other is None:
        return error is other
    return abs(error - other) < 1e-9


def parts_of(row, profiles, root):
    """What each group has of a row of explain."""
    path = tuple(row["path"])
    if row["kind"] in ("body", "flat"):
        return [oracle.body(p, None).get(path, 0) for p in profiles]
    if row["kind"] == "outside":
        return [sum(hits for stack, hits in p.stacks.items()
                    if stack[0] == path[0] and root not in stack)
                for p in profiles]
    if row["kind"] == "end" and len(path) == 1:
        return None		# hits that end in the hot path
    return [collections.Counter(oracle.down(p, path[0]))[path]
            for p in profiles]


def check_explain(folder):
    """Its errors are the jackknife's, also with noise off."""
    rng = random.Random(43)
    wrong, kinds = [], collections.Counter()
    for path, profiles, counts in random_fleets(rng, folder, 12):
        wholes = [sum(p.stacks.values()) for p in profiles]
        answers = cpprof.documents(path, "root main", "explain", "root a", "explain")
        for root, answer in zip(("main", "a"), answers, strict=True):
            for row in answer["rows"]:
                parts = parts_of(row, profiles, root)
                if parts is None:
                    continue
                kinds[row["kind"]] += 1
                want = jackknife(parts, wholes, counts)
                if row["hits"] != sum(parts) or \
                        (row["error"] is None) != (want is None) or (
                            want is not None and
                            abs(row["error"] - want) > 1e-9):
                    wrong.append((root, row, parts, want))
    claims.make("explain's errors are the jackknife's",
                wrong or ([] if len(kinds) >= 6 else [kinds]))
    # The stacks that end in the only function of the hot path are its body.
    paths = [write(os.path.join(folder, f"own-{i}"), {
        ("main",): rng.randrange(50, 90), ("main", "f"): rng.randrange(9),
        ("main", "f", "main"): rng.randrange(9)}) for i in range(20)]
    fleet = os.path.join(folder, "own")
    run("merge", "-o", fleet, *paths)
    rows = table(fleet, "explain")["rows"]
    errors = {row["kind"]: row["error"] for row in rows}
    body, = [row for row in table(fleet, "noise on", "body")["rows"]
             if row["path"] == ["main"]]
    claims.check("so are those of what ends in the hot path",
                 "end" in errors and
                 is_same(errors["end"], body["error"]), (rows, body))
    check_explained_parts(folder, rng)
    text = ask(fleet, "explain")
    claims.check("and the heading says so", "random groups of the members"
                 in text, text)
    text = ask(merge_by_ids(folder, *two_of_one_group(folder)), "explain")
    claims.check("without groups explain has no errors",
                 "no errors are shown: all members" in text, text)


def check_explained_parts(folder, rng):
    """Of rows that are no paths: cut stacks, and modules."""
    paths = []
    for i in range(20):
        paths.append(os.path.join(folder, f"parts-{i}.script"))
        stacks = [("[truncated]", "f", "/bin/a")] * rng.randrange(2, 9) + \
            [("main", "f", "/bin/a")] * rng.randrange(30, 60) + \
            [("main", "g", "/bin/b")] * rng.randrange(9, 20)
        with open(paths[-1], "w", encoding="ascii") as file:
            for k, (top, leaf, module) in enumerate(stacks):
                file.write(f"prog 1 {k}.000000: 1 cycles:\n"
                           f"\t1000 {leaf} ({module})\n"
                           f"\t2000 {top} ({module})\n\n")
    fleet = os.path.join(folder, "parts")
    run("merge", "-o", fleet, *paths)
    rows = {row["kind"]: row for row in table(fleet, "explain")["rows"]}
    for kind, name, lines in (
            ("cut", "[truncated]", ["functions"]),
            ("module", "a", ["granularity module", "body"])):
        same, = [row for row in table(fleet, "noise on", *lines)["rows"]
                 if row["path"][-1].split("/")[-1] == name]
        row = rows.get(kind, {})
        claims.check(f"explain: the error of {kind} is that of its hits",
                     row and row["hits"] == same["hits"] and
                     is_same(row["error"], same["error"]), (rows, same))


# ---- assertions ----

def student_quantile(df):
    """The t with P(|T| > t) = 0.05, from the density alone (Simpson)."""
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / \
        math.sqrt(df * math.pi)

    def inside(t, n=2000):
        values = [scale * (1 + (i * t / n) ** 2 / df) ** (-(df + 1) / 2)
                  for i in range(n + 1)]
        return 2 * t / n / 3 * (values[0] + values[-1] + 4 *
                                sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))
    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 0.95 else (low, middle)
    return low


def wanted_interval(parts, wholes, sizes, is_share):
    """value, low, high; low is None where the groups do not show it."""
    error = jackknife(parts, wholes if is_share else sizes, sizes)
    unit = 1 if is_share else sum(sizes) * 1000
    value = unit * sum(parts) / sum(wholes if is_share else sizes)
    if error is None:
        return value, None, None
    half = student_quantile(len(sizes) - 1) * unit * error
    # All values from which this one is as many errors away, whose square
    # varies as s (1 - s), or as the amount: the ends solve this.
    def is_far(other):
        variance = half ** 2 * (
            other * (1 - other) / (value * (1 - value)) if is_share else
            other / value)
        return (value - other) ** 2 > variance
    if half == 0:
        return value, value, value
    low = bisect(is_far, value, 0)
    high = bisect(is_far, value, 1 if is_share else value + 1e9 * half)
    return value, max(min(low, value - half), 0), \
        min(max(high, value + half), 1) if is_share else \
        max(high, value + half)


def bisect(is_far, near, far):
    for _ in range(200):
        middle = (near + far) / 2
        near, far = (near, middle) if is_far(middle) else (middle, far)
    return near


def wanted_verdict(low, high, bound):
    if low is None or low < bound <= high:
        return "undecided"
    return "holds" if high < bound else "violated"


def check_claims(rng, path, found, wholes, sizes, wrong):
    """found: {words of the claim: [hits of it in each group]}"""
    verdicts, lines, wanted = collections.Counter(), [], []
    for words, parts in found.items():
        for is_share in True, False:
            value, low, high = wanted_interval(parts, wholes, sizes, is_share)
            factor = rng.choice([0.3, 1.3, 1.8])
            bound = math.ceil(100 * value * factor) if is_share else \
                math.ceil(value * factor / 1000)
            lines.append(f"assert {words} below "
                         f"{bound}{'%' if is_share else 'ms'}")
            wanted.append((value, low, high, wanted_verdict(
                low, high, bound / 100 if is_share else bound * 1000)))
    done = run("-q", "--keep-going", "-F", "json",
               *(word for line in lines for word in ("-e", line)), path,
               status=None)
    answers = [json.loads(line)["rows"][0] for line in done.stdout.splitlines()]
    for line, row, want in zip(lines, answers, wanted, strict=True):
        value, low, high, verdict = want
        scale = max(value, 1e-9 if line.endswith("%") else 1)
        verdicts[row["verdict"]] += 1
        if abs(row["value"] - value) > 1e-9 * scale or \
                row["verdict"] != verdict or \
                (row["low"] is None) != (low is None) or \
                (low is not None and
                 (abs(row["low"] - low) > 1e-6 * scale or
                  abs(row["high"] - high) > 1e-6 * scale)):
            wrong.append((line, row, want))
    for line, want in zip(lines[:3], wanted):
        status = run("-q", "-e", line, path, status=None).returncode
        if status != {"holds": 0, "violated": 4, "undecided": 5}[want[3]]:
            wrong.append((line, status, want))
    return verdicts


def check_assert(folder):
    rng = random.Random(31)
    wrong, verdicts = [], collections.Counter()
    for path, profiles, counts in random_fleets(rng, folder, 4):
        functions = [oracle.functions(p, None) for p in profiles]
        bodies = [oracle.body(p, None) for p in profiles]
        down = [collections.Counter(oracle.down(p, "main")) for p in profiles]
        found = {}
        for (name,) in set().union(*functions):
            found[f"functions {name}"] = [f.get((name,), 0)
                                          for f in functions]
            found[f"body {name}"] = [b.get((name,), 0) for b in bodies]
        for words in rng.sample(sorted(set().union(*down)), 8):
            found[f"path ({' '.join(words)})"] = [d[words] for d in down]
        verdicts += check_claims(rng, path, found,
                                 [sum(p.stacks.values()) for p in profiles],
                                 counts, wrong)
    claims.make("assertions have the jackknife's intervals",
                wrong or ([] if len(verdicts) == 3 else [verdicts]))


def check_assert_known(folder):
    """The samples are many and the members few: only the groups say so."""
    rng = random.Random(37)
    fleet = simulated_fleet(rng, folder, 40)
    rows = {row["path"][0]: row for row in
            table(fleet, "noise on", "functions")["rows"]}
    slow = rows["slow"]
    bound = f"{100 * (slow['fraction'] + slow['error']):.3f}%"
    line = f"assert functions slow below {bound}"
    done = run("-q", "-e", line, fleet, status=5)
    claims.check("a bound one error away is undecided",
                 b"merge more members" in done.stdout, done.stdout)
    claims.check("with noise on, too", run(
        "-q", "-e", "noise on", "-e", line, fleet, status=5).stdout ==
        done.stdout)
    budget = os.path.join(folder, "claims")
    with open(budget, "w", encoding="ascii") as file:
        file.write(line.removeprefix("assert ") + "\n")
    claims.check("budget check says the same", run(
        "-q", "-e", f"budget check {budget}", fleet, status=5).stdout ==
        done.stdout)
    claims.check("the groups are not shown afterwards",
                 ask(fleet, line.replace(bound, "99%"), "functions")
                 .split("\n", 1)[1] == ask(fleet, "functions"))
    claims.check("nor after another resource or step", ask(
        fleet, line.replace(bound, "99%"), "narrow main", "undo", "functions")
        .split("\n", 1)[1] == ask(fleet, "functions"))


def check_budget(folder):
    """The bound that is written leaves room for another such fleet."""
    rng = random.Random(41)
    written = os.path.join(folder, "budget")
    statuses = collections.Counter()
    for _ in range(12):
        if os.path.exists(written):
            os.remove(written)
        run("-q", "-e", f"budget write {written}",
            simulated_fleet(rng, folder, 40))
        done = run("-q", "-e", f"budget check {written}",
                   simulated_fleet(rng, folder, 40, name="again"),
                   status=None)
        statuses[done.returncode] += 1
    # Each of about 9 lines is undecided in 1 of 40, and one more where few
    # members have a path; none is violated.
    claims.check("an equal fleet does not violate its budget",
                 statuses[4] == 0 and statuses[0] >= 6, statuses)


def bounds_of(path):
    """{"functions main": microseconds}"""
    units = {"us": 1, "ms": 1e3, "s": 1e6}
    with open(path, encoding="ascii") as file:
        lines = re.findall(r"^(.*) below ([0-9.]+)([mu]?s)$", file.read(), re.M)
    return {claim: float(number) * units[unit]
            for claim, number, unit in lines}


def check_budget_members(folder):
    """Fleets grow and shrink: bounds are for as many members as at first."""
    rng = random.Random(43)
    written = os.path.join(folder, "members.budget")
    fleet = simulated_fleet(rng, folder, 40)
    lines = run("-q", "-e", f"budget write {written}", fleet).stdout
    with open(written, encoding="ascii") as file:
        first = file.read()
    claims.check("a budget of a merged profile says of how many members",
                 first.splitlines()[2] == "# members: 40" and
                 "# runs" not in first and lines, first)

    statuses = {}
    for n in 20, 60, 90:
        equal = simulated_fleet(rng, folder, n, name="equal")
        done = run("-q", "-F", "json", "-e", f"budget check {written}", equal,
                   status=None)
        rows = {row["assertion"].rsplit(" below ")[0]: row
                for row in json.loads(done.stdout)["rows"]}
        statuses[n] = done.returncode
        whole = sum(row["hits"] for row in
                    table(equal, "threshold 0", "body")["rows"]) * 1000
        row = rows["functions main"]
        claims.check(f"amounts of {n} members are scaled to 40",
                     math.isclose(row["value"], whole * 40 / n,
                                  rel_tol=1e-9) and
                     row["low"] < row["value"] < row["high"], row)
        text = run("-q", "-e", f"budget check {written}", equal,
                   status=None).stdout.decode()
        claims.check("and the answer says so",
                     f") per 40 members (the profile has {n})" in text, text)
    claims.check("more or fewer members are no slowdown",
                 4 not in statuses.values() and statuses[60] == 0, statuses)
    slow = simulated_fleet(rng, folder, 20, factor=4, name="slow")
    text = run("-q", "-e", f"budget check {written}", slow, status=4).stdout
    claims.check("a slowdown of half as many members is one",
                 b"violated   functions slow" in text, text)

    fast = simulated_fleet(rng, folder, 60, factor=0.1, name="fast")
    before = bounds_of(written)
    run("-q", "-e", f"budget write {written}", fast)
    after = bounds_of(written)
    claims.check("bounds become tighter by what as many members have",
                 before["functions slow"] * 0.1 < after["functions slow"] <
                 before["functions slow"] * 0.8 and
                 all(after[claim] <= before[claim] for claim in before),
                 (before, after))

    text = ask(fleet, "assert functions main below 1000s",
               "assert functions main below 110%").splitlines()
    claims.check("an amount of a merged profile says of how many members",
                 text[0].endswith(" in 40 members together") and
                 "members" not in text[1], text)


def check_budget_origin(folder):
    """Bounds of merged profiles and of runs are not compared."""
    rng = random.Random(47)
    single = write(os.path.join(folder, "single"), {("main",): 5000})
    fleet = simulated_fleet(rng, folder, 30)
    of_run, of_fleet, typed = (os.path.join(folder, f"{name}.budget")
                               for name in ("run", "fleet", "typed"))
    run("-q", "-e", f"budget write {of_run}", single)
    run("-q", "-e", f"budget write {of_fleet}", fleet)
    for words, path, why in [
            (f"budget check {of_run}", [fleet], "for 1 run, and a merged "
             "profile of 30 members is loaded"),
            (f"budget write {of_run}", [fleet], "for 1 run, and a merged "),
            (f"budget check {of_fleet}", [single], "for a merged profile of "
             "30 members, but the loaded one is not merged"),
            (f"budget check {of_fleet}", [fleet, single], "for a merged "
             "profile of 30 members, but several profiles are loaded")]:
        done = run("-q", "-e", words, *path, status=1)
        claims.check(f"{words.split()[1]} refuses bounds {why}",
                     why in done.stderr.decode(), done.stderr)
    for key in "members", "runs":
        for number in "0", "", "-1", "3x", "99999999999999999999999":
            with open(typed, "w", encoding="ascii") as file:
                file.write(f"# {key}: {number}\nfunctions main below 9s\n")
            done = run("-q", "-e", f"budget check {typed}", fleet, status=1)
            claims.check(f"'# {key}: {number}' is an error with its line",
                         b"typed.budget:1: expected a number from 1 on" in
                         done.stderr, done.stderr)
    with open(typed, "w", encoding="ascii") as file:
        file.write("# members: 15\nfunctions main below 1000s\n")
    done = run("-q", "-e", f"budget check {typed}", fleet)
    claims.check("a file of one's own may say its number of members",
                 b" per 15 members (the profile has 30)" in
                 done.stdout, done.stdout)


# ---- several merged profiles together ----

def check_together(folder):
    """Several merged profiles that are loaded are one of all their members."""
    rng = random.Random(61)
    parts, whole = [], os.path.join(folder, "together")
    for i in range(3):
        simulated_fleet(rng, folder, 12, name=f"part{i}")
        paths = [os.path.join(folder, f"part{i}-{k}") for k in range(12)]
        parts.append(os.path.join(folder, f"part{i}"))
        run("merge", "--by", "id", "-o", parts[-1], *paths)
    run("merge", "-o", whole, *parts)
    lines = [("threshold 0", "noise on", view) for view in (
        "functions", "top", "tree", "down main", "explain")] + [
            ("members slow",), ("labels id",), ("narrow label id=*",
                                                "functions"),
            ("assert functions slow below 90%",)]

    def answer(paths, words):
        done = run("-q", "-F", "json", *(x for line in words
                                         for x in ("-e", line)), *paths)
        return [json.loads(line) for line in done.stdout.splitlines()]
    claims.make("merged profiles that are loaded together are their sum",
                [words for words in lines
                 if answer(parts, words) != answer([whole], words)])
    files = [os.path.join(folder, f"together-{i}.budget") for i in range(2)]
    for path, profiles in zip(files, (parts, [whole])):
        run("-q", "-e", f"budget write {path}", *profiles)
    texts = []
    for path in files:
        with open(path, encoding="ascii") as file:
            texts.append(file.read())
    claims.check("their budget is by member", texts[0] == texts[1] and
                 "# members: 36" in texts[0], texts)
    text = run("-q", "-e", f"budget check {files[0]}", *parts[:2],
               status=None).stdout.decode()
    claims.check("and is checked for as many members",
                 " per 36 members (the profile has 24)" in text, text)
    # What cannot be one merged profile is added up like any others.
    other = os.path.join(folder, "by-thread")
    run("merge", "--by", "thread", "-o", other, parts[0] + "-0")
    text = ask(parts[0], "noise on", f"load {parts[0]} {other}", "functions")
    claims.check("counts by two keys are added up without members",
                 "random groups" not in text and " main [" in text, text)
    many = [shutil.copy(parts[i % 3], os.path.join(folder, f"copy-{i}"))
            for i in range(70)]
    text = run("-q", "-e", "info", *many).stdout.decode()
    claims.check("also very many of them", "840" in text, text)


# ---- the true spread ----

def poisson(rng, mean):
    return max(0, round(rng.gauss(mean, math.sqrt(mean))))


def simulated_fleet(rng, folder, n_members, factor=1.0, name="fleet"):
    """
    Members differ: in their load, in the share of a path, and one in ten in
    that it has a path which others do not have.
    """
    paths = []
    for i in range(n_members):
        load = rng.lognormvariate(0, 0.3)
        slow = max(0.01, rng.gauss(0.15, 0.05))
        stacks = {
            ("main", "parse", "slow"): slow * 300 * load * factor,
            ("main", "parse"): 100 * load,
            ("main", "slow", "parse"): 40 * load * rng.random(),
            ("main", "idle"): 400,
        }
        if rng.random() < 0.1:
            stacks["main", "retry"] = 150 * load
        paths.append(write(os.path.join(folder, f"{name}-{i}"), {
            stack: 1 + poisson(rng, mean)
            for stack, mean in stacks.items()}))
    out = os.path.join(folder, name)
    run("merge", "-o", out, *paths)
    return out


def sampling_error(share, hits):
    return math.sqrt(share * (1 - share) / hits)


def check_spread(folder, n_members, view):
    """
    The spread of the shares of 60 fleets is itself sure to 9.2%; so is the mean
    of their variances to about 6% more: together 11%, of which three are
    allowed.
    """
    rng = random.Random(11)
    shares, variances, by_chance = (collections.defaultdict(list)
                                    for _ in range(3))
    for _ in range(N_SPREAD):
        answer = table(simulated_fleet(rng, folder, n_members), "noise on",
                       "threshold 0", view)
        for row in answer["rows"]:
            path = tuple(row["path"])
            shares[path].append(row["fraction"])
            if row["error"] is not None:
                variances[path].append(row["error"] ** 2)
            by_chance[path].append(sampling_error(row["fraction"],
                                                  answer["total"]) ** 2)
    wrong, n_worse = [], 0
    for path, found in shares.items():
        spread = statistics.stdev(found) if len(found) == N_SPREAD else 0
        if spread == 0 or len(variances[path]) < N_SPREAD:
            continue
        error = math.sqrt(statistics.mean(variances[path]))
        chance = math.sqrt(statistics.mean(by_chance[path]))
        print(f"# {' '.join(path)}: spread {spread:.5f}, error {error:.5f}, "
              f"by samples alone {chance:.5f}")
        n_worse += chance < 0.6 * spread
        if not 0.67 < error / spread < 1.4:
            wrong.append((path, spread, error))
    claims.make(f"errors are the spread of fleets of {n_members}, {view}",
                wrong)
    claims.check("which samples alone do not show", n_worse >= 2, n_worse)


def check_diff(folder):
    """
    The change between equal fleets has the interval that each diff shows, and
    few of them are called changes; one that was made is found.
    """
    rng = random.Random(13)
    changes, halves = (collections.defaultdict(list) for _ in range(2))
    alarms = found = 0
    for _ in range(40):
        base = simulated_fleet(rng, folder, 40, name="base")
        now = simulated_fleet(rng, folder, 40, name="now")
        answer = table(now, "diff down main", base=base)
        alarms += any(row["verdict"] in ("grew", "shrank")
                      for row in answer["rows"])
        for row in answer["rows"]:
            changes[tuple(row["path"])].append(row["change"])
            if row["low"] is not None:
                halves[tuple(row["path"])].append(
                    (row["high"] - row["low"]) / 2)
        worse = simulated_fleet(rng, folder, 40, factor=1.6, name="worse")
        for row in table(worse, "diff down main", base=base)["rows"]:
            found += row["path"] == ["main", "parse", "slow"] and \
                row["verdict"] == "grew"
    wrong = []
    for path, of_path in changes.items():
        if len(of_path) < 40 or len(halves[path]) < 40:
            continue
        spread, half = statistics.stdev(of_path), statistics.mean(halves[path])
        print(f"# {' '.join(path)}: spread {spread:.0f}, half of the "
              f"interval {half:.0f}")
        # 40 changes show their spread to 11%.
        if not 1.25 < half / spread < 2.9:
            wrong.append((path, spread, half))
    claims.make("intervals of changes have their spread", wrong)
    # 5% are 2 of 40; more than 6 is less likely than 1 in 200.
    claims.check("equal fleets seldom differ", alarms <= 6, alarms)
    claims.check("a change is found in at least 32 of 40", found >= 32, found)


# ---- what diff and headings say ----

def check_diff_sides(folder):
    rng = random.Random(17)
    base = simulated_fleet(rng, folder, 30, name="base")
    now = simulated_fleet(rng, folder, 20, name="now")
    single = os.path.join(folder, "base-3")
    answer = table(now, "diff functions", base=base)
    both = [table(path, "functions")["total"] for path in (base, now)]
    claims.check("the sides are sums of all members",
                 [answer["base"]["mean"], answer["now"]["mean"]] == both and
                 [answer["base"]["members"], answer["now"]["members"]] ==
                 [30, 20] and answer["base"]["runs"] == 1, answer)
    rows = {tuple(row["path"]): row for row in answer["rows"]}
    wrong = []
    for side, path in ("base", base), ("now", now):
        for row in table(path, "functions")["rows"]:
            shown = rows.get(tuple(row["path"]))
            if shown is not None and abs(shown[side] - row["hits"]) > 1e-6:
                wrong.append((side, row, shown))
    claims.make("and so are the rows", wrong)
    text = ask(now, "diff functions", base=base)
    claims.check("the heading says so", "base: a merged profile of 30 members"
                 in text and "random groups of members" in text, text)
    text = ask(single, "diff functions", base=base)
    claims.check("beside a single run, too", "1 run and " in text and
                 "now: 1 run of" in text, text)
    answer = table(now, "scale work 0.5", "diff functions", base=base)
    claims.check("per unit of work",
                 abs(answer["now"]["mean"] - 2 * both[1]) < 1e-6 and
                 answer["base"]["mean"] == both[0], answer)
    answer = table(now, "scale by idle", "diff functions", base=base)
    idle = {row["path"][0]: row for row in answer["rows"]}["idle"]
    claims.check("per use of a function",
                 abs(idle["now"] - idle["base"]) < 1e-6, idle)
    answer = table(now, "scale robust", "diff functions", base=base)
    rows = {row["path"][0]: row for row in answer["rows"]}
    claims.check("and robust", abs(rows["idle"]["change"]) <
                 0.2 * rows["idle"]["base"], rows["idle"])
    svg = os.path.join(folder, "diff.svg")
    ask(now, f"diff flame {svg}", base=base)
    claims.check("a picture is made", os.path.getsize(svg) > 1000)


def two_of_one_group(folder):
    """Paths and identities of two members in one group."""
    first = write(os.path.join(folder, "one"), {("main", "f"): 5,
                                                ("main", "g"): 7})
    for number in range(1, 1000):
        if group_of_id(b"%d" % number) == group_of_id(b"0"):
            return first, ["0", str(number)]
    raise AssertionError


def merge_by_ids(folder, path, ids):
    parts = []
    for name in ids:
        parts.append(os.path.join(folder, f"part-{name}"))
        run("merge", "--id", name, "-o", parts[-1], path)
    out = os.path.join(folder, "of-ids")
    run("merge", "-o", out, *parts)
    return out


def check_unknown(folder):
    path, ids = two_of_one_group(folder)
    text = ask(merge_by_ids(folder, path, ids[:1]), "noise on", "functions")
    claims.check("one member shows no errors", "no errors are shown: the "
                 "merged profile has one member" in text and "+-" not in text,
                 text)
    fleet = merge_by_ids(folder, path, ids)
    text = ask(fleet, "noise on", "functions")
    claims.check("nor do members of one group", "no errors are shown: all "
                 "members are in one random group" in text and
                 "+-" not in text, text)
    text = ask(path, "diff functions", base=fleet)
    claims.check("and diff takes them for a run", "base: 1 run of" in text and
                 "one run on each side" in text, text)
    other = write(os.path.join(folder, "rare"), {("main", "f"): 6,
                                                 ("main", "rare"): 1})
    fleet = os.path.join(folder, "with-rare")
    run("merge", "--by", "id", "-o", fleet, path, other)
    assert group_of(path) != group_of(other)
    text = ask(fleet, "noise on", "threshold 0", "functions", "tree")
    rows = table(fleet, "noise on", "threshold 0", "functions")["rows"]
    errors = {row["path"][0]: row["error"] for row in rows}
    claims.check("a row of one group says so", "+-? rare [1]" in text and
                 "rare (0.0526 +-?) [1]" in text and
                 "+-?: unknown" in text and errors["rare"] is None and
                 errors["f"] > 0, text)
    text = ask(fleet, "noise on", "narrow label id=*", "functions")
    claims.check("nor are groups known by label", "no errors are shown: the "
                 "random groups of the merged profile are not known by label"
                 in text and "+-" not in text, text)
    text = ask(fleet, "noise on", "narrow label id=*", "undo", "functions")
    claims.check("but again after undo", FROM_GROUPS in text, text)
    out = [run("-q", *step, "-e", "assert functions f below 900s", fleet,
               status=status).stdout for step, status in
           (([], 0), (["-e", "narrow label id=*"], 5))]
    claims.check("nor how many members have a label",
                 b" in 2 members together" in out[0] and
                 b"members together" not in out[1], out)
    for hint, path, steps, why in [
            ("by label", fleet, ["narrow label id=*"], b"not known by label"),
            ("of one member", merge_by_ids(folder, path, ids[:1]), [],
             b"one member"),
            ("of a path in one group", fleet, ["root rare"],
             b"fewer than two random groups")]:
        name = "rare" if why.startswith(b"fewer") else "f"
        lines = [word for step in steps for word in ("-e", step)]
        done = run("-q", *lines, "-e", f"assert functions {name} below 99%",
                   path, status=5)
        claims.check(f"nothing is asserted {hint}", why in done.stdout and
                     b"95%" not in done.stdout, done)
        if name == "f":
            done = run("-q", *lines, "-e",
                       f"budget write {os.path.join(folder, 'none')}", path,
                       status=1)
            claims.check(f"and no budget made {hint}", why in done.stderr,
                         done)


def check_session(folder):
    """Errors follow what is loaded and set; without them nothing changes."""
    rng = random.Random(23)
    fleet = simulated_fleet(rng, folder, 20)
    plain = os.path.join(folder, "fleet-3")
    views = ["top", "functions", "down main", "up slow", "tree", "threads",
             "labels", "callees main", "path (main parse)"]
    claims.make("noise off shows what was shown before",
                [view for view in views if ask(fleet, view) !=
                 ask(fleet, "noise on", "noise off", view)])
    text = ask(plain, "noise on", f"load {fleet}", "functions",
               f"load {plain}", "functions")
    head, tail = text.split("idle [", 1)
    claims.check("the source of errors follows the profile",
                 FROM_GROUPS in head and "by sampling" in tail, text)
    text = ask(fleet, "noise on", "threads")
    claims.check("views outside the stacks have none", "+-" not in text, text)
    want = table(fleet, "noise on", "functions")["rows"]
    claims.make("the same by another order of commands",
                [lines for lines in
                 [["functions", "noise on"], ["noise on", "narrow idle",
                                              "undo"],
                  ["narrow main", "noise on"],
                  ["noise on", "granularity line", "granularity function"],
                  ["noise on", "resource cpu"], ["noise on", "reload"],
                  ["noise on", "group all = par*", "reset"]]
                 if table(fleet, *lines, "functions")["rows"] != want])


def check_diff_members(folder):
    """What to type if there are more members than at first."""
    rng = random.Random(59)
    base = simulated_fleet(rng, folder, 30, name="old")
    now = simulated_fleet(rng, folder, 50, name="new")
    text = ask(now, "diff functions", base=base)
    claims.check("the heading says how to compare as many members",
                 "To compare as many, type: scale work 50/30" in text, text)
    scaled = table(now, "scale work 50/30", "diff functions", base=base)
    row = {row["path"][0]: row for row in scaled["rows"]}["main"]
    sums = [sum(row["hits"] for row in
                table(fleet, "threshold 0", "body")["rows"])
            for fleet in (base, now)]
    claims.check("and that does", math.isclose(row["base"], sums[0]) and
                 math.isclose(row["now"], sums[1] * 30 / 50) and
                 row["low"] < 0 < row["high"], row)


def check_export(folder):
    """What is lost is said, since the errors of the file are too small."""
    fleet = simulated_fleet(random.Random(53), folder, 30)
    lost = "how members differ (noise is then that of samples alone)"
    out = os.path.join(folder, "out.pb.gz")
    for words in (["export pprof"], ["export collapsed"],
                  ["narrow main", "export pprof"]):
        done = run("-q", *(x for line in words for x in
                           ("-e", f"{line} {out}" if "export" in line
                            else line)), fleet)
        claims.check(f"{words[-1]} says what a merged profile loses",
                     lost in done.stderr.decode(), done.stderr)
    claims.check("and only of a merged profile", lost not in run(
        "-q", "-e", f"export pprof {out}.2", out).stderr.decode())
    claims.check("the exported file has the errors of samples",
                 FROM_GROUPS in ask(fleet, "noise on", "functions") and
                 "error by sampling" in ask(out, "noise on", "functions"))


def check_resources(folder):
    """Two resources, one of them as a column beside the other."""
    rng = random.Random(29)
    paths = []
    for i in range(30):
        paths.append(os.path.join(folder, f"two-{i}"))
        with open(paths[-1], "w", encoding="ascii") as file:
            file.write("# cpprof 1\n# resource: cpu; gtick=microsecond; "
                       "interval=1000\n# resource: faults; gtick=fault; "
                       "interval=50\n")
            for stack in "main;f", "main;g;f", "main;g":
                file.write(f"{stack} {rng.randrange(1, 90)} "
                           f"{rng.randrange(1, 90)}\n")
    fleet = os.path.join(folder, "two")
    run("merge", "-o", fleet, *paths)
    wrong, errors = [], []
    for resource in "cpu", "faults":
        alone = table(fleet, "noise on", f"resource {resource}",
                      "functions")["rows"]
        errors.append([row["error"] for row in alone])
        for lines in [["columns cpu faults", "noise on"],
                      ["noise on", "columns cpu faults"]]:
            rows = table(fleet, *lines, f"resource {resource}",
                         "functions")["rows"]
            if {row["path"][0]: row["error"] for row in rows} != \
                    {row["path"][0]: row["error"] for row in alone}:
                wrong.append((resource, lines, rows, alone))
    claims.make("errors are the resource's, also beside other columns",
                wrong or ([errors] if errors[0] == errors[1] else []))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_groups(folder)
        check_formula(folder)
        check_formula(folder, "--by", "id")
        check_together(folder)
        check_explain(folder)
        check_assert(folder)
        check_assert_known(folder)
        check_budget(folder)
        check_budget_members(folder)
        check_budget_origin(folder)
        check_spread(folder, 40, "down main")
        check_spread(folder, 80, "functions")
        check_diff(folder)
        check_diff_sides(folder)
        check_unknown(folder)
        check_session(folder)
        check_resources(folder)
        check_diff_members(folder)
        check_export(folder)
    claims.end()


if __name__ == "__main__":
    main()
