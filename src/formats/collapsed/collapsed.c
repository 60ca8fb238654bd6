/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed.c -- collapsed stacks, one per line.
 *
 * `main;read db;parse 12`: names outermost first, a blank, a count for each
 * resource.  A header may come first (doc/formats.md):
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
 *
 * Block by block, lines are parsed while those of the block before go into the
 * tree (stack_writer.c).  The text of the previous line is still in memory; the
 * ends of its frames and the numbers of their names are kept.  A line is
 * compared with it from the front; after the last frame that agrees, delimiters
 * are searched, and the text between them is interned.  So in sorted input only
 * the ends of lines are parsed.
 */
#include "src/formats/collapsed/collapsed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "src/base/memory.h"
#include "src/base/names.h"

enum {
	MAX_LINE = 256 << 20,
	HEAD_SIZE = 64 << 10,	/* inspected at once, as by the loader */
	TWO_COUNTS_SOUGHT = 32 << 10,
	PROBED_LINES_MAX = 100,
};

_Static_assert((int)SOURCE_PADDING >= (int)FRAME_NAMES_PADDING &&
               (int)SOURCE_PADDING >= (int)DELIMITERS_BLOCK,
               "names and blocks may be read beyond the bytes at hand");

struct collapsed {
	struct reader reader;		/* but lines are read here */
	struct collapsed_header header;
	/* NULL before the first stack. */
	struct stack_writer *writer;
	struct frame_names *frame_names;
	struct error cut;		/* the error of a last line without an
					 * end */
	bool is_malformed;		/* reading failed because of a line */

	/* Counts with fractions, which are dropped: "2.75" counts as 2. */
	uint64_t n_fractions;
	double sum_of_fractions;

	/* The line parsed last. */
	size_t last_length;	/* of its stack, without counts */
	uint32_t depth;
	uint32_t *next_frame;	/* [depth], the offset of the next frame */
	uint32_t *labels;	/* [depth] */
	size_t next_frame_capacity, labels_capacity;
	bool was_scattered;	/* so the builder does not know its nodes */
};

/* ---- counts ---- */

/*
 * Reads the digits of [text, end); false if there are none, other characters,
 * or too many.
 */
static bool
collapsed_parse_count(const char *text, const char *end, uint64_t *count)
{
	uint64_t value = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*count = value;
	return true;
}

/* Likewise digits, or "2.75", whose decimal places go to *fraction. */
static bool
collapsed_parse_decimal(const char *text, const char *end, uint64_t *count,
                        double *fraction)
{
	const char *point = memchr(text, '.', (size_t)(end - text));
	double place = 0.1;

	if (!collapsed_parse_count(text, point != NULL ? point : end, count))
		return false;
	*fraction = 0;
	while (point != NULL && ++point < end) {
		unsigned digit = (unsigned)(*point - '0');

		if (digit > 9)
			return false;
		*fraction += digit * place;
		place /= 10;
	}
	return true;
}

/*
 * The last blank of text[length), which a count follows: a space or a tab,
 * since flamegraph.pl accepts any white space there.  NULL: there is none.
 */
static const char *
collapsed_find_blank(const char *text, size_t length)
{
	while (length-- > 0)
		if (text[length] == ' ' || text[length] == '\t')
			return text + length;
	return NULL;
}

/*
 * Drops a blank and a number at the end; returns whether there was more than
 * these.
 */
static bool
drop_count(const char *line, size_t *length)
{
	const char *blank = collapsed_find_blank(line, *length);
	uint64_t count;
	double fraction;

	if (blank == NULL || blank == line ||
	    !collapsed_parse_decimal(blank + 1, line + *length, &count,
	                             &fraction))
		return false;
	*length = (size_t)(blank - line);
	return true;
}

/* ---- the header ---- */

/* The text after the key if the line is "# KEY: text", otherwise NULL. */
static char *
header_value(char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, "# ", 2) != 0 ||
	    strncmp(line + 2, key, length) != 0 || line[2 + length] != ':')
		return NULL;
	line += 2 + length + 1;
	return line + strspn(line, " ");
}

/* Reads NAME; gtick=UNIT; interval=N. */
static int
collapsed_header_read_resource(struct profile *profile, char *text,
                               struct error *error)
{
	const char *gtick = "";
	uint64_t interval = 1;
	char *rest = strchr(text, ';'), *attribute;
	uint32_t resource;

