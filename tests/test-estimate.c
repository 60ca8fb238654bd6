/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-estimate.c -- intervals against simulated samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "src/noise/noise.h"
#include "tests/random-numbers.h"

/* A part's samples of part_size hits each, the rest's of rest_size. */
struct program {
	double part_samples, rest_samples;
	uint64_t part_size, rest_size;
};

static const struct program programs[] = {
	{ 5, 495, 1, 1 }, { 50, 450, 1, 1 }, { 1000, 9000, 1, 1 },
	{ 450, 50, 1, 1 }, { 10000, 90000, 1, 1 }, { 3, 3, 1, 1 },
	{ 50, 450, 10, 10 }, { 50, 450, 10, 1 }, { 50, 450, 1, 10 },
	{ 900, 100, 1, 10 },
};

enum { N_PROGRAMS = sizeof programs / sizeof *programs, N_RUNS = 2000 };

static void
sample(const struct program *program, struct sampled *part,
       struct sampled *whole)
{
	uint64_t rest = poisson(program->rest_samples);

	part->most = whole->most = 0;
	part->samples = poisson(program->part_samples);
	part->hits = part->samples * program->part_size;
	whole->samples = part->samples + rest;
	whole->hits = part->hits + rest * program->rest_size;
}

static void
shares_lie_in_their_intervals(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		const struct program *program = &programs[i];
		double part_hits = program->part_samples *
		    (double)program->part_size;
		double truth = part_hits / (part_hits + program->rest_samples *
		                            (double)program->rest_size);
		double n_below = 0, n_above = 0;

		seed = i;
		for (size_t run = 0; run < N_RUNS; run++) {
			struct sampled part, whole;
			struct estimate share;

			sample(program, &part, &whole);
			share = share_estimate(part, whole, ESTIMATE_95);
			n_below += share.high < truth;
			n_above += share.low > truth;
			assert_true(share.low <= share.value &&
			            share.value <= share.high &&
			            share.low >= 0 && share.high <= 1);
		}
		if ((n_below + n_above) / N_RUNS > 0.065 ||
		    (n_below + n_above) / N_RUNS < 0.01)
			fail_msg("program %zu: %g below, %g above of %d", i,
			         n_below, n_above, N_RUNS);
	}
}

static void
hits_lie_in_their_intervals(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		const struct program *program = &programs[i];
		double truth = program->part_samples *
		    (double)program->part_size, n_outside = 0;

		seed = i;
		for (size_t run = 0; run < N_RUNS; run++) {
			struct sampled part, whole;
			struct estimate hits;

			sample(program, &part, &whole);
			hits = hits_estimate(part, whole, ESTIMATE_95);
			n_outside += hits.high < truth || hits.low > truth;
		}
		if (n_outside / N_RUNS > 0.075)
			fail_msg("program %zu: %g outside of %d", i, n_outside,
			         N_RUNS);
	}
}

/* The error printed is the spread of many runs. */
static void
errors_are_the_spread_of_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		double sum = 0, squares = 0, errors = 0, mean, spread;

		/* Too few samples for the error of one run to be sure. */
		if (programs[i].part_samples < 10)
			continue;
		seed = i;
		for (size_t run = 0; run < N_RUNS; run++) {
			struct sampled part, whole;
			double share;

			sample(&programs[i], &part, &whole);
			share = (double)part.hits / (double)whole.hits;
			sum += share;
			squares += share * share;
			errors += share_error(part, whole);
		}
		mean = sum / N_RUNS;
		spread = sqrt(squares / N_RUNS - mean * mean);
		if (fabs(errors / N_RUNS / spread - 1) > 0.05)
			fail_msg("program %zu: spread %g, mean error %g", i,
			         spread, errors / N_RUNS);
	}
}

static void
nothing_and_everything_have_intervals(void **state)
{
	const struct sampled none = { .hits = 0 },
	    all = { .hits = 100, .samples = 100 };
	struct estimate share;

	(void)state;
	share = share_estimate(none, all, ESTIMATE_95);
	/* z^2 / (n + z^2) */
	assert_true(share.value == 0 && share.low == 0);
	assert_true(fabs(share.high - 3.841459 / 103.841459) < 1e-6);
	share = share_estimate(all, all, ESTIMATE_95);
	assert_true(share.value == 1 && share.high == 1);
	assert_true(fabs(share.low - 100 / 103.841459) < 1e-6);
	share = share_estimate(none, none, ESTIMATE_95);
	assert_true(share.low == 0 && share.high == 1);
	assert_true(share_error(all, all) == 0 && share_error(none, none) == 0 &&
	            share_error(none, all) == 0);
	/* A whole that does not contain the part. */
	share = share_estimate((struct sampled){ 400, 400, 0 }, all,
	                       ESTIMATE_95);
	assert_true(share.value == 4 && share.low > 3.5 && share.high < 4.5);
	assert_true(hits_estimate(none, all, ESTIMATE_95).high > 3.8);
	assert_true(sampled_phi(none) == 1);
	assert_true(sampled_phi((struct sampled){ 30, 10, 0 }) == 3);
	/* Fewer hits than samples: some samples have none. */
	assert_true(sampled_phi((struct sampled){ 10, 30, 0 }) == 1);
}

