#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""structure.py -- measures of how the code is taken apart.

Prints doc/measurements/structure.md: files, lines, headers, functions, and names
that grep finds in two places.  --names lists those names instead, with the files,
and fails if there are more than the limits say.  --compare fails if the code has
grown or shrunk by more than a twentieth since the page was printed.  It knows C
only as far as this project's layout needs: a definition's name begins its line.
"""
import argparse
import collections
import os
import re
import statistics
import sys

TREES = {"src + commands": ("src", "commands"), "lib": ("lib",),
         "dwarf": ("dwarf",),
         "cpython": ("cpython",)}
# As many names may be in two places.  (A thread is one in a profile, and one in the
# collector.)
LIMITS = {"static functions": 20, "structures": 1, "macros": 0}

PAGE = "doc/measurements/structure.md"
COMPARED = ("files", "lines", "headers", "functions")
MOST_CHANGE = 0.05
LEAST_CHANGE = 2        # of a small number

COMMENTS = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
FUNCTION = re.compile(
    r"^((?:static |OURS |inline )?[^\n#{};]*)\n(\w+)\(([^{};]*?)\)\n\{\n(.*?)^\}",
    re.M | re.S)
DECLARED = re.compile(
    r"^static [^\n{};=]*?\b(\w+)\([^{}]*?\);", re.M)
POINTED_TO = re.compile(r"\bstruct (\w+) \*")
STRUCTURE = re.compile(r"\b(?:struct|union|enum) (\w+)\s*\{")
MACRO = re.compile(r"^#\s*define\s+(\w+)(?:\(|\s+\S)", re.M)
UNDEFINED = re.compile(r"^#\s*undef\s+(\w+)", re.M)
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)


def without_comments(text):
    """The text with blank comments and strings, on the same lines."""
    def blank(match):
        found = match.group()
        return re.sub(r"[^\n]", " ", found) if found[0] == "/" else '""'
    return COMMENTS.sub(blank, text)


class Source:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.n_lines = text.count("\n")
        self.includes = INCLUDE.findall(text)
        self.code = without_comments(text)
        # (name, is static, lines of its body)
        self.functions = [
            (match[2], match[1].startswith("static"), match[4].count("\n"))
            for match in FUNCTION.finditer(self.code)]
        self.structures = set(STRUCTURE.findall(self.code))
        self.macros = set(MACRO.findall(self.code))
        self.undefined = set(UNDEFINED.findall(self.code))

    def statics(self):
        return {name for name, is_static, _ in self.functions if is_static}

    def called_once(self):
        """The static functions that the file names in one place only."""
        words = collections.Counter(re.findall(r"\w+", self.code))
        declared = collections.Counter(DECLARED.findall(self.code))
        return {name for name in self.statics()
                if words[name] - 1 - declared[name] == 1}


def read(places):
    return [Source(os.path.join(folder, name))
            for place in places
            for folder, _, names in sorted(os.walk(place))
            for name in sorted(names) if name.endswith((".c", ".h"))]


def in_two_places(sources, names_of):
    """{name: the files}"""
    places = collections.defaultdict(list)
    for source in sources:
        for name in names_of(source):
            places[name].append(source.path)
    return {name: paths for name, paths in sorted(places.items())
            if len(paths) > 1}


def left_to_includers(sources):
    """What the headers of both halves declare and do not define: each half has its
    own, by the same contract."""
    headers = [one for one in sources if one.path.endswith(".h") and
               one.path.split("/")[0] in ("dwarf", "cpython")]
    defined = set().union(*(one.structures | one.statics() for one in headers))
    return {name for one in headers
            for name in DECLARED.findall(one.code) +
            POINTED_TO.findall(one.code)} - defined


def undefined_in_rows(place="lib"):
    """The macros that .def files take from the files that include them."""
    return {name for folder, _, names in os.walk(place) for each in names
            if each.endswith(".def")
            for name in UNDEFINED.findall(open(os.path.join(folder, each),
                                               encoding="utf-8").read())}


def shared_names(sources):
    # The users of a .def file define what its rows become.
    rows = set().union(undefined_in_rows(),
                       *(one.undefined for one in sources))
    theirs = left_to_includers(sources)
    return {
        "static functions": in_two_places(
            sources, lambda one: one.statics() - theirs),
        "structures": in_two_places(
            sources, lambda one: one.structures - theirs),
        "macros": in_two_places(sources, lambda one: {
            name for name in one.macros - rows
            if not name.endswith("_H")}),
    }


def percentile(numbers, share):
    return sorted(numbers)[min(int(share * len(numbers)), len(numbers) - 1)]


def measures(sources, users):
    """[(measure, value)] of the sources of one tree."""
    headers = [one for one in sources if one.path.endswith(".h")]
    lengths = [length for one in sources for _, _, length in one.functions]
    n_statics = sum(len(one.statics()) for one in sources)
    n_once = sum(len(one.called_once()) for one in sources)
    return [
        ("files", len(sources)),
        ("lines", f"{sum(one.n_lines for one in sources):,}"),
        ("headers", len(headers)),
        ("headers with one user",
         sum(len(users[one.path] - {one.path[:-2] + ".c"}) <= 1
             for one in headers)),
        ("functions", f"{len(lengths):,}"),
        ("lines of a function: median, 9 of 10 below, longest",
         f"{statistics.median(lengths):.0f}, {percentile(lengths, 0.9)}, "
         f"{max(lengths)}"),
        ("static functions called once",
         f"{100 * n_once / max(n_statics, 1):.0f}% of {n_statics:,}"),
        *[(f"names in two places: {what}", len(shared)) for what, shared in
          shared_names(sources).items()],
    ]


def measure_all(trees):
    """The measures of each tree, as texts by their names."""
    users = collections.defaultdict(set)
    for sources in trees.values():
        for source in sources:
            for path in source.includes:
                users[path].add(source.path)
    return [{name: str(value) for name, value in measures(sources, users)}
            for sources in trees.values()]


def print_page(trees):
    columns = measure_all(trees)
    print("""# Structure

