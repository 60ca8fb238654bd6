# SPDX-License-Identifier: GPL-3.0-or-later
"""runtimes.py [-o] [NAME...] -- what share of samples has a name of its own.

For each runtime: records a program that others wrote, as doc/runtimes.md says,
started by `record` and attached to from outside (`record -p`).  Prints the rows
of doc/measurements/runtimes.md:

- named: CPU time in stacks with at least one function of the program, as the
  runtime's own language names it, not only functions of the interpreter;
- without: CPU time in stacks with code made at run time that has no name, [jit];
- partial: CPU time in stacks that are cut off, [partial].

A runtime or program that is not installed is skipped with its reason.  NAME...:
only these.  -o: `record -p` is not tried.

Programs that no Debian package has are found by the environment: PRETTIER, the
folder that `npm install --prefix DIR prettier` makes; JAVAC_SOURCES, the folder
jdk.compiler from the JDK's src.zip; ELIXIR_SOURCES, the sources of Elixir; RUBY,
a Ruby 3.3 that was built with YJIT, and RUBY_SOURCES, its folder lib;
PYPY_SOURCES, the folder of its lib2to3.
"""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
LUA_MAP = os.path.join(SOURCE, "lib", "luajit-map.lua")
WAIT_S = 0.5			# before attaching
LIMIT_S = 120

JAVAC = """javac -proc:none -nowarn -XDignore.symbol.file -d out
    --patch-module jdk.compiler=$JAVAC_SOURCES @files"""
ERLC = """-noshell -eval '[compile:file(F, [{outdir, "."}]) || F <-
    filelib:wildcard("/usr/lib/erlang/lib/compiler-*/src/{sys,v3}_*.erl")], halt().'"""
ELIXIR = """elixir -e 'for f <- Path.wildcard(System.get_env("ELIXIR_SOURCES")
    <> "/lib/elixir/lib/*.ex"), do: Code.format_string!(File.read!(f))'"""

# name; what it needs; options of record; environment; command; names of the
# program's functions.
ROWS = [
    ("node, prettier on itself", ["node", "$PRETTIER/node_modules"],
     "--node", "NODE_OPTIONS=--perf-basic-prof --interpreted-frames-native-stack",
     "node $PRETTIER/node_modules/prettier/bin/prettier.cjs --no-config --check "
     "--with-node-modules --ignore-path /dev/null $PRETTIER/node_modules/"
     "prettier/index.mjs $PRETTIER/node_modules/prettier/doc.mjs",
     r"\(\S+\.[cm]?js:\d+(:\d+)?\)$"),
    ("Java, javac on itself", ["javac", "$JAVAC_SOURCES"],
     "--java", "JAVA_TOOL_OPTIONS=-XX:+UnlockDiagnosticVMOptions "
     "-XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer", JAVAC,
     r"^[\w.$<>\[\] ]*(com\.sun|java|jdk|sun)\.[\w.$/]+[.]?[\w$<>]*\("),
    ("PHP, phpcs on itself", ["php", "/usr/share/php/PHP/CodeSniffer"],
     "", "", "php -d opcache.enable_cli=1 -d opcache.jit=function "
     "-d opcache.jit_buffer_size=64M -d opcache.jit_debug=16 /usr/bin/phpcs -q "
     "--standard=PSR2 /usr/share/php/PHP/CodeSniffer/src/Tokenizers",
     r"^JIT\$[^$]"),
    ("Ruby, rdoc on the library", ["${RUBY:-ruby}", "$RUBY_SOURCES"],
     "", "", "${RUBY:-ruby} --yjit --yjit-perf -S rdoc -q -f ri -o ri $RUBY_SOURCES/optparse.rb $RUBY_SOURCES/rdoc",
     r"\.rb:\d+|^[A-Z][\w:]*[#.]\w"),
    ("Erlang, compiler on itself", ["erl",
     "/usr/lib/erlang/lib/compiler-*/src/*.erl"],
     "", "", "erl +JPperf true " + ERLC, r"^\w+:[^ ]+/\d+$"),
    ("Elixir, formatter on itself", ["elixir", "$ELIXIR_SOURCES"],
     "", "ELIXIR_ERL_OPTIONS=+JPperf true", ELIXIR,
     r"^('?[\w.]+'?):[^ ]+/\d+$"),
    ("LuaJIT, luacheck on itself", ["luajit", "/usr/bin/luacheck"],
     "", "LUA_INIT=@" + LUA_MAP,
     "luajit /usr/bin/luacheck -q --no-cache /usr/share/lua/5.1",
     r"\.lua:\d+"),
    ("Perl, perltidy on itself", ["perl", "/usr/bin/perltidy"],
     "", "", "perl /usr/bin/perltidy -st -se "
     "/usr/share/perl5/Perl/Tidy.pm", r"^$."),
    ("PyPy, lib2to3 on itself", ["pypy3", "$PYPY_SOURCES"],
     "", "", "pypy3 -m lib2to3 $PYPY_SOURCES", r"^$."),
]


