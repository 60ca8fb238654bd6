#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""task-list.py -- cpprof tasks: the tasks of asyncio in a process that runs.

The program, tests/programs/waiting.py, says of itself which tasks it has, at
which lines they wait, and since when by the clock that cpprof reads, too.  Runs
with each interpreter that there is.  Speaks TAP.
"""
import contextlib
import importlib
import json
import os
import re
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from claims import Claims, rounds  # noqa: E402
from cpprof import CPPROF, run  # noqa: E402

python = importlib.import_module('python')
PROGRAM = os.path.join(HERE, 'programs', 'waiting.py')
FRAME = re.compile(r'^(.*) \(([^()]*):(\d+)\)$')
CPU_S = 60
# Numbers are cut to milliseconds.
ROUND_S = 0.0011


class Program:
    """The program, which obeys and reports."""

    def __init__(self, interpreter):
        self.process = subprocess.Popen(
            [interpreter, PROGRAM], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, encoding='utf-8')
        assert self.process.stdout.readline() == 'ready\n'

    def tell(self, word):
        self.process.stdin.write(word + '\n')
        self.process.stdin.flush()

    def report(self):
        self.tell('report')
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextlib.contextmanager
def program(interpreter):
    running = Program(interpreter)
    try:
        yield running
    finally:
        running.end()


def tasks(pid, *options, status=0):
    """The rows of cpprof tasks, by id, and the whole answer."""
    done = run('tasks', '-F', 'json', *options, str(pid), status=status)
    answer = json.loads(done.stdout)
    return {int(row['id'], 16): row for row in answer['rows']}, answer


def frames(row):
    """The function and line of each frame, the innermost first."""
    matches = [FRAME.match(frame) for frame in row['stack'].split(' < ')
               if frame]
    return [[match[1], int(match[3])] for match in matches]


def differences(rows, report):
    """Where the rows are not what the program says."""
    wrong = []
    told = {task['id']: task for task in report['tasks']}
    for number in set(rows) ^ set(told):
        wrong.append(f'only one has {rows.get(number) or told[number]}')
    for number in set(rows) & set(told):
        row, task = rows[number], told[number]
        stack = [[name, line] for name, _, line in task['stack']]
        seen = frames(row)
        # The program cannot look into an async generator.
        if task['name'] == 'items':
            if [name for name, _ in seen][-2:] != ['items', 'for_items']:
                wrong.append(f'items: {seen}')
            seen = seen[-len(stack):]
        if row['task'] != task['name'] or seen != stack or \
                row['thread'] != task['thread'] or row['state'] != 'waits':
            wrong.append(f'{row}\n  is {task}')
    return wrong


def times_differ(rows, report):
    """Times that cannot be, by when the program says that waits began."""
    wrong = []
    for task in report['tasks']:
        row = rows.get(task['id'])
        if row is None or task['began'] is None:
            continue
        waits = row['monotonic_s'] - task['began']
        if row['at_least_s'] > waits + ROUND_S:
            wrong.append(f'{task["name"]}: {row} waits for {waits}')
        if row['less_than_s'] is not None and \
                row['less_than_s'] < waits - ROUND_S:
            wrong.append(f'{task["name"]}: {row} waits for {waits}')
    return wrong


def check_list(claims, version, interpreter):
    """What waits all the time."""
    with program(interpreter) as running:
        before = running.report()
        rows, answer = tasks(running.process.pid, '--for', '1s')
        after = running.report()
    claims.make(f'{version}: tasks, their frames, lines and threads are those '
                'that the program has', differences(rows, before))
    claims.make(f'{version}: no wait is longer than the program says',
                times_differ(rows, after))
    by_name = {row['task']: row for row in rows.values()}
    awaits = {name: by_name[name]['awaited_by'] for name in by_name
              if by_name[name]['awaited_by']}
    # Of the other thread it has a number.
    another, = [task['name'] for task in before['tasks']
                if task['stack'][-1][0] == 'another']
    claims.check(f'{version}: who awaits whom', awaits == {
        'gathered-1': 'gathers', 'gathered-2': 'gathers', 'grouped': 'group',
        'awaited': 'awaits', 'elsewhere': another}, awaits)
    ids = {row['task']: row['id'] for row in rows.values()}
    claims.make(f'{version}: and by its id', [
        row for row in rows.values() if row['awaited_by'] and
        row['awaited_by_id'] != ids[row['awaited_by']]])
    # The program began to wait before, and had not ended after.
    short = [row for row in rows.values() if row['at_least_s'] < 0.5]
    claims.check(f'{version}: what waits all the time is seen to, for most of '
                 'the time', not short and answer['looks'] > 2,
                 f'{answer["looks"]} looks\n{short}')
    slept = [task for task in before['tasks']
             if task['stack'][0][0] == 'sleep']
    wrong = [(task, rows[task['id']]) for task in slept
             if rows[task['id']]['at_least_s'] + ROUND_S <
             before['now'] - task['began']]
    claims.check(f'{version}: sleeps are known from their beginning on',
                 len(slept) == 4 and not wrong, wrong or slept)


def check_once(claims, version, interpreter):
    """One look knows where, and of sleeps since when."""
    with program(interpreter) as running:
        before = running.report()
        rows, _ = tasks(running.process.pid, '--for', '0')
    claims.make(f'{version}: one look has them, too',
                differences(rows, before) + times_differ(rows, before))
    sleeps = sum(row['less_than_s'] is not None for row in rows.values())
    claims.check(f'{version}: of sleeps it knows since when', sleeps == 4,
                 list(rows.values()))


def check_moves(claims, version, interpreter):
    """A task that moves while cpprof looks."""
    wrong, known = [], 0
    for _ in range(rounds(3)):
        with program(interpreter) as running:
            running.tell('push')
            rows, _ = tasks(running.process.pid, '--for', '1s')
            after = running.report()
        wrong += times_differ(rows, after)
        known += sum(row['task'] == 'mover' and row['less_than_s'] is not None
                     for row in rows.values())
    claims.make(f'{version}: what moved waits as long as the program says',
                wrong)
    claims.check(f'{version}: and is seen to have moved', known > 0)


def check_spoiled(claims, version, interpreter):
    """Memory that leads anywhere: an answer or an error, in a bounded time."""
    wrong, crashed = [], 0
    for seed in range(rounds(8)):
        with program(interpreter) as running:
            running.tell(f'spoil {seed}')
            running.process.stdout.readline()
            done = subprocess.run(
                [CPPROF, 'tasks', '-F', 'json', '--for', '0',
                 str(running.process.pid)], capture_output=True, text=True,
                check=False, preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_CPU, (CPU_S, CPU_S)))
            # It may have been faster to end itself.
            crashed += running.process.poll() is not None
        if done.returncode not in (0, 1) or (
                done.returncode == 1 and len(done.stderr.splitlines()) != 1):
            wrong.append((seed, done.returncode, done.stderr[-500:]))
        elif done.returncode == 0:
            json.loads(done.stdout)
    claims.make(f'{version}: whatever the memory says, there is an answer',
                wrong)
    claims.check(f'{version}: and of programs that still run',
                 crashed <= rounds(8) // 2, crashed)


def refused(claims, claim, words, said, status=1):
    done = run('tasks', *words, status=status)
    lines = done.stderr.splitlines()
    claims.check(claim, len(lines) == 1 and said in lines[0] and
                 done.stdout == '', done.stderr + done.stdout)


def check_errors(claims, interpreter):
    words = interpreter, '-c', \
        'import sys; print(flush=True); sys.stdin.read()'
    with subprocess.Popen(words, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as plain:
        plain.stdout.readline()
        refused(claims, 'a program without asyncio', [str(plain.pid)],
                'has not imported asyncio')
        plain.stdin.close()
    with subprocess.Popen(['cat'], stdin=subprocess.PIPE) as cat:
        refused(claims, 'a program without Python', [str(cat.pid)],
                'runs no CPython')
        cat.stdin.close()
    refused(claims, 'no such process', ['4194304'], 'no process 4194304')
    refused(claims, 'no number', ['python3'], 'expected the number')
    refused(claims, 'no time', ['--for', 'ever', '1'], 'expected a time', 2)
    done = run('tasks', status=2)
    claims.check('no process named', 'tasks' in done.stderr, done.stderr)


def main():
    claims = Claims()
    found = python.interpreters()
    for version, path in found.items():
        check_list(claims, version, path)
        check_once(claims, version, path)
        check_moves(claims, version, path)
        check_spoiled(claims, version, path)
    if found:
        check_errors(claims, list(found.values())[0])
    else:
        claims.skip('tasks of a process', 'no CPython 3.11 to 3.15')
    claims.end()


if __name__ == '__main__':
    main()
