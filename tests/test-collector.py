# SPDX-License-Identifier: GPL-3.0-or-later
"""test-collector.py -- real programs under the preloaded collector.

Each case starts a program with the library preloaded and checks the result:
the program must not have noticed, and the profile must show what the program
did.  Speaks TAP.
"""
import math
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import traceback

from collector_file import Profile
from cpprof import TICK, children_seconds, for_preload

BUILD = os.environ.get('builddir', '.')
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs')
LIBRARY = os.environ.get('CPPROF_LIBRARY',
                         os.path.join(BUILD, '.libs', 'libcpprof.so.0'))
TARGET = os.environ.get('CPPROF_TARGET',
                        os.path.join(BUILD, 'tests', 'programs', 'target'))
PRELOAD = {'LD_PRELOAD': for_preload(LIBRARY)}


class Skip(Exception):
    pass


class Run:
    """One run of a program under the collector, and its profiles."""

    def __init__(self, *command, before=None, directory=True, **environment):
        self.directory = tempfile.mkdtemp(prefix='cpprof-test-')
        output = self.directory if directory else '/nonexistent/cpprof'
        used = children_seconds()
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=600, preexec_fn=before,
            env={**os.environ, 'CPPROF_OUTPUT': output, **PRELOAD,
                 **environment})
        self.cpu_ms = 1000 * (children_seconds() - used)
        self.status, self.out, self.err = \
            result.returncode, result.stdout, result.stderr
        names = sorted(os.listdir(self.directory))
        self.modes = [stat.S_IMODE(os.stat(os.path.join(
            self.directory, name)).st_mode) for name in names]
        self.names = names
        self.profiles = [Profile(os.path.join(self.directory, name))
                         for name in names]
        shutil.rmtree(self.directory)

    def one(self):
        assert len(self.profiles) == 1, self.names
        return self.profiles[0]


def target(mode, *arguments, **keywords):
    return Run(TARGET, mode, *map(str, arguments), **keywords)


def about(hits, ms, profile, most_ms=0):
    """Checks that hits, including lost ones, stand for that CPU time, or for
    any time up to most_ms."""
    found = (hits + profile.lost()) * profile.interval / 1000
    most = max(ms * 1.5, most_ms) + 40
    assert ms * 0.85 - 12 <= found <= most, (hits, found, ms, most)


def spinning_is_sampled():
    run = target('spin', 400)
    assert (run.status, run.out, run.err) == (3, b'spun\n', b'')
    assert run.modes == [0o600]
    profile = run.one()
    about(profile.hits_with('main', 'run_spin', 'spin'), 400, profile)
    assert profile.arguments == [TARGET, 'spin', '400']
    assert os.path.samefile(profile.string(profile.executable_at), TARGET)
    assert profile.string(profile.directory_at) == os.getcwd()
    assert profile.end > profile.last_sample > profile.start
    assert len(profile.data) == profile.used
    assert [thread.flags for thread in profile.threads.values()] == [1]


def call_paths_have_their_shares():
    run = target('shares', 2000)
    assert (run.status, run.out) == (0, b'shared\n')
    profile = run.one()
    assert profile.hits > 400
    # Samples have one hit at first, later four, or as many as a tick has.
    bunch = max(4, 1e6 * TICK / profile.interval)
    for share in (10, 20, 30, 40):
        hits = profile.hits_with('run_shares', 'share_%d' % share, 'work')
        expected = profile.hits * share / 100
        deviation = math.sqrt(bunch * expected * (1 - share / 100))
        assert abs(hits - expected) <= 5 * deviation, (share, hits, expected)


def returns_are_counted():
    """After each sample below a function of known share, that function returns
    once."""
    profile = target('shares', 1000, CPPROF_RETURNS='1').one()
    assert profile.flags == 1
    samples = sum(node.samples for node in profile.nodes.values()
                  if profile.name(node) == 'work')
    returns = sum(node.returns for node in profile.nodes.values()
                  if profile.name(node).startswith('share_'))
    assert samples > 50
    assert samples * 0.8 <= returns <= samples, (samples, returns)
    profile = target('shares', 100).one()
    assert profile.flags == 0
    assert all(node.returns == 0 for node in profile.nodes.values())


