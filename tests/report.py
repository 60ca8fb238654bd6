#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.py -- a report answers by clicks what the prompt answers by commands.

A headless Chromium opens the page from its file, clicks and reads; what it reads
is compared with `cpprof -F json` of the same profile.  Names stay text whatever
they hold, a page keeps its size, and a keyboard reaches all of it.
"""
import json
import os
import random
import re
import sys
import tempfile

import cpprof
import devtools
from claims import Claims
from oracle import quoted

SAMPLES = os.path.join(os.path.abspath(os.environ.get("srcdir", ".")),
                       "sample-data")
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
SIZE_MAX = 1000 * 1000
claims = Claims()


def sample(name):
    return os.path.join(SAMPLES, name)


def write_report(folder, profile, *commands, name="report.html"):
    path = os.path.join(folder, name)
    cpprof.ask(profile, *commands, f"report {path}")
    return path


def block(path):
    """The data of a page."""
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r' id="data">\n(.*?)\n</script>',
                                    file.read(), re.DOTALL)[1])


def rows_of(document, part):
    """A part's rows as `format json` has them, without what only text has."""
    keys = [column[0] for column in document["shapes"][part["shape"]]]
    rows = []
    for row in part["rows"]:
        cells = {}
        for key, cell in zip(keys, row):
            if key == "path" and cell is not None:
                cell = [document["names"][number] for number in cell]
            elif isinstance(cell, list):
                cell = cell[0]
            cells[key] = cell
        rows.append(cells)
    return rows


def differences(got, expected):
    """Rows of a page that are not those of the view."""
    found = [] if len(got) == len(expected) else [
        f"{len(got)} rows, not {len(expected)}"]
    for mine, true in zip(got, expected):
        found += [f"{key}: {mine.get(key)} is not {true[key]} in {true}"
                  for key in true if mine.get(key) != true[key]]
    return found


# ---- the data ----

def check_rows(folder, profile, *before):
    """Every part has the rows of the command that it names."""
    document = block(write_report(folder, profile, *before))
    n, found = 0, []
    for part in document["parts"]:
        line = ("diff " if part["kind"] == "diff" else "") + part["command"]
        settings = ("noise on", "threshold 0.0005") if not part.get(
            "function") else ("noise on", "threshold 0", "limit 60")
        done = cpprof.ask(profile, *before, *settings, line, options=(
            "-F", "json"), status=None)
        if "why" in part:
            if part["why"] not in done.stderr:
                found.append(f"{line}: {part['why']}: {done.stderr}")
            continue
        expected = json.loads(done.stdout.splitlines()[-1])["rows"]
        got = rows_of(document, part)
        if part["kind"] == "flame":
            for row in expected:
                row["path"] = row["path"][-1:]
        if part["left"] == 0:
            found += [f"{line}: {text}" for text in
                      differences(got, expected)]
        n += len(got)
    assert not found, "\n".join(found[:20])
    assert n > 20, n


# ---- questions, answered by clicks ----

HELPERS = r"""
var page = {
  one: function (css) { return document.querySelector(css); },
  button: function (name, inside) {
    return Array.prototype.filter.call(
      document.querySelectorAll((inside || "#functions") + " button.name"),
      function (b) { return (b.title || b.textContent) === name; })[0];
  },
  rows: function (css) {
    return Array.prototype.map.call(
      document.querySelectorAll(css + " tbody tr"), function (tr) {
        var row = {};
        tr.querySelectorAll("[data-key]").forEach(function (cell) {
          var key = cell.dataset.key;
          row[key] = key === "path" ?
              cell.firstChild.title || cell.textContent :
            cell.dataset.v === undefined ? null : JSON.parse(cell.dataset.v);
          row[key + ".text"] = cell.textContent;
        });
        return row;
      });
  },
  box: function (path) {
    return Array.prototype.filter.call(document.querySelectorAll(".box"),
      function (e) {
        var names = [], box;
        for (box = e.box; box !== null; box = box.parent) names.unshift(box.name);
        return JSON.stringify(names) === JSON.stringify(path);
      })[0];
  }
};
"""


