#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""members.py -- which hosts of a merged profile deviate.

Fleets of hosts are simulated whose share of a path varies by chance and by
themselves: few of those that do not deviate may be called so, and one that does
must be found.  Speaks TAP.
"""
import json
import math
import os
import random
import statistics
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


def write_stacks(path, slow, fast):
    with open(path, "w", encoding="ascii") as file:
        file.write("# cpprof 1\n# resource: cpu; gtick=microsecond; "
                   f"interval=1000\nmain;slow {slow}\n"
                   f"main;fast;leaf {fast}\n")


def write_clusters(path, slow, fast):
    """As perf writes them: each sample stands for 20 hits."""
    with open(path, "w", encoding="ascii") as file:
        for i in range(slow + fast):
            file.write(f"prog 1 {i}.0: {20:10} cycles: \n"
                       f"\t10 {'slow' if i < slow else 'fast'}+0x1 (/x)\n"
                       "\t20 main+0x1 (/x)\n\n")


def merge_counts(folder, counts, write=write_stacks):
    """A merged profile of hosts; counts: samples of main;slow, and others."""
    parts = []
    for i, (slow, fast) in enumerate(counts):
        path = os.path.join(folder, f"host-{i}.folded")
        write(path, slow, fast)
        parts.append(os.path.join(folder, f"part-{i}"))
        subprocess.run([CPPROF, "merge", "--by", "id", "--id", f"host{i}",
                        "-o", parts[-1], path], check=True)
    out = os.path.join(folder, "fleet")
    subprocess.run([CPPROF, "merge", "-o", out, *parts], check=True)
    return out


def merge(folder, shares, source, hits=4000):
    """A merged profile of hosts; share i is that of main;slow in host i."""
    slow = [binomial(source, hits, share) for share in shares]
    return merge_counts(folder, [(n, hits - n) for n in slow])


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
    assert answer["spread"] is None and answer["key"] == "id", answer
    # Steps before it count, and it leaves none.
    narrowed = members(path, "narrow label id=host1", "members slow")
    assert [row["value"] for row in narrowed["rows"]] == ["host1"]
    assert members(path, "members fast ... leaf")["rows"]
    assert members(path, "members slow", "steps")["rows"] == []


# ---- the oracle ----

def binomial_probability(k, n, p):
    """Twice the smaller of P(X <= k) and P(X >= k), term by term."""
    terms = [math.exp(math.lgamma(n + 1) - math.lgamma(i + 1) -
                      math.lgamma(n - i + 1) + i * math.log(p) +
                      (n - i) * math.log1p(-p)) for i in range(n + 1)]
    return min(1, 2 * min(math.fsum(terms[:k + 1]), math.fsum(terms[k:])))


def z_of(p):
    return -statistics.NormalDist().inv_cdf(p / 2) if p < 1 else 0


def standard_errors(counts, i):
    """Of the difference between host i and the others, and the variance of
    that; None: undefined."""
    part, whole = counts[i][0], sum(counts[i])
    total, kept = sum(map(sum, counts)), sum(slow for slow, _ in counts)
    others, rest = total - whole, kept - part
    if others == 0 or kept in (0, total):
        return None
    # The share of the others has an error, too, of variance 1 / others.
    more = 1 + whole / others
    if rest in (0, others):
        # All samples that differ from the others' are in host i.
        mean = kept / total
        z = z_of(min(1, 2 * (whole / total) ** (part)
                     if rest == 0 else
                     2 * (whole / total) ** (whole - part)))
    else:
        mean = rest / others
        z = z_of(binomial_probability(part, whole, mean)) / math.sqrt(more)
    return (z if part / whole > rest / others else -z,
            mean * (1 - mean) / whole * more)


def expected_rows(counts):
    """The spread, and {host: (z, q)}."""
    found = {f"host{i}": standard_errors(counts, i)
             for i in range(len(counts)) if sum(counts[i])}
    known = [pair for pair in found.values() if pair is not None]
    spread = None
    if len(known) >= 8:
        chance = statistics.NormalDist().inv_cdf(0.75) ** 2
        spread = math.sqrt(max(0, statistics.median(
            variance * (z * z / chance - 1) for z, variance in known)))
    z = {host: pair and pair[0] * math.sqrt(
        pair[1] / (pair[1] + (spread or 0) ** 2))
        for host, pair in found.items()}
    p = sorted((math.erfc(abs(x) / math.sqrt(2)), host)
               for host, x in z.items() if x is not None)
    q, least = {}, 1
    for rank in range(len(p), 0, -1):
        least = min(least, p[rank - 1][0] * len(p) / rank)
        q[p[rank - 1][1]] = least
    return spread, {host: (x, q.get(host)) for host, x in z.items()}


def expected_verdict(spread, z, q):
    if spread is None or z is None:
        return "undecided"
    return "noise" if q > 0.05 else "more" if z > 0 else "less"


def is_close(found, expected):
    return found == expected if None in (found, expected) else \
        abs(found - expected) <= 1e-6 * max(1, abs(expected))


def check_oracle(folder, counts, write=write_stacks, hits=1):
    """hits: of one sample."""
    answer = members(merge_counts(folder, counts, write), "members slow")
    spread, expected = expected_rows(counts)
    assert is_close(answer["spread"], spread), (answer, spread)
    found = {row["value"]: row for row in answer["rows"]}
    assert set(found) == set(expected), (found, expected)
    for i, (slow, fast) in enumerate(counts):
        if slow + fast == 0:
            continue
        row, (z, q) = found[f"host{i}"], expected[f"host{i}"]
        assert is_close(row["z"], z) and is_close(row["q"], q), (row, z, q)
        assert row["verdict"] == expected_verdict(spread, z, q), (row, q)
        assert row["hits"] == hits * slow, row
        assert row["of"] == hits * (slow + fast), row
        assert abs(row["share"] - slow / (slow + fast)) < 1e-9, row
    order = [(-1 if row["z"] is None else abs(row["z"]), row["hits"])
             for row in answer["rows"]]
    assert order == sorted(order, reverse=True), order


def numbers_agree(folder, source):
    """Hosts of very different size, so that the others are not certain."""
    for n_hosts in (2, 3, 7, 8, 9, 14):
        for _ in range(3):
            counts = []
            for _ in range(n_hosts):
                whole = source.choice((40, 300, 1200, 3000))
                slow = binomial(source, whole, source.uniform(0.1, 0.3))
                counts.append((slow, whole - slow))
            check_oracle(folder, counts)


def edges(folder, source):
    # The others have no such stack, or no other; a host without hits has no
    # row; equal hosts are by hits, then by name.
    check_oracle(folder, [(5, 95), (0, 100), (0, 200)])
    check_oracle(folder, [(5, 95), (0, 1), (0, 200)])
    check_oracle(folder, [(100, 0), (90, 10), (50, 0), (0, 0)])
    check_oracle(folder, [(30, 970)] + [(0, 1000)] * 11)
    check_oracle(folder, [(970, 30)] + [(1000, 0)] * 11)
    check_oracle(folder, [(20, 80)] * 9)
    check_oracle(folder, [(1, 80), (20, 80)] * 6)
    path = merge_counts(folder, [(20, 80)] * 9 + [(60, 40)])
    rows = members(path, "members slow")["rows"]
    assert [row["value"] for row in rows] == \
        ["host9", *[f"host{i}" for i in range(9)]], rows
    text = subprocess.run([CPPROF, "-q", "-e", "limit 3", "-e", "members slow",
                           path], capture_output=True, text=True, check=True,
                          timeout=60).stdout
    assert "host1" in text and "host2" not in text, text
    assert "stacks that are kept by: narrow (slow)" in text, text
    assert "share of all 10: 0.2400" in text, text
    assert "differ by a standard deviation of 0.0367" in text, text
    assert [row["value"] for row in members(
        path, "limit 3", "members slow")["rows"]] == \
        ["host9", "host0", "host1"]
    text = subprocess.run(
        [CPPROF, "-q", "-e", "members slow", merge_counts(
            folder, [(20, 80)] * 7)], capture_output=True, text=True,
        check=True, timeout=60).stdout
    assert "fewer than 8 values" in text, text
    text = subprocess.run([CPPROF, "-q", "-e", "members slow", merge_counts(
        folder, [(20, 80)] * 9)], capture_output=True, text=True, check=True,
                          timeout=60).stdout
    assert "most values differ by chance alone" in text, text
    alike = ask(merge_counts(folder, [(0, 7)] * 9), "members main")
    assert json.loads(alike.stdout)["spread"] is None, alike
    text = subprocess.run(
        [CPPROF, "-q", "-e", "members main", os.path.join(folder, "fleet")],
        capture_output=True, text=True, check=True, timeout=60).stdout
    assert "all values have only such stacks" in text, text
    answer = members(merge_counts(folder, [(0, 0), (0, 0)]), "members slow")
    assert answer["share"] == 0 and answer["rows"] == [], answer


def clusters_are_one_event(folder, source):
    """Twenty hits of one sample say no more than one."""
    counts = []
    for _ in range(9):
        whole = source.choice((100, 150, 400))
        slow = binomial(source, whole, source.uniform(0.1, 0.3))
        counts.append((slow, whole - slow))
    check_oracle(folder, counts, write_clusters, 20)


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


def alone(folder, source):
    """What one host does and no other comes first, in either direction."""
    for odd, like in (((30, 970), (0, 1000)), ((970, 30), (1000, 0))):
        counts = [like] * 12
        counts[5] = odd
        answer = members(merge_counts(folder, counts), "members slow")
        row = answer["rows"][0]
        assert row["value"] == "host5", row
        assert row["verdict"] == ("less" if like[0] else "more"), row
        assert {row["verdict"] for row in answer["rows"][1:]} == {"noise"}


def busy_hosts(folder, source):
    """Hosts that do 100 times as much as others show how hosts differ, which
    is not an alarm."""
    n_fleets, alarms = 25, 0
    for _ in range(n_fleets):
        hosts = [500] * 20 + [50000] * 10
        slow = [binomial(source, n, max(0.01, source.gauss(0.1, 0.01)))
                for n in hosts]
        counts = [(k, n - k) for k, n in zip(slow, hosts)]
        answer = members(merge_counts(folder, counts), "members slow")
        alarms += any(row["verdict"] in ("more", "less")
                      for row in answer["rows"])
    # Three to five fleets are expected; had the busy hosts no more room than
    # the others, almost all.
    assert alarms <= 10, alarms


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
        claims.attempt("spread, z, q, verdict and order are those of an oracle",
                       numbers_agree, folder, source)
        claims.attempt("hosts without hits, alike, or unlike all others",
                       edges, folder, source)
        claims.attempt("a sample of many hits is one event",
                       clusters_are_one_event, folder, source)
        claims.attempt("what has no key or no such path", errors, folder,
                       source)
        claims.attempt("what only one host does, or does not do, is found",
                       alone, folder, source)
        claims.attempt("busy hosts that differ as all do are noise",
                       busy_hosts, folder, source)
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
