/* SPDX-License-Identifier: GPL-3.0-or-later */
/* components.c -- Tarjan's algorithm with its two stacks as arrays. */
#include "src/profile/call_graph.h"

#include <stdlib.h>

#include "src/base/memory.h"

#define NO_COMPONENT UINT32_MAX

struct components_search {
	const uint32_t *first, *next;
	uint32_t *component;
	uint32_t *order;	/* when the vertex was reached, from 1; 0: not
				 * yet */
	uint32_t *low;		/* the earliest vertex reached from it */
	uint32_t *at;		/* the next of its arcs to follow */
	uint32_t *path, n_path;		/* from the start to where we are */
	uint32_t *open, n_open;		/* reached and in no component */
	uint32_t n_reached, n_components;
};

static void
components_enter(struct components_search *search, uint32_t vertex)
{
	search->order[vertex] = search->low[vertex] = ++search->n_reached;
	search->at[vertex] = search->first[vertex];
	search->component[vertex] = NO_COMPONENT;
	search->path[search->n_path++] = vertex;
	search->open[search->n_open++] = vertex;
}

/*
 * All arcs of the last vertex on the path have been followed.  If it is the
 * earliest of its component, that is made of the open vertices above it.
 */
static void
components_leave(struct components_search *search)
{
	uint32_t vertex = search->path[--search->n_path], last;

	if (search->low[vertex] == search->order[vertex]) {
		do {
			last = search->open[--search->n_open];
			search->component[last] = search->n_components;
		} while (last != vertex);
		search->n_components++;
	}
	if (search->n_path > 0) {
		uint32_t *low = &search->low[
		    search->path[search->n_path - 1]];

		if (search->low[vertex] < *low)
			*low = search->low[vertex];
	}
}

static void
components_search_from(struct components_search *search, uint32_t start)
{
	components_enter(search, start);
	while (search->n_path > 0) {
		uint32_t vertex = search->path[search->n_path - 1], to;

		if (search->at[vertex] == search->first[vertex + 1]) {
			components_leave(search);
			continue;
		}
		to = search->next[search->at[vertex]++];
		if (search->order[to] == 0)
			components_enter(search, to);
		else if (search->component[to] == NO_COMPONENT &&
		         search->order[to] < search->low[vertex])
			search->low[vertex] = search->order[to];
	}
}

uint32_t
components_find(uint32_t n, const uint32_t *first, const uint32_t *next,
                uint32_t *component, struct error *error)
{
	struct components_search search = {
		.first = first, .next = next, .component = component,
		.order = memory_array(n, sizeof *search.order, error),
		.low = memory_array(n, sizeof *search.low, error),
		.at = memory_array(n, sizeof *search.at, error),
		.path = memory_array(n, sizeof *search.path, error),
		.open = memory_array(n, sizeof *search.open, error),
	};

	for (uint32_t vertex = 0; !error->is_set && vertex < n; vertex++)
		if (search.order[vertex] == 0)
			components_search_from(&search, vertex);
	free(search.order);
	free(search.low);
	free(search.at);
	free(search.path);
	free(search.open);
	return error->is_set ? UINT32_MAX : search.n_components;
}
