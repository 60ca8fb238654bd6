# SPDX-License-Identifier: GPL-3.0-or-later
"""test-stacks.py -- sampling on stacks of any kind.

tests/programs/stacks.c works on a thread's own stack, on one made by
makecontext, and on one that grows.  Whatever is sampled, as often as possible,
the program must end with the same output as without the collector, and nothing
that the collector does may be counted as the program's.  Speaks TAP.
"""
import ctypes
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import filters

collector = importlib.import_module('test-collector')
resources = importlib.import_module('test-resources')
Run, Skip = collector.Run, collector.Skip

STACKS = os.environ.get('CPPROF_STACKS', os.path.join(
    collector.BUILD, 'tests', 'programs', 'stacks'))
KINDS = ('own', 'foreign', 'growing')
CALLS = 20                      # of the system, a round
COLUMNS = 8                     # resources at once

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                       'lib', 'counts.def')) as file:
    LEAST = re.findall(r'COUNT\(\w+, "([a-z-]+)", "\w+", \d+, (\d+)',
                       file.read())


def mount_tracing():
    """Mounts tracefs for this process alone, if run by root; returns the
    tracepoint's number."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x20000) == 0:                      # CLONE_NEWNS
        libc.mount(None, b'/', None, 0x44000, None)     # private
        libc.mount(b'none', b'/sys/kernel/tracing', b'tracefs', 0, None)


def work(sampled, kind, rounds, pages, **keywords):
    """A run of the program, whose output must be the same as without the
    collector."""
    command = (STACKS, kind, str(rounds), str(pages))
    more = {name: value for name, value in keywords.items()
            if name.startswith('STACKS_')}
    plain = subprocess.run(command, capture_output=True,
                           env=dict(os.environ, **more), timeout=120)
    run = Run(*command, CPPROF_RESOURCES=sampled, **keywords)
    assert (run.status, run.out) == (plain.returncode, plain.stdout), \
        (sampled, kind, run.status, run.out, run.err)
    return run


def every_resource_can_be_sampled_at_its_least_interval():
    for name, least in LEAST:
        for kind in KINDS:
            work('%s:%s' % (name, least), kind, 40, 130, STACKS_REST='1',
                 before=mount_tracing)


def many_can_at_once():
    there = [(name, least) for name, least in LEAST
             if resources.offered(name) != '']
    for first in range(0, len(there), COLUMNS):
        sampled = ','.join('%s:%s' % one
                           for one in there[first:first + COLUMNS])
        for kind in KINDS:
            work(sampled, kind, 40, 130, STACKS_REST='1')
            work(sampled, kind, 40, 130, STACKS_REST='1', CPPROF_RANDOM='1')


def a_sample_may_look_at_as_many_pages_as_there_are_calls():
    for interval, pages in (16, 12), (16, 60), (100, 97), (100, 130):
        for kind in KINDS:
            work('syscalls:%d' % interval, kind, 50, pages,
                 before=mount_tracing)


def count_calls(interval, kind, source, others, **keywords):
    rounds = 500
    run = work('syscalls:%d%s' % (interval, others), kind, rounds, 60,
               **keywords)
    profile = run.one()
    if profile.resources[0].source != source:
        raise Skip('system calls come from ' + profile.resources[0].source)
    gticks = profile.hits_with('call_system') * interval
    # A sample that was put off counts at the next one.
    moved = sum(hits for why, (_, hits) in profile.drops.items()
                if why in ('unsafe', 'back-off'))
    resources.close(gticks, rounds * CALLS, interval + 3 + moved * interval)
    assert (profile.hits - 1) * interval <= rounds * CALLS + 150, profile.hits


def only_calls_of_the_program_count(source, before, others):
    for kind in KINDS:
        for interval in 16, 100:
            for more in others:
                count_calls(interval, kind, source, more, before=before)


OTHERS = ('', ',page-faults:1', ',cpu:100', ',allocs:1,bytes-read:1',
          ',real:100,context-switches:1')


def the_tracepoint_counts_calls_of_the_program_alone():
    only_calls_of_the_program_count('perf event', mount_tracing, OTHERS)


def dispatch_counts_the_same():
    only_calls_of_the_program_count('syscall user dispatch',
                                    filters.forbid_events,
                                    [other for other in OTHERS
                                     if 'faults' not in other])


def the_wrappers_count_the_same():
    only_calls_of_the_program_count('library calls that enter the kernel',
                                    filters.forbid_stopping_calls, [''])


def faults_and_bytes_of_the_collector_do_not_count():
    """How many faults the program takes without the collector is its own
    count: some kernels map several pages at a fault."""
    resources.need_events()
    for kind in KINDS:
        with tempfile.NamedTemporaryFile('r') as own:
            subprocess.run([STACKS, kind, '300', '60'], check=True, timeout=120,
                           stdout=subprocess.DEVNULL,
                           env=dict(os.environ, STACKS_REST='1',
                                    STACKS_FAULTS=own.name))
            expected = int(own.read())
        assert expected >= 300, expected
        run = work('page-faults:1,bytes-read:1,syscalls:16', kind, 300, 60,
                   STACKS_REST='1', before=mount_tracing)
        profile = run.one()
        faults = profile.of('page-faults')
        resources.close(faults.hits_with('use_the_rest'), expected, 30)
        resources.close(profile.of('bytes-read').hits_with('use_the_rest'),
                        300 * 64, 0)


WHOLE = {'no-rules', 'bad-rules', 'bad-stack', 'too-deep'}


def stacks_made_by_makecontext_are_whole():
    for kind in 'foreign', 'growing':
        for sampled in 'syscalls:16', 'allocs:1':
            profile = work(sampled, kind, 300, 60, STACKS_REST='1').one()
            assert not WHOLE & set(profile.drops), profile.drops
            inside = sum(hits for stack, hits in profile.stacks().items()
                         if stack[1:2] == ('run',))
            assert stack_roots(profile) <= {'libc.so.6', '_start', 'ld-linux'
                                            '-x86-64.so.2'}, profile.stacks()
            assert inside >= 0.9 * profile.hits, profile.stacks()


def contexts_of_makecontext_end_whole():
    """Where one ends, glibc goes to the next by a system call; what its tables
    then call a return address is the next context's address."""
    profile = work('syscalls:1', 'ending', 300, 1).one()
    assert not WHOLE & set(profile.drops), profile.drops
    ends = sum(hits for stack, hits in profile.stacks().items()
               if len(stack) == 2 and 'run' not in stack)
    assert ends >= 300, profile.stacks()


