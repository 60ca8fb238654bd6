/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.h -- a bounds-checked reader of binary input.
 *
 * Sticky: decode straight through and ask bytes_failed once per record.  The
 * reader keeps the offset of the first underflow, and reads zeros from then
 * on.
 */
#ifndef CPPROF_BASE_BYTES_H
#define CPPROF_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const unsigned char *data;
	size_t size;
	size_t offset;
	bool failed;
};

static inline struct bytes
bytes_of(const void *data, size_t size)
{
	return (struct bytes){ .data = data, .size = size };
}

/* The next n bytes; NULL, a sticky failure, when fewer are left. */
static inline const void *
bytes_take(struct bytes *bytes, size_t n)
{
	const void *taken;

	if (bytes->failed || n > bytes->size - bytes->offset) {
		bytes->failed = true;
		return NULL;
	}
	taken = bytes->data + bytes->offset;
	bytes->offset += n;
	return taken;
}

/* A little-endian number of n <= 8 bytes. */
static inline uint64_t
bytes_number(struct bytes *bytes, size_t n)
{
	const unsigned char *taken = bytes_take(bytes, n);
	uint64_t number = 0;

	if (taken != NULL)
		memcpy(&number, taken, n);
	return le64toh(number);
}

static inline bool
bytes_failed(const struct bytes *bytes)
{
	return bytes->failed;
}

#endif
