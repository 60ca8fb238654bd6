/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_flow.c -- what functions and calls used, each hit counted once.
 *
 * This file finds which functions are on cycles, which vertices stand for which
 * nodes, and which arcs for which calls.  A rule then fills in the numbers:
 * flow_hits.c, flow_calls.c or flow_tree.c.
 */
#include "src/profile/call_flow.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/call_graph.h"

void
call_flow_free(struct call_flow *flow)
{
	if (flow == NULL)
		return;
	free(flow->functions);
	free(flow->vertices);
	free(flow->first_vertex);
	free(flow->arcs);
	free(flow->first_out);
	free(flow->in);
	free(flow->first_in);
	free(flow->graph_arcs);
	free(flow);
}

static uint32_t
caller_name(const struct call_graph *graph, uint32_t arc)
{
	return graph->nodes[graph->arcs[arc].caller].name;
}

static uint32_t
callee_name(const struct call_graph *graph, uint32_t arc)
{
	return graph->nodes[graph->arcs[arc].callee].name;
}

/* Turns the counts in first[n + 1] into the places where runs begin. */
static void
call_flow_add_up(uint32_t *first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		first[i + 1] += first[i];
}

static int
call_flow_check_interrupt(struct error *error)
{
	return progress_step(NULL, 0, 0, error);
}

/* Marks what the arcs say of functions; leaves out static arcs unless wanted. */
static void
choose_arcs(struct flow_making *making, bool with_static)
{
	const struct call_graph *graph = making->graph;
	struct call_flow *flow = making->flow;

	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct call_arc *arc = &graph->arcs[i];
		bool is_static = arc->calls == 0 && !graph->has_hits;
		uint32_t caller = caller_name(graph, i);
		uint32_t callee = callee_name(graph, i);
		struct flow_function *function = &flow->functions[callee];

		flow->graph_arcs[i] = is_static && !with_static ? UINT32_MAX : 0;
		if (flow->graph_arcs[i] == UINT32_MAX)
			continue;
		flow->functions[caller].occurs = function->occurs = true;
		if (is_static)
			continue;
		flow->functions[caller].is_used = function->is_used = true;
		flow->has_calls |= arc->calls > 0;
		function->is_called |= caller != callee;
		count_add(caller == callee ? &function->self_calls :
		                    &function->calls, arc->calls);
	}
}

/* Adds up what the nodes say of functions. */
static void
call_flow_add_bodies(struct flow_making *making)
{
	const struct call_graph *graph = making->graph;
	struct call_flow *flow = making->flow;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct call_node *node = &graph->nodes[i];
		struct flow_function *function = &flow->functions[node->name];
		const uint64_t *self = call_graph_self(graph, i);

		function->is_known = true;
		function->self += self[making->resource];
		for (uint32_t r = 0; r < graph->n_resources; r++)
			function->is_used |= self[r] != 0;
		function->occurs |= function->is_used;
		making->has_levels |= node->level > 1;
	}
}

/*
 * Numbers the cycles of calls between functions, and marks the functions on
 * them.  A function in no cycle gets a number of its own.
 */
