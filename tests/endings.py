# SPDX-License-Identifier: GPL-3.0-or-later
"""endings.py -- CPU time and losses as reported after any end of a program.

However a program ends, `info` shows its CPU time, as the kernel reports it to
its parent, and the cost of sampling as a share of that.  The heading of views
shows hits that are missing from all stacks.  Speaks TAP.
"""
import os
import signal
import subprocess
import sys
import tempfile
import traceback

import cpprof
from collector_file import Profile

CPPROF = cpprof.CPPROF
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
HOSTILE = os.path.join(BUILD, 'tests', 'programs', 'hostile')
PATIENCE = 60

# Uses CPU time, prints how much by the kernel's count, up to its first line
# and in total, and ends.
SPINNER = '''
import os, resource, signal, sys
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
first = used()
n = 0
while used() < float(sys.argv[2]):
    n += sum(range(1000))
os.write(1, b'%.6f %.6f\\n' % (first, used()))
if sys.argv[1] == '_exit':
    os._exit(0)
if sys.argv[1] != 'exit':
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
'''


def as_json(path, *commands):
    return cpprof.documents(path, *commands)


def cpu_time_of(how):
    """The CPU time in info, and what the program used under the collector, at
    least and at most."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, 'p')
        before = cpprof.children_seconds()
        result = subprocess.run(
            [CPPROF, 'record', '-o', path, sys.executable, '-c', SPINNER,
             how, '0.8'], capture_output=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL)
        most = cpprof.children_seconds() - before
        first, used = map(float, result.stdout.split())
        info, = as_json(path, 'info')
        text = cpprof.text(path, 'info')
    killed = how not in ('exit', '_exit')
    assert ('CPU time in seconds, at least' in text) == killed, text
    assert ('cpu_at_least' in info) == killed, info
    assert 0 <= info['sampling_share'] < 0.5, info
    return info['cpu_seconds'], used - first, most + 0.001


def cpu_time_after(how):
    def case():
        told, least, most = cpu_time_of(how)
        assert least <= told <= most, (least, told, most)
    case.__name__ = 'cpu_time_is_known_after_' + how
    return case


def cpu_time_after_kill(how):
    """The collector notes the time now and then.  If that took long, as can
    happen on a busy machine, it waits half a second before the next time."""
    def case():
        for _ in range(10):
            told, least, most = cpu_time_of(how)
            assert least - 0.6 <= told <= most, (least, told, most)
            if told >= least - 0.06:
                return
        assert False, (least, told, most)
    case.__name__ = 'cpu_time_is_known_after_' + how
    return case


def what_was_lost_is_in_the_heading():
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, 'p')
        subprocess.run(
            [CPPROF, 'record', '-r', 'allocs:1', '-r', 'cpu', '--max-size',
             '12K', '-o', path, sys.executable, '-c', 'print(1)'],
            capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        files = [Profile(os.path.join(path, name))
                 for name in os.listdir(path)
                 if name.startswith('cpprofdata.')]
        lost = sum(file.of('allocs').lost_of('allocs') for file in files)
        dropped = sum(file.lost() for file in files)
        had = sum(file.of('allocs').hits for file in files)
        flat, functions, info = as_json(path, 'flat', 'functions', 'info')
        text = cpprof.text(path, 'flat')
    assert lost > 100 and lost > had, (lost, had)
    assert flat['lost'] == functions['lost'] == lost, (flat, lost)
    assert '\n%d of %d hits lost: buffers, memory or disk were full\n' % (
        lost, lost + had) in text, text
    assert info['dropped'] == dropped >= lost, (info, dropped)
    # Not every tally is a loss.
    assert sum(info['tallies'].values()) > dropped, info


def what_was_put_off(how):
    """No stack was walked for these hits, since that would have cost too
    much."""
    def case():
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, 'p')
            subprocess.run(
                [CPPROF, 'record', '-r', 'allocs:1', '-o', path, HOSTILE,
                 'end-deep-' + how], capture_output=True, timeout=PATIENCE,
                stdin=subprocess.DEVNULL)
            flat, info = as_json(path, 'flat', 'info')
            text = cpprof.text(path, 'flat')
        lost, all = flat.get('lost', 0), flat.get('lost', 0) + flat['total']
        assert 1000 <= all <= 1100, flat
        assert lost <= all / 100 or \
            '\n%d of %d hits lost: ' % (lost, all) in text, text
        assert info['dropped'] >= lost
    case.__name__ = 'what_was_put_off_is_lost_after_' + how
    return case


def what_was_not_lost_is_not():
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, 'p')
        subprocess.run(
            [CPPROF, 'record', '-r', 'allocs:1', '-o', path, sys.executable,
             '-c', 'print(1)'], capture_output=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL)
        flat, = as_json(path, 'flat')
        text = cpprof.text(path, 'flat')
    assert 'lost' not in flat and 'lost' not in text, text


CASES = (
    cpu_time_after('exit'), cpu_time_after('_exit'),
    cpu_time_after_kill('SIGTERM'), cpu_time_after_kill('SIGKILL'),
    what_was_lost_is_in_the_heading,
    what_was_put_off('exit-group'), what_was_put_off('kill'),
    what_was_not_lost_is_not,
)


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    print('1..%d' % len(CASES))
    for number, case in enumerate(CASES, 1):
        try:
            case()
            print('ok %d - %s' % (number, case.__name__))
        except Exception:
            print('not ok %d - %s' % (number, case.__name__))
            for line in traceback.format_exc().splitlines():
                print('# ' + line)
        sys.stdout.flush()


main()
