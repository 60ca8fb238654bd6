#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""python.py -- Python functions in recordings of CPython programs.

Runs with interpreters of 3.11 and later that are found.  The witness of the
stacks is the program itself: tests/programs/pystacks.py writes a byte where it
notes its own stack, and bytes-written finds each of them.  Speaks TAP.
"""
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from random import Random

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import judge  # noqa: E402
from claims import Claims, rounds  # noqa: E402
from cpprof import CPPROF, run, table, text  # noqa: E402

claims = Claims()
PROGRAMS = os.path.join(HERE, "programs")
NAMED = re.compile(r"^(.*) \(([^()]*?)(?::(\d+))?\)(?::(\d+))?$")


def interpreters():
    """Paths of interpreters, by version: the system's, those in PATH, pyenv's,
    and what CPPROF_PYTHONS lists, as PATH does; of each minor version the first
    of these, at length (make check-long) all."""
    found = {}
    names = [f"python3.{minor}" for minor in range(11, 16)] + ["python3"]
    paths = ["/usr/bin/python3"]
    paths += [shutil.which(name) for name in names]
    paths += sorted(glob.glob(os.path.expanduser(
        "~/.pyenv/versions/*/bin/python3")))
    paths += os.environ.get("CPPROF_PYTHONS", "").split(os.pathsep)
    for path in paths:
        if not path or not os.path.exists(path):
            continue
        done = subprocess.run(
            [path, "-c", "import sys; print(sys.version.split()[0], "
             "sys.version_info >= (3, 11), sys.version_info < (3, 16),"
             "sys.implementation.name, sys.executable)"],
            capture_output=True, text=True, check=False)
        words = done.stdout.split()
        if words[1:4] == ["True", "True", "cpython"]:
            key = (words[0], os.path.realpath(words[4])) if judge.IS_LONG else \
                words[0].split(".")[1]
            found.setdefault(key, (words[0], path))
    return dict(found.values())


def record(directory, name, python, words, *options, status=0):
    recording = os.path.join(directory, name)
    run("record", "-o", recording, *options, python, *words, status=status)
    return recording


def recorded_stacks(recording, path):
    """The Python frames of each stack with their hits: (name, line)."""
    exported = path + ".folded"
    text(recording, "granularity callsite", f"export collapsed {exported}")
    stacks = collections.Counter()
    with open(exported, encoding="utf-8") as file:
        for line in file:
            stack, hits = line.rsplit(" ", 1)
            frames = []
            for frame in stack.split(";"):
                match = NAMED.match(frame)
                if match and (".py" in match[2] or "<" in match[2]):
                    frames.append((match[1], int(match[4] or 0)))
            if frames and frames[-1][0] == "leaf":
                stacks[tuple(frames)] += int(hits)
    return stacks


def noted_stacks(path):
    stacks = collections.Counter()
    for name in (path, path + ".child"):
        with open(name, encoding="utf-8") as file:
            for stack, n in json.load(file):
                stacks[tuple((frame[0], frame[3]) for frame in stack)] += n
    return stacks


def check_stacks(directory, version, python):
    notes = os.path.join(directory, "notes")
    recording = record(directory, f"stacks-{version}", python,
                       [os.path.join(PROGRAMS, "pystacks.py"), version,
                        str(rounds(120)), notes], "-r", "bytes-written:1")
    recorded = recorded_stacks(recording, notes)
    noted = noted_stacks(notes)
    assert sum(noted.values()) > 1000, sum(noted.values())
    wrong = [(stack, n, recorded[stack]) for stack, n in noted.items()
             if recorded[stack] != n]
    wrong += [(stack, noted[stack], n) for stack, n in recorded.items()
              if stack not in noted]
    assert not wrong, (f"{len(wrong)} of {len(noted)} stacks differ",
                       wrong[:3])


def check_names(directory, version, python):
    """After check_stacks.  Functions that share a name are told apart."""
    places = collections.defaultdict(set)
    with open(os.path.join(directory, "notes"), encoding="utf-8") as file:
        for stack, _ in json.load(file):
            for name, path, first_line, _ in stack:
                if path.endswith("pystacks.py"):
                    places[name].add(first_line)
    names = {row["path"][0] for row in table(
        os.path.join(directory, f"stacks-{version}"), "threshold 0",
        "functions")["rows"]}
    missing = [name for name, lines in places.items() for line in lines
               if f"{name} (pystacks.py" + (
                   f":{line})" if len(lines) > 1 or name.endswith(">") and
                   name != "<module>" else ")") not in names]
    assert len(places["Walker.in_property.<locals>.Holder.value"]) == 2
    assert not missing, (missing[:5], sorted(names)[:40])


BETWEEN = """
import ctypes, os
out = os.open("/dev/null", os.O_WRONLY)
libc = ctypes.CDLL(None)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
calls = 0
def leaf(a, b):
    global calls
    calls += 1
    os.write(out, b"x")
    return 0