# The program says itself how much CPU time it used.
CONSTRUCTED = '''
#include <pthread.h>
#include <stdio.h>
#include "spin.h"
void spin_early(void) { spin(200); sink++; }
static void *run(void *argument) { spin_early(); return argument; }
static pthread_t thread;
__attribute__((constructor)) static void begin(void)
{
    pthread_create(&thread, 0, run, 0);
    spin_early();
}
__attribute__((destructor)) static void end(void)
{
    struct timespec used;
    spend(200, 20000, spin_round);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    dprintf(1, "%ld", used.tv_sec * 1000 + used.tv_nsec / 1000000);
}
void join(void) { pthread_join(thread, 0); }
'''


def constructors_and_destructors_are_sampled():
    with tempfile.TemporaryDirectory() as directory:
        library = os.path.join(directory, 'libearly.so')
        program = os.path.join(directory, 'early')
        for name, text, more in (
                (library, CONSTRUCTED, ['-shared', '-fPIC']),
                (program, 'void join(void); int main(void) { join(); }',
                 [library])):
            if subprocess.run(['cc', '-O2', '-x', 'c', '-o', name, '-', '-x',
                               'none', '-I', SOURCES, *more],
                              input=text.encode(),
                              capture_output=True,
                              timeout=120).returncode != 0:
                raise Skip('no C compiler')
        run = Run(program)
    assert (run.status, run.err) == (0, b'')
    profile = run.one()
    assert profile.n_threads == 2 and profile.n_unsampled == 0
    used = int(run.out)
    assert used >= 600, used
    about(profile.hits, used, profile)
    assert not any(stack[0] == '[partial]' for stack in profile.stacks())


def the_interval_is_obeyed():
    profile = target('spin', 300, CPPROF_RESOURCES='cpu:20000').one()
    assert profile.interval == 20000
    # 15, whose places are drawn.
    assert 3 <= profile.samples <= profile.hits <= 40, profile.hits
    profile = target('spin', 300, CPPROF_RESOURCES='cpu:1000').one()
    about(profile.hits, 300, profile)
    assert profile.samples < profile.hits or profile.hits > 200


def deep_recursion_is_whole():
    run = target('recursion', 100000)
    assert (run.status, run.out) == (0, b'recursed\n')
    profile = run.one()
    assert 100003 <= profile.depth() <= 100008, profile.depth()
    # On a slow machine, to walk so many frames takes much time.
    about(profile.hits, 400, profile, run.cpu_ms)
    assert 'bad-stack' not in profile.drops and \
        'too-deep' not in profile.drops


def threads_in_turn_share_a_tree():
    run = target('threads', 100)
    assert (run.status, run.out) == (0, b'threads done\n')
    profile = run.one()
    assert profile.n_threads == 102 and profile.n_unsampled == 0
    # A thread that is sampled before it has named itself begins another tree.
    assert len(profile.threads) <= 20, len(profile.threads)
    records = [t for t in profile.threads.values() if t.name == 'worker']
    assert 80 <= sum(t.n_threads for t in records) <= 100
    assert all(t.end > t.start for t in records)
    workers = profile.hits_with('worker', 'spin')
    about(workers, 2000, profile)
    assert profile.hits_with('worker_c11', 'spin') > 0
    assert not any('libcpprof.so' in stack for stack in profile.stacks())


def exits_and_cancelled_threads_end_well():
    run = target('ends')
    assert (run.status, run.out) == (0, b'11\n')
    profile = run.one()
    assert profile.hits_with('exit_early', 'spin') > 0
    assert profile.hits_with('be_cancelled', 'spin') > 0


