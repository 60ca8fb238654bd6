/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_unpacker.c -- records that perf packed with zstd. */
#include "src/formats/perf/perf_unpacker.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "src/base/memory.h"

enum { ROOM = 1 << 18 };	/* some of the largest records */

struct perf_unpacker {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	uint64_t offset;	/* of the record that is being unpacked */
	size_t begin, end;	/* unpacked and not yet given */
	unsigned char room[ROOM];
};

struct perf_unpacker *
perf_unpacker_new(struct error *error)
{
	struct perf_unpacker *unpacker = memory_array(1, sizeof *unpacker,
	                                              error);

	if (unpacker == NULL)
		return NULL;
	unpacker->stream = ZSTD_createDStream();
	if (unpacker->stream == NULL) {
		free(unpacker);
		error_out_of_memory(error);
		return NULL;
	}
	return unpacker;
}

void
perf_unpacker_free(struct perf_unpacker *unpacker)
{
	if (unpacker == NULL)
		return;
	ZSTD_freeDStream(unpacker->stream);
	free(unpacker);
}

void
perf_unpacker_feed(struct perf_unpacker *unpacker,
                   const struct perf_record *record)
{
	size_t skipped = PERF_HEADER_SIZE;

	/* The second version has the number of bytes in front. */
	if (record->type == PERF_COMPRESSED2)
		skipped += 8;
	if (skipped > record->size)
		skipped = record->size;
	unpacker->offset = record->offset;
	unpacker->in = (ZSTD_inBuffer){ record->bytes + skipped,
		record->size - skipped, 0 };
}

/* Unpacks some more behind what there is; whether anything came, or -1. */
static int
unpack_some(struct perf_unpacker *unpacker, struct error *error)
{
	size_t left = unpacker->end - unpacker->begin, status;
	ZSTD_outBuffer out = { unpacker->room, ROOM, left };

	memmove(unpacker->room, unpacker->room + unpacker->begin, left);
	unpacker->begin = 0;
	unpacker->end = left;
	status = ZSTD_decompressStream(unpacker->stream, &out, &unpacker->in);
	if (ZSTD_isError(status))
		return error_set(error, "expected packed records: %s",
		                 ZSTD_getErrorName(status));
	unpacker->end = out.pos;
	return unpacker->end > left;
}

int
perf_unpacker_next(struct perf_unpacker *unpacker, struct perf_record *record,
                   struct error *error)
{
	for (;;) {
		const unsigned char *bytes = unpacker->room + unpacker->begin;
		size_t left = unpacker->end - unpacker->begin;
		int got;

		if (left >= PERF_HEADER_SIZE) {
			*record = perf_record_at(bytes, unpacker->offset);
			if (record->size < PERF_HEADER_SIZE ||
			    record->type == PERF_COMPRESSED ||
			    record->type == PERF_COMPRESSED2)
				return error_set(error, "expected records in "
				                 "what was packed");
			if (record->size <= left) {
				unpacker->begin += record->size;
				return 1;
			}
		}
		got = unpack_some(unpacker, error);
		if (got <= 0)
			return got;
	}
}
