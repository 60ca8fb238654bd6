# SPDX-License-Identifier: GPL-3.0-or-later
"""attach.py -- record -p: processes that run already, sampled from outside.

The programs measure themselves, as for the collector inside.  They are linked
dynamically and statically; the recorder is root or an ordinary user.  Where
perf events are forbidden, only refusals are tested.  Speaks TAP.
"""
import contextlib
import json
import math
import os
import platform
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402
from collector_file import Profile  # noqa: E402
from filters import forbid_events  # noqa: E402
from terminal import Terminal, has_terminals  # noqa: E402

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
SOURCE = os.path.abspath(os.environ.get('srcdir', '.'))
PROGRAMS = os.path.join(BUILD, 'tests', 'programs')
NOBODY = 65534
PATIENCE = 600
claims = Claims()


def cpu_seconds(pid):
    """CPU time of a process so far; None: it is gone."""
    try:
        with open(f'/proc/{pid}/stat') as file:
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


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


WAITS = 'while ! [ -e {} ]; do :; done; '      # of a shell


def record_and_go(path, go, *words, after=0, before=None):
    """Records a process that waits for a file, which is made when there are
    samples of it, or so many seconds later."""
    with subprocess.Popen([CPPROF, 'record', '--no-prompt', *words],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, preexec_fn=before) as recorder:
        until = time.monotonic() + PATIENCE
        while recorder.poll() is None and time.monotonic() < until and \
                not (os.path.isdir(path) and files(path)):
            time.sleep(0.01)
        time.sleep(after)
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


def differences(path, parts, names):
    """Parts whose share is not the program's own."""
    found, all_hits = hits(path)
    whole = sum(parts.values())
    wrong = []
    for name in names:
        share = parts[name] / whole
        seen = found.get(name, 0) / all_hits
        error = 5 * math.sqrt(share * (1 - share) / all_hits) + 0.01
        if abs(seen - share) > error:
            wrong.append(f'{name}: {seen:.4f} of {all_hits} hits, '
                         f'truth {share:.4f}, allowed {error:.4f}')
    return wrong


# ---- shares ----

def check_shares(directory, how, program, user=None, cpprof=CPPROF):
    """The recorded shares are those that the program measures."""
    claim = f'{how}: shares are those that the program measures itself'
    path = os.path.join(directory, how.replace(' ', '-'))
    with started(program, '2500', 'user', 'read', 'faults', 'calls',
                 user=user) as process:
        why = may_sample(process.pid, user, cpprof)
        if why:
            claims.skip(claim, why)
            return None
        result = record('-F', '1000', '-o', path, '-p', str(process.pid),
                        user=user, cpprof=cpprof)
        output = process.communicate()[0]
        status = process.returncode
    claims.check(f'{how}: the program ends as without cpprof',
                 status == 0 and 'part_user' in output, (status, output))
    claims.check(f'{how}: the recorder ends when the program does',
                 result.returncode == 0, result.stderr)
    parts = {name: ns for name, ns in truth(output).items() if ns > 0}
    names = ['part_user'] if user else sorted(
        name for name in parts if name.startswith('part_'))
    claims.make(claim, differences(path, parts, names))
    return path


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


def check_all_shares(directory):
    parts = os.path.join(PROGRAMS, 'parts')
    path = check_shares(directory, 'a dynamic program', parts)
    if path is not None:
        profile = Profile(os.path.join(path, files(path)[0]))
        claims.check('the file is whole, by a reader of its own, and complete',
                     profile.end > 0 and profile.flags & 0x4000 != 0)
        info = view(path, 'info')
        claims.check('info says that it was sampled from outside',
                     'from outside' in json.dumps(info), info)
    static = static_program(directory)
    if static is None:
        claims.skip('a static program: shares', 'no static libc')
    else:
        check_shares(directory, 'a static program', static)
    if os.geteuid() != 0:
        claims.skip('an ordinary user: shares', 'only root becomes another')
        return
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)
        for program in CPPROF, parts:
            shutil.copy(program, shared)
        check_shares(shared, 'an ordinary user',
                     os.path.join(shared, 'parts'), user=NOBODY,
                     cpprof=os.path.join(shared, os.path.basename(CPPROF)))


# ---- files that only the process can reach ----

def check_named(claim, directory, process, least=0.9, go=None):
    """Its functions have names, though another program is at its path.  go: a
    file for which the process waits."""
    path = os.path.join(directory, 'elsewhere')
    shutil.rmtree(path, ignore_errors=True)
    words = '-o', path, '-p', str(process.pid), '--for'
    result = record(*words, '1s') if go is None else \
        record_and_go(path, go, *words, '3s')
    rows, total = hits(path)
    claims.check(claim, result.returncode == 0 and total > 10 and
                 rows.get('run_parts', 0) > least * total,
                 (result.stderr, total, rows))


