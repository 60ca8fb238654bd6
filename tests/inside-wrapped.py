# SPDX-License-Identifier: GPL-3.0-or-later
"""inside-wrapped.py -- what record -p --inside counts by functions that it puts in
front of the C library's.

The program counts what it asks for itself, and the C library and the kernel say
what they gave.  Where ptrace is forbidden, nothing can be tested.  Speaks TAP.
"""
import array
import contextlib
import math
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims, rounds  # noqa: E402
from cpprof import has_recorded  # noqa: E402
from hosted import only_file  # noqa: E402
from outside import view  # noqa: E402

CPPROF = os.path.abspath(os.environ.get('CPPROF', './cpprof'))
BUILD = os.path.abspath(os.environ.get('builddir', 'build'))
SOURCE = os.path.abspath(os.environ.get('srcdir', '.'))
SERVED = os.path.join(BUILD, 'tests', 'programs', 'served')
PATIENCE = 120
PARTS = ('grow_long', 'grow_short', 'read_long', 'write_long', 'sleep_long',
         'poll_long', 'condition_long', 'sleep_short', 'rare_long', 'in_use',
         'freed_early', 'dives', 'may_go_on')
PLUGIN = '''
#include <stdlib.h>
#include <unistd.h>
char *volatile block;
void plugin_long(void) { block = malloc(4096); free(block); usleep(100); }
void plugin_run(void) { plugin_long(); __asm__(""); }
'''
# Of a recording: what is counted ends with a call, and the sums come after it.
LATE = 0.08
MANY = 10               # words that only a recording of calls has changed
claims = Claims()


