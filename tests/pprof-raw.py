#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of `go tool pprof -raw` for a profile shows the same as the
profile.

    pprof-raw.py

tests/data/raw/NAME.raw.gz was printed from NAME.pb.gz, there or in
tests/data/go.  Where go is installed, it prints it again.
"""
import glob
import os
import shutil
import subprocess
import tempfile

import cpprof

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "data")


def rows(profile, *commands):
    """Rows of the last view; pprof prints no samples that are 0."""
    answer = cpprof.table(profile, "threshold 0", *commands)
    return answer["total"], [row for row in answer["rows"] if row["hits"] > 0]


def facts(profile):
    """The facts in which both must agree, by name."""
    found = {}
    text = cpprof.text(profile, "export cpprof-text")
    names = [row for row in text.splitlines()
             if row.startswith("# resource: ")]
    for line in names:
        name = line[len("# resource: "):].partition(";")[0]
        largest = rows(profile, "resource " + name,
                       "functions")[1][0]["path"][0]
        for view in ("functions", "body", f"down |{largest}|",
                     f"up |{largest}|"):
            found[f"{name} {view}"] = rows(profile, "resource " + name, view)
        found[f"{name} lines"] = rows(profile, "resource " + name,
                                      "granularity line", "functions")
    found["threads"] = [row for row in
                        cpprof.text(profile, "info").splitlines()
                        if row.startswith("threads")]
    found["stacks"] = sorted(
        cpprof.text(profile, "export collapsed").splitlines())
    return found


def differences(profile, raw):
    one, other = facts(profile), facts(raw)
    return [f"{key}: {str(one.get(key))[:300]}\n#   {str(other.get(key))[:300]}"
            for key in sorted(one.keys() | other.keys())
            if one.get(key) != other.get(key)]


def printed_now(profile, folder):
    """A file with pprof's output for the profile; None: go is not
    installed."""
    if shutil.which("go") is None:
        return None
    path = os.path.join(folder, "now.raw")
    with open(path, "wb") as to:
        answer = subprocess.run(["go", "tool", "pprof", "-symbolize=none",
                                 "-raw", profile], stdout=to, check=False,
                                stderr=subprocess.DEVNULL,
                                stdin=subprocess.DEVNULL,
                                env={**os.environ, "HOME": folder},
                                timeout=120)
    return path if answer.returncode == 0 else None


def main():
    n = 0
    for raw in sorted(glob.glob(os.path.join(DATA, "raw", "*.raw.gz"))):
        name = os.path.basename(raw)[:-len(".raw.gz")]
        profile = os.path.join(DATA, "raw", name + ".pb.gz")
        if not os.path.exists(profile):
            profile = os.path.join(DATA, "go", name + ".pb.gz")
        found = differences(profile, raw)
        n += 1
        print("not ok" if found else "ok", n, "-", name,
              "shows in text what it shows")
        for line in found[:10]:
            print("#", line)
        with tempfile.TemporaryDirectory() as folder:
            now = printed_now(profile, folder)
            n += 1
            if now is None:
                print("ok", n, "- printed now # SKIP go tool pprof not found")
                continue
            found = differences(profile, now)
            print("not ok" if found else "ok", n, "-", name,
                  "printed now shows the same")
            for line in found[:10]:
                print("#", line)
    print(f"1..{n}")


main()
