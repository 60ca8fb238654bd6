#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random steps of a refinement, and every view after them, against brute force.

    refinements.py [FIRST-SEED]

ORACLE_CASES=N: how many results (profile, steps, view) to compare at least;
20000 by default.  A million take some minutes:

    ORACLE_CASES=1000000 nice -n 10 python3 tests/refinements.py

A group renames the frames of whole stacks, and narrow and drop select whole
stacks, as sections 2.1 and 2.5 of the manual say: a stack is a list of frames,
and canonical paths are found by erasing loops from it.  There is no tree, and
nothing is shared with cpprof.  The views of what is left are those of
oracle.py.  Besides, the laws of refinements are checked on what cpprof prints:
undo, redo, save and source give equal bytes; narrow and drop commute, are
idempotent, and add up.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import oracle
from claims import Claims, rounds

CPPROF = os.environ.get("CPPROF", "./cpprof")
PROFILES_A_BATCH = 60


# ---- stacks and what the steps make of them ----

class Frame:
    """name; module and file, or None; the groups that it belongs to."""
    __slots__ = ("name", "module", "file", "groups")

    def __init__(self, name, module=None, file=None, groups=frozenset()):
        self.name, self.module, self.file = name, module, file
        self.groups = groups


class Refused(Exception):
    """A step that matches nothing, or would leave nothing."""


STARTUP = ("_start", "start_thread", "clone3", "runtime.goexit")
LIBC = ("malloc", "free", "__libc_write", "_IO_puts")  # some of @libc's names


def without_startup(stack):
    """A stack from its first user's frame on, if it has one.

    stack: of sites, which are lists of frames inlined into each other.
    """
    for at, site in enumerate(stack):
        if site[0].name not in STARTUP:
            return stack[at:]
    return stack


def glob_expression(glob):
    return re.compile("".join(
        ".*" if char == "*" else "." if char == "?" else re.escape(char)
        for char in glob), re.DOTALL)


class Pattern:
    """A word for frames, as the manual's section 2.5 describes it."""

    def __init__(self, text, is_exact=False):
        self.text, self.is_exact = text, is_exact

    def typed(self):
        return oracle.quoted(self.text) if self.is_exact else self.text

    def text_matches(self, text, pattern):
        if pattern[0] == pattern[-1] == "/" and len(pattern) > 2:
            return re.search(pattern[1:-1], text) is not None
        return glob_expression(pattern).fullmatch(text) is not None

    def matcher(self, names):
        """A function that says whether a frame matches; names: all there
        are."""
        text = self.text
        if self.is_exact or text in names:
            return lambda frame: frame.name == text
        if text.startswith("@"):
            return lambda frame: self.module_matches(frame)
        if text.startswith("file:"):
            return lambda frame: frame.file is not None and any(
                self.text_matches(end, text[5:]) for end in endings(frame.file))
        return lambda frame: self.text_matches(frame.name, text)

    def module_matches(self, frame):
        wanted = self.text[1:]
        if wanted == "libc" and frame.name in LIBC:
            return not frame.module == GROUP
        if frame.module in (None, GROUP):
            return False
        return (self.text_matches(frame.module, wanted) or
                self.text_matches(frame.module.partition(".so")[0], wanted))

    def expand(self, template, name):
        """A group's name, for a function."""
        found = [name]
        if not self.is_exact and self.text[0] == "/" and len(self.text) > 2:
            match = re.search(self.text[1:-1], name)
            found = [match[0], *match.groups()] if match else found
        return re.sub(r"\{(\d)\}", lambda at: found[int(at[1])] or "",
                      template)


GROUP = object()        # the module of a group


def endings(path):
    while True:
        yield path
        _, slash, path = path.partition("/")
        if not slash:
            return


class Stacks:
    """What is left: lists of frames, outermost first, and their hits."""

    def __init__(self, stacks):
        self.stacks = stacks

    def names(self):
        return {frame.name for stack, _ in self.stacks for frame in stack}

    def hits(self):
        return sum(hits for _, hits in self.stacks)

    def profile(self, total):
        view = object.__new__(oracle.Profile)
        view.stacks, view.resource, view.total = {}, None, total
        for stack, hits in self.stacks:
            key = tuple(frame.name for frame in stack)
            view.stacks[key] = view.stacks.get(key, 0) + hits
        view.functions = sorted(self.names(), key=oracle.as_bytes)
        return view

    def matchers(self, patterns):
        names, found = self.names(), []
        for pattern in patterns:
            found.append(pattern.matcher(names))
            if not any(found[-1](frame) for stack, _ in self.stacks
                       for frame in stack):
                raise Refused(pattern.text)
        return found


