#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""slices.py [ROUNDS [PROGRAM...]] -- what slices of time add to a sample.

Programs run for some two seconds at 2,000 samples a second, with slices and
without, by turns.  The time is that inside the collector, by its own count.
CPPROF_LIBRARY names the collector; OTHER another build to compare with.
"""
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests'))
import workloads  # noqa: E402
from collector_file import Profile  # noqa: E402

LIBRARY = os.path.abspath(os.environ.get('CPPROF_LIBRARY',
                                         '.libs/libcpprof.so.0'))
SIZES = {'calls': 600, 'cc1plus': 16, 'python3': 4000000, 'sqlite3': 1000000}


def measure(command, library, width):
    """ns a sample, samples, and records of slices."""
    spent = taken = records = 0
    with tempfile.TemporaryDirectory() as output:
        environment = dict(os.environ, LD_PRELOAD=library,
                           CPPROF_OUTPUT=output, CPPROF_RESOURCES='cpu:500')
        if width is not None:
            environment['CPPROF_SLICE'] = width
        subprocess.run(command, env=environment, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for name in os.listdir(output):
            profile = Profile(os.path.join(output, name))
            spent += profile.sampling_ns
            taken += sum(node.samples for node in profile.nodes.values())
            records += len(profile.slices)
    return spent / taken, taken, records


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    kinds = [('without', LIBRARY, '0'), ('with', LIBRARY, None)]
    if 'OTHER' in os.environ:
        kinds.append(('other, with', os.path.abspath(os.environ['OTHER']),
                      None))
    print('| program | slices | ns a sample | ratio to without '
          '| samples | records |\n|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as folder:
        for workload in workloads.WORKLOADS:
            if workload.name not in (sys.argv[2:] or SIZES):
                continue
            command = workload.command(SIZES[workload.name], folder)
            if not command:
                continue
            found = {kind: [] for kind in kinds}
            for number in range(rounds):
                for kind in kinds if number % 2 == 0 else kinds[::-1]:
                    found[kind].append(measure(command, *kind[1:]))
            for kind in kinds:
                print('| %s | %s | %.0f | %.3f | %d | %d |' % (
                    workload.name, kind[0],
                    statistics.median(one[0] for one in found[kind]),
                    statistics.median(one[0] / plain[0] for one, plain in
                                      zip(found[kind], found[kinds[0]])),
                    *found[kind][0][1:]), flush=True)


if __name__ == '__main__':
    sys.exit(main())
