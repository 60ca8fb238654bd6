/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_unpacker.h -- records that perf compressed with zstd.
 *
 * All compressed records of a file contain one stream, which is cut anywhere.
 * Since Linux 6.16 they are of type PERF_COMPRESSED2 and have a size of their
 * part, so that zeros up to a multiple of 8 can follow it.  When perf
 * compresses more than 65,519 bytes at once, it writes the rest with a second
 * header; but the first header has the size of everything in its 16 bits, and
 * no zeros follow.  With --aio perf writes no such size and no zeros.
 * Source: linux 6.19, tools/perf/builtin-record.c, record__pushfn, and
 * tools/perf/util/zstd.c.
 */
#ifndef CPPROF_FORMATS_PERF_UNPACKER_H
#define CPPROF_FORMATS_PERF_UNPACKER_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_records.h"

/* The head of a PERF_COMPRESSED2 record, with the size of its part. */
enum { PERF_PACKED_HEADER_SIZE = 16 };

struct perf_unpacker;

/* Freed with perf_unpacker_free; NULL with *error set. */
struct perf_unpacker *perf_unpacker_new(struct error *error);
void perf_unpacker_free(struct perf_unpacker *unpacker);

/*
 * How many bytes a PERF_COMPRESSED2 record has in the file, from its first
 * PERF_PACKED_HEADER_SIZE bytes.
 */
uint32_t perf_unpacker_size(const struct perf_record *record);

/*
 * Takes a PERF_COMPRESSED or PERF_COMPRESSED2 record, which must stay in place
 * until perf_unpacker_next has returned its last record.
 */
void perf_unpacker_feed(struct perf_unpacker *unpacker,
                        const struct perf_record *record);

/*
 * The next complete record, valid until the next call: 1; 0: there is none; or
 * -1 with *error set to what is wrong.
 */
int perf_unpacker_next(struct perf_unpacker *unpacker,
                       struct perf_record *record, struct error *error);

#endif
