# SPDX-License-Identifier: GPL-3.0-or-later
"""linked.py -- a program linked with the installed library, as users build it.

The library, its header and its pkg-config file are installed into a directory
of their own.  tests/programs/linked.c is built against them and run with and
without `cpprof record`, and its recordings are checked.  Speaks TAP.
"""
import fcntl
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

from collector_file import Profile

SOURCE = os.environ.get('srcdir', '.')
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
CPPROF = os.environ.get('CPPROF', os.path.join(BUILD, 'cpprof'))


class Skip(Exception):
    pass


def environment(**more):
    """The environment without the variables of make or of a recording."""
    return dict({name: value for name, value in os.environ.items()
                 if not name.startswith(('MAKE', 'MFLAGS', 'CPPROF_'))},
                **more)


def run(*command, **keywords):
    result = subprocess.run(command, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=60,
                            **keywords)
    assert result.returncode == 0, (command, result.returncode,
                                    result.stdout, result.stderr)
    return result.stdout.strip()


class Linked:
    """The program, built in a directory of its own."""

    def __init__(self, directory):
        self.directory = directory
        root = os.path.join(directory, 'root')
        run('make', '-s', '-C', BUILD, 'DESTDIR=' + root,
            'install-libLTLIBRARIES', 'install-includeHEADERS',
            'install-pkgconfigDATA', env=environment())
        found = subprocess.run(['find', root, '-name', 'libcpprof.pc'],
                               capture_output=True, text=True,
                               timeout=120).stdout.strip()
        self.pkgconfig = os.path.dirname(found)
        self.libraries = os.path.dirname(self.pkgconfig)
        self.root = root
        self.program = self.build(
            os.path.join(SOURCE, 'tests', 'programs', 'linked.c'), 'linked')

    def build(self, source, name, *flags, compiler='cc'):
        if shutil.which(compiler) is None or not shutil.which('pkg-config'):
            raise Skip('no compiler or pkg-config')
        words = run('pkg-config', '--cflags', '--libs', 'libcpprof',
                    env=environment(PKG_CONFIG_PATH=self.pkgconfig,
                                    PKG_CONFIG_SYSROOT_DIR=self.root)).split()
        program = os.path.join(self.directory, name)
        run(compiler, '-O2', '-g', '-Wall', '-Wextra', '-Werror',
            '-D_GNU_SOURCE', *flags, '-o', program, source, *words)
        return program

    def run(self, mode, *arguments, prefix=(), **more):
        """Runs in a new directory; returns the output and the recordings."""
        place = tempfile.mkdtemp(dir=self.directory)
        out = run(*prefix, self.program, mode, *arguments, cwd=place,
                  env=environment(LD_LIBRARY_PATH=self.libraries, **more))
        return out, place

    @functools.cached_property
    def phases(self):
        """The recordings of one run in phases."""
        out, place = self.run('phases')
        assert out == 'phases', out
        return place

    def profile(self, place, name='linked.cpprof'):
        files = [file for file in os.listdir(os.path.join(place, name))
                 if file.startswith('cpprofdata.')]
        assert len(files) == 1, files
        return Profile(os.path.join(place, name, files[0]))


def about(profile, hits, ms):
    found = (hits + profile.lost()) * profile.interval / 1000
    assert ms * 0.8 - 16 <= found <= ms * 1.6 + 50, (hits, found, ms)


def only_what_is_started_is_sampled(linked):
    profile = linked.profile(linked.phases)
    assert profile.hits_with('before') == profile.hits_with('between') == 0
    about(profile, profile.hits_with('run_phases', 'during'), 480)
    assert profile.end > 0 and len(profile.data) == profile.used


def a_phase_is_the_outermost_frame(linked):
    profile = linked.profile(linked.phases)
    stacks = profile.stacks()
    phases = {stack[0] for stack in stacks
              if stack[0].startswith('[')} - {'[sampling]'}
    assert phases == {'[load]', '[solve; fast]'}, phases
    about(profile, profile.hits_with('[load]', 'run_phases', 'during'), 60)
    about(profile, profile.hits_with('[solve; fast]', 'run_phases', 'spin'),
          120)
    plain = sum(hits for stack, hits in stacks.items()
                if not stack[0].startswith('['))
    about(profile, plain, 300)