class Page:
    """A report in the browser, and the prompt's answers beside it."""

    def __init__(self, browser, folder, profile, *before):
        self.browser, self.profile, self.before = browser, profile, before
        self.path = write_report(folder, profile, *before)
        browser.open(self.path)
        browser.value(HELPERS)

    def prompt(self, command):
        return cpprof.table(self.profile, *self.before, "noise on",
                            "threshold 0", command)["rows"]

    def value(self, expression):
        return self.browser.value(expression)

    def open_function(self, name, inside="#functions"):
        """Types a part of the name into the search field, and clicks."""
        if inside == "#functions":
            self.value("page.one('#function-search').focus(); "
                       "page.one('#function-search').value = ''")
            self.browser.call("Input.insertText", text=name)
        self.browser.click(
            f"page.button({json.dumps(name)}, {json.dumps(inside)})")
        self.browser.until("page.one('#function-title').textContent === " +
                           json.dumps(name))
        assert not self.value("page.one('#function').hidden")

    def rows(self, css):
        return self.value(f"page.rows({json.dumps(css)})")


def check_calls(page, name, is_up):
    """Who calls X, and what it calls: the same rows, each with its share."""
    kind = "callers" if is_up else "callees"
    page.open_function(name)
    while page.value(f"!page.one('[data-part={kind}] .more') || "
                     f"page.one('[data-part={kind}] .more').hidden") is False:
        page.browser.click(f"page.one('[data-part={kind}] .more')")
    expected = page.prompt(f"{kind} |{name}|")
    got = page.rows(f"[data-part={kind}]")
    assert expected and len(got) == len(expected), (got, expected)
    for mine, true in zip(got, expected):
        assert mine["path"] == true["path"][0 if is_up else -1], (mine, true)
        assert (mine["hits"], mine["fraction"], mine.get("error")) == (
            true["hits"], true["fraction"], true.get("error")), (mine, true)
        assert mine["fraction.text"] == f"{100 * true['fraction']:.2f}%" or \
            abs(float(mine["fraction.text"][:-1]) -
                100 * true["fraction"]) < .00501, mine


def check_share(page, caller, callee):
    """What share has a callee from one caller."""
    page.open_function(caller)
    row = next(row for row in page.rows("[data-part=callees]")
               if row["path"] == callee)
    true = next(row for row in page.prompt(f"callees |{caller}|")
                if row["path"] == [caller, callee])
    assert (row["hits"], row["fraction"]) == (
        true["hits"], true["fraction"]), (row, true)


def check_walk(page, caller, callee):
    """A click on a callee goes on to it, and Back returns."""
    page.open_function(caller)
    page.open_function(callee, "[data-part=callees]")
    page.value("history.back()")
    page.browser.until("page.one('#function-title').textContent === " +
                       json.dumps(caller))


def check_figures(page, name):
    """How much a function used, itself and with all that it calls."""
    page.open_function(name)
    said = page.value("page.one('#function .figures').textContent")
    true = next(row for row in page.prompt("top 100000")
                if row["path"] == [name])
    for key in "fraction", "inclusive_fraction":
        assert f"{100 * true[key]:.2f}"[:-1] in said, (said, true)
    assert f"\u00b1 {100 * true['error']:.2f}%" in said, (said, true)


def check_when(page, name):
    """When was W: from, to, and when most."""
    page.open_function(name)
    slices = page.prompt(f"timeline |{name}|")
    used = [row for row in slices if row["hits"] > 0]
    most = max(used, key=lambda row: row["hits"])
    said = [float(number) for number in re.findall(
        r"([\d.]+) s", page.value("page.one('[data-part=times] .says')"
                                  ".textContent"))]
    true = [used[0]["begin_ns"], used[-1]["end_ns"], most["begin_ns"],
            most["end_ns"]]
    assert all(abs(a - b / 1e9) < 1e-3 for a, b in zip(said, true)), (
        said, true)
    got = [row["hits"] for row in page.rows("[data-part=times]")]
    assert got == [row["hits"] for row in slices], got


def check_lines(page, name):
    """Which line of F used most."""
    page.open_function(name)
    expected = [row for row in page.prompt(f"list |{name}|") if row["hits"]]
    got = [row for row in page.rows("[data-part=lines]") if row["hits"]]
    assert expected and len(got) == len(expected), (got, expected)
    for mine, true in zip(got, expected):
        assert (mine["line"], mine["hits"], mine["self"],
                mine["text.text"]) == (true["line"], true["hits"],
                true["self"], true["text"] or ""), (mine, true)