	if (rest != NULL)
		*rest++ = '\0';
	while (rest != NULL &&
	       (attribute = strtok_r(NULL, ";", &rest)) != NULL) {
		attribute += strspn(attribute, " ");
		if (strncmp(attribute, "gtick=", 6) == 0)
			gtick = attribute + 6;
		if (strncmp(attribute, "interval=", 9) != 0)
			continue;
		attribute += 9;
		if (!collapsed_parse_count(attribute,
		                           attribute + strlen(attribute),
		                           &interval) || interval == 0)
			return error_set(error, "expected interval=N, N a "
			                 "whole number of at least 1");
	}
	if (*text == '\0')
		return error_set(error, "expected # resource: NAME; "
		                 "gtick=UNIT; interval=N");
	if (profile_find_resource(profile, text) != NO_RESOURCE)
		return error_set(error, "a second resource %s", text);
	resource = profile_add_resource(profile, text, gtick, interval, error);
	if (resource == UINT32_MAX)
		return -1;
	/* With an interval of 1, an export from any format looks alike. */
	if (interval > 1)
		profile->resources[resource].counting = COUNTING_SAMPLED;
	return 0;
}

int
collapsed_header_line(struct collapsed_header *header,
                      struct profile *profile, const char *text,
                      size_t length, struct error *error)
{
	char *line = arena_text(&profile->arena, text, length, error);
	struct process *process = &header->process;
	char *value;

	if (line == NULL)
		return -1;
	if (strlen(line) != length)
		return error_set(error, "a NUL byte");
	if (strncmp(line, "# cpprof ", 9) == 0 && strcmp(line + 9, "1") != 0)
		return error_set(error, "expected # cpprof 1");
	if ((value = header_value(line, "resource")) != NULL)
		return collapsed_header_read_resource(profile, value, error);
	if ((value = header_value(line, "program")) != NULL)
		process->program = value;
	else if ((value = header_value(line, "command")) != NULL)
		process->command = value;
	else if ((value = header_value(line, "host")) != NULL)
		process->host = value;
	header->has_process |= value != NULL;
	return 0;
}

/*
 * Whether there are stacks, all with two counts.  The amount of a pipe that is
 * buffered must not make a difference, so no more is inspected than is always
 * available.
 */
static bool
have_two_counts(const char *stacks, size_t size)
{
	const char *line = stacks, *end;
	bool is_any = false;

	if (size > TWO_COUNTS_SOUGHT)
		size = TWO_COUNTS_SOUGHT;
	while ((end = memchr(line, '\n', size - (size_t)(line - stacks)))) {
		size_t length = (size_t)(end - line);

		if (length > 0 && line[length - 1] == '\r')
			length--;
		if (length > 0 && !collapsed_is_comment(line, length)) {
			if (!drop_count(line, &length) ||
			    !drop_count(line, &length))
				return false;
			is_any = true;
		}
		line = end + 1;
	}
	return is_any;
}

/*
 * The first line that may be a stack ends the header; stacks[size) follow.
 * Enters the process and, if no resource was named, the resource "samples" for
 * bare counts.  If all of the first stacks have two counts, as difffolded.pl
 * and similar programs write them, the resources are "before" and "after", with
 * a warning.
 */
static int
end_header(struct collapsed *input, const char *stacks, size_t size,
           struct error *error)
{
	struct profile *profile = input->reader.profile;
	bool has_two = profile->n_resources == 0 &&
	               have_two_counts(stacks, size);

	if (input->header.has_process &&
	    profile_add_process(profile, &input->header.process, error) ==
	    UINT32_MAX)
		return -1;
	if (profile->n_resources == 0 &&
	    profile_add_resource(profile, has_two ? "before" : "samples",
	                         "sample", 1, error) == UINT32_MAX)
		return -1;
	if (has_two &&
	    (profile_add_resource(profile, "after", "sample", 1, error) ==
	     UINT32_MAX ||
	     reader_warn(&input->reader, error, "two profiles in one, as "
	                 "written by difffolded.pl and inferno-diff-folded; "
	                 "shown as the resources before and after") != 0))
		return -1;
	input->writer = stack_writer_new(input->reader.source, STACK_LINES,
	                                 profile->n_resources, error);
	input->frame_names = frame_names_new(profile, error);
	input->was_scattered = true;
	return input->writer != NULL && input->frame_names != NULL ? 0 : -1;
}

