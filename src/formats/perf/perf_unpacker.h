/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_unpacker.h -- records that perf packed with zstd.
 *
 * All such records of a file hold one stream, cut anywhere.  Those of type
 * PERF_COMPRESSED2, since Linux 6.16, say how much of it they hold, so that
 * zeros up to a multiple of 8 can follow.  When more than 65,519 bytes are
 * packed at once, perf writes the rest with a header of its own, but the first
 * header has the size of all in its 16 bits, and no zeros follow.  With --aio
 * perf does not say how much there is, and no zeros follow.
 * Source: linux 6.19, tools/perf/builtin-record.c, record__pushfn, and
 * tools/perf/util/zstd.c.
 */
#ifndef CPPROF_FORMATS_PERF_UNPACKER_H
#define CPPROF_FORMATS_PERF_UNPACKER_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_records.h"

/* How much of a PERF_COMPRESSED2 record says how large it is. */
enum { PERF_PACKED_HEADER_SIZE = 16 };

struct perf_unpacker;

/* Freed with perf_unpacker_free; NULL with *error set. */
struct perf_unpacker *perf_unpacker_new(struct error *error);
void perf_unpacker_free(struct perf_unpacker *unpacker);

/*
 * How many bytes a PERF_COMPRESSED2 record has in the file, of which
 * PERF_PACKED_HEADER_SIZE are there.
 */
uint32_t perf_unpacker_size(const struct perf_record *record);

/*
 * Takes a PERF_COMPRESSED or PERF_COMPRESSED2 record, which must stay until its
 * records have been asked for.
 */
void perf_unpacker_feed(struct perf_unpacker *unpacker,
                        const struct perf_record *record);

/*
 * The next record that is whole, good until the next call: 1, 0 where there is
 * none any more, or -1 with *error set to what is wrong.
 */
int perf_unpacker_next(struct perf_unpacker *unpacker,
                       struct perf_record *record, struct error *error);

#endif
