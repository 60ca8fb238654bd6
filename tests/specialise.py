#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""specialise.py -- the changed program saves what the path's value says.

    specialise.py [FIRST-SEED]

ORACLE_CASES=N: how many random paths to check at least; 3000 by default.  A
hundred thousand take some minutes:

    ORACLE_CASES=100000 nice -n 10 python3 tests/specialise.py

The witness is a simulation.  The rows of specialise are read as a list of
changes, "in this version of a function, a call of that function goes to this
copy".  Every stack of the profile is run through these calls, from its
outermost frame.  The hits of the stacks that come to an optimised copy must be
the path's value, which oracle.py finds by erasing loops.  That the copies are
as few as can be is checked by merging states of the whole automaton until no
two do the same.  Nothing is shared with cpprof.
"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

import oracle
from claims import Claims
from terminal import Terminal, has_terminals

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
SAMPLES = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")),
                       "sample-data")
PATHS_A_PROFILE = 60
claims = Claims()


# ---- asking cpprof ----

def run(path, lines, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".cmd", encoding="utf-8",
                                     errors="surrogateescape") as script:
        script.write("\n".join(lines) + "\n")
        script.flush()
        return subprocess.run(
            [CPPROF, "-q", *options, "-x", script.name, path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=600, check=False)


def ask(path, lines, *options):
    """The JSON documents that the lines print."""
    done = run(path, ["format json", *lines], *options)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def complaint(path, *lines):
    done = run(path, lines)
    assert done.returncode != 0 and not done.stdout, (lines, done.stdout)
    return done.stderr.decode().splitlines()[-1]


def write(folder, stacks):
    path = os.path.join(folder, "stacks.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# cpprof 1\n# resource: ticks; gtick=tick; interval=1\n")
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {hits}\n")
    return path


def typed(path):
    return "(" + " ".join(oracle.quoted(name) for name in path) + ")"


# ---- the changed program ----

class Program:
    """A program with the changes that the rows of a document list."""

    def __init__(self, document):
        self.calls, self.optimised = {}, set()
        self.hits = {}
        made, used = set(), set()
        for row in document["rows"]:
            if row["kind"] == "call":
                change = (row["in"], row["function"])
                assert change not in self.calls, f"twice: {row}"
                self.calls[change] = row["becomes"]
                used.add(row["becomes"])
                self.hits[change] = row["hits"]
                continue
            assert row["in"] is None, row
            if row["kind"] == "covered":
                continue
            if row["becomes"] is not None:
                made.add(row["becomes"])
            if row["kind"] == "optimise":
                self.optimised.add(row["becomes"] or row["function"])
            else:
                assert row["kind"] == "copy", row
                self.hits[row["becomes"]] = row["hits"]
        assert made == used, f"copies {made}, called {used}"
        assert document["copies"] == len(made), document
        self.made = made

    def run(self, stack):
        """Whether it comes to an optimised version, and what it used."""
        version, used = None, set()
        for name in stack:
            change = (version, name)
            version = self.calls.get(change, name)
            used.add(version)
            if change in self.calls:
                used.add(change)
            if version in self.optimised:
                return True, used
        return False, used


def values(stacks, paths):
    """Hits of the stacks that have any of the canonical paths."""
    return sum(hits for stack, hits in stacks.items() if any(
        path in oracle.canonical_paths(stack, path[0]) for path in paths))


def callers(stacks, name):
    """Who calls the outermost activations of a function."""
    return {stack[stack.index(name) - 1] if stack.index(name) else None
            for stack in stacks if name in stack}


def context(stacks, path):
    """The shortest suffix with the same hits."""
    wanted = values(stacks, [path])
    for n in range(1, len(path) + 1):
        suffix = path[-n:]
        if values(stacks, [suffix]) == wanted and (
                n > 1 or len(path) == 1 or
                callers(stacks, path[-1]) == {path[-2]}):
            return suffix
    raise AssertionError("a path is its own context")


# ---- the fewest copies ----

def fewest_copies(stacks, path):
    """By merging all states of functions that do the same.

    A state is a function, how many names of the path lead to it, and whether
    the last of them is left, as in section 2.1 of the manual.
    """
    callees = collections.defaultdict(set)
    for stack in stacks:
        for caller, callee in zip(stack, stack[1:]):
            callees[caller].add(callee)
    names = {name for stack in stacks for name in stack}
    last = len(path)

    def step(state, name):
        matched, is_left = state
        if not is_left and path[matched] == name:
            return matched + 1, False
        for i in range(min(matched, last - 1)):
            if path[i] == name:
                return i + 1, False
        return matched, matched > 0

    start = {(name, step((0, False), name)) for name in names}
    states, waiting = set(start), list(start)
    while waiting:
        name, state = waiting.pop()
        if state == (last, False):
            continue
        for callee in callees[name]:
            after = callee, step(state, callee)
            if after not in states:
                states.add(after)
                waiting.append(after)
    group = {(name, state): (name, state == (last, False))
             for name, state in states}
    while True:
        finer = {}
        for name, state in states:
            ends = () if state == (last, False) else tuple(
                (callee, group[callee, step(state, callee)])
                for callee in sorted(callees[name]))
            finer[name, state] = (group[name, state], ends)
        numbers = {}
        finer = {key: numbers.setdefault(value, len(numbers))
                 for key, value in finer.items()}
        if len(set(finer.values())) == len(set(group.values())):
            return len(set(group.values())) - len(names)
        group = finer


# ---- random profiles ----

HARD = ["operator new(unsigned long)", "a|b", "f 7", "f", "größe", "g(int)",
        "g", "(anonymous namespace)::h(char)", "f_1", "x::y<int>::z(int)"]


def random_stacks(rng):
    names = (rng.sample(HARD, rng.randint(2, 6)) if rng.random() < 0.15 else
             list("abcdefgh")[:rng.randint(2, 8)])
    stacks = {}
    for _ in range(rng.choice((2, 5, 10, 20))):
        stack = []
        if stacks and rng.random() < 0.6:
            stack = list(rng.choice(list(stacks)))
            stack = stack[:rng.randint(0, len(stack))]
        while len(stack) < rng.randint(1, 14):
            if stack and rng.random() < 0.2:
                piece = stack[rng.randrange(len(stack)):]
                stack += piece * rng.randint(1, 2)
            stack.append(rng.choice(names))
        if rng.random() < 0.4:
            stack.insert(0, "main")
        stacks[tuple(stack)] = rng.choice((0, 1, 2, 3, 10, 10**12))
    return stacks


def random_paths(rng, stacks):
    """Paths with hits."""
    profile = object.__new__(oracle.Profile)
    profile.stacks = stacks
    names = sorted({name for stack in stacks for name in stack})
    paths = [path for name in names
             for path, hits in oracle.down(profile, name).items() if hits]
    # Long ones are the more interesting, but there are few short ones.
    paths.sort(key=lambda path: (len(path), path))
    return rng.sample(paths, min(len(paths), PATHS_A_PROFILE))


def check_rows(document, stacks, plans, program):
    """The hits of the rows are those of the saved stacks that need them."""
    wanted = collections.Counter()
    saved = 0
    for stack, hits in stacks.items():
        is_saved, used = program.run(stack)
        if is_saved:
            saved += hits
            for item in used:
                wanted[item] += hits
    union = values(stacks, plans)
    assert saved == union, f"the changes save {saved} hits, not {union}"
    assert document["hits"] == union, f"{document['hits']}, not {union}"
    for item, hits in program.hits.items():
        assert hits == wanted[item], f"{item}: {hits}, not {wanted[item]}"
    for row in document["rows"]:
        if row["kind"] == "optimise" and row["becomes"] is not None:
            assert row["hits"] == wanted[row["becomes"]], row


def check_plans(document, stacks, plans):
    own = [row for row in document["rows"] if row["plan"] is not None]
    assert {row["plan"] for row in own} == set(range(1, len(plans) + 1)), own
    for row in own:
        plan = plans[row["plan"] - 1]
        assert tuple(row["given"]) == plan, row
        assert row["alone"] == values(stacks, [plan]), row
        assert tuple(row["path"]) == context(stacks, plan), row
    total = sum(stacks.values())
    saved = document["hits"] / total
    assert abs(document["saved"] - saved) < 1e-12
    assert abs(document["new_run"] - (1 - saved)) < 1e-12
    part = 1 - 1 / document["times"]
    assert abs(document["times_saved"] - saved * part) < 1e-12
    assert document["total"] == total
    assert document["overlap"] == sum(
        values(stacks, [plan]) for plan in plans) - document["hits"]


def check(document, stacks, plans):
    program = Program(document)
    names = {name for stack in stacks for name in stack}
    assert not program.made & names, "a copy has the name of a function"
    check_rows(document, stacks, plans, program)
    check_plans(document, stacks, plans)
    if len(plans) == 1:
        wanted = fewest_copies(stacks, context(stacks, plans[0]))
        assert document["copies"] == wanted, \
            f"{document['copies']} copies, not {wanted}"
    return document["copies"], document["detours"]


def random_cases(folder, seed, n):
    """Checks at least n cases; how many, the differences, the copies."""
    n_done, wrong, copies, most = 0, [], 0, 0
    while n_done < n and len(wrong) < 5:
        rng = random.Random(seed)
        stacks = random_stacks(rng)
        if sum(stacks.values()):
            paths = random_paths(rng, stacks)
            cases = [[path] for path in paths]
            cases += [rng.sample(paths, rng.randint(2, 4))
                      for _ in range(len(paths) // 4) if len(paths) >= 4]
            lines = ["specialise " + " ".join(map(typed, plans))
                     for plans in cases]
            documents = ask(write(folder, stacks), lines)
            assert len(documents) == len(cases), seed
            if seed % 8 == 0 and documents != ask(
                    write(folder, dict(reversed(stacks.items()))), lines):
                wrong.append(f"seed {seed}: the order of stacks matters")
            for plans, document in zip(cases, documents):
                try:
                    made, detours = check(document, stacks, plans)
                    if len(plans) == 1:
                        copies, most = copies + made, max(most, detours)
                        n_done += 1
                except AssertionError as error:
                    wrong.append(f"seed {seed}: {plans}: {error}")
        seed += 1
    print(f"# {n_done} paths, {copies / max(n_done, 1):.2f} copies a path, "
          f"at most {most} detours")
    return n_done, wrong


# ---- planted cases ----

def sample(name, *lines):
    return ask(os.path.join(SAMPLES, name), lines)[-1]


def changes(document):
    return [(row["kind"], row["in"], row["function"], row["becomes"],
             row["hits"]) for row in document["rows"]]


def process_db():
    """Section 4 of the paper: one copy, and 68% of the run."""
    document = sample("process_db.folded",
                      "specialise main uniquify_db qsort")
    assert changes(document) == [
        ("optimise", None, "qsort", "qsort_1", 1820),
        ("call", "uniquify_db", "qsort", "qsort_1", 1820)], document
    assert document["rows"][0]["path"] == ["uniquify_db", "qsort"]
    assert document["rows"][0]["given"] == ["main", "uniquify_db", "qsort"]
    assert abs(document["saved"] - 1820 / 2676) < 1e-12


def forms():
    """Section 4.4: three quarters of 0.6873 saved reduces the run by 51%."""
    document = sample("forms.folded", "specialise --times 4 "
                      "(address_information db_get_property)")
    assert document["copies"] == 1 and document["hits"] == 422, document
    assert abs(document["times_saved"] - 0.75 * 422 / 614) < 1e-12
    assert abs(document["times_new_run"] - (1 - 0.75 * 422 / 614)) < 1e-12
    # 614 samples of 20 centiseconds; 422 of them take a quarter.
    assert document["times_new_total_gticks"] == (614 - 422) * 20 + 422 * 5
    assert document["new_total_gticks"] == (614 - 422) * 20


def detour(folder):
    """d calls back into the path, so it has to be copied as well."""
    path = write(folder, {tuple("abdbc"): 3, tuple("adbc"): 5,
                          tuple("adebc"): 1})
    document = ask(path, ["specialise (a b c)"])[0]
    assert changes(document) == [
        ("optimise", None, "c", "c_1", 3),
        ("call", "a", "b", "b_1", 3),
        ("copy", None, "b", "b_1", 3),
        ("call", "b_1", "c", "c_1", 3),
        ("call", "b_1", "d", "d_1", 3),
        ("copy", None, "d", "d_1", 3),
        ("call", "d_1", "b", "b_1", 3),
        ("call", "d_1", "e", "e_1", 0),
        ("copy", None, "e", "e_1", 0),
        ("call", "e_1", "b", "b_1", 0)], document
    assert document["detours"] == 2 and document["copies"] == 4


def overlap(folder):
    path = write(folder, {tuple("abc"): 3, tuple("xbc"): 5,
                          tuple("abd"): 7, tuple("m"): 10})
    document = ask(path, ["specialise (a b c) (b c) (a b d)"])[0]
    assert document["hits"] == 15 and document["overlap"] == 3, document
    alone = {row["plan"]: row["alone"] for row in document["rows"]
             if row["plan"]}
    assert alone == {1: 3, 2: 8, 3: 7}, document
    # What is below a copy that is optimised needs no copy.
    document = ask(path, ["specialise (a b) (a b c)"])[0]
    assert [row[:4] for row in changes(document)] == [
        ("optimise", None, "b", "b_1"), ("covered", None, "c", None),
        ("call", "a", "b", "b_1")], document
    assert document["hits"] == 10


def refined(folder):
    """The value is that of what is left; savings are of the whole run."""
    path = write(folder, {("main", "f", "g"): 30, ("main", "h", "f", "g"): 20,
                          ("main",): 50})
    document = ask(path, ["narrow main f", "specialise f g"])[-1]
    assert document["hits"] == 30 and document["refined"] == 30
    assert document["saved"] == 0.3
    # Here f is the only caller that is left.
    assert document["copies"] == 0, document
    text = run(path, ["narrow main f", "specialise f g"]).stdout.decode()
    assert "refined: 30 of 100 hits (30.0% of the run)" in text, text


def large(folder):
    """A cycle of many functions: the closure is large, and there is advice."""
    ring = tuple(f"r{i}" for i in range(12))
    path = write(folder, {("a", "b", *ring, "b", "c"): 5,
                          ("x", "b", "c"): 1, ("x", "y"): 1})
    text = run(path, ["specialise (a b c)"]).stdout.decode()
    assert "14 copies to make, 12 of them on detours that recursion takes " \
        "back to the path\ndetours with hits: 12;" in text, text
    assert "needs fewer: (b c) 1, and it has 6 hits" in text, text
    assert "group" in text
    text = run(path, ["group ring = r*", "specialise (a b c)"])
    assert "3 copies to make, 1 of them" in text.stdout.decode(), text
    # limit cuts the rows, and the footer says so.
    limited = ask(path, ["limit 3", "specialise (a b c)"])[-1]
    assert len(limited["rows"]) == 3 and limited["hidden"] > 20, limited


def names(folder):
    """Copies are named after functions, and never like another one."""
    path = write(folder, {("main", "ns::f(int)", "g<int>"): 5, ("g<int>",): 1,
                          ("g_1<int>", "main"): 1})
    document = ask(path, ["specialise main |ns::f(int)| |g<int>|"])[-1]
    assert {row["becomes"] for row in document["rows"]} == {"g_2<int>"}, \
        document
    short = run(path, ["names short",
                       "specialise |ns::f(int)| |g<int>|"]).stdout.decode()
    assert "ns::f     g<int>" in short or "ns::f" in short, short
    assert "ns::f(int)" not in short.splitlines()[-6], short


def errors(folder):
    path = write(folder, {tuple("abac"): 5, tuple("ad"): 0, tuple("x"): 1})
    assert complaint(path, "specialise a b a c").endswith(
        "(a b a c) cannot have hits: only the last function of a path may "
        "occur twice, and a call back to a begins the path there anew; try "
        "(a c)")
    assert complaint(path, "specialise b c").endswith(
        "no stack has the path (b c)")
    assert "(a d) has no hits of " in complaint(path, "specialise a d")
    assert "no function nosuch" in complaint(path, "specialise nosuch a")
    for wrong in "1", "0.5", "x", "-3", "1.2.3", "1e3", "0", "":
        text = complaint(path, f"specialise --times {wrong} (a b)")
        assert "expected a number above 1" in text, (wrong, text)
    assert complaint(path, "specialise --times").endswith(
        "--times needs a number")
    assert "granularity function" in complaint(
        path, "granularity module", "specialise (a b)")
    assert "must end with )" in complaint(path, "specialise (a b")
    flow = os.path.join(SAMPLES, "rdparse.callgrind.gz")
    assert complaint(flow, "specialise main").endswith(
        "specialise needs stacks, and a profile of calls without stacks has "
        "none")


def spelling(folder):
    """Paths are typed as everywhere, alone or several."""
    path = write(folder, {("main", "f", "f 7", "g(int)"): 5,
                          ("(anonymous namespace)::h(char)", "f", "x"): 2,
                          ("x", "f"): 1, ("f", "f 7", "g(int)"): 1})
    plans = {
        "main f": [["main", "f"]],
        "(main f)": [["main", "f"]],
        "(main f) (x f)": [["main", "f"], ["x", "f"]],
        "(main f)(x f)": None,
        "( main f ) ( x f )": [["main", "f"], ["x", "f"]],
        "(main f |f 7| g(int)) (x f)": [["main", "f", "f 7", "g(int)"],
                                        ["x", "f"]],
        "f 7": [["f 7"]],
        "(|(anonymous namespace)::h(char)| f) (x f)": [
            ["(anonymous namespace)::h(char)", "f"], ["x", "f"]],
        "(f |f 7|) (main f) (x f)": [["f", "f 7"], ["main", "f"],
                                     ["x", "f"]],
    }
    for text, wanted in plans.items():
        done = run(path, ["format json", "specialise " + text])
        if wanted is None:
            assert done.returncode != 0, text
            continue
        assert done.returncode == 0, (text, done.stderr)
        rows = json.loads(done.stdout)["rows"]
        given = {row["plan"]: row["given"] for row in rows if row["plan"]}
        assert list(given.values()) == wanted, (text, given)
    american = ask(path, ["specialize main f", "specialise main f"])
    del american[0]["view"], american[1]["view"]
    assert american[0] == american[1]


def prompt():
    """Rows of the last view are paths, and names are completed."""
    terminal = Terminal("-q", os.path.join(SAMPLES, "forms.folded"),
                        columns=200, rows=100)
    terminal.expect("Real Time) ")
    terminal.type("up db_get_property\r")
    terminal.expect("0.6873")
    terminal.expect("Real Time) ")
    terminal.type("specialise %2 (%3 db_read_record)\r")
    screen = terminal.expect("copies to make")
    assert "plan 1: (address_information db_get_property)" in screen, screen
    assert "plan 2: (" in screen, screen
    terminal.expect("Real Time) ")
    terminal.type("specialise %1 db_read_record\r")
    screen = terminal.expect("copies to make")
    assert "path: (address_information db_get_property db_read_record), " \
        "422 hits" in screen, screen
    terminal.expect("Real Time) ")
    terminal.type("specialise (db_get_property) (address_i\t db_g\t)\r")
    screen = terminal.expect("optimise")
    assert "plan 2: (address_information db_get_property)" in screen, screen
    terminal.expect("Real Time) ")
    terminal.type("quit\r")
    assert terminal.status() == 0


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    n = int(os.environ.get("ORACLE_CASES", "3000"))
    claims.attempt("the paper's process_db", process_db)
    claims.attempt("the paper's forms", forms)
    with tempfile.TemporaryDirectory() as folder:
        for claim, check_it in (
                ("a function that calls back into the path is copied", detour),
                ("several paths save the union of their stacks", overlap),
                ("after refinements the value is that of what is left",
                 refined),
                ("a large closure is reported, with advice", large),
                ("names of copies", names),
                ("errors say what is wrong", errors),
                ("paths are typed as everywhere", spelling)):
            claims.attempt(claim, check_it, folder)
        if has_terminals():
            claims.attempt("handles at the prompt", prompt)
        else:
            claims.skip("handles at the prompt", "no terminals")
        n_done, wrong = random_cases(folder, first, n)
        claims.make(f"{n_done} random paths: the changed program saves their "
                    "values with fewest copies", wrong)
    claims.end()


if __name__ == "__main__":
    main()
