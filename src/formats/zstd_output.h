/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zstd_output.h -- a writer that packs what it is given, by zstd. */
#ifndef CPPROF_FORMATS_ZSTD_OUTPUT_H
#define CPPROF_FORMATS_ZSTD_OUTPUT_H

#include "src/base/error.h"
#include "src/base/writer.h"

struct ZSTD_CCtx_s;

/* Put bytes to `in`; packed they go `to`, with a checksum. */
struct zstd_output {
	struct writer in;
	struct writer *to;
	struct ZSTD_CCtx_s *stream;
};

/* On the heap; freed with zstd_output_free.  NULL with *error set. */
struct zstd_output *zstd_output_new(struct writer *to, struct error *error);
void zstd_output_free(struct zstd_output *output);

/* Ends the packed data.  Does not flush `to`, which keeps the first failure. */
void zstd_output_finish(struct zstd_output *output);

#endif
