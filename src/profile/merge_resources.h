/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge_resources.h -- the resources of a sum of profiles.
 *
 * Resources of one name are one and must count the same gtick; where their
 * intervals differ, the sum counts in gticks.
 */
#ifndef CPPROF_PROFILE_MERGE_RESOURCES_H
#define CPPROF_PROFILE_MERGE_RESOURCES_H

#include "src/profile/profile.h"

/*
 * Gives the sum, which has none yet, the resources of all n profiles: first
 * those that most have, whatever order the profiles are named in.  All must be
 * there before the first hit is added, since the last profile may still change
 * an interval.  0, or -1 with *error set.
 */
int merge_resources(struct profile *sum, struct profile *const *profiles,
                    uint32_t n, struct error *error);

/*
 * map[profile->n_resources]: numbers in the sum of the profile's resources.
 * 0, or -1 with *error set where two of these have one name.
 */
int merge_map_resources(const struct profile *sum,
                        const struct profile *profile, uint32_t *map,
                        struct error *error);

#endif
