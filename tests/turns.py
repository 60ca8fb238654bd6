# SPDX-License-Identifier: GPL-3.0-or-later
"""turns.py -- shares within short threads, processes and turns.

tests/programs/turns.c has its parts measure themselves by the CPU clocks of
their threads.  A profile must show the same shares, wherever in the life of a
thread or process a part lies, and however threads and ticks keep step.  The
distance is in standard errors of a share of independent samples; a run has a
fixed number of turns.  Nothing that samples may hold a program up either.
bench/turns.py does the same at length.  Speaks TAP.
"""
import ctypes
import errno
import json
import math
import os
import struct
import subprocess
import tempfile

from claims import Claims
from cpprof import TICK

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
TURNS = os.path.join(BUILD, 'tests', 'programs', 'turns')
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
NOBODY = 65534
WORST = 4           # standard errors
HELD_UP_NS = 20e6   # a piece may take this much longer
TICK_US = 1e6 * TICK
AT_TICKS = 'hits in the kernel, placed by its ticks: too many or too few ' \
    'where a program keeps step with them'

claims = Claims()


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Refused(Exception):
    """Intervals that cannot be random on this machine, as record says."""


class Beside:
    """So many loops, on one processor with what is run meanwhile."""

    def __init__(self, n):
        self.n = n

    def __enter__(self):
        self.processors = os.sched_getaffinity(0)
        if self.n > 0:
            os.sched_setaffinity(0, {min(self.processors)})
        self.loops = [subprocess.Popen(['sh', '-c', 'while :; do :; done'])
                      for _ in range(self.n)]

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.processors)
        for loop in self.loops:
            loop.kill()
            loop.wait()


class Turns:
    """One recorded run: what its parts used and what its profile shows."""

    def __init__(self, *words, options=(), is_nobody=False, n_beside=0):
        with Beside(n_beside):
            self.record(words, options, is_nobody)

    def record(self, words, options, is_nobody):
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
        text = subprocess.run(
            [CPPROF, '-q', '-F', 'json', '-e', 'resource cpu', '-e',
             'threshold 0', '-e', 'limit off', '-e', 'info', '-e',
             'functions', recording], capture_output=True, text=True,
            timeout=60, check=True).stdout.splitlines()
        info, functions = map(json.loads, text)
        cpu = next(row for row in info['rows'] if row['name'] == 'cpu')
        self.at_ticks = info['tallies'].get(AT_TICKS, 0) / max(1, cpu['hits'])
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

    def error_of_ticks(self, how):
        """In standard errors: timers keep step with ticks, which may find all
        or nothing of what their handlers use in the kernel.  info has what
        ticks have found there; what else was used is missing."""
        if 'timer' not in how or 'ticks' not in self.source:
            return 0
        used_us = sum(self.used.values()) / 1000
        missing = max(0, used_us - self.us) / used_us
        share = self.used['part_a'] / sum(self.used.values())
        return (self.at_ticks + missing) / self.error(
            'part_a', share, sum(self.hits.values()))

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


def check_shares(words, options, is_nobody, n_beside=0):
    turns = Turns(*words, options=options, is_nobody=is_nobody,
                  n_beside=n_beside)
    distance, text = turns.distance()
    claims.check(f'shares hold in {" ".join(map(str, words))}'
                 f'{" " if options else ""}{" ".join(options)}'
                 f'{" beside loops" if n_beside else ""}'
                 f'{" for an ordinary user" if is_nobody else ""}',
                 abs(distance) < WORST + turns.error_of_ticks(words[0]),
                 f'{distance:+.1f}: {text}')


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


def refuse_perf_events():
    """By a filter of system calls, as in many containers."""
    load, jump, give = 0x20, 0x15, 0x06
    perf_event_open, refusal, permission = 298, 0x00050000 | errno.EPERM, \
        0x7fff0000
    code = b''.join(struct.pack('HBBI', *words) for words in (
        (load, 0, 0, 0), (jump, 0, 1, perf_event_open), (give, 0, 0, refusal),
        (give, 0, 0, permission)))
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack('HxxxxxxP', 4, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program) != 0:
        raise OSError(ctypes.get_errno(), 'no filter')


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
                timeout=60, preexec_fn=refuse_perf_events)
            info = subprocess.run([CPPROF, '-q', '-e', 'info', recording],
                                  capture_output=True, text=True, check=True,
                                  timeout=60).stdout
        claims.check(f'timers beside ticks are told: {how}',
                     ('timers' in info) == has_timers and
                     'perf event ' not in info, info)


def has_event(is_nobody=False):
    """Whether CPU time has a clock that traps."""
    run = subprocess.run([CPPROF, '-q', '-F', 'json', '-e', 'record --list'],
                         capture_output=True, text=True, timeout=60,
                         preexec_fn=become_nobody if is_nobody else None)
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


# What each run does: how, how many, microseconds of the parts.
SHORT = (
    ('threads', 300, 1000, 2000), ('threads', 300, 2000, 1000),
    ('fork', 300, 1000, 2000), ('fork', 300, 2000, 1000),
    ('vfork', 200, 1000, 2000), ('spawn', 200, 2000, 1000),
    ('threads', 1000, 150, 300),
)
SHORTEST = ('fork', 10000, 70, 140)
STEADY = (
    ('pool', 150, 300, 900), ('itimer', 150, 500, 0), ('timer', 150, 500, 0),
)

# The handlers of a thread that shares its processor run first when it goes on.
BESIDE = ('itimer', 400, 500, 0)


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
        if not has_event(is_nobody):
            claims.skip('shares hold', 'no perf events here')
            continue
        for words in SHORT:
            check_shares(words, (), is_nobody)
        for words in (*SHORT[:4], STEADY[0]):
            check_shares(words, ('-F', '1000'), is_nobody)
        for words in STEADY:
            check_shares(words, (), is_nobody)
        for options in (), ('-F', '1000'):
            check_shares(BESIDE, options, is_nobody, n_beside=2)
        check_shares(SHORT[0], ('--random',), is_nobody)
        if is_nobody:       # whose first period begins while they start
            check_shares(SHORTEST, (), is_nobody)
    if has_event():
        check_short_run()
    check_timers_at_ticks()
    claims.end()


if __name__ == '__main__':
    main()
