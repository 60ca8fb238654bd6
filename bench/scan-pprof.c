/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scan-pprof.c -- how fast this machine can read every number of a pprof file.
 *
 * scan-pprof FILE	unpack it with zlib, divide it into messages, decode the
 *			numbers of each sample and hash its stack as a whole,
 *			in one thread: the least that any answer needs
 *
 * Prints seconds of the processor.  No table of stacks, no tree and no names
 * are made, and nothing is checked that does not have to be: the file must be a
 * good one.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { PACKED_SIZE = 64 << 10, BLOCK_SIZE = 256 << 10, ROOM = 16 << 20 };
enum { PROFILE_SAMPLE = 2, SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2 };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* A part of a message. */
struct field {
	uint32_t number, wire;
	uint64_t value;			/* of bytes: how many */
	const unsigned char *bytes;
};

struct sums {
	uint64_t n_samples, n_ids, values, hashes;
};

static const unsigned char *
take_number(const unsigned char *at, const unsigned char *end,
            uint64_t *number)
{
	*number = 0;
	for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
		*number |= (uint64_t)(*at & 0x7f) << shift;
		if (*at++ < 0x80)
			return at;
	}
	return NULL;
}

/* Where the next part begins; NULL: this one is not whole. */
static const unsigned char *
take_field(const unsigned char *at, const unsigned char *end,
           struct field *field)
{
	uint64_t tag;

	at = take_number(at, end, &tag);
	if (at == NULL)
		return NULL;
	field->number = (uint32_t)(tag >> 3);
	field->wire = tag & 7;
	at = take_number(at, end, &field->value);
	field->bytes = at;
	if (at == NULL || field->wire == WIRE_VARINT)
		return at;
	if (field->wire != WIRE_BYTES)
		errx(1, "a field that profiles do not have");
	return field->value <= (uint64_t)(end - at) ? at + field->value : NULL;
}

static uint64_t
hash_id(uint64_t hash, uint64_t id)
{
	hash = (hash ^ id) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static void
read_sample(const struct field *sample, struct sums *sums)
{
	const unsigned char *at = sample->bytes;
	const unsigned char *end = at + sample->value;
	uint64_t hash = 0, number;
	struct field field;

	while (at < end && (at = take_field(at, end, &field)) != NULL) {
		const bool is_id = field.number == SAMPLE_LOCATION_ID;
		const unsigned char *part = field.bytes;

		if (field.number > SAMPLE_VALUE)
			continue;
		if (field.wire == WIRE_VARINT) {
			hash = is_id ? hash_id(hash, field.value) : hash;
			sums->n_ids += is_id;
			sums->values += is_id ? 0 : field.value;
			continue;
		}
		while (part < at &&
		       (part = take_number(part, at, &number)) != NULL) {
			hash = is_id ? hash_id(hash, number) : hash;
			sums->n_ids += is_id;
			sums->values += is_id ? 0 : number;
		}
	}
	sums->hashes += hash >> 60;
	sums->n_samples++;
}

/* Reads the whole messages in bytes[size]; how many bytes they take. */
static size_t
read_messages(const unsigned char *bytes, size_t size, struct sums *sums)
{
	const unsigned char *at = bytes, *next;
	struct field field;

	while ((next = take_field(at, bytes + size, &field)) != NULL) {
		if (field.number == PROFILE_SAMPLE)
			read_sample(&field, sums);
		at = next;
	}
	return (size_t)(at - bytes);
}

/* Unpacks a block after bytes[n]; how many bytes there are then. */
static size_t
unpack(z_stream *stream, FILE *file, unsigned char *bytes, size_t n)
{
	static unsigned char packed[PACKED_SIZE];
	int status = Z_OK;

	if (n + BLOCK_SIZE > ROOM)
		errx(1, "a message of more than %d bytes", ROOM - BLOCK_SIZE);
	stream->next_out = bytes + n;
	stream->avail_out = BLOCK_SIZE;
	while (stream->avail_out > 0 && status == Z_OK) {
		if (stream->avail_in == 0) {
			stream->next_in = packed;
			stream->avail_in = (uInt)fread(packed, 1, PACKED_SIZE,
			                               file);
		}
		if (stream->avail_in == 0)
			break;
		status = inflate(stream, Z_NO_FLUSH);
		if (status == Z_STREAM_END && inflateReset(stream) == Z_OK)
			status = Z_OK;
	}
	if (status != Z_OK)
		errx(1, "not packed by gzip");
	return (size_t)(stream->next_out - bytes);
}

int
main(int argc, char **argv)
{
	unsigned char *bytes = malloc(ROOM);
	z_stream stream = { 0 };
	struct sums sums = { 0 };
	size_t n = 0, before;
	FILE *file;

	if (argc != 2)
		errx(2, "usage: scan-pprof FILE");
	file = fopen(argv[1], "rb");
	if (file == NULL)
		err(1, "%s", argv[1]);
	if (bytes == NULL || inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
		errx(1, "no memory");
	while ((before = n, n = unpack(&stream, file, bytes, n)) > before) {
		size_t taken = read_messages(bytes, n, &sums);

		memmove(bytes, bytes + taken, n - taken);
		n -= taken;
	}
	if (n > 0)
		errx(1, "%s: cut off", argv[1]);
	inflateEnd(&stream);
	fclose(file);
	free(bytes);
	printf("%.3f s (%llu samples, %llu ids, values %llu, hashes %llu)\n",
	       (double)clock() / CLOCKS_PER_SEC,
	       (unsigned long long)sums.n_samples,
	       (unsigned long long)sums.n_ids,
	       (unsigned long long)sums.values,
	       (unsigned long long)sums.hashes);
	return 0;
}
