/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_lines.h -- the lines of a text, one after the other.
 *
 * For readers whose input is lines that each mean something by themselves:
 * says where a line is wrong, passes over those that fit no rule where that is
 * wanted, and tells whole input from what was cut.
 */
#ifndef CPPROF_FORMATS_TEXT_LINES_H
#define CPPROF_FORMATS_TEXT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/format.h"

/* What stands behind the last end of line. */
enum last_line {
	LAST_LINE_NONE,
	LAST_LINE_READ,		/* a line that makes sense */
	LAST_LINE_CUT,		/* one that was rejected, or of cut packing */
};

/*
 * Start with { .source, .options, .longest_mib }; who reads the lines without
 * text_lines_read counts them here, and has no use for the last.
 */
struct text_lines {
	struct source *source;
	const struct read_options *options;
	unsigned longest_mib;		/* a longer line is an error */
	uint64_t number;		/* of the line that is read, from 1 */
	bool is_unended;		/* it has no newline, so that it may
					 * have been cut anywhere: reject it
					 * unless it must be whole */
	enum last_line last;		/* known when all is read */
	uint64_t n_skipped;		/* when lenient */
	struct error first_skipped;
};

/* Reads one line, which ends at line[length] in '\n'; 0, or -1 with *error. */
typedef int text_line_reader(void *context, const char *line, size_t length,
                             struct error *error);

/*
 * Reads all lines, also a last one that lacks its end, from a copy that has
 * one; if it was cut, lines->number is still its.  0, or -1 with *error set.
 */
int text_lines_read(struct text_lines *lines, text_line_reader *read,
                    void *context, struct error *error);

/* Where the first byte is that no text holds, or size. */
size_t text_lines_find_binary(const char *bytes, size_t size);

/* Sets an error at the line that is read; returns -1. */
int text_lines_fail(const struct text_lines *lines, struct error *error,
                    const char *what);

/* A line that fits no rule: cut, skipped when lenient, or the load's error. */
int text_lines_reject(struct text_lines *lines, const char *what,
                      struct error *error);

/* Warns that the input ends too early at the line that is read; 0 or -1. */
int text_lines_warn_cut(const struct text_lines *lines,
                        struct profile *profile, const char *what,
                        struct error *error);

/* Warns that the last line has no newline, if it was read so; 0 or -1. */
int text_lines_warn_unended(const struct text_lines *lines,
                            struct profile *profile, struct error *error);

/* Warns of the lines that were skipped, if any were; 0 or -1. */
int text_lines_warn_skipped(const struct text_lines *lines,
                            struct profile *profile, struct error *error);

#endif
