#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""flame.py -- pictures show what a brute force computes, and nothing else.

The boxes of random recursive profiles agree with a program that has no tree:
value, solid and own hits of every path, and where the boxes lie.  Pictures are
read with XML and HTML parsers: each box has the numbers of its row, names stay
text whatever they hold, and a picture of many nodes keeps its size.

    flame.py [FIRST-SEED [SEEDS]]
"""
import gzip
import html
import html.parser
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree

import cpprof
import oracle
from claims import Claims
from terminal import Terminal, has_terminals

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = cpprof.CPPROF
SAMPLES = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")),
                       "sample-data")
SVG = "{http://www.w3.org/2000/svg}"
SIZE_MAX = 1 << 20
claims = Claims()


def run(*arguments, **options):
    return cpprof.run("-q", *arguments, text=False, status=None, **options)


def ask(*arguments):
    """The output of commands that must succeed."""
    done = run(*arguments)
    assert done.returncode == 0 and not done.stderr, (arguments, done.stderr)
    return done.stdout


def commands(*lines):
    return [word for line in lines for word in ("-e", line)]


# ---- the boxes ----

def last_path(stack, root, is_up):
    """The path to which the solid hits of a stack belong."""
    if not is_up:
        return list(oracle.canonical_paths(stack, root))[-1]
    innermost = len(stack) - stack[::-1].index(root)
    return list(oracle.canonical_paths(stack[:innermost], stack[0]))[-1]


def icicle(profile, root, is_up):
    """Path: (value, solid, own), stack by stack."""
    values = (oracle.up if is_up else oracle.down)(profile, root)
    own, solid = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    for stack, hits in profile.stacks.items():
        if root not in stack:
            continue
        path = last_path(stack, root, is_up)
        own[path] += hits
        while path:
            solid[path] += hits
            path = path[1:] if is_up else path[:-1]
    return {path: (values[path], solid[path], own[path]) for path in values}


def sample_tree(profile):
    return {path: (hits, hits, profile.stacks.get(path, 0))
            for path, hits in oracle.weights(profile).items()}


def check_layout(rows, is_up):
    """Boxes below a box are within its extent and do not overlap."""
    below, extent = {}, {}
    for row in rows:
        path = tuple(row["path"])
        above = path[1:] if is_up else path[:-1]
        assert len(path) == row["depth"] + 1, row
        assert above == () or above in below, f"{row} precedes its box"
        below.setdefault(above, []).append(row)
        below[path] = []
    for path in sorted(below, key=len, reverse=True):
        extent[path] = sum(extent[tuple(row["path"])] for row in below[path])
        if path:
            hits = next(row["hits"] for row in
                        below[path[1:] if is_up else path[:-1]]
                        if tuple(row["path"]) == path)
            extent[path] = max(extent[path], hits)
    begin = {(): 0}
    for row in rows:
        path = tuple(row["path"])
        above = path[1:] if is_up else path[:-1]
        assert row["begin"] == begin[above], (row, begin[above])
        begin[path] = row["begin"]
        begin[above] += extent[path]
    for rows_below in below.values():
        order = [(-row["solid"], -row["hits"],
                  oracle.as_bytes(row["path"][0 if is_up else -1]))
                 for row in rows_below]
        assert order == sorted(order), rows_below


def check_rows(rows, expected, is_up):
    got = {tuple(row["path"]): (row["hits"], row["solid"], row["own"])
           for row in rows}
    assert len(got) == len(rows), "a path has two boxes"
    assert got == expected, [(path, got.get(path), expected.get(path))
                             for path in got.keys() | expected.keys()
                             if got.get(path) != expected.get(path)]
    below = {}
    for path, (value, solid, own) in expected.items():
        assert 0 <= own <= solid <= value, path
        above = path[1:] if is_up else path[:-1]
        below[above] = below.get(above, 0) + solid
    for path, (value, solid, own) in expected.items():
        assert solid == own + below.get(path, 0), f"{path}: no partition"
        assert len(path) > 1 or solid == value, path
    check_layout(rows, is_up)


def check_random(seed, folder):
    shape = random.Random(seed)
    path = os.path.join(folder, "random.folded")
    with open(path, "wb") as file:
        subprocess.run(
            [sys.executable, os.path.join(HERE, "random-stacks.py"),
             str(seed), str(shape.randint(1, 40)), str(shape.randint(1, 7)),
             str(shape.randint(1, 14))], stdout=file, check=True, timeout=120)
    with open(path, encoding="utf-8", newline="\n") as file:
        profile = oracle.Profile(file)
    queries = [(way, name) for name in profile.functions
               for way in ("down", "up")]
    lines = [f"flame {way} {oracle.quoted(name)}" for way, name in queries]
    output = ask("-F", "json", *commands("threshold 0", "depth off", *lines,
                                         "flame tree"), path)
    documents = [json.loads(line) for line in output.splitlines()]
    assert len(documents) == len(queries) + 1
    for (way, name), document in zip(queries, documents):
        assert document["root"] == name and document["hidden"] == 0
        assert document["schema"] == "cpprof.boxes/1"
        check_rows(document["rows"], icicle(profile, name, way == "up"),
                   way == "up")
    check_rows(documents[-1]["rows"], sample_tree(profile), False)
    output = ask("-F", "json", *commands(
        "threshold 0.2", "depth 3", lines[0], "flame tree"), path)
    for wanted, line in zip((documents[0], documents[-1]),
                            output.splitlines()):
        document = json.loads(line)
        rows = [row for row in wanted["rows"] if len(row["path"]) <= 3 and
                row["fraction"] >= 0.2]
        assert [row["path"] for row in document["rows"]] == [
            row["path"] for row in rows], document
        assert document["hidden"] == len(wanted["rows"]) - len(rows)


# ---- pictures ----

def picture(folder, profile, *lines, name="picture.svg", query=""):
    path = os.path.join(folder, name)
    ask(*commands(*lines, f"flame {query} {path}"), profile)
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()


class Box:
    """A box as it is drawn: shares are of the picture's width."""

    def __init__(self, element):
        self.depth = int(element.get("y")) // 18
        self.begin = float(element.get("x").rstrip("%"))
        self.width = float(element.get("width").rstrip("%"))
        self.hits = int(element.get("data-h"))
        self.solid = int(element.get("data-s", self.hits))
        title = element.find(SVG + "title").text
        self.name, self.row = title.split("\n")[:2]
        self.rectangles = [
            (rect.get("class"), float(rect.get("x", "0").rstrip("%")),
             float(rect.get("width").rstrip("%")))
            for rect in element.findall(SVG + "rect")]