class Group:
    def __init__(self, name, keeps_entries, patterns):
        self.name, self.keeps_entries = name, keeps_entries
        self.patterns = patterns

    def typed(self):
        return " ".join(["group", oracle.quoted(self.name),
                         "=>" if self.keeps_entries else "=",
                         *(pattern.typed() for pattern in self.patterns)])

    def member(self, frame, matchers):
        """What a frame becomes, wherever it is called from."""
        for pattern, matches in zip(self.patterns, matchers):
            if not matches(frame):
                continue
            group = pattern.expand(self.name, frame.name) or frame.name
            if self.keeps_entries:
                own = {frame.name} if frame.module is GROUP else set()
                return Frame(frame.name, frame.module, frame.file,
                             frozenset(own | {group}))
            return Frame(group, GROUP, None, frozenset((group,)))
        return frame

    def apply(self, before):
        matchers = before.matchers(self.patterns)
        groups = {self.member(frame, matchers).name
                  for stack, _ in before.stacks for frame in stack
                  if not self.keeps_entries and
                  any(matches(frame) for matches in matchers)}
        after = []
        for stack, hits in before.stacks:
            joined = []
            for frame in stack:
                name = frame.name
                frame = self.member(frame, matchers)
                if frame.name == name and name in groups:
                    frame = Frame(name, GROUP, None, frozenset((name,)))
                if not joined or not joined[-1].groups & frame.groups:
                    joined.append(frame)
            after.append((joined, hits))
        return Stacks(after)


def canonical_paths(frames):
    """Each canonical path of a stack, and the frame that it ends at.

    From each frame: a name that returns erases the loop, and stands for its
    newest frame.
    """
    for start in range(len(frames)):
        path = []
        for at in range(start, len(frames)):
            yield at, path + [frames[at]]
            for i, frame in enumerate(path):
                if frame.name == frames[at].name:
                    path = path[:i]
                    break
            path = path + [frames[at]]


def outermost_match(frames, matchers):
    """Where the outermost frame is that ends a path that matches, or None."""
    ends = [at for at, path in canonical_paths(frames)
            if len(path) == len(matchers) and
            all(matches(frame) for matches, frame in zip(matchers, path))]
    return min(ends, default=None)


class Select:
    def __init__(self, drops, segments, is_opened=False):
        self.drops, self.segments = drops, segments
        self.is_opened = is_opened

    def path(self):
        path = " ... ".join(" ".join(pattern.typed() for pattern in segment)
                            for segment in self.segments)
        return f"({path})" if self.is_opened else path

    def typed(self):
        return ("drop " if self.drops else "narrow ") + self.path()

    def apply(self, before):
        matchers = before.matchers(
            [pattern for segment in self.segments for pattern in segment])
        with_path, others = [], []
        for stack, hits in before.stacks:
            rest, used = stack, 0
            for segment in self.segments:
                at = outermost_match(rest, matchers[used:used + len(segment)])
                used += len(segment)
                rest = None if at is None else rest[at + 1:]
                if rest is None:
                    break
            (with_path if rest is not None else others).append((stack, hits))
        if not with_path or (self.drops and not others):
            raise Refused(self.path())
        return Stacks(others if self.drops else with_path)


# ---- random profiles and steps ----

ALPHABETS = (
    list("abc"), list("abcdef"),
    ["main", "x::f", "x::g", "y::f", "y::g", "z"],
    ["_start", "main", "malloc", "free", "a", "b"],
    ["start_thread", "_start", "a", "b", "clone3"],
    ["operator new(unsigned long)", "a|b", "a > b", "f 7", "f", "größe"],
)
MODULES = (None, "app", "libx.so.1", "liby.so", "libc.so.6")
FILES = (None, "a.c", "/usr/src/net/a.c", "net/b.c")
EXPRESSIONS = ("/a/", "/^[ab]/", "/^([a-z])::/", "/::(f|g)$/", "/./",
               "/^(x|y)?.*[fg]/", "/f 7/", "/new|free/",
               "/^(f|operator) [7n]/")
TEMPLATES = ("G", "H", "a", "main", "two words", "{1}", "{1}-{0}", "{0}")


def random_profile(rng):
    """Stacks of sites, as (stack, hits); each stack once."""
    names = rng.choice(ALPHABETS)
    has_places = rng.random() < 0.4
    stacks = {}
    places = [(name, rng.choice(MODULES), rng.choice(FILES))
              for name in names for _ in range(rng.choice((1, 1, 2)))]
    if not has_places:
        places = [(name, None, None) for name in names]
    for _ in range(rng.choice((1, 3, 6, 12))):
        stack = []
        if stacks and rng.random() < 0.5:
            stack = list(rng.choice(list(stacks)))
            stack = stack[:rng.randint(0, len(stack))]
        for _ in range(rng.randint(0 if stack else 1, 10 - min(len(stack), 9))):
            site = [rng.choice(places)]
            if has_places and rng.random() < 0.1 and site[0][0] not in STARTUP:
                inlined = rng.choice(places)
                if inlined[0] not in STARTUP:
                    site.append((inlined[0], site[0][1], inlined[2]))
            stack.append(tuple(site))
        stacks[tuple(stack)] = rng.choice((1, 2, 3, 10, 10**12, 0))
    # A stack without hits is one only if no other continues it.
    kept = {stack: hits for stack, hits in stacks.items()
            if hits > 0 or not any(
                other[:len(stack)] == stack and other != stack
                for other in stacks)}
    if not sum(kept.values()):
        kept[next(iter(kept))] = 5
    return [([[Frame(*place) for place in site] for site in stack], hits)
            for stack, hits in kept.items()], has_places


