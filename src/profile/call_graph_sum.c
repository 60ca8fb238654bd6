/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph_sum.c -- the sum of call graphs.
 *
 * Nodes are identified by the bytes of their descriptions.
 */
#include "src/profile/call_graph.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* Name, object, file, both halves of the identity, level. */
enum { KEY_SIZE = 6 };

struct call_graph_sum {
	struct names *names;
	struct names *keys;	/* description of a node, as bytes: its number
				 * in the sum */
	struct call_graph *graph;
	bool lacks_places;	/* one of the graphs lacks them */
	uint32_t *key;		/* scratch: KEY_SIZE numbers, callers */
	size_t key_capacity;
};

struct call_graph_sum *
call_graph_sum_new(struct names *names, uint32_t n_resources,
                   struct error *error)
{
	struct call_graph_sum *sum = memory_array(1, sizeof *sum, error);

	if (sum == NULL)
		return NULL;
	sum->names = names;
	sum->keys = names_new(error);
	sum->graph = call_graph_new(n_resources, error);
	if (sum->keys == NULL || sum->graph == NULL) {
		call_graph_sum_free(sum);
		return NULL;
	}
	return sum;
}

void
call_graph_sum_free(struct call_graph_sum *sum)
{
	if (sum == NULL)
		return;
	names_free(sum->keys);
	call_graph_free(sum->graph);
	free(sum->key);
	free(sum);
}

struct call_graph *
call_graph_sum_take(struct call_graph_sum *sum, struct error *error)
{
	struct call_graph *graph = sum->graph;

	if (call_graph_check(graph, error) != 0)
		return NULL;
	if (sum->lacks_places) {
		call_places_free(graph->places);
		graph->places = NULL;
	}
	if (graph->places != NULL)
		call_places_close(graph->places);
	sum->graph = NULL;
	return graph;
}

static uint32_t
call_graph_sum_copy_name(struct call_graph_sum *sum, const struct names *from,
                         uint32_t name, struct error *error)
{
	return name == NO_NAME ? NO_NAME :
	    names_add(sum->names, names_text(from, name),
	              names_length(from, name), error);
}

/* The node of the sum with the same description, entered if new. */
static uint32_t
map_node(struct call_graph_sum *sum, const struct call_graph *graph,
         uint32_t number, const struct names *from, struct error *error)
{
	struct call_node node = graph->nodes[number];
	size_t n = KEY_SIZE + (size_t)node.n_callers;
	uint32_t found;

	if (memory_grow(&sum->key, &sum->key_capacity, n, sizeof *sum->key,
	                error) != 0)
		return UINT32_MAX;
	sum->key[0] = node.name = call_graph_sum_copy_name(sum, from, node.name,
	                                                   error);
	sum->key[1] = node.object = call_graph_sum_copy_name(sum, from,
	                                                     node.object,
	                                                     error);
	sum->key[2] = node.file = call_graph_sum_copy_name(sum, from, node.file,
	                                                   error);
	sum->key[3] = (uint32_t)node.identity;
	sum->key[4] = (uint32_t)(node.identity >> 32);
	sum->key[5] = node.level;
	for (uint32_t i = 0; i < node.n_callers; i++)
		sum->key[KEY_SIZE + i] = call_graph_sum_copy_name(
		    sum, from, graph->callers[node.first_caller + i], error);
	if (error->is_set)
		return UINT32_MAX;
	found = names_add(sum->keys, (const char *)sum->key,
	                  n * sizeof *sum->key, error);
	if (found == NO_NAME || found < sum->graph->n_nodes)
		return found;
	return call_graph_add_node(sum->graph, node, sum->key + KEY_SIZE,
	                           error);
}

/* Translates the numbers of a graph to those of the sum. */
struct sum_maps {
	const struct names *names;	/* the graph's */
	const struct summed_resource *resources;	/* [n_resources] */
	uint32_t n_resources;
	uint32_t *node;			/* [n_nodes] */
	uint32_t *arc;			/* [n_arcs] */
};

