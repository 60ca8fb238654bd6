/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader.h -- what readers of formats share.
 *
 * A reader makes a profile of an input: it adds names and stacks, warns, and
 * fails with the place in the file.  What a function takes by pointer stays
 * the caller's.
 */
#ifndef CPPROF_FORMATS_READER_H
#define CPPROF_FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/index.h"
#include "src/formats/format.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"

/* ---- line_text ---- */

/* A line in pieces, for readers of text formats. */

/* Where the first byte is that no text holds, or size. */
static inline size_t
line_find_binary(const char *bytes, size_t size)
{
	size_t i = 0;

	while (i < size && ((unsigned char)bytes[i] >= ' ' ||
	                    memchr("\t\n\r\033", bytes[i], 4) != NULL))
		i++;
	return i;
}

/* What is left of a line, in place. */
struct line_text {
	const char *at, *end;
};

/* An empty one. */
static inline struct line_text
line_nothing(void)
{
	static const char nothing[1];

	return (struct line_text){ nothing, nothing };
}

static inline size_t
line_left(const struct line_text *text)
{
	return (size_t)(text->end - text->at);
}

static inline bool
line_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline void
line_skip_blanks(struct line_text *text)
{
	while (text->at < text->end && line_is_blank(*text->at))
		text->at++;
}

/* Takes blanks off both ends. */
static inline void
line_trim(struct line_text *text)
{
	line_skip_blanks(text);
	while (text->end > text->at && line_is_blank(text->end[-1]))
		text->end--;
}

static inline bool
line_begins_with(const struct line_text *text, const char *with)
{
	size_t length = strlen(with);

	return line_left(text) >= length &&
	       memcmp(text->at, with, length) == 0;
}

static inline bool
line_ends_with(const struct line_text *text, const char *with)
{
	size_t length = strlen(with);

	return line_left(text) >= length &&
	       memcmp(text->end - length, with, length) == 0;
}

static inline bool
line_is(const struct line_text *text, const char *what)
{
	return line_left(text) == strlen(what) &&
	       memcmp(text->at, what, line_left(text)) == 0;
}

static inline bool
line_has(const struct line_text *text, const char *what)
{
	return memmem(text->at, line_left(text), what, strlen(what)) != NULL;
}

/* Each takes what it names off the front; or takes nothing: false. */
static inline bool
line_take(struct line_text *text, const char *with)
{
	if (!line_begins_with(text, with))
		return false;
	text->at += strlen(with);
	return true;
}

/* Below 2^63, as the formats' numbers are. */
static inline bool
line_take_number(struct line_text *text, uint64_t *number)
{
	const char *at = text->at;
	uint64_t sum = 0;

	for (; at < text->end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum) ||
		    sum > INT64_MAX)
			return false;
	if (at == text->at)
		return false;
	text->at = at;
	*number = sum;
	return true;
}

static inline bool
line_is_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

static inline bool
line_take_hex(struct line_text *text, uint64_t *number)
{
	const char *at = text->at;
	uint64_t sum = 0;

	for (; at < text->end && line_is_hex_digit(*at); at++) {
		if (sum >> 60 != 0)
			return false;
		sum = sum << 4 | (uint64_t)(*at <= '9' ? *at - '0' :
		                            (*at | 0x20) - 'a' + 10);
	}
	if (at == text->at)
		return false;
	text->at = at;
	*number = sum;
	return true;
}

/* Skips blanks; the word after them, which stays; empty at the end. */
static inline struct line_text
line_word(struct line_text *text)
{
	struct line_text word;

	line_skip_blanks(text);
	word = (struct line_text){ text->at, text->at };
	while (word.end < text->end && !line_is_blank(*word.end))
		word.end++;
	return word;
}

/* ---- id_table.c ---- */

/*
 * Small numbers for ids that a file may choose as it likes.
 *
 * Most files count from 1, and some use addresses: small ids index an array,
 * others go through an index.
 */

#define NO_ID UINT32_MAX

/* Start with `{ 0 }`. */
struct id_table {
	uint32_t n;		/* ids so far */
	uint64_t *ids;		/* [n], by number */
	size_t ids_capacity;
	uint32_t *dense;	/* number + 1 of each small id; 0: none */
	size_t n_dense;
	struct index others;
};

