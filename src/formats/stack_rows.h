/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_rows.h -- stacks from a table whose rows name their callers' rows.
 *
 * Files that hold their stacks as a tree give it row by row, each with a frame
 * and the row of the frame that called it.
 */
#ifndef CPPROF_FORMATS_STACK_ROWS_H
#define CPPROF_FORMATS_STACK_ROWS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/sample_tree.h"

#define NO_ROW UINT32_MAX
/* The label of a row that is no frame: its caller's node is its own. */
#define NO_LABEL UINT32_MAX

/* Start with the first three; free it with stack_rows_free. */
struct stack_rows {
	const uint32_t *parent;	/* [n], NO_ROW: it is outermost */
	const uint32_t *label;	/* [n] */
	uint32_t n;
	uint32_t *nodes;	/* [n], of rows that were entered */
	uint32_t *chain;	/* rows that are about to be */
	size_t chain_capacity;
	uint32_t *entered;	/* rows that have a node */
	size_t n_entered, entered_capacity;
};

void stack_rows_free(struct stack_rows *rows);

/*
 * Enters the row's stack into the builder; *node becomes its innermost frame's,
 * NO_NODE where none of its rows is a frame.  All rows together take O(n),
 * however deep they are, in whatever order they stand.  0, or -1 with *error
 * set: "row 7 of the stacks calls itself", "... is called by row 9 of 8".
 */
int stack_rows_enter(struct stack_rows *rows, struct tree_builder *builder,
                     uint32_t row, uint32_t *node, struct error *error);

/* Forgets the nodes, for another section; O(rows that have some). */
void stack_rows_reset(struct stack_rows *rows);

#endif