def boxes_of(text):
    svg = ElementTree.fromstring(text.encode())
    return [Box(element) for element in svg.iter(SVG + "svg")
            if element.get("class") == "b"]


def check_drawing(boxes, rows, extent):
    """Boxes have the numbers, places and parts of rows."""
    assert len(boxes) == len(rows), (len(boxes), len(rows))
    for box, row in zip(boxes, rows):
        close = 1e-4
        assert box.hits == row["hits"] and box.solid == row["solid"], row
        assert box.depth == row["depth"], row
        assert abs(box.begin - 100 * row["begin"] / extent) < close, row
        assert abs(box.width - 100 * row["hits"] / extent) < close, row
        assert box.row.startswith("%.4f (" % row["fraction"]), row
        assert box.row.endswith(") [%d]" % row["hits"]), row
        solid = 100 * row["solid"] / row["hits"]
        wide = {kind == "g": (begin, width)
                for kind, begin, width in box.rectangles}
        assert (True in wide) == (row["solid"] < row["hits"]), row
        assert (False in wide) == (row["solid"] > 0), row
        if False in wide:
            assert wide[False][0] == 0 and abs(wide[False][1] - solid) < 1e-2
        if True in wide:
            assert abs(wide[True][0] - solid) < 1e-2, row
            assert abs(sum(wide[True]) - 100) < 1e-2, row


def lay_out(rows, least, is_up):
    """The rows that are at least so wide, placed without the others; extent."""
    kept = [dict(row) for row in rows if row["hits"] >= least]
    extent = {}
    for row in sorted(kept, key=lambda row: -row["depth"]):
        path = tuple(row["path"])
        above = path[1:] if is_up else path[:-1]
        extent[path] = max(extent.get(path, 0), row["hits"])
        extent[above] = extent.get(above, 0) + extent[path]
    begin = {(): 0}
    for row in kept:
        path = tuple(row["path"])
        above = path[1:] if is_up else path[:-1]
        row["begin"] = begin[path] = begin[above]
        begin[above] += extent[path]
    return kept, extent[()]


