#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""grouped-calls.py -- groups in profiles of calls without stacks.

Random programs, most of them recursive, are simulated as in random-calls.py:
each gives stacks and the calls that callgrind would count.  Some functions are
put into groups.  Three things must hold:

- every number of the calls that is not marked as an estimate is that of the
  stacks, in which the group's frames were renamed and neighbours joined;
- the calls show the same, estimates included, as a file in which the functions
  of a group were replaced by one function, by hand, without the calls between
  them;
- exported, and read again, they show the same.
"""
import importlib
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

from claims import Claims, rounds

HERE = os.path.dirname(os.path.abspath(__file__))

calls = importlib.import_module("random-calls")
CPPROF = calls.CPPROF
PROGRAMS = int(os.environ.get("PROGRAMS", rounds(10)))
claims = Claims()


def ask(path, names, commands, granularity="function"):
    """The rows of calls.ask, after some commands."""
    words = [CPPROF, "-q", "-F", "json", "-e", "threshold 0"]
    for command in [*commands, f"granularity {granularity}", "functions",
                    "body", *(f"{view} {name}" for name in names for view in
                              ("down", "up", "callers", "callees"))]:
        words += ["-e", command]
    done = subprocess.run([*words, path], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    rows = {}
    for line in done.stdout.splitlines():
        view = json.loads(line)
        for row in view["rows"]:
            rows[view["view"], tuple(row["path"])] = (
                row["hits"], row.get("estimated", False))
    return rows


def random_groups(rng, names):
    """Disjoint groups: name to members."""
    names = rng.sample(names, len(names))
    groups = {}
    for name in ("G", "H"):
        n = rng.randint(1, max(1, len(names) - 1))
        if names and (name == "G" or rng.random() < 0.5):
            groups[name], names = names[:n], names[n:]
    return groups


def steps_of(groups):
    return [f"group {name} = {' '.join(members)}"
            for name, members in groups.items()]


def grouped_stacks(run, granularity, groups, activation, above, out):
    """As Run.stacks, with groups."""
    name, costs, children = activation
    group = next((g for g, members in groups.items() if name in members), None)

    def extend(place, is_call):
        if group is None:
            return above + run.steps(granularity, name, place, is_call)
        return above if above[-1:] == (group,) else above + (group,)

    for place, cost in costs:
        here = extend(place, False)
        out[here] = out.get(here, 0) + cost
    for place, child in children:
        grouped_stacks(run, granularity, groups, child, extend(place, True),
                       out)


def compare_with_stacks(rng, granularity, folder):
    """How many values were exact, and how many there are."""
    folded, called = (os.path.join(folder, name) for name in ("s", "c"))
    run = calls.Run(rng)
    activation = run.activation(run.names[0], 0)
    n_callers = rng.choice([0, 0, 1, 3])
    counted = calls.Callgrind(run, rng.choice([1, 1, 2, 3]), n_callers)
    counted.visit(activation, ())
    called_names = sorted(set(counted.name.values()))
    groups = random_groups(rng, called_names)
    out = {}
    grouped_stacks(run, granularity, groups, activation, (), out)
    if not any(out.values()):
        return 0, 0
    with open(folded, "w") as file:
        file.writelines(f"{';'.join(stack)} {cost}\n"
                        for stack, cost in out.items())
    with open(called, "w") as file:
        file.write(counted.text())
    names = sorted({name for stack in out for name in stack})
    truth = ask(folded, names, [])
    rows = ask(called, names, steps_of(groups), granularity)
    return calls.check(truth, rows, (groups, granularity)), len(rows)


def check_stacks(granularity, seed, folder):
    n_exact = n_rows = 0
    for program in range(PROGRAMS if granularity == "function" else
                         PROGRAMS // 3):
        rng = random.Random(f"{seed} {granularity} {program}")
        try:
            exact, rows = compare_with_stacks(rng, granularity, folder)
        except AssertionError as error:
            raise AssertionError(f"program {program}: {error}") from error
        n_exact, n_rows = n_exact + exact, n_rows + rows
    print(f"# {n_exact} of {n_rows} numbers exact")
    assert n_exact > n_rows // 40, (n_exact, n_rows)


def group_by_hand(text, groups):
    """A callgrind file whose functions are in groups: each function's block is
    renamed, and a call within a group is left out with its cost."""
    group_of = {member: name for name, members in groups.items()
                for member in members}

    def renamed(value):
        """The name, with its known callers unless it is a group's."""
        parts = [group_of.get(part, part) for part in value.split("'")]
        return parts[0] if value.split("'")[0] in group_of else "'".join(parts)

    own, skipping, lines = None, False, []
    called = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key in ("ob", "fl", "fi", "fe", "cob", "cfi"):
            called[key] = value
            continue
        if key == "fn":
            own = renamed(value)
            where = ("group", "group") if own in groups else (
                called["ob"], called["fl"])
            lines += [f"ob={where[0]}", f"fl={where[1]}", f"fn={own}"]
        elif key == "cfn":
            callee = renamed(value)
            skipping = callee == own and own in groups
            where = ("group", "group") if callee in groups else (
                called["cob"], called["cfi"])
            if not skipping:
                lines += [f"cob={where[0]}", f"cfi={where[1]}",
                          f"cfn={callee}"]
        elif key == "calls":
            if not skipping:
                lines.append(line)
            else:
                skipping = "cost"
        elif skipping == "cost":
            skipping = False
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def random_graph(rng):
    """A file of functions that call each other at random, with cycles; costs
    need not come from any run."""
    names = [f"f{i}" for i in range(rng.randint(2, 9))]
    lines = ["events: Ir"]
    for name in names:
        lines += ["ob=o", "fl=a.c", f"fn={name}",
                  f"{rng.randint(1, 9)} {rng.randint(1, 50)}"]
        for callee in rng.sample(names, rng.randint(0, min(3, len(names)))):
            lines += ["cob=o", "cfi=a.c", f"cfn={callee}",
                      f"calls={rng.randint(1, 9)} 1",
                      f"{rng.randint(1, 9)} {rng.randint(0, 99)}"]
    return "\n".join(lines) + "\n"


