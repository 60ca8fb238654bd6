/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delimiters.h -- where lines of collapsed stacks end and differ.
 *
 * Sixty-four bytes at a time, as sets of bits, so that finding the ends of
 * frames costs no branch a byte.
 */
#ifndef CPPROF_FORMATS_DELIMITERS_H
#define CPPROF_FORMATS_DELIMITERS_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { DELIMITERS_BLOCK = 64 };

/* Bit i stands for byte i of the block. */
struct delimiters {
	uint64_t semicolons;
	uint64_t stops;		/* ends of line and NULs */
};

/* Those of block[DELIMITERS_BLOCK], one byte after the other. */
static inline struct delimiters
find_delimiters_plainly(const char *block)
{
	struct delimiters found = { 0 };

	for (int i = 0; i < DELIMITERS_BLOCK; i++) {
		found.semicolons |= (uint64_t)(block[i] == ';') << i;
		found.stops |= (uint64_t)(block[i] == '\n' ||
		                          block[i] == '\0') << i;
	}
	return found;
}

/* The same, by the machine's vectors where it has them. */
static inline struct delimiters
find_delimiters(const char *block)
{
#ifdef __SSE2__
	struct delimiters found = { 0 };

#pragma GCC unroll 4
	for (int i = 0; i < DELIMITERS_BLOCK; i += 16) {
		__m128i bytes = _mm_loadu_si128((const void *)(block + i));
		__m128i semicolons =
		    _mm_cmpeq_epi8(bytes, _mm_set1_epi8(';'));
		__m128i ends = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
		__m128i nuls = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
		unsigned s = (unsigned)_mm_movemask_epi8(semicolons);
		unsigned e = (unsigned)_mm_movemask_epi8(
		    _mm_or_si128(ends, nuls));

		found.semicolons |= (uint64_t)s << i;
		found.stops |= (uint64_t)e << i;
	}
	return found;
#else
	return find_delimiters_plainly(block);
#endif
}

/* Where two blocks differ, one byte after the other. */
static inline uint64_t
find_differences_plainly(const char *a, const char *b)
{
	uint64_t found = 0;

	for (int i = 0; i < DELIMITERS_BLOCK; i++)
		found |= (uint64_t)(a[i] != b[i]) << i;
	return found;
}

/* The same by vectors. */
static inline uint64_t
find_differences(const char *a, const char *b)
{
#ifdef __SSE2__
	__m128i equal[4], all;
	uint64_t found = 0;

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		__m128i x = _mm_loadu_si128((const void *)(a + 16 * i));
		__m128i y = _mm_loadu_si128((const void *)(b + 16 * i));

		equal[i] = _mm_cmpeq_epi8(x, y);
	}
	all = _mm_and_si128(_mm_and_si128(equal[0], equal[1]),
	                    _mm_and_si128(equal[2], equal[3]));
	if (_mm_movemask_epi8(all) == 0xffff)
		return 0;
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		found |= (uint64_t)(unsigned)_mm_movemask_epi8(equal[i]) <<
		         (16 * i);
	return ~found;
#else
	return find_differences_plainly(a, b);
#endif
}

#endif
