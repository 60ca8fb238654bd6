/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_hits.h -- the value of one call path in a tree, and when its hits came.
 */
#ifndef CPPROF_VIEWS_PATH_HITS_H
#define CPPROF_VIEWS_PATH_HITS_H

#include "src/views/view.h"

struct path_hits {
	uint64_t hits;
	bool is_seen;		/* it is in a stack */
	bool is_canonical;	/* otherwise no stack can have this path */
};

/*
 * The value of path[n], n >= 1, in a set that is a tree.  times: NULL, or
 * [TIMELINE_SLICES] to which its hits by slice are added; then the tree has a
 * timeline.  O(nodes) for a path of any length, and with times O(entries).  0,
 * or -1 with *error set.
 */
int path_hits_find(const struct sample_set *set, const uint32_t *path,
                   size_t n, struct path_hits *found, uint64_t *times,
                   struct error *error);

/*
 * The same for n_sets sets of one tree.  ends_there: hits of the stacks that
 * end in the path, which has no name twice (struct rows, own).
 */
int path_hits_of_sets(const struct sample_set *sets, size_t n_sets,
                      const uint32_t *path, size_t n, bool ends_there,
                      uint64_t *hits, struct error *error);

/*
 * Whether only the last name of a path occurs twice in it, as in every
 * canonical path.  0, or -1 with *error set.
 */
int path_is_canonical(const struct sample_set *set, const uint32_t *path,
                      size_t n, bool *is_canonical, struct error *error);

#endif
