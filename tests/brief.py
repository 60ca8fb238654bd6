# SPDX-License-Identifier: GPL-3.0-or-later
"""brief.py -- processes and threads that live for a millisecond, and programs
that the collector cannot follow.

tests/programs/brief.c uses as much CPU time in hundreds of threads or processes
as in the main thread, and prints how much.  So the shares must agree,
whichever of them the ticks happen to find.  What cannot be sampled must be
reported; where perf events are allowed, it is sampled (descendants.py).  Speaks
TAP.
"""
import glob
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

from claims import rounds
from cpprof import TICK, children_seconds
from filters import forbid_events

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
BRIEF = os.path.join(BUILD, 'tests', 'programs', 'brief')
IN_SHELL = shlex.quote(BRIEF)
HOSTILE = os.path.join(BUILD, 'tests', 'programs', 'hostile')
NOBODY = 65534
N = rounds(250)


TESTS = []


def claim(test):
    """Makes a function one of the tests, in the order of their lines."""
    TESTS.append(test)
    return test


class Skip(Exception):
    """Why a test cannot run here."""


def heard(said):
    """What record says, line by line, but for where samples come from if not
    from perf events."""
    return [line for line in said.splitlines() if not line.startswith(
        'cpprof: cpu: from the thread CPU timer')]


class Recording:
    """The output of a recorded command, and its samples."""

    def __init__(self, *command, options=(), place_as_argument=False, **more):
        self.directory = tempfile.mkdtemp(prefix='cpprof-test-')
        if place_as_argument:
            command += (self.directory,)
        self.path = os.path.join(self.directory, 'p')
        before = children_seconds()
        result = subprocess.run(
            [CPPROF, 'record', '-o', self.path, *options, '--', *command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, **more)
        self.used = children_seconds() - before     # also by cpprof
        self.status = result.returncode
        self.out, self.said = result.stdout, result.stderr

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.directory, ignore_errors=True)

    def files(self):
        return [name for name in glob.glob(self.path + '/cpprofdata.*')
                if re.search(r'cpprofdata\.\d+(\.\d+)?$', name)]

    def functions(self, view='functions', resource='cpu'):
        """Hits of each function with its descendants, and of the run; in the
        view `flat` its own."""
        result = subprocess.run(
            [CPPROF, '-q', '-F', 'json', '-e', 'resource ' + resource, '-e',
             'threshold 0', '-e', view, self.path],
            capture_output=True, text=True,
            timeout=60, check=True)
        document = json.loads(result.stdout.splitlines()[-1])
        return {row['path'][-1]: row['hits'] for row in document['rows']}

    def programs(self, resource):
        """Hits of each program's processes."""
        result = subprocess.run(
            [CPPROF, '-q', '-F', 'json', '-e', 'resource ' + resource, '-e',
             'processes', self.path], capture_output=True, text=True,
            timeout=60, check=True)
        document = json.loads(result.stdout.splitlines()[-1])
        return {row['program']: row['hits'] for row in document['rows']}


def start_seconds():
    """CPU time of a process that only starts and ends."""
    before = children_seconds()
    for _ in range(20):
        subprocess.run(['/bin/true'], check=True)
    return (children_seconds() - before) / 20


def cluster(run, resource):
    """The sum of the samples' squared hits over their sum: the variance of
    hits over their mean.  A sample is one hit at first, later four; one of
    real time has those of waits of any length."""
    row = next(row for row in info(run.path)[0]['rows']
               if row['name'] == resource)
    if resource == 'real':
        return 2 * row['hits'] / row['samples']
    n_of_four = max(0, (row['hits'] - row['samples']) / 3)
    return (row['samples'] + 15 * n_of_four) / row['hits']


def agree(mode, *options, interval=1000, resource='cpu', at_least=()):
    """Functions have gticks / interval hits, within five standard errors."""
    with Recording(BRIEF, mode, str(N), resource, options=options) as run:
        assert run.status == 0, run.said
        used, brief = map(int, run.out.split())
        if resource == 'cpu' and 'may be wrong' in run.said and \
                start_seconds() > TICK:
            raise Skip('there are only ticks, and to start a process takes '
                       'longer than one')
        hits = run.functions(resource=resource)
        variance = cluster(run, resource)
        for name, gticks in (('spin_main', used), ('spin_brief', brief)):
            expected = gticks / interval
            found = most = hits.get(name, 0)
            # Of the long samples, their clocks include those that began there.
            if name == 'spin_brief':
                most += hits.get('[sampling]', 0)
            if name in at_least and found > expected:
                continue
            error = 5 * (expected * variance) ** .5
            assert found - error <= expected <= most + error, \
                (mode, name, found, most, expected, variance, run.said)


