#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""perf-fields.py -- whatever fields perf script prints, the counts are perf's.

    perf-fields.py [--share SHARE] [--seed SEED] [--keep DIR] [CPPROF]

Makes recordings with perf (root, or perf_event_paranoid -1), prints each with
all sets of three to six fields (perf script -F), and opens the text.  It must
have as many samples as perf counts in the recording; the sums of its periods
where these are printed; its innermost symbols where these are printed; its
commands, where these are.  Or cpprof refuses it in one line that names fields.
SHARE is the share of all sets to try (0.05: minutes; 1: hours).
"""
import argparse
import collections
import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FIELDS = ["comm", "tid", "pid", "time", "cpu", "event", "period", "ip", "sym",
          "dso", "symoff", "addr", "trace", "misc", "flags", "srcline",
          "brstack", "brstacksym", "brstackoff", "weight", "data_src",
          "phys_addr", "tod", "iregs", "uregs", "insn", "synth", "callindent",
          "metric", "ipc", "ins_lat", "data_page_size", "code_page_size",
          "bpf-output", "srccode", "insnlen"]
# Without effect on the kinds of events recorded here, or the same as another.
QUIET = {"synth", "callindent", "metric", "ipc", "bpf-output", "uregs", "tod",
         "brstackoff", "ins_lat", "insnlen"}

LOAD = """i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done
ls -R /usr/share/doc >/dev/null; sleep 0.05 | cat & wait"""

RECORDINGS = {
    "flat": ["-F", "997", "-e", "cpu-clock"],
    "graph": ["-F", "997", "-g", "-e", "cpu-clock"],
    "trace": ["-a", "-e", "sched:sched_switch"],
    "several": ["-d", "-F", "997", "-e", "cpu-clock,page-faults"],
    "all": ["-a", "-g", "-F", "99", "-e", "cpu-clock,sched:sched_wakeup"],
}


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False,
                          timeout=120, **options)


def write_branches(path, program="/bin/true", n=40):
    """A recording with branch stacks, weights, addresses and call chains.

    Few virtual machines can make one.  perf.data(5), perf_event.h.
    """
    # IP TID TIME ADDR CALLCHAIN CPU PERIOD BRANCH_STACK WEIGHT DATA_SRC
    # PHYS_ADDR
    sample_type = (0x1 | 0x2 | 0x4 | 0x8 | 0x20 | 0x80 | 0x100 | 0x800 |
                   0x4000 | 0x8000 | 0x80000)
    attr = struct.pack("<IIQQQQQIIQQQQIiQI", 1, 128, 0, 1000003, sample_type,
                       0, 1 | 1 << 8 | 1 << 9 | 1 << 18 | 1 << 23, 0, 0, 0, 0,
                       9, 0, 0, 0, 0, 0)
    attr = attr.ljust(128, b"\0")
    when = 10 ** 12

    def record(kind, misc, body):
        body += b"\0" * (-len(body) % 8)
        return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def identity():
        return struct.pack("<IIQQ", 77, 77, when, 0)

    with open(program, "rb") as elf:
        entry, = struct.unpack_from("<Q", elf.read(64), 24)
    data = record(3, 0, struct.pack("<II", 77, 77) +
                  b"branches".ljust(16, b"\0") + identity())
    data += record(10, 2, struct.pack("<IIQQQIIQQII", 77, 77, 0x400000,
                                      0x100000, 0, 0, 0, 0, 0, 5, 2) +
                   program.encode().ljust(16, b"\0") + identity())
    for i in range(n):
        when += 1000 * i
        chain = [0xfffffffffffffe00, 0x400000 + entry + i % 3, 0x400000 + entry]
        branches = [(0x400000 + entry + j, 0x400000 + entry + 2 * j, 1)
                    for j in range(i % 4)]
        body = struct.pack("<QIIQQIIQ", chain[1], 77, 77, when, 0x400100 + i,
                           0, 0, 1000003 + i)
        body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        body += struct.pack("<Q", len(branches)) + b"".join(
            struct.pack("<QQQ", *branch) for branch in branches)
        body += struct.pack("<QQQ", 5 + i, 0x1e05080021, 0x1000 + i)
        data += record(9, 2, body)
    at = 104 + 128 + 16
    header = b"PERFILE2" + struct.pack("<QQQQQQQQQ", 104, 128 + 16, 104,
                                       128 + 16, at, len(data), 0, 0, 0)
    header = header.ljust(104, b"\0")
    with open(path, "wb") as out:
        out.write(header + attr + struct.pack("<QQ", 0, 0) + data)


def make(folder):
    files = {}
    for name, options in RECORDINGS.items():
        files[name] = os.path.join(folder, name + ".data")
        if os.path.exists(files[name]):
            continue
        made = run(["perf", "record", "-q", "-o", files[name], *options, "--",
                    "sh", "-c", LOAD])
        if made.returncode != 0:
            print(f"{name}: not recorded:", made.stderr.strip()[:200])
            del files[name]
    files["branches"] = os.path.join(folder, "branches.data")
    write_branches(files["branches"])
    return files


def script(path, fields):
    return run(["perf", "script", "-i", path, "-F", ",".join(fields)])


class Truth:
    """What perf counts in a recording: samples by what they are marked with."""

    def __init__(self, path):
        self.samples = 0
        self.periods = collections.Counter()
        self.commands = collections.Counter()
        text = script(path, ["comm", "tid", "event", "period"]).stdout
        self.events = collections.Counter()
        for line in text.splitlines():
            if not line.strip():
                continue
            found = re.match(r" *(.*?) +(-?\d+) +(\d+) +(\S+): *$", line)
            assert found, line
            self.samples += 1
            self.commands[found[1]] += 1
            self.periods[found[4]] += int(found[3])
            self.events[found[4]] += 1
        self.leaves = collections.Counter()
        text = script(path, ["tid", "ip", "sym"]).stdout
        above = None
        for line in text.splitlines():
            found = re.match(r"(\t| *-?\d+ +) *([0-9a-f]+) (.*)$", line)
            if not line.strip():
                above = None
            elif found and (line[0] != "\t" or above == "tid"):
                self.leaves[found[3]] += 1
                above = "leaf"
            elif line[0] != "\t":
                above = "tid"


def answer(cpprof, path):
    """What cpprof says of a file: (info, events, bodies) or its refusal."""
    out = run([cpprof, "-q", "-F", "json", "-e", "threshold 0", "-e", "info",
               "-e", "startup show", "-e", "body", path])
    lines = out.stdout.splitlines()
    if len(lines) < 2:
        return out.stderr.strip().splitlines()[0] if out.stderr else "nothing"
    return json.loads(lines[0]), json.loads(lines[-1])


def compare(truth, fields, said):
    """What is wrong, as text; None if nothing is."""
    if isinstance(said, str):
        return None if "-F" in said else "refused without fields: " + said
    info, body = said
    samples = sum(row["samples"] for row in info["rows"])
    if samples != truth.samples:
        return f"{samples} samples, not {truth.samples}"
    if "event" in fields:
        expected = dict(truth.periods if "period" in fields else truth.events)
        got = {row["name"]: row["hits"] for row in info["rows"]}
    else:
        expected = sum(truth.periods.values()) if "period" in fields else \
            truth.samples
        got = sum(row["hits"] for row in info["rows"])
    if got != expected:
        return f"{got} hits, not {expected}"
    if "sym" in fields and "ip" in fields and "period" not in fields and \
            len(info["rows"]) == 1 and "srcline" not in fields:
        wrong = [name for name, n in truth.leaves.items()
                 if name != "[unknown]" and "(" not in name and "inlined"
                 not in name and n != sum(
                     row["hits"] for row in body["rows"]
                     if row["path"][-1] == name)]
        if wrong:
            return f"{len(wrong)} of {len(truth.leaves)} symbols, such as " \
                f"{wrong[0]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("cpprof", nargs="?", default="./cpprof")
    options = parser.parse_args()
    folder = options.keep or tempfile.mkdtemp(prefix="perf-fields.")
    os.makedirs(folder, exist_ok=True)
    pick = random.Random(options.seed)
    wrong = collections.defaultdict(list)
    tried = collections.Counter()
    for name, path in make(folder).items():
        usable = [field for field in FIELDS if field not in QUIET
                  and script(path, ["comm", field, "ip"]).returncode == 0]
        truth = Truth(path)
        sets = [chosen for size in range(3, 7)
                for chosen in itertools.combinations(usable, size)
                if pick.random() < options.share]
        print(f"{name}: {truth.samples} samples; {len(usable)} fields, "
              f"{len(sets)} sets", flush=True)

        def attempt(chosen, path=path, truth=truth, name=name):
            text = script(path, chosen)
            if text.returncode != 0 or not text.stdout.strip():
                return "no output", chosen
            file = os.path.join(folder, name + "." + "-".join(chosen))
            with open(file, "w", encoding="utf-8") as out:
                out.write(text.stdout)
            said = answer(options.cpprof, file)
            why = compare(truth, chosen, said)
            if why is None:
                os.unlink(file)
            return why or ("refused" if isinstance(said, str) else "right"), \
                chosen

        with ThreadPoolExecutor(2) as pool:
            for why, chosen in pool.map(attempt, sets):
                kind = why if why in ("refused", "right", "no output") else \
                    "wrong"
                tried[name, kind] += 1
                if kind == "wrong":
                    wrong[name].append((",".join(chosen), why))
    for (name, kind), n in sorted(tried.items()):
        print(f"{name}: {kind}: {n}")
    for name, sets in wrong.items():
        for chosen, why in sets:
            print(f"{name}: -F {chosen}: {why}"[:230])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
