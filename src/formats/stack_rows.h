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
/* The label of a row without a frame, which has the node of its caller. */
#define NO_LABEL UINT32_MAX

/*
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
 * Enters the row's stack into the builder.  *node becomes that of its innermost
 * frame, or NO_NODE if none of its rows has a frame.  row must be below n.  To
 * enter all rows takes O(n), however deep they are and in whatever order they
 * come.  0, or -1 with *error set: "row 7 of the stacks calls itself", "... is
 * called by row 9 of 8".
 */
int stack_rows_enter(struct stack_rows *rows, struct tree_builder *builder,
                     uint32_t row, uint32_t *node, struct error *error);

/* Forgets all nodes, before another section; O(rows that were entered). */
void stack_rows_reset(struct stack_rows *rows);

#endif