static int
call_graph_sum_add_counts(uint64_t *to, const uint64_t *from,
                          const struct sum_maps *maps, struct error *error)
{
	for (uint32_t r = 0; r < maps->n_resources; r++) {
		const struct summed_resource *resource = &maps->resources[r];
		uint64_t *sum = &to[resource->to], more;

		if (__builtin_mul_overflow(from[resource->from],
		                           resource->factor, &more) ||
		    __builtin_add_overflow(*sum, more, sum))
			return error_set(error, "a sum exceeds 64 bits");
	}
	return 0;
}

static int
call_graph_sum_add_nodes(struct call_graph_sum *sum,
                         const struct call_graph *graph,
                         const struct sum_maps *maps, struct error *error)
{
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		uint32_t to = map_node(sum, graph, i, maps->names, error);

		if (to == UINT32_MAX ||
		    call_graph_sum_add_counts(call_graph_self(sum->graph, to),
		                              call_graph_self(graph, i),
		                              maps, error) != 0)
			return -1;
		maps->node[i] = to;
	}
	return 0;
}

static int
call_graph_sum_add_calls(uint64_t *sum, uint64_t calls, struct error *error)
{
	return __builtin_add_overflow(*sum, calls, sum) ?
	    error_set(error, "calls exceed 64 bits") : 0;
}

static int
call_graph_sum_add_arcs(struct call_graph_sum *sum,
                        const struct call_graph *graph,
                        const struct sum_maps *maps, struct error *error)
{
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct call_arc *arc = &graph->arcs[i];
		uint32_t to = call_graph_arc(sum->graph,
		    maps->node[arc->caller], maps->node[arc->callee], error);

		if (to == UINT32_MAX ||
		    call_graph_sum_add_calls(&sum->graph->arcs[to].calls,
		                             arc->calls, error) != 0 ||
		    call_graph_sum_add_counts(call_graph_hits(sum->graph, to),
		                              call_graph_hits(graph, i),
		                              maps, error) != 0)
			return -1;
		maps->arc[i] = to;
	}
	return 0;
}

static int
call_graph_sum_add_places(struct call_graph_sum *sum,
                          const struct call_graph *graph,
                          const struct sum_maps *maps, struct error *error)
{
	struct call_places *places = sum->graph->places;

	sum->lacks_places |= graph->places == NULL;
	if (sum->lacks_places)
		return 0;
	if (places == NULL)
		sum->graph->places = places = call_places_new(
		    sum->graph->n_resources, error);
	for (uint32_t i = 0; places != NULL && i < graph->places->n; i++) {
		struct call_place place = graph->places->items[i];
		const uint64_t calls = place.calls;
		uint32_t to;

		place.node = maps->node[place.node];
		if (place.arc != NO_ARC)
			place.arc = maps->arc[place.arc];
		place.file = call_graph_sum_copy_name(sum, maps->names,
		                                      place.file, error);
		if (error->is_set)
			return -1;
		to = call_places_at(places, place, error);
		if (to == UINT32_MAX ||
		    call_graph_sum_add_calls(&places->items[to].calls, calls,
		                             error) != 0 ||
		    call_graph_sum_add_counts(call_places_hits(places, to),
		                              call_places_hits(graph->places,
		                                               i),
		                              maps, error) != 0)
			return -1;
	}
	return places != NULL ? 0 : -1;
}

int
call_graph_sum_add(struct call_graph_sum *sum, const struct call_graph *graph,
                   const struct names *from_names,
                   const struct summed_resource *resources, uint32_t n,
                   struct error *error)
{
	struct sum_maps maps = { from_names, resources, n,
		memory_array(graph->n_nodes, sizeof *maps.node, error),
		memory_array(graph->n_arcs, sizeof *maps.arc, error) };
	int result = -1;

	if (maps.node != NULL && maps.arc != NULL &&
	    call_graph_sum_add_nodes(sum, graph, &maps, error) == 0 &&
	    call_graph_sum_add_arcs(sum, graph, &maps, error) == 0)
		result = call_graph_sum_add_places(sum, graph, &maps, error);
	/* A graph without arcs does not decide whether arcs have hits. */
	if (graph->n_arcs > 0 || sum->graph->n_arcs == 0)
		sum->graph->has_hits = graph->has_hits;
	free(maps.node);
	free(maps.arc);
	return result;
}