def check_debug_elsewhere(directory, place, words):
    """A stripped program whose debug file only its mount namespace has: beside
    it, or by its build-id."""
    claims_of = ['a debug file of another mount namespace: by link',
                 'and by build-id']
    parts = os.path.join(PROGRAMS, 'parts')
    program = os.path.join(directory, 'stripped')
    debug = os.path.join(directory, 'inner.debug')
    tools = shutil.which('objcopy'), shutil.which('readelf')
    notes = subprocess.run([tools[1], '-n', parts], capture_output=True,
                           text=True).stdout if tools[1] else ''
    found = re.search('Build ID: ([0-9a-f]+)', notes)
    if tools[0] is None or found is None:
        for claim in claims_of:
            claims.skip(claim, 'no objcopy, readelf or build-id')
        return
    for options in (['--only-keep-debug', parts, debug],
                    ['--strip-all', '--add-gnu-debuglink', debug, parts,
                     program]):
        subprocess.run([tools[0], *options], check=True)
    begin = f'mount -t tmpfs none {place} && cp {program} {place}/inner && '
    run = f' && exec {place}/inner 60000 user'
    kept = f'/usr/lib/debug/.build-id/{found[1][:2]}'
    for claim, needed, words_of in (
            (claims_of[0], place, f'mkdir {place}/.debug && '
             f'cp {debug} {place}/.debug'),
            (claims_of[1], '/usr/lib/debug', 'mount -t tmpfs none '
             f'/usr/lib/debug && mkdir -p {kept} && '
             f'cp {debug} {kept}/{found[1][2:]}.debug')):
        if not os.path.isdir(needed):
            claims.skip(claim, f'no {needed}')
            continue
        with started(*words, begin + words_of + run) as process:
            check_named(claim, directory, process)


def check_elsewhere(directory):
    parts = os.path.join(PROGRAMS, 'parts')
    program = os.path.join(directory, 'replaced')
    shutil.copy(parts, program)
    with started(program, '60000', 'user') as process:
        os.remove(program)
        shutil.copy(os.path.join(PROGRAMS, 'target'), program)
        check_named('a program whose file was replaced has its functions',
                    directory, process)
    claim = 'a program of another mount namespace has its functions'
    place = os.path.join(directory, 'place')
    os.mkdir(place)
    shutil.copy(os.path.join(PROGRAMS, 'target'),
                os.path.join(place, 'inner'))
    words = ('unshare', '-m', 'sh', '-c', f'mount -t tmpfs none {place} && '
             f'cp {parts} {place}/inner && exec {place}/inner 60000 user')
    if os.geteuid() != 0:
        words = (words[0], '-Ur', *words[1:])
    if subprocess.run((*words[:-1], f'mount -t tmpfs none {place}'),
                      capture_output=True).returncode != 0:
        claims.skip(claim, 'mount namespaces are not possible here')
        return
    with started(*words) as process:
        check_named(claim, directory, process)
    check_debug_elsewhere(directory, place, words[:-1])
    # The shell is sampled before it enters the namespace.
    go = os.path.join(directory, 'enter')
    with started('sh', '-c', WAITS.format(go) + '"$@"; :', 'sh', *words[:-1],
                 words[-1].replace('60000', '1500')) as process:
        check_named('and one that enters it while it is sampled', directory,
                    process, 0.3, go)


# ---- the kernel ----

def is_kernel(module):
    return module.startswith('[') and module != '[vdso]'


def kernel_share(path):
    """The share of hits in the kernel, where stacks end."""
    answer = view(path, 'body 1000', 'granularity module')
    return sum(row['hits'] for row in answer['rows']
               if is_kernel(row['path'][0])) / answer['total'], answer['total']


def kernel_seconds(pid):
    """CPU time of a process in the kernel, and all of it."""
    with open(f'/proc/{pid}/stat') as file:
        fields = file.read().rpartition(')')[2].split()
    return int(fields[12]), int(fields[11]) + int(fields[12])


def check_kernel(directory):
    claim = 'kernel: its share is what the kernel accounts'
    path = os.path.join(directory, 'kernel')
    with started(os.path.join(PROGRAMS, 'parts'), '60000', 'user', 'read',
                 'faults') as process:
        before = kernel_seconds(process.pid)
        result = record('-F', '1000', '-o', path, '--for', '2.5s', '-p',
                        str(process.pid))
        after = kernel_seconds(process.pid)
    info = view(path, 'info')
    if info['tallies'].get('processes with frames of the kernel') != 1:
        claims.skip(claim, 'the kernel does not show its frames')
        return
    share, n = kernel_share(path)
    wanted = (after[0] - before[0]) / (after[1] - before[1])
    # The kernel divides by its ticks, at best one in ms.
    ticks = (after[1] - before[1])
    error = 5 * math.sqrt(wanted * (1 - wanted) * (1 / n + 1 / ticks)) + 0.02
    claims.check(claim, result.returncode == 0 and
                 abs(share - wanted) < error, (share, wanted, error))
    shown = view(path, 'functions 1000')['rows']
    hidden = view(path, 'functions 1000', 'kernel hide')['rows']
    kernel = {row['path'][0] for row in
              view(path, 'functions 1000', 'narrow @kernel')['rows']} - \
        {row['path'][0] for row in hidden}
    claims.check('kernel hide: functions of the program have the same hits',
                 (len(kernel) > 5 or kernel == {'[kernel]'}) and hidden == [
                     row for row in shown if row['path'][0] not in kernel],
                 (shown, hidden))
    own = {}
    for kernel in 'kernel show', 'kernel hide':
        body = {row['path'][0]: row['hits'] for row in
                view(path, 'body 1000', kernel)['rows']}
        listing = view(path, 'list part_faults', kernel)
        code = view(path, 'disasm part_faults', kernel)
        own[kernel] = body['part_faults']
        claims.check(f'{kernel}: list and disasm agree with body',
                     body['part_faults'] == listing['self'] ==
                     sum(row['self'] for row in listing['rows']) ==
                     sum(row['self'] for row in code['rows']),
                     (body, listing['self'], code['self']))
    claims.check('kernel hide: the line that faults has what it cost',
                 own['kernel hide'] > own['kernel show'], own)