def stack_roots(profile):
    return {stack[0] for stack in profile.stacks()}


def compiled(command, directory, why, **environment):
    """A compiled program, or a reason to skip."""
    program = os.path.join(directory, 'program')
    try:
        done = subprocess.run([*command, '-o', program], cwd=directory,
                              capture_output=True,
                              env=dict(os.environ, **environment), timeout=120)
    except FileNotFoundError:
        raise Skip(why)
    if done.returncode != 0:
        raise Skip(why)
    return program


def stacks_of_boost_fibers_are_whole():
    root = os.path.join(collector.SOURCES, '..', '..')
    with collector.tempfile.TemporaryDirectory() as directory:
        program = compiled(
            ['g++', '-O2', '-I', os.path.abspath(root), '-x', 'c++',
             os.path.abspath(os.path.join(collector.SOURCES, 'fibers.cc')),
             '-x', 'none', '-lboost_context'], directory, 'no boost.context')
        run = Run(program)
        assert run.status == 0 and run.out == b'done\n'
        profile = run.one()
        # Not in the middle of a switch.
        partial = sum(profile.drops.get(why, (0, 0))[1] for why in WHOLE)
        assert partial <= 0.05 * profile.hits, profile.drops
        fibers = sum(hits for stack, hits in profile.stacks().items()
                     if stack[0].startswith('libboost_context') and
                     any('work_in_fiber' in name for name in stack))
        assert fibers >= 0.9 * profile.hits, profile.stacks()


