# SPDX-License-Identifier: GPL-3.0-or-later
"""hostile.py -- small files that try to cost much memory and time.

A table of files of 100 kB that somebody made to cost memory and time, one for
each known way, with the message that cpprof must print.  Whatever the command,
it must use at most 1 GiB, print a readable output, and end.  CPU time is
printed; ten times the expected time is an error, which leaves room for slow
machines.  At the prompt, Ctrl-C must work during the slowest.

    hostile.py [-m] [NAME...]       -m: measures, the figures of all cases

Speaks TAP.
"""
import gzip
import os
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

from claims import Claims, rounds
from terminal import Terminal, has_terminals

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
MEMORY_MB = 1024
SECONDS = 2
OUTPUT_MAX = 100 << 20
SIZE_MAX = 100 << 10    # of a file, as it is given
VIEWS = ("info", "top", "explain", "functions", "flat", "body", "down", "up", "tree",
         "graph",
         "flame", "flame up", "flame tree",
         "callers", "callees")
EXPORTS = tuple("export " + name for name in (
    "collapsed", "cpprof-text", "speedscope", "callgrind", "pprof",
    "cpprofdata"))
claims = Claims()
check = claims.check


def is_sanitized():
    """With sanitizers, memory means nothing and time little."""
    with open(CPPROF, "rb") as file:
        return b"__asan_init" in file.read()


PATIENCE = 50 if is_sanitized() else 10         # times as long is too long


# ---- running ----

