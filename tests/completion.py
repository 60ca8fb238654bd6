# SPDX-License-Identifier: GPL-3.0-or-later
"""completion.py -- bash, zsh and fish complete what cpprof takes.

Each shell is asked as a user asks it: at a terminal (fish answers without), with
the file that is installed for it.  What it must offer comes from the help and
the manual.
"""
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from claims import Claims
from cpprof import run
from terminal import CPPROF, Terminal, has_terminals

SOURCE = os.path.abspath(os.environ.get("srcdir", "."))
BASH_COMPLETION = "/usr/share/bash-completion/bash_completion"
SCRIPTS = os.path.join(SOURCE, "completion")
claims = Claims()

# ---- what there is to be offered ----


def options(*words):
    """The options that --help lists, by letter and by name: in rows, or after
    a command each in a paragraph."""
    row = (r"^\n? *(-\w)?(?:, )?(--[a-z-]+)?(?: [A-Z][^ ]*)?:[ \n]" if words
           else r"^ *(-\w)?(?:, )?(--[a-z-]+)?(?: [A-Z]+)? +[a-z]")
    found = re.findall(row, run(*words, "--help").stdout, re.M)
    return {word for pair in found for word in pair if word}


MANUAL = run("--print-manual=markdown").stdout
MAN = run("--print-manual=man").stdout
COMMANDS = set(re.findall(r"^#### `([a-z]+)", MANUAL, re.M))
RESOURCES = set(re.findall(r"^\.B ([a-z\\-]+)$", MAN.split(".SH RESOURCES")[1]
                           .split(".SH EXIT")[0], re.M))
RESOURCES = {name.replace("\\-", "-") for name in RESOURCES} - {
    "cpprof record", "cpprof record --list"}
EXPORTS = {line.split()[0] for line in run("--help").stdout.split(
    "export writes:\n")[1].splitlines() if line.startswith("  ")}


def beginning(words, text):
    return {word for word in words if word.startswith(text)}


# ---- the shells ----

class Shell:
    """A shell at a terminal, in the directory; the keys `all_of` insert all
    completions of a line, and `show` prints the line."""

    def __init__(self, place, words, start, all_of, show):
        self.show = show
        self.all_of = all_of
        path = f"{os.path.dirname(CPPROF)}:{os.environ['PATH']}"
        rows = {"columns": 2000, "rows": 100, "PATH": path, "PS1": "$ ",
                "TERM": "dumb", "INPUTRC": os.path.join(place, "inputrc"),
                "HOME": place}
        self.terminal = Terminal(*words[1:], program=shutil.which(words[0]), **rows)
        self.terminal.type(f"cd {shlex.quote(place)}; PS1='$ '; {start}; "
                           "echo rea''dy\n")
        self.terminal.expect("ready")

    def complete(self, line, key=None):
        """The line after a key, which is that of all completions."""
        self.terminal.type("\x15" + line + (key or self.all_of) + self.show)
        self.terminal.expect("<<")
        text = self.terminal.expect(">>\r")
        self.terminal.expect("$ ")
        return text.replace("\r", "").replace("\n", "")


class Bash(Shell):
    def __init__(self, place):
        with open(os.path.join(place, "inputrc"), "w", encoding="ascii") as out:
            out.write("set completion-query-items 0\nset bell-style none\n"
                      "set enable-bracketed-paste off\n")
        start = (f"[ ! -e {BASH_COMPLETION} ] || source {BASH_COMPLETION}; "
                 f"source {shlex.quote(SCRIPTS)}/bash/cpprof; "
                 r"""bind -x '"\C-xp": printf "<<%s>>\n" "$READLINE_LINE"'""")
        super().__init__(place, ["bash", "--norc", "--noprofile", "-i"], start,
                         "\x1b*", "\x18p")


class Zsh(Shell):
    def __init__(self, place):
        start = "; ".join((
            f"fpath=({shlex.quote(SCRIPTS)}/zsh $fpath)",
            "autoload -Uz compinit", "compinit -u -D",
            "print_line() { zle -I; print -r -- \"<<$BUFFER>>\" }",
            "zle -N print_line", "bindkey -e", "bindkey '^Xp' print_line",
            "zle -C all-matches complete-word _generic",
            "bindkey '^Xa' all-matches",
            "zstyle ':completion:all-matches:*' insert true",
            "zstyle ':completion:all-matches::::' completer _all_matches _complete",
            "zstyle ':completion:*' list-prompt ''", "unsetopt list_beep"))
        super().__init__(place, ["zsh", "-f", "-i"], start, "\x18a", "\x18p")


class Fish:
    def __init__(self, place):
        self.place = place

    def complete(self, line):
        path = f"{os.path.dirname(CPPROF)}:{os.environ['PATH']}"
        script = ("source $argv[1]/fish/cpprof.fish; complete -C $argv[2]")
        done = subprocess.run(
            ["fish", "--no-config", "-c", script, SCRIPTS, line],
            cwd=self.place, env={**os.environ, "PATH": path,
                                 "HOME": self.place},
            capture_output=True, text=True, timeout=60, check=True,
            stdin=subprocess.DEVNULL)
        return ("cpprof " + " ".join(words_of(line)[1:-1]) + " " + " ".join(
            shlex.quote(row.split("\t")[0])
            for row in done.stdout.splitlines()))


