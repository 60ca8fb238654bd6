#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""visible.py [REPETITIONS] -- whether `visible` of diff keeps its promise.

Runs of a program are simulated and compared; then as many new runs, in which
one function takes longer by what the comparison called visible.  The verdict
must name that function in 80 of 100 repetitions, whatever the number of runs,
of rows and of hits.  Without an argument, few cases are tried; with one, all
of them so many times, which prints a table.  Speaks TAP.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from claims import Claims

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
claims = Claims()


def poisson(source, mean):
    """Exact for small means; else a rounded normal variate with the skewness
    of the distribution."""
    if mean > 50:
        z = source.gauss(0, 1)
        return max(0, round(mean + math.sqrt(mean) * z + (z * z - 1) / 6))
    product, n = source.random(), 0
    limit = math.exp(-mean)
    while product > limit:
        product *= source.random()
        n += 1
    return n


class Case:
    """n_rows functions; one of them, `mean` hits a run, will grow; the others
    together have `rest` hits a run, in different amounts.  noise: what rows vary
    by from run to run, relative to their mean."""
    def __init__(self, n_runs, n_rows, mean, rest, noise=0):
        self.n_runs, self.n_rows = n_runs, n_rows
        self.mean, self.rest, self.noise = mean, rest, noise

    def means(self):
        weights = [math.log(i + 2) * (1 + i % 5) for i in range(self.n_rows - 1)]
        return [self.mean, *(self.rest * w / sum(weights) for w in weights)]

    def name(self):
        return (f"{self.n_runs} runs a side, {self.n_rows} rows, a row of "
                f"{self.mean} hits of {self.mean + self.rest}" +
                (f", noise {self.noise}" if self.noise else ""))


class Session:
    """One cpprof that compares runs as they are written."""
    def __init__(self, folder):
        self.folder, self.n_files = folder, 0
        self.process = subprocess.Popen(
            [CPPROF, "-n", "-q", "-F", "json"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def write(self, counts):
        path = os.path.join(self.folder, f"{self.n_files}.folded")
        self.n_files += 1
        with open(path, "w", encoding="ascii") as file:
            file.write("# cpprof 1\n# resource: cpu; gtick=microsecond; "
                       "interval=1000\n")
            for i, count in enumerate(counts):
                if count:
                    file.write(f"main;f{i} {count}\n")
        return path

    def compare(self, base, now):
        """The rows by name."""
        paths = [[self.write(run) for run in side] for side in (base, now)]
        self.process.stdin.write(
            f"load {' '.join(paths[1])}\nbase {' '.join(paths[0])}\n"
            "threshold 0\ndiff body\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("schema") == "cpprof.diff/1":
                break
        for path in sum(paths, []):
            os.remove(path)
        return {row["path"][-1]: row for row in answer["rows"]}

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def draw(source, case, growth):
    runs = []
    for _ in range(case.n_runs):
        means = case.means()
        means[0] += growth
        runs.append([poisson(source, mean * source.gammavariate(
            case.noise ** -2, case.noise ** 2) if case.noise else mean)
                     for mean in means])
    return runs


def times_seen(session, source, case, n):
    """How often a change that is called visible was named."""
    n_seen = 0
    for _ in range(n):
        row = session.compare(draw(source, case, 0), draw(source, case, 0))
        visible = row["f0"]["visible"]
        row = session.compare(draw(source, case, 0),
                              draw(source, case, visible))
        n_seen += row["f0"]["verdict"] in ("grew", "likely")
    return n_seen


FEW = [Case(1, 1, 400, 0), Case(1, 40, 400, 9600), Case(1, 100, 25, 9975),
       Case(3, 20, 2000, 8000), Case(3, 100, 100, 9900),
       Case(5, 40, 300, 9700, 0.1)]
ALL = FEW + [
    Case(n_runs, n_rows, mean, 10000 - mean if n_rows > 1 else 0, noise)
    for n_runs in (1, 3, 5) for n_rows in (1, 10, 50, 200)
    for mean in (10, 300, 2000, 7000)
    for noise in ((0,) if n_runs == 1 else (0, 0.1))]


def check_case(session, case, n):
    """Within three standard errors of a binomial variate."""
    n_seen = times_seen(session, random.Random(case.name()), case, n)
    if len(sys.argv) > 1:
        print(f"# {n_seen / n:.3f} {case.name()}", flush=True)
    assert abs(n_seen - 0.8 * n) <= 3 * math.sqrt(0.16 * n), (n_seen, n)


def main():
    with tempfile.TemporaryDirectory() as folder:
        session = Session(folder)
        for case in ALL if len(sys.argv) > 1 else FEW:
            claims.attempt(f"visible is seen in 80 of 100: {case.name()}",
                           check_case, session, case,
                           int(sys.argv[1]) if len(sys.argv) > 1 else 60)
        session.end()
    claims.end()


main()
