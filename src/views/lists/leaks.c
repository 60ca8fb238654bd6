/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks.c -- what is in use at the end of the run, by call path and age.
 *
 * The entries of a level in the timeline say when that part of it came that is
 * left at the end (src/profile/sample_tree.h).  So if steps leave some time
 * only, these are the blocks that were allocated then and never freed.
 *
 * Cost: one pass over the nodes and the entries of the timeline.
 */
#include "src/views/lists/lists.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"

static const struct view_kind leaks_kind = {
	.schema = "cpprof.leaks/1",
	.title = "Memory in Use at the End, Oldest First",
};

/* A stack that has some of the level. */
struct leak {
	uint32_t node;
	uint64_t hits;
	uint32_t oldest, median, newest;	/* slices */
};

struct leaks {
	const struct sample_tree *tree;
	uint32_t resource;
	struct leak *items;
	uint32_t n;
	uint64_t total;
};

/* What a row has, and when it came; 0 hits: nothing. */
static struct leak
leak_of_row(const struct sample_tree *tree, uint32_t resource, uint32_t row)
{
	const struct timeline *timeline = tree->timeline;
	const uint64_t *hits = timeline->hits[resource];
	struct leak leak = { .oldest = UINT32_MAX };
	uint64_t so_far = 0;

	for (size_t i = timeline->first[row]; i < timeline->first[row + 1];
	     i++) {
		if (hits[i] == 0)
			continue;
		leak.hits += hits[i];
		if (leak.oldest == UINT32_MAX)
			leak.oldest = timeline->slice[i];
		leak.newest = timeline->slice[i];
	}
	for (size_t i = timeline->first[row]; i < timeline->first[row + 1] &&
	     so_far < leak.hits - leak.hits / 2; i++) {
		so_far += hits[i];
		leak.median = timeline->slice[i];
	}
	return leak;
}

static int
leaks_collect(struct leaks *leaks, struct error *error)
{
	const struct sample_tree *tree = leaks->tree;

	leaks->items = memory_array(tree->n_rows, sizeof *leaks->items, error);
	if (leaks->items == NULL)
		return -1;
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		struct leak leak;

		if (!sample_tree_has_row(tree, node))
			continue;
		leak = leak_of_row(tree, leaks->resource,
		                   sample_tree_row(tree, node));
		leak.node = node;
		leaks->total += leak.hits;
		if (leak.hits > 0)
			leaks->items[leaks->n++] = leak;
	}
	return 0;
}

/* The oldest first; of equal ones that with most. */
static int
leaks_compare(const void *left, const void *right)
{
	const struct leak *a = left, *b = right;

	if (a->oldest != b->oldest)
		return a->oldest < b->oldest ? -1 : 1;
	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Drops those below the threshold, sorts the others and limits them. */
static void
leaks_choose(struct leaks *leaks, const struct view_request *request,
             const struct measure *measure, struct hidden *hidden)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < leaks->n; i++)
		if (leaks->items[i].hits >= measure->least)
			leaks->items[n++] = leaks->items[i];
	hidden->below_threshold = leaks->n - n;
	if (n > 1)
		qsort(leaks->items, n, sizeof *leaks->items, leaks_compare);
	leaks->n = rows_limit(request, n, hidden);
}

/* The paths of the rows, row by row, innermost frames last. */
static struct call_paths *
leaks_paths(const struct leaks *leaks, const struct names *names,
            uint32_t *records, struct table *table, struct error *error)
{
	const struct sample_tree *tree = leaks->tree;
	struct call_paths *paths;
	uint32_t *parent, *name;
	size_t n = 0;

	for (uint32_t i = 0; i < leaks->n; i++)
		for (uint32_t node = leaks->items[i].node; node != NO_NODE;
		     node = sample_tree_parent(tree, node))
			n++;
	paths = arena_alloc(&table->arena, sizeof *paths, error);
	parent = arena_alloc(&table->arena, (n + 1) * sizeof *parent, error);
	name = arena_alloc(&table->arena, (n + 1) * sizeof *name, error);
	if (error->is_set)
		return NULL;
	n = 0;
	for (uint32_t i = 0; i < leaks->n; i++) {
		records[i] = (uint32_t)n;
		for (uint32_t node = leaks->items[i].node; node != NO_NODE;
		     node = sample_tree_parent(tree, node), n++) {
			name[n] = tree->label[node];
			parent[n] = sample_tree_parent(tree, node) == NO_NODE ?
			    NO_RECORD : (uint32_t)(n + 1);
		}
	}
	*paths = (struct call_paths){ names, parent, name, false };
	return paths;
}