def stacks_of_go_and_c_are_whole():
    with collector.tempfile.TemporaryDirectory() as directory:
        shutil.copy(os.path.join(collector.SOURCES, 'cgo.go'), directory)
        program = compiled(
            ['go', 'build', '-ldflags', '-linkmode=external'], directory,
            'no Go', CGO_ENABLED='1', GO111MODULE='off', GOFLAGS='',
            GOCACHE=os.path.join(directory, 'cache'))
        run = Run(program)
        assert run.status == 0 and run.err == b'done\n', run.err
        profile = run.one()
        stacks = profile.stacks()
        assert not any('igtramp' in stack[-1] for stack in stacks), stacks
        partial = sum(profile.drops.get(why, (0, 0))[1] for why in WHOLE)
        assert partial <= 0.05 * profile.hits, profile.drops
        for path in (('main.begin', 'main.workInGo'),
                     ('main.begin', 'work_in_c'),
                     ('main.begin', 'call_back', 'workInCallback',
                      'main.workInGo')):
            assert profile.hits_with('runtime.goexit.abi0', *path) > 0, \
                (path, stacks)


def stacks_of_go_s_own_threads_are_whole():
    """Linked by Go itself, C code has no unwind tables.  sysmon is a thread of
    the runtime; the first thread begins at Go's own entry point."""
    for how in 'internal', 'external':
        with collector.tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, 'cgo.go'), 'w') as file:
                file.write(SLEEPS)
            program = compiled(
                ['go', 'build', '-ldflags', '-linkmode=' + how], directory,
                'no Go', CGO_ENABLED='1', GO111MODULE='off', GOFLAGS='',
                GOCACHE=os.path.join(directory, 'cache'))
            # Ticks find a thread that sleeps in step with them by chance.
            for _ in range(8):
                profile = Run(program,
                              CPPROF_RESOURCES='cpu:1000,real:1000').one()
                stacks = [*profile.stacks(), *profile.of('real').stacks()]
                for name in 'runtime.sysmon', 'runtime.rt0_go.abi0':
                    found = [stack for stack in stacks if name in stack]
                    assert all(stack[0] != '[partial]' for stack in found), \
                        found
                if any('runtime.sysmon' in stack for stack in stacks):
                    break
            else:
                raise Skip('no tick finds runtime.sysmon')


SLEEPS = '''
package main

// static void in_c(void) { }
import "C"
import "time"

func main() {
	for start, s := time.Now(), 0; time.Since(start) < 2*time.Second; {
		for i := 0; i < 100000; i++ {
			s = s*31 + i
		}
		C.in_c()
		time.Sleep(50 * time.Microsecond)
	}
}
'''


def what_wrappers_do_is_no_call_of_the_program_s():
    """They read the clock, which the program does not."""
    profile = work('cpu:100,real:100,io-time:1', 'own', 4000, 3,
                   STACKS_REST='1').one()
    assert profile.hits_with('use_the_rest') > 0
    assert not any('linux-vdso' in name for stack in profile.stacks()
                   for name in stack), profile.stacks()


def keep_addresses():
    ctypes.CDLL(None).personality(0x40000)              # ADDR_NO_RANDOMIZE


def with_thread_sanitizer(source, *arguments):
    """Runs of a program by compiler: its output when run alone, and its
    command."""
    tried = 0
    for compiler in 'gcc', 'clang':
        with collector.tempfile.TemporaryDirectory() as directory:
            try:
                program = compiled(
                    [compiler, '-O1', '-fsanitize=thread', os.path.abspath(
                        os.path.join(collector.SOURCES, source))],
                    directory, 'no thread sanitizer')
            except Skip:
                continue
            command = (program, *arguments)
            plain = subprocess.run(command, capture_output=True,
                                   preexec_fn=keep_addresses, timeout=120)
            if plain.returncode == 0:
                tried += 1
                yield plain.stdout, command
    if tried == 0:
        raise Skip('no thread sanitizer')


