/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.h -- the bytes of one input, whatever it is packed in.
 *
 * A regular file is mapped; a pipe, standard input and compressed input
 * (gzip, zstd; told by their magic, not by name) are read block by block, so
 * that memory does not grow with what they unpack to.
 */
#ifndef CPPROF_FORMATS_SOURCE_H
#define CPPROF_FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct source;

/* Opens a file, or standard input for "-"; NULL with *error set. */
struct source *source_open(const char *path, struct error *error);

/* Bytes in memory, which stay the caller's, under a name for errors. */
struct source *source_of_memory(const char *name, const void *data,
                                size_t size, struct error *error);

void source_close(struct source *source);

const char *source_name(const struct source *source);

/*
 * The unread bytes at hand, at least `wanted` of them unless the input ends
 * before; *size says how many (0: the end).  The pointer is good until the
 * next call on this source.  A mapped file is at hand whole.  NULL with
 * *error set when reading or unpacking fails; damaged compressed input first
 * gives all that is whole, then the error.
 */
const char *source_peek(struct source *source, size_t wanted, size_t *size,
                        struct error *error);

/* Passes over n of the bytes at hand. */
void source_skip(struct source *source, size_t n);

/* Whether the input's own bytes ended where its packing did not. */
bool source_is_truncated(const struct source *source);

/* Bytes of the file read so far, and its size (0 unknown), for progress. */
uint64_t source_done(const struct source *source);
uint64_t source_size(const struct source *source);

#endif
