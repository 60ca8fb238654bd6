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
import time

from claims import Claims

CPPROF = os.environ.get("CPPROF", "./cpprof")
BUILD = os.environ.get("builddir", ".")
SOURCE = os.path.join(os.environ.get("srcdir", "."), "tests", "programs",
                      "jit.c")
LUA_MAP = os.path.abspath(os.path.join(os.environ.get("srcdir", "."), "lib",
                                       "luajit-map.lua"))
NODE = """
// Two functions take turns; their own clock says how long each one ran.
function threeQuarters(n) { let s = 0; for (let i = 0; i < 3 * n; i++)
                            s += i % 7; return s; }
class Work { oneQuarter(n) { let s = 0; for (let i = 0; i < n; i++)
                             s += i % 7; return s; } }
const work = new Work();
const used = [0, 0];
const cpu = () => process.cpuUsage().user + process.cpuUsage().system;
let sum = 0, now = cpu();
while (used[0] + used[1] < 900000) {
    sum += threeQuarters(4000000);
    used[0] += cpu() - now; now = cpu();
    sum += work.oneQuarter(4000000);
    used[1] += cpu() - now; now = cpu();
}
console.log(process.pid, used[0] / (used[0] + used[1]));
"""
JAVA = """
public class Turns {
    static long step(long s, int i) { return s + (i % 7 ^ s >> 3); }
    static long pace(long s, int i) { return s + (i % 7 ^ s >> 3); }
    static long threeQuarters(int n) { long s = 0; for (int i = 0; i < 3 * n;
        i++) s = step(s, i); return s; }
    static long oneQuarter(int n) { long s = 0; for (int i = 0; i < n; i++)
        s = pace(s, i); return s; }
    static long cpu() { return java.lang.management.ManagementFactory.
        getThreadMXBean().getCurrentThreadCpuTime(); }
    public static void main(String[] words) throws Exception {
        int n = Integer.parseInt(words[0]);
        long sum = 0, now = cpu(), first = 0, second = 0;
        while (first + second < 900000000L) {
            sum += threeQuarters(n);
            first += cpu() - now; now = cpu();
            sum += oneQuarter(n);
            second += cpu() - now; now = cpu();
        }
        System.out.println(ProcessHandle.current().pid() + " " +
            (double)first / (first + second) + " " + sum);
        if (words.length > 1)
            new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().
                               pid()).start().waitFor();
    }
}
"""
PHP = """<?php
function threeQuarters(int $n): int {
    for ($s = 0, $i = 0; $i < 3 * $n; $i++) $s += $i % 7; return $s; }
function oneQuarter(int $n): int {
    for ($s = 0, $i = 0; $i < $n; $i++) $s += $i % 7; return $s; }
function cpu(): float { $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6 +
           $used['ru_stime.tv_sec'] + $used['ru_stime.tv_usec'] / 1e6; }
$first = $second = $sum = 0;
for ($now = cpu(); $first + $second < 0.9;) {
    $sum += threeQuarters(400000);
    $first += cpu() - $now; $now = cpu();
    $sum += oneQuarter(400000);
    $second += cpu() - $now; $now = cpu();
}
echo getmypid(), " ", $first / ($first + $second), " ", $sum;
"""
LUA = """-- Two functions take turns.
local function three_quarters(n) local s = 0
  for i = 1, 3 * n do s = s + i % 7 end return s end
local function one_quarter(n) local s = 0
  for i = 1, n do s = s + i % 7 end return s end
local used, sum, now = {0, 0}, 0, os.clock()
while used[1] + used[2] < 0.9 do
  sum = sum + three_quarters(4000000)
  used[1] = used[1] + os.clock() - now; now = os.clock()
  sum = sum + one_quarter(4000000)
  used[2] = used[2] + os.clock() - now; now = os.clock()
end
print(used[1] / (used[1] + used[2]))
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
    """Hits by name, and their total without what sampling itself took."""
    table, _ = ask(profile, "threshold 0", *commands, "functions")
    hits = {row["path"][0]: row["hits"] for row in table["rows"]}
    return hits, table["total"] - hits.get("[sampling]", 0)


def text(profile, command):
    return subprocess.run([CPPROF, "-q", "-e", command, profile],
                          capture_output=True, text=True, timeout=60).stdout


def record(name, *command, options=()):
    return subprocess.run([CPPROF, "record", "-o", name, *options, "--",
                           *command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)


def run(name, *words, options=("-F", "1000")):
    """Records ./jit; its own pid, and the share of its first function."""
    out = record(name, "./jit", "600", *words, options=options)
    pid, share = out.stdout.split()
    return int(pid), float(share)


def remove(pid):
    for path in (f"/tmp/perf-{pid}.map", f"jit-{pid}.dump"):
        if os.path.exists(path):
            os.remove(path)


def check_shares(claim, hits, share, prefix):
    """The first of the two functions has its share by the program's clock.  Ticks,
    where there are no perf events, have some four hits."""
    first = hits.get(f"{prefix}::three quarters", 0)
    both = first + hits.get(f"{prefix}::one quarter", 0)
    error = 5 * math.sqrt(4 * share * (1 - share) / max(both, 1))
    check(claim, both > 400 and abs(first / both - share) < error,
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
    pid, share = run("late", "map", options=["--no-symbols", "-F", "1000"])
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


def check_switched():
    """Code that runs on a stack of its own and calls C on the thread's."""
    pid, _ = run("switched", "switch", "900")
    remove(pid)
    hits, total = functions("switched")
    check("stacks through a switch to the thread's stack are whole",
          hits.get("made::f", 0) > 0.95 * total and
          hits.get("[partial]", 0) < 0.02 * total, hits)
    shown = text("switched", "export collapsed").splitlines()
    whole = [line for line in shown
             if line.startswith("made::f;made::h;on_thread_stack")]
    check("and begin where the other stack begins",
          len(whole) > 0.8 * len(shown), shown)


