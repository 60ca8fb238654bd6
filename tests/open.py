#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""open.py -- open member of PATH: which member of a merged profile it opens.

What it says of random fleets is compared with the members' own stacks.  Speaks
TAP.
"""
import collections
import json
import os
import random
import subprocess
import tempfile
import types

import cpprof
import oracle
from claims import Claims
from terminal import Terminal, has_terminals

CPPROF = cpprof.CPPROF
HEADER = "# cpprof 1\n# resource: cpu; gtick=microsecond; interval=1000\n"
claims = Claims()


def run(*words, status=0, folder=None):
    return cpprof.run(*words, status=status, cwd=folder, text=False)


def opened(path, *lines, folder=None):
    return cpprof.documents(path, *lines, cwd=folder)[-1]["rows"][0]


def refused(path, *lines, folder=None):
    words = ["-q"]
    for line in lines:
        words += ["-e", line]
    return run(*words, path, status=1, folder=folder).stderr.decode()


def write(path, stacks):
    """stacks: {("main", "f"): hits}"""
    with open(path, "w", encoding="ascii") as file:
        file.write(HEADER)
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {hits}\n")
    return path


def write_script(path, program, n):
    """n samples of (main a), as perf script prints them."""
    with open(path, "w", encoding="ascii") as file:
        for i in range(n):
            file.write(f"{program} 1 {i}.0: 1 cycles: \n\t10 a+0x1 (/x)\n"
                       "\t10 main+0x1 (/x)\n\n")
    return path


# ---- which member ----

def has_path(stack, path):
    one = types.SimpleNamespace(stacks={stack: 1}, functions=set(stack))
    return oracle.down(one, path[0]).get(path, 0) > 0


def parts_of(stacks, is_kept):
    """The outermost prefixes all of whose stacks are kept."""
    prefixes = {stack[:n] for stack in stacks for n in range(1, len(stack) + 1)}
    whole = {prefix for prefix in prefixes
             if all(is_kept[stack] for stack in stacks
                    if stack[:len(prefix)] == prefix)}
    return [prefix for prefix in whole if prefix[:-1] not in whole]


def expect(members, path):
    """members: {id: stacks}.  What it is to say, without counts by id."""
    stacks = {stack for own in members.values() for stack in own}
    is_kept = {stack: has_path(stack, path) for stack in stacks}
    known = collections.Counter()
    parts = parts_of(stacks, is_kept)
    for part in parts:
        sums = {name: sum(hits for stack, hits in own.items()
                          if stack[:len(part)] == part)
                for name, own in members.items()}
        most = max(sums.values())
        known[min(name for name, hits in sums.items() if hits == most)] += most
    most = max(known.values())
    best = min(name for name, hits in known.items() if hits == most)
    everything = sum(hits for own in members.values()
                     for stack, hits in own.items() if is_kept[stack])
    return best, most, everything, \
        "exactly" if len(parts) == 1 or most == everything else "at least"


def truth(members, path):
    return {name: sum(hits for stack, hits in own.items()
                      if has_path(stack, path))
            for name, own in members.items()}


def random_fleet(rng, folder, *options):
    stacks = sorted({("main", *rng.choices("abcde", k=rng.randrange(1, 6)))
                     for _ in range(14)})
    members, parts = {}, []
    for i in range(rng.randrange(2, 9)):
        own = {stack: rng.randrange(1, 30)
               for stack in rng.sample(stacks, rng.randrange(3, len(stacks)))}
        name = f"m{rng.randrange(10 ** 6)}"
        members[name] = own
        path = write(os.path.join(folder, f"{name}.folded"), own)
        parts.append(os.path.join(folder, f"{name}.part"))
        run("merge", *options, "--id", name, "-o", parts[-1], path)
    out = os.path.join(folder, "fleet")
    run("merge", "-o", out, *parts)
    return out, members


def some_paths(rng, members):
    everything = collections.Counter()
    for own in members.values():
        everything.update(own)
    profile = types.SimpleNamespace(
        stacks=everything,
        functions={name for stack in everything for name in stack})
    paths = {path for root in sorted(profile.functions)
             for path in oracle.down(profile, root)}
    return rng.sample(sorted(paths), 12)


def check_nodes(folder):
    rng = random.Random(3)
    wrong, seen = [], collections.Counter()
    for _ in range(10):
        fleet, members = random_fleet(rng, folder)
        for path in some_paths(rng, members):
            row = opened(fleet, f"open member of {' '.join(path)}")
            best, most, everything, known = expect(members, path)
            seen[known] += 1
            if (row["member"], row["hits"], row["of"], row["known"]) != \
                    (best, most, everything, known):
                wrong.append((path, row, best, most, everything, known))
            true = truth(members, path)
            if true[row["member"]] < row["hits"] or (
                    known == "exactly" and
                    true[row["member"]] != max(true.values())):
                wrong.append((path, row, true))
            if os.path.basename(row["file"]) != f"{row['member']}.folded":
                wrong.append((path, row))
    claims.make("it is the member with the greatest known sum",
                wrong or ([] if min(seen["exactly"], seen["at least"]) > 9
                          else [seen]))


def check_ids(folder):
    rng = random.Random(5)
    wrong, n_below = [], 0
    for _ in range(10):
        fleet, members = random_fleet(rng, folder, "--by", "id")
        for path in some_paths(rng, members):
            row = opened(fleet, f"open member of {' '.join(path)}")
            true = truth(members, path)
            best = min(name for name, hits in true.items()
                       if hits == max(true.values()))
            n_below += expect(members, path)[1] < true[best]
            if (row["member"], row["hits"], row["of"], row["known"]) != \
                    (best, true[best], sum(true.values()), "exactly"):
                wrong.append((path, row, true))
    claims.make("with counts by id it is the one with most",
                wrong or ([] if n_below > 5 else [n_below]))


def check_what_is_opened(folder):
    rng = random.Random(7)
    wrong = []
    for options in [], ["--by", "id"]:
        fleet, members = random_fleet(rng, folder, *options)
        for path in some_paths(rng, members):
            first, functions = cpprof.documents(fleet, f"open member of "
                                                f"{' '.join(path)}", "functions")
            own = members[first["rows"][0]["member"]]
            if functions["total"] != sum(own.values()):
                wrong.append((path, first, functions))
    claims.make("its own profile is loaded then", wrong)


def check_steps(folder):
    """Steps count as they do for views; by label only with counts by id."""
    first = write(os.path.join(folder, "first"), {
        ("main", "a"): 9, ("main", "b"): 1, ("main",): 2})
    second = write(os.path.join(folder, "second"), {
        ("main", "a"): 2, ("main", "b"): 5, ("main",): 4})
    fleet = os.path.join(folder, "two")
    run("merge", "-o", fleet, first, second)
    row = opened(fleet, "drop a", "open member of main")
    claims.check("steps count", row["file"] == second and row["hits"] == 5
                 and row["of"] == 12 and row["known"] == "at least", row)
    row = opened(fleet, "drop a", "drop b", "open member of main")
    claims.check("of a part of a node it is that node's member",
                 row["known"] == "of one node" and row["hits"] is None and
                 row["file"] == first and row["of"] == 6, row)
    processes = os.path.join(folder, "by-process")
    one = write_script(os.path.join(folder, "one.txt"), "left", 9)
    other = write_script(os.path.join(folder, "other.txt"), "right", 2)
    run("merge", "--by", "process", "-o", processes, other, one)
    row = opened(processes, "open member of a")
    claims.check("another key does not matter", row["file"] == one and
                 row["known"] == "exactly" and row["hits"] == 9 and
                 row["of"] == 11, row)
    text = refused(processes, "narrow label process=*", "open member of a")
    claims.check("but a step by label does", "not known by label" in text and
                 "--by id" in text, text)
    ids = os.path.join(folder, "by-id")
    run("merge", "--by", "id", "-o", ids, first, second)
    who = opened(ids, "open member of b")["member"]
    row = opened(ids, f"drop label id={who}", "open member of b")
    claims.check("unless counts are by id", row["file"] == first and
                 row["hits"] == 1 and row["of"] == 1, row)


def check_ties(folder):
    """Of equal members it is the one with the smaller identity."""
    rows = []
    for options in [], ["--by", "id"]:
        parts = []
        for name, hits in ("y", (1, 5)), ("x", (5, 1)):
            path = write(os.path.join(folder, name), {
                ("main", "p", "f"): hits[0], ("main", "q", "f"): hits[1],
                ("main",): 1})
            parts.append(f"{path}.part")
            run("merge", *options, "--id", name, "-o", parts[-1], path)
        fleet = os.path.join(folder, "ties")
        run("merge", "-o", fleet, *parts)
        rows.append(opened(fleet, "open member of f"))
    claims.check("of equal members it is the one with the smaller identity",
                 [(row["member"], row["hits"]) for row in rows] ==
                 [("x", 5), ("x", 6)], rows)


def check_intervals(folder):
    """Members whose hits are of different sizes are compared in gticks."""
    often, seldom = (os.path.join(folder, name) for name in
                     ("often", "seldom"))
    for path, interval, hits in (often, 1000, 30), (seldom, 10000, 5):
        with open(path, "w", encoding="ascii") as file:
            file.write(HEADER.replace("1000", str(interval)) +
                       f"main;f {hits}\n")
    fleet = os.path.join(folder, "intervals")
    run("merge", "-o", fleet, often, seldom)
    row = opened(fleet, "open member of f")
    claims.check("hits of different intervals are compared by what they stand "
                 "for", row["file"] == seldom and row["hits"] == 50000 and
                 row["of"] == 80000, row)


# ---- where its file is ----

def check_files(folder):
    home = os.path.join(folder, "home")
    os.makedirs(os.path.join(home, "runs"))
    elsewhere = os.path.join(folder, "elsewhere")
    name = write(os.path.join(home, "runs", "one.folded"),
                 {("main", "f"): 3})
    run("merge", "-o", "all", "runs/one.folded", folder=home)
    fleet = os.path.join(home, "all")
    row = opened("all", "open member of f", folder=home)
    claims.check("under the name that it had", row["file"] == "runs/one.folded"
                 and row["checked"] == "content", row)
    row = opened(fleet, "open member of f", folder=folder)
    claims.check("beside the merged profile", row["file"] == name, row)
    other = os.path.join(folder, "other")
    os.makedirs(other)
    write(os.path.join(other, "most.folded"), {("main", "f"): 9})
    run("merge", "-o", "all", "most.folded", folder=other)
    done = run("-q", "-F", "json", "-e", "open member of f", fleet,
               os.path.join(other, "all"))
    row, = json.loads(done.stdout)["rows"]
    claims.check("of several merged profiles that have most beside each",
                 row["file"] == os.path.join(other, "most.folded") and
                 row["hits"] == 9 and row["of"] == 12, row)
    os.rename(os.path.join(home, "runs"), elsewhere)
    text = refused(fleet, "open member of f", folder=folder)
    claims.check("a line says if it is nowhere", "its file is not here: "
                 "runs/one.folded" in text and "directories DIR" in text and
                 "3 of 3 hits" in text and text.count("\n") == 1, text)
    row = opened(fleet, "directories . elsewhere", "open member of f",
                 folder=folder)
    claims.check("below directories, without its first components",
                 row["file"] == "elsewhere/one.folded", row)
    write(os.path.join(home, "one.folded"), {("main", "f"): 4})
    row = opened(fleet, "directories elsewhere", "open member of f",
                 folder=folder)
    claims.check("a file of that name with other content is passed over",
                 row["file"] == "elsewhere/one.folded", row)
    text = refused(fleet, "open member of f", folder=folder)
    claims.check("or named, if there is no other", "one.folded has changed "
                 "since it was merged" in text and
                 f"load {home}/one.folded" in text, text)
    text = cpprof.documents(fleet, "functions", cwd=folder)
    claims.check("the profile stays after an error",
                 text[0]["total"] == 3, text)


def check_identities(folder):
    path = write(os.path.join(folder, "given.folded"), {("main", "f"): 3})
    fleet = os.path.join(folder, "given")
    run("merge", "--id", "web7", "-o", fleet, path)
    write(path, {("main", "f"): 4})
    row = opened(fleet, "open member of f")
    claims.check("a given identity is believed", row["member"] == "web7" and
                 row["checked"] == "name", row)
    with open(path, "rb") as file:
        content = file.read()
    done = subprocess.run([CPPROF, "merge", "-o", fleet, "-"], input=content,
                          capture_output=True, check=True)
    assert done.stderr == b"", done
    text = refused(fleet, "open member of f")
    claims.check("of standard input there is no name", "does not have the name "
                 "of its file; to open it, type: load FILE" in text, text)
    pipe = os.path.join(folder, "pipe.folded")
    write(pipe, {("main", "f"): 3})
    run("merge", "-o", fleet, pipe)
    os.unlink(pipe)
    os.mkfifo(pipe)
    text = refused(fleet, "open member of f")
    claims.check("a pipe under its name is not waited for",
                 "its file is not here" in text, text)


def check_errors(folder):
    path = write(os.path.join(folder, "plain.folded"), {("main", "f"): 3})
    fleet = os.path.join(folder, "plain")
    run("merge", "-o", fleet, path)
    text = refused(path, "open member of f")
    claims.check("other profiles have no members",
                 "the profile has no members" in text, text)
    text = refused(fleet, "open member of g")
    claims.check("nor does a path that is not there", "g" in text and
                 "member" not in text, text)
    for line, says in (("open", "open needs member of PATH"),
                       ("open f", "open member of PATH"),
                       ("open member", "open member of PATH"),
                       ("open member of", "open member of PATH"),
                       ("open of f", "open member of PATH")):
        text = refused(fleet, line)
        claims.check(f"{line} says how it is typed", says in text, text)


def check_prompt(folder):
    if not has_terminals():
        claims.skip("at the prompt", "no pseudo-terminals here")
        return
    first = write(os.path.join(folder, "p1"), {("main", "big", "x"): 9,
                                               ("main", "small"): 1})
    second = write(os.path.join(folder, "p2"), {("main", "big", "x"): 1,
                                                ("main", "small"): 5})
    fleet = os.path.join(folder, "prompt")
    run("merge", "-o", fleet, first, second)
    terminal = Terminal("-q", fleet, columns=200)
    terminal.expect("(cpprof main cpu) ")
    terminal.type("ope\tmem\to\tsm\t\n")
    terminal.expect("open member of small")
    terminal.expect(f"{second}")
    terminal.expect("(cpprof main cpu) ")
    terminal.type(f"load {fleet}\nfunctions\n")
    terminal.expect("small [6]")
    terminal.expect("(cpprof main cpu) ")
    terminal.type("open member of %2\n")
    terminal.expect(f"{first}")
    terminal.type("quit\n")
    claims.check("at the prompt words complete and %2 is a row",
                 terminal.status() == 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_nodes, check_ids, check_what_is_opened,
                      check_steps, check_ties, check_intervals, check_files,
                      check_identities, check_errors, check_prompt):
            check(folder)
    claims.end()


if __name__ == "__main__":
    main()