def varint(number):
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def as_pprof(stacks):
    strings, functions = {"": 0, "samples": 1, "count": 2}, {}
    mappings, sites = {}, {}

    def text(string):
        return strings.setdefault(string, len(strings))

    def number(table, key):
        return table.setdefault(key, len(table) + 1)

    out = field(1, field(1, 1) + field(2, 2))
    for stack, hits in stacks:
        at = b"".join(varint(number(sites, (site[0].module, tuple(
            (frame.name, frame.file) for frame in site))))
            for site in reversed(stack))
        out += field(2, field(1, at) + field(2, varint(hits)))
    for (module, frames), key in sites.items():
        entry = field(1, key)
        if module is not None:
            entry += field(2, number(mappings, module))
        for frame in reversed(frames):
            entry += field(4, field(1, number(functions, frame)))
        out += field(4, entry)
    for module, key in mappings.items():
        out += field(3, field(1, key) + field(2, key << 20) +
                     field(3, key + 1 << 20) + field(5, text("/lib/" + module)))
    for (name, file), key in functions.items():
        out += field(5, field(1, key) + field(2, text(name)) +
                     field(4, text(file or "")))
    return out + b"".join(field(6, string.encode()) for string in strings)


def names_of(stacks):
    return {frame.name for stack, _ in stacks for site in stack
            for frame in site}


def as_collapsed(stacks):
    return "".join(";".join(frame.name for site in stack for frame in site) +
                   f" {hits}\n" for stack, hits in stacks).encode()


def random_pattern(rng, names, has_places, is_group=False):
    draw = rng.random()
    if draw < (0.2 if is_group else 0.55):
        return Pattern(rng.choice(names), True)
    if draw < 0.8:
        name = rng.choice(names)
        cut = rng.randint(0, len(name) - 1)
        glob = rng.choice((name[:cut] + "*", "*" + name[cut + 1:], "?",
                           name[:cut] + "?" + name[cut + 1:], "*"))
        if not re.search(r"[|>\"'#;()\s]", glob):
            return Pattern(glob)
    if draw < 0.9 or not has_places:
        return Pattern(rng.choice(EXPRESSIONS))
    return Pattern(rng.choice(("@app", "@libx", "@lib*", "@libc", "@liby.so",
                               "file:a.c", "file:net/*", "file:b.c",
                               "file:*")))


def random_select(rng, names, has_places, drops=None):
    segments = [[random_pattern(rng, names, has_places)
                 for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))]
                for _ in range(rng.choice((1, 1, 2, 3)))]
    return Select(rng.random() < 0.35 if drops is None else drops, segments,
                  rng.random() < 0.2)


def random_group(rng, names, has_places):
    patterns = [random_pattern(rng, names, has_places, True)
                for _ in range(rng.choice((1, 1, 2, 3)))]
    name = rng.choice(TEMPLATES)
    n = min(0 if pattern.is_exact or pattern.text[0] != "/" else
            re.compile(pattern.text[1:-1]).groups for pattern in patterns)
    if "{1}" in name and n < 1:
        name = "G"
    return Group(name, rng.random() < 0.35, patterns)


def random_step(rng, left, has_places):
    names = sorted(left.names())
    if rng.random() < 0.05:
        names = names + ["no such function"]
    if rng.random() < 0.45:
        return random_group(rng, names, has_places)
    return random_select(rng, names, has_places)


# ---- scripts, and what they should print ----

def view_of(profile, view, root=None):
    """A command that shows a view, and what its rows should be."""
    return (view + (" " + oracle.quoted(root) if root else ""),
            profile, view, root)


def random_views(rng, left, total):
    profile = left.profile(total)
    views = [view_of(profile, view)
             for view in rng.sample(("functions", "body", "top", "tree"), 2)]
    for view in rng.sample(("down", "up", "callers", "callees", "down", "up"),
                           4):
        views.append(view_of(profile, view, rng.choice(profile.functions)))
    return views


def path_view(profile, path):
    """The view of one path, typed like the path of a step."""
    return ("path (" + " ".join(map(oracle.quoted, path)) + ")",
            profile, "path", path)


def wanted_rows(profile, view, root):
    if view == "path":
        return [(root, oracle.down(profile, root[0])[root])]
    return oracle.view_rows(profile, view, root)


