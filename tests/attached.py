# SPDX-License-Identifier: GPL-3.0-or-later
"""attached.py -- record -p: what is sampled from outside, and what is refused.

Processes of any kind, place and rights, and recordings that end in any way.
tests/attach.py has what is claimed of shares and amounts.  Where perf events are
forbidden, only refusals are tested.  Speaks TAP.
"""
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

from claims import Claims
from collector_file import Profile
from filters import forbid_events
from outside import (CPPROF, NOBODY, PATIENCE, PROGRAMS, WAITS, cpu_seconds,
                     files, hits, in_own_mounts, may_sample, programs, record,
                     record_and_go, started, static_program, view)
from terminal import Terminal, has_terminals

claims = Claims()
WITH_KERNEL = 'processes with frames of the kernel'


def check_whole(directory, how, program, user=None, cpprof=CPPROF):
    """A program of any kind ends as ever, and so does its recording."""
    path = os.path.join(directory, how.replace(' ', '-'))
    with started(program, '60000', 'user', user=user) as process:
        why = may_sample(process.pid, user, cpprof)
    if why:
        claims.skip(f'{how} is sampled', why)
        return None
    with started(program, '1500', 'user', 'read', 'faults', 'calls',
                 user=user) as process:
        result = record('-F', '1000', '-o', path, '-p', str(process.pid),
                        user=user, cpprof=cpprof)
        output = process.communicate()[0]
    claims.check(f'{how}: the program ends as without cpprof',
                 process.returncode == 0 and 'part_user' in output,
                 (process.returncode, output))
    claims.check(f'{how}: the recorder ends when the program does',
                 result.returncode == 0, result.stderr)
    seen, total = hits(path)
    # Each is as likely as others; where the kernel is not seen, only one is.
    parts = ('part_user', 'part_read', 'part_faults', 'part_calls') \
        if view(path, 'info')['tallies'].get(WITH_KERNEL) else ('part_user',)
    claims.check(f'{how}: its parts are sampled',
                 all(seen.get(part, 0) > 0.08 * total for part in parts),
                 (seen, total))
    return path


def check_all_whole(directory):
    parts = os.path.join(PROGRAMS, 'parts')
    path = check_whole(directory, 'a dynamic program', parts)
    if path is not None:
        profile = Profile(os.path.join(path, files(path)[0]))
        claims.check('the file is whole, by a reader of its own, and complete',
                     profile.end > 0 and profile.flags & 0x4000 != 0)
        info = view(path, 'info')
        claims.check('info says that it was sampled from outside',
                     'from outside' in json.dumps(info), info)
    static = static_program(directory)
    if static is None:
        claims.skip('a static program is sampled', 'no static libc')
    else:
        check_whole(directory, 'a static program', static)
    if os.geteuid() != 0:
        claims.skip('an ordinary user: samples', 'only root becomes another')
        return
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)
        for program in CPPROF, parts:
            shutil.copy(program, shared)
        check_whole(shared, 'an ordinary user', os.path.join(shared, 'parts'),
                    user=NOBODY,
                    cpprof=os.path.join(shared, os.path.basename(CPPROF)))


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


def check_debug_elsewhere(directory, place):
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
    kept = f'/usr/lib/debug/.build-id/{found[1][:2]}'
    for claim, needed, before in (
            (claims_of[0], place, f'mkdir {place}/.debug && '
             f'cp {debug} {place}/.debug && '),
            (claims_of[1], '/usr/lib/debug', 'mount -t tmpfs none '
             f'/usr/lib/debug && mkdir -p {kept} && '
             f'cp {debug} {kept}/{found[1][2:]}.debug && ')):
        if not os.path.isdir(needed):
            claims.skip(claim, f'no {needed}')
            continue
        with started(*in_own_mounts(place, program, '60000 user',
                                    before)) as process:
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
    words = in_own_mounts(place, parts, '60000 user')
    if words is None:
        claims.skip(claim, 'mount namespaces are not possible here')
        return
    with started(*words) as process:
        check_named(claim, directory, process)
    check_debug_elsewhere(directory, place)
    # The shell is sampled before it enters the namespace.
    go = os.path.join(directory, 'enter')
    with started('sh', '-c', WAITS.format(go) + '"$@"; :', 'sh',
                 *in_own_mounts(place, parts, '1500 user')) as process:
        check_named('and one that enters it while it is sampled', directory,
                    process, 0.3, go)


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
    if info['tallies'].get(WITH_KERNEL) != 1:
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
while [ $n -lt 12 ]; do
    "$0" -c 'n=0; while [ $n -lt 30000 ]; do n=$((n+1)); done'
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
    # Not the time of those without a sample, which are of no process.
    rows = {row['program']: row for row in view(path, 'processes')['rows']
            if row['processes'] is not None}
    # The name of a link is not known of one that has ended meanwhile.
    n = sum(row['processes'] for name, row in rows.items() if name != 'sh')
    claims.check('processes have the program that they ran when they were '
                 'sampled', result.returncode == 0 and
                 {'sh', 'a-shell'} <= set(rows) and 6 < n <= 12 and
                 all(row['threads'] == row['processes']
                     for row in rows.values()), (result.stderr, rows))


