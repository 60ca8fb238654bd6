# SPDX-License-Identifier: GPL-3.0-or-later
"""aarch64.py -- copied stacks of AArch64 programs, walked on any machine.

tests/programs/aarch64.c writes perf.data as perf does there, and the stacks as
libgcc finds them.  tests/data/perf/aarch64 has such a run, without the C library,
whose frames then are found by frame pointers.  With Debian's cross compiler and
qemu-user, more runs are made here (`aarch64.py FOLDER` makes that one anew).
Speaks TAP.
"""
import collections
import gzip
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims, rounds  # noqa: E402
import cpprof  # noqa: E402

SRCDIR = os.environ.get("srcdir", ".")
FIXTURE = os.path.join(SRCDIR, "tests/data/perf/aarch64")
SOURCE = os.path.join(SRCDIR, "tests/programs/aarch64.c")
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
LIBRARIES = "/usr/aarch64-linux-gnu"
MMAP2, SAMPLE, ATTR = 10, 9, 64
X29, X30, SP, PC = 29, 30, 31, 32
CONTEXT_USER = 2 ** 64 - 512
SIGRETURN = bytes.fromhex("681180d2 010000d4")
VARIANTS = {
    "optimised code": ("-O2", "-static"),
    "code without optimisation": ("-O0", "-static"),
    "code without frame pointers": ("-O2", "-fomit-frame-pointer", "-static"),
    "code with signed return addresses": (
        "-O2", "-mbranch-protection=pac-ret+leaf", "-static"),
    "code that probes its stack": (
        "-O2", "-fstack-clash-protection", "-static"),
    # Bound at the start: a handler that binds may interrupt the binding.
    "a program with libraries": (
        "-O2", "-mbranch-protection=standard", "-Wl,-z,now"),
}


def records(data):
    """The records of a pipe: their types and bytes."""
    at = 16
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield kind, data[at:at + size]
        at += size


def shift(path, offset):
    """How far addresses of a file are from offsets, for a mapping from there."""
    if not os.path.isfile(path):
        return 0
    with open(path, "rb") as file:
        head = file.read(4096)
    table, = struct.unpack_from("<Q", head, 32)
    for i in range(struct.unpack_from("<H", head, 56)[0]):
        kind, _, begin, address, _, size = struct.unpack_from(
            "<IIQQQQ", head, table + 56 * i)
        if kind == 1 and begin & ~4095 <= offset < begin + size:
            return address - begin
    raise AssertionError((path, offset))


def mappings(data):
    found = []
    for kind, record in records(data):
        if kind == MMAP2:
            start, size, offset = struct.unpack_from("<QQQ", record, 16)
            path = record[72:].split(b"\0")[0].decode()
            found.append((start, start + size,
                          os.path.basename(path).strip("[]"),
                          offset - start + shift(path, offset)))
    return found


def witness(data, lines):
    """libgcc's stacks, outermost frame first, as cpprof shows addresses."""
    maps = mappings(data)

    def frame(address):
        for start, end, name, distance in maps:
            if start <= address < end:
                return f"{name}+0x{address + distance:x}"
        return f"0x{address:x}"
    return [";".join(frame(int(word, 16)) for word in reversed(line.split()))
            for line in lines.splitlines()]


def own(path, root="/"):
    """cpprof's stacks, each as often as it was sampled; root: where the files
    of the machine are."""
    folded = path + ".folded"
    cpprof.ask(path, "granularity address", "startup show",
               f"export collapsed {folded}", options=("--symfs", root))
    stacks = collections.Counter()
    with open(folded, encoding="utf-8") as file:
        for line in file:
            stack, hits = line.rsplit(" ", 1)
            stacks[re.sub(r"\[(\w+)\]", r"\1", stack)] += int(hits)
    return stacks


def compare(found, expected):
    """What is wrong.  libgcc has no rules for stubs of other modules' functions,
    so it sees nothing but these; their callers must reach the same root."""
    wanted = collections.Counter(expected)
    whole = collections.Counter({stack: n for stack, n in wanted.items()
                                 if ";" in stack})
    stubs = collections.Counter({stack: n for stack, n in wanted.items()
                                 if ";" not in stack})
    root = next(iter(whole)).split(";")[0]
    wrong = [f"libgcc: {stack}" for stack in whole - found]
    for stack, n in (found - whole).items():
        frames = stack.split(";")
        stubs[frames[-1]] -= n
        if stubs[frames[-1]] < 0 or frames[0] != root or len(frames) < 4:
            wrong.append(f"cpprof: {stack}")
    return wrong


def make(folder, options, samples):
    """A program's perf.data, and libgcc's stacks."""
    program = os.path.join(folder, "stacks")
    subprocess.run([COMPILER, "-D_GNU_SOURCE", "-o", program, SOURCE,
                    *options], check=True, capture_output=True)
    emulator = () if platform.machine() == "aarch64" else (
        EMULATOR, "-cpu", "max", "-singlestep", "-L", LIBRARIES)
    done = subprocess.run([*emulator, program, str(samples)], check=True,
                          capture_output=True, timeout=300)
    return done.stdout, done.stderr.decode()


def missing():
    if shutil.which(COMPILER) is None:
        return f"no {COMPILER}"
    if platform.machine() != "aarch64" and shutil.which(EMULATOR) is None:
        return f"no {EMULATOR}"
    return None if subprocess.run(
        [COMPILER, "-static", "-x", "c", "-", "-o", "/dev/null"],
        input=b"int main(void) { return 0; }", capture_output=True,
        check=False).returncode == 0 else "no C library for AArch64"