def check_box(page, path):
    """How much a path has; a click zooms, Escape shows the whole."""
    true = next(row for row in page.prompt("flame") if row["path"] == path)
    box = f"page.box({json.dumps(path)})"
    assert page.value(f"JSON.parse({box}.dataset.v)") == true["hits"]
    page.browser.click(box)
    width = page.value(f"{box}.getBoundingClientRect().width / "
                       "page.one('.icicle').getBoundingClientRect().width")
    # (Boxes below it overhang it.)
    assert width > .4, width
    said = page.value("page.one('#flame .status').textContent")
    assert said.endswith(" > ".join(path)), said
    assert said.startswith(f"{100 * true['fraction']:.2f}%"), (said, true)
    page.browser.key("Escape", 27)
    assert page.value("page.one('#flame .tools button').hidden")


def check_mark(page, pattern, name):
    """The search marks boxes, and says what the functions have."""
    page.value("page.one('#flame-search').focus()")
    page.browser.call("Input.insertText", text=pattern)
    boxes = [row for row in page.prompt("flame")
             if re.search(pattern, row["path"][-1])]
    said = page.value("page.one('#flame .tools span').textContent")
    true = next(row for row in page.prompt("functions 100000")
                if row["path"] == [name])
    assert said.startswith(f"{len(boxes)} box"), (said, len(boxes))
    assert f"{name} {100 * true['fraction']:.2f}%" in said, said
    marked = page.value("Array.from(document.querySelectorAll('.box.m'),"
                        " function (e) { return e.box.name; })")
    assert marked and all(re.search(pattern, one) for one in marked), marked
    page.value("page.one('#flame-search').value = ''; page.one("
               "'#flame-search').dispatchEvent(new Event('input'))")


def check_explain(page):
    got = page.value("""Array.from(document.querySelectorAll(
        '#explain [data-kind]'), function (e) {
            return [e.dataset.kind, JSON.parse(e.dataset.v)]; })""")
    assert got == [[row["kind"], row["hits"]]
                   for row in page.prompt("explain")], got


def check_threads(page):
    got = page.rows("#threads")
    expected = page.prompt("threads") + page.prompt("processes")
    assert [(row["hits"], row["fraction"]) for row in got] == [
        (row["hits"], row["fraction"]) for row in expected], got


def check_info(page):
    true = cpprof.table(page.profile, "info")
    for key in "command", "samples", "functions", "duration", "threads":
        got = page.value("(page.one('#info [data-key=%s]') || {dataset: "
                         "{v: 'null'}}).dataset.v" % key)
        assert json.loads(got) == true.get(key), (key, got)
    lost = {"tallies." + what: count for what, count in
            true.get("tallies", {}).items() if "complete" in what or
            "late" in what or "guessed" in what or "hits" in what}
    lost.update({"dropped": true["dropped"]} if true["dropped"] else {})
    says = page.value("""Array.from(document.querySelectorAll('#info li'),
        function (li) { return [li.dataset.key, li.textContent]; })""")
    assert sorted(key for key, _ in says) == sorted(lost), (says, lost)
    assert all(text.endswith(f": {lost[key]}") for key, text in says), says
    assert page.value("page.one('#info .lost').textContent").startswith(
        "Lost" if lost else "Nothing")


def check_sort(page):
    """A heading sorts, and says so."""
    head = ("page.one('#functions th button:not([hidden])')."
            "closest('tr').children[4].querySelector('button')")
    page.value("page.one('#function-search').value = ''; page.one("
               "'#function-search').dispatchEvent(new Event('input'))")
    page.browser.click(head)
    got = page.value("page.rows('#functions').map(function (row) "
                     "{ return row.inclusive_fraction; })")
    first = [value for value in got if value is not None][:10]
    assert first == sorted(first, reverse=True), first
    assert page.value(f"{head}.parentNode.getAttribute('aria-sort')") == \
        "descending"


def check_change(page):
    """What changed, by how much, and whether it is noise."""
    got = page.rows("#diff")
    for view in "functions 200", "top 200":
        expected = page.prompt("diff " + view)[:15]
        mine, got = got[:len(expected)], got[len(expected):]
        for row, true in zip(mine, expected):
            assert (row["path"], row["verdict"]) == (
                true["path"][-1], true["verdict"]), (row, true)
            assert (row["base"], row["now"], row["change"]) == (
                true["base"], true["now"], true["change"]), (row, true)
    true = page.prompt("diff functions 1")[0]
    page.value("page.one('#diff button.name').click()")
    page.browser.until("!page.one('#function').hidden")
    said = page.value("page.one('#function .figures').textContent")
    assert f"{true['base']} ms to {true['now']} ms: {true['verdict']}" in \
        said, said


# ---- names, size, keyboard, screen reader ----

