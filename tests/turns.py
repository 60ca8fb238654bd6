# SPDX-License-Identifier: GPL-3.0-or-later
"""turns.py -- nothing that samples CPU time holds a program up.

tests/programs/turns.c does pieces of the same work, and says how long the
longest took.  Where only ticks sample CPU time, a recording says of which
programs that can be wrong.  tests/shares.py has the shares of parts;
bench/turns.py does both at length.  Speaks TAP.
"""
import json
import os
import subprocess
import tempfile

import cpprof
from claims import Claims
from filters import forbid_events

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
TURNS = os.path.join(BUILD, 'tests', 'programs', 'turns')
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
NOBODY = 65534
HELD_UP_NS = 20e6   # a piece may take this much longer

claims = Claims()


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Refused(Exception):
    """Intervals that cannot be random on this machine, as record says."""


class Turns:
    """One recorded run: what its parts used and what its profile shows."""

    def __init__(self, *words, options=(), is_nobody=False):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
            os.chmod(directory, 0o777)
            recording = os.path.join(directory, 'r')
            run = subprocess.run(
                [CPPROF, 'record', '--no-prompt', '--no-symbols', *options,
                 '-o', recording, '--', TURNS, *map(str, words)],
                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                timeout=600, cwd=directory,
                preexec_fn=become_nobody if is_nobody else None)
            if 'cannot be randomised' in run.stderr:
                raise Refused(run.stderr)
            assert run.returncode == 0, run.stderr
            self.said = run.stderr
            self.used = {name: int(ns) for name, ns in
                         map(str.split, run.stdout.splitlines())}
            if words[0] != 'pieces':
                self.read(recording)

    def read(self, recording):
        info = cpprof.documents(recording, 'info')[0]
        self.n_samples = next(row['samples'] for row in info['rows']
                              if row['name'] == 'cpu')


def check_pieces(options, is_nobody):
    """Nothing holds a program up."""
    claim = f'nothing is held up by {" ".join(options)}' \
        f'{" for an ordinary user" if is_nobody else ""}'
    alone = subprocess.run([TURNS, 'pieces', '2000'], capture_output=True,
                           text=True, check=True).stdout.split()
    try:
        turns = Turns('pieces', 2000, options=options, is_nobody=is_nobody)
    except Refused as why:
        claims.skip(claim, why)
        return
    longest = turns.used['longest']
    claims.check(claim, longest < int(alone[3]) + HELD_UP_NS,
                 f'{longest} ns for {alone[3]}')


def can_be_nobody():
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run([CPPROF, '--version'], capture_output=True,
                              preexec_fn=become_nobody,
                              timeout=60).returncode == 0
    except OSError:
        return False


def check_timers_at_ticks():
    """Where only ticks sample CPU time, timers' handlers may be missed."""
    for how, has_timers in ('itimer', True), ('timer', True), \
            ('threads', False):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
            recording = os.path.join(directory, 'r')
            subprocess.run(
                [CPPROF, 'record', '--no-prompt', '--no-symbols', '-o',
                 recording, '--', TURNS, how, '20', '1000', '2000'],
                stdin=subprocess.DEVNULL, capture_output=True, check=True,
                timeout=60, preexec_fn=forbid_events)
            info = subprocess.run([CPPROF, '-q', '-e', 'info', recording],
                                  capture_output=True, text=True, check=True,
                                  timeout=60).stdout
        claims.check(f'timers beside ticks are told: {how}',
                     ('timers' in info) == has_timers and
                     'perf event ' not in info, info)


def has_event():
    """Whether CPU time has a clock that traps."""
    run = subprocess.run([CPPROF, '-q', '-F', 'json', '-e', 'record --list'],
                         capture_output=True, text=True, timeout=60,
                         check=False)
    return run.returncode == 0 and 'perf event' in next(
        row['source'] for row in json.loads(run.stdout)['rows']
        if row['name'] == 'cpu')


# Ways of sampling at the smallest interval of each resource.
SMALLEST = (
    ('-r', 'cpu:100'), ('-r', 'cpu:100', '--random'),
    ('-F', '1000', '--random'), ('--random',),
    ('-r', 'page-faults:1', '--random'), ('-r', 'context-switches:1'),
    ('-r', 'user:100', '-r', 'system:100', '-r', 'real:100'),
    ('-r', 'syscalls:1', '-r', 'minor-faults:1', '--random'),
)


def check_short_run():
    """A run of a second has samples enough."""
    turns = Turns('threads', 1, 500000, 500000)
    least = 0.8 * sum(turns.used.values()) / 1e6
    claims.check('a second has 800 samples', turns.n_samples >= least,
                 f'{turns.n_samples} samples, expected {least:.0f}')


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    users = (False, True) if can_be_nobody() else (False,)
    for is_nobody in users:
        for options in SMALLEST:
            check_pieces(options, is_nobody)
    if has_event():
        check_short_run()
    check_timers_at_ticks()
    claims.end()


if __name__ == '__main__':
    main()
