# SPDX-License-Identifier: GPL-3.0-or-later
"""code.py [CPPROF [PROFILE COMMAND...]] -- how long list and disasm take.

Without a PROFILE: list on a tree of a million nodes with lines, which is made
here; list and disasm on a recording of gcc's C++ compiler, and disasm on one of
node.  Prints the CPU time of a command that was run before in the same process,
median of ROUNDS (5): that of a process with RUNS more of them, less that of one
without.
"""
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

CPPROF = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "./cpprof")
HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS, RUNS = int(os.environ.get("ROUNDS", "5")), 5
N_NODES, N_FUNCTIONS, N_SITES, DEEPEST = 1000000, 3000, 20000, 60
SCRIPT = """const z = require('zlib'); let s = 0;
for (let i = 0; i < 30; i++) {
    s += z.gzipSync(Buffer.alloc(1 << 20, i)).length;
    s += JSON.stringify(JSON.parse('[' + '{"a":[1]},'.repeat(20000) + '1]'))
        .length;
}"""


def cpu(profile, command, n):
    words = [CPPROF, "-q"]
    for _ in range(n):
        words += ["-e", command]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*words, profile], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime +
            after.ru_stime - before.ru_stime)


def measure(profile, *commands):
    for command in commands:
        times = [(cpu(profile, command, 1 + RUNS) - cpu(profile, command, 1))
                 / RUNS for _ in range(ROUNDS)]
        print(f"{os.path.basename(profile)}: {command:.60}: "
              f"{1000 * statistics.median(times):.1f} ms")


# ---- a large profile, in pprof's format ----

def varint(number):
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_large(path):
    """Random stacks; a third of the sites has an inlined call."""
    rng = random.Random(1)
    strings = ["", "samples", "count"]
    strings += [f"function_{i}" for i in range(N_FUNCTIONS)]
    strings += [f"/src/file{i}.c" for i in range(300)]
    numbers = [varint(i + 1) for i in range(N_SITES)]
    stack, n_nodes = [], 0
    with open(path, "wb") as file:
        file.write(field(1, field(1, 1) + field(2, 2)))
        while n_nodes < N_NODES:
            stack = stack[:rng.randint(0, min(len(stack), DEEPEST))]
            more = [rng.randrange(N_SITES) for _ in range(rng.randint(1, 12))]
            stack, n_nodes = stack + more, n_nodes + len(more)
            ids = b"".join(numbers[i] for i in reversed(stack))
            file.write(field(2, field(1, ids) +
                             field(2, varint(rng.randint(1, 9)))))
        for i in range(N_SITES):
            lines = b"".join(
                field(4, field(1, rng.randrange(N_FUNCTIONS) + 1) +
                      field(2, rng.randint(1, 400)))
                for _ in range(rng.choice((1, 1, 2))))
            file.write(field(4, field(1, i + 1) + lines))
        for i in range(N_FUNCTIONS):
            file.write(field(5, field(1, i + 1) + field(2, i + 3) +
                             field(4, N_FUNCTIONS + 3 + i % 300)))
        for string in strings:
            file.write(field(6, string.encode()))


def record(name, *command):
    subprocess.run([CPPROF, "record", "--no-prompt", "-o", name, "--",
                    *command], check=True, stdout=subprocess.DEVNULL)


def main():
    if len(sys.argv) > 3:
        measure(sys.argv[2], *sys.argv[3:])
        return
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write_large("million.pb")
        measure("million.pb", "list function_7", "list file7.c")
        record("compiler", "g++", "-std=c++17", "-O2", "-c", "-o", "out.o",
               os.path.join(HERE, "programs", "templates.cc"))
        measure("compiler", "disasm /^ggc_internal_alloc\\(/",
                "disasm _int_malloc", "list _int_malloc")
        if shutil.which("node"):
            record("node", "node", "-e", SCRIPT)
            measure("node", "disasm deflate_slow", "disasm "
                    "/JsonStringifier::Serialize_<false>/")
        os.chdir("/")


main()
