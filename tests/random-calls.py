#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""random-calls.py -- what is not marked as an estimate is what was measured.

Random programs, most of them recursive, are run in the mind: each gives the
stacks that a sampler would see, and the calls that callgrind would count, with
and without its levels of recursion and known callers.  Of the calls cpprof may
say less, and more only with a mark; every number without one must be that of
the stacks, and a path must show one number in every view.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

CPPROF = os.environ.get("CPPROF", "./cpprof")
SEED = int(os.environ.get("SEED", "1"))
PROGRAMS = int(os.environ.get("PROGRAMS", "60"))


class Run:
    """One run: activations as (name, cost, children)."""

    def __init__(self, rng):
        self.rng = rng
        self.names = [f"f{i}" for i in range(rng.randint(2, 7))]
        # A caller prefers few callees, so that there are only callers.
        self.callees = {
            name: rng.sample(self.names, rng.randint(1, min(3, len(self.names))))
            for name in self.names}
        self.left = rng.randint(3, 120)

    def activation(self, name, depth):
        self.left -= 1
        children = []
        while self.left > 0 and depth < 12 and self.rng.random() < 0.7:
            children.append(self.activation(
                self.rng.choice(self.callees[name]), depth + 1))
        return name, self.rng.choice([0, 1, 2, 5, 10]), children


def stacks(activation, above, out):
    name, cost, children = activation
    here = above + (name,)
    out[here] = out.get(here, 0) + cost
    for child in children:
        stacks(child, here, out)


def callgrind(activation, levels, n_callers):
    """The text that callgrind would write with --separate-recs=levels."""
    costs, arcs = {}, {}

    def visit(activation, above):
        name, cost, children = activation
        level = min(above.count(name) + 1, levels)
        text = name + (f"'{level}" if level > 1 else "")
        for caller in list(reversed(above))[:n_callers]:
            text += "'" + caller
        costs[text] = costs.get(text, 0) + cost
        total = cost
        for child in children:
            callee, used = visit(child, above + (name,))
            calls, hits = arcs.get((text, callee), (0, 0))
            arcs[text, callee] = calls + 1, hits + used
            total += used
        return text, total

    visit(activation, ())
    lines = ["# callgrind format", "creator: callgrind-3.19.0",
             "positions: line", "events: Ir"]
    for text in sorted(costs):
        lines += [f"fn={text}", f"1 {costs[text]}"]
        for (caller, callee), (calls, hits) in sorted(arcs.items()):
            if caller == text:
                lines += [f"cfn={callee}", f"calls={calls} 1", f"1 {hits}"]
    return "\n".join(lines + ["totals: 0", ""])


def ask(path, names):
    """Every row of every view: (view, path) to (hits, whether estimated)."""
    commands = ["functions", "body"]
    for name in names:
        commands += [f"{view} {name}"
                     for view in ("down", "up", "callers", "callees")]
    arguments = [CPPROF, "-q", "-F", "json", "-e", "threshold 0"]
    for command in commands:
        arguments += ["-e", command]
    answer = subprocess.run(arguments + [path], check=True,
                            stdout=subprocess.PIPE).stdout
    rows = {}
    for line in answer.splitlines():
        view = json.loads(line)
        for row in view["rows"]:
            rows[view["view"], tuple(row["path"])] = (
                row["hits"], row.get("estimated", False))
    return rows


def check(truth, rows, why):
    n_exact = 0
    seen = {}
    for (view, path), (hits, is_estimated) in rows.items():
        if view in ("down", "up", "callers", "callees"):
            known = seen.setdefault(path, (hits, is_estimated))
            assert known == (hits, is_estimated), (why, path, known, hits)
        if is_estimated:
            continue
        n_exact += 1
        expected = truth.get((view, path), (0, False))[0]
        assert hits == expected, (why, view, path, hits, expected)
    for (view, path), (hits, _) in truth.items():
        if view in ("body", "functions", "callers", "callees"):
            assert (view, path) in rows, (why, view, path)
    return n_exact


def main():
    n_exact = n_rows = 0
    with tempfile.TemporaryDirectory() as folder:
        folded = os.path.join(folder, "stacks")
        called = os.path.join(folder, "calls")
        for number in range(PROGRAMS):
            rng = random.Random(SEED * 100003 + number)
            run = Run(rng)
            activation = run.activation(run.names[0], 0)
            out = {}
            stacks(activation, (), out)
            with open(folded, "w") as file:
                for stack, cost in out.items():
                    file.write(";".join(stack) + f" {cost}\n")
            names = sorted({name for stack in out for name in stack})
            if not any(out.values()):
                continue
            truth = ask(folded, names)
            for levels, n_callers in ((1, 0), (2, 0), (3, 0), (2, 1), (2, 3),
                                      (3, 20)):
                with open(called, "w") as file:
                    file.write(callgrind(activation, levels, n_callers))
                rows = ask(called, names)
                n_exact += check(truth, rows, (number, levels, n_callers))
                n_rows += len(rows)
    print(f"# {n_exact} of {n_rows} numbers exact")
    print("ok 1 - numbers without a mark are those of the stacks")
    print("1..1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