HOSTILE = [
    '</script><img src=x onerror="window.broken=1">',
    "</SCRIPT ><svg onload=window.broken=2>", "<!--<script>", "]]>",
    "</title><h1>", "</pre></noscript><b>", "\u2028\u2029\u202e", "__proto__",
    "constructor", "&lt&gt&amp", "'\"`${1}", "javascript:window.broken=3",
    "|bars|", "\\u003c\\x3c", "a" * 5000 + "<b>", "%s%n", "f(int)", "\u00e9"]


def check_hostile(folder):
    path = os.path.join(folder, "hostile.folded")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for i, name in enumerate(HOSTILE):
            file.write(f"{HOSTILE[0]};{name} {10 + i}\n")
    page = write_report(folder, path, name="hostile.html")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert len(re.findall("</script", text, re.IGNORECASE)) == 2
    assert "<img" not in text and "<svg" not in text and "<!--" not in text
    assert "default-src 'none'" in text and "http:" not in text.replace(
        "http-equiv", "") and "https:" not in text
    names = block(page)["names"]
    for name in HOSTILE:
        if len(name) < 1000:
            assert name in names, name
    return page


def check_hostile_page(browser, folder):
    browser.open(check_hostile(folder))
    browser.value(HELPERS)
    assert not browser.errors, browser.errors
    for name in HOSTILE[:14]:
        button = f"page.button({json.dumps(name)})"
        while browser.value(f"{button} === undefined"):
            browser.click("page.one('#functions .more:not([hidden])')")
        browser.click(button)
        browser.until("page.one('#function-title').textContent === " +
                      json.dumps(name))
        browser.value("page.one('#flame-search').value = "
                      f"{json.dumps(re.escape(name))}; page.one('#flame-"
                      "search').dispatchEvent(new Event('input'))")
        # The outermost function also calls itself.
        said = browser.value("page.one('#flame .tools span').textContent")
        assert said.startswith("2 boxes;" if name == HOSTILE[0] else
                               "1 box;"), (name, said)
    assert browser.value("document.querySelectorAll('img, svg, b').length") \
        == 0
    assert browser.value("typeof window.broken") == "undefined"
    assert browser.value("document.querySelectorAll('h1').length") == 1
    outside = [url for url in browser.requests
               if not url.startswith(("file:", "data:", "about:"))]
    assert not outside and not browser.errors, (outside, browser.errors)


def check_size(folder, n_functions, length):
    """Of a large profile the smallest rows are left out, and are counted."""
    dice = random.Random(n_functions)
    names = [f"ns{i % 17}::Class<{'T<' * (length // 8)}{i}>::call"
             for i in range(n_functions)]
    path = os.path.join(folder, "large.folded")
    with open(path, "w", encoding="ascii") as file:
        for _ in range(6000):
            stack = ["main"] + [names[min(int(dice.expovariate(8 / n_functions)),
                                          n_functions - 1)]
                                for _ in range(dice.randint(1, 40))]
            file.write(";".join(stack) + f" {dice.randint(1, 50)}\n")
    page = os.path.join(folder, "large.html")
    done = cpprof.ask(path, f"report {page}")
    size = os.path.getsize(page)
    assert size < SIZE_MAX, size
    document = block(page)
    left = document["left"]
    if left > 0:
        assert str(left) in done.stderr, (left, done.stderr)
    for part in document["parts"]:
        if part["kind"] not in ("top", "functions", "flame"):
            continue
        rows = rows_of(document, part)
        true = cpprof.table(path, "noise on", "threshold 0.0005",
                            part["command"])["rows"]
        assert len(rows) + part["left"] == len(true), part["kind"]
        if not rows:
            continue
        # Nothing left out is larger than anything that is there.
        hits = sorted((row["hits"] for row in true), reverse=True)
        assert min(row["hits"] for row in rows) == hits[len(rows) - 1]
    return size


