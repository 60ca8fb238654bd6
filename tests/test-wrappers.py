# SPDX-License-Identifier: GPL-3.0-or-later
"""test-wrappers.py -- resources counted by wrapped functions.

What tests/programs/spender.c spends is known, or also counted by the kernel.
The profile must show the same, and the program must not notice.  Speaks TAP.
"""
import importlib
import os
import re
import subprocess
import sys

import filters
from cpprof import TICK

collector = importlib.import_module('test-collector')
resources = importlib.import_module('test-resources')
Run, Skip = collector.Run, collector.Skip

SPENDER = os.environ.get('CPPROF_SPENDER', os.path.join(
    collector.BUILD, 'tests', 'programs', 'spender'))


def spend(resources, mode, argument, **keywords):
    return Run(SPENDER, mode, str(argument), CPPROF_RESOURCES=resources,
               **keywords)


def gticks(profile, *names):
    return profile.hits_with(*names) * profile.interval


def close(found, expected, most_off):
    assert abs(found - expected) <= most_off, (found, expected)


def allocations_are_counted_where_they_are_made():
    n = 4000
    run = spend('allocs:1,alloc-bytes:1000', 'memory', n)
    assert (run.status, run.out) == (0, b'failed 1\n')
    counts, sizes = run.one().of('allocs'), run.one().of('alloc-bytes')
    for name in ('by_malloc', 'by_calloc', 'by_realloc', 'by_reallocarray',
                 'by_aligned', 'by_strdup'):
        assert gticks(counts, 'run_memory', name) == n, name
        close(gticks(sizes, 'run_memory', name), n * 100, 1000)
    assert gticks(counts, 'run_memory', 'by_mmap') == 1
    close(gticks(sizes, 'run_memory', 'by_mmap'), n * 100, 1000)
    # The real function is the innermost frame.
    assert gticks(counts, 'by_malloc', 'libc.so.6') == n


def random_intervals_count_as_much():
    run = spend('alloc-bytes:5000', 'memory', 20000, CPPROF_RANDOM='1')
    assert run.status == 0
    profile = run.one()
    assert profile.resources[0].is_random
    for name in ('by_malloc', 'by_calloc', 'by_strdup'):
        close(gticks(profile, 'run_memory', name), 2000000, 2000000 * 0.2)


def operator_new_counts_once():
    source = ('#include <vector>\n'
              'int main() { for (int i = 0; i < 5000; i++) {'
              'std::vector<char> v(100); asm volatile("" :: "r"(v.data())); '
              '} }\n')
    with collector.tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, 'new')
        if subprocess.run(['c++', '-O2', '-o', program, '-x', 'c++', '-'],
                          input=source.encode(),
                          capture_output=True, timeout=120).returncode != 0:
            raise Skip('no C++ compiler')
        run = Run(program, CPPROF_RESOURCES='allocs:1,alloc-bytes:1')
        found = gticks(run.one().of('allocs'), 'main')
        assert found == 5000, found
        assert gticks(run.one().of('alloc-bytes'), 'main') == 500000


OWN_MALLOC = '''
#include <stdio.h>
#include <sys/mman.h>
void *malloc(unsigned long size)
{
    static char pool[1 << 20];
    static unsigned long at;
    return pool + (at += (size + 31) & ~15ul) - size;
}
void free(void *block) { (void)block; }
int main(void)
{
    for (int i = 0; i < 10; i++)
        mmap(0, 5000, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return puts("own") < 0;
}
'''


def a_program_s_own_malloc_is_left_alone():
    with collector.tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, 'own')
        if subprocess.run(['cc', '-O1', '-fno-builtin', '-o', program, '-x',
                           'c', '-'], input=OWN_MALLOC.encode(),
                          capture_output=True, timeout=120).returncode != 0:
            raise Skip('no C compiler')
        run = Run(program, CPPROF_RESOURCES='alloc-bytes:1')
        assert (run.status, run.out, run.err) == (0, b'own\n', b'')
        assert run.one().resources[0].source == \
            'library calls, mmap only: the program has its own malloc'
        assert gticks(run.one(), 'main') == 50000


