#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""mutate.py -- breaks one line at a time; lists what no test notices.

    mutate.py [--count N] [--seed S] [--limit SECONDS] [PATH...]

Run by `make mutate` (MUTATE: the arguments), in the build directory.  PATHs are
files or folders of the sources, by default those of SCOPE.  The source is
copied, built, and broken in the copy, so that a tree being worked in stays as
it is.

A mutation negates a condition, moves a comparison's or a loop's bound by one,
swaps an operator for its neighbour, moves a constant by one, or removes a
statement.  What does not compile is no mutation.  The tests that belong to the
file, by TESTS, run until one fails; who takes longer than the limit has failed.
The last line is the score; above it each survivor with its line, before and
after.  A survivor is a missing test or an equivalent: the reader decides.
"""
import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
SCOPE = ["src/profile", "src/views", "src/formats", "lib/store/tree.c",
         "dwarf", "lib/unwind/tables.c"]

# The longest match counts.  Quick tests first: most mutants die at once.
EVERY_VIEW = ["tests/test-views", "tests/test-views-properties",
              "tests/golden.sh", "tests/random-oracle.py",
              "tests/random-calls.py"]
TESTS = {
    "src/base": ["tests/test-base", "tests/test-source", "tests/golden.sh"],
    "src/profile": ["tests/test-sample-tree", "tests/test-profile",
                    "tests/test-call-flow",
                    "tests/test-naming", "tests/test-names", *EVERY_VIEW,
                    "tests/test-commands", "tests/callgrind.py"],
    "src/views": [*EVERY_VIEW, "tests/test-commands", "tests/gmon.py",
                  "tests/callgrind.py", "tests/test-shell.sh"],
    "src/output": ["tests/test-output", "tests/golden.sh"],
    "src/symbols": ["tests/test-module-symbols", "tests/test-address-lines",
                    "tests/test-debug-lines", "tests/test-demangle",
                    "tests/test-symbol-table", "tests/test-function-ranges",
                    "tests/test-stack-unwinder", "tests/lines.py",
                    "tests/names.py", "tests/jit.py"],
    "src/formats": ["tests/test-source", "tests/test-reader",
                    "tests/test-export", "tests/test-foreign",
                    "tests/golden.sh", "tests/round-trips.py"],
    "src/formats/callgrind": ["tests/test-callgrind", "tests/callgrind.py",
                              "tests/export.py", "tests/round-trips.py"],
    "src/formats/chrome": ["tests/test-cpuprofile", "tests/cpuprofile.py",
                           "tests/round-trips.py"],
    "src/formats/collapsed": ["tests/test-collapsed", "tests/test-export",
                              "tests/round-trips.py"],
    "src/formats/cpprofdata": ["tests/test-cpprofdata", "tests/test-export",
                               "tests/names.py", "tests/jit.py",
                               "tests/round-trips.py", "tests/recordings.sh"],
    "src/formats/firefox": ["tests/test-firefox", "tests/firefox.py",
                            "tests/round-trips.py"],
    "src/formats/gmon": ["tests/test-gmon", "tests/gmon.py"],
    "src/formats/gperftools": ["tests/test-gperftools",
                               "tests/other-tools.py"],
    "src/formats/json": ["tests/test-json", "tests/test-firefox",
                         "tests/test-cpuprofile", "tests/round-trips.py"],
    "src/formats/legacy": ["tests/test-legacy", "tests/legacy.py",
                           "tests/round-trips.py"],
    "src/formats/perf": ["tests/test-perf-data", "tests/test-perf-script",
                         "tests/other-tools.py", "tests/round-trips.py"],
    "src/formats/pprof": ["tests/test-pprof", "tests/test-export",
                          "tests/other-tools.py", "tests/round-trips.py"],
    "src/formats/speedscope": ["tests/test-json", "tests/test-export",
                               "tests/round-trips.py"],
    "dwarf": ["tests/test-dwarf", "tests/test-stack-unwinder",
              "tests/test-function-ranges", "tests/test-unwind"],
    "lib": ["tests/test-unwind", "tests/test-stacks.py",
            "tests/test-collector.py"],
}

SWAPS = [("<=", "<"), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"),
         ("||", "&&"), (" < ", " <= "), (" > ", " >= "), (" + ", " - "),
         (" - ", " + "), ("++", "--"), ("+=", "-="), ("-=", "+="),
         ("|=", "&="), (" & ", " | "), ("true", "false"), ("false", "true")]


def bare(line):
    """Without strings, characters and comments, of the same length."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|/\*.*?(?:\*/|$)',
                  lambda found: " " * len(found[0]), line)