# ---- the claims ----

def words_of(line):
    """The words of a line, of which the last may be empty or in a quote that
    is open."""
    begun, quote, last = line.partition("'")
    if quote:
        return [*shlex.split(begun), last]
    return shlex.split(line + "''" if line.endswith(" ") else line)


def offered(shell, line):
    """The words that a shell puts in the place of the last word.  bash leaves
    out quotes if there are several; then words of words are compared."""
    words = words_of(line)
    try:
        text = shell.complete(line)
    except AssertionError as why:       # the shell shows something else
        return {str(why)}
    if "'" in line:
        text = text.replace("'", "")
    return set(shlex.split(text)[len(words) - 1:])


def check_shell(name, shell):
    def check(claim, line, expected, others=frozenset()):
        """That what is offered is what is expected, and perhaps others.  The
        word itself stays where nothing is offered."""
        if "'" in line:
            expected = set(" ".join(expected).split())
        found = offered(shell, line)
        others = {*others, words_of(line)[-1]} if not expected else others
        claims.check(f"{name} {claim}", expected <= found and
                     found <= expected | others,
                     f"{line}: missing {sorted(expected - found)}, too many "
                     f"{sorted(found - expected - others)}")

    folder = "profile.cpprof" if name == "bash" else "profile.cpprof/"
    check("completes the commands of cpprof", "cpprof re",
          {"record", "relay.folded"})
    check("completes its options", "cpprof -", options())
    check("completes the options of record", "cpprof record --",
          beginning(options("record"), "--"))
    check("completes resources", "cpprof record -r ", RESOURCES)
    check("completes a resource after another", "cpprof record -r cpu -r al",
          beginning(RESOURCES, "al"))
    check("completes processes", f"cpprof record -p {os.getpid()}",
          {str(os.getpid())})
    check("completes formats of answers", "cpprof -F ",
          {"text", "tsv", "csv", "json"})
    check("completes the options of merge", "cpprof merge --",
          beginning(options("merge"), "--"))
    check("completes formats of merge", "cpprof merge -o x -f ",
          EXPORTS | {"merged", "parquet"})
    check("completes the options of mcp", "cpprof mcp -", options("mcp"))
    check("completes all commands between quotes", "cpprof -e '", COMMANDS,
          {"!"})
    check("completes formats of export", "cpprof -e 'export ",
          {f"export {name}" for name in EXPORTS})
    check("completes values of settings", "cpprof -e 'granularity mod",
          {"granularity module"})
    check("completes profiles by their file names", "cpprof profile",
          {"profile one.folded", folder})
    check("completes files after an option", "cpprof --base profile.",
          {folder})
    check("completes files within a word", "cpprof --base=profile.",
          {"--base=" + folder})
    check("completes values within a word", "cpprof merge x -o y --by=h",
          {"--by=host"})
    check("completes the program that is recorded", "cpprof record ./my-pro",
          {"./my-program"})
    check("completes files after the program",
          "cpprof record -r cpu ./my-program some-inp", {"some-input"})
    check("completes a program after --", "cpprof record -r cpu -- ./my-pro",
          {"./my-program"})
    check("completes files after -- and a program",
          "cpprof record -- ./my-program some-inp", {"some-input"})
    line = "cpprof record -r cpu cpprof merge --len"
    if name == "bash" and not os.path.exists(BASH_COMPLETION):
        claims.skip("bash completes as the program does", "no bash-completion")
    else:
        check("completes as the program does", line, {"--lenient"})
    check("completes nothing where nothing is meant", "cpprof -F x", set())
    if isinstance(shell, Shell):
        for line, whole in (("cpprof rec", "cpprof record "),
                            ("cpprof -e 'export pp", "cpprof -e 'export pprof' "),
                            ("cpprof record -r alloc-b",
                             "cpprof record -r alloc-bytes ")):
            text = shell.complete(line, "\t")
            claims.check(f"{name}'s Tab completes {line}", text == whole, text)


def main():
    claims.check("the manual and the help name what there is",
                 len(COMMANDS) > 50 and len(RESOURCES) > 15 and
                 len(EXPORTS) > 4 and len(options()) > 10 and
                 len(options("record")) > 20,
                 (COMMANDS, RESOURCES, EXPORTS, options(), options("record")))
    with tempfile.TemporaryDirectory() as place:
        place = os.path.realpath(place)
        for name in "profile one.folded", "relay.folded", "some-input":
            with open(os.path.join(place, name), "w", encoding="ascii"):
                pass
        os.mkdir(os.path.join(place, "profile.cpprof"))
        program = os.path.join(place, "my-program")
        with open(program, "w", encoding="ascii") as out:
            out.write("#!/bin/sh\n")
        os.chmod(program, 0o755)
        for name, shell in ("bash", Bash), ("zsh", Zsh), ("fish", Fish):
            if shutil.which(name) is None:
                claims.skip(f"{name} completes", f"{name} not found")
            elif shell is not Fish and not has_terminals():
                claims.skip(f"{name} completes", "no pseudo-terminals")
            else:
                check_shell(name, shell(place))
    claims.end()


if __name__ == "__main__":
    main()
