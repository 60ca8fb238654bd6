/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed.c -- collapsed stacks, one a line.
 *
 * `main;read db;parse 12`: names outermost first, a blank, a count for each
 * resource.  A header may come first (collapsed_header.h).
 *
 * A line shares its outermost frames with the line before it as far as their
 * texts agree, so that in sorted input only the ends of lines are parsed.  What
 * is parsed goes into a batch, as numbers of names, and from there into the
 * tree.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/collapsed_header.h"
#include "src/formats/delimiters.h"
#include "src/formats/format.h"
#include "src/formats/frame_names.h"

enum { MAX_LINE = 256 << 20 };

_Static_assert((int)SOURCE_PADDING >= (int)FRAME_NAMES_PADDING &&
               (int)SOURCE_PADDING >= (int)DELIMITERS_BLOCK,
               "names and blocks may be read beyond the bytes at hand");

/*
 * Stacks that are parsed and not yet in the tree.  Each continues the one
 * before it from frame n_shared on; scattered ones, which share little with
 * their neighbours, are whole.
 */
struct batch {
	struct parsed_stack {
		uint64_t line_number;
		uint32_t n_shared;
		bool is_above;	/* the first frame that is not shared comes
				 * behind that of the stack before, in bytes */
	} *stacks;
	uint32_t *lengths;	/* [n_stacks], labels of each */
	uint32_t *labels;	/* one stack's behind the other's */
	uint64_t *counts;	/* [n_stacks][n_resources] */
	uint32_t *innermost;	/* scratch */
	size_t n_stacks, n_labels;
	size_t stacks_capacity, lengths_capacity, labels_capacity,
	    counts_capacity, innermost_capacity;
	size_t n_frames, n_shared_frames;
	bool is_scattered;
};

struct reader {
	struct source *source;
	const struct read_options *options;
	struct profile *profile;
	struct collapsed_header header;
	bool is_in_header;
	struct tree_builder *builder;	/* from the first stack on */
	struct frame_names *frame_names;
	struct batch batch;

	uint64_t line_number;
	uint64_t n_skipped;		/* lines, when lenient */
	struct error first_skipped;

	/*
	 * The line that was parsed last: its stack's length, and of each frame
	 * where the next one begins and its name.
	 */
	size_t last_length;
	uint32_t depth;
	uint32_t *next_frame;
	uint32_t *labels;
	size_t next_frame_capacity, labels_capacity;
	bool is_last_spoilt;	/* frames behind depth were overwritten */

	/*
	 * The stack that was entered last, unless scattered: its nodes.
	 * is_ascending[i], i <= depth: whether the children of the first i
	 * frames' innermost came in ascending order up to the one that is on
	 * this stack, so that what is above that one is new.
	 */
	uint32_t *nodes;
	bool *is_ascending;
	size_t nodes_capacity, is_ascending_capacity;
	bool has_nodes;		/* when all of the batch is entered */
};

/* Sets an error at the line that is read; returns -1. */
static int
fail_line(const struct reader *reader, struct error *error, const char *what)
{
	return error_set(error, "%s:%llu: %s", source_name(reader->source),
	                 (unsigned long long)reader->line_number, what);
}

/* ---- from batch to tree ---- */

static int
add_counts(struct reader *reader, uint32_t node, const uint64_t *counts,
           uint64_t line_number, struct error *error)
{
	for (uint32_t r = 0; r < reader->profile->n_resources; r++) {
		struct error sum = { 0 };

		if (counts[r] == 0 ||
		    tree_builder_add(reader->builder, node, r, counts[r],
		                     counts[r], &sum) == 0)
			continue;
		reader->line_number = line_number;
		return fail_line(reader, error, sum.text);
	}
	return 0;
}

/* Enters the labels of a stack that continues the one before. */
static int
continue_stack(struct reader *reader, const struct parsed_stack *stack,
               const uint32_t *labels, uint32_t n, struct error *error)
{
	uint32_t at = stack->n_shared;
	uint32_t *nodes = reader->nodes;
	bool *is_ascending = reader->is_ascending;
	uint32_t parent = at > 0 ? nodes[at - 1] : NO_NODE;
	uint32_t first_new = tree_builder_count(reader->builder);

	is_ascending[at] = stack->is_above && is_ascending[at];
	if ((is_ascending[at] ?
	     tree_builder_append(reader->builder, parent, labels, n,
	                         nodes + at, error) :
	     tree_builder_chain(reader->builder, parent, labels, n,
	                        nodes + at, error)) != 0)
		return -1;
	for (uint32_t i = at; i < at + n; i++)
		is_ascending[i + 1] = nodes[i] >= first_new;
	return 0;
}

