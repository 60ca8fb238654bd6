#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sessions in the documents show what the program prints.

`manual.py --update` rewrites the sessions that differ.

A session is a fenced block that begins "```text cpprof ARGUMENTS", and all
blocks after it that begin "```text cpprof" without arguments: these go on in the
same process.  Lines in a block that begin with "> " are commands; what follows
each is its output, where a line of three dots alone stands for any lines.  The
first block may begin with "$ cpprof ARGUMENTS", which the reader sees.
"""
import os
import re
import subprocess
import sys

SOURCE = os.environ.get("srcdir", ".")
CPPROF = os.environ.get("CPPROF", "./cpprof")
DOCUMENTS = ["README.md", "doc/manual.md", "doc/ci.md"]


def sessions(path):
    """(arguments, [(line number, lines) of each block]) of each session in a
    document."""
    with open(os.path.join(SOURCE, path), encoding="utf-8") as document:
        lines = document.read().split("\n")
    found = []
    at = 0
    while at < len(lines):
        opening = re.match(r"```text cpprof(?: (.*))?$", lines[at])
        at += 1
        if not opening:
            continue
        first = at
        while lines[at] != "```":
            at += 1
        if opening[1] is not None:
            found.append((opening[1].split(), []))
        found[-1][1].append((first + 1, lines[first:at]))
    return found


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


def parse(arguments, lines):
    """The commands of a block, and what each should print."""
    commands, expected = [], []
    for line in lines:
        if line.startswith("> "):
            commands.append(line[2:])
            expected.append([])
        elif expected:
            expected[-1].append(line)
        elif line != "$ cpprof " + " ".join(arguments):
            raise ValueError(f"{line}: expected a command")
    return commands, expected


def run_session(arguments, blocks):
    """(line number, lines, commands, what each should print, what it prints)
    of each block."""
    parsed = [parse(arguments, lines) for _, lines in blocks]
    got = answers(arguments, [command for commands, _ in parsed
                              for command in commands])
    for (line, lines), (commands, expected) in zip(blocks, parsed):
        yield line, lines, commands, expected, got[:len(commands)]
        got = got[len(commands):]


def difference(commands, expected, got):
    """None, or what differs."""
    for command, want, have in zip(commands, expected, got):
        if not matches(want, have):
            return f"{command}\n" + "\n".join(have)
    return None


def update(path):
    """Rewrites a document with the current output of each session."""
    place = os.path.join(SOURCE, path)
    with open(place, encoding="utf-8") as document:
        lines = document.read().split("\n")
    blocks = [block for arguments, blocks in sessions(path)
              for block in run_session(arguments, blocks)]
    for line, old, commands, expected, got in reversed(blocks):
        if difference(commands, expected, got):
            lines[line - 1:line - 1 + len(old)] = [
                text for text in old if text.startswith("$ ")] + [
                text for command, have in zip(commands, got)
                for text in ["> " + command, *have]]
    with open(place, "w", encoding="utf-8") as document:
        document.write("\n".join(lines))


def main():
    if sys.argv[1:] == ["--update"]:
        for path in DOCUMENTS:
            update(path)
        return
    number = 0
    for path in DOCUMENTS:
        for arguments, blocks in sessions(path):
            for line, _, commands, expected, got in run_session(arguments,
                                                                blocks):
                number += 1
                differs = difference(commands, expected, got)
                print("not ok" if differs else "ok", number, "-",
                      f"{path}:{line} prints what it says")
                if differs:
                    print("# printed instead: " +
                          differs.replace("\n", "\n# "))
    print(f"1..{number}")


main()
