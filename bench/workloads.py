# SPDX-License-Identifier: GPL-3.0-or-later
"""workloads.py -- the programs that bench/collector.py profiles.

Each has three sizes: FULL (seconds), SHORT (a good part of a second) and TINY
(a tenth of a second, for tools that make a program fifty times slower).
"""
import collections
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FULL, SHORT, TINY = range(3)

# command: for a size (a number of the workload's own), in a folder that it may
# write to, with more compiler flags if it is_ours; None if it is not
# installed.
Workload = collections.namedtuple(
    'Workload', 'name what sizes is_ours command')

STEP = '''
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>
template<int N> struct step {
	std::map<std::string, std::vector<int>> data;
	int run(int x) {
		data[std::to_string(x + N)].push_back(N);
		std::vector<int> v(data.begin()->second);
		std::sort(v.begin(), v.end(),
		    [x](int a, int b) { return (a ^ x) < (b ^ x); });
		std::function<int(int)> f = [&](int y) { return y * N + v[0]; };
		return f(x) + step<N - 1>().run(x);
	}
};
template<> struct step<0> { int run(int x) { return x; } };
int run(int x) { return step<%d>().run(x); }
'''

COUNT_WORDS = '''
counts = {}
for i in range(%d):
    word = str(i * 7919 %% 100003)
    counts[word] = counts.get(word, 0) + len(word)
print(sum(sorted(counts.values())[:100]))
'''

QUERY = '''
CREATE TABLE t AS WITH RECURSIVE n(x) AS
(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < %d)
SELECT x, x * 7919 %% 10007 AS y, hex(x) AS z FROM n;
CREATE INDEX i ON t(y);
SELECT y, count(*), sum(x * x %% 7), max(z) FROM t WHERE z LIKE '%%3%%'
GROUP BY y ORDER BY 2 DESC, 1 LIMIT 3;
'''


def ours(name, what, source, sizes, arguments=lambda size: [str(size)]):
    """A program of bench/programs, built with usual and more flags."""
    def command(size, folder, flags=()):
        program = os.path.join(folder, name + ''.join(flags))
        compiler = 'g++' if source.endswith('.cc') else 'gcc'
        if not os.path.exists(program):
            subprocess.run([compiler, '-O2', '-pthread', *flags, '-o', program,
                            os.path.join(HERE, 'programs', source)],
                           check=True)
        return [program, *arguments(size)]
    return Workload(name, what, sizes, True, command)


def cc1plus(size, folder, flags=()):
    """The compiler proper, on a preprocessed file."""
    compiler = subprocess.run(['g++', '-print-prog-name=cc1plus'], check=True,
                              capture_output=True, text=True).stdout.strip()
    if shutil.which(compiler) is None:
        return None
    source = os.path.join(folder, 'steps-%d.ii' % size)
    if not os.path.exists(source):
        subprocess.run(['g++', '-E', '-x', 'c++', '-o', source, '-'],
                       input=STEP % size, text=True, check=True)
    return [compiler, '-quiet', '-O2', '-o', os.path.join(folder, 'steps.s'),
            source]


def sqlite3(size, folder, flags=()):
    return shutil.which('sqlite3') and ['sqlite3', ':memory:', QUERY % size]


def python3(size, folder, flags=()):
    return [sys.executable, '-c', COUNT_WORDS % size]


WORKLOADS = (
    ours('sort', 'std::sort of 50 M numbers', 'sort.cc',
         (50000000, 10000000, 1000000)),
    ours('calls', 'tree of calls, 29 deep', 'calls.c', (800, 200, 20)),
    ours('deep', 'recursion, 10,000 deep', 'deep.c', (120000, 30000, 4000),
         lambda size: ['10000', str(size)]),
    ours('deeper', 'recursion, 100,000 deep', 'deep.c', (120000, 30000, 4000),
         lambda size: ['100000', str(size)]),
    ours('allocate', 'two threads allocating', 'allocate.c',
         (12000000, 3000000, 300000)),
    ours('short', 'threads of a millisecond, one after another', 'pieces.c',
         (2000, 500, 50), lambda size: [str(size), '1']),
    ours('pool', '16 threads that take turns of a millisecond', 'pieces.c',
         (2000, 500, 50), lambda size: [str(size), '16']),
    Workload('cc1plus', 'cc1plus -O2, templates', (40, 6, 0), False, cc1plus),
    Workload('python3', 'python3, dictionaries', (4000000, 1000000, 100000),
             False, python3),
    Workload('sqlite3', 'sqlite3, table, index and query',
             (800000, 250000, 40000), False, sqlite3),
)