@claim
def brief_threads_count_what_they_use():
    agree('threads')


@claim
def brief_children_count_what_they_use():
    agree('children')


@claim
def children_that_leave_by__exit_do():
    agree('leaving')


@claim
def brief_programs_do():
    agree('programs')


@claim
def children_that_fail_to_execute_do():
    """As shells do along PATH: time without a sample is handed on only
    once."""
    agree('lookups')


@claim
def longer_intervals_do():
    agree('children', '-r', 'cpu:10ms', interval=10000)


# A thread that waits for a processor spends real time, which the next tick of
# CPU time finds there; how much depends on the machine.
EITHER = ('spin_main', 'spin_brief')


@claim
def brief_threads_count_their_real_time():
    agree('threads', '-r', 'real', interval=4000, resource='real',
          at_least=EITHER)


@claim
def brief_children_count_their_real_time():
    agree('children', '-r', 'real', interval=4000, resource='real',
          at_least=EITHER)


# What processes leave to others of the same recording: struct cpprof_shared.
GENEROUS = '''
import mmap, os, struct, subprocess, sys, time
subprocess.run([sys.argv[1], 'spin', '0.1'])
with open(os.environ['CPPROF_SHARED'], 'r+b') as file:
    memory = mmap.mmap(file.fileno(), 16384)
kinds = [at for at in range(192, 192 + 320 * 24, 24)
         if struct.unpack_from('Q', memory, at)[0] != 0]
assert kinds
for at in kinds:
    struct.pack_into('qq', memory, at + 8, int(sys.argv[2]), int(sys.argv[2]))
began = time.monotonic()
subprocess.run([sys.argv[1], 'spin', '100'])
print(time.monotonic() - began)
'''


@claim
def nobody_takes_more_than_a_second_of_others():
    for there in 1 << 62, 5 * 10 ** 9:
        with Recording(sys.executable, '-c', GENEROUS, BRIEF, str(there),
                       options=('-r', 'cpu', '-r', 'real')) as run:
            assert run.status == 0, run.said
            # By perf events none is taken.
            for name, least in ('cpu', 0.04), ('real', 1):
                second = 1e6 / next(row['interval'] for row in
                                    info(run.path)[0]['rows']
                                    if row['name'] == name)
                # A first tick may find the program before it spins.
                hits = run.programs(name)[os.path.basename(BRIEF)]
                assert least * second <= hits <= \
                    second * (1.3 + float(run.out)), (name, hits, run.out)


@claim
def processes_without_a_sample_have_no_file():
    """At an interval as long as many of them, few have a sample."""
    with Recording('sh', '-c', 'for i in $(seq 200); do /bin/true; done',
                   options=('-r', 'cpu:50ms')) as run:
        assert run.status == 0, run.said
        fields, _ = info(run.path)
        # The shell always has a sample.
        assert 1 <= len(run.files()) <= 1 + fields['samples'] < 200, \
            (run.files(), fields)


def script(*commands):
    """A shell script that is told where it is recorded."""
    return ('sh', '-c', '; '.join(commands))


TRUE = 'for i in $(seq 300); do /bin/true; done'


LOADING, FORKING, SAMPLING = range(3)
KINDS = '[loading]', '[forking]', '[sampling]'


def briefs(path):
    """The records of the file that processes share, read independently."""
    data = open(path + '/cpprofdata.brief', 'rb').read()
    assert len(data) % 256 == 0, len(data)
    return [struct.unpack_from('<II16sQQQQ198sB', data, at)
            for at in range(4096, len(data), 256)]


def info(path, *options):
    result = subprocess.run([CPPROF, '-q', '-F', 'json', '-e', 'info', *options,
                             path], capture_output=True, text=True, timeout=60)
    fields = json.loads(result.stdout.splitlines()[-1]) \
        if result.stdout else {}
    return fields, result