# ---- threads and processes ----

def check_processes(directory):
    parts = shlex.quote(os.path.join(PROGRAMS, 'parts'))
    for alone in False, True:
        path = os.path.join(directory, f'processes-{alone}')
        go = path + '-go'
        shell = subprocess.Popen(
            ['sh', '-c', WAITS.format(go) +
             f'{parts} 150 user >/dev/null; '
             f'exec {parts} 150 calls'], stdout=subprocess.DEVNULL)
        result = record_and_go(path, go, '-F', '1000', '-o', path, '-p',
                               str(shell.pid),
                               *(['--no-children'] if alone else []))
        shell.wait()
        if result.returncode != 0:
            claims.check('processes are recorded', False, result.stderr)
            return
        found, _ = hits(path)
        names = files(path)
        claims.check(f'exec begins a file of its own ({alone=})',
                     f'cpprofdata.{shell.pid}.1' in names, names)
        claims.check('after exec the other program is sampled',
                     found.get('part_calls', 0) > 20, found)
        claims.check('children are sampled unless --no-children is given',
                     (found.get('part_user', 0) > 20) != alone, found)


# An interval is longer than most of these programs run: all of them together
# use a second, which is a hundred ticks of the process's times.
EXECUTES = """
turn=$1
n=$((turn % 2 ? 3000 : 40000))
while [ $n -gt 0 ]; do n=$((n-1)); done
read -r stat </proc/$$/stat
set -- ${stat##*) }
[ $((${12} + ${13})) -lt 100 ] && exec sh "$0" $((turn+1))
"""


def check_executions(directory):
    """What was used before each of many executions is estimated."""
    path = os.path.join(directory, 'executions')
    script = os.path.join(directory, 'executes')
    with open(script, 'w') as file:
        file.write(EXECUTES)
    go = path + '-go'
    shell = subprocess.Popen(['sh', '-c', WAITS.format(go) +
                              'exec sh "$0" 0', script])
    result = record_and_go(path, go, '-r', 'cpu:20ms', '-o', path, '-p',
                           str(shell.pid))
    usage = os.wait4(shell.pid, 0)[2]
    used = usage.ru_utime + usage.ru_stime
    _, all_hits = hits(path)
    claims.check('a process that executes programs has no more than it used',
                 result.returncode == 0 and all_hits > 10 and
                 0.02 * (all_hits - 5 * math.sqrt(all_hits)) < used,
                 (result.stderr, all_hits, used))


FORKS = """
n=0
while [ $n -lt 40 ]; do
    "$0" -c 'n=0; while [ $n -lt 3000 ]; do n=$((n+1)); done'
    n=$((n+1))
done
"""


def check_forks(directory):
    """A forked process is its parent's program until it executes another, and
    what no thread is known for is no thread."""
    path = os.path.join(directory, 'forks')
    shell = os.path.join(directory, 'a-shell')
    os.symlink(shutil.which('sh'), shell)
    go = path + '-go'
    process = subprocess.Popen(['sh', '-c', WAITS.format(go) + FORKS, shell])
    result = record_and_go(path, go, '-F', '2000', '-o', path, '-p',
                           str(process.pid))
    process.wait()
    rows = {row['program']: row for row in view(path, 'processes')['rows']}
    # The name of a link is not known of one that has ended meanwhile.
    n = sum(row['processes'] for name, row in rows.items() if name != 'sh')
    claims.check('processes have the program that they ran when they were '
                 'sampled', result.returncode == 0 and
                 {'sh', 'a-shell'} <= set(rows) and 20 < n <= 40 and
                 all(row['threads'] == row['processes']
                     for row in rows.values()), (result.stderr, rows))


UNSEEN = 'hits without a stack: in the kernel, unseen, or in short threads'


def check_held_forks(directory):
    """A child whose fork had begun when its parent's events were opened: at the
    beginning, or when copies of stacks grew.  Those of a crowd cannot grow: there
    are not enough files for two events of each thread."""
    program = os.path.join(PROGRAMS, 'held_fork')
    limit = 64 + 75 * os.cpu_count()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for how, part in (('itself', 'part_child'), ('thread', 'part_thread'),
                      ('exec', 'part_new'), ('fork', 'part_grandchild'),
                      ('late', 'part_child'), ('crowd', 'part_child')):
        for seconds in (0, 1) if how in ('itself', 'fork') else (1,):
            path = os.path.join(directory, f'held-{how}-{seconds}')
            go = path + '-go'
            before = None if how != 'crowd' else lambda: resource.setrlimit(
                resource.RLIMIT_NOFILE, (limit, limit))
            claim = f'a fork that had begun is followed: {how}, after ' \
                f'{seconds} s'
            if how == 'crowd' and resource.RLIM_INFINITY != most < limit:
                claims.skip(claim, f'{most} files are too few')
                continue
            with subprocess.Popen([program, go, how, '1500']) as process:
                while process.poll() is None and \
                        cpu_seconds(process.pid) < 0.05:
                    time.sleep(0.01)
                if process.returncode == 77:
                    claims.skip(claim, 'no events of forks')
                    continue
                result = record_and_go(path, go, '-F', '1000', '-o', path,
                                       '-p', str(process.pid), after=seconds,
                                       before=before)
            found, tallies = hits(path)[0].get(part, 0), \
                view(path, 'info')['tallies']
            # Neither twice nor, besides, as time that has no sample.
            claims.check(claim, result.returncode == 0 and
                         1200 < found < 1560 and tallies.get(UNSEEN, 0) < 700,
                         (found, result.stderr, tallies))


