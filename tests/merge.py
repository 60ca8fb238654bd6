#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""merge.py -- cpprof merge: a sum that no order or partition changes.

Random profiles are merged in random parts and orders, and the file is decoded
by tests/merged_file.py and compared with sums made from the stacks.
Speaks TAP.
"""
import collections
import gzip
import json
import os
import random
import re
import shutil
import signal
import string
import subprocess
import tempfile

import cpprof
from claims import Claims, rounds
import merged_file
import pprof_writer
from oracle import quoted

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
CPPROF = cpprof.CPPROF
claims = Claims()


def run(*words, **options):
    return cpprof.run(*words, text=False, status=None, **options)


def merge(*words, status=0, **options):
    done = run("merge", *words, **options)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def view(profiles, *commands):
    words = ["-q", "-F", "json", "-e", "threshold 0", "-e", "depth off"]
    for command in commands:
        words += ["-e", command]
    done = run(*words, *profiles)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def copied(path):
    """Another file of the same content: one file is not merged twice."""
    return shutil.copy(path, path + ".copy")


def content(path):
    with open(path, "rb") as file:
        return file.read()


# ---- the file, decoded ----

def decode(path):
    """A file that cpprof wrote, in which everything is in order."""
    found = merged_file.read(path)
    assert found.modules == sorted(
        set(found.modules), key=lambda m: (m[0], len(m[1]), *m[1:]))
    assert found.members == sorted(set(found.members))
    assert found.sources == sorted(set(found.sources))
    order = found.frame_order
    assert all(a < b for a, b in zip(order, order[1:])), order
    return found


# ---- random members ----

class Member:
    """A text profile and what is in it."""

    def __init__(self, source, folder, number):
        self.path = os.path.join(folder, f"member-{number}.folded")
        self.resources = source.sample(
            [("cpu", "microsecond", 1000), ("cpu", "microsecond", 250),
             ("faults", "fault", 1), ("bytes", "byte", 512)],
            source.choice((1, 1, 2)))
        if {name for name, _, _ in self.resources} == {"cpu"}:
            self.resources = self.resources[:1]
        self.stacks = collections.Counter()
        # Half of them call many functions from one: up to 26.
        is_wide = source.random() < 0.5
        for _ in range(source.randrange(1, 30)):
            stack = tuple(source.choice("abcdefg") for _ in
                          range(source.randrange(1, 8)))
            if is_wide:
                stack = ("a", source.choice(string.ascii_lowercase))
            for resource in self.resources:
                self.stacks[resource, stack] += source.randrange(0, 50)
        lines = ["# cpprof 1"]
        lines += [f"# resource: {name}; gtick={gtick}; interval={interval}"
                  for name, gtick, interval in self.resources]
        for stack in sorted({stack for _, stack in self.stacks}):
            lines.append(";".join(stack) + "".join(
                f" {self.stacks[resource, stack]}"
                for resource in self.resources))
        with open(self.path, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def weight(self, resource, path):
        return sum(n for (kind, stack), n in self.stacks.items()
                   if kind == resource and stack[:len(path)] == path)


def random_members(source, folder, n):
    members = [Member(source, folder, i) for i in range(n)]
    # Two have the same stacks, and so the same identity.
    shutil.copy(members[0].path, members[-1].path)
    members[-1].stacks, members[-1].resources = (members[0].stacks,
                                                 members[0].resources)
    return members


def merge_in_parts(source, paths, folder, *options):
    """Merges random parts in random order until one file is left."""
    left, n = list(paths), 0
    while len(left) > 1 or n == 0:
        source.shuffle(left)
        size = source.randrange(1, len(left) + 1)
        out = os.path.join(folder, f"part-{n}")
        merge(*options, "-o", out, *left[:size])
        left[:size] = [out]
        n += 1
    return left[0]


def no_partition_changes_a_byte(source, folder, options):
    members = random_members(source, folder, 12)
    paths = [member.path for member in members]
    whole = os.path.join(folder, "whole")
    merge(*options, "-o", whole, *paths)
    for turn in range(rounds(5)):
        part = merge_in_parts(source, paths, folder, *options)
        assert content(part) == content(whole), turn


def sums_are_those_of_the_stacks(source, folder):
    for _ in range(rounds(6)):
        members = random_members(source, folder, source.randrange(2, 40))
        out = os.path.join(folder, "sum")
        merge("--by", "id", "-o", out, *(m.path for m in members))
        found = decode(out)
        assert found.n_members == sum(found.group_members) == len(members)
        expected = collections.Counter()
        for member in members:
            expected.update(member.stacks)
        kinds = [resource[:3] for resource in found.resources]
        assert kinds == sorted({kind for kind, _ in expected}), kinds
        for (kind, stack), hits in expected.items():
            assert found.hits.get((kinds.index(kind), stack), 0) == hits
        for r, kind in enumerate(kinds):
            check_parts(found, members, r, kind)


def check_parts(found, members, r, kind):
    """Groups add up, each id is in one of them, and maxima are right."""
    names = {}
    for member in members:
        one = subprocess.run(["xxhsum", "-H2", member.path], check=False,
                             capture_output=True, text=True) \
            if shutil.which("xxhsum") else None
        names[member.path] = one.stdout.split()[0] if one else None
    group_of = {}
    for (resource, value, node), (hits, _) in found.by.items():
        if resource != r:
            continue
        name = found.values[value]
        stacks = [m for m in members if names[m.path] == name]
        if names[members[0].path]:
            assert hits == sum(m.stacks[kind, node] for m in stacks), node
        group_of.setdefault(name, set(range(32)))
        group_of[name] &= {group for kind_of, group, at in found.groups
                           if kind_of == r and at == node}
    assert all(group_of.values()), "an id in no group"
    totals = collections.Counter()
    for (resource, _, node), (hits, _) in found.groups.items():
        if resource == r:
            totals[node] += hits
    assert totals == +collections.Counter(
        {node: n for (resource, node), n in found.hits.items()
         if resource == r})
    for node in found.nodes:
        weights = [(m.weight(kind, node), m.path) for m in members]
        most = max(weight for weight, _ in weights)
        if most == 0:
            assert found.most[r, node] == 0
            continue
        assert found.most[r, node][0] == most, node
        assert (most, found.most[r, node][2]) in weights, node
        if names[members[0].path]:
            assert found.most[r, node][1:] == min(
                (names[path], path) for weight, path in weights
                if weight == most)


def views_are_those_of_the_files(source, folder):
    for _ in range(10):
        members = random_members(source, folder, 10)
        paths = [member.path for member in members]
        out = os.path.join(folder, "sum")
        merge("-o", out, *paths)
        by = os.path.join(folder, "by")
        merge("--by", "id", "-o", by, *paths)
        for name in sorted({kind[0] for m in members for kind in m.resources}):
            commands = [f"resource {name}", "functions", "tree", "down a",
                        "up b", "flat"]
            expected = view(paths, *commands)
            assert strip(view([out], *commands)) == strip(expected), name
            assert strip(view([by], *commands)) == strip(expected), name


def random_places(source, n):
    """Modules, addresses and lines that differ in one of them."""
    modules = [("/lib/a.so", "aa11"), ("/lib/a.so", "ab11"),
               ("/lib/a.so", "aa1100"), ("/lib/b.so", "aa11")]
    lines = [("f", "x.c", 1), ("f", "x.c", 2), ("f", "y.c", 1), ("g", "", 0)]
    places = set()
    while len(places) < n:
        chain = tuple(source.choice(lines)
                      for _ in range(source.randrange(1, 4)))
        places.add((source.choice(modules), source.choice((16, 32, 4096)),
                    chain))
    return sorted(places)


def frames_are_told_apart(source, folder):
    """Frames are the same if module, address and all locations are."""
    for _ in range(10):
        places, expected = random_places(source, 25), collections.Counter()
        paths = [os.path.join(folder, f"frames-{i}.pb.gz") for i in range(5)]
        for path in paths:
            order = source.sample(places, 20)
            samples = []
            for _ in range(30):
                stack = source.choices(range(1, 21), k=3)
                samples.append((stack, source.randrange(1, 9), []))
                expected[tuple(order[i - 1] for i in reversed(stack))] += \
                    samples[-1][1]
            pprof_writer.write(
                path, samples,
                inlined={i + 1: list(reversed(place[2]))
                         for i, place in enumerate(order)},
                places={i + 1: (*place[0], place[1])
                        for i, place in enumerate(order)})
        out = os.path.join(folder, "frames")
        merge("-o", out, *paths)
        found = decode(out)
        assert found.path_hits == {(0, path): n for path, n in
                                   expected.items()}
        for _ in range(5):
            part = merge_in_parts(source, paths, folder)
            assert content(part) == content(out)


def strip(answers):
    return [[row for row in answer["rows"]] for answer in answers
            if "rows" in answer]


def values_of_a_key_are_labels(source, folder):
    paths, total = [], collections.Counter()
    for i in range(6):
        samples = []
        for _ in range(30):
            stack = [source.randrange(1, 5) for _ in range(3)]
            host = source.choice(("web1", "web2", "db", None))
            labels = [("route", "x", "")]
            labels += [("host", host, "")] if host else []
            value = source.randrange(1, 9)
            samples.append((stack, value, labels))
            total[host or "[none]"] += value
        paths.append(os.path.join(folder, f"labels-{i}.pb.gz"))
        pprof_writer.write(paths[-1], samples)
    out = os.path.join(folder, "by-host")
    merge("--by", "host", "-o", out, *paths)
    again = os.path.join(folder, "again")
    for key, near in (("Host", b"; did you mean host?"), ("zzzzz", b""),
                      ("routs", b"; did you mean route?")):
        done = merge("--by", key, "-o", again, *paths)
        assert done.stderr == b"cpprof: no hits have a value of %s%s\n" % (
            key.encode(), near), done
    parts = [os.path.join(folder, f"part-{i}") for i in range(2)]
    merge("--by", "host", "-o", parts[0], *paths[3:])
    merge("--by", "host", "-o", parts[1], *paths[:3])
    merge("-o", again, *parts)
    assert content(again) == content(out), "the key is kept"
    rows = view([out], "labels host")[-1]["rows"]
    assert {row["value"]: row["hits"] for row in rows} == total, rows
    for command in ("narrow label host=web1", "drop label host=db"):
        for question in ("functions", "tree"):
            assert strip(view([out], command, question)) == strip(
                view(paths, command, question)), (command, question)
    assert b"counts by" in merge("--by", "route", "-o", again, out,
                                 status=1).stderr


def members_without_the_key_are_counted(source, folder):
    """What was merged without a key has no values, whatever --by says later."""
    paths = [member.path for member in random_members(source, folder, 9)]
    plain, by_id, by_host, out = (
        os.path.join(folder, name) for name in ("plain", "id", "host", "out"))
    merge("-o", plain, *paths[:3])
    assert merge("--by", "id", "-o", by_id, *paths[3:7]).stderr == b""
    assert merge("--by", "host", "-o", by_host, *paths[:4]).stderr == (
        b"cpprof: no hits have a value of host\n")
    note = ("cpprof: {} of {} members were merged without --by {}: their hits "
            "have no value of it\n")
    for words, expected in (
            (["--by", "id", plain, *paths[7:]], (3, 5, "id")),
            ([*paths[7:], plain, by_id], (5, 9, "id")),
            ([by_id, plain], (3, 7, "id")),
            ([plain, by_host], (3, 7, "host"))):
        done = merge("-o", out, *words)
        assert done.stderr.decode() == note.format(*expected), done
    os.remove(out)
    done = merge("--by", "id", "-o", out, plain, copied(plain),
                 status=1)
    assert b"none of 6 members has counts by id" in done.stderr, done
    assert not os.path.exists(out)
    for words in (["-o", out, plain, paths[0]],
                  ["--by", "id", "-o", out, by_id, paths[0]]):
        assert merge(*words).stderr == b""
    done = merge("--by", "id", "-o", out, by_host, status=1)
    assert b"counts by host cannot be added to counts by id" in done.stderr


def what_cannot_be_added_is_skipped(source, folder):
    """It leaves no trace: the sum is that of the other inputs."""
    paths = [member.path for member in random_members(source, folder, 4)]
    by_id, by_host, whole, out = (
        os.path.join(folder, name) for name in ("id", "host", "whole", "out"))
    merge("--by", "id", "-o", by_id, *paths[:2])
    merge("--by", "host", "-o", by_host, *paths)
    many = os.path.join(folder, "many.folded")
    with open(many, "w", encoding="ascii") as file:
        file.write("# cpprof 1\n" + "".join(
            f"# resource: r{i}; interval=1\n" for i in range(256)))
        file.write("strange;stack" + " 1" * 256 + "\n")
    # 256 resources and a sum of 64 bits are not too many.
    paths_of_r0 = os.path.join(folder, "r0.folded")
    other = os.path.join(folder, "other.folded")
    for path, name, hits in ((paths_of_r0, "r0", (1 << 64) - 2),
                             (other, "other", 1)):
        with open(path, "w", encoding="ascii") as file:
            file.write(f"# cpprof 1\n# resource: {name}; interval=1\n"
                       f"strange;stack {hits}\n")
    merge("-o", out, paths_of_r0, many)
    done = merge("-o", out, other, many, status=1)
    assert b"more than 256 resources" in done.stderr, done
    assert b"exceeds 64 bits" in merge(
        "-o", out, many, copied(many), paths_of_r0, status=1).stderr
    large = os.path.join(folder, "large.folded")
    with open(large, "w", encoding="ascii") as file:
        file.write("# cpprof 1\n# resource: cpu; gtick=s; interval=1\n"
                   f"strange;large {(1 << 64) - 1}\n")
    for words, bad, why in (
            ([], by_host, "counts by host cannot be added to counts by id"),
            (["--by", "id"], by_host, "counts by host cannot be added"),
            ([], many, "more than 256 resources"),
            ([large], copied(large), "the sum of cpu exceeds 64 bits")):
        merge(*words, "-o", whole, by_id, *paths)
        done = merge(*words, "-o", out, by_id, bad, *paths, status=1)
        assert content(out) == content(whole), bad
        lines = done.stderr.decode().splitlines()
        skipped = [line for line in lines if line.endswith("(skipped)")]
        assert len(skipped) == 1 and why in skipped[0], lines
        assert f"{bad}: cannot merge: " in skipped[0], skipped
        assert lines[-1].endswith("inputs are not in it"), lines


def lists_and_trees_of_pprof_files_agree(source, folder):
    """Without a key no tree is made of a pprof file; the sum is the same."""
    for turn in range(rounds(5)):
        paths = []
        for i in range(4):
            samples = []
            for _ in range(source.randrange(1, 60)):
                stack = [source.randrange(1, 6)
                         for _ in range(source.choice((1, 2, 3, 5, 40)))]
                labels = [("route", source.choice("xy"), "")] * \
                    source.randrange(2)
                samples.append((stack, source.choice((0, 1, 7)), labels))
            if turn % 2:
                # 1 as two bytes.
                samples.append(([b"\x81\0", 2], 0, []))
                samples.append(([1, 2], 4, []))
            paths.append(os.path.join(folder, f"both-{i}.pb.gz"))
            pprof_writer.write(paths[-1], samples)
        out = [os.path.join(folder, name) for name in ("list", "tree")]
        merge("-o", out[0], *paths)
        merge("--by", "id", "-o", out[1], *paths)
        of_lists, of_trees = map(decode, out)
        for table in ("resources", "frames", "nodes", "rows", "hits",
                      "samples", "most", "groups"):
            assert getattr(of_lists, table) == getattr(of_trees, table), (
                turn, table)


def stacks_that_are_parts_of_others_are_told_apart(folder):
    """Deep ones, of which one ends as another one begins."""
    stacks = [[2] * 8 + [1] * 8, [3] + [2] * 8, [2] * 16, [1] * 300 + [2] * 9,
              [4] + [1] * 300, [1] * 264, [1] * 256, [2] * 8]
    out = os.path.join(folder, "parts")
    for order in stacks, stacks[::-1]:
        paths = [os.path.join(folder, f"deep-{i}.pb.gz") for i in range(2)]
        for path in paths:
            pprof_writer.write(path, [(stack, i + 1, []) for i, stack in
                                      enumerate(order)])
        merge("-o", out, *paths)
        found = decode(out)
        assert {node: n for (_, node), n in found.hits.items() if n} == {
            tuple(f"f{f}" for f in reversed(stack)): 2 * (i + 1)
            for i, stack in enumerate(order)}


def a_sample_counts_for_what_it_has(source, folder):
    """Of several types, of which the first does not count samples if there are
    three."""
    types = [("samples", "count"), ("cpu", "us"), ("bytes", "bytes")]
    path, out = (os.path.join(folder, name) for name in ("types", "sum"))
    for n in 2, 3:
        hits, samples = collections.Counter(), collections.Counter()
        written = []
        for _ in range(200):
            stack = [source.randrange(1, 4) for _ in range(2)]
            value = tuple(source.choice((0, 3, 5)) for _ in range(n))
            written.append((stack, value, []))
            node = tuple(f"f{f}" for f in reversed(stack))
            for (name, _), own in zip(types, value):
                hits[name, node] += own
                samples[name, node] += own > 0
        pprof_writer.write(path, written, types=types[:n])
        merge("-o", out, path)
        found = decode(out)
        names = [resource[0] for resource in found.resources]
        assert {(names[r], node): own for (r, node), own in
                found.hits.items()} == hits, n
        assert n == 2 or {(names[r], node): own for (r, node), own in
                          found.samples.items()} == samples, n


def members_may_have_other_resources(folder):
    """One and two resources in turn; memory does not grow with each turn."""
    paths = []
    for i in range(80):
        paths.append(os.path.join(folder, f"turn-{i:02}.folded"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write("# cpprof 1\n# resource: cpu; gtick=ms; interval=1\n")
            if i % 2:
                file.write("# resource: calls; interval=1\n")
            file.write(f"main;f{i % 5} {i + 1}{' 7' * (i % 2)}\n")
    out = os.path.join(folder, "turns")
    merge("-o", out, *paths)
    decoded = decode(out)
    assert len(decoded.resources) == 2, decoded.resources
    rows = {row["path"][0]: row["hits"]
            for row in view([out], "functions")[-1]["rows"]}
    assert rows["main"] == sum(range(1, 81)), rows
    one = os.path.join(folder, "turns-back")
    merge("-o", one, *reversed(paths))
    assert content(one) == content(out)


def what_cannot_be_read_is_skipped(folder):
    good = os.path.join(DATA, "go", "cpu.pb.gz")
    out = os.path.join(folder, "partial")
    whole = os.path.join(folder, "whole")
    bad = os.path.join(folder, "bad\n.pb.gz")
    with open(bad, "wb") as file:
        file.write(b"\x1f\x8b nothing of gzip")
    graph = os.path.join(DATA, "callgrind", "instr.out.gz")
    missing = os.path.join(folder, "missing")
    done = merge("-o", out, bad, good, graph, missing, status=1)
    merge("-o", whole, good)
    assert content(out) == content(whole)
    lines = done.stderr.decode().splitlines()
    assert len(lines) == 4, lines
    assert sum(line.endswith("(skipped)") for line in lines) == 3, lines
    assert "without stacks" in lines[1] and missing in lines[2], lines
    assert lines[3].endswith("3 of 4 inputs are not in it"), lines
    before = content(out)
    assert b"nothing to write" in merge("-o", out, bad, missing,
                                        status=1).stderr
    assert content(out) == before


def what_is_cut_short_is_told(folder):
    """It is in the sum as far as it goes, and the exit status is 1."""
    good = os.path.join(DATA, "go", "cpu.pb.gz")
    cut, out = (os.path.join(folder, name) for name in ("off", "off.merged"))
    for whole, size in ((os.path.join(DATA, "go", "heap.pb.gz"), 600),
                        (os.path.join(DATA, "perf", "rec.data"), 9000)):
        with open(whole, "rb") as file, open(cut, "wb") as part:
            part.write(file.read(size))
        done = merge("-o", out, good, cut, status=1)
        lines = done.stderr.decode().splitlines()
        assert "cut short here" in lines[0], lines
        assert lines[-1].endswith("off.merged: of 1 of 2 inputs only the "
                                  "beginning is in it"), lines
        assert decode(out).n_members == 2
    missing = os.path.join(folder, "missing")
    done = merge("-o", out, good, cut, missing, status=1)
    assert done.stderr.decode().splitlines()[-1].endswith(
        "1 of 3 inputs are not in it, and of 1 only the beginning"), done


def sums_beyond_64_bits_are_errors(folder):
    paths = []
    for i in range(2):
        paths.append(os.path.join(folder, f"large-{i}"))
        with open(paths[-1], "w", encoding="ascii") as file:
            file.write("# cpprof 1\n# resource: cpu; gtick=ns; "
                       f"interval={i + 1}\na;b {1 << 63}\n")
    out = os.path.join(folder, "large")
    # Two intervals are counted apart, until they are shown as one.
    merge("-o", out, *paths)
    done = run("-e", "top", out)
    assert done.returncode == 1 and b"exceeds 64 bits" in done.stderr, done
    done = merge("-o", out, paths[0], copied(paths[0]), status=1)
    assert b"large-0.copy: cannot merge: the sum of cpu exceeds 64 bits" in \
        done.stderr


def identities(folder):
    one = os.path.join(DATA, "go", "cpu.pb.gz")
    out = os.path.join(folder, "one")
    merge("-o", out, one)
    found = decode(out)
    assert [name for _, name in found.members] == [one]
    with open(one, "rb") as file:
        merge("-o", out, "-", stdin=file)
    from_input = decode(out)
    assert from_input.members == [(found.members[0][0], "")]
    copy = os.path.join(folder, "copy.pb.gz")
    shutil.copy(one, copy)
    merge("-o", out, copy)
    assert decode(out).members == [(found.members[0][0], copy)]
    # The name is all that differs; a known one is kept.
    for table, value in vars(decode(out)).items():
        assert table in ("bytes", "at", "fields", "members", "most") or \
            value == getattr(from_input, table), table
    both = []
    for words in (["-", one], [one, "-"]):
        merge("-o", out, *words, input=content(one))
        both.append(content(out))
        assert decode(out).members == found.members
    assert both[0] == both[1]
    # Of two names the first in byte order is kept.
    for words in ([one, copy], [copy, one]):
        merge("-o", out, *words)
        assert decode(out).members == [(found.members[0][0],
                                        min(one, copy))]
    merge("--id", "web 1", "-o", out, one)
    assert decode(out).members == [("web 1", one)]
    assert b"--id needs a name" in merge("--id", "", "-o", out, one,
                                         status=2).stderr
    assert b"--by needs a key" in merge("--by", "", "-o", out, one,
                                        status=2).stderr
    assert b"names one input" in merge("--id", "x", "-o", out, one, copy,
                                       status=2).stderr
    assert b"own identities" in merge("--id", "x", "-o", copy, out,
                                      status=1).stderr


def each_profile_in_a_directory_is_a_member(source, folder):
    """But a recording, however many files it has, is one."""
    top = os.path.join(folder, "fleet")
    deep = os.path.join(top, "b", "c")
    os.makedirs(deep)
    members = random_members(source, folder, 6)
    names = [os.path.join(top, "1.folded"), os.path.join(top, "2.folded"),
             os.path.join(deep, "3.folded")]
    for member, name in zip(members, names):
        shutil.copy(member.path, name)
    # Not profiles to merge, and a way round.
    shutil.copy(members[3].path, os.path.join(top, ".hidden"))
    os.symlink("..", os.path.join(top, "b", "up"))
    os.mkfifo(os.path.join(top, "pipe"))
    recordings = [os.path.join(folder, "recording"),
                  os.path.join(top, "run.1"), os.path.join(top, "run.2")]
    for i, recording in enumerate(recordings):
        os.mkdir(recording)
        for process in range(2):
            shutil.copy(members[3 + (i + process) % 3].path,
                        os.path.join(recording, f"cpprofdata.{process}"))
    whole, out = (os.path.join(folder, name) for name in ("whole", "out"))
    merge("-o", whole, *names, *recordings[1:])
    merge("-o", out, top)
    assert decode(out).n_members == 5
    assert content(out) == content(whole)
    merge("-o", whole, *names, *recordings)
    merge("-o", out, recordings[0], top)
    assert decode(out).n_members == 6
    assert content(out) == content(whole)
    assert b"names one input, and there are 5" in merge(
        "--id", "x", "-o", out, top, status=1).stderr
    merge("--id", "x", "-o", out, recordings[0])
    bad = os.path.join(deep, "bad")
    with open(bad, "wb") as file:
        file.write(b"\0nothing")
    done = merge("-o", out, recordings[0], top, status=1).stderr.decode()
    assert bad in done and "1 of 7 inputs" in done, done
    assert content(out) == content(whole)
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    assert b"a directory without cpprofdata files" in merge(
        "-o", out, empty, status=1).stderr


def a_sum_is_no_input_of_itself(source, folder):
    """Where it lies in a directory that is merged, as it does the second time."""
    top = os.path.join(folder, "repeated")
    os.makedirs(os.path.join(top, "deep"))
    names = [os.path.join(top, name) for name in ("1", "2", "deep/3")]
    for member, name in zip(random_members(source, folder, 3), names):
        shutil.copy(member.path, name)
    whole = os.path.join(folder, "whole")
    merge("-o", whole, *names)
    # As perf names the main file of a directory, too.
    for out in ("sum", "deep/sum", "data"):
        out = os.path.join(top, out)
        assert merge("-o", out, top).stderr == b""
        done = merge("-o", out, top)
        assert content(out) == content(whole), out
        assert done.stderr.decode() == (f"cpprof: {out} is in an input "
                                        "directory; it was not added to "
                                        "itself\n"), done
        os.remove(out)
    out = os.path.join(top, "sum")
    merge("-f", "collapsed", "-o", out, top)
    first = content(out)
    merge("-f", "collapsed", "-o", out, top)
    assert content(out) == first
    os.rename(out, out + ".folded")
    os.symlink("sum.folded", out)
    merge("-f", "collapsed", "-o", out, top)
    assert content(out) == first and os.path.islink(out)
    os.remove(out)
    os.remove(out + ".folded")
    with open(out, "wb") as file:
        done = subprocess.run([CPPROF, "merge", "-o", "-", top], stdout=file,
                              stderr=subprocess.PIPE, check=True)
    assert b"standard output is in an input directory" in done.stderr, done
    assert content(out) == content(whole)
    # Named, it is an input, also beside the directory.
    merge("-o", out, top, out)
    assert decode(out).n_members == 6
    # A file of another name is none of ours.
    done = merge("-o", whole, top)
    assert decode(whole).n_members == 9 and done.stderr == b"", done


def groups_are_by_identity(folder):
    """Two members of one identity are in one group; many spread over all."""
    one = os.path.join(DATA, "raw", "labels.pb.gz")
    parts = []
    for i in range(120):
        parts.append(os.path.join(folder, f"id-{i}"))
        merge("--id", f"host-{i % 60}", "-o", parts[-1], one)
    out = os.path.join(folder, "groups")
    merge("-o", out, *parts)
    found = decode(out)
    assert found.n_members == 120
    assert all(n % 2 == 0 for n in found.group_members), found.group_members
    # 60 identities in 32 groups: 27 are used, with a deviation of 1.6.
    used = sum(n > 0 for n in found.group_members)
    assert 20 <= used <= 32, used


def other_formats(folder):
    inputs = [os.path.join(DATA, "go", "cpu.pb.gz"),
              os.path.join(DATA, "raw", "labels.pb.gz")]
    for name, words in (("x.pb.gz", []), ("x.pprof", []),
                        ("x", ["-f", "pprof"]),
                        ("x.folded", ["-f", "collapsed"])):
        out = os.path.join(folder, name)
        merge(*words, "-o", out, *inputs)
        again = os.path.join(folder, "again-" + name)
        merge(*words, "-o", again, *reversed(inputs))
        assert content(out) == content(again), name
    expected = view(inputs, "resource cpu", "functions", "tree")
    for name in ("x.pb.gz", "x.pprof", "x"):
        out = os.path.join(folder, name)
        gzip.decompress(content(out))
        assert strip(view([out], "resource cpu", "functions", "tree")) == \
            strip(expected), name
    merged = os.path.join(folder, "x.pb.gz")
    merge("-f", "merged", "-o", merged, *inputs)
    decode(merged)
    assert b"expected one of merged, parquet, collapsed" in merge(
        "-f", "nonsense", "-o", merged, *inputs, status=2).stderr


def the_command_line(folder):
    one = os.path.join(DATA, "go", "cpu.pb.gz")
    out = os.path.join(folder, "line")
    assert b"needs -o" in merge(one, status=2).stderr
    assert b"needs a profile" in merge("-o", out, status=2).stderr
    assert b"no option --bye" in merge("--bye", "x", "-o", out, one,
                                       status=2).stderr
    assert b"expected KEY" in merge(one, "-o", out, "--by", status=2).stderr
    two = os.path.join(folder, "copy")
    shutil.copy(one, two)
    merge(one, "-o", out, two)
    merge("-o", out + "2", "--", one, two)
    assert content(out) == content(out + "2")
    piped = merge("-o", "-", one, two)
    assert piped.stdout == content(out)
    # The output may be an input.
    merge("-o", out, out, one)
    assert decode(out).n_members == 3
    done = run("-e", f"merge -o {out} {quoted(one)}", "-e", "merge -o - x")
    assert done.returncode == 1 and b"only cpprof merge" in done.stderr, done
    assert decode(out).n_members == 1
    done = merge("-o", os.path.join(folder, "no", "folder"), one, status=1)
    assert b"No such file" in done.stderr
    assert b"-o OUT" in merge("--help").stdout


def a_file_is_added_once(source, folder):
    """Whatever leads to it, a sum would have it twice, opened or merged."""
    top = os.path.join(folder, "once")
    os.makedirs(os.path.join(top, "deep"))
    paths = [os.path.join(top, name) for name in ("1", "2", "deep/3")]
    for member, path in zip(random_members(source, folder, 3), paths):
        shutil.copy(member.path, path)
    hard, soft, recording = (os.path.join(folder, name) for name in (
        "hard", "soft", "rec.cpprof"))
    os.link(paths[0], hard)
    os.symlink(paths[1], soft)
    os.mkdir(recording)
    data = os.path.join(recording, "cpprofdata.1")
    done = run("-e", f"export cpprofdata {data}",
               os.path.join(DATA, "go", "cpu.pb.gz"))
    assert done.returncode == 0, done
    out = os.path.join(folder, "once.merged")
    with open(out, "wb") as file:
        file.write(b"old")
    for words in ([paths[0], paths[0]], [paths[0], top + "/./1"],
                  [paths[0], paths[1], hard], [soft, paths[1]], [top, top],
                  [top, paths[2]], [hard, top], [recording, data],
                  [recording, recording + "/."], ["-", "-"]):
        done = merge("-o", out, *words, status=1, input=b"")
        assert b"name each input once" in done.stderr, (words, done)
        assert done.stderr.count(b"\n") == 1 and content(out) == b"old", done
    for words in ([paths[0], top + "/./1"], [paths[0], paths[1], hard],
                  [soft, paths[1]], [recording, data],
                  [recording, recording + "/."]):
        for done in (run("-e", "top", *words),
                     run("-e", f"load {' '.join(words)}")):
            assert done.returncode == 1, done
            assert b"name each input once" in done.stderr, (words, done)
    with open(paths[0], "rb") as file:
        done = merge("-o", out, "-", hard, status=1, stdin=file)
    assert b"name each input once" in done.stderr, done
    merge("-o", out, top, recording)
    assert decode(out).n_members == 4


def a_pipe_may_lose_its_reader(folder):
    """Where SIGPIPE is ignored, as in many services."""
    large = os.path.join(folder, "large.folded")
    source = random.Random(7)
    with open(large, "w", encoding="utf-8") as file:
        for _ in range(20000):
            file.write(f"main;{source.getrandbits(64):x} 1\n")
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [CPPROF, "merge", "-o", pipe, large], stderr=subprocess.PIPE,
        restore_signals=False,
        preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    with open(pipe, "rb", buffering=0) as file:
        assert file.read(1) == b"\x28"
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, said) == (0, b""), (process.returncode, said)


def damaged_files_are_refused(source, folder):
    one = os.path.join(folder, "one")
    merge("--by", "thread", "-o", one, os.path.join(DATA, "raw",
                                                    "labels.pb.gz"))
    plain = subprocess.run(["zstd", "-dcq", one], check=True,
                           capture_output=True).stdout
    bad = os.path.join(folder, "bad")
    for turn in range(rounds(60)):
        changed = bytearray(plain)
        kind = turn % 3
        at = source.randrange(len(changed))
        if kind == 0:
            changed[at] ^= 1 << source.randrange(8)
        elif kind == 1:
            del changed[at:]
        else:
            changed[at:at] = source.randbytes(source.randrange(1, 9))
        with open(bad, "wb") as file:
            file.write(changed)
        done = run("-q", "-F", "json", "-e", "tree", "-e", "labels", bad)
        assert done.returncode in (0, 1), (turn, done)
        assert kind != 1 or done.returncode == 1, (turn, kind, at)
    for end in range(len("cpprof "), len("cpprof merged profile 1\n")):
        with open(bad, "wb") as file:
            file.write(plain[:end])
        done = run("-e", "top", bad)
        assert done.returncode == 1 and \
            b"cut short in its first line" in done.stderr, done
    for at in range(len("cpprof merged profile 1\n")):
        for line in plain[:at], plain[:at] + b"x", plain[:at] + b"a;b 3\n":
            with open(bad, "wb") as file:
                file.write(line + plain[at + 1:])
            # Each is opened, and a third of them merged.
            for words in (["-e", "top"], ["merge", "-o", bad + ".sum"])[
                    :1 + (at % 3 == len(line) % 3)]:
                done = run(*words, bad)
                said = done.stderr.decode().splitlines()
                assert done.returncode == 1 and re.search(
                    "damaged merged|first line|of version", said[0]), said
                assert len(said) == 1 or words[0] == "merge", said
    packed = content(one)
    with open(bad, "wb") as file:
        file.write(packed[:-3])
    done = run("-e", "top", bad)
    assert done.returncode == 1 and b"only whole" in done.stderr, done.stderr


def main():
    seed = int(os.environ.get("SEED", "1"))
    print("# SEED", seed)
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for options in ([], ["--by", "id"]):
            claims.attempt("random orders and partitions give the same "
                           f"bytes {' '.join(options)}",
                           no_partition_changes_a_byte, source, folder,
                           options)
        claims.attempt("sums, groups and maxima are those of the stacks",
                       sums_are_those_of_the_stacks, source, folder)
        claims.attempt("frames are told apart by module, address and lines",
                       frames_are_told_apart, source, folder)
        claims.attempt("views show what they show of all files",
                       views_are_those_of_the_files, source, folder)
        claims.attempt("values of a key are labels",
                       values_of_a_key_are_labels, source, folder)
        claims.attempt("members without the key are counted",
                       members_without_the_key_are_counted, source, folder)
        claims.attempt("what cannot be added is named and skipped",
                       what_cannot_be_added_is_skipped, source, folder)
        claims.attempt("lists and trees of pprof files agree",
                       lists_and_trees_of_pprof_files_agree, source, folder)
        claims.attempt("stacks that are parts of others are told apart",
                       stacks_that_are_parts_of_others_are_told_apart, folder)
        claims.attempt("a sample counts for the types that it has",
                       a_sample_counts_for_what_it_has, source, folder)
        claims.attempt("members may have other resources",
                       members_may_have_other_resources, folder)
        claims.attempt("what cannot be read is named and skipped",
                       what_cannot_be_read_is_skipped, folder)
        claims.attempt("what is cut short is told", what_is_cut_short_is_told,
                       folder)
        claims.attempt("sums beyond 64 bits are errors",
                       sums_beyond_64_bits_are_errors, folder)
        claims.attempt("an identity is the content's hash or --id",
                       identities, folder)
        claims.attempt("each profile in a directory is a member",
                       each_profile_in_a_directory_is_a_member, source,
                       folder)
        claims.attempt("a sum is no input of itself",
                       a_sum_is_no_input_of_itself, source, folder)
        claims.attempt("a file is added once", a_file_is_added_once, source,
                       folder)
        claims.attempt("groups are by identity", groups_are_by_identity,
                       folder)
        claims.attempt("sums are written in other formats, too",
                       other_formats, folder)
        claims.attempt("the command line", the_command_line, folder)
        claims.attempt("a pipe may lose its reader", a_pipe_may_lose_its_reader,
                       folder)
        claims.attempt("damaged files are refused", damaged_files_are_refused,
                       source, folder)
    claims.end()


main()
