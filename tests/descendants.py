# SPDX-License-Identifier: GPL-3.0-or-later
"""descendants.py -- programs that the collector cannot enter, started by one
that it is in.

They are sampled from outside by the same run.  Each is a copy, by its own name,
of a program that measures its CPU time.  Speaks TAP.
"""
import os
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402
import cpprof  # noqa: E402

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
PARTS = os.path.join(BUILD, 'tests', 'programs', 'parts')
SOURCE = os.path.abspath(os.environ.get('srcdir', '.'))
MS = 300
claims = Claims()

# A static program that uses 100 ms of CPU time, 20 by the name of BRIEF, and starts
# others.
BRIEF_MS = 20
STARTER = """
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int
main(int n, char **words)
{
	const long ns = strstr(words[0], "brief") != NULL ? 20000000 : 100000000;
	struct timespec start, now;

	/* What the process used before may be much on a slow machine. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec -
	       start.tv_nsec < ns);
	if (n > 1 && fork() == 0)
		execv(words[1], words + 1);
	return n > 1 && wait(NULL) < 0;
}
"""


def build(directory, name, source, *options):
    """A static program; False: there is no static C library."""
    compiler = shutil.which('cc') or shutil.which('gcc')
    return compiler is not None and subprocess.run(
        [compiler, '-O2', '-g', '-static', '-pthread', '-D_GNU_SOURCE',
         '-I', SOURCE, '-o', os.path.join(directory, name), '-x', 'c', '-',
         *options], input=source, text=True,
        capture_output=True).returncode == 0


def record(directory, path, *words, env=None, options=('-F', '1000'),
           **more):
    """Standard output and error of a run."""
    done = cpprof.run('record', '--no-prompt', '--force', '-o', path, *options,
                      '--', *words, cwd=directory, timeout=300,
                      env={**os.environ, **(env or {})}, **more)
    return done.stdout, done.stderr


def seconds(output):
    """CPU time of the programs' threads, by their own clocks: not only of their
    parts, since on a slow machine the clocks between these take time, too."""
    words = [line.split() for line in output.splitlines()]
    return (sum(int(word[1]) for word in words
                if word[0] in ('main', 'part_partner')) -
            sum(int(word[2]) for word in words if word[0] == 'main')) / 1e9


def agrees(found, used):
    """Besides, a program starts and ends."""
    return abs(found - used) < 0.15 * used + 0.05


def outside(path):
    """How many processes were sampled from outside."""
    return cpprof.table(path, 'info').get('tallies', {}).get(
        'processes sampled from outside', 0)


def look(path):
    """CPU time of each program, and of each function with those that it called, in
    seconds by the samples; and how many processes were sampled from outside."""
    processes, functions, info = cpprof.documents(
        path, 'threshold 0', 'processes', 'functions all', 'info')
    return ({row['program']: row['hits'] / 1e3 for row in processes['rows']},
            {row['path'][0]: row['hits'] / 1e3 for row in functions['rows']
             if len(row['path']) == 1},
            info.get('tallies', {}).get('processes sampled from outside', 0))


PYTHON = """
import os, subprocess, sys
words = [sys.argv[2], '%d', 'user', 'read']
way = sys.argv[1]
if way == 'vfork':
    subprocess.run(words, check=True)
elif way == 'spawn':
    os.waitpid(os.posix_spawn(words[0], words, os.environ), 0)
elif way == 'spawn by name':
    os.waitpid(os.posix_spawnp(words[0][2:], words, os.environ), 0)
elif way == 'fork':
    if os.fork() == 0:
        os.execv(words[0], words)
    os.wait()
elif way == 'thread':
    import threading
    def execute():
        try:
            os.execv(words[0], words)
        except OSError as error:
            print(error, flush=True)
        os._exit(1)
    threading.Thread(target=execute).start()
    threading.Event().wait()
""" % MS

# What starts the program ./NAME, and the words before it.
WAYS = {
    'a shell': lambda name: ('sh', '-c', f'./{name} {MS} user read; :'),
    'exec of a shell': lambda name: ('sh', '-c',
                                     f'exec ./{name} {MS} user read'),
    'its name in $PATH': lambda name: ('env', 'A=1', name, str(MS), 'user',
                                       'read'),
    **{f'Python: {way}': lambda name, way=way: (
        sys.executable, '-c', PYTHON, way, f'./{name}')
       for way in ('vfork', 'spawn', 'spawn by name', 'fork', 'thread')},
}


