#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ci.py -- the job of doc/ci.md works as that says.

Runs the job's steps, and the shell blocks around it, in a folder of their own.
`make` is a script that puts a sample program in the place of the benchmark.
"""
import os
import re
import shutil
import subprocess
import tempfile

from claims import Claims

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
BUILD = os.path.dirname(CPPROF)
BENCHMARK = os.path.join(BUILD, "sample-data", "forms")
SOURCE = os.environ.get("srcdir", ".")
claims = Claims()


def document():
    with open(os.path.join(SOURCE, "doc", "ci.md"), encoding="utf-8") as file:
        return file.read()


def steps():
    """{"Build": commands}: the job's steps that run something."""
    job = re.search(r"```yaml\n(.*?)```", document(), re.S)[1]
    return {name: re.sub("^ +", "", run, flags=re.M) for name, run in
            re.findall(r"- name: ([^\n]*)\n +run: \|\n((?: {10}[^\n]*\n)+)",
                       job)}


def shell_blocks():
    return re.findall(r"```sh\n(.*?)```", document(), re.S)


def sh(folder, commands):
    path = os.path.join(folder, "bin") + ":" + os.environ["PATH"]
    done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder,
                          env={**os.environ, "PATH": path},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False)
    return done.returncode, done.stdout.decode()


def prepare(folder):
    """A repository with a benchmark, and programs where the job expects
    them."""
    os.mkdir(os.path.join(folder, "bin"))
    with open(os.path.join(folder, "bin", "make"), "w",
              encoding="utf-8") as file:
        file.write(f'#!/bin/sh\ncp "{BENCHMARK}" benchmark\n')
    os.chmod(file.name, 0o755)
    os.symlink(CPPROF, os.path.join(folder, "bin", "cpprof"))


def check_job(folder):
    job = steps()
    claims.check("the job builds, records and checks",
                 list(job) == ["Build", "Record", "Check"], job)
    passing, writing, repeating = shell_blocks()
    prepare(folder)
    status, out = sh(folder, job["Build"])
    claims.check("the step Build works", status == 0, out)
    status, out = sh(folder, job["Record"] + job["Check"])
    claims.check("without a budget the job fails", status == 1 and
                 "performance.budget: No such file" in out, out)
    status, out = sh(folder, writing)
    budget = os.path.join(folder, "performance.budget")
    claims.check("the budget is written", status == 0 and
                 os.path.exists(budget) and "added" in out, out)
    status, out = sh(folder, job["Check"])
    claims.check("the run that it is of is within it", status == 0, out)

    # A function that became slower: as if its bound had been lower.
    with open(budget, encoding="utf-8") as file:
        lines = file.read()
    with open(budget, "w", encoding="utf-8") as file:
        file.write(re.sub("functions main below .*",
                          "functions main below 1ms", lines))
    status, out = sh(folder, job["Check"])
    claims.check("a slower function fails the job with 4", status == 4 and
                 "violated" in out, out)
    status, out = sh(folder, passing)
    claims.check("also where undecided lines may pass", status != 0, out)
    with open(budget, "w", encoding="utf-8") as file:
        file.write(lines + "functions renamed below 5%\n")
    status, out = sh(folder, job["Check"])
    claims.check("a function that is gone fails it with 5", status == 5 and
                 "undecided" in out, out)
    status, out = sh(folder, passing)
    claims.check("unless undecided lines may pass", status == 0, out)
    # A busy machine may take any time, so the bounds are ten times as high.
    with open(budget, "w", encoding="utf-8") as file:
        file.write(re.sub(r"below ([\d.]+)",
                          lambda bound: f"below {10 * float(bound[1]):.3f}",
                          lines))
    status, out = sh(folder, "rm -r benchmark.cpprof\n" + job["Record"] +
                     passing)
    claims.check("another run of the same program does, too", status == 0,
                 out)
    os.remove(budget)
    status, out = sh(folder, repeating.replace("--repeat 5", "--repeat 2") +
                     writing.splitlines()[1] + "\n" + job["Check"])
    claims.check("several runs have a budget of their own", status == 0 and
                 "in 2 runs together" in out, out)


def main():
    if not os.path.exists(os.path.join(BUILD, ".libs", "libcpprof.so.0")) or \
            not os.path.exists(BENCHMARK):
        print("1..0 # SKIP no collector here")
        return
    folder = tempfile.mkdtemp()
    try:
        check_job(folder)
    finally:
        shutil.rmtree(folder)
    claims.end()


if __name__ == "__main__":
    main()
