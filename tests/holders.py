# SPDX-License-Identifier: GPL-3.0-or-later
"""holders.py -- who holds a lock is charged with what others wait for it.

Threads of tests/programs/holders.c and holders.rs take one lock in three
functions, which keep it for different times, while several others wait.  They
know by their own clock for how long each function has held others up.
tests/judge.py decides.  Speaks TAP.
"""
import json
import os
import shutil
import subprocess
import tempfile

import cpprof
import judge
from claims import Claims

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
SOURCES = os.path.join(os.environ.get('srcdir', '.'), 'tests', 'programs')
PROGRAM = os.path.join(BUILD, 'tests', 'programs', 'holders')
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
PARTS = ('hold_short', 'hold_middle', 'hold_long')
MS = 1500
# While the thread that was woken waits for a processor, another one can take and
# leave the lock unseen.
MOST_LATE = 0.1


def hurry():
    """Threads that are woken run at once, where that is allowed."""
    try:
        os.nice(-20)
    except PermissionError:
        pass


def charged(recording):
    """The blame of each part."""
    sums = dict.fromkeys(PARTS, 0)
    for line in cpprof.text(recording, 'resource blame',
                            'export collapsed').splitlines():
        stack, _, ns = line.rpartition(' ')
        for part in PARTS:
            if part in stack:
                sums[part] += int(ns)
    return sums


def measure(command, times):
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
        recording = os.path.join(directory, 'r')
        run = cpprof.run('record', '--no-prompt', '-r', 'blame', '-o',
                         recording, '--', *command, str(times * MS),
                         preexec_fn=hurry, timeout=600)
        found = charged(recording)
    books = json.loads(run.stdout)
    held_up, late = books['held_up'], books['late_ns']
    if late > MOST_LATE * min(held_up.values()):
        raise judge.Disturbed(f'{late} ns of {books["waited_ns"]} waited for '
                              'nobody')
    return {name(command, part): judge.Amount(found[part], held_up[part],
                                              late / judge.K)
            for part in PARTS}


def name(command, part):
    return f'{part} is charged with what others waited for it: ' + \
        (f'a lock by {command[1]}' if len(command) > 1 else "Rust's mutex")


def decide(claims, command):
    judge.decide(claims, [name(command, part) for part in PARTS],
                 lambda times: measure(command, times))


def build_rust(directory):
    """The program in Rust, and why there is none."""
    if shutil.which('rustc') is None:
        return None, 'rustc not found'
    program = os.path.join(directory, 'holders')
    done = subprocess.run(
        ['rustc', '--edition', '2021', '-O', '-g', '-o', program,
         os.path.join(SOURCES, 'holders.rs')],
        capture_output=True, text=True, check=False, timeout=300)
    return (program, '') if done.returncode == 0 else (None, done.stderr)


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    claims = Claims()
    for kind in 'pthread', 'futex', 'ticket':
        decide(claims, (PROGRAM, kind))
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
        program, why = build_rust(directory)
        if program is None:
            claims.skip("holders of Rust's mutex", why)
        else:
            decide(claims, (program,))
    claims.end()


if __name__ == '__main__':
    main()
