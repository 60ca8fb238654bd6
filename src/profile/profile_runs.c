/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_runs.c -- several runs in one profile, each with its own counts.
 *
 * profile_merge adds up resources of the same name and part.  So each run gets
 * its number as part, and in a tree the wanted resource alone.  The rows of a
 * graph have all resources, and keep them.  The groups of a merged profile are
 * resources of one tree, a part each.  Of one profile, the parts are sections,
 * each with the number of a column.
 */
#include "src/profile/profile_merge.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

/* A run with the columns that are wanted; borrows all else from the run. */
struct run_columns {
	struct profile profile;
	struct sample_tree tree;
	struct timeline timeline;
	struct resource *resources;	/* [profile.n_resources], owned */
	uint32_t first, n;		/* the columns that are wanted */
};

static void
run_columns_free(struct run_columns *runs, uint32_t n)
{
	for (uint32_t i = 0; runs != NULL && i < n; i++)
		free(runs[i].resources);
	free(runs);
}

/* Leaves only the n resources of a tree from the wanted one on. */
static void
run_columns_choose(struct run_columns *run, const struct sample_tree *from,
                   uint32_t wanted, uint32_t n)
{
	struct sample_tree *tree = &run->tree;

	*tree = *from;
	tree->n_resources = n;
	tree->hits += wanted;
	if (tree->samples != NULL)
		tree->samples += wanted;
	if (tree->timeline != NULL) {
		run->timeline = *tree->timeline;
		run->timeline.n_resources = n;
		run->timeline.hits += wanted;
		run->timeline.samples += wanted;
		tree->timeline = &run->timeline;
	}
	run->profile.tree = tree;
	run->profile.n_resources = n;
	run->first = 0;
}

/* number: of the run's first part. */
static int
run_columns_make(struct run_columns *run, const struct counted_run *from,
                 uint32_t number, struct error *error)
{
	const struct fleet_groups *groups = from->groups;
	const struct resource *resources = from->profile->resources;

	run->profile = *from->profile;
	run->first = from->resource;
	run->n = counted_run_columns(from);
	if (groups != NULL) {
		run_columns_choose(run, groups->tree, groups->first,
		                   groups->n);
		run->profile.n_sections = 0;
	} else if (from->profile->tree != NULL) {
		run_columns_choose(run, from->profile->tree, from->resource,
		                   1);
	}
	run->resources = memory_array(run->profile.n_resources,
	                              sizeof *run->resources, error);
	if (run->resources == NULL)
		return -1;
	for (uint32_t r = 0; r < run->profile.n_resources; r++) {
		run->resources[r] = resources[from->profile->tree != NULL ?
		    from->resource : r];
		run->resources[r].part = number +
		    (groups != NULL ? r : 0);
		run->resources[r].n_files = 0;
	}
	run->profile.resources = run->resources;
	return 0;
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

/* Gives all columns one interval, and the name of the first run's. */
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
profile_runs_merge(struct run_columns *runs, uint32_t n, struct error *error)
{
	struct profile **profiles = memory_array(n, sizeof *profiles, error);
	struct profile *sum;
	uint32_t n_columns = 0;

	if (profiles == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		profiles[i] = &runs[i].profile;
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

/* What the wanted columns of the runs are in the sum; returns how many. */
static uint32_t
find_columns(const struct profile *sum, const struct run_columns *runs,
             uint32_t n, uint32_t *columns)
{
	uint32_t n_columns = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < runs[i].n; k++) {
			const struct resource *resource =
			    &runs[i].resources[runs[i].first + k];

			columns[n_columns++] = profile_find_part(sum,
			    resource->name, resource->part);
		}
	return n_columns;
}

struct profile *
profile_merge_runs(const struct counted_run *runs, uint32_t n,
                   uint32_t *columns, struct error *error)
{
	struct run_columns *wanted;
	struct profile *sum = NULL;
	uint32_t n_parts = 0, n_columns = 0;
	bool is_ready = check_gticks(runs, n, error) == 0;

	wanted = memory_array(n, sizeof *wanted, error);
	for (uint32_t i = 0; is_ready && wanted != NULL && i < n; i++) {
		is_ready = run_columns_make(&wanted[i], &runs[i], n_parts,
		                            error) == 0;
		n_parts += counted_run_columns(&runs[i]);
	}
	if (is_ready && wanted != NULL)
		sum = profile_runs_merge(wanted, n, error);
	if (sum != NULL)
		n_columns = find_columns(sum, wanted, n, columns);
	run_columns_free(wanted, n);
	if (sum != NULL &&
	    unify_columns(sum, &runs[0].profile->resources[runs[0].resource],
	                  columns, n_columns, error) != 0) {
		profile_free(sum);
		sum = NULL;
	}
	return sum;
}

/* Gives the run n parts of a resource, of which its tree has the sum. */
static int
run_columns_repeat(struct run_columns *run, const struct resource *resource,
                   uint32_t n, struct error *error)
{
	run->resources = memory_array(n, sizeof *run->resources, error);
	if (run->resources == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		run->resources[i] = *resource;
		run->resources[i].part = i;
		run->resources[i].n_files = 0;
		/* Nobody knows of which part they were. */
		memset(run->resources[i].lost, 0, sizeof resource->lost);
	}
	run->profile.resources = run->resources;
	run->profile.n_resources = n;
	run->n = n;
	return 0;
}

struct profile *
profile_split_runs(struct profile *profile, uint32_t resource,
                   const struct section_columns *split, uint32_t n,
                   uint32_t *columns, struct error *error)
{
	const struct resource *wanted = &profile->resources[resource];
	struct run_columns *run = memory_array(1, sizeof *run, error);
	struct profile *sum = NULL;

	if (run == NULL)
		return NULL;
	run->profile = *profile;
	run_columns_choose(run, profile->tree, resource, 1);
	if (run_columns_repeat(run, wanted, n, error) == 0)
		sum = profile_split(&run->profile, split, error);
	if (sum != NULL)
		find_columns(sum, run, 1, columns);
	run_columns_free(run, 1);
	if (sum != NULL &&
	    unify_columns(sum, wanted, columns, n, error) != 0) {
		profile_free(sum);
		sum = NULL;
	}
	return sum;
}
