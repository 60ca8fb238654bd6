/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zstd_output.c -- a writer that packs what it is given, by zstd.
 *
 * One thread and a fixed level: the same bytes give the same packed bytes.
 */
#include "src/formats/exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "src/base/memory.h"

enum { LEVEL = 3 };

static int
zstd_output_pack(struct zstd_output *output, const char *bytes, size_t n,
                 ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	char packed[16 << 10];
	size_t left;

	do {
		ZSTD_outBuffer out = { packed, sizeof packed, 0 };

		left = ZSTD_compressStream2(output->stream, &out, &in, end);
		if (ZSTD_isError(left))
			return ENOMEM;
		writer_put(output->to, packed, out.pos);
	} while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return output->to->error;
}

static int
zstd_output_pack_some(void *context, const char *bytes, size_t n)
{
	return zstd_output_pack(context, bytes, n, ZSTD_e_continue);
}

struct zstd_output *
zstd_output_new(struct writer *to, struct error *error)
{
	struct zstd_output *output = memory_array(1, sizeof *output, error);

	if (output == NULL)
		return NULL;
	output->to = to;
	output->stream = ZSTD_createCCtx();
	writer_start(&output->in, zstd_output_pack_some, output);
	if (output->stream != NULL &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(output->stream,
	        ZSTD_c_compressionLevel, LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(output->stream,
	        ZSTD_c_checksumFlag, 1)))
		return output;
	zstd_output_free(output);
	error_out_of_memory(error);
	return NULL;
}

void
zstd_output_free(struct zstd_output *output)
{
	if (output == NULL)
		return;
	ZSTD_freeCCtx(output->stream);
	free(output);
}

void
zstd_output_finish(struct zstd_output *output)
{
	if (writer_flush(&output->in) != 0)
		output->to->error = output->to->error != 0 ?
		    output->to->error : output->in.error;
	else if (zstd_output_pack(output, "", 0, ZSTD_e_end) == ENOMEM &&
	         output->to->error == 0)
		output->to->error = ENOMEM;
}