class Growth(int):
    """What something has grown by, known to within `late`: it was looked at
    before and after, on a busy machine long before and after."""
    def __new__(cls, least, most):
        self = super().__new__(cls, (least + most) // 2)
        self.late = (most - least) / 2
        return self


class Served:
    """The program, and what it says again and again, by the time."""
    def __init__(self, directory, program, *modes):
        self.sums = os.path.join(directory, f'sums-{time.monotonic_ns()}')
        self.program = os.path.realpath(program)
        self.seen = []
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.process = subprocess.Popen(
            (program, self.sums, '600000', *modes), stdout=subprocess.PIPE,
            text=True)
        self.pid = self.process.pid

    def __enter__(self):
        """All of its threads work."""
        while not os.path.exists(self.sums) or \
                os.path.getsize(self.sums) < 8 * len(PARTS):
            time.sleep(0.001)
        self.thread.start()
        self.wait(lambda now: now['grow_short'] and now['write_long'] and
                  now['sleep_short'])
        # Data of the program that can lead to functions of others.
        self.data = [one[:2] for one in library_of(self.pid)[1]
                     if one[3] == self.program and 'x' not in one[2]]
        return self

    def __exit__(self, *unused):
        self.is_over.set()
        self.thread.join()
        self.process.kill()
        self.process.communicate()

    def watch(self):
        with open(self.sums, 'rb') as file, \
                open(f'/proc/{self.pid}/io') as counts:
            while not self.is_over.wait(0.01):
                counts.seek(0)
                moved = dict(line.split(': ') for line in
                             counts.read().splitlines())
                self.seen.append((time.time_ns(), *struct.unpack(
                    f'{len(PARTS)}Q',
                    os.pread(file.fileno(), 8 * len(PARTS), 0)),
                    int(moved['rchar']), int(moved['wchar'])))

    def wait(self, holds):
        """Waits until that holds of what it says."""
        until = time.monotonic() + PATIENCE
        while self.is_well() and time.monotonic() < until and not (
                self.seen and holds(dict(zip(PARTS, self.seen[-1][1:])))):
            time.sleep(0.005)

    def go_on(self):
        """Lets it return from a dive, or load a library."""
        with open(self.sums, 'r+b') as file:
            os.pwrite(file.fileno(), struct.pack('Q', 1),
                      8 * PARTS.index('may_go_on'))

    def growth(self, counted):
        """By how much each part has grown, and rchar, wchar, and what is in use
        or was freed, while it was counted."""
        (a, b), (c, d), (e, f) = (next(
            (pair for pair in zip(self.seen, self.seen[1:])
             if pair[1][0] > when), self.seen[-2:]) for when in
            (counted.earliest, counted.latest, counted.end))
        names = (*PARTS, 'rchar', 'wchar', 'in_use_or_freed')
        places = [PARTS.index(name) + 1 for name in ('in_use', 'freed_early')]
        a, d, e, f = ((*one[1:], sum(one[at] for at in places))
                      for one in (a, d, e, f))
        return {name: Growth(least, most) for name, least, most in zip(
            names, map(int.__sub__, e, d), map(int.__sub__, f, a))}

    def since_first(self, part, counted):
        """The least and the most ns from the end of the first wait that ended
        while it was counted up to the end."""
        at = PARTS.index(part) + 1
        ends = [pair for pair in zip(self.seen, self.seen[1:])
                if pair[0][at] != pair[1][at]]
        return (counted.end - next((two[0] for one, two in ends
                                    if one[0] > counted.latest), counted.end),
                counted.end - next((one[0] for one, two in ends
                                    if two[0] > counted.earliest), counted.end))

    def is_well(self):
        return self.process.poll() is None


class Counted:
    """From when to when calls were counted: from some time between `earliest` and
    `latest` on.  Their functions lead to the collector then, and each thread has
    begun, which the recording says."""
    def __init__(self, looks, path):
        """looks: times, and how many words of the program led to the collector."""
        most = max(n for _, n in looks)
        after = next(i for i, (_, n) in enumerate(looks) if n == most)
        before = next(i for i, (_, n) in enumerate(looks) if n > looks[0][1])
        profile = only_file(path)
        self.earliest = looks[before - 1][0]
        self.latest = max(looks[after][0], *(
            thread.start for thread in profile.threads.values()))
        self.end = profile.end


def record(served, path, *words):
    return subprocess.run(
        [CPPROF, 'record', '--no-prompt', '--force', '-o', path, '-p',
         str(served.pid), '--inside', *words], capture_output=True, text=True,
        timeout=PATIENCE, stdin=subprocess.DEVNULL)


def record_counted(served, path, *words, begun=lambda: None):
    """Records, and calls a function when calls are counted.  Returns the result,
    and when they were."""
    looks = []
    with subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '--force', '-o', path, '-p',
             str(served.pid), '--inside', *words], stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True) as recorder:
        own = []
        while recorder.poll() is None:
            now = time.time_ns()
            own = own or library_of(served.pid)[0]
            n = leading(served, own)
            looks.append((now if not looks or n == looks[-1][1] else
                          time.time_ns(), n))
            if n > looks[0][1] and begun is not None:
                begun()
                begun = None
            time.sleep(0.002 if n == looks[0][1] else 0.02)
        said = recorder.stderr.read()
    is_well = recorder.returncode == 0 and served.is_well() and begun is None
    return is_well, said, Counted(looks, path) if is_well else None


def gticks(path, resource):
    """Gticks of each function, with those that it called."""
    answer = view(path, 'functions 1000', f'resource {resource}')
    return {row['path'][0]: row['hits'] * answer['resource']['interval']
            for row in answer['rows']}


def check(claim, holds, why):
    claims.check(claim, holds, why)
    return holds


def is_near(claim, found, truth, allowed):
    allowed += getattr(truth, 'late', 0)
    return [] if abs(found - truth) <= allowed else [
        f'{claim}: {found:.0f}, truth {truth:.0f}, allowed {allowed:.0f}']


# ---- where calls lead ----

def library_of(pid):
    """Where the collector's code and data are, and all other mappings."""
    own, others = [], []
    with open(f'/proc/{pid}/maps') as file:
        for line in file:
            words = line.split()
            start, end = (int(x, 16) for x in words[0].split('-'))
            is_own = len(words) > 5 and 'libcpprof' in words[5]
            (own if is_own else others).append(
                (start, end, words[1], words[5] if len(words) > 5 else ''))
    return own, others


def leading(served, own):
    """How many words of the program's data lead into the collector."""
    if not own:
        return 0
    low, high = min(one[0] for one in own), max(one[1] for one in own)
    with open(f'/proc/{served.pid}/mem', 'rb', buffering=0) as memory:
        return sum(low <= word < high for start, end in served.data for word in
                   array.array('Q', os.pread(memory.fileno(), end - start,
                                             start)))