def check_keyboard(page):
    """Tab goes through the page in its order, and every stop is seen."""
    page.browser.open(page.path)
    page.browser.value(HELPERS)
    stops, seen = [], set()
    page.value("var last = null, wrong = [];")
    for _ in range(400):
        page.browser.key("Tab", 9)
        stop = page.value("""(function () {
            var e = document.activeElement, style = getComputedStyle(e);
            if (e === document.body) return null;
            if (last !== null && !(last.compareDocumentPosition(e) &
                Node.DOCUMENT_POSITION_FOLLOWING)) wrong.push(e.textContent);
            last = e;
            return [e.tagName, e.textContent || e.getAttribute("aria-label"),
                style.outlineStyle !== "none",
                e.closest("section") ? e.closest("section").id : ""];
        }())""")
        if stop is None:
            break
        stops.append(stop)
        seen.add(stop[3])
    assert page.value("wrong") == [], page.value("wrong")
    assert stops[0][1] == "Skip to the report", stops[0]
    assert all(stop[2] for stop in stops), [s for s in stops if not s[2]]
    assert all(stop[1] for stop in stops), stops
    assert seen >= {"", "explain", "functions", "flame", "threads"}, seen
    # One stop for the picture, however many boxes it has.
    assert sum(stop[3] == "flame" for stop in stops) == 2, stops


def check_keys(page, path):
    """Arrow keys go along a path, Enter zooms, Space opens the function, and
    Escape closes it and returns."""
    page.browser.open(page.path)
    page.browser.value(HELPERS)
    page.value("page.one('.box[tabindex=\"0\"]').focus()")
    for _ in path[1:]:
        page.browser.key("ArrowDown", 40)
    name = page.value("document.activeElement.box.name")
    depth = page.value("document.activeElement.box.depth")
    assert depth == len(path) - 1, (name, depth)
    page.browser.key("Enter", 13)
    assert page.value("document.activeElement.box.name") == name
    assert not page.value("page.one('#flame .tools button').hidden")
    page.browser.key("Escape", 27)
    page.browser.key(" ", 32, " ")
    page.browser.until("page.one('#function-title').textContent === " +
                       json.dumps(name))
    assert page.value("document.activeElement.id") == "function-title"
    page.browser.key("Escape", 27)
    assert page.value("page.one('#function').hidden")
    assert page.value("document.activeElement.className.indexOf('box')") == 0


def check_tree(page):
    """What a screen reader is told: every control has a name, headings do not
    skip a level, tables have captions and headings."""
    page.browser.open(page.path)
    page.browser.value(HELPERS)
    nodes = page.browser.call("Accessibility.getFullAXTree")["nodes"]
    levels = []
    for node in nodes:
        role = node.get("role", {}).get("value")
        name = node.get("name", {}).get("value", "")
        if node.get("ignored"):
            continue
        if role in ("button", "link", "searchbox", "treeitem", "tree",
                    "region", "navigation", "img", "table"):
            assert name, node
        if role == "heading":
            level = [p["value"]["value"] for p in node["properties"]
                     if p["name"] == "level"][0]
            levels.append(level)
    assert levels[0] == 1 and all(b - a <= 1 for a, b in
                                  zip(levels, levels[1:])), levels
    roles = {node.get("role", {}).get("value") for node in nodes}
    assert {"main", "navigation", "columnheader", "rowheader", "tree",
            "treeitem", "status"} <= roles, roles
    assert page.value("document.documentElement.lang") == "en"
    assert page.value("Array.from(document.querySelectorAll('table'))"
                      ".every(function (t) { return t.caption && t.tHead; })")


CONTRASTS = """(function () {
  function light(color) {
    var n = color.match(/[\\d.]+/g).slice(0, 3).map(function (v) {
      v = v / 255;
      return v > .04045 ? Math.pow((v + .055) / 1.055, 2.4) : v / 12.92;
    });
    return .2126 * n[0] + .7152 * n[1] + .0722 * n[2];
  }
  function behind(e) {
    for (; e; e = e.parentElement) {
      var color = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  }
  var bad = {};
  document.querySelectorAll("p, td, th, button, code, dt, dd, a, h2, .box, caption")
    .forEach(function (e) {
      if (e.textContent === "" || e.offsetParent === null ||
          e.classList.contains("skip")) return;
      var a = light(getComputedStyle(e).color), b = light(behind(e));
      var ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
      if (4.5 > ratio) bad[e.tagName + "." + e.className] = ratio;
    });
  return bad;
}())"""


def check_looks(page):
    """Light, dark and narrow: text can be read, and nothing is cut off."""
    for width, scheme in (1280, "light"), (1280, "dark"), (390, "light"), (
            390, "dark"):
        page.browser.open(page.path, width, 844, scheme)
        page.browser.value(HELPERS)
        assert page.value("document.documentElement.scrollWidth") <= width, (
            width, page.value("document.documentElement.scrollWidth"))
        assert page.value(CONTRASTS) == {}, (scheme, page.value(CONTRASTS))
    dark = page.value("getComputedStyle(document.documentElement)"
                      ".backgroundColor")
    assert dark != "rgb(255, 255, 255)", dark
    page.browser.open(page.path)


