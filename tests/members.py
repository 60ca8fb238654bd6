#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""members.py -- which hosts of a merged profile deviate.

Fleets of hosts are simulated whose share of a path varies by chance and by
themselves: few of those that do not deviate may be called so, and one that does
must be found.  Speaks TAP.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from claims import Claims  # noqa: E402

CPPROF = os.path.abspath(os.environ.get("CPPROF", "./cpprof"))
claims = Claims()


def binomial(source, n, p):
    """A binomial variate, by the normal distribution if that is close."""
    deviation = (n * p * (1 - p)) ** 0.5
    if deviation > 5:
        return min(n, max(0, round(source.gauss(n * p, deviation))))
    return sum(source.random() < p for _ in range(n))


def merge(folder, shares, source, hits=4000, interval=1000):
    """A merged profile of hosts; share i is that of main;slow in host i."""
    parts = []
    for i, share in enumerate(shares):
        path = os.path.join(folder, f"host-{i}.folded")
        slow = binomial(source, hits, share)
        with open(path, "w", encoding="ascii") as file:
            file.write("# cpprof 1\n# resource: cpu; gtick=microsecond; "
                       f"interval={interval}\nmain;slow {slow}\n"
                       f"main;fast;leaf {hits - slow}\n")
        parts.append(os.path.join(folder, f"part-{i}"))
        subprocess.run([CPPROF, "merge", "--by", "id", "--id", f"host{i}",
                        "-o", parts[-1], path], check=True)
    out = os.path.join(folder, "fleet")
    subprocess.run([CPPROF, "merge", "-o", out, *parts], check=True)
    return out


def ask(path, *commands):
    words = [CPPROF, "-q", "-F", "json"]
    for command in commands:
        words += ["-e", command]
    done = subprocess.run([*words, path], capture_output=True, text=True,
                          timeout=60, check=False)
    return done


def members(path, *commands):
    done = ask(path, *commands)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def rows_are_sums(folder, source):
    path = merge(folder, [0.1, 0.2, 0.3], source)
    answer = members(path, "members slow")
    rows = {row["value"]: row for row in answer["rows"]}
    assert set(rows) == {"host0", "host1", "host2"}
    for i in range(3):
        with open(os.path.join(folder, f"host-{i}.folded"),
                  encoding="ascii") as file:
            lines = file.read().splitlines()
        row = rows[f"host{i}"]
        assert row["hits"] == int(lines[2].split()[1]), row
        assert row["of"] == 4000 and row["verdict"] == "undecided", row
    total = sum(row["hits"] for row in rows.values())
    assert abs(answer["share"] - total / 12000) < 1e-9, answer
    assert answer["inflation"] is None and answer["key"] == "id", answer
    # Steps before it count, and it leaves none.
    narrowed = members(path, "narrow label id=host1", "members slow")
    assert [row["value"] for row in narrowed["rows"]] == ["host1"]
    assert members(path, "members fast ... leaf")["rows"]
    assert members(path, "members slow", "steps")["rows"] == []


def errors(folder, source):
    path = merge(folder, [0.1, 0.2], source)
    done = ask(path, "members slwo")
    assert done.returncode == 1 and "slow" in done.stderr, done
    done = ask(os.path.join(folder, "host-0.folded"), "members slow")
    assert "no counts by a key" in done.stderr, done
    sumless = os.path.join(folder, "sumless")
    subprocess.run([CPPROF, "merge", "-o", sumless, os.path.join(
        folder, "host-0.folded")], check=True)
    assert "no counts by a key" in ask(sumless, "members slow").stderr


def few_alarms(folder, source, spread):
    """Hosts whose shares vary by a normal spread: false alarms are few."""
    n_fleets, alarms = 25, 0
    for _ in range(n_fleets):
        shares = [max(0.01, source.gauss(0.1, spread)) for _ in range(20)]
        answer = members(merge(folder, shares, source), "members slow")
        alarms += any(row["verdict"] in ("more", "less")
                      for row in answer["rows"])
    # At most 5% of fleets; 25 have more than 5 in one of 1,000 such tests.
    assert alarms <= 5, alarms


def finds_it(folder, source, spread, factor):
    found, n_fleets = 0, 20
    for _ in range(n_fleets):
        shares = [max(0.01, source.gauss(0.1, spread)) for _ in range(20)]
        shares[7] = 0.1 * factor
        rows = members(merge(folder, shares, source), "members slow")["rows"]
        first = rows[0]
        found += first["value"] == "host7" and first["verdict"] == (
            "more" if factor > 1 else "less")
    assert found >= 0.8 * n_fleets, found


def main():
    source = random.Random(int(os.environ.get("SEED", "1")))
    with tempfile.TemporaryDirectory() as folder:
        claims.attempt("rows are sums of the members", rows_are_sums, folder,
                       source)
        claims.attempt("what has no key or no such path", errors, folder,
                       source)
        for spread in (0, 0.01):
            claims.attempt("hosts that differ as all do are noise "
                           f"(spread {spread})", few_alarms, folder, source,
                           spread)
        claims.attempt("a host with 1.4 times the share is found", finds_it,
                       folder, source, 0.005, 1.4)
        claims.attempt("a host with half the share is found", finds_it,
                       folder, source, 0.005, 0.5)
    claims.end()


main()
