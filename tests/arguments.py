#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""arguments.py -- what distinguishes the processes of a program.

Profiles of processes with known command lines are opened together, and the
column `arguments` of `processes all` is compared with the words that not all
processes of a program have.  Speaks TAP.
"""
import csv
import io
import json
import os
import random
import tempfile

import cpprof
from claims import Claims, rounds

claims = Claims()
SHOWN = 200     # bytes


def write_processes(directory, commands):
    """A profile for each, whose hits belong to no process when added up."""
    paths = []
    for i, command in enumerate(commands):
        paths.append(os.path.join(directory, f"{len(commands)}-{i}.folded"))
        with open(paths[-1], "wb") as file:
            file.write(b"# cpprof 1\n# resource: cpu; gtick=microsecond; "
                       b"interval=1000\n# program: " + command.split(b" ")[0] +
                       b"\n# command: " + command + b"\nmain 1\n")
    return paths


def ask(paths, *commands, options=()):
    return cpprof.ask(paths[0], "threshold 0", *commands,
                      options=(*options, *paths[1:])).stdout


def arguments(directory, commands):
    """What is shown of each, in the order of the commands."""
    answer = ask(write_processes(directory, commands), "processes all",
                 options=("-F", "json"))
    rows = json.loads(answer.splitlines()[-1])["rows"]
    found = {row["command"]: row["arguments"] for row in rows}
    return [found[command.decode()] for command in commands]


def expected(commands):
    words = [command.split()[1:] for command in commands]
    programs = [command.split()[0] for command in commands]
    shown = []
    for mine, program in zip(words, programs):
        others = [other for other, of in zip(words, programs) if of == program]
        shown.append(" ".join(
            word for word in mine if len(others) == 1 or
            not all(word in other for other in others)))
    return shown


def compilers_differ_by_their_files(directory):
    commands = [f"/usr/libexec/cc1 -quiet -I . -O2 f{i}.c -o /tmp/{i}.s"
                for i in range(34)]
    commands += ["/usr/bin/as -o x.o /tmp/1.s", "/bin/sh -c make"]
    found = arguments(directory, [command.encode() for command in commands])
    assert found[:2] == ["f0.c /tmp/0.s", "f1.c /tmp/1.s"], found
    assert found[34:] == ["-o x.o /tmp/1.s", "-c make"], found
    assert found == expected(commands), found


def random_words_are_left(directory):
    source = random.Random(11)
    for _ in range(rounds(6)):
        commands = [" ".join([source.choice(("/bin/a", "/bin/b"))] + [
            source.choice("uvwxyz") for _ in range(source.randrange(6))])
            for _ in range(source.randint(1, 9))]
        found = arguments(directory, [c.encode() for c in commands])
        assert found == expected(commands), (commands, found)


def nothing_is_left_of_equal_ones(directory):
    assert arguments(directory, [b"/bin/a -x y"] * 2) == [""] * 2


def long_arguments_are_cut(directory):
    """Between characters."""
    for word in "x" * 500, "\u00e4" * 300, "x" + "\u00e4" * 300, "ab " * 90:
        found, = arguments(directory, [b"/bin/a " + word.strip().encode()])
        assert found.endswith("\u2026"), found
        assert word.startswith(found[:-1]), found
        assert SHOWN - 1 <= len(found[:-1].encode()) <= SHOWN, found
    found, = arguments(directory, [b"/bin/a " + b"x" * SHOWN])
    assert found == "x" * SHOWN, found


def control_characters_are_escaped(directory):
    paths = write_processes(directory, [b"/bin/a \x1b[2J\xff --one",
                                        b"/bin/a --two"])
    for form in "text", "csv", "tsv", "json":
        answer = ask(paths, "processes all", options=("-F", form))
        assert "\x1b" not in answer and "[2J" in answer, answer


def text_leaves_out_what_all_have(directory):
    paths = write_processes(directory, [b"/bin/a -O2 one.c",
                                        b"/bin/a -O2 b.c"])
    text = ask(paths, "processes all")
    assert " one.c\n" in text and "-O2" not in text, text
    rows = csv.DictReader(io.StringIO(ask(
        paths, "processes all", options=("-F", "csv"))))
    found = {row["command"]: row["arguments"] for row in rows}
    assert found == {"": "", "/bin/a -O2 b.c": "b.c",
                     "/bin/a -O2 one.c": "one.c"}, found
    assert "arguments" not in ask(paths, "processes")


def main():
    with tempfile.TemporaryDirectory() as directory:
        for check in (compilers_differ_by_their_files, random_words_are_left,
                      nothing_is_left_of_equal_ones, long_arguments_are_cut,
                      control_characters_are_escaped,
                      text_leaves_out_what_all_have):
            claims.attempt(check.__name__.replace("_", " "), check, directory)
    claims.end()


main()
