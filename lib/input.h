/* SPDX-License-Identifier: MIT */
/* input.h -- bounded reading of DWARF's numbers.
 *
 * Async-signal-safe; an input belongs to who made it.
 */
#ifndef CPPROF_INPUT_H
#define CPPROF_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes still to be read; the first read beyond the end makes it bad. */
struct input {
	const unsigned char *at, *end;
	bool bad;
};

static inline const unsigned char *
take(struct input *in, size_t size)
{
	static const unsigned char zeros[8];
	const unsigned char *at = in->at;

	if (in->bad || (size_t)(in->end - in->at) < size) {
		in->bad = true;
		return zeros;
	}
	in->at += size;
	return at;
}

static inline uint64_t
take_unsigned(struct input *in, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, take(in, size), size);	/* little-endian */
	return value;
}

static inline int64_t
take_signed(struct input *in, size_t size)
{
	unsigned shift = 64 - 8 * (unsigned)size;

	return (int64_t)(take_unsigned(in, size) << shift) >> shift;
}

static inline uint64_t
take_uleb(struct input *in)
{
	uint64_t value = 0;
	unsigned shift = 0;
	unsigned char byte;

	if (in->at < in->end && *in->at < 0x80 && !in->bad)
		return *in->at++;
	do {
		byte = *take(in, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline int64_t
take_sleb(struct input *in)
{
	uint64_t value = 0;
	unsigned shift = 0;
	unsigned char byte;

	do {
		byte = *take(in, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if ((byte & 0x40) != 0 && shift < 64)
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

#endif
