# SPDX-License-Identifier: GPL-3.0-or-later
"""jit.py -- recordings have the names of code that programs generate at run
time.

A program that generates two functions announces them as runtimes do; its own
clock measures each.  The same with node, if it is installed.
"""
import glob
import json
import math
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

from claims import Claims

CPPROF = os.environ.get("CPPROF", "./cpprof")
BUILD = os.environ.get("builddir", ".")
SOURCE = os.path.join(os.environ.get("srcdir", "."), "tests", "programs",
                      "jit.c")
NODE = """
function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7;
                   return s; }
const end = Date.now() + 600;
let sum = 0;
while (Date.now() < end) sum += spin(1000000);
console.log(process.pid);
"""
claims = Claims()
check = claims.check


def ask(profile, *commands):
    words = [CPPROF, "-q", "-F", "json"]
    for command in commands:
        words += ["-e", command]
    run = subprocess.run([*words, profile], capture_output=True, text=True,
                         timeout=60)
    lines = run.stdout.splitlines()
    return json.loads(lines[-1]) if lines else {}, run.stderr


def functions(profile, *commands):
    """Hits by name, and their total."""
    table, _ = ask(profile, "threshold 0", *commands, "functions")
    return ({row["path"][0]: row["hits"] for row in table["rows"]},
            table["total"])


def text(profile, command):
    return subprocess.run([CPPROF, "-q", "-e", command, profile],
                          capture_output=True, text=True, timeout=60).stdout