NEW = '''
#include <new>
int main() {
    for (int i = 0; i < 5000; i++) {
        void *volatile block = ::operator new(100);
        ::operator delete(block);
    }
}
'''


def what_a_sanitizer_hides_is_told():
    built = False
    for compiler in ('g++', 'clang++'):
        for kind in ('address', 'thread', 'leak'):
            with collector.tempfile.TemporaryDirectory() as directory:
                program = os.path.join(directory, 'new')
                try:
                    subprocess.run([compiler, '-fsanitize=' + kind, '-o',
                                    program, '-x', 'c++', '-'],
                                   input=NEW.encode(), capture_output=True,
                                   check=True, timeout=120)
                except (OSError, subprocess.CalledProcessError):
                    continue
                built = True
                run = Run(program, CPPROF_RESOURCES='alloc-bytes:1000',
                          ASAN_OPTIONS='verify_asan_link_order=0')
                # No message about what cannot be set up, either.
                assert (run.status, run.err) == (0, b''), (kind, run.err)
                source = run.one().resources[0].source
                assert source in (
                    'library calls; a sanitizer hides some, '
                    'such as operator new',
                    'library calls, mmap only: '
                    'the program has its own malloc'), (kind, source)
    if not built:
        raise Skip('no C++ compiler with sanitizers')


# An allocator that has an operator new, and leaves malloc to the C library.
POOL = '''
#include <cstddef>
#include <new>
static char pool[1 << 20];
static std::size_t used;
void *operator new(std::size_t n)
{
    void *block = pool + used;

    used += (n + 15) & ~(std::size_t)15;
    if (used > sizeof pool)
        throw std::bad_alloc();
    return block;
}
void operator delete(void *) noexcept {}
void operator delete(void *, std::size_t) noexcept {}
'''


def an_allocator_with_an_operator_new_is_told():
    with collector.tempfile.TemporaryDirectory() as directory:
        plain, pooled, library = (os.path.join(directory, name)
                                  for name in ('plain', 'pooled', 'libpool.so'))
        try:
            for source, *options in (
                    (POOL, '-shared', '-fPIC', '-o', library, '-'),
                    (NEW, '-o', plain, '-'),
                    (NEW, '-o', pooled, '-', '-x', 'none', library)):
                subprocess.run(['g++', '-x', 'c++', *options],
                               input=source.encode(), capture_output=True,
                               check=True, timeout=120)
        except (OSError, subprocess.CalledProcessError):
            raise Skip('no C++ compiler')
        for program, resource, source in (
                (plain, 'alloc-bytes', 'library calls'),
                (pooled, 'alloc-bytes', 'library calls; not operator new, '
                 'which an allocator has itself'),
                (pooled, 'live', 'library calls, of sampled blocks; '
                 "not an allocator's own new")):
            run = Run(program, CPPROF_RESOURCES=resource + ':1')
            assert (run.status, run.err) == (0, b''), run.err
            found = run.one().resources[0].source
            assert found == source, (program, found)


RING = '''
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef WITH_LIBRARY
#include <liburing.h>
#endif
int main(void)
{
#ifdef WITH_LIBRARY
    struct io_uring ring;
    int result = io_uring_queue_init(4, &ring, 0);
    if (result < 0)
        errno = -result;
#else
    char parameters[120] = "";
    long result = syscall(SYS_io_uring_setup, 4, parameters);
#endif
    return result >= 0 ? 0 : errno == ENOSYS || errno == EPERM ? 77 : 1;
}
'''


def a_ring_is_told():
    """By a raw call, and by liburing where it is installed."""
    for options in ([], ['-DWITH_LIBRARY', '-luring']):
        with collector.tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, 'ring')
            if subprocess.run(['cc', '-o', program, '-x', 'c', '-'] + options,
                              input=RING.encode(),
                              capture_output=True,
                              timeout=120).returncode != 0:
                if options:
                    return
                raise Skip('no C compiler, or one without io_uring')
            for resource, told in (('io-time', True), ('cpu', False)):
                path = os.path.join(directory, resource)
                result = subprocess.run(
                    [os.environ.get('CPPROF', './cpprof'), 'record', '-o',
                     path, '-r', resource, '--', program],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True,
                    timeout=60)
                if result.returncode == 77:
                    raise Skip('the kernel has no io_uring')
                assert result.returncode == 0, result
                found = ('1 process used io_uring, whose I/O is not counted'
                         in result.stderr)
                assert found == told, (options, result)


