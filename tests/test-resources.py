# SPDX-License-Identifier: GPL-3.0-or-later
"""test-resources.py -- resources that the kernel counts.

tests/programs/consumer.c uses known amounts along known paths, and prints what
the kernel counted.  The profile must show the same, from perf events and,
where a filter forbids those, from counts read at ticks.  Speaks TAP.
"""
import importlib
import math
import os
import subprocess
import sys

from claims import rounds
from filters import forbid_events

collector = importlib.import_module('test-collector')
Run, Skip = collector.Run, collector.Skip

CONSUMER = os.environ.get('CPPROF_CONSUMER', os.path.join(
    collector.BUILD, 'tests', 'programs', 'consumer'))
COUNTERS = os.path.join(collector.BUILD, 'tests', 'programs', 'counters')
PROCESS_DB = os.path.join(collector.BUILD, 'sample-data', 'process_db')


def consume(resources, mode, argument, *below, **keywords):
    run = Run(*below, CONSUMER, mode, str(argument),
              CPPROF_RESOURCES=resources, **keywords)
    words = run.err.split()
    run.usage = dict(zip(('minor', 'major', 'voluntary', 'involuntary'),
                         map(int, words[-4:]))) if len(words) >= 4 else {}
    run.usage['switches'] = sum(run.usage.get(reason, 0)
                                for reason in ('voluntary', 'involuntary'))
    return run


def offered(resource, *below, **environment):
    """The source that the collector offers for a resource."""
    out = subprocess.run(
        [*below, CONSUMER], capture_output=True, text=True,
        env={**os.environ, 'CPPROF_OFFER': '1', 'CPPROF_RESOURCES': resource,
             **collector.PRELOAD, **environment}, timeout=120).stdout
    return out.split('\t')[1]


def need_events(resource='page-faults'):
    if offered(resource) != 'perf event':
        raise Skip('no perf events for ' + resource)


def gticks(profile, *names):
    return profile.hits_with(*names) * profile.interval


def total(profile):
    return (profile.hits + profile.lost()) * profile.interval


def close(found, expected, most_off):
    assert abs(found - expected) <= most_off, (found, expected)


def faults_are_where_they_happen():
    need_events()
    run = consume('page-faults:10', 'faults', 100)
    assert run.status == 0
    profile = run.one()
    resource = profile.resources[0]
    assert (resource.gtick, resource.interval) == ('fault', 10)
    assert resource.source == 'perf event' and not resource.is_coarse
    close(gticks(profile, 'touch_few', 'touch'), 100 * 100, 130)
    close(gticks(profile, 'touch_many', 'touch'), 100 * 300, 130)
    close(total(profile), run.usage['minor'] + run.usage['major'], 600)
    # A trap comes after 11 faults.
    assert profile.samples >= 0.9 * profile.hits


def all_at_once_begin_well():
    need_events('page-faults:1')
    for _ in range(rounds(12)):
        run = consume('page-faults:1,cpu:100,context-switches:1,user',
                      'faults', 1)
        assert run.status == 0 and run.profiles
        total = run.one().of('page-faults').hits
        assert 400 <= total <= 1500, total


def faults_of_both_kinds_add_up():
    need_events()
    run = consume('page-faults:1,minor-faults:1,major-faults:1', 'major', 400)
    assert run.status == 0
    profile = run.one()
    hits = {name: profile.of(name).hits
            for name in ('page-faults', 'minor-faults', 'major-faults')}
    close(hits['page-faults'], hits['minor-faults'] + hits['major-faults'], 5)
    close(hits['major-faults'], run.usage['major'], 30)
    if run.usage['major'] < 200:
        raise Skip('files here are in memory')
    close(profile.of('major-faults').hits_with('run_major'), 400, 40)


def switches_are_where_a_thread_waits():
    need_events('context-switches')
    run = consume('context-switches:1', 'naps', 200)
    assert run.status == 0
    profile = run.one()
    once = profile.hits_with('nap_once', 'nap')
    thrice = profile.hits_with('nap_thrice', 'nap')
    # On a busy machine a nap may be over before the thread has gone.
    most_others = max(run.usage['switches'] - 800, 0) + 10
    assert 195 <= once <= 200 + most_others, once
    assert 590 <= thrice <= 600 + most_others, thrice
    close(profile.hits, run.usage['switches'], 10)


def switches_are_told_apart_by_their_reason():
    """By the books of the thread, which naps and then gives way."""
    need_events('voluntary-switches')
    for interval in 1, 7:
        run = consume(f'voluntary-switches:{interval},'
                      f'involuntary-switches:{interval}', 'turns', 1000)
        assert run.status == 0, run.err
        books = [[int(n) for n in line.split()]
                 for line in run.out.splitlines()]
        for path, counts in zip(('wait_often', 'give_way'), books):
            for reason, true in zip(('voluntary', 'involuntary'), counts):
                found = gticks(run.one().of(reason + '-switches'), path)
                # Switches while a sample is taken are not the program's.
                close(found, true, 10 + interval + 0.02 * true)
        (naps, _), (_, ways) = books
        assert naps >= 990 and ways >= 100, books


