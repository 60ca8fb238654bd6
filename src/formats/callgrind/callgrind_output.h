/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_output.h -- the text of callgrind's format, line by line.
 *
 * Sticky, like text buffers: callgrind_output_flush hands the text to the
 * writer and reports failures.  Source: Valgrind's manual, "Callgrind Format
 * Specification".
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

/* From a name, which may be NO_NAME; from a text buffer. */
struct callgrind_text callgrind_text_of(const struct names *names,
                                        uint32_t name);
struct callgrind_text callgrind_text_made(const struct text_buffer *text,
                                          struct error *error);

/* What identifies a function in the format. */
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

/* 0, or -1 with *error set; call callgrind_output_free in either case. */
int callgrind_output_start(struct callgrind_output *output,
                           const struct profile *profile,
                           struct writer *writer, struct error *error);
void callgrind_output_free(struct callgrind_output *output);

/*
 * Adds the header, including whether calls or only their costs are known, up
 * to "summary: TOTALS"; adds the same numbers with another key.
 */
void callgrind_output_header(struct callgrind_output *output,
                             const uint64_t *totals);
void callgrind_output_totals(struct callgrind_output *output,
                             const char *key, const uint64_t *totals);

/* Begins the lines of a function. */
void callgrind_output_function(struct callgrind_output *output,
                               const struct callgrind_function *function,
                               struct error *error);

/* Begins lines of the same function in another file. */
void callgrind_output_file(struct callgrind_output *output,
                           struct callgrind_text file, struct error *error);

/* Adds a line's own hits of each resource. */
void callgrind_output_hits(struct callgrind_output *output, uint32_t line,
                           const uint64_t *hits);

/*
 * Adds calls from a line; n_calls 0: unknown.  Then 1 is written if they have
 * costs, since callgrind_annotate adds the costs of 0 calls to the caller's
 * own.
 */
void callgrind_output_call(struct callgrind_output *output,
                           const struct callgrind_function *callee,
                           uint64_t n_calls, uint32_t line,
                           const uint64_t *hits, struct error *error);

/* 0, or -1 with *error set. */
int callgrind_output_flush(struct callgrind_output *output,
                           struct error *error);

#endif