def bytes_are_those_that_the_kernel_counts():
    n = 200
    run = spend('bytes-read:16,bytes-written:16', 'bytes', n)
    assert run.status == 0, run.err
    totals = [int(x) for x in re.findall(rb'\d+', run.out)]
    size = n * 1024
    for resource, total, names in (
            ('bytes-read', totals[0],
             {'by_read': 1, 'by_pread': 1, 'by_readv': 1, 'by_sendfile': 1,
              'by_fread': 1, 'by_fgets': 1, 'by_getline': 1, 'by_getc': 1}),
            ('bytes-written', totals[1],
             {'by_write': 1, 'by_pwritev': 1, 'by_sendfile': 1,
              'by_fwrite': 1, 'by_fprintf': 1, 'by_putc': 1,
              'by_fclose': 1})):
        profile = run.one().of(resource)
        for name, times in names.items():
            # What a stream reads ahead is charged to the first reader.
            close(gticks(profile, 'run_bytes', name), size * times, 4200)
        in_all(run, profile, total)


def in_all(run, profile, total):
    found = profile.hits * profile.interval
    lost = run.one().lost() * 16
    # The kernel's count includes the collector's own reads of it, 100 bytes at
    # each tick.
    most_off = 4096 + total / 500 + 100 * run.cpu_ms / (1000 * TICK)
    assert total - most_off <= found + lost and found <= total + most_off, \
        (total, found, lost)


def bytes_that_pass_no_wrapper_are_counted():
    n = 20000
    run = spend('bytes-read:16,bytes-written:16', 'unseen-bytes', n)
    assert run.status == 0, run.err
    totals = [int(x) for x in re.findall(rb'\d+', run.out)]
    assert totals[0] >= n * 1024 and totals[1] == n * 1024
    # The kernel's own count has the collector's reads of it, too.
    for resource in ('bytes-read', 'bytes-written'):
        in_all(run, run.one().of(resource), n * 1024)
        # Ticks came while the call lasted.
        assert gticks(run.one().of(resource), 'run_unseen_bytes') > 0


def bytes_of_sockets_are_counted():
    run = spend('bytes-read:16,bytes-written:16', 'sockets', 500)
    assert (run.status, run.out) == (0, b'received\n')
    for name in ('bytes-read', 'bytes-written'):
        close(gticks(run.one().of(name), 'run_sockets'), 500 * 3 * 1024, 32)


def by_the_clock(run, name, profile, *path):
    """Compares the profile of a call with the program's own timing.  A thread
    that waits for a processor does so in one function and is found in the
    next."""
    told = int(re.search(rb'^%s (\d+)$' % name.encode(), run.err, re.M)[1])
    found = gticks(profile, *path, name)
    assert told * 0.9 - 6000 <= found <= told * 1.1 + 30000, \
        (name, found, told)


def wall_time_goes_where_a_thread_waits():
    run = spend('real:1000', 'real', 200)
    assert (run.status, run.out) == (0, b'waited\n')
    profile = [p for p in run.profiles if p.hits_with('by_mutex')][0]
    for name in ('by_usleep', 'by_poll', 'by_epoll', 'by_condition',
                 'by_semaphore', 'by_pipe', 'by_work', 'by_mutex'):
        by_the_clock(run, name, profile, 'run_real')
    by_the_clock(run, 'hold', profile)
    assert profile.hits_with('run_real', 'by_poll', 'libc.so.6') > 0


def waiting_up_to_the_end_is_charged():
    run = spend('real:1000', 'waiting', 300)
    assert (run.status, run.out, run.err) == (0, b'ends\n', b'')
    profile = run.one()
    # They all answer at once, each with its first sample.
    lasted = gticks(profile, 'by_usleep') / 1000
    assert lasted >= 270, lasted
    for name in 'wait_in_condition', 'wait_in_poll':
        found = gticks(profile, name) / 1000 / 8
        assert lasted * 0.9 <= found <= lasted + 100, (name, found, lasted)


