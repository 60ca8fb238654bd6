#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""members.py [FLEETS] -- which hosts of a merged profile deviate.

Fleets of hosts are simulated whose share of a path varies by chance and by
themselves: few of those that do not deviate may be called so, and one that does
must be found.  With an argument, so many fleets of each kind are tried, and
tables of false alarms and of power are printed.  Speaks TAP.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

import cpprof
import pprof_writer
from claims import Claims, rounds

CPPROF = cpprof.CPPROF
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
    return cpprof.ask(path, *commands, options=("-F", "json"), status=None)


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
#
# The test of src/noise/noise.h, in plain steps.

def student_upper(t, df):
    """P(T >= t), by Simpson's rule over the tail."""
    def density(x):
        return math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2) -
                        (df + 1) / 2 * math.log1p(x * x / df)) / \
            math.sqrt(df * math.pi)

    # x = t + u / (1 - u)
    n, total = 4000, 0
    for i in range(n):
        u = i / n
        weight = 1 if i == 0 else 4 if i % 2 else 2
        total += weight * density(t + u / (1 - u)) / (1 - u) ** 2
    return total / (3 * n)


def scaled(count, spread):
    root = math.sqrt(count)
    return 2 / spread * math.asinh(spread * root) if spread > 1e-6 else 2 * root


class Common:
    """What hosts [(count, whole)] have in common."""
    def __init__(self, hosts):
        self.share = max(0.5, sum(k for k, _ in hosts)) / \
            sum(n for _, n in hosts)
        self.showing = [(k, n) for k, n in hosts if n * self.share >= 3]
        if len(self.showing) < 5:
            self.showing = hosts
        low, high = 0, 100
        wanted = len(self.showing) - 1
        if self.squares(0) > wanted:
            for _ in range(60):
                middle = (low + high) / 2
                if self.squares(middle) > wanted:
                    low = middle
                else:
                    high = middle
            self.squares(high)
        else:
            high = 0
        self.spread = high
        self.inform()
        self.spread = max(high, math.sqrt(0.5 * math.sqrt(
            2 / self.information)))
        self.inform()

    def squares(self, spread):
        """With the share for which weighted residuals are 0."""
        for _ in range(8):
            off = [scaled(k + 0.375, spread) -
                   scaled(n * self.share + 0.125, spread)
                   for k, n in self.showing]
            weights = [(1 / (n * self.share) + spread ** 2) ** -0.5
                       for _, n in self.showing]
            step = sum(map(float.__mul__, off, weights)) / \
                sum(w * w for w in weights)
            if abs(step) < 1e-5:
                break
            self.share *= math.exp(max(-1, min(1, step)))
        return sum(x * x for x in off)

    def inform(self):
        weights = [1 / (1 / (n * self.share) + self.spread ** 2)
                   for _, n in self.showing]
        self.information = sum(w * w for w in weights)
        self.variance = 1 / sum(weights)

    def test(self, host):
        """z and the degrees of freedom of a host that is not one of these."""
        count, mean = host[0], host[1] * self.share
        variance = 1 / mean + self.spread ** 2
        z = scaled(max(count - 0.25, 0), self.spread) - \
            scaled(mean, self.spread)
        if z <= 0:
            z = min(0, (count + 0.25 - mean) / (mean * math.sqrt(variance)))
        return (z / math.sqrt(1 + self.variance / variance),
                max(1, variance ** 2 * self.information - 1))


