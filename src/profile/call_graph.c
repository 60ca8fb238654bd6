/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph.c -- functions and the calls between them, without stacks. */
#include "src/profile/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct call_graph *
call_graph_new(uint32_t n_resources, struct error *error)
{
	struct call_graph *graph = memory_array(1, sizeof *graph, error);

	if (graph != NULL)
		graph->n_resources = n_resources;
	return graph;
}

void
call_graph_free(struct call_graph *graph)
{
	if (graph == NULL)
		return;
	free(graph->nodes);
	free(graph->callers);
	free(graph->arcs);
	free(graph->self);
	free(graph->hits);
	index_free(&graph->arc_index);
	call_places_free(graph->places);
	free(graph);
}

/* Makes room for one more row of counters after n rows, and zeroes it. */
static int
call_graph_add_row(const struct call_graph *graph, uint64_t **rows,
                   size_t *capacity, uint32_t n, struct error *error)
{
	size_t width = graph->n_resources;

	if (memory_grow(rows, capacity, ((size_t)n + 1) * width,
	                sizeof **rows, error) != 0)
		return -1;
	if (width > 0)
		memset(*rows + n * width, 0, width * sizeof **rows);
	return 0;
}

static int
call_graph_add_callers(struct call_graph *graph, const uint32_t *callers,
                       uint32_t n, struct error *error)
{
	if (n == 0)
		return 0;
	if (n >= UINT32_MAX - graph->n_callers)
		return error_set(error, "more than 4,294,967,294 callers");
	if (memory_grow(&graph->callers, &graph->callers_capacity,
	                (size_t)graph->n_callers + n, sizeof *callers,
	                error) != 0)
		return -1;
	memcpy(graph->callers + graph->n_callers, callers,
	       n * sizeof *callers);
	graph->n_callers += n;
	return 0;
}

uint32_t
call_graph_add_node(struct call_graph *graph, struct call_node node,
                    const uint32_t *callers, struct error *error)
{
	node.first_caller = graph->n_callers;
	if (graph->n_nodes == UINT32_MAX - 1) {
		error_set(error, "more than 4,294,967,294 functions");
		return UINT32_MAX;
	}
	if (memory_grow(&graph->nodes, &graph->nodes_capacity,
	                (size_t)graph->n_nodes + 1, sizeof node,
	                error) != 0 ||
	    call_graph_add_row(graph, &graph->self, &graph->self_capacity,
	                       graph->n_nodes, error) != 0 ||
	    call_graph_add_callers(graph, callers, node.n_callers, error) != 0)
		return UINT32_MAX;
	graph->nodes[graph->n_nodes] = node;
	return graph->n_nodes++;
}

int
call_graph_set_node(struct call_graph *graph, uint32_t number,
                    struct call_node node, const uint32_t *callers,
                    struct error *error)
{
	node.first_caller = graph->n_callers;
	if (call_graph_add_callers(graph, callers, node.n_callers, error) != 0)
		return -1;
	graph->nodes[number] = node;
	return 0;
}

static bool
is_arc(const void *arcs, uint32_t number, const void *key)
{
	const struct call_arc *arc = &((const struct call_arc *)arcs)[number];
	const struct call_arc *sought = key;

	return arc->caller == sought->caller && arc->callee == sought->callee;
}

uint32_t
call_graph_arc(struct call_graph *graph, uint32_t caller, uint32_t callee,
               struct error *error)
{
	const struct call_arc arc = { caller, callee, 0 };
	uint32_t hash = index_hash((uint64_t)caller << 32 | callee);
	struct index_slot *slot = index_seek(&graph->arc_index, hash, is_arc,
	                                     graph->arcs, &arc, error);

	if (slot == NULL)
		return UINT32_MAX;
	if (slot->number != 0)
		return slot->number - 1;
	if (graph->n_arcs == UINT32_MAX - 1) {
		error_set(error, "more than 4,294,967,294 arcs");
		return UINT32_MAX;
	}
	if (memory_grow(&graph->arcs, &graph->arcs_capacity,
	                (size_t)graph->n_arcs + 1, sizeof *graph->arcs,
	                error) != 0 ||
	    call_graph_add_row(graph, &graph->hits, &graph->hits_capacity,
	                       graph->n_arcs, error) != 0)
		return UINT32_MAX;
	graph->arcs[graph->n_arcs] = arc;
	index_fill(&graph->arc_index, slot, hash, graph->n_arcs);
	return graph->n_arcs++;
}

int
call_graph_add_places(struct call_graph *graph, struct error *error)
{
	const struct call_places *places = graph->places;

	for (uint32_t i = 0; i < places->n; i++) {
		const struct call_place *place = &places->items[i];
		const uint64_t *from = call_places_hits(places, i);
		uint64_t *to = place->arc == NO_ARC ?
		    call_graph_self(graph, place->node) :
		    call_graph_hits(graph, place->arc);

		for (uint32_t r = 0; r < graph->n_resources; r++)
			if (__builtin_add_overflow(to[r], from[r], &to[r]))
				return error_set(error, "the sum of costs "
				                 "exceeds 64 bits");
	}
	call_places_close(graph->places);
	return 0;
}

uint64_t
call_graph_total(const struct call_graph *graph, uint32_t resource)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		total += call_graph_self(graph, i)[resource];
	return total;
}

int
call_graph_check(const struct call_graph *graph, struct error *error)
{
	for (uint32_t r = 0; r < graph->n_resources; r++) {
		uint64_t total = 0;

		for (uint32_t i = 0; i < graph->n_nodes; i++)
			if (__builtin_add_overflow(total,
			        call_graph_self(graph, i)[r], &total))
				return error_set(error, "the sum of all "
				                 "functions exceeds 64 bits");
	}
	return 0;
}
