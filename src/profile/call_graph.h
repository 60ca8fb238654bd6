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
#include "src/profile/call_places.h"

struct call_node {
	uint32_t name;		/* the function's */
	uint32_t object;	/* the file of code that it is in, a name;
				 * NO_NAME: unknown */
	uint32_t file;		/* the source file that it is defined in;
				 * likewise */
	uint64_t identity;	/* what else tells functions of one name
				 * apart, such as their address */
	uint32_t level;		/* how many activations of the function are on
				 * the stack, this one included; the highest
				 * level stands for all beyond it */
	uint32_t first_caller;	/* [n_callers] in callers */
	uint32_t n_callers;	/* known callers, 0: any */
	bool is_part;		/* a line of a function, with the level that
				 * the function has */
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
	bool has_groups;	/* names are of several functions each */
	struct call_places *places;	/* NULL: no lines are known */

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

/*
 * Adds all places to what they are places of, whose hits are 0 before, and
 * closes them.  0, or -1 with *error set when a sum passes 64 bits.
 */
int call_graph_add_places(struct call_graph *graph, struct error *error);

/* Whether two nodes are of one function, in whatever situations. */
static inline bool
call_node_is_same(const struct call_node *a, const struct call_node *b)
{
	return a->name == b->name && a->object == b->object &&
	    a->file == b->file && a->identity == b->identity;
}

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

#endif
