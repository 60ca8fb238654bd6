# SPDX-License-Identifier: GPL-3.0-or-later
"""collector_file.py -- the strictest reader of doc/cpprofdata.md, for tests.

It is independent of the analyser's reader: it asserts everything that the page
requires, and tolerates nothing else.
"""
import bisect
import collections
import copy
import functools
import heapq
import os
import struct
import subprocess

NO_NODE = NO_MODULE = 0xffffffff
PARTIAL, PHASE, INTERPRETED = 0xfffffffe, 0xfffffffd, 0xfffffffc
WAITS = 0x40
STRINGS, MODULES, THREADS, NODES, SLICES = 1, 2, 3, 4, 9
FUNCTIONS, LINES, BLOCKS = 11, 12, 13
ANY_THREAD = 0xffffffff
N_SLICES = 64
OUTSIDE = 0x4000
DROPS = ('lost-full', 'lost-at-exit', 'unsafe', 'back-off', 'no-rules',
         'bad-rules', 'bad-stack', 'too-deep', 'overrun', 'guessed', 'late',
         'unseen', 'interpreted', 'uninterpreted', 'not-followed',
         'no-kernel-frames')

Module = collections.namedtuple(
    'Module', 'start end bias opened closed path flags n_opened build_id')
Thread = collections.namedtuple(
    'Thread', 'tid n_threads name start_offset start_module flags start end '
    'wait')
Wait = collections.namedtuple(
    'Wait', 'since node columns left io_left gathered check')
Node = collections.namedtuple(
    'Node', 'parent module offset returns counts owner hits samples')
Slice = collections.namedtuple(
    'Slice', 'node resource doublings number hits samples owner')
Block = collections.namedtuple('Block', 'node reserved since bytes blocks')
Resource = collections.namedtuple(
    'Resource', 'name gtick interval source is_coarse is_random')