def check_variant(options):
    with tempfile.TemporaryDirectory(prefix="cpprof-aarch64-") as folder:
        data, lines = make(folder, options, rounds(200))
        path = os.path.join(folder, "perf.data")
        with open(path, "wb") as file:
            file.write(data)
        expected = witness(data, lines)
        assert len(expected) == rounds(200), len(expected)
        assert sum("vdso" in stack for stack in expected) > 5, expected
        wrong = compare(own(path), expected)
        assert not wrong, "\n".join(wrong)


def place_program(folder):
    """A root directory with the program where the run was recorded."""
    place = os.path.join(folder, "tmp/aarch64")
    os.makedirs(place)
    shutil.copy(os.path.join(FIXTURE, "stacks"), place)
    return folder


def check_fixture():
    with open(os.path.join(FIXTURE, "stacks.txt"), encoding="utf-8") as file:
        expected = file.read().splitlines()
    with tempfile.TemporaryDirectory(prefix="cpprof-aarch64-") as folder:
        path = os.path.join(folder, "perf.data.gz")
        shutil.copy(os.path.join(FIXTURE, "stacks.data.gz"), path)
        found = own(path, place_program(folder))
    wrong = compare(found, expected)
    assert not wrong, "\n".join(wrong)


def chain(registers, stack):
    """The call chain that the kernel makes by frame pointers."""
    frames, pointer = [registers[PC]], registers[X29]
    while 0 <= pointer - registers[SP] <= len(stack) - 16:
        pointer, link = struct.unpack_from("<QQ", stack,
                                           pointer - registers[SP])
        if link == 0:
            break
        frames.append(link & (1 << 48) - 1)
    return frames


def as_chains(data):
    """The samples as `perf record -g` takes them there: with a call chain, and
    the register that may have the return address."""
    out = data[:16]
    for kind, record in records(data):
        if kind == ATTR:
            event = bytearray(record)
            struct.pack_into("<Q", event, 8 + 24, 1 << 16 | 1 << 0 | 1 << 1 |
                             1 << 2 | 1 << 5 | 1 << 12)
            struct.pack_into("<QI", event, 8 + 80, 1 << X30, 0)
            record = bytes(event)
        elif kind == SAMPLE:
            registers = struct.unpack_from("<33Q", record, 48)
            size, = struct.unpack_from("<Q", record, 48 + 33 * 8)
            frames = chain(registers, record[48 + 34 * 8:][:size])
            body = record[8:40] + struct.pack(
                f"<{len(frames) + 4}Q", len(frames) + 1, CONTEXT_USER,
                *frames, 2, registers[X30])
            record = record[:6] + struct.pack("<H", 8 + len(body)) + body
        out += record
    return out


def check_chains():
    """Frames that are missing: between saving the return address and setting the
    frame pointer, and where a signal came, of which the chain has no pc."""
    with open(os.path.join(FIXTURE, "stacks.txt"), encoding="utf-8") as file:
        expected = [line.strip() for line in file]
    with open(os.path.join(FIXTURE, "stacks"), "rb") as file:
        handled = "vdso", f"stacks+0x{file.read().index(SIGRETURN) - 1:x};"
    with gzip.open(os.path.join(FIXTURE, "stacks.data.gz")) as file:
        data = file.read()
    with tempfile.TemporaryDirectory(prefix="cpprof-aarch64-") as folder:
        path = os.path.join(folder, "perf.data")
        with open(path, "wb") as file:
            file.write(as_chains(data))
        found = own(path, place_program(folder))
    lengths = [len(chain(struct.unpack_from("<33Q", record, 48),
                         record[48 + 34 * 8:]))
               for kind, record in records(data) if kind == SAMPLE]
    n_linked, wrong = 0, []
    for stack, length in zip(expected, lengths):
        frames = stack.split(";")
        if len(frames) == 1 or any(map(stack.count, handled)):
            continue
        if stack in found:
            n_linked += length < len(frames)
        elif ";".join(frames[:-2] + frames[-1:]) not in found:
            wrong.append(stack)
    assert not wrong, "\n".join(wrong)
    assert n_linked > 10, n_linked


def make_fixture(folder, kept=8):
    """Keeps different stacks of each function that main calls, which end in the
    program's own code.  Its libraries are to be found nowhere."""
    data, lines = make(folder, (
        "-O2", "-mbranch-protection=pac-ret+leaf", "-Wl,-z,now", "-s",
        "-Wl,-z,max-page-size=4096"), 4000)
    expected = iter(witness(data, lines))
    out, texts, n = data[:16], [], collections.Counter()
    for kind, record in records(data):
        if kind == SAMPLE:
            stack = next(expected)
            shape = tuple(stack.split(";")[3:4] + ["vdso" in stack])
            if stack in texts or n[shape] == kept or (
                    not stack.split(";")[-1].startswith("stacks+")):
                continue
            n[shape] += 1
            texts.append(stack)
        out += record.replace(LIBRARIES.encode(),
                              LIBRARIES.replace("usr", "not").encode())
    with gzip.GzipFile(os.path.join(folder, "stacks.data.gz"), "wb",
                       mtime=0) as file:
        file.write(out)
    with open(os.path.join(folder, "stacks.txt"), "w",
              encoding="utf-8") as file:
        file.writelines(stack + "\n" for stack in texts)


def main():
    claims = Claims()
    claims.attempt("recorded stacks are those that libgcc found there",
                   check_fixture)
    claims.attempt("call chains have the caller that is in a register",
                   check_chains)
    why = missing()
    for name, options in VARIANTS.items():
        claim = f"stacks of {name} are libgcc's"
        if why is None:
            claims.attempt(claim, check_variant, options)
        else:
            claims.skip(claim, why)
    claims.end()


if len(sys.argv) > 1:
    make_fixture(sys.argv[1])
else:
    main()
