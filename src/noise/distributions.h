/* SPDX-License-Identifier: GPL-3.0-or-later */
/* distributions.h -- tails of the distributions that tests of counts need.
 *
 * All are pure functions that return a probability between 0 and 1, or the
 * value that belongs to one.  Relative error: below 1e-9, also far out in the
 * tails and for large counts.
 */
#ifndef CPPROF_NOISE_DISTRIBUTIONS_H
#define CPPROF_NOISE_DISTRIBUTIONS_H

#include <stdint.h>

/* Of a standard normal Z: P(|Z| >= |z|); and the z >= 0 for which it is p. */
double normal_two_sided(double z);
double normal_two_sided_quantile(double p);

/* P(X >= x) of a chi-square with df > 0 degrees of freedom. */
double chi_square_upper(double x, double df);

/*
 * P(X >= x) of F(1, df), df > 0; INFINITY allowed: chi-square with 1 degree of
 * freedom.  Student's t with df degrees has P(|T| >= |t|) = f_upper(t^2, df).
 */
double f_upper(double x, double df);

/* The t >= 0 with P(|T| >= t) = p, 0 < p < 1. */
double student_two_sided_quantile(double p, double df);

/*
 * Exact test whether k of n events fit a probability of 0 < p < 1: twice the
 * smaller of P(X <= k) and P(X >= k), at most 1.  O(sqrt(n)) steps; above 10^10
 * events by the normal approximation.  Source: continued fraction of the
 * incomplete beta function, its factor by Loader's (2000) saddle point
 * expansion.
 */
double binomial_test(uint64_t k, uint64_t n, double p);

/*
 * x log(x / mean) + mean - x, without cancellation; x >= 0, mean > 0.  The
 * deviance of counts is twice the sum of these.
 */
double deviance_part(double x, double mean);

/* Derivatives of log gamma, x > 0; the x > 0 with trigamma(x) = y > 0. */
double digamma(double x);
double trigamma(double x);
double trigamma_inverse(double y);

#endif
