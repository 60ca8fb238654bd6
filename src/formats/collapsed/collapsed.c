/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed.c -- collapsed stacks, one per line.
 *
 * `main;read db;parse 12`: names outermost first, a blank, a count for each
 * resource.  A header may come first (collapsed.h).  Block by block,
 * lines are parsed (collapsed.h) while those of the block before go into
 * the tree (reader.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/collapsed/collapsed.h"

enum {
	MAX_LINE = 256 << 20,
	HEAD_SIZE = 64 << 10,	/* inspected at once, as by the loader */
};

/*
 * Reads what comes after the last newline, from a copy that has one.  It may
 * have been cut anywhere: it counts if it is a valid line, unless the packing
 * of the input was cut.
 */
static int
read_last_line(struct collapsed *input, const char *line,
               size_t length, struct error *error)
{
	struct reader *reader = &input->reader;
	const char *last = NULL;
	ssize_t taken;
	char *copy;

	reader->is_cut_short = source_is_cut_short(reader->source);
	if (reader->is_cut_short)
		reader->place++;
	if (reader->is_cut_short || length == 0)
		return 0;
	copy = memory_array(length + 1 + SOURCE_PADDING, 1, error);
	if (copy == NULL)
		return -1;
	reader->is_unended = true;
	memcpy(copy, line, length);
	copy[length] = '\n';
	taken = collapsed_read_lines(input, &last, copy, length + 1, error);
	free(copy);
	return taken < 0 ? -1 : 0;
}

/* Skips the rest of the input. */
static int
read_to_end(struct source *source, struct error *error)
{
	size_t size;

	while (source_peek(source, 1, &size, error) != NULL && size > 0) {
		source_skip(source, size);
		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
	}
	return error->is_set ? -1 : 0;
}

/*
 * A line may be malformed because packed input is damaged, which is often
 * noticed only further on.  Then the input is cut (0); otherwise *wrong is the
 * error.
 */
static int
end_at_malformed(struct collapsed *input, const struct error *wrong,
                 struct error *error)
{
	struct source *source = input->reader.source;
	struct error failed = { 0 };

	if (!input->is_malformed || !source_is_packed(source))
		return error_pass(error, wrong);
	if (read_to_end(source, &failed) != 0 && source_damage(source) == NULL)
		return error_pass(error, &failed);
	if (source_damage(source) == NULL)
		return error_pass(error, wrong);
	input->reader.is_cut_short = true;
	return input->writer != NULL ?
	       stack_writer_enter(input->writer, error) : 0;
}

/*
 * Reads lines from bytes[size], of which the first *kept are the last stack's
 * line.  Skips what is no longer needed; *kept and *wanted are set for the
 * next call of source_peek.
 */
static int
collapsed_read_block(struct collapsed *input, const char *bytes, size_t size,
                     size_t *kept, size_t *wanted, struct error *error)
{
	const char *last = *kept > 0 ? bytes : NULL;
	ssize_t taken = collapsed_read_lines(input, &last, bytes + *kept,
	                                     size - *kept, error);
	const char *next = bytes + *kept + taken;
	size_t left = size - *kept - (size_t)taken;

	if (taken < 0)
		return -1;
	if (left > MAX_LINE) {
		input->reader.place++;
		return collapsed_fail_line(input, error, "a line longer "
		                           "than 256 MiB");
	}
	*kept = last != NULL ? (size_t)(next - last) : 0;
	*wanted = *kept + 1 + (left < MAX_LINE / 2 ? 2 * left : MAX_LINE);
	source_skip(input->reader.source, (size_t)(next - bytes) - *kept);
	return reader_step(&input->reader, error);
}

/* Reads everything up to the last end of line. */
static int
read_blocks(struct collapsed *input, struct error *error)
{
	size_t kept = 0, wanted = HEAD_SIZE, size;

	for (bool is_end = false; !is_end;) {
		const char *bytes = source_peek(input->reader.source,
		                                wanted, &size, error);

		is_end = size < wanted;
		if (bytes == NULL ||
		    collapsed_read_block(input, bytes, size, &kept, &wanted,
		                         error) != 0)
			return -1;
	}
	source_skip(input->reader.source, kept);
	return 0;
}

static int
collapsed_read_source(struct collapsed *input, struct error *error)
{
	struct source *source = input->reader.source;
	struct error wrong = { 0 };
	const char *bytes;
	size_t size;

	if (read_blocks(input, &wrong) != 0)
		return end_at_malformed(input, &wrong, error);
	bytes = source_peek(source, 0, &size, error);
	if (bytes == NULL || read_last_line(input, bytes, size, error) != 0)
		return -1;
	source_skip(source, size);
	return source_peek(source, 1, &size, error) != NULL ? 0 : -1;
}

/* Hits are whole numbers; like inferno, drops the decimal places. */
static int
warn_of_fractions(struct collapsed *input, struct error *error)
{
	const struct cut_fractions *fractions =
	    stack_parser_fractions(input->parser);
	char sum[32];

	if (fractions->n == 0)
		return 0;
	snprintf(sum, sizeof sum, "%.6g", fractions->sum);
	return fractions->n == 1 ?
	    reader_warn(&input->reader, error, "the fraction of 1 count "
	                "was dropped, %s hits; to keep it, multiply all "
		                "counts, for example by 1000", sum) :
	    reader_warn(&input->reader, error, "the fractions of %llu "
	                "counts were dropped, %s hit%s in all; to keep them, "
		                "multiply all counts, for example by 1000",
	                (unsigned long long)fractions->n, sum,
	                strcmp(sum, "1") == 0 ? "" : "s");
}

static int
collapsed_read_profile(struct collapsed *input, struct error *error)
{
	struct reader *reader = &input->reader;

	if (collapsed_read_source(input, error) != 0)
		return -1;
	if (input->writer != NULL &&
	    stack_writer_wait(input->writer, error) != 0)
		return -1;
	if (input->writer == NULL ||
	    !stack_writer_has_stacks(input->writer))
		return input->cut.is_set ?
		       error_pass(error, &input->cut) :
		       reader_fail_empty(reader, error);
	if (reader_warn_lines(reader, "", error) != 0 ||
	    warn_of_fractions(input, error) != 0)
		return -1;
	reader->profile->tree = stack_writer_finish(input->writer, error);
	if (reader->profile->tree == NULL ||
	    reader_drop_below_zero(reader, NULL, error) != 0)
		return -1;
	return reader->options->has_thread_frames ?
	       collapsed_take_threads(reader->profile, error) : 0;
}

static struct profile *
collapsed_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct collapsed input = { .writer = NULL };
	int result = reader_begin(&input.reader, source, options,
	                          READER_LINES, error);

	if (result == 0)
		result = collapsed_read_profile(&input, error);
	stack_writer_free(input.writer);
	stack_parser_free(input.parser);
	return reader_end(&input.reader, result);
}

const struct format format_collapsed = {
	.name = "collapsed stacks",
	.summary = "one stack a line and its count, for flame graphs",
	.probe = collapsed_probe,
	.read = collapsed_read,
};