def the_views_show_phases(linked):
    out = run(CPPROF, '-q', '-e', 'unit hits', '-e', 'functions', '-e',
              'down |[solve; fast]|', 'linked.cpprof', cwd=linked.phases,
              env=environment())
    assert re.search(r'^0\.\d+ \|?\[load\]\|? \[\d+\]$', out, re.M), out
    assert re.search(r'\[solve; fast\]\|? .*run_phases during spin\)', out), out


def running_threads_are_sampled_too(linked):
    out, place = linked.run('threads')
    assert out == 'threads'
    profile = linked.profile(place)
    assert profile.hits_with('before') == profile.hits_with('between') == 0
    about(profile, profile.hits_with('early_thread', 'during'), 1200)
    about(profile, profile.hits_with('late_thread', 'during'), 200)
    about(profile, profile.hits_with('run_threads', 'during'), 300)
    assert 'early bird of t' in [thread.name for thread
                                 in profile.threads.values()]
    assert profile.n_unsampled == 0
    assert not any(stack[0] == '[partial]' for stack in profile.stacks())


def a_thread_that_is_resumed_keeps_errno(linked):
    for resources in 'cpu', 'bytes-read', 'cpu:1000':
        out, _ = linked.run('resumed', CPPROF_RESOURCES=resources)
        assert out == 'resumed 0, errno 0', (resources, out)


def forked_children_go_on(linked):
    out, place = linked.run('fork')
    assert out == 'fork 4'
    folder = os.path.join(place, 'linked.cpprof')
    profiles = [Profile(os.path.join(folder, name))
                for name in os.listdir(folder)]
    assert len(profiles) == 2
    child = [p for p in profiles if p.hits_with('[child]')]
    # The child begins in the phase of its parent.
    parent = [p for p in profiles if p not in child]
    assert len(child) == len(parent) == 1
    about(child[0], child[0].hits_with('[child]', 'during'), 200)
    about(parent[0], parent[0].hits_with('[parent]', 'during'), 100)
    assert child[0].hits_with('between') == 0


def threads_of_a_child_are_not_the_parents(linked):
    out, place = linked.run('fork-threads')
    assert out == 'fork threads 0', out
    folder = os.path.join(place, 'linked.cpprof')
    parent, child = sorted((Profile(os.path.join(folder, name)) for name
                            in os.listdir(folder)), key=lambda p: p.start)
    about(parent, parent.hits_with('wait_and_work', 'during'), 600)
    about(child, child.hits_with('wait_and_work', 'during'), 300)


def recordings(place, name='linked.cpprof'):
    folder = os.path.join(place, name)
    return [Profile(os.path.join(folder, file)) for file in os.listdir(folder)]


def a_child_forked_during_a_start_is_sampled(linked):
    """It does not wait for the locks that the parent's thread held."""
    out, place = linked.run('fork-in-start', 'r')
    assert out == 'fork in start 0', out
    child = max(recordings(place, 'r'), key=lambda p: p.hits)
    about(child, child.hits_with('run_fork_in_start', 'during'), 100)


def a_child_of_an_unsampled_thread_is_sampled(linked):
    out, place = linked.run('fork-unsampled')
    assert out == 'fork unsampled 4 5', out
    profiles = recordings(place)
    for phase in '[unsampled]', '[stopped]':
        child = [p for p in profiles if p.hits_with(phase)]
        assert len(child) == 1, (phase, len(child), len(profiles))
        about(child[0], child[0].hits_with(phase, 'during'), 200)
        assert child[0].hits_with('between') == 0


def a_thread_that_has_not_noticed_a_stop_goes_on(linked):
    out, place = linked.run('start-again')
    n_stops = int(out.removeprefix('start again '))
    profile = linked.profile(place)
    about(profile, profile.hits_with('run_start_again', 'during'), 150)
    assert profile.n_threads == 1 + n_stops, profile.n_threads


def a_thread_that_is_resumed_counts_once(linked):
    """Its rest, which no sample can show, is that of its start and end."""
    out, place = linked.run('whole-thread')
    ms = int(out.removeprefix('whole thread '))
    profile = linked.profile(place)
    rest = sum(hits for stack, hits in profile.stacks().items()
               if stack[0].startswith('[unsampled'))
    about(profile, profile.hits, ms)
    assert rest * profile.interval / 1000 < 100, (rest, ms)


