# SPDX-License-Identifier: GPL-3.0-or-later
"""python-shares.py -- CPU time of Python functions, inside and from outside.

The program measures its functions by its thread's CPU clock; tests/judge.py
decides.  The interpreters are those of python.py, of which one is enough but at
length.  Speaks TAP.
"""
import importlib
import json
import os
import tempfile

import cpprof
import judge
from claims import Claims

python = importlib.import_module('python')
outside = importlib.import_module('python-outside')

PROGRAM = outside.WAIT + """
import json, time
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
    seconds = float(sys.argv[1])
    timed(add, 50000, seconds * 0.3)
    timed(in_sort, 100, seconds * 0.5)
    timed(in_generator, 50000, seconds * 0.2)
    print(json.dumps(spent))
main()
"""
NAMES = 'add', 'in_sort', 'in_generator'
OPTIONS = '-r', 'cpu:1000'
# Of all samples: those whose Python frames could not be read, from outside not in
# time.  Where these are some, any function may lack them.
MOST_UNREAD = {'inside': 0.01, 'outside': 0.1}
SOME_UNREAD = 0.02


def record_inside(place, program, seconds):
    recording = os.path.join(place, 'r')
    outside.script(place, 'go')
    return recording, outside.record_inside(
        recording, [*program, place, seconds], *OPTIONS)[0]


def record_outside(place, program, seconds):
    """From its beginning on."""
    return outside.record(place, 'r', [*program, 'DIRECTORY', seconds],
                          *OPTIONS)


def check(claims, version, how, record, interpreter):
    def name(function):
        return f'{version}, {how}: the share of {function}'

    total, of_c, lacking = f'{version}, {how}: their sum', [], []

    def measure(times):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as place:
            recording, out = record(place, (interpreter, outside.script(
                place, 'shares.py', PROGRAM)), str(2.5 * times))
            spent = json.loads(out)
            functions, info = cpprof.documents(
                recording, 'threshold 0', 'functions', 'info')
            unread = outside.unread(recording) / max(info['samples'], 1)
        rows = {row['path'][0]: row['hits'] for row in functions['rows']}
        hits = {function: rows.get(f'{function} (shares.py)', 0)
                for function in NAMES}
        of, all_s = sum(hits.values()), sum(spent.values())
        of_c.append(0 < rows.get('key (shares.py)', 0) <= hits['in_sort'])
        lacking.append(unread)
        if SOME_UNREAD <= unread < MOST_UNREAD[how]:
            raise judge.Disturbed(f'{unread:.3f} of the samples were not read '
                                  'in time')
        bunch = info['rows'][0]['hits'] / max(info['samples'], 1)
        counts = {name(function): judge.Share(
                      hits[function], of, spent[function] / all_s, bunch)
                  for function in NAMES}
        counts[total] = judge.Amount.drawn(of, 1000 * all_s, bunch)
        return counts
    judge.decide(claims, [*map(name, NAMES), total], measure)
    claims.check(f'{version}, {how}: what a C function calls is part of it',
                 all(of_c), of_c)
    claims.check(f'{version}, {how}: nearly all samples have Python frames',
                 lacking and all(part < MOST_UNREAD[how] for part in lacking),
                 lacking)


def main():
    claims = Claims()
    found = python.interpreters()
    if not judge.IS_LONG:
        found = dict(list(found.items())[:1])
    if not found:
        claims.skip('shares of Python functions', 'no CPython from 3.11 on')
    outside.check_both(claims, found, check, record_inside, record_outside)
    claims.end()


if __name__ == '__main__':
    main()
