#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""field-order.py -- what protobuf promises: no order of fields, and others.

Files in pprof's format and in OTLP's are written again with the fields of all
messages in descending order, as Go's Collector writes them, and in random
order; each must open as the same profile.  Fields that repeat keep their order
among each other, which is theirs; lists of numbers may be in pieces, or each
number a field by itself; and each message may have fields of a later version,
which are skipped.  The same for the ways in which several messages of OTLP can
be in one file.  No other messages of protobuf pass for these.  Speaks TAP.
"""
import gzip
import os
import random
import shutil
import struct
import subprocess
import tempfile

from claims import Claims
from cpprof import ask
from pprof_writer import Strings, message, number, varint

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
FILES = ("sample-data/server.pb.gz", "sample-data/sites.pb.gz",
         "tests/data/go/cpu.pb.gz", "tests/data/go/heap.pb.gz")
claims = Claims()

# Messages by their fields: what is in a field of bytes; PACKED: numbers.
PACKED = "packed"
NUMBERS = {}
PPROF = {1: NUMBERS, 2: {1: PACKED, 2: PACKED, 3: NUMBERS}, 3: NUMBERS,
         4: {4: NUMBERS}, 5: NUMBERS, 11: NUMBERS}
VALUE = {}
PAIR = {2: VALUE}
VALUE.update({5: {1: VALUE}, 6: {1: PAIR}})
OTLP = {1: {1: {1: PAIR}, 2: {1: NUMBERS, 2: {
            1: NUMBERS, 2: {2: PACKED, 3: PACKED, 4: PACKED}, 5: NUMBERS}}},
        2: {1: {5: PACKED}, 2: {3: NUMBERS, 4: PACKED}, 3: NUMBERS,
            4: NUMBERS, 6: PAIR, 7: {1: PACKED}}}
NAMED = message(1, message(1, message(1, b"service.name") +
                           message(2, message(1, b"shop"))))
# Other messages: spans and metrics of OTLP, and a trace of Perfetto's kind.
OTHERS = {
    "spans": message(1, NAMED + message(2, NAMED + message(
        2, message(1, bytes.fromhex("5b8efff798038103d269b633813fc60c")) +
        message(2, bytes.fromhex("eee19b7ec3c1b174")) + message(5, b"GET")))),
    "metrics": message(1, NAMED + message(2, NAMED + message(
        2, message(1, b"hits") + message(2, b"pages") + message(3, b"1")))),
    "packets": 50 * message(1, number(8, 5) + number(10, 1) +
                            message(1, number(1, 2) + message(2, b""))),
    "names": message(2, message(5, b"") + message(5, b"main")),
}


# ---- reading and writing fields ----

def take_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, its bytes with tag, its content or None) of a message."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = take_varint(data, at)
        content = None
        if tag & 7 == 0:
            _, at = take_varint(data, at)
        elif tag & 7 == 1:
            at += 8
        elif tag & 7 == 5:
            at += 4
        else:
            size, at = take_varint(data, at)
            content = data[at:at + size]
            at += size
        yield tag >> 3, data[begin:at], content


def pieces(content, rng):
    """A packed list of numbers in two pieces."""
    ends = [i + 1 for i, byte in enumerate(content) if byte < 128]
    cut = rng.choice(ends) if ends else 0
    return [content[:cut], content[cut:]]


def apart(name, content):
    """A packed list of numbers as a field for each."""
    at = 0
    while at < len(content):
        begin = at
        _, at = take_varint(content, at)
        yield varint(name << 3) + content[begin:at]


UNKNOWN = (message(999, b"junk"), number(1000, 5),
           varint(1001 << 3 | 5) + b"four", varint(1002 << 3 | 1) + b"eight888")


def permuted(data, schema, rng, unpacked=False, unknown=False):
    """The same message in another order: descending without rng."""
    queues = {}
    for name, raw, content in fields(data):
        inside = schema.get(name)
        if content is None or inside is None:
            parts = [raw]
        elif inside is PACKED and unpacked:
            parts = list(apart(name, content))
        elif inside is PACKED:
            parts = [message(name, part) for part in (
                pieces(content, rng) if rng else [content])]
        else:
            parts = [message(name, permuted(content, inside, rng, unpacked,
                                            unknown))]
        queues.setdefault(name, []).extend(parts)
    for i, raw in enumerate(UNKNOWN if unknown else ()):
        queues[999 + i] = [raw]
    order = [name for name, parts in queues.items() for _ in parts]
    if rng:
        rng.shuffle(order)
    else:
        order.sort(reverse=True)
    taken = {name: iter(parts) for name, parts in queues.items()}
    return b"".join(next(taken[name]) for name in order)


# ---- profiles ----

def big_pprof(folder):
    """A profile whose strings fill more than the head of a file that is looked
    at first."""
    path = os.path.join(folder, "big.folded")
    with open(path, "w", encoding="ascii") as file:
        for i in range(3000):
            file.write(f"main;{'name' * 8}{i % 1200};{'leaf' * 8}{i} {i % 7 + 1}"
                       "\n")
    out = os.path.join(folder, "big.pb.gz")
    ask(path, f"export pprof {out}")
    with gzip.open(out) as file:
        return file.read()


def otlp(n, revision, attributes=True, times=False, long=True):
    """A message of n stacks, in the layout of OTLP 1.8 or 1.10."""
    string = Strings()
    letters = "x" * 30 if long else "x"
    names = [f"{letters}{i}" for i in range(n)]
    functions = [number(1, string(name)) for name in ["main", *names]]
    dictionary = [message(1, b"")]
    dictionary += [message(2, b"")]
    dictionary += [message(2, message(3, number(1, i + 1) + number(2, 7)))
                   for i in range(n + 1)]
    dictionary += [message(3, b"")] + [message(3, f) for f in functions]
    dictionary += [message(7, b"")]
    dictionary += [message(7, message(1, varint(i + 2) + varint(1)))
                   for i in range(n)]
    values = [message(1, b"worker"), number(3, 42), number(2, 1),
              message(7, b"\x01\xff"), message(5, message(1, message(1, b"v"))),
              message(6, message(1, message(1, b"k") + message(2, number(3, 9))))]
    dictionary += [message(6, b"")]
    if attributes:
        dictionary += [message(6, number(1, string(f"key{i}")) +
                               message(2, value))
                       for i, value in enumerate(values)]
    samples = []
    for i in range(n):
        stack = number(1, i + 1)
        value = varint(i % 5 + 1) if not times else varint(500) * 2
        labels = message(2 if revision == 10 else 3,
                         bytes([i % 6 + 1])) if attributes else b""
        body = stack + message(4 if revision == 10 else 2, value) + labels
        if times:
            body += message(5, struct.pack("<QQ", 5, 6))
        samples.append(message(2, body))
    kind = message(1, number(1, string("cpu")) + number(2, string("count")))
    profile = kind + b"".join(samples)
    resource = message(1, message(1, message(1, b"process.pid") +
                                  message(2, number(3, 77))))
    dictionary += [message(5, text.encode()) for text in string.all]
    dictionary.sort(key=lambda raw: raw[0])
    return (message(1, resource + message(2, message(2, profile))) +
            message(2, b"".join(dictionary)))


def shown(path):
    """What a profile is: its stacks, labels, threads and resources."""
    return ask(path, "format tsv", "threshold 0", "names full", "resource",
               "tree", "labels", "threads", status=None).stdout


def write(folder, data, name="profile"):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def check_orders(folder, name, data, schema):
    expected = shown(write(folder, data))
    assert expected.count("\n") > 10, (name, expected)
    for seed in range(4):
        rng = random.Random(seed) if seed else None
        got = shown(write(folder, permuted(data, schema, rng)))
        claims.check(f"{name}, fields in "
                     f"{'random order %d' % seed if rng else 'descending order'}",
                     got == expected, f"{got[:900]}\n{expected[:900]}")
    for unpacked, unknown, what in (
            (True, False, "a field for each number of a list"),
            (False, True, "fields of a later version"),
            (True, True, "both of these")):
        for rng in (None, random.Random(7)):
            got = shown(write(folder, permuted(data, schema, rng, unpacked,
                                               unknown)))
            claims.check(f"{name}, {what}, in "
                         f"{'random' if rng else 'descending'} order",
                         got == expected, f"{got[:900]}\n{expected[:900]}")


def check_others(folder):
    """Fields that are not known make no profile of another message."""
    for name, data in OTHERS.items():
        for extra in ((b"", b"".join(UNKNOWN)) if name != "names" else
                      (b"".join(UNKNOWN),)):
            done = ask(write(folder, data + extra), "body", status=None)
            claims.check(f"{name}, {len(extra)} bytes more, are no profile",
                         "unknown format" in done.stderr, done.stderr)


def check_framing(folder):
    """Several messages in one file add up, however they are told apart."""
    one, two = otlp(40, 10), otlp(50, 10, long=False)
    files = [write(folder, one, "one"), write(folder, two, "two")]
    expected = sorted(ask(files, "format tsv", "threshold 0",
                          "functions").stdout.splitlines())
    packed = [gzip.compress(part) for part in (one, two)]
    framed = {
        "four bytes before each": b"".join(
            struct.pack(">I", len(part)) + part for part in (one, two)),
        "a varint before each": b"".join(
            varint(len(part)) + part for part in (one, two)),
        "each packed": b"".join(
            struct.pack(">I", len(part)) + part for part in packed),
        "all packed": gzip.compress(b"".join(
            struct.pack(">I", len(part)) + part for part in (one, two))),
    }
    if shutil.which("zstd"):
        framed["each packed by zstd"] = b"".join(
            struct.pack(">I", len(part)) + part for part in (
                subprocess.run(["zstd", "-c"], input=part, capture_output=True,
                               check=True).stdout for part in (one, two)))
    for name, data in framed.items():
        got = sorted(ask(write(folder, data), "format tsv", "threshold 0",
                         "functions").stdout.splitlines())
        claims.check(f"several messages, {name}, are one profile",
                     got == expected, f"{got[:9]} {expected[:9]}")
    cut = framed["four bytes before each"][:-7]
    done = ask(write(folder, cut), "body")
    claims.check("messages that are cut short are told",
                 "cut short" in done.stderr, done.stderr)


def check_layouts(folder):
    """Without attributes the layouts of 1.8 and 1.10 look alike."""
    for times in (False, True):
        for attributes in (False, True):
            texts = [shown(write(folder, otlp(30, revision, attributes, times)))
                     for revision in (8, 10)]
            claims.check("the layouts of 1.8 and 1.10 are told apart " +
                         ("with" if attributes else "without") + " attributes" +
                         (", with times" if times else ""),
                         texts[0] == texts[1] and texts[0].count("\n") > 30,
                         f"{texts[0][:500]}\n{texts[1][:500]}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            with gzip.open(os.path.join(SOURCE, name)) as file:
                check_orders(folder, os.path.basename(name), file.read(),
                             PPROF)
        check_orders(folder, "a large pprof file", big_pprof(folder), PPROF)
        check_orders(folder, "OTLP 1.8", otlp(60, 8), OTLP)
        check_orders(folder, "OTLP 1.10", otlp(60, 10), OTLP)
        check_orders(folder, "a large OTLP file", otlp(6000, 10), OTLP)
        check_orders(folder, "OTLP with times", otlp(60, 10, times=True), OTLP)
        check_framing(folder)
        check_layouts(folder)
        check_others(folder)
    claims.end()


main()
