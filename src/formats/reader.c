/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader.c -- what every reader of a file format does.
 *
 * The tree of the stacks is built without sections: a node for the thread lies
 * above the outermost frames, so that threads can come in any order, and is
 * taken off in the end.  Whole stacks are compared with the one before, so that
 * only what differs goes to the stack writer.
 */
#include "src/formats/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "src/base/memory.h"
#include "src/symbols/names/program.h"

/* Enough labels that a worker is worth its while; they still fit the cache. */
enum { LABELS_A_BATCH = 1 << 18, STACKS_A_BATCH = 1 << 16 };

/* Whole stacks on their way to the writer. */
struct stack_input {
	struct stack_writer *writer;
	uint64_t n_stacks;
	uint32_t *room;		/* innermost frame first */
	uint32_t *last;		/* [n_last] thread, then outermost frame first */
	size_t room_capacity, last_capacity;
	size_t n_last;
	bool was_scattered;	/* so the writer does not know its nodes */
};

/* Nodes of threads are labelled so; no thread is 0. */
static uint32_t
thread_label(uint32_t thread)
{
	return thread + 1;
}

int
reader_begin(struct reader *reader, struct source *source,
             const struct read_options *options, enum reader_places places,
             struct error *error)
{
	*reader = (struct reader){
		.source = source,
		.options = options,
		.places = places,
		.thread = NO_THREAD,
		.profile = profile_new(error),
	};
	return reader->profile != NULL ? 0 : -1;
}

struct profile *
reader_end(struct reader *reader, int result)
{
	if (reader->stacks != NULL) {
		stack_writer_free(reader->stacks->writer);
		free(reader->stacks->room);
		free(reader->stacks->last);
		free(reader->stacks);
	}
	tree_builder_free(reader->builder);
	free(reader->hits);
	free(reader->named_frames);
	free(reader->below_zero);
	if (result == 0)
		return reader->profile;
	profile_free(reader->profile);
	return NULL;
}

/* ---- messages ---- */

/* Long enough for what an error holds. */
struct reader_message {
	char text[sizeof((struct error *)0)->text];
};

static struct reader_message
reader_write_message(const char *format, va_list arguments)
{
	struct reader_message message;

	vsnprintf(message.text, sizeof message.text, format, arguments);
	return message;
}

static int
fail_at(const struct reader *reader, uint64_t place, struct error *error,
        const struct reader_message *message)
{
	return error_set(error, reader->places == READER_LINES ?
	                 "%s:%" PRIu64 ": %s" : "%s: 0x%" PRIx64 ": %s",
	                 source_name(reader->source), place, message->text);
}

int
reader_fail(const struct reader *reader, struct error *error,
            const char *format, ...)
{
	struct reader_message message;
	va_list arguments;

	va_start(arguments, format);
	message = reader_write_message(format, arguments);
	va_end(arguments);
	return fail_at(reader, reader->place, error, &message);
}

int
reader_fail_at(const struct reader *reader, uint64_t place,
               struct error *error, const char *format, ...)
{
	struct reader_message message;
	va_list arguments;

	va_start(arguments, format);
	message = reader_write_message(format, arguments);
	va_end(arguments);
	return fail_at(reader, place, error, &message);
}

int
reader_fail_file(const struct reader *reader, struct error *error,
                 const char *format, ...)
{
	struct reader_message message;
	va_list arguments;

	va_start(arguments, format);
	message = reader_write_message(format, arguments);
	va_end(arguments);
	return error_set(error, "%s: %s", source_name(reader->source),
	                 message.text);
}

/* Functions below a reader's own may have named the place already. */
static bool
has_place(const struct reader *reader, const struct error *why)
{
	const char *name = source_name(reader->source);
	size_t n = strlen(name);

	return strncmp(why->text, name, n) == 0 && why->text[n] == ':';
}

int
reader_pass_at(const struct reader *reader, uint64_t place,
               const struct error *why, struct error *error)
{
	return why->is_out_of_memory || has_place(reader, why) ?
	       error_pass(error, why) :
	       reader_fail_at(reader, place, error, "%s", why->text);
}

int
reader_pass_file(const struct reader *reader, const struct error *why,
                 struct error *error)
{
	return why->is_out_of_memory || has_place(reader, why) ?
	       error_pass(error, why) :
	       reader_fail_file(reader, error, "%s", why->text);
}

/* What is wrong with the packing of the input, if it is cut short. */
struct damage {
	const char *open, *text, *close;
};