static int
find_cycles(struct flow_making *making, struct error *error)
{
	const struct call_graph *graph = making->graph;
	struct call_flow *flow = making->flow;
	uint32_t n = flow->n_names;
	uint32_t *first = memory_array((size_t)n + 2, sizeof *first, error);
	uint32_t *next = memory_array(graph->n_arcs, sizeof *next, error);
	uint32_t *component = memory_array(n, sizeof *component, error);

	if (!error->is_set) {
		for (uint32_t i = 0; i < graph->n_arcs; i++)
			if (flow->graph_arcs[i] != UINT32_MAX)
				first[caller_name(graph, i) + 1]++;
		call_flow_add_up(first, n + 1);
		for (uint32_t i = graph->n_arcs; i-- > 0;)
			if (flow->graph_arcs[i] != UINT32_MAX)
				next[--first[caller_name(graph, i) + 1]] =
				    callee_name(graph, i);
		/* The callees of name now begin at next[first[name + 1]]. */
		flow->n_cycles = components_find(n, first + 1, next,
		                                 component, error);
		for (uint32_t name = 0; !error->is_set && name < n; name++)
			flow->functions[name].cycle = component[name];
	}
	free(first);
	free(next);
	free(component);
	if (error->is_set)
		return -1;

	making->n_members = memory_array(flow->n_cycles,
	                                 sizeof *making->n_members, error);
	making->cycle_total = memory_array(flow->n_cycles,
	                                   sizeof *making->cycle_total,
	                                   error);
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		making->n_members[flow->functions[i].cycle]++;
	for (uint32_t i = 0; i < n; i++) {
		struct flow_function *function = &flow->functions[i];

		function->is_in_cycle =
		    making->n_members[function->cycle] > 1;
		function->is_recursive = function->is_in_cycle;
	}
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		if (flow->graph_arcs[i] != UINT32_MAX &&
		    caller_name(graph, i) == callee_name(graph, i))
			flow->functions[callee_name(graph, i)].is_recursive =
			    true;
	return 0;
}

/* One vertex per node, but one for all nodes of a recursive function. */
static int
make_vertices(struct flow_making *making, struct error *error)
{
	const struct call_graph *graph = making->graph;
	struct call_flow *flow = making->flow;
	uint32_t *first = memory_array((size_t)flow->n_names + 1,
	                               sizeof *first, error);
	uint32_t *used = memory_array(flow->n_names, sizeof *used, error);

	flow->first_vertex = first;
	if (first != NULL && used != NULL) {
		for (uint32_t i = 0; i < graph->n_nodes; i++) {
			uint32_t name = graph->nodes[i].name;

			if (first[name + 1] == 0 ||
			    !flow->functions[name].is_recursive)
				first[name + 1]++;
		}
		call_flow_add_up(first, flow->n_names);
		for (uint32_t i = 0; i < graph->n_nodes; i++) {
			uint32_t name = graph->nodes[i].name;

			making->vertex[i] = first[name] + used[name];
			used[name] += !flow->functions[name].is_recursive;
		}
		flow->n_vertices = first[flow->n_names];
		flow->vertices = memory_array(flow->n_vertices,
		                              sizeof *flow->vertices, error);
	}
	free(used);
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		struct flow_vertex *vertex =
		    &flow->vertices[making->vertex[i]];

		vertex->name = graph->nodes[i].name;
		vertex->self += (long double)
		    call_graph_self(graph, i)[making->resource];
	}
	return 0;
}

/*
 * Makes the arcs, sorted by caller: arcs of the graph between the same two
 * vertices become one.
 */
static int
make_arcs(struct flow_making *making, struct error *error)
{
	const struct call_graph *graph = making->graph;
	struct call_flow *flow = making->flow;
	uint32_t n = graph->n_arcs, n_vertices = flow->n_vertices;
	size_t places = (size_t)n_vertices + 1;
	uint32_t *first = memory_array(places, sizeof *first, error);
	uint32_t *sorted = memory_array(n, sizeof *sorted, error);
	uint32_t *last = memory_array(n_vertices, sizeof *last, error);

	flow->arcs = memory_array(n, sizeof *flow->arcs, error);
	flow->in = memory_array(n, sizeof *flow->in, error);
	flow->first_out = memory_array(places, sizeof *flow->first_out,
	                               error);
	flow->first_in = memory_array(places, sizeof *flow->first_in, error);
	if (!error->is_set) {
		for (uint32_t i = 0; i < n; i++)
			first[making->vertex[graph->arcs[i].caller] + 1]++;
		call_flow_add_up(first, n_vertices);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t v = making->vertex[graph->arcs[i].caller];

			sorted[first[v]++] = i;
		}
		/* last[v]: the newest arc to v, from 1. */
		for (uint32_t i = 0; i < n; i++) {
			const struct call_arc *arc = &graph->arcs[sorted[i]];
			uint32_t caller = making->vertex[arc->caller];
			uint32_t callee = making->vertex[arc->callee];
			uint32_t known = last[callee];

			if (flow->graph_arcs[sorted[i]] == UINT32_MAX)
				continue;
			if (known == 0 ||
			    flow->arcs[known - 1].caller != caller) {
				flow->arcs[flow->n_arcs++] = (struct flow_arc){
					.caller = caller, .callee = callee,
				};
				last[callee] = known = flow->n_arcs;
				flow->first_out[caller + 1]++;
			}
			flow->graph_arcs[sorted[i]] = known - 1;
			count_add(&flow->arcs[known - 1].calls,
			                    arc->calls);
		}
		call_flow_add_up(flow->first_out, n_vertices);
	}
	free(first);
	free(sorted);
	free(last);
	return error->is_set ? -1 : 0;
}

