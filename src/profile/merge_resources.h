/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge_resources.h -- the resources of a sum of profiles.
 *
 * Resources of the same name are added up and must count the same gtick; if
 * their intervals differ, the sum counts in gticks.
 */
#ifndef CPPROF_PROFILE_MERGE_RESOURCES_H
#define CPPROF_PROFILE_MERGE_RESOURCES_H

#include "src/profile/profile.h"

/*
 * Gives the sum, which has no resources yet, those of all n profiles: first
 * those that most profiles have, whatever the order of the profiles.  All must
 * be known before the first hit is added, since the last profile may still
 * change an interval.  0, or -1 with *error set.
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

#endif