/* ---- writing the header ---- */

/*
 * Adds a text to the header, up to a character that would end it; returns
 * whether it is unchanged.
 */
static bool
add_header_text(struct text_buffer *header, const char *text,
                const char *stops)
{
	bool is_whole = true;

	for (; *text != '\0'; text++) {
		bool is_stop = ((unsigned char)*text < ' ' && *text != '\t') ||
		    strchr(stops, *text) != NULL;

		text_add_char(header, is_stop ? '?' : *text);
		is_whole &= !is_stop;
	}
	return is_whole;
}

/*
 * Adds a resource's line up to the ';' after its name.  Blanks before the name
 * would be skipped, and a second resource of the same name refused.
 */
static bool
add_resource_name(struct text_buffer *header, const struct profile *profile,
                  uint32_t r)
{
	const char *name = profile->resources[r].name;
	size_t begin = header->length, n_blanks = strspn(name, " ");
	bool is_whole = n_blanks == 0;

	text_add_string(header, "\n# resource: ");
	for (size_t i = 0; i < n_blanks; i++)
		text_add_char(header, '_');
	is_whole &= add_header_text(header, name + n_blanks, ";");
	text_add_char(header, ';');
	if (header->failed || memmem(header->bytes, begin,
	                             header->bytes + begin,
	                             header->length - begin) == NULL)
		return is_whole;
	header->length--;
	text_add_format(header, "-%" PRIu32 ";", r + 1);
	return false;
}

static void
add_process_text(struct text_buffer *header, const char *key, const char *text)
{
	if (text == NULL)
		return;
	text_add_format(header, "# %s: ", key);
	add_header_text(header, text, "");
	text_add_char(header, '\n');
}

uint32_t
collapsed_header_add(struct text_buffer *header, const struct profile *profile)
{
	uint32_t n_changed = 0;

	text_add_string(header, "# cpprof 1");
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];
		bool is_whole = add_resource_name(header, profile, r);

		text_add_string(header, " gtick=");
		is_whole &= add_header_text(header, resource->gtick, ";");
		text_add_format(header, "; interval=%" PRIu64,
		                resource->interval);
		n_changed += !is_whole;
	}
	text_add_char(header, '\n');
	if (profile->n_processes > 0) {
		const struct process *process = &profile->processes[0];

		add_process_text(header, "program", process->program);
		add_process_text(header, "command", process->command);
		add_process_text(header, "host", process->host);
	}
	return n_changed;
}

/* ---- lines of stacks ---- */

/* Sets an error at the line that is read; returns -1. */
static int
collapsed_fail_line(struct collapsed *input, struct error *error,
                    const char *what)
{
	input->is_malformed = true;
	return reader_fail(&input->reader, error, "%s", what);
}

/* Handles a malformed line: cut short, skipped if lenient, or an error. */
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

/*
 * Reads the counts at the end of the line into counts[n_resources].  Returns
 * the length of the stack before them, or 0 with *wrong or *error set.
 */
static size_t
parse_counts(struct collapsed *input, const char *line, size_t length,
             uint64_t *counts, const char **wrong, struct error *error)
{
	const uint32_t n_resources = input->reader.profile->n_resources;

	for (uint32_t n = n_resources; n-- > 0;) {
		const char *end = line + length, *blank = end;
		double fraction = 0;
		bool is_below_zero;

		while (blank > line && *--blank != ' ' && *blank != '\t')
			;
		if (blank == line) {
			*wrong = "expected names joined by ';', a blank and a "
			         "count";
			return 0;
		}
		length = (size_t)(blank++ - line);
		is_below_zero = *blank == '-' &&
		    collapsed_parse_decimal(blank + 1, end, &counts[n],
		                            &fraction);
		if (is_below_zero && n_resources == 1) {
			*wrong = "a count below zero: differences of two "
			         "profiles are no profile; open the two "
			         "instead";
			return 0;
		}
		if (is_below_zero) {
			counts[n] = 0;
			if (reader_note_below_zero(&input->reader, n,
			                           input->reader.place,
			                           error) != 0)
				return 0;
			continue;
		}
		if (!collapsed_parse_count(blank, end, &counts[n]) &&
		    !collapsed_parse_decimal(blank, end, &counts[n],
		                             &fraction)) {
			*wrong = "expected a number below 2^64 after the last "
			         "blank";
			return 0;
		}
		input->n_fractions += fraction > 0;
		input->sum_of_fractions += fraction;
	}
	return length;
}

