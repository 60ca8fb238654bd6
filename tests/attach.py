# SPDX-License-Identifier: GPL-3.0-or-later
"""attach.py -- record -p and -a: shares and amounts, sampled from outside.

The programs measure themselves, or the scheduler does; tests/judge.py decides.
tests/shares.py has more kinds of work.  Speaks TAP.
"""
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

import judge
from claims import Claims
from outside import (CPPROF, PATIENCE, PROGRAMS, files, hits, lost,
                     may_sample, programs, record, run_seconds, started,
                     static_program, truth, view)

# Where what a program used is known of a part of the recording only.
OF_A_PART = 0.15
claims = Claims()


def refuse_lost(path):
    """On a slow machine hits are lost, which is told, and shifts shares."""
    if lost(path):
        raise judge.Disturbed(f'{lost(path)} hits were lost')


def check_static(directory):
    """A program that nothing can be preloaded into, which runs already or is
    started by record: shares are those that it measures itself."""
    static = static_program(directory)
    if static is None:
        claims.skip('a static program: shares', 'no static libc')
        return
    path = os.path.join(directory, 'static')
    parts = 'user', 'read', 'faults', 'calls'

    def attach(ms):
        with started(static, ms, *parts) as process:
            result = record('-F', '1000', '--force', '-o', path, '-p',
                            str(process.pid))
            output = process.communicate()[0]
        assert process.returncode == 0, output
        return result, output

    def start(ms):
        result = record('-F', '1000', '--force', '-o', path, static, ms,
                        *parts)
        assert 'statically linked' in result.stderr and \
            'from outside' in result.stderr, result.stderr
        return result, result.stdout

    for how, run in ('runs already', attach), ('is started', start):
        name_of = {part: f'a static program that {how}: the share of {part}'
                   for part in parts}

        def measure(times):
            result, output = run(str(2000 * times))
            assert result.returncode == 0, result.stderr
            used = truth(output)
            found, all_hits = hits(path)
            whole = sum(used.values())
            return {name_of[part]: judge.Share(
                found.get(f'part_{part}', 0), all_hits,
                used[f'part_{part}'] / whole) for part in parts}
        judge.decide(claims, list(name_of.values()), measure)
    result = record('-o', os.path.join(directory, 'fails'), static)
    claims.check('the exit status of one that is started is handed on',
                 result.returncode == 2, (result.returncode, result.stderr))


def check_beat(directory):
    """Samples at whole milliseconds, too, would all find the same function."""
    claim = 'functions that take whole milliseconds have their shares'
    path = os.path.join(directory, 'beat')

    def measure(times):
        with started(os.path.join(PROGRAMS, 'target'), 'beat',
                     '600000') as program:
            result = record('-F', '1000', '--force', '-o', path, '-p',
                            str(program.pid), '--for', f'{3 * times}s')
        assert result.returncode == 0, result.stderr
        rows = view(path, 'functions 1000')['rows']
        of = {name: sum(row['hits'] for row in rows
                        if row['path'][-1] == name)
              for name in ('beat', 'beat_on')}
        return {claim: judge.Share(of['beat'], sum(of.values()), 0.25)}
    judge.decide(claims, [claim], measure)


@contextlib.contextmanager
def everything_recorded(path, seconds, n_files, *options):
    """-a for so many seconds; the body runs when there are so many files."""
    with subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '--force', '-o', path, '-a',
             '--for', f'{seconds}s', *options], stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True) as recorder:
        until = time.monotonic() + PATIENCE
        while not (os.path.isdir(path) and len(files(path)) >= n_files):
            assert recorder.poll() is None and time.monotonic() < until, \
                recorder.communicate()
            time.sleep(0.02)
        yield recorder
        said = recorder.communicate(timeout=PATIENCE)[1]
        assert recorder.returncode == 0, said


def used_during(processes, seconds):
    """What each used, by the scheduler, in about so many seconds, and these."""
    begin = time.monotonic()
    before = [run_seconds(process.pid) for process in processes]
    time.sleep(seconds)
    end = time.monotonic()
    return [run_seconds(process.pid) - start
            for process, start in zip(processes, before)], end - begin


def copies_of_target(directory, names):
    """A program for each name, all with tests/programs/target.c's modes."""
    for name in names:
        shutil.copy(os.path.join(PROGRAMS, 'target'),
                    os.path.join(directory, name))
    return [os.path.join(directory, name) for name in names]


def check_dozers(directory):
    """Each sample wakes the reader of Python's frames: that must not decide
    which programs are found."""
    claim = '-a beside Python: programs that sleep and wake have what they used'
    n = os.cpu_count()
    names = [f'{kind}-{i}' for kind in ('doze', 'spin') for i in range(n)]
    path = os.path.join(directory, 'dozers')
    copies = copies_of_target(directory, names)

    def measure(times):
        with contextlib.ExitStack() as stack:
            # Its frames are to be read.
            stack.enter_context(started(
                sys.executable, '-c', 'import time\nwhile True:\n'
                '    sum(range(10000))\n    time.sleep(.01)'))
            processes = [stack.enter_context(started(
                copy, name[:4], '600000'))
                for copy, name in zip(copies, names)]
            with everything_recorded(path, 2 * times, len(names), '-r',
                                     'cpu:1ms'):
                used, _ = used_during(processes, 1.6 * times)
        refuse_lost(path)
        found = programs(path)
        counts = [found.get(name, 0) for name in names]
        return {claim: judge.Share(sum(counts[:n]), sum(counts),
                                   sum(used[:n]) / sum(used))}
    judge.decide(claims, [claim], measure)


