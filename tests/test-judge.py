# SPDX-License-Identifier: GPL-3.0-or-later
"""test-judge.py -- how often judge.py is wrong, by simulation.

Runs of known shares and amounts, with fixed seeds: without an error all claims
hold, with twice the tolerance all fail, and none stays undecided for ever.
Speaks TAP.
"""
import contextlib
import io
import math
import random

import judge
from claims import Claims, rounds

claims = Claims()


class Verdicts:
    """What decide() does with a claim, without printing it."""

    def __init__(self):
        self.held, self.failed, self.skipped = 0, 0, 0

    def check(self, _name, holds, _why):
        self.held += holds
        self.failed += not holds

    def skip(self, _name, _why):
        self.skipped += 1


def binomial(chance, n, p):
    """Exact for few, else by the normal distribution."""
    if n < 300:
        return sum(chance.random() < p for _ in range(n))
    return min(n, max(0, round(chance.gauss(n * p,
                                            math.sqrt(n * p * (1 - p))))))


def share(chance, true, error, bunch, first=1000):
    """A measurement whose samples each have `bunch` hits."""
    def measure(times):
        n = max(1, round(first * times / bunch))
        return {'it': judge.Share(bunch * binomial(chance, n, true + error),
                                  bunch * n, true, bunch)}
    return measure


def amount(chance, error, first=1000):
    def measure(times):
        true = first * times
        found = max(0, round(chance.gauss(true * (1 + error),
                                          math.sqrt(true))))
        return {'it': judge.Amount.drawn(found, true)}
    return measure


def difference(chance, true, error, bunch=1, first=1000):
    """Two that sample, where the second has half as many hits."""
    def measure(times):
        n, other = first * times, first * times // 2
        return {'it': judge.Difference(
            bunch * binomial(chance, n, true + error), bunch * n,
            binomial(chance, other, true), other, bunch)}
    return measure


def verdicts(make, n, seed):
    chance, result = random.Random(seed), Verdicts()
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(n):
            judge.decide(result, ['it'], make(chance))
    return result


def check_shares():
    n = rounds(40)
    for true in .02, .3, .5:
        for bunch in 1, 4:
            for times, held in (0, n), (2, 0), (3, 0):
                made = verdicts(lambda chance: share(
                    chance, true, times * judge.SHARE, bunch), n,
                    f'{true} {bunch} {times}')
                claims.check(
                    f'a share of {true} in bunches of {bunch} with an error '
                    f'of {times} tolerances', (made.held, made.skipped) ==
                    (held, 0), f'{made.held} of {n} held')


def check_differences():
    n = rounds(40)
    for true, bunch in (0, 1), (.3, 1), (.3, 4), (.9, 1):
        for times, held in (0, n), (2, 0), (3, 0):
            made = verdicts(lambda chance: difference(
                chance, true, times * judge.SHARE, bunch), n,
                f'{true} {times}')
            claims.check(
                f'two shares of {true}, in bunches of {bunch}, and an error of '
                f'{times} tolerances',
                (made.held, made.skipped) == (held, 0),
                f'{made.held} of {n} held')


def check_amounts():
    n = rounds(200)
    for times, held in (0, n), (2, 0), (-2, 0), (-1 / judge.AMOUNT, 0):
        made = verdicts(lambda chance: amount(
            chance, times * judge.AMOUNT), n, f'{times}')
        claims.check(f'an amount with an error of {times:.3g} tolerances',
                     made.held == held, f'{made.held} of {n} held')


def check_intervals():
    """A share's interval is that of the binomial distribution."""
    wrong = []
    for hits, of in (0, 10), (1, 10), (5, 10), (10, 10), (3, 1000):
        low, high = judge.share_interval(hits, of)

        def tail(p, numbers):
            return sum(math.comb(of, k) * p ** k * (1 - p) ** (of - k)
                       for k in numbers)
        if hits and not math.isclose(tail(low, range(hits, of + 1)),
                                     judge.TAIL, rel_tol=1e-3):
            wrong.append((hits, of, low))
        if hits < of and not math.isclose(tail(high, range(hits + 1)),
                                          judge.TAIL, rel_tol=1e-3):
            wrong.append((hits, of, high))
    claims.make('intervals of shares are exact', wrong)


def check_pooling():
    """No run is thrown away: looks add up, and only what is undecided looks
    again."""
    seen = []

    def measure(times):
        seen.append(times)
        return {'few': judge.Share(30 * times, 100 * times, .3),
                'many': judge.Share(3000 * times, 10000 * times, .3),
                'none': judge.Share(0, 0, .3)}
    result = Verdicts()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        judge.decide(result, ['few', 'many', 'none'], measure)
    claims.check('four looks, each with three times as much in all',
                 seen == [1, 2, 6, 18], seen)
    claims.check('what is undecided at last fails',
                 (result.held, result.failed) == (2, 1),
                 (result.held, result.failed))
    claims.check('each further look is told',
                 out.getvalue().count('# measured again: ') == 3,
                 out.getvalue())


def check_disturbed():
    calls = []

    def measure(times):
        calls.append(times)
        if len(calls) < limit:
            raise judge.Disturbed('a cause')
        return {'it': judge.Share(3000, 10000, .3)}
    for limit, expected in (5, (1, 0)), (6, (0, 1)):
        calls.clear()
        result = Verdicts()
        with contextlib.redirect_stdout(io.StringIO()):
            judge.decide(result, ['it'], measure)
        claims.check(f'{limit - 1} disturbed runs',
                     (result.held, result.skipped) == expected and
                     len(calls) == 5, (result.held, result.skipped, calls))


def main():
    check_intervals()
    check_shares()
    check_differences()
    check_amounts()
    check_pooling()
    check_disturbed()
    claims.end()


if __name__ == '__main__':
    main()
