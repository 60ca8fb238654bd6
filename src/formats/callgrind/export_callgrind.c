/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_callgrind.c -- the format of callgrind, as KCachegrind reads it.
 *
 * Functions with the hits of their own lines, and calls between them with the
 * hits spent in these.  Samples do not show how often a call happened, and the
 * header says so.  Functions are distinguished by object, file and name; as in
 * callgrind's own files, the name is followed by the level of recursion, f'2,
 * and in graphs by the callers, f'g'main.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/callgrind/callgrind.h"
#include "src/formats/exporter.h"
#include "src/profile/call_flow.h"

static struct callgrind_text
text_of_module(const struct profile *profile, uint32_t module)
{
	if (module == NO_MODULE)
		return (struct callgrind_text){ NULL, 0 };
	return (struct callgrind_text){ profile->modules[module].path,
		strlen(profile->modules[module].path) };
}

/* ---- stacks ---- */

struct cost_writing {
	const struct profile *profile;
	struct callgrind_costs *costs;
	struct callgrind_output *output;
	uint32_t function, file;	/* of the line before */
	struct text_buffer name;	/* scratch */
};

static struct callgrind_function
export_callgrind_describe_function(struct cost_writing *writing,
                                   uint32_t number, struct error *error)
{
	const struct profile *profile = writing->profile;
	uint32_t file;
	struct cost_function key = callgrind_costs_function(writing->costs,
	                                                    number, &file);
	struct callgrind_text name = callgrind_text_of(profile->names,
	                                               key.name);

	if (key.level > 1) {
		text_clear(&writing->name);
		text_add(&writing->name, name.bytes, name.length);
		text_add_format(&writing->name, "'%" PRIu32, key.level);
		name = callgrind_text_made(&writing->name, error);
	}
	return (struct callgrind_function){
		text_of_module(profile, key.module),
		callgrind_text_of(profile->names, file), name
	};
}

/* Writes the function and the file of a line, if they have changed. */
static void
go_to(struct cost_writing *writing, const struct cost *cost,
      struct error *error)
{
	struct callgrind_output *output = writing->output;
	struct callgrind_function function;

	if (cost->function != writing->function) {
		function = export_callgrind_describe_function(writing,
		                                              cost->function,
		                                              error);
		callgrind_output_function(output, &function, error);
		writing->function = cost->function;
		callgrind_costs_function(writing->costs, cost->function,
		                         &writing->file);
	}
	if (cost->file != writing->file)
		callgrind_output_file(output,
		    callgrind_text_of(writing->profile->names, cost->file),
		    error);
	writing->file = cost->file;
}

static int
write_cost(struct cost_writing *writing, size_t i, struct error *error)
{
	struct callgrind_output *output = writing->output;
	const uint64_t *hits;
	struct cost cost = callgrind_costs_get(writing->costs, i, &hits);

	go_to(writing, &cost, error);
	if (cost.callee == NO_FUNCTION) {
		callgrind_output_hits(output, cost.line, hits);
	} else {
		struct callgrind_function callee =
		    export_callgrind_describe_function(writing, cost.callee,
		                                       error);

		callgrind_output_call(output, &callee, 0, cost.line, hits,
		                      error);
	}
	return callgrind_output_flush(output, error);
}

static int
write_costs(struct cost_writing *writing, struct error *error)
{
	size_t n = callgrind_costs_count(writing->costs);

	for (size_t i = 0; i < n; i++)
		if (write_cost(writing, i, error) != 0 ||
		    export_may_go_on((uint32_t)i, writing->output->writer,
		                     error) != 0)
			return -1;
	return 0;
}

static int
export_callgrind_write_stacks(const struct export_source *source,
                              struct callgrind_output *output,
                              struct error *error)
{
	struct cost_writing writing = { .profile = source->profile,
		.output = output, .function = NO_FUNCTION };
	int result = -1;

	writing.costs = callgrind_costs_new(source, output->writer, error);
	if (writing.costs != NULL)
		result = write_costs(&writing, error);
	callgrind_costs_free(writing.costs);
	text_free(&writing.name);
	return result;
}

/* ---- graphs ---- */

struct graph_writing {
	const struct profile *profile;
	struct callgrind_output *output;
	struct call_places *places;	/* the graph's, or made here */
	uint32_t *order;		/* [places->n] by node */
	struct text_buffer name;	/* scratch */
};