def check_flood(directory):
    """Programs that start without end, and more that compute than there are
    processors: neither their records nor their turns cost samples."""
    path = os.path.join(directory, 'flood')
    spin, = copies_of_target(directory, ['flooded'])
    n = os.cpu_count()
    names = ('-a on a busy machine: what its programs use is not lost',
             'and each program has its own',
             'and there is no more time than the processors had')

    with contextlib.ExitStack() as stack:
        for _ in range(3 * n):
            stack.enter_context(started('sh', '-c',
                                        'while :; do /bin/true; done'))
        spinners = [stack.enter_context(started(spin, 'spin', '600000'))
                    for _ in range(3 * n)]

        def measure(times):
            with everything_recorded(path, 3 * times, 1):
                used, seconds = used_during(spinners, 2 * times)
            info = view(path, 'info')
            found, dropped = info['rows'][0]['hits'], info['dropped']
            wanted = sum(used) / seconds * info['duration'] / 0.004
            had = n * info['duration'] / 0.004
            return {names[0]: judge.Share(dropped, found + dropped, 0,
                                          tolerance=0.05),
                    names[1]: judge.Amount.drawn(
                        programs(path).get('flooded', 0), wanted,
                        tolerance=OF_A_PART),
                    names[2]: judge.Share(max(0, found + dropped - had),
                                          had, 0)}
        judge.decide(claims, names, measure)


def check_machine(directory):
    """Programs that run already, and one that starts meanwhile."""
    names = 'one-program', 'two-program'
    path = os.path.join(directory, 'machine')
    claim = '-a samples all that runs, and says which program used what'
    is_whole = '-a: programs that ran before have whole stacks'
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(started(copy, 'spin', '600000'))
                     for copy in copies_of_target(directory, names)]
        is_late_seen = []

        def measure(times):
            with everything_recorded(path, 2 * times, 2, '-r',
                                     'cpu:1ms') as recorder:
                with started(os.path.join(PROGRAMS, 'target'), 'spin',
                             '600000'):
                    used, _ = used_during(processes, 1.6 * times)
            refuse_lost(path)
            found = programs(path)
            is_late_seen.append(found.get('target', 0) > 0)
            assert f'cpprofdata.{recorder.pid}' not in files(path)
            stacks = view(path, 'functions 1000',
                          'narrow process one-program')['rows']
            one, two = (found.get(name, 0) for name in names)
            main = next((row['hits'] for row in stacks
                         if row['path'][0] == 'main'), 0)
            return {claim: judge.Share(one, one + two, used[0] / sum(used)),
                    is_whole: judge.Share(main, one, 1, tolerance=0.1)}
        judge.decide(claims, [claim, is_whole], measure)
        claims.check('-a samples what starts meanwhile', all(is_late_seen),
                     path)


def check_amount(directory):
    """A program that only computes, from its first sample on."""
    claim = 'a program that runs already has all the time that it uses'
    path = os.path.join(directory, 'amount')

    def measure(times):
        with started(os.path.join(PROGRAMS, 'target'), 'spin',
                     str(3000 * times)) as process:
            before = run_seconds(process.pid)
            result = record('-F', '1000', '--force', '-o', path, '-p',
                            str(process.pid))
        assert result.returncode == 0, result.stderr
        refuse_lost(path)
        return {claim: judge.Amount.drawn(
            hits(path)[1], 1000 * (3 * times - before))}
    judge.decide(claims, [claim], measure)


def check_late(directory):
    """The first stack of code without tables takes the recorder long.  Meanwhile
    the program has used more than the samples that were taken say, which come
    later."""
    claim = 'a recorder that is late counts nothing twice'
    busybox = shutil.which('busybox')
    if busybox is None:
        claims.skip(claim, 'no busybox')
        return
    path = os.path.join(directory, 'late')
    script = 'i=0; while [ $i -lt {} ]; do i=$((i+1)); done; ' \
        'read ns rest </proc/$$/schedstat; echo $ns'

    def measure(times):
        result = record('-F', '1000', '--force', '-o', path, busybox, 'sh',
                        '-c', script.format(200000 * times))
        assert result.returncode == 0, result.stderr
        refuse_lost(path)
        # Chance has a part in the last hit of each processor only.
        return {claim: judge.Amount(hits(path)[1], int(result.stdout) / 1e6,
                                    error=2)}
    judge.decide(claims, [claim], measure)


def check_growing(directory):
    """Copies of stacks grow until what changes is in them.  With copies of one
    size, most stacks are incomplete.  No sample counts twice while threads have
    both kinds of event."""
    path = os.path.join(directory, 'growing')
    names = ('copies grow until deep stacks that change come whole',
             'and meanwhile each sample counts once')

    def measure(times):
        seconds = 2.5 * times
        with started(os.path.join(PROGRAMS, 'target'), 'wander',
                     str(round(1000 * seconds))) as process:
            before = run_seconds(process.pid)
            result = record('-F', '1000', '--force', '-o', path, '-p',
                            str(process.pid))
            process.communicate()
        assert (result.returncode, process.returncode) == (0, 3), result
        refuse_lost(path)
        info = view(path, 'info')
        late = info['tallies'].get(
            'stacks incomplete: changed before all was read', 0)
        return {names[0]: judge.Share(late, info['samples'], 0,
                                      tolerance=0.125),
                names[1]: judge.Amount.drawn(
                    info['samples'], 1000 * (seconds - before),
                    tolerance=0.1)}
    judge.decide(claims, names, measure)


def main():
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
        why = may_sample(os.getpid())
        if why:
            claims.skip('processes are sampled from outside', why)
        else:
            check_static(directory)
            check_amount(directory)
            check_late(directory)
            check_beat(directory)
            check_growing(directory)
        if why or os.geteuid() != 0:
            claims.skip('-a samples all that runs', why or 'only root may')
        else:
            check_machine(directory)
            check_dozers(directory)
            check_flood(directory)
    claims.end()


main()
