/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_walk.h -- the stack of each node, one after the other.
 *
 * Nodes come in depth-first order, so a stack is usually that of the node
 * before and one more frame; no stack is built from scratch.
 */
#ifndef CPPROF_PROFILE_STACK_WALK_H
#define CPPROF_PROFILE_STACK_WALK_H

#include <stdint.h>

#include "src/base/memory.h"
#include "src/profile/sample_tree.h"

/* Start with { .tree = tree }. */
struct stack_walk {
	const struct sample_tree *tree;
	uint32_t *nodes;	/* [depth], outermost first; freed with free */
	uint32_t depth;
};

/* Makes room for the deepest stack; 0, or -1 with *error set. */
static inline int
stack_walk_begin(struct stack_walk *walk, struct error *error)
{
	walk->nodes = memory_array(walk->tree->deepest, sizeof *walk->nodes,
	                           error);
	return walk->nodes != NULL ? 0 : -1;
}

/* Moves on to a node; nodes must come in order.  O(1) per node, amortised. */
static inline void
stack_walk_to(struct stack_walk *walk, uint32_t node)
{
	uint32_t parent = walk->tree->parent[node];

	while (walk->depth > 0 && walk->nodes[walk->depth - 1] != parent)
		walk->depth--;
	walk->nodes[walk->depth++] = node;
}

#endif