def main():
    global calls
    array, back = (ctypes.c_int * 2)(2, 1), compare(leaf)
    ways = {"qsort": (libc.qsort, (array, 2, 4, back)),
            "bsearch": (libc.bsearch, (array, array, 2, 4, back)),
            "lfind": (libc.lfind, (array, array, array, 4, back))}
    counts = dict.fromkeys(ways, 0)
    for _ in range(200):
        for way, (function, words) in ways.items():
            calls = 0
            function(*words)
            counts[way] += calls
    print(repr(counts))
main()
"""


def check_between(directory, version, python):
    """The C functions between Python frames, which are the same each time."""
    path = os.path.join(directory, "between.py")
    with open(path, "w", encoding="ascii") as file:
        file.write(BETWEEN)
    recording = os.path.join(directory, f"between-{version}")
    done = run("record", "-o", recording, "-r", "bytes-written:1", python,
               path)
    counts = eval(done.stdout.strip().splitlines()[-1])
    exported = path + ".folded"
    text(recording, f"export collapsed {exported}")
    recorded = collections.Counter()
    with open(exported, encoding="utf-8") as file:
        for line in file:
            stack, hits = line.rsplit(" ", 1)
            frames = stack.split(";")
            if "leaf (between.py)" in frames:
                recorded[next((way for way in counts if any(
                    frame.startswith(way) for frame in frames)), "?")] += \
                    int(hits)
    assert min(counts.values()) >= 200, counts
    assert recorded == counts, (recorded, counts)


REPLACED = """
import os
out = os.open("/dev/null", os.O_WRONLY)
template = compile("leaf()", "made.py", "exec")
def leaf():
    os.write(out, b"x")
names = ["first", "second", "third"]
def main():
    words = {"leaf": leaf}
    counts = dict.fromkeys(names, 0)
    last, n_same = 0, 0
    for i in range(600):
        code = None
        code = template.replace(co_name=names[i % 3], co_qualname=names[i % 3])
        n_same += id(code) == last
        last = id(code)
        exec(code, words)
        counts[names[i % 3]] += 1
    print(repr((counts, n_same)))
main()
"""


def check_replaced(directory, version, python):
    """A code object at the address of the one before is another function."""
    path = os.path.join(directory, "replaced.py")
    with open(path, "w", encoding="ascii") as file:
        file.write(REPLACED)
    recording = os.path.join(directory, f"replaced-{version}")
    done = run("record", "-o", recording, "-r", "bytes-written:1", python,
               path)
    counts, n_same = eval(done.stdout.strip().splitlines()[-1])
    rows = {row["path"][0]: row["hits"] for row in table(
        recording, "threshold 0", "functions")["rows"]}
    found = {name: rows.get(f"{name} (made.py)") for name in counts}
    assert n_same > 300, n_same
    assert found == counts, (found, counts)


WAITS = """
import threading, time
def here(): time.sleep(0.3)
def there(): time.sleep(0.6)
def both():
    for _ in range(2):
        for wait in here, there: wait()
both()
"""


def check_waits(directory, version, python):
    """Waits at one native place belong to the Python function that waits."""
    path = os.path.join(directory, "waits.py")
    with open(path, "w", encoding="ascii") as file:
        file.write(WAITS)
    recording = record(directory, f"waits-{version}", python, [path],
                       "-r", "real:1ms")
    rows = {row["path"][0]: row["hits"] for row in table(
        recording, "threshold 0", "functions")["rows"]}
    here, there = rows["here (waits.py)"], rows["there (waits.py)"]
    # Sleeps end late, never early.
    assert here >= 590 and there >= 1190, rows
    assert rows["both (waits.py)"] <= rows["<module> (waits.py)"]


# A frame whose code object is nowhere while samples are taken, as one may seem
# to be that the interpreter is about to begin.
NOWHERE = """
import ctypes, os, sys
out = os.open("/dev/null", os.O_WRONLY)
def word(at):
    return ctypes.c_uint64.from_address(at)
