/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_adder.c -- the sum of very many profiles, few of them in memory. */
#include "src/profile/profile_merge.h"

#include <inttypes.h>

#include "src/profile/fleet.h"

static void
free_profiles(struct profile **profiles, uint32_t *n)
{
	while (*n > 0)
		profile_free(profiles[--*n]);
}

void
profile_adder_free(struct profile_adder *adder)
{
	for (int level = 0; level < ADDER_LEVELS; level++)
		free_profiles(adder->profiles[level], &adder->n[level]);
}

/* Takes the sum of a full level. */
static struct profile *
sum_level(struct profile_adder *adder, int level, struct error *error)
{
	struct profile *sum = fleet_sum_profiles(adder->profiles[level],
	                                         ADDER_WIDTH, error);

	if (sum != NULL)		/* for messages */
		sum->name = arena_format(&sum->arena, error, "%s and %" PRIu32
		    " others", profile_title(adder->profiles[level][0]),
		    sum->n_files - 1);
	if (sum != NULL && sum->name == NULL) {
		profile_free(sum);
		return NULL;
	}
	free_profiles(adder->profiles[level], &adder->n[level]);
	return sum;
}

int
profile_adder_add(struct profile_adder *adder, struct profile *profile,
                  struct error *error)
{
	for (int level = 0; level < ADDER_LEVELS; level++) {
		adder->profiles[level][adder->n[level]++] = profile;
		if (adder->n[level] < ADDER_WIDTH)
			return 0;
		profile = sum_level(adder, level, error);
		if (profile == NULL)
			return -1;
	}
	profile_free(profile);
	return error_set(error, "too many files");
}

struct profile *
profile_adder_take(struct profile_adder *adder, struct error *error)
{
	struct profile *all[ADDER_LEVELS * ADDER_WIDTH], *sum;
	uint32_t n = 0;

	for (int level = ADDER_LEVELS; level-- > 0;)
		for (uint32_t i = 0; i < adder->n[level]; i++)
			all[n++] = adder->profiles[level][i];
	if (n > 1)
		return fleet_sum_profiles(all, n, error);
	sum = all[0];
	for (int level = 0; level < ADDER_LEVELS; level++)
		adder->n[level] = 0;
	if (sum->n_files > 1)
		sum->name = NULL;
	return sum;
}
