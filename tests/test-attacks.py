# SPDX-License-Identifier: GPL-3.0-or-later
"""test-attacks.py -- recordings that somebody else writes to or truncates.

Each case plays the attacker, or the clumsy administrator, while a program is
recorded.  The program must not notice, and cpprof must report what happened to
the recording.  tests/programs/victim.c is the program: it works until it is told
to end, and how long an attack lasts is an amount of its CPU time.  Speaks TAP.
"""
import fcntl
import importlib
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from claims import rounds
from collector_file import Profile
collector = importlib.import_module('test-collector')
Skip = collector.Skip

VICTIM = os.environ.get('CPPROF_VICTIM', os.path.join(
    collector.BUILD, 'tests', 'programs', 'victim'))
CPPROF = os.path.abspath(os.environ.get('CPPROF', 'cpprof'))
CUT = 4
CPUCLOCK_SCHED = 2      # of a process whose id is inverted, linux/posix-timers.h
ATTACK_MS = 60          # of the victim's CPU time
N_CUTS = 15
MODES = ('plain', 'blocked', 'kernel', 'ignored', 'handled', 'own', 'threads')
MOST = ('cpu:100,page-faults:1,live:1000,real:1000',
        'cpu:100', 'allocs:1')


class Victim:
    """A victim that runs, and the directory of its recording."""

    def __init__(self, mode, chosen='allocs:1', **environment):
        self.directory = tempfile.mkdtemp(prefix='cpprof-test-')
        self.command = [VICTIM, mode]
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(
                os.environ, CPPROF_OUTPUT=self.directory,
                CPPROF_RESOURCES=chosen, **collector.PRELOAD, **environment))
        self.lines = b''

    def file(self):
        """Waits for the recording and returns its path."""
        for _ in range(2000):
            names = os.listdir(self.directory)
            if names:
                return os.path.join(self.directory, names[0])
            time.sleep(0.005)
        raise AssertionError('no recording')

    def used_ms(self):
        """CPU time of its process so far."""
        assert self.process.poll() is None, self.process.returncode
        return time.clock_gettime(~self.process.pid << 3 | CPUCLOCK_SCHED) * \
            1000

    def work(self, ms):
        """Waits until it has used that much more CPU time."""
        until = self.used_ms() + ms
        while self.used_ms() < until:
            time.sleep(0.0005)

    def has_printed(self, line):
        os.set_blocking(self.process.stdout.fileno(), False)
        self.lines += self.process.stdout.read() or b''
        os.set_blocking(self.process.stdout.fileno(), True)
        return line in self.lines

    def end(self):
        """Checks that it ends as without the collector; returns the profile's
        path."""
        out, err = self.process.communicate(timeout=60)
        plain = subprocess.run(self.command, timeout=60,
                               stdin=subprocess.DEVNULL, capture_output=True)
        assert (self.process.returncode, self.lines + out, err) == \
            (plain.returncode, plain.stdout, plain.stderr), \
            (self.command, self.process.returncode, self.lines + out, err,
             plain)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate(timeout=120)
        shutil.rmtree(self.directory, ignore_errors=True)


def scribble(path, victim, what):
    """Changes numbers wherever the collector might read them."""
    chances = random.Random(7)
    until = victim.used_ms() + rounds(ATTACK_MS)
    n = 0
    with open(path, 'r+b') as file:
        while n < 1000 or victim.used_ms() < until:
            size = os.fstat(file.fileno()).st_size
            if size < 12288:
                victim.work(0.1)
                continue
            with mmap.mmap(file.fileno(), size) as memory:
                for _ in range(200):
                    what(memory, size, chances)
                    n += 1


def wild(chances):
    return chances.choice((0, 1, 8, 4096, 0xffffffff, 1 << 40, (1 << 63) - 8,
                           0xffffffffffffffff, 0xdeadbeefdeadbeef,
                           chances.getrandbits(64)))