def leaf():
    frame = word(id(sys._getframe(1)) + 24).value
    code = word(frame + (32 if sys.version_info < (3, 12) else 0))
    before = code.value
    for value in 8, 0x18, 0xff8, 0x1000, 1 << 46, 1 << 63, (1 << 64) - 8:
        code.value = value
        os.write(out, b"x")
    code.value = before
def caller():
    leaf()
for _ in range(100):
    caller()
print("ends")
"""


def check_nowhere(directory, version, python):
    """What leads nowhere is not followed, from the first sample on."""
    path = os.path.join(directory, "nowhere.py")
    with open(path, "w", encoding="ascii") as file:
        file.write(NOWHERE)
    done = run("record", "-o", os.path.join(directory, f"nowhere-{version}"),
               "-r", "bytes-written:1", python, path, status=None)
    assert (done.returncode, done.stdout) == (0, "ends\n"), done


def sections(path):
    """The places and sizes in an ELF file of its sections, by name."""
    with open(path, "rb") as file:
        image = file.read()
    offset = struct.unpack_from("<Q", image, 40)[0]
    _, n, names = struct.unpack_from("<3H", image, 58)
    table = [struct.unpack_from("<2I4Q", image, offset + 64 * i)
             for i in range(n)]
    return {image[at:image.index(b"\0", at)].decode(): entry[4:]
            for entry in table for at in [table[names][4] + entry[0]]}


RUNS = """
def leaf(n):
    for i in range(n): i * i + 1