static struct damage
damage_of(const struct reader *reader)
{
	const char *text = source_damage(reader->source);

	return text == NULL ? (struct damage){ "", "", "" } :
	       (struct damage){ " (compressed data: ", text, ")" };
}

int
reader_fail_empty(const struct reader *reader, struct error *error)
{
	struct damage damage = damage_of(reader);

	if (!reader->is_cut_short)
		return reader_fail_file(reader, error, "no samples in it");
	return reader_fail(reader, error, "the input is cut short here%s%s%s; "
	                   "no samples before that", damage.open, damage.text,
	                   damage.close);
}

int
reader_warn(struct reader *reader, struct error *error, const char *format,
            ...)
{
	struct reader_message message;
	va_list arguments;

	va_start(arguments, format);
	message = reader_write_message(format, arguments);
	va_end(arguments);
	return profile_warn(reader->profile, error, "%s: %s",
	                    source_name(reader->source), message.text);
}

int
reader_warn_cut_short(struct reader *reader, const char *lost,
                      struct error *error)
{
	struct damage damage = damage_of(reader);
	struct error text = { 0 };

	if (!reader->is_cut_short)
		return 0;
	reader->profile->is_cut_short = true;
	reader_fail(reader, &text, "the input is cut short here%s%s%s; what "
	            "came before was read%s", damage.open, damage.text,
	            damage.close, lost);
	return profile_warn(reader->profile, error, "%s", text.text);
}

/* ---- lines ---- */

int
reader_reject(struct reader *reader, const char *what, struct error *error)
{
	if (reader->is_unended)
		reader->is_cut_short = true;
	if (reader->is_unended || !reader->options->lenient)
		return reader_fail(reader, error, "%s", what);
	if (reader->n_skipped++ == 0)
		reader_fail(reader, &reader->first_skipped, "%s", what);
	return 0;
}

int
reader_reject_for(struct reader *reader, const struct error *why,
                  struct error *error)
{
	return why->is_out_of_memory ? error_pass(error, why) :
	       reader_reject(reader, why->text, error);
}

int
reader_warn_lines(struct reader *reader, const char *lost,
                  struct error *error)
{
	if (reader_warn_cut_short(reader, lost, error) != 0)
		return -1;
	if (reader->is_unended && !reader->is_cut_short &&
	    profile_warn(reader->profile, error, "%s:%" PRIu64 ": no newline "
	                 "at the end of the last line, which was read; its "
	                 "last number or name may be cut short",
	                 source_name(reader->source), reader->place) != 0)
		return -1;
	if (reader->n_skipped == 0)
		return 0;
	return reader_warn(reader, error, "%" PRIu64 " line%s skipped, the "
	                   "first: %s", reader->n_skipped,
	                   reader->n_skipped == 1 ? "" : "s",
	                   reader->first_skipped.text);
}

/* The bytes that the whole lines among bytes[size] take, or -1. */
static ssize_t
read_whole_lines(struct reader *reader, reader_line *read, void *context,
                 const char *bytes, size_t size, struct error *error)
{
	const char *line = bytes, *stop = bytes + size, *end;

	while (line < stop &&
	       (end = memchr(line, '\n', (size_t)(stop - line)))) {
		reader->place++;
		if (read(context, line, (size_t)(end - line), error) != 0)
			return -1;
		line = end + 1;
	}
	return line - bytes;
}

/* The source is at its end and has text[length] after the last newline. */
static int
reader_end_lines(struct reader *reader, reader_line *read, void *context,
                 const char *text, size_t length, struct error *error)
{
	size_t size;

	if (length > 0) {
		reader->place++;
		reader->is_unended = true;
		reader->is_cut_short = source_is_cut_short(reader->source);
		if (!reader->is_cut_short) {
			struct error wrong = { 0 };
			char *copy = memory_array(length + 1, 1, error);
			int result;

			/*
			 * Readers may rely on a newline, so they get a copy
			 * that has one.  What is wrong with the line is an
			 * error only if it is not its end that is missing.
			 */
			if (copy == NULL)
				return -1;
			memcpy(copy, text, length);
			copy[length] = '\n';
			result = read(context, copy, length, &wrong);
			free(copy);
			if (result != 0 && (!reader->is_cut_short ||
			                    wrong.is_out_of_memory))
				return error_pass(error, &wrong);
		}
	}
	source_skip(reader->source, length);
	/* Packed input that is damaged says so here. */
	if (source_peek(reader->source, 1, &size, error) == NULL)
		return -1;
	reader->is_cut_short |= source_is_cut_short(reader->source);
	return 0;
}

