/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_lines.c -- the lines of a text, one after the other. */
#include "src/formats/text_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "src/base/memory.h"

size_t
text_lines_find_binary(const char *bytes, size_t size)
{
	size_t i = 0;

	while (i < size && ((unsigned char)bytes[i] >= ' ' ||
	                    memchr("\t\n\r\033", bytes[i], 4) != NULL))
		i++;
	return i;
}

int
text_lines_fail(const struct text_lines *lines, struct error *error,
                const char *what)
{
	return error_set(error, "%s:%llu: %s", source_name(lines->source),
	                 (unsigned long long)lines->number, what);
}

int
text_lines_reject(struct text_lines *lines, const char *what,
                  struct error *error)
{
	if (lines->is_unended)
		lines->last = LAST_LINE_CUT;
	if (lines->is_unended || !lines->options->lenient)
		return text_lines_fail(lines, error, what);
	if (lines->n_skipped++ == 0)
		text_lines_fail(lines, &lines->first_skipped, what);
	return 0;
}

int
text_lines_warn_cut(const struct text_lines *lines, struct profile *profile,
                    const char *what, struct error *error)
{
	return profile_warn(profile, error, "%s:%llu: %s; what came before "
	                    "was read", source_name(lines->source),
	                    (unsigned long long)lines->number, what);
}

int
text_lines_warn_unended(const struct text_lines *lines,
                        struct profile *profile, struct error *error)
{
	return lines->last != LAST_LINE_READ ? 0 :
	    profile_warn(profile, error, "%s:%llu: no newline at the end of "
	                 "the last line, which was read; its last number or "
	                 "name may be cut off", source_name(lines->source),
	                 (unsigned long long)lines->number);
}

int
text_lines_warn_skipped(const struct text_lines *lines,
                        struct profile *profile, struct error *error)
{
	return lines->n_skipped == 0 ? 0 :
	    profile_warn(profile, error, "%s: %llu line%s skipped, the first: "
	                 "%s", source_name(lines->source),
	                 (unsigned long long)lines->n_skipped,
	                 lines->n_skipped == 1 ? "" : "s",
	                 lines->first_skipped.text);
}

/* The bytes that the whole lines among bytes[size] take, or -1. */
static ssize_t
read_block(struct text_lines *lines, text_line_reader *read, void *context,
           const char *bytes, size_t size, struct error *error)
{
	const char *line = bytes, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
		lines->number++;
		if (read(context, line, (size_t)(end - line), error) != 0)
			return -1;
		line = end + 1;
	}
	return line - bytes;
}

static int
fail_too_long(struct text_lines *lines, struct error *error)
{
	char what[64];

	lines->number++;
	snprintf(what, sizeof what, "a line longer than %u MiB",
	         lines->longest_mib);
	return text_lines_fail(lines, error, what);
}

/* Reads text[length], which has no end, from a copy that has. */
static int
read_unended(struct text_lines *lines, text_line_reader *read, void *context,
             const char *text, size_t length, struct error *error)
{
	struct error wrong = { 0 };
	char *copy = memory_array(length + 1, 1, error);
	int result;

	if (copy == NULL)
		return -1;
	memcpy(copy, text, length);
	copy[length] = '\n';
	lines->is_unended = true;
	lines->last = LAST_LINE_READ;
	result = read(context, copy, length, &wrong);
	free(copy);
	return result == 0 || lines->last == LAST_LINE_CUT ? 0 :
	       error_set(error, "%s", wrong.text);
}

/* The source is at its end, and has text[length] behind the last line's. */
static int
end_lines(struct text_lines *lines, text_line_reader *read, void *context,
          const char *text, size_t length, struct error *error)
{
	size_t size;

	if (length > 0) {
		lines->number++;
		lines->last = LAST_LINE_CUT;
		if (!source_is_truncated(lines->source) &&
		    read_unended(lines, read, context, text, length,
		                 error) != 0)
			return -1;
	}
	source_skip(lines->source, length);
	/* Packed input that is damaged says so here. */
	return source_peek(lines->source, 1, &size, error) != NULL ? 0 : -1;
}

int
text_lines_read(struct text_lines *lines, text_line_reader *read,
                void *context, struct error *error)
{
	size_t wanted = 1, size;
	const char *bytes;

	while ((bytes = source_peek(lines->source, wanted, &size, error))) {
		ssize_t taken = read_block(lines, read, context, bytes, size,
		                           error);
		size_t left;

		if (taken < 0)
			return -1;
		left = size - (size_t)taken;
		if (left >> 20 >= lines->longest_mib)
			return fail_too_long(lines, error);
		source_skip(lines->source, (size_t)taken);
		if (size < wanted)
			return end_lines(lines, read, context, bytes + taken,
			                 left, error);
		wanted = left * 2 + 1;
		if (progress_step(lines->options->progress,
		                  source_done(lines->source),
		                  source_size(lines->source), error) != 0)
			return -1;
	}
	return -1;
}
