# SPDX-License-Identifier: GPL-3.0-or-later
"""static.py -- static programs that are linked with the installed libcpprof.a.

They are linked as users do it, with the words of pkg-config --static, sampled by
`record` and by their own start, and compared with what they measure themselves
and with the same programs without cpprof.  Speaks TAP.
"""
import json
import math
import os
import shutil
import signal
import subprocess
import tempfile
import time

import cpprof
from claims import Claims
from collector_file import Profile

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
BUILD = os.path.abspath(os.environ.get("builddir", "build"))
WORST = 5               # standard errors
CHANCE = 1e-4           # of a run in which chance makes exact claims fail
claims = Claims()


def plain():
    """The environment without the variables of make."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("MAKE", "MFLAGS", "CPPROF_"))}


def run(*words, status=0, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          timeout=120, env=plain(), **options)
    assert status in (None, done.returncode), (words, done)
    return done


class Library:
    """The library, installed into a directory of its own."""

    def __init__(self, directory):
        self.directory = directory
        self.root = os.path.join(directory, "root")
        run("make", "-s", "-C", BUILD, "DESTDIR=" + self.root,
            "install-libLTLIBRARIES", "install-includeHEADERS",
            "install-pkgconfigDATA", "install-static_collectorDATA")
        self.place = next(place for place, _, names in os.walk(self.root)
                          if "libcpprof.pc" in names)

    def words(self, *options):
        return subprocess.run(
            ["pkg-config", *options, "libcpprof"], capture_output=True,
            text=True, check=True,
            env={**plain(), "PKG_CONFIG_PATH": self.place,
                 "PKG_CONFIG_SYSROOT_DIR": self.root}).stdout.split()

    def link(self, name, how="-static", words=None):
        """A program of tests/programs; None: it does not link."""
        program = os.path.join(self.directory,
                               f"{name}{how}{'' if words is None else '-x'}")
        if words is None:
            words = self.words("--static", "--cflags", "--libs")
        done = subprocess.run(
            ["cc", "-O2", "-g", "-D_GNU_SOURCE", "-pthread", how, "-I",
             SOURCE, "-o", program,
             os.path.join(SOURCE, "tests", "programs", name + ".c"), *words],
            capture_output=True, text=True, check=False)
        return (program if done.returncode == 0 else None), done.stderr


def profiles(path):
    return [Profile(os.path.join(path, name)) for name in os.listdir(path)
            if name.startswith("cpprofdata.")]


def info(path):
    return cpprof.table(path, "info")


def truth(output):
    return {words[0]: int(words[1]) for words in map(str.split,
            output.splitlines()) if len(words) == 2 and
            words[0].startswith("part_") and int(words[1]) > 0 and
            words[0] != "part_partner"}


def differences(path, parts):
    rows = cpprof.table(path, "threshold 0", "functions 1000")
    found = {row["path"][0]: row["hits"] for row in rows["rows"]}
    n, whole, wrong = rows["total"], sum(parts.values()), []
    for name, ns in parts.items():
        share = ns / whole
        seen = found.get(name, 0) / max(n, 1)
        if abs(seen - share) > WORST * math.sqrt(share * (1 - share) /
                                                 max(n, 1)) + .02:
            wrong.append(f"{name}: {seen:.4f} of {n}, truth {share:.4f}")
    return wrong


def check_recorded(library, how):
    without, said = library.link("parts", how, words=[])
    if without is None:
        claims.skip(f"{how}: programs are recorded", said[-200:])
        return
    program, said = library.link("parts", how)
    claims.check(f"{how}: the words of pkg-config are all that it takes",
                 program is not None, said[-1000:])
    if program is None:
        return
    path = os.path.join(library.directory, "recorded")
    done = cpprof.run("record", "--no-prompt", "--force", "-F", "1000", "-o",
                      path, program, "1500", "user", "read", "faults",
                      "calls")
    claims.make(f"{how}: record has the shares that the program measures",
                differences(path, truth(done.stdout)))
    claims.check(f"{how}: the collector is inside",
                 "outside" not in done.stderr and "outside" not in
                 json.dumps(info(path)) and len(profiles(path)) == 1,
                 (done.stderr, info(path)))
    claims.check(f"{how}: stacks are whole, and have no frames of the "
                 f"collector",
                 all(stack[0] != "[partial]" and not any(
                     "sample_take" in frame for frame in stack)
                     for stack in profiles(path)[0].stacks()),
                 profiles(path)[0].stacks())
    claims.check(f"{how}: the exit status is the program's",
                 cpprof.run("record", "--no-prompt", "--force", "-o", path,
                            program, status=None).returncode == 2)
    place = os.path.join(library.directory, "clean")
    os.makedirs(place, exist_ok=True)
    run(program, "50", "user", cwd=place)
    claims.check(f"{how}: without record nothing is sampled",
                 os.listdir(place) == [])


def check_reasons(directory):
    """
    Without tables, what a frame pointer is taken for may be anything: that is
    why a stack ends there, and not memory or generated code.
    """
    what = "stacks that end in code without tables say so"
    program = os.path.join(directory, "no-tables")
    done = subprocess.run(
        ["cc", "-O2", "-static", "-fno-asynchronous-unwind-tables",
         "-fomit-frame-pointer", "-o", program,
         os.path.join(SOURCE, "tests", "programs", "no-tables.c")],
        capture_output=True, text=True, check=False)
    if os.uname().machine != "x86_64" or done.returncode != 0:
        claims.skip(what, done.stderr[-200:])
        return
    path = os.path.join(directory, "reasons")
    cpprof.run("record", "--no-prompt", "--force", "-o", path, program)
    said = cpprof.ask(path, "info", "functions").stdout
    # While the kernel executes a program, that has no stack yet.
    executing = max((row["hits"] for row in cpprof.table(
        path, "threshold 0", "functions")["rows"]
        if "execve" in row["path"][0]), default=0)
    claims.check(what, "stacks incomplete: code without unwind tables" in said
                 and "work" in said and info(path)["tallies"].get(
                     "stacks incomplete: unreadable stack memory", 0) <=
                 executing and "[jit]" not in said and "generated" not in said,
                 (executing, said))


def check_other_resources(library):
    program, _ = library.link("parts")
    path = os.path.join(library.directory, "resources")
    done = cpprof.run("record", "--no-prompt", "--force", "-r", "page-faults:1",
                      "-o", path, program, "300", "faults", status=None)
    claims.check("page-faults are counted inside", done.returncode == 0 and
                 "outside" not in done.stderr, done)
    done = cpprof.run("record", "--no-prompt", "--force", "-r", "alloc-bytes",
                      "-o", path, program, "100", "user", status=None)
    claims.check("what needs the C library's calls is refused, and told",
                 done.returncode == 1 and "alloc-bytes" in done.stderr and
                 "part_user" not in done.stdout, done)
    without, _ = library.link("parts", words=["-lm"])
    more = cpprof.run("record", "--no-prompt", "--force", "-r", "alloc-bytes",
                      "-o", path, without, "100", "user", status=None)
    claims.check("the advice is to link dynamically, with and without the "
                 "collector", all(
                     "linked dynamically" in said and "--inside" not in said
                     and "libcpprof" not in said
                     for said in (done.stderr, more.stderr)),
                 (done.stderr, more.stderr))
    more = cpprof.run("record", "--no-prompt", "--force", "-r",
                      "fp-exceptions", "-o", path, without, "100", "user",
                      status=None)
    claims.check("or to link with the collector, where it would count",
                 more.returncode == 1 and
                 "the collector is not in it" in more.stderr and
                 "link it with libcpprof.a" in more.stderr and
                 "--inside" not in more.stderr, more.stderr)


def rarity(k, n, share):
    """How likely it is that a binomial variate is so far from its mean: twice
    the probability of k or more extreme values on its side."""
    def probability(i):
        return math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) -
                        math.lgamma(n - i + 1) + i * math.log(share) +
                        (n - i) * math.log(1 - share))
    side = range(k + 1) if k < n * share else range(k, n + 1)
    return min(1, 2 * sum(map(probability, side)))


def check_syscalls(library):
    """As many as the program makes, where it makes them.  Each interval has one
    boundary, at a random call: the sum is exact, but for the first interval and
    the last, and each hit is in the function that makes three of four calls with
    that probability."""
    program, _ = library.link("consumer")
    path = os.path.join(library.directory, "syscalls")
    rounds = 10000
    for interval in 7, 501:
        cpprof.run("record", "--no-prompt", "--force", "-r",
                   f"syscalls:{interval}", "-o", path, program, "calls",
                   str(rounds))
        rows = cpprof.table(path, "threshold 0", "functions 1000")
        found = {row["path"][0]: row["hits"] for row in rows["rows"]}
        source = info(path)["rows"][0]["source"]
        once, thrice = (found.get(name, 0)
                        for name in ("call_once", "call_thrice"))
        claims.check(f"syscalls:{interval} are as many as are made ({source})",
                     abs((once + thrice) * interval - 4 * rounds) <
                     2 * interval and
                     rarity(thrice, once + thrice, .75) > CHANCE / 2
                     and not any("dispatch" in name for name in found),
                     found)


def check_own_start(library):
    """By the program itself: threads, children, starts and stops."""
    program, said = library.link("linked")
    dynamic = "a dynamic one's"
    for mode, answer, n in (("phases", "phases", 1), ("threads", "threads", 1),
                            ("fork", "fork 4", 2),
                            ("fork-threads", "fork threads 0", 2),
                            ("fork-unsampled", "fork unsampled 4 5", 3),
                            ("resumed", "resumed 0, errno 0", 1),
                            ("many", "many 977 1", 1),
                            ("second-attempt", "-1 0", 1)):
        place = tempfile.mkdtemp(dir=library.directory)
        words = ("again",) if mode == "second-attempt" else ()
        done = run(program, mode, *words, cwd=place, status=None)
        found = [profile for name in os.listdir(place)
                 for profile in profiles(os.path.join(place, name))]
        claims.check(f"{mode}: output and recordings are as {dynamic}",
                     done.returncode == 0 and done.stdout.strip() == answer
                     and len(found) >= n and
                     (mode == "second-attempt" or
                      sum(profile.hits for profile in found) > 0),
                     (done, len(found)))


def check_hostile(library):
    """Signals, stacks, jumps, system calls without the library, ends."""
    program, _ = library.link("hostile")
    path = os.path.join(library.directory, "hostile")
    modes = ("small-alternate-stack tiny-alternate-stack tiny-stacks crowd "
             "waiting waiting-thread interrupted-wait inherited exec "
             "bad-addresses bad-exec vfork-signals interval-timers own-timers "
             "jumps children raw-fork plain-actions older-functions "
             "raw-thread called-exec end-kill end-abort end-exit-group "
             "end-trap").split()
    wrong = []
    for mode in modes:
        alone = run(program, mode, status=None)
        done = cpprof.run("record", "--no-prompt", "--force", "-o", path, "--",
                          program, mode, status=None)
        status = alone.returncode
        if (status if status >= 0 else 128 - status, alone.stdout) != \
                (done.returncode, done.stdout):
            wrong.append((mode, alone, done))
    claims.make(f"output and status are the same: {' '.join(modes)}", wrong)


def check_exec(library):
    program, _ = library.link("parts")
    path = os.path.join(library.directory, "exec")
    done = cpprof.run("record", "--no-prompt", "--force", "-F", "1000", "-o",
                      path, "sh", "-c", f"{program} 400 user; exec {program} "
                      "400 user")
    hits = [profile.hits_with("part_user") for profile in profiles(path)]
    claims.check("started by a program that is sampled: inside, and once",
                 "outside" not in done.stderr and
                 sum(n > 100 for n in hits) == 2 and sum(hits) < 900,
                 (done.stderr, hits))


    done = cpprof.run("record", "--no-prompt", "--force", "-r", "real", "-o",
                      path, "sh", "-c", f"{program} 400 user; :", status=None)
    claims.check("where it cannot count the resource, from outside if it can "
                 "be had there",
                 done.returncode == 0 and "part_user" in done.stdout, done)


def check_kill(library):
    program, _ = library.link("target")
    path = os.path.join(library.directory, "killed")
    with subprocess.Popen(
            [cpprof.CPPROF, "record", "--no-prompt", "--force", "-o", path,
             program, "spin", "20000"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as recorder:
        until = time.monotonic() + 60
        pid = None
        while time.monotonic() < until:
            try:
                if info(path)["samples"] > 20:
                    pid = int(next(
                        name for name in os.listdir(path)
                        if name.startswith("cpprofdata.")).split(".")[1])
                    break
            except (AssertionError, FileNotFoundError, IndexError):
                pass
            time.sleep(.1)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        recorder.wait(timeout=60)
    claims.check("after kill -9 the recording is whole",
                 pid is not None and info(path)["samples"] > 20 and
                 recorder.returncode == 128 + 9, recorder.returncode)


def check_options(library):
    done = library.link("linked", words=library.words("--cflags", "--libs"))
    claims.check("without the options, the linker says what is missing",
                 done[0] is None and "see_pkg_config_static_libs_libcpprof"
                 in done[1], done)
    with open(os.path.join(BUILD, "libcpprof.a.options")) as file:
        options = file.read().split()
    claims.check("libcpprof.pc has the options of the wrappers that there are",
                 set(options) <= set(library.words("--static", "--libs")),
                 options)
    names = subprocess.run(
        ["nm", "-g", "--defined-only", os.path.join(library.place, os.pardir,
                                                    "libcpprof.a")],
        capture_output=True, text=True, check=True).stdout
    names = [line.split()[2] for line in names.splitlines() if
             len(line.split()) == 3]
    claims.check("the archive has no other names than those",
                 names and all(name.startswith(("cpprof_", "__wrap_"))
                               for name in names), names)


def main():
    missing = [tool for tool in ("cc", "pkg-config", "nm", "make")
               if shutil.which(tool) is None]
    if missing or not os.path.exists(os.path.join(BUILD, "libcpprof.a")):
        claims.skip("static programs", f"no {' '.join(missing) or 'archive'}")
        claims.end()
        return
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        check_reasons(directory)
        library = Library(directory)
        if library.link("parts", words=[])[0] is None:
            claims.skip("static programs",
                        library.link("parts", words=[])[1][-300:])
        else:
            check_options(library)
            for how in "-static", "-static-pie":
                check_recorded(library, how)
            check_other_resources(library)
            check_syscalls(library)
            check_own_start(library)
            check_hostile(library)
            check_exec(library)
            check_kill(library)
    claims.end()


main()