static int
enter_continued(struct reader *reader, struct error *error)
{
	const struct batch *batch = &reader->batch;
	const uint32_t *labels = batch->labels;

	for (size_t i = 0; i < batch->n_stacks; i++) {
		const struct parsed_stack *stack = &batch->stacks[i];
		uint32_t n = batch->lengths[i];

		if (continue_stack(reader, stack, labels, n, error) != 0)
			return -1;
		batch->innermost[i] = reader->nodes[stack->n_shared + n - 1];
		labels += n;
	}
	return 0;
}

static int
enter_batch(struct reader *reader, struct error *error)
{
	struct batch *batch = &reader->batch;
	uint32_t n_resources = reader->profile->n_resources;
	int result;

	if (memory_grow(&batch->innermost, &batch->innermost_capacity,
	                batch->n_stacks, sizeof *batch->innermost,
	                error) != 0)
		return -1;
	result = batch->is_scattered ?
	    tree_builder_stacks(reader->builder, batch->labels,
	                        batch->lengths, batch->n_stacks,
	                        batch->innermost, error) :
	    enter_continued(reader, error);
	for (size_t i = 0; result == 0 && i < batch->n_stacks; i++)
		result = add_counts(reader, batch->innermost[i],
		                    batch->counts + i * n_resources,
		                    batch->stacks[i].line_number, error);
	batch->is_scattered = batch->n_shared_frames < batch->n_frames / 2;
	batch->n_stacks = batch->n_labels = 0;
	batch->n_frames = batch->n_shared_frames = 0;
	return result;
}

/* ---- from line to batch ---- */

static const char expected_stack[] =
    "expected names joined by ';', a blank and a count";

/*
 * Reads the counts at the end of the line into counts[n_resources]; the length
 * of the stack before them, or 0 with *malformed set.
 */
static size_t
parse_counts(const struct reader *reader, const char *line, size_t length,
             uint64_t *counts, struct error *malformed)
{
	for (uint32_t r = reader->profile->n_resources; r-- > 0;) {
		const char *end = line + length, *blank = end;

		while (blank > line && *--blank != ' ')
			;
		if (blank == line || *blank != ' ') {
			fail_line(reader, malformed, expected_stack);
			return 0;
		}
		if (!collapsed_parse_count(blank + 1, end, &counts[r])) {
			fail_line(reader, malformed, "expected a whole number "
			          "below 2^64 behind the last blank");
			return 0;
		}
		length = (size_t)(blank - line);
	}
	return length;
}

