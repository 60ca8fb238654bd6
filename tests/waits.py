# SPDX-License-Identifier: GPL-3.0-or-later
"""waits.py -- waits that are still going on when a program ends, or when its
profile is opened.

tests/programs/waiter.c prints the time at which each of its threads began to
wait.  So all of them must have waited until the same moment: when the program
ended, in whatever way, or when the profile was opened.  Speaks TAP.
"""
import glob
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from collector_file import Profile

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
WAITER = os.path.join(BUILD, 'tests', 'programs', 'waiter')
PATIENCE = 60

# How long after its message a thread may make its call, in ns, beside the time
# for which it waits for a processor.
LATE = 150000000


class Recording:
    """A program under `cpprof record -r real:1ms`, until it prints `until`."""

    def __init__(self, *words, until, resources=('real:1ms',),
                 program=(WAITER,)):
        self.directory = tempfile.TemporaryDirectory(prefix='cpprof-test-')
        self.path = os.path.join(self.directory.name, 'p')
        chosen = [word for name in resources for word in ('-r', name)]
        self.process = subprocess.Popen(
            [CPPROF, 'record', '-o', self.path, *chosen, *program, *words],
            cwd=self.directory.name, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE,
                                                  (0, 0)))
        self.began = {}
        self.late = LATE    # ns
        self.read_until(until)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for stream in (self.process.stdin, self.process.stdout,
                       self.process.stderr):
            stream.close()
        self.process.wait(timeout=120)
        self.directory.cleanup()

    def read_until(self, word):
        line = b''
        while word not in self.began:
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        PATIENCE)
            assert ready, ('nothing more was said', self.began)
            byte = os.read(self.process.stdout.fileno(), 1)
            assert byte, ('ended', self.began, self.process.stderr.read())
            line += byte
            if byte == b'\n':
                name, ns = line.split()
                self.began[name.decode()] = int(ns)
                line = b''
        self.note_delays()

    def note_delays(self):
        """Some threads may have waited for a processor."""
        delays = [0]
        for path in glob.glob(f'/proc/{self.pid()}/task/*/schedstat'):
            try:
                with open(path, encoding='ascii') as file:
                    delays.append(int(file.read().split()[1]))
            except OSError:
                pass    # it has ended
        self.late = LATE + max(delays)

    def last_to(self, hits, began, earliest, latest):
        """Checks that each wait, of hits of 1 ms, lasted until between the two
        moments."""
        for name, n in hits.items():
            end = began[name] + n * 1000000
            assert earliest - self.late <= end <= latest + self.late, \
                (name, n, (end - earliest) / 1e6, (latest - earliest) / 1e6)

    def files(self):
        return [os.path.join(self.path, name)
                for name in sorted(os.listdir(self.path))
                if name.startswith('cpprofdata.') and name[-1].isdigit()]

    def pid(self):
        """The pid of the program, which may have children with files."""
        return self.profile().pid

    def kill(self, number):
        """Kills the program; returns the time."""
        self.note_delays()
        before = time.monotonic_ns()
        os.kill(self.pid(), number)
        self.wait()
        return before, time.monotonic_ns()

    def wait(self):
        self.process.wait(timeout=PATIENCE)

    def profile(self):
        return next(profile for profile in map(Profile, self.files())
                    if profile.parent == self.process.pid)

    def run(self, *commands):
        words = [word for command in commands for word in ('-e', command)]
        result = subprocess.run([CPPROF, '-q', '-F', 'json', *words,
                                 self.path], capture_output=True, text=True,
                                timeout=PATIENCE, stdin=subprocess.DEVNULL)
        assert result.returncode == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]


def hits_of(functions):
    """Hits by name of the view of functions."""
    return {row['path'][0]: row['hits'] for row in functions['rows']}


def every_way_to_wait_is_seen(recording, how):
    time.sleep(1)
    before, after = recording.kill(how)
    ways = {name: ns for name, ns in recording.began.items()
            if name.startswith('by_')}
    assert len(ways) >= 20
    profile = recording.profile()
    hits = {name: profile.hits_with(name) for name in ways}
    recording.last_to(hits, ways, before, after)
    # The analyser says the same of all files, and when it ended.  (The child
    # that is waited for was forked there.)
    info, functions = recording.run('info', 'threshold 0', 'functions')
    by_name = hits_of(functions)
    profiles = [Profile(file) for file in recording.files()]
    for name in ways:
        in_files = sum(one.hits_with(name) for one in profiles)
        assert by_name.get(name, 0) == in_files >= hits[name], \
            (name, by_name.get(name), in_files, hits[name])
    # A thread's hits are the time that it has lived.
    for number, thread in profile.threads.items():
        lived = (profile.gone_mono - profile.start_mono -
                 (thread.start - profile.start)) / 1e6
        found = sum(node.hits for node in profile.nodes.values()
                    if node.owner == number)
        assert abs(found - lived) <= 2 + recording.late / 1e6, \
            (thread, found, lived)
    return info


