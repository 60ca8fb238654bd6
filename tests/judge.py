# SPDX-License-Identifier: GPL-3.0-or-later
"""judge.py -- decides what measured tests claim.

A claim compares what cpprof says with what a witness says: the program's own
clocks, or others that sample, too.  It has a tolerance, what a user would mind,
and an interval of five standard errors that follows from its own counts:
  it fails   if the interval lies outside the tolerance;
  it holds   if the interval lies inside twice the tolerance;
  otherwise  all is measured again, with three times the work in all, and the
             counts are added: no run is thrown away for its result.
What is neither after four looks fails.  So chance makes one run of ten thousand
fail, and an error of twice the tolerance is always found.  tests/test-judge.py
tries that by simulation.

A run is thrown away only for a cause that is read before its result, such as
threads that were kept waiting: then the measurement raises Disturbed.  After
five such runs the claims are skipped, with the causes.

"# measured again" and "# disturbed" are counted by `quickstart check`.
"""
import math
import os

K = 5               # standard errors of an interval
LOOKS = 4
MOST_DISTURBED = 5
# At length (make check-long) three times as strict.
IS_LONG = bool(os.environ.get('CHECK_LONG'))
SHARE = 0.01 if IS_LONG else 0.03
AMOUNT = 0.02 if IS_LONG else 0.06
# Of one side of the interval.
TAIL = 0.5 * math.erfc(K / math.sqrt(2))


class Disturbed(Exception):
    """Why a run says nothing, known before its result."""


def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's
    method (Numerical Recipes, 6.4)."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    result = d
    for m in range(1, 10000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x /
                     ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + term * d
            c = 1 + term / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            result *= c * d
        if abs(c * d - 1) < 1e-12:
            break
    return result


def beta_below(a, b, x):
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) +
                     a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * beta_fraction(a, b, x) / a
    return 1 - front * beta_fraction(b, a, 1 - x) / b


def bisect(is_above):
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return (low + high) / 2


def share_interval(hits, of):
    """The exact interval of a share (Clopper and Pearson 1934) of counts that
    need not be whole."""
    low = bisect(lambda p: beta_below(hits, of - hits + 1, p) > TAIL) \
        if hits > 0 else 0.0
    high = bisect(lambda p: 1 - beta_below(hits + 1, of - hits, p) < TAIL) \
        if hits < of else 1.0
    return low, high


class Share:
    """So many hits of all, where the program says `true`, a share.  bunch: hits
    of independent samples come in bunches: the mean square over the mean."""

    def __init__(self, hits, of, true, bunch=1.0, tolerance=SHARE):
        self.hits, self.of, self.true, self.bunch = hits, of, true, bunch
        self.tolerance = tolerance

    def __add__(self, other):
        of = self.of + other.of
        part = self.of / of if of else 1
        return Share(self.hits + other.hits, of,
                     self.true * part + other.true * (1 - part),
                     self.bunch * part + other.bunch * (1 - part),
                     self.tolerance)

    def errors(self):
        """The interval of found minus true."""
        low, high = share_interval(self.hits / self.bunch,
                                   self.of / self.bunch)
        return low - self.true, high - self.true

    def __str__(self):
        low, high = self.errors()
        return f'{100 * self.hits / max(self.of, 1):.2f}% of {self.of:.0f} ' \
            f'hits for {100 * self.true:.2f}%; off by {100 * low:+.2f} to ' \
            f'{100 * high:+.2f}, in bunches of {self.bunch:.1f}'


