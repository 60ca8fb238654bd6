#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""comparisons.py [-n RUNS] [-c COMPARISONS] [-s SEED] [--planted] -- how often
`diff` is wrong.

Records RUNS runs of each of several programs in random order, and compares
runs that are chosen at random, three or five a side: equal programs, so
whatever grew or shrank is an error.  --planted instead compares five runs of
10 s of bench/programs/planted.c with five in which a path of a tenth of the
run takes 30 percent more: the path must be found.  The comparisons share
recordings, so they are not independent.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile

import workloads

CPPROF = os.environ.get('CPPROF', './cpprof')
VIEWS = ('functions', 'top', 'down')
EQUAL = ('sort', 'calls', 'allocate', 'cc1plus', 'python3', 'sqlite3')
NAMED = ('grew', 'shrank')


def record(command, output):
    subprocess.run([CPPROF, 'record', '--no-prompt', '-r', 'cpu:1ms', '-o',
                    output, '--', *command], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)


def compare(base, now, *views):
    """The documents of `diff VIEW`."""
    words = [CPPROF, '-n', '-q', '-F', 'json']
    for run in base:
        words += ['--base', run]
    for view in views:
        words += ['-e', 'diff ' + view]
    done = subprocess.run([*words, *now], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def equal(rng, folder, n_runs, n_comparisons):
    runs = {}
    for workload in workloads.WORKLOADS:
        command = workload.command(workload.sizes[1], folder)
        if workload.name in EQUAL and command:
            for i in range(n_runs):
                path = os.path.join(folder, f'{workload.name}.{i}')
                runs.setdefault(workload.name, []).append((command, path))
    order = [run for pool in runs.values() for run in pool]
    rng.shuffle(order)
    for command, path in order:
        record(command, path)
    wrong = {}
    for _ in range(n_comparisons):
        name, n = rng.choice(sorted(runs)), rng.choice((3, 5))
        paths = [path for _, path in rng.sample(runs[name], 2 * n)]
        found = wrong.setdefault((name, n), [0] * (1 + len(VIEWS)))
        found[0] += 1
        documents = compare(paths[:n], paths[n:], *VIEWS)
        for i, document in enumerate(documents, 1):
            found[i] += any(row['verdict'] in NAMED
                            for row in document['rows'])
    print('| program | runs a side | comparisons | wrong in ' +
          ' | '.join(VIEWS) + ' |\n|---|---|---|' + '---|' * len(VIEWS))
    for (name, n), found in sorted(wrong.items()):
        print(f'| {name} | {n} |', ' | '.join(map(str, found)), '|')
    print('| all | |', ' | '.join(map(str, map(sum, zip(*wrong.values())))),
          '|')


def planted(rng, folder, n_runs, n_comparisons):
    program = os.path.join(folder, 'planted')
    subprocess.run(['gcc', '-O2', '-o', program, os.path.join(
        workloads.HERE, 'programs', 'planted.c')], check=True)
    for i in range(n_runs):
        for percent in ('100', '130'):
            record([program, '80000', percent],
                   os.path.join(folder, f'{percent}.{i}'))
    n_found = n_others = 0
    for _ in range(n_comparisons):
        base, now = ([os.path.join(folder, f'{percent}.{i}')
                      for i in rng.sample(range(n_runs), 5)]
                     for percent in (100, 130))
        down, = compare(base, now, 'down main')
        verdicts = {tuple(row['path']): row['verdict'] for row in down['rows']}
        n_found += verdicts.get(('main', 'parse', 'hash')) == 'grew'
        n_others += any(verdict in NAMED for path, verdict in verdicts.items()
                        if len(path) > 1 and path[1] != 'parse')
    print(f'{n_comparisons} comparisons: found in {n_found}, '
          f'something else named in {n_others}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-n', type=int, default=30)
    parser.add_argument('-c', type=int, default=200)
    parser.add_argument('-s', type=int, default=1)
    parser.add_argument('--planted', action='store_true')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (planted if options.planted else equal)(
            random.Random(options.s), folder, options.n, options.c)


main()
