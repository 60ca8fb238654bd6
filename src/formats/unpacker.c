/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unpacker.c -- gzip, zstd and UTF-16, a piece at a time. */
#include "src/formats/source.h"

#include <endian.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "src/base/memory.h"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD, PACKING_UTF16 };

/* What of UTF-16 waits for more: a byte, and the first half of a pair. */
struct utf16 {
	bool is_little, has_byte;
	unsigned char byte;
	uint32_t high;		/* 0: none */
};

/* What is inside gzip or zstd, by its first bytes. */
enum inside { INSIDE_UNKNOWN, INSIDE_PLAIN, INSIDE_UTF16 };

enum { MARK_SIZE = 2, UNITS_SIZE = 64 << 10 };

struct unpacker {
	enum packing packing;
	enum inside inside;
	char mark[MARK_SIZE];	/* its first bytes, while it is not known */
	size_t n_mark;
	char *units;		/* [UNITS_SIZE], of UTF-16 inside */
	z_stream gzip;
	ZSTD_DStream *zstd;
	struct utf16 utf16;
	bool is_inside;
};

static bool
is_utf16(const unsigned char *head, size_t n)
{
	return n >= 2 && ((head[0] == 0xff && head[1] == 0xfe) ||
	                  (head[0] == 0xfe && head[1] == 0xff));
}

static enum packing
unpacker_find_packing(const unsigned char *head, size_t n)
{
	if (n >= 2 && head[0] == 0x1f && head[1] == 0x8b)
		return PACKING_GZIP;
	/* zstd's magic, or one of those of its skippable frames. */
	if (n >= 4 && (head[0] == 0x28 || (head[0] & 0xf0) == 0x50) &&
	    head[1] == (head[0] == 0x28 ? 0xb5 : 0x2a) &&
	    head[2] == (head[0] == 0x28 ? 0x2f : 0x4d) &&
	    head[3] == (head[0] == 0x28 ? 0xfd : 0x18))
		return PACKING_ZSTD;
	return is_utf16(head, n) ? PACKING_UTF16 : PACKING_NONE;
}

static bool
unpacker_start(struct unpacker *unpacker, const char *head)
{
	if (unpacker->packing == PACKING_GZIP)
		return inflateInit2(&unpacker->gzip, 16 + MAX_WBITS) == Z_OK;
	unpacker->utf16.is_little = head[0] == '\xff';
	if (unpacker->packing == PACKING_UTF16)
		return true;
	unpacker->zstd = ZSTD_createDStream();
	return unpacker->zstd != NULL;
}

struct unpacker *
unpacker_new(const char *head, size_t n, struct error *error)
{
	enum packing packing = unpacker_find_packing((const unsigned char *)
	                                                 head,
	                                             n);
	struct unpacker *unpacker;

	if (packing == PACKING_NONE)
		return NULL;
	unpacker = memory_array(1, sizeof *unpacker, error);
	if (unpacker == NULL)
		return NULL;
	unpacker->packing = packing;
	if (!unpacker_start(unpacker, head)) {
		error_out_of_memory(error);
		free(unpacker);
		return NULL;
	}
	return unpacker;
}

void
unpacker_free(struct unpacker *unpacker)
{
	if (unpacker == NULL)
		return;
	if (unpacker->packing == PACKING_GZIP)
		inflateEnd(&unpacker->gzip);
	ZSTD_freeDStream(unpacker->zstd);
	free(unpacker->units);
	free(unpacker);
}

bool
unpacker_is_inside(const struct unpacker *unpacker)
{
	return unpacker->is_inside || unpacker->utf16.has_byte ||
	       unpacker->utf16.high != 0;
}

size_t
unpacker_whole_size(const struct unpacker *unpacker, const char *packed,
                    size_t n)
{
	uint32_t size;

	if (unpacker->packing != PACKING_GZIP || n < sizeof size)
		return 0;
	memcpy(&size, packed + n - sizeof size, sizeof size);
	return le32toh(size);
}

