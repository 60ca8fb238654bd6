/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph_entries.c -- functions, cycles and the calls among them. */
#include "src/views/lists/lists.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

enum { ARCS_A_STEP = 1 << 16 };

void
graph_entries_free(struct graph_entries *graph)
{
	free(graph->calls);
	free(graph->first_out);
	free(graph->out);
	free(graph->first_in);
	free(graph->in);
	free(graph->entries);
	free(graph->number);
	free(graph->cycle_number);
	free(graph->cycle_entry);
	*graph = (struct graph_entries){ 0 };
}

static int
graph_entries_allocate(struct graph_entries *graph, struct error *error)
{
	const struct call_flow *flow = graph->flow;
	size_t names = (size_t)flow->n_names + 1;
	size_t entries = (size_t)flow->n_names + flow->n_cycles;

	graph->calls = memory_array(flow->n_arcs, sizeof *graph->calls,
	                            error);
	graph->out = memory_array(flow->n_arcs, sizeof *graph->out, error);
	graph->in = memory_array(flow->n_arcs, sizeof *graph->in, error);
	graph->first_out = memory_array(names, sizeof *graph->first_out,
	                                error);
	graph->first_in = memory_array(names, sizeof *graph->first_in, error);
	graph->entries = memory_array(entries, sizeof *graph->entries, error);
	graph->number = memory_array(names, sizeof *graph->number, error);
	graph->cycle_number = memory_array(flow->n_cycles,
	                                   sizeof *graph->cycle_number,
	                                   error);
	graph->cycle_entry = memory_array(flow->n_cycles,
	                                  sizeof *graph->cycle_entry, error);
	return error->is_set ? -1 : 0;
}

/* ---- calls between names ---- */

static bool
is_in_cycle(const struct graph_entries *graph, uint32_t name)
{
	return graph->is_classic && graph->flow->functions[name].is_in_cycle;
}

/* Arcs are sorted by caller already; those to one callee are joined. */
static int
join_calls(struct graph_entries *graph, struct error *error)
{
	const struct call_flow *flow = graph->flow;
	uint32_t *last = memory_array(flow->n_names, sizeof *last, error);

	if (last == NULL)
		return -1;
	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		const struct flow_arc *arc = &flow->arcs[i];
		uint32_t caller = flow->vertices[arc->caller].name;
		uint32_t callee = flow->vertices[arc->callee].name;
		uint32_t *known = &last[callee];
		struct graph_call *call;

		if (i % ARCS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			break;
		if (*known == 0 ||
		    graph->calls[*known - 1].caller != caller) {
			graph->calls[graph->n_calls++] = (struct graph_call){
				.caller = caller,
				.callee = callee,
				.is_inside = graph->is_classic &&
				    flow->functions[caller].cycle ==
				    flow->functions[callee].cycle,
			};
			*known = graph->n_calls;
			graph->first_out[caller + 1]++;
			graph->first_in[callee + 1]++;
		}
		call = &graph->calls[*known - 1];
		count_add(&call->calls, arc->calls);
		call->hits += arc->hits;
		call->self += arc->self;
		call->is_estimated |= arc->is_estimated;
	}
	free(last);
	return error->is_set ? -1 : 0;
}