class Run:
    """A run of cpprof, with its cost."""

    def __init__(self, *words, limit=SECONDS * PATIENCE):
        begin = time.monotonic()
        process = subprocess.Popen(
            [CPPROF, "-q", *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # In CPU time, which takes a while on a busy machine.
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (limit, limit))
        self.out = self.err = b""
        self.n_out = 0
        readers = [threading.Thread(target=self.take, args=(process.stdout,)),
                   threading.Thread(target=self.take_errors,
                                    args=(process.stderr,))]
        for reader in readers:
            reader.start()
        timer = threading.Timer(5 * limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        for reader in readers:
            reader.join()
        process.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.real_seconds = time.monotonic() - begin
        self.seconds = usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss // 1024

    def take(self, stream):
        while True:
            data = os.read(stream.fileno(), 1 << 20)
            if not data:
                return
            self.n_out += len(data)
            if len(self.out) < 1 << 20:
                self.out += data

    def take_errors(self, stream):
        self.err = stream.read()

    def why(self, n_commands=1):
        """What this run used too much of, or ""."""
        if self.status < 0:
            return f"killed by signal {-self.status}"
        if self.megabytes > MEMORY_MB and not is_sanitized():
            return f"{self.megabytes} MB"
        if self.n_out > OUTPUT_MAX * n_commands:
            return f"{self.n_out} bytes of output"
        return ""

    def __str__(self):
        return (f"{self.seconds:.2f} s, {self.megabytes} MB, {self.n_out} "
                f"bytes, status {self.status}: "
                + self.err.decode(errors="replace").strip()[:200])


# ---- making files ----

def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return [name]


def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(key, value):
    """A field of a protobuf message: a number, or bytes."""
    if isinstance(value, int):
        return varint(key << 3) + varint(value)
    return varint(key << 3 | 2) + varint(len(value)) + value


def message(*pairs):
    return b"".join(field(key, value) for key, value in pairs)


SAMPLE_TYPE, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING = range(1, 7)


def pprof(*parts, strings=()):
    """parts: messages; strings: from number 3 on."""
    texts = [b"", b"samples", b"count", *strings]
    return message((SAMPLE_TYPE, message((1, 1), (2, 2))), *parts,
                   *((STRING, text) for text in texts))


def many_lines():
    """One location of 12,000 inlined calls, 40,000 times on one stack."""
    return write("lines.pb", pprof(
        (SAMPLE, message((1, b"\1" * 40000), (2, b"\1"))),
        (LOCATION, message((1, 1), *[(4, message((1, 1)))] * 12000)),
        (FUNCTION, message((1, 1), (2, 3))), strings=[b"work"]))


def deep_stack():
    """Paths of 17,000 functions, each one longer than the one before."""
    names = [f"{i:x}" for i in range(4096, 4096 + 17000)]
    return write("deep.folded", ";".join(names).encode() + b" 1\n")


def elf(symbols_size, symbols=b"", names=b"\0", more=0):
    """A library of one page of code, whose symbol table claims that size."""
    symbols_at, names_at = 0x1000, 0x400
    sections = [(0,) * 10,
                (1, 1, 6, 0x1000, 0x1000, 0x1000, 0, 0, 16, 0),
                (1, 2, 0, 0, symbols_at, symbols_size, 3, 1, 8, 24),
                (1, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)]
    header = struct.pack(
        "<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 3, 62, 1, 0, 64, 120,
        0, 64, 56, 1, 64, len(sections), 3)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x2000, 0x2000, 4096)
    table = b"".join(struct.pack("<IIQQQQIIQQ", *part) for part in sections)
    data = (header + segment + table).ljust(names_at, b"\0") + names
    return data.ljust(symbols_at, b"\0") + symbols


def symbol(name, start, size):
    return struct.pack("<IBBHQQ", name, 0x12, 0, 1, start, size)


def of_module(path):
    """A profile of one address of a module."""
    return pprof(
        (SAMPLE, message((1, b"\1"), (2, b"\1"))),
        (MAPPING, message((1, 1), (2, 0), (3, 0x10000), (5, 3))),
        (LOCATION, message((1, 1), (2, 1), (3, 0x1008))),
        strings=[os.fsencode(path)])


def next_to_it():
    """A module whose relative path leads to the archive's own."""
    write("evil.so", elf(48, bytes(24) + symbol(1, 0x1000, 0x100),
                         b"\0evil\0"))
    return write("relative.pb", of_module("evil.so"))


def sparse_module():
    """A symbol table of 6 GiB that is a hole."""
    write("sparse.so", elf(6 << 30))
    os.truncate("sparse.so", (6 << 30) + 0x1000)
    return write("sparse.pb", of_module(os.path.abspath("sparse.so")))


def overlapping_code():
    """A program of 400 functions whose code is the same 60,000 bytes."""
    n, code = 400, b"\x90" * 60000
    names = b"\0" + b"".join(b"f%04d\0" % i for i in range(n))
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", 1 + 6 * i, 0x12, 0, 3 + i, 0x100000 * (i + 1),
                    0x100000) for i in range(n))
    names_at = 64 + 64 * (n + 3)
    symbols_at = names_at + len(names)
    code_at = symbols_at + len(symbols)
    sections = [(0,) * 10, (0, 2, 0, 0, symbols_at, len(symbols), 2, 1, 8, 24),
                (0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)]
    sections += [(0, 1, 6, 0x100000 * (i + 1), code_at, len(code), 0, 0, 1, 0)
                 for i in range(n)]
    header = struct.pack(
        "<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 3, 62, 1, 0, 0, 64, 0,
        64, 0, 0, 64, len(sections), 2)
    table = b"".join(struct.pack("<IIQQQQIIQQ", *part) for part in sections)
    call = struct.pack("<BQQI", 1, 0x100001, 0x200000, 3)
    return write("prog", header + table + names + symbols + code) + write(
        "gmon.out", b"gmon" + struct.pack("<I", 1) + bytes(12) + call)


def many_recordings():
    """A recording of 12,000 processes, each of which has one sample."""
    write("one.so", elf(24, bytes(24)))
    paths = write("one.pb", of_module(os.path.abspath("one.so")))
    os.mkdir("many")
    Run("-e", "export cpprofdata many/cpprofdata.0", *paths)
    for i in range(1, 12000):
        os.symlink("cpprofdata.0", f"many/cpprofdata.{i}")
    return ["many"]


def gzip_of_a_stack():
    """50 million frames in 50 kB."""
    return write("stack.gz", gzip.compress(b"a;" * 25000000 + b"a 1\n"))


def gzip_of_frames():
    """20 million bytes of one stack of 10 million frames, in 20 kB."""
    return write("frames.folded.gz",
                 gzip.compress(b"a;" * 10000000 + b"a 1\n"))


