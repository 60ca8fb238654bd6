/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge_resources.c -- the resources of a sum of profiles. */
#include "src/profile/profile_merge.h"

#include <stdlib.h>
#include <string.h>

struct inputs {
	struct profile *const *profiles;
	uint32_t n;
};

/* The profile's resource that is added to this one; or NULL. */
static struct resource *
merge_resources_find(const struct profile *profile,
                     const struct resource *like)
{
	uint32_t r = profile_find_part(profile, like->name, like->part);

	return r != NO_RESOURCE ? &profile->resources[r] : NULL;
}

/*
 * Sets the error for a resource whose gtick differs from that of the first of
 * its name.
 */
static int
set_disagreement(const struct inputs *inputs, const struct profile *profile,
                 const struct resource *resource, struct error *error)
{
	const struct resource *first = NULL;
	uint32_t i = 0;

	while (i < inputs->n &&
	       (first = merge_resources_find(inputs->profiles[i],
	                                     resource)) == NULL)
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
	struct resource *known = merge_resources_find(sum, resource);

	if (known == NULL) {
		uint32_t number = profile_add_resource(sum, resource->name,
		                                       resource->gtick,
		                                       resource->interval,
		                                       error);

		if (number == UINT32_MAX)
			return -1;
		sum->resources[number].part = resource->part;
		sum->resources[number].counting = resource->counting;
		return profile_add_source(sum, &sum->resources[number],
		                          resource->source, error);
	}
	if (profile_add_source(sum, known, resource->source, error) != 0)
		return -1;
	if (strcmp(known->gtick, resource->gtick) != 0)
		return set_disagreement(inputs, from, resource, error);
	if (known->interval != resource->interval)
		known->interval = 1;
	if (known->counting != resource->counting)
		known->counting = COUNTING_UNKNOWN;
	return 0;
}

/*
 * In how many files a resource is; n_files is 0 where the profile is a single
 * file.
 */
static uint32_t
files_of(const struct resource *resource)
{
	return resource->n_files > 0 ? resource->n_files : 1;
}

static uint32_t
merge_resources_column_of(const struct profile *profile,
                          const struct resource *resource)
{
	return resource->n_files > 0 ? resource->first_column :
	    (uint32_t)(resource - profile->resources);
}

/*
 * Counts in how many files a resource is, and finds its first column in any of
 * them.
 */
static void
count_files(const struct inputs *inputs, struct resource *sum)
{
	sum->n_files = 0;
	sum->first_column = UINT32_MAX;
	for (uint32_t i = 0; i < inputs->n; i++) {
		const struct profile *from = inputs->profiles[i];
		const struct resource *found = merge_resources_find(from, sum);

		if (found == NULL)
			continue;
		sum->n_files += files_of(found);
		if (merge_resources_column_of(from, found) < sum->first_column)
			sum->first_column = merge_resources_column_of(from,
			                                              found);
	}
}

/*
 * Sorts resources that most files have first, whatever the order of the files.
 */
static int
merge_resources_compare_resources(const void *a, const void *b)
{
	const struct resource *x = a, *y = b;

	if (x->n_files != y->n_files)
		return x->n_files < y->n_files ? 1 : -1;
	if (x->first_column != y->first_column)
		return x->first_column < y->first_column ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
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
	for (uint32_t r = 0; r < sum->n_resources; r++)
		count_files(&inputs, &sum->resources[r]);
	qsort(sum->resources, sum->n_resources, sizeof *sum->resources,
	      merge_resources_compare_resources);
	return 0;
}

int
merge_map_resources(const struct profile *sum, const struct profile *profile,
                    uint32_t *map, struct error *error)
{
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *from = &profile->resources[r];

		if (profile_find_part(profile, from->name, from->part) != r)
			return error_set(error, "two resources named %s",
			                 from->name);
		map[r] = profile_find_part(sum, from->name, from->part);
	}
	return 0;
}
