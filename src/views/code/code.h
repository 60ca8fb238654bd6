/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code.h -- hits of source lines and instructions, and the views of them. */
#ifndef CPPROF_VIEWS_CODE_CODE_H
#define CPPROF_VIEWS_CODE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/profile/call_flow.h"
#include "src/profile/profile.h"
#include "src/views/view.h"

/* ---- code_hits.c ---- */

/*
 * The hits of places in the code: source lines, instructions.
 *
 * A place is a set of stacks, those that have it: each stack counts once,
 * however often recursion repeats the place.  So no place has more hits than
 * its function, and lines do not sum to the function's hits.
 */

/*
 * The stacks as places.  Borrowed.  Which stacks count is a matter of the
 * tree's rows: a node without one has no hits.  Either a tree or, where the
 * input has no stacks, the profile's graph.
 */
struct code_set {
	const struct profile *profile;
	const struct sample_tree *tree;	/* labels: indexes of
					 * profile->locations; NULL: a graph */
	const uint32_t *frame;		/* [n_locations] whose location it is;
					 * UINT32_MAX: of none */
	const uint64_t *self;		/* [n_rows] hits of the resource */
	const uint64_t *sums;		/* of self, sample_tree_new_sums */
	const struct call_flow *flow;	/* of a graph, by function; NULL:
					 * unknown */
	uint32_t resource;
};

/* The code that is asked for: that of a function, or of a file. */
struct code_scope {
	uint32_t function;	/* a name; NO_NAME: any */
	uint32_t file;		/* a name; NO_NAME: any */
};

struct line_hits {
	uint32_t file;		/* a name; NO_NAME: unknown */
	uint32_t line;		/* 0: unknown */
	uint64_t self;		/* hits of its own code, without calls,
				 * inlined or not */
	uint64_t inclusive;	/* hits of the stacks that contain it */
	bool is_estimated;	/* inclusive is */
};

struct code_hits {
	struct line_hits *lines;	/* [n] by file and line; a function's
					 * own file (that with most hits)
					 * first, no file last */
	uint32_t n;
	uint64_t self, inclusive;	/* of all the code in the scope */
	bool is_estimated;		/* inclusive is */
};

/*
 * The hits of the lines in the scope; lines without hits of the resource are
 * among them.  O(nodes + locations) for a tree, O(places) for a graph.  Freed
 * with code_hits_free.
 */
int code_hits_find(struct code_hits *hits, const struct code_set *set,
                   const struct code_scope *scope, struct error *error);
void code_hits_free(struct code_hits *hits);

struct place_hits {
	uint64_t self, inclusive;	/* as in line_hits */
};

/*
 * The hits of places made of frames, such as instructions.  place[n_frames]:
 * the number of each frame's place, below n, or NO_PLACE.  Fills hits[n], and
 * *all with those of all places together; they are zeroed first.  Only for a
 * tree.  O(nodes).
 */
#define NO_PLACE UINT32_MAX
int code_hits_of_frames(const struct code_set *set, const uint32_t *place,
                        uint32_t n, struct place_hits *hits,
                        struct place_hits *all, struct error *error);

/*
 * Which of n places a view shows: those of at least the threshold's share of
 * the whole, at most `limit` of them, and none without hits.  Of equals, the
 * first.  Returns is_shown[n], to be freed; NULL with *error set.
 */
bool *code_hits_choose(const uint64_t *values, uint32_t n, uint64_t whole,
                       double threshold, size_t limit, struct error *error);

/* ---- list.c ---- */

/* Source lines with their hits. */

/* A file of the listed code. */
struct listed_file {
	uint32_t file;			/* its name in the profile */
	const struct text_lines *text;	/* NULL: it was not found */
	uint32_t first, last;		/* the first and last line that the
					 * function has code for; 0: unknown */
	bool has_rows;			/* set by view_list: lines of it are
					 * shown */
};

/* Borrowed. */
struct listing {
	struct code_scope scope;
	uint32_t line;			/* the one asked for; 0: none */
	const struct code_hits *hits;
	bool has_hidden_copies;		/* the function was inlined where the
					 * set's names do not show it */
	struct listed_file *files;	/* [n_files] in the order of the hits'
					 * lines */
	uint32_t n_files;
};

/*
 * Fills an empty table with the lines of the listing, as view.h says, but
 * without a root; rows have the members of cpprof.lines/1 in doc/manual.md.
 *
 * Shown are the lines that have at least the threshold's share of what the
 * listed code has, at most `limit` of them, and with a text the lines around
 * them.  Runs of other lines are left out; table->group_lines has "..." for
 * each.  Threshold 0 without a limit shows all lines of a file, or of a
 * function of which is known where it begins and ends.  A line asked for is
 * shown with the lines around it instead.  Fields and notes of the files are
 * the caller's.
 */
int view_list(const struct view_request *request,
              const struct listing *listing, struct table *table,
              struct error *error);

/* ---- disasm.c ---- */

/* Instructions with their hits. */

/* Borrowed; the texts must live as long as the table. */
struct listed_instruction {
	uint64_t address;
	const char *text;
	uint32_t name_begin, n_name;	/* a name in the text; n_name 0: none */
	const char *module;
	uint32_t part;		/* neighbours of one part follow each other */
	const char *file;	/* of its line; NULL: unknown */
	uint32_t line;		/* 0: unknown */
	const char *source;	/* the line's text; NULL: unknown */
};

struct disassembled {
	uint32_t function;	/* a name */
	const struct listed_instruction *instructions;	/* [n] */
	const struct place_hits *hits;	/* [n + 1]; the last: of addresses
					 * outside of all instructions */
	uint32_t n;
	struct place_hits all;
	bool has_lines;		/* show source lines between */
};

/*
 * Fills an empty table with the instructions of a function, as view_list does
 * with lines; threshold 0 without a limit shows all.  Rows have the members of
 * cpprof.instructions/1 in doc/manual.md.
 */
int view_disasm(const struct view_request *request,
                const struct disassembled *code, struct table *table,
                struct error *error);

#endif