def gzip_of_many_stacks():
    """Stacks of 100,000 frames that have only their names in common."""
    return write("stacks.folded.gz", gzip.compress(b"".join(
        b"f%d;" % i + b"a;" * 100000 + b"a 1\n" for i in range(120))))


def gzip_of_locations():
    """pprof: 20 million times the same location on one stack."""
    return write("locations.pb.gz", gzip.compress(pprof(
        (SAMPLE, message((1, b"\1" * 20000000), (2, b"\1"))),
        (LOCATION, message((1, 1), (4, message((1, 1))))),
        (FUNCTION, message((1, 1), (2, 3))), strings=[b"f"])))


def gzip_of_inlined_stacks():
    """pprof: 20 stacks of 100,000 times the same 200 inlined calls."""
    lines = [(4, message((1, i % 7 + 1))) for i in range(200)]
    return write("inlined.pb.gz", gzip.compress(pprof(
        *[(SAMPLE, message((1, b"\1" * 100000 + varint(i + 2)),
                           (2, b"\1"))) for i in range(20)],
        *[(LOCATION, message((1, i + 1), *lines)) for i in range(22)],
        *[(FUNCTION, message((1, i + 1), (2, i + 3))) for i in range(7)],
        strings=[b"f%d" % i for i in range(7)])))


def gzip_of_threads():
    """Firefox: threads in one stack of 200,000 frames of a shared table."""
    n = 200000
    return write("threads.json.gz", gzip.compress(
        b'{"meta":{"version":30},"shared":{"stringArray":["f","g"],'
        b'"funcTable":{"name":[0]},"frameTable":{"func":[0]},"stackTable":'
        b'{"frame":[0' + b",0" * (n - 1) + b'],"prefixOffset":[0'
        + b",1" * (n - 1) + b']}},"threads":['
        + b",".join([b'{"tid":%d,"samples":{"stack":[%d]}}' % (i, n - 1)
                     for i in range(300)]) + b"]}"))


def gzip_of_speedscope():
    """Profiles whose samples are 40,000 frames, again and again."""
    n = 40000
    sample = b"[0" + b",0" * (n - 1) + b"]"
    return write("samples.speedscope.json.gz", gzip.compress(
        b'{"$schema":"https://www.speedscope.app/file-format-schema.json",'
        b'"shared":{"frames":[{"name":"f"}]},"profiles":['
        + b",".join([b'{"type":"sampled","name":"p%d","unit":"none",'
                     b'"startValue":0,"endValue":4,"samples":[' % i
                     + b",".join([sample] * 4) + b'],"weights":[1,1,1,1]}'
                     for i in range(60)]) + b"]}"))


def cut_sentry():
    """Cut short; 200,000 samples of a long stack whose last frame is missing."""
    return write("cut.json", gzip.compress(
        b'{"version":"1","profile":{"frames":[{"function":"f"}],"stacks":[['
        + b"0," * 500000 + b'7],[0]],"samples":['
        b'{"stack_id":1,"thread_id":"1","elapsed_since_start_ns":0},'
        + b'{"stack_id":0,"thread_id":"1","elapsed_since_start_ns":1},'
        * 200000))


def gzip_of_lines():
    return write("lines.gz", gzip.compress(
        b"a 2\n" + b"".join(b"%d;" % i + b"a;" * 200000 + b"a 1\n"
                            for i in range(100))))


def zstd_of(first, byte, size):
    """A frame of zstd: some bytes, then one byte repeated (RFC 8878)."""
    block = 1 << 17
    head = bytes.fromhex("28b52ffd0038") + struct.pack(
        "<I", len(first) << 3)[:3] + first
    repeated = (struct.pack("<I", block << 3 | 1 << 1)[:3] + byte)
    return head + repeated * (size // block) + struct.pack(
        "<I", 1 << 3 | 1 << 1 | 1)[:3] + byte


def zstd_of_lines():
    """3 GB of empty lines in 96 kB."""
    return write("lines.zst", zstd_of(b"a 3\n", b"\n", 3 << 30))


def zstd_of_one_line():
    return write("line.zst", zstd_of(b"a 3\nb", b"c", 3 << 30))