/* The length of the common prefix of two texts, at most n. */
static size_t
common_prefix(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i += DELIMITERS_BLOCK) {
		uint64_t differ = find_differences(a + i, b + i);
		size_t common = i;

		if (differ == 0)
			continue;
		common += (size_t)__builtin_ctzll(differ);
		return common < n ? common : n;
	}
	return n;
}

/*
 * Parses the line at the front of line[size], after which SOURCE_PADDING bytes
 * can be read, into the batch.  *end: its end.  *last: the line parsed just
 * before, still in memory, or NULL if there was none or other lines came
 * between; it becomes this one if that is a stack, else NULL.  Returns 1; 0 if
 * there is no end of line; or -1 with *error set.
 */
static int
collapsed_read_stack(struct collapsed *input, const char **last,
                     const char *line, size_t size, size_t *end,
                     struct error *error)
{
	struct stack_batch *batch = stack_writer_batch(input->writer);
	const uint32_t n_resources = input->reader.profile->n_resources;
	size_t begin = 0;		/* of the first frame not shared */
	size_t common, length, at;
	uint32_t n_shared = 0, depth, n;
	const char *wrong = NULL, *stop;
	bool is_continued;

	/* What it shares with the last line. */
	if (*last != NULL) {
		length = input->last_length;
		common = common_prefix(*last, line,
		                       size < length ? size : length);
		/* Its innermost frame lacks the ';'. */
		if (common == length && length < size && line[length] == ';')
			common++;
		n_shared = input->depth;
		while (n_shared > 0 &&
		       input->next_frame[n_shared - 1] > common)
			n_shared--;
		if (n_shared > 0)
			begin = input->next_frame[n_shared - 1];
	}

	/* The ends of the other frames except the innermost. */
	input->depth = depth = n_shared;
	for (at = begin; at < size; at += DELIMITERS_BLOCK) {
		struct delimiters found = find_delimiters(line + at);
		uint64_t before = (found.stops & -found.stops) - 1;
		uint64_t semicolons = found.semicolons & before;

		/* One more for the innermost frame. */
		if ((size_t)depth + DELIMITERS_BLOCK + 1 >
		        input->next_frame_capacity &&
		    memory_grow(&input->next_frame,
		                &input->next_frame_capacity,
		                (size_t)depth + DELIMITERS_BLOCK + 1,
		                sizeof *input->next_frame, error) != 0)
			return -1;
		for (; semicolons != 0; semicolons &= semicolons - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(semicolons);

			input->next_frame[depth++] = (uint32_t)(at + bit + 1);
		}
		if (found.stops != 0) {
			at += (size_t)__builtin_ctzll(found.stops);
			break;
		}
	}
	if (at >= size)
		return 0;
	*end = length = at;
	if (line[at] == '\0') {
		stop = memchr(line + at, '\n', size - at);
		if (stop == NULL)
			return 0;
		*end = (size_t)(stop - line);
		*last = NULL;
		return reject_line(input, "a NUL byte", error) == 0 ? 1 : -1;
	}

	/* The counts, then the names. */
	*last = NULL;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	depth++;
	if (stack_batch_reserve(batch, depth, n_resources, error) != 0 ||
	    memory_grow(&input->labels, &input->labels_capacity, depth,
	                sizeof *input->labels, error) != 0)
		return -1;
	length = parse_counts(input, line, length,
	                      batch->counts + batch->n_stacks * n_resources,
	                      &wrong, error);
	if (wrong != NULL)
		return reject_line(input, wrong, error) == 0 ? 1 : -1;
	if (error->is_set)
		return -1;
	input->next_frame[depth - 1] = (uint32_t)length + 1;
	if (frame_names_add(input->frame_names, line, begin,
	                    input->next_frame + n_shared, depth - n_shared,
	                    input->labels + n_shared, error) != 0)
		return -1;

