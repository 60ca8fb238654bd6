# SPDX-License-Identifier: GPL-3.0-or-later
"""live.py -- profiles that are opened while they are being written.

While a program runs under `cpprof record`, info says so, reload shows new
samples, and watch follows it to its end, on a terminal and elsewhere.  Speaks
TAP.
"""
import atexit
import functools
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import cpprof
from collector_file import Profile
from terminal import PATIENCE, Terminal, has_terminals

CPPROF = cpprof.CPPROF
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
TARGET = os.path.join(BUILD, 'tests', 'programs', 'target')
CLEAR = '\x1b[H\x1b[J'


class Recording:
    """target, spinning for some seconds under the collector."""

    def __init__(self, ms):
        self.directory = tempfile.TemporaryDirectory(prefix='cpprof-test-')
        self.path = os.path.join(self.directory.name, 'p')
        self.process = subprocess.Popen(
            [CPPROF, 'record', '-o', self.path, TARGET, 'spin', str(ms)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def __enter__(self):
        # By then the loader has too little for main not to be the root.
        until = time.monotonic() + PATIENCE
        while self.samples() < 300:
            assert time.monotonic() < until, 'too few samples'
            time.sleep(0.05)
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)    # handed on
        self.process.wait(timeout=120)
        self.directory.cleanup()

    def info(self):
        result = subprocess.run([CPPROF, '-q', '-F', 'json', '-e', 'info',
                                 self.path], capture_output=True, timeout=120)
        return json.loads(result.stdout) if result.returncode == 0 else None

    def samples(self):
        """How many there are, as another reader than cpprof says."""
        for name in os.listdir(self.path) if os.path.isdir(self.path) else ():
            if name.startswith('cpprofdata.'):
                try:
                    return Profile(os.path.join(self.path, name),
                                   grows=True).samples
                except (AssertionError, KeyError, struct.error):
                    return 0        # it is being written
        return 0


@functools.cache
def spinning():
    """One for all cases that only look at it."""
    recording = Recording(600000)
    atexit.register(recording.__exit__)
    return recording.__enter__()


def run(*arguments, **keywords):
    return cpprof.run('-q', *arguments, status=None, **keywords)


def counts(text):
    return [int(n) for n in re.findall(r' spin \[(\d+)\]', text)]


def info_says_that_it_runs():
    with Recording(60000) as recording:
        assert recording.info()['running'] == 1
        text = run('-e', 'info', recording.path).stdout
        assert 'processes still running: 1\n' in text, text
        recording.process.send_signal(signal.SIGTERM)
        recording.process.wait(timeout=120)
        assert recording.info()['running'] == 0
        assert 'running' not in run('-e', 'info', recording.path).stdout


def one_that_was_killed_does_not_run():
    with Recording(60000) as recording:
        pid = [name.split('.')[1] for name in os.listdir(recording.path)
               if name.startswith('cpprofdata.')][0]
        os.kill(int(pid), signal.SIGKILL)
        recording.process.wait(timeout=120)
        assert recording.info()['running'] == 0


def reload_shows_the_growth():
    recording = spinning()
    out = run('-F', 'json', '-e', 'info', '-e', 'shell sleep 0.5', '-e',
              'reload', '-e', 'info', recording.path).stdout
    first, second = (json.loads(line)['samples']
                     for line in out.splitlines())
    assert second > first > 0, (first, second)


def watch_follows_to_the_end():
    """Two of them, of which one gives a JSON document a line."""
    with Recording(2500) as recording, subprocess.Popen(
            [CPPROF, '-q', '-F', 'json', '-e', 'watch .2 functions spin',
             recording.path], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True) as other:
        result = run('-e', 'unit hits', '-e', 'watch 0.2 functions spin',
                     recording.path)
        assert result.returncode == 0, result.stderr
        parts = result.stdout.split('\n\n')
        hits = counts(result.stdout)
        assert len(hits) == len(parts) >= 2, result.stdout
        assert hits == sorted(hits) and hits[-1] > hits[0], hits
        assert result.stderr == 'cpprof: the program has ended\n', \
            result.stderr
        lines = other.communicate(timeout=120)[0].splitlines()
        assert len(lines) > 1
        assert all(json.loads(line)['view'] == 'functions' for line in lines)
        result = run('-e', 'unit hits', '-e', 'watch 0.2 functions spin',
                     recording.path)
        assert counts(result.stdout) == hits[-1:]
        assert 'no running program is writing this' in result.stderr


def watch_says_what_it_wants():
    profile = os.path.join(os.environ.get('srcdir', '.'), 'sample-data',
                           'forms.folded')
    for command, why in (
            ('watch', 'expected|argument|COMMAND'),
            ('watch 5', 'expected a command'),
            ('watch 0 functions', 'expected seconds, more than 0'),
            ('watch 1e9 functions', 'expected seconds'),
            ('watch watch functions', 'watch cannot run watch'),
            ('watch 1x functions', '1x'),
            ('watch nonsense', 'nonsense')):
        result = run('-e', command, profile)
        assert result.returncode == 1, (command, result)
        assert re.search(why, result.stderr), (command, result.stderr)
    assert run('-e', 'watch functions').returncode == 1    # no profile


def at_a_terminal_it_draws_in_one_place():
    recording = spinning()
    terminal = Terminal('-q', recording.path, columns=70, rows=12)
    terminal.expect('(cpprof main cpu) ')
    terminal.type('threshold 0\nwatch 0.2 tree\n')
    for _ in range(3):
        terminal.expect('Sample Tree Profile')
    drawn = terminal.seen.split(CLEAR)[1:-1]
    assert len(drawn) >= 2
    assert all(part.count('\n') <= 11 for part in drawn), drawn
    terminal.type('\x03')
    terminal.expect('(cpprof main cpu) ')
    terminal.type('functions spin\n')       # the prompt is whole again
    terminal.expect('spin [')
    terminal.type('quit\n')
    assert terminal.status() == 0
    assert recording.process.poll() is None


def the_welcome_says_that_it_runs():
    recording = spinning()
    terminal = Terminal(recording.path, columns=200)
    terminal.expect('still running, try reload')
    terminal.expect('(cpprof main cpu) ')
    terminal.type('quit\n')
    assert terminal.status() == 0


def tab_completes_what_is_watched():
    recording = spinning()
    terminal = Terminal('-q', recording.path)
    terminal.expect('(cpprof main cpu) ')
    terminal.type('watch 0.5 func\t run_s\t\n')
    terminal.expect('watch 0.5 functions  run_spin')
    terminal.expect('run_spin [')
    terminal.type('\x03quit\n')
    assert terminal.status() == 0


CASES = [
    info_says_that_it_runs,
    one_that_was_killed_does_not_run,
    watch_follows_to_the_end,
    watch_says_what_it_wants,
    reload_shows_the_growth,
]
AT_TERMINALS = [
    at_a_terminal_it_draws_in_one_place,
    the_welcome_says_that_it_runs,
    tab_completes_what_is_watched,
]


def main():
    if not os.path.exists(os.path.join(BUILD, '.libs', 'libcpprof.so.0')):
        print('1..0 # SKIP no collector on this machine')
        return
    cases = CASES + (AT_TERMINALS if has_terminals() else [])
    print('1..%d' % len(cases))
    with tempfile.TemporaryDirectory() as home:
        Terminal.home = home
        for number, case in enumerate(cases, 1):
            try:
                case()
                print('ok %d - %s' % (number, case.__name__))
            except Exception as error:
                print('not ok %d - %s' % (number, case.__name__))
                print('# line %d: %.2000r' % (
                    error.__traceback__.tb_next.tb_lineno, error))
            sys.stdout.flush()


main()
