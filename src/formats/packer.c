/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packer.c -- a writer that packs what it is given, as gzip or zstd.
 *
 * gzip is as fast as zlib goes: profiles are packed once and shrink well
 * anyhow.  zstd has one thread and a fixed level.  So the same bytes give the
 * same packed bytes.
 */
#include "src/formats/exporter.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "src/base/memory.h"

enum { PACKER_CHUNK = 16 << 10, PACKER_ZSTD_LEVEL = 3 };

/* Packs bytes[n], and all that is left if they are the last; 0 or an errno. */
static int
packer_deflate(struct packer *packer, const char *bytes, size_t n, bool is_last)
{
	z_stream *stream = &packer->gzip;
	char packed[PACKER_CHUNK];
	int status;

	if (n > UINT32_MAX)
		return EFBIG;
	stream->next_in = (Bytef *)(uintptr_t)bytes;
	stream->avail_in = (uInt)n;
	do {
		stream->next_out = (Bytef *)packed;
		stream->avail_out = sizeof packed;
		status = deflate(stream, is_last ? Z_FINISH : Z_NO_FLUSH);
		writer_put(packer->to, packed,
		           sizeof packed - stream->avail_out);
	} while (status == Z_OK && stream->avail_out == 0);
	return packer->to->error;
}

/* Likewise. */
static int
packer_compress(struct packer *packer, const char *bytes, size_t n,
                bool is_last)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	char packed[PACKER_CHUNK];
	size_t left;

	do {
		ZSTD_outBuffer out = { packed, sizeof packed, 0 };

		left = ZSTD_compressStream2(packer->zstd, &out, &in,
		    is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return ENOMEM;
		writer_put(packer->to, packed, out.pos);
	} while (is_last ? left != 0 : in.pos < in.size);
	return packer->to->error;
}

static int
packer_pack(struct packer *packer, const char *bytes, size_t n, bool is_last)
{
	return packer->kind == PACKER_GZIP ?
	    packer_deflate(packer, bytes, n, is_last) :
	    packer_compress(packer, bytes, n, is_last);
}

static int
packer_pack_some(void *context, const char *bytes, size_t n)
{
	return packer_pack(context, bytes, n, false);
}

static bool
packer_start(struct packer *packer)
{
	if (packer->kind == PACKER_GZIP)
		return deflateInit2(&packer->gzip, Z_BEST_SPEED, Z_DEFLATED,
		                    16 + MAX_WBITS, 8,
		                    Z_DEFAULT_STRATEGY) == Z_OK;
	packer->zstd = ZSTD_createCCtx();
	return packer->zstd != NULL &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd,
	        ZSTD_c_compressionLevel, PACKER_ZSTD_LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd,
	        ZSTD_c_checksumFlag, 1));
}

struct packer *
packer_new(enum packer_kind kind, struct writer *to, struct error *error)
{
	struct packer *packer = memory_array(1, sizeof *packer, error);

	if (packer == NULL)
		return NULL;
	packer->to = to;
	packer->kind = kind;
	writer_start(&packer->in, packer_pack_some, packer);
	if (packer_start(packer))
		return packer;
	packer_free(packer);
	error_out_of_memory(error);
	return NULL;
}

/* Both libraries take a state that was never begun. */
void
packer_free(struct packer *packer)
{
	if (packer == NULL)
		return;
	deflateEnd(&packer->gzip);
	ZSTD_freeCCtx(packer->zstd);
	free(packer);
}

void
packer_finish(struct packer *packer)
{
	int error = writer_flush(&packer->in);

	if (error == 0)
		error = packer_pack(packer, "", 0, true);
	if (packer->to->error == 0)
		packer->to->error = error;
}
