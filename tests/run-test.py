#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one test of the suite, with a time limit.

    run-test.py COMMAND...          TEST_TIME_LIMIT: seconds, 1200 by default
                                    TEST_CASE_LIMIT: 300 by default
                                    TEST_TIMES: a file, to which is added what
                                    it took: seconds, CPU seconds, COMMAND

Passes on the command's output, TAP, and its exit status.  At the time limit,
or when it has printed nothing for longer than any case takes, the test and
everything that it started are killed.  "Bail out!" reports that, with the
last case and the running processes.  So a hang is a failure, and the rest of
the suite goes on.  Processes that a test leaves running are killed at the end;
those that have left the process group do not keep the suite waiting.

For a skipped case cmocka prints "not ok 7 # SKIP name", which is a failure by
the definition of TAP, and has no reason.  The reason is on a line before, from
skip.h.
"""
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time

SKIPPED = re.compile(rb'(?:not )?ok (\d+) # SKIP (\w+)\n?')
REASON = b'# skip: '


class Output:
    """The test's output, passed on as it comes."""

    def __init__(self):
        self.rest = b''
        self.why = b''
        self.last_case = 'none'
        self.last_time = time.monotonic()

    def write(self, line):
        if line.startswith(REASON):
            self.why = line[len(REASON):].strip()
            return
        match = SKIPPED.fullmatch(line)
        if match:
            line = b'ok %s - %s # SKIP %s\n' % (match[1], match[2], self.why)
            self.why = b''
        if line.startswith((b'ok ', b'not ok ')):
            self.last_case = line.decode(errors='replace').strip()
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    def add(self, data):
        self.last_time = time.monotonic()
        *lines, self.rest = (self.rest + data).split(b'\n')
        for line in lines:
            self.write(line + b'\n')

    def end(self):
        if self.rest:
            self.write(self.rest + b'\n')


def kill(test, number):
    """Kills the process group, to which everything that it started belongs."""
    try:
        os.killpg(test.pid, number)
    except ProcessLookupError:
        pass


def running(test):
    """The commands running in the test's session, except its own."""
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat', encoding='utf-8',
                      errors='replace') as file:
                session = file.read().rpartition(')')[2].split()[3]
            if int(session) != test.pid or int(name) == test.pid:
                continue
            with open(f'/proc/{name}/cmdline', 'rb') as file:
                words = file.read().decode(errors='replace').split('\0')
        except (FileNotFoundError, ProcessLookupError):
            continue
        if any(words):
            yield ' '.join(' '.join(words).split())[:300]


def follow(test, output, deadline, silence):
    """Follows the test to its end, to the deadline, or until it is silent for
    too long; returns whether it has ended."""
    pipe = test.stdout.fileno()
    os.set_blocking(pipe, False)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        is_open = True
        while time.monotonic() < min(deadline, output.last_time + silence):
            # What is printed before the end is there once it has ended.
            has_ended = test.poll() is not None
            if is_open and selector.select(0 if has_ended else 0.2):
                data = os.read(pipe, 1 << 16)
                output.add(data)
                if not data:
                    selector.unregister(pipe)
                    is_open = False
            elif has_ended:
                return True
            elif not is_open:
                time.sleep(0.02)
    return False


def main():
    limit = float(os.environ.get('TEST_TIME_LIMIT') or 1200)
    silence = float(os.environ.get('TEST_CASE_LIMIT') or 300)
    output = Output()
    with subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE,
                          start_new_session=True) as test:
        def stop(number, _):
            kill(test, number)
            sys.exit(128 + number)
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, stop)
        start = time.monotonic()
        has_ended = follow(test, output, start + limit, silence)
        if not has_ended:
            seconds = time.monotonic() - start
            commands = list(running(test))
            kill(test, signal.SIGTERM)
            follow(test, output, time.monotonic() + 5, limit)
        kill(test, signal.SIGKILL)
        output.end()
    if os.environ.get('TEST_TIMES'):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.environ['TEST_TIMES'], 'a', encoding='utf-8') as file:
            file.write(f'{time.monotonic() - start:.1f} '
                       f'{used.ru_utime + used.ru_stime:.1f} '
                       f'{" ".join(sys.argv[1:])}\n')
    if not has_ended:
        print(f'# last case: {output.last_case}')
        for command in commands:
            print(f'# still running: {command}')
        print(f'Bail out! still running after {seconds:.0f} s: '
              + ' '.join(sys.argv[1:]))
        return 0                # that line is the failure
    return test.returncode if test.returncode >= 0 else 128 - test.returncode


sys.exit(main())