How the code is taken apart. `make structure` writes this page. `tests/layers.sh` keeps
the last three rows below their limits, and fails when files, lines, headers or functions
differ from those of the code by more than a twentieth. A static function that is called
once, or a header with one user besides its own source, is often one thing in two places.
""")
    print(f"| | {' | '.join(trees)} |")
    print("|---" * (len(trees) + 1) + "|")
    for measure in columns[0]:
        print(f"| {measure} | "
              f"{' | '.join(column[measure] for column in columns)} |")


def compare_page(trees):
    with open(PAGE, encoding="utf-8") as file:
        rows = [line.strip("|\n ").split(" | ") for line in file
                if line.startswith("| ")]
    page = {row[0]: row[1:] for row in rows}
    status = 0
    for name in COMPARED:
        for tree, then, now in zip(trees, page.get(name, ["0"] * len(trees)),
                                   (column[name] for column in
                                    measure_all(trees))):
            old, new = (int(text.replace(",", "")) for text in (then, now))
            if abs(new - old) > max(MOST_CHANGE * new, LEAST_CHANGE):
                print(f"{tree} has {now} {name}, not {then}: make structure")
                status = 1
    return status


def check_names(trees):
    status = 0
    for what, shared in shared_names(
            [one for sources in trees.values() for one in sources]).items():
        for name, paths in shared.items():
            print(f"{what}: {name}: {' '.join(paths)}")
        if len(shared) > LIMITS[what]:
            print(f"{len(shared)} names of {what} are in two files, at most "
                  f"{LIMITS[what]} may be")
            status = 1
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    trees = {tree: read(places) for tree, places in TREES.items()}
    if arguments.names:
        return check_names(trees)
    if arguments.compare:
        return compare_page(trees)
    print_page(trees)
    return 0


sys.exit(main())
