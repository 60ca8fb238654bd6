#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one test of the suite, with a time limit.

    run-test.py COMMAND...          TEST_TIME_LIMIT: seconds, 1200 by default

Passes on what the command prints, TAP, and its exit status.  At the time limit
the test and what it started are killed and "Bail out!" says so: a hang is a
failure, and the rest of the suite goes on.  What a test leaves running is killed
in the end, and does not keep the suite waiting if it has left the process group.

cmocka says "not ok 7 # SKIP name" of a case that was skipped, which is a failure
to who reads TAP by the book; and not why, which skip.h says on a line before.
"""
import os
import re
import selectors
import signal
import subprocess
import sys
import time

SKIPPED = re.compile(rb'(?:not )?ok (\d+) # SKIP (\w+)\n?')
REASON = b'# skip: '


class Output:
    """Lines of the test's, passed on as they come."""

    def __init__(self):
        self.rest = b''
        self.why = b''

    def write(self, line):
        if line.startswith(REASON):
            self.why = line[len(REASON):].strip()
            return
        match = SKIPPED.fullmatch(line)
        if match:
            line = b'ok %s - %s # SKIP %s\n' % (match[1], match[2], self.why)
            self.why = b''
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    def add(self, data):
        *lines, self.rest = (self.rest + data).split(b'\n')
        for line in lines:
            self.write(line + b'\n')

    def end(self):
        if self.rest:
            self.write(self.rest + b'\n')


def kill(test, number):
    """All of its process group, which what it has started belongs to."""
    try:
        os.killpg(test.pid, number)
    except ProcessLookupError:
        pass


def follow(test, output, deadline):
    """To the test's end, or the deadline's; whether it has ended."""
    pipe = test.stdout.fileno()
    os.set_blocking(pipe, False)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        is_open = True
        while time.monotonic() < deadline:
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
    output = Output()
    with subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE,
                          start_new_session=True) as test:
        def stop(number, _):
            kill(test, number)
            sys.exit(128 + number)
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, stop)
        has_ended = follow(test, output, time.monotonic() + limit)
        if not has_ended:
            kill(test, signal.SIGTERM)
            follow(test, output, time.monotonic() + 5)
        kill(test, signal.SIGKILL)
        output.end()
    if not has_ended:
        print(f'Bail out! still running after {limit:g} s: '
              + ' '.join(sys.argv[1:]))
        return 0                # that line is the failure
    return test.returncode if test.returncode >= 0 else 128 - test.returncode


sys.exit(main())
