/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_runs.c -- several runs in one profile, each with its own counts.
 *
 * profile_merge adds up resources of the same name.  So each run is given to
 * it under another name for its resource, and with that resource alone if it
 * has a tree.  The rows of a graph have all resources, and keep them.  The
 * groups of a merged profile are resources of one tree, under a name each.  The
 * parts of one profile are its sections, each with the number of a column.
 */
#include "src/profile/profile_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

enum { NAME_SIZE = 32 };

/* A run as profile_merge is to see it; borrows from the run. */
struct disguise {
	struct profile profile;
	struct sample_tree tree;
	struct timeline timeline;
	struct resource *resources;	/* [profile.n_resources] */
	char (*names)[NAME_SIZE];	/* likewise */
	uint32_t column, n_columns;	/* the resources that count: the first,
					 * and how many */
};

static void
disguises_free(struct disguise *disguises, uint32_t n)
{
	for (uint32_t i = 0; disguises != NULL && i < n; i++) {
		free(disguises[i].resources);
		free(disguises[i].names);
	}
	free(disguises);
}

/* Leaves only the n resources of a tree from the wanted one on. */
static void
profile_runs_choose_columns(struct disguise *disguise,
                            const struct sample_tree *from, uint32_t wanted,
                            uint32_t n)
{
	struct sample_tree *tree = &disguise->tree;

	*tree = *from;
	tree->n_resources = n;
	tree->hits += wanted;
	if (tree->samples != NULL)
		tree->samples += wanted;
	if (tree->timeline != NULL) {
		disguise->timeline = *tree->timeline;
		disguise->timeline.n_resources = n;
		disguise->timeline.hits += wanted;
		disguise->timeline.samples += wanted;
		tree->timeline = &disguise->timeline;
	}
	disguise->profile.tree = tree;
	disguise->profile.n_resources = n;
	disguise->column = 0;
}

/* For n resources with names of their own. */
static int
profile_runs_make_room(struct disguise *disguise, uint32_t n,
                       struct error *error)
{
	disguise->resources = memory_array(n, sizeof *disguise->resources,
	                                   error);
	disguise->names = memory_array(n, sizeof *disguise->names, error);
	return disguise->resources != NULL && disguise->names != NULL ? 0 : -1;
}

/* Gives each resource of a disguise a name of its own; number: of the run. */
static int
name_columns(struct disguise *disguise, const struct counted_run *run,
             uint32_t number, struct error *error)
{
	uint32_t n = disguise->profile.n_resources;

	if (profile_runs_make_room(disguise, n, error) != 0)
		return -1;
	for (uint32_t r = 0; r < n; r++) {
		struct resource *resource = &disguise->resources[r];

		*resource = run->profile->resources[
		    run->profile->tree != NULL ? run->resource : r];
		snprintf(disguise->names[r], NAME_SIZE, "%" PRIu32 " %" PRIu32,
		         number, r);
		resource->name = disguise->names[r];
		resource->n_files = 0;
	}
	disguise->profile.resources = disguise->resources;
	return 0;
}

static int
disguise_run(struct disguise *disguise, const struct counted_run *run,
             uint32_t number, struct error *error)
{
	const struct fleet_groups *groups = run->groups;

	disguise->profile = *run->profile;
	disguise->column = run->resource;
	disguise->n_columns = counted_run_columns(run);
	if (groups != NULL) {
		profile_runs_choose_columns(disguise, groups->tree,
		                            groups->first, groups->n);
		disguise->profile.n_sections = 0;
	} else if (run->profile->tree != NULL) {
		profile_runs_choose_columns(disguise, run->profile->tree,
		                            run->resource, 1);
	}
	return name_columns(disguise, run, number, error);
}

/* Refuses runs that count something else than the first. */
static int
check_gticks(const struct counted_run *runs, uint32_t n, struct error *error)
{
	const struct resource *first =
	    &runs[0].profile->resources[runs[0].resource];

	for (uint32_t i = 1; i < n; i++) {
		const struct resource *other =
		    &runs[i].profile->resources[runs[i].resource];

		if (strcmp(first->gtick, other->gtick) != 0)
			return error_set(error, "%s: resource %s counts "
			                 "\"%s\", but \"%s\" in %s",
			                 profile_title(runs[i].profile),
			                 other->name, other->gtick,
			                 first->gtick,
			                 profile_title(runs[0].profile));
	}
	return 0;
}

/* Multiplies n counts, every step-th of these. */
static int
multiply(uint64_t *counts, size_t n, size_t step, uint64_t factor,
         struct error *error)
{
	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(counts[i * step], factor,
		                           &counts[i * step]))
			return error_set(error, "a run's hits, in gticks, "
			                 "exceed 64 bits");
	return 0;
}

/* Counts a column of a tree in gticks; its samples stay. */
static int
convert_tree(struct sample_tree *tree, uint32_t column, uint64_t interval,
             struct error *error)
{
	struct timeline *timeline = tree->timeline;
	uint64_t total = sample_tree_total(tree, tree->hits[column]);
	uint64_t **samples = &tree->samples[column];

	if (multiply(&total, 1, 1, interval, error) != 0)
		return -1;
	if (*samples == NULL) {
		if (large_array_reserve(samples, tree->n_rows,
		                        sizeof **samples, error) != 0)
			return -1;
		memcpy(*samples, tree->hits[column],
		       tree->n_rows * sizeof **samples);
	}
	if (timeline != NULL &&
	    multiply(timeline->hits[column], timeline->first[timeline->n_rows],
	             1, interval, error) != 0)
		return -1;
	return multiply(tree->hits[column], tree->n_rows, 1, interval, error);
}