/* More hits a sample than drawn ones can have: most were measured. */
static void
measured_hits_have_no_noise(void **state)
{
	const struct sampled wait = { 10000, 10, 4 }, work = { 400, 100, 4 },
	    both = { 10400, 110, 4 }, none = { 0, 0, 4 };

	(void)state;
	/* As the hits of ten samples of four hits. */
	assert_true(fabs(sampled_phi(wait) * 10000 - 160) < 1e-9);
	assert_true(sampled_phi(work) == 4);
	/* Never more than without that knowledge, nor less for single hits. */
	assert_true(sampled_phi((struct sampled){ 30, 10, 1000 }) == 3);
	assert_true(sampled_phi((struct sampled){ 10, 10, 4 }) == 1);
	assert_true(hits_estimate(wait, both, ESTIMATE_95).high < 10030);
	assert_true(hits_estimate((struct sampled){ 10000, 10, 0 }, both,
	    ESTIMATE_95).high > 16000);
	assert_true(share_error(wait, both) < .004);
	/* What has no sample may have been missed by one that was drawn. */
	assert_true(fabs(hits_estimate(none, both, ESTIMATE_95).high -
	                 4 * 3.841459) < 1e-3);
	/* Runs differ in waits, too. */
	assert_true(sampled_size(10000, 10, 4) == 1);
	assert_true(sampled_size(400, 100, 4) == 4);
}

/* ---- groups ---- */

enum { N_GROUPS = 4 };

static double
error_of_groups(const double *members, const uint64_t *part,
                const uint64_t *whole)
{
	return jackknife_share_error(&(struct jackknife){
		N_GROUPS, members, part, whole });
}

static void
a_jackknife_is_the_error_of_a_mean(void **state)
{
	/* All groups have as much: so it is that of the mean of 1, 3, 5, 7. */
	const double members[] = { 3, 3, 3, 3 };
	const uint64_t part[] = { 1, 3, 5, 7 };
	const uint64_t whole[] = { 10, 10, 10, 10 };
	const uint64_t half[] = { 5, 5, 5, 5 };

	(void)state;
	assert_true(fabs(error_of_groups(members, part, whole) -
	                 sqrt(20.0 / 3 / 4) / 10) < 1e-12);
	assert_true(error_of_groups(members, half, whole) == 0);
	assert_true(error_of_groups(members, whole, whole) == 0);
}

/* A group of many members must not count for as much as one of few. */
static void
a_jackknife_knows_the_sizes_of_groups(void **state)
{
	enum { N = 4000 };
	const double members[] = { 1, 2, 4, 9 };
	double sum = 0, squares = 0, variance = 0;

	(void)state;
	seed = 5;
	for (int i = 0; i < N; i++) {
		uint64_t part[N_GROUPS], whole[N_GROUPS];
		double share = 0, error;

		for (int g = 0; g < N_GROUPS; g++) {
			part[g] = poisson(200 * members[g]);
			whole[g] = part[g] + poisson(600 * members[g]);
			share += (double)part[g];
		}
		share /= (double)(whole[0] + whole[1] + whole[2] + whole[3]);
		error = error_of_groups(members, part, whole);
		sum += share;
		squares += share * share;
		variance += error * error / N;
	}
	squares = squares / N - sum / N * sum / N;
	/* The variance of the errors is that of the shares. */
	assert_true(fabs(variance / squares - 1) < 0.1);
}

static void
a_jackknife_needs_two_groups(void **state)
{
	const double members[] = { 3, 3, 3, 3 };
	const uint64_t none[] = { 0, 0, 0, 0 }, one[] = { 0, 4, 0, 0 };
	const uint64_t two[] = { 0, 4, 1, 0 }, whole[] = { 9, 9, 9, 9 };

	(void)state;
	assert_true(isnan(error_of_groups(members, none, whole)));
	assert_true(isnan(error_of_groups(members, one, whole)));
	assert_true(isnan(error_of_groups(members, one, one)));
	assert_true(isnan(error_of_groups(members, none, none)));
	assert_true(error_of_groups(members, two, whole) > 0);
	assert_true(error_of_groups(members, two, two) == 0);
	assert_true(isnan(jackknife_share_error(&(struct jackknife){
		1, members, whole, whole })));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_lie_in_their_intervals),
		cmocka_unit_test(hits_lie_in_their_intervals),
		cmocka_unit_test(errors_are_the_spread_of_runs),
		cmocka_unit_test(measured_hits_have_no_noise),
		cmocka_unit_test(nothing_and_everything_have_intervals),
		cmocka_unit_test(a_jackknife_is_the_error_of_a_mean),
		cmocka_unit_test(a_jackknife_knows_the_sizes_of_groups),
		cmocka_unit_test(a_jackknife_needs_two_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