bool
unpacker_take_whole(const struct unpacker *unpacker, const char *packed,
                    size_t n, char *to, size_t size)
{
	struct libdeflate_decompressor *gzip;
	size_t taken = 0;
	bool is_whole;

	if (unpacker->packing != PACKING_GZIP)
		return false;
	gzip = libdeflate_alloc_decompressor();
	/* Fewer bytes than `size` are refused, too. */
	is_whole = gzip != NULL &&
	    libdeflate_gzip_decompress_ex(gzip, packed, n, to, size, &taken,
	                                  NULL) == LIBDEFLATE_SUCCESS &&
	    taken == n && !is_utf16((const unsigned char *)to, size);
	libdeflate_free_decompressor(gzip);
	return is_whole;
}

static size_t
take_gzip(struct unpacker *unpacker, const char **packed, size_t *n, char *to,
          size_t room, struct unpacker_damage *damage)
{
	z_stream *gzip = &unpacker->gzip;
	int status;

	/* Some tools pad the last member with zeros. */
	while (!unpacker->is_inside && *n > 0 && **packed == '\0') {
		++*packed;
		if (--*n == 0)
			return 0;
	}
	unpacker->is_inside = true;
	gzip->next_in = (Bytef *)(uintptr_t)*packed;
	gzip->avail_in = *n < UINT32_MAX ? (uInt)*n : UINT32_MAX;
	gzip->next_out = (Bytef *)to;
	gzip->avail_out = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
	status = inflate(gzip, Z_NO_FLUSH);
	*n -= (size_t)((const char *)gzip->next_in - *packed);
	*packed = (const char *)gzip->next_in;
	if (status == Z_STREAM_END) {
		unpacker->is_inside = false;
		inflateReset(gzip);
	} else if (status != Z_OK && status != Z_BUF_ERROR) {
		const char *what = gzip->msg != NULL ? gzip->msg : "gzip";

		*damage = (struct unpacker_damage){
			.what = what,
			.is_inside = gzip->total_out > 0 &&
			    strcmp(what, "incorrect data check") != 0 &&
			    strcmp(what, "incorrect length check") != 0,
		};
	}
	return (size_t)((char *)gzip->next_out - to);
}

static size_t
take_zstd(struct unpacker *unpacker, const char **packed, size_t *n, char *to,
          size_t room, struct unpacker_damage *damage)
{
	ZSTD_inBuffer in = { *packed, *n, 0 };
	ZSTD_outBuffer out = { to, room, 0 };
	size_t status = ZSTD_decompressStream(unpacker->zstd, &out, &in);

	*packed += in.pos;
	*n -= in.pos;
	if (ZSTD_isError(status)) {
		ZSTD_ErrorCode code = ZSTD_getErrorCode(status);

		*damage = (struct unpacker_damage){
			.what = ZSTD_getErrorName(status),
			.is_inside = code != ZSTD_error_checksum_wrong &&
			    code != ZSTD_error_prefix_unknown,
		};
	} else {
		unpacker->is_inside = status != 0;
	}
	return out.pos;
}

enum { UTF8_MAX = 4, NO_CHARACTER = 0xfffd, BYTE_ORDER_MARK = 0xfeff };

/* A character as UTF-8 to to[UTF8_MAX]; how many bytes. */
static size_t
put_utf8(char *to, uint32_t character)
{
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = character < 0x80 ? 1 : character < 0x800 ? 2 :
	           character < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--) {
		to[i] = (char)(0x80 | (character & 0x3f));
		character >>= 6;
	}
	to[0] = (char)(first[n] | character);
	return n;
}

/* Likewise a unit of 16 bits, which may be half a character, or no text. */
static size_t
put_unit(struct utf16 *utf16, char *to, uint32_t unit)
{
	uint32_t high = utf16->high;

	utf16->high = 0;
	if (unit >> 10 == 0xd800 >> 10) {
		utf16->high = unit;
		return high == 0 ? 0 : put_utf8(to, NO_CHARACTER);
	}
	if (unit >> 10 == 0xdc00 >> 10)
		return put_utf8(to, high == 0 ? NO_CHARACTER : 0x10000 +
		                ((high & 0x3ff) << 10 | (unit & 0x3ff)));
	if (unit == BYTE_ORDER_MARK)
		return 0;
	if (high == 0)
		return put_utf8(to, unit);
	to += put_utf8(to, NO_CHARACTER);
	return 3 + put_utf8(to, unit);
}

