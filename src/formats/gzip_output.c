/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip_output.c -- a writer that packs what it is given.
 *
 * As fast as zlib goes: profiles are packed once and shrink well anyhow.
 */
#include "src/formats/exporter.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

static int
gzip_output_pack(struct gzip_output *output, int flush)
{
	z_stream *stream = &output->stream;
	char packed[16 << 10];
	int status;

	do {
		stream->next_out = (Bytef *)packed;
		stream->avail_out = sizeof packed;
		status = deflate(stream, flush);
		writer_put(output->to, packed,
		           sizeof packed - stream->avail_out);
	} while (status == Z_OK && stream->avail_out == 0);
	return output->to->error;
}

static int
gzip_output_pack_some(void *context, const char *bytes, size_t n)
{
	struct gzip_output *output = context;

	output->stream.next_in = (Bytef *)(uintptr_t)bytes;
	output->stream.avail_in = (uInt)n;
	return n > UINT32_MAX ? EFBIG : gzip_output_pack(output, Z_NO_FLUSH);
}

struct gzip_output *
gzip_output_new(struct writer *to, struct error *error)
{
	struct gzip_output *output = memory_array(1, sizeof *output, error);

	if (output == NULL)
		return NULL;
	output->to = to;
	writer_start(&output->in, gzip_output_pack_some, output);
	if (deflateInit2(&output->stream, Z_BEST_SPEED, Z_DEFLATED,
	                 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK)
		return output;
	free(output);
	error_out_of_memory(error);
	return NULL;
}

void
gzip_output_free(struct gzip_output *output)
{
	if (output == NULL)
		return;
	deflateEnd(&output->stream);
	free(output);
}

void
gzip_output_finish(struct gzip_output *output)
{
	if (writer_flush(&output->in) == 0)
		gzip_output_pack(output, Z_FINISH);
}
