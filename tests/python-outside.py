#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""python-outside.py -- Python frames of processes that are sampled from outside.

The programs are those of python.py, with each interpreter that is found there.
They are their own witnesses: tests/programs/pytouch.py touches a fresh page
where it notes its own stack, and minor-faults finds each of them.  A sample
whose frames could not be read in time has none, and is counted; how many these
are depends on the machine and decides nothing.  Speaks TAP.
"""
import collections
import contextlib
import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from claims import Claims, rounds  # noqa: E402
from cpprof import CPPROF, has_recorded, run, table, text  # noqa: E402

python = importlib.import_module("python")
claims = Claims()
LIBRARY = os.path.join(os.path.abspath(os.environ.get("builddir", "build")),
                       ".libs", "libcpprof.so.0")
PATIENCE = 120
UNREAD = ("samples without their Python frames", "hits dropped",
          "stacks incomplete")
WAIT = """
import os, sys
def wait_until(path):
    while not os.path.exists(path): sum(range(1000))
wait_until(os.path.join(sys.argv[1], "go"))
del sys.argv[1]
"""
# Instead of writing a byte, touches a page.
TOUCH = """
import itertools, mmap, time
memory = mmap.mmap(-1, mmap.PAGESIZE << 14)
offsets = itertools.count(0, mmap.PAGESIZE)
def touch():
    end = time.perf_counter() + 0.0006
    while time.perf_counter() < end: pass
    memory[next(offsets)] = 1
"""


def why_not():
    """Why nothing can be sampled from outside here, or ''."""
    with tempfile.TemporaryDirectory() as directory:
        done = run("record", "--no-prompt", "--for", "0.01s", "-o",
                   os.path.join(directory, "r"), "-r", "cpu", "-r",
                   "minor-faults:1", "-p", str(os.getpid()), status=None)
    return "" if has_recorded(done) else \
        done.stderr.strip().splitlines()[-1]


def record_inside(recording, words, *options):
    """What a program and the recorder print."""
    done = run("record", "--no-prompt", *(options or ("-r", "cpu")), "-o",
               recording, "--", *words, timeout=600)
    return done.stdout, done.stderr


def record_running(recording, words):
    """The same of a program that runs already.  It does the same all the time, so
    its beginning may be missed."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as program:
        done = run("record", "--no-prompt", "-r", "cpu", "-F", "1000", "-o",
                   recording, "-p", str(program.pid), timeout=600)
        return program.communicate()[0], done.stderr


def check_both(claims_of, found, check, inside=record_inside,
               outside=record_running):
    """Checks interpreters, by version, inside, where there is a collector, and
    outside, each with a function that records."""
    why = why_not() if found else ""
    for version, path in found.items():
        if os.path.exists(LIBRARY):
            check(claims_of, version, "inside", inside, path)
        if why:
            claims_of.skip(f"{version}, outside", why)
        else:
            check(claims_of, version, "outside", outside, path)


def files(recording):
    return [name for name in os.listdir(recording)
            if name.startswith("cpprofdata.")] if os.path.isdir(recording) \
        else []