@claim
def loading_is_in_one_file():
    """Of longer processes, some have a file of their own, too."""
    with Recording(*script(TRUE, 'for i in $(seq 50); do %s spin 12; done' %
                           IN_SHELL)) as run:
        found = briefs(run.path)
        own = {struct.unpack_from('<I4xQ', open(name, 'rb').read(64), 40)
               for name in run.files()}
        both = own | {(brief[0], brief[3]) for brief in found}
        assert len(found) > 10 and len(both) > len(own), (found, own)
        for brief in found:
            # Children of a shell, before they execute something, and programs.
            names, files = ((b'sh',), (b'sh', b'dash', b'bash')) \
                if brief[8] in (FORKING, SAMPLING) else \
                ((b'true', b'seq', b'brief'),
                 (b'true', b'seq', b'brief', b'coreutils'))
            assert brief[2].rstrip(b'\0') in names, brief
            assert 0 < brief[4] < 10 ** 9 and brief[5] > 0 == brief[6] - 1, \
                brief
            assert os.path.basename(brief[7].rstrip(b'\0')) in \
                (*files, b'busybox'), brief
        functions = run.functions()
        for kind, name in enumerate(KINDS):
            hits = sum(brief[5] for brief in found if brief[8] == kind)
            assert functions.get(name, 0) >= hits, (name, functions, found)
        fields, _ = info(run.path)
        assert fields['processes'] == fields['threads'] == len(both), \
            (fields, both)
        assert '%d processes' % len(both) in run.said, (run.said, both)
        processes_are_entries(both, run.path)
        # The beginning of one that has a file, whether a tick found it or not.
        name = next(iter(run.files()))
        with open(name, 'r+b') as file:
            header = file.read(64)
            flags, pid, start = struct.unpack_from('<16xI20xI4xQ', header)
            file.seek(16)
            file.write(struct.pack('<I', flags | 1 << 12))
        if (pid, start) not in {(brief[0], brief[3]) for brief in found}:
            with open(run.path + '/cpprofdata.brief', 'ab') as file:
                file.write(struct.pack('<II16sQQQQ200s', pid, 1, b'brief',
                                       start, 1000, 7, 1, b'/bin/brief'))
        brief = run.path + '/cpprofdata.brief'
        processes_are_entries(both, *run.files(), brief)
        processes_are_entries(both, brief, *run.files())
        table = processes_are_entries(both, run.path)
        row = next(row for row in table['rows'] if row['pid'] == pid)
        assert row['threads'] == 1 and row['command'], row


def processes_are_entries(both, *files):
    """Each process is one, also if its beginning has a record of its own."""
    result = subprocess.run(
        [CPPROF, '-q', '-F', 'json', '-e', 'threshold 0', '-e', 'processes',
         '-e', 'processes all', *files], capture_output=True, text=True,
        timeout=60)
    by_program, table = map(json.loads, result.stdout.splitlines())
    # What is [unsampled] is of no process.
    assert sum(row['processes'] or 0 for row in by_program['rows']) == \
        len(both), (by_program, both)
    assert sorted(row['pid'] for row in table['rows'] if row['pid']) == \
        sorted(pid for pid, _ in both), (table, both)
    return table


@claim
def a_brief_file_that_is_cut_gives_what_is_whole():
    with Recording(*script(TRUE)) as run:
        path = run.path + '/cpprofdata.brief'
        before, _ = info(path)
        os.truncate(path, os.path.getsize(path) - 100)
        after, result = info(path)
        assert after['samples'] == before['samples'] - 1, (before, after)
        assert re.search('0x[0-9a-f]+: cut short', result.stderr), \
            result.stderr
        assert info(path)[1].returncode == 0


@claim
def a_recording_cut_to_nothing_is_an_error():
    with Recording(*script(TRUE)) as run:
        for name in glob.glob(run.path + '/cpprofdata*'):
            os.truncate(name, 4096 + 100)
        result = subprocess.run([CPPROF, '-q', run.path, '-e', 'top'],
                                capture_output=True, text=True)
        assert result.returncode == 1 and result.stdout == '', result
        assert 'no samples' in result.stderr or \
            'other file' in result.stderr, result


