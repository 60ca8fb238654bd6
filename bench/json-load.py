#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loading large JSON profiles, beside Python's json.load and jq.

    json-load.py [CPPROF]

BENCH_DIR       where the inputs are kept (a temporary directory, removed)
BENCH_MEGABYTES about how large each is (130)
BENCH_RUNS      runs (5); each runs one after the other

The inputs: samples of a random call tree of 200,000 paths, up to 60 deep, of
3,000 functions.  Seconds are CPU time; the target: as fast as json.load, which
makes nothing of what it reads.
"""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

CPPROF = sys.argv[1] if len(sys.argv) > 1 else "./cpprof"
MEGABYTES = int(os.environ.get("BENCH_MEGABYTES", "130"))
RUNS = int(os.environ.get("BENCH_RUNS", "5"))
N_PATHS, N_FUNCTIONS = 200_000, 3000
NAMES = [f"module{i % 37}::function_{i}(int, char const*)"
         for i in range(N_FUNCTIONS)]


def call_tree(rng):
    parent, frame, depth = [None], [0], [1]
    for i in range(1, N_PATHS):
        at = rng.randrange(max(0, i - 2000), i)
        if depth[at] > 60:
            at = rng.randrange(min(i, 50))
        parent.append(at)
        frame.append(rng.randrange(N_FUNCTIONS))
        depth.append(depth[at] + 1)
    return parent, frame


def text(value):
    return json.dumps(value, separators=(",", ":"))


def speedscope(out, rng):
    parent, frame = call_tree(rng)
    out.write('{"shared":{"frames":' + text(
        [{"name": name, "file": "a.c", "line": i}
         for i, name in enumerate(NAMES)]))
    out.write('},"profiles":[{"type":"sampled","name":"t",'
              '"unit":"milliseconds","samples":[')
    n = at = size = 0
    while size < 0.95e6 * MEGABYTES:
        # Most samples are near the one before.
        at = rng.randrange(N_PATHS) if rng.random() < 0.1 else \
            max(0, min(N_PATHS - 1, at + rng.randrange(-3, 4)))
        stack, path = [], at
        while path is not None:
            stack.insert(0, frame[path])
            path = parent[path]
        size += out.write(("," if n else "") + text(stack))
        n += 1
    out.write('],"weights":' + text([rng.randrange(1, 2000) / 100
                                     for _ in range(n)]) + "}]}")


def cpuprofile(out, rng):
    parent, frame = call_tree(rng)
    children = [[] for _ in parent]
    for i, caller in enumerate(parent[1:], 1):
        children[caller].append(i)
    out.write('{"nodes":' + text([
        {"id": i, "callFrame": {
            "functionName": NAMES[frame[i]], "scriptId": "7",
            "url": "file:///a.js", "lineNumber": frame[i], "columnNumber": 4},
         "hitCount": 0, "children": children[i]}
        for i in range(N_PATHS)]))
    n = int((1e6 * MEGABYTES - out.tell()) / 11)
    out.write(',"startTime":1,"endTime":99999999999,"samples":' + text(
        [rng.randrange(N_PATHS) for _ in range(n)]))
    out.write(',"timeDeltas":' + text([rng.randrange(100, 1900)
                                       for _ in range(n)]) + "}")


def firefox(out, rng):
    parent, frame = call_tree(rng)
    count = list(range(N_FUNCTIONS))
    out.write('{"meta":{"interval":1,"preprocessedProfileVersion":60,'
              '"sampleUnits":{"threadCPUDelta":"ns"}},"libs":[],"shared":' +
              text({"stringArray": NAMES,
                    "funcTable": {"name": count, "resource": [-1] * len(count),
                                  "lineNumber": count},
                    "frameTable": {"func": count, "line": count},
                    "stackTable": {"frame": frame, "prefix": parent}}))
    out.write(',"threads":[')
    n = int(1e6 * MEGABYTES / 24 / 4)
    for thread in range(4):
        out.write(("," if thread else "") + text(
            {"name": f"t{thread}", "pid": "1", "tid": thread, "samples": {
                "stack": [rng.randrange(N_PATHS) for _ in range(n)],
                "timeDeltas": [rng.randrange(1000) / 1000 for _ in range(n)],
                "weight": [1] * n, "weightType": "samples",
                "threadCPUDelta": [rng.randrange(10**6) for _ in range(n)]}}))
    out.write("]}")


def write(make, path):
    """Runs in a process of its own, since children inherit the peak memory of
    their parent."""
    child = os.fork()
    if child == 0:
        with open(path + ".new", "w", encoding="utf-8") as out:
            make(out, random.Random(1))
        os.rename(path + ".new", path)
        os._exit(0)
    os.waitpid(child, 0)


def measure(*command):
    """CPU seconds and peak memory in MiB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {command}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compare(path):
    tools = {"cpprof": [CPPROF, "-q", "-e", "info", path],
             "json.load": [sys.executable, "-c", "import json, sys; "
                           "json.load(open(sys.argv[1]))", path]}
    if shutil.which("jq"):
        tools["jq"] = ["jq", "length", path]
    runs = {tool: [] for tool in tools}
    for _ in range(RUNS):
        for tool, command in tools.items():
            runs[tool].append(measure(*command))
    print(f"{os.path.basename(path)}: {os.path.getsize(path) / 1e6:.0f} MB")
    for tool, measured in runs.items():
        ratios = [seconds / ours[0] for (seconds, _), ours in
                  zip(measured, runs["cpprof"])]
        print(f"  {tool}: {statistics.median(m[0] for m in measured):.2f} s, "
              f"{statistics.median(m[1] for m in measured):.0f} MiB, "
              f"{statistics.median(ratios):.2f} times cpprof's")


def main(directory):
    for make in (speedscope, cpuprofile, firefox):
        path = os.path.join(directory, f"{make.__name__}.{MEGABYTES}.json")
        if not os.path.exists(path):
            write(make, path)
        compare(path)


if "BENCH_DIR" in os.environ:
    main(os.environ["BENCH_DIR"])
else:
    with tempfile.TemporaryDirectory() as made:
        main(made)
