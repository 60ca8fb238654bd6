/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unpacker.h -- gzip, zstd and UTF-16, a piece at a time.
 *
 * Several members or frames, one after the other, are one text, as for their
 * own tools.  UTF-16, which its byte-order mark shows, is what PowerShell's `>`
 * makes of text; it may be inside the others.
 */
#ifndef CPPROF_FORMATS_UNPACKER_H
#define CPPROF_FORMATS_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

enum { UNPACKER_MAGIC_SIZE = 4 };	/* bytes that show a packing */

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
 * How large a packed file may become.  Real profiles are 10 to 60 times larger
 * than packed, a hostile file 1,000 times (gzip) or 30,000 times (zstd).
 */
enum { UNPACKED_ALWAYS = 16 << 20, UNPACKED_RATIO = 250 };

static inline bool
unpacked_is_too_much(uint64_t packed, uint64_t unpacked)
{
	return unpacked > UNPACKED_ALWAYS &&
	       unpacked - UNPACKED_ALWAYS > packed * UNPACKED_RATIO;
}

/*
 * How large packed[n], the whole input, becomes if it is what can be unpacked
 * in one step: a single member of gzip, by what its last bytes say.  0: it is
 * not.
 */
size_t unpacker_whole_size(const struct unpacker *unpacker,
                           const char *packed, size_t n);

/*
 * Unpacks it to to[size], twice as fast as unpacker_take.  False: it is
 * something else or damaged, and unpacker_take, which has not been called, must
 * be.
 */
bool unpacker_take_whole(const struct unpacker *unpacker, const char *packed,
                         size_t n, char *to, size_t size);

struct unpacker_damage {
	const char *what;	/* NULL: none; lives as long as the unpacker */
	bool is_inside;		/* what came before it is whole */
	bool is_out_of_memory;	/* nothing is wrong with the data */
};

/*
 * Unpacks some of the *n bytes at *packed to to[room], which has at least 64
 * bytes; *packed and *n become the rest.  Returns how many bytes came, perhaps
 * none although there are more.  Sets *damage if there is some.
 */
size_t unpacker_take(struct unpacker *unpacker, const char **packed,
                     size_t *n, char *to, size_t room,
                     struct unpacker_damage *damage);

#endif
