/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unpacker.c -- gzip and zstd, a piece at a time. */
#include "src/formats/unpacker.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "src/base/memory.h"

struct unpacker {
	z_stream gzip;
	ZSTD_DStream *zstd;	/* NULL: gzip */
	bool is_inside;
};

static bool
is_gzip(const unsigned char *head, size_t n)
{
	return n >= 2 && head[0] == 0x1f && head[1] == 0x8b;
}

/* zstd's magic, or one of those of its skippable frames. */
static bool
is_zstd(const unsigned char *head, size_t n)
{
	return n >= 4 && (head[0] == 0x28 || (head[0] & 0xf0) == 0x50) &&
	       head[1] == (head[0] == 0x28 ? 0xb5 : 0x2a) &&
	       head[2] == (head[0] == 0x28 ? 0x2f : 0x4d) &&
	       head[3] == (head[0] == 0x28 ? 0xfd : 0x18);
}

static bool
start(struct unpacker *unpacker, bool is_for_gzip)
{
	if (is_for_gzip)
		return inflateInit2(&unpacker->gzip, 16 + MAX_WBITS) == Z_OK;
	unpacker->zstd = ZSTD_createDStream();
	return unpacker->zstd != NULL;
}

struct unpacker *
unpacker_new(const char *head, size_t n, struct error *error)
{
	bool is_for_gzip = is_gzip((const unsigned char *)head, n);
	struct unpacker *unpacker;

	if (!is_for_gzip && !is_zstd((const unsigned char *)head, n))
		return NULL;
	unpacker = memory_array(1, sizeof *unpacker, error);
	if (unpacker != NULL && !start(unpacker, is_for_gzip)) {
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
	if (unpacker->zstd == NULL)
		inflateEnd(&unpacker->gzip);
	ZSTD_freeDStream(unpacker->zstd);
	free(unpacker);
}

bool
unpacker_is_inside(const struct unpacker *unpacker)
{
	return unpacker->is_inside;
}

static struct unpacker_damage
gzip_damage(const z_stream *gzip)
{
	const char *what = gzip->msg != NULL ? gzip->msg : "gzip";

	return (struct unpacker_damage){
		what, gzip->total_out > 0 &&
		strcmp(what, "incorrect data check") != 0 &&
		strcmp(what, "incorrect length check") != 0,
	};
}

static struct unpacker_damage
zstd_damage(size_t status)
{
	ZSTD_ErrorCode code = ZSTD_getErrorCode(status);

	return (struct unpacker_damage){
		ZSTD_getErrorName(status),
		code != ZSTD_error_checksum_wrong &&
		code != ZSTD_error_prefix_unknown,
	};
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
		*damage = gzip_damage(gzip);
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
	if (ZSTD_isError(status))
		*damage = zstd_damage(status);
	else
		unpacker->is_inside = status != 0;
	return out.pos;
}

size_t
unpacker_take(struct unpacker *unpacker, const char **packed, size_t *n,
              char *to, size_t room, struct unpacker_damage *damage)
{
	return unpacker->zstd == NULL ?
	    take_gzip(unpacker, packed, n, to, room, damage) :
	    take_zstd(unpacker, packed, n, to, room, damage);
}
