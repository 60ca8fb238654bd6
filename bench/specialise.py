# SPDX-License-Identifier: GPL-3.0-or-later
"""specialise.py -- what specialise predicts, and what the changed program
takes.

	specialise.py CPPROF SOURCE [ROUNDS]

Each program is built twice: as it is (-DSTEP=0), and changed as specialise says
(-DSTEP=1), with copies under the names that it gives them.  Both are run in
turn; the ratio of the medians of their CPU times, which the kernel counts, is
what the run then takes.  It is compared with the prediction from recordings of
the program as it is: 1 - f (1 - 1/K), f being the path's share.  K, how many
times cheaper the copy is, comes from recordings of both.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

RECORDINGS = 3

# Name, compiler, source, path, the same with the copy.
PROGRAMS = (
    ('process_db', os.environ.get('CC', 'cc'), 'sample-data/process_db.c',
     ('uniquify_db', 'quick_sort'), ('uniquify_db', 'quick_sort_1')),
    ('contexts', os.environ.get('CXX', 'c++'), 'bench/programs/contexts.cc',
     ('eval_let', 'eval', 'eval_variable', 'lookup'),
     ('eval_let', 'eval_1', 'eval_variable_1', 'lookup_1')),
)


def build(compiler, source, step, place):
    program = os.path.join(place, f'step-{step}')
    subprocess.run([compiler, '-O2', '-g', '-fomit-frame-pointer',
                    f'-DSTEP={step}', '-o', program,
                    os.path.join(top, source)], check=True)
    return program


def cpu_time(program):
    child = os.posix_spawn(program, [program], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    assert status == 0, program
    return usage.ru_utime + usage.ru_stime


def record(program, place):
    recording = os.path.join(place, 'recording')
    subprocess.run([cpprof, 'record', '-r', 'cpu:1ms', '--force', '-o',
                    recording, '--', program], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return recording


def ask(recording, command):
    return json.loads(subprocess.run(
        [cpprof, '-q', '-F', 'json', '-e', command, recording], check=True,
        text=True, stdout=subprocess.PIPE).stdout)


def measure(name, compiler, source, path, changed, place):
    programs = [build(compiler, source, step, place) for step in (0, 1)]
    shares, costs, copies = [], [], []
    for _ in range(RECORDINGS):
        answer = ask(record(programs[0], place),
                     'specialise ' + ' '.join(path))
        shares.append(answer['saved'])
        copies = sorted(row['becomes'].partition('(')[0]
                        for row in answer['rows'] if row['kind'] != 'call')
        answer = ask(record(programs[1], place), 'path ' + ' '.join(changed))
        costs.append(answer['gticks'] / 1e6)
    symbols = subprocess.run(['nm', '-C', programs[1]], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    for copy in copies:
        assert f' {copy}(' in symbols or f' {copy}\n' in symbols, copy
    times = [[cpu_time(program) for program in programs]
             for _ in range(rounds)]
    before, after = (statistics.median(each[i] for each in times)
                     for i in (0, 1))
    share = statistics.mean(shares)
    cost = statistics.mean(costs)
    cheaper = share * before / cost if cost > 0 else float('inf')
    predicted = 1 - share * (1 - 1 / cheaper)
    print(f'| {name} | `({" ".join(path)})` | {", ".join(copies)} | '
          f'{100 * share:.1f} | {100 * (1 - share):.1f} | {cheaper:.1f} | '
          f'{100 * predicted:.1f} | {before:.3f} s, {after:.3f} s | '
          f'{100 * after / before:.1f} | '
          f'{100 * (after / before - predicted):+.1f} |', flush=True)


cpprof, top = os.path.abspath(sys.argv[1]), sys.argv[2]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
print('| program | path | copies | share | if free | K | predicted run | '
      'CPU time before, after | run | difference, points |')
print('| --- | --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |')
for row in PROGRAMS:
    with tempfile.TemporaryDirectory() as folder:
        measure(*row, folder)
