#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tasks.py -- what samples of an asyncio task cost, by how many tasks await it.

A Python program does a fixed work in a task that N others await, one by the other,
or with `gather` that each third does, and prints the CPU time of its thread.  In
turn it runs alone, with the collector inside, and sampled from outside, each
millisecond.  Prints for each N what a sample adds to the program's CPU time, the
median of ROUNDS pairs, and what the recording says that sampling took.

    tasks.py [ROUNDS]       in the build's folder; ROUNDS: 7 unless told
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
ROUNDS = int(sys.argv[1]) if sys.argv[1:] else 7
PROGRAM = """
import asyncio, sys, time
def leaf(n):
    for i in range(n): i * i
async def work():
    await asyncio.sleep(0.1)
    began = time.thread_time()
    for _ in range(400): leaf(50000)
    print(time.thread_time() - began)
async def awaits(n):
    inner = asyncio.create_task(awaits(n - 1) if n > 1 else work())
    if sys.argv[2] == "gather" and n % 3 == 0:
        await asyncio.gather(inner, asyncio.sleep(0))
    else:
        await inner
n = int(sys.argv[1])
asyncio.run(awaits(n) if n > 0 else work())
"""


def seconds(*words):
    return float(subprocess.run(words, check=True, capture_output=True,
                                text=True).stdout)


def recorded(place, way, program):
    """The program's seconds, and of its recording samples and the share that
    sampling took."""
    path = os.path.join(place, "recording")
    record = [CPPROF, "record", "--no-prompt", "--force", "-F", "1000", "-o",
              path]
    if way == "inside":
        used = seconds(*record, "--", *program)
    else:
        with subprocess.Popen(program, stdout=subprocess.PIPE,
                              text=True) as running:
            subprocess.run([*record, "-p", str(running.pid)], check=True,
                           capture_output=True)
            used = float(running.communicate()[0])
    info = json.loads(subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "info", path], check=True,
        capture_output=True, text=True).stdout)
    return used, info["samples"], info.get("sampling_share") or 0


def main():
    print("| tasks that await it | | added to a sample, us | of it by the "
          "recording's own clock |")
    print("|---|---|---:|---:|")
    python = os.path.realpath(sys.executable)
    with tempfile.TemporaryDirectory() as place:
        script = os.path.join(place, "tasks.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        for n, how in (0, ""), (1, ""), (10, ""), (10, "gather"), (60, ""):
            program = [python, script, str(n), how]
            for way in "inside", "outside":
                added, own = [], []
                for _ in range(ROUNDS):
                    alone = seconds(*program)
                    used, samples, share = recorded(place, way, program)
                    added.append(1e6 * (used - alone) / samples)
                    own.append(1e6 * share * used / samples)
                print(f"| {n} {how} | {way} | "
                      f"{statistics.median(added):.0f} | "
                      f"{statistics.median(own):.0f} |", flush=True)


main()
