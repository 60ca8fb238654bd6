# SPDX-License-Identifier: GPL-3.0-or-later
"""together.py -- many threads that begin at once and soon end.

tests/programs/brief.c prints what its threads' own clocks say.  The hits in
stacks and those that `info` says are lost must add up to that, however the
threads share the processors, and few may be lost.  `record` must not be silent
about a share that views show.  Speaks TAP.
"""
import json
import math
import subprocess

from brief import BRIEF, CPPROF, Recording
from claims import Claims

HIT_MS = 1          # of cpu
REAL_MS = 4
TRIES = 5
claims = Claims()


def views(path):
    """What flat and functions say, as (hits, lost hits, hits by function)."""
    run = subprocess.run([CPPROF, '-q', '-F', 'json', '-e', 'threshold 0',
                          '-e', 'flat', '-e', 'functions', path],
                         capture_output=True, text=True, timeout=60,
                         check=True)
    flat, functions = map(json.loads, run.stdout.splitlines())
    return flat['total'], flat.get('lost', 0), {
        row['path'][-1]: row['hits'] for row in functions['rows']}


def differences(recording, n):
    """What is wrong with a recording of n threads."""
    main_ms, brief_ms, spun_ms = (float(us) / 1000
                                  for us in recording.out.split())
    hits, lost, functions = views(recording.path)
    used = main_ms + brief_ms
    seen = f'{HIT_MS * hits} ms in stacks, {HIT_MS * lost} ms lost, ' \
        f'{used:.0f} ms by the threads\' clocks'
    # What the thread used before its timer starts and after it stops is not
    # the collector's to count.  Hits are drawn, later ones four at a time:
    # five standard deviations.
    slack = 6 + 0.03 * used + 0.03 * n + 5 * math.sqrt(4 * used)
    if abs(HIT_MS * (hits + lost) - used) > slack:
        yield 'does not add up: ' + seen
    if HIT_MS * lost > 0.2 * used + 16:
        yield 'much is lost: ' + seen
    spun = HIT_MS * functions.get('spin_brief', 0)
    # On a busy machine a thread runs in turns that no tick finds; then its end
    # is the only place that is known.
    if spun < 0.6 * spun_ms - 24:
        yield f'{spun} ms of {spun_ms:.0f} are where they were used; ' + seen
    if ('of hits lost, see info' in recording.said) != \
            (lost > (hits + lost) / 100):
        yield f'{seen}, but record says: {recording.said}'


def differences_asleep(recording, n):
    """Likewise of n threads that only sleep, in real time."""
    used = sum(float(us) / 1000 for us in recording.out.split())
    hits, lost, _ = views(recording.path)
    seen = REAL_MS * (hits + lost)
    # Before a thread's own clock starts it may wait for a processor.
    if not 0.95 * used - 6 * REAL_MS < seen < 1.3 * used + n + 6 * REAL_MS:
        yield f'{REAL_MS * hits} ms in stacks, {REAL_MS * lost} ms lost, ' \
            f'{used:.0f} ms by the clock'


def check_asleep(n, ms):
    for _ in range(TRIES):
        with Recording(BRIEF, 'together', str(n), str(ms), 'asleep',
                       options=['-r', 'real']) as recording:
            wrong = list(differences_asleep(recording, n))
        if not wrong:
            break
    claims.make(f'{n} threads that sleep for {ms} ms at once are counted',
                wrong)


def differences_forked(recording):
    """What a child counts of what threads of its parent have left; None if
    these have left next to nothing."""
    child_ms, brief_ms = (float(us) / 1000 for us in recording.out.split())
    seen = sorted((hits + lost, lost) for hits, lost, _ in
                  map(views, recording.files()))
    if len(seen) != 2 or REAL_MS * seen[1][1] < 0.1 * brief_ms:
        return None
    child = REAL_MS * seen[0][0]
    return [f'{child} ms by a child of {child_ms:.0f} ms'] \
        if child > 1.3 * child_ms + 6 * REAL_MS else []


def check_forked(n, ms):
    found = []
    while len(found) < 2 * TRIES and [] not in found:
        with Recording(BRIEF, 'together', str(n), str(ms), 'forked',
                       options=['-r', 'real']) as recording:
            found.append(differences_forked(recording))
    claim = f'what {n} threads of {ms} ms left is not a child\'s'
    if not any(found) and [] not in found:
        claims.skip(claim, 'they left next to nothing')
    else:
        claims.make(claim, [] if [] in found else
                    [wrong for wrong in found if wrong])


def check(n, ms):
    """The machine may be so busy that samples are lost; rarely always."""
    for _ in range(TRIES):
        with Recording(BRIEF, 'together', str(n), str(ms)) as recording:
            wrong = list(differences(recording, n))
        if not wrong:
            break
    claims.make(f'{n} threads of {ms} ms at once are counted', wrong)


def main():
    for n, ms in ((10, 3), (10, 12), (300, 0.3), (300, 3), (300, 12), (1000, 1)):
        check(n, ms)
    for n, ms in ((10, 3), (300, 3), (300, 12), (1000, 1)):
        check_asleep(n, ms)
    check_forked(300, 12)
    claims.end()


if __name__ == '__main__':
    main()
