# SPDX-License-Identifier: GPL-3.0-or-later
"""redis.py -- the effect of sampling on a server whose thread switches all the
time.

redis-server answers GETs of redis-benchmark (on the loopback interface), by
itself, with its CPU clock read around three calls (bench/own-clock.c), and
under cpprof.  Prints the CPU time per request, and the shares of these calls
by the clock and by profiles.

	python3 bench/redis.py [ROUNDS [REQUESTS [CLIENTS]]]

builddir and CPPROF as for the tests; OTHER is the libcpprof.so of another
build, for comparison.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PORT = '7391'
CALLS = ('epoll_wait', 'write', 'read')
BUILD = os.environ.get('builddir', 'build')
CPPROF = os.environ.get('CPPROF', './cpprof')
SOURCES = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.abspath(os.path.join(BUILD, '.libs', 'libcpprof.so.0'))


def ask(*words):
    return subprocess.run(['redis-cli', '-p', PORT, *words],
                          capture_output=True, text=True).stdout


def cpu_seconds():
    facts = dict(line.strip().split(':', 1)
                 for line in ask('info', 'cpu').splitlines() if ':' in line)
    return (float(facts['used_cpu_sys_main_thread']) +
            float(facts['used_cpu_user_main_thread']))


def profile_shares(directory):
    text = subprocess.run(
        [CPPROF, '-q', '-e', 'threshold 0', '-e', 'functions', directory],
        capture_output=True, text=True).stdout
    rows = dict((name, float(share)) for share, name in re.findall(
        r'^([\d.]+) (\w+) \[', text, re.M))
    return [rows.get(name, 0) for name in CALLS]


def serve(clock, library, resources, n, clients):
    """Microseconds of CPU time per request, and the calls' shares."""
    directory = tempfile.mkdtemp(prefix='cpprof-bench-')
    environment = dict(os.environ)
    if library is not None:
        environment.update(LD_PRELOAD=library, CPPROF_OUTPUT=directory,
                           CPPROF_RESOURCES=resources)
    own = os.path.join(directory, 'own')
    if clock is not None:
        environment.update(LD_PRELOAD=clock, OWN_CLOCK=own)
    server = subprocess.Popen(
        ['redis-server', '--port', PORT, '--bind', '127.0.0.1', '--save', '',
         '--appendonly', 'no', '--logfile', '/dev/null', '--dir', directory],
        env=environment, stdout=subprocess.DEVNULL)
    for _ in range(200):
        if ask('ping').startswith('PONG'):
            break
        time.sleep(0.05)
    before = cpu_seconds()
    subprocess.run(['timeout', '300', 'redis-benchmark', '-p', PORT, '-t',
                    'get', '-n', str(n), '-c', str(clients), '-q'],
                   capture_output=True)
    each = (cpu_seconds() - before) / n * 1e6
    ask('shutdown', 'nosave')
    server.wait(30)
    if clock is not None:
        with open(own) as file:
            cpu, *spent = map(int, file.readline().split())
        shares = [us / cpu for us in spent]
    else:
        shares = profile_shares(directory) if library else None
    shutil.rmtree(directory)
    return each, shares


def main():
    rounds, n, clients = (int(word) for word in
                          (sys.argv[1:] + ['3', '300000', '50'][
                              len(sys.argv) - 1:]))
    directory = tempfile.mkdtemp(prefix='cpprof-bench-')
    clock = os.path.join(directory, 'own-clock.so')
    subprocess.run(['cc', '-O2', '-shared', '-fPIC', '-o', clock,
                    os.path.join(SOURCES, 'own-clock.c'), '-ldl'], check=True)
    ways = [('alone', None, None, None), ('its own clock', clock, None, None),
            ('cpprof', None, LIBRARY, 'cpu'),
            ('cpprof -F 1000', None, LIBRARY, 'cpu:1000')]
    if 'OTHER' in os.environ:
        ways.append(('OTHER -F 1000', None, os.environ['OTHER'], 'cpu:1000'))
    results = {way[0]: [] for way in ways}
    for _ in range(rounds):
        for name, *how in ways:
            results[name].append(serve(*how, n, clients))
    base = statistics.median(each for each, _ in results['alone'])
    for name, runs in results.items():
        each = statistics.median(each for each, _ in runs)
        line = '%-15s %6.2f us a request, %.2f' % (name, each, each / base)
        if runs[0][1] is not None:
            for i, call in enumerate(CALLS):
                shares = [100 * shares[i] for _, shares in runs]
                line += ', %s %.1f [%.1f .. %.1f]' % (
                    call, statistics.mean(shares), min(shares), max(shares))
        print(line, flush=True)
    shutil.rmtree(directory)


if __name__ == '__main__':
    main()
