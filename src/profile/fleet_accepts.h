/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_accepts.h -- whether a profile can be added to a fleet. */
#ifndef CPPROF_PROFILE_FLEET_ACCEPTS_H
#define CPPROF_PROFILE_FLEET_ACCEPTS_H

#include "src/profile/fleet_add.h"

/*
 * Whether it has stacks, counts by no other key, and neither resources nor hits
 * that are too many together with those of the fleet; if not, *error says what
 * is wrong.  The number of nodes, counts and values is not looked at: their
 * limits are far away.  O(nodes).
 */
bool fleet_accepts(const struct fleet *fleet, const struct profile *from,
                   const struct fleet_identity *identity,
                   struct error *error);

#endif
