/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.h -- the bytes of an input, whatever it is packed with. */
#ifndef CPPROF_FORMATS_SOURCE_H
#define CPPROF_FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

/* ---- unpacker.c ---- */

/*
 * Gzip, zstd and UTF-16, a piece at a time.
 *
 * Several members or frames, one after the other, are one text, as for their
 * own tools.  UTF-16, which its byte-order mark shows, is what PowerShell's `>`
 * makes of text; it may be inside the others.
 */

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

/* ---- source.c ---- */

/*
 * The bytes of one input, whatever it is packed in.
 *
 * Files, pipes and standard input are read block by block, and unpacked on the
 * way when they are gzip or zstd (known by their magic, not by name), so that
 * memory does not grow with the input.  Nothing is mapped: a file that another
 * process cuts short while it is read must not kill this one.
 */

struct source;

/* This many bytes after those at hand can be read, whatever they are. */
enum { SOURCE_PADDING = 64 };

/* Opens a file, or standard input for "-"; NULL with *error set. */
struct source *source_open(const char *path, struct error *error);

/*
 * Likewise, and hashes the bytes as they are read, unpacked if they are packed.
 * source_content: the hash of the whole file, for which what is left of it is
 * read.
 */
enum { CONTENT_HASH_SIZE = 16 };
struct source *source_open_hashed(const char *path, struct error *error);
int source_content(struct source *source,
                   unsigned char hash[CONTENT_HASH_SIZE],
                   struct error *error);

/* Such a hash as the identity of what has that content: in hexadecimal. */
enum { CONTENT_ID_SIZE = 2 * CONTENT_HASH_SIZE + 1 };
void source_content_id(const unsigned char hash[CONTENT_HASH_SIZE],
                       char id[CONTENT_ID_SIZE]);

/*
 * Bytes in memory, perhaps packed, under a name for errors.  They stay the
 * caller's and must live as long as the source.
 */
struct source *source_of_memory(const char *name, const void *data,
                                size_t size, struct error *error);

void source_close(struct source *source);

/* The path; "standard input" for "-". */
const char *source_name(const struct source *source);

/*
 * The unread bytes at hand, at least `wanted` of them unless the input ends
 * before; *size says how many (0: the end).  SIZE_MAX wants the whole input.
 * The pointer is good until the next call on this source.  NULL with *error set
 * when reading or unpacking fails.  Packed input that is damaged ends there, as
 * if it were cut short; if only its checksum is wrong, the error
 * comes when all has been skipped.  Memory grows with what arrives, not with
 * what is wanted.
 */
const char *source_peek(struct source *source, size_t wanted, size_t *size,
                        struct error *error);

/* Passes over n of the bytes at hand. */
void source_skip(struct source *source, size_t n);

/*
 * Whether the input ended before its packing did, or is damaged inside it; what
 * is wrong with the packing, or NULL.  Known at the end.
 */
bool source_is_cut_short(const struct source *source);
const char *source_damage(const struct source *source);

/*
 * Whether that is because it unpacks to far more than packed profiles do
 * (UNPACKED_RATIO), so that no more was unpacked.
 */
bool source_is_too_much(const struct source *source);

/*
 * Says that n of the unpacked bytes are no work, and do not count for that
 * limit: such as copies of a stack, which are hardly looked at and pack a
 * thousand times.  The caller keeps them from taking memory.
 */
void source_discount(struct source *source, uint64_t n);

/* Whether bytes may be wrong because the packing is damaged further on. */
bool source_is_packed(const struct source *source);

/*
 * How much a profile may become by what it says: real stacks share frames, and
 * compress, far less than this.  So a small file takes little time and memory,
 * whatever it holds; a large file may become large.
 *
 * source_most_nodes: nodes of its tree of stacks, by the bytes of the file read
 * so far, packed as they are.  source_most_frames: frames of all its stacks, by
 * the unpacked bytes.
 */
uint64_t source_most_nodes(const struct source *source);
uint64_t source_most_frames(const struct source *source);

/* The end of a message about a file that has more. */
#define SOURCE_UNPACK_FIRST \
	"more than real profiles of this size; if the file is packed, unpack " \
	"it to open it anyway"

/* Bytes of the file read so far, and its size (0 unknown), for progress. */
uint64_t source_done(const struct source *source);
uint64_t source_size(const struct source *source);

#endif
