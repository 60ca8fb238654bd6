# SPDX-License-Identifier: GPL-3.0-or-later
"""test-slices.py -- when hits were counted, by the program's own clock.

tests/programs/phases.c does one thing after another and prints when each began
and ended.  Each slice of the file must have hits of what the program did then,
as many as it did, and of nothing else.  Speaks TAP.
"""
import importlib
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
collector = importlib.import_module('test-collector')
Run = collector.Run
Profile = collector.Profile

PHASES = os.path.join(collector.BUILD, 'tests', 'programs', 'phases')
CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))

# How late a tick can come, on a busy machine, in ns.
LATE = 40000000


def steps_of(out):
    rows = [line.split() for line in out.decode().splitlines()]
    return [(row[0], int(row[1]), int(row[2]) if len(row) > 2 else None)
            for row in rows]


def width(profile, one):
    return profile.slice_ns << one.doublings


def begin(profile, one):
    """The beginning of a slice, by the program's clock."""
    return profile.origin_mono + one.number * width(profile, one)


def slices_of(profile, name, column=0):
    return [one for one in profile.slices if one.resource == column and
            name in profile.stack_of(one.node)]


def check_times(profile, steps, name, column=0):
    """All slices with hits of a function touch one of its steps, and each of
    its steps has as many hits as it took time."""
    found = [0] * len(steps)
    for one in slices_of(profile, name, column):
        start = begin(profile, one)
        end = start + width(profile, one)
        touched = [i for i, step in enumerate(steps) if step[0] == name and
                   start <= step[2] + LATE and step[1] <= end]
        assert touched, (name, one, start, steps)
        found[touched[0]] += one.hits
    return found


def about(hits, interval_us, ms):
    assert 0.8 * ms - 12 <= hits * interval_us / 1000 <= 1.3 * ms + 25, \
        (hits, ms)


def all_hits_have_a_time(profile):
    for number, node in profile.nodes.items():
        for column in range(len(profile.resources)):
            hits = sum(one.hits for one in profile.slices
                       if (one.node, one.resource) == (number, column))
            assert hits == node.counts[2 * column], (number, node, hits)


def phases_are_at_their_times():
    run = Run(PHASES, 'first:300', 'second:300', 'first:300',
              CPPROF_RESOURCES='cpu:1000')
    profile = run.one()
    steps = steps_of(run.out)
    assert [step[0] for step in steps] == ['first', 'second', 'first']
    assert profile.slice_ns == 15625000
    assert profile.origin_mono == profile.start_mono
    assert profile.origin == profile.start
    first = check_times(profile, steps, 'first')
    about(first[0], 1000, 300)
    about(first[2], 1000, 300)
    about(check_times(profile, steps, 'second')[1], 1000, 300)
    all_hits_have_a_time(profile)


def widths_double_as_time_passes():
    """With slices of 50 us at first, 64 of them reach 3.2 ms."""
    run = Run(PHASES, 'first:150', 'second:150', 'first:150', 'rest:2500',
              'second:100', CPPROF_RESOURCES='cpu:1000', CPPROF_SLICE='50000')
    profile = run.one()
    steps = steps_of(run.out)
    assert profile.slice_ns == 50000
    first = check_times(profile, steps, 'first')
    about(first[0], 1000, 150)
    about(first[2], 1000, 150)
    second = check_times(profile, steps, 'second')
    about(second[1], 1000, 150)
    about(second[4], 1000, 100)
    last = max(one.doublings for one in profile.slices)
    passed = profile.end_mono - profile.origin_mono
    assert 32 <= passed / (50000 << last) <= 64, (passed, last)
    all_hits_have_a_time(profile)
    # What was not counted again is still as narrow as it was.
    assert min(one.doublings for one in slices_of(profile, 'first')) < last


def waits_are_spread():
    run = Run(PHASES, 'first:100', 'rest:900', 'second:100',
              CPPROF_RESOURCES='real:1000,cpu')
    profile = run.one()
    _, start, end = [step for step in steps_of(run.out)
                     if step[0] == 'rest'][0]
    whole = {}
    for one in slices_of(profile, 'rest'):
        at = begin(profile, one)
        if start + 2000000 <= at and at + width(profile, one) <= end - 2000000:
            whole[at] = whole.get(at, 0) + one.hits
            expected = width(profile, one) / 1e6
    assert len(whole) >= 0.8 * 900 / expected, whole
    for at, hits in whole.items():
        assert abs(hits - expected) <= 1, (at, hits, expected)
    assert sum(one.samples for one in slices_of(profile, 'rest')) <= 3
    all_hits_have_a_time(profile)


