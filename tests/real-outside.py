# SPDX-License-Identifier: GPL-3.0-or-later
"""real-outside.py -- real time and system calls, sampled from outside.

tests/programs/sleeper.c measures by its own clock how long its threads are in
each of its parts, most of which wait.  A recording with -r real must have the
same times: of a program that runs already, all of whose threads wait when the
recording begins, and of a static one from its start; with one thread and with
more than there are processors; of waits that go on when the recording ends, and
when its recorder is killed.  A user who may not sample the kernel has less: some
time has no place.  Speaks TAP.
"""
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cpprof
from claims import Claims

BUILD = os.path.abspath(os.environ.get("builddir", "build"))
SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
SLEEPER = os.path.join(BUILD, "tests", "programs", "sleeper")
NOBODY = 65534
PATIENCE = 120
INTERVAL = .004         # seconds of a hit
WORST = 5               # standard errors
# What differs beside sampling: the clock is read in each part, and a thread
# that is to run waits for a processor after it was woken.
SLACK = .02

claims = Claims()


def offers(pid, **options):
    rows = json.loads(cpprof.run("-q", "-F", "json", "-e",
                                 f"record --list -p {pid}", **options).stdout)
    return {row["name"]: row for row in rows["rows"]}


def start(*words, program=SLEEPER, **options):
    return subprocess.Popen([program, *map(str, words)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True, **options)


def record(path, *words, resource="real", **options):
    return subprocess.Popen(
        [cpprof.CPPROF, "record", "--no-prompt", "--force", "-r", resource,
         "-o", path, *map(str, words)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def times(output):
    """Seconds of each part, as the program measures them."""
    rows = dict(line.split() for line in output.splitlines())
    return {name: int(ns) / 1e9 for name, ns in rows.items()
            if name.startswith("part_") and int(ns) > 0}


def hits(path):
    """Hits of each function with its descendants."""
    rows = cpprof.table(path, "threshold 0", "functions 1000")["rows"]
    return {row["path"][0]: row["hits"] for row in rows}


def await_samples(path, n):
    """Until a recording has samples: its beginning."""
    until = time.monotonic() + PATIENCE
    while True:
        assert time.monotonic() < until, "no samples"
        if os.path.isdir(path) and any(
                name.startswith("cpprofdata.") for name in os.listdir(path)):
            done = cpprof.ask(path, "info", options=("-F", "json"),
                              status=None)
            if done.returncode == 0 and \
                    json.loads(done.stdout)["samples"] >= n:
                return
        time.sleep(.02)


def differences(found, wanted, slack=SLACK):
    """Parts whose time is not what the program measured.  Each wait is rounded
    to whole hits at random, by up to one."""
    wrong = []
    for name, seconds in wanted.items():
        n = seconds / INTERVAL
        error = WORST * math.sqrt(n) + slack * n + 1
        if abs(found.get(name, 0) - n) > error:
            wrong.append(f"{name}: {found.get(name, 0)} hits, truth {n:.1f}, "
                         f"allowed {error:.1f}")
    return wrong


def gaps(found, wanted):
    """Parts that have more time than the program measured, or less, though all
    that has no place is added.  Each look stands for up to 15 ms."""
    wrong = []
    nowhere = found.get("[partial]", 0) * INTERVAL
    for name, seconds in wanted.items():
        seen = found.get(name, 0) * INTERVAL
        error = WORST * math.sqrt(seconds * .015) + SLACK * seconds
        if not seconds - error - nowhere < seen < seconds + error:
            wrong.append(f"{name}: {seen:.3f} s and {nowhere:.3f} s nowhere, "
                         f"truth {seconds:.3f}, allowed {error:.3f}")
    return wrong


def check_attached(directory, how, n, has_looks, **options):
    """Of threads that wait when the recording begins."""
    path = os.path.join(directory, "attached")
    shutil.rmtree(path, ignore_errors=True)
    with start(1500, n, **options) as program:
        time.sleep(.2)          # so that all threads have begun to wait
        with record(path, "-p", program.pid) as recorder:
            await_samples(path, 2 * n)
            before = time.monotonic()
            output = program.communicate("\n")[0]
            after = time.monotonic()
            said = recorder.communicate(timeout=PATIENCE)[1]
    found = hits(path)
    claims.check(f"{how}: both end in order", program.returncode == 0 and
                 recorder.returncode == 0, said)
    claims.make(f"{how}: real time is what the program measures",
                (gaps if has_looks else differences)(found, times(output)))
    # From the beginning of the recording, which was before the program's work.
    claims.check(f"{how}: who waited before has its waits from the beginning",
                 found.get("part_always", 0) * INTERVAL >
                 .95 * (after - before) and
                 found.get("part_gate", 0) >= n, (after - before, found))
    whole = found["part_always"]
    names = [*times(output), "part_gate", *(["[partial]"] * has_looks)]
    claims.check(f"{how}: all threads have the same time",
                 abs(sum(found.get(name, 0) for name in names) - n * whole) <
                 WORST * math.sqrt(n * whole) + .04 * n * whole,
                 (whole, found))
    if not has_looks:
        return
    claims.check(f"{how}: most of what waits for long has its place",
                 found.get("part_long", 0) > found.get("part_poll", 0) and
                 found["part_always"] > .95 * found.get("main", 0), found)
    claims.check(f"{how}: what has no place is told, with what allows more",
                 found.get("[partial]", 0) < 10 or
                 "perf_event_paranoid" in said, said)


def static_program(directory):
    """The same program without a loader; None: it cannot be built."""
    path = os.path.join(directory, "sleeper-static")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    built = subprocess.run(
        [compiler, "-O2", "-g", "-static", "-pthread", "-D_GNU_SOURCE", "-o",
         path, os.path.join(SOURCE, "tests/programs/sleeper.c")],
        capture_output=True, check=False)
    return path if built.returncode == 0 else None


def check_static(directory):
    claim = "a static program from its start: real time is what it measures"
    static = static_program(directory)
    if static is None:
        claims.skip(claim, "no static libc")
        return
    path = os.path.join(directory, "static")
    for n in 1, 3 * os.cpu_count():
        with record(path, static, 1500, n) as recorder:
            output, said = recorder.communicate(timeout=PATIENCE)
        found = hits(path)
        claims.make(f"{claim} (threads: {n})",
                    ([said] if recorder.returncode != 0 else []) +
                    differences(found, times(output)))
        claims.check(f"and what waits to its end is counted (threads: {n})",
                     abs(found.get("part_always", 0) * INTERVAL - 1.5) < .2,
                     found)


def check_pairs(directory):
    """Threads that do nothing but wake each other, more often than can be
    recorded on some machines."""
    path = os.path.join(directory, "pairs")
    interval = .0005
    with start(1500, "pairs", 1) as program, \
            record(path, "-p", program.pid, resource="real:500us") as recorder:
        await_samples(path, 2)
        output = program.communicate("\n")[0]
        said = recorder.communicate(timeout=PATIENCE)[1]
    found = hits(path)
    wanted = times(output)
    seen = {name: found.get(name, 0) * interval for name in wanted}
    nowhere = found.get("[partial]", 0) * interval
    n = int(output.split()[-1])
    error = WORST * math.sqrt(1.5 * interval) + .05
    claims.check(f"{n} waits in 1.5 s: none counts twice, and what is lost "
                 f"has no stack",
                 recorder.returncode == 0 and
                 len(seen) == 2 and all(
                     wanted[name] - nowhere - error < seen[name] <
                     wanted[name] + error for name in seen) and
                 abs(sum(seen.values()) + nowhere - sum(wanted.values())) <
                 2 * error, (said, seen, nowhere, wanted, error))


def check_ends(directory):
    """Waits that go on are in the recording, whoever ends it, and how."""
    path = os.path.join(directory, "ends")
    with start(100, 4) as program:
        time.sleep(.2)
        with record(path, "--for", "1s", "-p", program.pid) as recorder:
            said = recorder.communicate(timeout=PATIENCE)[1]
        found = hits(path)
        claims.check("waits that go on when --for is over are counted",
                     recorder.returncode == 0 and
                     abs(found.get("part_always", 0) * INTERVAL - 1) < .2 and
                     abs(found.get("part_gate", 0) * INTERVAL - 4) < .8,
                     (said, found))
        path = os.path.join(directory, "killed")
        begin = time.monotonic()
        with record(path, "-p", program.pid) as recorder:
            await_samples(path, 3 * 6)
            recorder.send_signal(signal.SIGKILL)
            recorder.communicate(timeout=PATIENCE)
        passed = time.monotonic() - begin
        found = hits(path)
        claims.check("and when the recorder is killed, those until then",
                     0 < found.get("part_always", 0) * INTERVAL < passed and
                     program.poll() is None, (passed, found))
        program.kill()


def check_python(directory, how, python, **options):
    """Records are delivered later where Python is seen."""
    claim = f"{how}: waits of a Python program count"
    if python is None:
        claims.skip(claim, "no Python in /usr/bin")
        return
    path = os.path.join(directory, "python")
    with start("-c", "import time; print(flush=True); time.sleep(60)",
               program=python, **options) as program:
        program.stdout.readline()
        with record(path, "-p", program.pid, "--for", "2s",
                    **options) as recorder:
            said = recorder.communicate(timeout=PATIENCE)[1]
        program.kill()
    waited = max(hits(path).values(), default=0) * INTERVAL
    claims.check(claim, 1.5 < waited < 2.2, (waited, said))


def check_rights(directory):
    with start(100, 1) as program:
        rows = offers(program.pid)
        claims.check("record --list -p says what can be had outside",
                     "from outside" in rows["real"]["source"] and
                     rows["alloc-bytes"]["source"] == "not here", rows)
        claims.check("and of syscalls, or what they need",
                     "raw_syscalls" in rows["syscalls"]["source"] or
                     "tracefs" in rows["syscalls"]["why"], rows["syscalls"])
        program.kill()
    with record(os.path.join(directory, "machine"), "-a") as recorder:
        said = recorder.communicate(timeout=PATIENCE)[1]
        claims.check("-a with -r real is refused, and says what to do",
                     recorder.returncode != 0 and "-p" in said, said)
    claim = "an ordinary user"
    if os.geteuid() != 0:
        claims.skip(claim, "only root becomes another")
        return
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)
        copies = [shutil.copy(program, shared)
                  for program in (cpprof.CPPROF, SLEEPER)]
        cpprof.CPPROF, root = copies[0], cpprof.CPPROF
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        with start(100, 1, program=copies[1], **user) as program:
            real = offers(program.pid, **user)["real"]
            program.kill()
        if real["source"] == "not here":
            claims.check(f"{claim}: real is refused with what allows it",
                         "perf_event_paranoid" in real["why"], real)
        for n in (1, 3 * os.cpu_count()) * (real["source"] != "not here"):
            check_attached(shared, f"{claim}, threads: {n}", n,
                           "looks" in real["source"], program=copies[1],
                           **user)
        if real["source"] != "not here":
            check_python(shared, claim, shutil.which(
                "python3", path="/usr/bin:/bin"), **user)
        cpprof.CPPROF = root


def check_syscalls(directory):
    """As many as a program says that it makes."""
    claim = "syscalls: as many as were made, where they were made"
    n = 300000
    interval = 1000         # so that none is lost
    with subprocess.Popen(
            [sys.executable, "-c", "import os\ninput()\n"
             f"for i in range({n}):\n    os.getppid()\n"],
            stdin=subprocess.PIPE, text=True) as program:
        why = offers(program.pid)["syscalls"]["why"]
        if why:
            claims.skip(claim, why)
            program.kill()
            return
        path = os.path.join(directory, "syscalls")
        with record(path, "-r", f"syscalls:{interval}", "-p",
                    program.pid) as recorder:
            await_samples(path, 1)
            program.communicate("\n")
            said = recorder.communicate(timeout=PATIENCE)[1]
    rows = cpprof.table(path, "resource syscalls", "threshold 0",
                        "functions 1000")
    found = {row["path"][0]: row["hits"] for row in rows["rows"]}
    claims.check(claim, recorder.returncode == 0 and
                 abs(found.get("getppid", 0) - n / interval) <
                 .05 * n / interval and
                 rows["total"] < 1.05 * n / interval, (said, found))


BURST = """
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *call(void *n)
{
	for (long i = 0; i < (long)n; i++)
		syscall(SYS_getppid);
	return NULL;
}
int main(void)
{
	pthread_t thread;
	char go = 0;
	if (read(0, &go, 1) < 0)
		return 1;
	call((void *)30000);
	pthread_create(&thread, NULL, call, (void *)10000);
	pthread_join(thread, NULL);
	/* Records that are smaller than samples fill a buffer to the end. */
	for (int i = 0; go == 'x' && i < 100; i++)
		munmap(mmap(NULL, 1, PROT_EXEC, MAP_ANONYMOUS | MAP_PRIVATE,
		    -1, 0), 1);
	return 0;
}
"""


def counted(path):
    """Hits, and those that are said to be lost, of the burst."""
    info = cpprof.table(path, "info")
    return info["rows"][0]["hits"] + info["dropped"]


def end_unseen(recorder):
    """Lets the burst run and end while its recorder is stopped."""
    def state(path):
        with open(path, encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]

    end = time.monotonic() + PATIENCE
    children = f"/proc/{recorder.pid}/task/{recorder.pid}/children"
    while time.monotonic() < end:
        time.sleep(.02)
        with open(children, encoding="utf-8") as file:
            pid = file.read().strip()
        if pid and os.readlink(f"/proc/{pid}/exe").endswith("/burst") and \
                state(f"/proc/{pid}/stat") == "S":
            break
    os.kill(recorder.pid, signal.SIGSTOP)
    recorder.stdin.write("x")
    recorder.stdin.close()
    while time.monotonic() < end and state(f"/proc/{pid}/stat") != "Z":
        time.sleep(.02)
    os.kill(recorder.pid, signal.SIGCONT)
    recorder.wait(timeout=PATIENCE)


def check_burst(directory):
    """A program ends while its last records come from several processors."""
    claim = "what a short program did last is sampled, or counted as lost"
    unseen = "and what filled the buffers, though no record follows"
    program = os.path.join(directory, "burst")
    built = subprocess.run(
        ["cc", "-static", "-pthread", "-o", program, "-x", "c", "-"],
        input=BURST, text=True, capture_output=True, check=False)
    if built.returncode != 0:
        claims.skip(claim, "no static libc")
        claims.skip(unseen, "no static libc")
        return
    path = os.path.join(directory, "bursts")
    words = ("record", "--no-prompt", "--force", "-r", "syscalls:100", "-o",
             path, program)
    sums = []
    for _ in range(20):
        done = cpprof.run(*words, status=None, stdin=subprocess.DEVNULL)
        if done.returncode != 0 or "from outside" not in done.stderr:
            claims.skip(claim, done.stderr)
            claims.skip(unseen, done.stderr)
            return
        sums.append(counted(path))
    # Fewer calls than an interval start and end the program.  Those after the
    # last sample of a thread on a processor count together.
    claims.check(claim, all(399 <= found <= 401 for found in sums), sums)
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 0):
        claims.skip(unseen, "this kernel does not count lost records")
        return
    with subprocess.Popen([cpprof.CPPROF, *words], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True,
                          stderr=subprocess.DEVNULL) as recorder:
        end_unseen(recorder)
    # Records that are no samples are among those lost.
    found = counted(path)
    claims.check(unseen, 399 <= found <= 600, found)


def main():
    with start(100, 1) as program:
        real = offers(program.pid)["real"]
        program.kill()
    has_looks = "looks" in real["source"]
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        if real["why"]:
            claims.skip("real time from outside", real["why"])
            claims.end()
            return
        for n in 1, 3 * os.cpu_count():
            check_attached(directory, f"attached, threads: {n}", n, has_looks)
        if has_looks:
            claims.skip("waits with their stacks",
                        "this user may not sample the kernel")
        else:
            check_static(directory)
            check_pairs(directory)
            check_ends(directory)
            check_rights(directory)
            check_syscalls(directory)
            check_burst(directory)
    claims.end()


main()
