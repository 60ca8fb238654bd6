# SPDX-License-Identifier: GPL-3.0-or-later
"""kernel-shares.py -- CPU time of the kernel's functions, sampled from inside.

The witnesses are the program tests/programs/parts.c, which measures its own
parts, the kernel's ticks, which find it in user mode or in the kernel, and perf.
tests/judge.py decides.  Speaks TAP.
"""
import contextlib
import os
import shutil
import subprocess
import tempfile

import cpprof
import judge
from claims import Claims
from cpprof import TICK, table

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
PARTS = os.path.join(BUILD, 'tests', 'programs', 'parts')
ALL = 'user', 'read', 'faults', 'calls'
OF_KERNEL = ALL[1:]
# What the program calls in a part.
CALLED = {'part_read': ('read',), 'part_calls': ('syscall', 'write')}
# Of shares that others sample, too.  perf's samples do not come quite where ours
# do: a signal for us is sent when an interval ends, and taken at the end of what
# may not be interrupted.
OF_OTHERS = 3 * judge.SHARE
UNKNOWN = 'hits whose frames of the kernel are unknown: in new threads, ' \
    'threads that switch often, or long stays in it'
FOLDED = "processes whose time in the kernel is the calling function's"
PERF_NS = 1000000


class Recorded:
    """A recording of the program, and what it measured."""

    def __init__(self, directory, ms, parts, before=()):
        self.path = os.path.join(directory, 'recorded')
        shutil.rmtree(self.path, ignore_errors=True)
        out = cpprof.run('record', '--no-prompt', '-r', 'cpu:1000', '-o',
                         self.path, '--', *before, PARTS, str(ms), *parts,
                         timeout=600).stdout
        lines = [line.split() for line in out.splitlines()]
        names = ['part_' + part for part in parts]
        self.used = {words[0]: int(words[1]) for words in lines
                     if words[0] in names}
        # By part: ticks in the kernel, and all.
        self.ticks = {words[1]: tuple(ns / 1e9 / TICK for ns in (
                          int(words[3]), int(words[2]) + int(words[3])))
                      for words in lines
                      if words[0] == 'ticks' and words[1] in names}
        info = table(self.path, 'info')
        self.tallies = info['tallies']
        self.bunch = info['rows'][0]['hits'] / max(info['samples'], 1)

    def functions(self, part=None, kernel='show'):
        return functions(self.path, part, kernel)

    def tally(self, what):
        return self.tallies.get(what, 0)

    def of_clock(self, how):
        """The share of each part, for tests/judge.py."""
        found, all_ns = self.functions(), sum(self.used.values())
        of = sum(found.get(part, 0) for part in self.used)
        return {of_clock(part, how): judge.Share(found.get(part, 0), of,
                                                 ns / all_ns, self.bunch)
                for part, ns in self.used.items()}


