/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-call-lengths.c -- estimates of calls against simulated ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "src/noise/noise.h"
#include "tests/random-numbers.h"

enum { N_CALLS = 20000, N_BINS = 2000, N_RUNS = 40 };

static const double interval = 4e6;

struct simulation {
	double true_lengths[N_CALLS];	/* of those that count */
	int n_calls;
	struct length_count lengths[N_BINS], tails[N_BINS];
	struct call_lengths calls;
};

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static int
compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The least number in a bin: 64 for each power of two, from 1 ns on. */
static double
bin_least(int bin)
{
	return exp2(bin / 64) * (1 + bin % 64 / 64.0);
}

static void
add(struct length_count *bins, double ns, double spread)
{
	int exponent, bin;
	double mantissa = frexp(fmax(ns, 1), &exponent);

	bin = (exponent - 1) * 64 + (int)((2 * mantissa - 1) * 64);
	bins[bin].n++;
	bins[bin].spread = spread;
}

static double
short_calls(void)
{
	return 1e5 * (0.6 + uniform());
}

/* Most are too short to count. */
static double
tiny_calls(void)
{
	return uniform() < 0.9 ? 1e3 * (0.5 + uniform()) :
	    1e6 + 3e7 * uniform();
}

static double
long_calls(void)
{
	return 5e6 + 1e7 * uniform();
}

static double
log_normal_calls(void)
{
	return 2e6 * exp(1.2 * normal());
}

static double
mixed_calls(void)
{
	return uniform() < 0.99 ? 1e5 * (1 + uniform()) :
	    2e7 * (1 + uniform());
}

/* Calls one after another, with pauses, and samples at equal distances. */
static void
simulate(struct simulation *to, double (*draw)(void))
{
	double time = 0, tick = interval * uniform();

	memset(to, 0, sizeof *to);
	for (int i = 0; i < N_BINS; i++) {
		to->lengths[i].least = to->tails[i].least = bin_least(i);
		to->lengths[i].end = to->tails[i].end = bin_least(i + 1);
	}
	to->lengths[0].least = to->tails[0].least = 0;
	for (int i = 0; i < N_CALLS; i++) {
		const double length = draw();
		double end;

		if (length >= interval / 80)
			to->true_lengths[to->n_calls++] = length;
		time += -1e6 * log(uniform());
		end = time + length;
		while (tick < time)
			tick += interval;
		if (tick < end) {
			add(to->tails, end - tick, 1);
			add(to->lengths, end - tick + interval / 2, interval);
		}
		while (tick < end)
			tick += interval;
		time = end;
	}
	qsort(to->true_lengths, (size_t)to->n_calls, sizeof(double), compare_doubles);
	to->calls = (struct call_lengths){ to->lengths, to->tails, N_BINS,
		N_BINS, interval };
}

static struct simulation simulation;

static const struct {
	const char *name;
	double (*draw)(void);
	double bias;		/* of the number of calls, known: it is
				 * extrapolated */
} programs[] = {
	{ "short", short_calls, 0.12 }, { "long", long_calls, 0.02 },
	{ "log-normal", log_normal_calls, 0.10 },
	{ "mixed", mixed_calls, 0.12 }, { "tiny", tiny_calls, 0.05 },
};

enum { N_PROGRAMS = sizeof programs / sizeof *programs };

/* Its mean may be so far from the truth, and single ones 4 standard errors. */
static void
numbers_of_calls_are_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		double sum = 0, all = 0;
		int far = 0;

		seed = i;
		for (int run = 0; run < N_RUNS; run++) {
			struct call_totals totals;

			simulate(&simulation, programs[i].draw);
			totals = call_totals_estimate(&simulation.calls);
			sum += totals.all.value;
			all += simulation.n_calls;
			far += fabs(totals.all.value - simulation.n_calls) >
			    4 * totals.all.error +
			    programs[i].bias * simulation.n_calls;
		}
		if (far > 0 || fabs(sum - all) > programs[i].bias * all)
			fail_msg("%s: %.0f calls, estimated %.0f; %d far",
			         programs[i].name, all / N_RUNS, sum / N_RUNS,
			         far);
	}
}

/* In 95% of the runs, so in 40 runs 33 are 5 standard errors away. */
static void
percentiles_lie_in_their_intervals(void **state)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999 };

	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++)
		for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
			int inside = 0;

			seed = i;
			for (int run = 0; run < N_RUNS; run++) {
				struct call_totals totals;
				struct call_estimate found;
				double truth;

				simulate(&simulation, programs[i].draw);
				totals = call_totals_estimate(
				    &simulation.calls);
				found = call_lengths_quantile(
				    &simulation.calls, &totals, shares[k]);
				truth = simulation.true_lengths[(int)(shares[k]
				    * simulation.n_calls)];
				inside += truth >= found.low &&
				    truth <= found.high;
			}
			if (inside < 33)
				fail_msg("%s: p%g inside in %d of %d",
				         programs[i].name, 100 * shares[k],
				         inside, N_RUNS);
		}
}

/* All calls above a bound have been seen; bounds are off by half an interval. */
static void
counts_above_a_bound_are_those_of_the_program(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		seed = i;
		simulate(&simulation, programs[i].draw);
		for (double bound = interval; bound < 1e8; bound *= 1.5) {
			int least = 0, most = 0;
			double n = call_lengths_above(&simulation.calls,
			                              bound).value;

			for (int c = 0; c < simulation.n_calls; c++) {
				const double length =
				    simulation.true_lengths[c];

				least += length >= 1.02 * (bound +
				    interval / 2);
				most += length >= 0.98 * (bound -
				    interval / 2);
			}
			if (n < least || n > most)
				fail_msg("%s above %g: %g, not %d to %d",
				         programs[i].name, bound, n, least,
				         most);
		}
	}
}

static void
no_calls_have_no_length(void **state)
{
	const struct call_lengths none = { NULL, NULL, 0, 0, interval };
	const struct call_totals totals = call_totals_estimate(&none);
	struct call_estimate found = call_lengths_quantile(&none, &totals,
	                                                   0.99);

	(void)state;
	assert_true(totals.all.value == 0);
	assert_true(found.value == 0 && isinf(found.high));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_calls_are_right),
		cmocka_unit_test(percentiles_lie_in_their_intervals),
		cmocka_unit_test(counts_above_a_bound_are_those_of_the_program),
		cmocka_unit_test(no_calls_have_no_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