def check_picture(folder, profile, query, root):
    """A picture is the rows from some width on, which a pixel has."""
    is_up = query == "up"
    rows = json.loads(ask("-F", "json", *commands(
        "threshold 0", f"flame {query} {root}"), profile))["rows"]
    path = os.path.join(folder, "picture.svg")
    drawn = picture(folder, profile, name=path, query=f"{query} {root}")
    boxes = boxes_of(drawn)
    kept, extent = lay_out(rows, min(box.hits for box in boxes), is_up)
    check_drawing(boxes, kept, extent)
    assert f"{len(kept)} of {len(rows)} paths drawn" in drawn, drawn[:2000]
    # The least width is about a pixel.
    least = kept and min(row["hits"] for row in kept)
    assert least * 1200 >= extent, (least, extent)
    finer, wider = lay_out(rows, 0.87 * least - 1, is_up)
    assert len(finer) == len(kept) or \
        min(row["hits"] for row in finer) * 1200 < wider * 1.15, (
            least, extent, wider)
    if query == "down":
        assert drawn == picture(folder, profile, "root " + root), "no ROOT"


HOSTILE = ["<script>alert(1)</script>", "]]>", "<![CDATA[", "&amp", "a&b<c>",
           "\"onload='x()'", "--><b>", "\x1b[31mred\x1b[0m", "\x07", "a\x7fb",
           "</title></svg>", "\u202egnp", "\ufffe", "\x85", "</script>",
           "</style><b>", "{ } #id", "名前::関数()", "x" * 5000,
           "std::map<int, std::vector<char> >::find(int const&) const"]


def write_hostile(folder):
    path = os.path.join(folder, "hostile.folded")
    with open(path, "wb") as file:
        for name in HOSTILE:
            file.write(b"main;" + name.encode() + b" 10\n")
        file.write(b"main;bad\xff\xfe\xc0\xaf 10\n")
    return path


def check_hostile_root(folder):
    profile = write_hostile(folder)
    for root in "|\\x1b[31mred\\x1b[0m|", "|]]>|", "|<script>alert(1)</script>|":
        text = picture(folder, profile, query=root)
        assert "\x1b" not in text and text.count("]]>") == 1
        assert boxes_of(text)[0].depth == 0
        assert len(re.findall("<script", text)) == 1