def forked_children_have_their_own_file():
    run = target('fork')
    assert (run.status, run.out) == (0, b'child 9\n')
    assert len(run.profiles) == 2, run.names
    parent = [p for p in run.profiles if p.hits_with('in_child') == 0]
    child = [p for p in run.profiles if p.hits_with('in_child') > 0]
    assert len(parent) == len(child) == 1
    assert child[0].parent == parent[0].pid
    assert child[0].n_threads == 1
    about(child[0].hits_with('in_child', 'spin'), 80, child[0])
    about(parent[0].hits, 80, parent[0])


def a_slow_fork_ends():
    run = target('big-fork', 600)
    assert (run.status, run.out) == (0, b'big fork 1\n')


def exec_leaves_the_earlier_file():
    run = target('exec')
    assert (run.status, run.out) == (3, b'spun\n')
    assert [name.count('.') for name in run.names] == [1, 2], run.names
    first, second = run.profiles
    assert first.pid == second.pid and first.end == 0
    about(first.hits_with('run_exec', 'spin'), 100, first)
    about(second.hits_with('run_spin', 'spin'), 100, second)


def exec_of_a_static_program_leaves_the_file():
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, 'static.c')
        program = os.path.join(directory, 'static')
        with open(source, 'w') as file:
            file.write('int main(void) { return 5; }\n')
        if subprocess.run(['cc', '-static', '-o', program, source],
                          capture_output=True, timeout=120).returncode != 0:
            raise Skip('no static libc')
        run = Run('sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); '
                  'done; exec ' + program)
    assert run.status == 5
    assert run.one().hits > 0


def spawned_programs_are_sampled():
    run = target('spawn')
    assert (run.status, run.out) == (0, b'spun\nspawned 3\n')
    assert len(run.profiles) == 2
    assert sorted(p.arguments[1] for p in run.profiles) == ['spawn', 'spin']


def a_kill_loses_nothing():
    run = target('kill', 300)
    assert run.status == -9
    profile = run.one()
    assert profile.end == 0
    about(profile.hits_with('run_kill', 'spin'), 300, profile)


def kills_at_any_time_leave_a_profile():
    for i in range(20):
        directory = tempfile.mkdtemp(prefix='cpprof-test-')
        child = subprocess.Popen(
            [TARGET, 'close-all', '5000'], stdout=subprocess.DEVNULL,
            env=dict(os.environ, CPPROF_OUTPUT=directory,
                     CPPROF_RESOURCES='cpu:1000', **PRELOAD))
        time.sleep(0.003 + 0.004 * i)
        for name in os.listdir(directory):  # while it runs
            path = os.path.join(directory, name)
            if os.path.getsize(path) > 0:
                with open(path, 'rb') as file:
                    assert file.read(8) in (b'cpprof\r\n', bytes(8))
        child.kill()
        child.wait(timeout=120)
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            with open(path, 'rb') as file:
                begun = file.read(8) == b'cpprof\r\n'
            if begun:
                Profile(path)
        shutil.rmtree(directory)


def blocking_all_signals_does_not_stop_it():
    run = target('block-all', 200)
    assert (run.status, run.out) == (0, b'blocked 1\n')
    about(run.one().hits, 200, run.one())


def the_program_may_use_every_signal():
    run = target('actions', 200)
    assert (run.status, run.out) == (0, b'mine 1, caught 63\n')
    about(run.one().hits, 200, run.one())


def a_handler_of_our_signal_runs_with_the_mask_of_its_action():
    run = target('handler-mask', 100)
    plain = subprocess.run([TARGET, 'handler-mask', '100'], check=True,
                           capture_output=True).stdout
    assert plain == (b'2 times, 1 deep, blocked 3, then 1\n'
                     b'2 times, 2 deep, blocked 3, then 1\n'), plain
    assert (run.status, run.out) == (0, plain)
    about(run.one().hits, 100, run.one())


def our_signal_from_elsewhere_acts_as_without_us():
    run = target('default-action', 50)
    assert run.status == -63
    assert run.one().hits > 0


def a_blocked_signal_waits_as_without_us():
    run = target('blocked-signal', 30)
    assert (run.status, run.out) == \
        (0, b'pending 1, got 63 with 7, caught 0 then 63\n'), run.out


