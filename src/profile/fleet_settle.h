/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_settle.h -- puts a fleet into the order in which it is written. */
#ifndef CPPROF_PROFILE_FLEET_SETTLE_H
#define CPPROF_PROFILE_FLEET_SETTLE_H

#include "src/profile/fleet.h"

/*
 * Renumbers everything, so that it depends on the members only and not on the
 * order in which they were added: names, modules, frames, resources and values
 * by their bytes, nodes depth first with siblings by frame, rows by node, cells
 * by part, resource and node, members by identity.  Drops members that no node
 * names and values without counts.  Afterwards nothing can be added.  0, or -1
 * with *error set: then the fleet can only be freed.
 */
int fleet_settle(struct fleet *fleet, struct error *error);

#endif
