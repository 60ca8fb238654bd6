# SPDX-License-Identifier: GPL-3.0-or-later
"""cpprof.py -- runs of cpprof, for tests."""
import atexit
import functools
import json
import os
import resource as limits
import shutil
import subprocess
import tempfile
import time

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
CLOCK_REALTIME_COARSE = 5
TICK = time.clock_getres(CLOCK_REALTIME_COARSE)     # seconds, the kernel's


def children_seconds():
    """CPU time of child processes that have ended."""
    usage = limits.getrusage(limits.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@functools.cache
def copies_for_everyone(*files):
    """A folder with copies of cpprof, of its library and of some more files, which
    every user can read and execute: the build may lie below a private folder."""
    place = tempfile.mkdtemp(prefix="cpprof-test-")
    atexit.register(shutil.rmtree, place)
    build = os.path.dirname(CPPROF)
    library = next((path for path in (
        os.path.join(build, folder, "libcpprof.so.0")
        for folder in (".libs", ".")) if os.path.exists(path)), None)
    for path in (CPPROF, *files, *([library] if library else [])):
        shutil.copy(path, place)
        os.chmod(os.path.join(place, os.path.basename(path)), 0o755)
    os.chmod(place, 0o755)
    return place


def has_recorded(done, said=None):
    """Whether a short recording of running processes was made: one that has no
    samples is said to fail."""
    return done.returncode == 0 or \
        'no samples' in (done.stderr if said is None else said)


@functools.cache
def for_preload(library):
    """A path of a library for LD_PRELOAD, a list that blanks and colons separate,
    without any quoting: its own, or that of a link to it."""
    if not set(" :") & set(library):
        return library
    place = tempfile.mkdtemp(prefix="cpprof-test-")
    os.chmod(place, 0o711)
    atexit.register(shutil.rmtree, place)
    link = os.path.join(place, os.path.basename(library))
    os.symlink(library, link)
    return link


def run(*words, status=0, text=True, timeout=120, **options):
    """A finished run of cpprof, without input unless options give it some.
    status: what it must exit with: a number, several, or None for any."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run([CPPROF, *words], capture_output=True, text=text,
                          timeout=timeout, check=False, **options)
    allowed = (status,) if isinstance(status, int) else status
    assert allowed is None or done.returncode in allowed, (
        words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


@functools.cache
def can_count(resource):
    """Whether `record` can count a resource on this machine."""
    rows = json.loads(run("-q", "-F", "json", "-e", "record --list").stdout)
    return any(row["name"] == resource and row["source"] != "not here"
               for row in rows["rows"])


def ask(paths, *commands, options=(), **more):
    """A run on a profile, or a list of them, without the first screen."""
    return run("-q", *options,
               *(word for command in commands for word in ("-e", command)),
               *([paths] if isinstance(paths, (str, os.PathLike)) else paths),
               **more)


def text(paths, *commands, **more):
    """What the commands print."""
    return ask(paths, *commands, **more).stdout


def documents(paths, *commands, options=(), **more):
    """What they print as JSON: a document for each that shows something."""
    return [json.loads(line) for line in
            text(paths, *commands, options=("-F", "json", *options), **more)
            .splitlines()]


def table(paths, *commands, **more):
    """The document of the last command that shows something."""
    return documents(paths, *commands, **more)[-1]