def gzip_of_samples():
    """pprof: 600 stacks of 100,000 frames each."""
    samples = [(SAMPLE, message((1, b"\1" * 100000 + varint(i + 2)),
                                (2, b"\1"))) for i in range(600)]
    locations = [(LOCATION, message((1, i + 1), (4, message((1, 1)))))
                 for i in range(700)]
    return write("samples.pb.gz", gzip.compress(pprof(
        *samples, *locations, (FUNCTION, message((1, 1), (2, 3))),
        strings=[b"f"])))


def otlp(sample=((4, b"\1"),), n=1, types=1, rows=b"", text=b""):
    """A sample, n times, and a dictionary with these further rows, whose
    string 4 is the text."""
    return message(
        (1, message((2, message((2,
            message((1, message((1, 1), (2, 2)))) * types
            + message((2, message((1, 1), *sample))) * n))))),
        (2, message(
            (1, b""), (2, b""), (2, message((3, message((1, 1))))),
            (3, b""), (3, message((1, 3))),
            *[(5, string) for string in (b"", b"cpu", b"ns", b"f", text)],
            (6, b""), (7, b""), (7, message((1, b"\1")))) + rows))


def gzip_of_otlp_functions():
    """A million functions of one name of 15 MB."""
    return write("functions.otlp.gz", gzip.compress(otlp(
        rows=message((3, message((1, 4)))) * 1000000, text=b"p" * 15000000)))


def gzip_of_otlp_attributes():
    """A sample with 10 million times the same label of 10 MB."""
    label = message((6, message((1, b"k"),
                                (2, message((1, b"b" * 10000000))))))
    return write("attributes.otlp.gz", gzip.compress(otlp(
        [(2, b"\1" * 10000000), (4, b"\1")], rows=label)))


def gzip_of_otlp_mappings():
    """5 million mappings of one path of 4 kB."""
    return write("mappings.otlp.gz", gzip.compress(otlp(
        rows=message((1, message((4, 4)))) * 5000000, text=b"p" * 4096)))


def gzip_of_otlp_rows():
    """10 million empty mappings."""
    return write("empty.otlp.gz", gzip.compress(otlp(
        rows=message((1, b"")) * 10000000)))


def many_otlp_types():
    """3,000 samples with times, in a profile of 10,000 equal types."""
    return write("types.otlp", otlp([(5, bytes(8))], types=10000, n=3000))


def gzip_of_callgrind_lines():
    """callgrind: 4 million lines of code with 256 events."""
    return write("lines.callgrind.gz", gzip.compress(
        b"# callgrind format\nevents: "
        + b" ".join(b"e%d" % i for i in range(256)) + b"\nfn=f\n"
        + b"+1 1\n" * 4000000))


def gzip_of_cpuprofile_nodes():
    """7.9 million nodes without a key."""
    return write("nodes.cpuprofile.gz", gzip.compress(
        b'{"nodes":[{"id":1,"callFrame":{"functionName":"x"}}' + b",{}" *
        7900000 + b'],"startTime":0,"endTime":5,"samples":[1],'
        b'"timeDeltas":[1]}'))


def nested_arrays():
    """JSON: a skipped value of 98,000 levels."""
    return write("nested.json", b'{"timeDeltas":[],"x":'
                 + b"[" * 98000)


def deep_tree():
    """V8's older form: nodes inside of nodes, 4,000 levels."""
    n = 4000
    return write("deep.cpuprofile", b'{"timestamps":[1,9],"head":'
                 + b'{"id":7,"children":[' * n
                 + b"]}" * n + b',"samples":[7,7]}')


def many_profiles():
    """A trace of 700 profiles, each of one node with a large id."""
    return write("many.json", b"[" + b",".join(
        b'{"args":{"data":{"cpuProfile":{"nodes":[{"id":4194303}],'
        b'"samples":[4194303]}}},"name":"ProfileChunk","id":"%d","ph":"P"}' % i
        for i in range(700)) + b"]")


def threads_of_one_stack():
    """Firefox: 1,600 threads in a stack of 12,000 frames of a shared table."""
    n = 12000
    return write("threads.json", b'{"shared":{"stringArray":["f"],"funcTable":'
                 b'{"name":[0]},"frameTable":{"func":[0]},"stackTable":{"frame"'
                 b':[0' + b",0" * (n - 1) + b'],"prefixOffset":[0'
                 + b",1" * (n - 1) + b']}},"threads":['
                 + b",".join([b'{"samples":{"stack":[%d]}}' % (n - 1)] * 1600)
                 + b"]}")


