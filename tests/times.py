#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""times.py -- when hits were counted, in formats other than a recording.

What `export cpprofdata` writes is read back and must give the same answers
about time; its records of slices are added up here, too.  (tests/test-slices.py
does this with recordings.)  Speaks TAP.
"""
import json
import os
import random
import re
import struct
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree

import cpprof
from claims import Claims

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")
CPPROF = cpprof.CPPROF
claims = Claims()


def run(path, *commands):
    return cpprof.ask(path, "threshold 0", "inlines off", *commands,
                      options=("-n", "-F", "json"), status=None)


def run_text(path, *commands):
    words = [CPPROF, "-q", "-n"]
    for command in commands:
        words += ["-e", command]
    return subprocess.run([*words, path], capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL).stdout


def ask(path, *commands):
    """The answers to commands."""
    answer = run(path, *commands)
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


# ---- what export writes ----

def records(path):
    """The records of slices in a file: resource, slice's begin, hits."""
    with open(path, "rb") as file:
        data = file.read()
    n_resources, _, used = struct.unpack_from("<2IQ", data, 24)
    origin, origin_mono, width = struct.unpack_from("<3Q", data, 216)
    assert origin_mono == 0 and used == len(data)
    at, nodes, found, first = 4096, {}, [], {4: 0, 9: 0}
    while at < used:
        _, kind, size, number, record_size, owner, count = \
            struct.unpack_from("<2I2Q2IQ", data, at)
        if kind in first:
            assert first[kind] == number
            first[kind] += (size - 64) // record_size
        for i in range(count):
            here = at + 64 + i * record_size
            if kind == 4:
                nodes[number + i] = owner, struct.unpack_from(
                    f"<{2 * n_resources}Q", data, here + 24)
            elif kind == 9:
                node, resource, doublings, slice_, hits, samples = \
                    struct.unpack_from("<I2BH2Q", data, here)
                assert nodes[node][0] == owner and slice_ < 64
                found.append((node, resource, slice_ * width << doublings,
                              hits, samples))
        at += size
    check_sums(nodes, found)
    return origin, found


def check_sums(nodes, found):
    """No node has more in its slices than it has."""
    sums = {}
    for node, resource, _, hits, samples in found:
        both = sums.setdefault((node, resource), [0, 0])
        both[0] += hits
        both[1] += samples
    for (node, resource), both in sums.items():
        counts = nodes[node][1][2 * resource:2 * resource + 2]
        assert both[0] <= counts[0] and both[1] <= counts[1]
    assert len(found) == len({one[:3] for one in found})


def resources_of(path):
    return [row["name"] for row in ask(path, "resource")[0]["rows"]]


def questions(path):
    """Commands about time, for each resource."""
    end = ask(path, "timeline")[0]["rows"][-1]["end_ns"]
    for number, name in enumerate(resources_of(path)):
        top = ask(path, f"resource |{name}|", "functions")[0]["rows"][0]
        yield (number, f"resource |{name}|", "timeline",
               f"timeline (|{top['path'][0]}|)", "when on", "functions",
               "body", "down", f"narrow time {end // 3}ns..{end // 2}ns",
               "functions", "timeline", "undo",
               f"drop time ..{end // 2}ns", "functions", "timeline")


def try_all(path, *commands):
    """The answers up to the first command that fails, and why it does."""
    answer = run(path, *commands)
    why = re.findall(r"^-e:\d+: (.*)", answer.stderr, re.M)
    return [json.loads(line) for line in answer.stdout.splitlines()], why


def comes_back(path, *steps):
    """An export's answers about time are those of what was exported."""
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
        back = os.path.join(folder, "back")
        result = run(path, *steps, f"export cpprofdata {back}")
        assert result.returncode == 0, result.stderr
        assert "times" not in result.stderr, result.stderr
        origin, found = records(back)
        for number, *commands in questions(back):
            first, why = try_all(path, *steps, *commands)
            second, other_why = try_all(back, *commands)
            assert why == other_why and len(first) == len(second) > 1, why
            for one, other in zip(first, second):
                # What the steps left is the whole run of the export.
                check_same(one, other, bool(steps))
            check_records(number, first[0], origin, found)


