/* SPDX-License-Identifier: MIT */
/* read.h -- bounded reading of DWARF's little-endian numbers.
 *
 * Sticky: decode straight through and check `failed` once.  The first read
 * beyond the end sets it, and all later reads return zero.  Async-signal-safe.
 *
 * Source: DWARF 5, 7.6.
 */
#ifndef CPPROF_DWARF_READ_H
#define CPPROF_DWARF_READ_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes that remain to be read; they belong to the caller. */
struct dwarf_input {
	const unsigned char *at, *end;
	bool failed;
};

/* The next n bytes; eight zeros if fewer remain. */
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

/* A number of 1, 2, 4 or 8 bytes. */
static inline uint64_t
dwarf_take_unsigned(struct dwarf_input *in, size_t size)
{
	const unsigned char *at = dwarf_take(in, size);
	uint64_t eight;
	uint32_t four;
	uint16_t two;

	switch (size) {
	case 1:
		return *at;
	case 2:
		memcpy(&two, at, 2);
		return le16toh(two);
	case 4:
		memcpy(&four, at, 4);
		return le32toh(four);
	}
	memcpy(&eight, at, 8);
	return le64toh(eight);
}

static inline int64_t
dwarf_take_signed(struct dwarf_input *in, size_t size)
{
	const unsigned unused = 64 - 8 * (unsigned)size;

	return (int64_t)(dwarf_take_unsigned(in, size) << unused) >> unused;
}

/*
 * Reads a LEB128 number of up to 10 bytes, and stores its number of bits in
 * *bits.  Returns its end, or NULL if it does not end.  Not inline, and without
 * the input as an argument, so that callers keep that in registers: nearly all
 * numbers have one byte.
 */
static __attribute__((noinline, unused)) const unsigned char *
dwarf_read_leb128(const unsigned char *at, const unsigned char *end,
    uint64_t *value, unsigned *bits)
{
	*value = 0;
	for (*bits = 0; *bits < 70 && at < end; at++) {
		*value |= (uint64_t)(*at & 0x7f) << *bits;
		*bits += 7;
		if ((*at & 0x80) == 0)
			return at + 1;
	}
	return NULL;
}

static inline uint64_t
dwarf_take_uleb(struct dwarf_input *in)
{
	const unsigned char *end;
	uint64_t value;
	unsigned bits;

	if (in->failed)
		return 0;
	if (in->at < in->end && *in->at < 0x80)
		return *in->at++;
	end = dwarf_read_leb128(in->at, in->end, &value, &bits);
	if (end == NULL) {
		in->failed = true;
		return 0;
	}
	in->at = end;
	return value;
}

static inline int64_t
dwarf_take_sleb(struct dwarf_input *in)
{
	const unsigned char *end;
	uint64_t value;
	unsigned bits;

	if (in->failed)
		return 0;
	end = dwarf_read_leb128(in->at, in->end, &value, &bits);
	if (end == NULL) {
		in->failed = true;
		return 0;
	}
	in->at = end;
	if (bits < 64 && (value >> (bits - 1) & 1) != 0)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

#endif
