# SPDX-License-Identifier: GPL-3.0-or-later
"""names.py -- a recording shows the same after its program is gone.

Programs are recorded, and shown by all views in which names matter.  Then they
are rebuilt or removed, the recording is moved, and shown again.
"""
import glob
import json
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

from claims import Claims, rounds

CPPROF = os.environ.get("CPPROF", "./cpprof")
BUILD = os.environ.get("builddir", ".")
SOURCE = os.path.join(os.environ.get("srcdir", "."), "tests", "programs",
                      "kept.cc")
VIEWS = ["threshold 0", "functions", "down", "up", "tree", "flame", "flat",
         "top",
         "callers main", "callees main"]
for granularity in ("module", "file", "line", "callsite", "address"):
    VIEWS += [f"granularity {granularity}", "functions", "tree"]
VIEWS += ["granularity function", "inlines on", "functions", "down", "tree",
          "granularity callsite", "tree", "granularity line", "functions",
          "inlines off", "functions"]
claims = Claims()
check = claims.check


def views(*profiles, options=(), commands=None):
    """The output of all views, and the messages."""
    words = [CPPROF, "-q", *options]
    for command in commands or VIEWS:
        words += ["-e", command]
    run = subprocess.run([*words, *profiles], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=120)
    return run.stdout, run.stderr


def rows(line):
    """The hits of each function in a view's JSON."""
    return {row["path"][-1]: row["hits"] for row in json.loads(line)["rows"]}


def record(name, *command, options=(), **more):
    return subprocess.run([CPPROF, "record", "-F", "1000", "-o", name,
                           *options, "--", *command],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, **more)


def compile(*options, output="kept"):
    subprocess.run(["c++", "-O2", *options, "-o", output,
                    os.path.abspath(SOURCE)], check=True, timeout=120)


def first_difference(one, other):
    for a, b in zip(one.splitlines(), other.splitlines()):
        if a != b:
            return f"{a}\n{b}"
    return f"{len(one)} and {len(other)} characters"


def same(claim, one, other):
    check(claim, one == other and len(one) > 1000,
          first_difference(one, other))


def check_rebuilt():
    """The views of a recording stay the same, whatever happens to the
    program."""
    record("live", "./kept", "400", options=["--no-symbols"])
    check("--no-symbols keeps no names",
          os.path.getsize("live/names") == 4096)
    live, _ = views("live")
    shutil.copytree("live", "kept.cpprof")
    os.remove("kept.cpprof/names")
    check("all views were shown", live.count("Profile for resource") == 23,
          live.count("Profile for resource"))
    kept, notes = views("kept.cpprof")
    check("a recording without names is named when it is opened",
          os.path.getsize("kept.cpprof/names") > 4096)
    check("one that wants none is not",
          os.path.getsize("live/names") == 4096)
    same("names that are kept are those that are found", live, kept)
    check("and say nothing more", "not the build" not in notes, notes)
    shutil.copy("kept", "whole")
    compile("-O0")
    again, notes = views("kept.cpprof")
    same("a rebuilt program changes nothing", kept, again)
    check("and nothing is said", "kept" not in notes, notes)
    os.remove("kept")
    os.makedirs("far/away")
    shutil.move("kept.cpprof", "far/away/moved")
    again, notes = views("far/away/moved")
    same("nor one that is gone, nor another place", kept, again)
    one, _ = views(*glob.glob("far/away/moved/cpprofdata.*"))
    same("nor a process's file alone", kept, one)
    body, _ = views("far/away/moved", options=["--symfs", "/nowhere"])
    same("nor a symfs without the program", kept, body)
    check_lost()
    shutil.copy("whole", "kept")


def check_lost():
    """Views without kept names after the program has changed."""
    compile("-O0")
    shown, notes = views("live", commands=["threshold 0", "functions"])
    check("another build is one name", "[kept]" in shown and
          "kept+0x" not in shown, shown)
    check("the heading says how much of it",
          "rebuilt since, shown as [PROGRAM]" in shown, shown)
    check("and it is said what to do", notes.count("is not the build") == 1
          and "symfs" in notes and "record" in notes, notes)


