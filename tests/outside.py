# SPDX-License-Identifier: GPL-3.0-or-later
"""outside.py -- recordings from outside, of processes that run already, for tests."""
import contextlib
import json
import os
import shutil
import subprocess
import time

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
SOURCE = os.path.abspath(os.environ.get('srcdir', '.'))
PROGRAMS = os.path.join(BUILD, 'tests', 'programs')
NOBODY = 65534
PATIENCE = 600
WAITS = 'while ! [ -e {} ]; do :; done; '      # of a shell


def cpu_seconds(pid):
    """CPU time of a process so far; None: it is gone."""
    try:
        with open(f'/proc/{pid}/stat') as file:
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def run_seconds(pid):
    """The time that a process of one thread has run, by the scheduler."""
    with open(f'/proc/{pid}/schedstat') as file:
        return int(file.read().split()[0]) / 1e9


@contextlib.contextmanager
def started(*words, user=None):
    """A program that has begun to use CPU time."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE,
                               stdin=subprocess.PIPE, text=True, user=user,
                               group=user, extra_groups=[] if user else None)
    try:
        until = time.monotonic() + PATIENCE
        while (cpu_seconds(process.pid) or 0) < 0.05:
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.01)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def record(*words, user=None, cpprof=CPPROF, before=None):
    return subprocess.run([cpprof, 'record', '--no-prompt', *words],
                          capture_output=True, text=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, user=user, group=user,
                          extra_groups=[] if user else None,
                          preexec_fn=before)


def record_and_go(path, go, *words, after=0, before=None):
    """Records a process that waits for a file, which is made when there are
    samples of it, or so many seconds later."""
    with subprocess.Popen([CPPROF, 'record', '--no-prompt', *words],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, preexec_fn=before) as recorder:
        until = time.monotonic() + PATIENCE
        try:
            while recorder.poll() is None and time.monotonic() < until and \
                    not (os.path.isdir(path) and files(path)):
                time.sleep(0.01)
            time.sleep(after)
        finally:
            with open(go, 'w'):
                pass
        said = recorder.communicate(timeout=PATIENCE)[1]
    return subprocess.CompletedProcess(words, recorder.returncode, None, said)


def view(path, command, *settings):
    words = [word for line in ('threshold 0', *settings, command)
             for word in ('-e', line)]
    result = subprocess.run([CPPROF, '-q', '-F', 'json', *words, path],
                            capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def hits(path):
    """Hits of each function with its descendants, and of all."""
    answer = view(path, 'functions 1000')
    rows = {row['path'][0]: row['hits'] for row in answer['rows']}
    return rows, answer['total']


def files(path):
    return sorted(name for name in os.listdir(path)
                  if name.startswith('cpprofdata.'))


def programs(path):
    """Hits of each program of a recording."""
    return {row['program']: row['hits']
            for row in view(path, 'processes')['rows']}


def lost(path):
    """How many hits of a recording were lost, if there are so many that little
    else can be said, as on a slow machine; else 0."""
    info = view(path, 'info')
    return info['dropped'] if info['dropped'] > \
        0.05 * info['rows'][0]['hits'] else 0


def may_sample(pid, user=None, cpprof=CPPROF):
    """'': cpu can be sampled from outside; else why not."""
    result = subprocess.run([cpprof, '-q', '-F', 'json', '-e',
                             f'record --list -p {pid}'], capture_output=True,
                            text=True, timeout=PATIENCE, user=user,
                            group=user, extra_groups=[] if user else None)
    if result.returncode != 0:
        return result.stderr
    cpu = next(row for row in json.loads(result.stdout)['rows']
               if row['name'] == 'cpu')
    return '' if cpu['source'] != 'not here' else cpu['why']


def in_own_mounts(place, program, arguments, before=''):
    """The words that run a copy of a program, `inner` in a folder that only its
    own mount namespace has.  before: what the shell does first there, ending in
    "&& ".  None: that is not possible here."""
    mount = f'mount -t tmpfs none {place}'
    words = ['unshare', '-m' if os.geteuid() == 0 else '-Urm', 'sh', '-c']
    if subprocess.run([*words, mount], capture_output=True).returncode != 0:
        return None
    return [*words, f'{mount} && cp {program} {place}/inner && {before}'
            f'exec {place}/inner {arguments}']


def truth(output):
    parts = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) == 2 and words[0].startswith('part_'):
            parts[words[0]] = int(words[1])
        if words[:1] == ['main']:       # on a slow machine it is much
            parts['between the parts'] = int(words[1]) - int(words[2]) - sum(
                ns for name, ns in parts.items() if name != 'part_partner')
    return parts


def static_program(directory):
    """The same program without a loader; None: it cannot be built."""
    path = os.path.join(directory, 'parts-static')
    compiler = shutil.which('cc') or shutil.which('gcc')
    if compiler is None:
        return None
    built = subprocess.run([compiler, '-O2', '-g', '-static', '-pthread',
                            '-D_GNU_SOURCE', '-I', SOURCE, '-o', path,
                            os.path.join(SOURCE, 'tests/programs/parts.c')],
                           capture_output=True)
    return path if built.returncode == 0 else None