/* How many bytes two texts begin with in common, at most n. */
static size_t
common_prefix(const char *a, const char *b, size_t n)
{
	uint64_t x[4], y[4];
	size_t i = 0;

	for (; i + sizeof x <= n; i += sizeof x) {
		memcpy(x, a + i, sizeof x);
		memcpy(y, b + i, sizeof y);
		if (((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) |
		     (x[3] ^ y[3])) != 0)
			break;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* What find_frames found. */
enum { FRAMES_WHOLE, FRAMES_MALFORMED, FRAMES_NO_END, FRAMES_ERROR };

/* Keeps frames that end in front of these semicolons of the block at `at`. */
static int
push_frames(struct reader *reader, size_t at, uint64_t semicolons,
            struct error *error)
{
	size_t depth = reader->depth;

	/* One more for the innermost frame. */
	if (depth + DELIMITERS_BLOCK + 1 > reader->next_frame_capacity &&
	    memory_grow(&reader->next_frame, &reader->next_frame_capacity,
	                depth + DELIMITERS_BLOCK + 1,
	                sizeof *reader->next_frame, error) != 0)
		return -1;
	for (; semicolons != 0; semicolons &= semicolons - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(semicolons);

		reader->next_frame[depth++] = (uint32_t)(at + bit + 1);
	}
	reader->depth = (uint32_t)depth;
	return 0;
}

/*
 * Pushes all frames of line[at..) but the innermost, up to the end of line,
 * the offset of which goes to *end.  at: where a frame begins.
 */
static int
find_frames(struct reader *reader, const char *line, size_t at, size_t size,
            size_t *end, struct error *malformed, struct error *error)
{
	uint64_t begins = 1;	/* bit 0: a frame begins with the block */
	bool has_empty = false;

	for (; at < size; at += DELIMITERS_BLOCK) {
		struct delimiters found = find_delimiters(line + at);
		uint64_t before = (found.stops & -found.stops) - 1;
		uint64_t semicolons = found.semicolons & before;

		has_empty |= (semicolons & (semicolons << 1 | begins)) != 0;
		begins = semicolons >> (DELIMITERS_BLOCK - 1);
		if (push_frames(reader, at, semicolons, error) != 0)
			return FRAMES_ERROR;
		if (found.stops == 0)
			continue;
		at += (size_t)__builtin_ctzll(found.stops);
		break;
	}
	if (at >= size)
		return FRAMES_NO_END;
	*end = at;
	if (line[at] == '\0') {
		const char *stop = memchr(line + at, '\n', size - at);

		if (stop == NULL)
			return FRAMES_NO_END;
		*end = (size_t)(stop - line);
		fail_line(reader, malformed, "a NUL byte");
		return FRAMES_MALFORMED;
	}
	if (has_empty)
		fail_line(reader, malformed, "an empty name in the stack");
	return has_empty ? FRAMES_MALFORMED : FRAMES_WHOLE;
}

/* Room for the line's frames and for one more stack in the batch. */
static int
reserve_stack(struct reader *reader, struct error *error)
{
	struct batch *batch = &reader->batch;
	size_t depth = reader->depth, n_stacks = batch->n_stacks + 1;
	size_t n_counts = n_stacks * reader->profile->n_resources;

	if (memory_grow(&batch->stacks, &batch->stacks_capacity, n_stacks,
	                sizeof *batch->stacks, error) != 0 ||
	    memory_grow(&batch->lengths, &batch->lengths_capacity, n_stacks,
	                sizeof *batch->lengths, error) != 0 ||
	    memory_grow(&batch->labels, &batch->labels_capacity,
	                batch->n_labels + depth, sizeof *batch->labels,
	                error) != 0 ||
	    memory_grow(&batch->counts, &batch->counts_capacity, n_counts,
	                sizeof *batch->counts, error) != 0)
		return -1;
	if (memory_grow(&reader->labels, &reader->labels_capacity, depth,
	                sizeof *reader->labels, error) != 0 ||
	    memory_grow(&reader->nodes, &reader->nodes_capacity, depth,
	                sizeof *reader->nodes, error) != 0 ||
	    memory_grow(&reader->is_ascending, &reader->is_ascending_capacity,
	                depth + 1, sizeof *reader->is_ascending, error) != 0)
		return -1;
	return 0;
}

/* Names the frames from number n_shared on. */
static int
name_frames(struct reader *reader, const char *line, uint32_t n_shared,
            struct error *error)
{
	size_t begin = n_shared > 0 ? reader->next_frame[n_shared - 1] : 0;

	for (uint32_t i = n_shared; i < reader->depth; i++) {
		size_t next = reader->next_frame[i];

		reader->labels[i] = frame_names_add(reader->frame_names,
		                                    line + begin,
		                                    next - 1 - begin, error);
		if (reader->labels[i] == NO_NAME)
			return -1;
		begin = next;
	}
	return 0;
}

/* Where a line leaves the one before it. */
struct fork {
	const char *last;	/* that line; NULL: nothing is known of it */
	size_t at;		/* the first frame that is not shared begins */
	size_t common;		/* bytes of both that agree */
	size_t last_end;	/* end of last's frame at `at`; at if none */
	uint32_t n_shared;	/* frames */
};

/* Whether the frame that the line forks with comes behind last's. */
static bool
forks_upwards(const struct reader *reader, const struct fork *fork,
              const char *line)
{
	size_t end = reader->next_frame[fork->n_shared] - 1;
	const unsigned char *a = (const unsigned char *)fork->last;
	const unsigned char *b = (const unsigned char *)line;

	if (a == NULL || reader->is_last_spoilt)
		return false;
	return fork->common < end && (fork->common >= fork->last_end ||
	                              b[fork->common] > a[fork->common]);
}

static void
put_into_batch(struct reader *reader, const struct fork *fork,
               const char *line)
{
	struct batch *batch = &reader->batch;
	bool is_continued = reader->has_nodes && !batch->is_scattered;
	uint32_t begin = is_continued ? fork->n_shared : 0;
	uint32_t n = reader->depth - begin;

	memcpy(batch->labels + batch->n_labels, reader->labels + begin,
	       n * sizeof *batch->labels);
	batch->lengths[batch->n_stacks] = n;
	batch->stacks[batch->n_stacks++] = (struct parsed_stack){
		.line_number = reader->line_number,
		.n_shared = begin,
		.is_above = is_continued && forks_upwards(reader, fork, line),
	};
	batch->n_labels += n;
	batch->n_frames += reader->depth;
	batch->n_shared_frames += fork->n_shared;
	reader->has_nodes = !batch->is_scattered;
	reader->is_last_spoilt = false;
}

/* The line's end is known, and where all frames but the innermost end. */
static int
parse_rest(struct reader *reader, const struct fork *fork, const char *line,
           size_t length, struct error *malformed, struct error *error)
{
	struct batch *batch = &reader->batch;
	uint32_t depth = ++reader->depth;
	size_t begin = depth > 1 ? reader->next_frame[depth - 2] : 0;

	if (reserve_stack(reader, error) != 0)
		return FRAMES_ERROR;
	length = parse_counts(reader, line, length, batch->counts +
	                      batch->n_stacks * reader->profile->n_resources,
	                      malformed);
	if (length > 0 && length <= begin)
		fail_line(reader, malformed, "an empty name in the stack");
	if (malformed->is_set)
		return FRAMES_MALFORMED;
	reader->next_frame[depth - 1] = (uint32_t)length + 1;
	reader->last_length = length;
	if (name_frames(reader, line, fork->n_shared, error) != 0)
		return FRAMES_ERROR;
	put_into_batch(reader, fork, line);
	return FRAMES_WHOLE;
}

static struct fork
find_fork(const struct reader *reader, const char *last, const char *line,
          size_t size)
{
	struct fork fork = { .last = last };
	uint32_t n = reader->depth;
	size_t length = reader->last_length;

	if (last == NULL)
		return fork;
	fork.common = common_prefix(last, line, size < length ? size : length);
	/* The last stack's innermost frame, which lacks the ';'. */
	if (fork.common == length && length < size && line[length] == ';')
		fork.common++;
	while (n > 0 && reader->next_frame[n - 1] > fork.common)
		n--;
	fork.n_shared = n;
	if (n > 0)
		fork.at = reader->next_frame[n - 1];
	fork.last_end = fork.at;
	if (n < reader->depth)
		fork.last_end = reader->next_frame[n] - 1;
	return fork;
}

/*
 * One stack's line from line[size], which may hold more.  last: the line
 * before, if that was parsed as a stack, else NULL.  Where it ends goes to
 * *end.
 */
static int
parse_stack(struct reader *reader, const char *last, const char *line,
            size_t size, size_t *end, struct error *malformed,
            struct error *error)
{
	struct fork fork = find_fork(reader, last, line, size);
	size_t length;
	int found;

	reader->depth = fork.n_shared;
	found = find_frames(reader, line, fork.at, size, end, malformed,
	                    error);
	if (found == FRAMES_NO_END) {
		reader->depth = fork.n_shared;
		reader->is_last_spoilt = true;
	}
	if (found != FRAMES_WHOLE)
		return found;
	length = *end;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	return parse_rest(reader, &fork, line, length, malformed, error);
}

/* ---- lines ---- */

/* A line that fits no rule: skipped when lenient, else the load's error. */
static int
reject_line(struct reader *reader, const struct error *malformed,
            struct error *error)
{
	if (!reader->options->lenient)
		return error_set(error, "%s", malformed->text);
	if (reader->n_skipped++ == 0)
		reader->first_skipped = *malformed;
	return 0;
}

/* The first line that is neither blank nor begins with '#' ends the header. */
static int
end_header(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;

	reader->is_in_header = false;
	if (collapsed_header_end(&reader->header, profile, error) != 0)
		return -1;
	reader->frame_names = frame_names_new(profile, error);
	reader->builder = tree_builder_new(profile->n_resources, error);
	return error->is_set ? -1 : 0;
}

/*
 * The bytes that the header's lines among bytes[size] take, or -1 with *error
 * set.
 */
static ssize_t
read_header(struct reader *reader, const char *bytes, size_t size,
            struct error *error)
{
	const char *line = bytes, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
		struct error wrong = { 0 };
		size_t length = (size_t)(end - line);

		if (length > 0 && line[length - 1] == '\r')
			length--;
		if (length > 0 && line[0] != '#') {
			if (end_header(reader, error) != 0)
				return -1;
			break;
		}
		reader->line_number++;
		if (length > 0 &&
		    collapsed_header_line(&reader->header, reader->profile,
		                          line, length, &wrong) != 0)
			return fail_line(reader, error, wrong.text);
		line = end + 1;
	}
	return line - bytes;
}

/* Length of the line's end when it is blank, else 0. */
static size_t
blank_line(const char *line, size_t size)
{
	if (size > 0 && line[0] == '\n')
		return 1;
	return size > 1 && line[0] == '\r' && line[1] == '\n' ? 2 : 0;
}

/*
 * The bytes that the whole lines among bytes[size] take, or -1 with *error
 * set.  *last is the line before if that was parsed as a stack, else NULL;
 * then so the last of these.
 */
static ssize_t
read_stacks(struct reader *reader, const char **last, const char *bytes,
            size_t size, struct error *error)
{
	const char *line = bytes, *stop = bytes + size;

	while (line < stop) {
		struct error malformed = { 0 };
		size_t left = (size_t)(stop - line);
		size_t end = blank_line(line, left);
		int found;

		reader->line_number++;
		if (end > 0) {
			*last = NULL;
			line += end;
			continue;
		}
		found = parse_stack(reader, *last, line, left, &end,
		                    &malformed, error);
		if (found == FRAMES_NO_END) {
			reader->line_number--;
			break;
		}
		if (found == FRAMES_ERROR ||
		    (found == FRAMES_MALFORMED &&
		     reject_line(reader, &malformed, error) != 0))
			return -1;
		*last = found == FRAMES_WHOLE ? line : NULL;
		line += end + 1;
	}
	return enter_batch(reader, error) == 0 ? line - bytes : -1;
}

/* Both, as far as the header reaches. */
static ssize_t
read_lines(struct reader *reader, const char **last, const char *bytes,
           size_t size, struct error *error)
{
	ssize_t header = 0, stacks = 0;

	if (reader->is_in_header)
		header = read_header(reader, bytes, size, error);
	if (header >= 0 && !reader->is_in_header)
		stacks = read_stacks(reader, last, bytes + header,
		                     size - (size_t)header, error);
	return header < 0 || stacks < 0 ? -1 : header + stacks;
}

/* ---- the whole input ---- */

static bool
has_stacks(const struct reader *reader)
{
	return reader->builder != NULL &&
	       tree_builder_count(reader->builder) > 0;
}

/* Reads a line that lacks its end from a copy that has one. */
static int
read_unended_line(struct reader *reader, const char *line, size_t length,
                  struct error *error)
{
	char *copy = memory_array(length + 1 + SOURCE_PADDING, 1, error);
	const char *last = NULL;
	ssize_t taken;

	if (copy == NULL)
		return -1;
	memcpy(copy, line, length);
	copy[length] = '\n';
	taken = read_lines(reader, &last, copy, length + 1, error);
	free(copy);
	return taken < 0 ? -1 : 0;
}

/*
 * What stands behind the last end of line may have been cut anywhere: in
 * packed input that was cut it is not believed, else if it makes sense.
 */
static int
read_last_line(struct reader *reader, const char *line, size_t length,
               struct error *error)
{
	struct error wrong = { 0 };
	bool is_cut = source_is_truncated(reader->source);

	if (!is_cut && length == 0)
		return 0;
	if (!is_cut)
		is_cut = read_unended_line(reader, line, length, &wrong) != 0;
	else
		reader->line_number++;
	if (!is_cut)
		return 0;
	if (!has_stacks(reader))
		return wrong.is_set ? error_set(error, "%s", wrong.text) : 0;
	return profile_warn(reader->profile, error, "%s:%llu: the input is "
	                    "cut off here; what came before was read",
	                    source_name(reader->source),
	                    (unsigned long long)reader->line_number);
}

/*
 * Lines from bytes[size], of which the first *kept are the last stack's line.
 * What can be done without is skipped; *kept and *wanted are set for the next
 * look at the source.
 */
static int
read_block(struct reader *reader, const char *bytes, size_t size,
           size_t *kept, size_t *wanted, struct error *error)
{
	const char *last = *kept > 0 ? bytes : NULL;
	ssize_t taken = read_lines(reader, &last, bytes + *kept, size - *kept,
	                           error);
	const char *next = bytes + *kept + taken;
	size_t left = size - *kept - (size_t)taken;

	if (taken < 0)
		return -1;
	if (left > MAX_LINE) {
		reader->line_number++;
		return fail_line(reader, error,
		                 "a line longer than 256 MiB");
	}
	*kept = last != NULL ? (size_t)(next - last) : 0;
	*wanted = *kept + 2 * left + 1;
	source_skip(reader->source, (size_t)(next - bytes) - *kept);
	return progress_step(reader->options->progress,
	                     source_done(reader->source),
	                     source_size(reader->source), error);
}

static int
read_source(struct reader *reader, struct error *error)
{
	size_t kept = 0, wanted = 1, size;
	const char *bytes;

	while ((bytes = source_peek(reader->source, wanted, &size, error))) {
		bool is_end = size < wanted;

		if (read_block(reader, bytes, size, &kept, &wanted,
		               error) != 0)
			return -1;
		if (!is_end)
			continue;
		source_skip(reader->source, kept);
		bytes = source_peek(reader->source, 0, &size, error);
		if (bytes == NULL ||
		    read_last_line(reader, bytes, size, error) != 0)
			return -1;
		source_skip(reader->source, size);
		if (source_peek(reader->source, 1, &size, error) == NULL)
			return -1;
		return 0;
	}
	return -1;
}

static int
finish_profile(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;

	if (reader->n_skipped > 0 &&
	    profile_warn(profile, error, "%s: %llu lines skipped, the first: "
	                 "%s", source_name(reader->source),
	                 (unsigned long long)reader->n_skipped,
	                 reader->first_skipped.text) != 0)
		return -1;
	if (!has_stacks(reader))
		return error_set(error, "%s: no stacks in it",
		                 source_name(reader->source));
	profile->tree = tree_builder_finish(reader->builder, error);
	return profile->tree != NULL ? 0 : -1;
}

static void
reader_free(struct reader *reader)
{
	tree_builder_free(reader->builder);
	frame_names_free(reader->frame_names);
	profile_free(reader->profile);
	free(reader->batch.stacks);
	free(reader->batch.lengths);
	free(reader->batch.labels);
	free(reader->batch.counts);
	free(reader->batch.innermost);
	free(reader->next_frame);
	free(reader->labels);
	free(reader->nodes);
	free(reader->is_ascending);
}

static struct profile *
collapsed_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct reader reader = {
		.source = source, .options = options, .is_in_header = true,
	};
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

/* ---- probe ---- */

/* The first line that is neither blank nor begins with '#', or NULL. */
static const char *
first_stack(const char *head, size_t size, size_t *length)
{
	const char *end = head + size;

	while (head < end) {
		const char *stop = memchr(head, '\n', (size_t)(end - head));

		if (stop == NULL)
			stop = end;
		*length = (size_t)(stop - head);
		if (*length > 0 && head[*length - 1] == '\r')
			--*length;
		if (*length > 0 && head[0] != '#')
			return head;
		head = stop + 1;
	}
	return NULL;
}

static bool
is_text(const char *head, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)head[i] < ' ' && head[i] != '\t' &&
		    head[i] != '\n' && head[i] != '\r' && head[i] != '\033')
			return false;
	return true;
}

static int
collapsed_probe(const void *head, size_t size)
{
	const char *stack, *blank;
	size_t length;
	uint64_t count;

	if (size >= 10 && memcmp(head, "# cpprof 1", 10) == 0)
		return PROBE_SURE;
	stack = first_stack(head, size, &length);
	if (stack != NULL && memchr(stack, '\0', length) == NULL) {
		blank = memrchr(stack, ' ', length);
		if (blank != NULL && blank > stack &&
		    collapsed_parse_count(blank + 1, stack + length, &count))
			return PROBE_SURE;
	}
	return is_text(head, size) ? PROBE_MAYBE : PROBE_NO;
}

const struct format format_collapsed = {
	.name = "collapsed stacks",
	.summary = "collapsed stacks, one a line, perhaps with a header",
	.probe = collapsed_probe,
	.read = collapsed_read,
};
