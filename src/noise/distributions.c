/* SPDX-License-Identifier: GPL-3.0-or-later */
/* distributions.c -- tails of the distributions that tests of counts need.
 *
 * The incomplete beta function is a density times a continued fraction,
 * evaluated by the modified method of Lentz (Press et al., Numerical Recipes, 5.2
 * and 6).  The density is written as deviances, so that large arguments do not
 * cancel (Loader 2000, "Fast and accurate computation of binomial
 * probabilities").
 */
#include "src/noise/noise.h"

#include <math.h>

static const double LN_SQRT_2PI = 0.91893853320467274178;

/* log(n!) less Stirling's formula for it. */
static double
stirling_error(double n)
{
	double n2 = n * n;
	int sign;

	if (n <= 15)
		return lgamma_r(n + 1, &sign) - (n + 0.5) * log(n) + n -
		    LN_SQRT_2PI;
	return (1 / 12.0 - (1 / 360.0 - (1 / 1260.0 - (1 / 1680.0 -
	    1 / 1188.0 / n2) / n2) / n2) / n2) / n;
}

double
deviance_part(double x, double mean)
{
	double v = (x - mean) / (x + mean), sum, next, power;

	if (x == 0)
		return mean;
	if (fabs(v) >= 0.1)
		return x * log(x / mean) + mean - x;
	sum = (x - mean) * v;
	power = 2 * x * v;
	for (int j = 3;; j += 2) {
		power *= v * v;
		next = sum + power / j;
		if (!(next < sum || next > sum))
			return sum;
		sum = next;
	}
}

/* Of a, b > 0 that are not whole: (a + b)! / (a! b!) x^a (1 - x)^b. */
static double
binomial_density(double a, double b, double x, double one_less_x)
{
	double n = a + b;

	return sqrt(n / (2 * M_PI * a * b)) *
	    exp(stirling_error(n) - stirling_error(a) - stirling_error(b) -
	        deviance_part(a, n * x) - deviance_part(b, n * one_less_x));
}

/* Keeps a divisor of a continued fraction from being 0. */
static double
not_zero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

static double
beta_fraction(double a, double b, double x)
{
	double n_steps = 1000 + 20 * sqrt(a + b);
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (double m = 1; m < n_steps; m++) {
		double even = m * (b - m) * x /
		    ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x /
		    ((a + 2 * m) * (a + 2 * m + 1));
		double factor;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		h *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		factor = d * c;
		h *= factor;
		if (fabs(factor - 1) < 1e-15)
			break;
	}
	return h;
}

/* The regularised incomplete beta function of x, 0 < x < 1, and a, b > 0. */
static double
beta_lower(double a, double b, double x, double one_less_x)
{
	double factor = binomial_density(a, b, x, one_less_x) * a * b /
	    (a + b);

	if (x < (a + 1) / (a + b + 2))
		return factor * beta_fraction(a, b, x) / a;
	return 1 - factor * beta_fraction(b, a, one_less_x) / b;
}

double
normal_two_sided(double z)
{
	return erfc(fabs(z) / M_SQRT2);
}

double
f_upper(double x, double df)
{
	if (!(x > 0))
		return 1;
	/* By then both differ by less than 1e-9. */
	if (df > 1e12 || isinf(x))
		return isinf(x) ? 0 : normal_two_sided(sqrt(x));
	return beta_lower(df / 2, 0.5, df / (df + x), x / (df + x));
}

/*
 * The t >= 0 whose tail, which falls, is p.  The tail of t is that of Student's
 * distribution with df degrees, of which INFINITY is normal.
 */
static double
invert_tail(double p, double df)
{
	double low = 0, high = 1;

	while (f_upper(high * high, df) > p && high < 1e150)
		high *= 2;
	for (int i = 0; i < 100 && high - low > 1e-13 * high; i++) {
		double middle = low + (high - low) / 2;

		if (f_upper(middle * middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

double
normal_two_sided_quantile(double p)
{
	if (p <= 0)
		return INFINITY;
	return p >= 1 ? 0 : invert_tail(p, INFINITY);
}

double
student_two_sided_quantile(double p, double df)
{
	return invert_tail(p, df);
}

/* P(X <= k), k < n. */
static double
binomial_lower(double k, double n, double p)
{
	return beta_lower(n - k, k + 1, 1 - p, p);
}

double
binomial_test(uint64_t k, uint64_t n, double p)
{
	double events = (double)n, found = (double)k, lower = 1, upper = 1;

	if (n > UINT64_C(10000000000))
		return normal_two_sided(fmax(fabs(found - events * p) - 0.5, 0) /
		                        sqrt(events * p * (1 - p)));
	if (k < n)
		lower = binomial_lower(found, events, p);
	if (k > 0)
		upper = binomial_lower(events - found, events, 1 - p);
	return fmin(2 * fmin(lower, upper), 1);
}

double
digamma(double x)
{
	double sum = 0, y;

	for (; x < 10; x++)
		sum -= 1 / x;
	y = 1 / (x * x);
	return sum + log(x) - 0.5 / x - y * (1 / 12.0 - y * (1 / 120.0 - y *
	    (1 / 252.0 - y * (1 / 240.0 - y * (1 / 132.0 - y * 691 /
	    32760.0)))));
}

double
trigamma(double x)
{
	double sum = 0, y;

	for (; x < 10; x++)
		sum += 1 / (x * x);
	y = 1 / (x * x);
	return sum + 1 / x + y / 2 + y / x * (1 / 6.0 - y * (1 / 30.0 - y *
	    (1 / 42.0 - y * (1 / 30.0 - y * (5 / 66.0 - y * 691 / 2730.0)))));
}

double
trigamma_inverse(double y)
{
	double low = 0, high = 1;

	while (trigamma(high) > y && high < 1e15)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
		double middle = low + (high - low) / 2;

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}