class Page(html.parser.HTMLParser):
    """The elements and the text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.titles = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "title":
            self.titles.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open and self.open[-1] == "title":
            self.titles[-1] += data


KNOWN = {"html", "head", "meta", "title", "desc", "style", "body", "svg", "defs",
         "pattern", "rect", "text", "script"}
ATTRIBUTES = {"xmlns", "id", "class", "x", "y", "width", "height", "data-all",
              "data-up", "data-h", "data-s", "patternunits",
              "patterntransform", "charset", "name", "content", "lang"}


def check_hostile(folder):
    profile = write_hostile(folder)
    text = picture(folder, profile)
    controls = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufffe]",
                          text)
    assert not controls, controls
    names = {box.name for box in boxes_of(text)}
    for name in HOSTILE:
        if name.isprintable() and len(name) < 100:
            assert name in names, name
    assert "\\x1b[31mred\\x1b[0m" in names and "\\x07" in names
    assert "bad\\xff\\xfe\\xc0\\xaf" in names, names
    svg = ElementTree.fromstring(text.encode())
    tags = {element.tag.replace(SVG, "") for element in svg.iter()}
    assert tags <= KNOWN, tags
    assert len(list(svg.iter(SVG + "script"))) == 1
    assert text.count("]]>") == 1 and text.count("<![CDATA[") == 1


def check_page(folder):
    profile = write_hostile(folder)
    text = picture(folder, profile, name="page.html")
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= KNOWN, page.tags
    used = {name for _, attributes in page.tags for name in attributes}
    assert used <= ATTRIBUTES, used - ATTRIBUTES
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    names = {title.split("\n")[0] for title in page.titles}
    assert {"<script>alert(1)</script>", "]]>", "</title></svg>"} <= names
    svg = picture(folder, profile)
    assert svg.split("<svg ", 1)[1] in text, "the page has another picture"


def check_alone(folder):
    """Nothing is loaded from anywhere."""
    for name in "alone.svg", "alone.html":
        text = picture(folder, os.path.join(SAMPLES, "forms.folded"),
                       name=name)
        found = re.findall(r"(?:href|src)\s*=|@import|url\((?!#)", text)
        assert not found, found
        links = set(re.findall(r"https?://[^\"'<> ]*", text))
        assert links <= {"http://www.w3.org/2000/svg",
                         "http://www.w3.org/1999/xhtml"}, links


def write_large(folder, n_stacks, name="function_{}"):
    """Many stacks of few functions, each as likely as the others."""
    draw = random.Random(1)
    path = os.path.join(folder, "large.folded")
    with open(path, "w", encoding="ascii") as file:
        for _ in range(n_stacks):
            depth = draw.randint(1, 60)
            names = (name.format(n) for n in
                     (draw.randint(0, 40) for _ in range(depth)))
            file.write("main;" + ";".join(names) + " 1\n")
    return path


def check_large(folder):
    profile = write_large(folder, 60000, "library::component<int, char>::"
                          "function_{}(int const&)")
    for query in "down", "tree", "up |library::component<int, char>::" \
            "function_7(int const&)|":
        path = os.path.join(folder, "large.svg")
        ask(*commands(f"flame {query} {path}"), profile)
        size = os.path.getsize(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        boxes = boxes_of(text)
        assert size < SIZE_MAX, (query, size)
        assert len(boxes) >= 40, (query, len(boxes))
        drawn, n = map(int, re.search(r"(\d+) of (\d+) paths drawn",
                                      text).groups())
        assert drawn == len(boxes) < n, (query, drawn, n)
        least = float(re.search(r"narrower than ([\d.e-]+)% of", text)[1])
        assert min(box.width for box in boxes) >= least * .99, query


def check_even(folder):
    """Where all boxes are as wide, there are fewer levels."""
    path = os.path.join(folder, "even.folded")
    with open(path, "w", encoding="ascii") as file:
        for i in range(200):
            file.write(";".join(["main"] + [
                f"f{i}_{j}_{'x' * 250}" for j in range(50)]) + " 1\n")
    text = picture(folder, path, name="even.svg")
    boxes = boxes_of(text)
    assert len(text) < SIZE_MAX, len(text)
    depth = max(box.depth for box in boxes)
    assert depth > 1 and len(boxes) == 1 + 200 * depth, (depth, len(boxes))
    assert f"deeper than {depth + 1} levels" in text


def check_deep(folder):
    """No element is nested as deep as the stack."""
    path = os.path.join(folder, "deep.folded")
    with open(path, "w", encoding="ascii") as file:
        file.write(";".join(f"f{i}" for i in range(100000)) + " 1\n")
    text = picture(folder, path, "depth off", "root f0", name="deep.svg")
    assert len(text) < SIZE_MAX, len(text)
    boxes = boxes_of(text)
    assert 500 < len(boxes) <= 1000, len(boxes)
    assert f"deeper than {len(boxes)} levels" in text
    assert max(box.depth for box in boxes) == len(boxes) - 1


def check_refined(folder):
    """What a step left is drawn, with the numbers of the views."""
    profile = os.path.join(SAMPLES, "rdparse.folded.gz")
    steps = ["threshold 0", "narrow expr ... unary"]
    for query in "down main", "up number", "down term":
        path = os.path.join(folder, "refined.svg")
        output = ask("-F", "json", *commands(
            *steps, query, "flame " + query, f"flame {query} {path}"),
                     profile)
        view, flame = (json.loads(line)["rows"] for line in
                       output.splitlines()[-2:])
        values = {tuple(row["path"]): row["hits"] for row in flame}
        assert values == {tuple(row["path"]): row["hits"] for row in view}
        assert flame[0]["solid"] == flame[0]["hits"]
        assert sum(row["own"] for row in flame) == flame[0]["hits"]
        with open(path, encoding="utf-8") as file:
            drawn = file.read()
        assert "refined: 182 of 334 hits" in drawn
        n = sum(row["hits"] > 0 for row in flame)
        assert f"of {n} paths drawn" in drawn, (n, drawn[:3000])
        kept = [row for row in flame
                if row["hits"] * 1200 >= flame[0]["hits"] * 4]
        assert [box.hits for box in boxes_of(drawn)
                if box.hits * 1200 >= flame[0]["hits"] * 4] == [
                    row["hits"] for row in kept]


def check_legend(folder):
    """One word for one thing: pale boxes are likely changes, not room."""
    profile = os.path.join(SAMPLES, "recursion", "self.folded")
    path = os.path.join(folder, "legend.svg")
    ask("--base", profile, *commands(f"diff flame {path}"), profile)
    with open(path, encoding="utf-8") as file:
        lines = re.findall("<text[^>]*>([^<]*)</text>", file.read())
    assert any("(pale: likely)" in line for line in lines), lines
    assert any("Blank: room for what is below" in line for line in lines), lines
    assert sum(line.lower().count("pale") for line in lines) == 1, lines


def check_empty(folder):
    """Paths without hits of the resource are no boxes and not counted."""
    path = os.path.join(folder, "empty.folded")
    with open(path, "w", encoding="ascii") as file:
        file.write("# cpprof 1\n# resource: a; gtick=x; interval=1\n"
                   "# resource: b; gtick=y; interval=1\n"
                   "main;f 3 0\nmain;f;g 0 5\nmain;h 0 2\n")
    for query in "", "tree", "up f":
        text = picture(folder, path, query=query)
        assert "2 of 2 paths drawn<" in text, (query, text)
        assert [box.hits for box in boxes_of(text)] == [3, 3], query


def check_calls(folder):
    """Calls without stacks: the values of the views, and what is estimated."""
    profile = os.path.join(SAMPLES, "rdparse.callgrind.gz")
    for query in "down main", "up number":
        path = os.path.join(folder, "calls.svg")
        view, flame = (json.loads(line)["rows"] for line in
                       ask("-F", "json", *commands(query, "flame " + query,
                                                   f"flame {query} {path}"),
                           profile).splitlines())
        values = {tuple(row["path"]): (row["hits"], row["estimated"])
                  for row in view}
        assert values == {tuple(row["path"]): (row["hits"], row["estimated"])
                          for row in flame}
        assert any(estimated for _, estimated in values.values())
        check_layout(flame, query.startswith("up"))
        with open(path, encoding="utf-8") as file:
            boxes = boxes_of(file.read())
        for row in flame:
            mark = "~" if row["estimated"] else ""
            drawn = [box for box in boxes if box.hits == row["hits"] and
                     box.depth == row["depth"] and
                     box.row.startswith("%s%.4f (" % (mark, row["fraction"]))
                     and box.row.endswith(") [%s%d]" % (mark, row["hits"]))]
            assert drawn, row


def check_units(folder):
    text = picture(folder, os.path.join(SAMPLES, "forms.folded"),
                   "unit gticks", "digits 2")
    assert boxes_of(text)[0].row == "1.00 (main) [123 s]"


# ---- scripts ----

PROBE = """<script>
window.onload = function () {
  function one(s) { return document.querySelector(s); }
  var boxes = [].slice.call(document.querySelectorAll("#cpprof-map > svg"));
  var input = one("input"), out = {search: {}};
  function width(box) { return parseFloat(box.getAttribute("width")); }
  function seen() {
    return boxes.filter(function (b) { return b.style.display !== "none"; });
  }
  PATTERNS.forEach(function (pattern) {
    input.value = pattern;
    input.dispatchEvent(new Event("input"));
    out.search[pattern] =
      one("#cpprof-picture > text[text-anchor=end]:not(.a)").textContent;
  });
  boxes[3].dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
  out.line = one("#cpprof-line").textContent;
  boxes[3].querySelector("rect")
    .dispatchEvent(new MouseEvent("click", {bubbles: true}));
  out.zoomed = seen().map(function (b) {
    return b.querySelector("title").textContent.split("\\n")[0];
  });
  out.root = width(boxes[0]);
  out.share = width(boxes[4]) / width(boxes[3]);
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  out.all = seen().length;
  document.title = "found " + JSON.stringify(out);
};
</script>
"""


def browser():
    return next(filter(None, map(shutil.which, (
        "chromium", "chromium-browser", "google-chrome"))), None)


def matched(profile, root, pattern):
    """Hits of the root's stacks with a canonical path that matches."""
    return sum(hits for stack, hits in profile.stacks.items()
               if root in stack and
               re.search(pattern, "\n".join(stack[stack.index(root):]),
                         re.MULTILINE))