class Profile:
    """
    grows: the program still runs.  What is read first can then lack what a
    later part refers to, so only counts are read.
    """

    def __init__(self, path, grows=False):
        self.path = path
        with open(path, 'rb') as file:
            self.data = file.read()
        self.modules, self.threads, self.nodes = {}, {}, {}
        self.strings, self.slices, self.blocks = [], [], []
        self.read_header()
        self.read_chunks()
        if not grows:
            self.check_references()
        self.resources = []
        for name, gtick, interval, source, flags in self.raw_resources:
            if not name.rstrip(b'\0'):  # kept for the program, not taken
                continue
            assert interval >= 1 and flags < 4
            self.resources.append(Resource(
                name.rstrip(b'\0').decode(), gtick.rstrip(b'\0').decode(),
                interval, self.string(source), flags & 1 != 0,
                flags & 2 != 0))
        self.unsampled = collections.Counter()  # hits of no node, by name
        if self.flags & WAITS and not grows:
            for number, thread in self.threads.items():
                self.charge(number, thread.wait)
        self.select(0)

    def last_moment(self):
        """The moment up to which waits are charged, on their clock."""
        waits = [thread.wait.since for thread in self.threads.values()]
        return self.end_mono or self.gone_mono or max(
            waits + [self.seen_mono, self.start_mono +
                     max(self.last_sample - self.start, 0)])

    def charge(self, number, wait):
        """Charges a thread's last wait to its node, as hits."""
        if wait.since == 0 or wait.since != wait.check:
            return
        spent = max(self.last_moment() - wait.since, 0)
        for column, resource in enumerate(self.resources):
            real = resource.name == 'real'
            left = wait.left if real else wait.io_left
            waited = spent if wait.columns >> column & 1 else 0
            if waited:
                hits, left = feed(waited // 1000, left, resource.interval)
                if hits:
                    self.add(number, wait.node, column, hits)
            if real:
                gathered = wait.gathered + (0 if wait.columns else spent)
                hits, _ = feed(gathered // 1000, left, resource.interval)
                self.unsampled[resource.name] += hits

    def add(self, thread, number, column, hits):
        if number == NO_NODE:
            self.unsampled[self.resources[column].name] += hits
            return
        node = self.nodes[number]
        assert node.owner == thread
        counts = list(node.counts)
        counts[2 * column] += hits
        counts[2 * column + 1] += 1
        self.nodes[number] = node._replace(counts=tuple(counts))

    def select(self, column):
        self.interval = self.resources[column].interval
        self.nodes = {
            number: node._replace(hits=node.counts[2 * column],
                                  samples=node.counts[2 * column + 1])
            for number, node in self.nodes.items()}

    def of(self, name):
        """The same profile, with the hits and samples of one resource."""
        other = copy.copy(self)
        other.select([r.name for r in self.resources].index(name))
        return other

    def unpack(self, format, offset):
        return struct.unpack_from('<' + format, self.data, offset)

    def read_header(self):
        assert len(self.data) >= 4096 and self.data[:8] == b'cpprof\r\n'
        (version, size, self.flags, self.machine, n_resources, self.node_size,
         self.used) = self.unpack('6IQ', 8)
        assert (version, size) == (1, 4096) and 1 <= n_resources <= 8
        assert self.node_size == 24 + 16 * n_resources
        (self.pid, self.parent, self.start, self.end, self.last_sample,
         self.arguments_at, self.n_arguments, self.host_at, self.executable_at,
         self.directory_at) = self.unpack('2I3Q5I', 40)
        (self.n_threads, self.n_unsampled, self.n_closed, self.sampling_ns,
         self.cpu_ns) = self.unpack('5Q', 96)
        self.started_as_at, self.title_at = self.unpack('2I', 136)
        self.hits_at_ticks, = self.unpack('Q', 240)
        assert not any(self.data[160:176]) and not any(self.data[248:256])
        # Who wrote it and when the process began, if that is a recorder outside.
        assert self.flags & OUTSIDE or not any(self.data[144:160])
        (self.start_mono, self.end_mono, self.gone_mono,
         self.cpu_sampling_ns, self.seen_mono) = self.unpack('5Q', 176)
        (self.origin, self.origin_mono, self.slice_ns) = self.unpack('3Q', 216)
        assert self.origin_mono <= self.start_mono
        assert self.end == 0 or self.end_mono >= self.start_mono > 0
        assert self.cpu_sampling_ns <= self.sampling_ns
        self.drops = {}
        for i in range(16):
            drop = self.unpack('2Q', 256 + 16 * i)
            if any(drop):
                self.drops[DROPS[i]] = drop
        self.raw_resources = [self.unpack('24s24sQ2I', 512 + 64 * i)
                              for i in range(n_resources)]
        assert not any(self.data[512 + 64 * n_resources:1024])
        for i, name in enumerate(('lost-full', 'lost-at-exit')):
            lost = self.unpack('8Q', 1024 + 64 * i)
            assert not any(lost[n_resources:])
            # Only at the end: while the file is written one may change before
            # the other.
            assert self.end == 0 or \
                sum(lost) == self.drops.get(name, (0, 0))[1], (name, lost)
        assert not any(self.data[1152 + 8 * n_resources:1224])
        self.drawn_most, = self.unpack('Q', 1224)
        assert not any(self.data[1232:4096])

    def read_chunks(self):
        first = collections.Counter()
        at = 4096
        assert 4096 <= self.used <= len(self.data)
        while at < self.used:
            magic, kind, size, number, record_size, owner, count = \
                self.unpack('2I2Q2IQ', at)
            assert magic == 0x6b637063 and size >= 4096 and size % 4096 == 0
            assert record_size == {STRINGS: 1, MODULES: 128, THREADS: 128,
                                   NODES: self.node_size,
                                   SLICES: 24, FUNCTIONS: 64,
                                   LINES: 1, BLOCKS: 32}[kind]
            capacity = (size - 64) // record_size
            assert number == first[kind] and count <= capacity
            first[kind] += capacity
            self.read_records(kind, number, count, at + 64, owner)
            at += size
        assert at == self.used

    def read_records(self, kind, number, count, at, owner):
        if kind == STRINGS:
            self.strings.append((number, self.data[at:at + count]))
        if kind in (STRINGS, FUNCTIONS, LINES):
            return
        for i in range(count):
            if kind == MODULES:
                m = self.unpack('5Q4I32s', at + 128 * i)
                self.modules[number + i] = Module(*m[:8], m[9][:m[8]])
            elif kind == THREADS:
                t = self.unpack('2I16sQ2I2Q', at + 128 * i)
                wait = Wait(*self.unpack('Q2I4Q', at + 128 * i + 56))
                assert wait.since == 0 or self.flags & WAITS
                self.threads[number + i] = Thread(
                    *t[:2], t[2].rstrip(b'\0').decode(), *t[3:], wait)
            elif kind == SLICES:
                s = Slice(*self.unpack('I2BH2Q', at + 24 * i), owner)
                if s.node != NO_NODE:
                    self.slices.append(s)
            elif kind == BLOCKS:
                block = Block(*self.unpack('2I3Q', at + 32 * i))
                if block.node != NO_NODE:
                    self.blocks.append(block)
            else:
                n = self.unpack('2I%dQ' % (2 + 2 * len(self.raw_resources)),
                                at + self.node_size * i)
                self.nodes[number + i] = Node(*n[:4], n[4:], owner, 0, 0)

    def check_references(self):
        for number, node in self.nodes.items():
            assert node.owner in self.threads
            assert node.module in self.modules or \
                node.module in (NO_MODULE, PARTIAL, PHASE, INTERPRETED)
            if node.module == PARTIAL:
                assert node.offset == 0 and (
                    node.parent == NO_NODE or
                    self.nodes[node.parent].module == PHASE)
            if node.module == PHASE:
                assert node.parent == NO_NODE and self.string(node.offset)
            if node.parent != NO_NODE:
                assert node.parent < number
                assert self.nodes[node.parent].owner == node.owner

        self.check_slices()
        self.check_blocks()

    def check_blocks(self):
        """No node has freed more than it allocated, and the blocks are what
        is left.  A thread that runs when the process ends may be in the middle
        of one."""
        names = [r[0].rstrip(b'\0') for r in self.raw_resources]
        differ = set()
        for gain, loss, part in ((b'alloc-bytes', b'freed-bytes', 'bytes'),
                                 (b'allocs', b'frees', 'blocks')):
            if loss not in names:
                continue
            gain, loss = names.index(gain), names.index(loss)
            left = collections.Counter()
            for block in self.blocks:
                assert block.reserved == 0 and block.since > 0
                left[block.node] += getattr(block, part)
            for number, node in self.nodes.items():
                gained, lost = node.counts[2 * gain], node.counts[2 * loss]
                if gained - lost != left[number]:
                    differ.add(number)
        running = sum(thread.end == 0 for thread in self.threads.values())
        assert len(differ) <= running or self.end == 0, (differ, running)

    def check_slices(self):
        """What a node's slices must be, in a file that does not grow."""
        sums = collections.defaultdict(lambda: [0, 0])
        last_moment = max(self.end_mono, self.gone_mono, self.seen_mono,
                          self.start_mono + self.last_sample - self.start)
        self.slices = without_folded(self.slices)
        for one in self.slices:
            assert one.doublings < 58 and one.number < N_SLICES
            assert one.owner in (self.nodes[one.node].owner, ANY_THREAD)
            assert (one.number * self.slice_ns << one.doublings) <= \
                last_moment - self.origin_mono, one
            both = sums[one.node, one.resource]
            both[0] += one.hits
            both[1] += one.samples
        for (node, resource), both in sums.items():
            counts = self.nodes[node].counts[2 * resource:2 * resource + 2]
            assert both[0] <= counts[0] and both[1] <= counts[1], node

    def hits_at(self, begin, end, *names, column=0):
        """Hits of stacks with these names, in the slices that begin in
        [begin, end), in seconds since the origin."""
        return sum(one.hits for one in self.slices
                   if one.resource == column and begin <= self.begin_of(one)
                   < end and has_names(self.stack_of(one.node), names))

    def begin_of(self, one):
        return (one.number * self.slice_ns << one.doublings) / 1e9

    def stack_of(self, number):
        stack = []
        while number != NO_NODE:
            stack.append(self.name(self.nodes[number]))
            number = self.nodes[number].parent
        return stack[::-1]

    def string(self, number):
        if number == 0:     # not known; there may be no strings yet
            return ''
        for first, text in self.strings:
            if first <= number < first + len(text):
                end = text.index(b'\0', number - first)
                return text[number - first:end].decode()
        raise AssertionError('string %d' % number)

    @property
    def arguments(self):
        result, at = [], self.arguments_at
        for _ in range(self.n_arguments):
            result.append(self.string(at))
            at += len(result[-1].encode()) + 1
        return result

    @property
    def hits(self):
        return sum(node.hits for node in self.nodes.values())

    @property
    def samples(self):
        return sum(node.samples for node in self.nodes.values())

    def lost_of(self, name):
        """Hits of one resource that are missing from all nodes."""
        column = [r.name for r in self.resources].index(name)
        return sum(self.unpack('Q', 1024 + 64 * i + 8 * column)[0]
                   for i in range(3))

    def lost(self):
        return sum(self.drops.get(name, (0, 0))[1]
                   for name in ('lost-full', 'lost-at-exit')) + \
            sum(self.unpack('8Q', 1152))

    def depth(self):
        depths, deepest = {}, 0
        for number, node in sorted(self.nodes.items()):
            depths[number] = 1 + depths.get(node.parent, 0)
            deepest = max(deepest, depths[number])
        return deepest

    def name(self, node):
        """The symbol of a node in the executable; otherwise the module's
        name."""
        if node.module == PARTIAL:
            return '[partial]'
        if node.module == NO_MODULE:
            return '[unknown]'
        if node.module == INTERPRETED:
            return '[python]'
        if node.module == PHASE:
            return '[%s]' % self.string(node.offset)
        module = self.modules[node.module]
        path = self.string(module.path)
        if module.flags & 1:
            bounds, names = ranges(path)
            name = names[bisect.bisect_right(bounds, node.offset)]
            if name is not None:
                return name
        return os.path.basename(path)

    def stacks(self):
        """Hits by stack, a tuple of names, outermost first."""
        result = collections.Counter()
        for node in self.nodes.values():
            if node.hits == 0:
                continue
            stack, at = [], node
            while True:
                stack.append(self.name(at))
                if at.parent == NO_NODE:
                    break
                at = self.nodes[at.parent]
            result[tuple(reversed(stack))] += node.hits
        return result

    def hits_with(self, *names):
        """Hits of the stacks that contain these names in that order."""
        total = 0
        for stack, hits in self.stacks().items():
            if has_names(stack, names):
                total += hits
        return total


def has_names(stack, names):
    rest = iter(stack)
    return all(name in rest for name in names)


def without_folded(slices):
    """The slices without those that lie in wider ones of the same node."""
    wide, kept = set(), []
    for one in sorted(slices, key=lambda one: -one.doublings):
        place = one.node, one.resource
        if not any(place + (k, one.number >> k - one.doublings) in wide
                   for k in range(one.doublings, 58)):
            wide.add(place + (one.doublings, one.number))
            kept.append(one)
    return kept


def feed(gticks, left, interval):
    """The hits of so many gticks, and the gticks left until the next hit."""
    if gticks < left:
        return 0, left - gticks
    beyond = gticks - left
    return 1 + beyond // interval, interval - beyond % interval


known_symbols = {}


def symbols(path):
    if path not in known_symbols:
        text = subprocess.run(['nm', '-S', '--defined-only', path],
                              capture_output=True, text=True,
                              timeout=120).stdout
        rows = [line.split() for line in text.splitlines()]
        known_symbols[path] = [
            (int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3])
            for row in rows if len(row) == 4 and row[2] in 'tTwW']
    return known_symbols[path]


@functools.lru_cache(maxsize=None)
def ranges(path):
    """(bounds, names): names[i] is that of the first symbol that has the
    addresses between bounds[i - 1] and bounds[i], or None."""
    by_start = collections.defaultdict(list)
    for order, (start, end, name) in enumerate(symbols(path)):
        by_start[start].append((order, end, name))
    bounds = sorted({*by_start, *(end for _, end, _ in symbols(path))})
    names, there = [None], []
    for bound in bounds:
        for symbol in by_start[bound]:
            heapq.heappush(there, symbol)
        while there and there[0][1] <= bound:
            heapq.heappop(there)
        names.append(there[0][2] if there else None)
    return bounds, names