leaf(3000000)
print("ends")
"""


NAMES = (b"_PyRuntime", b"PyCode_Type", b"Py_Version",
         b"_PyEval_EvalFrameDefault")


def hide_names(image, places):
    """Takes the names by which an interpreter is found out of a file's symbols,
    as in a program that is linked with it and stripped; and the index of unwind
    tables, which a static one lacks, out of its sections."""
    for name, section in [(name, ".dynstr") for name in NAMES] + [
            (b".eh_frame_hdr", ".shstrtab")]:
        at, size = places[section]
        found = image.index(b"\0" + name + b"\0", at, at + size)
        image[found + 1:found + 2] = b"-"


def changed(directory, python, change, is_nameless=False):
    """How to run a copy of an interpreter whose _PyRuntime begins otherwise: its
    words, of which the caller changes some; None if it is not in that file."""
    prefix, executable, *mapped = subprocess.run(
        [python, "-c", "import sys; print(sys.prefix, sys.executable, "
         "open('/proc/self/maps').read(), sep='\\n')"],
        capture_output=True, text=True, check=True).stdout.splitlines()
    executable = os.path.realpath(executable)
    path = next((line.split()[-1] for line in mapped if "/libpython" in line),
                executable)
    at, size = sections(path).get(".PyRuntime", (0, 0))
    if size < 752:
        return None
    with open(path, "rb") as file:
        image = bytearray(file.read())
    words = list(struct.unpack_from("<94Q", image, at))
    if words[0] != int.from_bytes(b"xdebugpy", "little"):
        return None
    change(words)
    struct.pack_into("<94Q", image, at, *words)
    if is_nameless:
        hide_names(image, sections(path))
    copy = os.path.join(directory, os.path.basename(path))
    with open(copy, "wb") as file:
        file.write(image)
    os.chmod(copy, 0o755)
    environment = {"PYTHONHOME": prefix}
    if path == executable:
        return copy, environment
    return executable, {**environment, "LD_LIBRARY_PATH": directory}


MISSING = "Python functions are missing in 1 process"


def run_changed(directory, version, python, change, is_nameless=False):
    """How often the recording of a changed interpreter, which runs as before, has
    the note, and whether it has a Python function."""
    with tempfile.TemporaryDirectory(dir=directory) as place:
        found = changed(place, python, change, is_nameless)
        path = os.path.join(place, "runs.py")
        with open(path, "w", encoding="ascii") as file:
            file.write(RUNS)
        recording = os.path.join(place, f"changed-{version}")
        done = subprocess.run(
            [CPPROF, "record", "--no-prompt", "-o", recording, found[0], path],
            env={**os.environ, **found[1]}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "ends\n"), done
        names = {row["path"][-1] for row in table(
            recording, "threshold 0", "functions")["rows"]}
        if "leaf (runs.py)" in names:
            names = {row["path"][-1] for row in table(
                recording, "threshold 0", "down |leaf (runs.py)|")["rows"]}
        return done.stderr.count(MISSING), "leaf (runs.py)" in names, names


VERSION, FREE_THREADED, TABLE_WORDS = 1, 2, 72


def check_unknown(directory, version, python):
    """A version that is not known is told once, and has native frames."""
    def next_version(words):
        words[VERSION] = 0x031000f0

    def free_threaded(words):
        words[FREE_THREADED] = 1

    for change in next_version, free_threaded:
        result = run_changed(directory, version, python, change)
        assert result[:2] == (1, False), (change.__name__, result)
        assert "PyEval_EvalCode" in result[2], result
    assert run_changed(directory, version, python, unchanged)[:2] == (0, True)


def check_hostile(directory, version, python):
    """Whatever the offsets are, the program runs as without cpprof."""
    random = Random(version)
    odd = (0, 1, 7, 8, 80, 4096, 65528, 1 << 20, 1 << 32, (1 << 64) - 8)
    told = 0
    for _ in range(rounds(12)):
        words = {random.randrange(3, TABLE_WORDS): random.choice(odd)
                 for _ in range(random.choice((1, 1, 3)))}

        def put(table_words, words=words):
            for i, value in words.items():
                table_words[i] = value

        told += run_changed(directory, version, python, put)[0]
    print(f"# {version}: {told} of {rounds(12)} tables were refused")


def unchanged(_words):
    pass


def check_nameless(directory, version, python):
    """A program that is linked with the interpreter and stripped has no symbol of
    it: its section and what it runs show where it is."""
    missing, found, names = run_changed(directory, version, python, unchanged,
                                        True)
    assert (missing, found) == (0, True), names
    # Its functions have no names, and are left out all the same.
    file = os.path.basename(os.path.realpath(python))
    others = [name for name in names if name.startswith(file + "+0x")]
    assert not others, others


def check_changed(directory, version, python):
    with tempfile.TemporaryDirectory(dir=directory) as place:
        found = changed(place, python, unchanged)
        if found is None:
            claims.skip(f"{version}: tables of offsets that are changed",
                        "its file has none")
            return
    claims.attempt(f"{version}: a version that is not known is told once",
                   check_unknown, directory, version, python)
    claims.attempt(f"{version}: offsets that cannot be right do no harm",
                   check_hostile, directory, version, python)
    # A library finds its own functions by their names.
    if "LD_LIBRARY_PATH" not in found[1]:
        claims.attempt(f"{version}: an interpreter without symbols is found",
                       check_nameless, directory, version, python)


def main():
    found = interpreters()
    with tempfile.TemporaryDirectory() as directory:
        for version, python in found.items():
            claims.attempt(
                f"{version}: stacks are those that the program sees",
                check_stacks, directory, version, python)
            claims.attempt(
                f"{version}: functions of one name are told apart",
                check_names, directory, version, python)
            claims.attempt(
                f"{version}: C functions between them are those that called",
                check_between, directory, version, python)
            claims.attempt(
                f"{version}: code objects that replace others have their names",
                check_replaced, directory, version, python)
            claims.attempt(
                f"{version}: waits belong to the function that waits",
                check_waits, directory, version, python)
            claims.attempt(
                f"{version}: what leads nowhere is not followed",
                check_nowhere, directory, version, python)
            check_changed(directory, version, python)
    if not found:
        claims.skip("Python functions", "no CPython from 3.11 on")
    for minor in 14, 15:
        if not any(version.startswith(f"3.{minor}.") for version in found):
            claims.skip(f"3.{minor}: Python functions", f"no python3.{minor} "
                        "in PATH or CPPROF_PYTHONS (tests/python-root.sh)")
    claims.end()


if __name__ == "__main__":
    main()