def check_attached():
    """A map is the process's own though it was written before the recording."""
    with subprocess.Popen(["./jit", "5000", "map"],
                          stdout=subprocess.PIPE, text=True) as program:
        # Clocks of file systems are coarse: older than a second.
        time.sleep(2)
        path = f"/tmp/perf-{program.pid}.map"
        for name, claim in (("attached", "a map that was written before is "
                             "read"), ("stale", "but not one from before the "
                             "process")):
            out = subprocess.run([CPPROF, "record", "-o", name, "--for", "1",
                                  "-p", str(program.pid)], text=True,
                                 capture_output=True, timeout=60)
            if not os.path.isdir(name):
                check(f"{claim} # SKIP {out.stderr.splitlines()[0]}", True)
                continue
            hits, _ = functions(name)
            named = hits.get("made::three quarters", 0)
            check(claim, named > 0 if name == "attached" else
                  named == 0 and hits.get("[jit]", 0) > 0, hits)
            os.utime(path, (1e9, 1e9))
        program.kill()
    remove(program.pid)


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


def check_turns(runtime, hits, total, share, names):
    """Two functions that take turns, in which most of the time is spent."""
    first, second = (hits.get(name, 0) for name in names)
    both = first + second
    # A clock that is read by other code takes a little time of both.
    error = 0.02 + 4.5 * math.sqrt(share * (1 - share) / max(both, 1))
    check(f"functions of {runtime} have their names and shares",
          both > 0.5 * total and abs(first / both - share) < error,
          (share, names, sorted(hits.items(), key=lambda row: -row[1])[:20]))


def check_node():
    if not shutil.which("node"):
        check("functions of node have their names and shares "
              "# SKIP no node", True)
        return
    with open("turns.js", "w") as script:
        script.write(NODE)
    out = record("node", "node", "turns.js", options=["--node"])
    if not out.stdout:
        check("node runs with --node", False, out.stderr)
        return
    pid, share = out.stdout.split()
    remove(int(pid))
    hits, total = functions("node")
    check_turns("node", hits, total, float(share),
                ("threeQuarters (turns.js:3)", "oneQuarter (turns.js:5)"))
    ways = [name for name in hits if "Quarter" in name]
    check("however they were compiled", len(ways) == 2, ways)
    stacks, _ = functions("node", "narrow file:turns.js")
    check("and their file", stacks.get("oneQuarter (turns.js:5)") ==
          hits.get("oneQuarter (turns.js:5)"), stacks)
    _, why = ask("node", "up oneQuarter")
    check("and can be typed without it", not why, why)
    _, why = ask("node", "list threeQuarters")
    check("without lines, the way to these is told",
          "record node --perf-prof" in why, why)
    check_node_lines()


def check_luajit():
    """Traces have the lines where they start: those of the two loops."""
    if not shutil.which("luajit"):
        check("traces of LuaJIT have their names and shares # SKIP no luajit",
              True)
        return
    with open("turns.lua", "w") as script:
        script.write(LUA)
    out = record("luajit", "env", f"LUA_INIT=@{LUA_MAP}", "luajit", "turns.lua")
    for file in glob.glob("luajit/cpprofdata.[0-9]*"):
        remove(int(file.split(".")[1]))
    hits, total = functions("luajit")
    check_turns("LuaJIT", hits, total, float(out.stdout),
                ("turns.lua:3", "turns.lua:5"))


