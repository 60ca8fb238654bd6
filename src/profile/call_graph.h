/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph.h -- functions and the calls between them, without stacks.
 *
 * This is all that callgrind and gmon.out record.  A node is a function, or a
 * function in one of the situations that the input distinguishes: its first
 * activation on the stack, its second, ...; called along certain functions.
 * call_flow.h computes from it what calls used.
 */
#ifndef CPPROF_PROFILE_CALL_GRAPH_H
#define CPPROF_PROFILE_CALL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/index.h"
#include "src/base/names.h"
#include "src/profile/call_places.h"

struct call_node {
	uint32_t name;		/* the function's */
	uint32_t object;	/* the object file that it is in, a name;
				 * NO_NAME: unknown */
	uint32_t file;		/* the source file that it is defined in;
				 * likewise */
	uint64_t identity;	/* distinguishes functions of one name, such as
				 * their address */
	uint32_t level;		/* the number of activations of the function on
				 * the stack, this one included; the highest
				 * level includes all deeper ones */
	uint32_t first_caller;	/* [n_callers] in callers */
	uint32_t n_callers;	/* known callers; 0: any */
	bool is_group;		/* its name stands for several functions;
				 * which activations are nested is unknown */
	bool is_part;		/* a line of a function, with the level that
				 * the function has */
};

/* Calls from one node to another. */
struct call_arc {
	uint32_t caller, callee;
	uint64_t calls;		/* 0: unknown, or none seen */
};


struct call_graph {
	uint32_t n_resources, n_nodes, n_arcs;
	uint32_t n_callers;
	struct call_node *nodes;
	uint32_t *callers;	/* names, innermost first */
	struct call_arc *arcs;
	uint64_t *self;		/* [n_nodes][n_resources] own hits */
	uint64_t *hits;		/* [n_arcs][n_resources] of the calls, callees
				 * included; a call below a call between the
				 * same two nodes counts twice */
	bool has_hits;		/* otherwise arcs have only calls, and hits are
				 * 0 */
	bool has_groups;	/* a name can stand for several functions */
	struct call_places *places;	/* NULL: no lines are known */

	/* Used while the graph is filled. */
	size_t nodes_capacity, callers_capacity, arcs_capacity, self_capacity,
	    hits_capacity;
	struct index arc_index;		/* by caller and callee */
};

/* Empty; freed with call_graph_free, NULL with *error set. */
struct call_graph *call_graph_new(uint32_t n_resources, struct error *error);
void call_graph_free(struct call_graph *graph);

/*
 * Enters a node with no hits; sets its first_caller and copies
 * callers[n_callers].  UINT32_MAX with *error set if memory runs out.
 */
uint32_t call_graph_add_node(struct call_graph *graph, struct call_node node,
                             const uint32_t *callers, struct error *error);

/*
 * Replaces the description of a node, callers as above; 0, or -1 with *error
 * set.
 */
int call_graph_set_node(struct call_graph *graph, uint32_t number,
                        struct call_node node, const uint32_t *callers,
                        struct error *error);

/*
 * The arc between two nodes, entered with no hits and no calls if it is new.
 * UINT32_MAX with *error set if memory runs out.
 */
uint32_t call_graph_arc(struct call_graph *graph, uint32_t caller,
                        uint32_t callee, struct error *error);

/*
 * Adds the hits of all places to their nodes and arcs, whose hits must be 0
 * before, and closes the places.  0, or -1 with *error set when a sum exceeds
 * 64 bits.
 */
int call_graph_add_places(struct call_graph *graph, struct error *error);

/* Whether two nodes belong to the same function, in whatever situation. */
static inline bool
call_node_is_same(const struct call_node *a, const struct call_node *b)
{
	return a->name == b->name && a->object == b->object &&
	    a->file == b->file && a->identity == b->identity;
}

/* Rows of counters, valid until the next node or arc is entered. */
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
 * To be called once the graph is filled: checks that the own hits of all nodes
 * fit 64 bits for each resource.  0, or -1 with *error set.
 */
int call_graph_check(const struct call_graph *graph, struct error *error);

/* The sum of the own hits of all nodes; the graph must have been checked. */
uint64_t call_graph_total(const struct call_graph *graph, uint32_t resource);

#endif