class Script:
    """Commands, and for each what it should print: nothing (None), an error
    (Refused), or rows."""

    def __init__(self):
        self.lines, self.wanted, self.about, self.laws = [], [], [], []

    def add(self, line, wanted=None):
        self.lines.append(line)
        self.wanted.append(wanted)
        self.about.append(self.profile)
        return len(self.lines) - 1

    def show(self, views, left):
        return [self.add(view[0], (*view[1:], left)) for view in views]

    def law(self, text, check, *shown):
        """After the run, check() gets the documents of some lines each."""
        self.laws.append((text, check, self.profile, shown))

    def run(self, folder, name="script"):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in self.lines))
        done = subprocess.run(
            [CPPROF, "-q", "-F", "json", "--keep-going", "-e", "threshold 0",
             "-e", "limit off", "-x", path], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
            timeout=600)
        self.failed = {}
        for line in done.stderr.decode().splitlines():
            found = re.match(r".*?script:(\d+): (.*)", line)
            if found and int(found[1]) - 1 not in self.failed:
                self.failed[int(found[1]) - 1] = found[2]
        self.documents = done.stdout.splitlines()
        return self.compare(done)

    def compare(self, done):
        """Yields what is wrong; keeps each line's document as bytes."""
        self.shown, at = {}, 0
        if done.returncode not in (0, 1):
            yield f"status {done.returncode}: {done.stderr[-300:]}"
            return
        for i, wanted in enumerate(self.wanted):
            where = f"{self.about[i]}: line {i + 1}: {self.lines[i]}"
            if (i in self.failed) != (wanted is Refused):
                yield f"{where}: {self.failed.get(i, 'should have failed')}"
                if wanted is Refused or wanted is None:
                    continue
            if wanted in (None, Refused) or i in self.failed:
                continue
            if at >= len(self.documents):
                yield f"{where}: printed nothing"
                return
            self.shown[i] = self.documents[at]
            at += 1
            wrong = difference(json.loads(self.shown[i]), *wanted)
            if wrong:
                yield f"{where}: {wrong}"
        for text, check, profile, shown in self.laws:
            documents = [[self.shown.get(line) for line in lines]
                         for lines in shown]
            if any(None in each for each in documents):
                continue        # reported above
            wrong = check(*documents)
            if wrong:
                yield f"{profile}: {text}: lines " \
                      f"{[line[:1] for line in shown]}: {wrong}"


def difference(shown, profile, view, root, left):
    if view == "steps":
        got = [row["left"] for row in shown["rows"]]
        return None if got == profile else f"{got}, not {profile}"
    if shown["view"] != view:
        return f"shows {shown['view']}"
    if shown["total"] != profile.total or shown["denominator"] != profile.total:
        return f"total {shown['total']}, not {profile.total}"
    if shown.get("refined", left) != left:
        return f"refined {shown.get('refined')}, not {left}"
    keys = ("path", "hits") + (("inclusive",) if view == "top" else ())
    got = [tuple(row[key] for key in keys) for row in shown["rows"]]
    rows = [(list(path), hits) for path, hits in
            wanted_rows(profile, view, root)]
    if view == "top":
        whole = oracle.functions(profile, None)
        rows = [(path, hits, whole[tuple(path)]) for path, hits in rows]
    if got != rows:
        return f"{got}, not {rows}"
    for row in shown["rows"]:
        if abs(row["fraction"] * shown["total"] - row["hits"]) > 1e-9 * (
                1 + row["hits"]):
            return f"{row}: wrong fraction"
    return None


# ---- laws, of what cpprof prints ----

def equal_bytes(one, other):
    return None if one == other else f"{one}\n{other}"


def equal_but_for_steps(one, other):
    """Other steps, of which the documents tell, left the same."""
    return equal_bytes(*([re.sub(rb'"steps":\[("([^"\\]|\\.)*",?)*\],', b"",
                                 document) for document in documents]
                         for documents in (one, other)))


def values(documents):
    """The hits of each path, of each view."""
    return [{tuple(row["path"]): row["hits"]
             for row in json.loads(document)["rows"]}
            for document in documents]


def add_up(whole, narrowed, dropped):
    """profile = profile(narrow p) + profile(drop p), path by path."""
    for all_of, one, other in zip(*map(values, (whole, narrowed, dropped))):
        for path in all_of.keys() | one.keys() | other.keys():
            if all_of.get(path, 0) != one.get(path, 0) + other.get(path, 0):
                return f"{path}: {all_of}, {one}, {other}"
    return None


def shrink(before, after):
    for old, new in zip(values(before), values(after)):
        for path, hits in new.items():
            if hits > old.get(path, -1):
                return f"{path}: {old}, {new}"
    return None


def all_have(shown):
    """After narrow p, value(p) is all that is left."""
    for document in map(json.loads, shown):
        if document["rows"][0]["hits"] != document.get("refined"):
            return document
    return None


# ---- cases ----

