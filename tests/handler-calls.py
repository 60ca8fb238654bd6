# SPDX-License-Identifier: GPL-3.0-or-later
"""handler-calls.py -- the collector's handlers call no function that another
library can stand before.

A thread sanitizer does: its strstr takes locks that the interrupted thread may
hold, and the program stops for ever.  tests/programs/intercepting.c stands
before every function that the collector takes from other libraries, and before
those that it wraps, and says which of them a handler calls.  Speaks TAP.
"""
import os
import platform
import subprocess
import sys
import tempfile

from claims import Claims
from cpprof import for_preload

BUILD = os.path.abspath(os.environ.get('builddir', '.'))
PROGRAMS = os.path.join(BUILD, 'tests', 'programs')
SOURCES = os.path.join(os.path.abspath(os.environ.get('srcdir', '..')),
                       'tests', 'programs')
LIBRARY = os.environ.get('CPPROF_LIBRARY',
                         os.path.join(BUILD, '.libs', 'libcpprof.so.0'))

# These take no lock, and no sanitizer intercepts them; the collector finds the
# next function by dlsym at its start.
ALLOWED = {'__errno_location', '_dl_find_object', 'dlsym', 'getauxval',
           'sched_getcpu'}

# Mostly resources that are sampled at signals, as often as they can be.
SAMPLED = ('cpu:100,real:1000', 'user:100,system:100,page-faults:1',
           'syscalls:16,allocs:1,live:1', 'blame,lock-waits',
           'context-switches:1,bytes-read:1,bytes-written:1,io-time:1',
           'latency:100,frees:1', 'calls:1,fp-exceptions:1')

RUNS = (('stacks', 'own', '100', '50'),
        ('crowd', 'equals', '8', '40', '1000', '1000'),
        ('target', 'threads', '100'), ('target', 'fork', '100'),
        ('target', 'actions', '100'), ('target', 'default-action', '100'),
        ('target', 'blocked-signal', '100'))

HANDLES = r'''
#include <signal.h>
#include <string.h>
static char *volatile found;
static void handle(int n) { found = strstr(n == 0 ? "a" : "b", "c"); }
int main(int argc, char **argv)
{ signal(SIGUSR1, handle); strstr(argv[0], argv[argc - 1]);
  return argc > 2 ? raise(SIGUSR1) : 0; }
'''


def listed(*options):
    output = subprocess.run(['nm', '-D', *options, LIBRARY], check=True,
                            capture_output=True, text=True).stdout
    return [line.split()[-2:] for line in output.splitlines()]


def functions():
    """The names of functions that other libraries may have, too."""
    taken = {name.partition('@')[0] for kind, name in
             listed('--undefined-only') if kind == 'U'}
    wrapped = {name.partition('@')[0] for kind, name in
               listed('--defined-only') if kind in 'TW'}
    data = {'__environ', 'environ', '__libc_stack_end', '__progname',
            '_r_debug', 'program_invocation_short_name', 'stdin', 'stdout'}
    return sorted(name for name in taken | wrapped | {'strstr'}
                  if 'cpprof' not in name and name not in data | ALLOWED)


def compile_with(directory, text, name, *options):
    source = os.path.join(directory, name + '.c')
    with open(source, 'w') as file:
        file.write(text)
    result = os.path.join(directory, name)
    subprocess.run(['gcc', '-O1', '-g', source, '-o', result, *options],
                   check=True, capture_output=True, text=True)
    return result


def intercepting(directory):
    names = os.path.join(directory, 'names')
    with open(names, 'w') as file:
        file.writelines(f'FUNCTION({name})\n' for name in functions())
    with open(os.path.join(SOURCES, 'intercepting.c')) as file:
        return compile_with(directory, file.read(), 'intercepting.so',
                            '-shared', '-fPIC', '-mgeneral-regs-only',
                            f'-DINTERCEPTED="{names}"')


def called(command, preloaded, caller, **environment):
    """What handlers of the object called in a run: names and offsets."""
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=120, errors='replace',
        stdin=subprocess.DEVNULL,
        env=dict(os.environ, LD_PRELOAD=' '.join(preloaded),
                 INTERCEPTED_OBJECT=caller, **environment))
    return {tuple(line.split()[2::2]) for line in result.stderr.splitlines()
            if line.startswith('handler calls ')}


def place(offset):
    return subprocess.run(['addr2line', '-sfie', LIBRARY, offset],
                          capture_output=True, text=True).stdout.split('\n')


def check_run(directory, library, run, claims):
    wrong, n_files = [], 0
    for sampled in SAMPLED:
        with tempfile.TemporaryDirectory(dir=directory) as output:
            found = called([os.path.join(PROGRAMS, run[0]), *run[1:]],
                           (for_preload(LIBRARY), library), 'libcpprof',
                           STACKS_REST='1', CPPROF_OUTPUT=output,
                           CPPROF_RESOURCES=sampled)
            n_files += len(os.listdir(output))
        wrong += [f'{sampled}: {name} by {place(offset)[:4]}'
                  for name, offset in sorted(found)]
    if n_files == 0:
        wrong.append('no recording')
    claims.make(f'{" ".join(run)}: handlers call nothing that can be '
                'intercepted', wrong)


def main():
    if platform.machine() != 'x86_64':
        print('1..0 # SKIP written for x86-64')
        return
    claims = Claims()
    with tempfile.TemporaryDirectory() as directory:
        try:
            library = intercepting(directory)
            handles = compile_with(directory, HANDLES, 'handles',
                                   '-fno-builtin')
        except (FileNotFoundError, subprocess.CalledProcessError) as why:
            print('1..0 # SKIP no compiler:', ' '.join(str(why).split()))
            return
        claims.make('a call by a handler is seen, another is not', [
            f'{words}: {found}' for words, expected in
            ((['a'], []), (['a', 'b'], ['strstr'])) for found in
            [[name for name, _ in called([handles, *words], [library],
                                         'handles')]] if found != expected])
        for run in RUNS:
            check_run(directory, library, run, claims)
    claims.end()


sys.exit(main())