	/* Into the batch. */
	is_continued = !input->was_scattered && !batch->is_scattered;
	n = is_continued ? depth - n_shared : depth;
	memcpy(batch->labels + batch->n_labels, input->labels + depth - n,
	       n * sizeof *batch->labels);
	batch->lengths[batch->n_stacks] = n;
	batch->stacks[batch->n_stacks++] = (struct parsed_stack){
		.position = input->reader.place,
		.n_shared = depth - n,
	};
	batch->n_labels += n;
	batch->n_frames += depth;
	batch->n_shared_frames += n_shared;
	input->was_scattered = batch->is_scattered;
	input->depth = depth;
	input->last_length = length;
	*last = line;
	return 1;
}

/* ---- lines ---- */

/* Reads the header's lines in bytes[size]; their size, or -1. */
static ssize_t
collapsed_read_header(struct collapsed *input, const char *bytes, size_t size,
                      struct error *error)
{
	const char *next = bytes, *end;

	while ((end = memchr(next, '\n', size - (size_t)(next - bytes)))) {
		const char *line = next;
		size_t length = (size_t)(end - line), before;
		bool is_comment;
		struct error wrong = { 0 };

		if (length > 0 && line[length - 1] == '\r')
			length--;
		is_comment = collapsed_is_comment(line, length);
		/* "#!..." may precede what names the counts. */
		before = length;
		if (length > 0 && !is_comment &&
		    (line[0] != '#' || drop_count(line, &before))) {
			if (end_header(input, line,
			               size - (size_t)(line - bytes),
			               error) != 0)
				return -1;
			break;
		}
		input->reader.place++;
		next = end + 1;
		if (length == 0)
			continue;
		if (!is_comment) {
			if (reject_line(input, "expected \"# \" and a comment, "
			                "or a stack and a count", error) != 0)
				return -1;
			continue;
		}
		if (collapsed_header_line(&input->header,
		                          input->reader.profile,
		                          line, length, &wrong) != 0)
			return wrong.is_out_of_memory ?
			       error_pass(error, &wrong) :
			       collapsed_fail_line(input, error, wrong.text);
	}
	return next - bytes;
}

/*
 * Reads the complete lines in bytes[size], header and stacks; returns their
 * size, or -1 with *error set.  *last as above.  Bytes after bytes[size) can be
 * read.
 */
