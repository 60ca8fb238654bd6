/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_runs.h -- several runs in one profile, each with its own counts.
 *
 * Replicates must not be added up, since their differences say how sure a
 * number is.  So the sum of runs has a resource for each of them, and every
 * question to its stacks can be answered for each run.
 */
#ifndef CPPROF_PROFILE_PROFILE_RUNS_H
#define CPPROF_PROFILE_PROFILE_RUNS_H

#include "src/profile/profile.h"

/*
 * The stacks or calls of n >= 1 runs, all with trees or all with graphs.
 * wanted[n]: the resource of each run that counts.  columns[n] is set to the
 * resource of the result that has a run's counts; all of these have the name,
 * gtick and interval of the first run's, or count gticks (interval 1) if
 * intervals differ.  The caller keeps the runs.  NULL with *error set: the
 * gticks differ, more than RESOURCES_MAX columns, or as profile_merge.
 */
struct profile *profile_merge_runs(struct profile *const *runs,
                                   const uint32_t *wanted, uint32_t n,
                                   uint32_t *columns, struct error *error);

#endif