/* For a graph without places: puts every function at line 0 of its file. */
static int
make_places(struct graph_writing *writing, struct error *error)
{
	const struct call_graph *graph = writing->profile->graph;
	struct call_places *places = writing->places;
	size_t row = graph->n_resources * sizeof *graph->hits;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		uint32_t at = call_places_at(places, (struct call_place){
			.node = i, .arc = NO_ARC,
			.file = graph->nodes[i].file }, error);

		if (at == UINT32_MAX)
			return -1;
		memcpy(call_places_hits(places, at),
		       call_graph_self(graph, i), row);
	}
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		uint32_t caller = graph->arcs[i].caller;
		uint32_t at = call_places_at(places, (struct call_place){
			.node = caller, .arc = i,
			.file = graph->nodes[caller].file }, error);

		if (at == UINT32_MAX)
			return -1;
		places->items[at].calls = graph->arcs[i].calls;
		memcpy(call_places_hits(places, at),
		       call_graph_hits(graph, i), row);
	}
	return 0;
}

/* What an arc used by gprof's rule; several arcs can be one of the flow. */
static uint64_t
estimate(const struct call_flow *flow, const struct call_place *place)
{
	const struct flow_arc *arc;

	if (place->calls == 0 || flow->graph_arcs[place->arc] == UINT32_MAX)
		return 0;
	arc = &flow->arcs[flow->graph_arcs[place->arc]];
	return (uint64_t)(arc->hits * (long double)place->calls /
	                  (long double)arc->calls + 0.5L);
}

static int
estimate_calls(struct graph_writing *writing, struct error *error)
{
	const struct profile *profile = writing->profile;
	struct call_places *places = writing->places;

	for (uint32_t r = 0; r < profile->n_resources; r++) {
		struct call_flow *flow = call_flow_new(profile->graph,
		    names_count(profile->names), r, false, error);

		if (flow == NULL)
			return -1;
		for (uint32_t i = 0; i < places->n; i++)
			if (places->items[i].arc != NO_ARC)
				call_places_hits(places, i)[r] =
				    estimate(flow, &places->items[i]);
		call_flow_free(flow);
	}
	return 0;
}

static int
export_callgrind_find_places(struct graph_writing *writing, struct error *error)
{
	struct call_graph *graph = writing->profile->graph;

	writing->places = graph->places;
	if (graph->places != NULL)
		return 0;
	writing->places = call_places_new(graph->n_resources, error);
	if (writing->places == NULL || make_places(writing, error) != 0)
		return -1;
	return graph->has_hits ? 0 : estimate_calls(writing, error);
}

/* Sorts places by function, those in its own file first. */
static int
compare_places(const void *left, const void *right, void *context)
{
	const struct graph_writing *writing = context;
	const struct call_place *a =
	    &writing->places->items[*(const uint32_t *)left];
	const struct call_place *b =
	    &writing->places->items[*(const uint32_t *)right];
	uint32_t own = writing->profile->graph->nodes[a->node].file;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->file != b->file)
		return a->file == own ? -1 : b->file == own ? 1 :
		    a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	/* NO_ARC comes first. */
	return a->arc + 1 < b->arc + 1 ? -1 : a->arc + 1 > b->arc + 1;
}

