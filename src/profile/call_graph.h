/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph.h -- functions and the calls between them, without stacks.
 *
 * All that callgrind and gmon.out know.  A node is a function, or a function
 * in one of the situations that the input tells apart: its first activation
 * on the stack, its second, ...; called along these functions.  What paths of
 * calls used is worked out from it by call_flow.h.
 */
#ifndef CPPROF_PROFILE_CALL_GRAPH_H
#define CPPROF_PROFILE_CALL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"

struct call_node {
	uint32_t name;		/* the function's */
	uint32_t home;		/* a name that tells functions of one name
				 * apart (their file); NO_NAME: unknown */
	uint32_t level;		/* how many activations of the function are on
				 * the stack, this one included; the highest
				 * level stands for all beyond it */
	uint32_t first_caller;	/* [n_callers] in callers */
	uint32_t n_callers;	/* known callers, 0: any */
};

/* Calls from one node to another. */
struct call_arc {
	uint32_t caller, callee;
	uint64_t calls;		/* 0: unknown, or none that was seen */
};

struct arc_slot;

struct call_graph {
	uint32_t n_resources, n_nodes, n_arcs;
	uint32_t n_callers;
	struct call_node *nodes;
	uint32_t *callers;	/* names, innermost first */
	struct call_arc *arcs;
	uint64_t *self;		/* [n_nodes][n_resources] own hits */
	uint64_t *hits;		/* [n_arcs][n_resources] of the calls, callees
				 * included; a call below a call between the
				 * same two nodes is in it twice */
	bool has_hits;		/* else arcs have calls alone, hits is 0 */

	/* For whoever fills it. */
	size_t nodes_capacity, callers_capacity, arcs_capacity, self_capacity,
	    hits_capacity;
	struct arc_slot *slots;
	size_t n_slots;
};

/* Empty; freed with call_graph_free, NULL with *error set. */
struct call_graph *call_graph_new(uint32_t n_resources, struct error *error);
void call_graph_free(struct call_graph *graph);

/*
 * Enters a node with no hits; its first_caller is set, callers[n_callers] are
 * copied.  UINT32_MAX with *error set for want of memory.
 */
uint32_t call_graph_add_node(struct call_graph *graph, struct call_node node,
                             const uint32_t *callers, struct error *error);

/* Describes a node anew, callers as above; 0, or -1 with *error set. */
int call_graph_set_node(struct call_graph *graph, uint32_t number,
                        struct call_node node, const uint32_t *callers,
                        struct error *error);

/*
 * The arc between two nodes, entered if new, with no hits and no calls.
 * UINT32_MAX with *error set for want of memory.
 */
uint32_t call_graph_arc(struct call_graph *graph, uint32_t caller,
                        uint32_t callee, struct error *error);

/* Rows of counters, good until the next node or arc is entered. */
static inline uint64_t *
call_graph_self(const struct call_graph *graph, uint32_t node)
{
	return graph->self + (size_t)node * graph->n_resources;
}

static inline uint64_t *
call_graph_hits(const struct call_graph *graph, uint32_t arc)
{
	return graph->hits + (size_t)arc * graph->n_resources;
}

/*
 * Every graph is to be checked once it is filled: own hits of all nodes, of
 * each resource, must fit 64 bits.  0, or -1 with *error set.
 */
int call_graph_check(const struct call_graph *graph, struct error *error);

/* Own hits of all nodes of a graph that was checked. */
uint64_t call_graph_total(const struct call_graph *graph, uint32_t resource);

/*
 * The sum of graphs.  Nodes that agree in all that describes them are one;
 * names are entered into the sum's.
 */
struct call_graph_sum;

struct call_graph_sum *call_graph_sum_new(struct names *names,
                                          uint32_t n_resources,
                                          struct error *error);
void call_graph_sum_free(struct call_graph_sum *sum);

/*
 * Adds a graph whose names are `from_names`.  resource_map: its resources'
 * numbers in the sum; factor: what a hit of each is in the sum's hits.  0, or
 * -1 with *error set for want of memory or when a count passes 64 bits.
 */
int call_graph_sum_add(struct call_graph_sum *sum,
                       const struct call_graph *graph,
                       const struct names *from_names,
                       const uint32_t *resource_map, const uint64_t *factor,
                       struct error *error);

/*
 * The sum, checked and the caller's; the rest is still to be freed.  NULL with
 * *error set.
 */
struct call_graph *call_graph_sum_take(struct call_graph_sum *sum,
                                       struct error *error);

#endif
