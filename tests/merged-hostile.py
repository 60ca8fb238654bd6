#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""merged-hostile.py -- every field of a merged profile, changed in every way.

A file with something in each table is cut at every byte; each of its numbers and
texts is replaced, left out, doubled and exchanged with the next one; and so are
whole tables.  tests/merged_file.py says of each of the files whether it is one
that doc/merged.md allows.  cpprof must refuse the others, each with a line that
says where, and read those with the same sums.  Speaks TAP.
"""
import collections
import os
import random
import re
import resource
import subprocess
import tempfile

from claims import Claims
import merged_file
from merged_file import MAGIC, MergedFile, Refused
import pprof_writer
from pprof_writer import varint

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
BATCH = 400                 # files that are merged at once
VIEWED = 40                 # files that are shown one by one
MEMORY = 1 << 30
# What merging adds up must not pass 64 bits, so larger sums are read alone.
LARGE = 1 << 48
NUMBERS = (0, 1, 127, 128, (1 << 31) - 1, (1 << 32) - 1, 1 << 32, 1 << 63,
           (1 << 64) - 1)
TEXTS = (b"", b"\0", b"a\0b", b"\x1b[31m\r\n\x7f", b"a;b 3\n# cpprof 1\n",
         b"\xff\xfe\xc3", "\u202e\u2066".encode(), b"x" * 300, b"%s%n\\x00")
claims = Claims()


def is_sanitized():
    with open(CPPROF, "rb") as file:
        return b"__asan_init" in file.read()


SANITIZED = is_sanitized()


def limit_memory():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(*words):
    done = subprocess.run([CPPROF, *words], capture_output=True, check=False,
                          timeout=300, preexec_fn=limit_memory)
    assert done.returncode in (0, 1), (words[-1], done.returncode,
                                       done.stderr[-1000:])
    assert b"Sanitizer" not in done.stderr, done.stderr[-3000:]
    return done


# ---- a file with something in each table ----

def text(data):
    return varint(len(data)) + data


def members():
    """Two intervals, two resources, modules, lines, labels."""
    paths = ["one.folded", "two.folded", "three.pb.gz", "four.folded"]
    for path, head, lines in (
            (paths[0], "# resource: cpu; gtick=us; interval=10\n"
             "# resource: faults; gtick=fault; interval=1\n",
             "main;a;b 4 1\nmain;a 3 0\nmain;c 0 2\n"),
            (paths[1], "# resource: cpu; gtick=us; interval=3\n",
             "main;a;b 5\nmain;d 6\n"),
            (paths[3], "# resource: cpu; gtick=us; interval=10\n",
             "main;c 7\nother 1\n")):
        with open(path, "w", encoding="ascii") as file:
            file.write("# cpprof 1\n" + head + lines)
    pprof_writer.write(paths[2], [
        ([3, 2, 1], 9, [("thread", "worker", "")]),
        ([2, 1], 8, [("thread", "io", "")]), ([4, 1], 7, []),
    ], inlined={2: [("deep", "x.c", 7), ("wide", "y.c", 300)]},
        places={1: ("/lib/a.so", "ab12", 64), 2: ("/lib/a.so", "ab12", 4096),
                3: ("/lib/b.so", "", 5)})
    return paths


def with_small_tables(data):
    """The file with statistics, sources, returns and measured waits, too."""
    parsed = MergedFile(data)
    first = {}
    for table, _, begin, end in parsed.fields:
        first.setdefault(table, (begin, end))
    last_of_nodes = [field for field in parsed.fields
                     if field[0] == "nodes"][-1]
    counting = [field for field in parsed.fields
                if field[0] == "resources"][7]
    changes = {
        first["tallies"]: b"\2" + text(b"forks") + b"\5\3" + text(b"lost") +
        varint(300) + b"\0",
        first["sources"]: b"\2" + text(b"kernel") + b"\1" + text(b"timer") +
        b"\0",
        last_of_nodes[2:]: b"\1" + b"".join(
            varint(7 * i) for i in range(len(parsed.nodes))),
        counting[2:]: varint(4 + parsed.resources[0][4]) + varint(300),
    }
    assert [data[begin:end] for begin, end in changes][:3] == [b"\0"] * 3
    for begin, end in sorted(changes, reverse=True):
        data = data[:begin] + changes[begin, end] + data[end:]
    assert MergedFile(data).drawn[0] == 300
    return data


def base():
    out = "base"
    done = run("merge", "--by", "thread", "-o", out, *members())
    assert done.returncode == 0, done.stderr
    return with_small_tables(merged_file.unpack(out))


# ---- changes ----

def changed_fields(data, fields):
    for i, (table, kind, begin, end) in enumerate(fields):
        name = f"{table} {kind} at {begin:#x}"
        field, after = data[begin:end], fields[i + 1:i + 2]
        others = {}
        if kind == "bytes":
            # The size before it fits the text.
            begin = fields[i - 1][2]
            others = {repr(t[:20]): text(t) for t in TEXTS}
        else:
            value = MergedFile.number_of(field)
            others = {str(n): varint(n) for n in
                      {*NUMBERS, value + 1, max(value - 1, 0)}}
            others["-1"] = varint(-1)
            others["in a long form"] = (
                field[:-1] + bytes([field[-1] | 0x80, 0]))
            others["of 70 bits"] = b"\xff" * 9 + b"\x7f"
            others["of 80 bytes"] = b"\x80" * 79 + b"\1"
        field = data[begin:end]
        others.update({"absent": b"", "twice": field + field})
        for what, other in others.items():
            if other != field:
                yield (f"{name}: {what}", data[:begin] + other + data[end:])
        if after:
            next_end = after[0][3]
            yield (f"{name}: exchanged with the next",
                   data[:begin] + data[end:next_end] + field + data[next_end:])


def changed_tables(data, fields):
    tables = list(dict.fromkeys(table for table, *_ in fields))
    part = {table: data[min(f[2] for f in fields if f[0] == table):
                        max(f[3] for f in fields if f[0] == table)]
            for table in tables}
    assert MAGIC + b"".join(part.values()) == data
    for i, table in enumerate(tables):
        for what, order in (
                ("absent", tables[:i] + tables[i + 1:]),
                ("twice", tables[:i] + [table] + tables[i:]),
                ("after the next", tables[:i] + tables[i + 1:i + 2] +
                 [table] + tables[i + 2:])):
            yield (f"{table}: {what}",
                   MAGIC + b"".join(part[name] for name in order))


def all_changes(data):
    fields = MergedFile(data).fields
    yield "as it is", data
    for n in range(len(MAGIC), len(data)):
        yield f"cut at {n:#x}", data[:n]
    yield "a byte more", data + b"\0"
    yield "itself behind it", data + data
    yield from changed_tables(data, fields)
    yield from changed_fields(data, fields)


# ---- what cpprof says of them ----

class Change:
    """A file, and what the oracle says of it."""

    def __init__(self, number, name, data):
        self.name, self.path = name, f"{number}.merged"
        self.data, self.parsed = data, None
        try:
            self.parsed = MergedFile(data)
            self.shown = self.parsed.shown()
        except Refused as why:
            self.parsed, self.why = None, why
        with open(self.path, "wb") as file:
            file.write(data)

    def is_small(self, key):
        """Whether it can be added to others."""
        numbers = [n for column in self.parsed.row_hits +
                   self.parsed.row_samples for n in column]
        numbers += self.parsed.group_members + self.parsed.returns
        numbers += [n for r in self.parsed.resources for n in r[6:]]
        numbers += [n for _, n, _ in self.parsed.tallies]
        return sum(numbers) < LARGE and self.parsed.key == key and all(
            r[2] < 1 << 32 for r in self.parsed.resources)


def refusals(stderr):
    """{path: lines}, of the lines that name a file."""
    found = collections.defaultdict(list)
    for line in stderr.decode(errors="replace").splitlines():
        named = re.match(r"cpprof: (\S+\.merged): (.*)", line)
        if named:
            found[named[1]].append(named[2])
        else:
            assert re.search("inputs are not in it|were merged without --by|"
                             "no input could be merged|cannot represent", line), \
                line
    return found


PLACE = (r"0x[0-9a-f]+: not a whole merged profile: |"
         r"not a whole merged profile: |the sum of .* exceeds 64 bits|")


def check_verdicts(changes, found):
    wrong = []
    for change in changes:
        said = found.get(change.path, [])
        if change.parsed and said:
            wrong.append(f"{change.name}: refused: {said}")
        elif not change.parsed and not said:
            wrong.append(f"{change.name}: read, though {change.why}")
        elif len(said) > 1 or not all(re.match(PLACE, line) for line in said):
            wrong.append(f"{change.name}: {said}")
    return wrong


def check_batch(changes):
    """Merges them: what is refused is named, the rest added up."""
    done = run("merge", "-o", "sum", *(change.path for change in changes))
    wrong = check_verdicts(changes, refusals(done.stderr))
    expected = collections.Counter()
    for change in changes:
        if change.parsed:
            expected.update(change.parsed.sums())
    if any(change.parsed for change in changes) and not wrong:
        if merged_file.read("sum").sums() != expected:
            wrong.append(f"another sum: {changes[0].name} to "
                         f"{changes[-1].name}")
    return wrong


def check_shown(change):
    """Opens it alone; what it exports are the oracle's stacks."""
    done = run("-q", "-e", "export cpprof-text", change.path)
    if done.returncode != 0 or not change.parsed:
        return check_verdicts([change], refusals(done.stderr))
    lines = done.stdout.splitlines()
    intervals = [re.fullmatch(rb"# resource: .* interval=(\d+)", line)
                 for line in lines]
    intervals = [int(found[1]) for found in intervals if found]
    totals = [0] * len(intervals)
    for line in lines:
        if not line.startswith(b"# "):
            counts = line.split(b" ")[-len(totals):]
            totals = [a + int(b) for a, b in zip(totals, counts)]
    shown = sorted(zip(intervals, totals))
    expected = sorted((interval, sum(hits.values()))
                      for interval, hits in change.shown.values())
    return [] if shown == expected else [
        f"{change.name}: shows {shown}, expected {expected}"]


