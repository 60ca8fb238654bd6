/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_tree.h -- a fleet as the profile that views work on. */
#ifndef CPPROF_PROFILE_FLEET_TREE_H
#define CPPROF_PROFILE_FLEET_TREE_H

#include "src/profile/fleet.h"

/*
 * Gives the profile of a settled fleet its resources, tree, process and number
 * of files.  Resources of one name and gtick become one, in gticks if their
 * intervals differ.  If counts are kept by a key, each value becomes a section
 * with that label, and what has no value one without.  0, or -1 with *error
 * set, also where a sum in gticks passes 64 bits.
 */
int fleet_make_tree(struct fleet *fleet, struct error *error);

/*
 * The stacks of a fleet, with the hits of its random groups.  It lives as long
 * as its owners, and no longer than the fleet.
 */
struct fleet_groups {
	/*
	 * Labels and resources are those of the profile's tree, after which the
	 * groups come as resources of their own: [first, first + n).  The stacks
	 * have no sections.
	 */
	struct sample_tree *tree;
	uint32_t resource;		/* of the profile: whose hits they are */
	uint32_t first, n;		/* only groups that have members */
	double members[FLEET_GROUPS];	/* [n] */
	unsigned n_owners;
};

/* The number of groups that have members. */
uint32_t fleet_count_groups(const struct fleet *fleet);

/*
 * Makes those of one resource, after fleet_make_tree; the caller is an owner.
 * The file has no samples by group: they are the group's part of the row's.
 * NULL with *error set.  O(nodes + cells).
 */
struct fleet_groups *fleet_groups_new(const struct fleet *fleet,
                                      uint32_t resource, struct error *error);

/* Adds an owner, and takes one away; NULL is allowed. */
struct fleet_groups *fleet_groups_share(struct fleet_groups *groups);
void fleet_groups_release(struct fleet_groups *groups);

#endif
