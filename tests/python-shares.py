# SPDX-License-Identifier: GPL-3.0-or-later
"""python-shares.py -- CPU time of Python functions, inside and from outside.

The program measures its functions by its thread's CPU clock; tests/judge.py
decides.  The interpreters are those of python.py, of which one is enough but at
length.  Speaks TAP.
"""
import importlib
import json
import os
import subprocess
import tempfile

import cpprof
import judge
from claims import Claims

python = importlib.import_module('python')
outside = importlib.import_module('python-outside')

# It begins when a file is there.
PROGRAM = """
import json, os, sys, time
while not os.path.exists(sys.argv[1]): sum(range(1000))
spent = {}
def timed(function, n, seconds):
    begin = now = time.thread_time()
    while now < begin + seconds:
        function(n)
        now = time.thread_time()
    spent[function.__name__] = now - begin
def add(n):
    for i in range(n): i * i + 1
def in_sort(n):
    for _ in range(n): sorted(range(300), key=key)
def key(x):
    return -x
def in_generator(n):
    for _ in squares(n): pass
def squares(n):
    for i in range(n): yield i * i
def main():
    seconds = float(sys.argv[2])
    timed(add, 50000, seconds * 0.3)
    timed(in_sort, 100, seconds * 0.5)
    timed(in_generator, 50000, seconds * 0.2)
    print(json.dumps(spent))
main()
"""
NAMES = 'add', 'in_sort', 'in_generator'
# Of all samples; any function may lack those that could not be read in time.
MOST_UNREAD = 0.01


def record(place, how, interpreter, seconds):
    """What the program has measured."""
    program, go = os.path.join(place, 'shares.py'), os.path.join(place, 'go')
    recording = os.path.join(place, 'r')
    with open(program, 'w', encoding='ascii') as file:
        file.write(PROGRAM)
    words = [interpreter, program, go, str(seconds)]
    options = '-r', 'cpu:1000'
    if how == 'inside':
        with open(go, 'w', encoding='ascii'):
            pass
        out = cpprof.run('record', '--no-prompt', *options, '-o', recording,
                         '--', *words, timeout=600).stdout
    else:
        with subprocess.Popen(words, stdout=subprocess.PIPE,
                              text=True) as running:
            with outside.recorder(recording, '-p', str(running.pid),
                                  *options):
                with open(go, 'w', encoding='ascii'):
                    pass
                out = running.communicate(timeout=600)[0]
    return recording, json.loads(out)


def check(claims, version, how, interpreter):
    def name(function):
        return f'{version}, {how}: the share of {function}'

    keys = []

    def measure(times):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as place:
            recording, spent = record(place, how, interpreter, 2.5 * times)
            rows = {row['path'][0]: row['hits'] for row in cpprof.table(
                recording, 'threshold 0', 'functions')['rows']}
            unread = outside.unread(recording)
        hits = {function: rows.get(f'{function} (shares.py)', 0)
                for function in NAMES}
        keys.append(0 < rows.get('key (shares.py)', 0) <= hits['in_sort'])
        if unread > MOST_UNREAD * sum(hits.values()):
            raise judge.Disturbed(f'{unread} samples could not be read')
        return {name(function): judge.Share(
                    hits[function], sum(hits.values()),
                    spent[function] / sum(spent.values()))
                for function in NAMES}
    judge.decide(claims, [name(function) for function in NAMES], measure)
    claims.check(f'{version}, {how}: what a C function calls is part of it',
                 all(keys), keys)


def main():
    claims = Claims()
    found = python.interpreters()
    for version, interpreter in found.items():
        if judge.IS_LONG or version == next(iter(found)):
            for how in 'inside', 'outside':
                why = outside.why_not() if how == 'outside' else \
                    '' if os.path.exists(outside.LIBRARY) else 'no collector'
                if why:
                    claims.skip(f'{version}, {how}: shares', why)
                else:
                    check(claims, version, how, interpreter)
    if not found:
        claims.skip('shares of Python functions', 'no CPython from 3.11 on')
    claims.end()


if __name__ == '__main__':
    main()
