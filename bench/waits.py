# SPDX-License-Identifier: GPL-3.0-or-later
"""waits.py -- the cost of `record -r real` for calls that could wait, but do
not.

	waits.py CPPROF WAITS [ROUNDS]

Runs each storm of bench/programs/waits.c by itself and recorded, in turn.
Prints the least CPU time of one round each, and the difference, in
microseconds.
"""
import subprocess
import sys
import tempfile

STORMS = (('pong', 100000, 5), ('epoll', 1000000, 5), ('epoll', 1000000, 40),
          ('pipe', 300000, 5), ('places', 300000, 0))


def cost(prefix, storm):
    return float(subprocess.run(
        [*prefix, waits, *map(str, storm)], check=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


cpprof, waits = sys.argv[1:3]
each = int(sys.argv[3]) if len(sys.argv) > 3 else 3
print('| storm | frames | alone, us | -r real, us | more |')
print('| --- | ---: | ---: | ---: | ---: |')
for row in STORMS:
    with tempfile.TemporaryDirectory() as place:
        recorded = [cpprof, 'record', '-r', 'real', '-o', place + '/p',
                    '--force']
        alone = with_it = 1e9
        for _ in range(each):
            alone = min(alone, cost([], row))
            with_it = min(with_it, cost(recorded, row))
    print('| %s | %d | %.2f | %.2f | %.2f |' % (row[0], row[2], alone,
                                              with_it, with_it - alone))
