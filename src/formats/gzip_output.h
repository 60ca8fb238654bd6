/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzip_output.h -- a writer that packs what it is given. */
#ifndef CPPROF_FORMATS_GZIP_OUTPUT_H
#define CPPROF_FORMATS_GZIP_OUTPUT_H

#include <zlib.h>

#include "src/base/error.h"
#include "src/base/writer.h"

/* Put bytes to `in`; packed they go `to`. */
struct gzip_output {
	struct writer in;
	struct writer *to;
	z_stream stream;
};

/* On the heap; freed with gzip_output_free.  NULL with *error set. */
struct gzip_output *gzip_output_new(struct writer *to, struct error *error);
void gzip_output_free(struct gzip_output *output);

/* Ends the packed data.  Does not flush `to`, which keeps the first failure. */
void gzip_output_finish(struct gzip_output *output);

#endif
