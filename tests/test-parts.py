# SPDX-License-Identifier: GPL-3.0-or-later
"""test-parts.py -- CPU time of programs that ticks sample.

tests/programs/parts.c reads its threads' CPU clocks around each of its parts
and prints what each has used, and what the kernel's ticks found.  Programs that
switch often are left to ticks; system is always told by them, and user by an
event of its own.  tests/judge.py decides.  Speaks TAP.

Three known limits of ticks are excluded.  First, sleeps of microseconds: for
each the kernel sets the processor's timer, which takes most of their time, but
not where a tick is due as soon, so no tick ever finds it.  Second, threads that
wake each other: where a wait lets the processor rest, the tick that is due
comes at the wake, so ticks find such parts up to a third too often or too
seldom.  So the truth within a thread is what the kernel's own ticks have found
of its parts; that of the thread is its CPU clock.  Third, a shared processor: a
program that constantly reads its CPU time is suspended between two ticks.  So
the program runs with priority where that is allowed; if ticks still rarely find
it, the run is disturbed.
"""
import math
import os
import subprocess
import tempfile

import judge
from claims import Claims
from collector_file import Profile
from cpprof import TICK, copies_for_everyone

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
PARTS = os.path.join(BUILD, 'tests', 'programs', 'parts')
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
NOBODY = 65534
USER_CLOCK = 'perf event for user mode, ticks for the kernel'
ALL = ('user', 'read', 'faults', 'calls', 'futex')
GIVEN_UP = 0x100
N_THREADS = 2


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

    def __init__(self, copies, resources, is_root, ms, parts):
        output = tempfile.mkdtemp(prefix='cpprof-test-', dir=copies)
        os.chmod(output, 0o777)
        environment = dict(
            os.environ, CPPROF_OUTPUT=output, CPPROF_RESOURCES=resources,
            LD_PRELOAD=os.path.join(copies,
                                    os.path.basename(LIBRARY)))
        run = subprocess.run(
            [os.path.join(copies, 'parts'), str(ms), *parts],
            capture_output=True, text=True, timeout=600, env=environment,
            preexec_fn=before(is_root))
        assert run.returncode == 0 and run.stderr == '', \
            (run.returncode, run.stderr)
        words = [line.split() for line in run.stdout.splitlines()]
        self.ticks = {word[1]: {'user': int(word[2]), 'system': int(word[3])}
                      for word in words if word[0] == 'ticks'}
        self.used = {word[0]: int(word[1]) for word in words
                     if word[0] != 'ticks'}
        self.cpu_ns = self.used.pop('main') + self.used['part_partner']
        self.profile = Profile(
            os.path.join(output, os.listdir(output)[0]))

    def true(self):
        """The share of each part."""
        ticks = {name: sum(found.values())
                 for name, found in self.ticks.items()}
        found, used = sum(ticks.values()), sum(self.used.values())
        partner = self.used['part_partner'] / used
        if found == 0:
            raise judge.Disturbed('the kernel does not count its ticks')
        return {name: partner if name == 'part_partner' else
                (1 - partner) * ticks[name] / found for name in self.used}

    def counts(self, how):
        """For tests/judge.py: a share of each part but the last, and the
        total."""
        profile = self.profile.of('cpu')
        source = next(r.source for r in profile.resources if r.name == 'cpu')
        if 'timer' in source and 'overrun' in profile.drops and \
                profile.drops['overrun'][1] > 0.15 * profile.hits:
            raise judge.Disturbed('ticks find the program seldom: of '
                                  f'{profile.hits} hits, {profile.drops}')
        # Where ticks find the kernel only, its parts have whole ticks.
        most = max(4, 1e6 * TICK / profile.interval)
        bunch = most if source == USER_CLOCK else \
            1 + most * (1 - profile.samples / profile.hits)
        stacks = profile.stacks()
        found = {name: sum(n for stack, n in stacks.items() if name in stack)
                 for name in self.used}
        true, of = self.true(), sum(found.values())
        counts = {claim_of(name, how): judge.Share(
            found[name], of, true[name], bunch) for name in self.used}
        total = (profile.hits + profile.lost(),
                 self.cpu_ns / 1000 / profile.interval)
        # A timer counts a thread's time, and ticks only say where; all but
        # that after the last one.
        counts[claim_of('total', how)] = judge.Amount.drawn(*total, bunch) \
            if source == USER_CLOCK else judge.Amount(*total, N_THREADS * most)
        return counts


