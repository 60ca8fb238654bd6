/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_time.h -- the part of a sample tree's hits that belongs to some time. */
#ifndef CPPROF_PROFILE_TREE_TIME_H
#define CPPROF_PROFILE_TREE_TIME_H

#include "src/profile/sample_tree.h"
#include "src/profile/timeline.h"

/*
 * Adds the hits of one resource in nodes [begin, end), by slice, to
 * sums[TIMELINE_SLICES].  The tree's selection counts: its row[].
 */
void tree_time_add(const struct sample_tree *tree, uint32_t resource,
                   uint32_t begin, uint32_t end, uint64_t *sums);

/*
 * The same tree with the hits and samples that belong to a set of slices, and
 * a timeline of these.  It shares the arrays of nodes with `tree`, which must
 * outlive it; freed with tree_time_free.  NULL with *error set.
 * O(rows + entries).
 */
struct sample_tree *tree_time_select(const struct sample_tree *tree,
                                     const struct slice_set *set,
                                     struct error *error);
void tree_time_free(struct sample_tree *selection);

#endif
