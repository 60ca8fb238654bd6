# SPDX-License-Identifier: GPL-3.0-or-later
"""tasks.py -- coroutines that await an asyncio task, from inside and outside.

Each case of tests/programs/tasks.py works in a leaf of its own, which has its
own chain of coroutines above it, and measures itself.  tests/judge.py decides
shares.  Runs with each interpreter that there is.  Speaks TAP.
"""
import collections
import importlib
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cpprof  # noqa: E402
import judge  # noqa: E402
from claims import Claims  # noqa: E402

python = importlib.import_module('python')
outside = importlib.import_module('python-outside')
PROGRAM = os.path.join(HERE, 'programs', 'tasks.py')
MS = 300
PACE = 4            # as in greenlets.py
# The leaf of each case: the coroutines that await its task, then the task's own.
CHAINS = {
    'chain_leaf': {'main chain_outer chain_middle | chain_inner'},
    'gather_leaf': {'main gather_both | gather_one',
                    'main gather_both | gather_two'},
    'group_leaf': {'main group_owner | group_member'},
    'limit_leaf': {'main limit_outer | limit_inner'},
    'wait_leaf': {'main wait_outer | wait_inner'},
    'shield_leaf': {'main shield_outer | shield_inner'},
    'stream_leaf': {'main stream_outer stream | stream_inner'},
    'plain_leaf': {'| main plain_outer plain_inner'},
    'alone_leaf': {'| alone_inner'},
}
# Of the cases that judge.py decides, who awaits it.
OWNERS = {'chain': 'chain_outer', 'group': 'group_owner'}
# What tasks begin with.
STARTS = {chain.split('| ')[1].split()[0]
          for chains in CHAINS.values() for chain in chains} | {'chain_middle'}
OWN = re.compile(r'^(\w+) \(tasks\.py(?::\d+)?\)$')
LOOP = 'Handle._run (asyncio/events.py)'


def own(frames):
    """The program's own functions among some frames."""
    return [match[1] for match in map(OWN.match, frames) if match]


def split(frames):
    """A stack up to the event loop, what awaits the task, and what it runs;
    None where the loop runs no task."""
    if LOOP not in frames:
        return None
    at = frames.index(LOOP) + 1
    begin = max((i for i, frame in enumerate(frames) if i >= at and
                 own([frame]) and own([frame])[0] in STARTS), default=None)
    return begin and (frames[:at], frames[at:begin], frames[begin:])


def chain_of(frames):
    """The leaf of a stack, and its chain as above; None: it has none."""
    leaf = next((name for name in own(frames) if name.endswith('_leaf')), None)
    parts = split(frames)
    if leaf is None or parts is None:
        return None
    names = [' '.join(own(part)) for part in parts[1:]]
    return leaf, f"{names[0]} | {names[1].split(' burn ')[0]}".strip()


def stacks(recording):
    for line in cpprof.text(recording, 'resource cpu',
                            'export collapsed').splitlines():
        stack, _, hits = line.rpartition(' ')
        yield stack.split(';'), int(hits)


def functions(recording, await_choice):
    """The hits of each function of the program with all that it calls."""
    rows = cpprof.table(recording, 'resource cpu', 'threshold 0',
                        f'await {await_choice}', 'functions')['rows']
    return {own(row['path'])[0]: row['hits'] for row in rows
            if own(row['path'])}


class Run:
    """What a run of the program says, and its recording."""

    def __init__(self, record, interpreter, ms):
        self.wrong, self.found = [], collections.Counter()
        shown, hidden = collections.Counter(), collections.Counter()
        # Of stacks that end in what a task begins with: this may also be a call
        # that only makes a coroutine, whose caller does not await.
        self.unclear = collections.Counter()
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
            recording = os.path.join(directory, 'r')
            self.books = json.loads(record(recording, (
                interpreter, PROGRAM, str(ms)))[0])
            info, = cpprof.documents(recording, 'info')
            for frames, hits in stacks(recording):
                self.add(frames, hits)
                shown.update(dict.fromkeys(own(frames), hits))
                parts = split(frames)
                if parts and len(own(parts[2])) == 1:
                    self.unclear.update(dict.fromkeys(own(frames), hits))
                hidden.update(dict.fromkeys(own(
                    parts[0] + parts[2] if parts else frames), hits))
            merged = os.path.join(directory, 'merged')
            exported = os.path.join(directory, 'exported')
            cpprof.run('merge', '-o', merged, recording)
            cpprof.text(recording, f'export cpprofdata {exported}')
            self.views = [('show', shown, functions(recording, 'show'))] + [
                ('hide', hidden, functions(path, 'hide'))
                for path in (recording, merged, exported)]
        row = next(row for row in info['rows'] if row['name'] == 'cpu')
        self.bunch = 1 + PACE * (1 - row['samples'] / max(row['hits'], 1))

    def add(self, frames, hits):
        chain = chain_of(frames)
        if chain is None:
            return
        if chain[1] not in CHAINS[chain[0]]:
            self.wrong.append(f'{chain[0]}: {chain[1]}')
        self.found[chain[1]] += hits

    def shares(self):
        """By the functions that await, of all that the cases' leaves used."""
        every = sum(ns for name, ns in self.books.items() if name != 'all')
        hits = {case: sum(n for chain, n in self.found.items()
                          if owner in chain.split())
                for case, owner in OWNERS.items()}
        of = sum(self.found.values())
        return {case: judge.Share(hits[case], of, self.books[case] / every,
                                  self.bunch) for case in OWNERS}


def differences(run):
    for choice, expected, found in run.views:
        for name in sorted(set(expected) | set(found)):
            if abs(expected.get(name, 0) - found.get(name, 0)) > (
                    run.unclear[name] if choice == 'hide' else 0):
                yield (f'await {choice}: {name} has {found.get(name, 0)} hits '
                       f'in place of {expected.get(name, 0)}')


def check(claims, version, how, record, interpreter):
    what = f'{version}, {how}: '
    names = {case: f'{what}the share of what {owner} awaits'
             for case, owner in OWNERS.items()}
    runs = []

    def measure(times):
        runs.append(Run(record, interpreter, times * MS))
        return {names[case]: share
                for case, share in runs[-1].shares().items()}

    judge.decide(claims, list(names.values()), measure)
    claims.make(what + 'each sample of a task has what awaits it',
                sorted({wrong for run in runs for wrong in run.wrong})[:5])
    claims.make(what + 'each case has samples', [
        chain for chains in CHAINS.values() for chain in sorted(chains)
        if not any(run.found[chain] for run in runs)])
    claims.make(what + 'what awaits is shown or hidden, with its hits only',
                [line for run in runs for line in differences(run)][:5])


def main():
    claims = Claims()
    found = python.interpreters()
    if not found:
        claims.skip('tasks', 'no interpreter')
    outside.check_both(claims, found, check)
    claims.end()


if __name__ == '__main__':
    main()