static int
convert_graph(struct call_graph *graph, uint32_t column, uint64_t interval,
              struct error *error)
{
	struct call_places *places = graph->places;
	uint64_t total = call_graph_total(graph, column);

	if (multiply(&total, 1, 1, interval, error) != 0 ||
	    (places != NULL &&
	     multiply(places->hits + column, places->n, places->n_resources,
	              interval, error) != 0))
		return -1;
	return multiply(graph->self + column, graph->n_nodes,
	                graph->n_resources, interval, error) != 0 ? -1 :
	    multiply(graph->hits + column, graph->n_arcs, graph->n_resources,
	             interval, error);
}

/* Gives all columns one interval, and their own name. */
static int
unify_columns(struct profile *sum, const struct resource *first,
              const uint32_t *columns, uint32_t n, struct error *error)
{
	const char *name = arena_text(&sum->arena, first->name,
	                              strlen(first->name), error);
	bool differ = false;

	if (name == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		differ |= sum->resources[columns[i]].interval !=
		          first->interval;
	for (uint32_t i = 0; i < n; i++) {
		struct resource *resource = &sum->resources[columns[i]];

		resource->name = name;
		if (!differ || resource->interval == 1)
			continue;
		if (sum->tree != NULL ?
		    convert_tree(sum->tree, columns[i], resource->interval,
		                 error) != 0 :
		    convert_graph(sum->graph, columns[i], resource->interval,
		                  error) != 0)
			return -1;
		resource->interval = 1;
	}
	return 0;
}

static struct profile *
profile_runs_merge(struct disguise *disguises, uint32_t n, struct error *error)
{
	struct profile **profiles = memory_array(n, sizeof *profiles, error);
	struct profile *sum;
	uint32_t n_columns = 0;

	if (profiles == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		profiles[i] = &disguises[i].profile;
		n_columns += profiles[i]->n_resources;
		if (n_columns > RESOURCES_MAX) {
			error_set(error, "too many runs to compare: at most "
			          "%d", RESOURCES_MAX);
			free(profiles);
			return NULL;
		}
	}
	sum = profile_merge(profiles, n, error);
	free(profiles);
	return sum;
}

/* The resources of the sum that the disguises' columns became; how many. */
static uint32_t
find_columns(const struct profile *sum, const struct disguise *disguises,
             uint32_t n, uint32_t *columns)
{
	uint32_t n_columns = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < disguises[i].n_columns; k++)
			columns[n_columns++] = profile_find_resource(sum,
			    disguises[i].names[disguises[i].column + k]);
	return n_columns;
}

struct profile *
profile_merge_runs(const struct counted_run *runs, uint32_t n,
                   uint32_t *columns, struct error *error)
{
	struct disguise *disguises;
	struct profile *sum = NULL;
	uint32_t n_columns = 0;
	bool is_ready = check_gticks(runs, n, error) == 0;

	disguises = memory_array(n, sizeof *disguises, error);
	for (uint32_t i = 0; is_ready && disguises != NULL && i < n; i++)
		is_ready = disguise_run(&disguises[i], &runs[i], i,
		                        error) == 0;
	if (is_ready && disguises != NULL)
		sum = profile_runs_merge(disguises, n, error);
	if (sum != NULL)
		n_columns = find_columns(sum, disguises, n, columns);
	disguises_free(disguises, n);
	if (sum != NULL &&
	    unify_columns(sum, &runs[0].profile->resources[runs[0].resource],
	                  columns, n_columns, error) != 0) {
		profile_free(sum);
		sum = NULL;
	}
	return sum;
}

/* Gives the disguise n resources that are alike, of which its tree has one. */
static int
repeat_resource(struct disguise *disguise, const struct resource *resource,
                uint32_t n, struct error *error)
{
	if (profile_runs_make_room(disguise, n, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(disguise->names[i], NAME_SIZE, "%" PRIu32, i);
		disguise->resources[i] = *resource;
		disguise->resources[i].name = disguise->names[i];
		disguise->resources[i].n_files = 0;
		/* Nobody knows of which part they were. */
		memset(disguise->resources[i].lost, 0,
		       sizeof resource->lost);
	}
	disguise->profile.resources = disguise->resources;
	disguise->profile.n_resources = n;
	disguise->n_columns = n;
	return 0;
}

struct profile *
profile_split_runs(struct profile *profile, uint32_t resource,
                   const struct section_columns *split, uint32_t n,
                   uint32_t *columns, struct error *error)
{
	const struct resource *wanted = &profile->resources[resource];
	struct disguise *disguise = memory_array(1, sizeof *disguise, error);
	struct profile *sum = NULL;

	if (disguise == NULL)
		return NULL;
	disguise->profile = *profile;
	profile_runs_choose_columns(disguise, profile->tree, resource, 1);
	if (repeat_resource(disguise, wanted, n, error) == 0)
		sum = profile_split(&disguise->profile, split, error);
	if (sum != NULL)
		find_columns(sum, disguise, 1, columns);
	disguises_free(disguise, 1);
	if (sum != NULL &&
	    unify_columns(sum, wanted, columns, n, error) != 0) {
		profile_free(sum);
		sum = NULL;
	}
	return sum;
}