def record(name, *command, options=()):
    return subprocess.run([CPPROF, "record", "-o", name, *options, "--",
                           *command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)


def run(name, *words, options=()):
    """Records ./jit; its own pid, and the share of its first function."""
    out = record(name, "./jit", "600", *words, options=options)
    pid, share = out.stdout.split()
    return int(pid), float(share)


def remove(pid):
    for path in (f"/tmp/perf-{pid}.map", f"jit-{pid}.dump"):
        if os.path.exists(path):
            os.remove(path)


def check_shares(claim, hits, share, prefix):
    """The first of the two functions has its share by the program's clock."""
    first = hits.get(f"{prefix}::three quarters", 0)
    both = first + hits.get(f"{prefix}::one quarter", 0)
    error = 4.5 * math.sqrt(share * (1 - share) / max(both, 1))
    check(claim, both > 60 and abs(first / both - share) < error,
          f"{hits} {share}")


def check_map():
    pid, share = run("map", "map")
    remove(pid)
    hits, total = functions("map")
    check_shares("functions of /tmp/perf-PID.map have their shares", hits,
                 share, "made")
    check("and main is above them", hits.get("main", 0) > 0.95 * total, hits)
    shown = text("map", "functions")
    check("nothing was guessed", "[jit]" not in shown and
          "at run time" not in shown, shown)
    shutil.move("map", "elsewhere")
    os.rename("jit", "gone")
    again, _ = functions("elsewhere")
    os.rename("gone", "jit")
    check("they are kept in the recording", again == hits, again)
    out = subprocess.run([CPPROF, "-q", "-e", "export cpprofdata out.data",
                          "elsewhere"], capture_output=True, text=True,
                         timeout=120)
    check("it can be exported", out.returncode == 0, out.stderr)


def check_dump():
    pid, share = run("dump", "dump")
    remove(pid)
    hits, _ = functions("dump")
    check_shares("functions of a jitdump have their shares", hits, share,
                 "dumped")
    hits, _ = functions("dump", "granularity line")
    check("and their lines", any(name.startswith("a.js:42") for name in hits),
          hits)


def check_none():
    pid, _ = run("none")
    hits, total = functions("none")
    check("code without names is one name", hits.get("[jit]", 0) > 0.9 * total
          and not any(name.startswith("0x") for name in hits), hits)
    shown = text("none", "functions")
    check("and the heading says how much", "generated at run time without "
          "names, shown as [jit]" in shown, shown)
    with open(f"/tmp/perf-{pid}.map", "w") as later:
        later.write("1 ffffffffffff0000 somebody else's\n")
    hits, _ = functions("none")
    check("what others write later is not used",
          "somebody else's" not in hits, hits)
    remove(pid)


REMEDIES = {
    "node": "for names, run node --perf-basic-prof "
            "--interpreted-frames-native-stack",
    "php8.2": "for names, run php -d opcache.jit_debug=16",
    "jit": "for names, the process must write /tmp/perf-PID.map",
}


def check_remedies():
    """The program has the name of a runtime, which is how it is recognised."""
    for name, remedy in REMEDIES.items():
        if name != "jit":
            shutil.copy("jit", name)
        out = record("remedy", "./" + name, "300")
        shown = text("remedy", "functions")
        check(f"the heading says how {name} gives names", remedy in shown,
              out.stderr + shown)
        shutil.rmtree("remedy")
        if name != "jit":
            os.remove(name)


def check_without_names():
    """Without kept names, those of the program are read."""
    pid, share = run("late", "map", options=["--no-symbols"])
    hits, _ = functions("late")
    check_shares("without names kept, the map is read when it is opened",
                 hits, share, "made")
    host = socket.gethostname().encode()
    shutil.copytree("late", "other")
    for path in glob.glob("other/cpprofdata.*"):
        with open(path, "r+b") as file:
            changed = file.read().replace(b"\0" + host + b"\0",
                                          b"\0" + b"x" * len(host) + b"\0")
            file.seek(0)
            file.write(changed)
    hits, _ = functions("other")
    check("but not for a process of another machine", "[jit]" in hits, hits)
    remove(pid)
    hits, _ = functions("late")
    check("as long as it is there", "[jit]" in hits, hits)


def check_dispatched():
    """There is no call before the addresses that interpreters return to."""
    pid, share = run("dispatched", "map", "dispatch", "2400")
    remove(pid)
    hits, total = functions("dispatched")
    check("stacks through an interpreter's dispatch are whole",
          hits.get("main", 0) > 0.98 * total and
          hits.get("[partial]", 0) < 0.02 * total, hits)
    # Of some 600 samples the share has a standard error of 0.018.
    check("and what it runs has its share",
          abs(hits["made::three quarters"] / total - share) < 0.09,
          (hits, share))


def check_named_again():
    """Kept names stay when a process has taken more samples since."""
    pid, _ = run("again", "map")
    remove(pid)
    before, _ = functions("again")
    with open("again/names", "rb") as file:
        named_ns = struct.unpack_from("<Q", file.read(64), 48)[0]
    with open(f"again/cpprofdata.{pid}", "r+b") as file:
        file.seek(64)
        file.write(struct.pack("<Q", named_ns + 1))
    after, _ = functions("again")
    check("names that are kept stay when others are added",
          "made::three quarters" in after and after == before, after)


def check_two_processes():
    """A name from one process is not used for an address of another."""
    record("two", "sh", "-c", "./jit 300 map; ./jit 300")
    for file in glob.glob("two/cpprofdata.[0-9]*"):
        remove(int(file.split(".")[1]))
    hits, total = functions("two")
    named = hits.get("made::three quarters", 0)
    check("each process has its own names", 0.2 * total < named and
          0.3 * total < hits.get("[jit]", 0), hits)


def check_node():
    if not shutil.which("node"):
        check("node's functions are named # SKIP no node", True)
        return
    with open("spin.js", "w") as script:
        script.write(NODE)
    out = record("node", "node", "--perf-basic-prof", "spin.js")
    pid = int(out.stdout)
    remove(pid)
    hits, total = functions("node")
    found = sum(count for name, count in hits.items()
                if name.startswith("JS:") and "spin " in name)
    check("node's functions are named", found > 0.3 * total, hits)


def main():
    if (not os.path.exists(os.path.join(BUILD, ".libs", "libcpprof.so")) or
            not shutil.which("cc")):
        print("1..0 # SKIP no collector or compiler")
        return
    with tempfile.TemporaryDirectory() as work:
        source = os.path.abspath(SOURCE)
        os.chdir(work)
        subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-o", "jit",
                        source], check=True, timeout=120)
        if subprocess.run(["./jit", "1"], stdout=subprocess.DEVNULL,
                          timeout=120).returncode == 3:
            print("1..0 # SKIP this system lets nobody make code")
            return
        check_map()
        check_dump()
        check_none()
        check_remedies()
        check_without_names()
        check_dispatched()
        check_named_again()
        check_two_processes()
        check_node()
        os.chdir("/")
    claims.end()


sys.exit(main())
