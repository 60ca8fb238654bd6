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

/* xorshift64; its state never becomes 0. */
static uint64_t
next_random(struct meter *meter)
{
	meter->random ^= meter->random << 13;
	meter->random ^= meter->random >> 7;
	meter->random ^= meter->random << 17;
	return meter->random;
}

/*
 * An exponentially distributed number whose mean is the interval: a whole part
 * and a fraction of 2^32, times the interval.  In a sequence of random numbers,
 * the fraction is the first of those that begin a falling run of odd length,
 * the whole part how many runs of even length come before.  Source: von Neumann
 * 1951, "Various techniques used in connection with random digits".
 */
static uint64_t
draw_without_memory(struct meter *meter)
{
	const uint64_t half = (uint64_t)1 << 31;
	uint64_t whole = 0, length, distance;
	uint32_t fraction, last, next;

	for (;; whole++) {
		fraction = last = (uint32_t)(next_random(meter) >> 32);
		for (length = 1; (next = (uint32_t)(next_random(meter) >> 32)) <
		    last; length++)
			last = next;
		if (length % 2 == 1)
			break;
	}
	distance = whole * meter->interval +
	    (uint64_t)(((unsigned __int128)meter->interval * fraction + half) >>
	    32);
	return distance > 0 ? distance : 1;
}

/* From a boundary to that of the next interval. */
static uint64_t
draw_spread(struct meter *meter)
{
	const uint64_t rest = meter->interval - meter->at;

	meter->at = next_random(meter) % meter->interval;
	return rest + meter->at;
}

uint64_t
meter_draw(struct meter *meter)
{
	if (meter->random == 0)
		return meter->interval;
	if (meter->is_spread)
		return draw_spread(meter);
	if (meter->least == 0)
		return draw_without_memory(meter);
	return meter->least + next_random(meter) %
	    (2 * (meter->interval - meter->least) + 1);
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
	meter->is_spread = false;
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

void
meter_start_spread(struct meter *meter, uint64_t interval, uint64_t seed)
{
	uint64_t begin, boundary;

	*meter = (struct meter){ .interval = interval, .least = 1,
	    .random = meter_random(seed) | 1, .is_spread = true };
	begin = next_random(meter) % interval;
	meter->at = boundary = next_random(meter) % interval;
	/* That of the interval in progress may be over. */
	if (boundary < begin)
		boundary += draw_spread(meter);
	meter->left = 1 + boundary - begin;
}

void
meter_start_without_memory(struct meter *meter, uint64_t interval,
    uint64_t seed)
{
	meter->is_spread = false;
	meter->interval = interval;
	meter->least = 0;
	meter->random = meter_random(seed) | 1;
	meter->left = meter_draw(meter);
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
