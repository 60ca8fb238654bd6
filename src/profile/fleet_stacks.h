/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_stacks.h -- the nodes of whole stacks in a fleet. */
#ifndef CPPROF_PROFILE_FLEET_STACKS_H
#define CPPROF_PROFILE_FLEET_STACKS_H

#include "src/profile/fleet.h"

/* So many are looked up at a time, that their cache misses may overlap. */
enum { FLEET_STACKS_MAX = 32 };

/*
 * Finds the innermost nodes of n stacks, or enters these: lengths[i] >= 1
 * frames of stack i follow those of the one before, innermost first.  n is at
 * most FLEET_STACKS_MAX.  0, or -1 with *error set.
 */
int fleet_find_stacks(struct fleet *fleet, const uint32_t *frames,
                      const uint32_t *lengths, uint32_t n, uint32_t *nodes,
                      struct error *error);

#endif