def claim_of(name, how):
    return f'{name}: programs that switch are left to ticks, {how}'


def has_fine_source(resources):
    out = subprocess.run([PARTS], capture_output=True, text=True, env=dict(
        os.environ, CPPROF_OFFER='1', CPPROF_RESOURCES=resources,
        LD_PRELOAD=LIBRARY), timeout=120, check=False).stdout
    return 'perf event' in out.split('\t')[1]


def name_of(is_root):
    return 'for root' if is_root else 'for an ordinary user'


def check_switches(claims, copies, is_root):
    for resources in ('cpu:1000' if is_root else 'cpu:1000,page-faults:20',):
        how = f'{resources} {name_of(is_root)}'
        names = [claim_of(name, how) for name in
                 (*(f'part_{part}' for part in ALL), 'part_partner', 'total')]
        if not has_fine_source(resources):
            claims.skip(names[0], 'no perf events here')
            continue
        flags = []

        def measure(times):
            run = Parts(copies, resources, is_root, 5000 * times, ALL)
            flags.append(run.profile.flags & GIVEN_UP)
            return run.counts(how)
        judge.decide(claims, names, measure)
        claims.check(claim_of('it is told', how), all(flags), flags)


def check_modes(claims, copies, is_root):
    """In which mode ticks find a part depends on the machine, where some come
    only at the end of a call; the program asks the kernel itself."""
    for resources in ('user,system,cpu' if is_root else 'user,system',):
        how = f'{resources} {name_of(is_root)}'
        names = {name: f'part_user of {name}, {how}'
                 for name in ('user', 'system')}
        # Each makes up all CPU time; of it, ticks place what is in the kernel.
        sums = {'user and system together': ('user', 'system')}
        if 'cpu' in resources:
            sums['cpu'] = ('cpu',)
        total_of = f'the sum of {{}}, {how}'.format

        def measure(times):
            run = Parts(copies, resources, is_root, 4000 * times,
                        ('user', 'read'))
            counts = {}
            for name in names:
                profile = run.profile.of(name)
                total = sum(ticks[name] for ticks in run.ticks.values())
                if total == 0:
                    raise judge.Disturbed('ticks find only one mode here')
                found = [profile.hits_with(part)
                         for part in ('part_user', 'part_read')]
                counts[names[name]] = judge.Share(
                    found[0], sum(found), run.ticks['part_user'][name] / total,
                    profile.hits / max(profile.samples, 1))
            for what, resources_of in sums.items():
                profiles = map(run.profile.of, resources_of)
                counts[total_of(what)] = judge.Amount(
                    sum((part.hits + part.lost()) * part.interval
                        for part in profiles), run.cpu_ns / 1000,
                    1e6 * TICK * math.sqrt(run.cpu_ns / 1e9 / TICK / 4))
            return counts
        judge.decide(claims, [*names.values(), *map(total_of, sums)], measure)


def main():
    claims = Claims()
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    copies = copies_for_everyone(PARTS)
    users = (True, False) if os.geteuid() == 0 else (False,)
    for is_root in users:
        # The same code for both; root's is tried at length.
        if not is_root or judge.IS_LONG:
            check_switches(claims, copies, is_root)
        if is_root == users[0] or judge.IS_LONG:
            check_modes(claims, copies, is_root)
    claims.end()


if __name__ == '__main__':
    main()
