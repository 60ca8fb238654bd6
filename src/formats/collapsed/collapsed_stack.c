/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_stack.c -- lines of collapsed stacks, parsed into batches.
 *
 * The text of the previous line is still in memory; the ends of its frames and
 * the numbers of their names are kept.  A line is compared with it from the
 * front; after the last frame that agrees, delimiters are searched, and the
 * text between them is interned.
 */
#include "src/formats/collapsed/collapsed.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/reader.h"
#include "src/formats/source.h"

_Static_assert((int)SOURCE_PADDING >= (int)FRAME_NAMES_PADDING &&
               (int)SOURCE_PADDING >= (int)DELIMITERS_BLOCK,
               "names and blocks may be read beyond the bytes at hand");

/* The line parsed last, or the one being parsed. */
struct stack_parser {
	struct reader *reader;
	struct frame_names *frame_names;
	uint32_t n_resources;
	size_t last_length;	/* of its stack, without counts */
	uint32_t depth;
	uint32_t *next_frame;	/* [depth], the offset of the next frame */
	uint32_t *labels;	/* [depth] */
	size_t next_frame_capacity, labels_capacity;
	struct cut_fractions fractions;
	bool was_scattered;	/* so the builder does not know its nodes */
};

struct stack_parser *
stack_parser_new(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	struct stack_parser *parser = memory_array(1, sizeof *parser, error);

	if (parser == NULL)
		return NULL;
	parser->reader = reader;
	parser->n_resources = profile->n_resources;
	parser->was_scattered = true;
	parser->frame_names = frame_names_new(profile, error);
	if (parser->frame_names == NULL) {
		free(parser);
		return NULL;
	}
	return parser;
}

const struct cut_fractions *
stack_parser_fractions(const struct stack_parser *parser)
{
	return &parser->fractions;
}

void
stack_parser_free(struct stack_parser *parser)
{
	if (parser == NULL)
		return;
	frame_names_free(parser->frame_names);
	free(parser->next_frame);
	free(parser->labels);
	free(parser);
}

/*
 * Whether the count is below zero.  Where it is the only one, the line is
 * malformed; else its column is noted.
 */
static bool
is_below_zero(struct stack_parser *parser, const char *text, const char *end,
              uint32_t column, struct error *malformed, struct error *error)
{
	uint64_t count;
	double fraction;

	if (*text != '-' ||
	    !collapsed_parse_decimal(text + 1, end, &count, &fraction))
		return false;
	if (parser->n_resources == 1)
		error_set(malformed, "a count below zero: differences of two "
		          "profiles are no profile; open the two instead");
	else
		reader_note_below_zero(parser->reader, column,
		                       parser->reader->place, error);
	return true;
}

/*
 * Reads the counts at the end of the line into counts[n_resources]; returns the
 * length of the stack before them, or 0 with *malformed set.
 */