static size_t
take_utf16(struct unpacker *unpacker, const char **packed, size_t *n,
           char *to, size_t room)
{
	struct utf16 *utf16 = &unpacker->utf16;
	char *at = to, *end = to + room;

	for (; *n > 0 && end - at >= 2 * UTF8_MAX; ++*packed, --*n) {
		unsigned char byte = (unsigned char)**packed;

		if (utf16->has_byte)
			at += put_unit(utf16, at, utf16->is_little ?
			               (uint32_t)byte << 8 | utf16->byte :
			               (uint32_t)utf16->byte << 8 | byte);
		utf16->byte = byte;
		utf16->has_byte = !utf16->has_byte;
	}
	return (size_t)(at - to);
}

/* ---- UTF-16 inside gzip or zstd ---- */

static size_t
take_packed(struct unpacker *unpacker, const char **packed, size_t *n,
            char *to, size_t room, struct unpacker_damage *damage)
{
	return unpacker->packing == PACKING_GZIP ?
	       take_gzip(unpacker, packed, n, to, room, damage) :
	       take_zstd(unpacker, packed, n, to, room, damage);
}

/*
 * Of two bytes of UTF-16 three may become: so many are unpacked that all have
 * room, and none wait for the next call.
 */
static size_t
unpacker_take_units(struct unpacker *unpacker, const char **packed, size_t *n,
                    char *to, size_t room, struct unpacker_damage *damage)
{
	size_t wanted = room / 2 < UNITS_SIZE ? room / 2 : UNITS_SIZE;
	size_t n_units = take_packed(unpacker, packed, n, unpacker->units,
	                             wanted, damage);
	const char *units = unpacker->units;

	return take_utf16(unpacker, &units, &n_units, to, room);
}

/* Unpacks the first bytes, which show whether the text is UTF-16. */
static size_t
take_mark(struct unpacker *unpacker, const char **packed, size_t *n, char *to,
          size_t room, struct unpacker_damage *damage)
{
	char *mark = unpacker->mark;
	size_t n_mark;

	unpacker->n_mark += take_packed(unpacker, packed, n,
	                                mark + unpacker->n_mark,
	                                MARK_SIZE - unpacker->n_mark, damage);
	n_mark = unpacker->n_mark;
	if (n_mark < MARK_SIZE && unpacker->is_inside && damage->what == NULL)
		return 0;
	unpacker->inside = INSIDE_PLAIN;
	if (!is_utf16((const unsigned char *)mark, n_mark)) {
		memcpy(to, mark, n_mark);
		return n_mark;
	}
	unpacker->units = malloc(UNITS_SIZE);
	if (unpacker->units == NULL) {
		damage->is_out_of_memory = true;
		return 0;
	}
	unpacker->inside = INSIDE_UTF16;
	unpacker->utf16.is_little = mark[0] == '\xff';
	if (damage->what != NULL || (*n == 0 && !unpacker->is_inside))
		return 0;
	return unpacker_take_units(unpacker, packed, n, to, room, damage);
}

size_t
unpacker_take(struct unpacker *unpacker, const char **packed, size_t *n,
              char *to, size_t room, struct unpacker_damage *damage)
{
	if (unpacker->packing == PACKING_UTF16)
		return take_utf16(unpacker, packed, n, to, room);
	switch (unpacker->inside) {
	case INSIDE_UNKNOWN:
		return take_mark(unpacker, packed, n, to, room, damage);
	case INSIDE_UTF16:
		return unpacker_take_units(unpacker, packed, n, to, room,
		                           damage);
	default:
		return take_packed(unpacker, packed, n, to, room, damage);
	}
}
