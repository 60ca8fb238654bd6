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
# Two threads, of which one runs at a time.
COMPETE = outside.WAIT + """
import json, threading, time
spent = {}
def delay():
    with open('/proc/thread-self/schedstat') as file:
        return int(file.read().split()[1]) / 1e9
def add(end):
    while time.perf_counter() < end:
        for i in range(3000): i * i
def compete(end):
    begin = time.perf_counter(), time.thread_time(), delay()
    add(end)
    spent[threading.current_thread().name] = [
        time.perf_counter() - begin[0], time.thread_time() - begin[1],
        delay() - begin[2]]
def main():
    end = time.perf_counter() + float(sys.argv[1])
    threads = [threading.Thread(target=compete, args=(end,)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(json.dumps(spent))
main()
"""


def record_inside(place, program, seconds, *options):
    recording = os.path.join(place, 'r')
    outside.script(place, 'go')
    return recording, outside.record_inside(
        recording, [*program, place, seconds], *options)[0]


def record_outside(place, program, seconds, *options):
    return outside.record(place, 'r', [*program, 'DIRECTORY', seconds],
                          *options)


def stacks(recording, resource):
    """The functions of each stack, without their files, and its hits."""
    for line in cpprof.text(recording, f'resource {resource}',
                            'export collapsed').splitlines():
        stack, _, hits = line.rpartition(' ')
        yield [frame.split(' (')[0] for frame in stack.split(';')], int(hits)


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
                place, 'parts.py', COLLECT)), str(2.5 * times), '-r',
                'cpu:1000')
            spent = json.loads(out)
            hits, of = dict.fromkeys(names, 0), 0
            for frames, n in stacks(recording, 'cpu'):
                own = [name for name in ('churn', 'ask', 'add')
                       if name in frames]
                if not own:
                    continue
                of += n
                if COLLECTOR in frames:
                    if own[0] in hits:
                        hits[own[0]] += n
                    else:
                        wrong.append(frames)
                    # Only the program's callback is below it.
                    after = frames[frames.index(COLLECTOR) + 1:]
                    if [name for name in after if name.startswith((
                            'gc_', 'deduce', 'subtract', 'visit'))]:
                        wrong.append(frames)
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


def check_gil(claims, version, how, record, interpreter):
    name = f'{version}, {how}: the share of waits for the GIL in real time'
    wrong = []

    def measure(times):
        with tempfile.TemporaryDirectory(prefix='cpprof-test-') as place:
            recording, out = record(place, (interpreter, outside.script(
                place, 'parts.py', COMPETE)), str(2 * times), '-r',
                'real:1000')
            spent = json.loads(out).values()
            hits = of = 0
            for frames, n in stacks(recording, 'real'):
                if 'compete' not in frames:
                    continue
                of += n
                if GIL in frames:
                    hits += n
                    if frames[-1] != GIL or 'add' not in frames:
                        wrong.append(frames)
            info, = cpprof.documents(recording, 'info')
        wall, cpu, delay = map(sum, zip(*spent))
        # A thread that may run and does not is not known to wait for it.
        if delay > judge.SHARE * wall:
            raise judge.Disturbed(f'threads were ready for {delay:.2f} of '
                                  f'{wall:.2f} s')
        row = next(row for row in info['rows'] if row['name'] == 'real')
        bunch = max(row['hits'] / max(row['samples'], 1), 1)
        return {name: judge.Share(hits, of, (wall - cpu) / wall, bunch)}
    judge.decide(claims, [name], measure)
    claims.make(f'{version}, {how}: nothing stands below a wait for the GIL',
                wrong[:5])


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
