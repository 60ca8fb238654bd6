# SPDX-License-Identifier: GPL-3.0-or-later
"""terminal.py -- cpprof at a pseudo-terminal, for tests."""
import atexit
import codecs
import fcntl
import functools
import os
import pty
import re
import select
import shutil
import signal
import struct
import tempfile
import termios
import time

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
PATIENCE = 200      # seconds, for a machine that has died
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")


def has_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


@functools.cache
def asks_no_server():
    """A user's settings without debuginfod."""
    place = tempfile.mkdtemp(prefix="cpprof-test-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.mkdir(os.path.join(place, "cpprof"))
    with open(os.path.join(place, "cpprof", "settings"), "w",
              encoding="ascii") as file:
        print("debuginfod off", file=file)
    return place


class Terminal:
    """A program at a terminal: type() and expect()."""

    home = "/dev/null/home"     # the user's directory; nobody can make it

    def __init__(self, *arguments, columns=80, rows=24, stdin=None,
                 program=CPPROF, **environment):
        settings = {"TERM": "xterm", "PATH": os.environ["PATH"],
                    "HOME": self.home,
                    "XDG_STATE_HOME": self.home + "/state",
                    "INPUTRC": "/dev/null", "LC_ALL": "C.UTF-8",
                    **environment}
        # Where the distribution names a server, cpprof asks for consent first.
        if not {"HOME", "XDG_CONFIG_HOME"} & set(environment):
            settings["XDG_CONFIG_HOME"] = asks_no_server()
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                settings[name] = os.environ[name]
        is_sized, say_sized = os.pipe()
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.close(say_sized)
            os.read(is_sized, 1)
            os.close(is_sized)
            if stdin is not None:
                os.dup2(os.open(stdin, os.O_RDONLY), 0)
            for key in signal.SIGINT, signal.SIGQUIT:
                signal.signal(key, signal.SIG_DFL)  # ignored in background
            os.execve(program, [program, *arguments], settings)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        os.close(is_sized)
        os.close(say_sized)
        # A character may come in two pieces.
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.seen = ""          # all of it
        self.at = 0             # what was looked at
        self.result = 0         # as waitpid says it, of an ended program

    def read(self, seconds):
        ready, _, _ = select.select([self.file], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.file, 65536)
        except OSError:
            return False
        self.seen += self.decoder.decode(data)
        return bool(data)

    def type(self, text):
        os.write(self.file, text.encode())

    def expect(self, text):
        """Waits for a text; returns what came between the last expected text
        and this one."""
        until = time.monotonic() + PATIENCE
        is_over = False
        while True:
            clean = ESCAPES.sub("", self.seen)
            found = clean.find(text, self.at)
            if found >= 0:
                between = clean[self.at:found]
                self.at = found + len(text)
                return between
            if is_over or time.monotonic() > until:
                raise AssertionError(f"no {text!r} in {clean[self.at:]!r}")
            if not self.read(1) and self.ended():
                self.read_rest()
                is_over = True

    def reads_or_ends(self, text):
        """Waits for a text, as expect, or the program's end by a signal:
        whether the text came."""
        try:
            self.expect(text)
        except AssertionError:
            if not os.WIFSIGNALED(self.result):
                raise
            return False
        return True

    def read_rest(self):
        """What an ended program has left there."""
        while self.read(0):
            pass

    def ended(self):
        done, self.result = os.waitpid(self.process, os.WNOHANG)
        return done != 0

    def status(self):
        """Waits for the program's end; returns the exit status."""
        until = time.monotonic() + PATIENCE
        while not self.ended():
            if time.monotonic() > until:
                os.kill(self.process, signal.SIGKILL)
                raise AssertionError("it does not end")
            self.read(0.05)
        self.read_rest()
        os.close(self.file)
        return os.waitstatus_to_exitcode(self.result)