def one_name_for_all():
    """Firefox: 6,000 functions of one name, which takes long to demangle."""
    n = 6000
    name = b"_Z1fI" + b"1aIiiE" * 1000 + b"EvT_"
    return write("name.json", b'{"threads":[{"samples":{"stack":[0]},'
                 b'"stringArray":["%s"],"funcTable":{"name":[0' % name
                 + b",0" * (n - 1) + b']},"frameTable":{"func":[0'
                 + b"".join(b",%d" % i for i in range(1, n)) + b"]},"
                 b'"stackTable":{"frame":[0'
                 + b"".join(b",%d" % i for i in range(1, n))
                 + b'],"prefixOffset":[0' + b",0" * (n - 1) + b"]}}]}")


def threads_that_repeat():
    """threadz: 700 threads with the stack of the first, 7,000 deep."""
    thread = b"--- Thread 7f (name: t/%d) stack: ---\n"
    return write("threads.txt", b"--- threadz 1 ---\n" + thread % 0
                 + b"".join(b" 0x%x" % i for i in range(1, 7000)) + b"\n"
                 + b"".join(thread % i + b"same as previous thread\n"
                            for i in range(1, 700)))


def inlined_in_text():
    """A symbol of 6,000 inlined calls, 12,000 times on one stack."""
    return write("symbol.txt", b"--- symbol\n0x2 "
                 + b"--".join(b"f%d" % i for i in range(6000))
                 + b"\n---\n--- heap\nheap profile: 1: 5 [1: 5] @ growth\n"
                 + b"1: 1 [1: 1] @" + b" 0x2" * 12000 + b"\n")


def long_paths():
    """A memory map of 7,000 paths, each with 4 kB that one line defines."""
    return write("map.txt", b"goroutine profile: total 1\n1 @ 0x2\n"
                 b"MAPPED_LIBRARIES:\na=" + b"x" * 4000 + b"\n"
                 + b"".join(b"%x-%x:$a\n" % (i * 16, i * 16 + 8)
                            for i in range(7000)))


def labels_without_end():
    """pprof -raw: a label with 45,000 brackets, none of which ends it."""
    return write("labels.raw", b"Period: 1\nSamples:\nx/count\n 1: 1\n"
                 + b" " * 16 + b"a:[" + b"] " * 45000
                 + b"\nLocations\n1: 0x1 f\nMappings\n")


def merged(statistics=(), names=((0, b"f"),), n_resources=1, n_nodes=1):
    """A merged profile of one member with 5 hits of the first name, or the
    beginning of one."""
    def text(data):
        return varint(len(data)) + data

    data = [b"cpprof merged profile 1\n", varint(1), varint(0),
            varint(1) + varint(0) * 31, varint(0) * 8]
    data += [varint(len(statistics))]
    data += [text(what) + varint(1) + varint(3) for what in statistics]
    data += [varint(n_resources)]
    data += [text(b"%03d" % i) + text(b"us") + varint(1) * 2 + varint(0) * 5
             for i in range(n_resources)]
    data += [varint(0) * 4]                             # sources to values
    data += [varint(len(names))]
    data += [varint(shared) for shared, _ in names]
    data += [text(rest) for _, rest in names]
    data += [bytes((0,                                  # modules
                    1, 0, 0, 0, 0, 1, 0, 0, 0))]        # frames
    data += [varint(n_nodes), bytes(2 * n_nodes)]
    data += [bytes((0, 1, 0, 5, 1, 0,                   # counts, most
                    1, 0, 1, 5, 0))]                    # groups, by key
    return gzip.compress(b"".join(data))


def names_that_share():
    """30,000 names of up to 100,000 bytes, of which each adds one."""
    n, length = 30000, 100000
    return write("names.merged", merged(names=[(0, b"a" * length)] + [
        (length - i, b"b") for i in range(1, n)]))


def many_statistics():
    digits = [b"%c" % i for i in range(65, 65 + 34)]
    return write("statistics.merged", merged(statistics=[
        a + b + c for a in digits for b in digits for c in digits]))


