/* SPDX-License-Identifier: GPL-3.0-or-later */
/* times_chart.c -- the timeline as a chart: which layers a bar has.
 *
 * Bodies partition the hits, so a layer is the body of a function: its hits are
 * in no other one.  Cost: two passes over the nodes.
 */
#include "src/views/pictures/pictures.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/table.h"

/* More colours are hard to tell apart. */
enum { MOST_BODIES = 7 };

/* A chart that is being made, with the functions that its layers name. */
struct chart_making {
	struct chart chart;
	struct chart_layer layers[MOST_BODIES + 1];
	struct when_times times[MOST_BODIES + 1];	/* of the layers */
	struct call_paths paths;
};

static void
times_chart_add_layer(struct chart_making *making,
                      const struct measure *measure, struct cell name,
                      bool is_rest)
{
	struct chart *chart = &making->chart;
	const uint64_t *hits = making->times[chart->n_layers].hits;
	struct chart_layer *layer = &making->layers[chart->n_layers++];

	*layer = (struct chart_layer){ .name = name, .is_rest = is_rest,
		.slices = hits };
	for (uint32_t i = 0; i < chart->n_slices; i++)
		layer->hits += hits[i];
	layer->fraction = measure_fraction(measure, layer->hits);
}

/* What `all` has and the layers have not, if that is anything. */
static void
add_rest(struct chart_making *making, const struct measure *measure,
         const struct when_times *all, const char *name)
{
	struct when_times *rest = &making->times[making->chart.n_layers];
	bool is_empty = true;

	*rest = *all;
	for (uint32_t i = 0; i < making->chart.n_slices; i++) {
		for (uint32_t k = 0; k < making->chart.n_layers; k++)
			rest->hits[i] -= making->times[k].hits[i];
		is_empty &= rest->hits[i] == 0;
	}
	if (!is_empty || making->chart.n_layers == 0)
		times_chart_add_layer(making, measure, cell_text(name), true);
}

/* ---- a path ---- */

static int
times_chart_add_path(struct chart_making *making,
                     const struct view_request *request,
                     const struct measure *measure,
                     const struct when_times *times, struct table *table,
                     struct error *error)
{
	const struct cell path = table_path(table, request->set->names,
	                                    request->path, request->n_path,
	                                    error);

	if (error->is_set)
		return -1;
	making->times[0] = *times;
	times_chart_add_layer(making, measure, path, false);
	return 0;
}

/* ---- bodies ---- */

/* Larger bodies first; equal ones by their names' bytes. */
static bool
comes_before(const struct function_total *a, const struct function_total *b,
             const struct names *names)
{
	size_t a_length = names_length(names, a->name);
	size_t b_length = names_length(names, b->name);
	size_t n = a_length < b_length ? a_length : b_length;
	int order;

	if (a->self != b->self)
		return a->self > b->self;
	order = memcmp(names_text(names, a->name), names_text(names, b->name),
	               n);
	return order != 0 ? order < 0 : a_length < b_length;
}

/* The largest bodies, in order; returns their number. */
static uint32_t
find_largest(const struct function_total *totals, uint32_t n,
             const struct names *names,
             const struct function_total *largest[MOST_BODIES])
{
	uint32_t n_found = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = n_found < MOST_BODIES ? n_found : MOST_BODIES;

		while (at > 0 && comes_before(&totals[i], largest[at - 1],
		                              names))
			at--;
		if (at == MOST_BODIES || totals[i].self == 0)
			continue;
		if (n_found < MOST_BODIES)
			n_found++;
		memmove(largest + at + 1, largest + at,
		        (n_found - 1 - at) * sizeof *largest);
		largest[at] = &totals[i];
	}
	return n_found;
}

static int
times_chart_add_bodies(struct chart_making *making,
                       const struct view_request *request,
                       const struct measure *measure, struct error *error)
{
	const struct sample_set *set = request->set;
	const struct function_total *largest[MOST_BODIES];
	uint32_t functions[MOST_BODIES], n;
	struct function_total *totals = function_totals(set, &n, error);
	struct when_times *times;

	if (totals == NULL)
		return -1;
	n = find_largest(totals, n, set->names, largest);
	for (uint32_t i = 0; i < n; i++)
		functions[i] = largest[i]->name;
	free(totals);
	times = when_of_names(set, functions, n, true, NULL, NULL, error);
	if (times == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		making->times[i] = times[i];
		times_chart_add_layer(making, measure, cell_name(&making->paths,
		                      functions[i]), false);
	}
	free(times);
	return 0;
}

/* ---- the whole ---- */

int
times_add_chart(const struct view_request *request,
                const struct measure *measure, const struct when_times *times,
                const struct when_times *all, struct table *table,
                struct error *error)
{
	const struct timeline *timeline = request->set->tree->timeline;
	struct chart_making *making = arena_alloc(&table->arena, sizeof *making,
	                                          error);
	int status;

	if (making == NULL)
		return -1;
	making->chart = (struct chart){
		.layers = making->layers,
		.n_slices = timeline->n_slices,
		.width_ns = timeline->width_ns,
	};
	making->paths.names = request->set->names;
	status = request->n_path > 0 ?
	    times_chart_add_path(making, request, measure, times, table,
	                         error) :
	    times_chart_add_bodies(making, request, measure, error);
	if (status != 0)
		return -1;
	add_rest(making, measure, all, request->n_path > 0 ? "other stacks" :
	         "other functions");
	table->chart = &making->chart;
	return 0;
}
