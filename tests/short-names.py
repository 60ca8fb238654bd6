# SPDX-License-Identifier: GPL-3.0-or-later
"""short-names.py -- names on a terminal: shown short, never alike, and typed.

Each is also asked for where names are whole.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402
from terminal import ESCAPES, Terminal, has_terminals  # noqa: E402

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
claims = Claims()
PUSH = "std::vector<{0}, std::allocator<{0}> >::push_back({0} const&)"
FOLDED = f"""\
main;{PUSH.format("int")} 6
main;{PUSH.format("char")} 5
main;int ns::run<int>(int) const;operator new(unsigned long) 4
main;(anonymous namespace)::run(int) 3
main;ns::once(char);ns::again(char) 2
"""


def run(*commands, profile, options=()):
    words = [CPPROF, "-q", *options]
    for command in commands:
        words += ["-e", command]
    return subprocess.run([*words, profile], capture_output=True, text=True)


def shown(*commands, profile, columns=80):
    """What a terminal of that width shows."""
    words = ["-q"]
    for command in commands:
        words += ["-e", command]
    terminal = Terminal(*words, profile, columns=columns, PAGER="cat",
                        NO_COLOR="1")
    status = terminal.status()
    return status, ESCAPES.sub("", terminal.seen).replace("\r", "")


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def names_are_short_on_a_terminal(profile):
    status, text = shown("functions", profile=profile)
    assert status == 0, text
    rows = [line.split(" ", 1)[1] for line in text.splitlines()
            if re.match(r"\d\.\d{4} ", line)]
    assert rows == ["main [20]", "std::vector<int>::push_back [6]",
                    "std::vector<char>::push_back [5]", "ns::run [4]",
                    "operator new [4]", "(anonymous namespace)::run [3]",
                    "ns::again [2]", "ns::once [2]"], rows


def names_are_whole_elsewhere(profile):
    whole = PUSH.format("int")
    answer = run("functions", profile=profile)
    assert f"0.3000 {whole} [6]\n" in answer.stdout, answer.stdout
    for form in "json", "tsv", "csv":
        answer = run("names short", f"format {form}", "functions",
                     profile=profile)
        assert whole in answer.stdout.replace('""', '"'), answer.stdout
    answer = run("names short", "export collapsed", profile=profile)
    assert f"main;{whole} 6\n" in answer.stdout, answer.stdout
    status, text = shown("names full", "functions", profile=profile,
                         columns=200)
    assert f"0.3000 {whole} [6]\n" in text, text
    answer = run("names short", "functions", profile=profile)
    assert "0.3000 std::vector<int>::push_back [6]\n" in answer.stdout


def short_names_can_be_typed(profile):
    for typed, whole in (
            ("ns::run", "int ns::run<int>(int) const"),
            ("run<int>", "int ns::run<int>(int) const"),
            ("|ns::run(int)|", "int ns::run<int>(int) const"),
            ("|…::run<int>|", "int ns::run<int>(int) const"),
            ("again", "ns::again(char)"),
            ("operator new", "operator new(unsigned long)"),
            ("|operator new|", "operator new(unsigned long)"),
            ("std::vector<char>::push_back", PUSH.format("char")),
            ("|(anonymous namespace)::run|",
             "(anonymous namespace)::run(int)")):
        answer = run("format json", f"up {typed}", profile=profile)
        assert answer.returncode == 0, answer.stderr
        assert json.loads(answer.stdout)["root"] == whole, answer.stdout
    answer = run("path (main once again)", profile=profile)
    assert "(main ns::once(char) " not in answer.stdout
    assert "[2]" in answer.stdout, answer.stderr
    answer = run("drop |ns::run|", "narrow once", "format json", "steps",
                 profile=profile)
    assert answer.returncode == 0, answer.stderr
    assert "ns::once(char)" in answer.stdout, answer.stdout
    answer = run("functions again", profile=profile)
    assert answer.stdout.count("\n0.") == 1, answer.stdout
    assert answer.stderr == "", answer.stderr


def ambiguous_short_names_are_listed(profile):
    ints, chars = PUSH.format("int"), PUSH.format("char")
    answer = run("up push_back", profile=profile)
    assert answer.returncode == 1
    assert answer.stderr == (
        "-e:1: push_back is short for 2 functions: "
        f"|{chars}|, |{ints}|\n"), answer.stderr
    answer = run("functions run", profile=profile)
    assert "run is short for 2 functions: " in answer.stderr, answer.stderr
    answer = run("up ru", profile=profile)
    assert "has no function ru" in answer.stderr, answer.stderr


def short_names_complete(profile):
    terminal = Terminal("-q", profile, "-i", columns=100)
    terminal.expect("samples) ")
    terminal.type("up ns::r\t\n")
    seen = terminal.expect("root: ")
    assert "up ns::run" in seen and "const" not in seen, seen
    terminal.type("up std::vector<i\t\n")
    seen = terminal.expect("root: ")
    assert "|std::vector<int>::push_back|" in seen, seen
    terminal.type("\x04")


def main():
    if not has_terminals():
        print("1..0 # SKIP no terminals")
        return
    with tempfile.TemporaryDirectory() as directory:
        profile = write(directory, "a.folded", FOLDED)
        for check in (names_are_short_on_a_terminal, names_are_whole_elsewhere,
                      short_names_can_be_typed,
                      ambiguous_short_names_are_listed, short_names_complete):
            claims.attempt(check.__name__.replace("_", " "), check, profile)
    claims.end()


main()