static size_t
parse_counts(struct stack_parser *parser, const char *line, size_t length,
             uint64_t *counts, struct error *malformed, struct error *error)
{
	struct cut_fractions *fractions = &parser->fractions;
	uint32_t n = parser->n_resources;

	while (n-- > 0) {
		const char *end = line + length, *blank = end;
		double fraction = 0;

		while (blank > line && *--blank != ' ' && *blank != '\t')
			;
		if (blank == line) {
			error_set(malformed, "expected names joined by ';', "
			          "a blank and a count");
			return 0;
		}
		if (is_below_zero(parser, blank + 1, end, n, malformed,
		                  error)) {
			counts[n] = 0;
			if (malformed->is_set)
				return 0;
		} else if (!collapsed_parse_count(blank + 1, end, &counts[n]) &&
		           !collapsed_parse_decimal(blank + 1, end, &counts[n],
		                                    &fraction)) {
			error_set(malformed, "expected a number below 2^64 "
			          "after the last blank");
			return 0;
		}
		fractions->n += fraction > 0;
		fractions->sum += fraction;
		length = (size_t)(blank - line);
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

/* Keeps the frames that end at these semicolons of the block at `at`. */
static int
push_frames(struct stack_parser *parser, size_t at, uint64_t semicolons,
            struct error *error)
{
	size_t depth = parser->depth;

	/* One more for the innermost frame. */
	if (depth + DELIMITERS_BLOCK + 1 > parser->next_frame_capacity &&
	    memory_grow(&parser->next_frame, &parser->next_frame_capacity,
	                depth + DELIMITERS_BLOCK + 1,
	                sizeof *parser->next_frame, error) != 0)
		return -1;
	for (; semicolons != 0; semicolons &= semicolons - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(semicolons);

		parser->next_frame[depth++] = (uint32_t)(at + bit + 1);
	}
	parser->depth = (uint32_t)depth;
	return 0;
}

/*
 * Pushes all frames of line[at..) except the innermost, up to the end of the
 * line, whose offset goes to *end.  at: the beginning of a frame.
 */
static int
collapsed_stack_find_frames(struct stack_parser *parser, const char *line,
                            size_t at, size_t size, size_t *end,
                            struct error *malformed, struct error *error)
{
	for (; at < size; at += DELIMITERS_BLOCK) {
		struct delimiters found = find_delimiters(line + at);
		uint64_t before = (found.stops & -found.stops) - 1;
		uint64_t semicolons = found.semicolons & before;

		if (push_frames(parser, at, semicolons, error) != 0)
			return STACK_FAILED;
		if (found.stops == 0)
			continue;
		at += (size_t)__builtin_ctzll(found.stops);
		break;
	}
	if (at >= size)
		return STACK_UNENDED;
	*end = at;
	if (line[at] == '\0') {
		const char *stop = memchr(line + at, '\n', size - at);

		if (stop == NULL)
			return STACK_UNENDED;
		*end = (size_t)(stop - line);
		error_set(malformed, "a NUL byte");
		return STACK_MALFORMED;
	}
	return STACK_PARSED;
}

/* Where a line differs from the previous one. */
struct fork {
	size_t at;		/* offset of the first frame that is not
				 * shared */
	size_t common;		/* length of the common prefix */
	uint32_t n_shared;	/* frames */
};

static void
put_into_batch(struct stack_parser *parser, struct stack_batch *batch,
               uint64_t line_number, const struct fork *fork)
{
	bool is_continued = !parser->was_scattered && !batch->is_scattered;
	uint32_t begin = is_continued ? fork->n_shared : 0;
	uint32_t n = parser->depth - begin;

	memcpy(batch->labels + batch->n_labels, parser->labels + begin,
	       n * sizeof *batch->labels);
	batch->lengths[batch->n_stacks] = n;
	batch->stacks[batch->n_stacks++] = (struct parsed_stack){
		.position = line_number,
		.n_shared = begin,
	};
	batch->n_labels += n;
	batch->n_frames += parser->depth;
	batch->n_shared_frames += fork->n_shared;
	parser->was_scattered = batch->is_scattered;
}

/* Names the frames after the fork, up to line[length), except the counts. */
static int
finish_line(struct stack_parser *parser, struct stack_batch *batch,
            const struct fork *fork, const char *line, size_t length,
            struct error *malformed, struct error *error)
{
	uint32_t depth = ++parser->depth;

	if (stack_batch_reserve(batch, depth, parser->n_resources,
	                        error) != 0 ||
	    memory_grow(&parser->labels, &parser->labels_capacity, depth,
	                sizeof *parser->labels, error) != 0)
		return STACK_FAILED;
	length = parse_counts(parser, line, length, batch->counts +
	                      batch->n_stacks * parser->n_resources,
	                      malformed, error);
	if (malformed->is_set)
		return STACK_MALFORMED;
	if (error->is_set)
		return STACK_FAILED;
	parser->next_frame[depth - 1] = (uint32_t)length + 1;
	parser->last_length = length;
	return frame_names_add(parser->frame_names, line, fork->at,
	                       parser->next_frame + fork->n_shared,
	                       depth - fork->n_shared,
	                       parser->labels + fork->n_shared, error) == 0 ?
	       STACK_PARSED : STACK_FAILED;
}

static struct fork
collapsed_stack_find_fork(const struct stack_parser *parser, const char *last,
                          const char *line, size_t size)
{
	struct fork fork = { 0 };
	uint32_t n = parser->depth;
	size_t length = parser->last_length;

	if (last == NULL)
		return fork;
	fork.common = common_prefix(last, line, size < length ? size : length);
	/* The last stack's innermost frame, which lacks the ';'. */
	if (fork.common == length && length < size && line[length] == ';')
		fork.common++;
	while (n > 0 && parser->next_frame[n - 1] > fork.common)
		n--;
	fork.n_shared = n;
	if (n > 0)
		fork.at = parser->next_frame[n - 1];
	return fork;
}

int
stack_parser_line(struct stack_parser *parser, struct stack_batch *batch,
                  uint64_t line_number, const char *last, const char *line,
                  size_t size, size_t *end, struct error *malformed,
                  struct error *error)
{
	struct fork fork = collapsed_stack_find_fork(parser, last, line, size);
	size_t length;
	int found;

	parser->depth = fork.n_shared;
	found = collapsed_stack_find_frames(parser, line, fork.at, size, end,
	                                    malformed, error);
	if (found == STACK_UNENDED)
		parser->depth = fork.n_shared;
	if (found != STACK_PARSED)
		return found;
	length = *end;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	found = finish_line(parser, batch, &fork, line, length, malformed,
	                    error);
	if (found == STACK_PARSED)
		put_into_batch(parser, batch, line_number, &fork);
	return found;
}
