#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""merged-sums.py -- what is merged and exported is the sum of its members.

Members are random profiles in three formats, with several resources, intervals,
labels, threads and times.  What each has is known from how it was made; the sum
is decoded by tests/merged_file.py, and exported and read again.  Speaks TAP.
"""
import collections
import gzip
import os
import random
import tempfile

import cpprof
from claims import Claims, rounds
import merged_file
from pprof_writer import Strings, message, number, varint

PAIRS = rounds(20)
THREADS = ("worker", "io loop", "main")
NAMES = ("a", "b", "c", "operator new(unsigned long)", "x y", "\u00e9\u4e2d")
claims = Claims()


class Member:
    """A file; hits: {(resource, stack, thread)}, resources as in a merged file."""

    def __init__(self, source, path):
        self.path, self.hits = path, collections.Counter()
        self.samples = None             # of each resource's name, if known
        source.choice((self.collapsed, self.pprof, self.perf_script))(source)

    @staticmethod
    def stack(source):
        return tuple(source.choices(NAMES, k=source.randrange(1, 7)))

    @staticmethod
    def number(source):
        return source.choice((0, 1, source.randrange(1000),
                              source.randrange(1 << 40)))

    def collapsed(self, source):
        kinds = source.sample([("cpu", "nanosecond", 1000), ("cpu", "nanosecond", 7),
                               ("faults", "fault", 1), ("bytes", "byte", 512)],
                              source.randrange(1, 4))
        # One name has one interval in a file.
        kinds = list({kind[0]: kind for kind in kinds}.values())
        lines = ["# cpprof 1"] + [
            f"# resource: {name}; gtick={gtick}; interval={interval}"
            for name, gtick, interval in kinds]
        for _ in range(source.randrange(1, 30)):
            stack = self.stack(source)
            numbers = [self.number(source) for _ in kinds]
            for kind, n in zip(kinds, numbers):
                self.hits[kind, stack, None] += n
            lines.append(" ".join([";".join(stack), *map(str, numbers)]))
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def pprof(self, source):
        types = source.sample([("cpu", "nanoseconds"), ("space", "bytes"),
                               ("objects", "count"), ("wall", "seconds")],
                              source.randrange(1, 5))
        # Of two with units, none counts samples, and only stacks are counted.
        if len(types) == 2 and "count" not in (unit for _, unit in types):
            types[0] = ("objects", "count")
        gticks = {"nanoseconds": "nanosecond", "bytes": "byte", "count": "",
                  "seconds": "second"}
        kinds = [(name, gticks[unit], 1) for name, unit in types]
        string, samples = Strings(), collections.Counter()
        out = [message(1, number(1, string(name)) + number(2, string(unit)))
               for name, unit in types]
        for _ in range(source.randrange(1, 30)):
            stack = self.stack(source)
            numbers = [self.number(source) for _ in kinds]
            thread = source.choice((None, *THREADS))
            labels = [("route", source.choice("xy"))] * source.randrange(2)
            labels += [("thread", thread)] if thread else []
            for kind, n in zip(kinds, numbers):
                self.hits[kind, stack, thread] += n
                samples[kind[0]] += n > 0
            out.append(message(2, message(1, b"".join(
                varint(NAMES.index(name) + 1) for name in reversed(stack))) +
                message(2, b"".join(map(varint, numbers))) + b"".join(
                    message(3, number(1, string(key)) +
                            number(2, string(value)))
                    for key, value in labels)))
        for i, name in enumerate(NAMES, 1):
            out.append(message(4, number(1, i) +
                               message(4, number(1, i) + number(2, i))))
            out.append(message(5, number(1, i) + number(2, string(name))))
        out += [message(6, name.encode()) for name in string.all]
        # Of two types, one may count samples.
        self.samples = samples if len(types) != 2 else None
        data = b"".join(out)
        with open(self.path, "wb") as file:
            file.write(gzip.compress(data) if source.random() < 0.5 else data)

    def perf_script(self, source):
        kinds = [("cycles:u", "cycle", 1), ("faults", "fault", 1)]
        kinds = kinds[:source.randrange(1, 3)]
        lines = []
        for i in range(source.randrange(1, 30)):
            kind, stack = source.choice(kinds), self.stack(source)
            thread, n = source.randrange(3), max(1, self.number(source))
            self.hits[kind, stack, THREADS[thread]] += n
            lines.append(f"{THREADS[thread]} 7/{7 + thread} [000] "
                         f"{12 + i}.5: {n:10} {kind[0]}: ")
            lines += [f"\t{NAMES.index(name) + 256:16x} {name} (/gone)"
                      for name in reversed(stack)] + [""]
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def sums(self):
        """{(resource, stack): hits} without those of 0"""
        sums = collections.Counter()
        for (kind, stack, _), n in self.hits.items():
            sums[kind, stack] += n
        return +sums


def by_thread(found):
    sums = collections.Counter()
    for (r, value, node), (hits, _) in found.by.items():
        sums[found.resources[r][:3], node, found.values[value]] += hits
    return +sums


def in_gticks(sums):
    """Hits as views show them: of one interval, if there are several."""
    shown = collections.Counter()
    for (kind, stack), hits in sums.items():
        shown[kind[:2], stack] += hits * kind[2]
    return shown


def text_of(path):
    """What export cpprof-text writes, in gticks."""
    kinds, sums = [], collections.Counter()
    for line in cpprof.run("-q", "-e", "export cpprof-text", path).stdout \
            .splitlines():
        if line.startswith("# resource: "):
            name, gtick, interval = line[12:].split("; ")
            kinds.append((name, gtick.partition("=")[2],
                          int(interval.partition("=")[2])))
        elif not line.startswith("# "):
            *words, = line.rsplit(" ", len(kinds))
            for kind, n in zip(kinds, words[1:]):
                sums[kind[:2], tuple(words[0].split(";"))] += \
                    int(n) * kind[2]
    return +sums


def resources_of(path):
    answer = cpprof.table(path, "info")
    return {row["name"]: (row["hits"], row["samples"])
            for row in answer["rows"]}


def check_samples(member):
    """As many are shown of the file as of what it is merged to."""
    shown = resources_of(member.path)
    cpprof.run("merge", "-o", "one", member.path)
    assert resources_of("one") == shown, (shown, resources_of("one"))
    if member.samples is not None:
        assert +member.samples == +collections.Counter(
            {name: n for name, (_, n) in shown.items()})


def check_pair(source):
    members = [Member(source, f"member-{i}") for i in range(2)]
    paths = [member.path for member in members]
    check_samples(members[0])
    expected = members[0].sums() + members[1].sums()
    cpprof.run("merge", "-o", "sum", *paths)
    assert merged_file.read("sum").sums() == expected
    cpprof.run("merge", "--by", "id", "-o", "ids", *paths)
    found = merged_file.read("ids")
    assert found.sums() == expected
    parts = [collections.Counter() for _ in found.values]
    for (r, value, node), (hits, _) in found.by.items():
        parts[value][found.resources[r][:3], node] += hits
    assert sorted(sorted((+part).items()) for part in parts) == sorted(
        sorted(member.sums().items()) for member in members if member.sums())
    assert text_of("sum") == text_of("ids") == in_gticks(expected)
    cpprof.run("-q", "-e", "export pprof again.pb.gz", "sum")
    assert text_of("again.pb.gz") == in_gticks(expected)
    cpprof.run("merge", "-o", "again", "again.pb.gz")
    assert in_gticks(merged_file.read("again").sums()) == \
        in_gticks(expected)
    threads = collections.Counter()
    for member in members:
        for (kind, stack, thread), n in member.hits.items():
            if thread is not None:
                threads[kind, stack, thread] += n
    if threads:
        cpprof.run("merge", "--by", "thread", "-o", "threads", *paths)
        found = merged_file.read("threads")
        assert found.sums() == expected
        assert by_thread(found) == +threads, (by_thread(found), +threads)


def pairs_are_their_sums(source):
    for turn in range(PAIRS):
        try:
            check_pair(source)
        except AssertionError as wrong:
            raise AssertionError(f"pair {turn}: {str(wrong)[:2000]}") from wrong


def main():
    seed = int(os.environ.get("SEED", "1"))
    print("# SEED", seed)
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        claims.attempt(f"{PAIRS} pairs, merged and exported, are the sums of "
                       "their members", pairs_are_their_sums, source)
        os.chdir("/")
    claims.end()


main()
