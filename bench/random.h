/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.h -- numbers that are the same in every run, for inputs of benchmarks.
 *
 * xorshift128+ (Vigna 2017).  Inputs that are compared over time depend on these
 * numbers, so they must not change.
 */
#ifndef CPPROF_BENCH_RANDOM_H
#define CPPROF_BENCH_RANDOM_H

#include <stdint.h>

static uint64_t random_state[2];

static uint64_t
random_bits(void)
{
	uint64_t a = random_state[0], b = random_state[1];

	random_state[0] = b;
	a ^= a << 23;
	random_state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
	return random_state[1] + b;
}

static void
random_seed(uint64_t seed)
{
	random_state[0] = seed * 0x9E3779B97F4A7C15 + 1;
	random_state[1] = 0xD1B54A32D192ED03;
	for (int i = 0; i < 20; i++)
		random_bits();
}

/* At least 0, below 1. */
static double
random_uniform(void)
{
	return (double)(random_bits() >> 11) * 0x1p-53;
}

#endif