def a_call_that_was_jumped_out_of_is_over():
    run = spend('real:1000', 'jumps', 200)
    assert (run.status, run.out) == (0, b'jumped\n')
    for name in ('by_poll', 'by_work'):
        by_the_clock(run, name, run.one(), 'run_jumps', 'deeper')


def a_handler_s_calls_are_within_the_call_it_interrupts():
    run = spend('real:1000,io-time:100', 'above', 100)
    assert (run.status, run.out) == (0, b'above\n')
    for name in ('real', 'io-time'):
        by_the_clock(run, 'read_above', run.one().of(name))


def time_in_calls_is_io_time():
    run = spend('io-time:10,real:1000', 'real', 150)
    assert (run.status, run.out) == (0, b'waited\n')
    profile = [p for p in run.profiles if p.of('real').hits_with('by_mutex')]
    profile = profile[0].of('io-time')
    by_the_clock(run, 'by_pipe', profile, 'run_real')
    assert gticks(profile, 'by_poll') == 0


def system_calls_are_counted():
    n = 3000
    for chosen in ('syscalls:1', 'syscalls:1,cpu',
                   'syscalls:1,cpu:200,page-faults:1'):
        run = spend(chosen, 'calls', n)
        assert (run.status, run.out) == (0, b'good 10\n'), (run.status,
                                                            run.out)
        parent = [p.of('syscalls') for p in run.profiles
                  if p.of('syscalls').hits_with('in_the_middle')]
        assert gticks(parent[0], 'run_calls', 'in_the_middle', 'ask') == n
        assert gticks(parent[0], 'in_thread', 'ask') == n
        assert [p for p in run.profiles if p.parent == parent[0].pid and
                gticks(p.of('syscalls'), 'run_calls', 'ask') == n]
        assert not parent[0].hits_with('[partial]')


def system_calls_are_those_that_strace_counts():
    if collector.shutil.which('strace') is None:
        raise Skip('strace not found')
    traced = subprocess.run(
        ['strace', '-f', '-c', '-U', 'name,calls', SPENDER, 'bytes', '100'],
        capture_output=True, text=True, timeout=120)
    total = re.search(r'^total\s+(\d+)$', traced.stderr, re.M)
    if traced.returncode != 0 or not total:
        raise Skip('strace does not work here')
    expected = int(total.group(1))
    run = spend('syscalls:10', 'bytes', 100)
    assert run.status == 0
    # Loading the program comes before it is sampled.
    found = gticks(run.one())
    assert expected - 150 <= found <= expected + 10, (found, expected)


def system_calls_are_library_calls_where_no_more_is_allowed():
    n = 500
    forbid = {'before': filters.forbid_stopping_calls}
    run = spend('syscalls:1', 'calls', n, **forbid)
    assert (run.status, run.out) == (0, b'good 10\n'), (run.status, run.out)
    assert all(p.resources[0].source == 'library calls that enter the kernel'
               for p in run.profiles)
    parent = [p for p in run.profiles if p.hits_with('in_the_middle')][0]
    assert gticks(parent, 'run_calls', 'in_the_middle', 'ask') == n
    assert gticks(parent, 'in_thread', 'ask', 'libc.so.6') == n
    run = spend('syscalls:1', 'bytes', 200, **forbid)
    for name in 'by_read', 'by_write', 'by_sendfile', 'by_system_call':
        assert gticks(run.one(), 'run_bytes', name) in (0, 200), name
    # A kilobyte at a time, through a buffer of four.
    assert gticks(run.one(), 'run_bytes', 'by_fread') == 200 / 4
    run = spend('syscalls:1', 'malloc', 1000, **forbid)
    assert run.one().hits <= 20, run.one().hits


EVERYTHING = ('cpu,alloc-bytes:64,allocs:1,bytes-read:1,bytes-written:1,'
              'io-time:1,real:100,syscalls:1')

