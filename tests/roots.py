#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""roots.py -- without a root that has nearly all of the run, nothing is left out.

main is the default root only where it is on nine tenths of the hits of the
current resource.  Elsewhere pictures have all hits, and down lists the functions
with which stacks begin.  The witness is the text of the stacks itself.
"""
import collections
import json
import os
import random
import re
import tempfile

import cpprof
from claims import Claims

SAMPLES = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")),
                       "sample-data")
claims = Claims()


def run(paths, *lines, status=0):
    done = cpprof.ask(paths, *lines, status=status)
    return done.stdout if status == 0 else done.stderr


def tables(path, *lines):
    """What the lines print as JSON."""
    return [json.loads(line)
            for line in run(path, "format json", *lines).splitlines()]


def write(folder, name, stacks, resources=("cpu",)):
    """stacks: {("main", "f"): (hits of each resource)}"""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("# cpprof 1\n")
        for resource in resources:
            file.write(f"# resource: {resource}; gtick=microsecond; "
                       "interval=1000\n")
        for stack, hits in stacks.items():
            file.write(f"{';'.join(stack)} {' '.join(map(str, hits))}\n")
    return path


def canonical(stack):
    """The path of a stack: its callers with their recursion folded, and it."""
    path = []
    for name in stack[:-1]:
        if name in path:
            del path[path.index(name) + 1:]
        else:
            path.append(name)
    return (*path, stack[-1])


def solid_of(stacks, resource=0):
    """The hits that are solid in each box of a picture of all stacks."""
    solid = collections.Counter()
    for stack, hits in stacks.items():
        path = canonical(stack)
        for n in range(1, len(path) + 1):
            solid[path[:n]] += hits[resource]
    return {path: hits for path, hits in solid.items() if hits}


def outermost_of(stacks, resource=0):
    """For each function with which stacks begin, the hits of those with it."""
    first = {stack[0] for stack, hits in stacks.items() if hits[resource]}
    return {name: sum(hits[resource] for stack, hits in stacks.items()
                      if name in stack) for name in first}


def check_random(folder, seed):
    random.seed(seed)
    names = ["main", "work", "a", "b", "c"]
    stacks = {}
    for _ in range(random.randint(2, 30)):
        stack = tuple(random.choices(names, k=random.randint(1, 6)))
        stacks[stack] = (random.randint(0, 9), random.randint(1, 9))
    path = write(folder, f"{seed}.folded", stacks, ("cpu", "real"))
    for number, resource in enumerate(("cpu", "real")):
        total = sum(hits[number] for hits in stacks.values())
        has_main = sum(hits[number] for stack, hits in stacks.items()
                       if "main" in stack)
        occurs = any("main" in stack for stack in stacks)
        outermost = outermost_of(stacks, number)
        flame, down = tables(path, f"resource {resource}", "threshold 0",
                             "flame", "down")
        if occurs and 10 * has_main >= 9 * total:
            root = "main"
        else:
            root = list(outermost)[0] if len(outermost) == 1 else None
        assert flame["root"] == down["root"] == root, (seed, flame["root"])
        if root is not None or total == 0:
            continue
        got = {tuple(row["path"]): row["solid"] for row in flame["rows"]
               if row["solid"]}
        assert got == solid_of(stacks, number), (seed, got)
        got = {row["path"][0]: row["hits"] for row in down["rows"]}
        assert got == outermost, (seed, got)


def check_picture(path, root, names):
    """A picture as SVG and HTML with the boxes of all these functions."""
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("svg", "html"):
            file = os.path.join(folder, "x." + ending)
            run(path, f"flame {file}")
            with open(file, encoding="utf-8") as text:
                got = text.read()
            for name in names:
                assert f"<title>{name}\n" in got, (ending, name)
            assert ("root: none" in got) == (root is None), ending
    text = run(path, "flame")
    for name in names:
        assert re.search(rf"\|{name[:4]}", text), (name, text)


def check_server():
    path = os.path.join(SAMPLES, "server.pb.gz")
    flame, down, root = tables(path, "flame", "down", "root")
    top = {row["path"][0]: row["hits"] for row in flame["rows"]
           if row["depth"] == 0}
    assert flame["root"] is None and root["rows"][0]["value"] is None, root
    assert top["work"] > 0.9 * flame["total"], top
    assert down["rows"][0]["path"] == ["work"], down
    text = run(path, "down")
    assert "root: none; main is on 1.18% of the hits\n" in text, text
    check_picture(path, None, ["work"])


def check_resources(folder):
    """cpu is used by threads, real mostly by main, which waits for them."""
    path = write(folder, "resources.folded", {
        ("main", "join"): (0, 900), ("main",): (3, 0),
        ("thread", "work"): (90, 90), ("other", "work"): (7, 10),
    }, ("cpu", "real"))
    cpu, real, again = tables(path, "down", "resource real", "down",
                              "resource cpu", "down")
    assert cpu["root"] is None and real["root"] == "main", (cpu, real)
    assert again == cpu, again
    for hits, root in ((900, "main"), (899, None)):
        tenths = write(folder, "tenths.folded", {
            ("main", "f"): (hits,), ("thread", "work"): (1000 - hits,)})
        assert tables(tenths, "down")[0]["root"] == root, hits
    assert [row["path"] for row in cpu["rows"]] == [
        ["thread"], ["other"], ["main"]], cpu
    narrowed, = tables(path, "narrow main", "down")
    assert narrowed["root"] == "main", narrowed
    chosen, other = tables(path, "root other", "down", "resource real",
                           "down")
    assert chosen["root"] == other["root"] == "other", (chosen, other)
    for command in ("up", "callers", "callees", "flame up"):
        why = run(path, command, status=1)
        assert "there is no root function" in why, why
        assert "work" in run(path, command + " work"), command
    text = run(path, "explain")
    assert "root: thread\n" in text and "Hot path" in text, text
    assert "root: main\n" in run(path, "down main")


def check_comparison(folder):
    before = {("main", "join"): (5,), ("work", "f"): (100,),
              ("walk", "work", "f"): (60,)}
    now = {("main", "join"): (5,), ("work", "f"): (100,),
           ("walk", "work", "f"): (160,)}
    paths = [write(folder, "before.folded", before),
             write(folder, "now.folded", now)]
    flame, down = tables(paths[1], f"base {paths[0]}", "diff flame",
                         "diff down")
    assert flame["root"] is None and down["root"] is None
    got = {tuple(row["path"]): (row["base"], row["now"])
           for row in flame["rows"]}
    assert got[("walk", "work", "f")] == (60, 160), got
    got = {row["path"][0]: (row["base"], row["now"]) for row in down["rows"]}
    assert got == {"walk": (60, 160), "work": (160, 260), "main": (5, 5)}, got


CALLS = """events: Ir
fn=main
1 5
cfn=f
calls=1 1
1 10
fn=worker
1 20
cfn=f
calls=1 1
1 30
fn=idle
1 3
fn=f
1 40
"""


def check_calls(folder):
    """Calls without stacks: what no function calls."""
    path = os.path.join(folder, "calls.cg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CALLS)
    flame, down = tables(path, "threshold 0", "flame", "down")
    got = {tuple(row["path"]): row["hits"] for row in flame["rows"]}
    assert flame["root"] is None and got == {
        ("worker",): 50, ("worker", "f"): 30, ("main",): 15,
        ("main", "f"): 10, ("idle",): 3}, got
    got = {row["path"][0]: row["hits"] for row in down["rows"]}
    assert got == {"worker": 50, "main": 15, "idle": 3}, got
    hidden, = tables(path, "threshold 0.2", "flame")
    got = {tuple(row["path"]) for row in hidden["rows"]}
    assert got == {("worker",), ("worker", "f"), ("main",)}, got


def main():
    with tempfile.TemporaryDirectory() as folder:
        claims.attempt("a profile of threads without main is shown whole",
                       check_server)
        claims.attempt("the resource, the refinement and the user decide",
                       check_resources, folder)
        claims.attempt("comparisons have the whole, too",
                       check_comparison, folder)
        claims.attempt("calls without stacks begin where nobody calls",
                       check_calls, folder)

        def all_random():
            for seed in range(60):
                check_random(folder, seed)
        claims.attempt("random stacks: pictures have all hits, once solid",
                       all_random)
    claims.end()


main()
