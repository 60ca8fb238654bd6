/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-outliers.c -- how often hosts that are like others are called outliers.
 *
 * Hosts whose shares differ by themselves are simulated, by several
 * distributions, of equal and of very different size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/noise/noise.h"
#include "tests/failing-memory.h"
#include "tests/random-numbers.h"

enum { MOST_HOSTS = 200 };

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* The sum of 1 / cv^2 exponential variates, over its mean. */
static double
gamma_host(double cv)
{
	const int shape = (int)lround(1 / (cv * cv));
	double sum = 0;

	for (int i = 0; i < shape; i++)
		sum -= log(uniform());
	return sum / shape;
}

static double
lognormal_host(double cv)
{
	const double sigma = sqrt(log1p(cv * cv));

	return exp(sigma * normal() - sigma * sigma / 2);
}

static double
normal_host(double cv)
{
	return fmax(0.1, 1 + cv * normal());
}

typedef double host_function(double cv);

static host_function *const hosts[] = { lognormal_host, gamma_host,
	normal_host };

/* Rounded from a normal variate where that is close. */
static double
binomial(double n, double share)
{
	const double mean = n * share, variance = mean * (1 - share);

	return mean < 50 ? fmin((double)poisson(mean), n) :
	    fmin(fmax(round(mean + sqrt(variance) * normal()), 0), n);
}

enum size { EQUAL, BUSY, MIXED };

static double
size_of(enum size size, size_t i)
{
	return size == EQUAL ? 4000 : size == BUSY ? i % 3 == 0 ? 50000 : 500 :
	    round(exp(log(100) + log(1000) * uniform()));
}

/* factor: how much more than the others the first has. */
static void
simulate(struct outlier_count *counts, size_t n, enum size size,
         host_function *host, double cv, double share, double factor)
{
	for (size_t i = 0; i < n; i++) {
		const double whole = size_of(size, i);

		counts[i] = (struct outlier_count){
			.whole = whole, .sample = 1, .part = binomial(whole,
			    fmin(i == 0 && factor > 0 ? share * factor :
			         share * host(cv), 0.98)),
		};
	}
}

static void
find(struct outlier_count *counts, size_t n)
{
	struct error error = { 0 };
	double spread;

	assert_int_equal(outliers_find(counts, n, &spread, &error), 0);
}

static bool
is_named(const struct outlier_count *count)
{
	return count->q <= 0.05;
}

/* Of n fleets: in how many hosts are called outliers. */
static size_t
n_alarms(size_t n_fleets, size_t n, enum size size, host_function *host,
         double cv, double share)
{
	struct outlier_count counts[MOST_HOSTS];
	size_t alarms = 0;

	for (size_t k = 0; k < n_fleets; k++) {
		bool any = false;

		simulate(counts, n, size, host, cv, share, 0);
		find(counts, n);
		for (size_t i = 0; i < n; i++)
			any |= is_named(&counts[i]);
		alarms += any;
	}
	return alarms;
}

/* At most 5% of 40 fleets, and three standard errors. */
static void
hosts_that_differ_by_themselves_are_no_outliers(void **state)
{
	static const size_t sizes[] = { 10, 30, 100 };
	static const double cvs[] = { 0.1, 0.3, 0.5 };
	size_t all = 0, n_cases = 0;

	(void)state;
	seed = 1;
	for (size_t i = 0; i < 3; i++)
		for (enum size size = EQUAL; size <= MIXED; size++)
			for (size_t host = 0; host < 3; host++)
				for (size_t cv = 0; cv < 3; cv++) {
					size_t alarms = n_alarms(40, sizes[i],
					    size, hosts[host], cvs[cv], 0.1);

					all += alarms;
					n_cases++;
					if (alarms > 6)
						fail_msg("%zu hosts, sizes %d, "
						    "distribution %zu, %g: %zu "
						    "of 40", sizes[i], size,
						    host, cvs[cv], alarms);
				}
	print_message("# false alarms: %zu of %zu\n", all, 40 * n_cases);
	assert_true((double)all <= 0.05 * 40 * (double)n_cases);
}

/* How often a host with so many times the share is found, of 100. */
static size_t
n_found(size_t n, double cv, double factor)
{
	struct outlier_count counts[MOST_HOSTS];
	size_t found = 0;

	for (size_t k = 0; k < 100; k++) {
		simulate(counts, n, EQUAL, lognormal_host, cv, 0.1, factor);
		find(counts, n);
		found += is_named(&counts[0]) &&
		    (counts[0].z > 0) == (factor > 1);
	}
	return found;
}

