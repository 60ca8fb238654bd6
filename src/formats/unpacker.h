/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unpacker.h -- gzip, zstd and UTF-16, a piece at a time.
 *
 * Several members or frames behind each other are one, as their tools have it.
 * UTF-16, told by its byte-order mark, is what PowerShell's `>` makes of text; it
 * may be inside the others.
 */
#ifndef CPPROF_FORMATS_UNPACKER_H
#define CPPROF_FORMATS_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

enum { UNPACKER_MAGIC_SIZE = 4 };	/* bytes that tell a packing */

struct unpacker;

/*
 * For data that begin with head[n]; NULL where they are not packed, and with
 * *error set where memory is short.  Freed with unpacker_free.
 */
struct unpacker *unpacker_new(const char *head, size_t n,
                              struct error *error);
void unpacker_free(struct unpacker *unpacker);

/* Whether a member or frame has begun and not ended. */
bool unpacker_is_inside(const struct unpacker *unpacker);

/*
 * What a packed file may become: what real profiles pack to is 10 to 60 times
 * smaller, and a file that was made for it 1,000 times (gzip) or 30,000 (zstd).
 */
enum { UNPACKED_ALWAYS = 16 << 20, UNPACKED_RATIO = 250 };

static inline bool
unpacked_is_too_much(uint64_t packed, uint64_t unpacked)
{
	return unpacked > UNPACKED_ALWAYS &&
	       unpacked - UNPACKED_ALWAYS > packed * UNPACKED_RATIO;
}

struct unpacker_damage {
	const char *what;	/* NULL: none; lives as long as the unpacker */
	bool is_inside;		/* what came before it is whole */
};

/*
 * Unpacks some of the *n bytes at *packed, of which both then tell the rest, to
 * to[room], of at least 64 bytes; how much came, perhaps nothing though there is
 * more.  Sets *damage where there is some.
 */
size_t unpacker_take(struct unpacker *unpacker, const char **packed,
                     size_t *n, char *to, size_t room,
                     struct unpacker_damage *damage);

#endif