class Case:
    """Steps on one profile, as a script goes on."""

    def __init__(self, rng, script, stacks, has_places, shows_startup):
        self.rng, self.script, self.has_places = rng, script, has_places
        self.shows_startup = shows_startup
        whole = [Stacks([([frame for site in cut(stack) for frame in site],
                          hits) for stack, hits in stacks])
                 for cut in (without_startup, list)]
        self.whole, self.other = whole[shows_startup], whole[not shows_startup]
        self.total = self.whole.hits()
        self.restart()

    def restart(self):
        self.left, self.counts, self.steps = self.whole, [], []

    def views(self):
        return random_views(self.rng, self.left, self.total)

    def show(self, views):
        return self.script.show(views, self.left.hits())

    def try_step(self, step):
        """Adds a step to the script; whether it should be taken."""
        try:
            self.left = step.apply(self.left)
        except Refused:
            self.script.add(step.typed(), Refused)
            return False
        self.script.add(step.typed())
        self.counts.append(self.left.hits())
        self.steps.append(step)
        return True

    def undo(self, n, left):
        self.script.add(f"undo {n}" if n > 1 else "undo")
        self.left = left
        del self.counts[len(self.counts) - n:]
        del self.steps[len(self.steps) - n:]

    def random_steps(self, most):
        n = 0
        for _ in range(self.rng.randint(1, most)):
            n += self.try_step(random_step(self.rng, self.left,
                                           self.has_places))
        return n

    def steps_views(self):
        self.script.add("steps", (list(self.counts), "steps", None, None))

    def forth_and_back(self):
        """Steps, what they leave; undo and redo give equal bytes."""
        base, left = self.views(), self.left
        before = self.show(base)
        n = self.random_steps(5)
        if n == 0:
            return
        views, after = self.views(), self.left
        counts, steps = list(self.counts), list(self.steps)
        shown = self.show(views)
        self.steps_views()
        self.undo(n, left)
        self.script.law("undo", equal_bytes, before, self.show(base))
        self.script.add(f"redo {n}")
        self.left, self.counts, self.steps = after, counts, steps
        self.script.law("redo", equal_bytes, shown, self.show(views))
        if self.rng.random() < 0.5:
            self.replayed(views, shown)
        if self.rng.random() < 0.3:
            self.with_other_startup(views, shown)
        self.script.add("reset")
        self.restart()

    def with_other_startup(self, views, shown):
        """The steps see other stacks; those that match nothing do nothing."""
        kept, words = self.left, ("hide", "show")
        self.script.add("startup " + words[not self.shows_startup])
        self.left = self.other
        for step in self.steps:
            try:
                self.left = step.apply(self.left)
            except Refused:
                pass
        self.show(self.views())
        self.script.add("startup " + words[self.shows_startup])
        self.left = kept
        self.script.law("startup and back", equal_bytes, shown,
                        self.show(views))

    def replayed(self, views, shown):
        """What save writes brings everything back."""
        file = f"{self.script.folder}/saved"
        self.script.add(f"save > {file}")
        self.script.add("reset")
        self.script.add(f"source {file}")
        self.script.law("save, source", equal_bytes, shown, self.show(views))

    def selections(self):
        """narrow p and drop p add up; they commute with q."""
        if self.rng.random() < 0.5:
            self.random_steps(2)
        names = sorted(self.left.names())
        first = random_select(self.rng, names, self.has_places, False)
        self.add_up(first, Select(True, first.segments))
        second = random_select(self.rng, names, self.has_places)
        self.commute(self.rng.choice((first, Select(True, first.segments))),
                     second)
        self.value()
        if self.counts:
            self.script.add("reset")
        self.restart()

    def add_up(self, narrow, drop):
        left = self.left
        try:
            parts = [narrow.apply(left), drop.apply(left)]
        except Refused:
            return
        profile = left.profile(self.total)
        names = [set(part.names()) for part in parts]
        both = sorted(names[0] & names[1], key=oracle.as_bytes)
        views = [("functions", None)] + [
            (view, name) for name in self.rng.sample(both, min(2, len(both)))
            for view in ("down", "up")]
        shown = [self.show([view_of(profile, *view) for view in views])]
        for step in (narrow, drop):
            self.try_step(step)
            profile = self.left.profile(self.total)
            asked = [view_of(profile, *view) for view in views]
            shown.append(self.show(asked))
            self.try_again(step, asked, shown[-1])
            self.undo(1, left)
        self.script.law("narrow and drop add up", add_up, *shown)
        for part in shown[1:]:
            self.script.law("shares shrink", shrink, shown[0], part)

    def try_again(self, step, views, shown):
        """A second time, a selection changes nothing."""
        left = self.left
        if self.try_step(step):
            self.script.law("idempotent", equal_but_for_steps, shown,
                            self.show(views))
            self.undo(1, left)

    def commute(self, one, other):
        left, results = self.left, []
        for order in ((one, other), (other, one)):
            try:
                order[1].apply(order[0].apply(left))
            except Refused:
                return
        for order in ((one, other), (other, one)):
            for step in order:
                self.try_step(step)
            if not results:
                views = self.views()
            results.append(self.show(views))
            self.undo(2, left)
        self.script.law("selections commute", equal_but_for_steps, *results)

    def value(self):
        """A path of the profile has all that narrow leaves."""
        profile, left = self.left.profile(self.total), self.left
        root = self.rng.choice(profile.functions)
        path = self.rng.choice(sorted(oracle.down(profile, root)))
        step = Select(False, [[Pattern(name, True) for name in path]])
        if not self.try_step(step):
            raise AssertionError(f"{path} is on a stack")
        profile = self.left.profile(self.total)
        self.script.law("value(p) is the total", all_have,
                        self.show([path_view(profile, path)]))
        self.undo(1, left)