def killed(number):
    def case():
        with Recording('kinds', until='ready') as recording:
            every_way_to_wait_is_seen(recording, number)
    case.__name__ = 'waits_are_seen_after_' + signal.Signals(number).name
    return case


def deadlocked(number):
    def case():
        with Recording('deadlock', until='take_second') as recording:
            recording.read_until('take_first')
            time.sleep(0.5)
            before, after = recording.kill(number)
            began = dict(recording.began)
            profile = recording.profile()
            hits = {name: profile.hits_with(name, 'take', 'libc.so.6')
                    for name in ('take_first', 'take_second')}
            # Their first locks were free; 200 ms of each were a sleep.
            recording.last_to(hits, began, before, after)
            recording.last_to({'main': profile.hits_with('run_deadlock')},
                              began, before, after)
            functions, = recording.run('functions')
            by_name = hits_of(functions)
            assert by_name['pthread_mutex_lock'] == sum(hits.values()), by_name
    case.__name__ = 'a_deadlock_is_seen_after_' + signal.Signals(number).name
    return case


def a_deadlock_is_seen_after_its_recorder_was_killed_too():
    with Recording('deadlock', until='take_second') as recording:
        recording.read_until('take_first')
        late = max(recording.began.values()) + 1000000000
        deadline = time.monotonic() + PATIENCE
        while recording.profile().seen_mono < late:
            assert time.monotonic() < deadline, 'no sign of life was noted'
            time.sleep(0.05)
        # Kill the recorder first, which would record the end.
        pid = recording.pid()
        recording.process.kill()
        recording.wait()
        os.kill(pid, signal.SIGKILL)
        profile = recording.profile()
        hits = {name: profile.hits_with(name, 'take', 'libc.so.6')
                for name in ('take_first', 'take_second')}
        recording.last_to(hits, recording.began, profile.seen_mono,
                          profile.seen_mono)


def left(how):
    def case():
        with Recording('leave', how, '400', until='leaves') as recording:
            recording.wait()
            after = time.monotonic_ns()
            began = dict(recording.began)
            before = began.pop('leaves')
            profile = recording.profile()
            hits = {name: profile.hits_with(name)
                    for name in ('by_semaphore', 'by_poll')}
            recording.last_to(hits, began, before, after)
            if how in ('exit', '_exit', 'quick_exit', 'exec'):
                assert before <= profile.end_mono <= after
            # The CPU time is up to date, too, and not zero.
            assert 0 < profile.cpu_ns < after - before + 400000000
    case.__name__ = 'waits_last_up_to_' + how
    return case


def a_server_is_seen_while_it_runs():
    with Recording('kinds', until='ready') as recording:
        time.sleep(0.3)
        ways = {name: ns for name, ns in recording.began.items()
                if name.startswith('by_')}
        before = time.monotonic_ns()
        first, second = recording.run('threshold 0', 'functions',
                                      'shell sleep 0.7', 'reload',
                                      'functions')
        after = time.monotonic_ns()
        first, second = (
            {name: hits_of(view).get(name, 0) for name in ways}
            for view in (first, second))
        recording.last_to(first, ways, before, after - 700000000)
        recording.last_to(second, ways, before + 700000000, after)
        for name in ways:
            assert second[name] - first[name] >= 700, (name, first, second)


