/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_unpacker.h -- records that perf packed with zstd.
 *
 * All such records of a file hold one stream, cut anywhere.
 */
#ifndef CPPROF_FORMATS_PERF_UNPACKER_H
#define CPPROF_FORMATS_PERF_UNPACKER_H

#include "src/base/error.h"
#include "src/formats/perf/perf_records.h"

struct perf_unpacker;

/* Freed with perf_unpacker_free; NULL with *error set. */
struct perf_unpacker *perf_unpacker_new(struct error *error);
void perf_unpacker_free(struct perf_unpacker *unpacker);

/*
 * Takes a PERF_COMPRESSED record, which must stay until its records have been
 * asked for.
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
