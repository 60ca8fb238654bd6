/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_tree.h -- a fleet as the profile that views work on. */
#ifndef CPPROF_PROFILE_FLEET_TREE_H
#define CPPROF_PROFILE_FLEET_TREE_H

#include "src/profile/fleet.h"

/*
 * Gives the profile of a settled fleet its resources, tree, process and number
 * of files.  Resources of one name and gtick become one, in gticks if their
 * intervals differ.  If counts are kept by a key, each value becomes a section
 * with that label, and what has no value one without.  0, or -1 with *error set,
 * also where a sum in gticks passes 64 bits.
 */
int fleet_make_tree(struct fleet *fleet, struct error *error);

#endif
