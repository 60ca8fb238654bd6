# SPDX-License-Identifier: GPL-3.0-or-later
"""endings.py -- what is said of the CPU time, and of what was lost, in the end.

However a program ends, `info` has its CPU time, as the kernel counts it for
whoever waits for it, and the cost of sampling as a share of that.  Hits that
are in no stack stand in the heading of the views.  Speaks TAP.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from collector_file import Profile  # noqa: E402

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so')
HOSTILE = os.path.join(BUILD, 'tests', 'programs', 'hostile')
PATIENCE = 60

# Uses CPU time, says how much by the kernel's word, and ends.
SPINNER = '''
import os, resource, signal, sys
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
n = 0
while used() < float(sys.argv[2]):
    n += sum(range(1000))
os.write(1, b'%.6f\\n' % used())
if sys.argv[1] == '_exit':
    os._exit(0)
if sys.argv[1] != 'exit':
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
'''


def run(path, *commands):
    words = [word for command in commands for word in ('-e', command)]
    result = subprocess.run([CPPROF, '-q', *words, path], text=True,
                            capture_output=True, timeout=PATIENCE,
                            stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stderr
    return result.stdout


def as_json(path, *commands):
    return [json.loads(line) for line in
            run(path, 'format json', *commands).splitlines()]


def cpu_time_after(how):
    def case():
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, 'p')
            result = subprocess.run(
                [CPPROF, 'record', '-o', path, sys.executable, '-c', SPINNER,
                 how, '0.6'], capture_output=True, timeout=PATIENCE,
                stdin=subprocess.DEVNULL)
            used = float(result.stdout)
            info, = as_json(path, 'info')
            text = run(path, 'info')
        # It goes on for as long as it takes to end.
        assert abs(info['cpu_seconds'] - used) <= 0.06, (info, used)
        assert 0 <= info['sampling_share'] < 0.5, info
        killed = how not in ('exit', '_exit')
        assert ('CPU time in seconds, at least' in text) == killed, text
        assert ('cpu_at_least' in info) == killed, info
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
        had = sum(file.of('allocs').hits for file in files)
        flat, functions, info = as_json(path, 'flat', 'functions', 'info')
        text = run(path, 'flat')
    assert lost > 100 and lost > had, (lost, had)
    assert flat['lost'] == functions['lost'] == lost, (flat, lost)
    assert '\n%d of %d hits lost: no room to store them\n' % (
        lost, lost + had) in text, text
    assert info['dropped'] >= lost


def what_was_put_off(how):
    """No stack was walked for it, since that would have cost too much."""
    def case():
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, 'p')
            subprocess.run(
                [CPPROF, 'record', '-r', 'allocs:1', '-o', path, HOSTILE,
                 'end-deep-' + how], capture_output=True, timeout=PATIENCE,
                stdin=subprocess.DEVNULL)
            flat, info = as_json(path, 'flat', 'info')
            text = run(path, 'flat')
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
        text = run(path, 'flat')
    assert 'lost' not in flat and 'lost' not in text, text


CASES = (
    cpu_time_after('exit'), cpu_time_after('_exit'),
    cpu_time_after('SIGTERM'), cpu_time_after('SIGKILL'),
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
