/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refining.h -- stacks while steps are applied to them; inside src/refine only.
 *
 * No node is moved before all steps are done.  A step gives nodes other kinds,
 * joins them to their parents, or drops them.
 */
#ifndef CPPROF_REFINE_REFINING_H
#define CPPROF_REFINE_REFINING_H

#include "src/profile/timeline.h"
#include "src/refine/stacks.h"

enum node_flags {
	NODE_JOINED = 1,	/* it is one frame with its parent */
	NODE_DROPPED = 2,	/* the stack that ends here is dropped */
	NODE_LEFT = 4,		/* a stack that is left has it */
};

struct refining {
	const struct stacks *stacks;
	const struct sample_tree *tree;		/* that of the stacks; in the
						 * end with the hits of the
						 * times that are left; NULL:
						 * the functions of a call
						 * graph */
	struct sample_tree *selection;		/* that one; NULL: none */
	struct frame_kind *kinds;	/* those of the stacks, then those of
					 * groups */
	uint32_t n_kinds;
	size_t kinds_capacity;
	unsigned char *has_name;	/* [n_names] a kind that is used has
					 * the name */
	uint32_t n_names;
	uint32_t *kind;			/* [n_nodes] */
	unsigned char *flags;		/* [n_nodes] enum node_flags */
	struct slice_set times;		/* slices that are left */
	enum granularity by;		/* how the step names frames */
	bool has_groups;		/* a step has made some */
};

/* The name of a kind, as the step names frames. */
static inline uint32_t
refining_name(const struct refining *refining, uint32_t kind)
{
	return refining->kinds[kind].names[refining->by];
}

/*
 * The names of all kinds, close together for passes over the nodes: [n_kinds],
 * freed with free.  NULL with *error set.
 */
uint32_t *refining_names(const struct refining *refining, struct error *error);

/*
 * Whether a node is one frame with its parent, which it may be by some
 * granularities only.
 */
static inline bool
is_joined(const struct refining *refining, uint32_t node)
{
	const struct sample_tree *tree = refining->tree;

	if (refining->flags[node] & NODE_JOINED)
		return true;
	return granularity_is_whole(refining->by) &&
	    stacks_continue_frame(refining->stacks, tree->label[node]) &&
	    refining->kinds[refining->kind[node]].group ==
	    refining->kinds[refining->kind[tree->parent[node]]].group &&
	    refining->kinds[refining->kind[node]].is_group ==
	    refining->kinds[refining->kind[tree->parent[node]]].is_group;
}

/*
 * Whether a stack ends at a node.  A leaf without counts is a stack of no hits.
 */
static inline bool
ends_stack(const struct sample_tree *tree, uint32_t node)
{
	return tree->row[node] != 0 || tree->end[node] == node + 1;
}

/*
 * Finds which kinds are used, and the names that they have.  Call it before a
 * step.  0, or -1 with *error set.  O(nodes + names).
 */
int refining_look(struct refining *refining, struct error *error);

/* Finds the nodes that are left, after stacks have been dropped.  O(nodes). */
void refining_find_left(struct refining *refining);

#endif
