# SPDX-License-Identifier: GPL-3.0-or-later
"""outside-kills.py -- record -p and kill -9 at random: outside-kills.py [N].

N times, 200 unless it is given: a program that measures itself is sampled by
record -p, and the recorder or the program is killed at a random moment.  The
recording must open, with whole stacks of what was sampled; a program whose
recorder was killed must run to its own end, with its own output.  Prints what
was killed and what went wrong.  Needs a build in ./build, or CPPROF and
builddir.
"""
import os
import random
import subprocess
import sys
import tempfile
import time

CPPROF = os.path.abspath(os.environ.get('CPPROF', 'build/cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
PROGRAM = os.path.join(BUILD, 'tests', 'programs', 'parts')


def once(directory, number):
    """What was killed, and what is wrong; ''."""
    path = os.path.join(directory, str(number))
    program = subprocess.Popen([PROGRAM, '400', 'user', 'faults', 'futex'],
                               stdout=subprocess.PIPE, text=True)
    recorder = subprocess.Popen(
        [CPPROF, 'record', '--no-prompt', '-F', '1000', '-o', path, '-p',
         str(program.pid)], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(random.uniform(0, 0.5))
    what = random.choice(('recorder', 'program'))
    (recorder if what == 'recorder' else program).kill()
    output = program.communicate(timeout=60)[0]
    said = recorder.communicate(timeout=60)[1]
    if what == 'recorder' and (program.returncode != 0 or
                               'part_user' not in output):
        return what, f'the program: {program.returncode} {output}'
    if what == 'program' and recorder.returncode not in (0, 1):
        return what, f'the recorder: {recorder.returncode} {said}'
    if not os.path.isdir(path) or not any(
            name.startswith('cpprofdata.') for name in os.listdir(path)):
        return what + ' before the first sample', ''
    view = subprocess.run([CPPROF, '-q', '-e', 'functions', path],
                          capture_output=True, text=True)
    return what, '' if view.returncode == 0 or 'no samples' in view.stderr \
        else view.stderr


def main():
    counts = {}
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 200):
            what, why = once(directory, number)
            counts[what] = counts.get(what, 0) + 1
            if why:
                wrong += 1
                print(f'{number}: {what} killed: {why}')
    print(', '.join(f'{what} killed: {n}' for what, n in counts.items()),
          f'; wrong: {wrong}')
    return wrong > 0


sys.exit(main())
