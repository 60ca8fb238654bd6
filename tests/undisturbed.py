# SPDX-License-Identifier: GPL-3.0-or-later
"""undisturbed.py -- programs that use what the collector uses do not notice.

tests/programs/hostile.c prints in each of its modes what it saw of its
signals, stacks, descriptors, rights and children.  It must print the same, and
end in the same way, with and without the collector, whose file must be
complete.  Speaks TAP.
"""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

import cpprof
from claims import rounds
from collector_file import Profile

BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
LIBRARY = os.path.join(BUILD, '.libs', 'libcpprof.so.0')
HOSTILE = os.path.join(BUILD, 'tests', 'programs', 'hostile')
TARGET = os.path.join(BUILD, 'tests', 'programs', 'target')
CONFINED = 2
EVERYTHING = ','.join(
    f'{name}:{interval}' for name, interval in {
        'cpu': 1000, 'latency': 1000, 'syscalls': 1, 'page-faults': 1,
        'real': 100, 'fp-exceptions': 1, 'allocs': 1}.items() if cpprof.can_count(name))


def run(command, directory=None, before=None, **more):
    """Status, output and messages."""
    environment = dict(os.environ, LC_ALL='C', **more)
    if directory is not None:
        environment.update(LD_PRELOAD=cpprof.for_preload(LIBRARY),
                           CPPROF_OUTPUT=directory)
    result = subprocess.run(command, stdin=subprocess.DEVNULL, env=environment,
                            capture_output=True, timeout=120,
                            preexec_fn=before)
    return result.returncode, result.stdout, result.stderr


def profiles(directory):
    return [Profile(os.path.join(directory, name))
            for name in sorted(os.listdir(directory))]


def sampled(command, **keywords):
    """The result of a run under the collector, and its profiles."""
    directory = tempfile.mkdtemp(prefix='cpprof-test-')
    os.chmod(directory, 0o777)
    try:
        return run(command, directory, **keywords), profiles(directory)
    finally:
        shutil.rmtree(directory)


def mode_is_undisturbed(mode):
    plain = run([HOSTILE, mode])
    for chosen in ['cpu:100', EVERYTHING, 'cpu:4000', 'cpu:1000'][
            :rounds(2)]:
        got, found = sampled([HOSTILE, mode], CPPROF_RESOURCES=chosen)
        assert got == plain, (chosen, got, plain)
        assert found
        assert sum(profile.hits + profile.lost() for profile in found) > 0


def confined_programs_end_their_recording():
    for mode in ('filter', 'filter-by-number', 'trapping-filter', 'strict'):
        _, found = sampled([HOSTILE, mode])
        assert found[0].flags & CONFINED and found[0].end > 0, mode
        assert found[0].hits_with('spin_free') == 0
    _, found = sampled([HOSTILE, 'mild-filter'])
    assert not found[0].flags & CONFINED
    assert found[0].hits_with('run_mild_filter', 'spin') > 30


def a_filter_before_the_first_sample_kills_nothing():
    """Only the program that was launched has its file at once."""
    plain = run([HOSTILE, 'names-filter'])
    for chosen in 'cpu:1000', EVERYTHING:
        with tempfile.TemporaryDirectory() as directory:
            got = run([HOSTILE, 'names-filter'], directory,
                      CPPROF_LAUNCHER='0', CPPROF_RESOURCES=chosen)
        assert got == plain, (chosen, got, plain)


def limited(what, amount):
    return lambda: resource.setrlimit(what, (amount, amount))


def a_file_size_limit_kills_nothing():
    for amount in (0, 4096, 12288, 20000, 100000):
        before = limited(resource.RLIMIT_FSIZE, amount)
        plain = run([TARGET, 'close-all', '50'], before=before)
        (status, out, err), found = sampled([TARGET, 'close-all', '50'],
                                            before=before)
        assert (status, out) == plain[:2], (amount, status, out)
        assert err.count(b'\n') <= 1, err
        for profile in found:
            assert len(profile.data) <= max(amount, 4096)
            assert amount > 60000 or 'lost-full' in profile.drops


def the_size_asked_for_is_kept():
    for size in (12288, 28672, 65536):
        (status, out, err), found = sampled(
            [TARGET, 'close-all', '50'], CPPROF_MAX_SIZE=str(size))
        assert (status, out, err) == (0, b'closed, first 3\n', b''), err
        assert len(found) == 1 and len(found[0].data) <= size
        assert size > 30000 or found[0].drops['lost-full'][1] > 0


def a_directory_that_cannot_be_written_costs_one_line():
    for directory in ('/none-%d' % os.getpid(), '/proc', '/dev/null',
                      '/' + 'x' * 5000, 'relative'):
        status, out, err = run([TARGET, 'spin', '20'], directory)
        assert (status, out) == (3, b'spun\n'), directory
        assert err.count(b'\n') == 1 and err.startswith(b'cpprof: '), err


def without_a_descriptor_to_spare_it_runs():
    status, out, err = run([TARGET, 'spin', '50'],
                           tempfile.gettempdir() + '/nonexistent',
                           before=limited(resource.RLIMIT_NOFILE, 3))
    assert status in (3, 127), (status, err)     # the loader needs one too
    (status, out, err), found = sampled(
        [HOSTILE, 'no-descriptors'],
        before=limited(resource.RLIMIT_NOFILE, 24))
    assert status == 0 and out == b'13 1\n' and err == b'', (out, err)


def many_threads_leave_descriptors_to_the_program():
    (status, out, err), _ = sampled(
        [TARGET, 'files', '600'], CPPROF_RESOURCES='cpu:100',
        before=limited(resource.RLIMIT_NOFILE, 640))
    assert (status, out, err) == (0, b'files 50\n', b''), (status, out, err)


