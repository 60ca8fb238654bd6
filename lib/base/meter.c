/* SPDX-License-Identifier: MIT */
/* meter.c -- boundaries of intervals and the distances between them. */
#include "lib/base/meter.h"

/* Up to this many boundaries at once are drawn one by one. */
#define DRAWS_MAX 256

/* The finaliser of splitmix64. */
uint64_t
meter_random(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t
meter_draw(struct meter *meter)
{
	if (meter->random == 0)
		return meter->interval;
	/* xorshift64; its state never becomes 0. */
	meter->random ^= meter->random << 13;
	meter->random ^= meter->random >> 7;
	meter->random ^= meter->random << 17;
	return meter->least +
	    meter->random % (2 * (meter->interval - meter->least) + 1);
}

/*
 * The first distance is the rest of the interval that happens to be in
 * progress.  A point in time is more likely to fall into a long interval, in
 * proportion to its length.  So a draw is accepted with a probability in
 * proportion to its length.
 */
void
meter_start_apart(struct meter *meter, uint64_t interval, uint64_t least,
    bool is_random, uint64_t seed)
{
	uint64_t longest, length;

	seed = meter_random(seed);
	meter->interval = interval;
	meter->least = is_random ? least : interval;
	meter->random = is_random ? seed | 1 : 0;
	longest = 2 * interval - meter->least;
	do {
		length = meter_draw(meter);
		seed = meter_random(seed + 1);
	} while (seed % longest >= length);
	meter->left = 1 + meter_random(seed + 1) % length;
}

void
meter_start(struct meter *meter, uint64_t interval, bool is_random,
    uint64_t seed)
{
	meter_start_apart(meter, interval, 1, is_random, seed);
}

uint64_t
meter_cross(struct meter *meter, uint64_t beyond)
{
	uint64_t distance, hits = 1;

	if (meter->random == 0 || beyond / meter->interval >= DRAWS_MAX) {
		hits += beyond / meter->interval;
		beyond %= meter->interval;
	}
	while ((distance = meter_draw(meter)) <= beyond) {
		beyond -= distance;
		hits++;
	}
	meter->left = distance - beyond;
	return hits;
}