def counts_that_are_missing():
    """Two million nodes, each with counts of 190 resources."""
    return write("counts.merged", merged(n_resources=190, n_nodes=2000000))


# ---- what is asked of them ----

def case(make, *asked, lacks="", notes="", status=(0, 1), ask=()):
    return {"make": make, "asked": asked, "lacks": lacks, "notes": notes,
            "status": status, "ask": ask}


# For each: how it is made; commands before the others; a text that no answer
# contains and one that is noted; and the commands, if not all.
TOO_MUCH = "(stopped reading at|unpacks to more than) 250 times"
CASES = {
    "pprof: a location of 12,000 lines on a stack 40,000 times":
        case(many_lines, "threshold 0",
             notes="location has 12000 inlined calls"),
    "collapsed: a stack of 17,000 names, all of it":
        case(deep_stack, "threshold 0"),
    "a module of a relative path is not opened":
        case(next_to_it, lacks="evil ", ask=("functions",)),
    "a sparse module whose symbols take 6 GiB":
        case(sparse_module, ask=("functions",)),
    "gzip: a stack of 50 million frames":
        case(gzip_of_a_stack, status=(1,), ask=("tree",),
             notes=TOO_MUCH),
    "gzip: a stack of 10 million frames":
        case(gzip_of_frames, status=(1,), ask=("info",),
             notes="frames.folded.gz:1: a stack of too many frames"),
    "gzip: 120 stacks of 100,000 frames":
        case(gzip_of_many_stacks, status=(1,), ask=("info",),
             notes="too many call paths, more than real profiles"),
    "gzip: pprof's stack of 20 million locations":
        case(gzip_of_locations, status=(1,), ask=("info",),
             notes="a stack of 2000000[01] frames, more than real"),
    "gzip: pprof's stacks of 20 million inlined calls":
        case(gzip_of_inlined_stacks, status=(1,), ask=("functions", "down"),
             notes="inlined calls make [0-9]+ call paths"),
    "gzip: Firefox' threads of 200,000 frames":
        case(gzip_of_threads, ask=("info", "functions")),
    "gzip: speedscope's profiles of 40,000 frames":
        case(gzip_of_speedscope, ask=("info", "functions")),
    "gzip: Sentry, cut short: samples of a stack that is not whole":
        case(cut_sentry, ask=("info", "functions")),
    "gzip: stacks of 200,000 frames":
        case(gzip_of_lines, notes="too many call paths, more than real",
             ask=("info", "down", "up", "graph", "export callgrind")),
    "gzip: pprof's stacks of 100,000 frames":
        case(gzip_of_samples, notes="too many call paths, more than real",
             ask=("info", "down", "up", "graph", "export pprof")),
    "gzip: OTLP's functions of one long name":
        case(gzip_of_otlp_functions, status=(1,), notes="tables and samples",
             ask=("info",)),
    "gzip: OTLP's labels of one long text":
        case(gzip_of_otlp_attributes, status=(1,), notes="tables and samples",
             ask=("info",)),
    "gzip: OTLP's mappings of one long path":
        case(gzip_of_otlp_mappings, status=(1,), notes="tables and samples",
             ask=("info",)),
    "gzip: OTLP's mappings of nothing":
        case(gzip_of_otlp_rows, status=(1,), notes="tables and samples",
             ask=("info",)),
    "OTLP: 10,000 types of samples":
        case(many_otlp_types, status=(1,), notes="more than 256 types",
             ask=("info",)),
    "gzip: callgrind's lines with 256 events":
        case(gzip_of_callgrind_lines, status=(1,),
             notes="too many lines of code with costs", ask=("info",)),
    "gzip: nodes of a cpuprofile without a key":
        case(gzip_of_cpuprofile_nodes, ask=("info", "functions")),
    "zstd: 3 GB of empty lines":
        case(zstd_of_lines, notes=TOO_MUCH,
             ask=("info", "functions")),
    "zstd: a line of 3 GB":
        case(zstd_of_one_line, notes=TOO_MUCH,
             ask=("info", "functions")),
    "JSON: arrays 98,000 deep":
        case(nested_arrays, status=(1,), ask=("info",)),
    "cpuprofile: nodes 4,000 deep":
        case(deep_tree),
    "Chrome's trace: 700 profiles":
        case(many_profiles, ask=("info", "flat")),
    "Firefox: 1,600 threads of one stack of 12,000 frames":
        case(threads_of_one_stack, notes="threads are shown as one"),
    "Firefox: 6,000 functions of one mangled name":
        case(one_name_for_all, ask=("info", "functions")),
    "threadz: 700 threads of one stack of 7,000 frames":
        case(threads_that_repeat, notes="counted without their names"),
    "heap profile: a symbol of 6,000 inlined calls":
        case(inlined_in_text, "threshold 0",
             notes="location has 6000 inlined calls"),
    "goroutines: a memory map of long paths":
        case(long_paths, ask=("info", "functions")),
    "pprof -raw: a label without an end":
        case(labels_without_end, status=(0, 1), ask=("info",)),
    "a merged profile of long names that share their beginnings":
        case(names_that_share, ask=("info", "functions"),
             notes="names too long"),
    "a merged profile of 39,304 statistics":
        case(many_statistics, ask=("info",), notes="too many statistics"),
    "a merged profile without most of its counts":
        case(counts_that_are_missing, status=(1,), ask=("info",),
             notes="more counts than bytes"),
    "gmon: a program of 400 functions in the same place":
        case(overlapping_code, status=(0,), ask=("functions",)),
    "a directory of 12,000 recordings":
        case(many_recordings, status=(0,), ask=("functions",)),
}