int
reader_lines(struct reader *reader, unsigned longest_mib, reader_line *read,
             void *context, struct error *error)
{
	size_t wanted = 1, size;
	const char *bytes;

	while ((bytes = source_peek(reader->source, wanted, &size, error))) {
		ssize_t taken = read_whole_lines(reader, read, context, bytes,
		                                 size, error);
		size_t left;

		if (taken < 0)
			return -1;
		left = size - (size_t)taken;
		if (left >> 20 >= longest_mib) {
			reader->place++;
			return reader_fail(reader, error, "a line longer than "
			                   "%u MiB", longest_mib);
		}
		source_skip(reader->source, (size_t)taken);
		if (size < wanted)
			return reader_end_lines(reader, read, context,
			                        bytes + taken, left, error);
		wanted = left * 2 + 1;
		if (reader_step(reader, error) != 0)
			return -1;
	}
	return -1;
}

/* ---- bytes ---- */

const unsigned char *
reader_peek(struct reader *reader, size_t wanted, size_t *size,
            struct error *error)
{
	return (const unsigned char *)source_peek(reader->source, wanted,
	                                          size, error);
}

void
reader_skip(struct reader *reader, size_t n)
{
	source_skip(reader->source, n);
	reader->place += n;
}

int
reader_step(struct reader *reader, struct error *error)
{
	return progress_step(reader->options->progress,
	                     source_done(reader->source),
	                     source_size(reader->source), error);
}

/* ---- values below zero ---- */

int
reader_note_below_zero(struct reader *reader, uint32_t column,
                       uint64_t place, struct error *error)
{
	if (memory_grow(&reader->below_zero, &reader->below_zero_capacity,
	                (size_t)column + 1, sizeof *reader->below_zero,
	                error) != 0)
		return -1;
	while (reader->n_below_zero <= column)
		reader->below_zero[reader->n_below_zero++] = 0;
	if (reader->below_zero[column] == 0)
		reader->below_zero[column] = place + 1;
	return 0;
}

bool
reader_is_below_zero(const struct reader *reader, uint32_t column)
{
	return column < reader->n_below_zero &&
	       reader->below_zero[column] != 0;
}

static int
drop_below_zero(struct reader *reader, uint32_t resource, uint64_t place,
                struct error *error)
{
	struct profile *profile = reader->profile;
	struct error text = { 0 };

	if (profile->n_resources == 1)
		return reader_fail_at(reader, place, error, "a value below "
		    "zero: differences of two profiles are no profile; open "
		    "the two instead");
	reader_fail_at(reader, place, &text, "a value of %s is below zero; this "
	               "resource is left out, and the others are whole",
	               profile->resources[resource].name);
	if (profile_warn(profile, error, "%s", text.text) != 0)
		return -1;
	profile_drop_resource(profile, resource);
	return 0;
}

int
reader_drop_below_zero(struct reader *reader, const uint32_t *columns,
                       struct error *error)
{
	for (uint32_t r = reader->profile->n_resources; r-- > 0;) {
		uint32_t column = columns != NULL ? columns[r] : r;

		if (reader_is_below_zero(reader, column) &&
		    drop_below_zero(reader, r, reader->below_zero[column] - 1,
		                    error) != 0)
			return -1;
	}
	return 0;
}

/* ---- what a stack has ---- */

int
reader_add_columns(struct reader *reader, uint32_t n, struct error *error)
{
	if (memory_grow(&reader->hits, &reader->hits_capacity,
	                (size_t)reader->n_columns + n, sizeof *reader->hits,
	                error) != 0)
		return -1;
	for (; n > 0; n--) {
		if (reader->stacks != NULL && stack_writer_add_resource(
		        reader->stacks->writer, error) != 0)
			return -1;
		if (reader->builder != NULL && tree_builder_add_resource(
		        reader->builder, error) != 0)
			return -1;
		reader->hits[reader->n_columns++] = 0;
	}
	return 0;
}

uint32_t
reader_add_resource(struct reader *reader, const char *name,
                    const char *gtick, uint64_t interval, struct error *error)
{
	uint32_t resource = profile_add_resource(reader->profile, name, gtick,
	                                         interval, error);

	return resource != NO_RESOURCE &&
	    reader_add_columns(reader, 1, error) == 0 ? resource : NO_RESOURCE;
}