def check_ways(directory):
    """However it is started, a static program has the time that it used."""
    for number, (way, words) in enumerate(WAYS.items()):
        name, path = f'static-{number}', os.path.join(directory, 'ways')
        shutil.copy(os.path.join(directory, 'parts-static'),
                    os.path.join(directory, name))
        output, said = record(
            directory, path, *words(name),
            env={'PATH': f'{directory}:{os.environ["PATH"]}'})
        used, (found, functions, n_outside) = seconds(output), look(path)
        claims.check(f'{way}: a static program is sampled, from outside',
                     # What starts it may be sampled while it executes it.
                     n_outside in (1, 2) and used > 0.5 * MS / 1000 and
                     agrees(found.get(name, 0), used) and
                     'not sampled' not in said, (output, said, found))
        # The other part is in the kernel, which not all may see.
        measured = dict(line.split()[:2] for line in output.splitlines())
        hits = functions.get('part_user', 0)
        claims.check(f'{way}: with the places where it was used',
                     agrees(hits, int(measured['part_user']) / 1e9),
                     (hits, measured))


def check_other_environment(directory):
    """A dynamic program without the variables, and what it starts."""
    path = os.path.join(directory, 'environment')
    for name in 'cleared', 'inner':
        shutil.copy(PARTS, os.path.join(directory, name))
    output, said = record(directory, path, 'env', '-i', 'sh', '-c',
                          f'./cleared {MS} user read; ./inner {MS} user')
    found, _, n_outside = look(path)
    claims.check('without the environment: it is sampled, and what it starts',
                 agrees(found.get('cleared', 0) + found.get('inner', 0),
                        seconds(output)) and
                 min(found.get('cleared', 0), found.get('inner', 0)) > 0.1 and
                 'not sampled' not in said, (output, said, found))


def check_once(directory):
    """What a static program starts has each sample once."""
    path = os.path.join(directory, 'once')
    shutil.copy(PARTS, os.path.join(directory, 'dynamic'))
    output, said = record(directory, path, 'sh', '-c',
                          f'./starter ./dynamic {MS} user read; :')
    found, _, n_outside = look(path)
    claims.check('what a static program starts is sampled once',
                 agrees(found.get('dynamic', 0), seconds(output)) and
                 0.07 < found.get('starter', 0) < 0.2 and
                 n_outside in (2, 3, 4),    # and before they execute
                 (output, said, found))
    output, said = record(
        directory, path, sys.executable, '-c',
        "import os, sys\n"
        "os.spawnlp(os.P_WAIT, 'sh', 'sh', '-c', './starter sh -c :; true')\n"
        "print(os.environ['LD_PRELOAD'].count('libcpprof'))\n"
        "os.environ['LD_PRELOAD'] = 'libm.so.6 ' + os.environ['LD_PRELOAD']\n"
        "sys.stdout.flush()\n"
        "os.execv('./starter', ['./starter', '/usr/bin/env'])\n")
    lines = output.splitlines()
    claims.check('its environment has only the other libraries',
                 lines[0] == '1' and 'LD_PRELOAD=libm.so.6' in lines,
                 (output, said))


def check_failing(directory):
    """A program that cannot be executed leaves the one that tried as it was:
    its samples are not taken twice."""
    path = os.path.join(directory, 'failed')
    big = os.path.join(directory, 'busy-static')
    shutil.copy(os.path.join(directory, 'parts-static'), big)
    shutil.copy(PARTS, os.path.join(directory, 'goes-on'))
    output, said = record(
        directory, path, sys.executable, '-c',
        "import os, sys\n"
        "file = open('busy-static', 'r+b')\n"    # then: text file busy
        "for words in (['./busy-static'], ['./busy-static', 'x' * (1 << 20)]):\n"
        "    try:\n"
        "        os.execv('./busy-static', words)\n"
        "    except OSError as error:\n"
        "        print(error.errno)\n"
        "    file.close()\n"
        "sys.stdout.flush()\n"
        "os.execv('./goes-on', ['./goes-on', '%d', 'user', 'read'])\n" % MS)
    found, _, n_outside = look(path)
    claims.check('a program that could not be executed is not sampled',
                 output.splitlines()[:2] == ['26', '7'] and
                 n_outside == 0 and
                 agrees(found.get('goes-on', 0), seconds(output)),
                 (output, said, found))