void id_table_free(struct id_table *table);

/*
 * The number of an id, which is entered if new: they count from 0 in order of
 * entry.  NO_ID with *error set for want of memory.  Expected O(1).
 */
uint32_t id_table_enter(struct id_table *table, uint64_t id,
                        struct error *error);

/* The number of an id, or NO_ID when it was never entered. */
uint32_t id_table_find(const struct id_table *table, uint64_t id);

/* id_table_enter where it can be had without a call. */
static inline uint32_t
id_table_add(struct id_table *table, uint64_t id, struct error *error)
{
	if (id < table->n_dense && table->dense[id] != 0)
		return table->dense[id] - 1;
	return id_table_enter(table, id, error);
}

/* ---- memory_map.c ---- */

/*
 * What was mapped where, as profiles of gperftools end with it.
 *
 * Lines of /proc/PID/maps, or shorter ones:
 *
 * 	00400000-00fcb000 r-xp 00000000 fe:00 123    /path
 * 	00400000-00fcb000: /path (@1000) BUILDID
 * 	build=/home/me
 *
 * In lines after the last one, "$build" means /home/me.  A line may have the
 * prefix of a log, and a path " (deleted)" behind it.  Other lines, and mappings
 * that hold no code, are skipped.
 * Source: google/pprof, profile/legacy_profile.go, parseProcMapsFromScanner and
 * remapMappingIDs.
 */

struct memory_mapping {
	uint64_t start, limit, offset;
	uint64_t inode;		/* of the file; 0: unknown */
	const char *path, *build_id;	/* "" unknown */
};

struct memory_map;

/* An empty one, freed with memory_map_free; NULL with *error set. */
struct memory_map *memory_map_new(struct error *error);
void memory_map_free(struct memory_map *map);

/* Enters a line, without its end. */
int memory_map_add_line(struct memory_map *map, const char *line,
                        size_t length, struct error *error);

/*
 * All *n mappings, in order of address; no line may be added after the first
 * call.  They belong to the map.
 */
const struct memory_mapping *memory_map_all(struct memory_map *map,
                                            size_t *n);

/* Which of these has the address; SIZE_MAX: none.  After memory_map_all. */
size_t memory_map_find(const struct memory_map *map, uint64_t address);

/* ---- stack_writer.c ---- */

/*
 * Stacks that are parsed go into a tree, by batches.
 *
 * While a reader parses one batch, a worker enters the one before.
 */

/*
 * Stacks, for the reader to fill.  Each continues the one before it from frame
 * n_shared on; scattered ones, which share little with their neighbours, are
 * whole, n_shared being 0.  So is the first stack after them.
 */
struct stack_batch {
	struct parsed_stack {
		uint64_t position;	/* line or offset, for errors */
		uint32_t n_shared;
		uint32_t n_samples;	/* raw; 0: each hit is one */
		bool has_time;		/* time_ns is when it was sampled */
		uint64_t time_ns;
	} *stacks;
	uint32_t *lengths;	/* [n_stacks], labels of each, at least 1 */
	uint32_t *labels;	/* one stack's after the other's */
	uint64_t *counts;	/* [n_stacks][n_resources] */
	size_t n_stacks, n_labels;
	size_t stacks_capacity, lengths_capacity, labels_capacity,
	    counts_capacity;
	uint64_t most_nodes;	/* of the tree afterwards, by the writer */
	bool is_scattered;	/* set by the writer */
	size_t n_frames, n_shared_frames;	/* by which it judges */
};

struct source;
struct stack_writer;

/* How errors say where a stack is. */
enum stack_positions { STACK_LINES, STACK_OFFSETS };

/*
 * Freed with stack_writer_free; NULL with *error set.  source: the
 * caller's, by which errors are named and the tree is limited.
 */
struct stack_writer *stack_writer_new(const struct source *source,
                                      enum stack_positions positions,
                                      uint32_t n_resources,
                                      struct error *error);
void stack_writer_free(struct stack_writer *writer);

/* One resource more, the last; enters what is in the batch first; 0 or -1. */
int stack_writer_add_resource(struct stack_writer *writer,
                              struct error *error);