uint32_t
reader_need_resource(struct reader *reader, uint32_t *known,
                     const char *name, const char *gtick, uint64_t interval,
                     struct error *error)
{
	uint32_t resource;

	if (*known > 0)
		return *known - 1;
	resource = reader_add_resource(reader, name, gtick, interval, error);
	if (resource != NO_RESOURCE)
		*known = resource + 1;
	return resource;
}

uint32_t
reader_named_frame(struct reader *reader, const char *name, size_t length,
                   struct error *error)
{
	uint32_t number = demangle_and_add(reader->profile->names, name,
	                                   length, error);
	uint32_t frame;

	if (number == NO_NAME ||
	    memory_grow(&reader->named_frames, &reader->named_frames_capacity,
	                (size_t)number + 1, sizeof *reader->named_frames,
	                error) != 0)
		return UINT32_MAX;
	while (reader->n_named_frames <= number)
		reader->named_frames[reader->n_named_frames++] = 0;
	if (reader->named_frames[number] > 0)
		return reader->named_frames[number] - 1;
	frame = profile_add_named_frame(reader->profile, number, error);
	reader->named_frames[number] = frame + 1;	/* UINT32_MAX: none */
	return frame;
}

/* ---- stacks ---- */

/* Fewer are allowed in any case, which saves asking. */
enum { FEW_FRAMES = 1 << 20 };

uint32_t *
reader_frames(struct reader *reader, size_t n, struct error *error)
{
	struct stack_input *stacks = reader->stacks;

	if (stacks == NULL) {
		stacks = memory_array(1, sizeof *stacks, error);
		if (stacks == NULL)
			return NULL;
		stacks->was_scattered = true;
		stacks->writer = stack_writer_new(reader->source,
		    reader->places == READER_LINES ? STACK_LINES :
		    STACK_OFFSETS, reader->n_columns, error);
		if (stacks->writer == NULL) {
			free(stacks);
			return NULL;
		}
		reader->stacks = stacks;
	}
	if (n >= UINT32_MAX / 2) {
		error_set(error, "a stack of %zu frames", n);
		return NULL;
	}
	if (n > FEW_FRAMES && n > source_most_nodes(reader->source)) {
		reader_fail(reader, error, "a stack of %zu frames, "
		            SOURCE_UNPACK_FIRST, n);
		return NULL;
	}
	/* The thread comes after the outermost frame. */
	if (memory_grow(&stacks->room, &stacks->room_capacity, n + 1,
	                sizeof *stacks->room, error) != 0)
		return NULL;
	return stacks->room;
}

/* As reader_push_rest, but the thread counts as the outermost frame. */
static int
push_rest(struct reader *reader, size_t n_shared, size_t n_more,
          uint64_t place, uint32_t n_samples, struct error *error)
{
	struct stack_input *stacks = reader->stacks;
	struct stack_batch *batch = stack_writer_batch(stacks->writer);
	bool is_whole = stacks->was_scattered || batch->is_scattered;
	size_t n = n_shared + n_more;
	/* The innermost frame is entered in any case. */
	size_t begin = is_whole ? 0 : n_more > 0 ? n_shared : n - 1;

	/* The room's frames replace those after the shared ones. */
	if (n_more > UINT32_MAX / 2 - n_shared)
		return error_set(error, "a stack of %zu frames",
		                 n_shared + n_more);
	if (memory_grow(&stacks->last, &stacks->last_capacity,
	                n_shared + n_more, sizeof *stacks->last, error) != 0)
		return -1;
	for (size_t i = 0; i < n_more; i++)
		stacks->last[n_shared + i] = stacks->room[n_more - 1 - i];
	stacks->n_last = n_shared + n_more;
	if (stack_batch_reserve(batch, n, reader->n_columns, error) != 0)
		return -1;
	reader->n_frames += n - begin;
	if (reader->n_frames > FEW_FRAMES &&
	    reader->n_frames > source_most_frames(reader->source))
		return reader_fail_at(reader, place, error, "too many frames, "
		                      SOURCE_UNPACK_FIRST);
	memcpy(batch->labels + batch->n_labels, stacks->last + begin,
	       (n - begin) * sizeof *batch->labels);
	memcpy(batch->counts + batch->n_stacks * reader->n_columns,
	       reader->hits, reader->n_columns * sizeof *reader->hits);
	memset(reader->hits, 0, reader->n_columns * sizeof *reader->hits);
	batch->lengths[batch->n_stacks] = (uint32_t)(n - begin);
	batch->stacks[batch->n_stacks++] = (struct parsed_stack){
		.position = place,
		.n_shared = (uint32_t)begin,
		.n_samples = n_samples,
		.has_time = reader->has_time,
		.time_ns = reader->time_ns,
	};
	reader->has_time = false;
	batch->n_labels += n - begin;
	batch->n_frames += n;
	batch->n_shared_frames += n_shared;
	stacks->was_scattered = batch->is_scattered;
	stacks->n_stacks++;
	if (batch->n_labels < LABELS_A_BATCH &&
	    batch->n_stacks < STACKS_A_BATCH)
		return 0;
	return stack_writer_enter(stacks->writer, error);
}