static void
what_is_far_out_is_found(void **state)
{
	(void)state;
	seed = 2;
	assert_true(n_found(20, 0.05, 1.6) >= 80);
	assert_true(n_found(20, 0.05, 0.5) >= 80);
	assert_true(n_found(100, 0.1, 2) >= 80);
	assert_true(n_found(100, 0.1, 0.3) >= 80);
	assert_true(n_found(100, 0.3, 5) >= 80);
}

/* Three of 20 hosts do not hide each other. */
static void
several_outliers_are_all_found(void **state)
{
	struct outlier_count counts[20];

	(void)state;
	seed = 3;
	simulate(counts, 20, EQUAL, lognormal_host, 0.05, 0.1, 0);
	counts[3].part = 1200;
	counts[8].part = 1210;
	counts[9].part = 1190;
	find(counts, 20);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(is_named(&counts[i]), i == 3 || i == 8 ||
		                 i == 9);
}

/* The rest of a share has the opposite outliers. */
static void
a_large_share_is_tested_by_its_rest(void **state)
{
	struct outlier_count counts[20], rest[20];

	(void)state;
	seed = 4;
	simulate(counts, 20, MIXED, lognormal_host, 0.2, 0.1, 3);
	for (size_t i = 0; i < 20; i++) {
		rest[i] = counts[i];
		rest[i].part = counts[i].whole - counts[i].part;
	}
	find(counts, 20);
	find(rest, 20);
	for (size_t i = 0; i < 20; i++)
		assert_true(fabs(counts[i].z + rest[i].z) < 1e-6 &&
		            fabs(counts[i].q - rest[i].q) < 1e-6);
}

static void
a_sample_of_many_hits_is_one_event(void **state)
{
	struct outlier_count counts[20], clusters[20];

	(void)state;
	seed = 5;
	simulate(counts, 20, MIXED, lognormal_host, 0.2, 0.1, 3);
	for (size_t i = 0; i < 20; i++)
		clusters[i] = (struct outlier_count){
			.part = 7 * counts[i].part,
			.whole = 7 * counts[i].whole, .sample = 7,
		};
	find(counts, 20);
	find(clusters, 20);
	for (size_t i = 0; i < 20; i++)
		assert_true(fabs(counts[i].z - clusters[i].z) < 1e-6);
}

static void
few_or_alike_hosts_are_not_tested(void **state)
{
	struct outlier_count counts[MOST_HOSTS];

	(void)state;
	seed = 6;
	simulate(counts, 20, EQUAL, lognormal_host, 0.2, 0.1, 3);
	find(counts, 7);
	assert_true(isnan(counts[0].q));
	find(counts, 8);
	assert_false(isnan(counts[0].q));
	for (size_t i = 0; i < 20; i++)
		counts[i].part = 0;
	find(counts, 20);
	assert_true(isnan(counts[0].q));
	for (size_t i = 0; i < 20; i++)
		counts[i].part = counts[i].whole;
	find(counts, 20);
	assert_true(isnan(counts[0].q));
	for (size_t i = 0; i < 20; i++)
		counts[i].part = counts[i].whole / 4;
	find(counts, 20);
	for (size_t i = 0; i < 20; i++)
		assert_false(is_named(&counts[i]));
	find(counts, 0);
}

/* What one host has and no other is one, whatever the hosts differ by. */
static void
the_only_host_is_found(void **state)
{
	struct outlier_count counts[12];

	(void)state;
	for (size_t i = 0; i < 12; i++)
		counts[i] = (struct outlier_count){
			.part = i == 5 ? 30 : 0, .whole = 1000, .sample = 1,
		};
	find(counts, 12);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(is_named(&counts[i]), i == 5);
}

static uint64_t
attempt(void *data, struct error *error)
{
	struct outlier_count *counts = data;
	double spread;
	uint64_t digest = 0;

	if (outliers_find(counts, 20, &spread, error) != 0)
		return 0;
	for (size_t i = 0; i < 20; i++)
		digest = digest * 31 + is_named(&counts[i]);
	return digest;
}

static void
want_of_memory_is_an_error(void **state)
{
	struct outlier_count counts[20];

	(void)state;
	seed = 7;
	simulate(counts, 20, EQUAL, lognormal_host, 0.1, 0.1, 3);
	sweep_memory("outliers", attempt, counts, 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    hosts_that_differ_by_themselves_are_no_outliers),
		cmocka_unit_test(what_is_far_out_is_found),
		cmocka_unit_test(several_outliers_are_all_found),
		cmocka_unit_test(a_large_share_is_tested_by_its_rest),
		cmocka_unit_test(a_sample_of_many_hits_is_one_event),
		cmocka_unit_test(few_or_alike_hosts_are_not_tested),
		cmocka_unit_test(the_only_host_is_found),
		cmocka_unit_test(want_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