# ---- the command ----

def check_command(folder):
    profile = sample("forms.folded")
    kept = os.path.join(folder, "kept.html")
    with open(kept, "w", encoding="ascii") as file:
        file.write("old")
    done = cpprof.ask(profile, "report x.txt", status=1, cwd=folder)
    assert "ends in .html" in done.stderr, done.stderr
    assert cpprof.ask(profile, "report", status=1).stderr
    cpprof.ask(profile, "report kept.html", cwd=folder)
    first = block(kept)
    # A report leaves the session as it was, and is the same each time.
    before = cpprof.text(profile, "show", "top")
    after = cpprof.text(profile, f"report {kept}", "show", "top")
    assert before == after
    assert block(kept) == first
    # Steps apply.
    cpprof.ask(profile, "narrow db_read_record", f"report {kept}")
    assert block(kept) != first
    cpprof.run("-q", "-e", f"report {folder}/none/x.html", profile, status=1)


def ask_questions(browser, folder):
    parser = Page(browser, folder, sample("rdparse.folded.gz"))
    ask = claims.attempt
    for name in "factor", "expr", "skip":
        ask(f"who calls {name}", check_calls, parser, name, True)
    for name in "factor", "expr":
        ask(f"what {name} calls", check_calls, parser, name, False)
    ask("what share number has from factor", check_share, parser, "factor",
        "number")
    ask("what share unary has from factor", check_share, parser, "factor",
        "unary")
    ask("from a function to its callee and back", check_walk, parser,
        "factor", "unary")
    ask("how much term used", check_figures, parser, "term")
    ask("how much skip used", check_figures, parser, "skip")
    ask("what dominates", check_explain, parser)
    ask("how much a path has in the picture", check_box, parser,
        ["main", "expr", "term", "factor"])
    ask("which boxes match", check_mark, parser, "^(unary|number)$", "unary")
    ask("sorted by another column", check_sort, parser)
    ask("how it was recorded", check_info, parser)
    ask("Tab goes through the page in order", check_keyboard, parser)
    ask("keys go along paths", check_keys, parser,
        ["main", "expr", "term", "factor"])
    ask("what a screen reader is told", check_tree, parser)
    ask("light, dark and narrow", check_looks, parser)
    server = Page(browser, folder, sample("server.pb.gz"))
    ask("which threads used how much", check_threads, server)
    ask("who calls compute", check_calls, server, "compute", True)
    timed = Page(browser, folder, os.path.join(DATA, "perf", "rec.script"))
    slowest = [row["path"][0] for row in timed.prompt("functions 100000")]
    ask(f"when {slowest[0]} ran", check_when, timed, slowest[0])
    ask(f"when {slowest[1]} ran", check_when, timed, slowest[1])
    ask("how a recording with times was made", check_info, timed)
    sites = Page(browser, folder, sample("sites.pb.gz"),
                 f"directories {quoted(SAMPLES)}")
    ask("which lines used most", check_lines, sites,
        sites.prompt("top 1")[0]["path"][0])
    words = Page(browser, folder, sample("words-1.folded.gz"),
                 f"base {quoted(sample('words-0.folded.gz'))}")
    ask("what changed", check_change, words)
    ask("a narrow page of long names", check_looks, words)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, before in (
                ("rdparse.folded.gz", ()), ("server.pb.gz", ()),
                ("rdparse.callgrind.gz", ()), ("sites.pb.gz", ()),
                ("words-1.folded.gz",
                 (f"base {quoted(sample('words-0.folded.gz'))}",))):
            claims.attempt(f"a report of {name} has the rows of its commands",
                           check_rows, folder, sample(name), *before)
        claims.attempt("the command", check_command, folder)
        claims.attempt("hostile names stay text", check_hostile, folder)
        claims.attempt("a report of many functions keeps its size",
                       check_size, folder, 4000, 60)
        claims.attempt("one of long names, too", check_size, folder, 3000,
                       1500)
        if devtools.find_browser() is None:
            claims.skip("questions answered by clicks", "no Chromium")
            claims.end()
            return
        browser = devtools.Browser()
        try:
            ask_questions(browser, folder)
            claims.attempt("hostile names in the browser",
                           check_hostile_page, browser, folder)
        finally:
            browser.close()
    claims.end()


if __name__ == "__main__":
    sys.exit(main())