def check_script(folder):
    """Search counts each hit once; zoom shows a box, what is above and below."""
    path = os.path.join(SAMPLES, "rdparse.folded.gz")
    patterns = ["expr", "number", "^unary$", "^(factor|skip)$", "^(gen|rnd)$",
                "nothing", "("]
    with open(os.path.join(folder, "probe.html"), "w",
              encoding="utf-8") as file:
        file.write(picture(folder, path, name="page.html").replace(
            "</body>", PROBE.replace("PATTERNS", json.dumps(patterns)) +
            "</body>"))
    shown = subprocess.run(
        [browser(), "--headless", "--no-sandbox", "--disable-gpu",
         "--dump-dom", "file://" + os.path.join(folder, "probe.html")],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=100,
        check=True, encoding="utf-8").stdout
    found = json.loads(html.unescape(
        re.search("<title>found (.*?)</title>", shown)[1]))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        profile = oracle.Profile(file)
    for pattern in patterns[:-1]:
        true = 100 * matched(profile, "main", pattern) / profile.total
        shares = [float(share) for share in
                  re.findall(r"([\d.]+)%", found["search"][pattern])]
        assert min(shares) - .006 <= true <= max(shares) + .006, (
            pattern, true, shares)
        # Only several boxes side by side leave anything open.
        assert len(shares) == 1 or "|" in pattern, (pattern, shares)
    assert found["search"]["("] == "not a regular expression"
    assert found["line"] == "0.9611 [321] main > expr > term > factor"
    rows = json.loads(ask("-F", "json", *commands("threshold 0", "flame"),
                          path))["rows"]
    zoomed = [row["path"][-1] for row in rows
              if row["path"][:4] == rows[3]["path"] or
              row["path"] == rows[3]["path"][:len(row["path"])]]
    assert found["zoomed"] == zoomed, (found["zoomed"], zoomed)
    assert found["root"] == 100
    assert abs(found["share"] - rows[4]["hits"] / rows[3]["hits"]) < 1e-3
    assert found["all"] == len(rows)


