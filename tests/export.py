#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exported profiles read back unchanged, and other tools read the same from
them.

Exports random profiles, heavily recursive and with odd names, and sample-data.
Checks with tools that are not installed are skipped.
"""
import functools
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cpprof
from claims import Claims, rounds

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = cpprof.CPPROF
N_RANDOM = rounds(4)
VIEWS = ["threshold 0", "top", "functions", "flat", "down", "up", "tree",
         "info"]


def run(*arguments):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120).stdout


# Of profiles that do not change, and are checked many times.
@functools.cache
def default_root(profile):
    return cpprof.documents(profile, "root")[0]["rows"][0]["value"]


def views(profile):
    """VIEWS, but `up` only where it has a root."""
    return [view for view in VIEWS
            if view != "up" or default_root(profile) is not None]


def resources(profile):
    return cpprof.documents(profile, "resource")[0]["rows"]


def export(profile, form, resource=None):
    path = os.path.join(WORK, "exported." + form)
    commands = [] if resource is None else ["-e", f"resource |{resource}|"]
    run(CPPROF, "-q", *commands, "-e", f"export {form} {path}", profile)
    return path


# ---- our own readers ----

def text_comes_back(profile):
    back = export(profile, "cpprof-text")
    for resource in resources(profile):
        commands = [f"resource |{resource['name']}|", *views(profile)]
        assert cpprof.documents(profile, *commands) == cpprof.documents(back, *commands)


def pprof_comes_back(profile):
    for resource in resources(profile):
        back = export(profile, "pprof", resource["name"])
        commands = [f"resource |{resource['name']}|", *views(profile)[:-1]]
        if default_root(profile) is not None:
            commands.insert(1, f"root {default_root(profile)}")
        assert cpprof.documents(profile, *commands) == cpprof.documents(back, *commands)


def has_hits(rows):
    return [row for row in rows if row["hits"] or row.get("inclusive")]


def speedscope_comes_back(profile):
    """Hits become gticks, in the format's units; stacks without hits are
    dropped."""
    back = export(profile, "speedscope")
    for ours, theirs in zip(resources(profile), resources(back), strict=True):
        assert ours["name"] == theirs["name"]
        factor = ours["interval"] * (10 if ours["gtick"] == "centisecond"
                                     else 1)
        commands = [f"resource |{ours['name']}|", *views(profile)[:-1]]
        for document, other in zip(cpprof.documents(profile, *commands),
                                   cpprof.documents(back, *commands), strict=True):
            assert document.get("root") == other.get("root")
            for row in document["rows"]:
                for column in ("hits", "cumulative", "inclusive"):
                    if column in row:
                        row[column] *= factor
            assert has_hits(document["rows"]) == has_hits(other["rows"])


# ---- odd names ----

def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """Of a message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def write_pprof(path, types, stacks):
    """types: [(name, unit)]; stacks: [(names outermost first, values)].

    The format is pprof, since it can hold any name."""
    strings, functions, out = [""], [], b""

    def string(text):
        if text not in strings:
            strings.append(text)
        return strings.index(text)

    for name, unit in types:
        out += field(1, field(1, string(name)) + field(2, string(unit)))
    for names, values in stacks:
        functions += [name for name in names if name not in functions]
        out += field(2, b"".join(
            [field(1, functions.index(name) + 1) for name in reversed(names)] +
            [field(2, value) for value in values]))
    for i, name in enumerate(functions, 1):
        out += field(4, field(1, i) + field(4, field(1, i)))
        out += field(5, field(1, i) + field(2, string(name)))
    with open(path, "wb") as file:
        file.write(out + b"".join(field(6, text.encode())
                                  for text in strings))


ODD_NAMES = [" ", "\t", "  led", "trailed ", "tab\there", "semi;colon", "n\nl",
             "cr\r", "\x7f", "(12)", "(12) x", "#hash", "f'2", "f", "a'b", "x=1",
             "[partial]", "0x10", "???", "[a;b]", "7", "f 7", "+3", "calls=1"]


