# SPDX-License-Identifier: GPL-3.0-or-later
"""test-parts.py -- shares of CPU time against a program that measures itself.

tests/programs/parts.c reads its threads' CPU clocks around each of its parts
and prints what each has used.  A profile must show the same shares, with every
method of sampling CPU time, for root and for an ordinary user.  Speaks TAP.

Shares may differ by five standard deviations, given the number of samples,
plus one percent.  A sample that stands for several intervals counts once in
that number; where only ticks sample kernel time, the number is that of the
ticks.

Two known limits of ticks are excluded.  First, sleeps of microseconds: for
each the kernel sets the processor's timer, which takes most of their time, but
not where a tick is due as soon, so no tick ever finds it.  Second, a shared
processor: a program that constantly reads its CPU time is suspended between
two ticks.  So the program runs with priority where that is allowed; if ticks
still rarely find it, the case is skipped.
"""
import contextlib
import importlib
import math
import os
import shutil
import subprocess
import sys
import tempfile

collector = importlib.import_module('test-collector')
Run, Skip = collector.Run, collector.Skip

PARTS = os.environ.get('CPPROF_PARTS', os.path.join(
    collector.BUILD, 'tests', 'programs', 'parts'))
NOBODY = 65534
USER_CLOCK = 'perf event for user mode, ticks for the kernel'
STEADY = ('user', 'read', 'faults', 'calls')
ALL = STEADY + ('futex',)
GIVEN_UP = 0x100