def watch_shows_what_waits():
    with Recording('deadlock', until='take_second') as recording:
        recording.read_until('take_first')
        watch = subprocess.Popen(
            [CPPROF, '-q', '-e', 'unit hits',
             '-e', 'watch 0.2 functions take_first', recording.path],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        seen = []

        def look(line):
            seen.extend(map(int, re.findall(r' take_first \[(\d+)\]', line)))

        deadline = time.monotonic() + PATIENCE
        while len(seen) < 4 and time.monotonic() < deadline:
            look(watch.stdout.readline())
        os.kill(recording.pid(), signal.SIGKILL)
        recording.wait()
        for line in watch.stdout:
            look(line)
        assert watch.wait(timeout=PATIENCE) == 0
        assert len(seen) >= 4 and seen == sorted(seen), seen
        assert seen[-1] - seen[0] >= 300, seen


def a_storm_of_waits_hides_none_that_lasts():
    with Recording('storm', '200000', until='ready') as recording:
        time.sleep(0.5)
        before, after = recording.kill(signal.SIGKILL)
        profile = recording.profile()
        hits = sum(n for stack, n in profile.stacks().items()
                   if 'run_storm' in stack and 'wait_below' not in stack)
        recording.last_to({'ready': hits}, recording.began, before - 5000000,
                          after)


def io_time_has_reads_that_do_not_return():
    with Recording('kinds', until='ready',
                   resources=('io-time:1ms',)) as recording:
        time.sleep(0.5)
        before, after = recording.kill(signal.SIGKILL)
        profile = recording.profile()
        hits = {name: profile.hits_with(name)
                for name in ('by_read', 'by_recv', 'by_getchar')}
        recording.last_to(hits, recording.began, before, after)
        assert profile.hits_with('by_poll') == 0


def waits_that_nobody_measures_are_time_without_a_sample():
    with Recording('unseen', until='park_later') as recording:
        time.sleep(0.7)
        before, after = recording.kill(signal.SIGKILL)
        began = (recording.began['park_at_once'] +
                 recording.began['park_later'])
        profile = recording.profile()
        found = profile.unsampled['real'] * 1000000
        assert 2 * (before - recording.late) - began <= found <= \
            2 * (after + recording.late) - began, (found, before, after, began)
        info, functions = recording.run('info', 'functions')
        assert hits_of(functions)['[no sample]'] == profile.unsampled['real']
        # They do not count as samples, whose number would otherwise fall
        # later.
        assert info['samples'] == profile.samples
        text = recording.process.stderr.read().decode()
        assert '%d samples of' % profile.samples in text, text


def a_worker_that_was_killed_waits_no_longer():
    script = '"$0" kinds & sleep 1; kill -9 $!; echo killed 0; sleep 1'
    with Recording(WAITER, until='killed',
                   program=('sh', '-c', script)) as recording:
        after = time.monotonic_ns()
        recording.wait()
        # In the background its input is empty.
        began = {name: ns for name, ns in recording.began.items()
                 if name.startswith('by_') and name != 'by_getchar'}
        profile, = (profile for profile in map(Profile, recording.files())
                    if profile.hits_with('by_poll'))
        hits = {name: profile.hits_with(name) for name in began}
        recording.last_to(hits, began, after - 100000000, after)


def cancelled_threads_keep_their_waits():
    with Recording('leave', 'cancel', '400', until='leaves') as recording:
        recording.wait()
        began = dict(recording.began)
        before = began.pop('leaves')
        profile = recording.profile()
        hits = {name: profile.hits_with(name)
                for name in ('by_semaphore', 'by_poll')}
        recording.last_to(hits, began, before, profile.end_mono)
        # Of some 800 ms.  Cancelled threads may wait for a processor before they
        # end; up to two lose that time.
        end_ms = (profile.end_mono - before) / 1e6
        assert profile.lost() <= 2 * end_ms + 20, (profile.drops, end_ms)


CASES = (
    killed(signal.SIGINT), killed(signal.SIGTERM), killed(signal.SIGKILL),
    deadlocked(signal.SIGINT), deadlocked(signal.SIGTERM),
    deadlocked(signal.SIGKILL),
    a_deadlock_is_seen_after_its_recorder_was_killed_too,
    left('exit'), left('_exit'), left('quick_exit'), left('abort'),
    left('exec'),
    cancelled_threads_keep_their_waits,
    a_worker_that_was_killed_waits_no_longer,
    waits_that_nobody_measures_are_time_without_a_sample,
    a_server_is_seen_while_it_runs,
    watch_shows_what_waits,
    a_storm_of_waits_hides_none_that_lasts,
    io_time_has_reads_that_do_not_return,
)


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    # What a shell ignores for programs in the background would not end it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    cases = [case for case in CASES
             if not sys.argv[1:] or case.__name__ in sys.argv[1:]]
    print('1..%d' % len(cases))
    for number, case in enumerate(cases, 1):
        try:
            case()
            print('ok %d - %s' % (number, case.__name__))
        except Exception:
            print('not ok %d - %s' % (number, case.__name__))
            for line in traceback.format_exc().splitlines():
                print('# ' + line)
        sys.stdout.flush()


if __name__ == '__main__':
    main()
