# SPDX-License-Identifier: GPL-3.0-or-later
"""spare-files.py -- the files that record keeps ready for short processes.

A child that takes one has a file that is older than itself.  Speaks TAP.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import cpprof
from claims import Claims
from collector_file import Profile

BUILD = os.path.abspath(os.environ.get("builddir", "build"))
LIBRARY = os.path.join(BUILD, ".libs", "libcpprof.so.0")
N = 60
CHILDREN = f"""
import os, sys, time
for _ in range({N}):
    pid = os.fork()
    if pid == 0:
        while time.process_time() < 0.02:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
    print(".", flush=True)
"""
# The ready files are for more children than that, and each takes 20 ms.
OLDER_NS = 5 * 20_000_000
PROGRAM = sys.executable, "-c", CHILDREN
claims = Claims()


def record_words(path):
    # By default samples are soon farther apart: a child has none in 150.
    return (cpprof.CPPROF, "record", "--no-prompt", "--no-symbols", "-F",
            "1000", "-o", path, "--", *PROGRAM)


def files(path):
    return [name for name in glob.glob(f"{path}/cpprofdata.*")
            if re.search(r"\.\d+$", name)]


def spares(path):
    return glob.glob(f"{path}/spare.*")


def born_ns(path):
    """When a file was made; None: the file system does not say."""
    seconds, _, rest = subprocess.run(
        ["stat", "-c", "%.9W", path], capture_output=True, text=True,
        check=True).stdout.strip().partition(".")
    return int(seconds) * 10 ** 9 + int(rest) if int(seconds) > 0 else None


def check_used(path):
    done = subprocess.run(record_words(path), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False,
                          timeout=300)
    claims.check("the program runs", done.returncode == 0 and
                 done.stdout == ".\n" * N, done)
    profiles = [Profile(name) for name in files(path)]
    claims.check("each child has a whole file",
                 len(profiles) == N + 1 and all(
                     profile.hits > 0 and profile.end_mono > 0
                     for profile in profiles),
                 [(profile.hits, profile.end_mono) for profile in profiles])
    claims.check("no spare file is left", spares(path) == [], spares(path))
    claim = "files are older than the children that took them"
    born = [born_ns(name) for name in files(path)]
    if None in born:
        claims.skip(claim, "files have no time of birth here")
        return
    older = sum(when < profile.start - OLDER_NS
                for when, profile in zip(born, profiles))
    claims.check(claim, older > 0, born)


def check_killed(path):
    """The recorder is killed while spare files are there; the program goes on."""
    with subprocess.Popen(record_words(path), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as recorder:
        for _ in recorder.stdout:
            if spares(path):
                break
        left = spares(path)
        recorder.kill()
        said = recorder.stdout.read()
    claims.check("spare files stay when the recorder is killed", left and
                 said.endswith(".\n"), (left, said))
    done = cpprof.run("-q", "-e", "info", path, status=None)
    processes = re.search(r"^processes: (\d+)$", done.stdout, re.M)
    claims.check("and nobody reads them", done.returncode == 0 and
                 processes is not None and 1 < int(processes[1]) <= N + 1 and
                 "spare" not in done.stderr, done)
    done = cpprof.run("record", "--no-prompt", "--force", "-o", path, "true",
                      status=None)
    claims.check("and another recording replaces them",
                 done.returncode == 0 and spares(path) == [], done)


def main():
    if not os.path.exists(LIBRARY):
        print("1..0 # SKIP no collector on this machine")
        return
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as directory:
        check_used(os.path.join(directory, "used"))
        check_killed(os.path.join(directory, "killed"))
    claims.end()


if __name__ == "__main__":
    main()