def time_is_sampled_between_ticks():
    need_events('cpu:500')
    run = collector.target('spin', 500, CPPROF_RESOURCES='cpu:500')
    profile = run.one()
    assert profile.resources[0].source == 'perf event'
    assert profile.hits_with('main', 'run_spin', 'spin') >= 0.8 * profile.hits
    assert profile.samples >= 0.7 * profile.hits, \
        (profile.samples, profile.hits)


def intervals_do_not_keep_step():
    """One fault in fifty: periods of fifty would give all hits to one side."""
    need_events()
    for random in '0', '1':
        run = consume('page-faults:50', 'period', 60, CPPROF_RANDOM=random)
        profile = run.one()
        assert profile.resources[0].is_random or random == '0'
        one, rest = (profile.hits_with(name)
                     for name in ('touch_one', 'touch_rest'))
        # 6,000 intervals; a fiftieth of them, within five deviations.
        close(one + rest, 6000, 5 * math.sqrt(6000 / 3) + 10)
        close(one, 120, 5 * math.sqrt(120))


def powers_of_two_do_not_keep_step():
    """One of eight: each interval would give all hits to one side, or to both
    the same."""
    resources = {'alloc-bytes': 524288, 'allocs': 128, 'bytes-written': 65536,
                 'syscalls': 128}
    run = consume(','.join(f'{name}:{interval}' for name, interval in
                           resources.items()), 'powers', 4000)
    assert run.status == 0
    for name in resources:
        profile = run.one().of(name)
        one, seven = (profile.hits_with(part)
                      for part in ('use_one', 'use_seven'))
        assert one + seven >= 240, (name, one, seven)
        close(one, (one + seven) / 8, 5 * math.sqrt((one + seven) * 7 / 64))


def without_events_ticks_count():
    run = consume('page-faults:10,voluntary-switches:1,context-switches:1,'
                  'involuntary-switches:1,cpu:1000', 'faults', 400,
                  before=forbid_events)
    assert run.status == 0
    profile = run.one()
    faults = profile.of('page-faults')
    for resource in profile.resources[:4]:
        assert resource.is_coarse
        assert resource.source == "kernel's count at each tick"
    assert profile.resources[4].source == 'thread CPU timer'
    close(profile.of('context-switches').hits,
          sum(profile.of(reason + '-switches').hits
              for reason in ('voluntary', 'involuntary')), 10)
    close(faults.hits * 10, run.usage['minor'] + run.usage['major'], 10000)
    assert faults.hits_with('touch') >= 0.5 * faults.hits


def system_calls_are_counted_by_the_tracepoint():
    need_events('syscalls')
    run = consume('syscalls:21', 'calls', 20000)
    assert run.status == 0
    profile = run.one()
    close(gticks(profile, 'call_once'), 20000, 1000)
    close(gticks(profile, 'call_thrice'), 60000, 1000)


def system_calls_of_handlers_are_not_counted():
    for more, random in ((',page-faults:1', '0'), (',cpu:1000', '0'),
                         ('', '1')):
        run = consume('syscalls:1' + more, 'calls', 5000,
                      CPPROF_RANDOM=random)
        assert run.status == 0
        profile = run.one()
        close(gticks(profile, 'call_once'), 5000, 250)
        close(gticks(profile, 'call_thrice'), 15000, 250)


def what_is_not_there_is_not_recorded():
    for name in ('cycles', 'instructions', 'cache-misses', 'branch-misses'):
        if offered(name) != '':
            run = collector.target('spin', 200, CPPROF_RESOURCES=name)
            assert run.status == 3 and run.one().hits > 0
            continue
        run = consume(name, 'faults', 1)
        assert run.status == 0 and not run.profiles
        assert b'cpprof: not sampling: ' in run.err


def counters_of_the_processor_are_sampled():
    """By events of the kernel in their place: tests/programs/counters.c."""
    need_events()
    there = {'LD_PRELOAD': '',
             'COUNTERS_PRELOAD': collector.PRELOAD['LD_PRELOAD']}
    if offered('cycles', COUNTERS, **there) != 'perf event':
        raise Skip('system calls cannot be changed here')
    run = Run(COUNTERS, collector.TARGET, 'shares', '1000',
              CPPROF_RESOURCES='cycles:1000000', **there)
    assert (run.status, run.one().resources[0].source) == (0, 'perf event')
    # A cycle is a nanosecond there.
    ms = (run.one().hits + run.one().lost()) * run.one().interval / 1e6
    assert 838 <= ms <= 1540, ms
    assert 0 not in [run.one().hits_with('run_shares', f'share_{share}', 'work')
                     for share in (10, 20, 30, 40)], run.one().stacks()
    # On a busy machine samples are postponed, and their hits go elsewhere.
    for random, most in ('0', 2000), ('1', 6000):
        run = consume('cache-misses:100', 'faults', 100, COUNTERS,
                      CPPROF_RANDOM=random, **there)
        close(total(run.one()), run.usage['minor'], most)
        assert gticks(run.one(), 'touch') >= 20000