def debugged_programs_are_left_alone():
    if shutil.which('gdb') is None:
        raise Skip('gdb not found')
    run = Run('gdb', '-q', '-batch', '-nx', '-ex', 'set confirm off', '-ex',
              'run', '--args', TARGET, 'spin', '100')
    assert b'exited with code 03' in run.out, (run.out, run.err)
    assert b'SIG63' not in run.out
    assert not any(p.arguments[0] == TARGET for p in run.profiles)


def closed_descriptors_do_not_matter():
    run = target('close-all', 100)
    assert (run.status, run.out) == (0, b'closed, first 3\n')
    profile = run.one()
    assert 'lost-full' not in profile.drops
    assert len(profile.data) > 65536 and profile.depth() > 400


def calls_are_not_interrupted():
    run = target('poll', 500)
    assert (run.status, run.out) == (0, b'failed 0\n')
    about(run.one().hits, 500, run.one())


def a_file_size_limit_is_kept():
    run = target('small-file', 100000)
    assert (run.status, run.out) == (0, b'limited\n')
    profile = run.one()
    assert len(profile.data) <= 100000 and profile.hits > 0
    assert profile.drops['lost-full'][1] > 0


def unloaded_modules_are_closed():
    run = target('load', 30)
    assert (run.status, run.out) == (0, b'loaded 1\n')
    profile = run.one()
    loaded = [m for m in profile.modules.values()
              if 'libm.so' in profile.string(m.path)]
    # A sample while it is loaded can find its code mapped and no module yet.
    assert 1 <= len(loaded) <= 2 and max(m.n_opened for m in loaded) > 1
    assert all(m.closed > 0 for m in loaded) and profile.n_closed > 1
    assert all(len(m.build_id) in (0, 16, 20)
               for m in profile.modules.values())


def an_unusable_directory_costs_one_line():
    run = target('spin', 20, directory=False)
    assert (run.status, run.out) == (3, b'spun\n')
    assert run.err.count(b'\n') == 1 and run.err.startswith(b'cpprof: ')
    run = target('spin', 20, directory=False, CPPROF_LAUNCHER='1')
    assert (run.status, run.out, run.err) == (3, b'spun\n', b'')
    run = target('spin', 20, CPPROF_RESOURCES='cpu:nonsense')
    assert (run.status, run.out) == (3, b'spun\n')
    assert run.err.count(b'\n') == 1 and not run.profiles


def little_address_space_is_enough():
    def limit():
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
    run = target('spin', 100, before=limit)
    assert (run.status, run.out) == (3, b'spun\n')
    about(run.one().hits, 100, run.one())


PIPELINE = '''
for i in 1 2 3 4 5 6 7 8; do
	seq 1 40000 | sort -r --parallel=2 | awk '{ s += $1 % 97 } END { print s }'
	x=$(echo $i | tr 1-8 a-h); echo $x; (exit $i) || echo status $?
done
trap 'echo bye; exit 4' EXIT
'''

REAL_PROGRAMS = (
    ('sort', ['sort', '-k2', '--parallel=2', '-S', '1M', '@data']),
    ('python3', ['python3', '-c', 'import json,threading,subprocess,hashlib\n'
                 't=[threading.Thread(target=lambda: print(hashlib.sha1('
                 'json.dumps(list(range(99999))).encode()).hexdigest()))'
                 ' for _ in "12"]\n'
                 '[(x.start(), x.join()) for x in t]\n'
                 'print(subprocess.run(["sh","-c","exit 6"]).returncode)\n'
                 'raise SystemExit(9)']),
    ('perl', ['perl', '-e', '$SIG{ALRM}=sub{print "alarm\\n"; exit 3};'
              '$x{$_ % 977} .= $_ for 1..300000; print length $x{5}, "\\n";'
              'alarm 1; sleep 9']),
    ('bash', ['bash', '-c', PIPELINE]),
    ('git', ['git', 'diff', '--no-index', '--stat', '@data', '@other']),
    ('gcc', ['gcc', '-O2', '-S', '-o', '-', '@source']),
    ('tar', ['sh', '-c', 'tar cf - @data | gzip -1 | gzip -t; echo $?']),
)