@contextlib.contextmanager
def one_processor():
    """For what is compared with another run: what a program pays for the memory
    that it shares with other processors depends on where it has run."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def functions(path, part=None, kernel='show'):
    """Hits by function, of all or of the samples with a part."""
    narrow = [f'narrow {part}'] if part else []
    answer = table(path, 'threshold 0', f'kernel {kernel}', *narrow,
                   'functions 10000')
    return {row['path'][0]: row['hits'] for row in answer['rows']}


def total(path):
    return table(path, 'body')['total']


def share_of_kernel(path, part):
    """Its hits in the kernel, and all."""
    body = table(path, 'threshold 0', 'group in_kernel = @kernel',
                 f'narrow {part}',
                 'body 10000')['rows']
    return sum(row['hits'] for row in body
               if row['path'][0] == 'in_kernel'), \
        sum(row['hits'] for row in body)


def of_clock(part, how):
    return f'{part}: its share is that of its CPU clock, {how}'


def of_ticks(part):
    return f"{part}: the kernel's share is that of its ticks"


def without(part, called):
    return f'{part}: {called} has the share that it has without frames of ' \
        'the kernel'


def check_shares(claims, directory):
    """Of the parts, of the kernel in each, and without its frames, which the
    absence of a variable leaves out."""
    hidden, have, lack = [], [], []
    names = [of_clock('part_' + part, how) for how in ('with', 'without')
             for part in ALL]
    names += [of_ticks('part_' + part) for part in ALL]
    names += [without(part, called) for part in CALLED
              for called in CALLED[part]]

    def measure(times):
        one = Recorded(directory, 3200 * times, ALL)
        # A program that reads its clock often is suspended between ticks, where
        # it shares the processor.
        used = sum(one.used.values()) / 1e9 / TICK
        seen = sum(ticks for _, ticks in one.ticks.values())
        if seen < 0.7 * used:
            raise judge.Disturbed(f'{seen:.0f} of {used:.0f} ticks find the '
                                  'program')
        counts = one.of_clock('with')
        for part, (kernel, ticks) in one.ticks.items():
            counts[of_ticks(part)] = judge.Difference(
                *share_of_kernel(one.path, part), kernel, ticks, one.bunch,
                OF_OTHERS)
        have.append(not one.tally(FOLDED))
        shown, less = one.functions(), one.functions(kernel='hide')
        hidden.append(less.items() <= shown.items() and
                      len(less) < len(shown))
        inside = {part: one.functions(part, 'hide') for part in CALLED}

        other = Recorded(directory, 3200 * times, ALL,
                         ('env', '-u', 'CPPROF_KERNEL'))
        counts |= other.of_clock('without')
        lack.append(other.tally(FOLDED) > 0)
        for part, called in CALLED.items():
            outside = other.functions(part)
            for name in called:
                counts[without(part, name)] = judge.Difference(
                    inside[part].get(name, 0), inside[part][part],
                    outside.get(name, 0), outside[part],
                    # Both are ours.
                    one.bunch + other.bunch - 1, OF_OTHERS)
        return counts
    judge.decide(claims, names, measure)
    claims.check('kernel hide: functions of the program have the same hits',
                 all(hidden), hidden)
    claims.check('a variable tells whether there are frames of the kernel',
                 all(have) and all(lack), (have, lack))


def check_perf(claims, directory):
    """perf's shares of the functions that have most of the hits in a part.  perf
    does not know the program's callers, so each part has a run of its own."""
    claim = "perf's shares of the functions of the kernel in {}"
    perf = shutil.which('perf')
    data = os.path.join(directory, 'perf.data')

    def runs_perf(ms, part):
        return subprocess.run(
            (perf, 'record', '-q', '-e', 'task-clock', '-c', str(PERF_NS), '-g',
             '-o', data, PARTS, str(ms), part), timeout=600,
            capture_output=True, check=False).returncode == 0

    def check_part(part):
        name = claim.format(part)
        with one_processor():
            short = Recorded(directory, 800, (part,))
        hidden = short.functions(kernel='hide')
        most = [function for function, hits in short.functions().items()
                if hits > 0.2 * (total(short.path) - short.tally(UNKNOWN)) and
                function not in hidden]

        def measure(times):
            with one_processor():
                if not runs_perf(800 * times, part):
                    raise judge.Disturbed('perf failed')
                run = Recorded(directory, 800 * times, (part,))
            one, other = run.functions(), functions(data)
            of = total(run.path) - run.tally(UNKNOWN)
            other_of = total(data) / PERF_NS
            return {f'{name}: {function}': judge.Difference(
                        one.get(function, 0), of,
                        other.get(function, 0) / PERF_NS, other_of, run.bunch,
                        OF_OTHERS)
                    for function in most}
        claims.check(f'{name}: some have a fifth of it', most, short.functions())
        if most == ['[kernel]']:
            claims.skip(name, 'the kernel hides its addresses')
            return
        judge.decide(claims, [f'{name}: {function}' for function in most],
                     measure)

    for part in OF_KERNEL:
        if perf is None or not runs_perf(10, part):
            claims.skip(claim.format(part),
                        'no perf that may sample the kernel here')
        else:
            check_part(part)


def main():
    claims = Claims()
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
        if Recorded(directory, 100, ALL).tally(FOLDED):
            claims.skip('frames of the kernel inside',
                        'the kernel does not show them to this user')
        else:
            check_shares(claims, directory)
            check_perf(claims, directory)
    claims.end()


if __name__ == '__main__':
    main()
