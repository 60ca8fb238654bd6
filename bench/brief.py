# SPDX-License-Identifier: GPL-3.0-or-later
"""brief.py -- what `record` costs many short processes.

	brief.py CPPROF [ROUNDS [PROCESSES]]

So many runs of /bin/true: alone, with an empty library preloaded, and recorded,
in turn; CPU time of a process and of starting it, in milliseconds.  (Recordings
are kept to the end: a file system may be slow to make files where others have
just been removed.)
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile


def cpu_time():
    return sum(usage.ru_utime + usage.ru_stime for usage in
               map(resource.getrusage, (resource.RUSAGE_SELF,
                                        resource.RUSAGE_CHILDREN)))


def run_many(processes):
    before = cpu_time()
    for _ in range(processes):
        os.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ), 0)
    print((cpu_time() - before) / processes * 1000)


def cost(processes, *prefix, **environment):
    return float(subprocess.run(
        [*prefix, sys.executable, __file__, '--run', str(processes)],
        env=dict(os.environ, **environment), check=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout)


def main(cpprof, rounds=7, processes=600):
    times = {'alone': [], 'empty library': [], 'recorded': []}
    with tempfile.TemporaryDirectory() as place:
        empty = place + '/empty.so'
        subprocess.run(['cc', '-shared', '-o', empty, '-x', 'c', '/dev/null'],
                       check=True)
        for number in range(rounds):
            times['alone'].append(cost(processes))
            times['empty library'].append(cost(processes, LD_PRELOAD=empty))
            times['recorded'].append(cost(
                processes, cpprof, 'record', '--no-symbols', '-o',
                '%s/%d' % (place, number), '--'))
    print('| | median, ms | least | most |')
    print('| --- | ---: | ---: | ---: |')
    for name, found in times.items():
        print('| %s | %.3f | %.3f | %.3f |' % (
            name, statistics.median(found), min(found), max(found)))
    more = [a - b for a, b in zip(times['recorded'], times['empty library'])]
    print('| recorded, beyond an empty library | %.3f | %.3f | %.3f |' % (
        statistics.median(more), min(more), max(more)))


if sys.argv[1] == '--run':
    run_many(int(sys.argv[2]))
else:
    main(sys.argv[1], *map(int, sys.argv[2:]))
