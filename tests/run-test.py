#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one test of the suite, with a time limit.

    run-test.py COMMAND...          TEST_TIME_LIMIT: seconds, 1200 by default
                                    TEST_CASE_LIMIT: 300 by default
                                    TEST_TIMES: a file, to which is added what
                                    it took: seconds, CPU seconds, COMMAND
                                    RETRIED_TESTS: names, see below
                                    TEST_ONCE: no second run, if not empty

Passes on the command's output, TAP, and its exit status.  At the time limit,
or when it has printed nothing for longer than any case takes, the test and
everything that it started are killed.  "Bail out!" reports that, with the
last case and the running processes.  So a hang is a failure, and the rest of
the suite goes on.  Processes that a test leaves running are killed at the end;
those that have left the process group do not keep the suite waiting.

A test of RETRIED_TESTS, whose claims depend on the machine, runs twice more if
a claim does not hold.  A claim that fails twice of three times has failed; one
that fails once is passed on as "ok N - CLAIM # unsure: ...", and is listed and
counted at the end of `quickstart check`.  Ending before the plan is printed is
a failure of the same kind.

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
CLAIM = re.compile(rb'(not )?ok \d+(.*)')
STOPPED = b'the test runs to its end'
PLAN = re.compile(rb'1\.\.\d+')
REASON = b'# skip: '


class Output:
    """The test's output, passed on as it comes by a function for each line."""

    def __init__(self, write):
        self.pass_on = write
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
        self.pass_on(line)

    def add(self, data):
        self.last_time = time.monotonic()
        *lines, self.rest = (self.rest + data).split(b'\n')
        for line in lines:
            self.write(line + b'\n')

    def end(self):
        if self.rest:
            self.write(self.rest + b'\n')


def show(line):
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


class Claim:
    """A line "ok" or "not ok" and the comments that follow it."""

    def __init__(self, holds, text):
        self.holds = holds
        self.text = text
        self.comments = []


class Claims:
    """What one run of a test claims.  A claim's key is its text without digits,
    which may be measured, and how many claims before it have the same text."""

    def __init__(self):
        self.claims = {}
        self.last = None
        self.other = []         # neither claims nor their comments
        self.plan = b''
        self.status = 0

    def add(self, line):
        match = CLAIM.match(line)
        if match:
            self.last = Claim(not match[1], match[2].rstrip())
            text = re.sub(rb'\d+', b'', self.last.text)
            # Of tests/claims.py, with what ended it.
            if STOPPED in text:
                text = STOPPED
            n = 0
            while (text, n) in self.claims:
                n += 1
            self.claims[text, n] = self.last
        elif line.startswith(b'#') and self.last:
            self.last.comments.append(line)
        elif PLAN.match(line):
            self.plan = line
        else:
            self.other.append(line)

    def fails(self, key):
        return key in self.claims and not self.claims[key].holds

    def failed(self):
        return any(map(self.fails, self.claims))

    def is_whole(self):
        """Whether it ran to its end: it has printed a plan, was not killed,
        and a claim explains an exit status other than 0."""
        return (bool(self.plan)
                and not any(line.startswith(b'Bail out!') for line in self.other)
                and (self.status == 0 or self.failed()))

    def end(self):
        """How it ended, in a line."""
        lines = b' '.join(self.other[-5:]).replace(b'#', b'').split()
        return b'exit status %d %s' % (self.status, b' '.join(lines)[-300:])


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


def run(write):
    """Runs the test once, with a function for each line of its output; returns
    its exit status."""
    limit = float(os.environ.get('TEST_TIME_LIMIT') or 1200)
    silence = float(os.environ.get('TEST_CASE_LIMIT') or 300)
    output = Output(write)
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
    if not has_ended:
        for line in (f'# last case: {output.last_case}',
                     *(f'# still running: {command}' for command in commands),
                     f'Bail out! still running after {seconds:.0f} s: '
                     + ' '.join(sys.argv[1:])):
            write(line.encode() + b'\n')
        return 0                # that line is the failure
    return test.returncode if test.returncode >= 0 else 128 - test.returncode


def run_claims(write):
    """Runs the test once; returns its claims."""
    claims = Claims()

    def add(line):
        claims.add(line)
        write(line)
    claims.status = run(add)
    return claims


def join(runs, n_shown):
    """Prints the claims of three runs, without the first n_shown claims of the
    first run, all of which held; returns the exit status."""
    # A run that an exception has ended has fewer claims.
    base = max(runs, key=lambda claims: (claims.is_whole(),
                                         len(claims.claims)))
    first = list(runs[0].claims)
    n = n_shown
    keys = [*base.claims, *(key for claims in runs for key in claims.claims
                            if claims.fails(key) and key not in base.claims)]
    for key in dict.fromkeys(keys):
        fails = [claims for claims in runs if claims.fails(key)]
        claim = base.claims.get(key) or fails[0].claims[key]
        if key in first[:n_shown]:
            if len(fails) < 2:
                continue        # it has been printed
            claim = fails[0].claims[key]
        n += 1
        if len(fails) >= 2:
            show(b'not ok %d%s\n' % (n, claim.text))
        elif fails:
            claim = fails[0].claims[key]
            why = b' '.join(b' '.join(claim.comments).replace(b'#', b'').split())
            show(b'ok %d%s # unsure: failed once of three times: %s\n'
                 % (n, claim.text, why[:300]))
        else:
            show(b'ok %d%s\n' % (n, claim.text))
        for line in claim.comments:
            show(line)
    broken = [claims for claims in runs if not claims.is_whole()]
    if len(broken) >= 2:
        for line in broken[0].other:
            show(line)
        return broken[0].status or 1
    if broken:
        n += 1
        show(b'ok %d - %s # unsure: failed once of three times: %s\n'
             % (n, STOPPED, broken[0].end()))
    show(b'1..%d\n' % n)
    return 0


def run_measured():
    """Runs the test, and twice more if a claim does not hold."""
    n_shown = 0
    holds = True

    def write(line):
        nonlocal n_shown, holds
        holds = holds and not line.startswith((b'not ok ', b'Bail out!'))
        if holds and not PLAN.match(line):
            n_shown += line.startswith(b'ok ')
            show(line)
    first = run_claims(write)
    if not first.failed() and first.is_whole():
        show(first.plan)
        return 0
    runs = [first, *(run_claims(lambda line: None) for _ in range(2))]
    return join(runs, n_shown)


def main():
    start = time.monotonic()
    measured = os.environ.get('RETRIED_TESTS', '').split()
    is_measured = any(word.endswith('/' + name) or word == name
                      for word in sys.argv[1:] for name in measured)
    if is_measured and not os.environ.get('TEST_ONCE'):
        status = run_measured()
    else:
        status = run(show)
    if os.environ.get('TEST_TIMES'):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.environ['TEST_TIMES'], 'a', encoding='utf-8') as file:
            file.write(f'{time.monotonic() - start:.1f} '
                       f'{used.ru_utime + used.ru_stime:.1f} '
                       f'{" ".join(sys.argv[1:])}\n')
    return status


sys.exit(main())
