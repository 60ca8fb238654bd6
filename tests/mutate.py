#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""mutate.py -- breaks one line at a time and lists what no test notices.

    mutate.py [--count N] [--seed S] [--copy FOLDER] [PATH...]
    mutate.py --replay FILE [--copy FOLDER] [PATH...]
    mutate.py --plain ...
    mutate.py --quick ...

`make mutate` runs it in the build directory; MUTATE holds the arguments.  A
PATH is a file or a folder of the sources; SCOPE has the default.  The sources
are copied, built with AddressSanitizer and UBSan, and broken in the copy, so
the working tree is left alone.  --copy names a folder for the copy, which the
next run then updates instead of building it from scratch.

A mutation negates a condition, replaces an operator by its neighbour, moves a
constant by one, has a function return success instead of failure, or removes a
statement.  A mutation that does not compile is not counted, nor is one whose
optimised machine code is the same as before: such a mutation changes nothing.

For each mutation the tests of its file run (TESTS), the quickest first, until
one of them fails: a claim fails, a sanitizer reports an error or a leak, or the
test takes many times as long as it should.  The output has one line for each
mutation that was noticed.  For each survivor it has the line before and after.
The last line is the score.  A survivor is either a missing test or a mutation
that changes nothing a user can see; only a reader can tell.

