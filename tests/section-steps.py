#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""section-steps.py -- steps that select threads, processes and labels, mixed
with steps that select paths, leave what they should.

Random profiles of labelled stacks, with recursion, inlined calls and start-up
frames, are refined by random steps; the same is asked of each sample by
itself.  Speaks TAP.
"""
import collections
import fnmatch
import json
import os
import random
import subprocess
import tempfile

from claims import Claims, rounds
from pprof_writer import write

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
# Locations 8 and 9 are inlined chains, innermost first; 10 starts threads.
NAMES = {i: f"f{i}" for i in range(1, 8)} | {10: "start_thread"}
INLINED = {8: ["f2", "f1"], 9: ["f3", "f4", "f1"]}
THREADS = ["io-1", "io-2", "cpu", "two words"]
claims = Claims()


class Sample:
    def __init__(self, source):
        depth = source.randrange(1, 9)
        stack = [source.randrange(1, 10) for _ in range(depth)]
        if source.random() < 0.6:
            stack.insert(0, 10)
        self.locations = stack[::-1]
        self.names = []
        for location in stack:
            self.names += INLINED.get(location, [NAMES.get(location)])[::-1]
        self.value = source.randrange(1, 20)
        self.thread = source.choice(THREADS + [None])
        self.pid = source.choice([1, 2, 2]) if self.thread else None
        self.route = source.choice(["/a", "/b", "/a/b", None])

    def written(self):
        labels = []
        if self.thread:
            labels += [("thread", self.thread, ""), ("pid", self.pid, "")]
        if self.route:
            labels.append(("route", self.route, ""))
        return self.locations, self.value, labels


def thread_step(source):
    word = source.choice(["io-*", "io-1", "*", "cpu", "/^io/", "two words",
                          "[unknown]", "|io-1|", "|io-*|"])

    def test(sample):
        name = sample.thread
        if word.startswith("|"):
            return name == word.strip("|")
        if word == "[unknown]":
            return name is None
        if word == "/^io/":
            return name is not None and name.startswith("io")
        return name is not None and fnmatch.fnmatchcase(name, word)
    return "thread " + word, test


def process_step(source):
    pid = source.choice([1, 2])
    # One process has all samples, whatever thread they are of.
    return f"process {pid}", lambda sample: sample.pid == pid


def label_step(source):
    word = source.choice(["route=/a", "route=/a*", "route=*b", "route",
                          "route=[none]"])

    def test(sample):
        value = sample.route
        if word == "route":
            return value is not None
        if word.endswith("[none]"):
            return value is None
        return value is not None and fnmatch.fnmatchcase(
            value, word.partition("=")[2])
    return "label " + word, test


def path_step(source):
    names = [f"f{source.randrange(1, 8)}"
             for _ in range(source.randrange(1, 3))]

    def test(sample):
        at = -1
        for name in names:
            if name not in sample.names[at + 1:]:
                return False
            at = sample.names.index(name, at + 1)
        return True
    return "(" + " ... ".join(names) + ")", test


def random_steps(source):
    for _ in range(source.randrange(1, 5)):
        word, test = source.choice([thread_step, thread_step, process_step,
                                    label_step, path_step])(source)
        yield source.choice(["narrow", "drop"]), word, test


def apply(samples, steps):
    """The samples that the steps leave; a step that fails is undone."""
    for kind, _, test in steps:
        left = [s for s in samples if test(s) == (kind == "narrow")]
        matched = [s for s in samples if test(s)]
        if matched and left:
            samples = left
    return samples


def sums(samples, key):
    found = collections.Counter()
    for sample in samples:
        for name in key(sample):
            found[name] += sample.value
    return dict(found)


VIEWS = {
    "functions": (lambda row: row["path"][0],
                  lambda s: set(s.names) - {"start_thread"} or
                  {"start_thread"}),
    "body": (lambda row: row["path"][0], lambda s: [s.names[-1]]),
    "threads": (lambda row: row["name"],
                lambda s: [s.thread or "[unknown]"]),
    "processes all": (lambda row: row["pid"], lambda s: [s.pid]),
    "labels route": (lambda row: row["value"],
                     lambda s: [s.route or "[none]"]),
}


def check(path, seed):
    """What differs from the samples, as text."""
    source = random.Random(seed)
    samples = [Sample(source) for _ in range(source.randrange(1, 40))]
    # Two processes and a label at least.
    samples += [Sample(source) for _ in range(3)]
    samples[-1].thread, samples[-1].pid, samples[-1].route = "cpu", 1, "/a"
    samples[-2].thread, samples[-2].pid = "io-1", 2
    write(path, [s.written() for s in samples], NAMES, INLINED)
    steps = list(random_steps(source))
    lines = ["threshold 0"] + [f"{kind} {word}" for kind, word, _ in steps]
    script = "\n".join(lines + list(VIEWS)) + "\n"
    run = subprocess.run([CPPROF, "-q", "--keep-going", "-F", "json", path], text=True,
                         input=script, capture_output=True, timeout=60)
    tables = {}
    for line in run.stdout.splitlines():
        table = json.loads(line)
        tables[table["view"]] = table
    left = apply(samples, steps)
    for view, (of_row, of_sample) in VIEWS.items():
        table = tables.get(view.split()[0])
        if table is None:
            return f"seed {seed}: no {view}: {run.stderr}"
        found = {of_row(row): row["hits"] for row in table["rows"]
                 if row["hits"] > 0}
        true = sums(left, of_sample)
        if found != true:
            return (f"seed {seed}, {view} after {lines[1:]}: {found}, "
                    f"expected {true}\n{run.stderr}")
    return None


def main():
    n = int(os.environ.get("SEEDS", rounds(40)))
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        path = os.path.join(directory, "p.pb.gz")
        wrong = [why for seed in range(n) if (why := check(path, seed))]
    claims.make(f"{n} random refinements leave what they should", wrong)
    claims.end()


main()