int
reader_push(struct reader *reader, size_t n, uint64_t place,
            uint32_t n_samples, struct error *error)
{
	const struct stack_input *stacks = reader->stacks;
	size_t most, shared = 0;

	stacks->room[n++] = thread_label(reader->thread);
	most = n < stacks->n_last ? n : stacks->n_last;
	while (shared < most &&
	       stacks->room[n - 1 - shared] == stacks->last[shared])
		shared++;
	reader->n_frames += shared;
	return push_rest(reader, shared, n - shared, place, n_samples, error);
}

int
reader_push_rest(struct reader *reader, size_t n_shared, size_t n_more,
                 uint64_t place, uint32_t n_samples, struct error *error)
{
	const struct stack_input *stacks = reader->stacks;
	uint32_t label = thread_label(reader->thread);

	if (stacks->n_last > 0 && stacks->last[0] == label)
		n_shared++;
	else
		stacks->room[n_more++] = label;
	return push_rest(reader, n_shared, n_more, place, n_samples, error);
}

uint64_t
reader_count_stacks(const struct reader *reader)
{
	return reader->stacks != NULL ? reader->stacks->n_stacks : 0;
}

/* ---- nodes ---- */

/* The node of the current thread; NO_NODE with *error set. */
static uint32_t
thread_node(struct reader *reader, struct error *error)
{
	uint32_t node;

	if (reader->builder == NULL)
		reader->builder = tree_builder_new(reader->n_columns, error);
	else if (reader->root_thread == reader->thread)
		return reader->root;
	if (reader->builder == NULL)
		return NO_NODE;
	node = tree_builder_child(reader->builder, NO_NODE,
	                          thread_label(reader->thread), error);
	reader->root = node;
	reader->root_thread = reader->thread;
	return node;
}

uint32_t
reader_child(struct reader *reader, uint32_t parent, uint32_t frame,
             struct error *error)
{
	if (parent == NO_NODE)
		parent = thread_node(reader, error);
	if (parent != NO_NODE)
		parent = tree_builder_child(reader->builder, parent, frame,
		                            error);
	if (parent != NO_NODE && parent > FEW_FRAMES &&
	    parent > source_most_nodes(reader->source)) {
		reader_fail_file(reader, error, "too many call paths, "
		                 SOURCE_UNPACK_FIRST);
		return NO_NODE;
	}
	return parent;
}

int
reader_add_hits(struct reader *reader, uint32_t node, uint32_t column,
                uint64_t hits, uint64_t samples, struct error *error)
{
	return tree_builder_add(reader->builder, node, column, hits, samples,
	                        error);
}

void
reader_clear_hits(struct reader *reader, uint32_t first)
{
	if (reader->builder != NULL)
		tree_builder_clear(reader->builder, first);
}

int
reader_add_time(struct reader *reader, uint32_t node, uint32_t column,
                uint64_t time_ns, uint64_t hits, uint64_t samples,
                struct error *error)
{
	return tree_builder_add_time(reader->builder, node, column, time_ns, 0,
	                             hits, samples, error);
}

uint32_t
reader_count_nodes(const struct reader *reader)
{
	return reader->builder != NULL ? tree_builder_count(reader->builder) :
	       0;
}

/* ---- rows ----
 *
 * Entering a row follows its callers up to one that has a node, then adds nodes
 * on the way back.  A row that is met twice on the way up calls itself.
 */

/* Values of nodes[] that are no nodes. */
enum { ROW_UNKNOWN = UINT32_MAX, ROW_ON_THE_WAY = UINT32_MAX - 1,
       ROW_WITHOUT_NODE = UINT32_MAX - 2 };

void
stack_rows_free(struct stack_rows *rows)
{
	free(rows->nodes);
	free(rows->chain);
	free(rows->entered);
}

