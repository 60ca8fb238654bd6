#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""many-paths.py -- of too many call paths the most expensive are shown.

A callgrind profile of layers of two functions, each of which calls both of the
next layer, has twice as many paths with each layer.  cpprof has room for some
of them: all of at least so many hits, that being the least power of two for
which there is room.  Rows and values must be those that are computed here, of
all paths and in fractions.  A search with room for all of its paths must show
the same rows.
"""
import os
import sys
import tempfile
from fractions import Fraction

import cpprof

ROOM = 1 << 17
LAYERS = 17
HITS = 10_000_000


def make_calls():
    """(caller, callee) -> hits; nothing is used but in the last function."""
    calls = {}
    inclusive = {"main": HITS}
    above = ["main"]
    for i in range(LAYERS):
        layer = [f"a{i}", f"b{i}"]
        for n, caller in enumerate(above):
            hits = inclusive[caller]
            part = hits * (35 + 2 * i + 7 * n) // 100
            for callee, more in zip(layer, (part, hits - part)):
                calls[caller, callee] = more
                inclusive[callee] = inclusive.get(callee, 0) + more
        above = layer
    for caller in above:
        calls[caller, "end"] = inclusive[caller]
    inclusive["end"] = HITS
    return calls, inclusive


def write_profile(path, calls, inclusive):
    with open(path, "w") as file:
        file.write("events: Ir\n")
        for name in inclusive:
            file.write(f"fn={name}\n1 {HITS if name == 'end' else 0}\n")
            for (caller, callee), hits in calls.items():
                if caller == name:
                    file.write(f"cfn={callee}\ncalls=1 1\n1 {hits}\n")


def all_paths(calls, inclusive, root, is_up):
    """Path, outermost name first -> exact hits."""
    found = {(root,): Fraction(inclusive[root])}
    newest = dict(found)
    while newest:
        longer = {}
        for path, value in newest.items():
            for (caller, callee), hits in calls.items():
                if is_up and callee == path[0]:
                    # The same from either end: what the caller's call used
                    # goes on as the callee's does.
                    share = Fraction(hits, inclusive[callee])
                    longer[(caller,) + path] = value * share
                if not is_up and caller == path[-1]:
                    share = Fraction(hits, inclusive[caller])
                    longer[path + (callee,)] = value * share
        found.update(longer)
        newest = longer
    return {path: int(value + Fraction(1, 2))
            for path, value in found.items()}


def ask(path, *commands):
    view = cpprof.table(path, *commands)
    return view, {tuple(row["path"]): row["hits"] for row in view["rows"]}


def check(path, calls, inclusive, root, is_up):
    view = ("up " if is_up else "down ") + root
    truth = all_paths(calls, inclusive, root, is_up)
    least = 2
    while sum(hits >= least for hits in truth.values()) > ROOM:
        least *= 2
    wanted = {p: hits for p, hits in truth.items() if hits >= least}
    assert least > 2 and len(wanted) > ROOM / 8, f"{least}: {len(wanted)}"
    shown, rows = ask(path, "threshold 0", view)
    assert shown["least_searched"] == least, \
        f"{view}: {shown['least_searched']}, not {least}"
    assert rows == wanted, f"{view}: {len(rows)} rows, not {len(wanted)}"
    shown, rows = ask(path, f"threshold {least / HITS}", view)
    assert not shown.get("least_searched") and rows == wanted, \
        f"{view}: {len(rows)} rows, not {len(wanted)}, with a threshold"


def main():
    calls, inclusive = make_calls()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "callgrind.out")
        write_profile(path, calls, inclusive)
        for number, (root, is_up) in enumerate((("main", False),
                                                ("end", True)), 1):
            what = f"{'up' if is_up else 'down'} shows the most expensive"
            try:
                check(path, calls, inclusive, root, is_up)
                print(f"ok {number} - {what}")
            except AssertionError as error:
                print(f"# {error}")
                print(f"not ok {number} - {what}")
    print("1..2")
    return 0


if __name__ == "__main__":
    sys.exit(main())