REAL_PROGRAMS = (
    ('node', ['node', '-e', 'let s = 0;'
              'for (const l of require("fs").readFileSync("@data", "utf8")'
              '.split("\\n")) s += l.length; console.log(s);'
              'require("child_process").exec("echo sub; exit 3",'
              '(e, o) => { console.log(e.code, o);'
              'require("zlib").gzip("a".repeat(1e6),'
              '(e, b) => { console.log(b.length);'
              'setTimeout(() => console.log("late"), 100); }); });']),
    ('sqlite3', ['sqlite3', ':memory:', 'create table t(a, b);'
                 'with recursive c(x) as (select 1 union all select x + 1'
                 ' from c where x < 50000) insert into t select x,'
                 ' x * 7919 % 60013 from c;'
                 'select sum(a * b), count(distinct b) from t;'
                 'select a from t order by b limit 5;']),
    ('openssl', ['sh', '-c', 'openssl sha256 <@data; openssl enc -aes-256-cbc'
                 ' -pass pass:x -S 0011223344556677 -pbkdf2 -in @data |'
                 ' openssl sha1']),
    ('java', ['java', '@java']),
)

JAVA = '''
public class program {
    public static void main(String[] a) throws Exception {
        var m = new java.util.TreeMap<String, Integer>();
        for (int i = 0; i < 100000; i++)
            m.merge("k" + i % 977, 1, Integer::sum);
        System.out.println(m.hashCode());
        Thread t = new Thread(() -> System.out.println("thread"));
        t.start();
        t.join();
        Thread.sleep(20);
        System.exit(5);
    }
}
'''


def a_program(name, command, directory):
    """Expects the same output and status as without the collector, with
    everything sampled."""
    java = os.path.join(directory, 'program.java')
    with open(java, 'w') as file:
        file.write(JAVA)
    command = [word.replace('@java', java) for word in command]
    for needed in name, command[0]:
        if collector.shutil.which(needed) is None:
            raise Skip(needed + ' not found')
    if command[0] != 'java':
        return collector.a_real_program(command, directory)
    # Its stacks, of code made as it runs, are partial.
    plain = subprocess.run(command, stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=120)
    run = Run(*command)
    assert (run.status, run.out, run.err) == \
        (plain.returncode, plain.stdout, plain.stderr)
    assert sum(p.of('syscalls').hits for p in run.profiles) > 0


CALLS = '''
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
typedef double vector __attribute__((vector_size(32)));
#define NOINLINE __attribute__((noipa))
NOINLINE long integers(long a, long b, long c, long d, long e, long f, long g)
{ return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g; }
NOINLINE double doubles(double a, double b, double c, double d, double e)
{ return a + 2 * b + 3 * c + 4 * d + 5 * e; }
NOINLINE vector vectors(vector a, vector b) { return a + 3 * b; }
NOINLINE double variable(int n, ...)
{
    va_list values;
    double sum = 0;
    va_start(values, n);
    while (n-- > 0)
        sum += va_arg(values, double);
    va_end(values);
    return sum;
}
static NOINLINE void *thread(void *n)
{
    long sum = 0;
    for (long i = 0; i < *(long *)n; i++) {
        sum += integers(i, 1, 2, 3, 4, 5, 6) - i != 112;
        sum += doubles(i, 1, 2, 3, 4) - i != 40;
        sum += vectors((vector){i, 1, 2, 3}, (vector){1, 2, 3, 4})[3] != 15;
        sum += variable(3, 1.0 * i, 2.0, 3.5) - i != 5.5;
    }
    return (void *)sum;
}
int main(int argc, char **argv)
{
    long n = atol(argv[1]);
    pthread_t other;
    void *wrong;
    int outer(int x) { return x + argc; }   /* by a static chain */
    int (*volatile chained)(int) = outer;
    pthread_create(&other, 0, thread, &n);
    for (long i = 0; i < n; i++)
        if (chained(5) != 7)
            abort();
    pthread_join(other, &wrong);
    printf("wrong %ld\\n", (long)wrong);
}
'''


