# SPDX-License-Identifier: GPL-3.0-or-later
"""merged_file.py -- the file of a merged profile, decoded as doc/merged.md says.

It is an oracle: it shares no code with cpprof, and refuses what the page does
not allow.
"""
import collections
import subprocess

MAGIC = b"cpprof merged profile 1\n"
GROUPS = 32
RESOURCES_MAX = 256
LOSSES = 3
PLACEHOLDERS = 3
WHOLE = 1 << 64


class Refused(Exception):
    """What is wrong with a file."""


def unpack(path):
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(MAGIC):
        return data
    return subprocess.run(["zstd", "-dcq", path], check=True,
                          capture_output=True).stdout


def ascend(things, what):
    if any(a >= b for a, b in zip(things, things[1:])):
        raise Refused(f"{what} out of order")


class MergedFile:
    """What each table of a file has; fields: where each number and text is."""

    def __init__(self, data):
        if not data.startswith(MAGIC):
            raise Refused("not a merged profile")
        self.bytes, self.at = data, len(MAGIC)
        self.table, self.fields = "", []
        for table in (self.read_members, self.read_process, self.read_tallies,
                      self.read_resources, self.read_sources, self.read_most,
                      self.read_key, self.read_names, self.read_modules,
                      self.read_frames, self.read_nodes, self.read_counts,
                      self.read_maxima, self.read_groups, self.read_by_key):
            self.table = table.__name__.removeprefix("read_")
            table()
        if self.at != len(data):
            raise Refused("more bytes")
        self.check_sums()

    # ---- numbers and texts ----

    def need(self, holds, what):
        if not holds:
            raise Refused(f"{self.at:#x}: {self.table}: {what}")

    def number(self, below=WHOLE, kind="number"):
        begin, value, shift = self.at, 0, 0
        while True:
            self.need(self.at < len(self.bytes), "cut")
            byte = self.bytes[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            self.need(shift < 70, "a long number")
        self.need(value < WHOLE and (byte or shift == 7), "a long number")
        self.fields.append((self.table, kind, begin, self.at))
        self.need(value < below, f"{value} is not below {below}")
        return value

    @staticmethod
    def number_of(field):
        """The number that these bytes are."""
        return sum((byte & 127) << 7 * i for i, byte in enumerate(field))

    def numbers(self, n, below=WHOLE):
        return [self.number(below) for _ in range(n)]

    def count(self):
        n = self.number(kind="count")
        self.need(n <= len(self.bytes) - self.at, "more than bytes")
        return n

    def raw(self):
        n = self.number(kind="size")
        begin = self.at
        self.at += n
        self.need(self.at <= len(self.bytes), "cut")
        self.fields.append((self.table, "bytes", begin, self.at))
        return self.bytes[begin:self.at]

    def text(self):
        text = self.raw()
        self.need(b"\0" not in text, "a NUL")
        return text.decode(errors="surrogateescape")

    def agreed(self):
        """A text, None if there is none, or ... if members differ."""
        kind = self.number(3)
        return self.text() if kind == 2 else (None, ...)[kind]

    # ---- tables ----

    def read_members(self):
        self.n_members, self.n_warned = self.numbers(2)
        self.group_members = self.numbers(GROUPS)
        self.need(self.n_warned <= self.n_members, "too many warnings")
        self.need(sum(self.group_members) == self.n_members > 0,
                  "groups that are not all members")

    def read_process(self):
        self.process = [self.agreed() for _ in range(3)]
        self.process += self.numbers(4) + [self.number(4)]

    def read_tallies(self):
        self.tallies = [(self.text(), self.number(), self.number(LOSSES + 1))
                        for _ in range(self.count())]
        self.need(len(self.tallies) <= 1000, "too many")
        ascend([what.encode(errors="surrogateescape")
                for what, _, _ in self.tallies], "statistics")

    def read_resources(self):
        self.resources, self.drawn = [], []
        for _ in range(self.count()):
            row = [self.text(), self.text(), *self.numbers(2),
                   self.number(7)]
            self.need(row[4] != 3, "an unknown way of counting")
            drawn = self.number() if row[4] >= 4 else None
            self.need(drawn != 0, "drawn samples without hits")
            self.drawn.append(drawn)
            self.resources.append((*row, self.number(RESOURCES_MAX),
                                   *self.numbers(LOSSES)))
        self.need(0 < len(self.resources) <= RESOURCES_MAX, "their number")
        self.need(all(r[2] > 0 for r in self.resources), "an interval of 0")
        ascend([(r[0].encode(errors="surrogateescape"),
                 r[1].encode(errors="surrogateescape"), r[2])
                for r in self.resources], "resources")

    def read_sources(self):
        self.sources = [(self.text(), self.number(len(self.resources)))
                        for _ in range(self.count())]
        self.need(len(set(self.sources)) == len(self.sources), "twice")

    def read_most(self):
        n = self.count()
        ids = [self.text() for _ in range(n)]
        self.members = list(zip(ids, [self.text() for _ in range(n)]))

    def read_key(self):
        self.key = self.agreed()
        self.need(self.key is not ..., "not a key")
        values = [self.raw() for _ in range(self.count())]
        self.need(not values or self.key is not None, "values of no key")
        ascend(values, "values")
        self.values = [value.decode(errors="surrogateescape")
                       for value in values]

    def read_names(self):
        names, last = [], b""
        for n in self.numbers(self.count()):
            self.need(n <= len(last), "too much is shared")
            names.append(last := last[:n] + self.raw())
        ascend(names, "names")
        self.names = [name.decode(errors="surrogateescape") for name in names]

    def read_modules(self):
        self.modules = []
        for _ in range(self.count()):
            path, build_id = self.text(), self.raw()
            self.need(len(build_id) <= 32, "a long build-id")
            self.modules.append((path, build_id.hex(), *self.numbers(2)))

    def read_frames(self):
        n = self.count()
        modules, addresses = self.numbers(n, 1 << 32), self.numbers(n)
        for i in range(1, n):
            addresses[i] += 0 if modules[i] else addresses[i - 1]
            modules[i] += modules[i - 1]
        self.need(max(modules, default=0) <= len(self.modules), "no module")
        self.need(max(addresses, default=0) < WHOLE, "an address")
        offsets = self.numbers(n, 1 << 32)
        flags = self.numbers(n, 4 * PLACEHOLDERS)
        counts = self.numbers(n, 1 << 32)
        self.need(all(counts), "a frame without a location")
        self.need(sum(counts) <= len(self.bytes) - self.at, "locations")
        n_all, n_names = sum(counts), len(self.names)
        locations = list(zip(self.numbers(n_all, n_names),
                             self.numbers(n_all, n_names + 1),
                             self.numbers(n_all, 1 << 32)))
        self.frames, self.places, self.frame_order = [], [], []
        for i, count in enumerate(counts):
            chain = locations[:count]
            del locations[:count]
            self.frame_order.append((
                modules[i], addresses[i], chain, offsets[i], flags[i] >> 2,
                flags[i] & 1, flags[i] & 2))
            self.frames.append(";".join(self.names[f] for f, _, _ in chain))
            self.places.append((
                self.modules[modules[i] - 1][:2] if modules[i] else None,
                addresses[i],
                tuple((self.names[f], self.names[file - 1] if file else "",
                       line) for f, file, line in chain)))

    def read_nodes(self):
        n = self.count()
        self.need(n > 0, "no stack")
        levels, labels = self.numbers(n), self.numbers(n, len(self.frames))
        self.parent, stack = [], []         # of nodes
        self.nodes, self.paths = [], []
        for i, (level, label) in enumerate(zip(levels, labels)):
            self.need(level <= len(stack), "a node outside")
            self.need(not level or labels[stack[-level]] < label,
                      "out of order")
            del stack[len(stack) - level:]
            self.parent.append(stack[-1] if stack else None)
            stack.append(i)
            self.nodes.append(tuple(self.frames[labels[at]] for at in stack))
            self.paths.append(tuple(self.places[labels[at]] for at in stack))
        self.returns = self.numbers(n) if self.number(2) else []
        self.need(sum(self.returns) < WHOLE, "64 bits")

    def read_counts(self):
        more = self.numbers(self.count())
        self.need(all(more[1:]), "a node twice")
        self.rows = []
        for n in more:
            self.rows.append(n + (self.rows[-1] if self.rows else 0))
        self.need(max(self.rows, default=0) < len(self.nodes), "no node")
        self.row_hits, self.row_samples = [], []    # of each resource
        for _ in self.resources:
            hits = self.numbers(len(self.rows))
            samples = hits if self.number(2) else self.numbers(len(self.rows))
            self.need(sum(hits) < WHOLE and sum(samples) < WHOLE, "64 bits")
            self.row_hits.append(hits)
            self.row_samples.append(samples)
        self.hits = self.by_node(self.row_hits, self.nodes)
        self.samples = self.by_node(self.row_samples, self.nodes)
        self.path_hits = self.by_node(self.row_hits, self.paths)

    def by_node(self, counts, names):
        return {(r, names[node]): n for r, column in enumerate(counts)
                for node, n in zip(self.rows, column)}

    def weights(self, r):
        """Of nodes: the hits of it and its descendants."""
        weights = [0] * len(self.nodes)
        for node, hits in zip(self.rows, self.row_hits[r]):
            weights[node] = hits
        for node in reversed(range(len(weights))):
            if self.parent[node] is not None:
                weights[self.parent[node]] += weights[node]
        return weights

    def read_maxima(self):
        self.most = {}
        for r, _ in enumerate(self.resources):
            numbers = self.numbers(len(self.nodes))
            members = [self.members[self.number(len(self.members))]
                       if hits else None for hits in numbers]
            for node, hits, weight, member in zip(
                    self.nodes, numbers, self.weights(r), members):
                self.need(bool(hits) == bool(weight) and hits <= weight,
                          "not the most")
                self.most[r, node] = hits and (hits, *member)

    def cells(self, n_parts, has_samples):
        n = self.count()
        codes = self.numbers(n, 1 << 32)
        for i in range(1, n):
            codes[i] += codes[i - 1]
        self.need(all(code >> 8 < n_parts and
                      code & 255 < len(self.resources) for code in codes),
                  "no such part")
        rows = self.numbers(n)
        self.need(all(rows), "no row")
        for i in range(1, n):
            rows[i] += rows[i - 1] if codes[i] == codes[i - 1] else 0
        self.need(max(rows, default=0) <= len(self.rows), "no row")
        hits = self.numbers(n)
        samples = self.numbers(n) if has_samples else hits
        return list(zip(codes, rows, hits, samples))

    def by_part(self, cells):
        return {(code & 255, code >> 8, self.nodes[self.rows[row - 1]]):
                (hits, samples) for code, row, hits, samples in cells}

    def read_groups(self):
        self.group_cells = self.cells(GROUPS, False)
        self.groups = self.by_part(self.group_cells)
        self.need(all(self.group_members[code >> 8]
                      for code, *_ in self.group_cells),
                  "a group without members")

    def read_by_key(self):
        self.value_cells = self.cells(len(self.values), True)
        self.by = self.by_part(self.value_cells)

    def check_sums(self):
        """The groups are the counts; the values at most those."""
        for r, column in enumerate(self.row_hits):
            groups, hits, samples = [[0] * len(column) for _ in range(3)]
            for code, row, n, _ in self.group_cells:
                groups[row - 1] += n if code & 255 == r else 0
            self.need(groups == column, "groups that are not the sum")
            for code, row, n, n_samples in self.value_cells:
                hits[row - 1] += n if code & 255 == r else 0
                samples[row - 1] += n_samples if code & 255 == r else 0
            self.need(all(a <= b for a, b in zip(hits, column)) and
                      all(a <= b for a, b in
                          zip(samples, self.row_samples[r])),
                      "values that are more than the sum")

    # ---- sums ----

    def sums(self):
        """Hits by resource and names, which several nodes may have."""
        sums = collections.Counter()
        for kind, column in zip(self.resources, self.row_hits):
            for node, hits in zip(self.rows, column):
                sums[kind[:3], self.nodes[node]] += hits
        return +sums

    # ---- what views show ----

    def shown(self):
        """{(name, gtick): (interval, {stack: hits})}, of stacks as names;
        Refused if a sum is too large."""
        intervals = {}
        for name, gtick, interval, *_ in self.resources:
            intervals.setdefault((name, gtick), set()).add(interval)
        shown = {}
        for r, (name, gtick, interval, *_) in enumerate(self.resources):
            same = len(intervals[name, gtick]) == 1
            hits = shown.setdefault((name, gtick), (
                interval if same else 1, {}))[1]
            for node, n in zip(self.rows, self.row_hits[r]):
                stack = ";".join(self.nodes[node])
                hits[stack] = hits.get(stack, 0) + n * (
                    1 if same else interval)
        self.need(all(sum(hits.values()) < WHOLE
                      for _, hits in shown.values()), "64 bits")
        return shown


def read(path):
    return MergedFile(unpack(path))
