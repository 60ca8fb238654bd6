/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_rows.c -- stacks from a table whose rows name their callers' rows.
 *
 * Entering a row follows its callers up to one that has a node, then adds nodes
 * on the way back.  A row that is met twice on the way up calls itself.
 */
#include "src/formats/stack_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

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

static int
begin(struct stack_rows *rows, struct error *error)
{
	if (rows->nodes != NULL)
		return 0;
	rows->nodes = memory_array(rows->n, sizeof *rows->nodes, error);
	if (rows->nodes == NULL)
		return -1;
	memset(rows->nodes, 0xff, rows->n * sizeof *rows->nodes);
	return 0;
}

/* Fills the chain with the row and its callers that have no node, *n rows. */
static int
follow(struct stack_rows *rows, uint32_t row, size_t *n, struct error *error)
{
	for (*n = 0; row != NO_ROW && rows->nodes[row] == ROW_UNKNOWN;) {
		uint32_t parent = rows->parent[row];

		if (parent != NO_ROW && parent >= rows->n)
			return error_set(error, "row %" PRIu32 " of the stacks "
			                 "is called by row %" PRIu32 " of %"
			                 PRIu32, row, parent, rows->n);
		if (memory_grow(&rows->chain, &rows->chain_capacity, *n + 1,
		                sizeof *rows->chain, error) != 0)
			return -1;
		rows->chain[(*n)++] = row;
		rows->nodes[row] = ROW_ON_THE_WAY;
		row = parent;
	}
	if (row != NO_ROW && rows->nodes[row] == ROW_ON_THE_WAY)
		return error_set(error, "row %" PRIu32 " of the stacks calls "
		                 "itself", row);
	return 0;
}

static uint32_t
node_of(const struct stack_rows *rows, uint32_t row)
{
	if (row == NO_ROW || rows->nodes[row] == ROW_WITHOUT_NODE)
		return NO_NODE;
	return rows->nodes[row];
}

int
stack_rows_enter(struct stack_rows *rows, struct tree_builder *builder,
                 uint32_t row, uint32_t *node, struct error *error)
{
	size_t n;

	if (begin(rows, error) != 0 || follow(rows, row, &n, error) != 0)
		return -1;
	if (memory_grow(&rows->entered, &rows->entered_capacity,
	                rows->n_entered + n, sizeof *rows->entered,
	                error) != 0)
		return -1;
	while (n > 0) {
		uint32_t next = rows->chain[--n];
		uint32_t parent = node_of(rows, rows->parent[next]);

		if (rows->label[next] != NO_LABEL)
			parent = tree_builder_child(builder, parent,
			                            rows->label[next], error);
		if (error->is_set)
			return -1;
		rows->nodes[next] = parent != NO_NODE ? parent :
		                    ROW_WITHOUT_NODE;
		rows->entered[rows->n_entered++] = next;
	}
	*node = node_of(rows, row);
	return 0;
}

void
stack_rows_reset(struct stack_rows *rows)
{
	while (rows->n_entered > 0)
		rows->nodes[rows->entered[--rows->n_entered]] = ROW_UNKNOWN;
}
