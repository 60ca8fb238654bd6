/* SPDX-License-Identifier: GPL-3.0-or-later */
/* planted.c ROUNDS PERCENT -- a program of which one path can be made slower.
 *
 * hash takes PERCENT percent of its usual work where parse calls it, and the
 * usual work where digest does.  With 100, the path (parse hash) is a tenth of
 * the run.
 */
#include <stdint.h>
#include <stdlib.h>

enum { N = 1 << 20 };

static uint32_t next[N];
static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t
hash(uint64_t x, long n)
{
	for (long i = 0; i < n; i++) {
		x ^= x >> 33;
		x *= UINT64_C(0xff51afd7ed558ccd);
		x ^= x >> 29;
	}
	return x;
}

/* Adding keeps the calls from being jumps, which leave no frame. */
__attribute__((noinline)) static uint64_t
parse(uint64_t x, long percent)
{
	return hash(x, 70 * percent) + 1;
}

__attribute__((noinline)) static uint64_t
digest(uint64_t x)
{
	return hash(x, 20000) + 2;
}

/* Follows a cycle through memory that no cache holds. */
__attribute__((noinline)) static uint64_t
find(uint64_t x)
{
	uint32_t at = (uint32_t)x % N;

	for (int i = 0; i < 600; i++)
		at = next[at];
	return at;
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 80000;
	long percent = argc > 2 ? atol(argv[2]) : 100;

	for (uint32_t i = 0; i < N; i++)
		next[i] = i;
	srand(1);
	for (uint32_t i = N - 1; i > 0; i--) {
		uint32_t other = (uint32_t)rand() % i, kept = next[i];

		next[i] = next[other];
		next[other] = kept;
	}
	for (long i = 0; i < rounds; i++)
		sink += parse((uint64_t)i, percent) + digest((uint64_t)i) +
		    find((uint64_t)i);
	return 0;
}