def the_program_has_resources_of_its_own(linked):
    out, place = linked.run('resources')
    assert out == '-1 -1 -1', out
    profile = linked.profile(place)
    assert [(r.name, r.gtick, r.interval) for r in profile.resources] == [
        ('cpu', 'microsecond', 1000), ('requests', 'request', 10)]
    requests = profile.of('requests')
    assert 1498 <= requests.hits <= 1502, requests.hits
    about(profile, profile.hits, 50)
    assert 899 <= requests.hits_with('run_resources', 'serve_more',
                                     'serve') <= 901
    assert 299 <= requests.hits_with('serve_in_thread') <= 301
    # Under record sampling is on before there is anything to declare.
    out, place = linked.run('resources',
                            prefix=(CPPROF, 'record', '-o', 'r'))
    assert out == '-1 -1 1', out
    profile = linked.profile(place, 'r')
    assert [(r.name, r.gtick, r.interval) for r in profile.resources] == [
        ('cpu', 'microsecond', 1000), ('requests', 'request', 10),
        ('bytes sent', 'byte', 100)]
    assert 1798 <= profile.of('requests').hits <= 1802
    assert 122 <= profile.of('bytes sent').hits <= 124
    out = run(CPPROF, '-q', '-e', 'resource', 'r', cwd=place,
              env=environment())
    assert re.search(r'request +10 +requests', out), out
    assert len(out.splitlines()) == 6, out


def without_a_start_nothing_happens(linked):
    out, place = linked.run('never')
    assert out == 'never' and os.listdir(place) == []


def starting_often_is_cheap_and_names_are_bounded(linked):
    out, place = linked.run('many')
    assert out == 'many 977 1', out
    profile = linked.profile(place)
    about(profile, profile.hits, 200)
    assert profile.n_threads == 1 and len(profile.data) < 100000


def an_earlier_recording_is_moved_and_nothing_lost(linked):
    """Also a recording that was opened, and so has names."""
    _, place = linked.run('resources', 'mine')
    first = os.listdir(os.path.join(place, 'mine'))
    assert os.stat(os.path.join(place, 'mine')).st_mode & 0o777 == 0o700
    run(CPPROF, '-e', 'functions', os.path.join(place, 'mine'))
    assert 'names' in os.listdir(os.path.join(place, 'mine'))
    for _ in range(2):
        run(linked.program, 'resources', 'mine/', cwd=place,
            env=environment(LD_LIBRARY_PATH=linked.libraries))
    assert sorted(os.listdir(place)) == ['mine', 'mine.1', 'mine.2']
    assert sorted(os.listdir(os.path.join(place, 'mine.2'))) == \
        sorted(first + ['names'])
    second = os.listdir(os.path.join(place, 'mine'))
    assert len(second) == 1 and first != second
    for name in ('mine/precious', 'file'):
        with open(os.path.join(place, name), 'w'):
            pass
    for name, reason in (('mine', 'ENOTEMPTY'), ('file', 'ENOTDIR'),
                         ('none/none', 'ENOENT')):
        out = run(linked.program, 'refused', name, cwd=place,
                  env=environment(LD_LIBRARY_PATH=linked.libraries))
        assert out == '-1 ' + reason, out
    assert sorted(os.listdir(os.path.join(place, 'mine'))) == \
        sorted(second + ['precious'])


def processes_of_one_run_share_a_recording(linked):
    """However close to each other they start and end, nothing is lost."""
    place = tempfile.mkdtemp(dir=linked.directory)
    ranks = [subprocess.Popen([linked.program, 'resources'], cwd=place,
                              stdout=subprocess.DEVNULL,
                              env=environment(
                                  LD_LIBRARY_PATH=linked.libraries))
             for _ in range(12)]
    assert [rank.wait(timeout=120) for rank in ranks] == [0] * 12
    found = [name.split('.')[1] for folder in os.listdir(place)
             for name in os.listdir(os.path.join(place, folder))]
    assert sorted(found) == sorted(str(rank.pid) for rank in ranks), \
        (os.listdir(place), found)


