#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""collapse.py CPPROF PROFILE PROGRAM -- any profile as collapsed stacks.

Made the recorded profiles in this folder from what `cpprof record` wrote:
names instead of addresses, so that they open without the binary.
"""
import json
import subprocess
import sys


def main(cpprof, profile, program):
    tree = json.loads(subprocess.run(
        [cpprof, "-q", "-F", "json", "-e", "threshold 0", "-e", "tree",
         profile], stdout=subprocess.PIPE, check=True).stdout)
    own = {}
    for row in tree["rows"]:
        path = tuple(row["path"])
        own[path] = own.get(path, 0) + row["hits"]
        if path[:-1]:
            own[path[:-1]] -= row["hits"]
    print("# cpprof 1")
    print("# resource: {name}; gtick={gtick}; interval={interval}".format(
        **tree["resource"]))
    print("# program:", program)
    for path in sorted(own):
        if own[path]:
            print(";".join(path), own[path])


main(*sys.argv[1:])