def check_short_threads(directory):
    """Threads of a millisecond: their time counts, if not their stacks."""
    path = os.path.join(directory, 'short')
    with started(os.path.join(PROGRAMS, 'brief'), 'threads',
                 '1500') as process:
        result = record('-o', path, '-p', str(process.pid))
        output = process.communicate()[0]
    used = sum(float(word) for word in output.split()) / 1e6
    found, all_hits = hits(path)
    # Starting threads takes time, too.
    claims.check('what threads too short for a sample use is not missing',
                 result.returncode == 0 and
                 0.85 * used < all_hits * 0.004 < 1.5 * used,
                 (output, found, all_hits))


def check_started_outside(directory):
    """A program that nothing can be preloaded into, from its start on."""
    claim = 'record PROGRAM samples a static program from its start on'
    static = static_program(directory)
    if static is None:
        claims.skip(claim, 'no static libc')
        return
    path = os.path.join(directory, 'outside')
    result = record('-F', '1000', '-o', path, static, '1500', 'user', 'read')
    parts = {name: ns for name, ns in truth(result.stdout).items() if ns > 0}
    claims.check('its output and exit status are its own',
                 result.returncode == 0 and 'part_user' in parts,
                 (result.returncode, result.stderr))
    claims.make(claim, differences(path, parts, [
        name for name in sorted(parts) if name.startswith('part_')]))
    claims.check('record says that it is sampled from outside, and why',
                 'statically linked' in result.stderr and
                 'from outside' in result.stderr, result.stderr)
    result = record('-o', os.path.join(directory, 'fails'), static)
    claims.check('its exit status is handed on', result.returncode == 2,
                 (result.returncode, result.stderr))


def check_places_outside(directory):
    """Programs that the collector cannot enter, and whose ids, files or rights
    are not those of the recorder."""
    claim = 'record PROGRAM samples a static program of '
    static = static_program(directory)
    if static is None or os.geteuid() != 0:
        claims.skip(claim + 'another place', 'no static libc, or not root')
        return
    root = os.path.join(directory, 'root')
    os.mkdir(root)
    shutil.copy(static, os.path.join(root, 'inner'))
    rights = os.path.join(directory, 'rights')
    shutil.copy(static, rights)
    os.chown(rights, NOBODY, NOBODY)
    os.chmod(rights, 0o4755)
    work = ['1000', 'user']
    for place, words in (
            ('another PID namespace', ['unshare', '-pf', static, *work]),
            ('another /proc', ['unshare', '-pf', '--mount-proc', static,
                               *work]),
            ('another root directory', ['chroot', root, '/inner', *work]),
            ('other rights', ['sh', '-c', '"$@"; :', 'sh', rights, *work])):
        if shutil.which(words[0]) is None or (
                words[0] == 'unshare' and subprocess.run(
                    [*words[:words.index(static)], 'true'],
                    capture_output=True).returncode != 0):
            claims.skip(claim + place, 'not possible here')
            continue
        path = os.path.join(directory, 'placed')
        result = record('--force', '-o', path, *words)
        rows, total = hits(path)
        claims.check(claim + place, result.returncode == 0 and
                     rows.get('run_parts', 0) > 100 and
                     'not sampled' not in result.stderr,
                     (result, total, rows))


