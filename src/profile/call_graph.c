/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph.c -- functions and the calls between them, without stacks.
 *
 * Arcs are found by a table of open addressing that is at most half full.
 */
#include "src/profile/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { FIRST_SLOTS = 1024 };

struct arc_slot {
	uint32_t caller, callee;
	uint32_t arc;		/* from 1; 0: empty */
};

struct call_graph *
call_graph_new(uint32_t n_resources, struct error *error)
{
	struct call_graph *graph = memory_array(1, sizeof *graph, error);

	if (graph == NULL)
		return NULL;
	graph->n_resources = n_resources;
	graph->n_slots = FIRST_SLOTS;
	graph->slots = memory_array(FIRST_SLOTS, sizeof *graph->slots, error);
	if (graph->slots == NULL) {
		free(graph);
		return NULL;
	}
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
	free(graph->slots);
	free(graph);
}

/* Room for one more row of counters behind n rows, and zeros in it. */
static int
add_row(const struct call_graph *graph, uint64_t **rows, size_t *capacity,
        uint32_t n, struct error *error)
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
add_callers(struct call_graph *graph, const uint32_t *callers, uint32_t n,
            struct error *error)
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
	    add_row(graph, &graph->self, &graph->self_capacity,
	            graph->n_nodes, error) != 0 ||
	    add_callers(graph, callers, node.n_callers, error) != 0)
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
	if (add_callers(graph, callers, node.n_callers, error) != 0)
		return -1;
	graph->nodes[number] = node;
	return 0;
}

static struct arc_slot *
find_slot(struct arc_slot *slots, size_t n_slots, uint32_t caller,
          uint32_t callee)
{
	uint64_t key = ((uint64_t)caller << 32 | callee) *
	               UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(key ^ key >> 32) & (n_slots - 1);

	while (slots[i].arc != 0 && (slots[i].caller != caller ||
	                             slots[i].callee != callee))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static int
grow_slots(struct call_graph *graph, struct error *error)
{
	size_t n = graph->n_slots * 2;
	struct arc_slot *slots = memory_array(n, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (size_t i = 0; i < graph->n_slots; i++) {
		const struct arc_slot *old = &graph->slots[i];

		if (old->arc != 0)
			*find_slot(slots, n, old->caller, old->callee) = *old;
	}
	free(graph->slots);
	graph->slots = slots;
	graph->n_slots = n;
	return 0;
}

uint32_t
call_graph_arc(struct call_graph *graph, uint32_t caller, uint32_t callee,
               struct error *error)
{
	struct arc_slot *slot = find_slot(graph->slots, graph->n_slots,
	                                  caller, callee);

	if (slot->arc != 0)
		return slot->arc - 1;
	if (2 * ((size_t)graph->n_arcs + 1) > graph->n_slots) {
		if (grow_slots(graph, error) != 0)
			return UINT32_MAX;
		slot = find_slot(graph->slots, graph->n_slots, caller,
		                 callee);
	}
	if (graph->n_arcs == UINT32_MAX - 1) {
		error_set(error, "more than 4,294,967,294 arcs");
		return UINT32_MAX;
	}
	if (memory_grow(&graph->arcs, &graph->arcs_capacity,
	                (size_t)graph->n_arcs + 1, sizeof *graph->arcs,
	                error) != 0 ||
	    add_row(graph, &graph->hits, &graph->hits_capacity, graph->n_arcs,
	            error) != 0)
		return UINT32_MAX;
	graph->arcs[graph->n_arcs] = (struct call_arc){ caller, callee, 0 };
	*slot = (struct arc_slot){ caller, callee, ++graph->n_arcs };
	return graph->n_arcs - 1;
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
				                 "functions passes 64 bits");
	}
	return 0;
}

/* ---- sums ---- */

struct call_graph_sum {
	struct names *names;
	struct names *keys;	/* what describes a node, as bytes: its number
				 * in the sum */
	struct call_graph *graph;
	uint32_t *key;		/* scratch: name, home, level, callers */
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
	sum->graph = NULL;
	return graph;
}

