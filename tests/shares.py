# SPDX-License-Identifier: GPL-3.0-or-later
"""shares.py -- CPU time is where the program says that it was used.

tests/programs/scripted.c does what a script says and keeps books by the CPU
clocks of its threads; recordings must show the same shares, with each way of
sampling CPU time, for root and for an ordinary user, wherever in the life of a
thread or process a part lies.  tests/judge.py decides.  Speaks TAP.

    shares.py [WORD...]         only the cases that have a word in their name
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import cpprof
import judge
from claims import Claims
from filters import forbid_events

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
NOBODY = 65534
NEEDED = ('cpprof', '.libs/libcpprof.so.0', 'tests/programs/scripted')
# Where a user's perf events do not see the kernel.  Timers keep step with ticks,
# which may find there all or nothing of what a handler uses.
AT_TICKS = 'hits in the kernel, placed by its ticks: too many or too few ' \
    'where a program keeps step with them'
# Hits of a sample, at most, of a perf event: its interval becomes so many times
# as long after the first second.
PACE = 4
# Of its CPU time.  A thread that lost its processor begins again with a tick, so
# that short ones keep step with ticks.
MOST_WAITED = 0.05
SAME_WORK = {'part_a', 'part_b', 'part_c', 'part_d'}
KERNEL_PARTS = {'part_reads', 'part_faults', 'part_calls'}

claims = Claims()


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


ROOT, USER = 'root', 'an ordinary user'
TICKS, OUTSIDE = 'without perf events', 'from outside'
BEFORE = {ROOT: None, USER: become_nobody, TICKS: forbid_events,
          OUTSIDE: None, OUTSIDE + ', ' + USER: become_nobody}


@contextlib.contextmanager
def copies():
    """What is needed, where any user can execute it: the build may be in a
    private folder."""
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as folder:
        os.chmod(folder, 0o755)
        for name in NEEDED:
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copy(os.path.join(BUILD, name), path)
            os.chmod(os.path.dirname(path), 0o755)
            os.chmod(path, 0o755)
        yield folder


@contextlib.contextmanager
def loops(n):
    """So many, on one processor with what is run meanwhile."""
    if n == 0:
        yield
        return
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    running = [subprocess.Popen(['sh', '-c', 'while :; do :; done'])
               for _ in range(n)]
    try:
        yield
    finally:
        os.sched_setaffinity(0, processors)
        for loop in running:
            loop.kill()
            loop.wait()


class Recorded:
    """What a program's books say, and its recording.  Of a program that runs
    already, what it did before is not in the recording, so that its script has
    to do the same all the time."""

    def __init__(self, folder, script, options, user):
        command = [os.path.join(folder, 'tests/programs/scripted'), script]
        with tempfile.TemporaryDirectory(dir=folder) as output:
            os.chmod(output, 0o777)
            path = os.path.join(output, 'r')
            record = [os.path.join(folder, 'cpprof'), 'record', '--no-prompt',
                      *options, '-o', path]
            more = {'stdin': subprocess.DEVNULL, 'text': True, 'cwd': output,
                    'preexec_fn': BEFORE[user]}
            if OUTSIDE in user:
                with subprocess.Popen(command, stdout=subprocess.PIPE,
                                      **more) as program:
                    run = subprocess.run(
                        [*record, '-p', str(program.pid)], check=False,
                        timeout=600, capture_output=True, **more)
                    books = program.communicate()[0]
            else:
                run = subprocess.run([*record, '--', *command], check=False,
                                     timeout=600, capture_output=True, **more)
                books = run.stdout
            assert run.returncode == 0, run.stderr
            self.books = json.loads(books)
            self.read(path)

    def read(self, path):
        info, = cpprof.documents(path, 'info')
        seconds = info['duration'] * os.cpu_count()
        assert info['cpu_seconds'] <= 1.01 * seconds + 0.1, info
        row = next(row for row in info['rows'] if row['name'] == 'cpu')
        self.source, self.interval = row['source'], row['interval']
        self.hits, self.samples = row['hits'], row['samples']
        self.at_ticks = info['tallies'].get(AT_TICKS, 0) / max(self.hits, 1)
        self.parts = {}
        for line in cpprof.text(path, 'resource cpu',
                                'export collapsed').splitlines():
            stack, _, hits = line.rpartition(' ')
            part = next((name for name in reversed(stack.split(';'))
                         if name.startswith('part_')), None)
            self.parts[part] = self.parts.get(part, 0) + int(hits)

    def bunch(self):
        """Samples of one hit and of `most` at the mean that is known: the mean
        square over the mean.  Where ticks find only the kernel, its parts have
        the hits of a whole tick in each sample."""
        most = max(PACE, 1e6 * cpprof.TICK / self.interval)
        if 'ticks' in self.source and KERNEL_PARTS & set(self.parts):
            return most
        return 1 + most * (1 - self.samples / max(self.hits, 1))

    def shares(self):
        """A count for each part but the last, which follows from the others.
        Parts that do the same work have its shares, whatever the collector did
        within them; others those of their time."""
        used = self.books['parts']
        unit = 'pieces' if set(used) <= SAME_WORK else 'ns'
        whole = sum(part[unit] for part in used.values())
        of = sum(hits for part, hits in self.parts.items() if part in used)
        tolerance = judge.SHARE + (self.at_ticks if 'part_rest' in used else 0)
        return {part: judge.Share(self.parts.get(part, 0), of,
                                  used[part][unit] / whole, self.bunch(),
                                  tolerance)
                for part in sorted(used)[:-1]}

    def total(self):
        """All CPU time."""
        return judge.Amount.drawn(
            self.hits, self.books['cpu_ns'] / 1000 / self.interval,
            self.bunch())


BESIDE = 'beside two loops'
SHORT = 'repeat {n} {{ %s {{ a %s b %s }} %s }}'
MIX = 'repeat {n} {{ any {{ a ~400us reads ~400us faults ~400us ' \
    'calls ~400us }} }}'
# Name, script, its first n, options, whether its total is claimed: the start of
# a process is in its CPU time, but not sampled.  With EACH_MS, samples are of one
# hit, so that a quarter of the time decides, and with OFTEN a sixteenth; the
# default interval has five cases.  LONG cases are only tried at length.
EACH_MS = ('-F', '1000')
OFTEN = ('-F', '4000')
LONG = 'at length'
CASES = (
    ('kinds of work', MIX, 12000, (), True),
    ('kinds of work, each millisecond, ' + LONG, MIX, 8000, EACH_MS, True),
    ('kinds of work, at the smallest interval', MIX, 2000,
     ('-r', 'cpu:100'), True),
    ('kinds of work, at random', MIX, 2000, ('--random', *OFTEN), True),
    ('kinds of work beside page faults', MIX, 2400,
     ('-r', 'cpu:250', '-r', 'page-faults:20'), True),
    ('kinds of work beside others', MIX, 4000,
     ('-r', 'cpu:500', '-r', 'context-switches:1', '-r', 'real'), True),
    ('threads, 1 ms and 2', SHORT % ('thread 1', '1ms', '2ms', 'join'), 2400,
     (), True),
    ('threads, 2 ms and 1, ' + LONG, SHORT % ('thread 1', '2ms', '1ms',
     'join'), 1200, EACH_MS, True),
    ('threads of 450 us', SHORT % ('thread 1', '150us', '300us', 'join'),
     8000, EACH_MS, False),
    ('forked, 1 ms and 2, ' + LONG, SHORT % ('fork 1', '1ms', '2ms', ''),
     1000, (), False),
    ('forked, 2 ms and 1', SHORT % ('fork 1', '2ms', '1ms', ''), 1200,
     EACH_MS, False),
    ('alike in parent and child', 'repeat {n} {{ a 2ms fork 1 {{ b 2ms }} }}',
     1200, EACH_MS, True),
    ('alike in a thread and its child, ' + LONG, 'thread 1 {{ repeat {n} {{ a '
     '2ms fork 1 {{ b 2ms }} }} }} join', 800, EACH_MS, True),
    ('executed by vfork, 1 ms and 2', SHORT % ('vfork', '1ms', '2ms', ''),
     1200, EACH_MS, False),
    ('spawned, 2 ms and 1, ' + LONG, SHORT % ('spawn', '2ms', '1ms', ''),
     1200, EACH_MS, False),
    ('a pool of eight, ' + LONG, 'thread 8 {{ repeat {n} {{ calls 300us '
     'b 900us lock {{ a 20us }} }} }} join', 300, (), True),
    ('a pool of eight', 'thread 8 {{ repeat {n} {{ calls 300us b 900us '
     'lock {{ a 20us }} }} }} join', 130, OFTEN, True),
    ('a handler of an interval timer', 'itimer 5ms {n} {{ a 500us }}', 250,
     OFTEN, True),
    # Handlers of a thread that shares its processor run first when it goes on.
    ('a handler of an interval timer, ' + BESIDE, 'itimer 10ms {n} {{ a '
     '500us }}', 1500, (), True),
    ('a handler of a timer, ' + LONG, 'timer 10ms {n} {{ a 500us }}', 500,
     EACH_MS, True),
    # More often, a stack as deep is beyond what sampling may cost.
    ('deep in recursion', 'repeat {n} {{ any {{ deep 2000 {{ a ~3ms }} deep '
     '10 {{ b ~3ms }} }} }}', 2400, EACH_MS, True),
)
# Where ticks find the kernel or all, hits come in bunches, and a case takes
# longer to decide.
OF_USER = {'kinds of work', 'threads, 1 ms and 2', 'alike in parent and child',
           'a pool of eight', 'a handler of an interval timer'}
WITH_TICKS = {'threads, 1 ms and 2', 'a pool of eight'}
if judge.IS_LONG:
    OF_USER |= {'kinds of work, at random'}
    WITH_TICKS |= {'kinds of work'}
# An ordinary user may not see the kernel from outside.
COMPUTING = 'repeat {n} {{ any {{ a ~400us b ~400us c ~800us }} }}'
# An interval of each thread has no sample, mostly the first one.
CASES_OUTSIDE = (
    ('kinds of work', MIX, 6000, EACH_MS, False),
    ('kinds of computing', COMPUTING, 5000, EACH_MS, False),
    ('threads, 20 ms and 40, ' + LONG, SHORT % ('thread 1', '20ms', '40ms',
     'join'), 60, EACH_MS, False),
    ('forked, 40 ms and 20', SHORT % ('fork 1', '40ms', '20ms', ''), 60,
     EACH_MS, False),
    ('a pool of eight', 'thread 8 {{ repeat {n} {{ b 300us c 900us lock {{ a '
     '20us }} }} }} join', 300, EACH_MS, False),
)


def check_case(folder, user, name, script, n, options, has_total):
    title = f'{name}, {user}'
    if user in (TICKS, USER) and 'calls' in script:
        n *= 2 if script == MIX else 5
    elif user == TICKS:
        n *= 2

    def measure(times):
        with loops(2 if BESIDE in name else 0):
            run = Recorded(folder, script.format(n=n * times), options, user)
        waited = run.books['waited_ns'] / run.books['cpu_ns']
        if user == TICKS and 'thread 1 ' in script and waited > MOST_WAITED:
            raise judge.Disturbed(f'the program waited {waited:.2f} times as '
                                  'long for a processor as it ran')
        counts = {f'share of {part}: {title}': count
                  for part, count in run.shares().items()}
        if has_total:
            counts[f'total: {title}'] = run.total()
        return counts
    names = [f'share of {part}: {title}' for part in parts_of(script)]
    if has_total:
        names.append(f'total: {title}')
    judge.decide(claims, names, measure)


def parts_of(script):
    """All parts of a script but the last by name."""
    words = set(script.split()) & {'a', 'b', 'c', 'd', 'reads', 'faults',
                                   'calls'}
    names = {f'part_{word}' for word in words}
    if 'timer' in script:
        names.add('part_rest')
    return sorted(names)[:-1]


def why_not(folder, user):
    """Why CPU time cannot be sampled for a user here; None: it can."""
    more = {'stdin': subprocess.DEVNULL, 'text': True,
            'preexec_fn': BEFORE[user]}
    try:
        with subprocess.Popen([os.path.join(folder, NEEDED[2]), 'sleep 60s'],
                              **more) as program:
            of = f' -p {program.pid}' if OUTSIDE in user else ''
            run = subprocess.run(
                [os.path.join(folder, 'cpprof'), '-q', '-F', 'json', '-e',
                 f'record --list{of}'], capture_output=True, timeout=120,
                check=False, **more)
            program.kill()
    except (OSError, subprocess.SubprocessError) as why:
        return why
    if run.returncode != 0:
        return run.stderr
    row = next(row for row in json.loads(run.stdout)['rows']
               if row['name'] == 'cpu')
    return row['source'] if row['source'] == 'not here' else None


def cases_of(user):
    only = {USER: OF_USER, TICKS: WITH_TICKS}.get(user)
    cases = CASES_OUTSIDE if OUTSIDE in user else CASES
    return [case for case in cases
            if (judge.IS_LONG or LONG not in case[0]) and
            (only is None or case[0] in only) and
            (user != f'{OUTSIDE}, {USER}' or case[1] != MIX)]


def main(words):
    if not os.path.exists(os.path.join(BUILD, NEEDED[1])):
        print('1..0 # SKIP no collector on this machine')
        return
    outside = f'{OUTSIDE}, {USER}'
    if os.geteuid() == 0:
        users = ROOT, USER, TICKS, OUTSIDE, outside
    else:
        users = USER, TICKS, outside
        BEFORE[USER] = BEFORE[outside] = None
    with copies() as folder:
        for user in users:
            why = why_not(folder, user)
            if why is not None:
                claims.skip(f'shares of CPU time, {user}', why)
                continue
            for case in cases_of(user):
                if all(word in f'{case[0]}, {user}' for word in words):
                    check_case(folder, user, *case)
    claims.end()


if __name__ == '__main__':
    main(sys.argv[1:])
