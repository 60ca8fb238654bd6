# SPDX-License-Identifier: GPL-3.0-or-later
"""mapped.py -- code that a program maps from a file itself has its names, and
stacks through it are whole.

The witness is the program's own clock: tests/programs/mapped.c prints the time
that it spent in such code.  Speaks TAP.
"""
import json
import math
import os
import shutil
import subprocess
import tempfile

from claims import Claims

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
SOURCE = os.path.abspath(os.path.join(os.environ.get('srcdir', '.'), 'tests',
                                      'programs', 'mapped.c'))
INTERVAL = 1000     # microseconds

# With frames, but without frame pointers.
PLUGIN = '''

__attribute__((noinline, noclone, noipa)) static unsigned long
plugin_inner(unsigned long n)
{
    volatile unsigned long sum[5] = { 0 };
    for (unsigned long i = 0; i < n; i++)
        sum[i % 5] += i;
    return sum[0];
}
unsigned long
plugin_outer(unsigned long n)
{
    volatile unsigned long sum[11] = { n };
    sum[3] = plugin_inner(sum[0]);
    return sum[3] + sum[0];
}
'''
NODE = '''
const until = Date.now() + 1500;
let n = 0;
while (Date.now() < until) {
    const map = new Map(), list = [];
    for (let i = 0; i < 2000; i++) { map.set('k' + i, i); list.push('' + i); }
    list.sort(); n += JSON.stringify(list).length;
}
console.log(n > 0);
'''

claims = Claims()


def record(*command):
    done = subprocess.run(
        [CPPROF, 'record', '-o', 'p', '-r', f'cpu:{INTERVAL}', '--', *command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result = subprocess.run(
        [CPPROF, '-q', '-F', 'json', '-e', 'threshold 0', '-e', 'functions',
         'p'], capture_output=True, text=True, timeout=60, check=True)
    table = json.loads(result.stdout.splitlines()[-1])
    shutil.rmtree('p')
    return done.stdout, {row['path'][0]: row['hits'] for row in table['rows']}


def check(command, names, others=0.0):
    """The functions have the time that is printed, below main; *others* of it
    again are spent elsewhere in the same frames."""
    printed, hits = record(*command)
    expected = float(printed) / INTERVAL
    error = 4 * math.sqrt(expected) + 0.1 * expected
    for name in names:
        assert abs(hits.get(name, 0) - expected) < error, (name, expected, hits)
    assert abs(hits.get('main', 0) - expected * (1 + others)) < \
        2 * error, (expected, hits)
    assert hits.get('[partial]', 0) < 0.02 * expected, hits
    if not others:
        assert '[jit]' not in hits, hits


def check_memory_only():
    """What is in no file has no name, but is below main where it has frame
    pointers; here it is only reported."""
    printed, hits = record('./mapped', 'memfd', '300')
    assert hits.get('[jit]', 0) > 0.7 * float(printed) / INTERVAL, hits


def check_replaced():
    """The second half is spent at the same addresses, in no file."""
    printed, hits = record('./mapped', 'replaced', '2400')
    expected = float(printed) / INTERVAL
    # The list of mappings is read again after a second at the latest.
    assert .8 * expected < hits.get('mapped_inner', 0) < 1.95 * expected, \
        (expected, hits)
    assert hits.get('[jit]', 0) > 0.1 * expected, (expected, hits)


def address_of(name, path):
    out = subprocess.run(['nm', path], capture_output=True, text=True,
                         check=True).stdout
    return next(line.split()[0] for line in out.splitlines()
                if line.endswith(' ' + name))


def check_plugin(*flags):
    subprocess.run(['cc', '-O2', '-g', '-shared', '-fPIC',
                    '-fomit-frame-pointer', *flags, '-o', 'plugin.so',
                    'plugin.c'], check=True)
    check(('./mapped', os.path.abspath('plugin.so'), '500',
           address_of('plugin_outer', 'plugin.so')),
          ('plugin_outer', 'plugin_inner'))


def check_node():
    with open('app.js', 'w') as script:
        script.write(NODE)
    _, hits = record('node', 'app.js')
    assert any(name.startswith('Builtins_') for name in hits), hits


def main():
    if not shutil.which('cc') or not os.path.exists(os.path.join(
            os.path.dirname(CPPROF), '.libs', 'libcpprof.so.0')):
        print('1..0 # SKIP no collector or compiler')
        return
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        with open('plugin.c', 'w') as file:
            file.write(PLUGIN)
        build = ['cc', '-O2', '-g', '-fomit-frame-pointer', '-o', 'mapped',
                 SOURCE]
        own = ('mapped_outer', 'mapped_inner')
        for kind in '-pie', '-no-pie':
            subprocess.run([*build, '-fPIE' if kind == '-pie' else '-fno-pie',
                            kind], check=True)
            for mode in 'again', 'moved':
                claims.attempt(f'its own file, mapped {mode} ({kind})', check,
                               ('./mapped', mode, '500'), own)
        shutil.copy('mapped', 'removed')
        claims.attempt('its own file, deleted', check,
                       ('./removed', 'deleted', '500'), own)
        claims.attempt('a copy in memory is run-time code', check_memory_only)
        claims.attempt('code that replaces it is not mistaken for it',
                       check_replaced)
        claims.attempt('another file', check_plugin)
        claims.attempt('another file without a build-id', check_plugin,
                       '-Wl,--build-id=none')
        if shutil.which('ld.lld'):
            claims.attempt("another file of lld's", check_plugin,
                           '-fuse-ld=lld')
        else:
            claims.skip("another file of lld's", 'no lld')
        if shutil.which('node'):
            claims.attempt("node's built-in functions have names", check_node)
        else:
            claims.skip("node's built-in functions have names", 'no node')
        os.chdir('/')
    claims.end()


main()
