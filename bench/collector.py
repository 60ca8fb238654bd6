#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""collector.py [-n PAIRS] [PROGRAM...] -- what recording a program costs.

Runs each program with and without `cpprof record`, turn about, and prints the
ratio of the two CPU times (user and system, all processes, the launcher's own
included) for each pair: the median and the range, since a pair's two runs are
neighbours in time and other load changes slowly.  Then what was recorded, and
the share of the CPU time that the collector itself counts for its samples, with
what a sample took: below a percent it tells more than the ratio.  These once
more at 1,000 samples a second.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = os.environ.get('CPPROF', './cpprof')

CPLUSPLUS = '''
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
int run(int x) { return step<60>().run(x); }
'''

PYTHON = '''
counts = {}
for i in range(3000000):
    word = str(i * 7919 % 100003)
    counts[word] = counts.get(word, 0) + len(word)
print(sum(sorted(counts.values())[:100]))
'''

SQL = '''
WITH RECURSIVE n(x) AS
(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000000)
SELECT sum(x * x % 7), count(*) FROM n;
CREATE TABLE t AS WITH RECURSIVE n(x) AS
(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 400000)
SELECT x, x * 7919 % 10007 AS y FROM n;
CREATE INDEX i ON t(y);
SELECT y, count(*) FROM t GROUP BY y ORDER BY 2 DESC, 1 LIMIT 3;
'''


def build(name, folder):
    """A program of bench/programs, as most are built."""
    source = os.path.join(HERE, 'programs', name)
    program = os.path.join(folder, os.path.splitext(name)[0])
    compiler = 'g++' if name.endswith('.cc') else 'gcc'
    subprocess.run([compiler, '-O2', '-pthread', '-o', program, source],
                   check=True)
    return [program]


def compile_cplusplus(folder):
    source = os.path.join(folder, 'large.cc')
    with open(source, 'w') as file:
        file.write(CPLUSPLUS)
    return ['g++', '-O2', '-S', '-o', os.path.join(folder, 'large.s'), source]


def programs(folder):
    """Name, what it does, and the function that gives its command."""
    return (
        ('sort', 'std::sort of 20 M numbers',
         lambda: build('sort.cc', folder)),
        ('calls', 'tree of calls, 29 deep',
         lambda: build('calls.c', folder)),
        ('deep', 'recursion, 10,000 deep',
         lambda: build('deep.c', folder)),
        ('allocate', 'two threads allocating',
         lambda: build('allocate.c', folder)),
        ('g++', 'g++ -O2, templates',
         lambda: compile_cplusplus(folder)),
        ('python3', 'python3, dictionaries',
         lambda: [sys.executable, '-c', PYTHON]),
        ('sqlite3', 'sqlite3, recursive query',
         lambda: ['sqlite3', ':memory:', SQL]),
    )


def cpu_seconds(command):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit('%s: status %d' % (command[0], process.returncode))
    return usage.ru_utime + usage.ru_stime


def read_info(recording):
    return json.loads(subprocess.run(
        [CPPROF, '-q', '-F', 'json', '-e', 'info', recording],
        check=True, capture_output=True).stdout)


def cost_of_samples(info):
    """The share of CPU time that samples took, and microseconds for each."""
    seconds = info['sampling_share'] * info['cpu_seconds']
    return '%.2f %% | %.1f' % (100 * info['sampling_share'],
                               1e6 * seconds / max(info['samples'], 1))


def measure(command, pairs, folder):
    recording = os.path.join(folder, 'recording')
    record = [CPPROF, 'record', '-o', recording, '--', *command]
    cpu_seconds(command)  # warms caches
    plain, ratios = [], []
    for i in range(pairs):
        if i % 2 == 0:
            plain.append(cpu_seconds(command))
            recorded = cpu_seconds(record)
        else:
            recorded = cpu_seconds(record)
            plain.append(cpu_seconds(command))
        ratios.append(recorded / plain[-1])
    usual = read_info(recording)
    cpu_seconds([*record[:2], '-F', '1000', *record[2:]])
    return plain, ratios, usual, read_info(recording)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('-n', type=int, default=7, metavar='PAIRS')
    parser.add_argument('programs', nargs='*', metavar='PROGRAM')
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='cpprof-bench-')
    print('| program | CPU s | ratio, median [min .. max] of %d pairs '
          '| samples | deepest stack | share, sampling | us a sample '
          '| share at 1,000/s | us a sample |\n'
          '|---|---|---|---|---|---|---|---|---|' % options.n)
    try:
        for name, what, make in programs(folder):
            if options.programs and name not in options.programs:
                continue
            command = make()
            if shutil.which(command[0]) is None:
                continue
            plain, ratios, usual, often = measure(command, options.n, folder)
            print('| %s | %.2f | %.3f [%.3f .. %.3f] | %d | %d | %s | %s |' % (
                what, statistics.median(plain), statistics.median(ratios),
                min(ratios), max(ratios), usual['samples'],
                usual['deepest_stack'], cost_of_samples(usual),
                cost_of_samples(often)), flush=True)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