--replay repeats the survivors in the output of an earlier run.  --plain builds
without the sanitizers, which takes a third of the time: a quick first run, whose
survivors are then repeated with them.  --quick runs only the tests that are part
of `make check-quick`.
"""
import argparse
import glob
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
SCOPE = ["src/profile", "src/refine", "src/noise", "src/views", "src/formats",
         "src/symbols/lines", "lib/store/tree.c", "lib/store/slices.c", "dwarf",
         "lib/unwind/tables.c"]

# Tests of a folder or file: those of the longest match.  The order here does
# not matter: the quickest run first.
VIEWS = ["tests/test-views", "tests/test-out-of-memory",
         "tests/test-views-properties",
         "tests/test-commands", "tests/golden.sh", "tests/random-oracle.py",
         "tests/random-calls.py", "tests/recursion.py",
         "tests/test-shell.sh"]
FORMATS = ["tests/test-foreign", "tests/test-out-of-memory",
           "tests/test-export", "tests/export.py",
           "tests/golden.sh", "tests/recursion.py", "tests/other-tools.py",
           "tests/hostile.py", "tests/round-trips.py", "tests/times.py"]
FLEET = ["tests/test-merged", "tests/merge.py", "tests/merged-hostile.py",
         "tests/merged-sums.py",
         "tests/members.py", "tests/fleet-noise.py", "tests/open.py",
         "tests/test-out-of-memory", "tests/fleet.py"]
COMPARE = ["tests/diff.py", "tests/assert.py", "tests/test-out-of-memory"]
CLAIMS = ["tests/assert.py", "tests/test-out-of-memory", "tests/ci.py",
          "tests/golden.sh"]
TESTS = {
    "src/base": ["tests/test-base", "tests/test-source",
                 "tests/test-short-names", "tests/short-names.py",
                 "tests/golden.sh"],
    "src/profile": ["tests/test-merged", "tests/merge.py",
                    "tests/test-sample-tree", "tests/test-profile",
                    "tests/test-call-flow", "tests/test-naming",
                    "tests/test-names", "tests/test-callgrind",
                    "tests/test-gmon", "tests/test-collapsed",
                    "tests/test-cpprofdata", "tests/test-export",
                    "tests/callgrind.py", "tests/gmon.py", "tests/export.py",
                    "tests/names.py", "tests/recordings.sh",
                    "tests/test-timeline", "tests/test-sections", *VIEWS],
    "src/views": [*VIEWS, "tests/test-output", "tests/gmon.py",
                  "tests/callgrind.py", "tests/export.py",
                  "tests/test-sections", "tests/test-timeline",
                  "tests/list.py", "tests/disasm.py", "tests/flame.py",
                  "tests/labels.py", "tests/explain.py", "tests/times.py"],
    "src/profile/fleet.c": FLEET,
    "src/profile/fleet_accepts.c": FLEET,
    "src/profile/fleet_add.c": FLEET,
    "src/profile/fleet_order.c": FLEET,
    "src/profile/fleet_stacks.c": FLEET,
    "src/profile/fleet_tree.c": FLEET,
    "src/profile/digest_index.c": FLEET,
    "src/profile/stack_list.c": [*FLEET, "tests/test-pprof"],
    "src/profile/timeline.c": ["tests/test-timeline", "tests/test-sections",
                               "tests/test-cpprofdata", "tests/test-export",
                               "tests/test-perf-data", "tests/golden.sh",
                               "tests/test-out-of-memory", "tests/times.py",
                               "tests/section-steps.py"],
    "src/views/hits/amount.c": CLAIMS,
    "src/views/comparison/work.c": COMPARE,
    "src/views/comparison/compare.c": COMPARE,
    "src/views/comparison/compared_heading.c": COMPARE,
    "src/views/comparison/compared_table.c": COMPARE,
    "src/views/rows/columns.c": ["tests/columns.py", "tests/test-out-of-memory",
                            "tests/noise.py", "tests/flame.py",
                            "tests/golden.sh", "tests/times.py"],
    "src/views/advice/explain.c": ["tests/explain.py", "tests/test-out-of-memory",
                            "tests/golden.sh"],
    "src/views/lists/members.c": ["tests/members.py", "tests/test-out-of-memory"],
    "src/views/advice/clones.c": ["tests/specialise.py",
                           "tests/test-out-of-memory"],
    "src/views/advice/specialise.c": ["tests/specialise.py",
                               "tests/test-out-of-memory",
                               "tests/golden.sh"],
    "src/output": ["tests/test-output", "tests/golden.sh", "tests/flame.py",
                   "tests/test-short-names", "tests/short-names.py"],
    "src/noise": ["tests/test-distributions", "tests/test-estimate",
                  "tests/test-change", "tests/test-change-points",
                  "tests/test-outliers", "tests/test-out-of-memory",
                  "tests/members.py", "tests/noise.py", *COMPARE],
    "src/shell": ["tests/test-arguments", "tests/test-commands",
                  "tests/test-out-of-memory", "tests/golden.sh",
                  "tests/test-shell.sh", "tests/test-prompt.py"],
    "src/shell/command/assertion.c": [*CLAIMS, "tests/diff.py"],
    "src/shell/command/asserting.c": [*CLAIMS, "tests/diff.py",
                                      "tests/fleet-noise.py"],
    "commands": ["tests/test-commands", "tests/test-out-of-memory",
                 "tests/golden.sh", "tests/test-shell.sh"],
    "commands/assert.c": CLAIMS,
    "commands/budget.c": CLAIMS,
    "commands/members.c": ["tests/members.py", "tests/test-out-of-memory"],
    "commands/specialise.c": ["tests/specialise.py",
                              "tests/test-out-of-memory", "tests/golden.sh"],
    "src/refine": ["tests/test-pattern", "tests/test-commands",
                   "tests/test-shell.sh", "tests/grouped-calls.py",
                   "tests/test-out-of-memory", "tests/golden.sh",
                   "tests/refinements.py", "tests/section-steps.py",
                   "tests/export.py", "tests/list.py", "tests/labels.py",
                   "tests/test-sections", "tests/test-timeline"],
    "src/symbols": ["tests/test-module-symbols", "tests/test-address-lines",
                    "tests/test-debug-lines", "tests/test-demangle",
                    "tests/test-symbol-table", "tests/test-function-ranges",
                    "tests/test-stack-unwinder", "tests/lines.py",
                    "tests/names.py", "tests/jit.py"],
    "src/symbols/lines": ["tests/test-address-lines",
                          "tests/test-debug-lines",
                          "tests/test-out-of-memory", "tests/lines.py",
                          "tests/names.py", "tests/list.py"],
    "src/symbols/code": ["tests/disasm.py", "tests/list.py"],
    "src/formats": ["tests/test-source", "tests/test-reader",
                    "tests/test-collapsed", "tests/test-callgrind",
                    "tests/test-cpprofdata", "tests/test-names",
                    "tests/test-perf-script", "tests/test-perf-data",
                    "tests/test-pprof", "tests/test-speedscope",
                    "tests/test-firefox", "tests/test-cpuprofile",
                    "tests/test-legacy", "tests/test-pprof-raw",
                    "tests/test-shell.sh", *FORMATS],
    "src/formats/callgrind": ["tests/test-callgrind", "tests/callgrind.py",
                              "tests/test-gmon",
                              "tests/random-calls.py", *FORMATS],
    "src/formats/chrome": ["tests/test-cpuprofile", "tests/cpuprofile.py",
                           *FORMATS],
    "src/formats/cpprofdata": ["tests/test-cpprofdata", "tests/test-names",
                               "tests/names.py", "tests/jit.py",
                               "tests/recordings.sh", "tests/record.sh",
                               *FORMATS],
    "src/formats/firefox": ["tests/test-firefox", "tests/firefox.py",
                            *FORMATS],
    "src/formats/gmon": ["tests/test-gmon", "tests/gmon.py", *FORMATS],
    "src/formats/gperftools": ["tests/test-gperftools", "tests/test-legacy",
                               *FORMATS],
    "src/formats/merged": [*FLEET, "tests/test-foreign",
                           "tests/round-trips.py"],
    "src/formats/json": ["tests/test-json", "tests/test-firefox",
                         "tests/test-cpuprofile", "tests/test-speedscope",
                         *FORMATS],
    "src/formats/legacy": ["tests/test-legacy", "tests/legacy.py", *FORMATS],
    "src/formats/perf": ["tests/test-perf-data", "tests/test-perf-script",
                         "tests/jit.py", *FORMATS],
    "src/formats/pprof": ["tests/test-pprof", "tests/test-pprof-raw",
                          "tests/pprof-raw.py", "tests/test-legacy",
                          *FORMATS],
    "src/formats/speedscope": ["tests/test-speedscope", "tests/test-json",
                               *FORMATS],
    "dwarf": ["tests/test-dwarf", "tests/test-stack-unwinder",
              "tests/test-function-ranges", "tests/test-unwind"],
    "cpython": ["tests/python-outside.py", "tests/python.py"],
    "lib": ["tests/test-unwind", "tests/test-progress",
            "tests/real-stacks.py", "tests/test-stacks.py",
            "tests/test-collector.py"],
    "lib/wrap/contention.c": ["tests/test-contention"],
    "lib/store": ["tests/test-store", "tests/test-slices.py",
                  "tests/test-stacks.py",
                  "tests/test-collector.py"],
}
for folder in os.listdir(os.path.join(SOURCE, "src/formats")):
    if os.path.isdir(os.path.join(SOURCE, "src/formats", folder)):
        TESTS.setdefault(f"src/formats/{folder}",
                         [f"tests/test-{folder}", *FORMATS])
# They measure time: a failure counts if it happens twice.
UNSTEADY = {"tests/test-stacks.py", "tests/test-collector.py",
            "tests/real-stacks.py", "tests/jit.py", "tests/record.sh",
            "tests/test-slices.py"}

SWAPS = [("<=", "<"), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"),
         ("||", "&&"), (" < ", " <= "), (" > ", " >= "), (" + ", " - "),
         (" - ", " + "), ("++", "--"), ("--", "++"), ("+=", "-="),
         ("-=", "+="), ("|=", "&="), ("&=", "|="), (" & ", " | "),
         ("true", "false"), ("false", "true")]
# A call or an assignment; a declaration has two words before its first sign.
STATEMENT = re.compile(r"(?:[\w>.\[\]-]+\([^{}]*\)|"
                       r"\*?[\w>.\[\]*()-]+ (?:<<|>>|[|&+*/%^-])?= [^{}]*|"
                       r"\*?[\w>.\[\]-]+(?:\+\+|--)|continue|break);")


def bare(line):
    """The line without strings, characters and comments, of equal length."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|/\*.*?(?:\*/|$)',
                  lambda found: " " * len(found[0]), line)


