/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacks.h -- a profile's stacks before they are refined.
 *
 * Views see names, but steps may ask for a frame's module and file as well, and
 * name frames by the granularity that was set when they were made.  So these
 * stacks keep apart all that differs in any of these.
 */
#ifndef CPPROF_REFINE_STACKS_H
#define CPPROF_REFINE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

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
 * nodes and other counts, and must outlive the stacks.  hides_startup: without
 * the frames of startup.def at their outer ends, unless they have no others.
 * section[n_nodes of tree]: those of the nodes (sections_of_nodes), which are
 * then kept apart; NULL: no step or caller asks for them.  0, or -1 with *error
 * set; call stacks_free in either case.  O(nodes + frames).
 */
int stacks_make(struct stacks *stacks, struct profile *profile,
                const struct sample_tree *tree, const uint32_t *section,
                const struct naming_rule *rule, unsigned granularities,
                bool hides_startup, struct error *error);
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
                             unsigned granularities, bool hides_startup,
                             struct error *error);

#endif
