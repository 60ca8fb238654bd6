/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_unpacker.c -- records that perf compressed with zstd. */
#include "src/formats/perf/perf_data.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/formats/source.h"

enum {
	ROOM = 1 << 18,			/* enough for the largest records */
	PACKED_MAX = 1 << 28,		/* bytes that perf packs at once */
	PIECE_MAX = 65519,		/* of these, with one header */
};

struct perf_unpacker {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;	/* a piece of the record */
	struct bytes rest;	/* what follows it */
	uint64_t n_packed, n_unpacked;	/* bytes of all records so far */
	uint64_t offset;	/* of the record that is being unpacked */
	size_t begin, end;	/* unpacked and not yet returned */
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

/* The size of n bytes with a header before and zeros after them. */
static uint64_t
padded(uint64_t n)
{
	return (PERF_PACKED_HEADER_SIZE + n + 7) & ~(uint64_t)7;
}

/* The size that a PERF_COMPRESSED2 record has of its part. */
static uint64_t
packed_size(const struct perf_record *record)
{
	struct bytes in = bytes_of(record->bytes, PERF_PACKED_HEADER_SIZE);

	bytes_take(&in, PERF_HEADER_SIZE);
	return bytes_number(&in, 8);
}

uint32_t
perf_unpacker_size(const struct perf_record *record)
{
	uint64_t n = packed_size(record);

	return n <= PACKED_MAX && padded(n) > UINT16_MAX &&
	    (uint16_t)padded(n) == record->size ?
	    (uint32_t)(PERF_PACKED_HEADER_SIZE + n) : record->size;
}

void
perf_unpacker_feed(struct perf_unpacker *unpacker,
                   const struct perf_record *record)
{
	size_t begin = PERF_HEADER_SIZE, end = record->size;

	if (record->type == PERF_COMPRESSED2)
		begin = PERF_PACKED_HEADER_SIZE;
	if (begin > end) {
		begin = end;
	} else if (record->type == PERF_COMPRESSED2) {
		uint64_t n = packed_size(record);

		if (n <= end - begin && padded(n) == end)
			end = begin + (size_t)n;
	}
	unpacker->offset = record->offset;
	unpacker->in = (ZSTD_inBuffer){ "", 0, 0 };
	unpacker->rest = bytes_of(record->bytes + begin, end - begin);
}

/* Goes on to the next piece: 1; 0: there is none; or -1 with *error set. */
static int
next_piece(struct perf_unpacker *unpacker, struct error *error)
{
	struct bytes *rest = &unpacker->rest;
	size_t size = rest->size - rest->offset;

	if (size == 0)
		return 0;
	if (rest->offset > 0) {		/* after a first piece */
		const unsigned char *bytes = bytes_take(rest,
		    PERF_PACKED_HEADER_SIZE);
		struct perf_record record = { 0 };

		if (bytes != NULL)
			record = perf_record_at(bytes, 0);
		if (record.type != PERF_COMPRESSED2 ||
		    record.size < PERF_PACKED_HEADER_SIZE)
			return error_set(error, "expected a second header in "
			                 "what was packed");
		size = record.size - PERF_PACKED_HEADER_SIZE;
	} else if (size > PIECE_MAX) {
		size = PIECE_MAX;
	}
	unpacker->in = (ZSTD_inBuffer){ bytes_take(rest, size), size, 0 };
	if (bytes_failed(rest))
		return error_set(error, "expected %zu packed bytes", size);
	return 1;
}

/* Unpacks some more: 1; 0: nothing came; or -1 with *error set. */
static int
perf_unpacker_unpack_some(struct perf_unpacker *unpacker, struct error *error)
{
	size_t left = unpacker->end - unpacker->begin, status;
	size_t before = unpacker->in.pos;
	ZSTD_outBuffer out = { unpacker->room, ROOM, left };

	memmove(unpacker->room, unpacker->room + unpacker->begin, left);
	unpacker->begin = 0;
	unpacker->end = left;
	status = ZSTD_decompressStream(unpacker->stream, &out, &unpacker->in);
	if (ZSTD_isError(status))
		return error_set(error, "expected packed records: %s",
		                 ZSTD_getErrorName(status));
	unpacker->n_packed += unpacker->in.pos - before;
	unpacker->n_unpacked += out.pos - left;
	if (unpacked_is_too_much(unpacker->n_packed, unpacker->n_unpacked))
		return error_set(error, "packed records take more than %d "
		                 "times their size", UNPACKED_RATIO);
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
		got = perf_unpacker_unpack_some(unpacker, error);
		if (got == 0)
			got = next_piece(unpacker, error);
		if (got <= 0)
			return got;
	}
}