def check_names(directory):
    """Of a name, what can be sampled is, and what cannot is told."""
    program = os.path.join(directory, 'two-of-a-name')
    shutil.copy(os.path.join(PROGRAMS, 'target'), program)
    ended = subprocess.Popen([program], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    with started(program, 'spin', '60000'):
        result = record('-o', os.path.join(directory, 'named'), '-p',
                        'two-of-a-name', '--for', '0.5s')
    ended.wait()
    claims.check('of a name, what runs is sampled, and a zombie is told',
                 result.returncode == 0 and
                 f'process {ended.pid} ' in result.stderr and
                 'of 1 process' in result.stderr, result)


def check_link(directory):
    """As redis-server is, which is a link to redis-check-rdb."""
    link = os.path.join(directory, 'a-server')
    os.symlink(os.path.join(PROGRAMS, 'target'), link)
    path = os.path.join(directory, 'link')
    with started(link, 'spin', '60000'):
        record('-o', path, '-p', 'a-server', '--for', '0.5s')
    found = programs(path)
    claims.check('what was started by a link has its name',
                 found.get('a-server', 0) > 10 and 'target' not in found,
                 found)


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


def check_cgroup(directory):
    """A cgroup is its files cgroup.procs, here and below."""
    cgroup = os.path.join(directory, 'group')
    os.makedirs(os.path.join(cgroup, 'below'))
    os.makedirs(os.path.join(cgroup, 'no-cgroup', 'deep'))
    path = os.path.join(directory, 'group-recording')
    spin = os.path.join(PROGRAMS, 'target')
    brief = os.path.join(directory, 'not-in-it')
    shutil.copy(spin, brief)
    with started(spin, 'spin', '60000') as first, \
            started('sh', '-c', 'while :; do i=0; while [ $i -lt 2000 ]; '
                    f'do i=$((i+1)); done; {spin} spin 100 >/dev/null; '
                    'done') as second, \
            started(brief, 'spin', '60000') as other:
        for place, process in ('cgroup.procs', first), \
                ('below/cgroup.procs', second), \
                ('no-cgroup/deep/cgroup.procs', other):
            with open(os.path.join(cgroup, place), 'w') as file:
                file.write(f'{process.pid}\n')
        result = record('-o', path, '--cgroup', cgroup, '--for', '3s')
        found = programs(path)
        claims.check('--cgroup samples its processes and what they start, '
                     'and no others',
                     result.returncode == 0 and len(files(path)) >= 3 and
                     'target' in found and 'not-in-it' not in found,
                     (result.stderr, found, files(path)))
    result = record('--cgroup', os.path.join(directory, 'nothing'))
    claims.check('--cgroup without processes says what is expected',
                 result.returncode != 0 and
                 '/sys/fs/cgroup' in result.stderr, result.stderr)


def run_seconds(pid):
    """The time that a process of one thread has run, by the scheduler."""
    with open(f'/proc/{pid}/schedstat') as file:
        return int(file.read().split()[0]) / 1e9


def check_beat(directory):
    """Samples at whole milliseconds, too, would all find the same function."""
    path = os.path.join(directory, 'beat')
    with started(os.path.join(PROGRAMS, 'target'), 'beat', '60000') as program:
        said = record('-o', path, '-p', str(program.pid), '--for',
                      '4s').stderr
    rows = view(path, 'functions 1000')['rows']
    hits = [sum(row['hits'] for row in rows if row['path'][-1] == name)
            for name in ('beat', 'beat_on')]
    error = math.sqrt(.25 * .75 / max(1, sum(hits)))
    claims.check('functions that take whole milliseconds have their shares',
                 sum(hits) > 100 and
                 abs(hits[0] / sum(hits) - .25) < 4 * error + .02,
                 (said, rows[:9]))


def check_dozers(directory):
    """Each sample wakes the reader of Python's frames: that must not decide
    which programs are found."""
    claim = ('-a beside Python: programs that sleep and wake have what they '
             'used')
    names = [f'{kind}-{i}' for kind in ('doze', 'spin')
             for i in range(os.cpu_count())]
    path = os.path.join(directory, 'dozers')
    for name in names:
        shutil.copy(os.path.join(PROGRAMS, 'target'),
                    os.path.join(directory, name))
    with contextlib.ExitStack() as stack:
        # Its frames are to be read.
        stack.enter_context(started(
            sys.executable, '-c', 'import time\nwhile True:\n'
            '    sum(range(10000))\n    time.sleep(.01)'))
        programs_of = [stack.enter_context(started(
            os.path.join(directory, name), name[:4], '60000'))
            for name in names]
        recorder = subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '-o', path, '-a', '--for',
             '3s'], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        while not (os.path.isdir(path) and len(files(path)) >= len(names)):
            assert recorder.poll() is None, recorder.communicate()
            time.sleep(0.05)
        before = [run_seconds(process.pid) for process in programs_of]
        time.sleep(2.5)
        used = [run_seconds(process.pid) - start
                for process, start in zip(programs_of, before)]
        said = recorder.communicate(timeout=PATIENCE)[1]
    if lost(path):
        claims.skip(claim, f'{lost(path)} hits were lost')
        return
    found = programs(path)
    hits = [found.get(name, 0) for name in names]
    n = os.cpu_count()
    wanted = sum(used[:n]) / sum(used)
    error = 4 * math.sqrt(wanted * (1 - wanted) / max(1, sum(hits)))
    claims.check(claim, sum(hits) > 100 and
                 abs(sum(hits[:n]) / sum(hits) - wanted) < error + 0.02,
                 (said, wanted, error, dict(zip(names, hits)), used))


def check_headless(directory):
    """A process whose first thread has ended, by number and by name."""
    program = os.path.join(directory, 'headless')
    path = os.path.join(directory, 'headless-recording')
    shutil.copy(os.path.join(PROGRAMS, 'target'), program)
    with started(program, 'headless', '60000') as process:
        for name in str(process.pid), 'headless':
            result = record('-o', path, '--force', '-p', name, '--for', '1s')
            found = programs(path) if os.path.isdir(path) else {}
            rows = view(path, 'functions 1000')['rows'] if found else []
            claims.check(f'-p {name if name.isalpha() else "PID"}: a process '
                         'without its first thread', result.returncode == 0 and
                         list(found) == ['headless'] and
                         any(row['path'][0] == 'spin_alone' for row in rows),
                         (result, found, rows))


def check_idle(directory):
    path = os.path.join(directory, 'idle')
    with subprocess.Popen(['sleep', '1000']) as process:
        result = record('-o', path, '-p', str(process.pid), '--for', '0.2s')
        process.kill()
    claims.check('the exit status says whether there are samples',
                 result.returncode == ('no samples' in result.stderr), result)


