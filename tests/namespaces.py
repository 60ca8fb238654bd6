# SPDX-License-Identifier: GPL-3.0-or-later
"""namespaces.py -- processes in other PID, mount and user namespaces, as in
containers, are sampled and counted like all others.

The witness is the program itself, which prints the CPU time that it used, and
the kernel, from which `record` learns how much all processes used.  Speaks TAP.
"""
import atexit
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cpprof
from claims import Claims
from collector_file import Profile
from filters import forbid_events

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
COPIES = cpprof.copies_for_everyone(
    os.path.join(BUILD, 'tests', 'programs', 'brief'))
CPPROF = os.path.join(COPIES, 'cpprof')
BRIEF = os.path.join(COPIES, 'brief')
IN_SHELL = shlex.quote(BRIEF)
NOBODY = 65534
MS = 300
PID = ['unshare', '--pid', '--fork']
PROC = PID + ['--mount-proc']
USER = ['unshare', '--user', '--map-root-user']

# Of the recordings.  Cases hide it, and nothing else: the build may be in any
# place.
PLACE = tempfile.mkdtemp(prefix='cpprof-test-')
os.chmod(PLACE, 0o711)
atexit.register(shutil.rmtree, PLACE)

claims = Claims()


def run(command, user=None, before=None):
    return subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=300, user=user,
                          group=user, extra_groups=None if user is None
                          else [], preexec_fn=before)


class Recording:
    """Of a command; by a user, if one is given."""

    def __init__(self, command, user=None, options=(), before=None):
        self.directory = tempfile.mkdtemp(dir=PLACE)
        if user is not None:
            os.chown(self.directory, user, user)
        self.path = os.path.join(self.directory, 'p')
        done = run([CPPROF, 'record', '-o', self.path, *options, '--',
                    *command], user, before)
        self.status, self.out, self.said = (done.returncode, done.stdout,
                                            done.stderr)
        self.profiles = [Profile(os.path.join(self.path, name))
                         for name in os.listdir(self.path)
                         if re.match(r'cpprofdata\.\d', name)]
        self.left = sorted(os.listdir(self.path))
        shutil.rmtree(self.directory)

    def sampled_us(self):
        return sum(node.hits * profile.interval for profile in self.profiles
                   for node in profile.nodes.values())

    def unsampled(self):
        """The seconds that record says were not sampled."""
        found = re.search(r'([\d.]+) of [\d.]+ CPU s were not sampled: (.*)',
                          self.said)
        return (float(found[1]), found[2]) if found else (0, '')


def agrees(recording, n_programs=1):
    """Each program prints its time, which must have been sampled."""
    used = sum(int(line.split()[0]) for line in recording.out.splitlines())
    assert recording.status == 0, recording.said
    assert used >= n_programs * MS * 1000, recording.out
    assert recording.unsampled()[0] == 0, recording.said
    assert 'shared' not in recording.left, recording.left
    # What starts the programs is sampled, too.
    assert .75 * used < recording.sampled_us() < 1.25 * used + \
        n_programs * 150000, (used, recording.sampled_us(), recording.said)


def is_counted(command, user):
    agrees(Recording([*command, BRIEF, 'report', str(MS)], user))


def several_with_the_same_ids_are_counted(command, user):
    program = shlex.join([*command, BRIEF, 'report', str(MS)])
    agrees(Recording(['sh', '-c', f'{program} & {program} & {program}; wait'],
                     user), 3)


# Uses CPU time, enters another user namespace if it is told so, and executes
# a program.  So does a process that takes its id in another PID namespace.
ENTERS = '''
import ctypes, os, sys, time
while time.process_time() < .5:
    pass
if sys.argv[1] == 'user' and ctypes.CDLL(None).unshare(0x10000000) != 0:
    sys.exit(77)
os.execv(sys.argv[2], sys.argv[2:])
'''


def time_before_an_execution_counts_once(command, user, enters):
    """If it counted twice, it would hide as much that was not sampled."""
    program = [*command, python(user), '-c', ENTERS, enters, BRIEF, 'spin',
               '100']
    hidden = f'env -i {IN_SHELL} spin 500'
    text = shlex.join(program)
    # Else it would be sampled from outside.
    recording = Recording(['sh', '-c', f'{text} && {text} && {hidden}'], user,
                          before=forbid_events)
    assert recording.status == 0, recording.said
    seconds, why = recording.unsampled()
    assert .4 < seconds < .8, recording.said
    assert 'another environment' in why, recording.said


