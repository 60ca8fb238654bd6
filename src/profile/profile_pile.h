/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_pile.h -- the sum of very many profiles, few of them in memory.
 *
 * A recording may have a file for each of 30,000 processes, and a profile
 * takes more memory than a small file.  So 64 profiles at a time are replaced
 * by their sum, 64 sums by a sum of the next level, and so on: a node is
 * entered once per level.
 */
#ifndef CPPROF_PROFILE_PROFILE_PILE_H
#define CPPROF_PROFILE_PROFILE_PILE_H

#include "src/profile/profile.h"

enum { PILE_WIDTH = 64, PILE_LEVELS = 6 };

/* Starts with `{ 0 }`. */
struct profile_pile {
	struct profile *profiles[PILE_LEVELS][PILE_WIDTH];
	uint32_t n[PILE_LEVELS];
};

/* Takes over a profile, even if it fails; 0, or -1 with *error set. */
int profile_pile_add(struct profile_pile *pile, struct profile *profile,
                     struct error *error);

/*
 * Takes the sum of all profiles off the pile, the same as that of one
 * fleet_sum_profiles in the order in which they were added; a single profile is
 * returned itself.  NULL with *error set.  The pile must not be empty.
 */
struct profile *profile_pile_take(struct profile_pile *pile,
                                  struct error *error);

void profile_pile_free(struct profile_pile *pile);

#endif