def occurring(path):
    """Functions that have hits or calls."""
    return sorted({path[0] for view, path in ask(path, [], [])
                   if view == "functions"})


def check_by_hand(seed, folder):
    called, replaced, exported = (os.path.join(folder, name)
                                  for name in ("c", "r", "e"))
    for program in range(PROGRAMS * 2):
        rng = random.Random(f"{seed} by hand {program}")
        n_callers = 0
        if program % 2 == 0:
            text = random_graph(rng)
        else:
            run = calls.Run(rng)
            n_callers = rng.choice([0, 1, 3])
            counted = calls.Callgrind(run, 1, n_callers)
            counted.visit(run.activation(run.names[0], 0), ())
            text = counted.text()
        with open(called, "w") as file:
            file.write(text)
        groups = random_groups(rng, occurring(called))
        with open(replaced, "w") as file:
            file.write(group_by_hand(text, groups))
        shown = occurring(replaced)
        steps = steps_of(groups)
        by_hand = ask(replaced, shown, [])
        rows = ask(called, shown, steps)
        if n_callers > 0:
            # A function called by two members stays two nodes, so that
            # estimates of longer paths may differ.
            by_hand, rows = ({(view, path): hits for (view, path), hits in
                              some.items() if len(path) < 3}
                             for some in (by_hand, rows))
            assert rows == by_hand, (program, groups, sorted(
                set(rows.items()) ^ set(by_hand.items()), key=str)[:6])
            continue
        assert rows == by_hand, (program, groups, sorted(
            set(rows.items()) ^ set(by_hand.items()), key=str)[:6])
        rows = ask(called, shown, [*steps, f"export callgrind {exported}"])
        again = ask(exported, shown, [])
        assert again == by_hand, (program, "exported", groups, sorted(
            set(again.items()) ^ set(by_hand.items()), key=str)[:6])