def check_views(change):
    """Whatever is asked of it, it answers or refuses."""
    words = [word for command in (
        "info", "noise on", "functions", "down", "members main", "labels",
        "open member of main", "export pprof") for word in ("-e", command)]
    done = run("-q", "-F", "json", *words, change.path)
    said = done.stderr.decode(errors="replace").splitlines()
    controls = re.search(rb"[\0-\x08\x0b-\x1f\x7f]", done.stderr)
    return [f"{change.name}: {said}"] if controls else []


def main():
    seed = int(os.environ.get("SEED", "1"))
    print("# SEED", seed)
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)        # so that names of members are always the same
        data = base()
        key = MergedFile(data).key
        changes = [Change(i, name, changed) for i, (name, changed)
                   in enumerate(all_changes(data))]
        together = [change for change in changes
                    if not change.parsed or change.is_small(key)]
        alone = [change for change in changes
                 if change.parsed and not change.is_small(key)]
        read = [change for change in changes if change.parsed]
        print(f"# {len(changes)} files, {len(read)} of which can be read")
        wrong = []
        for i in range(0, len(together), BATCH):
            wrong += check_batch(together[i:i + BATCH])
        claims.make("files that the page does not allow are refused, the sums "
                    "of the others are right", wrong)
        wrong = []
        for change in source.sample(alone, min(len(alone), VIEWED)) + \
                source.sample(changes, VIEWED):
            wrong += check_shown(change)
        claims.make("one by one they show the same", wrong)
        wrong = []
        for change in source.sample(read, min(len(read), VIEWED)):
            wrong += check_views(change)
        claims.make("views of them end, and messages have no controls", wrong)
        os.chdir("/")
    claims.end()


if __name__ == "__main__":
    main()