def check_flood(directory):
    """Programs that start without end, and more that compute than there are
    processors: neither their records nor their turns cost samples."""
    claim = '-a on a busy machine has what its programs use'
    path = os.path.join(directory, 'flood')
    spin = os.path.join(directory, 'flooded')
    shutil.copy(os.path.join(PROGRAMS, 'target'), spin)
    n = os.cpu_count()
    with contextlib.ExitStack() as stack:
        for _ in range(3 * n):
            stack.enter_context(started('sh', '-c',
                                        'while :; do /bin/true; done'))
        spinners = [stack.enter_context(started(spin, 'spin', '60000'))
                    for _ in range(3 * n)]
        recorder = subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '-o', path, '-a', '--for',
             '4s'], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        while not (os.path.isdir(path) and files(path)):
            assert recorder.poll() is None, recorder.communicate()
            time.sleep(0.05)
        begin = time.monotonic()
        before = [run_seconds(process.pid) for process in spinners]
        time.sleep(2.5)
        seconds = time.monotonic() - begin
        used = sum(run_seconds(process.pid) - start
                   for process, start in zip(spinners, before))
        said = recorder.communicate(timeout=PATIENCE)[1]
    info = view(path, 'info')
    hits = info['rows'][0]['hits']
    claims.check(claim, info['dropped'] <= 0.05 * hits,
                 (said, hits, info['dropped']))
    wanted = used / seconds * info['duration']
    got = programs(path).get('flooded', 0) * 0.004
    error = 5 * math.sqrt(0.004 * wanted)
    claims.check('and each program its own', abs(got - wanted) < error +
                 0.15 * wanted, (said, got, wanted, error))
    claims.check('-a counts no more time than the processors had',
                 (hits + info['dropped']) * 0.004 <=
                 1.02 * n * info['duration'], (said, hits, info))


def check_machine(directory):
    claim = '-a samples all that runs, and says which program used what'
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)
        path = os.path.join(shared, 'r')
        if os.geteuid() == 0:
            shutil.copy(CPPROF, shared)
            result = record('-a', '--for', '1s', '-o', path, user=NOBODY,
                            cpprof=os.path.join(shared,
                                                os.path.basename(CPPROF)))
            with open('/proc/sys/kernel/perf_event_paranoid') as file:
                forbidden = int(file.read()) > 0
            claims.check('-a says what an ordinary user needs',
                         not forbidden or (result.returncode == 1 and
                                           'root' in result.stderr),
                         result.stderr)
    if os.geteuid() != 0:
        claims.skip(claim, 'only root may')
        return
    path = os.path.join(directory, 'machine')
    names = ['one-program', 'two-program']
    for name in names:
        shutil.copy(os.path.join(PROGRAMS, 'target'),
                    os.path.join(directory, name))
    with started(os.path.join(directory, names[0]), 'spin', '60000') as one, \
            started(os.path.join(directory, names[1]), 'spin',
                    '60000') as two:
        recorder = subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '-o', path, '-a', '--for',
             '2s'], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        before = [cpu_seconds(process.pid) for process in (one, two)]
        while not (os.path.isdir(path) and files(path)):
            time.sleep(0.05)
        late = subprocess.run([os.path.join(PROGRAMS, 'target'), 'spin',
                               '300'], stdout=subprocess.DEVNULL)
        said = recorder.communicate(timeout=PATIENCE)[1]
        used = [cpu_seconds(process.pid) - start
                for process, start in zip((one, two), before)]
    found = programs(path)
    main = view(path, 'functions 1000', 'narrow process one-program')
    # cpprof takes time for names, too, in which these run on.
    hits_of = [found.get(name, 0) for name in names]
    wanted = used[0] / sum(used)
    got = hits_of[0] / max(1, sum(hits_of))
    error = 5 * math.sqrt(wanted * (1 - wanted) / max(1, sum(hits_of))) + 0.1
    claims.check(claim, recorder.returncode == 0 and late.returncode == 3 and
                 min(hits_of) > 20 and abs(got - wanted) < error and
                 sum(hits_of) * 0.004 < 1.1 * sum(used) +
                 4 * 0.004 * math.sqrt(sum(hits_of)) and
                 found.get('target', 0) > 5 and
                 f'cpprofdata.{recorder.pid}' not in files(path),
                 (said, found, used))
    claims.check('-a: programs that ran before have whole stacks',
                 any(row['path'][0] == 'main' and
                     row['hits'] > 0.9 * found['one-program']
                     for row in main['rows']), main['rows'][:9])
    check_dozers(directory)
    check_flood(directory)
    claim = 'the prompt of -a begins with processes'
    if not has_terminals():
        claims.skip(claim, 'no terminals here')
        return
    # On a machine where nothing runs, nothing is sampled.
    with started(os.path.join(directory, names[0]), 'spin', '60000'):
        prompt = Terminal('record', '-a', '--for', '300ms', '-o', path,
                          '--force', columns=100)
        screen = prompt.expect('help lists')
    claims.check(claim, re.search(r'processes +threads +program', screen),
                 screen)
    prompt.type('quit\n')
    prompt.status()


def check_recursion(directory):
    path = os.path.join(directory, 'recursion')
    with started(os.path.join(PROGRAMS, 'target'), 'recursion',
                 '10000') as process:
        result = record('-o', path, '-p', str(process.pid))
    info = view(path, 'info')
    claims.check('stacks of 10,000 frames come whole',
                 result.returncode == 0 and
                 info['deepest_stack'] > 10000, (result.stderr, info))