@claim
def others_file_in_its_place_is_left_alone():
    """A link, a file with another name, a cut one: then each process has a
    file."""
    with tempfile.TemporaryDirectory() as place:
        victim = place + '/victim'
        for how in ('ln -sf %s', 'ln -f %s', 'head -c 5000 /dev/zero >'):
            with open(victim, 'wb') as file:
                file.write(b'x' * 8192)
            how = how % victim if '%' in how else how
            with Recording(*script('%s "$0"/p/cpprofdata.brief' % how, TRUE),
                           place_as_argument=True) as run:
                assert run.status == 0, run.said
                assert open(victim, 'rb').read() == b'x' * 8192
                assert len(run.files()) > 10, (how, len(run.files()))
                os.unlink(run.path + '/cpprofdata.brief')
                assert run.functions()['[loading]'] > 10


@claim
def forks_and_ends_are_told():
    """Children that do nothing are work of the kernel and of the collector."""
    with Recording('sh', '-c', 'for i in $(seq 1000); do ( : ); done') as run:
        found = briefs(run.path)
        functions = run.functions()
        assert {FORKING, SAMPLING} & {brief[8] for brief in found}, found
        assert functions['[forking]'] > 0, functions
        # What the kernel's sum has more is in the header of this file.
        data = open(run.path + '/cpprofdata.brief', 'rb').read(4096)
        unsampled, = struct.unpack_from('<Q', data, 1216)
        assert functions['[unsampled]'] == unsampled > 0, functions


@claim
def ends_need_no_other_record():
    """Where the collector has not made the file, `record` does."""
    with Recording('sh', '-c', 'i=0; while [ $((i += 1)) -lt 1000 ]; do ( : ); '
                   'done; rm -f "$0"/p/cpprofdata.brief',
                   place_as_argument=True) as run:
        assert briefs(run.path) == [], briefs(run.path)
        assert run.functions()['[unsampled]'] > 0, run.functions()


@claim
def loading_is_told():
    """A script of short commands is mostly exec and the work of the loader."""
    with Recording('sh', '-c',
                   'for i in $(seq 400); do /bin/true; done') as run:
        assert '[loading]' in run.functions(), run.functions()


def missing(run, pattern):
    match = re.search(r'([\d.]+) of ([\d.]+) CPU s were not sampled: (.*)',
                      run.said)
    assert match, run.said
    assert re.search(pattern, match[3]), run.said
    lines = [line for line in run.said.splitlines()
             if 'forbids perf events' not in line]
    assert len(lines) <= 2, run.said
    assert 'almost no CPU time' not in run.said, run.said
    return float(match[1])


@claim
def another_environment_is_told():
    with Recording('sh', '-c', '%s spin 300; env -i %s spin 400' %
                   (IN_SHELL, IN_SHELL), preexec_fn=forbid_events) as run:
        time = missing(run, '^1 program was started with another environment')
        # At most everything that was used except 300 ms.
        assert 0.39 <= time <= run.used - 0.29, (run.said, run.used)


FAILING = '''
import os, sys
for path in '/none/such', '/none/such', sys.argv[1]:
    try:
        pid = os.posix_spawn(path, [path, 'spin', '400'], {})
        os.waitpid(pid, 0)
    except FileNotFoundError:
        pass
'''


@claim
def programs_that_could_not_be_spawned_are_none():
    with Recording(sys.executable, '-c', FAILING, BRIEF,
                   preexec_fn=forbid_events) as run:
        missing(run, '^1 program was started with another environment')


@claim
def bad_addresses_are_the_kernel_s_to_tell():
    """The collector reads the arguments of exec, which may be bad
    addresses."""
    plain = subprocess.run([HOSTILE, 'bad-exec'], capture_output=True,
                           text=True, timeout=120)
    with Recording(HOSTILE, 'bad-exec') as run:
        assert (run.status, run.out) == (plain.returncode, plain.stdout), \
            (run.status, run.out, plain)


@claim
def looking_at_what_is_executed_is_no_call_of_the_program():
    with Recording(BRIEF, 'missing', '100',
                   options=('-r', 'syscalls:1')) as run:
        found = run.functions('flat', 'syscalls')
        # Where system calls cannot be intercepted, those inside the C library
        # are not seen.
        assert found.get('execve', 100) == 100, found
        assert found.get('look_for_missing', 0) == 0, found


@claim
def a_tracer_of_record_itself_is_told():
    if shutil.which('strace') is None:
        raise Skip('strace is not installed')
    with tempfile.TemporaryDirectory() as place:
        result = subprocess.run(
            ['strace', '-f', '-o', '/dev/null', CPPROF, 'record', '-o',
             place + '/p', BRIEF, 'spin', '300'], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120)
        assert re.search('1 process was run by a debugger, strace',
                         result.stderr), result.stderr


