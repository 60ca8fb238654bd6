/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flow_steps.c -- how much of an amount goes along calls, one call after the
 * other.
 */
#include "src/views/hits/hits.h"

#include <stdlib.h>

#include "src/base/memory.h"

int
flow_steps_begin(struct flow_steps *steps, const struct call_flow *flow,
                 struct error *error)
{
	steps->flow = flow;
	steps->slot = memory_array(flow->n_vertices, sizeof *steps->slot,
	                           error);
	return steps->slot == NULL ? -1 : 0;
}

void
flow_steps_end(struct flow_steps *steps)
{
	free(steps->slot);
	free(steps->reached.items);
}

int
flow_amounts_add(struct flow_amounts *amounts, struct flow_amount amount,
                 struct error *error)
{
	if (memory_grow(&amounts->items, &amounts->capacity, amounts->n + 1,
	                sizeof amount, error) != 0)
		return -1;
	amounts->items[amounts->n++] = amount;
	return 0;
}

int
flow_amounts_of(const struct call_flow *flow, uint32_t name,
                struct flow_amounts *amounts, struct error *error)
{
	for (uint32_t v = flow->first_vertex[name];
	     v < flow->first_vertex[name + 1]; v++)
		if (flow_amounts_add(amounts, (struct flow_amount){
		        .vertex = v, .is_exact = true, .is_whole = true,
		        .hits = flow->vertices[v].total }, error) != 0)
			return -1;
	return 0;
}

static uint32_t
cycle_of(const struct call_flow *flow, uint32_t vertex)
{
	return flow->functions[flow->vertices[vertex].name].cycle;
}

/* Adds what goes along one call, of the amount at a vertex, to `to`. */
static int
flow_steps_follow(struct flow_steps *steps, const struct flow_amount *from,
                  bool is_first, const struct flow_arc *arc, uint32_t to,
                  struct error *error)
{
	long double total = steps->flow->vertices[from->vertex].total;
	uint32_t *slot = &steps->slot[to];
	struct flow_amount more = {
		.vertex = to,
		.hits = arc->hits,
		.is_exact = !arc->is_estimated && (is_first || from->is_whole),
		.is_entry = cycle_of(steps->flow, from->vertex) !=
		            cycle_of(steps->flow, to),
	};

	if (!is_first)
		more.hits = total > 0 ? arc->hits * (from->hits / total) : 0;
	if (*slot == 0) {
		*slot = (uint32_t)steps->reached.n + 1;
		return flow_amounts_add(&steps->reached, more, error);
	}
	steps->reached.items[*slot - 1].hits += more.hits;
	steps->reached.items[*slot - 1].is_exact &= more.is_exact;
	steps->reached.items[*slot - 1].is_entry &= more.is_entry;
	return 0;
}

/*
 * A whole amount can be followed exactly: all of the vertex was reached along
 * the path.  That holds for a recursive function where the path enters its
 * cycle, because whenever it is entered again, the canonical path goes back to
 * it.  For other members of the cycle it is unknown which way led to them.
 */
static void
find_whole(struct flow_steps *steps)
{
	const struct call_flow *flow = steps->flow;

	for (size_t i = 0; i < steps->reached.n; i++) {
		struct flow_amount *amount = &steps->reached.items[i];
		const struct flow_vertex *vertex =
		    &flow->vertices[amount->vertex];

		steps->slot[amount->vertex] = 0;
		amount->is_whole = amount->is_exact &&
		    amount->hits == vertex->total &&
		    (amount->is_entry ||
		     !flow->functions[vertex->name].is_recursive);
	}
}

/* The vertices of a name: from *begin, how many; all if it is NO_NAME. */
static uint32_t
vertices_of(const struct call_flow *flow, uint32_t name, uint32_t *begin)
{
	*begin = 0;
	if (name == NO_NAME)
		return flow->n_vertices;
	if (name >= flow->n_names)	/* entered since */
		return 0;
	*begin = flow->first_vertex[name];
	return flow->first_vertex[name + 1] - *begin;
}

int
flow_step(struct flow_steps *steps, const struct flow_amount *from, size_t n,
          bool is_first, uint32_t name, struct error *error)
{
	const struct call_flow *flow = steps->flow;
	uint32_t begin, n_wanted = vertices_of(flow, name, &begin);
	int status = 0;

	steps->reached.n = 0;
	for (size_t i = 0; i < n && status == 0; i++) {
		uint32_t v = from[i].vertex;
		const uint32_t *first = steps->is_up ? flow->first_in :
		                        flow->first_out;

		for (uint32_t k = first[v]; k < first[v + 1] && status == 0;
		     k++) {
			const struct flow_arc *arc =
			    &flow->arcs[steps->is_up ? flow->in[k] : k];
			uint32_t to = steps->is_up ? arc->caller :
			              arc->callee;

			if (to - begin < n_wanted)
				status = flow_steps_follow(steps, &from[i],
				                           is_first, arc, to,
				                           error);
		}
	}
	find_whole(steps);
	return status;
}

void
flow_amounts_sum(const struct flow_amount *amounts, size_t n, uint64_t *hits,
                 bool *is_estimated)
{
	long double sum = 0;

	*is_estimated = false;
	for (size_t i = 0; i < n; i++) {
		sum += amounts[i].hits;
		*is_estimated |= !amounts[i].is_exact;
	}
	*hits = measure_hits(sum);
}

int
flow_steps_value(struct flow_steps *steps, const uint32_t *path, size_t n,
                 uint64_t *hits, bool *is_estimated, struct error *error)
{
	const struct flow_function *first = &steps->flow->functions[path[0]];
	struct flow_amounts from = { 0 };
	bool is_up = steps->is_up;
	int status;

	*hits = measure_hits(first->inclusive);
	*is_estimated = first->is_estimated;
	if (n == 1)
		return 0;
	steps->is_up = false;
	status = flow_amounts_of(steps->flow, path[0], &from, error);
	for (size_t i = 1; i < n && status == 0; i++) {
		struct flow_amounts reached;

		status = flow_step(steps, from.items, from.n, i == 1, path[i],
		                   error);
		reached = steps->reached;
		steps->reached = from;
		from = reached;
	}
	steps->is_up = is_up;
	if (status == 0)
		flow_amounts_sum(from.items, from.n, hits, is_estimated);
	free(from.items);
	return status;
}

int
flow_path_value(const struct call_flow *flow, const uint32_t *path, size_t n,
                uint64_t *hits, bool *is_estimated, struct error *error)
{
	struct flow_steps steps = { 0 };
	int status = flow_steps_begin(&steps, flow, error);

	if (status == 0)
		status = flow_steps_value(&steps, path, n, hits, is_estimated,
		                          error);
	flow_steps_end(&steps);
	return status;
}
