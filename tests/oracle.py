#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""oracle.py -- the expected rows of every view, computed by brute force.

    oracle.py VIEW ROOT FILE [RESOURCE]

FILE holds collapsed stacks, with or without headers ("-": stdin).  RESOURCE
is a resource's name or its number from 0; the first by default.  Where a view
has no root, ROOT is "-".  VIEW is one of

    down up callers callees     around ROOT
    body functions top tree     of the whole profile
    all                         all of these, one document a line: body,
                                functions, top, tree, then the four views of
                                each function, functions in byte order
    commands                    the cpprof script that prints what "all" does
    expected                    FILE is a *.expected (sample-data/recursion):
                                compare each line; status 1 if one differs
    selfcheck                   compare down with the paper's tree-and-locks
                                pseudo-code, and the invariants; status 1

Each document is one line of JSON: view, root, resource (null if FILE has no
headers), total, denominator, and rows of hits, fraction and path, every record
(threshold 0) in cpprof's order: hits descending, then the path element by
element as bytes.  The rows of tree are its nodes in preorder, siblings in that
order; path is the whole stack down to the node.  The rows of top have a
member inclusive, and equal hits are in its order.

The oracle shares nothing with cpprof: it has no tree and no lock.  A path's
value is the sum of the stacks that have a frame whose canonical call path,
started at the path's first name, is that path; each stack counts once.
Canonical paths are the appendix's of Hall & Goldberg 1993 (loop erasure of the
newest name).  Quadratic in the depth of stacks, so for small profiles.
"""
import json
import re
import sys


class Profile:
    """Stacks (tuples of names, outermost first) and their hits."""

    def __init__(self, lines, wanted=None):
        resources, stacks = [], []
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("#") and not stacks:
                header = re.match(r"# resource: (.*?)((?:;.*)?)$", line)
                if header:
                    fields = dict(field.strip().split("=", 1) for field
                                  in header[2].split(";") if field.strip())
                    resources.append({"name": header[1],
                                      "gtick": fields.get("gtick"),
                                      "interval": int(fields.get("interval", 1))})
                continue
            if not line:
                continue
            parts = line.rsplit(" ", max(1, len(resources)))
            if len(parts) != max(1, len(resources)) + 1:
                raise ValueError(f"line {number}: too few counts")
            stacks.append((tuple(parts[0].split(";")),
                           [int(count) for count in parts[1:]]))
        self.resource, column = None, 0
        if resources:
            names = [resource["name"] for resource in resources]
            if wanted is not None:
                column = (names.index(wanted) if wanted in names
                          else int(wanted))
            self.resource = resources[column]
        self.stacks = {}
        for stack, counts in stacks:
            self.stacks[stack] = self.stacks.get(stack, 0) + counts[column]
        self.total = sum(self.stacks.values())
        self.functions = sorted({name for stack in self.stacks
                                 for name in stack}, key=as_bytes)


def as_bytes(name):
    return name.encode("utf-8", "surrogateescape")


def canonical_paths(stack, root):
    """Yield the canonical path, from the outermost root, of each frame."""
    if root not in stack:
        return
    path = ()
    for name in stack[stack.index(root):]:
        yield path + (name,)
        if name in path:
            path = path[:path.index(name) + 1]
        else:
            path += (name,)


def count(profile, paths_of):
    """Sums hits over stacks for each distinct path that a stack has."""
    values = {}
    for stack, hits in profile.stacks.items():
        for path in set(paths_of(stack)):
            values[path] = values.get(path, 0) + hits
    return values


def down(profile, root):
    return count(profile, lambda stack: canonical_paths(stack, root))


def up(profile, root):
    """Paths that end in root, each with its value in down(first name)."""
    return count(profile, lambda stack: (
        path for first in set(stack) for path in canonical_paths(stack, first)
        if path[-1] == root))


def callees(profile, root):
    return {path: hits for path, hits in down(profile, root).items()
            if len(path) == 2}


def callers(profile, root):
    return {path: hits for path, hits in up(profile, root).items()
            if len(path) == 2}


def functions(profile, _):
    return count(profile, lambda stack: ((name,) for name in stack))


def body(profile, _):
    values = {(name,): 0 for name in profile.functions}
    for stack, hits in profile.stacks.items():
        values[stack[-1:]] += hits
    return values


def weights(profile):
    """Hits of each node of the sample tree and all below it."""
    return count(profile, lambda stack: (
        stack[:depth] for depth in range(1, len(stack) + 1)))


def values(view, profile, root):
    """What each path of a view, as it is typed, has: {path: hits}."""
    if view in ("top", "flat", "body"):
        return body(profile, root)
    if view in ("functions", "functions all /./"):
        return functions(profile, root)
    if view == "tree":
        return weights(profile)
    return {"down": down, "up": up, "callers": callers,
            "callees": callees}[view.split()[0]](profile, root)


def row_order(row):
    path, hits = row
    return -hits, [as_bytes(name) for name in path]


def tree_rows(profile):
    below = {}
    for node in sorted(weights(profile).items(), key=row_order, reverse=True):
        below.setdefault(node[0][:-1], []).append(node)
    rows, waiting = [], below.get((), [])
    while waiting:
        path, hits = waiting.pop()
        rows.append((path, hits))
        waiting += below.get(path, [])
    return rows


def top_rows(profile):
    own, whole = body(profile, None), functions(profile, None)
    return sorted(own.items(), key=lambda row: (
        -row[1], -whole[row[0]], as_bytes(row[0][0])))


ROOTED = {"down": down, "up": up, "callers": callers, "callees": callees}
WHOLE = {"body": body, "functions": functions, "top": None, "tree": None}


def view_rows(profile, view, root):
    if view == "tree":
        return tree_rows(profile)
    if view == "top":
        return top_rows(profile)
    values = {**ROOTED, **WHOLE}[view](profile, root)
    return sorted(values.items(), key=row_order)


def document(profile, view, root):
    whole = functions(profile, None) if view == "top" else None
    return {
        "view": view,
        "root": root if view in ROOTED else None,
        "resource": profile.resource,
        "total": profile.total,
        "denominator": profile.total,
        "rows": [{"hits": hits,
                  "fraction": hits / profile.total if profile.total else 0,
                  "path": path,
                  **({"inclusive": whole[path]} if whole else {})}
                 for path, hits in view_rows(profile, view, root)],
    }


def queries(profile):
    return ([(view, None) for view in WHOLE]
            + [(view, name) for name in profile.functions for view in ROOTED])


def quoted(name):
    """A name as it is typed in cpprof; before a closing bar "\\" would escape
    it."""
    if re.fullmatch(r"[A-Za-z0-9_:.]+", name) or name.endswith("\\"):
        return name
    return "|" + name.replace("|", "\\|") + "|"


def check_expected(path):
    """Lines "VIEW ROOT: (a b)HITS ..."; the profile is the *.folded beside."""
    with open(re.sub(r"\.expected$", ".folded", path)) as file:
        profile = Profile(file)
    wrong = checked = 0
    with open(path) as file:
        for number, line in enumerate(file, 1):
            query, colon, wanted = line.strip().partition(":")
            if not colon or query.startswith("#"):
                continue
            view, _, root = query.partition(" ")
            got = " ".join(f"({' '.join(path)}){hits}" for path, hits
                           in view_rows(profile, view, root or None))
            checked += 1
            if got != wanted.strip():
                wrong += 1
                print(f"{path}:{number}: {query}: {got}", file=sys.stderr)
    if checked == 0:
        print(f"{path}: nothing to check", file=sys.stderr)
    return wrong == 0 and checked > 0


def appendix(profile, root):
    """Downward-CP-Profile as printed: a sample tree, records with locks."""
    weight, children = weights(profile), {}
    for node in weight:
        children.setdefault(node[:-1], []).append(node)
    ticks, locked = {}, set()

    def cpp_rec(node, parent):
        path = parent + node[-1:]
        record_was_locked = path in locked
        if not record_was_locked:
            locked.add(path)
            ticks[path] = ticks.get(path, 0) + weight[node]
        following = (path[:parent.index(node[-1]) + 1] if node[-1] in parent
                     else path)
        for child in children.get(node, ()):
            cpp_rec(child, following)
        if not record_was_locked:
            locked.remove(path)

    def summarize_below_root(node):
        if node[-1:] == (root,):
            cpp_rec(node, ())
        else:
            for child in children.get(node, ()):
                summarize_below_root(child)

    summarize_below_root(())
    return ticks


def self_check(profile):
    downs = {name: down(profile, name) for name in profile.functions}
    whole = functions(profile, None)
    claims = {"bodies sum to the total":
              sum(body(profile, None).values()) == profile.total}
    for name, values in downs.items():
        ups = up(profile, name)
        claims.update({
            f"down {name} is the appendix's": appendix(profile, name)
            == values,
            f"({name}) is one number": values[(name,)] == ups[(name,)]
            == whole[(name,)],
            f"up {name} shows down's values": ups
            == {path: hits for one in downs.values()
                for path, hits in one.items() if path[-1] == name},
            f"prefix order under {name}": all(
                hits <= values[path[:-1] or path]
                for path, hits in values.items()),
            f"suffix order above {name}": all(
                hits <= ups[path[1:] or path] for path, hits in ups.items()),
        })
    for claim, holds in claims.items():
        if not holds:
            print(f"does not hold: {claim}", file=sys.stderr)
    return all(claims.values())


def main(arguments):
    if len(arguments) not in (3, 4):
        sys.exit(__doc__)
    view, root, path = arguments[:3]
    if view == "expected":
        return not check_expected(path)
    sys.setrecursionlimit(100000)
    with open(0 if path == "-" else path, encoding="utf-8",
              errors="surrogateescape", newline="\n") as file:
        profile = Profile(file, *arguments[3:])
    if view == "selfcheck":
        return not self_check(profile)
    if view == "commands":
        print("threshold 0\nlimit off")
        if profile.resource:
            print("resource", quoted(profile.resource["name"]))
        for view, root in queries(profile):
            print(view, quoted(root) if root is not None else "")
    elif view == "all":
        for view, root in queries(profile):
            print(json.dumps(document(profile, view, root)))
    elif view in ROOTED or view in WHOLE:
        if view in ROOTED and root not in profile.functions:
            sys.exit(f"oracle.py: {path}: no function {root}")
        print(json.dumps(document(profile, view, root)))
    else:
        sys.exit(f"oracle.py: no view {view}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
