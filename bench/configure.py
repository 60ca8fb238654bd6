# SPDX-License-Identifier: GPL-3.0-or-later
"""configure.py -- what `record` costs a script of thousands of processes.

	configure.py CPPROF CONFIGURE [ROUNDS]

Runs a configure script in an empty folder: alone, with an empty library
preloaded, and recorded without and with naming at the end, in turn.  Prints
the total CPU time in seconds, median and least, its ratio to that of the
script alone, and the files and bytes of the recording.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile


def cpu_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost(configure, prefix=(), **environment):
    """CPU seconds of one run."""
    with tempfile.TemporaryDirectory() as folder:
        before = cpu_time()
        subprocess.run([*prefix, configure], cwd=folder, check=True,
                       env=dict(os.environ, **environment),
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return cpu_time() - before


def size_of(recording):
    sizes = [entry.stat().st_size for entry in os.scandir(recording)
             if entry.name.startswith('cpprofdata')]
    return '%d files, %.1f MB' % (len(sizes), sum(sizes) / 1e6)


def main(cpprof, configure, rounds=3):
    cpprof, configure = map(os.path.abspath, (cpprof, configure))
    with tempfile.TemporaryDirectory() as place:
        empty, recording = place + '/empty.so', place + '/recording'
        subprocess.run(['cc', '-shared', '-o', empty, '-x', 'c', '/dev/null'],
                       check=True)
        record = [cpprof, 'record', '-o', recording]
        ways = {'alone': ((), {}),
                'empty library': ((), {'LD_PRELOAD': empty}),
                'recorded, --no-symbols': ([*record, '--no-symbols', '--'],
                                           {}),
                'recorded': ([*record, '--'], {})}
        found, said = {way: [] for way in ways}, dict.fromkeys(ways, '')
        for _ in range(rounds):
            for way, (prefix, environment) in ways.items():
                found[way].append(cost(configure, prefix, **environment))
                if prefix:
                    said[way] = size_of(recording)
                    shutil.rmtree(recording)
    print('| | median, s | least | times | by the least | |')
    print('| --- | ---: | ---: | ---: | ---: | --- |')
    for way, times in found.items():
        middle, least = statistics.median(times), min(times)
        print('| %s | %.2f | %.2f | %.2f | %.2f | %s |' % (
            way, middle, least, middle / statistics.median(found['alone']),
            least / min(found['alone']), said[way]))


main(*sys.argv[1:3], *map(int, sys.argv[3:]))