def check_many(directory):
    """Many of them, several at a time, leave no files open."""
    path = os.path.join(directory, 'many')
    limit = (150, 150)
    output, said = record(
        directory, path, 'sh', '-c',
        'for i in $(seq 60); do ./brief & ./brief & wait; done; times',
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
    found, _, n_outside = look(path)
    # Each uses more while it starts and ends.
    used = sum(60 * int(minutes) + float(rest) for minutes, rest in
               re.findall(r'(\d+)m([0-9.]+)s', output))
    claims.check('120 programs in turn: all are sampled',
                 120 <= n_outside < 140 and
                 0.9 * 120 * BRIEF_MS / 1000 < found['brief'] < used + 0.2 and
                 'statically' not in said,      # the kernel ends them unsampled
                 (said, found, used, n_outside))


def check_at_once(directory):
    """More of them at the same moment than there are places for questions."""
    path = os.path.join(directory, 'at-once')
    output, said = record(
        directory, path, sys.executable, '-c',
        "import os, resource\n"
        "pids = []\n"
        "for _ in range(50):\n"
        "    pids.append(os.fork())\n"
        "    if pids[-1] == 0:\n"
        "        os.execv('./brief', ['./brief'])\n"
        "for pid in pids:\n"
        "    os.waitpid(pid, 0)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)\n")
    (found, _, n_outside), used = look(path), float(output)
    # Each uses more while it starts and ends.  Where `record` does not run for
    # seconds, some wait too long for it, which is told.
    told = re.search(r'(\d+) programs? links? statically', said)
    unsampled = int(told[1]) if told else 0
    sampled = 50 - unsampled
    claims.check('50 programs at once: all are sampled, or counted as not',
                 n_outside >= sampled > 16 and
                 0.9 * sampled * BRIEF_MS / 1000 < found['brief'] < used + 0.2,
                 (said, found, used))


def is_traced(pid):
    with open(f'/proc/{pid}/status') as file:
        return '\nTracerPid:\t0\n' not in file.read()


def check_killed(directory):
    """Nobody waits for an answer of a recorder that was killed."""
    path = os.path.join(directory, 'killed')
    started = os.path.join(directory, 'started')
    output = os.path.join(directory, 'output')
    with open(output, 'w') as file:
        recorder = subprocess.Popen(
            [cpprof.CPPROF, 'record', '--no-prompt', '-o', path, '--', 'sh',
             '-c', f'echo $$ > {started}; while [ -e {started} ]; do '
             'sleep 0.05; done; ./starter; ./starter; echo ends'],
            cwd=directory, stdin=subprocess.DEVNULL, stdout=file,
            stderr=subprocess.DEVNULL)
    while not os.path.exists(started) or not os.path.getsize(started):
        time.sleep(0.01)
    with open(started) as file:
        pid = int(file.read())
    program = os.pidfd_open(pid)
    recorder.kill()
    recorder.wait()
    tracer = shutil.which('strace') and subprocess.Popen(
        ['strace', '-f', '-e', 'trace=futex', '-o',
         os.path.join(directory, 'calls'), '-p', str(pid)],
        stderr=subprocess.DEVNULL)
    while tracer and tracer.poll() is None and not is_traced(pid):
        time.sleep(0.01)
    may_trace = tracer and is_traced(pid)
    os.remove(started)
    select.select([program], [], [], 60)
    if tracer:
        tracer.wait(timeout=60)
    with open(output) as file:
        said = file.read()
    claims.check('without its recorder, the program goes on',
                 said == 'ends\n', said)
    if not may_trace:
        claims.skip('and waits for no answer', 'no strace, or it may not trace')
        return
    with open(os.path.join(directory, 'calls')) as file:
        calls = [line for line in file if 'FUTEX_WAIT,' in line]
    claims.check('and waits for no answer', not calls, calls[:5])


# Asks by the shared memory (lib/cpprof-shared.h) for a process, and prints the
# answer.
ASKS = """
import ctypes, mmap, os, struct, subprocess, sys, time
QUESTIONS, ASKED, YES, NO, NOW, WAKE = 16080, 1, 3, 4, 1, 1
own = os.stat('/proc/self/ns/pid').st_ino << 32 | os.getpid()
with open(os.environ['CPPROF_SHARED'], 'r+b') as file:
    shared = mmap.mmap(file.fileno(), 0)
child = subprocess.Popen(['sleep', '60'])
for pid in int(sys.argv[1]), child.pid:
    struct.pack_into('QIII', shared, QUESTIONS, own, ASKED, pid, NOW)
    n = ctypes.c_uint32.from_buffer(shared, QUESTIONS - 4)
    n.value += 1
    ctypes.CDLL(None).syscall(202, ctypes.byref(n), WAKE, 1 << 30, None, None,
                              0)
    until = time.monotonic() + 60
    while time.monotonic() < until and \\
            struct.unpack_from('I', shared, QUESTIONS + 8)[0] < YES:
        time.sleep(0.01)
    print({YES: 'yes', NO: 'no'}.get(
        struct.unpack_from('I', shared, QUESTIONS + 8)[0]))
child.kill()
"""


def check_others(directory):
    """A recorded process cannot have others sampled but those below it."""
    with subprocess.Popen(['sleep', '600']) as other:
        output, said = record(directory, os.path.join(directory, 'others'),
                              sys.executable, '-c', ASKS, str(other.pid))
        other.kill()
    claims.check('only what a recorded program has started is sampled for it',
                 output.split() == ['no', 'yes'], (output, said))


# Takes all places for questions, for processes that live or have died, and
# starts programs.
TAKES_ALL = """
import mmap, os, struct, subprocess, sys
QUESTIONS, ALL, YES = 16080, 16, 3
namespace = os.stat('/proc/self/ns/pid').st_ino
with open(os.environ['CPPROF_SHARED'], 'r+b') as file:
    shared = mmap.mmap(file.fileno(), 0)
words = ['./starter', '/usr/bin/env']
ended = subprocess.Popen(['true'])
ended.wait()
zombie = os.fork()
if zombie == 0:
    os._exit(0)
os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
lives = sys.argv[1] == 'live'
for i in range(ALL):
    asker = os.getppid() if lives else (ended.pid, zombie)[i % 2]
    struct.pack_into('QI', shared, QUESTIONS + 24 * i, namespace << 32 | asker,
                     (0, YES)[i // 2 % 2])
if lives:
    os.waitpid(os.posix_spawn(words[0], words, os.environ), 0)
else:
    os.execv(words[0], words)
"""


def check_dead_askers(directory):
    """Places whose askers were killed are free again, others are not.  A program
    that is not sampled from outside keeps the collector for what it starts.
    """
    path = os.path.join(directory, 'askers')
    for word, n in ('dead', 1), ('live', 0):
        output, said = record(directory, path, sys.executable, '-c',
                              TAKES_ALL, word)
        n_outside = outside(path)
        claims.check(f'all places for questions taken, by {word} processes',
                     (n_outside > 0) == (n > 0) and
                     ('libcpprof' in output) == (n == 0),
                     (output, said, n_outside))


def check_wishes(directory):
    """What was not wanted, or cannot be, is told as before."""
    path = os.path.join(directory, 'wishes')
    shutil.copy(os.path.join(directory, 'parts-static'),
                os.path.join(directory, 'alone'))
    words = 'sh', '-c', f'./alone {MS} user read; :'
    record(directory, path, *words, options=['-F', '1000', '--no-children'])
    claims.check('--no-children: it is not sampled', outside(path) == 0)
    output, said = record(directory, path, *words,
                          options=['-r', 'alloc-bytes'])
    claims.check('a resource that only the collector counts: output as before',
                 seconds(output) > 0, (output, said))


# Executes a program with more than one LD_PRELOAD, and with an environment that
# cannot be read.
ENVIRONMENTS = """
import ctypes, os, sys
execve = ctypes.CDLL(None).execve
own = [b'%s=%s' % pair for pair in os.environb.items()]
words = (ctypes.c_char_p * 4)(*(word.encode() for word in sys.argv[1:]))
def execute(variables):
    execve(words[0], words, (ctypes.c_void_p * (len(variables) + 1))(
        *(ctypes.cast(each, ctypes.c_void_p).value if each != 1 else 1
          for each in variables)))
execute(own + [1])
print('failed', flush=True)
execute(own + [b'LD_PRELOAD=' + b'x' * 100000])
"""


# Executes a program with a large environment on a small stack.
SMALL_STACK = """
import os, sys, threading
variables = {**os.environ, **{f'V{i}': '' for i in range(30000)}}
def execute():
    os.execve(sys.argv[1], sys.argv[1:], variables)
threading.stack_size(65536)
threading.Thread(target=execute).start()
threading.Event().wait()
"""


def check_environments(directory):
    path = os.path.join(directory, 'small-stack')
    output, said = record(directory, path, sys.executable, '-c', SMALL_STACK,
                          './starter', '/usr/bin/env')
    n_outside = outside(path)
    claims.check('an environment that is larger than the stack',
                 'V29999=' in output and 'libcpprof' not in output and
                 n_outside in (2, 3), (output[-200:], said, n_outside))
    output, said = record(directory, os.path.join(directory, 'environments'),
                          sys.executable, '-c', ENVIRONMENTS,
                          './parts-static', str(MS), 'user')
    claims.check('environments with two LD_PRELOAD, and that cannot be read',
                 output.startswith('failed\n') and seconds(output) > 0,
                 (output, said))


def main():
    why = cpprof.run('record', '--list', '-p', str(os.getpid()),
                     status=None).stdout
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory, \
            open(os.path.join(SOURCE, 'tests/programs/parts.c')) as file:
        if 'perf event cpu-clock' not in why:
            claims.skip('programs are sampled from outside', why)
        elif not build(directory, 'parts-static', file.read()) or \
                not build(directory, 'starter', STARTER):
            claims.skip('programs are sampled from outside',
                        'no static C library')
        else:
            shutil.copy(os.path.join(directory, 'starter'),
                        os.path.join(directory, 'brief'))
            check_ways(directory)
            check_other_environment(directory)
            check_once(directory)
            check_failing(directory)
            check_many(directory)
            check_at_once(directory)
            check_killed(directory)
            check_others(directory)
            check_dead_askers(directory)
            check_environments(directory)
            check_wishes(directory)
    claims.end()


main()