def what_cannot_see_the_recording_is_reported(command, user, hides=''):
    """hides: more words, of a shell whose $CPPROF_OUTPUT is the recording."""
    # Else it would be sampled from outside.
    recording = Recording(['sh', '-c', f'exec "$@" {hides} {IN_SHELL} report 500',
                           'sh', *command], user, before=forbid_events)
    assert recording.status == 0, recording.said
    assert int(recording.out) >= 500000, recording.out
    assert re.search('sampled: (.*, )?1 program was started where the '
                     'recording', recording.said), recording.said


def a_process_inside_is_known_to_run(command, user):
    """It waits, and is killed there: its wait lasts until then."""
    directory = tempfile.mkdtemp(dir=PLACE)
    path = os.path.join(directory, 'p')
    os.chown(directory, user, user)
    sleeper = f'{IN_SHELL} spin 20; exec sleep 100'
    process = subprocess.Popen(
        [CPPROF, 'record', '-r', 'real:10ms', '-o', path, '--', *command, 'sh',
         '-c', sleeper],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, user=user, group=user, extra_groups=[])
    try:
        until = time.monotonic() + 60
        found = None
        while found is None and time.monotonic() < until:
            time.sleep(.1)
            found = inner_sleeper(process.pid)
        assert found, 'no sleep'
        while not is_waiting(path) and time.monotonic() < until:
            time.sleep(.1)
        said = subprocess.run([CPPROF, '-q', '-e', 'info', path], text=True,
                              capture_output=True, timeout=60, user=user,
                              group=user, extra_groups=[]).stdout
        assert 'running' in said, said
        os.kill(found, signal.SIGKILL)
        process.wait(timeout=60)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        shutil.rmtree(directory)


def inner_sleeper(ancestor):
    """The process `sleep` below a process, by its id here."""
    parents, found = {}, []
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/stat') as file:
                text = file.read()
        except OSError:
            continue
        parents[name] = text.rsplit(')', 1)[1].split()[1]
        if '(sleep)' in text:
            found.append(name)
    for name in found:
        at = name
        while at in parents and at != str(ancestor):
            at = parents[at]
        if at == str(ancestor):
            return int(name)
    return None


def is_waiting(path):
    names = [name for name in os.listdir(path)
             if re.match(r'cpprofdata\.\d', name)]
    return any(thread.wait.columns for name in names
               for thread in Profile(os.path.join(path, name)).threads.values())


def works(command, user):
    try:
        return run([*command, 'true'], user).returncode == 0
    except OSError:
        return False


def python(user):
    return next(name for name in (sys.executable, '/usr/bin/python3', 'python3')
                if run(['test', '-x', name], user).returncode == 0 or
                name == 'python3')


def attempt(name, who, user, command, check, *more):
    claim = f'{name}, {who}'
    if not works(command, user):
        claims.skip(claim, 'not possible here')
    else:
        claims.attempt(claim, check, command, user, *more)


def bwrap(*more):
    return ['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc',
            '--unshare-all', *more]


USERS = [('as the user', os.getuid())]
if os.getuid() == 0:
    USERS.append(('as nobody', NOBODY))
for who, user in USERS:
    is_root = user == 0
    for name, command, needs_root in (
            ('a PID namespace', PID, True),
            ('with its own /proc', PROC, True),
            ('a user namespace', USER, False),
            ('a user and a PID namespace', USER + PROC[1:], False),
            ('nested namespaces', USER + PROC[1:] + USER + PROC[1:], False)):
        if is_root or not needs_root:
            attempt(f'{name} is counted', who, user, command, is_counted)
    inner = USER + PROC[1:]
    attempt('several processes of one id are counted', who, user, inner,
            several_with_the_same_ids_are_counted)
    for enters in 'none', 'user':
        attempt(f'time before an execution counts once (enters: {enters})',
                who, user, inner, time_before_an_execution_counts_once,
                enters)
    attempt('a process inside is known to run', who, user, inner,
            a_process_inside_is_known_to_run)
    attempt('what cannot see the recording is reported', who, user,
            bwrap('--tmpfs', PLACE),
            what_cannot_see_the_recording_is_reported)
    attempt('also if only its directory is hidden', who, user,
            bwrap('--bind', PLACE, PLACE),
            what_cannot_see_the_recording_is_reported,
            '--tmpfs "$CPPROF_OUTPUT"')
    attempt('in a container that can write there all is counted', who, user,
            bwrap('--bind', PLACE, PLACE),
            is_counted)
claims.end()
