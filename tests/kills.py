# SPDX-License-Identifier: GPL-3.0-or-later
"""kills.py -- programs that are killed at random moments lose no sample.

Each round starts a program that spins, forks, starts threads, loads libraries
or grows its file at random.  At a random moment its samples are counted from
outside, and then it and its children get SIGKILL.  Every profile must open,
with at least the samples that were counted.  KILLS is the number of rounds: 20
by default, 1,000 in check-long.  Speaks TAP.
"""
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

from collector_file import Profile
from cpprof import for_preload

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
TARGET = os.path.join(BUILD, 'tests', 'programs', 'target')
CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
MODES = (('spin', '5000'), ('recursion', '20000'), ('threads', '300'),
         ('fork', '0'), ('load', '3000'), ('close-all', '5000'),
         ('block-all', '5000'), ('shares', '5000'))


def samples(path, grows=False):
    """The current number of samples; 0 while the file is being made."""
    with open(path, 'rb') as file:
        if file.read(8) != b'cpprof\r\n':
            return 0
    return Profile(path, grows).samples


def one(number):
    """Runs one program; returns its number of samples."""
    chance = random.Random(number)
    directory = tempfile.mkdtemp(prefix='cpprof-test-')
    mode = chance.choice(MODES)
    child = subprocess.Popen(
        [TARGET, *mode], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        start_new_session=True,
        env=dict(os.environ, LD_PRELOAD=for_preload(LIBRARY), CPPROF_OUTPUT=directory,
                 CPPROF_RESOURCES='cpu:%d' % chance.choice((200, 1000, 4000)) +
                 chance.choice(('', ',real:1000', ',live:10000'))))
    time.sleep(chance.random() ** 2 * 0.4)
    names = os.listdir(directory)
    before = {name: samples(os.path.join(directory, name), grows=True)
              for name in names}
    time.sleep(chance.random() * 0.004)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait(timeout=120)
    total = 0
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        after = samples(path)
        assert after >= before.get(name, 0), (number, mode, name, before)
        total += after
    opens = subprocess.run([CPPROF, '-q', '-e', 'info', directory],
                           capture_output=True, timeout=120)
    # Killed before its file was begun, it leaves none, or one without a
    # header.
    assert opens.returncode == 0 or total == 0, (number, mode, opens.stderr)
    shutil.rmtree(directory)
    return total


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    kills = int(os.environ.get('KILLS', '20'))
    print('1..1')
    total = 0
    try:
        for number in range(kills):
            total += one(number)
    except AssertionError as error:
        print('not ok 1 - kills lose nothing')
        print('# %r' % (error.args,))
        return
    print('# %d kills, %d samples' % (kills, total))
    print('ok 1 - kills lose nothing' if total > kills else
          'not ok 1 - kills lose nothing: there was nothing to lose')


main()
