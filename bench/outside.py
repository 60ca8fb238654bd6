# SPDX-License-Identifier: GPL-3.0-or-later
"""outside.py -- what sampling from outside costs: outside.py [SECONDS].

Samples busy programs by record -p and prints, for each, cpprof's own CPU time
for a second of CPU time of the program, and what the program lost: the CPU
time that a fixed piece of work takes with cpprof over that without, the median
of pairs in random order.  Needs a build in ./build, or CPPROF and builddir.
"""
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

CPPROF = os.path.abspath(os.environ.get('CPPROF', 'build/cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
TARGET = os.path.join(BUILD, 'tests', 'programs', 'target')
PYTHON = ('import sys\n'
          'def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\n'
          'for i in range(int(sys.argv[1])): f(16)\n')
FIXED = [sys.executable, '-c', PYTHON]


def used(call):
    """What call() returns, and the CPU time of children meanwhile."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, (after.ru_utime + after.ru_stime -
                    before.ru_utime - before.ru_stime)


def recorder(pid, *options):
    return subprocess.Popen(
        [CPPROF, 'record', '--no-prompt', '--no-symbols', '-p', str(pid),
         *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)


def own_cost(words, seconds, *options):
    """cpprof's CPU time over that of the program while it is sampled."""
    with tempfile.TemporaryDirectory() as directory:
        program = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        costs = []
        for n, length in enumerate((0.05, seconds)):
            path = os.path.join(directory, str(n))
            begin = cpu(program.pid)
            _, own = used(lambda: recorder(
                program.pid, '-o', path, '--for', f'{length}s',
                *options).wait())
            costs.append((own, cpu(program.pid) - begin))
        program.kill()
        program.wait()
    # What starting costs is not paid again.
    return ((costs[1][0] - costs[0][0]) / (costs[1][1] - costs[0][1]),
            costs[0][0])


def cpu(pid):
    with open(f'/proc/{pid}/schedstat') as file:
        whole = 0
        for tid in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{tid}/schedstat') as file:
                whole += int(file.read().split()[0])
    return whole / 1e9


def work(is_sampled, rounds):
    """The CPU time that a fixed piece of work takes."""
    with tempfile.TemporaryDirectory() as directory:
        program = subprocess.Popen([*FIXED, str(rounds)])
        other = recorder(program.pid, '-o', os.path.join(directory, 'r')) \
            if is_sampled else None
        _, _, usage = os.wait4(program.pid, 0)
        program.returncode = 0
        if other is not None:
            other.wait()
    return usage.ru_utime + usage.ru_stime


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 8
    print('program\toptions\town CPU of the program\'s\tto start, s')
    for words in [TARGET, 'spin', '100000'], [*FIXED, '1000000']:
        for options in ((), ('-F', '1000')):
            cost, start = own_cost(words, seconds, *options)
            print(f'{os.path.basename(words[0])} {words[1][:9]}\t'
                  f'{" ".join(options)}\t{100 * cost:.2f}%\t{start:.3f}')
    ratios = []
    for _ in range(6):
        pair = {}
        for is_sampled in random.sample((False, True), 2):
            pair[is_sampled] = work(is_sampled, 25000)
        ratios.append(pair[True] / pair[False])
    print(f'the program: {100 * (statistics.median(ratios) - 1):.2f}% more '
          'CPU time')


main()
