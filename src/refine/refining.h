/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refining.h -- stacks while steps are applied to them; inside src/refine only.
 *
 * No node is moved before all steps are done.  A step gives nodes other kinds,
 * joins them to their parents, or drops them.
 */
#ifndef CPPROF_REFINE_REFINING_H
#define CPPROF_REFINE_REFINING_H

#include "src/refine/stacks.h"

enum node_flags {
	NODE_JOINED = 1,	/* it is one frame with its parent */
	NODE_DROPPED = 2,	/* the stack that ends here is dropped */
};

struct refining {
	const struct stacks *stacks;
	const struct sample_tree *tree;		/* that of the stacks */
	struct frame_kind *kinds;	/* those of the stacks, then those of
					 * groups */
	uint32_t n_kinds, n_groups;
	size_t kinds_capacity;
	uint32_t *kind;			/* [n_nodes] */
	unsigned char *flags;		/* [n_nodes] enum node_flags */
	bool has_groups, has_dropped;	/* some step has made groups, has
					 * dropped stacks */
};

/*
 * Whether a stack ends at a node.  A leaf without counts is a stack of no hits.
 */
static inline bool
ends_stack(const struct sample_tree *tree, uint32_t node)
{
	return tree->row[node] != 0 || tree->end[node] == node + 1;
}

#endif