def check_node_lines():
    """Lines, by what node --perf-prof writes."""
    with open("turns.js", "w") as script:
        script.write(NODE)
    out = record("node-lines", "node", "--perf-prof", "turns.js")
    remove(int(out.stdout.split()[0]))
    source = NODE.splitlines()
    for name in "threeQuarters", "oneQuarter":
        begin = next(number for number, line in enumerate(source, 1)
                     if f"{name}(n)" in line)
        end = next(number for number in range(begin, len(source) + 1)
                   if "return s" in source[number - 1])
        table, why = ask("node-lines", "threshold 0", f"list {name}")
        lines = {row["line"]: row["hits"] for row in table.get("rows", [])
                 if row["hits"]}
        known = sum(hits for line, hits in lines.items()
                    if line and begin <= line <= end)
        check(f"lines of {name} are between its first and its last",
              known > 0 and not [line for line in lines if line and
                                 not begin <= line <= end],
              (begin, end, lines, why))
        check(f"and have what {name} has", known >= 0.9 * table["hits"],
              (lines, table["hits"]))


def check_java():
    with open("Turns.java", "w") as source:
        source.write(JAVA)
    if not shutil.which("javac") or subprocess.run(
            ["javac", "Turns.java"], capture_output=True,
            timeout=120).returncode != 0:
        check("functions of java have their names and shares "
              "# SKIP no JDK", True)
        return
    out = record("java", "java", "-XX:+UnlockDiagnosticVMOptions",
                 "-XX:+DumpPerfMapAtExit", "-XX:+PreserveFramePointer", "-cp",
                 ".", "Turns", "4000000")
    pid, share, _ = out.stdout.split()
    remove(int(pid))
    hits, total = functions("java")
    check_turns("java", hits, total, float(share),
                ("long Turns.threeQuarters(int)", "long Turns.oneQuarter(int)"))
    if not os.path.exists(os.path.join(BUILD, ".libs",
                                       "libcpprof-java.so")):
        check("methods that java has inlined have their names # SKIP "
              "built without the headers of a JDK", True)
        return
    check_agent("agent", [], ["4000000"])
    # What is written while it runs is there if it is killed.
    check_agent("killed", [], ["4000000", "killed"])
    # Frames of the interpreter, of one size and with one return address: most
    # samples find another method where the last one found the first.
    check_agent("interpreted", ["-Xint"], ["2000"])
    check_agent("unnamed", [], ["4000000"], ["--no-symbols"])


def check_agent(name, options, words, more=()):
    out = record(name, "java", *options, "-cp", ".", "Turns", *words,
                 options=["--java", *more])
    share = float(out.stdout.split()[1])
    hits, total = functions(name)
    names = "Turns.threeQuarters(int)", "Turns.oneQuarter(int)"
    check_turns(f"java, {name}", hits, total, share, names)
    both = sum(hits.get(key, 0) for key in names)
    main = hits.get("Turns.main(java.lang.String[])", 0)
    check(f"{name}: main, which is interpreted, is above them",
          both <= main <= total, hits)
    # The two methods do little but call others, which may be inlined.
    called = [hits.get(f"Turns.{method}(long, int)", 0)
              for method in ("step", "pace")]
    check(f"{name}: the methods that they call are below them",
          0.6 * both < sum(called) <= main,
          f"{called} of {both}, below {main} of {total}: " +
          str(sorted(hits.items(), key=lambda row: -row[1])[:20]))
    for caller, called in ("threeQuarters", "pace"), ("oneQuarter", "step"):
        hits, _ = functions(name, f"narrow Turns.{caller}")
        check(f"{name}: and only there, not {called} in {caller}",
              hits and f"Turns.{called}(long, int)" not in hits, hits)
    hits, _ = functions(name, "granularity line")
    check(f"{name}: compiled ones have lines", options or
          hits.get("Turns.java:3", 0) + hits.get("Turns.java:4", 0) >
          0.8 * both, hits)
    check(f"{name}: what was compiled is kept only until names are",
          bool(glob.glob(f"{name}/jit*")) == bool(more) and
          out.returncode == (137 if "killed" in words else 0),
          (os.listdir(name), out.returncode))


def check_php():
    with open("turns.php", "w") as script:
        script.write(PHP)
    words = ["-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=32M",
             "-d", "opcache.jit=function", "-d", "opcache.jit_debug=16",
             "-d", "opcache.file_update_protection=0"]
    if not shutil.which("php") or "Zend OPcache" not in subprocess.run(
            ["php", "-m"], capture_output=True, text=True,
            timeout=60).stdout:
        check("functions of php have their names and shares "
              "# SKIP no php with opcache", True)
        return
    out = record("php", "php", *words, "turns.php")
    pid, share, _ = out.stdout.split()
    remove(int(pid))
    hits, total = functions("php")
    check_turns("php", hits, total, float(share),
                ("JIT$threeQuarters", "JIT$oneQuarter"))


def main():
    if (not os.path.exists(os.path.join(BUILD, ".libs", "libcpprof.so.0")) or
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
        check_switched()
        check_attached()
        check_named_again()
        check_two_processes()
        check_luajit()
        check_node()
        check_java()
        check_php()
        os.chdir("/")
    claims.end()


sys.exit(main())
