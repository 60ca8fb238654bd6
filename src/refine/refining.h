/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refining.h -- how steps are applied, for the files of this folder. */
#ifndef CPPROF_REFINE_REFINING_H
#define CPPROF_REFINE_REFINING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"

/* ---- stacks.c ---- */

/*
 * A profile's stacks before they are refined.
 *
 * Views see names, but steps may ask for a frame's module and file as well, and
 * name frames by the granularity that was set when they were made.  So these
 * stacks keep apart all that differs in any of these.
 */

/* What steps can tell about a frame. */
struct frame_kind {
	uint32_t names[N_GRANULARITIES];	/* only those in use */
	uint32_t module;	/* the last component of its path, a name;
				 * NO_NAME: unknown, or a group */
	uint32_t file;		/* a name; NO_NAME: unknown, or a group */
	uint32_t group;		/* the name of the group that it belongs to;
				 * NO_NAME: none */
	bool is_group;		/* its name is that of a group */
	bool is_used;		/* a stack that is left has such a frame */
};

struct stacks {
	struct profile *profile;
	const struct sample_tree *tree;	/* labels are elements; siblings may
					 * have equal ones */
	struct sample_tree *spread;	/* a tree of its own, with chains and
					 * the profile's counts */
	struct sample_tree *folded;	/* likewise, without start-up frames */
	unsigned char *joined;	/* [n_nodes of tree] 1: its frame is hidden and
				 * one with its parent's; NULL: none is */
	uint32_t *section;	/* [n_nodes of tree] of the profile, n_sections
				 * for none; NULL: not asked for */
	enum granularity granularity;	/* of the names that views will see */
	uint32_t n_elements;	/* one for each shown location of a frame */
	uint32_t *frame_of;	/* [n_elements] of the profile */
	uint32_t *kind_of;	/* [n_elements] */
	bool *is_joined;	/* [n_elements] it is one frame with the element
				 * before it; NULL: none is */
	struct frame_kind *kinds;	/* all different */
	uint32_t n_kinds;
	size_t kinds_capacity;
};

/* Whether a granularity makes a frame one step, whatever was inlined there. */
static inline bool
granularity_is_whole(enum granularity granularity)
{
	return granularity == GRANULARITY_MODULE ||
	    granularity == GRANULARITY_ADDRESS;
}

/* Whether an element belongs to the frame of the one before. */
static inline bool
stacks_continue_frame(const struct stacks *stacks, uint32_t element)
{
	return element > 0 &&
	    stacks->frame_of[element] == stacks->frame_of[element - 1];
}

/*
 * The stacks of a profile that has a tree, with the names of a rule and those
 * of other granularities, 1 << each.  `tree` is profile->tree or has the same
 * nodes and other counts, and must outlive the stacks.  hidden: the frames that
 * are not shown (enum hidden_frames).
 * section[n_nodes of tree]: those of the nodes (sections_of_nodes), which are
 * then kept apart; NULL: no step or caller asks for them.  Call stacks_free
 * even if it fails.  O(nodes + frames).
 */
int stacks_make(struct stacks *stacks, struct profile *profile,
                const struct sample_tree *tree, const uint32_t *section,
                const struct naming_rule *rule, unsigned granularities,
                unsigned hidden, struct error *error);
void stacks_free(struct stacks *stacks);

/*
 * The same for a tree whose labels are locations, indexes of
 * profile->locations; frame_of[n_locations] is the frame of each, or
 * UINT32_MAX.  Locations that the rule does not show are joined to those before
 * them, so that a step selects the same stacks.  The counts are the tree's.
 */
int stacks_make_of_locations(struct stacks *stacks, struct profile *profile,
                             const struct sample_tree *tree,
                             const uint32_t *section,
                             const uint32_t *frame_of,
                             const struct naming_rule *rule,
                             unsigned granularities, unsigned hidden,
                             struct error *error);

/* ---- refining.c ---- */

/*
 * Stacks while steps are applied to them; inside src/refine only.
 *
 * No node is moved before all steps are done.  A step gives nodes other kinds,
 * joins them to their parents, or drops them.
 */

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
	    refining->kinds[refining->kind[sample_tree_parent(tree,
	    node)]].group &&
	    refining->kinds[refining->kind[node]].is_group ==
	    refining->kinds[refining->kind[sample_tree_parent(tree,
	    node)]].is_group;
}

/*
 * Whether a stack ends at a node.  A leaf without counts is a stack of no hits.
 */
static inline bool
ends_stack(const struct sample_tree *tree, uint32_t node)
{
	return sample_tree_has_row(tree, node) || sample_tree_is_leaf(tree,
	    node);
}

/*
 * Finds which kinds are used, and the names that they have.  Call it before a
 * step.  O(nodes + names).
 */
int refining_look(struct refining *refining, struct error *error);

/* Finds the nodes that are left, after stacks have been dropped.  O(nodes). */
void refining_find_left(struct refining *refining);

/* ---- path_chains.c ---- */

/*
 * Canonical paths that match patterns, as frames come and go.
 *
 * A canonical path goes from the last activation of its first name to the
 * function that it called, from that function's last activation to the one that
 * it called, and so on to the newest frame: theory in Hall & Goldberg 1993,
 * appendix.  So each name on the stack has one path to the newest frame.
 */

enum { MOST_CHAINED = 64 };	/* elements that frames above the end match */

struct path_chains;

/*
 * For paths of n_elements above their last frame, 1 to MOST_CHAINED, on stacks
 * of at most `deepest` frames with names below n_names.  Freed with
 * path_chains_free; NULL with *error set.
 */
struct path_chains *path_chains_new(uint32_t n_elements, uint32_t n_names,
                                    uint32_t deepest, struct error *error);
void path_chains_free(struct path_chains *chains);

/*
 * A frame is called by the newest one, and is the newest from then on.  Bit i
 * of matches: it matches element i.  Pop takes the newest frame away.  Neither
 * depends on the depth of the stack: O(n_elements^2) at worst.
 */
void path_chains_push(struct path_chains *chains, uint32_t name,
                      uint64_t matches);
void path_chains_pop(struct path_chains *chains);

/* Whether the newest frame ends a path that matches all elements. */
bool path_chains_reach(const struct path_chains *chains);

#endif
