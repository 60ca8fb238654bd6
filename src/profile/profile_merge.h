/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_merge.h -- one profile of several. */
#ifndef CPPROF_PROFILE_PROFILE_MERGE_H
#define CPPROF_PROFILE_PROFILE_MERGE_H

#include "src/profile/fleet.h"
#include "src/profile/profile.h"

/* ---- merge_resources.c ---- */

/*
 * The resources of a sum of profiles.
 *
 * Resources of the same name and part are added up and must count the same
 * gtick; if their intervals differ, the sum counts in gticks.
 */

/*
 * Gives the sum, which has no resources yet, those of all n profiles: first
 * those that most profiles have, whatever the order of the profiles.  All must
 * be known before the first hit is added, since the last profile may still
 * change an interval.
 */
int merge_resources(struct profile *sum, struct profile *const *profiles,
                    uint32_t n, struct error *error);

/*
 * Fills map[profile->n_resources] with the numbers of the profile's resources
 * in the sum.  0, or -1 with *error set if two of them have the same name.
 */
int merge_map_resources(const struct profile *sum,
                        const struct profile *profile, uint32_t *map,
                        struct error *error);

/* ---- profile_runs.c ---- */

/*
 * Several runs in one profile, each with its own counts.
 *
 * Replicates must not be added up, since their differences say how sure a
 * number is.  So the sum of runs has a resource for each of them, and every
 * question to its stacks can be answered for each run.
 */

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

/* ---- profile_adder.c ---- */

/*
 * The sum of very many profiles, few of them in memory.
 *
 * A recording may have a file for each of 30,000 processes, and a profile
 * takes more memory than a small file.  So 64 profiles at a time are replaced
 * by their sum, 64 sums by a sum of the next level, and so on: a node is
 * entered once per level.
 */

enum { ADDER_WIDTH = 64, ADDER_LEVELS = 6 };

/* Starts with `{ 0 }`. */
struct profile_adder {
	struct profile *profiles[ADDER_LEVELS][ADDER_WIDTH];
	uint32_t n[ADDER_LEVELS];
};

/* Takes over a profile, even if it fails. */
int profile_adder_add(struct profile_adder *adder, struct profile *profile,
                      struct error *error);

/*
 * Takes the sum of all profiles off the adder, the same as that of one
 * fleet_sum_profiles in the order in which they were added; a single profile is
 * returned itself.  NULL with *error set.  The adder must not be empty.
 */
struct profile *
profile_adder_take(struct profile_adder *adder, struct error *error);

void profile_adder_free(struct profile_adder *adder);

#endif