def who_records_there_is_left_alone(linked):
    place = tempfile.mkdtemp(dir=linked.directory)
    os.mkdir(os.path.join(place, 'mine'), 0o700)
    folder = os.open(os.path.join(place, 'mine'), os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    out = run(linked.program, 'refused', 'mine', cwd=place,
              env=environment(LD_LIBRARY_PATH=linked.libraries))
    os.close(folder)
    assert out == '-1 EAGAIN', out


def a_second_attempt_is_like_a_first(linked):
    out, place = linked.run('second-attempt', 'again')
    assert out == '-1 0', out
    assert linked.profile(place, 'again').arguments[1:] == \
        ['second-attempt', 'again']


def record_keeps_its_recording(linked):
    out, place = linked.run('phases', prefix=(CPPROF, 'record', '-o', 'r'))
    assert out == 'phases' and os.listdir(place) == ['r']
    profile = linked.profile(place, 'r')
    about(profile, profile.hits_with('before'), 100)
    about(profile, profile.hits_with('[load]', 'run_phases', 'during'), 60)
    assert profile.hits_with('between') == 0


def the_header_is_good_c_and_c_plus_plus(linked):
    with tempfile.TemporaryDirectory() as place:
        for compiler, suffix, flags in (
                ('cc', '.c', ['-std=c99', '-pedantic']),
                ('c++', '.cc', ['-std=c++11', '-pedantic'])):
            source = os.path.join(place, 'header' + suffix)
            with open(source, 'w') as file:
                file.write('#include <cpprof.h>\nint main() '
                           '{ cpprof_stop(); return 0; }\n')
            linked.build(source, 'header', *flags, compiler=compiler)


def the_example_works(linked):
    program = linked.build(
        os.path.join(SOURCE, 'sample-data', 'phases.c'), 'phases')
    place = tempfile.mkdtemp(dir=linked.directory)
    out = run(program, cwd=place,
              env=environment(LD_LIBRARY_PATH=linked.libraries))
    assert re.fullmatch(r'from \d+ to \d+', out), out
    profile = linked.profile(place, 'phases.cpprof')
    random, ordered = (profile.hits_with(phase, 'main') for phase in
                       ('[random]', '[sorted]'))
    assert random > ordered > 0
    others = {stack: hits for stack, hits in profile.stacks().items()
              if 'main' in stack and
              not {'[random]', '[sorted]'} & set(stack)}
    assert others == {}, others
    assert random + ordered == profile.hits_with('main'), (random, ordered)


CASES = (
    only_what_is_started_is_sampled,
    a_phase_is_the_outermost_frame,
    the_views_show_phases,
    running_threads_are_sampled_too,
    a_thread_that_is_resumed_keeps_errno,
    forked_children_go_on,
    threads_of_a_child_are_not_the_parents,
    a_child_forked_during_a_start_is_sampled,
    a_child_of_an_unsampled_thread_is_sampled,
    a_thread_that_has_not_noticed_a_stop_goes_on,
    a_thread_that_is_resumed_counts_once,
    the_program_has_resources_of_its_own,
    without_a_start_nothing_happens,
    starting_often_is_cheap_and_names_are_bounded,
    an_earlier_recording_is_moved_and_nothing_lost,
    processes_of_one_run_share_a_recording,
    who_records_there_is_left_alone,
    a_second_attempt_is_like_a_first,
    record_keeps_its_recording,
    the_header_is_good_c_and_c_plus_plus,
    the_example_works,
)


def main():
    if not os.path.exists(os.path.join(BUILD, '.libs', 'libcpprof.so.0')):
        print('1..0 # SKIP no collector on this machine')
        return 0
    directory = tempfile.mkdtemp(prefix='cpprof-test-')
    try:
        linked = Linked(directory)
    except Skip as reason:
        print('1..0 # SKIP %s' % reason)
        return 0
    wanted = sys.argv[1:]
    cases = [c for c in CASES if not wanted or c.__name__ in wanted]
    print('1..%d' % len(cases))
    for i, case in enumerate(cases, 1):
        try:
            case(linked)
            print('ok %d - %s' % (i, case.__name__), flush=True)
        except Skip as reason:
            print('ok %d - %s # SKIP %s' % (i, case.__name__, reason))
        except Exception:
            print('not ok %d - %s' % (i, case.__name__))
            for line in traceback.format_exc().splitlines():
                print('# ' + line, flush=True)
    shutil.rmtree(directory)
    return 0


if __name__ == '__main__':
    sys.exit(main())
