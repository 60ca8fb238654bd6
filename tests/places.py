#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""places.py -- what is written to where others may have put links.

What users do on purpose works; what leads astray is refused, and the file that it
leads to stays as it was.  What other users own needs root.  Speaks TAP.
"""
import os
import subprocess
import tempfile

import cpprof
from claims import Claims

claims = Claims()
OTHER = 12345


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def down(folder, target, arrow=">", status=0):
    """Writes a view to a file; what it says of that."""
    done = cpprof.ask(os.path.join(folder, "profile"),
                      f"down {arrow} {target}", cwd=folder, status=status)
    return done.stderr, done.stdout


def check_purpose(folder):
    def is_written(name):
        return "Downward" in read(os.path.join(folder, name))
    os.mkdir(os.path.join(folder, "deep"))
    write(os.path.join(folder, "real"), "old")
    for link, target, file in (("link", "real", "real"),
                               ("new-link", "deep/new", "deep/new"),
                               ("twice", "link", "real"),
                               ("absolute", f"{folder}/deep/a", "deep/a")):
        os.symlink(target, os.path.join(folder, link))
        down(folder, link)
        claims.check(f"a link of the user's is followed: {link}",
                     is_written(file) and
                     os.path.islink(os.path.join(folder, link)))
    os.symlink("deep", os.path.join(folder, "way"))
    down(folder, "way/../deep/./b")
    claims.check("so are links on the way", is_written("deep/b"))
    size = len(read(os.path.join(folder, "real")))
    down(folder, "link", ">>")
    claims.check("and where text is added",
                 len(read(os.path.join(folder, "real"))) == 2 * size)
    os.symlink("/dev/stdout", os.path.join(folder, "out"))
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out"):
        claims.check(f"{name} is standard output",
                     "Downward" in down(folder, name)[1])
    claims.check("/dev/null takes everything",
                 down(folder, "/dev/null") == ("", ""))
    os.mkfifo(os.path.join(folder, "pipe"))
    with subprocess.Popen(["cat", "pipe"], cwd=folder, text=True,
                          stdout=subprocess.PIPE) as reader:
        down(folder, "pipe")
        claims.check("a named pipe has its reader",
                     "Downward" in reader.communicate()[0])
    os.link(os.path.join(folder, "real"), os.path.join(folder, "second"))
    write(os.path.join(folder, "real"), "old")
    down(folder, "real")
    claims.check("a file keeps its second name", is_written("second"))
    for name, why in (("none/x", "No such file"), ("x/", "Is a directory"),
                      (".", "Is a directory"), ("real/x", "Not a directory"),
                      ("x" * 300, "too long")):
        text = down(folder, name, status=1)[0]
        claims.check(f"{name[:9]} is refused: {why}", why in text, text)
    os.symlink("loop", os.path.join(folder, "loop"))
    text = down(folder, "loop", status=1)[0]
    claims.check("a link to itself is refused", "symbolic links" in text, text)


def check_others(folder):
    if os.geteuid() != 0:
        claims.skip("what other users made", "needs root")
        return
    shared = os.path.join(folder, "shared")
    victim = write(os.path.join(folder, "victim"), "precious")
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    os.symlink("../victim", os.path.join(shared, "link"))
    os.symlink("..", os.path.join(shared, "way"))
    os.link(victim, os.path.join(shared, "second"))
    os.mkfifo(os.path.join(shared, "pipe"))
    for name in ("link", "way", "pipe"):
        os.lchown(os.path.join(shared, name), OTHER, OTHER)
    for mode in (0o1777, 0o777, 0o755):
        os.chmod(shared, mode)
        os.chown(shared, OTHER if mode == 0o755 else 0, 0)
        for name, why in (("link", "a link that another user made"),
                          ("way/victim", "a link that another user made"),
                          ("second", "has several names"),
                          ("pipe", "no regular file")):
            for arrow in (">", ">>"):
                text = down(folder, f"shared/{name}", arrow, status=1)[0]
                claims.check(f"{arrow} {name} in a directory of mode {mode:o} "
                             "is refused", why in text and
                             read(victim) == "precious", text)
    done = cpprof.run("merge", "-o", "shared/link", "profile", cwd=folder,
                      status=1)
    claims.check("so it is by merge", "another user" in done.stderr and
                 read(victim) == "precious", done.stderr)
    done = cpprof.run("record", "-o", "shared/way/recording", "true",
                      cwd=folder, status=(1, 2, 125))
    claims.check("and record", "another user" in done.stderr and
                 not os.path.exists(os.path.join(folder, "recording")),
                 done.stderr)
    down(folder, "shared/new")
    claims.check("a new file may be made there",
                 "Downward" in read(os.path.join(shared, "new")))


def check_history(folder):
    """The lines typed at the prompt, in a home directory."""
    import pty
    home = os.path.join(folder, "home")
    state = os.path.join(home, ".local", "state", "cpprof")
    history = os.path.join(state, "history")
    precious = write(os.path.join(folder, "precious"), "precious\n")

    def type_line():
        leader, terminal = pty.openpty()
        environment = {**os.environ, "HOME": home, "TERM": "dumb"}
        environment.pop("XDG_STATE_HOME", None)
        with subprocess.Popen([cpprof.CPPROF, "-n", "profile"], cwd=folder,
                              stdin=terminal, stdout=terminal,
                              stderr=subprocess.PIPE, text=True,
                              env=environment) as program:
            os.close(terminal)
            os.write(leader, b"functions\nquit\n")
            output = b""
            while True:
                try:
                    piece = os.read(leader, 4096)
                except OSError:
                    break
                output += piece
            text = program.stderr.read() + output.decode(errors="replace")
        os.close(leader)
        return text
    os.mkdir(home)
    type_line()
    claims.check("the state directory is made, for the user only",
                 "functions" in read(history) and
                 os.stat(state).st_mode & 0o77 == 0 and
                 os.stat(history).st_mode & 0o77 == 0)
    os.remove(history)
    os.symlink(os.path.join(folder, "elsewhere"), history)
    type_line()
    claims.check("a link of the user's leads to the history",
                 "functions" in read(os.path.join(folder, "elsewhere")))
    if os.geteuid() != 0:
        claims.skip("a history of another user", "needs root")
        return
    os.remove(history)
    os.symlink(precious, history)
    os.lchown(history, OTHER, OTHER)
    text = type_line()
    claims.check("that of another user does not", read(precious) ==
                 "precious\n" and "another user" in text, text)
    os.remove(history)
    os.chown(write(history, ""), OTHER, OTHER)
    text = type_line()
    claims.check("and nothing is added to a history of another user's",
                 read(history) == "" and "another user" in text, text)


def main():
    for check in (check_purpose, check_others, check_history):
        with tempfile.TemporaryDirectory() as folder:
            write(os.path.join(folder, "profile"), "main;a 10\nmain;b 20\n")
            claims.attempt(f"{check.__name__} ends", check, folder)
    claims.end()


main()
