# SPDX-License-Identifier: GPL-3.0-or-later
"""limits.py -- where no recording can be made, `record` runs the program anyway
and says why it is not sampled.

The witness is the same program without `record`: its output, its error output
apart from lines of cpprof, and its exit status must be the same.  Speaks TAP.
"""
import functools
import os
import resource
import shlex
import shutil
import subprocess
import tempfile

import cpprof
from claims import Claims

CPPROF = os.path.join(cpprof.copies_for_everyone(), 'cpprof')
NOBODY = 65534

# Echoes its input, prints its limits and arguments, and ends with status 7.
PROGRAM = ['sh', '-c', 'cat; ulimit -a; echo "$@"; echo complaint >&2; exit 7',
           'sh', 'a  b', '*']

WITHOUT_PROC = ['bwrap', '--bind', '/', '/', '--tmpfs', '/proc', '--dev',
                '/dev']

claims = Claims()


def run(command, prepare, before, **more):
    """(status, output, error output of the program, lines of cpprof)"""
    words = ' '.join(map(shlex.quote, command))
    done = subprocess.run([*before, 'sh', '-c', f'{prepare} exec {words}'],
                          input='input\n', text=True, capture_output=True,
                          timeout=120, **more)
    lines = done.stderr.splitlines()
    own = [line for line in lines if line.startswith('cpprof: ')]
    return (done.returncode, done.stdout,
            [line for line in lines if line not in own], own)


def check(prepare='', why=None, before=(), program=PROGRAM, **more):
    """why: what cpprof says of the reason; None: it may be sampled."""
    directory = tempfile.mkdtemp(prefix='cpprof-test-')
    if more.get('user') is not None:
        os.chown(directory, more['user'], more['user'])
    try:
        more.setdefault('cwd', directory)
        *alone, _ = run(program, prepare, before, **more)
        *recorded, own = run([CPPROF, 'record', '-o', directory + '/p', '--',
                              *program], prepare, before, **more)
        assert alone == recorded, (alone, recorded, own)
        if why is not None:
            assert len(own) == 1 and 'is not sampled' in own[0] and \
                why in own[0], own
            assert not os.path.exists(directory + '/p'), os.listdir(directory)
    finally:
        shutil.rmtree(directory)


def check_read_only():
    """As a user who may not write into the current directory."""
    program = [CPPROF, 'record', '--', *PROGRAM]
    *alone, _ = run(PROGRAM, '', (), cwd='/', user=NOBODY, group=NOBODY,
                    extra_groups=[])
    *recorded, own = run(program, '', (), cwd='/', user=NOBODY, group=NOBODY,
                         extra_groups=[])
    assert alone == recorded, (alone, recorded, own)
    assert len(own) == 1 and 'Permission denied' in own[0], own


def check_full_disk():
    """The disk is a tmpfs in a mount namespace: / and p fit, no file does."""
    place = tempfile.mkdtemp(prefix='cpprof-test-')
    mount = (f'mount -t tmpfs -o size=8k none {place} && '
             f'! cat /dev/zero >{place}/fill 2>/dev/null && cd {place} &&')
    before = ['unshare', '--user', '--map-root-user', '--mount']
    try:
        *alone, _ = run(PROGRAM, mount, before)
        *recorded, own = run([CPPROF, 'record', '-o', 'p', '--', *PROGRAM],
                             mount, before)
        assert alone == recorded and alone[0] == 7, (alone, recorded, own)
        assert 'No space left' in own[0], own
    finally:
        shutil.rmtree(place)


def check_at_the_prompt():
    """There the program is a child, and the session goes on."""
    directory = tempfile.mkdtemp(prefix='cpprof-test-')
    done = subprocess.run(
        ['sh', '-c', f'ulimit -f 0; {shlex.quote(CPPROF)} -q -e '
         f'"record -o {directory}/p echo hello" -e help | grep -c ""; '
         f'ls {directory}'],
        text=True, capture_output=True, timeout=120,
        stdin=subprocess.DEVNULL)
    shutil.rmtree(directory)
    assert int(done.stdout) > 10, done.stdout
    assert 'echo is not sampled: the limit on the size' in done.stderr, \
        done.stderr


def works(before):
    try:
        return subprocess.run([*before, 'true'],
                              capture_output=True).returncode == 0
    except OSError:
        return False


for prepare, why in (
        ('ulimit -n 4;', 'ulimit -n'), ('ulimit -n 6;', 'ulimit -n'),
        ('ulimit -n 12;', None), ('ulimit -n 24;', None),
        ('ulimit -f 0;', 'ulimit -f'), ('ulimit -f 8;', 'ulimit -f'),
        ('ulimit -f 64;', None), ('ulimit -c 0;', None),
        ('ulimit -l 0;', None),
        ('ulimit -s 256;', None), ('ulimit -s 64;', None),
        ('ulimit -v 100000;', None),
        ('exec <&-;', None), ('exec 2>&-;', None), ('exec <&- 2>&-;', None),
        ('ulimit -n 4; exec <&- 2>&-;', None)):
    claims.attempt(f'after {prepare} the program runs', check, prepare, why)
claims.attempt('and without output', check, 'exec >&-;', None, (),
               ['sh', '-c', 'cat >&2; exit 7'])
if os.getuid() == 0:
    for claim, function in (
            ('in a directory that cannot be written', check_read_only),
            ('with room for no other process', functools.partial(
                check, why='asking the collector',
                program=['printf', '%s\n', 'a  b'], user=54321, group=54321,
                extra_groups=[], preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_NPROC, (0, 0))))):
        claims.attempt(claim, function)
for name, before, function, arguments in (
        ('on a full disk',
         ['unshare', '--user', '--map-root-user', '--mount'], check_full_disk,
         ()),
        ('without /proc',
         WITHOUT_PROC, check, ('', None, WITHOUT_PROC))):
    if works(before):
        claims.attempt(f'{name} the program runs', function, *arguments)
    else:
        claims.skip(f'{name} the program runs', 'not possible here')
claims.attempt('at the prompt, too', check_at_the_prompt)
claims.end()
