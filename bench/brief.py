# SPDX-License-Identifier: GPL-3.0-or-later
"""brief.py -- what `record` costs many short processes.

	brief.py CPPROF CHILDREN [ROUNDS [PROCESSES [OTHER-CPPROF]]]

Runs PROCESSES children of each kind (bench/programs/children.c) alone, with an
empty library preloaded, and recorded, in turn.  Prints the CPU time of a
process, including starting it, in milliseconds, and its page faults.  What
recording adds is given for medians and for minima; the latter also hold on a
busy machine.  Recordings are kept until the end, since a file system may be
slow to create files where others have just been removed.
"""
import os
import statistics
import subprocess
import sys
import tempfile

KINDS = (('spawn', 'posix_spawn'), ('exec', 'fork and exec'),
         ('fork', 'fork alone'), ('work', 'fork, 1 ms of work'))


def cost(*command, **environment):
    """Milliseconds and page faults of one child."""
    output = subprocess.run(command, env=dict(os.environ, **environment),
                            check=True, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL).stdout
    return tuple(map(float, output.split()))


def show(name, found, base):
    ms, faults = zip(*found)
    more = '' if base is None else '%+.3f | %+.3f' % tuple(
        choose(ms) - choose([row[0] for row in base])
        for choose in (statistics.median, min))
    print('| %s | %.3f | %.3f | %.3f | %s | %.1f |' % (
        name, statistics.median(ms), min(ms), max(ms), more or ' | ',
        statistics.median(faults)))


def main(children, rounds, processes, cpprofs):
    with tempfile.TemporaryDirectory() as place:
        empty = place + '/empty.so'
        subprocess.run(['cc', '-shared', '-o', empty, '-x', 'c', '/dev/null'],
                       check=True)
        print('| | median, ms | least | most | more than with an empty '
              'library, medians | minima | page faults |')
        print('| --- | ---: | ---: | ---: | ---: | ---: | ---: |')
        for kind, name in KINDS:
            command = [children, kind, str(processes)]
            times = {}
            for number in range(rounds):
                times.setdefault('alone', []).append(cost(*command))
                times.setdefault('empty library', []).append(
                    cost(*command, LD_PRELOAD=empty))
                for which, cpprof in enumerate(cpprofs):
                    times.setdefault(which, []).append(cost(
                        cpprof, 'record', '--no-symbols', '-o',
                        '%s/%s-%d-%d' % (place, kind, number, which), '--',
                        *command))
            show(name + ', alone', times['alone'], None)
            show('empty library', times['empty library'], None)
            for which, cpprof in enumerate(cpprofs):
                show('recorded' if which == 0 else 'recorded by ' + cpprof,
                     times[which], times['empty library'])


main(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 7,
     int(sys.argv[4]) if len(sys.argv) > 4 else 600,
     sys.argv[1:2] + sys.argv[5:])
