/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.h -- the bytes of one input, whatever it is packed in.
 *
 * Files, pipes and standard input are read block by block, and unpacked on the
 * way when they are gzip or zstd (known by their magic, not by name), so that
 * memory does not grow with the input.  Nothing is mapped: a file that another
 * process cuts short while it is read must not kill this one.
 */
#ifndef CPPROF_FORMATS_SOURCE_H
#define CPPROF_FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct source;

/* This many bytes after those at hand can be read, whatever they are. */
enum { SOURCE_PADDING = 64 };

/* Opens a file, or standard input for "-"; NULL with *error set. */
struct source *source_open(const char *path, struct error *error);

/*
 * Likewise, and hashes the bytes of the file as they are read, packed as they
 * are.  source_content: the hash of the whole file, for which what is left of
 * it is read; 0, or -1 with *error set.
 */
enum { CONTENT_HASH_SIZE = 16 };
struct source *source_open_hashed(const char *path, struct error *error);
int source_content(struct source *source,
                   unsigned char hash[CONTENT_HASH_SIZE],
                   struct error *error);

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
 * if it were cut; if it can be unpacked but its checksum is wrong, the error
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
bool source_is_truncated(const struct source *source);
const char *source_damage(const struct source *source);

/*
 * Whether that is because it unpacks to far more than packed profiles do
 * (unpacker.h), so that no more was unpacked.
 */
bool source_is_too_much(const struct source *source);

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
