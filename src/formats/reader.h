/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader.h -- what every reader of a file format does.
 *
 * A reader turns lines, bytes or JSON tokens into stacks of frames.  The rest
 * is here: the profile to fill, messages that name the file and the place,
 * input that ends too early, and the tree that the stacks become.
 * doc/adding-a-format.md shows a whole reader.
 *
 * A function of type int returns 0, or -1 with *error set.
 */
#ifndef CPPROF_FORMATS_READER_H
#define CPPROF_FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/format.h"
#include "src/profile/profile.h"

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
	bool is_cut;		/* the input ended too early */

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

/* The error for an input without samples: whole, or cut before the first. */
int reader_fail_empty(const struct reader *reader, struct error *error);

/* Adds a warning about the file to the profile; the shell shows it once. */
int reader_warn(struct reader *reader, struct error *error,
                const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Warns at the current place if the input is cut.  lost: what else is missing,
 * as the end of the sentence (", but names may be missing"), or "".
 */
int reader_warn_cut(struct reader *reader, const char *lost,
                    struct error *error);

/* ---- lines ---- */

/* Reads one line, which ends at line[length] in '\n'. */
typedef int reader_line(void *context, const char *line, size_t length,
                        struct error *error);

/*
 * Reads all lines, counting them in `place`; one longer than longest_mib MiB is
 * an error.  While a last line without a newline is read, and afterwards,
 * is_unended is set: the line may have been cut anywhere, so a reader rejects
 * it unless it is certainly whole.  Then is_cut is set.  It is also set if the
 * packing of the input is cut.
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
 * Once all lines have been read: warns of a cut (lost: as above), of a last
 * line without a newline, and of skipped lines.
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
/* The label of a row without a frame, which has the node of its caller. */
#define NO_LABEL UINT32_MAX

/*
 * A table of stacks whose rows each have a frame and the row of its caller.
 * Start with the first three, which stay the caller's, and zeroes; free the
 * rest with stack_rows_free.
 */
struct stack_rows {
	const uint32_t *parent;	/* [n], NO_ROW: it is outermost */
	const uint32_t *label;	/* [n] */
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
