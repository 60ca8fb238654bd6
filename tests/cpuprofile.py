#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Profiles of V8 give node's own hit counts, and times as computed by a few
lines of Python.

Checks a profile that node writes now, if it is installed, and a stored one,
also in the older form and as pieces of a trace.
"""
import collections
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import cpprof
from claims import Claims

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = cpprof.CPPROF
DATA = os.path.join(HERE, "data", "node")


def answers(profile, *commands):
    """{path: hits} for each command that is a view."""
    return [{tuple(row["path"]): row["hits"] for row in view["rows"]
             if row["hits"]}
            for view in cpprof.documents(profile, "threshold 0", *commands)]


def name_of(frame):
    if frame["functionName"] or not frame["url"]:
        return frame["functionName"] or "(anonymous)"
    return "(anonymous {}:{}:{})".format(
        frame["url"].rsplit("/", 1)[-1], frame["lineNumber"] + 1,
        frame["columnNumber"] + 1)


def expected(document):
    """The contents of the file: [hits of functions' bodies, of stacks], by
    resource."""
    nodes = {node["id"]: node for node in document["nodes"]}
    parent = {child: node["id"] for node in document["nodes"]
              for child in node.get("children", [])}
    stamp, times = document["startTime"], []
    for delta in document["timeDeltas"]:
        stamp += delta
        times.append(max([stamp] + times[-1:]))
    times.append(max(document["endTime"], times[-1]))
    spent = collections.Counter()
    for i, sample in enumerate(document["samples"]):
        spent[sample] += times[i + 1] - times[i]
    hits = {number: node["hitCount"] for number, node in nodes.items()}
    result = {}
    for resource, charges in (("time", spent), ("samples", hits)):
        bodies, stacks = collections.Counter(), collections.Counter()
        for number, charge in charges.items():
            stack, at = [], number
            while at in parent:     # "(root)" has none
                stack.insert(0, name_of(nodes[at]["callFrame"]))
                at = parent[at]
            if charge:
                bodies[(stack[-1],)] += charge
                stacks[tuple(stack)] += charge
        result[resource] = dict(bodies), dict(stacks)
    return result


def slices_differ(path, documents):
    """What `timeline` says, against the profiles in a file: each sample lasts
    until the next one."""
    spans = []      # begin, end, in ns
    for document in documents:
        stamp, times = document["startTime"], []
        for delta in document["timeDeltas"]:
            stamp += delta
            times.append(max([stamp] + times[-1:]))
        times.append(max(document["endTime"], times[-1]))
        spans += [(begin * 1000, end * 1000)
                  for begin, end in zip(times, times[1:])]
    start = min(begin for begin, _ in spans)
    out = subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "resource time", "-e", "timeline",
         "-e", "resource samples", "-e", "timeline", path],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
        text=True, timeout=120).stdout
    answers = [json.loads(line) for line in out.splitlines()]
    time, samples = [one for one in answers if "width_ns" in one]
    wrong = []
    for row in time["rows"]:
        first, last = start + row["begin_ns"], start + row["end_ns"]
        # Of a span, whole microseconds before the ends of a slice.
        us = sum(max(0, min(end, last) - begin) // 1000 -
                 max(0, min(end, first) - begin) // 1000
                 for begin, end in spans)
        if row["hits"] != us:
            wrong.append(f"{row}, expected {us}")
    # V8 leaves the first sample out of its hit counts, and on a busy machine
    # others out of its list.
    n_uncounted = len(spans) - sum(node["hitCount"] for document in documents
                                   for node in document["nodes"])
    for row in samples["rows"]:
        n = sum(row["begin_ns"] <= begin - start < row["end_ns"]
                for begin, _ in spans)
        if not min(n, n - n_uncounted) <= row["hits"] <= \
                max(n, n - n_uncounted):
            wrong.append(f"samples: {row}, expected {n}")
    if sum(row["hits"] for row in time["rows"]) != \
            sum(end - begin for begin, end in spans) // 1000:
        wrong.append("time outside of all slices")
    return wrong


def random_document(rng):
    """Any gaps between samples, and a clock that goes back a little."""
    n = rng.randint(1, 40)
    frame = {"scriptId": "1", "url": "", "lineNumber": -1, "columnNumber": -1}
    nodes = [{"id": 1, "hitCount": 0, "children": [],
              "callFrame": {"functionName": "(root)", **frame}}]
    for number in range(2, n + 2):
        rng.choice(nodes)["children"].append(number)
        nodes.append({"id": number, "hitCount": 0, "children": [],
                      "callFrame": {"functionName": f"f{number % 7}",
                                    **frame}})
    samples = [rng.randint(2, n + 1) for _ in range(rng.randint(1, 400))]
    for number in samples:
        nodes[number - 1]["hitCount"] += 1
    deltas = [rng.choice([1000, rng.randint(-50, 3000),
                          rng.randint(0, 10 ** rng.randint(1, 7))])
              for _ in samples]
    start = 10**9 + rng.randint(0, 10**6)
    return {"nodes": nodes, "startTime": start, "samples": samples,
            "timeDeltas": deltas,
            "endTime": start + max(0, sum(deltas)) + rng.randint(0, 10**5)}


def older(document):
    """The same profile in the older form, with a tree."""
    nodes = {node["id"]: node for node in document["nodes"]}
    stamp, times = document["startTime"], []
    for delta in document["timeDeltas"]:
        stamp += delta
        times.append(stamp)

    def tree(number):
        node = nodes[number]
        frame = node["callFrame"]
        return {"functionName": frame["functionName"], "url": frame["url"],
                "lineNumber": frame["lineNumber"] + 1,
                "columnNumber": frame["columnNumber"] + 1,
                "hitCount": node["hitCount"],
                "children": [tree(child) for child in
                             node.get("children", [])], "id": number}

    return {"typeId": "CPU", "head": tree(document["nodes"][0]["id"]),
            "startTime": document["startTime"] / 1e6,
            "endTime": document["endTime"] / 1e6,
            "samples": document["samples"], "timestamps": times}


def trace(document):
    """The same profile as in Chrome's traces, which have no hit counts."""
    parent = {child: node["id"] for node in document["nodes"]
              for child in node.get("children", [])}
    nodes = [{"id": node["id"], "callFrame": node["callFrame"]} |
             ({"parent": parent[node["id"]]} if node["id"] in parent else {})
             for node in document["nodes"]]
    where = {"pid": 7, "ph": "P", "cat": "x", "ts": 1}
    events = [{"args": {"data": {"startTime": document["startTime"]}},
               "id": "0x1", "name": "Profile", "tid": 9, **where}]
    step = 1 + len(document["samples"]) // 5
    for i in range(0, len(document["samples"]), step):
        events.append({
            "args": {"data": {
                "cpuProfile": {"nodes": nodes[:17] if i + step < len(
                    document["samples"]) else nodes,
                    "samples": document["samples"][i:i + step]},
                "timeDeltas": document["timeDeltas"][i:i + step]}},
            "id": "0x1", "name": "ProfileChunk", "tid": 8, **where})
        nodes = nodes[17:]
    events[-1]["args"]["data"]["endTime"] = document["endTime"]
    events += [{"args": {"name": "CrRendererMain"}, "name": "thread_name",
                "tid": 9, "pid": 7, "ph": "M"},
               {"args": {"data": {"x": [{}]}}, "name": "Other", "dur": 1.5}]
    return {"traceEvents": events, "metadata": {}}


class V8Claims(Claims):
    def compare(self, claim, path, document, samples=True):
        wanted = expected(document)
        for resource in ("time", "samples")[:2 if samples else 1]:
            body, tree = answers(path, f"resource {resource}", "body",
                                 "tree")[-2:]
            bodies, stacks = wanted[resource]
            differences = [f"{key}: {body.get(key)}, expected {value}"
                           for key, value in bodies.items()
                           if body.get(key) != value]
            # The tree has what stacks have in all.
            total = collections.Counter()
            for stack, value in stacks.items():
                for n in range(len(stack)):
                    total[stack[:n + 1]] += value
            differences += [f"{key}: {tree.get(key)}, expected {value}"
                            for key, value in total.items()
                            if tree.get(key) != value]
            if set(body) != set(bodies) or set(tree) != set(total):
                differences.append("other functions or paths")
            if not bodies:
                differences.append("nothing was compared")
            self.make(f"{resource} of {claim}", differences)


def write(name, document):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def check(claims, name, document):
    claims.compare(name, write("new", document), document)
    claims.compare(name + ", older form", write("old", older(document)),
                   document)
    claims.compare(name + ", as a trace", write("trace", trace(document)),
                   document, samples=False)
    claims.make(f"slices of {name}, in all forms",
                [wrong for form in ("new", "old", "trace") for wrong in
                 slices_differ(os.path.join(WORK, form), [document])])


def two_threads(documents):
    """One trace with two profiles."""
    events = []
    for number, document in enumerate(documents):
        for event in trace(document)["traceEvents"]:
            events.append({**event, "id": hex(number + 1),
                           "tid": 9 + number} if "id" in event else event)
    return {"traceEvents": events, "metadata": {}}


def check_random_slices(claims):
    differences = []
    for seed in range(25):
        rng = random.Random(seed)
        documents = [random_document(rng) for _ in range(2)]
        for form in (documents[0], older(documents[0]), trace(documents[0])):
            differences += [f"seed {seed}: {wrong}" for wrong in slices_differ(
                write("random", form), documents[:1])]
        differences += [f"seed {seed}, two threads: {wrong}"
                        for wrong in slices_differ(
                            write("random", two_threads(documents)),
                            documents)]
    claims.make("slices of random profiles", differences)
    document = random_document(random.Random(1))
    del document["startTime"]
    path = write("endless", document)
    done = subprocess.run([CPPROF, "-q", "-e", "timeline", path], check=False,
                          capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    claims.check("without a start there are no times", "does not say when" in
                 done.stderr, done.stderr)


# ---- lines ----

def lines_of(path, resource, file, *steps):
    """{line: self} of a file; None is where no line is known."""
    table = cpprof.documents(path, "threshold 0", f"resource {resource}",
                             *steps, f"list {file}")[-1]
    return {row["line"]: row["self"] for row in table["rows"] if row["self"]}


def ticks_of(document, url):
    """The same from "positionTicks"."""
    lines = collections.Counter()
    for node in document["nodes"]:
        if node["callFrame"]["url"] == url:
            for tick in node.get("positionTicks", []):
                lines[tick["line"]] += tick["ticks"]
    return dict(lines)


def check_lines(claims, name, document):
    url = next(node["callFrame"]["url"] for node in document["nodes"]
               if node["callFrame"]["url"].endswith("/busy.js"))
    path = write("lines", document)
    wanted = ticks_of(document, url)
    found = lines_of(path, "samples", "busy.js")
    claims.check(f"lines of {name} have V8's own hits",
                 len(wanted) > 1 and found == wanted, f"{found}, {wanted}")
    # Their times are all that the functions of the file have.
    times = {resource: sum(lines_of(path, resource, "busy.js").values())
             for resource in ("time", "samples")}
    spent = collections.Counter()
    files = {node["id"]: node["callFrame"]["url"]
             for node in document["nodes"]}
    stamp, stamps = document["startTime"], []
    for delta in document["timeDeltas"]:
        stamp += delta
        stamps.append(max([stamp] + stamps[-1:]))
    stamps.append(max(document["endTime"], stamps[-1]))
    for i, sample in enumerate(document["samples"]):
        spent[files[sample]] += stamps[i + 1] - stamps[i]
    claims.check(f"lines of {name} have all times", times["time"] ==
                 spent[url], f"{times}, {spent[url]}")


def planted_lines(rng, n):
    """Two functions whose samples are in lines, taken in turns."""
    frame = {"scriptId": "1", "url": "file:///opt/shop/cart.js",
             "columnNumber": 3}
    nodes = [{"id": 1, "hitCount": 0, "children": [2, 3], "callFrame": {
        "functionName": "(root)", "scriptId": "0", "url": "",
        "lineNumber": -1, "columnNumber": -1}}]
    samples, by_line = [], []
    for _ in range(n):
        number = rng.choice([2, 2, 3])
        samples.append(number)
        by_line.append(number * 10 + rng.choice([0, 0, 0, 1, 4]))
    for number, name in (2, "total"), (3, "round"):
        ticks = collections.Counter(
            line for line in by_line if line // 10 == number)
        nodes.append({"id": number, "hitCount": samples.count(number),
                      "callFrame": {"functionName": name,
                                    "lineNumber": number * 10 - 3, **frame},
                      "positionTicks": [{"line": line, "ticks": hits}
                                        for line, hits in ticks.items()]})
    return {"nodes": nodes, "startTime": 10**9, "samples": samples,
            "timeDeltas": [1000] * n, "endTime": 10**9 + 1000 * (n + 1)}, \
        by_line


def check_planted_lines(claims):
    document, by_line = planted_lines(random.Random(1), 3000)
    path = write("planted", document)
    wanted = dict(collections.Counter(by_line))
    claims.check("each line has its samples",
                 lines_of(path, "samples", "cart.js") == wanted)
    found = lines_of(path, "time", "cart.js")
    claims.check("equal samples have equal times by line", found ==
                 {line: 1000 * hits for line, hits in wanted.items()},
                 f"{found}, {wanted}")
    # Which sample was where is not known; no part of the run lacks a line.
    for step in "..1s", "1s..2s", "2s..":
        part = lines_of(path, "time", "cart.js", f"narrow time {step}")
        claims.check(f"lines have their part of {step}", all(
            abs(part.get(line, 0) - 1000 * hits / 3) < 60000
            for line, hits in wanted.items()), f"{part}, {wanted}")
    # More hits in lines than the function has: they are not believed.
    document["nodes"][1]["positionTicks"][0]["ticks"] += 1
    found = lines_of(write("planted", document), "samples", "cart.js")
    n_total = document["nodes"][1]["hitCount"]
    claims.check("lines with too many hits are not used", found == {
        None: n_total, **{line: hits for line, hits in wanted.items()
                          if line >= 30}}, found)
    # Where lines have fewer, the others are in none.
    document["nodes"][1]["positionTicks"][0]["ticks"] -= 11
    found = lines_of(write("planted", document), "samples", "cart.js")
    first = document["nodes"][1]["positionTicks"][0]["line"]
    claims.check("hits in no line stay", found == {
        **wanted, first: wanted[first] - 10, None: 10}, found)


def check_traced_lines(claims):
    """Traces have the line of each sample; some pieces have none."""
    document, by_line = planted_lines(random.Random(2), 500)
    chunks = trace(document)
    at, wanted = 0, collections.Counter()
    for number, event in enumerate(chunks["traceEvents"]):
        piece = event["args"].get("data", {})
        n = len(piece.get("timeDeltas", []))
        if n and number != 2:
            piece["lines"] = by_line[at:at + n]
        for line in by_line[at:at + n]:
            wanted[line if number != 2 else None] += 1
        at += n
    path = write("traced", chunks)
    found = lines_of(path, "samples", "cart.js")
    claims.check("each sample of a trace is in its line",
                 at == 500 and found == dict(wanted), f"{found}, {wanted}")
    claims.check("in that of its own function", all(
        lines_of(path, "samples", name).keys() <= {None, *lines}
        for name, lines in (("total", range(20, 30)),
                            ("round", range(30, 40)))))
    found = lines_of(path, "samples", "cart.js", "narrow time ..0.05s")
    n = sum(found.values())
    first = collections.Counter(by_line[:n])
    claims.check("also by time", 45 <= n <= 55 and found == dict(first),
                 f"{found}, {first}")


def main():
    claims = V8Claims()
    with gzip.open(os.path.join(DATA, "busy.cpuprofile.gz")) as file:
        document = json.load(file)
        check(claims, "busy.cpuprofile", document)
        check_lines(claims, "busy.cpuprofile", document)
    if shutil.which("node"):
        subprocess.run(["node", "--cpu-prof", "--cpu-prof-dir=" + WORK,
                        "--cpu-prof-name=fresh", os.path.join(DATA, "busy.js")],
                       stdout=subprocess.DEVNULL, check=True, timeout=120)
        with open(os.path.join(WORK, "fresh"), encoding="utf-8") as file:
            document = json.load(file)
            check(claims, "what node writes", document)
            check_lines(claims, "what node writes", document)
    else:
        claims.skip("what node writes", "node not found")
    check_random_slices(claims)
    check_planted_lines(claims)
    check_traced_lines(claims)
    claims.end()


sys.setrecursionlimit(100000)
with tempfile.TemporaryDirectory() as WORK:
    main()
