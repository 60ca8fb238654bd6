# SPDX-License-Identifier: GPL-3.0-or-later
"""inlined.py [CPPROF] -- the cost of reading debug information with a profile.

programs/boxes.cc is compiled once with -O2 -g and linked 8, 16, 32, 64 and 128
times into one program (COPIES), which is recorded without names.  Then the
recording is loaded and `functions` shown with inlines off, auto and on, in
turn, ROUNDS times (5).  Prints the least CPU time of each, in seconds, and the
megabytes of debug information.
"""
import os
import resource
import subprocess
import sys
import tempfile

CPPROF = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "./cpprof")
HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
COPIES = [int(n) for n in os.environ.get("COPIES", "8 16 32 64 128").split()]


def cpu(*command):
    """CPU seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime +
            after.ru_stime - before.ru_stime)


def link(n):
    """A program of n copies, and the bytes of its debug information."""
    names = [f"work{i}" for i in range(n)]
    for name in names:
        subprocess.run(["objcopy", "--redefine-sym", f"work={name}", "boxes.o",
                        f"{name}.o"], check=True)
    with open("main.cc", "w") as file:
        file.write("#include <cstdlib>\n" + "".join(
            f'extern "C" long {name}(int);\n' for name in names) +
            "int main(int, char **v) { long s = 0;\n" + "".join(
                f"s += {name}(atoi(v[1]));\n" for name in names) +
            "return s == 42; }\n")
    subprocess.run(["g++", "-O2", "-g", "-o", f"boxes{n}", "main.cc",
                    *(f"{name}.o" for name in names)], check=True)
    for name in names:
        os.remove(f"{name}.o")
    sizes = subprocess.run(["size", "-A", f"boxes{n}"], check=True,
                           capture_output=True, text=True).stdout
    return sum(int(line.split()[1]) for line in sizes.splitlines()
               if line.startswith(".debug_"))


def measure(n):
    size = link(n)
    subprocess.run([CPPROF, "record", "--no-symbols", "-F", "1000", "-o",
                    f"rec{n}", "--", f"./boxes{n}", str(6000 // n)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    least = {}
    for _ in range(ROUNDS):
        for inlines in ("off", "auto", "on"):
            used = cpu(CPPROF, "-q", "-e", f"inlines {inlines}", "-e",
                       f"load rec{n}", "-e", "functions")
            least[inlines] = min(used, least.get(inlines, used))
    print(f"{size / 2 ** 20:.0f} MB of debug information: " + ", ".join(
        f"{inlines} {used:.2f} s" for inlines, used in least.items()))


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        subprocess.run(["g++", "-std=c++17", "-O2", "-g", "-c", "-o", "boxes.o",
                        os.path.join(HERE, "programs", "boxes.cc")], check=True)
        for n in COPIES:
            measure(n)
        os.chdir("/")


main()