def check_growing(directory):
    """Copies of stacks grow until what changes is in them."""
    path = os.path.join(directory, 'growing')
    with started(os.path.join(PROGRAMS, 'target'), 'wander',
                 '2500') as process:
        before = cpu_seconds(process.pid)
        result = record('-F', '1000', '-o', path, '-p', str(process.pid))
        process.communicate()
    if lost(path):
        claims.skip('copies grow until deep stacks that change come whole',
                    f'{lost(path)} hits were lost')
        return
    info = view(path, 'info')
    late = info['tallies'].get(
        'stacks incomplete: changed before all was read', 0)
    # With copies of one size, most of them are.
    claims.check('copies grow until deep stacks that change come whole',
                 result.returncode == 0 and process.returncode == 3 and
                 late < 0.25 * info['samples'], (result.stderr, info))
    # No sample counts twice while threads have both kinds of event.
    claims.check('meanwhile each sample counts once',
                 0.8 < info['samples'] / 1000 / (2.5 - before + 0.05) < 1.2,
                 (before, info))


# ---- ends ----

def check_ends(directory):
    spin = [os.path.join(PROGRAMS, 'target'), 'spin', '20000']
    path = os.path.join(directory, 'time')
    with started(*spin) as process:
        begin = time.monotonic()
        result = record('-o', path, '--for', '300ms', '-p', str(process.pid))
        claims.check('--for ends the sampling and not the program',
                     result.returncode == 0 and process.poll() is None and
                     time.monotonic() - begin > 0.3, result.stderr)
        before = cpu_seconds(process.pid)
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGKILL:
            name = signal.Signals(number).name
            path = os.path.join(directory, name)
            recorder = subprocess.Popen(
                [CPPROF, 'record', '--no-prompt', '-o', path, '-p',
                 str(process.pid)], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until = time.monotonic() + PATIENCE
            while not (os.path.isdir(path) and files(path) and
                       view(path, 'info')['samples'] >= 5):
                assert time.monotonic() < until
                time.sleep(0.05)
            running = view(path, 'info')
            claims.check(f'before {name} the recording opens, and runs',
                         running['running'] == 1, running)
            recorder.send_signal(number)
            recorder.wait(timeout=PATIENCE)
            after = view(path, 'info')
            claims.check(f'after {name} it is whole',
                         after['samples'] >= running['samples'] and
                         after['running'] == 0, after)
            if number != signal.SIGKILL:
                claims.check(f'{name} ends the recorder in order',
                             recorder.returncode == 0, recorder.returncode)
            with open(f'/proc/{process.pid}/status') as status:
                traced = re.search(r'TracerPid:\s*(\d+)', status.read())
            claims.check(f'after {name} the program runs on, not traced',
                         process.poll() is None and traced[1] == '0')
        assert cpu_seconds(process.pid) >= before
        path = os.path.join(directory, 'killed')
        recorder = subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '-o', path, '-p',
             str(process.pid)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.5)
        process.kill()
        said = recorder.communicate(timeout=PATIENCE)[1]
        claims.check('if the program is killed, the recorder ends in order',
                     recorder.returncode == 0 and
                     view(path, 'info')['samples'] > 0, said)


# ---- refusals ----