void
stack_rows_reset(struct stack_rows *rows)
{
	while (rows->n_entered > 0)
		rows->nodes[rows->entered[--rows->n_entered]] = ROW_UNKNOWN;
}

static uint32_t
node_of_row(const struct stack_rows *rows, uint32_t row)
{
	if (row == NO_ROW || rows->nodes[row] == ROW_WITHOUT_NODE)
		return NO_NODE;
	return rows->nodes[row];
}

int
reader_enter_row(struct reader *reader, struct stack_rows *rows,
                 uint32_t row, uint32_t *node, struct error *error)
{
	size_t n;
	uint32_t caller;

	if (rows->nodes == NULL) {
		rows->nodes = memory_array(rows->n, sizeof *rows->nodes,
		                           error);
		if (rows->nodes == NULL)
			return -1;
		memset(rows->nodes, 0xff, rows->n * sizeof *rows->nodes);
	}
	/* The chain gets the row and its callers that have no node. */
	caller = row;
	for (n = 0; caller != NO_ROW && rows->nodes[caller] == ROW_UNKNOWN;) {
		uint32_t parent = rows->parent[caller];

		if (parent != NO_ROW && parent >= rows->n)
			return error_set(error, "stack row %" PRIu32 " has "
			                 "caller %" PRIu32 ", but there are "
			                 "only %" PRIu32 " rows", caller,
			                 parent, rows->n);
		if (memory_grow(&rows->chain, &rows->chain_capacity, n + 1,
		                sizeof *rows->chain, error) != 0)
			return -1;
		rows->chain[n++] = caller;
		rows->nodes[caller] = ROW_ON_THE_WAY;
		caller = parent;
	}
	if (caller != NO_ROW && rows->nodes[caller] == ROW_ON_THE_WAY)
		return error_set(error, "row %" PRIu32 " of the stacks calls "
		                 "itself", caller);
	if (memory_grow(&rows->entered, &rows->entered_capacity,
	                rows->n_entered + n, sizeof *rows->entered,
	                error) != 0)
		return -1;
	while (n > 0) {
		uint32_t next = rows->chain[--n];
		uint32_t parent = node_of_row(rows, rows->parent[next]);

		if (rows->label[next] != NO_LABEL)
			parent = reader_child(reader, parent,
			                      rows->label[next], error);
		if (error->is_set)
			return -1;
		rows->nodes[next] = parent != NO_NODE ? parent :
		                    ROW_WITHOUT_NODE;
		rows->entered[rows->n_entered++] = next;
	}
	*node = node_of_row(rows, row);
	return 0;
}

/* ---- the end ---- */

int
reader_finish_stacks(struct reader *reader,
                     const struct reader_section *sections,
                     struct error *error)
{
	struct profile *profile = reader->profile;
	struct node_numbers parents = { 0 }, rows = { 0 };
	struct sample_tree *tree;
	uint32_t n_nodes;

	profile->tree = reader->stacks != NULL ?
	    stack_writer_finish(reader->stacks->writer, error) :
	    tree_builder_finish(reader->builder, error);
	if (profile->tree == NULL)
		return -1;
	/*
	 * Take the threads' nodes, which have no hits, off the tree and make
	 * the nodes below each a section; none if no stack has a thread.
	 */
	tree = profile->tree;
	n_nodes = tree->n_nodes;
	node_numbers_reserve(&parents, n_nodes, n_nodes, error);
	node_numbers_reserve(&rows, n_nodes, tree->rows.n, error);
	for (uint32_t root = 0, end; !error->is_set && root < n_nodes;
	     root = end) {
		uint32_t thread = tree->label[root] - 1, number;
		struct reader_section section = { thread, NO_LABELS };
		const uint32_t begin = parents.n_nodes;
		bool is_only;

		if (sections != NULL && thread != NO_THREAD)
			section = sections[thread];
		end = sample_tree_end(tree, root);
		is_only = root == 0 && end == n_nodes;
		sample_tree_move_up(tree, root, &parents, &rows);
		if (section.thread == NO_THREAD &&
		    section.label_set == NO_LABELS && is_only)
			continue;
		number = profile_add_section(profile, begin, parents.n_nodes,
		                             section.thread, error);
		if (number == UINT32_MAX)
			break;
		profile->sections[number].label_set = section.label_set;
	}
	return sample_tree_replace_nodes(tree, &parents, &rows, error);
}
