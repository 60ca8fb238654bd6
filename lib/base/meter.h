/* SPDX-License-Identifier: MIT */
/* meter.h -- a generalised interval timer: from gticks to hits.
 *
 * A meter belongs to one thread and one resource.  Gticks are fed to it as
 * they are spent; at each boundary that is crossed it says how many intervals
 * have passed.  Where the first interval begins is random, so that on average
 * a thread that spends less than an interval counts as much as it spends:
 * the expected hits of any stretch are its gticks / interval.
 *
 * With randomised intervals the distance from one boundary to the next is
 * drawn uniformly from 1 .. 2 * interval - 1, whose mean is the interval, and
 * each boundary is one hit.  So a program that spends periodically cannot keep
 * step with the sampling; the price is that n hits in all are uncertain by the
 * square root of n / 3.  (Hits that count the gticks since the last boundary,
 * remainders carried, have exact sums, but the carrying itself keeps step: a
 * program whose period is the interval gets shares off by half.)  Source: Hall
 * & Goldberg 1993.
 *
 * No function locks or allocates.  A signal handler that interrupts one may
 * feed the same meter: then either's gticks may go uncounted.
 */
#ifndef CPPROF_METER_H
#define CPPROF_METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
	uint64_t left;		/* gticks up to the next boundary, >= 1 */
	uint64_t interval;
	uint64_t random;	/* generator's state; 0: intervals are fixed */
};

/* Random bits from a seed, the same for the same one. */
uint64_t meter_random(uint64_t seed);

/* A new meter; `seed` is anything that differs from thread to thread. */
void meter_start(struct meter *meter, uint64_t interval, bool is_random,
    uint64_t seed);

/* The next distance, from a boundary. */
uint64_t meter_draw(struct meter *meter);

/* The hits of a boundary that is crossed, with so many gticks beyond it. */
uint64_t meter_cross(struct meter *meter, uint64_t beyond);

/*
 * Feeds gticks up to the next boundary and returns false, or says how many are
 * beyond it, for meter_cross.  What is left is read once: a handler may change
 * it, and less than nothing would be left then.
 */
static inline bool
meter_reaches(struct meter *meter, uint64_t gticks, uint64_t *beyond)
{
	const uint64_t left = __atomic_load_n(&meter->left, __ATOMIC_RELAXED);

	*beyond = gticks - left;
	if (gticks >= left)
		return true;
	__atomic_store_n(&meter->left, left - gticks, __ATOMIC_RELAXED);
	return false;
}

/* Feeds gticks; the hits to be counted here and now. */
static inline uint64_t
meter_spend(struct meter *meter, uint64_t gticks)
{
	uint64_t beyond;

	return meter_reaches(meter, gticks, &beyond) ?
	    meter_cross(meter, beyond) : 0;
}

#endif