def code_lines(lines):
    """The numbers of lines of code within functions, and of constants."""
    is_comment = is_macro = is_inside = is_enum = False
    for number, line in enumerate(lines):
        was_macro, is_macro = is_macro, ((is_macro or line.startswith("#"))
                                         and line.endswith("\\"))
        if is_comment or line.lstrip().startswith("/*"):
            is_comment = "*/" not in line
            continue
        if line == "{":
            is_inside = True
        elif line == "}":
            is_inside = False
        elif is_inside and not was_macro and not line.startswith("#"):
            yield number
        elif re.fullmatch(r"#define \w+\s+\(?\d+\)?",
                          bare(line).rstrip()) or is_enum or \
                re.match(r"enum \{ .*\};$", bare(line).rstrip()):
            yield number
        if line in ("enum {", "};"):
            is_enum = line == "enum {"


def of_operators(line, plain):
    for old, new in SWAPS:
        for found in re.finditer(re.escape(old), plain):
            at = found.start()
            around = plain[max(at - 1, 0):at] + plain[at + len(old):
                                                      at + len(old) + 1]
            if re.search(r"\w" if old[0].isalpha() else r"[<>=&|+-]", around):
                continue
            yield line[:at] + new + line[at + len(old):]


def of_constants(line, plain):
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", plain):
        start, new = found.start(), str(int(found[0]) + 1)
        if found[0] == "1" and re.search(r"[^\w\s)\]]\s*-$|\breturn -$",
                                         plain[:start]):
            start, new = start - 1, "0"         # -1, which is a failure
        yield line[:start] + new + line[found.end():]


