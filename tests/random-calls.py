#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""random-calls.py -- numbers not marked as estimates are exact.

Random programs, most of them recursive, are simulated: each gives the stacks
that a sampler would see, and the calls that callgrind would count, with and
without its levels of recursion and known callers.  From the calls cpprof knows
less than from the stacks, so it may mark numbers as estimates.  Every number
without a mark must be that of the stacks, and a path must have the same number
in every view.  The same holds by module, file, line and call site.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from claims import rounds

CPPROF = os.environ.get("CPPROF", "./cpprof")
SEED = int(os.environ.get("SEED", "1"))
PROGRAMS = int(os.environ.get("PROGRAMS", rounds(14)))


GRANULARITIES = ("function", "module", "file", "line", "callsite")
FILES = ("a.c", "b.c", "h.h")
OBJECTS = ("prog", "lib.so")


class Run:
    """One run: activations as (name, [(place, cost)], [(place, child)]), a
    place being a file and a line; code of another file was inlined."""

    def __init__(self, rng):
        self.rng = rng
        self.names = [f"f{i}" for i in range(rng.randint(2, 7))]
        # Each caller prefers few callees, so that some functions have only one
        # caller.
        self.callees = {
            name: rng.sample(self.names, rng.randint(1, min(3, len(self.names))))
            for name in self.names}
        self.file = {name: rng.choice(FILES[:2]) for name in self.names}
        self.object = {name: rng.choice(OBJECTS) for name in self.names}
        self.left = rng.randint(3, 120)

    def place(self, name):
        file = self.file[name] if self.rng.random() < 0.8 else FILES[2]
        return file, self.rng.randint(1, 3)

    def activation(self, name, depth):
        self.left -= 1
        children = []
        while self.left > 0 and depth < 12 and self.rng.random() < 0.7:
            children.append((self.place(name), self.activation(
                self.rng.choice(self.callees[name]), depth + 1)))
        costs = [(self.place(name), self.rng.choice([0, 1, 2, 5, 10]))
                 for _ in range(self.rng.randint(1, 2))]
        return name, costs, children

    def steps(self, granularity, name, place, is_call):
        """The name of a function at a place on a stack."""
        file, line = place
        if granularity == "module":
            return (self.object[name],)
        if granularity == "file":
            own = self.file[name]
            return (own,) if file == own else (own, file)
        if granularity == "line":
            return name, f"{file}:{line}"
        if granularity == "callsite" and is_call:
            where = f"{line}" if file == self.file[name] else f"{file}:{line}"
            return name, f"{name}:{where}"
        return (name,)

    def stacks(self, granularity, activation, above, out):
        name, costs, children = activation
        for place, cost in costs:
            here = above + self.steps(granularity, name, place, False)
            out[here] = out.get(here, 0) + cost
        for place, child in children:
            self.stacks(granularity, child, above +
                        self.steps(granularity, name, place, True), out)


class Callgrind:
    """The counts of callgrind with --separate-recs=levels."""

    def __init__(self, run, levels, n_callers):
        self.run, self.levels, self.n_callers = run, levels, n_callers
        self.costs, self.arcs, self.name = {}, {}, {}

    def visit(self, activation, above):
        name, costs, children = activation
        level = min(above.count(name) + 1, self.levels)
        text = name + (f"'{level}" if level > 1 else "")
        for caller in list(reversed(above))[:self.n_callers]:
            text += "'" + caller
        self.name[text] = name
        total = 0
        for place, cost in costs:
            key = text, place
            self.costs[key] = self.costs.get(key, 0) + cost
            total += cost
        for place, child in children:
            callee, used = self.visit(child, above + (name,))
            calls, hits = self.arcs.get((text, place, callee), (0, 0))
            self.arcs[text, place, callee] = calls + 1, hits + used
            total += used
        return text, total

    def lines(self, text):
        """A function's lines, own costs and calls in the order of places."""
        name = self.name[text]
        file = self.run.file[name]
        yield f"ob={self.run.object[name]}"
        yield f"fl={file}"
        yield f"fn={text}"
        of = [(place, None, cost) for (caller, place), cost in
              self.costs.items() if caller == text]
        of += [(place, callee, used) for (caller, place, callee), used in
               self.arcs.items() if caller == text]
        for place, callee, used in sorted(of, key=str):
            if place[0] != file:
                file = place[0]
                yield f"{'fe' if file == self.run.file[name] else 'fi'}={file}"
            if callee is None:
                yield f"{place[1]} {used}"
                continue
            yield f"cob={self.run.object[self.name[callee]]}"
            yield f"cfi={self.run.file[self.name[callee]]}"
            yield f"cfn={callee}"
            yield f"calls={used[0]} 1"
            yield f"{place[1]} {used[1]}"

    def text(self):
        lines = ["# callgrind format", "creator: callgrind-3.19.0",
                 "positions: line", "events: Ir"]
        for text in sorted(self.name):
            lines += self.lines(text)
        return "\n".join(lines + ["totals: 0", ""])


def ask(path, names, granularity="function"):
    """Every row of every view: (view, path) to (hits, whether estimated)."""
    commands = ["functions", "body"]
    for name in names:
        commands += [f"{view} {name}"
                     for view in ("down", "up", "callers", "callees")]
    arguments = [CPPROF, "-q", "-F", "json", "-e", "threshold 0",
                 "-e", f"granularity {granularity}"]
    for command in commands:
        arguments += ["-e", command]
    answer = subprocess.run(arguments + [path], check=True,
                            stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, timeout=120).stdout
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


def compare(run, activation, granularity, folded, called):
    """The number of exact values, and of all values."""
    out = {}
    run.stacks(granularity, activation, (), out)
    if not any(out.values()):
        return 0, 0
    with open(folded, "w") as file:
        for stack, cost in out.items():
            file.write(";".join(stack) + f" {cost}\n")
    names = sorted({name for stack in out for name in stack})
    truth = ask(folded, names)
    n_exact = n_rows = 0
    for levels, n_callers in ((1, 0), (2, 0), (3, 0), (2, 1), (2, 3), (3, 20)):
        counted = Callgrind(run, levels, n_callers)
        counted.visit(activation, ())
        with open(called, "w") as file:
            file.write(counted.text())
        rows = ask(called, names, granularity)
        n_exact += check(truth, rows, (granularity, levels, n_callers))
        n_rows += len(rows)
    return n_exact, n_rows


def main():
    with tempfile.TemporaryDirectory() as folder:
        folded = os.path.join(folder, "stacks")
        called = os.path.join(folder, "calls")
        for number, granularity in enumerate(GRANULARITIES, 1):
            n_exact = n_rows = 0
            for program in range(PROGRAMS if number == 1 else PROGRAMS // 6):
                rng = random.Random(SEED * 100003 + program)
                run = Run(rng)
                activation = run.activation(run.names[0], 0)
                try:
                    exact, rows = compare(run, activation, granularity,
                                          folded, called)
                except AssertionError as error:
                    print(f"# program {program}: {error}")
                    print(f"not ok {number} - by {granularity}")
                    break
                n_exact, n_rows = n_exact + exact, n_rows + rows
            else:
                print(f"# {n_exact} of {n_rows} numbers exact")
                print(f"ok {number} - by {granularity}, numbers without a "
                      "mark are those of the stacks")
    print(f"1..{len(GRANULARITIES)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