def check_refusals():
    def refused(pid, *needed, user=None):
        result = record('-p', str(pid), '-o', '/nonexistent/x', user=user)
        return result.returncode != 0 and all(
            word in result.stderr for word in needed), result.stderr

    with open('/proc/sys/kernel/pid_max') as file:
        claims.check('a process that is not there is named',
                     *refused(int(file.read()) - 1, 'no process'))
    claims.check('a name that no process has is named',
                 *refused('no-such-process', 'no process has that name'))
    child = subprocess.Popen(['true'], stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    claims.check('and by its name, if no other has that',
                 *refused('true', 'has ended'))
    claims.check('a zombie is told from a process',
                 *refused(child.pid, 'has ended'))
    child.wait()
    if os.path.exists('/proc/2/comm') and not os.path.exists('/proc/2/exe') \
            and os.geteuid() == 0:
        claims.check('a thread of the kernel is told, and the way on',
                     *refused(2, 'kernel', 'perf record'))
    else:
        claims.skip('a thread of the kernel is told', 'none is seen')
    if os.geteuid() == 0:
        with tempfile.TemporaryDirectory() as shared:
            os.chmod(shared, 0o755)
            shutil.copy(CPPROF, shared)
            result = record('-p', str(os.getpid()), user=NOBODY,
                            cpprof=os.path.join(shared,
                                                os.path.basename(CPPROF)))
            claims.check("another user's process is told, and the way on",
                         result.returncode != 0 and
                         'another user' in result.stderr and
                         'root' in result.stderr, result.stderr)
    else:
        claims.check("another user's process is told, and the way on",
                     *refused(1, 'root'))
    for words, needed in ((['-p', '1', 'true'], 'no program to run'),
                          (['--for', '1s', 'true'], 'only with -p'),
                          (['-p', '1', '--repeat', '2'], '--repeat'),
                          (['-p', '1', '--for', 'x'], 'expected a time'),
                          (['-a', '--for', '1s', 'true'], 'no program'),
                          (['-p', '1', '-a'], 'one of'),
                          (['-p', '1', '-p', '2'], 'such as -p 1,2'),
                          (['--cgroup', 'a', '--cgroup', 'b'], '--cgroup a is there'),
                          (['-a', '--no-children'], 'all processes'),
                          (['-p', str(os.getpid()), '-r', 'alloc-bytes'],
                           'outside')):
        result = record(*words)
        claims.check(f'record {" ".join(words[:1] + words[-2:])}: refused',
                     result.returncode != 0 and needed in result.stderr,
                     result.stderr)


def write_32_bit(path):
    """A program of i386 that waits for a signal: jmp of pause()."""
    code = b'\xb8\x1d\0\0\0\xcd\x80\xeb\xf7'  # mov $29,%eax; int $0x80; jmp
    head = b'\x7fELF\1\1\1' + bytes(9) + struct.pack(
        '<HHIIIIIHHHHHH', 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    segment = struct.pack('<8I', 1, 0, 0x8048000, 0x8048000, 84 + len(code),
                          84 + len(code), 5, 4096)
    with open(path, 'wb') as file:
        file.write(head + segment + code)
    os.chmod(path, 0o755)


def check_rights(directory):
    """Processes that cannot be sampled, though they run."""
    path = os.path.join(directory, 'i386')
    write_32_bit(path)
    claim = 'a 32-bit process is told, and the way on'
    try:
        process = subprocess.Popen([path])
    except OSError as why:
        claims.skip(claim, f'this kernel runs none: {why}')
    else:
        result = record('-p', str(process.pid))
        claims.check(claim, result.returncode == 1 and
                     '32-bit' in result.stderr and
                     'perf record' in result.stderr, result)
        process.kill()
        process.wait()
    if os.geteuid() != 0 or shutil.which('setpriv') is None:
        claims.skip('a process with other rights is told', 'only for root')
        return
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)
        shutil.copy(CPPROF, shared)
        cpprof = os.path.join(shared, os.path.basename(CPPROF))
        # As a set-user-ID program: the user's own, with root's rights.
        process = subprocess.Popen(['setpriv', f'--ruid={NOBODY}', '--euid=0',
                                    'sleep', '60'])
        time.sleep(0.3)
        result = record('-p', str(process.pid), user=NOBODY, cpprof=cpprof,
                        before=lambda: os.chdir(shared))
        claims.check('a process with other rights is told, and the way on',
                     result.returncode == 1 and 'root' in result.stderr,
                     result)
        process.kill()
        process.wait()
        # As Debian's and Android's kernels with paranoid 3 refuse them.
        fake = os.path.join(shared, 'paranoid')
        with open(fake, 'w') as file:
            file.write('3\n')
        script = ('mount --bind "$0" /proc/sys/kernel/perf_event_paranoid && '
                  'exec setpriv --reuid=65534 --regid=65534 --clear-groups '
                  '"$@"')
        own = subprocess.Popen(['sleep', '60'], user=NOBODY, group=NOBODY,
                               extra_groups=[])
        result = subprocess.run(
            ['unshare', '-m', 'sh', '-c', script, fake, cpprof, 'record',
             '--no-prompt', '-o', os.path.join(shared, 'r'), '-p',
             str(own.pid)], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE,
            preexec_fn=lambda: forbid_events(13))
        claim = 'kernel.perf_event_paranoid=3 is told, and what allows them'
        if 'mount' in result.stderr or 'unshare' in result.stderr:
            claims.skip(claim, result.stderr)
        else:
            claims.check(claim, result.returncode == 1 and
                         'perf_event_paranoid is 3' in result.stderr and
                         'sysctl -w' in result.stderr, result)
        own.kill()
        own.wait()


def check_forbidden(directory):
    """Where perf events are forbidden, nothing runs, and the way on is told."""
    if platform.machine() != 'x86_64':
        claims.skip('where perf events are forbidden', 'no filter for it')
        return
    result = record('-p', str(os.getpid()), before=forbid_events)
    claims.check('where perf events are forbidden, -p says what allows them',
                 result.returncode == 1 and 'seccomp' in result.stderr and
                 '--cap-add PERFMON' in result.stderr, result)
    static = static_program(directory)
    if static is None:
        claims.skip('and a static program does not run', 'no static libc')
        return
    result = record('-o', os.path.join(directory, 'forbidden'), static, '10',
                    'user', before=forbid_events)
    claims.check('and a static program does not run',
                 result.returncode == 1 and result.stdout == '' and
                 '--cap-add PERFMON' in result.stderr and
                 'perf record' in result.stderr, result)


def main():
    check_refusals()
    with tempfile.TemporaryDirectory(prefix='cpprof-test-') as directory:
        check_forbidden(directory)
        check_rights(directory)
        why = may_sample(os.getpid())
        if why:
            claims.skip('processes are sampled from outside', why)
        else:
            check_all_shares(directory)
            check_elsewhere(directory)
            check_kernel(directory)
            check_processes(directory)
            check_executions(directory)
            check_forks(directory)
            check_held_forks(directory)
            check_short_threads(directory)
            check_started_outside(directory)
            check_places_outside(directory)
            check_names(directory)
            check_link(directory)
            check_cgroup(directory)
            check_beat(directory)
            check_machine(directory)
            check_headless(directory)
            check_idle(directory)
            check_recursion(directory)
            check_growing(directory)
            check_ends(directory)
    claims.end()


main()
