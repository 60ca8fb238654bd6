# SPDX-License-Identifier: GPL-3.0-or-later
"""inside-runs.py -- record -p --inside: what can be recorded, how it ends, and what is
refused.

tests/inside.py has what is claimed of shares.  Where ptrace is forbidden, only
refusals are tested.  Speaks TAP.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from claims import Claims, rounds
from cpprof import has_recorded
from filters import forbid_events, install_filter
from hosted import (HOSTED, PARTS, Sums, ends_when_told, has_samples, hits,
                    hosted, inside, is_begun, may_trace, only_file, remains,
                    started, tell, wait_until, wait_until_gone)
from outside import CPPROF, NOBODY, PATIENCE, in_own_mounts, record

claims = Claims()


def begin_late(process, path, is_over):
    """Once it is recorded, or cannot be."""
    wait_until(lambda: is_begun(path) or is_over.is_set())
    tell(process, 1)


def check_threads(directory, how, before=None):
    """Threads of every kind are sampled, and go on as ever."""
    path = os.path.join(directory, 'threads ' + how)
    is_over = threading.Event()
    with hosted(directory, 600000, 'late', 'blocked', 'waits',
                preexec_fn=before) as process:
        late = threading.Thread(target=begin_late, args=(process, path,
                                                         is_over))
        late.start()
        with Sums(process) as sums:
            result = inside(process, path, '--for', '1.5s')
        is_over.set()
        late.join()
        left = remains(process)
        ended = ends_when_told(process)
    if result.returncode != 0:
        claims.check(f'{how}: it is recorded', False, result.stderr)
        return
    profile = only_file(path)
    used = sums.between(profile.start, profile.end)
    found = hits(path)
    for name, what in (('blocked_long', 'a thread that blocks all signals'),
                       ('late_long', 'threads that start later'),
                       # Each ends before anybody could look for it.
                       ('brief_long', 'threads of milliseconds')):
        claims.check(f'{how}: {what}: sampled',
                     found.get(name, 0) > 0.3 * used[PARTS.index(name)] / 1e6,
                     (found, used))
    claims.check(f'{how}: no thread, handler or timer is left', left == '',
                 left)
    claims.check(f'{how}: no wait is cut short, and the program ends as ever',
                 ended == '', ended)


def check_sealed(directory):
    """A mask that the C library lets no program have is left as it is."""
    path = os.path.join(directory, 'sealed')
    with hosted(directory, 600000, 'sealed') as process:
        result = inside(process, path, '--for', '0.5s')
        ended = ends_when_told(process)
    found = hits(path)
    claims.check('a thread that blocks even the C library\'s signals is told',
                 result.returncode == 0 and '1 of its threads block all '
                 'signals' in result.stderr and set(found) & set(PARTS) and
                 'blocked_long' not in found, (result.stderr, found))
    claims.check('and goes on as ever', ended == '', ended)


def check_file(directory):
    path = os.path.join(directory, 'file')
    with hosted(directory, 60000) as process:
        result = inside(process, path, '--for', '0.5s')
    claims.check('the file is whole, by a reader of its own, and complete',
                 result.returncode == 0 and only_file(path).end > 0,
                 result.stderr)


def check_again(directory):
    """Recordings one after the other, each by itself."""
    wrong = []
    with hosted(directory, 600000, 'waits') as process:
        for i in range(rounds(3)):
            path = os.path.join(directory, 'again')
            resource = ('cpu', 'page-faults', 'cpu:1000')[i % 3]
            result = inside(process, path, '--for', '0.6s', '-r', resource,
                            '-r', 'context-switches')
            if result.returncode != 0:
                wrong.append(result.stderr)
                continue
            # Threads are found late on a busy machine.
            if i % 3 != 1 and not set(hits(path)) & set(PARTS):
                wrong.append((i, hits(path)))
            left = remains(process)
            if left:
                wrong.append(left)
        with open(f'/proc/{process.pid}/maps') as file:
            if '/again/' in file.read():
                wrong.append('a file of a recording is mapped')
        process.terminate()
    claims.make('it can be recorded again and again', wrong)


def check_malloc(directory):
    """A thread that is nearly always in malloc."""
    n = rounds(6)
    good = 0
    with hosted(directory, 600000, 'malloc') as process:
        for _ in range(n):
            result = inside(process, os.path.join(directory, 'malloc'),
                            '--for', '0.1s')
            good += has_recorded(result) and process.poll() is None
        ended = ends_when_told(process)
    claims.check('a thread that allocates all the time is no obstacle',
                 good >= n - 1 and ended == '', (good, n, ended,
                                                 result.stderr))


def check_kills(directory):
    """The recorder is killed at any moment; the program goes on."""
    draw = random.Random(27)
    n = rounds(20)
    path = os.path.join(directory, 'kills')
    with hosted(directory, 600000, 'waits', 'blocked', 'malloc') as process:
        for _ in range(n):
            recorder = subprocess.Popen(
                [CPPROF, 'record', '--no-prompt', '--force', '-o', path, '-p',
                 str(process.pid), '--inside', '--for', '0.1s'],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.random() * 0.25)
            recorder.kill()
            recorder.wait()
            if process.poll() is not None:
                break
        # The collector looks for its recorder once in a second.
        left = wait_until_gone(process)
        result = inside(process, path, '--for', '0.3s')
        process.ended = ends_when_told(process)
    claims.check('killed recorders leave no thread, handler or timer',
                 left == '', left)
    claims.check('afterwards the program can be recorded',
                 has_recorded(result), result.stderr)
    # A wait of the thread that was to call may then be cut short once.
    claims.check('and goes on as if nothing had happened',
                 process.returncode == 7, process.ended)


def await_program(process, name):
    """What a script executes in the end has begun."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit and os.path.basename(
            os.readlink(f'/proc/{process.pid}/exe')) != name:
        time.sleep(0.02)


