/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_header.h -- the header of collapsed stacks.
 *
 * Comments before the first stack (doc/formats.md):
 *
 * 	# cpprof 1
 * 	# resource: NAME; gtick=UNIT; interval=N	one a column
 * 	# program: TEXT		likewise command, host
 *
 * A line is a comment, anywhere in the file, if it is "#" or begins with "# ":
 * Austin writes such lines before and after the stacks, and inferno skips
 * them.  "#<Class:0x1>;run 4" is a stack.  A line that begins like one of the
 * above but does not match it is an error, lenient or not, since with wrong
 * columns all numbers would be wrong.
 */
#ifndef CPPROF_FORMATS_COLLAPSED_HEADER_H
#define CPPROF_FORMATS_COLLAPSED_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/profile/profile.h"

/* Start with the process's texts NULL. */
struct collapsed_header {
	struct process process;		/* texts live in the profile */
	bool has_process;
};

/* Whether a line, without its end, is a comment. */
static inline bool
collapsed_is_comment(const char *line, size_t length)
{
	return length > 0 && line[0] == '#' &&
	       (length == 1 || line[1] == ' ');
}

/*
 * The last blank of text[length), which a count follows: a space or a tab,
 * since flamegraph.pl accepts any white space there.  NULL: there is none.
 */
const char *collapsed_find_blank(const char *text, size_t length);

/* Whether a line, without its end, ends in a blank and a count. */
bool collapsed_has_count(const char *line, size_t length);

/*
 * Reads one line, without its end, entering resources into the profile.  0,
 * or -1 with *error set to what was expected, without file and line.
 */
int collapsed_header_line(struct collapsed_header *header,
                          struct profile *profile, const char *line,
                          size_t length, struct error *error);

/*
 * Ends the header; stacks[size) follow.  Enters the process and, if no
 * resource was named, the resource "samples" for bare counts.  If all of the
 * first stacks have two counts, as difffolded.pl and similar programs write
 * them, the resources are "before" and "after", with a warning.  0, or -1 with
 * *error set.
 */
int collapsed_header_end(const struct collapsed_header *header,
                         struct profile *profile, const char *name,
                         const char *stacks, size_t size,
                         struct error *error);

/*
 * Adds the header of a profile: a line for each resource, and for what is
 * known of the first process.  Returns the number of resources whose names
 * were changed, because they do not fit a line or occur twice.
 */
uint32_t collapsed_header_add(struct text_buffer *header,
                              const struct profile *profile);

/*
 * Reads the digits of [text, end); false if there are none, other characters,
 * or too many.
 */
bool collapsed_parse_count(const char *text, const char *end,
                           uint64_t *count);

/* Likewise digits, or "2.75", whose decimal places go to *fraction. */
bool collapsed_parse_decimal(const char *text, const char *end,
                             uint64_t *count, double *fraction);

#endif