@contextlib.contextmanager
def copies_for_everyone():
    """Copies to where any user can read them; the build may be in a private
    folder."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        for name in PARTS, collector.LIBRARY:
            shutil.copy(name, directory)
            os.chmod(os.path.join(directory, os.path.basename(name)), 0o755)
        yield directory


def before(is_root):
    def prepare():
        try:
            os.nice(-20)
        except PermissionError:
            pass
        if os.geteuid() == 0 and not is_root:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return prepare


class Parts:
    """One run of the program, and what it measured of itself."""

    def __init__(self, copies, resources, is_root, ms, parts, random):
        output = tempfile.mkdtemp(prefix='cpprof-test-', dir=copies)
        os.chmod(output, 0o777)
        environment = dict(
            os.environ, CPPROF_OUTPUT=output, CPPROF_RESOURCES=resources,
            LD_PRELOAD=os.path.join(copies,
                                    os.path.basename(collector.LIBRARY)))
        if random:
            environment['CPPROF_RANDOM'] = '1'
        run = subprocess.run(
            [os.path.join(copies, 'parts'), str(ms), *parts],
            capture_output=True, text=True, timeout=60, env=environment,
            preexec_fn=before(is_root))
        assert run.returncode == 0 and run.stderr == '', \
            (run.returncode, run.stderr)
        words = [line.split() for line in run.stdout.splitlines()]
        self.ticks = {word[1]: {'user': int(word[2]), 'system': int(word[3])}
                      for word in words if word[0] == 'ticks'}
        self.used = {word[0]: int(word[1]) for word in words
                     if word[0] != 'ticks'}
        self.cpu_ns = self.used.pop('main') + self.used['part_partner']
        self.profile = collector.Profile(
            os.path.join(output, os.listdir(output)[0]))

    def check(self, resource='cpu'):
        profile = self.profile.of(resource)
        source = next(r.source for r in profile.resources
                      if r.name == resource)
        stacks = profile.stacks()
        samples = profile.samples
        found_by_ticks = self.cpu_ns / 4e6
        is_split = source == USER_CLOCK
        is_by_ticks = source == 'thread CPU timer'
        if is_by_ticks and 'overrun' in profile.drops and \
                profile.drops['overrun'][1] > 0.15 * profile.hits:
            raise Skip('ticks find the program seldom: the machine is busy')
        for name, ns in self.used.items():
            share = ns / self.cpu_ns
            hits = sum(n for stack, n in stacks.items() if name in stack)
            n = min(samples, found_by_ticks) if is_split else samples
            # A sample that was put off counts at the next one.
            moved = sum(drop[1] for why, drop in profile.drops.items()
                        if why in ('unsafe', 'back-off')) / profile.hits
            bound = 5 * math.sqrt(share * (1 - share) / n) + 0.01 + moved
            assert abs(hits / profile.hits - share) <= bound, \
                (name, hits / profile.hits, share, bound, source)
        intervals = self.cpu_ns / 1000 / profile.interval
        off = abs(profile.hits + profile.lost() - intervals) / intervals
        assert off <= 5 / math.sqrt(samples) + 0.02, (profile.hits, intervals)


def check(copies, is_root, resources, ms, parts=STEADY, random=False):
    run = Parts(copies, resources, is_root, ms, parts, random)
    run.check()
    return run


def has_fine_source(resources, random):
    environment = {'CPPROF_OFFER': '1', 'CPPROF_RESOURCES': resources}
    if random:
        environment['CPPROF_RANDOM'] = '1'
    out = subprocess.run([PARTS], capture_output=True, text=True, env=dict(
        os.environ, **environment, **collector.PRELOAD), timeout=120).stdout
    return 'perf event' in out.split('\t')[1]


WAYS = (
    # name, resources, whether drawn at random, milliseconds
    ('by_default', 'cpu', False, 2500),
    ('each_millisecond', 'cpu:1000', False, 1500),
    ('by_the_smallest_interval', 'cpu:100', False, 1500),
    ('at_random', 'cpu', True, 2500),
    ('at_random_each_millisecond', 'cpu:1000', True, 1500),
    ('beside_page_faults', 'cpu:1000,page-faults:20', False, 5000),
    ('beside_others', 'cpu:1000,syscalls,context-switches:1,real', False,
     1500),
)


def programs_that_switch_are_left_to_ticks(copies, is_root):
    def case():
        for resources in 'cpu:1000', 'cpu:1000,page-faults:20':
            if not has_fine_source(resources, False):
                raise Skip('no perf events here')
            run = check(copies, is_root, resources, 1500, ALL)
            assert run.profile.flags & GIVEN_UP
    case.__name__ = 'programs_that_switch_are_left_to_ticks_' + \
        name_of(is_root)
    return case


def modes_are_told_apart(copies, is_root):
    """In which mode ticks find a part depends on the machine, where some come
    only at the end of a call; the program asks the kernel itself."""
    def case():
        for resources in 'user,system', 'user,system,cpu':
            run = Parts(copies, resources, is_root, 2000, ('user', 'read'),
                        False)
            for name in 'user', 'system':
                profile = run.profile.of(name)
                total = sum(ticks[name] for ticks in run.ticks.values())
                if total == 0:
                    raise Skip('ticks find only one mode here')
                found = {part: profile.hits_with(part)
                         for part in ('part_user', 'part_read')}
                share = found['part_user'] / sum(found.values())
                own = run.ticks['part_user'][name] / total
                bound = 5 * math.sqrt(max(own * (1 - own), 0.01) /
                                      profile.samples)
                assert abs(share - own) <= bound, \
                    (resources, name, found, own, bound)
    case.__name__ = 'modes_are_told_apart_' + name_of(is_root)
    return case


def name_of(is_root):
    return 'for_root' if is_root else 'for_an_ordinary_user'


def case_of(copies, name, is_root, resources, random, ms):
    def case():
        if random and not has_fine_source(resources, random):
            raise Skip('no perf events here')
        run = check(copies, is_root, resources, ms, random=random)
        assert run.profile.flags & GIVEN_UP == 0
    case.__name__ = 'shares_hold_%s_%s' % (name, name_of(is_root))
    return case


def main():
    if not os.path.exists(collector.LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return 0
    users = (True, False) if os.geteuid() == 0 else (False,)
    with copies_for_everyone() as copies:
        collector.CASES = tuple(
            case_of(copies, name, is_root, resources, random, ms)
            for is_root in users for name, resources, random, ms in WAYS
        ) + tuple(
            make(copies, is_root) for is_root in users
            for make in (programs_that_switch_are_left_to_ticks,
                         modes_are_told_apart))
        collector.REAL_PROGRAMS = ()
        return collector.main()


if __name__ == '__main__':
    sys.exit(main())