/* The empty batch to be filled next, the writer's. */
struct stack_batch *stack_writer_batch(struct stack_writer *writer);

/* Room for one more stack of up to n_labels. */
int stack_batch_reserve(struct stack_batch *batch, size_t n_labels,
                        uint32_t n_resources, struct error *error);

/*
 * Has the batch entered and makes another one the batch to be filled.  0, or
 * -1 with *error set for want of memory, for a sum over 64 bits or for more
 * nodes than the source may have (source_most_nodes), perhaps of an earlier
 * batch.
 */
int stack_writer_enter(struct stack_writer *writer, struct error *error);

/* Waits until all is entered; 0, or -1 with *error set likewise. */
int stack_writer_wait(struct stack_writer *writer, struct error *error);

/* Whether any stack has been entered; after stack_writer_wait. */
bool stack_writer_has_stacks(const struct stack_writer *writer);

/* The tree, freed with sample_tree_free; NULL with *error set. */
struct sample_tree *stack_writer_finish(struct stack_writer *writer,
                                        struct error *error);

/* ---- reader.c ---- */

/*
 * What every reader of a file format does.
 *
 * A reader turns lines, bytes or JSON tokens into stacks of frames.  The rest
 * is here: the profile to fill, messages that name the file and the place,
 * input that ends too early, and the tree that the stacks become.
 * doc/adding-a-format.md shows a whole reader.
 */

/* How messages name a place: "FILE:12: ..." or "FILE: 0x1f4: ...". */
enum reader_places { READER_LINES, READER_OFFSETS };

/* Start with reader_begin. */
struct reader {
	struct source *source;
	const struct read_options *options;
	struct profile *profile;	/* to be filled; its tree comes from
					 * reader_finish_stacks */
	enum reader_places places;
	uint64_t place;		/* the line that is read, from 1, or the offset
				 * of the bytes at hand */
	bool is_cut_short;	/* the input ended too early */

	/* Lines, see reader_lines. */
	bool is_unended;
	uint64_t n_skipped;
	struct error first_skipped;

	/* The next stack, see reader_push. */
	uint32_t thread;
	uint64_t *hits;
	bool has_time;			/* when it was sampled is known: */
	uint64_t time_ns;		/* from anywhere */

	/* reader.c only. */
	uint64_t *below_zero;	/* [n_below_zero] place + 1 where a column has
				 * such a value; 0: none */
	size_t n_below_zero, below_zero_capacity;
	uint32_t n_columns;
	size_t hits_capacity;
	uint64_t n_frames;	/* of all stacks, with what was compared */
	struct stack_input *stacks;	/* NULL before the first stack */
	struct tree_builder *builder;	/* NULL before the first node */
	uint32_t root, root_thread;	/* node of the current thread */
	uint32_t *named_frames;		/* frame + 1 of each name; 0: none */
	size_t n_named_frames, named_frames_capacity;
};

/*
 * Begins with an empty profile, no thread and no columns of hits.  source and
 * options must outlive the reader.
 */
int reader_begin(struct reader *reader, struct source *source,
                 const struct read_options *options, enum reader_places places,
                 struct error *error);

/*
 * Frees everything but the profile, which is returned and becomes the caller's
 * if result is 0; else frees the profile, too, and returns NULL.  The last call
 * for a reader, also if reader_begin failed.
 */
struct profile *reader_end(struct reader *reader, int result);

/* ---- messages ---- */