@contextlib.contextmanager
def recorder(recording, *options):
    """A recorder that has begun; it is stopped if it does not end."""
    process = subprocess.Popen(
        [CPPROF, "record", "--no-prompt", "-o", recording, *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + PATIENCE
        while not files(recording):
            assert time.monotonic() < until and process.poll() is None, \
                process.communicate()
            time.sleep(0.02)
        yield process
    finally:
        if process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        if not process.stderr.closed:
            process.communicate()


def record(directory, name, words, *options):
    """A recording of a program from the moment on in which it begins, and what
    the program printed.  The program waits for a file."""
    recording = os.path.join(directory, name)
    place = os.path.join(directory, name + ".d")
    os.mkdir(place)
    words = [place if word == "DIRECTORY" else word for word in words]
    with subprocess.Popen(words, stdout=subprocess.PIPE,
                          text=True) as program:
        try:
            with recorder(recording, "-p", str(program.pid), *options):
                with open(os.path.join(place, "go"), "w", encoding="ascii"):
                    pass
                output = program.communicate(timeout=600)[0]
        finally:
            program.kill()
    assert program.returncode == 0, program.returncode
    return recording, output


def script(directory, name, *parts):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(parts))
    return path


def unread(recording):
    """How many samples lack Python frames, or are missing, as cpprof tells."""
    return sum(int(line.rsplit(":", 1)[1].replace(",", ""))
               for line in text(recording, "info").splitlines()
               if line.startswith(UNREAD))


def whole_stacks(recording, path, *settings):
    """Names of the frames of whole stacks of minor-faults, with their hits."""
    text(recording, "resource minor-faults", *settings,
         f"export collapsed {path}")
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, hits = line.rsplit(" ", 1)
            if not stack.startswith("[partial]"):
                yield stack.split(";"), int(hits)


def recorded_stacks(recording, path):
    """Python frames of the stacks that end in leaf, with their hits: of whole
    stacks, and of those without their outer part."""
    exported = path + ".folded"
    text(recording, "resource minor-faults", "granularity callsite",
         f"export collapsed {exported}")
    whole, partial = collections.Counter(), collections.Counter()
    with open(exported, encoding="utf-8") as file:
        for line in file:
            stack, hits = line.rsplit(" ", 1)
            frames = [(match[1], int(match[4] or 0)) for match in
                      map(python.NAMED.match, stack.split(";"))
                      if match and (".py" in match[2] or "<" in match[2])]
            if frames and frames[-1][0] == "leaf":
                kind = partial if stack.startswith("[partial]") else whole
                kind[tuple(frames)] += int(hits)
    return whole, partial


FAULTS = ("-r", "cpu", "-r", "minor-faults:1")


def check_stacks(directory, version, interpreter):
    notes = os.path.join(directory, "notes-" + version)
    recording, _ = record(
        directory, f"stacks-{version}",
        [interpreter, os.path.join(HERE, "programs", "pytouch.py"),
         "DIRECTORY", version, str(rounds(60)), notes], *FAULTS)
    whole, partial = recorded_stacks(recording, notes)
    noted = python.noted_stacks(notes)
    assert sum(noted.values()) > 500, sum(noted.values())
    wrong = [(stack, n) for stack, n in whole.items()
             if not any(stack[:-1] == other[:-1] for other in noted)]
    wrong += [(stack, n) for stack, n in partial.items()
              if not any(stack[:-1] == other[-len(stack):-1]
                         for other in noted)]
    assert not wrong, (f"{len(wrong)} of {len(whole)} stacks are wrong",
                       wrong[:3])
    assert whole, "no stack has frames"
    missing = sum(max(0, n - whole[stack]) for stack, n in noted.items()) - \
        sum(partial.values())
    # Pages of the interpreter's own memory may be touched first here, too: 13 of
    # 740 in 3.13.
    more = sum(max(0, n - noted[stack]) for stack, n in whole.items())
    assert missing <= unread(recording), (missing, unread(recording))
    assert more <= 5 + sum(noted.values()) / 25, (more, noted.total())
    print(f"# {version}: {noted.total()} stacks, {missing} without frames, "
          f"{unread(recording)} of all samples")


def touching(source):
    """A program of python.py that touches pages instead of writing bytes."""
    lines = [line for line in source.splitlines(True)
             if not line.startswith("out = ")]
    return TOUCH + "".join(lines).replace('os.write(out, b"x")', "touch()")


def check_between(directory, version, interpreter):
    """The C functions between Python frames."""
    path = script(directory, "between.py", WAIT, touching(python.BETWEEN))
    recording, output = record(directory, f"between-{version}",
                               [interpreter, path, "DIRECTORY"], *FAULTS)
    counts = eval(output.strip().splitlines()[-1])
    recorded = collections.Counter()
    for frames, hits in whole_stacks(recording, path + ".folded"):
        if "touch (between.py)" not in frames:
            continue
        between = frames[frames.index("main (between.py)"):
                         frames.index("leaf (between.py)")]
        recorded[next((way for way in counts if any(
            frame.startswith(way) for frame in between)), "?")] += hits
    assert min(counts.values()) >= 200, counts
    assert recorded["?"] == 0, recorded
    missing = sum(counts.values()) - sum(recorded.values())
    assert missing <= unread(recording), (recorded, counts)
    assert all(recorded[way] <= n + 5 for way, n in counts.items()), (
        recorded, counts)


def check_replaced(directory, version, interpreter):
    """A code object at the address of the one before is another function."""
    path = script(directory, "replaced.py", WAIT, touching(python.REPLACED))
    recording, output = record(directory, f"replaced-{version}",
                               [interpreter, path, "DIRECTORY"], *FAULTS)
    counts, n_same = eval(output.strip().splitlines()[-1])
    recorded = collections.Counter()
    for frames, hits in whole_stacks(recording, path + ".folded"):
        if "touch (replaced.py)" in frames:
            recorded[next((name for name in counts if f"{name} (made.py)" in
                           frames), "?")] += hits
    assert n_same > 300, n_same
    assert recorded["?"] == 0, recorded
    for name, n in counts.items():
        assert n - unread(recording) <= recorded[name] <= n + 5, (
            recorded, counts, unread(recording))


THREADS = """
import threading
def one(n):
    for i in range(n): i * i + 1
def two(n):
    for i in range(n): sorted((3, 1, 2), key=key)
def key(x): return -x
def main():
    threads = [threading.Thread(target=run, args=(n,), name=run.__name__)
               for run, n in ((one, 12000000), (two, 1200000))]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    os.execv(sys.executable, [sys.executable, sys.argv[2], sys.argv[1]])
main()
"""
AFTER = """
import os, sys
def in_child():
    for i in range(int(sys.argv[1])): i * i + 1
def after():
    if os.fork() == 0:
        in_child()
        os._exit(0)
    os.wait()
    for i in range(int(sys.argv[1])): i * i + 1
after()
"""


def check_processes(directory, version, interpreter):
    """Threads, a program that is executed, and its child."""
    after = script(directory, "after.py", AFTER)
    path = script(directory, "threads.py", WAIT, THREADS)
    recording, _ = record(
        directory, f"threads-{version}",
        [interpreter, path, "DIRECTORY", str(rounds(8000000)), after],
        "-r", "cpu")
    rows = {row["path"][0]: row["hits"] for row in table(
        recording, "threshold 0", "functions")["rows"]}
    names = ["one (threads.py)", "two (threads.py)", "key (threads.py)",
             "after (after.py)", "in_child (after.py)"]
    assert all(rows.get(name, 0) > 0 for name in names), (
        {name: rows.get(name) for name in names}, unread(recording))
    stacks = os.path.join(directory, "threads.folded")
    text(recording, f"export collapsed {stacks}")
    with open(stacks, encoding="utf-8") as file:
        for line in file:
            frames = line.rsplit(" ", 1)[0].split(";")
            functions = {name for name in names if name in frames}
            # No stack has frames of two threads, or of two programs.
            assert functions in (
                set(), {names[0]}, {names[1]}, {names[1], names[2]},
                {names[3]}, {names[3], names[4]}), line


RUNS = """
def leaf(n):
    for i in range(n): i * i + 1
while not os.path.exists(os.path.join(sys.argv[1], "go")): leaf(3000)
for _ in range(int(sys.argv[2])): leaf(300000)
"""


def run_changed(directory, interpreter, change, is_nameless):
    """What python.run_changed returns, of a process that runs already."""
    with tempfile.TemporaryDirectory(dir=directory) as place:
        found = python.changed(place, interpreter, change, is_nameless)
        path = script(place, "runs.py", "import os, sys\n", RUNS)
        recording = os.path.join(place, "recording")
        with subprocess.Popen([found[0], path, place, str(rounds(20))],
                              env={**os.environ, **found[1]}) as program:
            try:
                with recorder(recording, "-p", str(program.pid), "-r",
                              "cpu") as process:
                    script(place, "go")
                    program.wait(PATIENCE)
                    said = process.communicate(timeout=PATIENCE)[1]
            finally:
                program.kill()
        assert program.returncode == 0, program.returncode
        names = {row["path"][0] for row in table(
            recording, "threshold 0", "functions")["rows"]}
        return said.count(python.MISSING), "leaf (runs.py)" in names, names


def check_unknown(directory, _version, interpreter):
    def next_version(words):
        words[python.VERSION] = 0x031000f0

    result = run_changed(directory, interpreter, next_version, False)
    assert result[:2] == (1, False), result
    assert "PyEval_EvalCode" in result[2], result


def check_nameless(directory, _version, interpreter):
    result = run_changed(directory, interpreter, python.unchanged, True)
    assert result[:2] == (0, True), result


def check_changed(directory, version, interpreter):
    """Interpreters of an unknown version, and without symbols."""
    with tempfile.TemporaryDirectory(dir=directory) as place:
        found = python.changed(place, interpreter, python.unchanged)
    if found is None:
        claims.skip(f"{version}: tables of offsets that are changed",
                    "its file has none")
        return
    claims.attempt(f"{version}: a version that is not known is told once",
                   check_unknown, directory, version, interpreter)
    # A library finds its own functions by their names.
    if "LD_LIBRARY_PATH" not in found[1]:
        claims.attempt(f"{version}: an interpreter without symbols is found",
                       check_nameless, directory, version, interpreter)


def main():
    found = python.interpreters()
    checks = (
        ("stacks are those that the program sees", check_stacks),
        ("C functions between them are those that called", check_between),
        ("code objects that replace others have their names",
         check_replaced),
        ("threads, programs and children have their own", check_processes))
    why = why_not() or ("" if found else "no CPython from 3.11 on")
    if why:
        claims.skip("Python functions from outside", why)
    with tempfile.TemporaryDirectory() as directory:
        for version, interpreter in found.items() if not why else ():
            for claim, check in checks:
                claims.attempt(f"{version}: {claim}", check, directory,
                               version, interpreter)
            check_changed(directory, version, interpreter)
    claims.end()


if __name__ == "__main__":
    main()
