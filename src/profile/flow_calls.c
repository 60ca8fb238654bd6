/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_calls.c -- a flow where only calls are counted: gprof's rule.
 *
 * What a function used with everything below it is charged to its callers, in
 * proportion to their calls.  A cycle is charged as one function; calls inside
 * it carry nothing.  Members of a cycle have their own hits and those of their
 * calls out of the cycle.
 *
 * Source: Graham, Kessler & McKusick 1982, section 4.  Cycles are numbered so
 * that callees come first; so the total of each is complete before it is
 * charged to callers.
 */
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/call_flow.h"

struct calls_making {
	struct flow_making *making;
	uint64_t *calls;	/* [n_cycles] calls from outside */
	bool *is_estimated;	/* [n_cycles] its total is an estimate */
	long double *self;	/* [n_cycles] own hits of its members */
	uint32_t *first;	/* [n_cycles + 1] vertices by cycle */
	uint32_t *members;
};

static struct flow_function *
function_at(const struct calls_making *calls, uint32_t vertex)
{
	struct call_flow *flow = calls->making->flow;

	return &flow->functions[flow->vertices[vertex].name];
}

static void
sort_members(struct calls_making *calls)
{
	const struct call_flow *flow = calls->making->flow;
	uint32_t *first = calls->first;

	for (uint32_t v = 0; v < flow->n_vertices; v++)
		first[function_at(calls, v)->cycle + 1]++;
	for (uint32_t i = 0; i < flow->n_cycles; i++)
		first[i + 1] += first[i];
	for (uint32_t v = flow->n_vertices; v-- > 0;)
		calls->members[--first[function_at(calls, v)->cycle + 1]] = v;
	for (uint32_t i = 0; i < flow->n_cycles; i++)
		first[i] = first[i + 1];
	first[flow->n_cycles] = flow->n_vertices;
}

/* Sums for each cycle the calls from outside, and the own hits. */
static void
flow_calls_sum_cycles(struct calls_making *calls)
{
	struct flow_making *making = calls->making;
	const struct call_flow *flow = making->flow;
	const struct call_graph *graph = making->graph;

	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		const struct flow_arc *arc = &flow->arcs[i];
		uint32_t to = function_at(calls, arc->callee)->cycle;

		if (function_at(calls, arc->caller)->cycle != to &&
		    __builtin_add_overflow(calls->calls[to], arc->calls,
		                           &calls->calls[to]))
			calls->calls[to] = UINT64_MAX;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		uint32_t vertex = making->vertex[i];
		long double self = (long double)
		    call_graph_self(graph, i)[making->resource];

		flow->vertices[vertex].inclusive += self;
		making->cycle_total[function_at(calls, vertex)->cycle] += self;
		calls->self[function_at(calls, vertex)->cycle] += self;
	}
}

/* Charges an arc with its share of what its callee's cycle used. */
static void
flow_calls_charge(struct calls_making *calls, struct flow_arc *arc)
{
	struct flow_making *making = calls->making;
	struct flow_function *caller = function_at(calls, arc->caller);
	uint32_t from = caller->cycle;
	uint32_t to = function_at(calls, arc->callee)->cycle;

	if (from == to) {
		arc->is_estimated = arc->calls > 0;
		return;
	}
	if (arc->calls == 0 || making->cycle_total[to] == 0)
		return;
	arc->hits = making->cycle_total[to] * (long double)arc->calls /
	            (long double)calls->calls[to];
	arc->self = calls->self[to] * (long double)arc->calls /
	            (long double)calls->calls[to];
	arc->is_estimated = calls->is_estimated[to] ||
	                    arc->calls != calls->calls[to];
	making->flow->vertices[arc->caller].inclusive += arc->hits;
	making->cycle_total[from] += arc->hits;
	calls->is_estimated[from] |= arc->is_estimated;
	caller->is_estimated |= arc->is_estimated;
}

static void
set_functions(struct calls_making *calls)
{
	struct call_flow *flow = calls->making->flow;

	for (uint32_t v = 0; v < flow->n_vertices; v++) {
		struct flow_function *function = function_at(calls, v);

		function->inclusive += flow->vertices[v].inclusive;
		flow->vertices[v].total = function->is_in_cycle ?
		    calls->making->cycle_total[function->cycle] :
		    flow->vertices[v].inclusive;
		/* What other members used on its behalf is unknown. */
		function->is_estimated |= function->is_in_cycle;
	}
}

int
flow_from_calls(struct flow_making *making, const void *context,
                struct error *error)
{
	struct calls_making calls = { .making = making };
	const struct call_flow *flow = making->flow;
	uint32_t n = flow->n_cycles;

	(void)context;
	calls.calls = memory_array(n, sizeof *calls.calls, error);
	calls.is_estimated = memory_array(n, sizeof *calls.is_estimated,
	                                  error);
	calls.self = memory_array(n, sizeof *calls.self, error);
	calls.first = memory_array((size_t)n + 1, sizeof *calls.first, error);
	calls.members = memory_array(making->flow->n_vertices,
	                             sizeof *calls.members, error);
	if (!error->is_set) {
		sort_members(&calls);
		flow_calls_sum_cycles(&calls);
		/* Callees come first. */
		for (uint32_t i = 0; i < flow->n_vertices; i++) {
			const uint32_t v = calls.members[i];

			for (uint32_t k = flow->first_out[v];
			     k < flow->first_out[v + 1]; k++)
				flow_calls_charge(&calls, &flow->arcs[k]);
		}
		set_functions(&calls);
	}
	free(calls.calls);
	free(calls.is_estimated);
	free(calls.self);
	free(calls.first);
	free(calls.members);
	return error->is_set ? -1 : 0;
}