def check_labels(folder):
    """The script labels boxes by short names, as the file does."""
    arguments = "<std::vector<int, std::allocator<int> > >" * 8
    names = {
        f"void std::sort{arguments}(int*, int*)": "std::sort 0.2500",
        f"long (anonymous namespace)::apply{arguments}(int) [clone .isra.0]":
            "(anonymous namespace)::apply 0.2500",
        f"ns::Vec{arguments}::operator+(int) const": "ns::Vec::operator+ 0.2500",
        f"bool std::operator>{arguments}(int)": "std::operator> 0.2500",
    }
    path = os.path.join(folder, "templates.folded")
    with open(path, "w", encoding="utf-8") as file:
        for name in names:
            file.write(f"{name} 10\n")
    plain = picture(folder, path, name="labels.html", query="tree")
    shown = subprocess.run(
        [browser(), "--headless", "--no-sandbox", "--disable-gpu",
         "--window-size=1300,600", "--dump-dom",
         "file://" + os.path.join(folder, "labels.html")],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=100,
        check=True, encoding="utf-8").stdout
    for page in plain, shown:
        labels = [html.unescape(label) for label in
                  re.findall(r'<text[^>]* x="3"[^>]*>([^<]*)</text>', page)]
        assert sorted(labels) == sorted(names.values()), labels


# ---- files ----

