/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counted.h -- which stacks a row of explain counts, and in which groups. */
#ifndef CPPROF_VIEWS_COUNTED_H
#define CPPROF_VIEWS_COUNTED_H

#include <stdbool.h>

#include "src/views/group_noise.h"

enum counted {
	COUNTED_PATH,		/* with the path of the row */
	COUNTED_OWN,		/* that end in the path */
	COUNTED_BODY,		/* that end in its only function */
	COUNTED_STARTS,		/* that begin in that, without the root */
	COUNTED_CUT,		/* whose outer frames are unknown */
	COUNTED_MODULE,		/* that end in a module */
};

/* Whether readers put the name in place of outer frames that they lack. */
bool counted_is_cut_mark(const struct names *names, uint32_t name);

/*
 * The hits of the stacks through `top`, a node without a parent, on which the
 * root is not.  *node: the first node of the root; afterwards the first behind
 * top's subtree.
 */
uint64_t counted_without_root(const struct sample_set *set, uint32_t root,
                              uint32_t top, uint32_t *node);

/*
 * What the groups have of a row, COUNTED_MODULE excepted.  0, or -1 with *error
 * set.  O(nodes); COUNTED_STARTS for each group.
 */
int counted_in_groups(const struct group_noise *noise, enum counted counted,
                      const uint32_t *path, size_t n, uint32_t root,
                      struct group_hits *hits, struct error *error);

#endif
