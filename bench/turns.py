# SPDX-License-Identifier: GPL-3.0-or-later
"""turns.py -- shares within short threads, processes and turns, at length.

bench/turns.py [--seeds N] [--ways a,b] [--busy N] [--nobody] [HOW...]
Records tests/programs/turns in each way, N times, and prints the distance of
the first part's share, by its own clocks, in standard errors: of all runs
together, and the worst of one.  --busy runs that many loops beside it.
"""
import argparse
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, 'tests'))
import turns  # noqa: E402
from cpprof import TICK  # noqa: E402

TICK_US = 1e6 * TICK

WAYS = {'default': (), 'F1000': ('-F', '1000'), 'random': ('--random',),
        'F1000-random': ('-F', '1000', '--random'),
        'cpu-real': ('-r', 'cpu', '-r', 'real')}
# Microseconds of the parts, and how many in half a second.
PARTS = ((70, 140), (140, 70), (350, 700), (700, 350), (1000, 2000),
         (2000, 1000), (7000, 14000), (14000, 7000))


class Turns(turns.Turns):
    """One recorded run: what its parts used and what its profile shows.  The
    distance is in standard errors of a share of independent samples."""

    def read(self, recording):
        text = subprocess.run(
            [turns.CPPROF, '-q', '-F', 'json', '-e', 'resource cpu', '-e',
             'threshold 0', '-e', 'limit off', '-e', 'info', '-e',
             'functions', recording], capture_output=True, text=True,
            timeout=60, check=True).stdout.splitlines()
        info, functions = map(json.loads, text)
        cpu = next(row for row in info['rows'] if row['name'] == 'cpu')
        self.source = cpu['source']
        self.interval = cpu['interval']
        self.weight = max(1, cpu['hits'] / cpu['samples'])
        self.n_samples = cpu['samples']
        self.us = cpu['interval'] * cpu['hits']
        self.hits = {row['path'][-1]: row['hits'] for row in functions['rows']
                     if row['path'][-1] in self.used}
        if 'part_rest' in self.hits:    # part_a interrupts it
            self.hits['part_rest'] -= self.hits.get('part_a', 0)

    def error(self, first, share, n):
        """One standard error of the first part's share in n hits.  Where ticks
        find the kernel, some samples have the hits of a whole tick: as many as
        make the mean weight, and in part_calls all."""
        weights = dict.fromkeys(self.used, self.weight)
        if 'ticks' in self.source:
            tick = max(1, TICK_US / self.interval)
            for name in self.used:
                weights[name] = max(tick if name == 'part_calls' else 1,
                                    1 + tick * (1 - 1 / self.weight))
        other, = self.used.keys() - {first}
        return math.sqrt(share * (1 - share) / max(n, 1) * (
            (1 - share) * weights[first] + share * weights[other]))

    def distance(self):
        """Of the first part's share, in standard errors, and a text."""
        first = min(self.used)
        share = self.used[first] / sum(self.used.values())
        n = sum(self.hits.values())
        found = self.hits.get(first, 0) / max(n, 1)
        error = self.error(first, share, n)
        text = f'{100 * found:.1f}% for {100 * share:.1f}, {n} hits of ' \
            f'{self.weight:.1f} a sample, by the {self.source}'
        return (found - share) / error, text


def cases(hows):
    for how in hows:
        if how == 'pool':
            yield 'pool', 100, 300, 900
        elif how in ('itimer', 'timer'):
            yield how, 150, 500, 0
        else:
            for a, b in PARTS:
                yield how, max(20, min(1500, 500000 // (a + b))), a, b


def check(words, way, options):
    """Prints the case; returns whether all runs together agree."""
    error_sum = distance_sum = worst = 0
    for _ in range(options.seeds):
        run = Turns(*words, options=WAYS[way],
                    is_nobody=options.nobody)
        distance, text = run.distance()
        first = min(run.used)
        share = run.used[first] / sum(run.used.values())
        n = max(1, sum(run.hits.values()))
        error = run.error(first, share, n)
        error_sum += (error * n) ** 2
        distance_sum += distance * error * n
        worst = max(worst, distance, key=abs)
    together = distance_sum / math.sqrt(error_sum)
    print(f'{"!" if abs(together) >= 3 else " "} {together:+6.2f} '
          f'{worst:+6.2f} {way:12} {" ".join(map(str, words)):24} {text}',
          flush=True)
    return abs(together) < 3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--ways', default='default,F1000,random')
    parser.add_argument('--busy', type=int, default=0)
    parser.add_argument('--nobody', action='store_true')
    parser.add_argument('how', nargs='*', default=[
        'threads', 'fork', 'vfork', 'spawn', 'pool', 'itimer', 'timer'])
    options = parser.parse_args()
    loops = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
             for _ in range(options.busy)]
    try:
        agree = [check(words, way, options) for words in cases(options.how)
                 for way in options.ways.split(',')]
    finally:
        for loop in loops:
            loop.kill()
    print(f'{agree.count(False)} of {len(agree)} beyond 3 standard errors')
    return 0 if all(agree) else 1


if __name__ == '__main__':
    sys.exit(main())