# ---- what can be typed ----

GRAPH = """events: Ir
ob=/bin/prog
fl=/src/main.c
fn=main
1 10
cob=/usr/lib/libx.so.1
cfi=/lib/x.c
cfn=x::open
calls=2 1
2 60
cob=/usr/lib/libx.so.1
cfi=/lib/x.c
cfn=x::read
calls=3 1
3 90
ob=/usr/lib/libx.so.1
fl=/lib/x.c
fn=x::open
1 20
cfn=x::read
calls=4 1
2 40
fn=x::read
1 130
fn=y::idle
1 5
"""


def shows(paths, *commands):
    words = [CPPROF, "-q", "--keep-going"]
    for command in commands:
        words += ["-e", command]
    words += [paths] if isinstance(paths, str) else paths
    return subprocess.run(words, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120)


def functions(path, *commands):
    """Body+descendants by name, after commands."""
    done = shows(path, "threshold 0", *commands, "format json", "functions")
    assert done.returncode == 0, done.stderr
    return {row["path"][0]: row["hits"]
            for row in json.loads(done.stdout.splitlines()[-1])["rows"]}


def check_patterns(path):
    plain = functions(path)
    assert plain == {"main": 160, "x::open": 60, "x::read": 130,
                     "y::idle": 5}, plain
    joined = {"main": 160, "G": 150, "y::idle": 5}
    for step in ("group G = x::*", "group G = /^x::/",
                 "group G = x::open x::read"):
        assert functions(path, step) == joined, step
    with_idle = {"main": 160, "G": 155}
    for step in ("group G = @libx", "group G = @libx.so.1",
                 "group G = file:x.c", "group G = file:lib/x.c",
                 "group G = x::* y::*", "group G = *::*"):
        assert functions(path, step) == with_idle, step
    assert functions(path, "group {1} = /^([a-z]+)::/") == {
        "main": 160, "x": 150, "y": 5}
    # A group of a group, and a function that has the group's name.
    assert functions(path, "group x = x::*", "group all = x main") == {
        "all": 160, "y::idle": 5}
    assert functions(path, "group main = x::*") == {
        "main": 160, "y::idle": 5}
    # Names by module, and a step that was made by another granularity.
    assert functions(path, "group G = x::*", "granularity module") == {
        "prog": 160, "G": 150, "libx.so.1": 5}
    assert functions(path, "granularity module", "group G = libx.so.1",
                     "granularity function") == with_idle
    assert functions(path, "granularity line", "group G = x::*",
                     "granularity function") == joined


def check_session(path, folder):
    plain, joined = functions(path), functions(path, "group G = x::*")
    assert functions(path, "group G = x::*", "undo") == plain
    assert functions(path, "group G = x::*", "undo", "redo") == joined
    assert functions(path, "group G = x::*", "ungroup G") == plain
    assert functions(path, "group G = x::*", "reload") == joined
    assert functions(path, "group G = x::*", "reset") == plain
    script = os.path.join(folder, "script")
    shows(path, "group G = x::*", f"save {script}")
    assert functions(path, f"source {script}") == joined
    out = shows(path, "group G = x::*", "steps", "callers G").stdout
    assert re.search(r"^ *165 .*group G = x::\*$", out, re.M), out
    assert "refined: 165 of 165 hits" in out, out
    # Calls into the group add up, those within are gone.
    out = shows(path, "format json", "group G = x::*", "flat").stdout
    flat = {row["path"][0]: row for row in
            json.loads(out.splitlines()[-1])["rows"]}
    assert flat["G"]["calls"] == 5, flat["G"]
    # The code of a function is the same whatever it is called.
    lines = [shows(path, *steps, "list x::open").stdout
             for steps in ([], ["group G = x::*"])]
    assert "refined" in lines[1] and lines[0].splitlines()[2:] == [
        line for line in lines[1].splitlines()[2:]
        if not line.startswith("refined")], lines


