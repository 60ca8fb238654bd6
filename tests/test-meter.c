/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-meter.c -- the collector's generalised interval timer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/meter.h"

enum { INTERVAL = 100 };

enum kind { FIXED, RANDOM, SPREAD, N_KINDS };

static void
start(struct meter *meter, uint64_t interval, enum kind kind, uint64_t seed)
{
	if (kind == SPREAD)
		meter_start_spread(meter, interval, seed);
	else
		meter_start(meter, interval, kind == RANDOM, seed);
}

/* The square root, rounded up. */
static uint64_t
root(uint64_t n)
{
	uint64_t r = 0;

	while (r * r < n)
		r++;
	return r;
}

/*
 * Fixed intervals and spread boundaries are never off by more than one hit, however
 * the gticks come.
 */
static void
meter_counts_every_gtick(void **state)
{
	static const uint64_t steps[] = { 1, 3, 99, 100, 101, 250, 12345,
		(uint64_t)1 << 35 };

	(void)state;
	for (enum kind kind = FIXED; kind < N_KINDS; kind++) {
		for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
			uint64_t expected = steps[i] * 5000 / INTERVAL;
			uint64_t slack = kind == RANDOM ?
			    5 * root(expected / 3) + 1 : kind == SPREAD;
			struct meter meter;
			uint64_t hits = 0;

			start(&meter, INTERVAL, kind, i);
			for (int k = 0; k < 5000; k++)
				hits += meter_spend(&meter, steps[i]);
			assert_in_range(hits, expected - slack,
			                expected + slack + 1);
		}
	}
}

static void
meter_may_have_an_interval_of_one(void **state)
{
	(void)state;
	for (enum kind kind = FIXED; kind < N_KINDS; kind++) {
		struct meter meter;

		start(&meter, 1, kind, 7);
		assert_int_equal(meter_spend(&meter, 0), 0);
		assert_int_equal(meter_spend(&meter, 1), 1);
		assert_int_equal(meter_spend(&meter, 17), 17);
		assert_int_equal(meter_spend(&meter, UINT64_MAX), UINT64_MAX);
	}
}

/* A thread that spends a tenth of an interval has a hit in one of ten runs. */
static void
meter_begins_anywhere(void **state)
{
	(void)state;
	for (enum kind kind = FIXED; kind < N_KINDS; kind++) {
		uint64_t hits = 0;

		for (uint64_t seed = 0; seed < 20000; seed++) {
			struct meter meter;

			start(&meter, INTERVAL, kind, seed);
			hits += meter_spend(&meter, INTERVAL / 10);
		}
		assert_in_range(hits, 1800, 2200);
	}
}

struct hits {
	uint64_t cheap, dear;
};

/* A meter that is in step with a program, n times. */
static struct hits
alternate(enum kind kind, int n)
{
	struct hits hits = { 0 };
	struct meter meter;

	start(&meter, INTERVAL, kind, 3);
	for (int i = 0; i < n; i++) {
		hits.cheap += meter_spend(&meter, 1);
		hits.dear += meter_spend(&meter, INTERVAL - 1);
	}
	return hits;
}

/*
 * A program that alternates one gtick in `cheap` and 99 in `dear` is in step
 * with an interval of 100.  Fixed intervals then give all hits to one of them,
 * random ones to each its share.
 */
static void
meter_is_unbiased_when_random(void **state)
{
	struct hits hits = alternate(FIXED, 100000);

	(void)state;
	assert_true(hits.cheap == 0 || hits.dear == 0);
	assert_int_equal(hits.cheap + hits.dear, 100000);
	hits = alternate(RANDOM, 1000000);
	assert_in_range(hits.cheap + hits.dear, 1000000 - 2900, 1000000 + 2900);
	/* 10,000 expected; five standard deviations of 100. */
	assert_in_range(hits.cheap, 9500, 10500);
}

/* And, with spread boundaries, no hit too many or too few. */
static void
meter_is_unbiased_when_spread(void **state)
{
	const struct hits hits = alternate(SPREAD, 1000000);

	(void)state;
	assert_in_range(hits.cheap + hits.dear, 1000000 - 1, 1000000 + 1);
	assert_in_range(hits.cheap, 9500, 10500);
}