def check_files(folder):
    profile = os.path.join(SAMPLES, "forms.folded")
    path = os.path.join(folder, "kept.svg")
    with open(path, "w", encoding="ascii") as file:
        file.write("old")
    os.chmod(path, 0o640)
    # Between bars, a name is never a file's.
    assert b"no function" in run("-e", "flame |x.svg|", profile).stderr
    # A picture that cannot be made leaves the file as it was.
    for wrong in "flame nosuch kept.svg", "flame tree main kept.svg":
        assert run("-e", wrong, profile, cwd=folder).returncode == 1
    calls = os.path.join(SAMPLES, "rdparse.callgrind.gz")
    failed = run("-e", "flame tree kept.svg", calls, cwd=folder)
    assert failed.returncode == 1 and b"stacks" in failed.stderr
    assert failed.stderr.count(b"\n") == 1, failed.stderr
    with open(path, encoding="ascii") as file:
        assert file.read() == "old"
    before = set(os.listdir(folder))
    done = run("-e", "flame kept.svg", profile, cwd=folder)
    assert done.returncode == 0 and not done.stdout + done.stderr
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert set(os.listdir(folder)) == before, "something was left behind"
    assert len(boxes_of(open(path, encoding="utf-8").read())) == 33
    limited = subprocess.run(
        ["sh", "-c", "ulimit -f 8; exec \"$0\" -q -e 'flame kept.svg' \"$1\"",
         CPPROF, profile], cwd=folder, stderr=subprocess.PIPE, timeout=60,
        check=False)
    assert limited.returncode == 1 and b"kept.svg" in limited.stderr
    assert len(boxes_of(open(path, encoding="utf-8").read())) == 33


# ---- terminals ----

def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def colored_lines(*lines):
    """The lines of boxes of a picture in colour."""
    text = ask(*lines).decode().split("\n")
    return [line for line in text if "\x1b[48;5;" in line]


def check_cells(folder):
    """Each line is as wide as the terminal, and wide characters are whole."""
    path = os.path.join(folder, "cells.folded")
    wide = "\u540d\u524d\u95a2\u6570"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"main;{wide};x 40\nmain;{wide}2 23\n")
        for name in "abcdefghijklmnopqr":
            file.write(f"outer;{name * 3} 3\nouter;{wide * 9} 1\n")
    for root in "main", "outer":
        plain = ask("-e", "flame " + root, path).decode()
        assert all(width(line) <= 80 for line in plain.split("\n")), plain
        assert wide in plain
        drawn = ""
        for line in colored_lines("-e", "color always", "-e",
                                  "flame " + root, path):
            text = re.sub(r"\x1b\[[0-9;]*m", "", line)
            assert width(text) == 80, (text, width(text))
            drawn += text
        assert root == "outer" or wide in drawn, drawn


def check_neighbours(folder):
    """No two boxes side by side have one colour."""
    path = os.path.join(folder, "neighbours.folded")
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    with open(path, "w", encoding="ascii") as file:
        for root in range(60):
            for name in range(10):
                file.write(f"root{root};{draw.choice(letters)}{name} 8\n")
    lines = colored_lines(*commands("color always", *(
        f"flame root{root}" for root in range(60))), path)
    for line in lines[1::2]:
        colors = re.findall(r"\x1b\[48;5;(\d+)m([a-z]\d)", line)
        assert len(colors) == 10, colors
        assert all(one[0] != other[0] for one, other in
                   zip(colors, colors[1:])), colors


def check_chain(columns, folder):
    """On a terminal, what is above the first split is a line of text."""
    path = os.path.join(folder, "chain.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write("main;run;loop;handle;left;l 50\n"
                   "main;run;loop;handle;right;r 50\n")
    terminal = Terminal("-q", path, columns=columns, rows=24, NO_COLOR="1")
    terminal.expect("samples) ")
    for command, chain, top in (
            ("flame", "1.0000 (main run loop)", "|handle 1.0000"),
            ("flame tree", "1.0000 (main run loop)", "|handle 1.0000"),
            ("flame up l", "0.5000 (run loop handle left l)", "|main"),
            ("flame handle", None, "|handle 1.0000")):
        terminal.type(f"{command}\n")
        lines = terminal.expect(" drawn").replace("\r", "").split("\n")
        at = next(i for i, line in enumerate(lines)
                  if line.startswith("-----"))
        shown = lines[at + 1:-1]
        if chain is not None:
            assert shown.pop(0) == chain, lines
        assert shown.pop(0).startswith(top), lines
        # Without a split, the last box is drawn.
        assert (shown == []) == (top == "|main"), lines
        if shown:
            assert shown[0].startswith("|left 0.5000"), lines
    terminal.type("quit\n")
    assert terminal.status() == 0
    plain = subprocess.run([CPPROF, "-q", path, "-e", "flame"], text=True,
                           capture_output=True, check=True).stdout
    assert "\n|main 1.0000" in plain and "\n|loop 1.0000" in plain, plain


