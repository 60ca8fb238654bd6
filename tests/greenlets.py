# SPDX-License-Identifier: GPL-3.0-or-later
"""greenlets.py -- Python functions of greenlets, from inside and outside.

The greenlets of tests/programs/greenlets.py measure themselves.  Each has its
own stack: what it runs never stands with another one's functions.
tests/judge.py decides shares.  Runs with each interpreter that has greenlet.
Speaks TAP.
"""
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cpprof  # noqa: E402
import judge  # noqa: E402
from claims import Claims  # noqa: E402

python = importlib.import_module('python')
outside = importlib.import_module('python-outside')
PROGRAM = os.path.join(HERE, 'programs', 'greenlets.py')
# Most of its time is neither the greenlet's nor the main program's.
SWITCHING = '''
import time, greenlet
def bounce():
    while True:
        main.switch()
main = greenlet.getcurrent()
other = greenlet.greenlet(bounce)
while time.process_time() < 1:
    for i in range(100):
        other.switch()
'''
MS = 2000
ROUNDS = 2000       # of work, then a switch
FEW = 5
PARTS = ('part_a', 'part_b', 'part_c')
UNKNOWN = 'stacks incomplete: Python frames unknown'
TOLD = re.compile(r'^cpprof: (\d+) samples of Python code lack their Python '
                  'functions and what called', re.M)
OWN = re.compile(r'^(work|part)_([abc]) ')
# Hits of a sample, at most: a perf event's interval becomes so many times as
# long after the first second.
PACE = 4


def stacks(recording):
    """The parts and those who call them in each stack, with the hits."""
    for line in cpprof.text(recording, 'resource cpu',
                            'export collapsed').splitlines():
        stack, _, hits = line.rpartition(' ')
        frames = stack.split(';')
        yield frames, [match.groups() for match in map(OWN.match, frames)
                       if match], int(hits)


def is_own(frames, own):
    """Whether a stack is one greenlet's, from its beginning on: the module's
    function is not below it, unless what is further out is missing."""
    kinds = [kind for kind, _ in own]
    whole = ([], ['work'], ['work', 'part'])
    return len({part for _, part in own}) <= 1 and \
        (kinds in whole or (kinds == ['part'] and
                            frames[0].startswith('[partial]'))) and \
        (not own or not any(frame.startswith('<module> (greenlets.py')
                            for frame in frames))


def row_of_cpu(info):
    return next(row for row in info['rows'] if row['name'] == 'cpu')


class Run:
    """What a run of the program says, and its recording."""

    def __init__(self, record, interpreter, ms, rounds):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
            recording = os.path.join(directory, 'r')
            self.books = json.loads(record(
                recording, (interpreter, PROGRAM, str(ms), str(rounds)))[0])
            row = row_of_cpu(cpprof.documents(recording, 'info')[0])
            self.all, self.foreign, self.hits = row['hits'], [], \
                dict.fromkeys(PARTS, 0)
            for frames, own, hits in stacks(recording):
                if not is_own(frames, own):
                    self.foreign.append(';'.join(frames))
                elif own and own[-1][0] == 'part':
                    self.hits['part_' + own[-1][1]] += hits
        self.bunch = 1 + PACE * (1 - row['samples'] / max(self.all, 1))

    def shares(self):
        of = sum(self.hits.values())
        true = {part: self.books[part] for part in PARTS}
        return {part: judge.Share(self.hits[part], of,
                                  true[part] / sum(true.values()), self.bunch)
                for part in PARTS[:-1]}


def check(claims, version, how, record, interpreter):
    what = f'{version}, {how}: '
    names = {part: f'{what}the share of {part}' for part in PARTS[:-1]}
    runs = []

    def measure(times):
        run = Run(record, interpreter, times * MS, ROUNDS)
        runs.append(run)
        counts = {names[part]: share for part, share in run.shares().items()}
        if record is outside.record_inside:
            counts[most] = judge.Share(
                sum(run.hits.values()), run.all,
                sum(run.books[part] for part in PARTS) / run.books['all'],
                run.bunch)
        return counts

    most = what + 'hardly a sample lacks its Python functions'
    judge.decide(claims, [*names.values(),
                          *([most] if record is outside.record_inside else [])],
                 measure)
    runs.append(Run(record, interpreter, MS, FEW))
    claims.make(what + 'no stack is that of two greenlets',
                [stack for run in runs for stack in run.foreign][:5])
    claims.attempt(what + 'the closing report says what lacks its functions',
                   check_report, record, interpreter)


def check_report(record, interpreter):
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
        recording = os.path.join(directory, 'r')
        said = record(recording, (interpreter, '-c', SWITCHING))[1]
        info, = cpprof.documents(recording, 'info')
    unknown = info['tallies'].get(UNKNOWN, 0)
    found = TOLD.search(said)
    assert int(found[1] if found else 0) == (
        unknown if unknown * 100 > row_of_cpu(info)['samples'] else 0), \
        (unknown, said)


def has_greenlet(interpreter):
    return subprocess.run([interpreter, '-c', 'import greenlet'],
                          capture_output=True, check=False).returncode == 0


def main():
    claims = Claims()
    found = {version: path for version, path in python.interpreters().items()
             if has_greenlet(path)}
    if not found:
        claims.skip('greenlets', 'no interpreter with greenlet')
    outside.check_both(claims, found, check)
    claims.end()


if __name__ == '__main__':
    main()