/* From the middle of a slice to the end of the run. */
static uint64_t
leaks_age_ns(const struct timeline *timeline, uint32_t slice)
{
	return (timeline->n_slices - slice) * timeline->width_ns -
	    timeline->width_ns / 2;
}

static const struct {
	const char *key, *ns_key;
} leaks_ages[] = {
	{ "oldest", "oldest_ns" }, { "median", "median_ns" },
	{ "newest", "newest_ns" },
};

enum { N_AGES = sizeof leaks_ages / sizeof *leaks_ages };

static void
leaks_add_columns(struct table *table)
{
	table_add_column(table, "hits", "#hits", CELL_HITS);
	table_add_column(table, "fraction", "usage_fraction",
	                 CELL_FRACTION)->short_title = "fraction";
	for (size_t i = 0; i < N_AGES; i++) {
		table_add_column(table, leaks_ages[i].ns_key, "",
		                 CELL_COUNT)->is_data_only = true;
		table_add_column(table, leaks_ages[i].key, leaks_ages[i].key,
		                 CELL_TEXT)->is_text_only = true;
	}
	table_add_column(table, "path", "call path", CELL_PATH);
}

static int
leaks_add_rows(const struct leaks *leaks, const struct measure *measure,
               const struct call_paths *paths, const uint32_t *records,
               struct table *table, struct error *error)
{
	const struct timeline *timeline = leaks->tree->timeline;

	for (uint32_t i = 0; i < leaks->n; i++) {
		const struct leak *leak = &leaks->items[i];
		const uint32_t slices[N_AGES] = { leak->oldest, leak->median,
			leak->newest };
		struct cell cells[3 + 2 * N_AGES];
		size_t n = 0;

		cells[n++] = cell_hits(leak->hits);
		cells[n++] = cell_fraction(measure_fraction(measure,
		                                            leak->hits));
		for (size_t age = 0; age < N_AGES; age++) {
			const uint64_t ns = leaks_age_ns(timeline, slices[age]);

			cells[n++] = cell_count(ns);
			cells[n++] = cell_text(hits_time_text(ns, table,
			                                      error));
		}
		cells[n++] = cell_path(paths, records[i]);
		if (error->is_set || table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

/* 0 if the set is of a level that says when it came. */
static int
leaks_need_level(const struct sample_set *set, struct error *error)
{
	if (set->flow == NULL && set->tree->timeline != NULL &&
	    timeline_find_level(set->tree->timeline, set->resource_number) !=
	        NULL)
		return 0;
	if (count_kind_is_level(set->resource->kind))
		return error_set(error, "the profile does not say since when "
		                 "this has been in use; functions and tree "
		                 "show what it is");
	for (const struct count_kind *kind = made_counts; kind->name != NULL;
	     kind++)
		if (profile_find_resource(set->profile, kind->name) !=
		    NO_RESOURCE)
			return error_set(error, "%.60s is not memory in use; "
			    "type: resource %s", set->resource->name,
			    kind->name);
	return error_set(error, "the profile does not say what was freed; "
	                 "record it with: cpprof record -r live");
}

int
view_leaks(const struct view_request *request, struct table *table,
           struct error *error)
{
	struct sample_set left = *request->set;
	struct view_request of_left = *request;
	struct hidden hidden = { 0 };
	struct leaks leaks = { .tree = left.tree,
		.resource = left.resource_number };
	const struct call_paths *paths;
	struct measure measure;
	uint32_t *records = NULL;
	int status = -1;

	if (leaks_need_level(request->set, error) != 0 ||
	    leaks_collect(&leaks, error) != 0)
		return -1;
	/* Shares are those of all that is left at the end. */
	left.left = leaks.total;
	left.total = profile_hits(left.profile, left.resource_number,
	                          &left.n_samples);
	left.whole = "what is in use at the end";
	of_left.set = &left;
	of_left.percent = PERCENT_TOTAL;
	measure = measure_of(&of_left);
	leaks_choose(&leaks, &of_left, &measure, &hidden);
	records = memory_array(leaks.n, sizeof *records, error);
	if (records != NULL &&
	    (paths = leaks_paths(&leaks, left.names, records, table,
	                         error)) != NULL &&
	    view_describe(&of_left, &leaks_kind, &measure, &hidden, table,
	                  error) == 0) {
		leaks_add_columns(table);
		status = leaks_add_rows(&leaks, &measure, paths, records, table,
		                        error);
	}
	free(records);
	free(leaks.items);
	return status;
}