static ssize_t
collapsed_read_lines(struct collapsed *input, const char **last,
                     const char *bytes, size_t size, struct error *error)
{
	const char *line = bytes, *stop = bytes + size;
	ssize_t header;

	if (input->writer == NULL) {
		header = collapsed_read_header(input, bytes, size, error);
		if (header < 0)
			return -1;
		line += header;
	}
	if (input->writer == NULL)
		return line - bytes;
	while (line < stop) {
		const size_t left = (size_t)(stop - line);
		const size_t blank = line[0] == '\n' ? 1 : left > 1 &&
		    line[0] == '\r' && line[1] == '\n' ? 2 : 0;
		size_t end = 0;
		int result;

		input->reader.place++;
		if (blank > 0) {
			*last = NULL;
			line += blank;
			continue;
		}
		if (line[0] == '#' && (line[1] == ' ' || line[1] == '\n' ||
		    (line[1] == '\r' && line[2] == '\n'))) {
			const char *comment_end = memchr(line, '\n', left);

			if (comment_end == NULL) {
				input->reader.place--;
				break;
			}
			*last = NULL;
			line = comment_end + 1;
			continue;
		}
		result = collapsed_read_stack(input, last, line, left, &end,
		                              error);
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

/* ---- the input ---- */

/*
 * Reads everything up to the last end of line, block by block.  A block begins
 * with the last stack's line, which the next one may continue.
 */
static int
read_blocks(struct collapsed *input, struct error *error)
{
	struct source *source = input->reader.source;
	size_t kept = 0, wanted = HEAD_SIZE, size;

	for (bool is_end = false; !is_end;) {
		const char *bytes = source_peek(source, wanted, &size, error);
		const char *last = kept > 0 ? bytes : NULL, *next;
		ssize_t taken;
		size_t left;

		is_end = size < wanted;
		if (bytes == NULL)
			return -1;
		taken = collapsed_read_lines(input, &last, bytes + kept,
		                             size - kept, error);
		if (taken < 0)
			return -1;
		next = bytes + kept + taken;
		left = size - kept - (size_t)taken;
		if (left > MAX_LINE) {
			input->reader.place++;
			return collapsed_fail_line(input, error, "a line "
			                           "longer than 256 MiB");
		}
		kept = last != NULL ? (size_t)(next - last) : 0;
		wanted = kept + 1 + (left < MAX_LINE / 2 ? 2 * left :
		                     MAX_LINE);
		source_skip(source, (size_t)(next - bytes) - kept);
		if (reader_step(&input->reader, error) != 0)
			return -1;
	}
	source_skip(source, kept);
	return 0;
}

/*
 * Reads what comes after the last newline, from a copy that has one.  It may
 * have been cut short anywhere: it counts if it is a valid line, unless the
 * packing of the input was cut short.
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

/*
 * A line may be malformed because packed input is damaged, which is often
 * noticed only further on.  Then the input is cut short (0); otherwise *wrong
 * is the error.
 */
static int
end_at_malformed(struct collapsed *input, const struct error *wrong,
                 struct error *error)
{
	struct source *source = input->reader.source;
	struct error failed = { 0 };
	size_t size;

	if (!input->is_malformed || !source_is_packed(source))
		return error_pass(error, wrong);
	while (source_peek(source, 1, &size, &failed) != NULL && size > 0) {
		source_skip(source, size);
		if (progress_step(NULL, 0, 0, &failed) != 0)
			break;
	}
	if (source_damage(source) == NULL)
		return error_pass(error, failed.is_set ? &failed : wrong);
	input->reader.is_cut_short = true;
	return input->writer != NULL ?
	       stack_writer_enter(input->writer, error) : 0;
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

/* ---- stacks whose outermost frame is a thread ---- */

/* What a frame says of its thread. */
struct thread_frame {
	const char *name;
	size_t length;		/* 0: no name */
	uint64_t pid, tid;	/* 0: unknown */
};

/*
 * Takes digits, or a '?' for an unknown number, off the end of text[*length];
 * false if there are none or the number is too large.
 */
static bool
collapsed_take_number(const char *text, size_t *length,
                              uint64_t *number)
{
	size_t n = *length;
	uint64_t value = 0;

	if (n > 0 && text[n - 1] == '?') {
		*length = n - 1;
		*number = 0;
		return true;
	}
	while (n > 0 && text[n - 1] >= '0' && text[n - 1] <= '9')
		n--;
	if (n == *length || *length - n > 10)
		return false;
	for (size_t i = n; i < *length; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	*length = n;
	*number = value;
	return true;
}

/* "java-4711/4712" or "java-4711" */
static bool
read_perf(const char *text, size_t length, struct thread_frame *frame)
{
	uint64_t last, first;
	size_t n = length;

	if (!collapsed_take_number(text, &n, &last) || n == 0)
		return false;
	*frame = (struct thread_frame){ text, n - 1, last, 0 };
	if (text[n - 1] == '/') {
		n--;
		if (!collapsed_take_number(text, &n, &first) || n == 0)
			return false;
		*frame = (struct thread_frame){ text, n - 1, first, last };
	}
	return text[n - 1] == '-' && n > 1;
}

/* "[main tid=4712]" or "[tid=4712]" */
static bool
read_async(const char *text, size_t length, struct thread_frame *frame)
{
	static const char key[] = "tid=";
	const size_t n_key = sizeof key - 1;
	size_t n = length;

	if (n < 2 || text[0] != '[' || text[n - 1] != ']')
		return false;
	n--;
	*frame = (struct thread_frame){ .name = text + 1 };
	if (!collapsed_take_number(text, &n, &frame->tid) ||
	    n < n_key + 1 || memcmp(text + n - n_key, key, n_key) != 0)
		return false;
	n -= n_key;
	if (n > 1 && text[n - 1] != ' ')
		return false;
	frame->length = n > 1 ? n - 2 : 0;
	return true;
}

/*
 * The thread of an outermost frame; NO_THREAD with *error set.  Its process is
 * made if new; process i after the file's own has the number pids[i].  A thread
 * without a number of a process belongs to the file's own, if it has one, else
 * to one that is unknown.
 */
static uint32_t
collapsed_add_thread(struct profile *profile, uint32_t label,
                     struct names *pids, struct error *error)
{
	const struct frame *of = &profile->frames[label];
	uint32_t name = profile->locations[of->first_location].function;
	const char *text = names_text(profile->names, name);
	size_t length = names_length(profile->names, name);
	uint32_t n = names_count(pids), n_own = profile->n_processes - n;
	struct thread_frame frame;
	struct thread thread = { 0 };
	struct process process = { 0 };
	uint32_t number;

	if (!read_perf(text, length, &frame) &&
	    !read_async(text, length, &frame))
		frame = (struct thread_frame){ text, length, 0, 0 };
	thread.tid = frame.tid;
	if (frame.length > 0) {
		thread.name = arena_text(&profile->arena, frame.name,
		                         frame.length, error);
		if (thread.name == NULL)
			return NO_THREAD;
	}
	if (frame.pid != 0 || n_own == 0) {
		number = names_add(pids, (const char *)&frame.pid,
		                   sizeof frame.pid, error);
		process.pid = frame.pid;
		process.program = frame.pid != 0 ? thread.name : NULL;
		if (number == NO_NAME ||
		    (number == n &&
		     profile_add_process(profile, &process, error) ==
		     UINT32_MAX))
			return NO_THREAD;
		thread.process = n_own + number;
	}
	return profile_add_thread(profile, &thread, error);
}

/*
 * Takes the outermost frames off the stacks of a profile without sections, and
 * makes each a thread with a section.  A stack that has no other frame keeps
 * it.  Known forms, of which the rest is a plain name:
 *
 *	java-4711/4712		stackcollapse-perf.pl --tid
 *	java-4711		stackcollapse-perf.pl --pid
 *	[main tid=4712]		async-profiler -t
 */
static int
collapsed_take_threads(struct profile *profile, struct error *error)
{
	struct sample_tree *tree = profile->tree;
	struct names *pids = names_new(error);
	struct node_numbers parents = { 0 }, rows = { 0 };

	node_numbers_reserve(&parents, tree->n_nodes, tree->n_nodes, error);
	node_numbers_reserve(&rows, tree->n_nodes, tree->rows.n, error);
	for (uint32_t root = 0, end; !error->is_set && root < tree->n_nodes;
	     root = end) {
		const uint32_t begin = parents.n_nodes;
		uint32_t thread = collapsed_add_thread(profile,
		    tree->label[root], pids, error);

		end = sample_tree_end(tree, root);
		/* The root stays before the others if stacks end there. */
		if (sample_tree_has_row(tree, root)) {
			tree->label[begin] = tree->label[root];
			tree_add_parent(&parents, NO_NODE);
			tree_add_row(&rows, sample_tree_row(tree, root));
		}
		sample_tree_move_up(tree, root, &parents, &rows);
		if (thread != NO_THREAD && parents.n_nodes > begin)
			profile_add_section(profile, begin, parents.n_nodes,
			                    thread, error);
	}
	names_free(pids);
	return sample_tree_replace_nodes(tree, &parents, &rows, error);
}

/* ---- the format ---- */

static int
collapsed_read_profile(struct collapsed *input, struct error *error)
{
	struct reader *reader = &input->reader;
	char sum[32];

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
	if (reader_warn_lines(reader, "", error) != 0)
		return -1;
	/* Hits are whole numbers; like inferno, drops the decimal places. */
	snprintf(sum, sizeof sum, "%.6g", input->sum_of_fractions);
	if (input->n_fractions == 1 &&
	    reader_warn(reader, error, "the fraction of 1 count was dropped, "
	                "%s hits; to keep it, multiply all counts, for "
	                "example by 1000", sum) != 0)
		return -1;
	if (input->n_fractions > 1 &&
	    reader_warn(reader, error, "the fractions of %" PRIu64 " counts "
	                "were dropped, %s hit%s in all; to keep them, multiply "
	                "all counts, for example by 1000", input->n_fractions,
	                sum, strcmp(sum, "1") == 0 ? "" : "s") != 0)
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
	frame_names_free(input.frame_names);
	free(input.next_frame);
	free(input.labels);
	return reader_end(&input.reader, result);
}

/* ---- the probe ---- */

enum probed_line { NO_STACK, SINGLE_NAME, JOINED_NAMES, JOINED_BELOW_ZERO };

/*
 * What a line looks like.  A stack ends in a blank and a number, and the text
 * before these has a letter and does not end as a field's name or value does
 * ("x = 5", "x: 5", "x, 5").  With a ';' between names only an operator before
 * the number makes it no stack ("a; b = 5").  If the blank is a tab, there must
 * be a ';': lines without one are rows of a table.
 */
static enum probed_line
probe_line(const char *line, size_t length)
{
	const char *blank = collapsed_find_blank(line, length);
	uint64_t count;
	double fraction;
	bool is_negative;
	size_t before, n = 0;

	if (blank == NULL || blank == line)
		return NO_STACK;
	/* One below zero is for the reader to refuse. */
	is_negative = blank + 1 < line + length && blank[1] == '-';
	if (!collapsed_parse_decimal(blank + 1 + is_negative, line + length,
	                             &count, &fraction))
		return NO_STACK;
	before = (size_t)(blank - line);
	/* An operator, but not "operator +". */
	while (n < before && memchr("=<>+-*/%&|!", line[before - 1 - n], 11))
		n++;
	if (n > 0 && n < before && line[before - 1 - n] == ' ' &&
	    (before - n < 9 ||
	     memcmp(line + before - n - 9, "operator ", 9) != 0))
		return NO_STACK;
	if (memchr(line, ';', before) != NULL && line[before - 1] != ';')
		return is_negative ? JOINED_BELOW_ZERO : JOINED_NAMES;
	if (is_negative || *blank != ' ' ||
	    memchr(",:=", line[before - 1], 3) != NULL)
		return NO_STACK;
	for (size_t i = 0; i < before; i++)
		if (memchr("0123456789 \t.,+-%", line[i], 17) == NULL)
			return SINGLE_NAME;
	return NO_STACK;
}

/*
 * Any text could be collapsed stacks with bad lines.  The rule:
 *
 * - A text that begins with "# cpprof 1" is (PROBE_SURE).
 * - Otherwise the first hundred complete lines that are neither blank nor
 *   comments decide.  If at least half of them are stacks, the text is
 *   (PROBE_LIKELY).  If fewer are, but one of these has a ';', it may be
 *   (PROBE_MAYBE); so may a text whose first line is longer than the probe can
 *   see.  Then a malformed line is an error at that line.
 * - Otherwise it is not (PROBE_NO).
 */
static int
collapsed_probe(const void *head, size_t size)
{
	const char *line = head, *stop = line + size, *end;
	bool is_text = line_find_binary(head, size) == size;
	bool has_joined = false, is_binary = false;
	size_t n_lines = 0, n_stacks = 0;

	if (size >= 10 && memcmp(head, "# cpprof 1", 10) == 0)
		return PROBE_SURE;
	for (; line < stop && n_lines < PROBED_LINES_MAX; line = end + 1) {
		enum probed_line found;
		size_t length;

		end = memchr(line, '\n', (size_t)(stop - line));
		if (end == NULL && size >= FORMAT_HEAD_SIZE)
			break;
		if (end == NULL)
			end = stop;
		length = (size_t)(end - line);
		if (length > 0 && line[length - 1] == '\r')
			length--;
		if (length == 0 || collapsed_is_comment(line, length))
			continue;
		if (n_lines++ == 0)
			is_binary = memchr(line, '\0', length) != NULL;
		found = probe_line(line, length);
		n_stacks += found != NO_STACK;
		has_joined |= found == JOINED_NAMES;
	}
	if (n_lines == 0)
		return is_text ? PROBE_MAYBE : PROBE_NO;
	if (!is_binary && 2 * n_stacks >= n_lines)
		return PROBE_LIKELY;
	return has_joined && is_text ? PROBE_MAYBE : PROBE_NO;
}

const struct format format_collapsed = {
	.name = "collapsed stacks",
	.summary = "one stack a line and its count, for flame graphs",
	.probe = collapsed_probe,
	.read = collapsed_read,
};