def end_of_statement(plain_lines, first):
    """The number of its last line, if it is one to remove; or None."""
    text = ""
    if not plain_lines[first].strip():
        return None
    for number in range(first, min(first + 8, len(plain_lines))):
        text += " " + plain_lines[number].strip()
        if text.endswith(";"):
            is_whole = text.count("(") == text.count(")")
            return number if is_whole and STATEMENT.fullmatch(text.strip()) \
                else None
    return None


def mutations(lines, plain_lines, number):
    """Each as (number of its last line, the first line as it becomes); the
    lines after the first become empty."""
    line, plain = lines[number], plain_lines[number]
    for new in (*of_operators(line, plain), *of_constants(line, plain)):
        yield number, new
    found = re.search(r"\b(if|while) \((.*)\)( \{|;)?$", plain.rstrip())
    if found and plain.count("(") == plain.count(")"):
        start, end = found.span(2)
        yield number, line[:start] + "!(" + line[start:end] + ")" + line[end:]
    last = end_of_statement(plain_lines, number)
    if last is not None:
        yield last, re.match(r"\s*", line)[0] + ";"


def sources(paths):
    for path in paths:
        whole = os.path.join(SOURCE, path)
        if os.path.isfile(whole):
            yield path
        for folder, _, names in os.walk(whole):
            for name in names:
                if name.endswith(".c"):
                    yield os.path.relpath(os.path.join(folder, name), SOURCE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def choose(paths, seed):
    """(path, first line, last line, new text) of lines in random order."""
    all_lines = []
    for path in sorted(set(sources(paths))):
        lines = read(os.path.join(SOURCE, path)).split("\n")
        plain_lines = [bare(line) for line in lines]
        for number in code_lines(lines):
            found = list(dict.fromkeys(mutations(lines, plain_lines, number)))
            if found:
                all_lines.append((path, number, found))
    rng = random.Random(seed)
    rng.shuffle(all_lines)
    for path, number, found in all_lines:
        yield path, number, *rng.choice(found)


def survivors(log, paths):
    """The mutations that survived in an earlier run, where they are now."""
    for found in re.finditer(r"^(\S+):(\d+): SURVIVED\n((?:-.*\n)+)\+(.*)\n",
                             read(log), re.M):
        path, number = found[1], int(found[2]) - 1
        if paths and path not in set(sources(paths)):
            continue
        old = [line[1:] for line in found[3].splitlines()]
        try:
            lines = read(os.path.join(SOURCE, path)).split("\n")
        except FileNotFoundError:
            lines = []
        places = [at for at in range(len(lines))
                  if lines[at:at + len(old)] == old]
        if places:
            at = min(places, key=lambda place: abs(place - number))
            yield path, at, at + len(old) - 1, found[4]
        else:
            print(f"{path}:{number + 1}: gone: {old[0].strip()}", flush=True)


def claims(line):
    """Whether a line of TAP is of a claim that failed."""
    return (line.startswith("not ok") and "# SKIP" not in line) or \
        line.startswith("Bail out!")


class Copy:
    """A built copy of the sources, in which one file is broken at a time."""

    def __init__(self, place, is_plain):
        self.source = os.path.join(place, "source")
        self.build = os.path.join(self.source, "build")
        self.reports = os.path.join(place, "reports")
        self.times_path = os.path.join(place, "times.json")
        self.times = {}
        if os.path.exists(self.times_path):
            self.times = json.loads(read(self.times_path))
        self.environment = dict(
            os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", srcdir=self.source,
            CPPROF=os.path.join(self.build, "cpprof"), builddir=self.build,
            PYTHON3=sys.executable,
            ASAN_OPTIONS=f"log_path={self.reports}/asan",
            UBSAN_OPTIONS=f"log_path={self.reports}/ubsan")
        self.update()
        os.makedirs(self.build, exist_ok=True)
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            subprocess.run(["autoreconf", "-fi"], cwd=self.source, check=True)
            subprocess.run(["../configure", "-q", "CFLAGS=-g -O2",
                            *([] if is_plain else ["--enable-sanitizers"])],
                           cwd=self.build, check=True)
        subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "check",
                        "TESTS="], cwd=self.build, check=True)

    def update(self):
        """Copies what has changed."""
        files = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE,
                               check=True, capture_output=True).stdout
        for name in files.decode().rstrip("\0").split("\0"):
            old = os.path.join(self.source, name)
            new = os.path.join(SOURCE, name)
            if not os.path.exists(new):
                continue
            os.makedirs(os.path.dirname(old), exist_ok=True)
            with open(new, "rb") as file:
                content = file.read()
            if os.path.exists(old):
                with open(old, "rb") as file:
                    if file.read() == content:
                        continue
            with open(old, "wb") as file:
                file.write(content)
            shutil.copymode(new, old)

    def make(self, *arguments):
        return subprocess.run(["make", "-s", *arguments], cwd=self.build,
                              stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def object_of(self, path):
        folder, name = os.path.split(path)
        if path.startswith(("src/", "commands/")):
            return f"{folder}/libcore_a-{name[:-2]}.o"
        return f"{folder}/libcpprof_la-{name[:-2]}.lo"

    def machine_code(self, path):
        """A digest of what the optimiser makes of the file."""
        target = self.object_of(path)
        result = target
        if target.endswith(".lo"):
            result = os.path.join(os.path.dirname(target), ".libs",
                                  os.path.basename(target)[:-3] + ".o")
        result = os.path.join(self.build, result)
        if os.path.exists(result):
            os.remove(result)
        os.utime(os.path.join(self.source, path))
        self.make(target, "CFLAGS=-O2 -g0", "SANITIZER_CFLAGS=")
        with open(result, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        os.utime(os.path.join(self.source, path))
        return digest

    def build_test(self, test, path):
        if not test.endswith((".py", ".sh")):
            return self.make(test)
        if path.startswith(("src/", "commands/")):
            return self.make("cpprof")
        return self.make("all", "tests/check-stacks.la")

    def run(self, test, limit):
        """Why the test fails, or None."""
        shutil.rmtree(self.reports, ignore_errors=True)
        os.makedirs(self.reports)
        whole = os.path.join(self.source, test)
        command = [sys.executable, "-u", whole] if test.endswith(".py") else \
            ["sh", whole] if test.endswith(".sh") else ["./" + test]
        process = subprocess.Popen(
            ["timeout", "--foreground", str(limit), *command], cwd=self.build,
            env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True)
        why = plan = None
        n_claims = 0
        for line in process.stdout:
            line = line.decode(errors="replace")
            n_claims += bool(re.match(r"(not )?ok\b", line))
            plan = plan or re.match(r"1\.\.(\d+)", line)
            if claims(line):
                why = line.strip()
                break
        else:
            status = process.wait()
            if status == 124:
                why = "time limit"
            elif status != 0:
                why = f"status {status}"
            elif not plan or int(plan[1]) != n_claims:
                why = "plan"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()
        if why is None and glob.glob(self.reports + "/*"):
            why = "sanitizer"
        return why

    def measure(self, tests):
        """How long each test takes where nothing is broken.  A test that fails
        there would notice everything."""
        for test in tests:
            if test in self.times:
                continue
            start = time.monotonic()
            why = self.run(test, 1200)
            if why is not None:
                sys.exit(f"{test} fails where nothing is broken: {why}")
            self.times[test] = time.monotonic() - start
            with open(self.times_path, "w", encoding="utf-8") as file:
                json.dump(self.times, file, indent=1)

    def killer(self, path, tests):
        """(the test that notices what is broken, why), or None."""
        # Those of all formats or views tell less of one of them.
        def cost(test):
            return self.times[test] * (3 if test in VIEWS + FORMATS else 1)

        for test in sorted(tests, key=cost):
            limit = 20 + 10 * self.times[test]
            if not self.build_test(test, path):
                return test, "does not link"
            why = self.run(test, limit)
            if why is not None and test in UNSTEADY:
                why = self.run(test, limit)
            if why is not None:
                return test, why
        return None


def tests_of(path):
    return TESTS[max((folder for folder in TESTS
                      if path == folder or path.startswith(folder + "/")),
                     key=len)]


def is_quick(test):
    """Whether it is part of check-quick."""
    return not test.endswith((".py", ".sh")) or test == "tests/golden.sh"


def attempt(copy, path, first, last, new, tests, slowest):
    """One mutation: "noticed", "survived", "same", or None if there is none."""
    whole = os.path.join(copy.source, path)
    text = read(whole)
    lines = text.split("\n")
    old = lines[first:last + 1]
    changed = [*lines[:first], new, *[""] * (last - first), *lines[last + 1:]]
    tests = [test for test in tests if copy.times.get(test, 0) <= slowest]
    copy.measure(tests)
    tests = [test for test in tests if copy.times[test] <= slowest]
    place = f"{path}:{first + 1}: "
    try:
        with open(whole, "w", encoding="utf-8") as file:
            file.write("\n".join(changed))
        if not copy.make(copy.object_of(path)):
            return None
        found = copy.killer(path, tests)
        if found:
            print(f"{place}noticed by {found[0]}: {found[1]}\n"
                  f"#{old[0]}\n#{new}", flush=True)
            return "noticed"
        code = copy.machine_code(path)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)
        if code == copy.machine_code(path):
            return "same"
        print(f"{place}SURVIVED\n" + "".join(f"-{line}\n" for line in old)
              + "+" + new, flush=True)
        return "survived"
    finally:
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--copy")
    parser.add_argument("--replay")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--slowest", type=float, default=1000,
                        help="leave tests out that take more seconds")
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()
    if arguments.quick:
        os.environ["CHECK_QUICK"] = "1"
    count = {"noticed": 0, "survived": 0, "same": 0, None: 0}
    if arguments.replay:
        chosen = survivors(arguments.replay, arguments.paths)
    else:
        chosen = choose(arguments.paths or SCOPE, arguments.seed)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Copy(os.path.abspath(arguments.copy or temporary),
                    arguments.plain)
        for mutation in chosen:
            if not arguments.replay and arguments.count == \
                    count["noticed"] + count["survived"]:
                break
            tests = [test for test in tests_of(mutation[0])
                     if is_quick(test) or not arguments.quick]
            count[attempt(copy, *mutation, tests, arguments.slowest)] += 1
    n = count["noticed"] + count["survived"]
    print(f"{count['noticed']} of {n} mutations noticed; not counted: "
          f"{count['same']} of the same machine code, {count[None]} that do "
          "not compile")


sys.exit(main())
