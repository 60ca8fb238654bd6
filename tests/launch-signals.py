# SPDX-License-Identifier: GPL-3.0-or-later
"""launch-signals.py -- a signal that ends record while it starts a program ends
the program, too.

A preloaded fork sends the signal before the fork, after it, and from the child
before it executes the program.  A program that does not get it sleeps for a
minute, and ends with 0.
"""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import cpprof
from claims import Claims

FORK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{ unsetenv("LD_PRELOAD"); }
pid_t fork(void)
{
    pid_t (*real)(void) = dlsym(RTLD_NEXT, "fork");
    const char *when = getenv("WHEN");
    pid_t own = getpid(), pid;
    if (strcmp(when, "before") == 0) {
        kill(own, SIGTERM);
        usleep(200000);     /* for another thread that would take it */
    }
    pid = real();
    if (strcmp(when, pid == 0 ? "in the child of" : "after") == 0)
        kill(own, SIGTERM);
    return pid;
}
"""
claims = Claims()


def limit_stack():
    """Then record works on a thread of its own."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, most))


def check(directory, library):
    for about, prepare in (("", None), (", with a small stack", limit_stack)):
        for when in "before", "after", "in the child of":
            done = subprocess.run(
                [cpprof.CPPROF, "record", "-o", os.path.join(directory, "r"),
                 "--force", "sleep", "60"], capture_output=True, timeout=120,
                check=False, preexec_fn=prepare, text=True,
                env=dict(os.environ, WHEN=when, LD_PRELOAD=library))
            claims.check(f"a signal {when} the fork{about}",
                         done.returncode == 128 + signal.SIGTERM, done)


def main():
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, "fork.c")
        library = os.path.join(directory, "fork.so")
        if not shutil.which("cc"):
            claims.skip("signals while a program is started", "no cc")
        else:
            with open(source, "w", encoding="utf-8") as file:
                file.write(FORK)
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source,
                            "-ldl"], check=True)
            check(directory, library)
    claims.end()


sys.exit(main())