def the_header(memory, size, chances):
    """n_resources, node_size, used; and all counts."""
    at = chances.choice((32, 40, 24, 104, 112, 120, 128))
    struct.pack_into('<Q', memory, at, wild(chances))
    struct.pack_into('<II', memory, 24 + 8, chances.getrandbits(32),
                     chances.choice((0, 1, 0xffffffff)))


def the_chunks(memory, size, chances):
    at = chances.randrange(1, size // 4096) * 4096
    if memory[at:at + 4] == b'cpck':
        struct.pack_into('<Q', memory, at + chances.choice((8, 16, 24, 32)),
                         wild(chances))


def any_word(memory, size, chances):
    struct.pack_into('<Q', memory, chances.randrange(4096, size // 8 * 8, 8),
                     wild(chances))


def numbers_in_the_file_are_not_trusted():
    for what in the_header, the_chunks, any_word:
        for mode in 'plain', 'threads':
            for more in {}, {'CPPROF_RETURNS': '1'}:
                with Victim(mode, **more) as victim:
                    scribble(victim.file(), victim, what)
                    victim.end()


def modules_and_phases_in_the_file_are_not_trusted():
    """Names, build-ids and numbers of modules that come and go."""
    with Victim('plain', MOST[0]) as victim:
        path = victim.file()
        with open(path, 'r+b') as file:
            file.seek(4096)
            file.write(os.urandom(8192))
        victim.work(ATTACK_MS)
        victim.end()


def cut(path, victim, sizes, until=b''):
    """Cuts it often, at least until the victim has printed that."""
    chances = random.Random(11)
    n = 0
    while n < rounds(N_CUTS) or not victim.has_printed(until):
        try:
            os.truncate(path, chances.choice(sizes))
            n += 1
        except FileNotFoundError:
            pass
        victim.work(chances.random() * 4)


def a_file_cut_short_does_not_end_the_program():
    for mode in MODES:
        for chosen in MOST:
            with Victim(mode, chosen) as victim:
                path = victim.file()
                victim.work(5)
                cut(path, victim, (0, 1, 4096, 5000, 16384))
                victim.end()


def what_was_cut_is_written_again():
    for size in 0, 4096, 16384:
        with Victim('plain') as victim:
            path = victim.file()
            victim.work(30)
            os.truncate(path, size)
            victim.work(10)
            victim.end()
            profile = Profile(path)
            assert profile.flags & CUT, size
            assert profile.end > 0
            # All samples, also those before.
            assert profile.hits_with('go') > 1000
            assert profile.lost() == 0
            assert len(profile.data) == profile.used


def an_uncut_file_says_nothing():
    with Victim('plain') as victim:
        path = victim.file()
        victim.work(10)
        victim.end()
        assert Profile(path).flags == 0


def copying_over_it_does_no_harm():
    """rsync --inplace, and > FILE."""
    for command in ': > "$1"', 'cat /bin/sh > "$1"':
        with Victim('plain') as victim:
            path = victim.file()
            victim.work(20)
            subprocess.run(['sh', '-c', command, 'sh', path], check=True,
                           timeout=120)
            victim.work(20)
            victim.end()


def the_program_s_own_faults_are_its_own():
    for mode in 'own', 'pending', 'reset', 'dies', 'ignored', 'blocked':
        for cuts in False, True:
            with Victim(mode) as victim:
                path = victim.file()
                if cuts:
                    victim.work(5)
                    cut(path, victim, (0, 4096),
                        b'counted' if mode == 'own' else b'')
                victim.end()
                dies = mode in ('dies', 'ignored', 'blocked', 'reset')
                assert victim.process.returncode == \
                    (-signal.SIGBUS if dies else 0), mode


def record(*arguments, **environment):
    """Runs cpprof record of true, as this user, in a directory of its own."""
    return subprocess.run(
        [CPPROF, 'record', *arguments, '--', '/bin/true'], timeout=60,
        stdin=subprocess.DEVNULL, capture_output=True,
        env=dict(os.environ, **environment))


def a_planted_link_is_not_followed():
    with tempfile.TemporaryDirectory() as folder:
        theirs, link = (os.path.join(folder, name)
                        for name in ('theirs', 'link'))
        assert record('-o', theirs).returncode == 0
        before = sorted(os.listdir(theirs))
        os.symlink(theirs, link)
        for name in link, link + '/':
            run = record('--force', '-o', name)
            assert run.returncode != 0 and b'symbolic link' in run.stderr, run
        assert sorted(os.listdir(theirs)) == before


def a_directory_of_others_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        theirs = os.path.join(folder, 'theirs')
        os.mkdir(theirs)
        for mode in 0o777, 0o1777, 0o775:
            os.chmod(theirs, mode)
            run = record('-o', theirs)
            assert run.returncode != 0 and b'may write there' in run.stderr, \
                run
        os.chmod(theirs, 0o755)
        assert record('--force', '-o', theirs).returncode == 0
        if os.geteuid() != 0:
            raise Skip('only root can give a directory away')
        for name in os.listdir(theirs):
            os.unlink(os.path.join(theirs, name))
        os.chown(theirs, 65534, 65534)
        run = record('-o', theirs)
        assert run.returncode != 0 and b'another user' in run.stderr, run


def a_runtime_directory_of_others_is_not_used():
    """A library whose path has a blank is preloaded by a link."""
    with tempfile.TemporaryDirectory() as folder:
        place, theirs = (os.path.join(folder, name)
                         for name in ('a place', 'theirs'))
        os.makedirs(os.path.join(place, '.libs'))
        shutil.copy(CPPROF, place)
        shutil.copy(collector.LIBRARY, os.path.join(place, '.libs'))
        os.mkdir(theirs)
        for mode, used in (0o777, False), (0o700, True):
            os.chmod(theirs, mode)
            run = subprocess.run(
                [os.path.join(place, 'cpprof'), 'record', '--no-symbols', '-o',
                 os.path.join(folder, 'out%o' % mode), '--', '/bin/true'],
                timeout=60, stdin=subprocess.DEVNULL, capture_output=True,
                env=dict(os.environ, XDG_RUNTIME_DIR=theirs))
            assert run.returncode == 0, run
            assert (os.listdir(theirs) != []) == used, (mode, run)
        if os.geteuid() == 0:
            shutil.rmtree(os.path.join(theirs, 'cpprof-0'))
            os.chown(theirs, 65534, 65534)
            run = subprocess.run(
                [os.path.join(place, 'cpprof'), 'record', '--no-symbols', '-o',
                 os.path.join(folder, 'out'), '--', '/bin/true'],
                timeout=60, stdin=subprocess.DEVNULL, capture_output=True,
                env=dict(os.environ, XDG_RUNTIME_DIR=theirs))
            assert run.returncode == 0 and os.listdir(theirs) == [], run


def nobody_waits_for_a_lease():
    """The owner of the directory replaces our file by one of his own."""
    with Victim('plain') as victim:
        path = victim.file()
        other = path + '-leased'
        with open(other, 'wb') as file:
            file.truncate(1 << 20)
        descriptor = os.open(other, os.O_RDONLY)
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        os.rename(other, path)
        victim.work(20)
        start = time.monotonic()
        victim.end()
        assert time.monotonic() - start < 20
        os.close(descriptor)


CASES = (
    a_planted_link_is_not_followed,
    a_directory_of_others_is_refused,
    a_runtime_directory_of_others_is_not_used,
    nobody_waits_for_a_lease,
    numbers_in_the_file_are_not_trusted,
    modules_and_phases_in_the_file_are_not_trusted,
    a_file_cut_short_does_not_end_the_program,
    what_was_cut_is_written_again,
    an_uncut_file_says_nothing,
    copying_over_it_does_no_harm,
    the_program_s_own_faults_are_its_own,
)


if __name__ == '__main__':
    collector.CASES = CASES
    collector.REAL_PROGRAMS = ()
    sys.exit(collector.main())