def pointers(pid):
    """Where words of files' data lead into the collector."""
    own, others = library_of(pid)
    if not own:             # it is not loaded yet
        return []
    low, high = min(one[0] for one in own), max(one[1] for one in own)
    found = []
    with open(f'/proc/{pid}/mem', 'rb') as memory:
        for start, end, rights, path in others:
            if not path.startswith('/') or 'x' in rights or \
                    rights[0] != 'r' or rights[3] != 'p':
                continue
            # The loader has lists of modules in data of its own.
            if os.path.basename(path).startswith('ld-'):
                continue
            memory.seek(start)
            words = memory.read(end - start)
            found += [start + 8 * i for i, (word,) in
                      enumerate(struct.iter_unpack('Q', words))
                      if low <= word < high]
    return found


@contextlib.contextmanager
def running(served, path, *words):
    """A recording, and the words that lead into the collector meanwhile; how
    soon it begins depends on the machine."""
    within = []
    with subprocess.Popen(
            [CPPROF, 'record', '--no-prompt', '--force', '-o', path, '-p',
             str(served.pid), '--inside', *words], stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL) as recorder:
        while len(within) <= MANY and recorder.poll() is None:
            time.sleep(0.02)
            within = pointers(served.pid)
        recorder.send_signal(signal.SIGINT)
        yield within


# ---- the resources ----

def check_allocations(directory, how, program):
    path = os.path.join(directory, 'allocations')
    with Served(directory, program) as served:
        is_well, said, counted = record_counted(
            served, path, '--for', '1s', '-r', 'alloc-bytes:256', '-r',
            'allocs:7')   # 4,000 hits of grow_short: 1.6% is a standard error
    if not check(f'{how}: allocations are recorded', is_well, said):
        return
    truth = served.growth(counted)
    found = gticks(path, 'alloc-bytes')
    wrong = []
    for part in 'grow_long', 'grow_short':
        wrong += is_near(part, found.get(part, 0), truth[part],
                         LATE * truth[part] + 8192)
    claims.make(f'{how}: bytes are what the program asks for', wrong)


def check_bytes(directory, how, program):
    path = os.path.join(directory, 'bytes')
    with Served(directory, program) as served:
        is_well, said, counted = record_counted(
            served, path, '--for', '1s', '-r', 'bytes-read:4096', '-r',
            'bytes-written:4096', '-r', 'io-time:10')
    if not check(f'{how}: bytes moved are recorded', is_well, said):
        return
    truth = served.growth(counted)
    for resource, part, count in ('bytes-read', 'read_long', 'rchar'), \
            ('bytes-written', 'write_long', 'wchar'):
        found = gticks(path, resource)
        whole = sum(row for name, row in found.items()
                    if name in ('read_long', 'write_long', 'move')) / 2
        claims.make(
            f'{how}: {resource} are what the program and the kernel count',
            is_near(part, found.get(part, 0), truth[part],
                    LATE * truth[part] + 16384) +
            is_near(count, whole, truth[count], LATE * truth[count] + 32768))


def check_waits(directory, how, program):
    path = os.path.join(directory, 'waits')
    with Served(directory, program, 'rare') as served:
        is_well, said, counted = record_counted(served, path, '--for', '2.5s',
                                                '-r', 'real')
    if not check(f'{how}: waits are recorded', is_well, said):
        return
    truth = served.growth(counted)
    found = gticks(path, 'real')
    wrong = []
    for part, longest in ('sleep_long', 20), ('poll_long', 10), \
            ('condition_long', 30), ('sleep_short', 5):
        # One wait can be under way at the start, and one at the end.
        wrong += is_near(part, 1000 * found.get(part, 0), truth[part],
                         0.03 * truth[part] + (2 * longest + 30) * 1e6)
    claims.make(f'{how}: waits are as long as the program measures', wrong)
    # The first wait had begun before; from its end on, all is counted.
    claims.make(f'{how}: a thread that hardly runs is counted from the end of '
                'its first wait, up to the end of the recording',
                is_near('rare_long', 1000 * found.get('rare_long', 0), Growth(
                    *served.since_first('rare_long', counted)), 60e6))


