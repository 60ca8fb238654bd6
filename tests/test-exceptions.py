# SPDX-License-Identifier: GPL-3.0-or-later
"""test-exceptions.py -- floating-point exceptions, trapped and counted.

tests/programs/exceptions.c raises known numbers of them along known paths, and
does to its floating-point environment and signals what programs do.  Its
output and its end must be the same as without the collector.  Speaks TAP.
"""
import importlib
import os
import signal
import subprocess
import sys

collector = importlib.import_module('test-collector')
resources = importlib.import_module('test-resources')
Run, Skip = collector.Run, collector.Skip

PROGRAM = os.environ.get('CPPROF_EXCEPTIONS', os.path.join(
    collector.BUILD, 'tests', 'programs', 'exceptions'))
KINDS = {'by_division': 1, 'by_invalid': 2, 'by_overflow': 3,
         'by_underflow': 4, 'by_float': 8, 'by_conversion': 9}


def raised(mode, n, chosen='fp-exceptions:1', **environment):
    """A run, checked to be the same as one without the collector."""
    plain = subprocess.run([PROGRAM, mode, str(n)], capture_output=True,
                           stdin=subprocess.DEVNULL, timeout=60)
    run = Run(PROGRAM, mode, str(n), CPPROF_RESOURCES=chosen, **environment)
    assert (run.status, run.out, run.err) == \
        (plain.returncode, plain.stdout, plain.stderr), \
        (run.status, run.out, run.err, plain)
    return run


def need_traps():
    if resources.offered('fp-exceptions') == '':
        raise Skip('no traps of floating-point exceptions')


def each_kind_is_counted_where_it_is_raised():
    need_traps()
    n = 100
    profile = raised('kinds', n).one()
    for name, times in KINDS.items():
        found = profile.hits_with('run_kinds', name)
        assert found == n * times, (name, found)
    for name in 'by_tiny', 'by_inexact', 'by_denormal', 'by_x87':
        assert profile.hits_with(name) == 0, name
    vectors = profile.hits_with('by_vector')
    assert vectors in (0, n), vectors
    assert profile.hits == n * sum(KINDS.values()) + vectors


def an_interval_is_many():
    need_traps()
    n = 1000
    for interval, more, most in ((70, {}, 70), (70, {'CPPROF_RANDOM': '1'},
                                                5 * (n * 28 * 70) ** 0.5)):
        profile = raised('kinds', n, 'fp-exceptions:%d' % interval,
                         **more).one()
        found = profile.hits * interval
        expected = n * (sum(KINDS.values()) +
                        (profile.hits_with('by_vector') > 0))
        assert abs(found - expected) <= most, (found, expected)


def threads_and_children_have_theirs():
    need_traps()
    profile = raised('threads', 300).one()
    # A thread that finds another one working on the file postpones its sample.
    found = profile.hits_with('run_thread', 'by_invalid')
    assert found + profile.lost() >= 4 * 300 >= found, found
    found = profile.hits_with('run_threads', 'by_division')
    assert found + profile.lost() >= 300 >= found, found
    assert profile.hits + profile.lost() == 5 * 300
    run = raised('children', 50)
    assert sum(p.hits_with('run_children', 'by_division')
               for p in run.profiles) == 100
    assert sum(p.hits_with('run_children', 'by_invalid') for p in run.profiles) == 50
    run = raised('children', 50, CPPROF_ALONE='1')
    assert sum(p.hits for p in run.profiles) == 100


def what_the_program_traps_is_its_own():
    need_traps()
    run = raised('integer', 20)
    assert run.status == -signal.SIGFPE
    assert run.one().hits == run.one().hits_with('by_division') == 20
    run = raised('own', 20)
    assert b'signals 21\n' in run.out
    assert run.one().hits_with('by_division') >= 20
    run = raised('enabled', 20)
    assert run.status == -signal.SIGFPE and run.one().hits == 20


def the_environment_is_the_program_s():
    need_traps()
    profile = raised('environment', 50).one()
    assert profile.hits_with('by_division') >= 50
    assert profile.hits_with('by_overflow') >= 100


def counting_goes_on_at_a_tick():
    need_traps()
    profile = raised('again', 200).one()
    assert profile.hits_with('by_division') == 200
    assert profile.hits_with('by_invalid') == 200


def handlers_that_come_between_do_no_harm():
    need_traps()
    for chosen in 'fp-exceptions:1', 'fp-exceptions:10,cpu:100,page-faults:1':
        run = raised('alarms', 200, chosen)
        assert run.one().of('fp-exceptions').hits > 0


def other_sources_stay_exact():
    """Together with perf events, whose signal this uses, and intercepted
    system calls."""
    need_traps()
    n = 100
    for others in 'cpu:200,page-faults:1', 'syscalls:1,cpu:1000':
        run = raised('kinds', n, 'fp-exceptions:1,' + others)
        profile = run.one().of('fp-exceptions')
        found = sum(profile.hits_with(name) for name in KINDS)
        # An event's signal may swallow the end of an execution.
        expected = n * sum(KINDS.values())
        assert expected * 0.99 <= found <= expected, (found, expected)


CASES = (
    each_kind_is_counted_where_it_is_raised,
    an_interval_is_many,
    threads_and_children_have_theirs,
    what_the_program_traps_is_its_own,
    the_environment_is_the_program_s,
    counting_goes_on_at_a_tick,
    handlers_that_come_between_do_no_harm,
    other_sources_stay_exact,
)

if __name__ == '__main__':
    collector.CASES = CASES
    collector.REAL_PROGRAMS = ()
    sys.exit(collector.main())
