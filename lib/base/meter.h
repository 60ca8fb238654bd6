/* SPDX-License-Identifier: MIT */
/* meter.h -- a generalised interval timer: from gticks to hits.
 *
 * A meter belongs to one thread and one resource.  Gticks are fed to it as they
 * are spent.  When they cross a boundary, it returns the number of intervals
 * that have passed.  The first interval begins at a random point, so that on
 * average a thread that spends less than an interval counts as much as it
 * spends: the expected hits are gticks / interval.
 *
 * With spread boundaries, each interval has one, at a random point of it.  A
 * program that spends periodically, as one that allocates powers of two, cannot
 * keep step with these, and yet n hits are never off by more than one.
 *
 * With randomised intervals, the distance from one boundary to the next is
 * drawn uniformly from least .. 2 * interval - least, whose mean is the
 * interval, and each boundary is one hit.  So a program that spends
 * periodically cannot keep step with the sampling.  With a `least` of 1, the
 * price is that n hits have a standard error of the square root of n / 3.
 * (Counting the gticks since the last boundary and carrying the remainder would
 * give exact sums, but the carrying keeps step itself: a program whose period
 * is the interval would get shares that are wrong by half.)  Source: Hall &
 * Goldberg 1993.
 *
 * A sample may itself spend the resource, the first one of a process more than
 * an interval.  What it spends always follows a boundary, where the next one is
 * rarely close, so it has too few hits, and what the program does after it has
 * too many.  Distances without memory, which are exponentially distributed, have
 * a boundary at each gtick with the same probability, whatever came before.
 * n hits then have a standard error of the square root of n.
 *
 * All functions: async-signal-safe, on the meter's thread, without locks.  If a
 * signal handler interrupts one and feeds the same meter, some gticks may not
 * be counted.
 */
#ifndef CPPROF_METER_H
#define CPPROF_METER_H

#include <stdbool.h>
#include <stdint.h>

struct meter {
	uint64_t left;		/* gticks to the next boundary, >= 1 */
	uint64_t interval;
	uint64_t least;		/* the shortest distance; 0: without memory */
	uint64_t random;	/* state of the generator; 0: fixed intervals */
	bool is_spread;		/* each interval has one boundary, of which the
				   last was: */
	uint64_t at;		/* so far from the interval's begin */
};

/* Pseudo-random bits that depend only on the seed. */
uint64_t meter_random(uint64_t seed);

/*
 * Initialises a meter, with a `least` of 1.  `seed` should differ between
 * threads.
 */
void meter_start(struct meter *meter, uint64_t interval, bool is_random,
    uint64_t seed);

/*
 * The same for a source that cannot trap at shorter distances than `least`,
 * which is 1 to the interval.  The first boundary may still be closer.
 */
void meter_start_apart(struct meter *meter, uint64_t interval, uint64_t least,
    bool is_random, uint64_t seed);

/* The same with spread boundaries. */
void meter_start_spread(struct meter *meter, uint64_t interval, uint64_t seed);

/* The same with random distances that have no memory. */
void meter_start_without_memory(struct meter *meter, uint64_t interval,
    uint64_t seed);

static inline bool
meter_has_memory(const struct meter *meter)
{
	return meter->least != 0;
}

/* Draws the distance to the next boundary. */
uint64_t meter_draw(struct meter *meter);

/* The hits for crossing a boundary by `beyond` gticks. */
uint64_t meter_cross(struct meter *meter, uint64_t beyond);

/*
 * Feeds gticks.  If they do not reach the next boundary, returns false.
 * Otherwise stores how many are beyond it, for meter_cross.  `left` is read
 * only once, because a handler may change it and it must not become negative.
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

/* Feeds gticks and returns the hits. */
static inline uint64_t
meter_spend(struct meter *meter, uint64_t gticks)
{
	uint64_t beyond;

	return meter_reaches(meter, gticks, &beyond) ?
	    meter_cross(meter, beyond) : 0;
}

#endif