def code_lines(lines):
    """Numbers of the lines within functions that are code."""
    is_comment = is_macro = is_inside = False
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


def mutations(line):
    """Each as the line would be."""
    plain = bare(line)
    for old, new in SWAPS:
        for found in re.finditer(re.escape(old), plain):
            at = found.start()
            around = plain[max(at - 1, 0):at] + plain[at + len(old):
                                                      at + len(old) + 1]
            if old[0].isalpha() and re.search(r"\w", around):
                continue
            yield line[:at] + new + line[at + len(old):]
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", plain):
        yield line[:found.start()] + str(int(found[0]) + 1) + line[found.end():]
    found = re.search(r"\b(if|while) \((.*)\)( \{)?$", plain)
    if found and plain.count("(") == plain.count(")"):
        start, end = found.span(2)
        yield line[:start] + "!(" + line[start:end] + ")" + line[end:]
    statement = plain.strip()
    if re.fullmatch(r"(?:[\w>.\[\]-]+\([^{}]*\)|\*?[\w>.\[\]-]+ [|&+-]?= [^{}]*|"
                    r"[\w>.\[\]-]+(?:\+\+|--));", statement) and \
            statement.count("(") == statement.count(")"):
        yield re.match(r"\s*", line)[0] + ";"


def tests_of(path):
    return TESTS[max((folder for folder in TESTS
                      if path == folder or path.startswith(folder + "/")),
                     key=len)]


def run(command, place, limit):
    """Whether it ends well in time; what it started ends with it."""
    process = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        return process.wait(limit) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


class Copy:
    """Of the sources, configured and built."""

    def __init__(self, place):
        self.source = os.path.join(place, "source")
        self.build = os.path.join(self.source, "build")
        files = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE,
                               check=True, capture_output=True).stdout
        for name in files.decode().rstrip("\0").split("\0"):
            to = os.path.join(self.source, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if os.path.exists(os.path.join(SOURCE, name)):
                shutil.copy2(os.path.join(SOURCE, name), to)
        subprocess.run(["./quickstart", "build"], cwd=self.source, check=True)

    def make(self):
        return run(["make", "-s", "all"], self.build, 600)

    def passes(self, test, limit):
        return run(["make", "-s", "check", "TESTS=" + test], self.build,
                   limit)


def sources(paths):
    for path in paths:
        whole = os.path.join(SOURCE, path)
        if os.path.isfile(whole):
            yield path
        for folder, _, names in os.walk(whole):
            for name in names:
                if name.endswith(".c"):
                    yield os.path.relpath(os.path.join(folder, name), SOURCE)


def choose(paths, seed):
    """(path, line number, new line) of each line, lines in random order."""
    all_lines = []
    for path in sorted(set(sources(paths))):
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        for number in code_lines(lines):
            new = list(dict.fromkeys(mutations(lines[number])))
            if new:
                all_lines.append((path, number, new))
    rng = random.Random(seed)
    rng.shuffle(all_lines)
    for path, number, new in all_lines:
        yield path, number, rng.choice(new)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()
    n = n_killed = 0
    with tempfile.TemporaryDirectory() as place:
        copy = Copy(place)
        for path, number, new in choose(arguments.paths or SCOPE,
                                        arguments.seed):
            if n == arguments.count:
                break
            whole = os.path.join(copy.source, path)
            with open(whole, encoding="utf-8") as file:
                text = file.read()
            lines = text.split("\n")
            old, lines[number] = lines[number], new
            with open(whole, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            if copy.make():
                n += 1
                killer = next((test for test in tests_of(path)
                               if not copy.passes(test, arguments.limit)),
                              None)
                n_killed += killer is not None
                print(f"{path}:{number + 1}: " +
                      (f"noticed by {killer}" if killer else
                       f"SURVIVED\n-{old}\n+{new}"), flush=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text)
    print(f"{n_killed} of {n} mutations noticed")


sys.exit(main())