def closed_descriptors_do_not_stop_events():
    need_events()
    run = consume('page-faults:10', 'close', 100)
    assert run.status == 0
    close(gticks(run.one(), 'run_close', 'touch'), 40000, 200)
    run = consume('page-faults:10', 'close', 100, CPPROF_RANDOM='1')
    assert run.status == 0
    close(gticks(run.one(), 'run_close', 'touch'), 40000, 4000)


def short_threads_count_as_much_as_they_use():
    """400 faults each, an interval of 1000: two of five are seen."""
    need_events()
    run = consume('page-faults:1000', 'threads', 300)
    assert run.status == 0
    close(gticks(run.one(), 'fault_in_thread'), 300 * 400, 45000)


def children_count_their_own():
    need_events()
    run = consume('page-faults:10', 'fork', 50)
    assert run.status == 0 and len(run.profiles) == 2
    for profile in run.profiles:
        close(gticks(profile, 'run_fork', 'touch'), 20000, 400)


def exec_takes_no_trap_along():
    need_events('page-faults:1')
    with collector.tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, 'static')
        if subprocess.run(['cc', '-static', '-o', program, '-x', 'c', '-'],
                          input=b'int main(int n) { return n + 40; }',
                          capture_output=True, timeout=120).returncode != 0:
            raise Skip('no static libc')
        for resources in ('page-faults:1', 'context-switches:1', 'cpu:100'):
            for _ in range(rounds(8)):
                run = consume(resources, 'exec', 5, CONSUMER_EXEC=program)
                assert run.status == 43, (resources, run.status)
        profile = consume('page-faults:1', 'exec', 5,
                          CONSUMER_EXEC=program).one()
        close(gticks(profile, 'run_exec', 'touch'), 4000, 400)


def the_program_keeps_its_own_traps():
    plain = subprocess.run([CONSUMER, 'traps', '5'], capture_output=True,
                           timeout=120)
    assert b'not reached' not in plain.stdout and plain.returncode == -5
    for resources in ('page-faults:3', 'page-faults:100,cpu:200', 'cpu'):
        run = consume(resources, 'traps', 5)
        assert (run.status, run.out) == (plain.returncode, plain.stdout), \
            (resources, run.status, run.out)


def the_first_sort_faults_and_the_second_does_not():
    """As the paper of 1993 found it, section 4."""
    need_events()
    run = Run(PROCESS_DB, '0.2', CPPROF_RESOURCES='cpu,page-faults:10')
    assert run.status == 0, run.err
    faults = run.one().of('page-faults')
    first = faults.hits_with('uniquify_db', 'quick_sort')
    second = faults.hits_with('print_salary_list', 'quick_sort')
    assert first >= 100 and second <= 0.02 * first, (first, second)


def time_is_not_drawn_to_where_faults_are():
    """replace_cluster has half of the time, but hardly any faults."""
    need_events('cpu:1000')
    shares = []
    for resources in 'cpu:1000', 'cpu:1000,page-faults:10':
        run = Run(PROCESS_DB, '0.2', CPPROF_RESOURCES=resources)
        assert run.status == 0, run.err
        cpu = run.one().of('cpu')
        shares.append((cpu.hits_with('quick_sort', 'replace_cluster'),
                       cpu.hits_with('quick_sort')))
    (one, n), (other, m) = shares
    assert min(n, m) >= 100, shares
    # Five standard errors of halves.  If drawn to the faults, it has next to none.
    assert abs(one / n - other / m) < 2.5 * math.sqrt(1 / n + 1 / m), shares


CASES = (
    faults_are_where_they_happen,
    all_at_once_begin_well,
    faults_of_both_kinds_add_up,
    switches_are_where_a_thread_waits,
    switches_are_told_apart_by_their_reason,
    time_is_sampled_between_ticks,
    intervals_do_not_keep_step, powers_of_two_do_not_keep_step,
    without_events_ticks_count,
    system_calls_are_counted_by_the_tracepoint,
    system_calls_of_handlers_are_not_counted,
    what_is_not_there_is_not_recorded,
    counters_of_the_processor_are_sampled,
    closed_descriptors_do_not_stop_events,
    short_threads_count_as_much_as_they_use,
    children_count_their_own,
    exec_takes_no_trap_along,
    the_program_keeps_its_own_traps,
    the_first_sort_faults_and_the_second_does_not,
    time_is_not_drawn_to_where_faults_are,
)

if __name__ == '__main__':
    collector.CASES = CASES
    collector.REAL_PROGRAMS = ()
    sys.exit(collector.main())