def gap_probability(common, hosts, z):
    far = sorted((common.test(host)[0] * (1 if z > 0 else -1)
                  for host in hosts), reverse=True)
    n_tail = max(len(far) // 2, 4)
    mean = sum(x - far[n_tail] for x in far[:n_tail]) / n_tail
    gap = abs(z) - far[0]
    if gap <= 0:
        return 1
    return (1 + gap / (mean * n_tail)) ** -n_tail if mean > 0 else 0


def adjusted(z, df, n):
    return min(1, 2 * n * student_upper(abs(z), df))


def expected_rows(counts):
    """The spread, and {host: (z, q)}."""
    shown = {f"host{i}": (slow, slow + fast)
             for i, (slow, fast) in enumerate(counts) if slow + fast}
    share = sum(k for k, _ in shown.values()) / \
        max(1, sum(n for _, n in shown.values()))
    if len(shown) < 8 or share in (0, 1):
        return None, {host: (None, None) for host in shown}
    scale = max(share, 1 - share)
    left = {host: ((k if share <= 0.5 else n - k) / scale, n / scale)
            for host, (k, n) in shown.items()}
    sign = 1 if share <= 0.5 else -1
    common = Common(list(left.values()))
    taken = []
    for _ in range(len(shown) // 5):
        host = max(left, key=lambda host: abs(common.test(left[host])[0]))
        one, n = left.pop(host), len(left) + 1
        common = Common(list(left.values()))
        z, df = common.test(one)
        taken.append([host, one, z, max(adjusted(z, df, n), gap_probability(
            common, list(left.values()), z))])
    for i in range(len(taken) - 1, 0, -1):
        taken[i - 1][3] = min(taken[i - 1][3], taken[i][3])
    found = {host: (sign * z, q) for host, _, z, q in taken if q <= 0.05}
    least = min([q for *_, q in taken if q > 0.05], default=0)
    left.update({host: one for host, one, *_ in taken if host not in found})
    common = Common(list(left.values()))
    for host, one in left.items():
        z, df = common.test(one)
        found[host] = sign * z, max(least, adjusted(z, df, len(shown)))
    return common.spread * common.share, found


def expected_verdict(q, z):
    if q is None:
        return "undecided"
    return "noise" if q > 0.05 else "more" if z > 0 else "less"


def is_close(found, expected):
    return found == expected if None in (found, expected) else \
        abs(found - expected) <= 2e-3 * max(0.1, abs(expected))


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
        assert row["verdict"] == expected_verdict(q, z), (row, q)
        assert row["hits"] == hits * slow, row
        assert row["of"] == hits * (slow + fast), row
        assert abs(row["share"] - slow / (slow + fast)) < 1e-9, row
    order = [(-1 if row["z"] is None else abs(row["z"]), row["hits"])
             for row in answer["rows"]]
    assert order == sorted(order, reverse=True), order


def numbers_agree(folder, source):
    """Hosts of very different size, some with another share."""
    for n_hosts in (2, 7, 8, 9, 14, 25):
        for _ in range(rounds(1)):
            counts = []
            for _ in range(n_hosts):
                whole = source.choice((40, 300, 1200, 3000))
                slow = binomial(source, whole, source.uniform(0.1, 0.3) if
                                source.random() < 0.9 else 0.7)
                counts.append((slow, whole - slow))
            check_oracle(folder, counts)
            check_oracle(folder, [(fast, slow) for slow, fast in counts])


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
    assert "shares differ by a standard deviation of 0.0" in text, text
    assert [row["value"] for row in members(
        path, "limit 3", "members slow")["rows"]] == \
        ["host9", "host0", "host1"]
    text = subprocess.run(
        [CPPROF, "-q", "-e", "members slow", merge_counts(
            folder, [(20, 80)] * 7)], capture_output=True, text=True,
        check=True, timeout=60).stdout
    assert "fewer than 8 values" in text, text
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


# ---- fleets ----

def lognormal(source, variation):
    sigma = math.sqrt(math.log1p(variation ** 2))
    return math.exp(source.gauss(0, sigma) - sigma ** 2 / 2)


def gamma(source, variation):
    return source.gammavariate(variation ** -2, variation ** 2)


def normal(source, variation):
    return max(0.05, source.gauss(1, variation))


SIZES = {
    "alike": lambda source, i: 3000,
    "busy": lambda source, i: 50000 if i % 3 == 0 else 500,
    "mixed": lambda source, i: round(math.exp(source.uniform(5, 11))),
}


def ask_fleet(folder, counts):
    """The rows; hosts are labels of one profile, which is fast to write."""
    path = os.path.join(folder, "labels.pb.gz")
    out = os.path.join(folder, "labels.merged")
    pprof_writer.write(path, [
        ((name, 3), (count, count), [("host", f"host{i}", None)])
        for i, (slow, fast) in enumerate(counts)
        for name, count in ((1, slow), (2, fast)) if count],
        names={1: "slow", 2: "fast", 3: "main"},
        types=(("samples", "count"), ("cpu", "milliseconds")))
    subprocess.run([CPPROF, "merge", "--by", "host", "-o", out, path],
                   check=True)
    return members(out, "members slow")["rows"]


def simulate(source, n_hosts, size, host, variation, share, odd=None):
    """odd: how many times the share the first host has."""
    counts = []
    for i in range(n_hosts):
        whole = SIZES[size](source, i)
        times = odd if odd is not None and i == 0 else host(source, variation)
        slow = binomial(source, whole, min(0.98, share * times))
        counts.append((slow, whole - slow))
    return counts


def names_any(rows):
    return any(row["verdict"] in ("more", "less") for row in rows)


FLEETS = [(n_hosts, size, host, variation)
          for n_hosts in (10, 30, 200) for size in SIZES
          for host in (lognormal, gamma, normal)
          for variation in (0.1, 0.3, 0.5)]


def few_alarms(folder, source, n_each):
    """At most 5% of questions, within three standard errors."""
    alarms, n_fleets = 0, 0
    fleets = FLEETS if n_each > 2 else FLEETS[::2]
    for n_hosts, size, host, variation in fleets:
        found = sum(names_any(ask_fleet(folder, simulate(
            source, n_hosts, size, host, variation, 0.1)))
            for _ in range(n_each))
        if n_each > 10:
            print(f"# {n_hosts} hosts {size} {host.__name__} {variation}: "
                  f"{found} of {n_each}", flush=True)
        alarms += found
        n_fleets += n_each
        assert found <= 0.05 * n_each + 3 * math.sqrt(0.0475 * n_each), (
            n_hosts, size, host, variation, found)
    assert alarms <= 0.05 * n_fleets, (alarms, n_fleets)


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


def n_found(folder, source, n_fleets, n_hosts, variation, times):
    found = 0
    for _ in range(n_fleets):
        first = ask_fleet(folder, simulate(source, n_hosts, "alike", lognormal,
                                           variation, 0.1, times))[0]
        found += first["value"] == "host0" and first["verdict"] == (
            "more" if times > 1 else "less")
    return found


def finds_it(folder, source, n_hosts, variation, times):
    found = n_found(folder, source, 20, n_hosts, variation, times)
    assert found >= 16, found


def power(folder, source, n_fleets):
    times = (0.3, 0.5, 1.5, 2, 3, 5, 10)
    for n_hosts in (10, 20, 50, 200):
        for variation in (0.05, 0.1, 0.2, 0.3, 0.5):
            found = [n_found(folder, source, n_fleets, n_hosts, variation,
                             factor) for factor in times]
            print(f"# {n_hosts} hosts {variation}: " + ", ".join(
                f"{factor} times {n / n_fleets:.2f}"
                for factor, n in zip(times, found)), flush=True)


def main():
    source = random.Random(int(os.environ.get("SEED", "1")))
    n_fleets = int(sys.argv[1]) if len(sys.argv) > 1 else 2
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
        claims.attempt("hosts that differ by themselves are noise",
                       few_alarms, folder, source, n_fleets)
        for n_hosts, variation, times in (
                (20, 0.05, 1.6), (20, 0.05, 0.5), (100, 0.1, 2), (100, 0.3, 5)):
            claims.attempt(f"{times} times the share is found among {n_hosts} "
                           f"hosts that differ by {variation}", finds_it,
                           folder, source, n_hosts, variation, times)
        if len(sys.argv) > 1:
            power(folder, source, n_fleets)
    claims.end()


main()