def a_real_program(command, directory):
    """Expects the same output and status with and without the collector."""
    data = os.path.join(directory, 'data')
    source = os.path.join(directory, 'source.c')
    other = os.path.join(directory, 'other')
    if not os.path.exists(data):
        with open(data, 'w') as file:
            for i in range(60000):
                file.write('%d %d line\n' % (i, i * 7919 % 60013))
        with open(other, 'w') as file:
            for i in range(60000):
                file.write('%d %d line\n' % (i, i * 7919 % 60013 // 3 * 3))
        with open(source, 'w') as file:
            for i in range(150):
                file.write('int f%d(int *p, int n) { int s = 0; for (int i = '
                           '0; i < n; i++) s += p[i] * %d + (s >> 3); return '
                           's; }\n' % (i, i))
    command = [word.replace('@data', data).replace('@source', source)
               .replace('@other', other) for word in command]
    if shutil.which(command[0]) is None:
        raise Skip(command[0] + ' not found')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    plain = subprocess.run(command, stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=120)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = Run(*command)
    assert run.status == plain.returncode, (run.status, plain.returncode)
    assert run.out == plain.stdout
    assert run.err == plain.stderr, run.err
    # A program that ends within some ticks may have no sample.
    if after.ru_utime - before.ru_utime > 0.1:
        assert sum(profile.hits for profile in run.profiles) > 0
    partial = {stack: hits for profile in run.profiles
               for stack, hits in profile.stacks().items()
               if stack[0] == '[partial]'}
    hits = sum(profile.hits for profile in run.profiles)
    assert sum(partial.values()) <= 2 + hits / 50, (partial, hits)


CASES = (
    spinning_is_sampled,
    call_paths_have_their_shares,
    returns_are_counted,
    constructors_and_destructors_are_sampled,
    the_interval_is_obeyed,
    deep_recursion_is_whole,
    threads_in_turn_share_a_tree,
    exits_and_cancelled_threads_end_well,
    forked_children_have_their_own_file,
    a_slow_fork_ends,
    exec_leaves_the_earlier_file,
    exec_of_a_static_program_leaves_the_file,
    spawned_programs_are_sampled,
    a_kill_loses_nothing,
    kills_at_any_time_leave_a_profile,
    blocking_all_signals_does_not_stop_it,
    the_program_may_use_every_signal,
    a_handler_of_our_signal_runs_with_the_mask_of_its_action,
    our_signal_from_elsewhere_acts_as_without_us,
    a_blocked_signal_waits_as_without_us,
    debugged_programs_are_left_alone,
    closed_descriptors_do_not_matter,
    calls_are_not_interrupted,
    a_file_size_limit_is_kept,
    unloaded_modules_are_closed,
    an_unusable_directory_costs_one_line,
    little_address_space_is_enough,
)


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return 0
    directory = tempfile.mkdtemp(prefix='cpprof-test-')
    cases = [(case.__name__, case) for case in CASES]
    for name, command in REAL_PROGRAMS:
        cases.append((name + '_is_undisturbed',
                      lambda command=command: a_real_program(command,
                                                             directory)))
    wanted = sys.argv[1:]
    cases = [c for c in cases if not wanted or c[0] in wanted]
    print('1..%d' % len(cases))
    for i, (name, case) in enumerate(cases, 1):
        try:
            case()
            print('ok %d - %s' % (i, name), flush=True)
        except Skip as reason:
            print('ok %d - %s # SKIP %s' % (i, name, reason), flush=True)
        except Exception:
            print('not ok %d - %s' % (i, name))
            for line in traceback.format_exc().splitlines():
                print('# ' + line, flush=True)
    shutil.rmtree(directory)
    return 0


if __name__ == '__main__':
    sys.exit(main())