def check_edges(directory):
    """The last wait of each recording is counted up to its end."""
    path = os.path.join(directory, 'edges')
    found = least = most = 0
    n = rounds(6)
    with Served(directory, SERVED, 'edge', 'rare') as served:
        for _ in range(n):
            is_well, said, counted = record_counted(
                served, path, '--for', '0.4s', '-r', 'real:1000')
            assert is_well, said
            bounds = served.since_first('rare_long', counted)
            least += bounds[0]
            most += bounds[1]
            found += 1000 * gticks(path, 'real').get('rare_long', 0)
    # What is lost otherwise is half a wait of 90 ms each time.
    claims.check('waits that last beyond the end are counted up to it',
                 least - n * 20e6 <= found <= most + n * 20e6,
                 (least, found, most))


def check_live(directory, how, program):
    path = os.path.join(directory, 'live')
    with Served(directory, program, 'keep') as served:
        is_well, said, counted = record_counted(served, path, '--for', '1s',
                                                '-r', 'live:1024')
    if not check(f'{how}: memory in use is recorded', is_well, said):
        return
    truth = served.growth(counted)
    found = gticks(path, 'live-bytes')
    # Of n bytes, one in 1024 is sampled: five standard errors.
    error = 5 * math.sqrt(1024 * (truth['grow_long'] + truth['grow_short']))
    claims.make(f'{how}: memory in use is what was kept',
                is_near('grow_long', found.get('grow_long', 0),
                        truth['grow_long'], error + 65536))
    # A block takes a multiple of 16 bytes, and 8 more.
    claims.make(f'{how}: memory in use is what the C library says, and '
                'blocks from before are not known',
                is_near('all', sum(found.get(name, 0) for name in
                                   ('grow_long', 'grow_short',
                                    'early_long')),
                        truth['in_use_or_freed'],
                        error + 0.03 * truth['grow_long'] + 65536))
    freed = gticks(path, 'freed-bytes')
    claims.check(f'{how}: nothing of theirs is counted as freed',
                 freed.get('early_long', 0) == 0, freed)


# ---- what is left ----

def rights_of(pid):
    return [one for one in library_of(pid)[1] if one[3].startswith('/')]


def check_tables(directory, how, program):
    path = os.path.join(directory, 'tables')
    with Served(directory, program) as served:
        before = rights_of(served.pid)
        record(served, path, '--for', '0.1s')
        only_cpu = pointers(served.pid)
        with running(served, path, '-r', 'real', '-r',
                     'alloc-bytes') as within:
            pass
        left = pointers(served.pid)
        after = rights_of(served.pid)
        is_well = served.is_well()
    claims.check(f'{how}: import tables lead to the collector meanwhile, and '
                 'nowhere else afterwards', is_well and len(within) > MANY and
                 left == only_cpu, (len(within), len(left), len(only_cpu)))
    claims.check(f'{how}: what was read-only is read-only again',
                 before == after, [one for one in after
                                   if one not in before])


def check_again(directory, program):
    """Threads are in wrappers when a recording ends and the next begins."""
    draw = random.Random(27)
    path = os.path.join(directory, 'again')
    wrong = []
    resources = (('real',), ('alloc-bytes', 'io-time'), ('live:4096',),
                 ('cpu',), ('real', 'live'))
    with Served(directory, program, 'rare') as served:
        for i in range(rounds(5)):
            chosen = [word for name in draw.choice(resources)
                      for word in ('-r', name)]
            result = record(served, path, '--for', f'{draw.random():.2f}s',
                            *chosen)
            if not has_recorded(result) or not served.is_well():
                wrong.append((i, chosen, result.stderr,
                              served.process.poll()))
        is_well, said, counted = record_counted(served, path, '--for', '1s',
                                                '-r', 'real')
        assert is_well, said
        found = gticks(path, 'real')
        truth = served.growth(counted)
    claims.make('recordings can follow each other while threads wait', wrong)
    claims.make('and the last one is as right as the first',
                is_near('sleep_long', 1000 * found.get('sleep_long', 0),
                        truth['sleep_long'], 70e6 +
                        0.03 * truth['sleep_long']))