def check_terminal(columns, rows):
    """The picture, its legend and the next prompt fit the screen."""
    terminal = Terminal("-q", os.path.join(SAMPLES, "rdparse.folded.gz"),
                        columns=columns, rows=rows, TERM="xterm-256color")
    terminal.expect("cpu) ")
    terminal.type("flame tree\n")
    plain = terminal.expect(" drawn")
    assert "\x1b[48;5;" in terminal.seen, "no colour"
    lines = plain.replace("\r", "").split("\n")
    first = next(i for i, line in enumerate(lines)
                 if line.startswith("Sample Tree"))
    picture_lines = lines[first + 4:]
    assert len(lines) - first + 1 <= rows, (len(lines), rows)
    assert len(lines) - first >= rows - 6, (len(lines), rows)
    assert all(len(line) <= columns for line in picture_lines), picture_lines
    assert picture_lines[0].startswith("main 1.0000"), picture_lines
    assert len(picture_lines[0]) == columns
    assert "below the screen" in plain + terminal.expect("cpu) ")
    terminal.type("quit\n")
    assert terminal.status() == 0


def main():
    first, count = (int(argument) for argument in
                    (sys.argv[1:] + ["1", "60"][len(sys.argv) - 1:]))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            claims.attempt(f"random stacks {seed}", check_random, seed,
                           folder)
        rdparse = os.path.join(SAMPLES, "rdparse.folded.gz")
        for query, root in (("down", "main"), ("up", "number"),
                            ("down", "expr"), ("up", "expr")):
            claims.attempt(f"{query} {root} as SVG has the rows' numbers",
                           check_picture, folder, rdparse, query, root)
        large = write_large(folder, 3000)
        for query, root in (("down", "main"), ("up", "function_3")):
            claims.attempt(f"{query} {root} of many paths draws the widest",
                           check_picture, folder, large, query, root)
        claims.attempt("hostile names stay text in SVG", check_hostile,
                       folder)
        claims.attempt("hostile names of roots stay text", check_hostile_root,
                       folder)
        claims.attempt("hostile names stay text in HTML", check_page, folder)
        claims.attempt("pictures need no other file", check_alone, folder)
        claims.attempt("pictures of many paths keep their size", check_large,
                       folder)
        claims.attempt("a picture of many equal boxes keeps its size",
                       check_even, folder)
        claims.attempt("a stack of 100,000 functions is drawn", check_deep,
                       folder)
        claims.attempt("refinements apply to pictures", check_refined, folder)
        claims.attempt("the legend of a comparison names each colour once",
                       check_legend, folder)
        claims.attempt("paths without hits are not drawn", check_empty,
                       folder)
        claims.attempt("calls without stacks are drawn", check_calls, folder)
        claims.attempt("unit and digits apply to pictures", check_units,
                       folder)
        claim = "search and zoom work where scripts run"
        if browser():
            claims.attempt(claim, check_script, folder)
            claims.attempt("labels in a browser are short names",
                           check_labels, folder)
        else:
            claims.skip(claim, "no browser")
        claims.attempt("files are replaced by whole pictures only",
                       check_files, folder)
        claims.attempt("cells are filled whole", check_cells, folder)
        claims.attempt("neighbours differ in colour", check_neighbours,
                       folder)
        for columns in 80, 120:
            claim = f"a picture of {columns} columns begins at the split"
            if has_terminals():
                claims.attempt(claim, check_chain, columns, folder)
            else:
                claims.skip(claim, "no pseudo-terminals")
        for columns, rows in (80, 24), (120, 40), (40, 12):
            claim = f"a picture fits {columns}x{rows}"
            if has_terminals():
                claims.attempt(claim, check_terminal, columns, rows)
            else:
                claims.skip(claim, "no pseudo-terminals")
    claims.end()


main()
