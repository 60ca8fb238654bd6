/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-distributions.c -- tails against values of mpmath, at 50 digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "src/noise/noise.h"

static void
assert_close(const char *what, double x, double is, double wanted)
{
	if (!(fabs(is - wanted) <= 1e-9 * fabs(wanted)))
		fail_msg("%s %.17g: %.17g, expected %.17g", what, x, is,
		         wanted);
}

static void
binomial_test_is_exact(void **state)
{
	static const struct {
		uint64_t k, n;
		double p, wanted;
	} cases[] = {
		{ 0, 0, 0.5, 1 },
		{ 0, 5, 0.5, 0.0625 },
		{ 2, 10, 0.5, 0.109375 },
		{ 8, 10, 0.5, 0.109375 },
		{ 5, 10, 0.5, 1 },
		{ 1, 29, 0.25, 0.0050796683426137523 },
		{ 40, 100, 0.5, 0.056887933640980792 },
		{ 450, 1000, 0.4, 0.0014824057980119889 },
		{ 499000, 1000000, 0.5, 0.045608299865382086 },
		{ 1005000, 2000000, 0.5, 1.5451541286873622e-12 },
		{ 0, 400, 0.5, 7.7451838296986365e-121 },
		{ 300, 300, 0.9, 3.7478554077696157e-14 },
		{ 100030000, 200000000, 0.5, 2.2097457735817989e-5 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_close("binomial", (double)cases[i].k,
		             binomial_test(cases[i].k, cases[i].n,
		                           cases[i].p), cases[i].wanted);
}

/* The tail is a sum of 30 terms at most, which can be added up. */
static void
binomial_test_equals_the_sum_of_its_terms(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 30; n++) {
		for (uint64_t k = 0; k <= n; k++) {
			double p = 0.3, term = pow(1 - p, (double)n);
			double lower = 0, upper = 0;

			for (uint64_t i = 0; i <= n; i++) {
				lower += i <= k ? term : 0;
				upper += i >= k ? term : 0;
				term *= (double)(n - i) / (double)(i + 1) * p /
				    (1 - p);
			}
			assert_close("terms", (double)k, binomial_test(k, n, p),
			             fmin(2 * fmin(lower, upper), 1));
		}
	}
}

/* Where the exact test ends, the approximation continues it. */
static void
binomial_test_of_very_many_events_is_normal(void **state)
{
	uint64_t n = UINT64_C(10000000000);
	uint64_t k = n / 2 + 100000;
	double exact = binomial_test(k, n, 0.5);
	double more = binomial_test(k + 1, n + 2, 0.5);

	(void)state;
	assert_true(fabs(exact / more - 1) < 1e-4);
	assert_true(binomial_test(UINT64_C(1) << 62, UINT64_C(1) << 63, 0.5) ==
	            1);
	assert_true(binomial_test(0, UINT64_MAX, 0.5) == 0);
}

static void
f_and_student_have_the_tabulated_tails(void **state)
{
	static const double cases[][3] = {
		{ 0, 3, 1 },
		{ 161.4476387975881, 1, 0.050000000000000061 },
		{ 18.51282051282051, 2, 0.050000000000000005 },
		{ 7.708647422176786, 4, 0.05000000000000005 },
		{ 4.0847457, 40, 0.050000000890016725 },
		{ 0.001, 3, 0.97675909691819107 },
		{ 1000, 6.5, 2.305381408422459e-8 },
		{ 3.9, 1e5, 0.048288853901091086 },
		{ 50, 1e7, 1.5375596991180379e-12 },
		{ 25, INFINITY, 5.7330314375838782e-7 },
	};
	static const double quantiles[][3] = {
		{ 0.05, 1, 12.7062047361747 },
		{ 0.05, 4, 2.77644510519779 },
		{ 0.01, 10, 3.16927267261695 },
		{ 0.05, INFINITY, 1.95996398454005 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_close("F", cases[i][0],
		             f_upper(cases[i][0], cases[i][1]), cases[i][2]);
	for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
		assert_close("t", quantiles[i][1],
		             student_two_sided_quantile(quantiles[i][0],
		                                        quantiles[i][1]),
		             quantiles[i][2]);
}

static void
normal_has_the_tabulated_tails(void **state)
{
	static const double cases[][2] = {
		{ 0, 1 },
		{ 1, 0.3173105078629141 },
		{ 1.959963984540054, 0.050000000000000022 },
		{ 5, 5.7330314375838782e-7 },
		{ 20, 5.5072482372124674e-89 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_close("normal", cases[i][0],
		             normal_two_sided(cases[i][0]), cases[i][1]);
		assert_close("normal", -cases[i][0],
		             normal_two_sided(-cases[i][0]), cases[i][1]);
		assert_close("z", cases[i][1],
		             normal_two_sided_quantile(cases[i][1]),
		             cases[i][0]);
	}
	assert_true(isinf(normal_two_sided_quantile(0)));
}

static void
gamma_has_the_tabulated_derivatives(void **state)
{
	static const double cases[][3] = {
		{ 0.01, -100.56088545786867, 10001.621213528313 },
		{ 0.5, -1.9635100260214235, 4.9348022005446793 },
		{ 1, -0.57721566490153286, 1.6449340668482264 },
		{ 1.5, 0.036489973978576521, 0.93480220054467931 },
		{ 7, 1.8727843350984671, 0.15354517795933755 },
		{ 30, 3.3844381326855249, 0.033895060357739944 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double x = cases[i][0];

		assert_close("digamma", x, digamma(x), cases[i][1]);
		assert_close("trigamma", x, trigamma(x), cases[i][2]);
		assert_close("inverse", x, trigamma_inverse(cases[i][2]), x);
	}
}

static void
deviance_does_not_cancel(void **state)
{
	static const double cases[][3] = {
		{ 3, 3, 0 },
		{ 10, 9.5, 0.012932943875505334 },
		{ 0, 2, 2 },
		{ 1e9, 1e9 + 1000, 0.00049999966666691667 },
		{ 5, 50, 33.487074535029772 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_close("deviance", cases[i][0],
		             deviance_part(cases[i][0], cases[i][1]),
		             cases[i][2]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binomial_test_is_exact),
		cmocka_unit_test(binomial_test_equals_the_sum_of_its_terms),
		cmocka_unit_test(binomial_test_of_very_many_events_is_normal),
		cmocka_unit_test(f_and_student_have_the_tabulated_tails),
		cmocka_unit_test(normal_has_the_tabulated_tails),
		cmocka_unit_test(gamma_has_the_tabulated_derivatives),
		cmocka_unit_test(deviance_does_not_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
