/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_graph.c -- functions and calls as lines of callgrind's format.
 *
 * As in callgrind's own files, a function's name is followed by the level of
 * recursion, f'2, and by its callers, f'g'main.
 */
#include "src/formats/callgrind/callgrind_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/sort.h"
#include "src/profile/call_flow.h"

struct graph_writing {
	const struct profile *profile;
	struct callgrind_output *output;
	struct call_places *places;	/* the graph's, or */
	bool is_own;			/* made here */
	uint32_t *order;		/* [places->n] by node */
	struct text_buffer name;	/* scratch */
};

/* ---- places, if the graph has none ---- */

/* Every function at line 0 of its file, and its calls there. */
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
find_places(struct graph_writing *writing, struct error *error)
{
	struct call_graph *graph = writing->profile->graph;

	writing->places = graph->places;
	if (graph->places != NULL)
		return 0;
	writing->is_own = true;
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

/* ---- lines ---- */

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
write_node(struct graph_writing *writing, uint32_t number, uint32_t *next,
           struct error *error)
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
		if (write_node(writing, i, &next, error) != 0 ||
		    export_may_go_on(i, writing->output->writer, error) != 0)
			return -1;
	return 0;
}

int
callgrind_graph_write(const struct export_source *source,
                      struct callgrind_output *output, struct error *error)
{
	struct graph_writing writing = { .profile = source->profile,
		.output = output };
	int result = -1;

	if (find_places(&writing, error) == 0 &&
	    sort_places(&writing, error) == 0)
		result = write_nodes(&writing, error);
	if (writing.is_own)
		call_places_free(writing.places);
	free(writing.order);
	text_free(&writing.name);
	return result;
}