HELD_MS = 800       # what the child uses
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
            with subprocess.Popen([program, go, how, str(HELD_MS)]) as process:
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
                         0.8 * HELD_MS < found < 1.04 * HELD_MS and
                         tallies.get(UNSEEN, 0) < 0.47 * HELD_MS,
                         (found, result.stderr, tallies))


def check_interval():
    """As inside, where that does not cost much."""
    def interval(words):
        out = subprocess.run(
            (CPPROF, '-F', 'json', '-e', f'record --list {words}'),
            capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        return next(row['interval'] for row in json.loads(out)['rows']
                    if row['name'] == 'cpu')
    few = 1000 if os.sysconf('SC_NPROCESSORS_ONLN') <= 16 else 4000
    with started(os.path.join(PROGRAMS, 'target'), 'spin', '60000') as process, \
            started(sys.executable, '-c', 'while True: pass') as python:
        found = [interval(words) for words in (
            f'-p {process.pid}', f'-p {python.pid}',
            f'-p {process.pid},{python.pid}', '-a')]
    claims.check('CPU time is sampled each ms, but of Python and of all programs '
                 'each 4 ms', found == [few, 4000, 4000, 4000], found)


def check_short_threads(directory):
    """Threads of a millisecond: their time counts, if not their stacks."""
    path = os.path.join(directory, 'short')
    with started(os.path.join(PROGRAMS, 'brief'), 'threads',
                 '1500') as process:
        result = record('-o', path, '-r', 'cpu:4000', '-p', str(process.pid))
        output = process.communicate()[0]
    used = sum(float(word) for word in output.split()) / 1e6
    found, all_hits = hits(path)
    # Starting threads takes time, too.
    claims.check('what threads too short for a sample use is not missing',
                 result.returncode == 0 and
                 0.85 * used < all_hits * 0.004 < 1.5 * used,
                 (output, found, all_hits))


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
                 found.get('a-server', 0) > 0 and 'target' not in found,
                 found)


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
    with subprocess.Popen(['sleep', '60']) as process:
        result = record('-o', path, '-p', str(process.pid), '--for', '0.2s')
        process.kill()
    claims.check('the exit status says whether there are samples',
                 result.returncode == ('no samples' in result.stderr), result)


def check_ordinary_machine():
    """-a is root's where kernel.perf_event_paranoid says so."""
    claim = '-a says what an ordinary user needs'
    if os.geteuid() != 0:
        claims.skip(claim, 'only root becomes another')
        return
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)
        shutil.copy(CPPROF, shared)
        result = record('-a', '--for', '1s', '-o', os.path.join(shared, 'r'),
                        user=NOBODY, cpprof=os.path.join(
                            shared, os.path.basename(CPPROF)))
        with open('/proc/sys/kernel/perf_event_paranoid') as file:
            forbidden = int(file.read()) > 0
        claims.check(claim, not forbidden or (result.returncode == 1 and
                                              'root' in result.stderr),
                     result.stderr)


def check_prompt_of_all(directory):
    claim = 'the prompt of -a begins with processes'
    if os.geteuid() != 0 or not has_terminals():
        claims.skip(claim, 'not root, or no terminals here')
        return
    # On a machine where nothing runs, nothing is sampled.
    with started(os.path.join(PROGRAMS, 'target'), 'spin', '60000'):
        prompt = Terminal('record', '-a', '--for', '300ms', '-o',
                          os.path.join(directory, 'all'), columns=100)
        screen = prompt.expect('help lists')
    claims.check(claim, re.search(r'processes +threads +program', screen),
                 screen)
    prompt.type('quit\n')
    prompt.status()


def check_recursion(directory):
    path = os.path.join(directory, 'recursion')
    go = path + '-go'
    with started('sh', '-c', WAITS.format(go) + 'exec "$0" recursion 10000',
                 os.path.join(PROGRAMS, 'target')) as process:
        result = record_and_go(path, go, '-o', path, '-p', str(process.pid))
    info = view(path, 'info')
    claims.check('stacks of 10,000 frames come whole',
                 result.returncode == 0 and
                 info['deepest_stack'] > 10000, (result.stderr, info))


def wait_for_samples(path):
    until = time.monotonic() + PATIENCE
    while not (os.path.isdir(path) and files(path) and
               view(path, 'info')['samples'] >= 5):
        assert time.monotonic() < until
        time.sleep(0.05)


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
            wait_for_samples(path)
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
        wait_for_samples(path)
        process.kill()
        said = recorder.communicate(timeout=PATIENCE)[1]
        claims.check('if the program is killed, the recorder ends in order',
                     recorder.returncode == 0 and
                     view(path, 'info')['samples'] > 0, said)


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
            check_all_whole(directory)
            check_elsewhere(directory)
            check_kernel(directory)
            check_processes(directory)
            check_executions(directory)
            check_forks(directory)
            check_held_forks(directory)
            check_interval()
            check_short_threads(directory)
            check_places_outside(directory)
            check_names(directory)
            check_link(directory)
            check_cgroup(directory)
            check_ordinary_machine()
            check_prompt_of_all(directory)
            check_headless(directory)
            check_idle(directory)
            check_recursion(directory)
            check_ends(directory)
    claims.end()


main()
