/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-allowance.c -- what sampling may cost, by simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/allowance.h"
#include "lib/base/meter.h"

enum { TICK_NS = 1000000, EARNED_NS = TICK_NS / 200 };

/* A thread that is in deep stacks in some phases, and in others in a loop. */
struct simulation {
	struct allowance allowance;
	uint64_t n, n_deep;		/* ticks */
	uint64_t hits, hits_deep, pending;
	uint64_t n_samples;
	int64_t cost_ns;		/* of all samples */
};

static void
tick(struct simulation *one, bool is_deep, int64_t cost_ns)
{
	const int64_t cost = is_deep ? cost_ns : 2000;

	one->n++;
	one->n_deep += is_deep;
	one->pending++;
	if (!allowance_admit(&one->allowance, TICK_NS, false))
		return;
	allowance_charge(&one->allowance, cost, cost);
	one->cost_ns += cost;
	one->n_samples++;
	one->hits += one->pending;
	if (is_deep)
		one->hits_deep += one->pending;
	one->pending = 0;
}

/* Phases of so many ticks, each of a random kind. */
static void
simulate_more(struct simulation *one, uint64_t n_phases, unsigned ticks,
    int64_t cost_ns)
{
	for (uint64_t i = 0; i < n_phases; i++) {
		const bool is_deep = meter_random(one->n) & 1;

		for (unsigned k = 0; k < ticks; k++)
			tick(one, is_deep, cost_ns);
	}
}

static struct simulation
simulate(uint64_t n_phases, unsigned ticks, int64_t cost_ns)
{
	struct simulation one = { .n = 0 };

	allowance_begin(&one.allowance, 1);
	simulate_more(&one, n_phases, ticks, cost_ns);
	return one;
}

static double
error_of(const struct simulation *one)
{
	return (double)one->hits_deep / (double)one->hits -
	    (double)one->n_deep / (double)one->n;
}

static void
deep_stacks_have_their_share(void **state)
{
	static const struct { unsigned ticks; int64_t cost_ns; } cases[] = {
		{ 1, 20000 }, { 3, 20000 }, { 10, 20000 },
		{ 1, 40000 }, { 3, 40000 }, { 1, 100000 },
	};
	struct simulation one;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		one = simulate(100000, cases[i].ticks, cases[i].cost_ns);
		assert_true(one.n_samples < one.n * 9 / 10);
		assert_true(error_of(&one) > -0.02 && error_of(&one) < 0.02);
	}
	(void)state;
}

/* However long it was: it earns no more than the largest allowance. */
static void
a_sleep_changes_no_share(void **state)
{
	struct simulation one = { .n = 0 };

	allowance_begin(&one.allowance, 1);
	for (int i = 0; i < 1000; i++) {
		simulate_more(&one, 100, 3, 40000);
		allowance_admit(&one.allowance, UINT64_C(10000000000), false);
	}
	assert_true(error_of(&one) > -0.02 && error_of(&one) < 0.02);
	(void)state;
}

/* Such as the first one, on pages that were not there. */
static void
one_long_sample_changes_no_share(void **state)
{
	struct simulation one = { .n = 0 };

	for (int i = 0; i < 2000; i++) {
		one.pending = 0;
		allowance_begin(&one.allowance, (uint64_t)i);
		allowance_charge(&one.allowance, 2000000, 2000000);
		simulate_more(&one, 333, 3, 20000);
	}
	assert_true(error_of(&one) > -0.02 && error_of(&one) < 0.02);
	(void)state;
}

/* Besides the first allowance, whatever a sample costs. */
static void
sampling_costs_half_a_percent(void **state)
{
	static const int64_t costs[] = { 6000, 20000, 100000, 400000, 1000000 };
	struct simulation one;
	size_t i;

	for (i = 0; i < sizeof costs / sizeof *costs; i++) {
		one = simulate(20000, 5, costs[i]);
		assert_true(one.cost_ns <= (int64_t)one.n * EARNED_NS + 2000000);
		/* And is not much less than it may be. */
		assert_true(one.cost_ns >= (int64_t)one.n * EARNED_NS / 2 ||
		    one.n_samples == one.n);
		assert_true(one.n_samples > one.n / 1000);
	}
	(void)state;
}

static void
what_costs_less_than_it_earns_is_never_deferred(void **state)
{
	struct simulation one = simulate(20000, 5, EARNED_NS);

	assert_true(one.n_samples == one.n);
	(void)state;
}

/* The last sample is allowed unless there is a debt. */
static void
the_last_sample_needs_no_luck(void **state)
{
	struct allowance allowance;
	unsigned n = 0;

	allowance_begin(&allowance, 1);
	allowance_charge(&allowance, 950000, 950000);
	for (int i = 0; i < 1000; i++) {
		n += !allowance_admit(&allowance, 0, false);
		assert_true(allowance_admit(&allowance, 0, true));
	}
	assert_true(n > 900);
	allowance_charge(&allowance, 100000, 100000);
	assert_false(allowance_admit(&allowance, 0, true));
	(void)state;
}

/* How many samples of that cost are taken at the next ticks. */
static unsigned
taken(struct allowance *allowance, unsigned ticks, int64_t cost_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ticks; i++)
		if (allowance_admit(allowance, TICK_NS, false)) {
			allowance_charge(allowance, cost_ns, cost_ns);
			n++;
		}
	return n;
}

/* However long it has cost nothing, or slept. */
static void
the_allowance_is_never_more_than_the_first(void **state)
{
	struct allowance allowance;

	allowance_begin(&allowance, 1);
	for (int i = 0; i < 10; i++) {
		taken(&allowance, 1000, 0);
		/* 10 from the allowance, 5 earned, 1 on debt. */
		assert_in_range(taken(&allowance, 100, 100000), 5, 16);
		allowance_admit(&allowance, i == 9 ? UINT64_MAX : 100000000000u,
		    false);
		assert_in_range(taken(&allowance, 100, 100000), 5, 16);
	}
	(void)state;
}

static void
a_large_debt_is_forgiven(void **state)
{
	struct allowance allowance;

	allowance_begin(&allowance, 1);
	allowance_charge(&allowance, 1000000000, 1000000000);
	assert_int_equal(taken(&allowance, 399, 1000), 0);
	assert_true(taken(&allowance, 100000, 1000) > 0);
	(void)state;
}

/* Where a table grows once, the next samples cost no more than before. */
static void
what_is_unusual_does_not_count_for_long(void **state)
{
	struct allowance allowance;

	allowance_begin(&allowance, 1);
	assert_int_equal(taken(&allowance, 100, 1000), 100);
	allowance_charge(&allowance, 700000, 1000);
	assert_int_equal(taken(&allowance, 100, 1000), 100);
	allowance_begin(&allowance, 1);
	allowance_charge(&allowance, 700000, 0);
	assert_int_equal(taken(&allowance, 100, 1000), 100);
	(void)state;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_stacks_have_their_share),
		cmocka_unit_test(a_sleep_changes_no_share),
		cmocka_unit_test(one_long_sample_changes_no_share),
		cmocka_unit_test(sampling_costs_half_a_percent),
		cmocka_unit_test(what_costs_less_than_it_earns_is_never_deferred),
		cmocka_unit_test(the_last_sample_needs_no_luck),
		cmocka_unit_test(the_allowance_is_never_more_than_the_first),
		cmocka_unit_test(a_large_debt_is_forgiven),
		cmocka_unit_test(what_is_unusual_does_not_count_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