def check_killed():
    """A recording whose recorder was killed with the program."""
    recorder = subprocess.Popen(
        [CPPROF, "record", "-F", "1000", "-o", "killed", "--", "./kept",
         "300", "on"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    check("the program runs", recorder.stdout.readline() == b"1\n")
    pid = int(glob.glob("killed/cpprofdata.[0-9]*")[0].rsplit(".", 1)[1])
    views("killed", commands=["functions"])
    check("nothing is kept while the recorder is at work",
          not os.path.exists("killed/names"))
    recorder.kill()
    recorder.wait(timeout=120)
    views("killed", commands=["functions"])
    check("nor while the program goes on",
          not os.path.exists("killed/names"))
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while os.path.exists(f"/proc/{pid}/maps") and time.monotonic() < until \
            and open(f"/proc/{pid}/maps").read():
        time.sleep(0.02)
    os.chmod("killed", 0o777)
    views("killed", commands=["functions"])
    check("nor where others may write", not os.path.exists("killed/names"))
    os.chmod("killed", 0o700)
    before, _ = views("killed")
    check("a recording that was killed is named when it is opened",
          os.path.exists("killed/names"))
    check("for its user alone", stat.S_IMODE(
        os.stat("killed/names").st_mode) == 0o600)
    # These are of the recorder, which had no time to remove them.
    check("and nothing else is left there",
          {*os.listdir("killed")} - {"shared", "kernel"}
          == {f"cpprofdata.{pid}", "names"}, os.listdir("killed"))
    os.rename("kept", "kept.old")
    after, _ = views("killed")
    same("and shows the same without its program", before, after)
    os.rename("kept.old", "kept")


def check_while_it_runs():
    """The program is rebuilt, or removed, before it ends."""
    for name, how in (("rebuilt", "mv other mine"), ("removed", "rm mine")):
        shutil.copy("kept", "mine")
        compile("-O0", output="other")
        run = subprocess.Popen(
            [CPPROF, "record", "-F", "1000", "-o", name, "--", "./mine",
             "500"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while time.monotonic() < until and not glob.glob(f"{name}/cpp*"):
            time.sleep(0.01)
        subprocess.run(["sh", "-c", how], check=True, timeout=120)
        run.wait(60)
        shown, notes = views(name, commands=["threshold 0", "functions"])
        check(f"a program that is {name} while it runs has its names",
              "parts::descend(int)" in shown and "mine" not in shown + notes,
              shown + notes)


def named_ns(directory):
    """When the names of a recording were written."""
    with open(os.path.join(directory, "names"), "rb") as file:
        return struct.unpack_from("<Q", file.read(64), 48)[0]


def last_sample_ns(pattern):
    """The time of the last sample, of one file for each program that a process
    executed."""
    last = 0
    for path in glob.glob(pattern):
        with open(path, "rb") as file:
            last = max(last, struct.unpack_from("<Q", file.read(72), 64)[0])
    return last


def check_left_behind():
    """A process that outlives its recorder is named when it has ended."""
    record("left", "sh", "-c", "./kept 10 on >out 2>&1 & echo $! >pid")
    with open("pid") as file:
        pid = int(file.read())
    file, until = f"left/cpprofdata.{pid}*", time.monotonic() + 30
    while time.monotonic() < until and \
            last_sample_ns(file) <= named_ns("left") + 200000000:
        time.sleep(0.05)
    first = named_ns("left")
    views("left", commands=["functions"])
    check("a recording that goes on keeps the names it has",
          named_ns("left") == first)
    os.kill(pid, signal.SIGKILL)
    while os.path.exists(f"/proc/{pid}/maps") and time.monotonic() < until \
            and open(f"/proc/{pid}/maps").read():
        time.sleep(0.02)
    before, _ = views("left")
    check("once it has ended it gets the others",
          named_ns("left") > last_sample_ns(file) >= first,
          f"{first} {last_sample_ns(file)} {named_ns('left')}")
    os.rename("kept", "kept.old")
    after, notes = views("left")
    os.rename("kept.old", "kept")
    same("and shows the same without its program", before, after)


def check_named_again():
    """Kept names stay when a process has taken more samples since."""
    record("again", "./kept", "100")
    before, _ = views("again")
    first = named_ns("again")
    for path in glob.glob("again/cpprofdata.*"):
        with open(path, "r+b") as file:
            file.seek(64)
            file.write(struct.pack("<Q", first + 1))
    os.rename("kept", "kept.old")
    after, _ = views("again")
    os.rename("kept.old", "kept")
    check("what was sampled later is named", named_ns("again") > first)
    same("and what has names keeps them without its program", before, after)


def check_other_build():
    """Naming late takes no names from a program that was rebuilt."""
    record("old", "./kept", "100")
    os.remove("old/names")
    os.rename("kept", "kept.old")
    compile("-O0")
    shown, _ = views("old", commands=["threshold 0", "functions"])
    check("a late naming uses no other build", "[kept]" in shown and
          "descend" not in shown, shown)
    os.rename("kept.old", "kept")
    shown, _ = views("old", commands=["threshold 0", "functions"])
    check("and the right one, when it is back", "parts::descend(int)" in shown,
          shown)


def check_without_build_id():
    """Without a build-id, the file's size and time distinguish builds."""
    compile("-g", "-Wl,--build-id=none", output="plain")
    record("plain.cpprof", "./plain", "100", options=["--no-symbols"])
    shown, _ = views("plain.cpprof", commands=["functions"])
    check("a program without build-id is named", "parts::descend" in shown,
          shown)
    compile("-O1", "-Wl,--build-id=none", output="plain")
    shown, notes = views("plain.cpprof", commands=["functions"])
    check("and another build of it is not taken for it",
          "[plain]" in shown and "parts::" not in shown and
          "not the build" in notes, shown + notes)


def check_processes():
    """Many processes share one file."""
    record("many", "sh", "-c", "./kept 60; ./kept 60; ./kept 60 & wait")
    check("processes share names", sorted(
        name.split(".")[0] for name in os.listdir("many")).count("names") ==
        1)
    before, _ = views("many")
    os.rename("kept", "kept.old")
    after, _ = views("many")
    same("and show the same without their program", before, after)
    merged, notes = views("many", "far/away/moved",
                          commands=["functions"])
    check("recordings that are merged have their names",
          "parts::descend(int)" in merged and "kept" not in notes,
          merged + notes)
    run = subprocess.run([CPPROF, "-q", "-e", "export cpprofdata out.data",
                          "many"], capture_output=True, text=True, timeout=120)
    check("a recording with names is exported", run.returncode == 0,
          run.stderr)
    os.rename("kept.old", "kept")


def check_damage():
    """Nothing in the file is trusted; missing names are looked up."""
    shutil.rmtree("cut", ignore_errors=True)
    shutil.copytree("far/away/moved", "cut")
    with open("cut/names", "rb") as file:
        whole = file.read()
    bad = []
    for size in [*range(0, 200, 29), *range(4000, len(whole), 9970 // rounds(1))]:
        with open("cut/names", "wb") as file:
            file.write(whole[:size])
        shown, notes = views("cut", commands=["functions"])
        if "main" not in shown or "names:" not in notes:
            bad.append((size, shown, notes))
    check("a file of names that is cut is no danger", not bad, bad)
    bad = []
    for at in range(4096, len(whole), 6130 // rounds(1)):
        changed = bytearray(whole)
        changed[at:at + 8] = struct.pack("<q", -1 - at)
        with open("cut/names", "wb") as file:
            file.write(changed)
        run = subprocess.run([CPPROF, "-q", "-e", "tree", "cut"],
                             capture_output=True, timeout=120)
        if run.returncode != 0:
            bad.append((at, run.stderr))
    check("nor is one that is damaged", not bad, bad)
    os.remove("cut/names")
    os.mkfifo("cut/names")
    shown, _ = views("cut", commands=["functions"])
    check("nor a pipe in its place", "main" in shown, shown)
    os.remove("cut/names")
    shutil.copy("live/cpprofdata." + glob.glob("live/cpprofdata.[0-9]*")[0]
                .rsplit(".", 1)[1], "cut/names")
    shown, notes = views("cut", commands=["functions"])
    check("nor samples", "main" in shown and "expected names" in notes,
          shown + notes)
    shutil.copy("far/away/moved/names", "names.alone")
    run = subprocess.run([CPPROF, "-q", "-e", "tree", "names.alone"],
                         capture_output=True, text=True, timeout=120)
    check("a file of names is no profile", run.returncode != 0 and
          "load its directory" in run.stderr, run.stderr)


def check_without_symbols():
    """The start-up code of a program without symbols is known by what it
    calls."""
    compile("-s", output="bare")
    record("bare.cpprof", "./bare", "400")
    with open("bare", "rb") as file:
        entry = int.from_bytes(file.read(32)[24:], "little")
    start = f"bare+0x{entry:x}"
    shown, bodies, hidden = map(rows, views(
        "bare.cpprof", options=["-F", "json"], commands=[
            "threshold 0", "startup show", "functions", "flat",
            "startup hide", "functions"])[0].splitlines()[-3:])
    check("a stripped program begins in its entry", start in shown and
          any(name.startswith("__libc_start_main") for name in shown), shown)
    # Stacks of nothing else stay: a slow machine may have samples there.
    alone = sum(hits for name, hits in bodies.items() if name == start or
                name.startswith("__libc_start"))
    check("which is hidden with what it calls", hidden.get(start, 0) <= alone and
          hidden.get("__libc_start_main", 0) <= alone, (alone, hidden))
    check("and nothing else is", 1 < sum(name.startswith("bare+0x")
                                         for name in hidden) and
          {name for name in shown if name.startswith("bare+0x")} - {start} <=
          set(hidden), (shown, hidden))


NAMELESS = """
#include <pthread.h>
static void *start(void *work)
{
	((void (*)(void))work)();
	return NULL;
}
void begin(void (*work)(void))
{
	pthread_t thread;
	pthread_create(&thread, NULL, start, (void *)work);
	pthread_join(thread, NULL);
}
"""
CALLS_IT = """
void begin(void (*work)(void));
static volatile unsigned sum;
void work(void)
{
	for (unsigned i = 0; i < 300000000; i++)
		sum += i;
}
int main(void)
{
	begin(work);
	return 0;
}
"""


def check_libc_without_symbols():
    """As distributions ship it: who calls a thread's start routine is
    nameless."""
    for name, source, options in (
            ("libc.so.9", NAMELESS, ["-shared", "-fPIC", "-s"]),
            ("calls-it", CALLS_IT, ["./libc.so.9"])):
        subprocess.run(["cc", "-O1", "-o", name, "-x", "c", "-", "-x", "none",
                        *options], input=source, text=True, check=True,
                       timeout=120)
    record("nameless.cpprof", "./calls-it")
    shown, hidden = map(rows, views(
        "nameless.cpprof", options=["-F", "json"],
        commands=["threshold 0", "startup show", "functions", "startup hide",
                  "functions"])[0].splitlines()[-2:])
    most = max((name for name in shown if name.startswith("libc.so.9+")),
               key=shown.get, default="")
    check("the start of threads in a C library without symbols is hidden",
          shown.get(most, 0) > 30 and most not in hidden and
          hidden["work"] == shown["work"], (shown, hidden))


def check_control_characters():
    """Kept names are escaped like all others."""
    with open("far/away/moved/names", "rb") as file:
        whole = file.read()
    changed = whole.replace(b"parts::descend(int)\0",
                            b"parts::\x1b[31mnd(int)\0")
    with open("cut/names2", "wb") as file:
        file.write(changed)
    os.remove("cut/names")
    os.rename("cut/names2", "cut/names")
    shown, _ = views("cut", commands=["functions"])
    check("control characters of names do not reach the terminal",
          changed != whole and "\x1b" not in shown and "nd(int)" in shown,
          shown)


def main():
    if (not os.path.exists(os.path.join(BUILD, ".libs", "libcpprof.so.0")) or
            not shutil.which("c++")):
        print("1..0 # SKIP no collector or C++ compiler")
        return
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        compile("-g")
        check_rebuilt()
        check_killed()
        check_while_it_runs()
        check_left_behind()
        check_named_again()
        check_other_build()
        check_without_build_id()
        check_without_symbols()
        check_libc_without_symbols()
        check_processes()
        check_damage()
        check_control_characters()
        os.chdir("/")
    claims.end()


sys.exit(main())
