#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""modules.py -- what each module used, alone and with what it called.

The rows are compared with counts of the stacks that are written: for each
module the stacks that end in it, and those that have it at all.  Speaks TAP.
"""
import collections
import csv
import io
import json
import os
import random
import subprocess
import tempfile

import cpprof
from claims import Claims, rounds

CPPROF = cpprof.CPPROF
claims = Claims()
MODULES = ["/bin/prog", "/lib/libc.so.6", "/opt/libz.so.1", "/bin/other", None]


def run(*commands, profile):
    words = [CPPROF, "-q"]
    for command in commands:
        words += ["-e", command]
    return subprocess.run([*words, profile], capture_output=True, text=True)


def shown(module):
    return "[unknown]" if module is None else os.path.basename(module)


def random_stacks(source, n):
    """Stacks, outermost first, that enter modules again and again."""
    return [[(f"f{source.randrange(6)}", source.choice(MODULES))
             for _ in range(source.randint(1, 9))] for _ in range(n)]


def write_script(path, stacks):
    with open(path, "w", encoding="ascii") as file:
        for i, stack in enumerate(stacks):
            file.write(f"prog 1 {i}.0: 1 cycles: \n")
            for name, module in reversed(stack):
                file.write(f"\t10 {name}+0x1 ({module or '[unknown]'})\n")
            file.write("\n")


def expected_rows(stacks):
    own, with_calls = collections.Counter(), collections.Counter()
    for stack in stacks:
        own[shown(stack[-1][1])] += 1
        with_calls.update({shown(module) for _, module in stack})
    return {module: (own[module], with_calls[module]) for module in with_calls}


def rows_of(answer):
    assert answer.returncode == 0, answer.stderr
    return {row["module"]: (row["hits"], row["inclusive"])
            for row in json.loads(answer.stdout.splitlines()[-1])["rows"]}


def rows_are_counts_of_stacks(directory):
    source = random.Random(7)
    path = os.path.join(directory, "stacks.script")
    for _ in range(rounds(5)):
        stacks = random_stacks(source, 200)
        write_script(path, stacks)
        expected = expected_rows(stacks)
        for settings in ([], ["granularity module"], ["granularity address"],
                         ["root f1"]):
            answer = run(*settings, "format json", "modules all", profile=path)
            assert rows_of(answer) == expected, (answer.stdout, expected)
        # The settings and names are as before, and a step goes first.
        answer = run("functions f1", "modules", "functions f1", profile=path)
        parts = answer.stdout.split("Module Profile")
        assert parts[0] in parts[1], answer.stdout
        kept = [stack for stack in stacks
                if any(name == "f1" for name, _ in stack)]
        answer = run("narrow f1", "format json", "modules all", profile=path)
        assert rows_of(answer) == expected_rows(kept), answer.stdout


def outputs_agree(directory):
    path = os.path.join(directory, "outputs.script")
    stacks = random_stacks(random.Random(3), 400)
    write_script(path, stacks)
    expected = expected_rows(stacks)
    rows = list(csv.DictReader(io.StringIO(
        run("format csv", "modules all", profile=path).stdout)))
    assert {row["module"]: (int(row["hits"]), int(row["inclusive"]))
            for row in rows} == expected, rows
    assert [int(row["hits"]) for row in rows] == sorted(
        (own for own, _ in expected.values()), reverse=True), rows
    text = run("modules all", profile=path).stdout.splitlines()
    found = {}
    for line in text:
        words = line.split()
        if len(words) == 5 and words[0].isdigit() and words[2].isdigit():
            found[words[4]] = int(words[0]), int(words[2])
    assert found == expected, text
    answer = run("modules 2", profile=path)
    assert "more entries (limit 2)" in answer.stdout, answer.stdout


def a_module_without_own_hits_is_shown(directory):
    """The threshold is one for what a module used with all that it called."""
    path = os.path.join(directory, "own.script")
    stack = [("main", "/bin/prog"), ("work", "/lib/libz.so.1")]
    write_script(path, [stack] * 3)
    assert rows_of(run("format json", "modules", profile=path)) == {
        "prog": (0, 3), "libz.so.1": (3, 3)}


def groups_are_rows(directory):
    path = os.path.join(directory, "groups.script")
    write_script(path, [[("main", "/bin/prog"), ("f1", "/bin/prog"),
                         ("f2", "/lib/libc.so.6")]] * 3)
    rows = rows_of(run("group mine = f1", "format json", "modules",
                       profile=path))
    assert rows == {"prog": (0, 3), "mine": (0, 3), "libc.so.6": (3, 3)}, rows


def files_without_modules_say_so(directory):
    path = os.path.join(directory, "a.folded")
    with open(path, "w", encoding="ascii") as file:
        file.write("main;f 3\nmain;g 4\n")
    answer = run("modules", profile=path)
    assert answer.returncode == 0, answer.stderr
    assert "the profile does not know the modules of functions" in \
        answer.stdout, answer.stdout
    assert rows_of(run("format json", "modules", profile=path)) == {
        "[unknown]": (7, 7)}


def calls_have_modules(directory):
    """callgrind: object files."""
    path = os.path.join(directory, "callgrind.out.1")
    with open(path, "w", encoding="ascii") as file:
        file.write("# callgrind format\nevents: Ir\nob=/bin/prog\nfl=a.c\n"
                   "fn=main\n1 5\ncob=/lib/libz.so.1\ncfi=z.c\ncfn=deflate\n"
                   "calls=1 2\n2 7\n\nob=/lib/libz.so.1\nfl=z.c\n"
                   "fn=deflate\n3 7\n")
    rows = rows_of(run("format json", "modules", profile=path))
    assert rows == {"libz.so.1": (7, 7), "prog": (5, 12)}, rows


def main():
    with tempfile.TemporaryDirectory() as directory:
        for check in (rows_are_counts_of_stacks, outputs_agree,
                      a_module_without_own_hits_is_shown, groups_are_rows,
                      files_without_modules_say_so, calls_have_modules):
            claims.attempt(check.__name__.replace("_", " "), check, directory)
    claims.end()


main()