def batch(seed, folder, n_profiles=PROFILES_A_BATCH):
    script = Script()
    script.folder = folder
    for number in range(n_profiles):
        rng = random.Random(f"{seed} {number}")
        stacks, has_places = random_profile(rng)
        path = os.path.join(folder, f"p{number}")
        script.profile = f"seed {seed}, profile {number}"
        with open(path, "wb") as file:
            # "f 7 2" would be two counts.
            file.write(as_pprof(stacks) if has_places or "f 7" in names_of(
                stacks) or rng.random() < 0.2 else as_collapsed(stacks))
        shows_startup = rng.random() < 0.3
        script.add("load " + path)
        script.add("startup " + ("show" if shows_startup else "hide"))
        case = Case(rng, script, stacks, has_places, shows_startup)
        for _ in range(3):
            case.forth_and_back()
            case.selections()
    return script


def long_paths(folder, seed):
    """Many patterns side by side, on deep stacks of few functions."""
    script, rng = Script(), random.Random(f"long paths {seed}")
    for number in range(20):
        names = "abcdef"[:rng.randint(3, 6)]
        stack, stacks = [], {}
        for _ in range(12):
            del stack[rng.randint(0, len(stack)):]
            stack += [((name, None, None),) for name in rng.choices(
                names, k=rng.randint(5, 15))]
            stacks[tuple(stack)] = rng.choice((1, 2, 3, 10, 10**12))
        stacks = [([[Frame(*place) for place in site] for site in stack], hits)
                  for stack, hits in stacks.items()]
        script.profile = f"seed {seed}, profile {number}"
        path = os.path.join(folder, f"long{number}")
        with open(path, "wb") as file:
            file.write(as_collapsed(stacks))
        script.add("load " + path)
        case = Case(rng, script, stacks, False, True)
        for _ in range(25):
            path = [Pattern(rng.choice((*names, "*", "*", "/[abc]/", "/[^a]/",
                                        "/[bd]/")))
                    for _ in range(rng.randint(3, 7))]
            if case.try_step(Select(rng.random() < 0.3, [path])):
                case.show([view_of(case.left.profile(case.total),
                                   "functions")])
                case.undo(1, case.whole)
    return script


# ---- bad input ----

PROFILE = """_start;main;parse;x::f 4
main;parse;x::f;parse;y::g 3
main;malloc;y::g 2
"""

# A command, and what its one line of error says.
BAD = (
    ("narrow", "narrow needs PATH"),
    ("drop", "drop needs PATH"),
    ("group", "usage: group"),
    ("group x", "usage: group"),
    ("group x =", "usage: group"),
    ("narrow ...", "at least one function"),
    ("narrow ()", "at least one function"),
    ("narrow (", "must end with )"),
    ("narrow (main", "must end with )"),
    ("narrow main)", "no frame is called main); did you mean main?"),
    ("narrow mian", "did you mean main?"),
    ("drop main prase", "did you mean parse?"),
    ("narrow _start", "are not shown; say \"startup show\""),
    ("up _start", "are not shown; say \"startup show\""),
    ("narrow /[/", "/[/: "),
    ("drop /(a/", "/(a/: "),
    ("group x = /(/", "/(/: "),
    ("narrow /a", "a regular expression ends with /"),
    ("narrow /a b", "a regular expression ends with /"),
    ("narrow |main", "unterminated"),
    ("narrow ||", "no frame is called ||"),
    ("narrow …", "… replaces what did not fit"),
    ("narrow @nosuch", "no frame is of the module nosuch"),
    ("narrow file:nosuch.c", "no frame is of the file nosuch.c"),
    ("narrow z*", "no frame is called z*"),
    ("narrow (parse main)", "no stack has the path (parse main)"),
    ("narrow parse ... main", "no stack has the path"),
    ("drop main ... main", "no stack has the path"),
    ("narrow parse parse x::f", "no stack has the path"),
    ("drop main",
     "every stack has the path (main); the step would leave nothing"),
    ("drop *", "every stack has the path"),
    ("drop main ... ?::?", "every stack has the path"),
    ("group x main", "expected one of =, =>"),
    ("group x == main", "expected one of =, =>"),
    ("group || = main", "a group needs a name"),
    ("group x = nosuch", "no frame is called nosuch"),
    ("group x = main nosuch", "no frame is called nosuch"),
    ("group x => nosuch", "no frame is called nosuch"),
    ("group {1} = main", "{1} needs a regular expression with 1 group "),
    ("group {2} = /^(x|y)::/", "{2} needs a regular expression with 2 groups"),
    ("group {1} => main", "{1} needs a regular expression"),
    ("group {1} = /(m)ain/ parse", "{1} needs a regular expression"),
    ("group {1} = @/(x)/", "{1} needs a regular expression"),
    ("ungroup x", "there is no group x"),
    ("undo 0", "expected a positive number"),
    ("undo -1", "expected a positive number"),
    ("undo 99", "undo"),
    ("redo", "nothing to redo"),
    ("save /nosuch/folder/x", "No such file"),
    ("percent refned", "expected one of"),
    ("startup maybe", "expected one of"),
    ("narrow %1", "no view with row numbers"),
    ("narrow main " + "* " * 70 + "parse", "at most 65 elements"),
    ("narrow " + "main " * 10000, "no stack has the path"),
    ("narrow " + "main ... " * 10000 + "main", "no stack has the path"),
)


