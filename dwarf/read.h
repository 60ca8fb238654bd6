/* SPDX-License-Identifier: MIT */
/* read.h -- bounded reading of DWARF's numbers, which are little-endian here.
 *
 * Sticky: decode straight through and ask `failed` once; the first read beyond
 * the end sets it, and whatever is read from then on is zero.  Async-signal-safe.
 *
 * Source: DWARF 5, 7.6.
 */
#ifndef CPPROF_DWARF_READ_H
#define CPPROF_DWARF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes still to be read; they belong to the caller. */
struct dwarf_input {
	const unsigned char *at, *end;
	bool failed;
};

/* The next bytes; where so many are not left, eight zeros. */
static inline const unsigned char *
dwarf_take(struct dwarf_input *in, uint64_t size)
{
	static const unsigned char zeros[8];
	const unsigned char *at = in->at;

	if (in->failed || (uint64_t)(in->end - at) < size) {
		in->failed = true;
		return zeros;
	}
	in->at += size;
	return at;
}

/* A number of size <= 8 bytes. */
static inline uint64_t
dwarf_take_unsigned(struct dwarf_input *in, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, dwarf_take(in, size), size);
	return value;
}

static inline int64_t
dwarf_take_signed(struct dwarf_input *in, size_t size)
{
	const unsigned unused = 64 - 8 * (unsigned)size;

	return (int64_t)(dwarf_take_unsigned(in, size) << unused) >> unused;
}

enum { DWARF_LEB128_BITS = 70 };	/* in at most 10 bytes; more fail */

static inline uint64_t
dwarf_take_uleb(struct dwarf_input *in)
{
	uint64_t value = 0;
	unsigned shift;

	if (in->at < in->end && *in->at < 0x80 && !in->failed)
		return *in->at++;
	for (shift = 0; shift < DWARF_LEB128_BITS; shift += 7) {
		const unsigned char byte = *dwarf_take(in, 1);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return value;
	}
	in->failed = true;
	return 0;
}

static inline int64_t
dwarf_take_sleb(struct dwarf_input *in)
{
	uint64_t value = 0;
	unsigned shift;

	for (shift = 0; shift < DWARF_LEB128_BITS; shift += 7) {
		const unsigned char byte = *dwarf_take(in, 1);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if ((byte & 0x80) != 0)
			continue;
		if ((byte & 0x40) != 0 && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		return (int64_t)value;
	}
	in->failed = true;
	return 0;
}

#endif