def calls_are_counted(*flags):
    n = 5000
    with collector.tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, 'calls')
        if subprocess.run(['cc', '-O2', '-mavx2', *flags, '-o', program, '-x',
                           'c', '-', '-pthread'], input=CALLS.encode(),
                          capture_output=True, timeout=120).returncode != 0:
            raise Skip('no C compiler for it')
        here = os.getcwd()
        os.chdir(directory)  # for gmon.out
        try:
            for interval, how in ((1, {}), (100, {'CPPROF_RANDOM': '1'})):
                run = Run(program, str(n), CPPROF_RESOURCES='calls:%d'
                          % interval, **how)
                assert (run.status, run.out) == (0, b'wrong 0\n'), run.out
                assert ('gmon.out' in os.listdir('.')) == ('-pg' in flags)
                counts = run.one()
                if interval == 1:
                    for name in ('integers', 'doubles', 'vectors',
                                 'variable'):
                        found = gticks(counts, 'thread', name)
                        assert found == n, (name, found)
                    assert counts.hits == 5 * n + 2, counts.hits
                else:
                    for found, expected in (
                            (gticks(counts), 5 * n),
                            (gticks(counts, 'thread', 'doubles'), n)):
                        close(found, expected,
                              5 * (expected * interval) ** 0.5)
        finally:
            os.chdir(here)


def calls_are_counted_by_mcount():
    calls_are_counted('-pg')


def calls_are_counted_by_fentry():
    calls_are_counted('-pg', '-mfentry')


def calls_are_counted_by_instrumentation():
    calls_are_counted('-finstrument-functions')


def a_program_that_tells_no_calls_says_so():
    run = spend('calls:1', 'malloc', 1000)
    assert run.status == 0 and run.one().hits == 0
    assert run.one().resources[0].source.endswith('which no module called at first')


def calls_are_interrupted_as_without_us():
    for resources in ('real:100', EVERYTHING):
        run = spend(resources, 'interrupted', 50)
        assert (run.status, run.out) == (0, b'interrupted 5\n'), run.out


def each_signal_interrupts():
    """A trap may be due when a signal of the program's wakes a thread."""
    for resources in ('cpu', 'cpu,real:100,syscalls:1'):
        run = spend(resources, 'answers', 300)
        assert (run.status, run.out) == (0, b'lost 0\n'), (resources, run.out)
        run = spend(resources, 'own-answers', 10)
        assert (run.status, run.out) == (0, 2 * b'lost 0\n'), (resources,
                                                               run.out)


def threads_are_cancelled_in_calls():
    for resources in ('cpu', EVERYTHING):
        run = spend(resources, 'cancelled', 20)
        assert (run.status, run.out) == (0, b'cancelled 100\n'), run.out


def named(name, command, directory):
    def case():
        a_program(name, command, directory)
    case.__name__ = name + '_is_undisturbed'
    return case


CASES = (
    allocations_are_counted_where_they_are_made,
    random_intervals_count_as_much,
    operator_new_counts_once,
    a_program_s_own_malloc_is_left_alone,
    what_a_sanitizer_hides_is_told,
    an_allocator_with_an_operator_new_is_told,
    a_ring_is_told,
    bytes_are_those_that_the_kernel_counts,
    bytes_that_pass_no_wrapper_are_counted,
    bytes_of_sockets_are_counted,
    wall_time_goes_where_a_thread_waits,
    waiting_up_to_the_end_is_charged,
    a_call_that_was_jumped_out_of_is_over,
    a_handler_s_calls_are_within_the_call_it_interrupts,
    time_in_calls_is_io_time,
    calls_are_counted_by_mcount,
    calls_are_counted_by_fentry,
    calls_are_counted_by_instrumentation,
    a_program_that_tells_no_calls_says_so,
    system_calls_are_counted,
    system_calls_are_those_that_strace_counts,
    system_calls_are_library_calls_where_no_more_is_allowed,
    calls_are_interrupted_as_without_us,
    each_signal_interrupts,
    threads_are_cancelled_in_calls,
)

if __name__ == '__main__':
    os.environ['CPPROF_RESOURCES'] = EVERYTHING
    with collector.tempfile.TemporaryDirectory() as place:
        collector.CASES = CASES + tuple(
            named(name, command, place) for name, command in
            collector.REAL_PROGRAMS + REAL_PROGRAMS)
        collector.REAL_PROGRAMS = ()
        sys.exit(collector.main())
