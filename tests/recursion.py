#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worked expectations in sample-data/recursion are what cpprof shows.

Both the program and the brute-force oracle are compared with each line.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CPPROF = os.environ.get("CPPROF", "./cpprof")


def shown(profile, query):
    """The output of a view, in the form of a *.expected file."""
    answer = subprocess.run(
        [CPPROF, "-q", "-F", "json", "-e", "threshold 0", "-e", query,
         profile],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        check=True, timeout=120).stdout
    return " ".join(f"({' '.join(row['path'])}){row['hits']}"
                    for row in json.loads(answer)["rows"])


def main():
    number = 0
    for path in sorted(glob.glob(os.path.join(
            HERE, "..", "sample-data", "recursion", "*.expected"))):
        profile = re.sub(r"\.expected$", ".folded", path)
        name = os.path.basename(path)
        number += 1
        oracle = subprocess.run(
            [sys.executable, os.path.join(HERE, "oracle.py"), "expected", "-",
             path], check=False, timeout=120)
        print("not ok" if oracle.returncode else "ok", number, "- the oracle "
              "finds what", name, "says")
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                query, colon, wanted = line.strip().partition(":")
                if not colon or query.startswith("#"):
                    continue
                number += 1
                got = shown(profile, query)
                print("ok" if got == wanted.strip() else "not ok", number,
                      "-", f"{name}: {query}")
                if got != wanted.strip():
                    print("#", got)
    print(f"1..{number}")


main()
