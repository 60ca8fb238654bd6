/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random-numbers.h -- numbers that are the same in every run, from a seed. */
#ifndef CPPROF_TESTS_RANDOM_NUMBERS_H
#define CPPROF_TESTS_RANDOM_NUMBERS_H

#include <math.h>
#include <stdint.h>

static uint64_t seed;

/* Above 0 and below 1; splitmix64. */
static double
uniform(void)
{
	uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* By products of uniforms, 20 events at a time. */
static inline uint64_t
poisson(double mean)
{
	uint64_t n = 0;

	while (mean > 0) {
		double limit = exp(-fmin(mean, 20)), product = uniform();

		for (; product > limit; product *= uniform())
			n++;
		mean -= 20;
	}
	return n;
}

#endif
