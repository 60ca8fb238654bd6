#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sessions in the documents show what the program prints.

`manual.py --update` rewrites the sessions that differ.

A session is a fenced block that begins "```text cpprof ARGUMENTS".  Lines in
it that begin with "> " are commands; what follows each is its output, where a
line of three dots alone stands for any lines.
"""
import os
import re
import subprocess
import sys

SOURCE = os.environ.get("srcdir", ".")
CPPROF = os.environ.get("CPPROF", "./cpprof")
DOCUMENTS = ["README.md", "doc/manual.md"]


def sessions(path):
    """(line number, arguments, lines) of each session in a document."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as document:
        lines = document.read().split("\n")
    at = 0
    while at < len(lines):
        opening = re.match(r"```text cpprof (.*)$", lines[at])
        at += 1
        if opening:
            first = at
            while lines[at] != "```":
                at += 1
            yield first + 1, opening[1].split(), lines[first:at]


def matches(expected, got):
    """Whether the lines agree, with "..." for any number of lines."""
    pattern = "".join(r"(?:[^\n]*\n)*?" if line.strip() == "..."
                      else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in got))


def answers(arguments, commands):
    """The output of each command, in one run of the program."""
    mark = "==%d=="
    script = "".join(f"{command}\n!echo {mark % number}\n"
                     for number, command in enumerate(commands))
    run = subprocess.run([CPPROF, "-q", *arguments], input=script, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         cwd=SOURCE, check=False, timeout=120)
    rest, result = run.stdout, []
    for number in range(len(commands)):
        answer, _, rest = rest.partition(mark % number + "\n")
        result.append(answer.split("\n")[:-1])
    return result


def parse(lines):
    """The commands of a session, and what each should print."""
    commands, expected = [], []
    for line in lines:
        if line.startswith("> "):
            commands.append(line[2:])
            expected.append([])
        else:
            expected[-1].append(line)
    return commands, expected


def check(arguments, lines):
    """None, or what differs."""
    commands, expected = parse(lines)
    for command, want, got in zip(commands, expected,
                                  answers(arguments, commands)):
        if not matches(want, got):
            return f"{command}\n" + "\n".join(got)
    return None


def update(path):
    """Rewrites a document with the current output of each session."""
    place = os.path.join(SOURCE, path)
    with open(place, encoding="utf-8") as document:
        lines = document.read().split("\n")
    for line, arguments, old in reversed(list(sessions(path))):
        if check(arguments, old):
            commands, _ = parse(old)
            lines[line - 1:line - 1 + len(old)] = [
                text for command, got in zip(commands,
                                             answers(arguments, commands))
                for text in ["> " + command, *got]]
    with open(place, "w", encoding="utf-8") as document:
        document.write("\n".join(lines))


def main():
    if sys.argv[1:] == ["--update"]:
        for path in DOCUMENTS:
            update(path)
        return 0
    number = 0
    for path in DOCUMENTS:
        for line, arguments, lines in sessions(path):
            number += 1
            difference = check(arguments, lines)
            print("not ok" if difference else "ok", number, "-",
                  f"{path}:{line} prints what it says")
            if difference:
                print("# printed instead: " + difference.replace("\n", "\n# "))
    print(f"1..{number}")
    return 0


sys.exit(main())
