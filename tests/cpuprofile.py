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
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
DATA = os.path.join(HERE, "data", "node")


def answers(profile, *commands):
    """{path: hits} for each command that is a view."""
    arguments = [CPPROF, "-q", "-F", "json", "-e", "threshold 0"]
    for command in commands:
        arguments += ["-e", command]
    out = subprocess.run(arguments + [profile], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, check=True, text=True,
                         timeout=120).stdout
    return [{tuple(row["path"]): row["hits"] for row in json.loads(line)["rows"]
             if row["hits"]} for line in out.splitlines()]


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


def main():
    claims = V8Claims()
    with gzip.open(os.path.join(DATA, "busy.cpuprofile.gz")) as file:
        check(claims, "busy.cpuprofile", json.load(file))
    if shutil.which("node"):
        subprocess.run(["node", "--cpu-prof", "--cpu-prof-dir=" + WORK,
                        "--cpu-prof-name=fresh", os.path.join(DATA, "busy.js")],
                       stdout=subprocess.DEVNULL, check=True, timeout=120)
        with open(os.path.join(WORK, "fresh"), encoding="utf-8") as file:
            check(claims, "what node writes", json.load(file))
    else:
        claims.skip("what node writes", "node not found")
    claims.end()


sys.setrecursionlimit(100000)
with tempfile.TemporaryDirectory() as WORK:
    main()
