# SPDX-License-Identifier: GPL-3.0-or-later
"""inside.py -- record -p --inside: CPU time is where the program says it was used.

The collector is loaded into a running program, tests/programs/hosted.c, which
measures itself; tests/judge.py decides.  Ticks sample it, with perf events and without,
and where threads wait for a processor, functions of milliseconds keep step with these:
such runs are disturbed.
Where ptrace is forbidden, nothing can be tested.  Speaks TAP.
"""
import os
import tempfile

import cpprof
import judge
from claims import Claims
from hosted import (PARTS, Sums, ends_well, hits, hosted, inside, may_trace,
                    only_file)
from outside import view

SECONDS = 8             # of the first look
MOST_WAITED = 0.05      # for a processor, of the CPU time
# Of what a program used: its threads are found one after the other.
AMOUNT = 0.1
claims = Claims()


def bunch(row):
    """Hits of a sample of its mean size, and of at most a tick: the mean square
    over the mean."""
    most = max(4, 1e6 * cpprof.TICK / row['interval'])
    return 1 + most * (1 - row['samples'] / max(row['hits'], 1))


def run_and_waited(pid):
    """What its threads have run, and waited for a processor, in ns."""
    sums = [0, 0]
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/schedstat') as file:
            for i, word in enumerate(file.read().split()[:2]):
                sums[i] += int(word)
    return sums


def check_shares(directory):
    path = os.path.join(directory, 'shares')
    names = {one: f'the share of {one} in its thread'
             for one in (PARTS[0], PARTS[2])}
    amount = 'CPU time is what the program measures'

    def measure(times):
        seconds = SECONDS * times
        with hosted(directory, 1000 * seconds + 3000) as process:
            with Sums(process) as sums:
                result = inside(process, path, '--for', f'{seconds}s')
            run, waited = run_and_waited(process.pid)
            ended = ends_well(process)
        assert result.returncode == 0 and ended == '', (result, ended)
        if waited > MOST_WAITED * run:
            raise judge.Disturbed(
                f'the program waited {waited / run:.2f} times as long for a '
                'processor as it ran')
        profile = only_file(path)
        used = sums.between(profile.start, profile.end)
        found = hits(path)
        row = next(row for row in view(path, 'info')['rows']
                   if row['name'] == 'cpu')
        counts = {amount: judge.Amount.drawn(
            sum(found.get(part, 0) for part in PARTS),
            sum(used) / 1000 / row['interval'], bunch(row), AMOUNT)}
        for i in (0, 2):
            one, other = (found.get(part, 0) for part in PARTS[i:i + 2])
            counts[names[PARTS[i]]] = judge.Share(
                one, one + other, used[i] / (used[i] + used[i + 1]),
                bunch(row))
        return counts
    judge.decide(claims, [*names.values(), amount], measure)


def main():
    with tempfile.TemporaryDirectory() as directory:
        why = may_trace(directory)
        if why:
            claims.skip('processes are recorded inside', why.strip())
        else:
            check_shares(directory)
    claims.end()


main()