def cpu_seconds(process):
    """The CPU time that the process has used so far."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_it_works(terminal):
    """Before that, Ctrl-C would kill the program, or the child that executes
    it."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        there = f"/proc/{terminal.process}/"
        if os.path.samefile(there + "exe", CPPROF):
            with open(there + "status", encoding="utf-8") as file:
                caught = re.search(r"SigCgt:\s*(\w+)", file.read())[1]
            if int(caught, 16) & 1 << signal.SIGINT - 1:
                return
        time.sleep(0.01)


def children_seconds():
    """The CPU time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ctrl_c(commands, settings, paths, seconds):
    """The most CPU time until Ctrl-C was answered during this work: by the
    prompt, or before that by the program's end."""
    longest = 0
    for part in (0.5, 0.2, 0.8)[:rounds(1)]:
        words = [word for command in (
            *settings, *(command + " >/dev/null" for command in commands))
            for word in ("-e", command)]
        terminal = Terminal("-q", "-i", *words, *paths)
        wait_until_it_works(terminal)
        time.sleep(part * seconds)
        begin, ended = cpu_seconds(terminal.process), children_seconds()
        terminal.type("\x03")
        if terminal.reads_or_ends("(cpprof"):
            end = cpu_seconds(terminal.process)
            terminal.type("quit\n")
            terminal.status()
        else:
            end = children_seconds() - ended
            assert terminal.result == signal.SIGINT, terminal.result
        longest = max(longest, end - begin)
    return longest


def check_ctrl_c(name, which, slowest, paths):
    run, commands = slowest
    # There is no prompt where nothing could be loaded.
    if run.seconds < 0.3 or run.status != 0 or not has_terminals():
        return
    longest = ctrl_c(commands, which["asked"], paths, run.seconds)
    print(f"# {name}: Ctrl-C took {longest:.2f} s of 0.2", flush=True)
    check(f"{name}: Ctrl-C is answered", longest < 0.2 * PATIENCE, longest)