def check_same(one, other, is_part):
    assert len(one["rows"]) == len(other["rows"]), (one, other)
    for ours, theirs in zip(one["rows"], other["rows"]):
        for key in ours:
            if not (is_part and key == "fraction"):
                assert ours[key] == theirs[key], (key, ours, theirs)
    for key in "width_ns", "origin_ns", "hits", "without_time", "schema":
        assert one.get(key) == other.get(key), (key, one, other)


def check_records(number, timeline, origin, found):
    """The file's records have what the timeline says."""
    assert (timeline["origin_ns"] or 0) == origin
    for row in timeline["rows"]:
        assert row["hits"] == sum(
            hits for _, resource, begin, hits, _ in found
            if resource == number and begin == row["begin_ns"]), row


def steps_for(path):
    end = ask(path, "timeline")[0]["rows"][-1]["end_ns"]
    tree = ask(path, "tree")[0]["rows"]
    # What runs before main is over in the first slice.
    tree = [row for row in tree if row["path"][0] == "main"] or tree
    one = " ".join(f"|{name}|" for name in tree[min(2, len(tree) - 1)]["path"])
    return ([], [f"narrow {one}"], [f"drop time {end // 2}ns.."],
            [f"narrow time {end // 4}ns..", f"narrow {one}"])


def exports_keep_times():
    for name in "perf/rec.data", "perf/rec-group.data", "perf/rec.script":
        path = os.path.join(DATA, name)
        for steps in steps_for(path):
            claims.attempt(f"{name}, {'; '.join(steps) or 'whole'}: times "
                           "come back from cpprofdata", comes_back, path,
                           *steps)


def others_say_what_they_lose():
    path = os.path.join(DATA, "perf/rec.data")
    for form in "collapsed", "cpprof-text", "pprof", "callgrind", "speedscope":
        lost = run(path, f"export {form} /dev/null").stderr
        claims.check(f"{form} says that it has no times",
                     lost.rstrip().endswith(", times"), lost)


# ---- speedscope ----

UNITS = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6}
FRAMES = "main", "read", "sort", "write"


def events_of(stretches, start):
    """As events, with gaps where the stack is empty."""
    events, now, stack = [], start, []
    for wanted, length in [*stretches, ([], 0)]:
        same = 0
        while same < min(len(stack), len(wanted)) and \
                stack[same] == wanted[same]:
            same += 1
        events += [{"type": "C", "frame": frame, "at": now}
                   for frame in reversed(stack[same:])]
        events += [{"type": "O", "frame": frame, "at": now}
                   for frame in wanted[same:]]
        stack, now = wanted, now + length
    return {"type": "evented", "endValue": now, "events": events}


def samples_of(stretches, start):
    return {"type": "sampled", "samples": [stack for stack, _ in stretches],
            "weights": [length for _, length in stretches]}


