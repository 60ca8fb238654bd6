/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_input.h -- a perf.data file as it is read, from front to back.
 *
 * What its parts share: perf_header.c reads what stands in front of the
 * records, perf_data.c these, perf_sections.c what stands behind.
 */
#ifndef CPPROF_FORMATS_PERF_INPUT_H
#define CPPROF_FORMATS_PERF_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/formats/format.h"
#include "src/formats/perf/perf_records.h"
#include "src/formats/perf/perf_session.h"

struct perf_input {
	struct source *source;
	const struct read_options *options;
	struct perf_session *session;
	uint64_t offset;		/* of the bytes at hand */
	uint64_t data_end;		/* of the records */
	bool is_pipe;
	bool is_cut;
	unsigned char features[PERF_FEATURES / 8];	/* bit i: there is i */
};

/* A part of the file. */
struct perf_extent {
	uint64_t offset, size;
};

enum { PERF_EXTENT_SIZE = 16 };

struct perf_extent perf_take_extent(struct bytes *in);

/* Sets an error that names file and offset; returns -1. */
int perf_input_fail(const struct perf_input *input, uint64_t offset,
                    const char *what, struct error *error);

/* As source_peek and source_skip. */
const unsigned char *perf_input_peek(struct perf_input *input, size_t wanted,
                                     size_t *size, struct error *error);
void perf_input_skip(struct perf_input *input, size_t n);

/*
 * Goes on to an offset that is not behind; where the input ends before, it is
 * cut.  0 or -1.
 */
int perf_input_skip_to(struct perf_input *input, uint64_t offset,
                       struct error *error);

bool perf_input_has_feature(const struct perf_input *input, size_t feature);

/*
 * Reads the header, of a file also its events, up to the first record; 0, or
 * -1 with *error set.
 */
int perf_header_read(struct perf_input *input, struct error *error);

/* Whether bytes begin as perf's files do, also those that are not read. */
bool perf_header_is_one(const void *head, size_t size);

/* Reads the sections behind the records, as far as they are used. */
int perf_sections_read(struct perf_input *input, struct error *error);

#endif
