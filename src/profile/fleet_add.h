/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_add.h -- adds profiles to a fleet. */
#ifndef CPPROF_PROFILE_FLEET_ADD_H
#define CPPROF_PROFILE_FLEET_ADD_H

#include "src/profile/fleet.h"

/* Who a profile is, and by what its counts are kept. */
struct fleet_identity {
	const char *id;		/* decides its group, and ties */
	const char *name;	/* of its file; "": unknown */
	const char *key;	/* "host", "process", "thread", "id" or the key
				 * of a label; NULL: none */
};

/*
 * Adds a profile that fleet_accepts as one member; or, if it is a merged
 * profile, all its members, and then only the key of the identity counts.  0,
 * or -1 with *error set: the fleet is then of no more use, since part of the
 * profile may be in it.
 */
int fleet_add_profile(struct fleet *fleet, const struct profile *from,
                      const struct fleet_identity *identity,
                      struct error *error);

/* The group of a member: 0 to FLEET_GROUPS - 1. */
uint32_t fleet_group(const char *id);

#endif