/* Whatever came before, each interval has one boundary. */
static void
meter_spreads_one_to_each_interval(void **state)
{
	uint64_t hits[INTERVAL] = { 0 };
	struct meter meter;

	(void)state;
	for (uint64_t seed = 0; seed < 20000; seed++) {
		meter_start_spread(&meter, INTERVAL, seed);
		for (uint64_t i = 0; i < INTERVAL; i++)
			hits[i] += meter_spend(&meter, 1);
		assert_in_range(meter.left, 1, 2 * INTERVAL);
	}
	/* 200 expected; five standard deviations. */
	for (int i = 0; i < INTERVAL; i++)
		assert_in_range(hits[i], 200 - 71, 200 + 71);
}

/* Also if both spend much at once. */
static void
meter_shares_large_expenses(void **state)
{
	uint64_t small = 0, large = 0;
	struct meter meter;

	(void)state;
	meter_start(&meter, INTERVAL, true, 11);
	for (int i = 0; i < 300000; i++) {
		small += meter_spend(&meter, INTERVAL / 2);
		large += meter_spend(&meter, INTERVAL * 3 / 2);
	}
	assert_in_range(small, 150000 - 2500, 150000 + 2500);
	assert_in_range(small + large, 600000 - 2300, 600000 + 2300);
}

/*
 * Boundaries that must be apart: none but the first comes sooner, and threads
 * of any length count what they spend, wherever they spend it.
 */
static void
meter_keeps_random_boundaries_apart(void **state)
{
	enum { LEAST = INTERVAL / 2, PARTS = 5, LIVES = 40000 };
	uint64_t hits[PARTS] = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < LIVES; seed++) {
		struct meter meter;
		int last = -1;

		meter_start_apart(&meter, INTERVAL, LEAST, true, seed);
		assert_in_range(meter.left, 1, 2 * INTERVAL - LEAST);
		for (int i = 0; i < 2 * INTERVAL; i++) {
			if (meter_spend(&meter, 1) == 0)
				continue;
			assert_true(last < 0 || i - last >= LEAST);
			last = i;
			hits[i * PARTS / (2 * INTERVAL)]++;
		}
	}
	/* Five standard deviations of independent hits. */
	for (int i = 0; i < PARTS; i++)
		assert_in_range(hits[i], 2 * LIVES / PARTS - 640,
		                2 * LIVES / PARTS + 640);
}

/*
 * A sample itself takes an interval, and the program does two things for a
 * certain time each.  Both have as many hits as they last.
 */
static void
meter_without_memory_is_unbiased_by_samples(void **state)
{
	enum { LIVES = 100000, COST = INTERVAL };
	static const uint64_t lengths[] = { INTERVAL / 3, INTERVAL };
	uint64_t hits[2] = { 0 }, spent[2] = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < LIVES; seed++) {
		struct meter meter;

		meter_start_without_memory(&meter, INTERVAL, seed);
		for (int part = 0; part < 2; part++) {
			uint64_t used = 0, new_hits;

			while (used < lengths[part]) {
				used++;
				new_hits = meter_spend(&meter, 1);
				hits[part] += new_hits;
				if (new_hits == 0)
					continue;
				hits[part] += meter_spend(&meter, COST);
				used += COST;
			}
			spent[part] += used;
		}
	}
	/* Five standard deviations, with at most two hits a sample. */
	for (int i = 0; i < 2; i++) {
		const uint64_t mean = spent[i] / INTERVAL;
		const uint64_t most = 5 * root(2 * mean);

		assert_in_range(hits[i], mean - most, mean + most);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(meter_counts_every_gtick),
		cmocka_unit_test(meter_may_have_an_interval_of_one),
		cmocka_unit_test(meter_begins_anywhere),
		cmocka_unit_test(meter_is_unbiased_when_random),
		cmocka_unit_test(meter_is_unbiased_when_spread),
		cmocka_unit_test(meter_spreads_one_to_each_interval),
		cmocka_unit_test(meter_shares_large_expenses),
		cmocka_unit_test(meter_keeps_random_boundaries_apart),
		cmocka_unit_test(meter_without_memory_is_unbiased_by_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
