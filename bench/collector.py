#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""collector.py [-n ROUNDS] [--short] [PROGRAM...] -- the cost of profiling.

In each round a program runs by itself and under cpprof and other profilers, in
an order that changes every time.  The cost of a run is the ratio of its CPU
time (user and system, all processes, the profiler's own included) to that of
the plain run of the same round, since other load changes slowly.  The table
has the median of the ratios and their range, the samples, and the deepest
stack that can be shown; for cpprof also its own count of the time for samples,
as a share of the CPU time: below one percent that is more accurate than the
ratio.

A profiler that slows programs fifty times (callgrind) gets small versions of
them, compared with plain runs of these, and at most three rounds.  --short
uses small versions for all.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import profilers
import workloads

HEAD = '''\
| program | profiler | CPU time, ratio: median [min .. max] | samples \
| deepest stack | sampling, share | us per sample |
|---|---|---|---|---|---|---|'''
SLOW_ROUNDS = 3


def cpu_seconds(command, environment={}):
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=dict(os.environ, **environment))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit('%s: status %d' % (command[0], process.returncode))
    return usage.ru_utime + usage.ru_stime


class Contest:
    """A profiler, and the results of its runs of one workload."""

    def __init__(self, profiler, workload, size, folder):
        self.profiler, self.folder = profiler, folder
        if profiler.is_slow:
            size = max(size, workloads.TINY)
        self.plain = workload.command(workload.sizes[size], folder)
        self.command = workload.command(workload.sizes[size], folder,
                                        profiler.flags)
        self.ratios, self.taken = [], []

    def run(self, plain_seconds):
        """plain_seconds: those of the plain commands of this round."""
        output = tempfile.mkdtemp(dir=self.folder)
        command, environment = self.profiler.wrap(
            self.command, os.path.join(output, 'profile'))
        plain = tuple(self.plain)
        if plain not in plain_seconds:
            plain_seconds[plain] = cpu_seconds(self.plain)
        self.ratios.append(cpu_seconds(command, environment) /
                           plain_seconds[plain])
        if self.profiler.read is not None:
            self.taken.append(self.profiler.read(
                os.path.join(output, 'profile')))
        shutil.rmtree(output)

    def median(self, field):
        return statistics.median(getattr(taken, field)
                                 for taken in self.taken)

    def overhead(self):
        return statistics.median(self.ratios) - 1

    def row(self):
        cells = [self.profiler.name, '%.3f [%.3f .. %.3f]' % (
            statistics.median(self.ratios), min(self.ratios),
            max(self.ratios))]
        if self.taken:
            cells += ['%d' % self.median('samples'),
                      '%d' % self.median('depth')]
            if self.taken[0].share is not None:
                cells += ['%.2f %%' % (100 * self.median('share')),
                          '%.1f' % self.median('us_each')]
        return cells + [''] * (6 - len(cells))


def can_have(profiler, workload):
    """Only the benchmark's own programs can be rebuilt for a profiler."""
    return workload.is_ours or not (profiler.is_instrumentation and
                                    profiler.flags)


class Race:
    """A workload, alone and with every profiler that can run it."""

    def __init__(self, workload, size, everyone, folder):
        self.workload = workload
        self.absent = [profiler.name for profiler in everyone
                       if not profiler.is_here]
        self.contests = [Contest(profiler, workload, size, folder)
                         for profiler in everyone
                         if profiler.is_here and can_have(profiler, workload)]
        self.plain = self.contests[0].plain
        self.seconds = []

    def warm_up(self):
        """Warms caches; returns an estimate of the seconds per round."""
        seconds = {plain: cpu_seconds(list(plain)) for plain in
                   {tuple(contest.plain) for contest in self.contests}}
        return sum(seconds.values()) + sum(
            contest.profiler.slowness() * seconds[tuple(contest.plain)]
            for contest in self.contests)

    def run(self, number):
        plain_seconds = {}
        turn = 1 if number % 2 == 0 else -1
        for contest in self.contests[::turn]:
            if not contest.profiler.is_slow or number < SLOW_ROUNDS:
                contest.run(plain_seconds)
        self.seconds.append(plain_seconds[tuple(self.plain)])

    def print_rows(self):
        print('| %s | none | 1, %.2f s | | | | |' % (
            self.workload.what, statistics.median(self.seconds)))
        for contest in self.contests:
            print('| | %s |' % ' | '.join(contest.row()))
        for name in self.absent:
            print('| | %s | not here | | | | |' % name)


def races(names, size, folder):
    everyone = profilers.profilers()
    for workload in workloads.WORKLOADS:
        if names and workload.name not in names:
            continue
        if workload.command(workload.sizes[size], folder) is None:
            print('%s: not here' % workload.name, file=sys.stderr)
        else:
            yield Race(workload, size, everyone, folder)


def run_rounds(entered, rounds):
    each = sum(race.warm_up() for race in entered)
    print('about %.0f minutes if there is nothing else to do' %
          (each * rounds / 60), file=sys.stderr)
    started = time.monotonic()
    for number in range(rounds):
        for race in entered:
            race.run(number)
        taken = (time.monotonic() - started) / (number + 1)
        print('round %d of %d; about %.0f minutes to go' % (
            number + 1, rounds, taken * (rounds - number - 1) / 60),
            file=sys.stderr)


def print_headline(race):
    """Prints how much less cpprof costs than instrumentation on a recursion
    that calls all the time; in 2004 csprof cost a 55th of hiprof.  Computed
    from the runs this may be lost in noise, so also from cpprof's own
    count."""
    runs, counted = race.contests[0].overhead(), race.contests[0].median('share')
    print('\n| %s | overhead | times that of cpprof, %.2f %% by the runs '
          '| times %.2f %%, its own count |\n|---|---|---|---|' % (
              race.workload.what, 100 * runs, 100 * counted))
    for contest in race.contests:
        if contest.profiler.is_instrumentation:
            print('| %s | %.0f %% | %s | %.0f |' % (
                contest.profiler.name, 100 * contest.overhead(),
                '%.0f' % (contest.overhead() / runs) if runs > 0 else '-',
                contest.overhead() / counted))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('-n', type=int, default=5, metavar='ROUNDS')
    parser.add_argument('--short', action='store_true')
    parser.add_argument('programs', nargs='*', metavar='PROGRAM')
    options = parser.parse_args()
    size = workloads.SHORT if options.short else workloads.FULL
    with tempfile.TemporaryDirectory(prefix='cpprof-bench-') as folder:
        entered = list(races(options.programs, size, folder))
        run_rounds(entered, options.n)
    print(HEAD)
    for race in entered:
        race.print_rows()
    for race in entered:
        if race.workload.name == 'calls':
            print_headline(race)
    return 0


if __name__ == '__main__':
    sys.exit(main())
