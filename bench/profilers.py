# SPDX-License-Identifier: GPL-3.0-or-later
"""profilers.py -- cpprof and other profilers: how to run each and read its
results.

wrap(command, output): the command that profiles another, and its environment;
output is the path to write to.  read(output): the number of samples and the
deepest stack that it can show; None if there are no samples.  flags: compiler
flags of the benchmark's own programs for it.
"""
import collections
import functools
import glob
import json
import os
import shutil
import struct
import subprocess

# Samples a second, if the rate can be set: the default of cpprof.
RATE = '250'
CPPROF = os.environ.get('CPPROF', './cpprof')
LIBPROFILER = (glob.glob('/usr/lib*/libprofiler.so.0') +
               glob.glob('/usr/lib/*/libprofiler.so.0'))

class Profiler(collections.namedtuple(
        'Profiler', 'name wrap read flags is_here is_instrumentation is_slow',
        defaults=(None, (), True, False, False))):
    def slowness(self):
        """An estimate of how many times as long a program takes."""
        return 50 if self.is_slow else 4 if self.is_instrumentation else 1.2


# share and us_each (the time that sampling took): cpprof's alone.
Taken = collections.namedtuple('Taken', 'samples depth share us_each',
                               defaults=(None, None))


def run_quietly(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def wrap_cpprof(options, command, output):
    return [CPPROF, 'record', '--force', '-o', output, *options, '--',
            *command], {}


def read_cpprof(output):
    info = json.loads(subprocess.run(
        [CPPROF, '-q', '-F', 'json', '-e', 'info', output],
        check=True, capture_output=True).stdout)
    seconds = info['sampling_share'] * info['cpu_seconds']
    return Taken(info['samples'], info['deepest_stack'],
                 info['sampling_share'],
                 1e6 * seconds / max(info['samples'], 1))


# Only the samples: no build-ids, which would be read from all modules.
def wrap_perf(how, command, output):
    return ['perf', 'record', '-q', '-B', '-N', '-F', RATE,
            '--call-graph', how, '-o', output, '--', *command], {}


def read_perf(output):
    """perf script prints an address per line, and a blank line after each
    stack."""
    samples = depth = deepest = 0
    script = subprocess.Popen(
        ['perf', 'script', '-i', output, '-F', 'ip', '--max-stack', '200000',
         '--no-inline'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in script.stdout:
        if line.strip():
            depth += 1
        elif depth:
            samples, deepest, depth = samples + 1, max(deepest, depth), 0
    script.wait()
    return Taken(samples, deepest)


def perf_works(how):
    return shutil.which('perf') is not None and run_quietly(
        ['perf', 'record', '-q', '--call-graph', how, '-o', os.devnull, '--',
         'true'])


def wrap_gperftools(command, output):
    return command, {'LD_PRELOAD': LIBPROFILER[0], 'CPUPROFILE': output,
                     'CPUPROFILE_FREQUENCY': RATE}


def read_gperftools(output):
    """Words: a header with its own length, then count, depth and stack; the
    last count is 0."""
    with open(output, 'rb') as file:
        data = file.read()
    words = struct.unpack('=%dQ' % (len(data) // 8), data[:len(data) & ~7])
    at, samples, deepest = 2 + words[1], 0, 0
    while words[at] != 0:
        samples, deepest = samples + words[at], max(deepest, words[at + 1])
        at += 2 + words[at + 1]
    return Taken(samples, deepest)


def wrap_gprof(command, output):
    return command, {'GMON_OUT_PREFIX': output}


def read_gprof(output):
    """The records with tag 0 are histograms, 40 bytes and 16-bit counts; of
    the others tag 1 is an arc and 2 a table of basic blocks."""
    name, = glob.glob(output + '.*')
    with open(name, 'rb') as file:
        data = file.read()
    at, samples = 20, 0
    while at < len(data) and data[at] != 2:
        if data[at] == 1:
            at += 21
            continue
        bins, = struct.unpack_from('=I', data, at + 17)
        samples += sum(struct.unpack_from('=%dH' % bins, data, at + 41))
        at += 41 + 2 * bins
    return Taken(samples, 2)


def wrap_callgrind(command, output):
    return ['valgrind', '-q', '--tool=callgrind',
            '--callgrind-out-file=' + output, *command], {}


def perf(how, **more):
    return Profiler('perf, ' + how, functools.partial(wrap_perf, how),
                    read_perf, is_here=perf_works(how), **more)


def profilers():
    return (
        Profiler('cpprof', functools.partial(wrap_cpprof, []), read_cpprof),
        Profiler('cpprof -F 1000',
                 functools.partial(wrap_cpprof, ['-F', '1000']), read_cpprof),
        perf('fp', flags=('-fno-omit-frame-pointer',)),
        perf('dwarf'),
        Profiler('gperftools', wrap_gperftools, read_gperftools,
                 is_here=len(LIBPROFILER) > 0),
        Profiler('gprof', wrap_gprof, read_gprof, flags=('-pg',),
                 is_instrumentation=True),
        # libc's own hooks, which do nothing: the least cost of any tool.
        Profiler('-finstrument-functions',
                 lambda command, output: (command, {}),
                 flags=('-finstrument-functions',), is_instrumentation=True),
        Profiler('callgrind', wrap_callgrind,
                 is_here=shutil.which('valgrind') is not None,
                 is_instrumentation=True, is_slow=True),
    )
