/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_output.h -- the text of callgrind's format, line by line.
 *
 * Sticky, as texts are: what was added goes to the writer by
 * callgrind_output_flush, which tells.
 * Source: Valgrind's manual, "Callgrind Format Specification".
 */
#ifndef CPPROF_FORMATS_CALLGRIND_OUTPUT_H
#define CPPROF_FORMATS_CALLGRIND_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/profile/profile.h"

/* Untrusted bytes; NULL: unknown. */
struct callgrind_text {
	const char *bytes;
	size_t length;
};

/* A name, which may be NO_NAME; what has been made in a text. */
struct callgrind_text callgrind_text_of(const struct names *names,
                                        uint32_t name);
struct callgrind_text callgrind_text_made(const struct text_buffer *text,
                                          struct error *error);

/* What the format tells functions by. */
struct callgrind_function {
	struct callgrind_text object, file, name;
};

struct callgrind_output {
	const struct profile *profile;
	struct writer *writer;
	struct text_buffer text;
	struct names *objects, *files, *functions;	/* numbered so far */
	struct text_buffer key;	/* scratch */
	uint64_t n_changed;	/* names that do not fit a line */
};

/* 0, or -1 with *error set; to be freed in either case. */
int callgrind_output_start(struct callgrind_output *output,
                           const struct profile *profile,
                           struct writer *writer, struct error *error);
void callgrind_output_free(struct callgrind_output *output);

/*
 * The header, which says whether calls or only their costs are known, up to
 * "summary: TOTALS"; the same numbers behind another key.
 */
void callgrind_output_header(struct callgrind_output *output,
                             const uint64_t *totals);
void callgrind_output_totals(struct callgrind_output *output,
                             const char *key, const uint64_t *totals);

/* The function whose lines follow. */
void callgrind_output_function(struct callgrind_output *output,
                               const struct callgrind_function *function,
                               struct error *error);

/* The lines that follow, of the same function, are in another file. */
void callgrind_output_file(struct callgrind_output *output,
                           struct callgrind_text file, struct error *error);

/* A line's own hits of each resource. */
void callgrind_output_hits(struct callgrind_output *output, uint32_t line,
                           const uint64_t *hits);

/*
 * Calls from a line; n_calls 0: unknown.  Then 1 is written where they cost
 * anything, for callgrind_annotate takes costs of no calls as the caller's own.
 */
void callgrind_output_call(struct callgrind_output *output,
                           const struct callgrind_function *callee,
                           uint64_t n_calls, uint32_t line,
                           const uint64_t *hits, struct error *error);

/* 0, or -1 with *error set. */
int callgrind_output_flush(struct callgrind_output *output,
                           struct error *error);

#endif