def check_interrupt(directory):
    for claim, ends in (
            ('Ctrl-C ends the recording and nothing else', False),
            ('without --for it ends with the program', True)):
        path = os.path.join(directory, f'interrupt-{ends}')
        with hosted(directory, 600000) as process:
            recorder = subprocess.Popen(
                [CPPROF, 'record', '--no-prompt', '-o', path, '-p',
                 str(process.pid), '--inside'], stderr=subprocess.PIPE,
                text=True)
            wait_until(lambda: recorder.poll() is not None or
                       has_samples(path, 100))
            if ends:
                left, ended = '', ends_when_told(process)
            else:
                recorder.send_signal(signal.SIGINT)
            text = recorder.communicate(timeout=PATIENCE)[1]
            if not ends:
                left, ended = remains(process), ends_when_told(process)
        claims.check(claim, recorder.returncode == 0 and left == '' and
                     ended == '' and hits(path).get('first_long', 0) > 10,
                     (recorder.returncode, text, left, ended))


def check_children(directory):
    """Processes that it forks are sampled, too, unless that is not wanted."""
    script = ('import os, time\n'
              'def spin(s):\n'
              '    end = time.process_time() + s\n'
              '    while time.process_time() < end: sum(range(1000))\n'
              'while True:\n'
              '    pid = os.fork()\n'
              '    if pid == 0:\n'
              '        spin(0.3)\n'
              '        os._exit(0)\n'
              '    os.waitpid(pid, 0)\n'
              '    spin(0.1)\n')
    for alone in False, True:
        path = os.path.join(directory, f'children-{alone}')
        with started(sys.executable, '-c', script) as process:
            result = inside(process, path, '--for', '4s',
                            *(['--no-children'] if alone else []))
            is_alive = process.poll() is None
        n = len([name for name in os.listdir(path)
                 if name.startswith('cpprofdata.')]) \
            if os.path.isdir(path) else 0
        claims.check(f'forked children are sampled ({alone=})',
                     result.returncode == 0 and is_alive and
                     (n == 1 if alone else n > 1), (result.stderr, n))


def check_elsewhere(directory):
    """A process of another mount namespace, as in a container."""
    claim = 'a program of another mount namespace is recorded, and named'
    place = os.path.join(directory, 'place')
    path = os.path.join(directory, 'elsewhere')
    os.mkdir(place)
    words = in_own_mounts(place, HOSTED, f'{place}/sums 200000 waits')
    if words is None:
        claims.skip(claim, 'mount namespaces are not possible here')
        return
    with started(*words) as process:
        await_program(process, 'inner')
        wrong = []
        for _ in range(2):
            result = inside(process, path, '--for', '0.6s')
            if result.returncode != 0 or remains(process):
                wrong.append((result.stderr, remains(process)))
            elif hits(path).get('first_long', 0) < 5:
                wrong.append(hits(path))
        with open(f'/proc/{process.pid}/maps') as file:
            copies = {line.split()[4] for line in file
                      if 'libcpprof' in line}
        names = [name for name in os.listdir('/tmp')
                 if name.startswith('cpprof-') and
                 not name.startswith('cpprof-test-')]
    claims.make(claim, wrong)
    claims.check('the library is loaded once, and its copy is removed',
                 len(copies) == 1 and not any(
                     os.path.exists(f'/tmp/{name}/libcpprof.so.0')
                     for name in names), (copies, names))


def check_other_user(directory):
    claim = 'root records a process that has another user'
    if os.geteuid() != 0:
        claims.skip(claim, 'only root may')
        return
    path = os.path.join(directory, 'other')
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        program = shutil.copy(HOSTED, place)
        with started(sys.executable, '-c',
                     'import os\n'
                     f'os.setgroups([]); os.setgid({NOBODY})\n'
                     f'os.setuid({NOBODY})\n'
                     f'os.execv({program!r}, [{program!r}, '
                     f'{os.path.join(place, "sums")!r}, "20000"])') \
                as process:
            await_program(process, os.path.basename(program))
            result = inside(process, path, '--for', '1s')
            left = remains(process)
    claims.check(claim, result.returncode == 0 and left == '' and
                 hits(path).get('first_long', 0) > 10, (result.stderr, left))


READS_CLOCK = '''
#include <time.h>
int main(void) { for (;;) clock(); }
'''


