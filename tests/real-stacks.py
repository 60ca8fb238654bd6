#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""real-stacks.py -- the collector's unwinder agrees with libgcc's everywhere.

Runs real programs, as many of them as are installed, with
tests/check-stacks.so preloaded, which compares both unwinders' stacks at every
sample: 2,000 a second of each thread, with marks on the stack and without.
None may differ, and the output must be the same as without the library.
ROUNDS=N runs each that many times, at 5,000 a second.  Prints the figures.
Speaks TAP.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from cpprof import for_preload

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
LIBRARY = os.path.join(BUILD, 'tests', '.libs', 'check-stacks.so')
ROUNDS = int(os.environ.get('ROUNDS', '0'))

CPLUSPLUS = '''
#include <algorithm>
#include <map>
#include <regex>
#include <string>
int main(int argc, char **argv)
{
    std::map<std::string, int> counts;
    std::regex word("[a-z]+");
    for (int i = 0; i < argc; i++)
        if (std::regex_match(argv[i], word))
            counts[argv[i]]++;
    return counts.size();
}
'''

PYTHON = '''
import json, re
def walk(tree, depth):
    if depth == 0:
        return json.dumps(tree)
    return walk({'a': tree, 'b': [depth] * 3}, depth - 1)
words = {}
for i in range(%d):
    text = walk([i], 40)
    for word in re.findall('[0-9]+', text):
        words[word] = words.get(word, 0) + len(json.loads(text))
print(sum(words.values()), sorted(words, key=lambda w: w[::-1])[:3])
'''

PERL = '''
my %%h; sub f { my ($n) = @_; return $n < 2 ? $n : f($n - 1) + f($n - 2); }
for my $i (1 .. %d) { $h{$i %% 997} .= "x" x ($i %% 7); $_ = f(9);
    $h{join ",", sort map { $_ * 7 %% 13 } 1 .. 9} =~ s/x+/y/g; }
print scalar(keys %%h), "\\n";
'''

SQL = '''
CREATE TABLE t AS WITH RECURSIVE n(x) AS
(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < %d)
SELECT x, x * 7919 %% 10007 AS y, hex(x) AS z FROM n;
CREATE INDEX i ON t(y, z);
SELECT y, count(*), max(z) FROM t WHERE z LIKE '%%3%%' GROUP BY y
ORDER BY 2 DESC, 1 LIMIT 3;
'''

NODE = '''
function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
let m = new Map();
for (let i = 0; i < %d; i++) {
    const text = JSON.stringify({ i, a: [i, i * 7 %% 13], s: 'x'.repeat(i %% 9) });
    m.set(text.replace(/x+/g, 'y'), JSON.parse(text).i);
    f(10);
}
console.log(m.size, [...m.keys()].sort()[5]);
'''

GIT = '''
rm -rf r; git init -q r; cd r
for i in 1 2 3 4 5 6; do seq $((i * 100)) %d > f$i; git add .
git -c user.name=n -c user.email=e commit -q -m m$i --date=2000-01-01; done
git repack -q -a -d -f; git log -p --format=%%s | cksum; git diff HEAD~3 | cksum
'''


def commands(folder):
    """Name, command, input file."""
    size = 1 if ROUNDS == 0 else 3
    source = os.path.join(folder, 'a.cc')
    with open(source, 'w', encoding='ascii') as file:
        file.write(CPLUSPLUS)
    numbers = os.path.join(folder, 'numbers')
    with open(numbers, 'w', encoding='ascii') as file:
        file.writelines('%d %s\n' % (i * 7919 % 1000003, 'x' * (i % 50))
                        for i in range(300000 * size))
    return (
        ('g++', ['g++', '-O2', '-S', '-o', '-', source]),
        ('python3', [sys.executable, '-c', PYTHON % (1000 * size)]),
        ('sqlite3', ['sqlite3', ':memory:', SQL % (200000 * size)]),
        ('perl', ['perl', '-e', PERL % (30000 * size)]),
        ('sort', ['sort', '-n', '--parallel=2', '-S', '8M', numbers]),
        ('git', ['sh', '-c', GIT % (20000 * size)]),
        ('node', ['node', '-e', NODE % (60000 * size)]),
        ('openssl', ['openssl', 'dgst', '-sha512', *[numbers] * 8]),
        ('gzip', ['gzip', '-9', '-c', numbers]),
        ('awk', ['awk', '{ n[$1 % 999] += length($2) } '
                 'END { for (i in n) s += n[i] * i; print s }', numbers]),
        ('bash', ['bash', '-c', 'f() { ((n = $1)); for ((i = 0; i < 9; i++)); '
                  'do ((n += i)); done; }; for ((k = 0; k < %d; k++)); do '
                  'f $k; done; echo $n' % (8000 * size)]),
    )


def read_reports(directory):
    """By program: the sums of its processes, and the first error."""
    programs = {}
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), 'rb') as file:
            line = file.read().partition(b'\0')[0].decode().rstrip('\n')
        if not line:
            continue  # no sample
        *numbers, program, wrong = line.split(' ', 8)
        numbers = [int(number) for number in numbers]
        old, first = programs.get(program, ([0] * 7, ''))
        programs[program] = ([a + b for a, b in zip(old[:6], numbers)] +
                             [max(old[6], numbers[6])], first or wrong)
    return programs


def run(command, folder, **more):
    result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, timeout=600,
                            env=dict(os.environ, LC_ALL='C', **more))
    return result.returncode, result.stdout


def check(name, command, folder, plain, marks):
    """Whether all stacks and the output were the same."""
    reports = tempfile.mkdtemp(dir=folder)
    more = {'STACKS_MARKS': '1'} if marks else {}
    good = True
    for _ in range(max(ROUNDS, 1)):
        got = run(command, folder, LD_PRELOAD=for_preload(LIBRARY), STACKS_OUTPUT=reports,
                  STACKS_HZ='5000' if ROUNDS > 0 else '2000', **more)
        good &= got == plain
    if not good:
        print('# %s: other output: %d, not %d' % (name, got[0], plain[0]))
    n_stacks = 0
    for program, (numbers, wrong) in sorted(read_reports(reports).items()):
        n_stacks += numbers[0]
        good &= numbers[5] == 0
        print('# %s: %d stacks, %d frames, %d kept, %d guessed, %d faults of '
              'libgcc, %d differ, deepest %d' % (program, *numbers))
        if wrong:
            print('# first: ' + wrong)
    return good and n_stacks > 20


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    folder = tempfile.mkdtemp(prefix='cpprof-test-')
    n = 0
    try:
        for name, command in commands(folder):
            if shutil.which(command[0]) is None or (
                    name == 'git' and shutil.which('git') is None):
                continue
            plain = run(command, folder)
            for marks in (False, True):
                n += 1
                good = check(name, command, folder, plain, marks)
                print('%s %d - %s%s' % ('ok' if good else 'not ok', n, name,
                                        ', with marks' if marks else ''),
                      flush=True)
    finally:
        shutil.rmtree(folder)
    print('1..%d' % n)


if __name__ == '__main__':
    main()