@claim
def a_static_program_is_told():
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, 's.c')
        with open(source, 'w') as file:
            file.write('#include <time.h>\nint main(void) { while (clock() < '
                       '0.4 * CLOCKS_PER_SEC) ; return 0; }\n')
        if subprocess.run(['cc', '-static', '-o', place + '/s', source],
                          capture_output=True, timeout=120).returncode != 0:
            raise Skip('there is no static C library')
        with Recording('sh', '-c', place + '/s; true',
                       preexec_fn=forbid_events) as run:
            missing(run, '^1 program links statically')


@claim
def a_limit_on_files_is_told():
    with Recording('sh', '-c', 'ulimit -f 0; %s spin 400; true' %
                   IN_SHELL) as run:
        missing(run, r'^1 process could not write into the recording '
                     r'\(File too large\)')


@claim
def a_traced_process_is_told():
    if shutil.which('strace') is None:
        raise Skip('strace is not installed')
    with Recording('strace', '-o', '/dev/null', BRIEF, 'spin', '400') as run:
        missing(run, '^1 process was run by a debugger, strace or valgrind')


@claim
def a_program_that_confines_itself_is_told():
    for mode in ('confined', 'refused'):
        with Recording(BRIEF, mode, '400') as run:
            if run.status == 77:
                raise Skip('the kernel takes no seccomp filter')
            assert run.status == 0, (mode, run.said)
            missing(run, '^1 process forbade itself the system calls that '
                         'sampling needs')


@claim
def where_there_is_no_room_for_files_the_program_runs():
    """cpprof itself must not end by a signal."""
    with tempfile.TemporaryDirectory() as place:
        result = subprocess.run(
            ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh', CPPROF, 'record',
             '-o', place + '/p', '--', BRIEF, 'spin', '100'],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60)
        assert result.returncode == 0, result
        assert 'is not sampled' in result.stderr, result
        assert 'ulimit -f' in result.stderr, result
        assert os.listdir(place) == [], os.listdir(place)


@claim
def limits_on_files_mean_to_the_program_what_they_do():
    with Recording('sh', '-c', 'grep SigIgn /proc/self/status') as run:
        assert int(run.out.split()[1], 16) & 1 << 24 == 0, run.out