def stacks_below_a_thread_sanitizer_are_whole():
    for plain, command in with_thread_sanitizer('stacks.c', 'own', '300',
                                                '30'):
        run = Run(*command, CPPROF_RESOURCES='cpu:500,page-faults:1',
                  before=keep_addresses)
        assert (run.status, run.out) == (0, plain), run.err
        profile = run.one()
        assert profile.of('page-faults').hits > 0
        assert not WHOLE & set(profile.drops), profile.drops


def time_below_a_thread_sanitizer_is_where_it_was_spent():
    """The sanitizer calls signal handlers later, at another place."""
    for _, command in with_thread_sanitizer('sanitized.c', 'parts', '500'):
        run = Run(*command, before=keep_addresses)
        profile = run.one()
        for name, used in zip(('add', 'fill'), map(int, run.out.split())):
            hits = profile.hits_with('main', name)
            expected = used / profile.interval
            assert abs(hits - expected) <= 4 * expected ** .5 + \
                .1 * expected, (name, hits, expected, profile.stacks())


def a_thread_sanitizer_s_locks_are_not_waited_for():
    for plain, command in with_thread_sanitizer('sanitized.c', 'threads',
                                                '2'):
        # Twice, since a run has few moments that matter.
        for resources in ('cpu:100', 'real:1000,cpu') * 2 + (
                'syscalls:50',):
            run = Run(*command, CPPROF_RESOURCES=resources,
                      before=keep_addresses)
            assert (run.status, run.out) == (0, plain), (resources, run.err)


def stacks_through_code_that_only_calls_are_whole():
    for before in None, mount_tracing:
        profile = work('syscalls', 'called', 200, 30, before=before).one()
        assert not WHOLE & set(profile.drops), profile.drops
        found = [stack for stack in profile.stacks() if 'run' in stack]
        assert found
        for stack in found:
            assert {'call_further', 'run_called', 'main'} <= set(stack), stack


def stacks_without_a_way_out_are_partial():
    """Or whole, where what the registers hold leads to the callers; then none
    of these is missing."""
    profile = work('syscalls', 'lost', 200, 30).one()
    found = {stack: n for stack, n in profile.stacks().items()
             if 'run' in stack}
    lost = sum(n for stack, n in found.items() if 'main' not in stack)
    assert found and profile.drops.get('no-rules', (0, 0))[1] == lost, \
        profile.drops
    for stack in found:
        assert 'main' not in stack or \
            {'call_further', 'run_called'} <= set(stack), stack


CASES = (
    stacks_through_code_that_only_calls_are_whole,
    stacks_without_a_way_out_are_partial,
    what_wrappers_do_is_no_call_of_the_program_s,
    stacks_below_a_thread_sanitizer_are_whole,
    time_below_a_thread_sanitizer_is_where_it_was_spent,
    a_thread_sanitizer_s_locks_are_not_waited_for,
    stacks_made_by_makecontext_are_whole,
    contexts_of_makecontext_end_whole,
    stacks_of_boost_fibers_are_whole,
    stacks_of_go_and_c_are_whole,
    stacks_of_go_s_own_threads_are_whole,
    every_resource_can_be_sampled_at_its_least_interval,
    many_can_at_once,
    a_sample_may_look_at_as_many_pages_as_there_are_calls,
    the_tracepoint_counts_calls_of_the_program_alone,
    dispatch_counts_the_same,
    the_wrappers_count_the_same,
    faults_and_bytes_of_the_collector_do_not_count,
)

if __name__ == '__main__':
    collector.CASES = CASES
    collector.REAL_PROGRAMS = ()
    sys.exit(collector.main())
