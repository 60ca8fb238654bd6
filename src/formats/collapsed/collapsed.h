/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed.h -- the parts of collapsed stacks, for the files of this folder.
 *
 * The comment lines that cpprof writes before the stacks are also those of
 * pprof's comments, so pprof's reader and writer use them.
 */
#ifndef CPPROF_COLLAPSED_COLLAPSED_H
#define CPPROF_COLLAPSED_COLLAPSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/formats/reader.h"
#include "src/profile/profile.h"

/* ---- delimiters ---- */

/*
 * Where lines of collapsed stacks end and differ.
 *
 * Sixty-four bytes at a time, as sets of bits, so that finding the ends of
 * frames costs no branch a byte.
 */

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

/* ---- frame_names.c ---- */

/*
 * Numbers of frame names, as fast as text can be read.
 *
 * The set of names in base/names.h is for all uses; this one is for the one
 * loop that sees every frame of a gigabyte of text.  A name is read in pieces
 * of 64 bytes, without a branch on its length: bytes after its end are read and
 * masked off.  Names hold no NUL, so equal pieces, padded with NULs, are equal
 * names.  That saves 3 to 9 % of the CPU time of a load of collapsed stacks.
 */

/* This many bytes after a name must be readable, whatever they are. */
enum { FRAME_NAMES_PADDING = 64 };

struct frame_names;

/*
 * For a profile that has neither names nor frames yet, which must outlive it.
 * Freed with frame_names_free; NULL with *error set.
 */
struct frame_names *frame_names_new(struct profile *profile,
                                    struct error *error);
void frame_names_free(struct frame_names *frames);

/*
 * The numbers of n names in a line, one after the other with a byte between
 * them: the first begins at line[begin], and the one after name i at
 * line[next[i]].  None has a NUL; an empty one is "[unknown]".  A new name is
 * entered into the profile both as a name and as a frame, under the same
 * number; a mangled one as demangle_and_add has it, once.
 */
int frame_names_add(struct frame_names *frames, const char *line, size_t begin,
                    const uint32_t *next, size_t n, uint32_t *numbers,
                    struct error *error);

/* ---- the header ---- */

/* Start with the process's texts NULL. */
struct collapsed_header {
	struct process process;		/* texts live in the profile */
	bool has_process;
};

/* Whether a line, without its end, is a comment. */
static inline bool
collapsed_is_comment(const char *line, size_t length)
{
	return length > 0 && line[0] == '#' &&
	       (length == 1 || line[1] == ' ');
}

/*
 * Reads one line, without its end, entering resources into the profile.  0,
 * or -1 with *error set to what was expected, without file and line.
 */
int collapsed_header_line(struct collapsed_header *header,
                          struct profile *profile, const char *line,
                          size_t length, struct error *error);

/*
 * Adds the header of a profile: a line for each resource, and for what is
 * known of the first process.  Returns the number of resources whose names
 * were changed, because they do not fit a line or occur twice.
 */
uint32_t collapsed_header_add(struct text_buffer *header,
                              const struct profile *profile);

#endif