def look_at(name, which, measures):
    os.mkdir("case")
    os.chdir("case")
    try:
        paths = which["make"]()
        sizes = [os.path.getsize(path) for path in paths
                 if os.path.isfile(path)]
        assert max(sizes, default=0) <= SIZE_MAX, (name, sizes)
        settings = [word for command in which["asked"]
                    for word in ("-e", command)]
        bad, slowest, notes = [], None, ""
        # The file is read once for all views, and once for all exports.
        for commands in [[command] for command in which["ask"]] or \
                [VIEWS, EXPORTS]:
            asked = ", ".join(commands)
            run = Run("--keep-going", *settings,
                      *(word for command in commands
                        for word in ("-e", command)), *paths)
            if measures:
                print(f"# {name}: {asked}: {run}", flush=True)
            why = run.why(len(commands))
            if run.status not in which["status"] and not why:
                why = f"status {run.status}"
            if which["lacks"] and re.search(which["lacks"],
                                            run.out.decode()):
                why = which["lacks"]
            if why:
                bad.append(f"{asked}: {why}; {run}")
            notes += run.err.decode(errors="replace")
            if slowest is None or run.seconds > slowest[0].seconds:
                slowest = run, commands
        check(name, not bad, "\n".join(bad))
        if which["notes"]:
            check(f"{name}: what was left out is said",
                  re.search(which["notes"], notes), notes)
        print(f"# slowest: {', '.join(slowest[1])}: {slowest[0].seconds:.2f} s "
              f"of {SECONDS}, {slowest[0].megabytes} MB", flush=True)
        check_ctrl_c(name, which, slowest, paths)
    finally:
        os.chdir("..")
        shutil.rmtree("case")


# ---- other things that are opened ----

def check_pipes():
    os.mkfifo("pipe")
    run = Run("-e", "info", "pipe", limit=60)
    check("a named pipe that nobody writes to is an error",
          run.status == 1 and b"named pipe" in run.err, run)
    writer = subprocess.Popen(["sh", "-c", "sleep 1; exec >pipe; sleep 1; "
                               "echo 'a;b 3'; sleep 1; echo 'a;c 4'"])
    run = Run("-e", "flat", "pipe")
    writer.wait(timeout=120)
    check("one whose writer comes later is read to its end",
          run.status == 0 and b"7 samples" in run.out, run)
    writer = subprocess.Popen(["sh", "-c", "sleep 1; : >pipe"])
    run = Run("-e", "flat", "pipe")
    writer.wait(timeout=120)
    check("one whose writer writes nothing is empty",
          b"the file is empty" in run.err and run.real_seconds < 8, run)
    out = subprocess.run(["bash", "-c", f"{shlex.quote(CPPROF)} -q -e flat "
                          "<(sleep 1; echo 'a;b 3') <(:)"],
                         capture_output=True, text=True, timeout=60)
    check("<(cmd) is waited for, but not when it has ended",
          out.stderr == "cpprof: /dev/fd/62: the file is empty\n"
          or "3 samples" in out.stdout, out)
    if not has_terminals():
        return
    terminal = Terminal("-q", "pipe")
    time.sleep(0.5)
    begin = time.monotonic()
    terminal.type("\x03")
    terminal.expect("interrupted")
    print(f"# Ctrl-C took {time.monotonic() - begin:.2f} s of 0.2", flush=True)
    check("Ctrl-C ends the wait for a writer",
          terminal.status() == -signal.SIGINT)


def check_terminal():
    """The output of an export cannot control the terminal."""
    write("names.folded", "main;a\u202eb;c\x9b31md;é\u4e2d;\u2066 3\n"
          .encode())
    if not has_terminals():
        return
    for name in "collapsed", "cpprof-text", "speedscope", "callgrind":
        terminal = Terminal("-q", "-e", f"export {name}", "names.folded")
        terminal.status()
        seen = terminal.seen
        check(f"export {name} to a terminal writes no marks and controls",
              not re.search("[\x80-\x9f\u200b-\u206f]", seen) and
              re.search(r"\\xe2\\x80\\xae|\\u202e", seen) and
              "é\u4e2d" in seen, repr(seen))
    run = Run("-e", "export collapsed", "names.folded")
    with open("names.folded", "rb") as file:
        check("a file has the names as they are", run.out == file.read(), run)


def main():
    arguments = sys.argv[1:]
    measures = arguments[:1] == ["-m"]
    wanted = arguments[measures:]
    work = tempfile.mkdtemp(prefix="cpprof-hostile-")
    os.chdir(work)
    try:
        for name, which in CASES.items():
            if not wanted or any(word in name for word in wanted):
                look_at(name, which, measures)
        for part in check_pipes, check_terminal:
            if not wanted or part.__name__ in wanted:
                part()
    finally:
        os.chdir("/")
        shutil.rmtree(work)
    claims.end()


main()