def hits_without_duration_are_not_spread():
    """A sample of several hits of a resource other than time is one moment."""
    run = Run(PHASES, 'first:100', CPPROF_RESOURCES='page-faults:1,cpu')
    profile = run.one()
    moments = [one for one in profile.slices if one.resource == 0]
    assert moments and all(one.hits == 0 or one.samples > 0
                           for one in moments)


def a_kill_keeps_the_times():
    run = Run(PHASES, 'first:300', 'second:200', 'kill',
              CPPROF_RESOURCES='cpu:1000', CPPROF_SLICE='1000000')
    profile = run.one()
    steps = steps_of(run.out)
    assert run.status == -9 and profile.end == 0
    steps = [step for step in steps if step[2] is not None]
    about(check_times(profile, steps, 'first')[0], 1000, 300)
    about(check_times(profile, steps, 'second')[1], 1000, 200)
    timed = sum(one.hits for one in profile.slices)
    assert profile.hits - 3 <= timed <= profile.hits, (timed, profile.hits)


def threads_in_turn_go_on():
    run = Run(PHASES, 'first:100', 'thread', 'second:200', 'rest:50', 'thread',
              'second:200', CPPROF_RESOURCES='cpu:1000')
    profile = run.one()
    second = check_times(profile, steps_of(run.out), 'second')
    about(sum(second), 1000, 400)
    all_hits_have_a_time(profile)


def record(folder, *words, **environment):
    """Runs the program under `cpprof record`; its profiles, and its output."""
    output = os.path.join(folder, 'out')
    result = subprocess.run(
        [CPPROF, 'record', '-r', 'cpu:1ms', '-o', output, *words],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
        env=dict(os.environ, **environment))
    assert result.returncode == 0, result.stderr
    return [Profile(os.path.join(output, name))
            for name in sorted(os.listdir(output))
            if name not in ('names', 'cpprofdata.brief')], result.stdout


def processes_share_an_origin():
    """Also those that execute another program."""
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as folder:
        profiles, out = record(
            folder, 'sh', '-c', 'i=0; while [ $i -lt 60000 ]; do '
            'i=$((i+1)); done; "$1" first:100 fork second:200; exec "$1" '
            'first:200', 'sh', PHASES)
    steps = steps_of(out)
    assert len(profiles) == 4, [profile.path for profile in profiles]
    assert len({(profile.origin, profile.origin_mono)
                for profile in profiles}) == 1
    for profile in profiles:
        # Two clocks are read one after the other.
        assert abs(profile.start - profile.origin -
                   (profile.start_mono - profile.origin_mono)) < 5000000
        check_times(profile, steps, 'first')
        check_times(profile, steps, 'second')
        all_hits_have_a_time(profile)
    late = [profile for profile in profiles
            if profile.start_mono - profile.origin_mono > 250000000]
    assert late and all(profile.begin_of(one) >= 0.2 for profile in late
                        for one in profile.slices)


def a_bad_origin_is_not_used():
    for origin in 'x', '5', '5:', ':5', '5:99999999999999999999', '0:0', '1:1x':
        profile = Run(PHASES, 'first:30', CPPROF_ORIGIN=origin).one()
        assert profile.origin == profile.start, origin
        assert profile.origin_mono == profile.start_mono, origin


def slices_can_be_off():
    profile = Run(PHASES, 'first:50', CPPROF_SLICE='0').one()
    assert profile.hits > 0 and profile.slices == []


collector.CASES = (
    phases_are_at_their_times,
    widths_double_as_time_passes,
    waits_are_spread,
    hits_without_duration_are_not_spread,
    a_kill_keeps_the_times,
    threads_in_turn_go_on,
    processes_share_an_origin,
    a_bad_origin_is_not_used,
    slices_can_be_off,
)

if __name__ == '__main__':
    collector.REAL_PROGRAMS = ()
    sys.exit(collector.main())
