/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_runs.h -- several runs in one profile, each with its own counts.
 *
 * Replicates must not be added up, since their differences say how sure a
 * number is.  So the sum of runs has a resource for each of them, and every
 * question to its stacks can be answered for each run.
 */
#ifndef CPPROF_PROFILE_PROFILE_RUNS_H
#define CPPROF_PROFILE_PROFILE_RUNS_H

#include "src/profile/fleet_tree.h"
#include "src/profile/profile.h"

/* A run, and what of it counts. */
struct counted_run {
	struct profile *profile;
	uint32_t resource;
	const struct fleet_groups *groups;	/* of a merged profile: each is
						 * counted by itself, and labels
						 * are not kept; NULL: the run is
						 * one */
};

/* How many columns it has. */
static inline uint32_t
counted_run_columns(const struct counted_run *run)
{
	return run->groups != NULL ? run->groups->n : 1;
}

/*
 * The stacks or calls of n >= 1 runs, all with trees or all with graphs.
 * columns is set to the resources of the result that have the counts of the
 * runs or, in their place, of their groups; all of these have the name, gtick
 * and interval of the first run's, or count gticks (interval 1) if intervals
 * differ.  The caller keeps the runs.  NULL with *error set: the gticks differ,
 * more than RESOURCES_MAX columns, or as profile_merge.
 */
struct profile *profile_merge_runs(const struct counted_run *runs, uint32_t n,
                                   uint32_t *columns, struct error *error);

/*
 * The same for the parts of one profile with a tree: its sections by split,
 * whose columns are numbers below n.
 */
struct profile *profile_split_runs(struct profile *profile, uint32_t resource,
                                   const struct section_columns *split,
                                   uint32_t n, uint32_t *columns,
                                   struct error *error);

#endif