def make_run(numbers, is_evented):
    """A profile of a file, and its stretches: stack, begin, end in ns."""
    unit = numbers.choice(sorted(UNITS))
    scale = UNITS[unit]
    start = numbers.randrange(5 * 10**9) // scale
    stretches = [([0, *numbers.sample((1, 2, 3), numbers.randrange(3))] if
                  numbers.random() < 0.8 or not is_evented else [],
                  numbers.randrange(3 * 10**8) // scale)
                 for _ in range(numbers.randrange(2, 40))]
    stretches[0] = ([0, 1, 2], 10**7 // scale)
    now, spans = start * scale, []
    for stack, length in stretches:
        spans.append((stack, now, now + length * scale))
        now += length * scale
    part = {"unit": unit, "startValue": start,
            **(events_of if is_evented else samples_of)(stretches, start)}
    keys = list(part)
    numbers.shuffle(keys)
    return {key: part[key] for key in keys}, [s for s in spans if s[0]]


def make_speedscope(path, parts):
    file = {"shared": {"frames": [{"name": name} for name in FRAMES]},
            "profiles": [{"name": f"thread-{number}", **part}
                         for number, part in enumerate(parts)]}
    with open(path, "w") as out:
        json.dump(file, out)


def check_slices(path, spans, commands, words):
    """Each slice of the timeline has what the spans have there."""
    first = min(begin for _, begin, _ in spans)
    counts = ask(path, *commands, f"timeline {words}")[-1]
    frame = FRAMES.index(words) if words else 0
    width = counts["width_ns"]
    for row in counts["rows"]:
        begin, end = row["begin_ns"] + first, row["end_ns"] + first
        assert row["end_ns"] - row["begin_ns"] == width
        assert row["hits"] == sum(
            max(0, min(end, until) - max(begin, since))
            for stack, since, until in spans if frame in stack), row
    assert counts["rows"][-1]["end_ns"] + first >= max(
        end for stack, _, end in spans if frame in stack)
    assert counts["without_time"] == 0, counts


def speedscope_has_times():
    numbers = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
        path = os.path.join(folder, "run.speedscope.json")
        for number in range(12):
            runs = [make_run(numbers, numbers.random() < 0.5)
                    for _ in range(numbers.randrange(1, 4))]
            make_speedscope(path, [part for part, _ in runs])
            whole = [span for _, spans in runs for span in spans]
            for words in "", "sort":
                claims.attempt(f"speedscope {number}: slices {words}",
                               check_slices, path, whole, (), words)
            claims.attempt(f"speedscope {number}: when is what narrow time "
                           "leaves", when_agrees_with_narrow_time, path)


def speedscope_without_times():
    """Of numbers and bytes, of what export wrote, and of a sum of stacks: one
    that has many, each once."""
    stacks = [[0, *([1] * (i % 9)), *([2] * (i // 9))] for i in range(70)]
    sampled = {"unit": "seconds", "startValue": 0, "samples": stacks,
               "weights": [1] * 70}
    cases = [({"unit": "none"}, False), ({"unit": "bytes"}, False), ({}, False),
             ({"samples": [*stacks[1:], stacks[1]]}, True),
             ({"samples": stacks[:63], "weights": [1] * 63}, True),
             ({"samples": stacks[:64], "weights": [1] * 64}, False)]
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
        path = os.path.join(folder, "x.json")
        for changes, has_times in cases:
            make_speedscope(path, [{**sampled, **changes}])
            answer = run(path, "timeline")
            claims.check(f"speedscope with {list(changes)}: "
                         f"{'times' if has_times else 'no times'}",
                         (answer.returncode == 0) == has_times and
                         ("does not say when" in answer.stderr) != has_times,
                         answer.stderr)


# ---- the column `when` ----

VIEWS = ("top", "flat", "tree", "callers", "callees", "body", "functions",
         "down", "up")


def character(hits, total):
    return "-" if total == 0 else "_" if hits == 0 else \
        str(min(9, hits * 10 // total))


def hits_of_rows(document):
    rows = {json.dumps(row["path"]): row["hits"] for row in document["rows"]}
    assert len(rows) == len(document["rows"])
    return rows


def when_agrees_with_narrow_time(path, *steps):
    """Each character is the share of the hits that the row has if only that
    part of the run is left."""
    slices = ask(path, *steps, "timeline")[0]["rows"]
    group = 2 if len(slices) > 32 else 1
    root = next(row["path"][1] for row in ask(path, *steps, "tree")[0]["rows"]
                if len(row["path"]) == 3)
    views = [*steps, f"root |{root}|", *VIEWS]
    whole = ask(path, "when on", *views)[-len(VIEWS):]
    expected = [{row: "" for row in hits_of_rows(view)} for view in whole]
    for first in range(0, len(slices), group):
        some = slices[first:first + group]
        total = sum(row["hits"] for row in some)
        parts = [{"rows": []} for _ in VIEWS] if total == 0 else ask(
            path, *views[:-len(VIEWS)], "narrow time "
            f"{some[0]['begin_ns']}ns..{some[-1]['end_ns']}ns",
            *VIEWS)[-len(VIEWS):]
        for texts, part in zip(expected, parts):
            hits = hits_of_rows(part)
            for row in texts:
                texts[row] += character(hits.get(row, 0), total)
    for view, texts, document in zip(VIEWS, expected, whole):
        assert texts, view
        for row in document["rows"]:
            assert row["when"] == texts[json.dumps(row["path"])], (view, row)


def when_is_seen_in_all_views():
    for name in "perf/rec.data", "perf/rec-group.data", "perf/rec.script":
        path = os.path.join(DATA, name)
        for steps in steps_for(path)[:2]:
            claims.attempt(f"{name}, {'; '.join(steps) or 'whole'}: when is "
                           "what narrow time leaves",
                           when_agrees_with_narrow_time, path, *steps)


def steps_say_what_views_show(path):
    """After each step, also where stacks have hits outside the times left."""
    end = ask(path, "timeline")[0]["rows"][-1]["end_ns"]
    down = ask(path, "down")[0]["rows"]
    one = " ".join(f"|{name}|" for name in down[min(2, len(down) - 1)]["path"])
    typed = [f"narrow time {end // 4}ns..", f"narrow {one}",
             f"drop time {end // 2}ns..{end * 3 // 5}ns"]
    left = [ask(path, *typed[:n + 1], "top 1")[-1]["refined"]
            for n in range(len(typed))]
    assert left[0] > left[-1] > 0, left
    rows = ask(path, *typed, "steps")[-1]["rows"]
    assert [row["left"] for row in rows] == left, (rows, left)


def steps_say_what_is_left():
    claims.attempt("steps says what views show", steps_say_what_views_show,
                   os.path.join(DATA, "perf/rec.data"))
    text = run_text(os.path.join(DATA, "perf/rec.script"),
                    "resource cpu-clock:u", "unit gticks", "narrow main",
                    "steps")
    claims.check("steps: hits are shown in gticks",
                 re.search(r"^ *[1-9][0-9.]* m?s +\S+ +narrow", text, re.M),
                 text)


def when_comes_first():
    """In text, before the indentation of a tree and before a name."""
    path = os.path.join(DATA, "perf/rec.script")
    text = [run_text(path, "threshold 0", "resource cpu-clock:u", "when on",
                     view)
            for view in ("tree", "top")]
    rows = re.findall(r"^([-_0-9]{20,32}) ( *)\S.*$", text[0], re.M)
    claims.check("tree: when comes before the indentation",
                 len(rows) > 5 and {len(blanks) for _, blanks in rows} >=
                 {0, 2, 4}, text[0])
    rows = re.findall(r"^ *\d+ +[0-9.]+ +\d+ +[0-9.]+ +[-_0-9]{20,32} +\S",
                      text[1], re.M)
    claims.check("top: when comes before the name", len(rows) > 1, text[1])
    for view in text:
        claims.check("the heading says how long a character is",
                     re.search(r"^when: [0-9.]+ \w+ a character", view, re.M),
                     view)


def profiles_without_times_say_so():
    path = os.path.join(HERE, "../sample-data/forms.folded")
    for view in VIEWS:
        text = run_text(path, "when on", "root main", view)
        claims.check(f"{view}: no column where there are no times",
                     "when: the profile does not say when" in text and
                     not re.search("[-_0-9]{8} ", text) and
                     "{when}" not in text, text)


# ---- pictures ----

SVG = "{http://www.w3.org/2000/svg}"


class Chart:
    """What a picture shows: a dict for each layer, the lowest first."""

    def __init__(self, text):
        svg = ElementTree.fromstring(text.encode())
        tags = {element.tag.replace(SVG, "") for element in svg.iter()}
        assert tags <= {"svg", "title", "style", "text", "rect", "line"}, tags
        self.layers = {}
        for rect in svg.iter(SVG + "rect"):
            title = rect.find(SVG + "title")
            if title is None:
                continue
            name, times, share = title.text.split("\n")
            begin, end = re.fullmatch(r"([\d.]+) s to ([\d.]+) s",
                                      times).groups()
            bar = {key: float(rect.get(key))
                   for key in ("x", "y", "width", "height")}
            bar.update(hits=int(rect.get("data-h")), begin=float(begin),
                       end=float(end), share=share,
                       color=rect.get("class"))
            self.layers.setdefault(name, []).append(bar)
        self.texts = [element.text for element in svg.iter(SVG + "text")]


def draw(profile, *commands, name="chart.svg"):
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
        path = os.path.join(folder, name)
        answer = run(profile, "unit hits", *commands[:-1],
                     commands[-1].replace("FILE", path))
        assert answer.returncode == 0 and not answer.stdout, answer.stderr
        with open(path, encoding="utf-8", newline="\n") as file:
            return file.read()


def check_bars(chart, rows):
    """Bars lie on each other, and their areas are hits."""
    bars = [bar for layer in chart.layers.values() for bar in layer]
    bottom = max(bar["y"] + bar["height"] for bar in bars)
    scale = max(row["hits"] for row in rows) / 300
    for number, row in enumerate(rows):
        here = [bar for bar in bars
                if abs(bar["begin"] - row["begin_ns"] / 1e9) < 1e-9]
        assert sum(bar["hits"] for bar in here) == row["hits"], row
        below = 0
        for bar in here:
            assert abs(bar["end"] - row["end_ns"] / 1e9) < 1e-9, bar
            left = 84 + 1092 * number / len(rows)
            assert left <= bar["x"] and bar["x"] + bar["width"] <= \
                left + 1092 / len(rows) + 1e-3, (bar, row)
            assert abs(bar["height"] * scale - bar["hits"]) < \
                1e-3 * (1 + bar["hits"]), bar
            assert abs(bar["y"] + bar["height"] + below - bottom) < 0.01, bar
            below += bar["height"]
            share = "%d hit%s, %.4g%% of the slice" % (
                bar["hits"], "" if bar["hits"] == 1 else "s",
                100 * bar["hits"] / row["hits"])
            assert bar["share"] == share, bar


def check_axes(chart, rows):
    ticks = [float(text[:-2]) for text in chart.texts
             if re.fullmatch(r"[\d.]+ s", text or "")]
    end = rows[-1]["end_ns"] / 1e9
    assert 4 <= len(ticks) <= 13 and ticks[0] == 0 and ticks[-1] <= end
    assert ticks[-1] > end - 1.001 * ticks[1], (ticks, end)
    assert any("seconds from the start" in text for text in chart.texts)


def picture_shows_bodies(path, resource):
    select = f"resource |{resource}|"
    rows, bodies = ask(path, select, "timeline", "body")
    chart = Chart(draw(path, select, "timeline FILE"))
    names = list(chart.layers)
    largest = [row["path"][0] for row in bodies["rows"] if row["hits"]][:7]
    assert names[:7] == largest, (names, largest)
    assert names[7:] in ([], ["other functions"]), names
    for row in bodies["rows"][:7]:
        if row["hits"]:
            bars = chart.layers[row["path"][0]]
            assert sum(bar["hits"] for bar in bars) == row["hits"]
            assert "%.4f %s [%d]" % (
                row["fraction"], row["path"][0], row["hits"]) in chart.texts
            assert len({bar["color"] for bar in bars}) == 1
    assert len({bars[0]["color"] for bars in chart.layers.values()}) == \
        len(names)
    check_bars(chart, rows["rows"])
    check_axes(chart, rows["rows"])


def picture_shows_a_path(path, resource):
    select = f"resource |{resource}|"
    functions = ask(path, select, "functions")[0]["rows"]
    names = next(row["path"] for function in functions for row in
                 ask(path, select, f"down |{function['path'][0]}|")[0]["rows"]
                 if len(row["path"]) == 2)
    words = " ".join(f"|{name}|" for name in names)
    whole, part = ask(path, select, "timeline", f"timeline {words}")
    title = "(" + " ".join(names) + ")"
    texts = [draw(path, select, command) for command in (
        f"timeline {words} FILE", f"timeline FILE {words}",
        f"timeline ({words}) FILE")]
    assert len(set(texts)) == 1
    chart = Chart(texts[0])
    assert set(chart.layers) <= {title, "other stacks"}
    assert title in chart.layers or part["hits"] == 0
    bars = {bar["begin"]: bar["hits"] for bar in chart.layers.get(title, [])}
    for row in part["rows"]:
        assert bars.get(row["begin_ns"] / 1e9, 0) == row["hits"]
    check_bars(chart, whole["rows"])


HOSTILE = ["<script>alert(1)</script>", "]]>", "a&b<c>", "&amp", "--><b>",
           "</title></svg>", "x" * 3000, "\u202egnp", "\x1b[31mred"]


def write_hostile(folder):
    path = os.path.join(folder, "hostile.script")
    with open(path, "w", encoding="utf-8") as file:
        for i in range(500):
            name = HOSTILE[i * i // 7 % len(HOSTILE)]
            file.write(f"p 1 {1 + i / 100:.6f}: 1 cycles:\n\t 1000 {name} "
                       "(/bin/p)\n\n")
    return path


def names_stay_text():
    with tempfile.TemporaryDirectory(prefix="cpprof-test-") as folder:
        path = write_hostile(folder)
        text = draw(path, "timeline FILE")
        chart = Chart(text)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
        assert len(text) < 1 << 20 and len(chart.layers) == 8
        drawn = set(chart.layers)
        assert sum(name in HOSTILE for name in drawn) >= 3, drawn
        page = draw(path, "timeline FILE", name="page.html")
        assert text.split("<title>", 1)[1].split("</style>", 1)[1] in page
        assert "<script" not in page and page.startswith("<!DOCTYPE html>")
        links = set(re.findall(r"https?://[^\"'<> ]*", page))
        assert links == {"http://www.w3.org/2000/svg"}, links


def bad_files_are_refused():
    path = os.path.join(DATA, "perf/rec.script")
    folded = os.path.join(HERE, "../sample-data/forms.folded")
    for profile, words, why in (
            (path, "x.png", "a picture's name ends in .svg or .html"),
            (path, "x.txt", "a picture's name ends in .svg or .html"),
            (path, "/nowhere/x.svg", "No such file"),
            (path, "/nowhere/x.svg main /nowhere/y.svg", "unexpected"),
            (folded, "/nowhere/x.svg", "does not say when")):
        answer = run(profile, f"timeline {words}")
        claims.check(f"timeline {words} is refused",
                     answer.returncode != 0 and why in answer.stderr and
                     answer.stderr.count("\n") == 1, answer.stderr)


def pictures_are_right():
    for name in "perf/rec.data", "perf/rec-group.data", "perf/rec.script":
        path = os.path.join(DATA, name)
        for resource in resources_of(path):
            claims.attempt(f"{name}, {resource}: bars are the bodies' hits",
                           picture_shows_bodies, path, resource)
            claims.attempt(f"{name}, {resource}: bars are a path's hits",
                           picture_shows_a_path, path, resource)
    claims.attempt("names stay text in pictures", names_stay_text)
    bad_files_are_refused()


if __name__ == "__main__":
    exports_keep_times()
    others_say_what_they_lose()
    speedscope_has_times()
    speedscope_without_times()
    when_is_seen_in_all_views()
    steps_say_what_is_left()
    when_comes_first()
    profiles_without_times_say_so()
    pictures_are_right()
    claims.end()