def shell_value(word):
    """A word with variables, as a shell has it."""
    return subprocess.run(["sh", "-c", 'printf %s "' + word + '"'], check=True,
                          capture_output=True, text=True).stdout


def missing(needs):
    """What is not installed, or None."""
    for need in needs:
        value = shell_value(need)
        if value.startswith("/node_modules") or not value:
            return f"{need} is not set"
        if "/" in value and not os.path.isfile(value):
            if not glob.glob(value):
                return f"no {value}"
        elif not shutil.which(value):
            return f"no {value}"
    return None


def shares(recording, pattern):
    """CPU seconds, and the three shares of a recording."""
    stacks = subprocess.run([CPPROF, "-q", "-e", "export collapsed", recording],
                            capture_output=True, text=True,
                            errors="replace").stdout
    own = re.compile(pattern)
    total = named = unnamed = cut = 0
    for line in stacks.splitlines():
        path, hits = line.rsplit(" ", 1)
        frames, hits = path.split(";"), int(hits)
        total += hits
        named += hits * any(own.search(frame) for frame in frames)
        unnamed += hits * ("[jit]" in frames)
        cut += hits * ("[partial]" in frames)
    table = subprocess.run([CPPROF, "-q", "-F", "json", "-e", "functions",
                            recording], capture_output=True, text=True,
                           errors="replace").stdout.splitlines()
    interval_us = (json.loads(table[-1])["resource"]["interval"] if table
                   else 0)
    return total * interval_us / 1e6, *(part / total if total else 0
                             for part in (named, unnamed, cut))


def report(name, how, recording, pattern):
    cpu_s, named, unnamed, cut = shares(recording, pattern)
    print(f"| {name} | {how} | {cpu_s:.1f} | {named:.1%} | {unnamed:.1%} | "
          f"{cut:.1%} |", flush=True)


def remove_maps(begin_s):
    """The maps that the runtimes have left since then."""
    for path in glob.glob("/tmp/perf-*.map"):
        if os.path.getmtime(path) >= begin_s:
            os.remove(path)


def run_quietly(words, environment):
    return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace",
                          timeout=LIMIT_S)


def measure(row, outside):
    name, _, options, more, command, pattern = row
    words = shlex.split(command.replace("\n", " "))
    environment = dict(os.environ)
    script = " ".join(word if re.search(r"\$\{?[A-Z]", word) else
                      shlex.quote(word) for word in words)
    if more:
        key, value = more.split("=", 1)
        environment[key] = value
    inside = dict(os.environ) if options else environment
    out = run_quietly([CPPROF, "record", "-o", "inside", *options.split(), "--",
                       "sh", "-c", "exec " + script], inside)
    if not os.path.isdir("inside"):
        print(f"{name}: not recorded: {out.stderr.strip()}", file=sys.stderr)
        return
    report(name, "`record --`", "inside", pattern)
    if not outside:
        return
    program = subprocess.Popen(["sh", "-c", "exec " + script], env=environment,
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(WAIT_S)
    out = run_quietly([CPPROF, "record", "-o", "outside", "-p",
                       str(program.pid)], os.environ)
    program.wait(timeout=LIMIT_S)
    if os.path.isdir("outside"):
        report(name, "`record -p`", "outside", pattern)
    else:
        print(f"{name}: not recorded from outside: {out.stderr.strip()}",
              file=sys.stderr)


def main():
    names = [word for word in sys.argv[1:] if word != "-o"]
    print("| program | how | CPU, s | named | without | partial |\n"
          "|---|---|---|---|---|---|")
    for row in ROWS:
        if names and not any(row[0].startswith(name) for name in names):
            continue
        why = missing(row[1])
        if why is not None:
            print(f"{row[0]}: skipped: {why}", file=sys.stderr)
            continue
        begin_s = time.time()
        with tempfile.TemporaryDirectory(prefix="cpprof-bench-") as work:
            os.chdir(work)
            if "files" in row[4]:
                with open("files", "w") as files:
                    files.writelines(path + "\n" for path in glob.glob(
                        os.environ["JAVAC_SOURCES"] + "/**/*.java",
                        recursive=True))
            measure(row, "-o" not in sys.argv)
            os.chdir("/")
        remove_maps(begin_s)


if __name__ == "__main__":
    main()
