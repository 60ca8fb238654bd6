# SPDX-License-Identifier: GPL-3.0-or-later
"""together.py -- many threads that begin at once and soon end.

tests/programs/brief.c prints what its threads' own clocks say.  The hits must add
up to that, however the threads share the processors: what a thread has used is
in a stack or, without a sample, in `[unsampled: brief]`; none of it is lost.
Speaks TAP.
"""
import json
import math
import subprocess

from brief import BRIEF, CPPROF, Recording
from claims import Claims
from filters import forbid_events

HIT_MS = 1          # of cpu
REAL_MS = 4
TRIES = 5
UNSAMPLED = '[unsampled: brief]'
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
    unsampled = HIT_MS * functions.get(UNSAMPLED, 0)
    seen = f'{HIT_MS * hits} ms, {unsampled} of them without samples, ' \
        f'{HIT_MS * lost} ms lost, {used:.0f} ms by the threads\' clocks'
    # Hits are drawn, later ones four at a time: five standard errors.  The end
    # of a thread comes after its last look at the clock.
    slack = 6 + 0.06 * used + 5 * math.sqrt(4 * used)
    if not -slack < HIT_MS * hits - used < slack + 0.1 * n:
        yield 'does not add up: ' + seen
    if lost > 0:
        yield 'not all is counted: ' + seen
    if unsampled > brief_ms - spun_ms + 0.1 * n + 0.2 * used + 16:
        yield 'much has no sample: ' + seen
    spun = HIT_MS * functions.get('spin_brief', 0)
    # On a busy machine a thread runs in turns that no tick finds; then its end
    # is the only place that is known.
    if spun < 0.6 * spun_ms - 24:
        yield f'{spun} ms of {spun_ms:.0f} are where they were used; ' + seen


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
    seen = sorted((hits + lost, lost + functions.get(UNSAMPLED, 0))
                  for hits, lost, functions in map(views, recording.files()))
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


def check(n, ms, means, **more):
    with Recording(BRIEF, 'together', str(n), str(ms), **more) as recording:
        claims.make(f'{n} threads of {ms} ms at once are counted, by {means}',
                    list(differences(recording, n)))


def check_start(n, means, **more):
    """What threads use before they can be sampled is measured and not drawn."""
    with Recording(BRIEF, 'together', str(n), '0.01', **more) as recording:
        _, brief_ms, spun_ms = (float(us) / 1000
                                for us in recording.out.split())
        hits = views(recording.path)[2].get(UNSAMPLED, 0)
    claims.check(f'the beginning of {n} threads is counted, by {means}',
                 HIT_MS * hits > 0.6 * (brief_ms - spun_ms),
                 f'{HIT_MS * hits} ms of {brief_ms - spun_ms:.0f}')


def main():
    for means, more in (('the best source', {}),
                        ('ticks', {'preexec_fn': forbid_events})):
        for n, ms in ((10, 3), (10, 12), (300, 0.3), (300, 3), (300, 12),
                      (1000, 1)):
            check(n, ms, means, **more)
        check_start(2000, means, **more)
    for n, ms in ((10, 3), (300, 3), (300, 12), (1000, 1)):
        check_asleep(n, ms)
    check_forked(300, 12)
    claims.end()


if __name__ == '__main__':
    main()
