# SPDX-License-Identifier: GPL-3.0-or-later
"""python-parts.py -- the garbage collector and waits for the GIL, by name.

The program measures its collections itself, by gc.callbacks and the thread's
CPU clock, and how long its threads do not run.  tests/judge.py decides.  Runs
with each interpreter that there is; the collector of a stripped one has no
name.  Speaks TAP.
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
COLLECTOR, GIL = '[garbage collector]', '[waiting for the GIL]'
OWN = 'churn', 'ask', 'add'
# Functions of the collector.
INSIDE = 'gc_', 'deduce', 'subtract', 'update_refs', 'visit', 'move_', 'untrack'

COLLECT = outside.WAIT + """
import gc, json, time
clock = time.thread_time
spent, begun = {}, 0
def note(phase, info):
    global begun
    if phase == 'start':
        begun = clock()
    else:
        spent['collector', where] = spent.get(('collector', where), 0) + \\
            clock() - begun
def timed(function, seconds):
    global where
    where = function.__name__
    begin = now = clock()
    while now < begin + seconds:
        function()
        now = clock()
    spent['all', where] = now - begin
class Node:
    pass
def churn():
    for _ in range(3000):
        node = Node()
        node.self = node
def ask():
    for _ in range(2000): pass
    gc.collect()
def add():
    for i in range(30000): i * i
def main():
    seconds = float(sys.argv[1])
    kept = [[] for _ in range(100000)]
    gc.callbacks.append(note)
    timed(churn, seconds * 0.4)
    timed(ask, seconds * 0.3)
    timed(add, seconds * 0.3)
    print(json.dumps({' '.join(key): s for key, s in spent.items()}))
main()
"""
# Two threads, of which one runs at a time.  "alone": whoever is ready runs,
# whatever else the machine does.  Switches cost CPU time, too, so they are few.
COMPETE = outside.WAIT + """
import json, os, threading, time
spent = {}
def delay():
    with open('/proc/thread-self/schedstat') as file:
        return int(file.read().split()[1]) / 1e9
def add(end):
    while time.perf_counter() < end:
        for i in range(3000): i * i
def compete(end):
    ready = delay()
    begin = time.perf_counter(), time.thread_time()
    add(end)
    end = time.perf_counter(), time.thread_time()
    spent[threading.current_thread().name] = [
        end[0] - begin[0], end[1] - begin[1], delay() - ready]
def main():
    sys.setswitchinterval(0.01)
    if sys.argv[2] == 'alone':
        try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError: pass
    end = time.perf_counter() + float(sys.argv[1])
    threads = [threading.Thread(target=compete, args=(end,)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(json.dumps(spent))
main()
"""


def record_inside(place, program, words, *options):
    recording = os.path.join(place, 'r')
    outside.script(place, 'go')
    return recording, outside.record_inside(
        recording, [*program, place, *words], *options)[0]


def record_outside(place, program, words, *options):
    return outside.record(place, 'r', [*program, 'DIRECTORY', *words],
                          *options)


def paths(recording, resource):
    """The functions of each path, without their files, and its hits with all
    that is below it."""
    rows = cpprof.table(recording, f'resource {resource}', 'threshold 0',
                        'tree')['rows']
    for row in rows:
        yield [frame.split(' (')[0] for frame in row['path']], row['hits']


def first(path, names):
    """Whether the path ends in one of the names, for the first time."""
    return path[-1] in names and not set(path[:-1]) & set(names)


def has_symbols(interpreter):
    """Whether the collector has a name in the interpreter."""
    libraries = cpprof.subprocess.run(
        ['ldd', interpreter], capture_output=True, text=True,
        check=False).stdout.split()
    files = [os.path.realpath(interpreter)] + [
        word for word in libraries if word.startswith('/') and
        'libpython' in word]
    for path in files:
        with open(path, 'rb') as file:
            if b'gc_collect_main' in file.read():
                return True
    return False


def check_collector(claims, version, how, record, interpreter):
    what = f'{version}, {how}: '
    if not has_symbols(interpreter):
        claims.skip(what + 'the garbage collector', 'no symbols')
        return
    names = {case: f'{what}the collector\'s share, called from {case}'
             for case in ('churn', 'ask')}
    wrong = []

    def measure(times):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as place:
            recording, out = record(place, (interpreter, outside.script(
                place, 'parts.py', COLLECT)), [str(2.5 * times)], '-r',
                'cpu:1000')
            spent = json.loads(out)
            hits, of = dict.fromkeys(names, 0), 0
            for path, n in paths(recording, 'cpu'):
                of += n if first(path, OWN) else 0
                own = [name for name in OWN if name in path[:-1]]
                if own and first(path, [COLLECTOR]):
                    if own[0] in hits:
                        hits[own[0]] += n
                    else:
                        wrong.append(path)
                elif path[-2:-1] == [COLLECTOR] and \
                        path[-1].startswith(INSIDE):
                    wrong.append(path)
            info, = cpprof.documents(recording, 'info')
        every = sum(s for key, s in spent.items() if key.startswith('all '))
        row = next(row for row in info['rows'] if row['name'] == 'cpu')
        bunch = max(row['hits'] / max(row['samples'], 1), 1)
        return {names[case]: judge.Share(
                    hits[case], of, spent[f'collector {case}'] / every, bunch)
                for case in names}
    judge.decide(claims, list(names.values()), measure)
    claims.make(what + 'its functions have its name, where it is called',
                wrong[:5])


def gil_hits(recording, wrong):
    """Of the real time of `add`, that of waits for the GIL, and all."""
    hits = of = 0
    for path, n in paths(recording, 'real'):
        of += n if first(path, ['add']) else 0
        hits += n if 'add' in path and path[-1] == GIL else 0
        if GIL in path[:-1]:
            wrong.append(path)
    return hits, of


MOST_READY = 0.03


def check_gil(claims, version, how, record, interpreter):
    """Where it can be judged, its share."""
    what = f'{version}, {how}: '
    name = what + 'the share of waits for the GIL in real time'
    wrong, found = [], []

    def measure(times, mode='alone'):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as place:
            recording, out = record(place, (interpreter, outside.script(
                place, 'parts.py', COMPETE)), [str(2 * times), mode], '-r',
                'real:1000')
            hits, of = gil_hits(recording, wrong)
            info, = cpprof.documents(recording, 'info')
        found.append(hits)
        wall, cpu, delay = map(sum, zip(*json.loads(out).values()))
        # A thread that may run and does not is not known to wait for it.
        if mode == 'alone' and delay > MOST_READY * wall:
            raise judge.Disturbed(f'threads were ready for {delay:.2f} of '
                                  f'{wall:.2f} s')
        row = next(row for row in info['rows'] if row['name'] == 'real')
        bunch = max(row['hits'] / max(row['samples'], 1), 1)
        return {name: judge.Share(hits, of, (wall - cpu) / wall, bunch)}
    # Beside threads that run first, nobody could sample them from outside.
    if how == 'inside':
        judge.decide(claims, [name], measure)
    else:
        measure(1, 'beside')
    claims.make(what + 'nothing stands below a wait for the GIL', wrong[:5])
    claims.check(what + 'there are waits for the GIL', max(found) > 0, found)


def check(claims, version, how, record, interpreter):
    check_collector(claims, version, how, record, interpreter)
    check_gil(claims, version, how, record, interpreter)


def main():
    claims = Claims()
    found = python.interpreters()
    if not found:
        claims.skip('parts of the interpreter', 'no CPython from 3.11 on')
    outside.check_both(claims, found, check, record_inside, record_outside)
    claims.end()


if __name__ == '__main__':
    main()