def check_marks(directory):
    """Marks on the stack are gone before another recording begins."""
    path = os.path.join(directory, 'marks')
    with Served(directory, SERVED, 'dive') as served:
        results = [record(served, path, '--for', '0.2s', '-r', 'cpu',
                          '--returns') for _ in range(3)]
        served.go_on()
        served.wait(lambda now: now['dives'] >= 2)
        is_well = served.is_well() and served.seen[-1][
            PARTS.index('dives') + 1] >= 2
    claims.check('deep stacks return after recordings, too', is_well and all(
        result.returncode == 0 for result in results),
        (is_well, [result.stderr for result in results]))


def check_at_work(directory):
    """Recordings begin while a thread is nearly always at work in the collector,
    with signals blocked that it does not block itself."""
    path = os.path.join(directory, 'at-work')
    wrong = []
    for i in range(rounds(2)):
        with Served(directory, SERVED, 'greedy') as served:
            result = record(served, path, '--for', '0.1s', '-r', 'real',
                            '-r', 'alloc-bytes:1')
            if not has_recorded(result) or not served.is_well():
                wrong.append((i, result.stderr, served.process.poll()))
    claims.make('recordings can begin while threads allocate', wrong)


def check_kept(directory):
    """Each recording gives back what the last one has left."""
    path = os.path.join(directory, 'kept')
    sizes = []
    with Served(directory, SERVED, 'rare') as served:
        for _ in range(8):
            record(served, path, '--for', '0.05s', '-r', 'real', '-r', 'live')
            with open(f'/proc/{served.pid}/maps') as file:
                sizes.append(len(file.readlines()))
    # Threads that are found later than others add to the first ones.
    claims.check('no mapping is kept for each recording',
                 sizes[7] <= sizes[3] + 3, sizes)


def check_plugin(directory, compiler):
    claim = 'a library that is loaded later is covered'
    source, library = (os.path.join(directory, name)
                       for name in ('plugin.c', 'plugin.so'))
    path = os.path.join(directory, 'plugin')
    with open(source, 'w') as file:
        file.write(PLUGIN)
    subprocess.run([compiler, '-O1', '-fno-optimize-sibling-calls', '-shared',
                    '-fPIC', '-o', library, source], check=True)
    with Served(directory, SERVED, 'plugin', library) as served:
        is_well, said, _ = record_counted(
            served, path, '--for', '1.5s', '-r', 'real', '-r',
            'alloc-bytes:4096', begun=served.go_on)
    found = gticks(path, 'real'), gticks(path, 'alloc-bytes')
    # Its functions take 25 million bytes, and wait for most of the time.
    claims.check(claim, is_well and found[0].get('plugin_long', 0) > 1e5 and
                 found[1].get('plugin_long', 0) > 1e5, (said, found))


def main():
    with tempfile.TemporaryDirectory() as directory:
        with Served(directory, SERVED) as served:
            why = record(served, os.path.join(directory, 'first'), '--for',
                         '0.1s')
        if not has_recorded(why):
            claims.skip('functions are wrapped inside', why.stderr.strip())
            claims.end()
            return
        for one in (check_allocations, check_bytes, check_waits, check_live,
                    check_tables):
            one(directory, 'as it is', SERVED)
        check_edges(directory)
        check_again(directory, SERVED)
        check_marks(directory)
        check_at_work(directory)
        check_kept(directory)
        compiler = shutil.which('cc') or shutil.which('gcc')
        source = os.path.join(SOURCE, 'tests', 'programs', 'served.c')
        if compiler is None:
            claims.skip('other ways to link', 'there is no compiler')
        else:
            check_plugin(directory, compiler)
            # A program at a fixed address has stubs that stand for functions.
            for how, options in (
                    ('at a fixed address', ('-no-pie', '-fno-pie')),
                    ('bound late', ('-pie', '-fPIE', '-Wl,-z,lazy'))):
                program = os.path.join(directory, 'linked')
                subprocess.run([compiler, '-O1',
                                '-fno-optimize-sibling-calls', *options,
                                '-o', program, source, '-pthread', '-ldl'],
                               check=True)
                check_allocations(directory, how, program)
                check_tables(directory, how, program)
    claims.end()


main()