def check_errors(path):
    for command, message in (
            ("group G => x::*", "write = instead of =>"),
            ("narrow main", "group NAME = PATTERN... works"),
            ("drop main ... x::read", "group NAME = PATTERN... works"),
            ("narrow thread 1", "calls and no stacks"),
            ("narrow time 1s..", "calls and no stacks"),
            ("group G = z::*", "no frame is called z::*"),
            ("group G = x::opne", "did you mean x::open"),
            ("group G = @libx.so.2", "did you mean libx.so.1"),
            ("group G = file:z.c", "no frame is of the file z.c")):
        done = shows(path, "group H = main", command, "steps", "!true")
        errors = done.stderr.splitlines()
        assert len(errors) == 1 and message in errors[0], (command, errors)
        assert done.stdout.count("group ") == 1, (command, done.stdout)


def check_overflow(folder):
    """Calls of two functions into a group whose sum has no room."""
    path, most = os.path.join(folder, "big"), 2 ** 63
    with open(path, "w") as file:
        file.write(f"events: Ir\nfn=main\n1 1\ncfn=a\ncalls={most} 1\n1 {most}"
                   f"\ncfn=b\ncalls={most} 1\n1 {most}\nfn=a\n1 1\nfn=b\n1 1\n")
    done = shows(path, "group G = a b")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and \
        "exceed 64 bits" in done.stderr, done
    done = shows(path, "group G = main a b", "functions")
    assert done.returncode == 0, done.stderr


def check_gmon(folder):
    """Own hits and calls are sums; inclusive ones remain estimates."""
    path = os.path.join(folder, "gmon.out")
    subprocess.run(["cc", "-O1", "-fno-inline", "-pg", "-o", "rdparse",
                    os.path.join(HERE, "..", "sample-data", "rdparse.c")],
                   cwd=folder, check=True, timeout=120)
    subprocess.run(["./rdparse", "1500"], cwd=folder, check=True, timeout=120,
                   stdout=subprocess.DEVNULL)

    def rows(*commands):
        out = shows([os.path.join(folder, "rdparse"), path], "format json", "threshold 0", *commands,
                    "flat", "body").stdout.splitlines()
        flat, body = (json.loads(line)["rows"] for line in out[-2:])
        return ({row["path"][0]: row["calls"] for row in flat},
                {row["path"][0]: row["hits"] for row in body})

    flat, body = rows()
    flat = {name: n for name, n in flat.items() if n}
    members = sorted(flat)[:3]
    grouped_calls, grouped = rows("group G = " + " ".join(members))
    assert grouped["G"] == sum(body[name] for name in members), grouped
    assert all(grouped[name] == body[name] for name in body
               if name not in members)
    assert grouped_calls["G"] <= sum(flat[name] for name in members)
    alone, _ = rows(f"group G = {members[0]}")
    assert alone["G"] == flat[members[0]], alone


def main():
    seed = os.environ.get("SEED", "1")
    with tempfile.TemporaryDirectory() as folder:
        for granularity in calls.GRANULARITIES:
            claims.attempt(f"by {granularity}, numbers without a mark are "
                           "those of grouped stacks", check_stacks,
                           granularity, seed, folder)
        claims.attempt("groups are what replacing names by hand makes",
                       check_by_hand, seed, folder)
        path = os.path.join(folder, "calls")
        with open(path, "w") as file:
            file.write(GRAPH)
        claims.attempt("patterns of names, modules and files",
                       check_patterns, path)
        claims.attempt("steps can be undone, saved, listed and exported",
                       check_session, path, folder)
        claims.attempt("what is not possible is one clear error",
                       check_errors, path)
        claims.attempt("a sum that exceeds 64 bits is an error",
                       check_overflow, folder)
        if shutil.which("cc"):
            claims.attempt("own hits and calls of gmon.out add up",
                           check_gmon, folder)
        else:
            claims.skip("own hits and calls of gmon.out add up",
                        "no compiler")
    claims.end()


if __name__ == "__main__":
    main()
