/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_lines.c -- lines of collapsed stacks, block by block. */
#include "src/formats/collapsed/collapsed.h"

#include <string.h>

int
collapsed_fail_line(struct collapsed *input, struct error *error,
                    const char *what)
{
	input->is_malformed = true;
	return reader_fail(&input->reader, error, "%s", what);
}

/* Handles a malformed line: cut, skipped if lenient, or an error. */
static int
reject_line(struct collapsed *input, const char *what,
            struct error *error)
{
	if (input->reader.is_unended) {
		input->reader.is_cut_short = true;
		reader_fail(&input->reader, &input->cut, "%s", what);
		return 0;
	}
	input->is_malformed = !input->reader.options->lenient;
	return reader_reject(&input->reader, what, error);
}

/* The first line that may be a stack ends the header. */
static int
end_header(struct collapsed *input, const char *stacks, size_t size,
           struct error *error)
{
	struct profile *profile = input->reader.profile;

	if (collapsed_header_end(&input->header, profile,
	                         source_name(input->reader.source), stacks,
	                         size, error) != 0)
		return -1;
	input->writer = stack_writer_new(input->reader.source,
	                                 STACK_LINES, profile->n_resources,
	                                 error);
	input->parser = stack_parser_new(&input->reader, error);
	return input->writer != NULL && input->parser != NULL ? 0 : -1;
}

/*
 * Whether a line before the first stack is neither comment, blank nor stack:
 * "#!..." does not end the header, which may still name what is counted.
 */
static bool
is_foreign_mark(const char *line, size_t length)
{
	return line[0] == '#' && !collapsed_has_count(line, length);
}

static int
read_header_line(struct collapsed *input, const char *line,
                 size_t length, struct error *error)
{
	struct error wrong = { 0 };

	if (length == 0)
		return 0;
	if (!collapsed_is_comment(line, length))
		return reject_line(input, "expected \"# \" and a comment, or "
		                   "a stack and a count", error);
	if (collapsed_header_line(&input->header,
	                          input->reader.profile, line, length,
	                          &wrong) != 0)
		return wrong.is_out_of_memory ? error_pass(error, &wrong) :
		       collapsed_fail_line(input, error, wrong.text);
	return 0;
}

/* The size of the header's lines in bytes[size], or -1 with *error set. */
static ssize_t
collapsed_lines_read_header(struct collapsed *input, const char *bytes,
                            size_t size, struct error *error)
{
	const char *line = bytes, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
		size_t length = (size_t)(end - line);

		if (length > 0 && line[length - 1] == '\r')
			length--;
		if (length > 0 && !collapsed_is_comment(line, length) &&
		    !is_foreign_mark(line, length)) {
			if (end_header(input, line,
			               size - (size_t)(line - bytes),
			               error) != 0)
				return -1;
			break;
		}
		input->reader.place++;
		if (read_header_line(input, line, length, error) != 0)
			return -1;
		line = end + 1;
	}
	return line - bytes;
}

/* The length of the line's end if the line is blank, otherwise 0. */
static size_t
blank_line(const char *line, size_t size)
{
	if (size > 0 && line[0] == '\n')
		return 1;
	return size > 1 && line[0] == '\r' && line[1] == '\n' ? 2 : 0;
}

/*
 * The length of a comment with its end; 0 if the line is none; -1 if its end
 * is still missing.  Bytes after line[size) can be read.
 */
static ssize_t
comment_line(const char *line, size_t size)
{
	const char *end;

	if (line[0] != '#' || (line[1] != ' ' && line[1] != '\n' &&
	                       (line[1] != '\r' || line[2] != '\n')))
		return 0;
	end = memchr(line, '\n', size);
	return end != NULL ? end + 1 - line : -1;
}

/*
 * Parses one line, which ends at *end, into the batch.  *last as in
 * collapsed.h.  1; 0: no end of line; or -1 with *error set.
 */
static int
collapsed_lines_read_stack(struct collapsed *input, const char **last,
                           const char *line, size_t size, size_t *end,
                           struct error *error)
{
	struct error malformed;
	int found;

	malformed.is_set = false;	/* its text need not be zeroed */
	found = stack_parser_line(input->parser,
	                          stack_writer_batch(input->writer),
	                          input->reader.place, *last, line, size, end,
	                          &malformed, error);
	if (found == STACK_UNENDED)
		return 0;
	*last = found == STACK_PARSED ? line : NULL;
	if (found == STACK_PARSED)
		return 1;
	if (found == STACK_FAILED)
		return -1;
	return reject_line(input, malformed.text, error) == 0 ? 1 : -1;
}

/* collapsed_read_lines after the header. */
static ssize_t
read_stacks(struct collapsed *input, const char **last,
            const char *bytes, size_t size, struct error *error)
{
	const char *line = bytes, *stop = bytes + size;

	while (line < stop) {
		size_t left = (size_t)(stop - line), end = 0;
		ssize_t passed = (ssize_t)blank_line(line, left);
		int result = 0;

		if (passed == 0)
			passed = comment_line(line, left);
		input->reader.place++;
		if (passed > 0) {
			*last = NULL;
			line += passed;
			continue;
		}
		if (passed == 0)
			result = collapsed_lines_read_stack(input, last, line,
			                                    left, &end, error);
		if (result < 0)
			return -1;
		if (result == 0) {
			input->reader.place--;
			break;
		}
		line += end + 1;
	}
	return stack_writer_enter(input->writer, error) == 0 ?
	       line - bytes : -1;
}

ssize_t
collapsed_read_lines(struct collapsed *input, const char **last,
                     const char *bytes, size_t size, struct error *error)
{
	ssize_t header = 0, stacks = 0;

	if (input->writer == NULL)
		header = collapsed_lines_read_header(input, bytes, size, error);
	if (header >= 0 && input->writer != NULL)
		stacks = read_stacks(input, last, bytes + header,
		                     size - (size_t)header, error);
	return header < 0 || stacks < 0 ? -1 : header + stacks;
}
