# SPDX-License-Identifier: GPL-3.0-or-later
"""hosted.py -- recordings inside of running programs, for tests.

tests/programs/hosted.c measures itself and says what went wrong in it.
"""
import contextlib
import os
import struct
import subprocess
import threading
import time

from collector_file import Profile
from cpprof import has_recorded
from outside import PATIENCE, PROGRAMS, record, view

HOSTED = os.path.join(PROGRAMS, 'hosted')
PARTS = ('first_long', 'first_short', 'second_long', 'second_short',
         'blocked_long', 'late_long', 'brief_long')


@contextlib.contextmanager
def started(*words, **options):
    process = subprocess.Popen(words, stdout=subprocess.PIPE,
                               stdin=subprocess.PIPE, text=True, **options)
    try:
        time.sleep(0.3)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextlib.contextmanager
def hosted(directory, ms, *modes, **options):
    """The program that measures itself, and the file of its sums."""
    sums = os.path.join(directory, f'sums-{time.monotonic_ns()}')
    with started(HOSTED, sums, str(ms), *modes, **options) as process:
        process.sums = sums
        wait_until(lambda: process.poll() is not None or (
            os.path.exists(sums) and os.path.getsize(sums) > 0 and
            any(sums_of(process))))
        assert process.poll() is None, process.communicate()[0]
        yield process


def wait_until(holds):
    """For less time than a test may be silent."""
    until = time.monotonic() + 200
    while not holds():
        assert time.monotonic() < until, 'it does not come'
        time.sleep(0.02)


def sums_of(process):
    with open(process.sums, 'rb') as file:
        return struct.unpack(f'{len(PARTS)}Q', file.read(8 * len(PARTS)))


def tell(process, number):
    """Sets one of the numbers that follow the sums."""
    with open(process.sums, 'r+b') as file:
        file.seek(8 * (len(PARTS) + number))
        file.write(b'\1')


def is_begun(path):
    """Whether a recording has a file."""
    return os.path.isdir(path) and any(
        name.startswith('cpprofdata.') for name in os.listdir(path))


def has_samples(path, least):
    try:
        return is_begun(path) and view(path, 'info')['samples'] >= least
    except AssertionError as why:
        if 'no samples' in str(why):
            return False
        raise


class Sums:
    """What the program measures, again and again, by the time."""
    def __init__(self, process):
        self.process = process
        self.seen = []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *unused):
        self.is_over.set()
        self.thread.join()

    def watch(self):
        with open(self.process.sums, 'rb') as file:
            while not self.is_over.wait(0.01):
                self.seen.append((time.time_ns(), struct.unpack(
                    f'{len(PARTS)}Q',
                    os.pread(file.fileno(), 8 * len(PARTS), 0))))

    def at(self, when):
        return min(self.seen, key=lambda one: abs(one[0] - when))[1]

    def between(self, start, end):
        return [b - a for a, b in zip(self.at(start), self.at(end))]


def only_file(path):
    name, = (name for name in os.listdir(path)
             if name.startswith('cpprofdata.'))
    return Profile(os.path.join(path, name))


def inside(process, path, *words, before=None):
    return record('-o', path, '--force', '-p', str(process.pid), '--inside',
                  *words, before=before)


def hits(path):
    answer = view(path, 'functions 1000')
    return {row['path'][0]: row['hits'] for row in answer['rows']}


def status_of(pid):
    with open(f'/proc/{pid}/status') as file:
        return dict(line.strip('\n').split(':\t', 1) for line in file
                    if ':\t' in line)


def ends_when_told(process):
    """'': a hosted program, told to end, does so as ends_well says."""
    tell(process, 0)
    return ends_well(process)


def ends_well(process):
    """'': it ends as if nobody had looked at it."""
    output = process.communicate(timeout=PATIENCE)[0]
    if process.returncode == 7 and output == 'interrupted 0, wrong 0\n':
        return ''
    return f'status {process.returncode}, output {output!r}'


def remains(process):
    """'' if nothing of the collector is left in a process; else what is."""
    status = status_of(process.pid)
    names = []
    for task in os.listdir(f'/proc/{process.pid}/task'):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), \
                open(f'/proc/{process.pid}/task/{task}/comm') as file:
            names.append(file.read().strip())   # unless it has just ended
    wrong = []
    if 'cpprof' in names:
        wrong.append(f'threads {names}')
    # Its handlers: of SIGTRAP, SIGBUS, SIGRTMAX - 1.
    if int(status['SigCgt'], 16) & (1 << 4 | 1 << 6 | 1 << 62):
        wrong.append(f'handlers {status["SigCgt"]}')
    if status['TracerPid'] != '0':
        wrong.append('traced')
    if open(f'/proc/{process.pid}/timers').read():
        wrong.append('timers')
    return ', '.join(wrong)


def wait_until_gone(process):
    """Waits until the collector has left: '', or what is still there.  It does so
    by itself, within a second or what a busy machine makes of it."""
    until = time.monotonic() + 100
    while process.poll() is None:
        left = remains(process)
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.1)
    return f'the program has ended: {process.returncode}'


def may_trace(directory):
    """'': this user may load the collector into its own processes."""
    with hosted(directory, 60000) as process:
        result = inside(process, os.path.join(directory, 'first'), '--for',
                        '0.1s')
    return '' if has_recorded(result) else result.stderr
