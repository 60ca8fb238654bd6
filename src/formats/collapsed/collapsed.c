/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed.c -- collapsed stacks, one a line.
 *
 * `main;read db;parse 12`: names outermost first, a blank, a count for each
 * resource.  A header may come first (collapsed_header.h).  Block by block,
 * lines are parsed (collapsed_lines.h) while those of the block before go into
 * the tree (stack_writer.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/collapsed/collapsed_lines.h"
#include "src/formats/collapsed/collapsed_probe.h"

enum {
	MAX_LINE = 256 << 20,
	HEAD_SIZE = 64 << 10,	/* looked at as a whole, as the loader did */
};

/* Waits for what was parsed: 1, 0 where there are none, -1 *error set. */
static int
has_stacks(const struct collapsed_reader *reader, struct error *error)
{
	if (reader->writer == NULL)
		return 0;
	if (stack_writer_wait(reader->writer, error) != 0)
		return -1;
	return stack_writer_has_stacks(reader->writer);
}

/* Reads a line that lacks its end from a copy that has one. */
static int
read_unended_line(struct collapsed_reader *reader, const char *line,
                  size_t length, struct error *error)
{
	char *copy = memory_array(length + 1 + SOURCE_PADDING, 1, error);
	const char *last = NULL;
	ssize_t taken;

	if (copy == NULL)
		return -1;
	reader->is_unended = true;
	memcpy(copy, line, length);
	copy[length] = '\n';
	taken = collapsed_read_lines(reader, &last, copy, length + 1, error);
	free(copy);
	return taken < 0 ? -1 : 0;
}

static int
set_no_stacks(const struct source *source, struct error *error)
{
	const char *damage = source_damage(source);

	if (damage == NULL)
		return error_set(error, "%s: no stacks in it",
		                 source_name(source));
	return error_set(error, "%s: %s; no stacks before that",
	                 source_name(source), damage);
}

/* What was read is kept, if there is any of it; else *wrong is the error. */
static int
end_at_cut(struct collapsed_reader *reader, const struct error *wrong,
           struct error *error)
{
	const char *damage = source_damage(reader->lines.source);
	int result = has_stacks(reader, error);

	if (result < 0)
		return -1;
	if (result == 0)
		return wrong->is_set && damage == NULL ?
		       error_set(error, "%s", wrong->text) :
		       set_no_stacks(reader->lines.source, error);
	return profile_warn(reader->profile, error, "%s:%llu: the input is "
	                    "cut off here%s%s%s; what came before was read",
	                    source_name(reader->lines.source),
	                    (unsigned long long)reader->lines.number,
	                    damage != NULL ? " (compressed data: " : "",
	                    damage != NULL ? damage : "",
	                    damage != NULL ? ")" : "");
}

/*
 * What stands behind the last end of line may have been cut anywhere: in
 * packed input that was cut it is not believed, else if it makes sense.
 */
static int
read_last_line(struct collapsed_reader *reader, const char *line,
               size_t length, struct error *error)
{
	bool is_cut = source_is_truncated(reader->lines.source);

	if (is_cut) {
		reader->lines.number++;
	} else if (length > 0) {
		if (read_unended_line(reader, line, length, error) != 0)
			return -1;
		is_cut = reader->cut.is_set;
		reader->lines.last = is_cut ? LAST_LINE_CUT : LAST_LINE_READ;
	}
	return is_cut ? end_at_cut(reader, &reader->cut, error) : 0;
}

/* Passes over all that is left; 0, or -1 with *error set. */
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
 * A line may be malformed because packed input is damaged, which is often not
 * found out before some more of it: then that is what is wrong.
 */
static int
end_at_malformed(struct collapsed_reader *reader, const struct error *wrong,
                 struct error *error)
{
	struct source *source = reader->lines.source;
	struct error failed = { 0 };

	if (!reader->is_malformed || !source_is_packed(source))
		return error_set(error, "%s", wrong->text);
	if (read_to_end(source, &failed) != 0 && source_damage(source) == NULL)
		return error_set(error, "%s", failed.text);
	if (source_damage(source) == NULL)
		return error_set(error, "%s", wrong->text);
	if (reader->writer != NULL &&
	    stack_writer_enter(reader->writer, error) != 0)
		return -1;
	return end_at_cut(reader, wrong, error);
}

/*
 * Lines from bytes[size], of which the first *kept are the last stack's line.
 * What can be done without is skipped; *kept and *wanted are set for the next
 * look at the source.
 */
static int
read_block(struct collapsed_reader *reader, const char *bytes, size_t size,
           size_t *kept, size_t *wanted, struct error *error)
{
	const char *last = *kept > 0 ? bytes : NULL;
	ssize_t taken = collapsed_read_lines(reader, &last, bytes + *kept,
	                                     size - *kept, error);
	const char *next = bytes + *kept + taken;
	size_t left = size - *kept - (size_t)taken;

	if (taken < 0)
		return -1;
	if (left > MAX_LINE) {
		reader->lines.number++;
		return collapsed_fail_line(reader, error,
		                 "a line longer than 256 MiB");
	}
	*kept = last != NULL ? (size_t)(next - last) : 0;
	*wanted = *kept + 1 + (left < MAX_LINE / 2 ? 2 * left : MAX_LINE);
	source_skip(reader->lines.source, (size_t)(next - bytes) - *kept);
	return progress_step(reader->lines.options->progress,
	                     source_done(reader->lines.source),
	                     source_size(reader->lines.source), error);
}

/* All but what stands behind the last end of line. */
static int
read_blocks(struct collapsed_reader *reader, struct error *error)
{
	size_t kept = 0, wanted = HEAD_SIZE, size;

	for (bool is_end = false; !is_end;) {
		const char *bytes = source_peek(reader->lines.source, wanted,
		                                &size, error);

		is_end = size < wanted;
		if (bytes == NULL ||
		    read_block(reader, bytes, size, &kept, &wanted,
		               error) != 0)
			return -1;
	}
	source_skip(reader->lines.source, kept);
	return 0;
}

static int
read_source(struct collapsed_reader *reader, struct error *error)
{
	struct error wrong = { 0 };
	const char *bytes;
	size_t size;

	if (read_blocks(reader, &wrong) != 0)
		return end_at_malformed(reader, &wrong, error);
	bytes = source_peek(reader->lines.source, 0, &size, error);
	if (bytes == NULL || read_last_line(reader, bytes, size, error) != 0)
		return -1;
	source_skip(reader->lines.source, size);
	return source_peek(reader->lines.source, 1, &size, error) != NULL ?
	       0 : -1;
}

/* Hits are whole numbers; inferno, too, cuts off what is behind the point. */
static int
warn_of_fractions(struct collapsed_reader *reader, struct error *error)
{
	const struct cut_fractions *fractions =
	    stack_parser_fractions(reader->parser);
	const char *name = source_name(reader->lines.source);
	char sum[32];

	if (fractions->n == 0)
		return 0;
	snprintf(sum, sizeof sum, "%.6g", fractions->sum);
	return fractions->n == 1 ?
	    profile_warn(reader->profile, error, "%s: the fraction of 1 count "
	                 "was cut off, %s hits; to keep it multiply all "
	                 "counts, by 1000, say", name, sum) :
	    profile_warn(reader->profile, error, "%s: the fractions of %llu "
	                 "counts were cut off, %s hit%s in all; to keep them "
	                 "multiply all counts, by 1000, say", name,
	                 (unsigned long long)fractions->n, sum,
	                 strcmp(sum, "1") == 0 ? "" : "s");
}

static int
finish_profile(struct collapsed_reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	int result;

	if (text_lines_warn_unended(&reader->lines, profile, error) != 0 ||
	    text_lines_warn_skipped(&reader->lines, profile, error) != 0)
		return -1;
	result = has_stacks(reader, error);
	if (result < 0)
		return -1;
	if (result == 0)
		return set_no_stacks(reader->lines.source, error);
	if (warn_of_fractions(reader, error) != 0)
		return -1;
	profile->tree = stack_writer_finish(reader->writer, error);
	return profile->tree != NULL ? 0 : -1;
}

static void
reader_free(struct collapsed_reader *reader)
{
	stack_writer_free(reader->writer);
	stack_parser_free(reader->parser);
	profile_free(reader->profile);
}

static struct profile *
collapsed_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct collapsed_reader reader = { .lines = { .source = source,
		.options = options } };
	struct profile *profile = NULL;

	reader.profile = profile_new(error);
	if (reader.profile != NULL && read_source(&reader, error) == 0 &&
	    finish_profile(&reader, error) == 0) {
		profile = reader.profile;
		reader.profile = NULL;
	}
	reader_free(&reader);
	return profile;
}

const struct format format_collapsed = {
	.name = "collapsed stacks",
	.summary = "collapsed stacks, one a line, perhaps with a header",
	.probe = collapsed_probe,
	.read = collapsed_read,
};