@claim
def a_directory_that_goes_is_told():
    with tempfile.TemporaryDirectory() as place:
        # (rm may itself have a sample, and so a file: it tries again.)
        gone = 'until rm -rf p 2>/dev/null; do :; done'
        for script in ('%(brief)s spin 200; ' + gone +
                       '; exec %(brief)s spin 200',
                       gone + '; %(brief)s spin 200; true',
                       'mv p q; exec %(brief)s spin 200'):
            result = subprocess.run(
                [CPPROF, 'record', '--force', '-o', 'p', '--', 'sh', '-c',
                 script % {'brief': IN_SHELL}], cwd=place, text=True,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            told = [line for line in heard(result.stderr)
                    if 'not sampling' not in line]
            assert told == ['cpprof: p and its samples are gone: it was removed '
                            'or moved while the program ran'], (script, result)


GONE = 'removed or overwritten while the program ran'


@claim
def a_file_that_goes_is_told():
    with tempfile.TemporaryDirectory() as place:
        recording = subprocess.Popen(
            [CPPROF, 'record', '-o', place + '/p', '--', BRIEF, 'spin', '1000'],
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)
        while not glob.glob(place + '/p/cpprofdata.*'):
            assert recording.poll() is None, recording.stderr.read()
        os.remove(glob.glob(place + '/p/cpprofdata.*')[0])
        said = recording.communicate(timeout=60)[1]
        assert heard(said) == ['cpprof: no samples: the files that held '
                               'them were ' + GONE], said


@claim
def files_of_some_processes_that_go_are_told():
    for script in ('%s spin 300; for f in p/cpprofdata.*; do : > $f; done',
                   '%s spin 300; rm p/cpprofdata.*; %s spin 300; true'):
        with tempfile.TemporaryDirectory() as place:
            result = subprocess.run(
                [CPPROF, 'record', '-o', 'p', '--', 'sh', '-c',
                 script.replace('%s', IN_SHELL)], cwd=place, text=True,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
            assert GONE in result.stderr, (script, result)


def processes(path, *commands):
    """Hits by the names in the view of processes."""
    words = [word for command in ('threshold 0', *commands, 'processes')
             for word in ('-e', command)]
    result = subprocess.run([CPPROF, '-q', '-F', 'json', *words, path],
                            capture_output=True, text=True, timeout=60)
    rows = json.loads(result.stdout.splitlines()[-1])['rows']
    return {row['program']: row['hits'] for row in rows}


@claim
def processes_that_name_themselves_are_apart():
    with Recording(BRIEF, 'titles', '200') as run:
        found = processes(run.path)
        names = {'brief: writer', 'brief-checker', 'brief'}
        assert set(found) == names, found
        for name in names:
            assert 120 < found[name] < 400, found      # hits of 1 ms
        left = {name: hits for name, hits in processes(
            run.path, 'narrow process |brief: writer|').items() if hits}
        assert left == {'brief: writer': found['brief: writer']}, left


@claim
def what_is_started_by_a_link_has_its_name():
    with tempfile.TemporaryDirectory() as place:
        link = os.path.join(place, 'redis-server')
        os.symlink(BRIEF, link)
        for command in ((link,), ('sh', '-c', 'cd %s; ./redis-server "$@"; '
                                  'true' % place, 'sh')):
            with Recording(*command, 'spin', '200') as run:
                found = processes(run.path)
                assert found.get('redis-server', 0) > 30, found
                assert 'brief' not in found, found
                assert 'spin_main' in run.functions(), run.functions()
        # Most of these have only a sample of their loading.
        link = os.path.join(place, 'a-shell')
        os.symlink(shutil.which('sh'), link)
        with Recording('sh', '-c', 'for i in $(seq 60); do "$0" -c :; done',
                       link) as run:
            found = processes(run.path)
            assert '[loading]' in run.functions(), run.functions()
            assert {'a-shell', 'sh'} <= set(found) <= {
                'a-shell', 'sh', 'seq', '[unknown]'}, found


@claim
def too_many_open_files_are_told():
    """Unless a sample of its loading has made its file before."""
    for _ in range(20):
        with Recording('sh', '-c', '%s full 400; true' % IN_SHELL,
                       options=('-r', 'cpu:20ms')) as run:
            if len(run.files()) < 2:
                missing(run, r'^1 process could not write into the recording '
                             r'\(Too many open files\)')
                return
    assert False, 'each had its file before its limit'


@claim
def what_was_not_sampled_before_an_exec_is_told():
    """The program that is executed could not write, either: one process."""
    loop = 'i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done'
    for _ in range(20):
        with Recording('sh', '-c', "sh -c 'ulimit -f 0; %s; exec sh -c "
                       "\"$0\"' '%s'; true" % (loop, loop),
                       options=('-r', 'cpu:20ms')) as run:
            if len(run.files()) < 2:
                time = missing(run, r'^1 process could not write into the '
                                    r'recording \(File too large\)')
                assert time > run.used / 2, (run.said, run.used)
                return
    assert False, 'each had its file before its limit'


@claim
def what_is_sampled_is_not_told_missing():
    with Recording(BRIEF, 'spin', '500') as run:
        assert 'not sampled' not in run.said, run.said


@claim
def what_was_killed_is_not_told_missing():
    """Its samples are there, although it could not report at its end."""
    with Recording('sh', '-c', '%s spin 60000 & sleep 2; kill -9 $!; wait' %
                   IN_SHELL) as run:
        assert 'not sampled' not in run.said, run.said
        assert 'sample' in run.said, run.said


@claim
def what_killed_processes_used_is_not_counted_twice():
    """They could not say what they had used, but their samples do."""
    with Recording('sh', '-c', 'for i in $(seq 40); do %s spin 60000 & '
                   'sleep 0.05; kill -9 $!; wait; done' % IN_SHELL) as run:
        functions = run.functions()
        assert functions['spin_main'] > 100, functions
        assert '[unsampled]' not in functions, functions


@claim
def samples_that_wait_for_the_end_of_a_fork_are_fork_s():
    """And not those of the handlers that it calls at its end."""
    with Recording('sh', '-c', 'i=0; while [ $i -lt 1000 ]; do ( : ); '
                   'i=$((i+1)); done') as run:
        names = [name for name in run.functions() if
                 re.fullmatch('(_*libc_)?v?fork', name)]
        own, inclusive = (sum(run.functions(view).get(name, 0)
                              for name in names)
                          for view in ('flat', 'functions'))
        assert own > .7 * inclusive > 20, (own, inclusive, names)


@claim
def next_to_no_time_is_a_hint():
    """On a busy machine even `true` may have two samples now and then, on a
    slow one always."""
    has_few = False
    for _ in range(20):
        with Recording('true') as run:
            assert 'not sampled' not in run.said, run.said
            if 'almost no CPU time' in run.said:
                return
            has_few |= re.search('(^| )[01] samples?', run.said) is not None
    assert not has_few, run.said
    raise Skip('here even `true` uses too much')


def root_only():
    if os.geteuid() != 0:
        raise Skip('only root can become somebody else')


@claim
def a_child_that_becomes_another_user_is_sampled():
    root_only()
    with Recording(BRIEF, 'as', str(NOBODY), '400') as run:
        assert run.status == 0, run.said
        assert run.functions().get('spin_brief', 0) >= 70, run.functions()
        assert 'not sampled' not in run.said, run.said


@claim
def a_child_below_another_root_is_sampled():
    root_only()
    with Recording(BRIEF, 'root', '400') as run:
        assert run.status == 0, run.said
        assert run.functions().get('spin_brief', 0) >= 70, run.functions()


@claim
def a_child_with_mounts_of_its_own_is_sampled():
    root_only()
    with tempfile.TemporaryDirectory() as place:
        script = 'mount -t tmpfs none %s && %s spin 400' % (place, IN_SHELL)
        if subprocess.run(['unshare', '-m', 'mount', '-t', 'tmpfs', 'none',
                           place], capture_output=True,
                          timeout=120).returncode != 0:
            raise Skip('no mounts of its own are allowed')
        with Recording('unshare', '-m', 'sh', '-c', script) as run:
            assert run.status == 0, run.said
            assert run.functions().get('spin_main', 0) >= 70, run.functions()
            assert 'not sampled' not in run.said, run.said


@claim
def a_child_of_a_raw_clone_is_told():
    with Recording(BRIEF, 'clone', '400') as run:
        assert run.status == 0, run.said
        missing(run, '')


@claim
def a_program_of_another_user_is_told():
    root_only()
    if shutil.which('setpriv') is None:
        raise Skip('setpriv is not installed')
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        program = shutil.copy(BRIEF, place)
        with Recording('setpriv', '--reuid=%d' % NOBODY, '--clear-groups',
                       program, 'spin', '400',
                       preexec_fn=forbid_events) as run:
            match = re.search('([\\d.]+) of [\\d.]+ CPU s were not sampled: '
                              '1 program was started by a process that had '
                              'become another user', run.said)
            assert match, run.said


# Page faults of a child: each costs it a microsecond or two.
FAULTS = '''
import os, resource, sys
def run(n):
    for _ in range(n):
        pid = os.fork()
        if pid == 0 and len(sys.argv) > 1:
            os.execv(sys.argv[1], sys.argv[1:])
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
before = run(10)
print((run(60) - before) / 60)
'''


def faults_more(*program):
    """Page faults that recording adds to a child: the least of some runs, less
    the least without.  Others only add to them: the kernel also maps the
    neighbours of a page, which depend on where the program lies, and may take
    pages away."""
    command = [sys.executable, '-c', FAULTS, *program]
    plain, recorded = [], []
    for _ in range(5):
        plain.append(float(subprocess.run(
            command, capture_output=True, text=True, check=True,
            timeout=120).stdout))
        # A child that is sampled has a file, too; at this interval none is.
        with Recording(*command, options=('-r', 'cpu:1000s')) as run:
            assert run.status == 0, run.said
            recorded.append(float(run.out))
    return min(recorded) - min(plain)


@claim
def a_child_touches_few_pages_of_ours():
    for most, *program in (14,), (36, '/bin/true'):
        more = faults_more(*program)
        assert more <= most, more


def main():
    failed = 0
    print('1..%d' % len(TESTS), flush=True)
    for number, test in enumerate(TESTS, 1):
        try:
            test()
            result, why = 'ok', ''
        except Skip as skip:
            result, why = 'ok', ' # SKIP %s' % skip
        except Exception:  # what went wrong is shown
            for line in traceback.format_exc().splitlines():
                print('# ' + line)
            result, why = 'not ok', ''
            failed += 1
        print('%s %d - %s%s' % (result, number, test.__name__, why))
        sys.stdout.flush()
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