def shows(script, folder, *arguments):
    """Status, output and errors of a script."""
    path = os.path.join(folder, "script")
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in script))
    done = subprocess.run(
        [CPPROF, "-q", "--keep-going", "-x", path, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, check=False, timeout=600)
    return (done.returncode, done.stdout.decode().splitlines(),
            [re.sub(r"^\S*script:(\d+): ", r"\1: ", line)
             for line in done.stderr.decode().splitlines()])


def check_bad(folder, before):
    """Bad commands after some good ones print one line and change nothing."""
    path = os.path.join(folder, "bad.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROFILE)
    views = ["functions", "tree", "steps"]
    script = ["threshold 0", "format json", *before, *views]
    first = len(script) + 1
    for command, _ in BAD:
        script += [command, *views]
    status, out, errors = shows(script, folder, path)
    if status != 1:
        yield f"status {status}: {errors[-1:]}"
        return
    shown = [out[i:i + len(views)] for i in range(0, len(out), len(views))]
    if len(shown) != len(BAD) + 1 or len(errors) != len(BAD):
        yield f"{len(shown)} times views, {len(errors)} errors: {errors}"
        return
    for i, (command, message) in enumerate(BAD):
        line = first + i * (1 + len(views))
        if not (errors[i].startswith(f"{line}: ") and message in errors[i]):
            yield f"{command[:60]}: {errors[i][:200]}"
        if shown[i + 1] != shown[0]:
            yield f"{command[:60]}: changed {shown[0]} to {shown[i + 1]}"


def check_without_stacks(folder):
    """A profile of calls, read again in place of stacks that had a step."""
    path, calls = (os.path.join(folder, name) for name in ("p", "calls"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROFILE)
    with open(calls, "w", encoding="utf-8") as file:
        file.write("events: Ir\nfn=main\n1 10\ncfn=leaf\ncalls=1 1\n2 20\n"
                   "fn=leaf\n1 20\n")
    commands = ["narrow main", "drop main", "group x = main"]
    status, out, errors = shows(commands, folder)
    assert status == 1 and not out and all(
        "no profile is loaded" in line for line in errors), errors
    commands = ["narrow main", "drop main", "group x => main",
                "narrow thread *"]
    status, out, errors = shows(commands, folder, calls)
    assert status == 1 and not out and len(errors) == 4 and all(
        "calls and no stacks" in line for line in errors), errors
    status, out, errors = shows(
        ["narrow malloc", f"!cp {calls} {path}", "reload", "format json",
         "steps", "functions", "undo", "redo", "reset"], folder, path)
    assert status == 0, (status, errors)
    assert all("step 1 matches nothing here" in line for line in errors)
    assert [row["left"] for row in json.loads(out[0])["rows"]] == [30], out


def check_deep(folder):
    """Stacks of 100,000 frames take no time that is quadratic."""
    n = 100000
    names = [f"f{i}" for i in range(n)]
    for stack in (names, [f"f{i % 1000}" for i in range(n)],
                  [f"a{i}" if i % 2 else "y" for i in range(n)]):
        path = os.path.join(folder, "deep")
        with open(path, "w", encoding="utf-8") as file:
            file.write(";".join(stack) + " 5\nx;y 1\n")
        last = stack[-1]
        status, out, errors = shows(
            ["format json", f"narrow ?* ?* {last}", "drop * ?* y* x*",
             "narrow * * * x", "group G = *9", "group H => *8*", "steps",
             f"undo {2}", "functions 1"], folder, path)
        assert status == 1 and len(errors) == 2, errors
        assert [row["left"] for row in json.loads(out[0])["rows"]] == [
            5, 5, 5], out
    path_of_all = " ".join(names[:10000])
    with open(path, "w", encoding="utf-8") as file:
        file.write(";".join(names[:20000]) + " 5\nx;y 1\n")
    status, out, errors = shows(
        ["format json", "narrow " + path_of_all,
         "narrow " + path_of_all.replace(" ", " ... "), "steps"],
        folder, path)
    assert status == 0 and [row["left"] for row in json.loads(
        out[0])["rows"]] == [5, 5], errors


def check_what_steps_hide(folder):
    """A function that steps dropped is not one that never was."""
    path = os.path.join(folder, "bad.folded")
    for step, command, message in (
            ("narrow malloc", "up x::f", "the steps left no function x::f; "),
            ("narrow malloc", "root nosuch", "the profile has no function "),
            ("group G = x::*", "down x::f", "the steps left no function "),
            ("startup show", "narrow _stat", "did you mean _start?")):
        status, _, errors = shows([step, command], folder, path)
        assert status == 1 and message in errors[-1], (command, errors)
    status, out, errors = shows(["narrow malloc", "startup show",
                                 "up _start"], folder, path)
    assert status == 1 and "the steps left no" in errors[-1], errors


def check_return_types(folder):
    """Patterns match names of templates, which have a return type."""
    path = os.path.join(folder, "templates.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write("main;void std::sort<int>(int*);bool a::less<int>(int) 3\n"
                   "main;std::f(int);operator new(unsigned long) 2\n"
                   "main;void no::std::x<int>() 4\n")
    for steps, names in (
            (["group lib = @libstdc++"], ["main", "lib", "void no::std::x<int>()",
             "bool a::less<int>(int)"]),
            (["group {1} = /^([a-z]+)::/"], ["main", "std", "no", "a",
             "operator new(unsigned long)"]),
            (["group lib = std::*", "narrow a::*"],
             ["bool a::less<int>(int)", "lib", "main"])):
        status, lines, errors = shows(["format json", *steps, "functions"],
                                      folder, path)
        assert status == 0 and not errors, errors
        found = [row["path"][0] for row in json.loads(lines[-1])["rows"]]
        assert found == names, (steps, found)
    for command, names in (("functions all std::*",
                            ["void std::sort<int>(int*)", "std::f(int)"]),
                           ("up /^std::s/", ["void std::sort<int>(int*)"])):
        _, lines, errors = shows(["format json", command], folder, path)
        assert not errors, errors
        rows = json.loads(lines[-1])["rows"]
        assert [row["path"][-1] for row in rows][:len(names)] == names, rows


def steps_of(path, folder, *steps):
    status, out, errors = shows(["format json", *steps, "steps"], folder, path)
    assert status == 0 and not errors, (steps, errors)
    return [(row["left"], row["step"])
            for row in json.loads(out[-1])["rows"]]


def check_exact_names(folder):
    """A name between bars is that name, and its step can be typed again."""
    path = os.path.join(folder, "names.folded")
    for name in ("x*", "x?", "@libc", "/x/", "%1", "file:x", "...", "a b",
                 "xy", "plain"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"main;{name} 3\nmain;xyz;malloc 4\nmain;xa;x 5\n")
        for step in (f"narrow |{name}|", f"narrow main |{name}|"):
            (left, text), = steps_of(path, folder, step)
            assert left == 3, (step, left)
            assert ("|" in text) == (name not in ("xy", "plain")), text
            assert steps_of(path, folder, text) == [(left, text)], text
        (_, text), = steps_of(path, folder, f"group g = |{name}|")
        assert ("|" in text) == (name not in ("xy", "plain")), text
        assert steps_of(path, folder, text)[0][1] == text, text


def check_ready_groups(folder):
    """Their modules and their functions, whatever the module is called."""
    path = os.path.join(folder, "ready.script")
    with open(path, "w", encoding="utf-8") as file:
        for i, (function, module) in enumerate((
                ("f", "/lib/libc.so.6"), ("g", "/lib/ld-linux-x86-64.so.2"),
                ("malloc", "/bin/prog"), ("other", "/bin/prog"),
                ("h", "/lib/libcrypt.so.1"))):
            file.write(f"prog 1 {i}.000000: 1 cycles:\n"
                       f"\t1000 {function}+0x1 ({module})\n"
                       "\t2000 main+0x1 (/bin/prog)\n\n")
    (left, _), = steps_of(path, folder, "narrow @libc")
    assert left == 3, left
    (left, _), = steps_of(path, folder, "drop @libc")
    assert left == 2, left


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    wanted = int(os.environ.get("ORACLE_CASES", rounds(4000)))
    claims, done, seed = Claims(), 0, first
    while done < wanted:
        with tempfile.TemporaryDirectory() as folder:
            script = batch(seed, folder)
            claims.make(f"random steps, seed {seed}", list(script.run(folder)))
        done += len(script.shown)
        seed += 1
    print(f"# {done} results compared")
    with tempfile.TemporaryDirectory() as folder:
        claims.make("long paths of patterns",
                    list(long_paths(folder, first).run(folder)))
    with tempfile.TemporaryDirectory() as folder:
        for before in ([], ["narrow x::f"], ["group G = malloc"]):
            claims.make(f"bad input changes nothing after {before}",
                        list(check_bad(folder, before)))
        claims.attempt("functions that steps hide", check_what_steps_hide,
                       folder)
        claims.attempt("profiles without stacks", check_without_stacks, folder)
        claims.attempt("deep stacks, long paths", check_deep, folder)
        claims.attempt("names between bars are exact", check_exact_names,
                       folder)
        claims.attempt("ready groups are modules and functions",
                       check_ready_groups, folder)
        claims.attempt("return types are no part of a pattern",
                       check_return_types, folder)
    claims.end()


if __name__ == "__main__":
    main()