SMALL_STACKS = '''
#include <pthread.h>
#include <unistd.h>
static void *rest(void *unused) { for (;;) pause(); return unused; }
int main(void)
{
	pthread_attr_t small;
	pthread_t thread;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, &small, rest, NULL);
	for (volatile long i = 0;; i++)
		;
}
'''


def check_any(directory):
    """Programs that only wait, or are nearly always in one short call, or have
    threads without room for a call.  The exit status says whether there are
    samples."""
    path = os.path.join(directory, 'any')
    commands = [('sleep', '60'), ('sh', '-c', 'read line'), ('cat',)]
    compiler = shutil.which('cc') or shutil.which('gcc')
    for name, source in ('clocks', READS_CLOCK), ('stacks', SMALL_STACKS):
        program = os.path.join(directory, name)
        if compiler is None or subprocess.run(
                [compiler, '-O1', '-pthread', '-x', 'c', '-o', program, '-'],
                input=source, text=True, capture_output=True).returncode != 0:
            claims.skip(f'{name}: it can be recorded', 'no compiler')
        else:
            commands.append((program,))
    for command in commands:
        with started(*command) as process:
            result = inside(process, path, '--for', '0.1s')
        claims.check(f'{os.path.basename(command[0])}: it can be recorded',
                     result.returncode == ('no samples' in result.stderr),
                     result)


def check_refusal(claim, result, *texts):
    claims.check(claim, result.returncode != 0 and
                 all(text in result.stderr for text in texts) and
                 'cpprof:' in result.stderr, result.stderr)


def check_refusals(directory):
    path = os.path.join(directory, 'refused')
    with started('sleep', '60') as process:
        check_refusal('what would go on in threads that sleep says so',
                      inside(process, path, '-r', 'fp-exceptions'),
                      'fp-exceptions', 'record --list')
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        check_refusal('a stopped process', inside(process, path),
                      'kill -CONT')
        process.send_signal(signal.SIGCONT)
    with started('sleep', '60') as process:
        answer = subprocess.run(
            [CPPROF, '-q', '-F', 'json', '-e',
             f'record --list -p {process.pid} --inside'],
            capture_output=True, text=True, timeout=PATIENCE)
        rows = {row['name']: row for row in json.loads(answer.stdout)['rows']}
        claims.check('record --list -p --inside says what can be sampled',
                     rows['cpu']['source'] not in ('', 'not here') and
                     rows['fp-exceptions']['source'] == 'not here' and
                     rows['fp-exceptions']['why'] != '' and
                     'blocks from before' in rows['live']['source'] and
                     'began before' in rows['real']['source'],
                     answer.stdout)
    check_refusal('--inside needs -p', record('--inside', 'true'), '-p')
    check_refusal('and nothing else', record('-a', '--inside'), '-p')
    check_refusal('a program that has ended', record(
        '-o', path, '-p', '4194304', '--inside'), 'no process')
    compiler = shutil.which('cc') or shutil.which('gcc')
    static = os.path.join(directory, 'static')
    source = os.path.join(directory, 'static.c')
    with open(source, 'w') as file:
        file.write('#include <unistd.h>\nint main(void)'
                   '{for (;;) sleep(1);}\n')
    if compiler is None or subprocess.run(
            [compiler, '-static', '-o', static, source],
            capture_output=True).returncode != 0:
        claims.skip('a static program', 'no static libc')
    else:
        with started(static) as process:
            check_refusal('a static program', inside(process, path),
                          'static', 'without --inside')
            check_refusal('which --list does not offer either',
                          record('--list', '--inside', '-p',
                                 str(process.pid)),
                          'static', 'without --inside')
    if os.geteuid() == 0:
        with started('sleep', '60') as process:
            with tempfile.TemporaryDirectory() as shared:
                os.chmod(shared, 0o777)
                program = shutil.copy(CPPROF, shared)
                result = subprocess.run(
                    [program, 'record', '--no-prompt', '-o',
                     os.path.join(shared, 'o'), '-p', str(process.pid),
                     '--inside'], capture_output=True, text=True,
                    timeout=PATIENCE, user=NOBODY, group=NOBODY,
                    extra_groups=[])
            check_refusal('a process of another user', result,
                          'another user')
    else:
        claims.skip('a process of another user', 'only root becomes another')
    with started('sleep', '60') as process:
        check_refusal('where ptrace is forbidden', inside(
            process, path, before=forbid_ptrace), 'may not be traced',
            'without --inside')


def forbid_ptrace():
    install_filter((0x20, 0, 0, 0), (0x15, 0, 1, 101),
                   (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000))


def main():
    with tempfile.TemporaryDirectory() as directory:
        check_refusals(directory)
        why = may_trace(directory)
        if why:
            claims.skip('processes are recorded inside', why.strip())
        else:
            check_threads(directory, 'as it is')
            check_threads(directory, 'without perf events', forbid_events)
            check_sealed(directory)
            check_file(directory)
            check_any(directory)
            check_again(directory)
            check_malloc(directory)
            check_interrupt(directory)
            check_children(directory)
            check_elsewhere(directory)
            check_other_user(directory)
            check_kills(directory)
    claims.end()


main()
