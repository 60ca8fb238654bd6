/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_sum.c -- the sum of merged profiles is a merged profile. */
#include "src/profile/fleet.h"

#include "src/base/progress.h"

/* Merged profiles have members with identities of their own. */
static const struct fleet_identity nobody = { .id = "", .name = "" };

/*
 * Adds all up; 1 if one cannot be added, and -1 with *error set.  Both leave a
 * sum that is of no use.
 */
static int
add_fleets(struct profile *sum, struct profile *const *profiles, uint32_t n,
           struct error *error)
{
	struct fleet *fleet = fleet_new(sum, error);

	for (uint32_t i = 0; fleet != NULL && i < n; i++) {
		struct error refused = { 0 };

		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (!fleet_accepts(fleet, profiles[i], &nobody, &refused))
			return refused.is_out_of_memory ?
			       error_pass(error, &refused) : 1;
		if (fleet_add_profile(fleet, profiles[i], &nobody, error) != 0)
			return -1;
		for (uint32_t k = 0; k < profiles[i]->n_warnings; k++)
			if (profile_warn(sum, error, "%s",
			                 profiles[i]->warnings[k]) != 0)
				return -1;
		sum->n_files += profiles[i]->n_files;
	}
	return fleet == NULL || fleet_order(fleet, error) != 0 ||
	       fleet_make_tree(fleet, error) != 0 ? -1 : 0;
}

struct profile *
fleet_sum_profiles(struct profile *const *profiles, uint32_t n,
                   struct error *error)
{
	struct profile *sum;
	int status;

	for (uint32_t i = 0; i < n; i++)
		if (profiles[i]->fleet == NULL)
			return profile_merge(profiles, n, error);
	sum = profile_new(error);
	if (sum == NULL)
		return NULL;
	status = add_fleets(sum, profiles, n, error);
	if (status == 0)
		return sum;
	profile_free(sum);
	return status > 0 ? profile_merge(profiles, n, error) : NULL;
}