class Difference:
    """Two shares, each of so many hits, that must be the same: what cpprof says,
    and a witness that also samples.  bunch: as in Share, of cpprof's."""

    def __init__(self, hits, of, other_hits, other_of, bunch=1.0,
                 tolerance=SHARE):
        self.counts = (hits, of, other_hits, other_of)
        self.bunch = bunch
        self.tolerance = tolerance

    def __add__(self, other):
        counts = [one + more for one, more in zip(self.counts, other.counts)]
        part = self.counts[1] / counts[1] if counts[1] else 1
        return Difference(*counts, self.bunch * part +
                          other.bunch * (1 - part), self.tolerance)

    def errors(self):
        """The interval of found minus the other.  Near 0 and 1, one hit is added
        to each side, so that the error is never 0."""
        hits, of, other_hits, other_of = self.counts
        if of <= 0 or other_of <= 0:
            return -1.0, 1.0
        mean = min(1, (hits + other_hits + 1) / (of + other_of + 2))
        error = K * math.sqrt(mean * (1 - mean) *
                              (self.bunch / of + 1 / other_of))
        difference = hits / of - other_hits / other_of
        return difference - error, difference + error

    def __str__(self):
        hits, of, other_hits, other_of = self.counts
        low, high = self.errors()
        return f'{100 * hits / max(of, 1):.2f}% of {of:.0f} hits for ' \
            f'{100 * other_hits / max(other_of, 1):.2f}% of {other_of:.0f}; ' \
            f'off by {100 * low:+.2f} to {100 * high:+.2f}'


class Amount:
    """A sum, where the program says `true`, in the same unit.  error: its
    standard error; for hits that are drawn, see drawn()."""

    def __init__(self, found, true, error, tolerance=AMOUNT):
        self.found, self.true, self.error = found, true, error
        self.tolerance = tolerance

    @classmethod
    def drawn(cls, hits, true_hits, bunch=1.0, tolerance=AMOUNT):
        return cls(hits, true_hits, math.sqrt(bunch * max(true_hits, 1)),
                   tolerance)

    def __add__(self, other):
        return Amount(self.found + other.found, self.true + other.true,
                      math.hypot(self.error, other.error), self.tolerance)

    def errors(self):
        return tuple((self.found - self.true + side * K * self.error) /
                     max(self.true, 1e-9) for side in (-1, 1))

    def __str__(self):
        low, high = self.errors()
        return f'{self.found:.6g} for {self.true:.6g}; off by ' \
            f'{100 * low:+.1f}% to {100 * high:+.1f}%'


def verdict(count):
    """'holds', 'fails' or 'undecided'."""
    low, high = count.errors()
    if low > count.tolerance or high < -count.tolerance:
        return 'fails'
    if -2 * count.tolerance < low and high < 2 * count.tolerance:
        return 'holds'
    return 'undecided'


def look(measure, times, causes):
    """What a run says that was not disturbed; None after too many that were,
    whose causes are added."""
    while True:
        try:
            return measure(times)
        except Disturbed as why:
            causes.append(str(why))
            print('# disturbed:', why, flush=True)
            if len(causes) >= MOST_DISTURBED:
                return None


def decide(claims, names, measure):
    """Prints a claim for each name.  measure(times): makes a run with so many
    times the work, and returns its counts (Share, Difference or Amount) by
    name."""
    pooled, decided, causes = {}, {}, []
    times = 1
    for n_looks in range(1, LOOKS + 1):
        counts = look(measure, times, causes)
        if counts is None:
            break
        for name in names:
            if name in decided:
                continue
            pooled[name] = pooled[name] + counts[name] if name in pooled \
                else counts[name]
            what = verdict(pooled[name])
            if what != 'undecided':
                decided[name] = what
        left = [name for name in names if name not in decided]
        if not left:
            break
        if n_looks < LOOKS:
            print('# measured again:', '; '.join(
                f'{name}: {pooled[name]}' for name in left[:3]), flush=True)
            times = 2 * 3 ** (n_looks - 1)
    for name in names:
        if name not in decided and len(causes) >= MOST_DISTURBED:
            claims.skip(name, f'disturbed {len(causes)} times: {causes[-1]}')
            continue
        claims.check(name, decided.get(name) == 'holds',
                     f'{decided.get(name, "undecided")}: {pooled[name]}')
