#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""depths.py [SECONDS] -- the cost of a sample, by the depth of the stack.

Takes a sample at every allocation, so that the first walk of the whole stack
(and the pause after it, which limits the cost) does not matter.  The time is
that inside the collector, by its own count.
"""
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests'))
from collector_file import Profile  # noqa: E402

LIBRARY = os.path.abspath(os.environ.get('CPPROF_LIBRARY',
                                         '.libs/libcpprof.so.0'))


def measure(program, depth, seconds, **more):
    with tempfile.TemporaryDirectory() as output:
        subprocess.run([program, str(depth), str(seconds)], check=True,
                       env=dict(os.environ, LD_PRELOAD=LIBRARY,
                                CPPROF_OUTPUT=output,
                                CPPROF_RESOURCES='allocs:1', **more))
        name, = os.listdir(output)
        profile = Profile(os.path.join(output, name))
        taken = sum(node.samples for node in profile.nodes.values())
        returns = sum(node.returns for node in profile.nodes.values())
        return profile.sampling_ns / taken, taken, returns, profile.depth()


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'depths')
        resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, -1))
        subprocess.run(['gcc', '-O2', '-fno-optimize-sibling-calls', '-o',
                        program, os.path.join(HERE, 'programs', 'depths.c')],
                       check=True)
        print('| frames | ns a sample | ns with --returns '
              '| returns a sample |\n|---|---|---|---|')
        for depth in (10, 1000, 10000, 100000):
            plain = measure(program, depth, seconds)
            counted = measure(program, depth, seconds, CPPROF_RETURNS='1')
            print('| %d | %.0f | %.0f | %.2f |' % (
                plain[3], plain[0], counted[0], counted[2] / counted[1]),
                flush=True)


if __name__ == '__main__':
    sys.exit(main())