static uint32_t
copy_name(struct call_graph_sum *sum, const struct names *from, uint32_t name,
          struct error *error)
{
	return name == NO_NAME ? NO_NAME :
	    names_add(sum->names, names_text(from, name),
	              names_length(from, name), error);
}

/* The node of the sum that is described alike, entered if new. */
static uint32_t
map_node(struct call_graph_sum *sum, const struct call_graph *graph,
         uint32_t number, const struct names *from, struct error *error)
{
	struct call_node node = graph->nodes[number];
	size_t n = 3 + (size_t)node.n_callers;
	uint32_t found;

	if (memory_grow(&sum->key, &sum->key_capacity, n, sizeof *sum->key,
	                error) != 0)
		return UINT32_MAX;
	sum->key[0] = node.name = copy_name(sum, from, node.name, error);
	sum->key[1] = node.home = copy_name(sum, from, node.home, error);
	sum->key[2] = node.level;
	for (uint32_t i = 0; i < node.n_callers; i++)
		sum->key[3 + i] = copy_name(sum, from, graph->callers[
		    node.first_caller + i], error);
	if (error->is_set)
		return UINT32_MAX;
	found = names_add(sum->keys, (const char *)sum->key,
	                  n * sizeof *sum->key, error);
	if (found == NO_NAME || found < sum->graph->n_nodes)
		return found;
	return call_graph_add_node(sum->graph, node, sum->key + 3, error);
}

/* to[resource_map[r]] += factor[r] * from[r]. */
static int
add_counts(uint64_t *to, const uint64_t *from, uint32_t n,
           const uint32_t *resource_map, const uint64_t *factor,
           struct error *error)
{
	for (uint32_t r = 0; r < n; r++) {
		uint64_t *sum = &to[resource_map[r]], more;

		if (__builtin_mul_overflow(from[r], factor[r], &more) ||
		    __builtin_add_overflow(*sum, more, sum))
			return error_set(error, "a sum passes 64 bits");
	}
	return 0;
}

static int
add_arcs(struct call_graph_sum *sum, const struct call_graph *graph,
         const uint32_t *nodes, const uint32_t *resource_map,
         const uint64_t *factor, struct error *error)
{
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct call_arc *arc = &graph->arcs[i];
		uint32_t to = call_graph_arc(sum->graph, nodes[arc->caller],
		                             nodes[arc->callee], error);
		uint64_t *calls;

		if (to == UINT32_MAX)
			return -1;
		calls = &sum->graph->arcs[to].calls;
		if (__builtin_add_overflow(*calls, arc->calls, calls))
			return error_set(error, "calls pass 64 bits");
		if (add_counts(call_graph_hits(sum->graph, to),
		               call_graph_hits(graph, i), graph->n_resources,
		               resource_map, factor, error) != 0)
			return -1;
	}
	return 0;
}

int
call_graph_sum_add(struct call_graph_sum *sum, const struct call_graph *graph,
                   const struct names *from_names,
                   const uint32_t *resource_map, const uint64_t *factor,
                   struct error *error)
{
	uint32_t *nodes = memory_array(graph->n_nodes, sizeof *nodes, error);
	int result = nodes == NULL ? -1 : 0;

	for (uint32_t i = 0; result == 0 && i < graph->n_nodes; i++) {
		nodes[i] = map_node(sum, graph, i, from_names, error);
		if (nodes[i] == UINT32_MAX ||
		    add_counts(call_graph_self(sum->graph, nodes[i]),
		               call_graph_self(graph, i), graph->n_resources,
		               resource_map, factor, error) != 0)
			result = -1;
	}
	if (result == 0)
		result = add_arcs(sum, graph, nodes, resource_map, factor,
		                  error);
	sum->graph->has_hits |= graph->has_hits;
	free(nodes);
	return result;
}