/* Sorts the calls by the number of one end, then by the name of the other. */
static int
order_calls(const struct graph_entries *graph, const uint32_t *one,
            const uint32_t *other, uint32_t *order, struct error *error)
{
	uint32_t n = graph->n_calls, n_ranks;
	uint32_t *rank = memory_array(n, sizeof *rank, error);
	int status = -1;

	if (rank == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	n_ranks = order_rank_names(graph->names, other, n, rank, error);
	if (n_ranks != UINT32_MAX &&
	    order_ascending(order, n, rank, n_ranks, error) == 0)
		status = order_ascending(order, n, one, graph->flow->n_names,
		                         error);
	free(rank);
	return status;
}

static int
make_calls(struct graph_entries *graph, struct error *error)
{
	uint32_t *caller, *callee;
	int status = -1;

	if (join_calls(graph, error) != 0)
		return -1;
	for (uint32_t i = 0; i < graph->flow->n_names; i++) {
		graph->first_out[i + 1] += graph->first_out[i];
		graph->first_in[i + 1] += graph->first_in[i];
	}
	caller = memory_array(graph->n_calls, sizeof *caller, error);
	callee = memory_array(graph->n_calls, sizeof *callee, error);
	if (caller != NULL && callee != NULL) {
		for (uint32_t i = 0; i < graph->n_calls; i++) {
			caller[i] = graph->calls[i].caller;
			callee[i] = graph->calls[i].callee;
		}
		status = order_calls(graph, caller, callee, graph->out, error);
		if (status == 0)
			status = order_calls(graph, callee, caller, graph->in,
			                     error);
	}
	free(caller);
	free(callee);
	return status;
}

/* ---- entries ---- */

/*
 * What a function's calls of others used; for a member of a cycle, calls out
 * of the cycle.
 */
static long double
sum_out(const struct graph_entries *graph, uint32_t name)
{
	long double sum = 0;

	for (uint32_t i = graph->first_out[name];
	     i < graph->first_out[name + 1]; i++)
		if (!graph->calls[i].is_inside)
			sum += graph->calls[i].hits;
	return sum;
}

static void
graph_entries_add_function(struct graph_entries *graph, uint32_t name)
{
	const struct flow_function *function = &graph->flow->functions[name];
	bool is_member = is_in_cycle(graph, name);
	long double self = (long double)function->self;

	graph->entries[graph->n_entries++] = (struct graph_entry){
		.name = name,
		.cycle = is_member ? function->cycle : NO_CYCLE,
		.self = self,
		.total = is_member ? self + sum_out(graph, name) :
		         function->inclusive,
		.calls = function->calls,
		.self_calls = function->self_calls,
		.is_estimated = function->is_estimated || is_member,
	};
}

/*
 * The calls of a cycle come from outside; its self calls are those among its
 * members.
 */
static void
add_to_cycle(struct graph_entries *graph, uint32_t name)
{
	const struct flow_function *function = &graph->flow->functions[name];
	uint32_t number = graph->cycle_number[function->cycle];
	struct graph_entry *cycle;

	if (number == 0) {
		number = ++graph->n_entries;
		graph->cycle_number[function->cycle] = number;
		graph->entries[number - 1] = (struct graph_entry){
			.name = NO_NAME, .cycle = function->cycle,
			.is_estimated = !graph->flow->has_hits,
		};
	}
	cycle = &graph->entries[number - 1];
	cycle->self += (long double)function->self;
	cycle->total += (long double)function->self + sum_out(graph, name);
	for (uint32_t i = graph->first_in[name];
	     i < graph->first_in[name + 1]; i++) {
		const struct graph_call *call = &graph->calls[graph->in[i]];

		*(call->is_inside ? &cycle->self_calls : &cycle->calls) +=
		    call->calls;
	}
}

/*
 * Ranks the entries, cycles first, then functions by the bytes of their names.
 * Returns the number of ranks.
 */
static uint32_t
rank_entries(const struct graph_entries *graph, uint32_t *name, uint32_t *rank,
             struct error *error)
{
	uint32_t n_ranks;

	for (uint32_t i = 0; i < graph->n_entries; i++) {
		uint32_t its = graph->entries[i].name;

		name[i] = its == NO_NAME ? 0 : its;	/* any name will do */
	}
	n_ranks = order_rank_names(graph->names, name, graph->n_entries, rank,
	                           error);
	if (n_ranks == UINT32_MAX)
		return UINT32_MAX;
	for (uint32_t i = 0; i < graph->n_entries; i++)
		rank[i] = graph->entries[i].name == NO_NAME ? 0 : rank[i] + 1;
	return n_ranks + 1;
}

/* Most expensive first, entries of the same hits by their ranks. */
static int
sort_entries(struct graph_entries *graph, struct error *error)
{
	uint32_t n = graph->n_entries, n_ranks;
	uint32_t *order = memory_array(n, sizeof *order, error);
	uint32_t *name = memory_array(n, sizeof *name, error);
	uint32_t *rank = memory_array(n, sizeof *rank, error);
	uint64_t *key = memory_array(n, sizeof *key, error);
	struct graph_entry *sorted = memory_array(n, sizeof *sorted, error);
	int status = -1;

	if (!error->is_set) {
		for (uint32_t i = 0; i < n; i++) {
			key[i] = measure_hits(graph->entries[i].total);
			order[i] = i;
		}
		n_ranks = rank_entries(graph, name, rank, error);
		if (n_ranks != UINT32_MAX &&
		    order_ascending(order, n, rank, n_ranks, error) == 0)
			status = order_descending(order, n, key, error);
	}
	if (status == 0) {
		for (uint32_t i = 0; i < n; i++)
			sorted[i] = graph->entries[order[i]];
		free(graph->entries);
		graph->entries = sorted;
		sorted = NULL;
	}
	free(order);
	free(name);
	free(rank);
	free(key);
	free(sorted);
	return status;
}

static int
make_entries(struct graph_entries *graph, struct error *error)
{
	const struct call_flow *flow = graph->flow;
	uint32_t n_cycles = 0;

	for (uint32_t name = 0; name < flow->n_names; name++) {
		if (!flow->functions[name].occurs)
			continue;
		graph_entries_add_function(graph, name);
		if (is_in_cycle(graph, name))
			add_to_cycle(graph, name);
	}
	if (sort_entries(graph, error) != 0)
		return -1;
	for (uint32_t i = 0; i < graph->n_entries; i++) {
		const struct graph_entry *entry = &graph->entries[i];

		if (entry->name != NO_NAME) {
			graph->number[entry->name] = i;
			continue;
		}
		graph->cycle_number[entry->cycle] = ++n_cycles;
		graph->cycle_entry[entry->cycle] = i;
	}
	return 0;
}

int
graph_entries_make(struct graph_entries *graph, const struct call_flow *flow,
                   const struct names *names, bool is_classic,
                   struct error *error)
{
	*graph = (struct graph_entries){
		.flow = flow,
		.names = names,
		.is_classic = is_classic,
	};
	if (graph_entries_allocate(graph, error) == 0 &&
	    make_calls(graph, error) == 0 && make_entries(graph, error) == 0)
		return 0;
	graph_entries_free(graph);
	return -1;
}
