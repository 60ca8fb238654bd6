/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge_resources.c -- the resources of a sum of profiles. */
#include "src/profile/merge_resources.h"

#include <stdlib.h>
#include <string.h>

struct inputs {
	struct profile *const *profiles;
	uint32_t n;
};

static struct resource *
find_resource(const struct profile *profile, const char *name)
{
	uint32_t r = profile_find_resource(profile, name);

	return r != NO_RESOURCE ? &profile->resources[r] : NULL;
}

/* One of profile's resources has another gtick than the first of its name. */
static int
set_disagreement(const struct inputs *inputs, const struct profile *profile,
                 const struct resource *resource, struct error *error)
{
	const struct resource *first = NULL;
	uint32_t i = 0;

	while (i < inputs->n &&
	       (first = find_resource(inputs->profiles[i],
	                              resource->name)) == NULL)
		i++;
	return error_set(error, "%s: cannot merge: resource %s counts \"%s\", "
	                 "but \"%s\" in %s", profile_title(profile),
	                 resource->name, resource->gtick, first->gtick,
	                 profile_title(inputs->profiles[i]));
}

static int
merge_resource(struct profile *sum, const struct inputs *inputs,
               const struct profile *from, const struct resource *resource,
               struct error *error)
{
	struct resource *known = find_resource(sum, resource->name);

	if (known == NULL) {
		uint32_t number = profile_add_resource(sum, resource->name,
		                                       resource->gtick,
		                                       resource->interval,
		                                       error);

		if (number == UINT32_MAX)
			return -1;
		return profile_add_source(sum, &sum->resources[number],
		                          resource->source, error);
	}
	if (profile_add_source(sum, known, resource->source, error) != 0)
		return -1;
	if (strcmp(known->gtick, resource->gtick) != 0)
		return set_disagreement(inputs, from, resource, error);
	if (known->interval != resource->interval)
		known->interval = 1;
	return 0;
}

/* In how many inputs a resource is, and its first column in any of them. */
static uint32_t
count_inputs(const struct inputs *inputs, const char *name, uint32_t *column)
{
	uint32_t n_with = 0;

	*column = UINT32_MAX;
	for (uint32_t i = 0; i < inputs->n; i++) {
		uint32_t at = profile_find_resource(inputs->profiles[i], name);

		if (at == NO_RESOURCE)
			continue;
		n_with++;
		if (at < *column)
			*column = at;
	}
	return n_with;
}

/* What most inputs have comes first, whatever order they are named in. */
static int
compare_resources(const void *a, const void *b, void *context)
{
	const struct resource *x = a, *y = b;
	uint32_t x_column, y_column;
	uint32_t n_x = count_inputs(context, x->name, &x_column);
	uint32_t n_y = count_inputs(context, y->name, &y_column);

	if (n_x != n_y)
		return n_x < n_y ? 1 : -1;
	if (x_column != y_column)
		return x_column < y_column ? -1 : 1;
	return strcmp(x->name, y->name);
}

int
merge_resources(struct profile *sum, struct profile *const *profiles,
                uint32_t n, struct error *error)
{
	struct inputs inputs = { profiles, n };

	for (uint32_t i = 0; i < n; i++) {
		const struct profile *from = profiles[i];

		for (uint32_t r = 0; r < from->n_resources; r++)
			if (merge_resource(sum, &inputs, from,
			                   &from->resources[r], error) != 0)
				return -1;
	}
	qsort_r(sum->resources, sum->n_resources, sizeof *sum->resources,
	        compare_resources, &inputs);
	return 0;
}

int
merge_map_resources(const struct profile *sum, const struct profile *profile,
                    uint32_t *map, struct error *error)
{
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const char *name = profile->resources[r].name;

		if (profile_find_resource(profile, name) != r)
			return error_set(error, "two resources named %s",
			                 name);
		map[r] = profile_find_resource(sum, name);
	}
	return 0;
}
