/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_pile.c -- the sum of very many profiles, few of them in memory. */
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
profile_pile_free(struct profile_pile *pile)
{
	for (int level = 0; level < PILE_LEVELS; level++)
		free_profiles(pile->profiles[level], &pile->n[level]);
}

/* Sets the name of a sum for messages. */
static int
set_title(struct profile *sum, const struct profile *first,
          struct error *error)
{
	sum->name = arena_format(&sum->arena, error,
	                         "%s and %" PRIu32 " others",
	                         profile_title(first), sum->n_files - 1);
	return sum->name != NULL ? 0 : -1;
}

/* Takes the sum of a full level. */
static struct profile *
sum_level(struct profile_pile *pile, int level, struct error *error)
{
	struct profile *sum = fleet_sum_profiles(pile->profiles[level],
	                                         PILE_WIDTH, error);

	if (sum != NULL &&
	    set_title(sum, pile->profiles[level][0], error) != 0) {
		profile_free(sum);
		return NULL;
	}
	free_profiles(pile->profiles[level], &pile->n[level]);
	return sum;
}

int
profile_pile_add(struct profile_pile *pile, struct profile *profile,
                 struct error *error)
{
	for (int level = 0; level < PILE_LEVELS; level++) {
		pile->profiles[level][pile->n[level]++] = profile;
		if (pile->n[level] < PILE_WIDTH)
			return 0;
		profile = sum_level(pile, level, error);
		if (profile == NULL)
			return -1;
	}
	profile_free(profile);
	return error_set(error, "too many files");
}

struct profile *
profile_pile_take(struct profile_pile *pile, struct error *error)
{
	struct profile *all[PILE_LEVELS * PILE_WIDTH], *sum;
	uint32_t n = 0;

	for (int level = PILE_LEVELS; level-- > 0;)
		for (uint32_t i = 0; i < pile->n[level]; i++)
			all[n++] = pile->profiles[level][i];
	if (n > 1)
		return fleet_sum_profiles(all, n, error);
	sum = all[0];
	for (int level = 0; level < PILE_LEVELS; level++)
		pile->n[level] = 0;
	if (sum->n_files > 1)
		sum->name = NULL;
	return sum;
}
