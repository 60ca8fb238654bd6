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
	return 1 + meter->random % (2 * meter->interval - 1);
}

/*
 * The first distance is the rest of the interval that happens to be in
 * progress.  A point in time is more likely to fall into a long interval, in
 * proportion to its length.  The greater of two uniform draws has that
 * distribution.
 */
void
meter_start(struct meter *meter, uint64_t interval, bool is_random,
    uint64_t seed)
{
	uint64_t length, other;

	seed = meter_random(seed);
	meter->interval = interval;
	meter->random = is_random ? seed | 1 : 0;
	length = meter_draw(meter);
	other = meter_draw(meter);
	if (other > length)
		length = other;
	meter->left = 1 + meter_random(seed + 1) % length;
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