def timers_that_are_refused_are_counted():
    (status, out, err), found = sampled(
        [TARGET, 'threads', '5'],
        before=limited(resource.RLIMIT_SIGPENDING, 0))
    assert (status, out) == (0, b'threads done\n')
    assert err.count(b'\n') == 1 and b'no timer' in err, err
    assert found[0].n_unsampled == found[0].n_threads == 7


FULL_DISK = '''
mount -t tmpfs -o size=%s tmpfs "$1" || exit 99
status=0
LD_PRELOAD=%s CPPROF_OUTPUT="$1" "$2" close-all 50 || status=$?
cp -r "$1" "$3"
exit $status
'''


def a_full_disk_is_no_bus_error():
    # The last has room for the beginning of the file, but not for all of it.
    for size in ('4k', '12k', '24k', '40k', '80k'):
        with tempfile.TemporaryDirectory() as place:
            copy = os.path.join(place, 'copy')
            disk = os.path.join(place, 'disk')
            os.mkdir(disk)
            status, out, err = run(
                ['unshare', '-m', 'sh', '-c',
                 FULL_DISK % (size, cpprof.for_preload(LIBRARY)),
                 'sh', disk, TARGET, copy])
            if status == 99 or b'unshare' in err:
                return 'no tmpfs to be had'
            assert (status, out) == (0, b'closed, first 3\n'), (size, status)
            assert err.count(b'\n') <= 1, err
            for profile in profiles(copy):
                assert size > '3' or profile.drops['lost-full'][1] > 0
    return None


def nothing_is_written_through_links():
    """A link planted under the file's name is not followed."""
    with tempfile.TemporaryDirectory() as place:
        victim = os.path.join(place, 'victim')
        with open(victim, 'w') as file:
            file.write('precious')
        directory = os.path.join(place, 'd')
        os.mkdir(directory)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.read(read, 1)
            os.environ.update(LD_PRELOAD=cpprof.for_preload(LIBRARY),
                              CPPROF_OUTPUT=directory)
            os.dup2(os.open('/dev/null', os.O_WRONLY), 1)
            os.execv(TARGET, [TARGET, 'spin', '100'])
        os.symlink(victim, os.path.join(directory, 'cpprofdata.%d' % pid))
        os.write(write, b'x')
        os.waitpid(pid, 0)
        os.close(read)
        os.close(write)
        with open(victim) as file:
            assert file.read() == 'precious'
        names = sorted(os.listdir(directory))
        assert names == ['cpprofdata.%d' % pid, 'cpprofdata.%d.1' % pid]
        path = os.path.join(directory, names[1])
        assert os.stat(path).st_mode & 0o7777 == 0o600
        assert Profile(path).hits > 10


def children_of_raw_forks_return():
    """They return through frames that the parent's samples have marked."""
    plain = run([HOSTILE, 'raw-fork'])
    got, found = sampled([HOSTILE, 'raw-fork'], CPPROF_RETURNS='1',
                         CPPROF_RESOURCES='allocs:1')
    assert got == plain, (got, plain)
    # The parent has returned through them, too.
    returns = sum(node.returns for node in found[0].nodes.values()
                  if found[0].name(node) == 'fork_below')
    assert returns > 0


def every_end_keeps_what_was_sampled():
    for how, status in (('kill', -signal.SIGKILL), ('abort', -signal.SIGABRT),
                        ('_exit', 5), ('quick_exit', 6),
                        ('exit-group', 7), ('trap', -signal.SIGILL)):
        (got, _, _), found = sampled([HOSTILE, 'end-' + how],
                                     before=limited(resource.RLIMIT_CORE, 0))
        assert got == status, (how, got)
        hits = found[0].hits_with('spin') + found[0].lost()
        assert hits >= 45, (how, hits)  # 200 ms, every 4


MASK = '''
import os
pid = os.fork()
if pid != 0:
    os._exit(os.waitpid(pid, 0)[1] >> 8)
with open('/proc/self/status') as file:
    mask = [line for line in file if line.startswith('SigBlk')]
os.write(1, mask[0].encode())
'''


def children_that_are_not_sampled_keep_their_mask():
    plain = run([sys.executable, '-c', MASK])
    for more in {}, {'CPPROF_ALONE': '1'}:
        got, _ = sampled([sys.executable, '-c', MASK], **more)
        assert got == plain, (more, got, plain)


def main():
    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP no collector on this machine')
        return
    cases = [(mode + '_is_undisturbed',
              lambda mode=mode: mode_is_undisturbed(mode))
             for mode in run([HOSTILE])[1].decode().split()
             if not mode.startswith('end-')]
    cases += [(case.__name__, case) for case in (
        confined_programs_end_their_recording,
        a_filter_before_the_first_sample_kills_nothing,
        a_file_size_limit_kills_nothing,
        the_size_asked_for_is_kept,
        a_directory_that_cannot_be_written_costs_one_line,
        without_a_descriptor_to_spare_it_runs,
        many_threads_leave_descriptors_to_the_program,
        timers_that_are_refused_are_counted,
        a_full_disk_is_no_bus_error,
        nothing_is_written_through_links,
        children_of_raw_forks_return,
        children_that_are_not_sampled_keep_their_mask,
        every_end_keeps_what_was_sampled)]
    wanted = sys.argv[1:]
    cases = [case for case in cases if not wanted or case[0] in wanted]
    print('1..%d' % len(cases))
    for number, (name, case) in enumerate(cases, 1):
        try:
            skipped = case()
            print('ok %d - %s%s' % (number, name, '' if not skipped else
                                    ' # SKIP ' + skipped), flush=True)
        except Exception:
            print('not ok %d - %s' % (number, name))
            for line in traceback.format_exc().splitlines():
                print('# ' + line, flush=True)


main()
