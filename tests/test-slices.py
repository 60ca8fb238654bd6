# SPDX-License-Identifier: GPL-3.0-or-later
"""test-slices.py -- when hits were counted, by the program's own clock.

tests/programs/phases.c does one thing after another and prints when each began
and ended.  Each slice of the file must have hits of what the program did then,
as many as it did, and of nothing else.  Speaks TAP.
"""
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile

collector = importlib.import_module('test-collector')
times = importlib.import_module('times')
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


class Session:
    """What cpprof says about a recording, and what its file says itself."""

    def __init__(self, folder, *words, **environment):
        profiles, self.out = record(folder, *words, **environment)
        self.profile, = profiles
        self.path = os.path.join(folder, 'out')
        self.width = max(width(self.profile, one)
                         for one in self.profile.slices)

    def ask(self, *commands):
        words = [word for command in commands for word in ('-e', command)]
        result = subprocess.run(
            [CPPROF, '-q', '-n', '-e', 'format json', '-e', 'threshold 0',
             *words, self.path], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    def hits(self, slices, name=None):
        """Hits in these slices of the widest width, of stacks with a name."""
        return sum(one.hits for one in self.profile.slices
                   if one.number * width(self.profile, one) // self.width in
                   slices and (name is None or
                               name in self.profile.stack_of(one.node)))


def functions_of(answer):
    return {row['path'][0]: row for row in answer['rows']}


def commands_agree_with_the_file():
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as folder:
        session = Session(folder, PHASES, 'first:200', 'second:300',
                          'first:200', 'rest:300')
        whole, first, functions, bodies, up = session.ask(
            'timeline', 'timeline (main run first)', 'when on',
            'functions', 'body', 'up first')[:5]
        n = len(whole['rows'])
        assert whole['width_ns'] == session.width
        assert whole['origin_ns'] == session.profile.origin
        assert whole['without_time'] == 0
        for i, (all_hits, of_first) in enumerate(zip(whole['rows'],
                                                     first['rows'])):
            assert all_hits['begin_ns'] == i * session.width
            assert all_hits['end_ns'] == (i + 1) * session.width
            assert all_hits['hits'] == session.hits([i]), i
            assert of_first['hits'] == session.hits([i], 'first'), i
        check_when(session, functions, n)
        # Of the clock that it reads, a hit may be in a function of its own.
        for ours, own in zip(functions_of(functions)['spin']['when'],
                             functions_of(bodies)['spin']['when']):
            assert '-_0123456789'.index(own) <= \
                '-_0123456789'.index(ours), (functions, bodies)
        for row in up['rows']:
            assert row['when'] == functions_of(functions)['first']['when']
        check_narrowed(session, n)


def check_when(session, functions, n):
    group = 2 if n > 32 else 1
    for name in 'first', 'second', 'main':
        expected = ''
        for i in range(0, n, group):
            share = session.hits(range(i, i + group), name)
            total = session.hits(range(i, i + group))
            expected += '-' if total == 0 else '_' if share == 0 else \
                str(min(9, share * 10 // total))
        assert functions_of(functions)[name]['when'] == expected, name


def check_export(session, part, slices):
    for step in [], ['-e', 'group g = spin']:
        result = subprocess.run(
            [CPPROF, '-q', '-n', '-e', 'narrow time ' + part, *step, '-e',
             'export collapsed', session.path], capture_output=True,
            text=True, timeout=60)
        lines = [line.rsplit(' ', 1) for line in result.stdout.splitlines()]
        for name in 'first', 'second':
            assert session.hits(slices, name) == sum(
                int(hits) for stack, hits in lines
                if name in stack.split(';')), (part, step, name)


def check_narrowed(session, n):
    """Of some part of the run, all slices that it touches."""
    for begin, end in (0, 2.5), (n / 4 + 0.5, n / 2), (n / 2, n), (3, 5.001):
        slices = range(int(begin), -int(-end // 1))
        part = '%.9fs..%.9fs' % (begin * session.width / 1e9,
                                 end * session.width / 1e9)
        narrowed, timeline, dropped = session.ask(
            'narrow time ' + part, 'functions', 'timeline', 'undo',
            'drop time ' + part, 'functions')
        for name in 'first', 'second':
            hits = functions_of(narrowed).get(name, {'hits': 0})['hits']
            others = functions_of(dropped).get(name, {'hits': 0})['hits']
            assert hits == session.hits(slices, name), (part, name)
            assert hits + others == session.hits(range(n), name)
        assert narrowed['refined'] == session.hits(slices)
        check_export(session, part, slices)
        for i, row in enumerate(timeline['rows']):
            assert row['hits'] == (session.hits([i]) if i in slices else 0)


def exports_and_views_agree():
    """What `export cpprofdata` writes, and the column `when` of all views."""
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as folder:
        session = Session(folder, PHASES, 'first:150', 'second:200',
                          'first:100', 'rest:100')
        for steps in times.steps_for(session.path):
            times.comes_back(session.path, *steps)
        times.when_agrees_with_narrow_time(session.path)


def wrong_parts_are_refused():
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as folder:
        session = Session(folder, PHASES, 'first:100')
        for part, why in (('x', 'expected a part of the run'),
                          ('2s', 'expected a part of the run'),
                          ('3s..2s', 'expected a part of the run'),
                          ('1..2..3', 'expected a part of the run'),
                          ('1s..2x', 'expected a part of the run'),
                          ('1e9..', 'expected a part of the run'),
                          ('70s..80s', 'no hit was counted in the time '
                           '70s..80s')):
            result = subprocess.run(
                [CPPROF, '-q', '-n', '-e', 'narrow time ' + part,
                 session.path], capture_output=True, text=True, timeout=60)
            assert result.returncode != 0 and why in result.stderr, \
                (part, result.stderr)
        result = subprocess.run(
            [CPPROF, '-q', '-n', '-e', 'drop time ..', session.path],
            capture_output=True, text=True, timeout=60)
        assert 'nothing would be left' in result.stderr, result.stderr


def profiles_without_times_say_so():
    folded = os.path.join(os.environ.get('srcdir', '.'), 'sample-data',
                          'forms.folded')
    for command in 'timeline', 'narrow time 1s..2s':
        result = subprocess.run([CPPROF, '-q', '-n', '-e', command, folded],
                                capture_output=True, text=True, timeout=60)
        assert result.returncode != 0 and \
            'does not say when its hits were counted' in result.stderr
        assert result.stderr.count('\n') == 1
    result = subprocess.run([CPPROF, '-q', '-n', '-e', 'when on', '-e',
                             'functions', folded], capture_output=True,
                            text=True, timeout=60)
    assert 'does not say when its hits were counted' in result.stdout
    assert '1.0000 main [614]' in result.stdout


def perf_script_has_times():
    """Against the lines of the text themselves."""
    path = os.path.join(os.environ.get('srcdir', '.'), 'tests', 'data', 'perf',
                        'rec.script')
    samples = []
    with open(path) as file:
        for line in file:
            found = re.match(r'\S.*?(\d+)\.(\d{6}):\s+(\d+)\s+(\S+?):', line)
            if found:
                samples.append((int(found[1]) * 10**9 + int(found[2]) * 1000,
                                int(found[3]), found[4]))
    assert len(samples) > 10
    start = min(sample[0] for sample in samples)
    for event in {sample[2] for sample in samples}:
        result = subprocess.run(
            [CPPROF, '-q', '-n', '-F', 'json', '-e', 'resource ' + event, '-e',
             'timeline', path], capture_output=True, text=True, timeout=60)
        answer = json.loads(result.stdout.splitlines()[-1])
        for row in answer['rows']:
            assert row['hits'] == sum(
                period for at, period, name in samples if name == event and
                row['begin_ns'] <= at - start < row['end_ns']), (event, row)
        assert sum(row['hits'] for row in answer['rows']) == sum(
            period for _, period, name in samples if name == event)


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
    commands_agree_with_the_file,
    exports_and_views_agree,
    wrong_parts_are_refused,
    profiles_without_times_say_so,
    perf_script_has_times,
    a_bad_origin_is_not_used,
    slices_can_be_off,
)

if __name__ == '__main__':
    collector.REAL_PROGRAMS = ()
    sys.exit(collector.main())