def as_collapsed(name):
    return re.sub(r"[\0-\x08\n-\x1f\x7f]", "?", name.replace(";", ":"))


def as_callgrind(name):
    name = re.sub(r"[\0-\x08\n-\x1f\x7f]", "?", name)
    return re.sub(r"^[ \t]+", lambda blanks: "_" * len(blanks[0]), name)


def as_header(name):
    """Two of ODD_RESOURCES would be written alike."""
    name = re.sub("^ +", lambda blanks: "_" * len(blanks[0]), name)
    return "a?b-3" if name == "a\1b" else re.sub("[\1;]", "?", name)


def names_come_back(form, written_as):
    """Each comes back as it has to be written, and export reports how many
    were changed."""
    path = os.path.join(WORK, "odd.pb")
    back = os.path.join(WORK, "odd." + form)
    write_pprof(path, [("cpu", "count")],
                [(["main", name], [100 + i])
                 for i, name in enumerate(ODD_NAMES)])
    note = subprocess.run([CPPROF, "-q", "-e", f"export {form} {back}", path],
                          check=True, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True,
                          timeout=120).stderr
    n_changed = sum(written_as(name) != name for name in ODD_NAMES)
    assert n_changed == 0 or f"{n_changed} names as they are" in note, note
    for view in ("functions", "body"):
        ours, theirs = ({row["path"][0]: row["hits"] for row in cpprof.documents(
            path, "threshold 0", view)[-1]["rows"]} for path in (path, back))
        wanted = {}
        for name in ODD_NAMES:
            if "'" not in name:     # callgrind's level of recursion
                to = written_as(name)
                wanted[to] = wanted.get(to, 0) + ours[name]
        theirs = {name: theirs.get(name) for name in wanted}
        assert wanted.pop("f") <= theirs.pop("f") and theirs == wanted, theirs


ODD_RESOURCES = [
    [("samples", "count")], [("samples", "nanoseconds")],
    [("samples", "count"), ("cpu", "nanoseconds")],
    [("cpu;x", "count"), ("a\tb", "bytes"), (" led", "n")],
    [("a;b", "count"), ("a\1b", "count"), ("  ", "count")],
]


def resources_come_back(form, types, written_as):
    """Whatever they are called."""
    path = os.path.join(WORK, "odd.pb")
    write_pprof(path, types, [
        (["main", "f"], [930 + i for i in range(len(types))]),
        (["main", "g"], [7 + i for i in range(len(types))])])
    ours, theirs = resources(path), resources(export(path, form))
    for resource in ours:
        resource["name"] = written_as(resource["name"])
    assert ours == theirs, (ours, theirs)


def raw_samples_come_back(profile):
    samples = [cpprof.documents(path, "info")[0]["rows"][0]["samples"]
               for path in (profile, export(profile, "pprof"))]
    assert samples[0] == samples[1], samples


def functions_of_pprof(path):
    """(name, system name) of the functions of a pprof file."""
    with gzip.open(path) as file:
        fields = list(pprof_fields(file.read()))
    strings = [content.decode() for number, content in fields if number == 6]
    functions = [dict(pprof_fields(content)) for number, content in fields
                 if number == 5]
    return {(strings[function.get(2, 0)], strings[function.get(3, 0)])
            for function in functions}