/* Sets an error at the current place, at another one, or of the whole file. */
int reader_fail(const struct reader *reader, struct error *error,
                const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int reader_fail_at(const struct reader *reader, uint64_t place,
                   struct error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int reader_fail_file(const struct reader *reader, struct error *error,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Passes on the error of a function that does not know where in the input it
 * is; `out of memory` as it is, since nothing is wrong there.  Both return -1.
 */
int reader_pass_at(const struct reader *reader, uint64_t place,
                   const struct error *why, struct error *error);
int reader_pass_file(const struct reader *reader, const struct error *why,
                     struct error *error);

/* The error for an input without samples: whole, or cut short before it. */
int reader_fail_empty(const struct reader *reader, struct error *error);

/* Adds a warning about the file to the profile; the shell shows it once. */
int reader_warn(struct reader *reader, struct error *error,
                const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Warns at the current place if the input is cut short.  lost: what else is
 * missing, as the end of the sentence (", but names may be missing"), or "".
 */
int reader_warn_cut_short(struct reader *reader, const char *lost,
                          struct error *error);

/* ---- lines ---- */

/* Reads one line, which ends at line[length] in '\n'. */
typedef int reader_line(void *context, const char *line, size_t length,
                        struct error *error);

/*
 * Reads all lines, counting them in `place`; one longer than longest_mib MiB is
 * an error.  While a last line without a newline is read, and afterwards,
 * is_unended is set: the line may be cut short, so a reader rejects it unless
 * it is certainly whole.  Then is_cut_short is set.  It is also set if the
 * packing of the input is cut short.
 */
int reader_lines(struct reader *reader, unsigned longest_mib,
                 reader_line *read, void *context, struct error *error);

/*
 * A line that fits no rule: an error at the line; or, with the option lenient,
 * counted and skipped (0).  what: "expected a stack".
 */
int reader_reject(struct reader *reader, const char *what,
                  struct error *error);

/* The same for what another function says, but `out of memory` is an error. */
int reader_reject_for(struct reader *reader, const struct error *why,
                      struct error *error);

/*
 * Once all lines have been read: warns if the input is cut short (lost: as
 * above), of a last line without a newline, and of skipped lines.
 */
int reader_warn_lines(struct reader *reader, const char *lost,
                      struct error *error);

/* ---- bytes ---- */

/*
 * As source_peek and source_skip; the offset is counted in `place`.  To read
 * records, ask for as many bytes as the next record needs.  Fewer come only at
 * the end of the input.
 */
const unsigned char *reader_peek(struct reader *reader, size_t wanted,
                                 size_t *size, struct error *error);
void reader_skip(struct reader *reader, size_t n);

/* Reports progress and ends the load after Ctrl-C; once a block or megabyte. */
int reader_step(struct reader *reader, struct error *error);

/* ---- values below zero ----
 *
 * A count cannot be below zero; the memory that a function has freed, or the
 * difference of two profiles, is.  Then that resource is left out, and the
 * others are as good as they were.
 */

/* Notes that the value of a column at that place is. */
int reader_note_below_zero(struct reader *reader, uint32_t column,
                           uint64_t place, struct error *error);
bool reader_is_below_zero(const struct reader *reader, uint32_t column);

/*
 * Takes the resources of these columns out of the finished profile, each with a
 * warning.  If there is no other, that is an error.  columns[n_resources]: the
 * column of each; NULL: their own numbers.
 */
int reader_drop_below_zero(struct reader *reader, const uint32_t *columns,
                           struct error *error);

/* ---- what a stack has ---- */

/*
 * Adds a resource to the profile, and its column of hits to the stacks.  Its
 * number, or NO_RESOURCE with *error set.
 */
uint32_t reader_add_resource(struct reader *reader, const char *name,
                             const char *gtick, uint64_t interval,
                             struct error *error);

/*
 * The same for a resource that may have been added: *known is its number + 1,
 * or 0 before the first call.
 */
uint32_t reader_need_resource(struct reader *reader, uint32_t *known,
                              const char *name, const char *gtick,
                              uint64_t interval, struct error *error);

/*
 * Adds columns of hits only, for a format that names its resources after its
 * stacks; the caller adds these to the profile, in the order of the columns.
 */
int reader_add_columns(struct reader *reader, uint32_t n, struct error *error);

/*
 * The frame of a function of which only the name is known; a mangled name is
 * demangled.  The same number for the same name, UINT32_MAX with *error set.
 * profile_add_frame makes frames that have a file, a line or an address.
 */
uint32_t reader_named_frame(struct reader *reader, const char *name,
                            size_t length, struct error *error);

/* ---- stacks ----
 *
 * A reader enters either whole stacks or single nodes.  A frame is any number
 * but UINT32_MAX, usually a frame of the profile; a reader that learns only
 * later what its numbers mean changes the labels of the finished tree.
 * The stacks belong to thread `thread` of the profile, NO_THREAD at first;
 * threads may come mixed.
 */

/*
 * Room for n frames, for the caller to fill, innermost frame first.  Frames
 * that were filled in since the last push stay.  NULL with *error set.
 */
uint32_t *reader_frames(struct reader *reader, size_t n, struct error *error);

/*
 * Enters the n >= 1 frames in the room as a stack.  hits[] has its hits, a
 * number for each column.  Afterwards all are 0, and has_time is false.
 * n_samples: how many raw samples they are; 0: each hit is one, so a stack
 * without hits is none.  place: where the stack began, for errors.
 */
int reader_push(struct reader *reader, size_t n, uint64_t place,
                uint32_t n_samples, struct error *error);

/*
 * The same for a caller that knows the outermost n_shared frames to be those of
 * the last stack, which had the same thread (else n_shared is 0); the other
 * n_more are in the room.  Not both are 0.
 */
int reader_push_rest(struct reader *reader, size_t n_shared, size_t n_more,
                     uint64_t place, uint32_t n_samples, struct error *error);

/* How many stacks have been pushed. */
uint64_t reader_count_stacks(const struct reader *reader);

/* ---- nodes ---- */

/*
 * The node that the frame has below `parent` (NO_NODE: it is outermost in the
 * current thread), entered if new.  NO_NODE with *error set.
 */
uint32_t reader_child(struct reader *reader, uint32_t parent, uint32_t frame,
                      struct error *error);

/*
 * Adds to the hits and raw samples of a node.  *error does not name the place,
 * which the caller knows.
 */
int reader_add_hits(struct reader *reader, uint32_t node, uint32_t column,
                    uint64_t hits, uint64_t samples, struct error *error);

/* Takes back what reader_add_hits has added to nodes from `first` on. */
void reader_clear_hits(struct reader *reader, uint32_t first);

/*
 * Notes when some of them were counted, which reader_add_hits has added: at a
 * time from anywhere.
 */
int reader_add_time(struct reader *reader, uint32_t node, uint32_t column,
                    uint64_t time_ns, uint64_t hits, uint64_t samples,
                    struct error *error);

/* How many nodes have been entered, including one for each thread. */
uint32_t reader_count_nodes(const struct reader *reader);

#define NO_ROW UINT32_MAX

/*
 * A table of stacks whose rows each have a frame and the row of its caller.
 * Start with the first three, which stay the caller's, and zeroes; free the
 * rest with stack_rows_free.
 */
struct stack_rows {
	const uint32_t *parent;	/* [n], NO_ROW: it is outermost */
	const uint32_t *label;	/* [n]; NO_LABEL: no frame, so the node is the
				 * caller's */
	uint32_t n;
	uint32_t *nodes;	/* [n], of rows that were entered */
	uint32_t *chain;	/* rows that are being entered */
	size_t chain_capacity;
	uint32_t *entered;	/* rows that have a node */
	size_t n_entered, entered_capacity;
};

void stack_rows_free(struct stack_rows *rows);

/*
 * Enters a row's stack.  *node becomes the node of its innermost frame, or
 * NO_NODE if none of its rows has a frame.  row must be below n.  To enter all
 * rows takes O(n), however deep they are and in whatever order they come.
 * Errors do not name the place: "row 7 of the stacks calls itself".
 */
int reader_enter_row(struct reader *reader, struct stack_rows *rows,
                     uint32_t row, uint32_t *node, struct error *error);

/*
 * Forgets the nodes of all rows, before rows are entered for another thread.
 * O(rows that were entered).
 */
void stack_rows_reset(struct stack_rows *rows);

/* ---- the end ---- */

/* What the stacks with one value of `thread` have in common. */
struct reader_section {
	uint32_t thread;	/* of the profile, or NO_THREAD */
	uint32_t label_set;	/* likewise, or NO_LABELS */
};

/*
 * Makes all stacks or nodes the profile's tree, with a section for each thread.
 * sections: NULL, or where `thread` was not a thread of the profile but an
 * index into this array (or NO_THREAD).  There must be a stack or a node.
 */
int reader_finish_stacks(struct reader *reader,
                         const struct reader_section *sections,
                         struct error *error);

#endif
