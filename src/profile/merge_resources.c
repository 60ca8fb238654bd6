/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge_resources.c -- the resources of a sum of profiles. */
#include "src/profile/profile_merge.h"

#include <stdlib.h>
#include <string.h>

/* The first of an addend's columns that counts this; NULL: none does. */
static const struct counted_column *
merge_resources_find(const struct addend *addend, const char *name,
                     uint32_t part)
{
	for (uint32_t i = 0; i < addend->n; i++) {
		const struct counted_column *column = &addend->columns[i];

		if (column->part == part &&
		    strcmp(addend->profile->resources[column->resource].name,
		           name) == 0)
			return column;
	}
	return NULL;
}

/* Reports that a resource counts something else than in an earlier addend. */
static int
merge_resources_disagree(const struct addend *addends,
                         const struct profile *from,
                         const struct resource *resource, struct error *error)
{
	uint32_t r;

	while ((r = profile_find_resource(addends->profile,
	                                  resource->name)) == NO_RESOURCE)
		addends++;
	return error_set(error, "%s: cannot merge: resource %s counts \"%s\", "
	                 "but \"%s\" in %s", profile_title(from),
	                 resource->name, resource->gtick,
	                 addends->profile->resources[r].gtick,
	                 profile_title(addends->profile));
}

/* Which sample has most hits is not known of hits of different intervals. */
static void
merge_in_gticks(struct resource *resource)
{
	resource->interval = 1;
	resource->drawn_most = 0;
}

void
merge_column(struct resource *sum, const struct resource *from,
             uint32_t column)
{
	const bool is_first = sum->n_files == 0;
	const uint32_t first = from->n_files > 0 ? from->first_column : column;

	if (is_first) {
		sum->counting = from->counting;
		sum->drawn_most = from->drawn_most;
	}
	if (sum->counting != from->counting)
		sum->counting = COUNTING_UNKNOWN;
	if (from->drawn_most == 0 || sum->drawn_most == 0)
		sum->drawn_most = 0;
	else if (from->drawn_most > sum->drawn_most)
		sum->drawn_most = from->drawn_most;
	if (sum->interval != from->interval)
		merge_in_gticks(sum);
	if (is_first || first < sum->first_column)
		sum->first_column = first;
	count_add(&sum->n_files, from->n_files > 0 ? from->n_files : 1);
}

/* Adds a column of an addend to that of the sum, entered if new. */
static int
merge_resource(struct profile *sum, const struct addend *addends,
               const struct addend *addend,
               const struct counted_column *column, struct error *error)
{
	const struct resource *from =
	    &addend->profile->resources[column->resource];
	uint64_t interval = from->interval;
	struct resource *to = NULL;
	uint32_t number;

	/* Parts are compared with each other, so their intervals are equal. */
	for (uint32_t r = 0; r < sum->n_resources; r++) {
		struct resource *resource = &sum->resources[r];

		if (strcmp(resource->name, from->name) != 0)
			continue;
		if (strcmp(resource->gtick, from->gtick) != 0)
			return merge_resources_disagree(addends,
			    addend->profile, from, error);
		if (resource->interval != from->interval) {
			merge_in_gticks(resource);
			interval = 1;
		}
		if (resource->part == column->part)
			to = resource;
	}
	if (to == NULL) {
		number = profile_add_resource(sum, from->name, from->gtick,
		                              interval, error);
		if (number == UINT32_MAX)
			return -1;
		to = &sum->resources[number];
		to->part = column->part;
	}
	merge_column(to, from, column->column);
	return profile_add_source(sum, to, from->source, error);
}

void
merge_add_losses(struct resource *to, const uint64_t *lost, uint64_t factor)
{
	for (int loss = 0; loss < N_LOSSES; loss++) {
		uint64_t hits = lost[loss];

		if (!loss_kinds[loss].counts_samples &&
		    __builtin_mul_overflow(hits, factor, &hits))
			hits = UINT64_MAX;
		count_add(&to->lost[loss], hits);
	}
}

int
merge_compare_resources(const void *a, const void *b)
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
merge_resources(struct profile *sum, const struct addend *addends, uint32_t n,
                struct error *error)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = 0; c < addends[i].n; c++)
			if (merge_resource(sum, addends, &addends[i],
			                   &addends[i].columns[c], error) != 0)
				return -1;
	qsort(sum->resources, sum->n_resources, sizeof *sum->resources,
	      merge_compare_resources);
	return 0;
}

int
merge_map_columns(const struct profile *sum, const struct addend *addend,
                  uint32_t *map, struct error *error)
{
	for (uint32_t c = 0; c < addend->n; c++) {
		const struct counted_column *column = &addend->columns[c];
		const char *name =
		    addend->profile->resources[column->resource].name;

		if (merge_resources_find(addend, name, column->part) != column)
			return error_set(error, "two resources named %s", name);
		map[c] = profile_find_part(sum, name, column->part);
	}
	return 0;
}