/* Lists the arcs by callee. */
static void
sort_by_callee(struct call_flow *flow)
{
	for (uint32_t i = 0; i < flow->n_arcs; i++)
		flow->first_in[flow->arcs[i].callee + 1]++;
	call_flow_add_up(flow->first_in, flow->n_vertices);
	for (uint32_t i = flow->n_arcs; i-- > 0;)
		flow->in[--flow->first_in[flow->arcs[i].callee + 1]] = i;
	/* Counting down has moved the beginnings by one. */
	for (uint32_t v = 0; v < flow->n_vertices; v++)
		flow->first_in[v] = flow->first_in[v + 1];
	flow->first_in[flow->n_vertices] = flow->n_arcs;
}

static int
call_flow_make_flow(struct flow_making *making, bool with_static,
                    flow_rule *rule, const void *context, struct error *error)
{
	const struct call_graph *graph = making->graph;
	struct call_flow *flow = making->flow;

	flow->functions = memory_array(flow->n_names, sizeof *flow->functions,
	                               error);
	making->vertex = memory_array(graph->n_nodes, sizeof *making->vertex,
	                              error);
	flow->graph_arcs = memory_array(graph->n_arcs,
	                                sizeof *flow->graph_arcs, error);
	if (error->is_set)
		return -1;
	flow->total = call_graph_total(graph, making->resource);
	flow->has_hits = graph->has_hits;
	choose_arcs(making, with_static);
	call_flow_add_bodies(making);
	/* Each step can be a pass over millions of arcs. */
	if (call_flow_check_interrupt(error) != 0 ||
	    find_cycles(making, error) != 0 ||
	    call_flow_check_interrupt(error) != 0 ||
	    make_vertices(making, error) != 0 ||
	    call_flow_check_interrupt(error) != 0 ||
	    make_arcs(making, error) != 0 ||
	    call_flow_check_interrupt(error) != 0)
		return -1;
	sort_by_callee(flow);
	if (call_flow_check_interrupt(error) != 0 ||
	    rule(making, context, error) != 0)
		return -1;
	/* No arc is more than the total of which its share is taken. */
	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		const struct flow_arc *arc = &flow->arcs[i];
		struct flow_vertex *caller = &flow->vertices[arc->caller];
		struct flow_vertex *callee = &flow->vertices[arc->callee];

		if (caller->total < arc->hits)
			caller->total = arc->hits;
		if (callee->total < arc->hits)
			callee->total = arc->hits;
	}
	return 0;
}

struct call_flow *
flow_make(const struct call_graph *graph, uint32_t n_names, uint32_t resource,
          bool with_static, flow_rule *rule, const void *context,
          struct error *error)
{
	struct flow_making making = { .graph = graph, .resource = resource };
	int status;

	making.flow = memory_array(1, sizeof *making.flow, error);
	if (making.flow == NULL)
		return NULL;
	making.flow->n_names = n_names;
	status = call_flow_make_flow(&making, with_static, rule, context,
	                             error);
	free(making.vertex);
	free(making.n_members);
	free(making.cycle_total);
	if (status == 0)
		return making.flow;
	call_flow_free(making.flow);
	return NULL;
}

struct call_flow *
call_flow_new(const struct call_graph *graph, uint32_t n_names,
              uint32_t resource, bool with_static, struct error *error)
{
	return flow_make(graph, n_names, resource, with_static,
	                 graph->has_hits ? flow_from_hits : flow_from_calls,
	                 NULL, error);
}