def pprof_fields(data):
    """(number, value or bytes) of a message of numbers and bytes."""
    def take(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        tag, at = take(at)
        value, at = take(at)
        if tag & 7 == 2:
            at, value = at + value, data[at:at + value]
        yield tag >> 3, value


def pprof_shows_names():
    """pprof takes what is between brackets out of a name that is the system's
    name, too; of Python's <module> nothing is left."""
    path = os.path.join(WORK, "names.folded")
    with open(path, "w", encoding="ascii") as file:
        file.write("<module>;Vec<int>::push(int);a::b 1\nplain 2\n")
    assert functions_of_pprof(export(path, "pprof")) == {
        ("<module>", ""), ("Vec<int>::push(int)", ""), ("a::b", ""),
        ("plain", "plain")}, functions_of_pprof(export(path, "pprof"))


# ---- callgrind ----

def read_callgrind(path):
    """{event: (total, {function: self}, {(caller, callee): hits})}."""
    names, function, callee, is_counted = {}, None, None, False
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().split("\n")
    events = next(line for line in lines
                  if line.startswith("events:")).split()[1:]
    summary = next(line for line in lines if line.startswith("summary:"))
    own = [{} for _ in events]
    arcs = [{} for _ in events]
    for line in lines[lines.index(summary) + 1:]:
        key, _, value = line.partition("=")
        if key in ("fn", "cfn"):
            number, _, name = value.partition(" ")
            name = names.setdefault(number, name)
            function, callee = ((name, None) if key == "fn" else
                                (function, name))
        elif line and line[0].isdigit():
            costs = list(map(int, line.split()[1:]))
            # Costs of no calls would be the caller's own.
            assert callee is None or is_counted == any(costs), line
            for table, cost in zip(own if callee is None else arcs, costs):
                at = function if callee is None else (function, callee)
                table[at] = table.get(at, 0) + cost
            callee = None
        elif line.startswith("totals:"):
            assert line.split()[1:] == summary.split()[1:]
        else:
            assert key in ("", "fl", "cfi", "ob", "cob", "calls"), line
            assert key != "calls" or value in ("0 0", "1 0")
            is_counted = value[0] == "1" if key == "calls" else is_counted
    totals = map(int, summary.split()[1:])
    return {event: parts for event, *parts
            in zip(events, totals, own, arcs)}


def callgrind_has_bodies_and_outermost_calls(profile):
    events = read_callgrind(export(profile, "callgrind"))
    for resource, parts in zip(resources(profile), events.values()):
        total, own, arcs = parts
        setting = f"resource |{resource['name']}|"
        bodies, functions, tree = cpprof.documents(
            profile, setting, "threshold 0", "body", "functions", "tree")
        assert total == sum(own.values()) == bodies["total"]
        for row in bodies["rows"]:
            name, = row["path"]
            assert row["hits"] == own[name] + own.get(name + "'2", 0), name
        for row in functions["rows"]:
            name, = row["path"]
            called = sum(hits for (_, callee), hits in arcs.items()
                         if callee == name)
            calling = sum(hits for (caller, _), hits in arcs.items()
                          if caller == name)
            outermost = sum(node["hits"] for node in tree["rows"]
                            if node["path"] == [name])
            assert called + outermost == row["hits"], (name, called)
            assert own[name] + calling == row["hits"], (name, calling)


def callgrind_comes_back(profile):
    back = export(profile, "callgrind")
    assert resources(profile) == resources(back)
    for name in [resource["name"] for resource in resources(profile)]:
        ours, theirs = (
            [[(row["path"], row["hits"]) for row in view["rows"]]
             for view in cpprof.documents(path, f"resource |{name}|", "threshold 0",
                                          "functions", "flat", "body")]
            for path in (profile, back))
        assert ours == theirs, (ours, theirs)


def graph_comes_back(profile):
    """A profile of functions and calls comes back completely."""
    back = export(profile, "callgrind")
    shown = ["functions", "flat", "body", "down"]
    if default_root(profile) is not None:
        shown.append("up")
    asked = [(by, view) for by in ("function", "module", "file", "line",
                                   "callsite") for view in shown]
    commands = [line for by, view in asked
                for line in (f"granularity {by}", view)]
    for (by, view), ours, theirs in zip(
            asked, *(cpprof.documents(path, "threshold 0.0001", *commands)
                     for path in (profile, back)), strict=True):
        ours, theirs = ours["rows"], theirs["rows"]
        differences = [pair for pair in zip(ours, theirs)
                       if pair[0] != pair[1]]
        assert ours == theirs, (by, view, len(ours), len(theirs),
                                differences[:2])


def annotate(path, inclusive):
    """callgrind_annotate's total, and {function: hits}, which are not 0."""
    text = run("callgrind_annotate", f"--inclusive={inclusive}",
               "--threshold=100", path)
    rows = {}
    for line in text.splitlines():
        found = re.match(r"\s*([\d,]+) \([ \d.]+%\).*? \?\?\?:(.*)$", line)
        if found and "PROGRAM TOTALS" not in line:
            rows[found[2]] = int(found[1].replace(",", ""))
        elif "PROGRAM TOTALS" in line:
            total = int(line.split()[0].replace(",", ""))
    return total, {name: hits for name, hits in rows.items() if hits > 0}


def annotate_has_bodies(profile):
    """callgrind_annotate's own costs equal ours; f'2 is part of f's body."""
    bodies = cpprof.documents(profile, "threshold 0", "body")[-1]
    total, rows = annotate(export(profile, "callgrind"), "no")
    theirs = {}
    for name, hits in rows.items():
        name = name.removesuffix("'2")
        theirs[name] = theirs.get(name, 0) + hits
    assert total == bodies["total"] == sum(theirs.values())
    assert theirs == {row["path"][0]: row["hits"] for row in bodies["rows"]
                      if row["hits"] > 0}, theirs


def annotate_has_descendants(profile):
    """Likewise inclusive costs, unless an outermost function is called as
    well."""
    functions = cpprof.documents(profile, "threshold 0", "functions")[-1]
    total, rows = annotate(export(profile, "callgrind"), "yes")
    theirs = {name: hits for name, hits in rows.items()
              if not name.endswith("'2")}
    assert total == functions["total"]
    assert theirs == {row["path"][0]: row["hits"] for row in functions["rows"]
                      if row["hits"] > 0}, theirs
    assert len(theirs) > 2


# ---- others ----

def speedscope_is_as_specified(profile):
    with open(export(profile, "speedscope"), encoding="utf-8") as file:
        document = json.load(file)
    assert document["$schema"] == \
        "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert all(isinstance(frame["name"], str) for frame in frames)
    assert document["activeProfileIndex"] < len(document["profiles"])
    for resource, part in zip(resources(profile), document["profiles"]):
        assert set(part) == {"type", "name", "unit", "startValue",
                             "endValue", "samples", "weights"}
        assert part["type"] == "sampled"
        assert part["name"] == resource["name"]
        assert part["unit"] in ("none", "nanoseconds", "microseconds",
                                "milliseconds", "seconds", "bytes")
        factor = 10 if resource["gtick"] == "centisecond" else 1
        assert part["startValue"] == 0
        assert part["endValue"] == sum(part["weights"]) == \
            resource["hits"] * resource["interval"] * factor
        assert len(part["samples"]) == len(part["weights"])
        assert all(0 <= frame < len(frames)
                   for stack in part["samples"] for frame in stack)


def go_agrees(profile):
    for resource in resources(profile):
        path = export(profile, "pprof", resource["name"])
        text = run("go", "tool", "pprof", "-raw", path)
        header = text[text.index("Samples:\n"):].split("\n", 2)[1]
        column = [kind.partition("/")[0].replace(" ", "")
                  for kind in re.findall(r"\S.*?/\S+", header)]
        text = run("go", "tool", "pprof", "-top", "-cum", "-nodecount=100000",
                   "-nodefraction=0", path)
        assert f"Type: {resource['name']}" in text, (column, text)
        total = resource["hits"] * resource["interval"]
        assert re.search(rf"{total}\S* total", text), text[:300]


def what_steps_left_comes_back(profile, form, step, by):
    """An export has what the steps left, with start-up frames, and a pprof
    file also the lines unless a step made groups."""
    path = os.path.join(WORK, "refined." + form)
    views = ["startup show", "threshold 0", "functions", "up", "down"]
    run(CPPROF, "-q", "-e", step, "-e", f"export {form} {path}", profile)
    ours, theirs = (
        [[(row["hits"], row["path"]) for row in document["rows"]]
         for document in cpprof.documents(file, *before, f"granularity {by}", *views)
         if document["schema"] != "cpprof.settings/1"]
        for file, before in ((profile, [step]), (path, [])))
    assert len(ours) == 3 and ours == theirs, (ours, theirs)
    assert ours[0] and ours != [
        [(row["hits"], row["path"]) for row in document["rows"]]
        for document in cpprof.documents(profile, f"granularity {by}", *views)]


def main():
    claims = Claims()
    profiles = [os.path.join(HERE, "../sample-data/forms.folded"),
                os.path.join(HERE, "../sample-data/process_db.folded")]
    samples = [*profiles,
               os.path.join(HERE, "../sample-data/recursion/mutual.folded")]
    for seed in range(N_RANDOM):
        path = os.path.join(WORK, f"random{seed}.folded")
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([sys.executable,
                            os.path.join(HERE, "random-stacks.py"),
                            str(seed), "20", "5", "12"],
                           stdout=file, check=True, timeout=120)
        profiles.append(path)
    for check in (text_comes_back, pprof_comes_back,
                  callgrind_has_bodies_and_outermost_calls,
                  callgrind_comes_back,
                  speedscope_is_as_specified, speedscope_comes_back):
        for path in profiles:
            claims.attempt(f"{check.__name__}: {os.path.basename(path)}",
                           check, path)
    claims.attempt("pprof_shows_names", pprof_shows_names)
    for path in samples:
        claims.attempt(f"raw_samples_come_back: {os.path.basename(path)}",
                       raw_samples_come_back, path)
    for form, written_as in (("collapsed", as_collapsed),
                             ("cpprof-text", as_collapsed),
                             ("pprof", str), ("callgrind", as_callgrind),
                             ("speedscope", str)):
        claims.attempt(f"names_come_back: {form}", names_come_back, form,
                       written_as)
    for file, step, by in (
            ("sites.pb.gz", "narrow main ... mix", "function"),
            ("sites.pb.gz", "narrow (checksum mix)", "line"),
            ("sites.pb.gz", "drop mix", "callsite"),
            ("sites.pb.gz", "group sums = checksum mix", "function"),
            ("forms.folded", "drop address_information", "function"),
            ("rdparse.folded.gz", "group parser => expr term fact*",
             "function")):
        for form in ("pprof", "cpprof-text"):
            if form == "pprof" or by == "function":
                claims.attempt(f"what_steps_left_comes_back: {form}: {step}",
                               what_steps_left_comes_back, os.path.join(
                                   HERE, "../sample-data", file), form, step,
                               by)
    for types in ODD_RESOURCES:
        for form, written_as in (("pprof", str), ("cpprof-text", as_header),
                                 ("callgrind", as_callgrind)):
            claims.attempt(f"resources_come_back: {form}: {types}",
                           resources_come_back, form, types, written_as)
    for path in sorted(glob.glob(os.path.join(HERE, "data/callgrind/*.out.gz"))):
        claims.attempt(f"graph_comes_back: {os.path.basename(path)}",
                       graph_comes_back, path)
    for tool, check, paths in (
            ("callgrind_annotate", annotate_has_bodies, profiles),
            ("callgrind_annotate", annotate_has_descendants, samples),
            ("go", go_agrees, samples)):
        for path in paths:
            claim = f"{check.__name__}: {os.path.basename(path)}"
            if shutil.which(tool):
                claims.attempt(claim, check, path)
            else:
                claims.skip(claim, f"no {tool}")
    claims.end()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as WORK:
        main()