static int
sort_places(struct graph_writing *writing, struct error *error)
{
	uint32_t n = writing->places->n;

	writing->order = memory_array(n, sizeof *writing->order, error);
	if (writing->order == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		writing->order[i] = i;
	return sort_items(writing->order, n, sizeof *writing->order,
	                  compare_places, writing, error);
}

static struct callgrind_function
describe_node(struct graph_writing *writing, uint32_t number,
              struct error *error)
{
	const struct names *names = writing->profile->names;
	const struct call_graph *graph = writing->profile->graph;
	const struct call_node *node = &graph->nodes[number];
	struct text_buffer *name = &writing->name;
	struct callgrind_text part = callgrind_text_of(names, node->name);

	text_clear(name);
	text_add(name, part.bytes, part.length);
	if (node->level > 1)
		text_add_format(name, "'%" PRIu32, node->level);
	for (uint32_t i = 0; i < node->n_callers; i++) {
		part = callgrind_text_of(names,
		    graph->callers[node->first_caller + i]);
		text_add_char(name, '\'');
		text_add(name, part.bytes, part.length);
	}
	return (struct callgrind_function){
		callgrind_text_of(names, node->object),
		callgrind_text_of(names, node->file),
		callgrind_text_made(name, error)
	};
}

static void
write_place(struct graph_writing *writing, uint32_t number,
            struct error *error)
{
	const struct call_place *place = &writing->places->items[number];
	const struct call_arc *arcs = writing->profile->graph->arcs;
	const uint64_t *hits = call_places_hits(writing->places, number);
	struct callgrind_function callee;

	if (place->arc == NO_ARC) {
		callgrind_output_hits(writing->output, place->line, hits);
		return;
	}
	callee = describe_node(writing, arcs[place->arc].callee, error);
	callgrind_output_call(writing->output, &callee, place->calls,
	                      place->line, hits, error);
}

/* *next: how many of the sorted places have been written. */
static int
export_callgrind_write_node(struct graph_writing *writing, uint32_t number,
                            uint32_t *next, struct error *error)
{
	const struct profile *profile = writing->profile;
	struct callgrind_function function = describe_node(writing, number,
	                                                   error);
	uint32_t file = profile->graph->nodes[number].file;

	callgrind_output_function(writing->output, &function, error);
	for (; *next < writing->places->n; ++*next) {
		uint32_t i = writing->order[*next];
		const struct call_place *place = &writing->places->items[i];

		if (place->node != number)
			break;
		if (place->file != file)
			callgrind_output_file(writing->output,
			    callgrind_text_of(profile->names, place->file),
			    error);
		file = place->file;
		write_place(writing, i, error);
	}
	return callgrind_output_flush(writing->output, error);
}

static int
write_nodes(struct graph_writing *writing, struct error *error)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < writing->profile->graph->n_nodes; i++)
		if (export_callgrind_write_node(writing, i, &next, error) !=
		        0 ||
		    export_may_go_on(i, writing->output->writer, error) != 0)
			return -1;
	return 0;
}

static int
write_graph(const struct export_source *source,
            struct callgrind_output *output, struct error *error)
{
	struct graph_writing writing = { .profile = source->profile,
		.output = output };
	int result = -1;

	if (export_callgrind_find_places(&writing, error) == 0 &&
	    sort_places(&writing, error) == 0)
		result = write_nodes(&writing, error);
	if (writing.places != source->profile->graph->places)
		call_places_free(writing.places);
	free(writing.order);
	text_free(&writing.name);
	return result;
}

/* ---- the whole ---- */

static uint64_t *
find_totals(const struct profile *profile, struct error *error)
{
	uint64_t *totals = memory_array(profile->n_resources, sizeof *totals,
	                                error);

	for (uint32_t r = 0; totals != NULL && r < profile->n_resources; r++)
		totals[r] = profile->tree == NULL ?
		    call_graph_total(profile->graph, r) :
		    sample_tree_total(profile->tree, profile->tree->hits[r]);
	return totals;
}

static int
export_callgrind_write_file(const struct export_source *source,
                            struct callgrind_output *output,
                            const uint64_t *totals, struct error *error)
{
	int result;

	callgrind_output_header(output, totals);
	if (callgrind_output_flush(output, error) != 0)
		return -1;
	result = source->profile->tree == NULL ?
	         write_graph(source, output, error) :
	         export_callgrind_write_stacks(source, output, error);
	if (result != 0)
		return -1;
	text_add_char(&output->text, '\n');
	callgrind_output_totals(output, "totals", totals);
	return callgrind_output_flush(output, error);
}

static int
callgrind_write(const struct export_source *source, struct writer *writer,
                uint64_t *n_changed, struct error *error)
{
	struct callgrind_output output;
	uint64_t *totals = find_totals(source->profile, error);
	int result = -1;

	if (callgrind_output_start(&output, source->profile, writer,
	                           error) == 0 && totals != NULL)
		result = export_callgrind_write_file(source, &output, totals,
		                                     error);
	*n_changed = output.n_changed;
	callgrind_output_free(&output);
	free(totals);
	return result;
}

const struct exporter exporter_callgrind = {
	.summary = "functions and calls for KCachegrind",
	.holds_graphs = true,
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_LINES,
	.write = callgrind_write,
};
