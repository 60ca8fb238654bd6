/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_sum.h -- the sum of merged profiles is a merged profile. */
#ifndef CPPROF_PROFILE_FLEET_SUM_H
#define CPPROF_PROFILE_FLEET_SUM_H

#include "src/profile/profile.h"

/*
 * The sum of n >= 1 profiles.  If all are merged profiles that can be added to
 * each other, it has all their members, with their groups and counts by the key;
 * else it is that of profile_merge.  The caller keeps the inputs.  NULL with
 * *error set.
 */
struct profile *fleet_sum_profiles(struct profile *const *profiles, uint32_t n,
                                   struct error *error);

#endif
