/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph.h -- calls without stacks: who called whom how often, at what
 * cost. Readers make a graph; graphs of several files are added up.
 */
#ifndef CPPROF_PROFILE_CALL_GRAPH_H
#define CPPROF_PROFILE_CALL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/index.h"
#include "src/base/names.h"

/* ---- call_places.c ---- */

/*
 * Where in the source a call graph's hits were spent.
 *
 * A place is a line of a node: the node's own hits there, or the calls along
 * one of its arcs that were made from there.  The places of a node sum to its
 * own hits, those of an arc to its calls and hits.
 */

#define NO_ARC UINT32_MAX

struct call_place {
	uint32_t node;		/* whose code it is */
	uint32_t arc;		/* of the calls; NO_ARC: its own hits */
	uint32_t file;		/* a name; NO_NAME: unknown */
	uint32_t line;		/* 0: unknown */
	uint64_t calls;		/* made from there */
};

struct call_places {
	uint32_t n_resources, n;
	struct call_place *items;
	uint64_t *hits;		/* [n][n_resources] */

	/* Used while places are entered. */
	size_t items_capacity, hits_capacity;
	struct index index;
};

/* Empty; freed with call_places_free, NULL with *error set. */
struct call_places *call_places_new(uint32_t n_resources,
                                    struct error *error);
void call_places_free(struct call_places *places);

/*
 * The number of a place, entered with no hits and no calls if it is new;
 * ignores place.calls.  UINT32_MAX with *error set if memory runs out.
 * Expected O(1).
 */
uint32_t call_places_at(struct call_places *places, struct call_place place,
                        struct error *error);

/* Ends entering; afterwards the places themselves may be changed. */
void call_places_close(struct call_places *places);

/* A row of counters, valid until the next place is entered. */
static inline uint64_t *
call_places_hits(const struct call_places *places, uint32_t place)
{
	return places->hits + (size_t)place * places->n_resources;
}

/* ---- call_graph.c ---- */

/*
 * Functions and the calls between them, without stacks.
 *
 * This is all that callgrind and gmon.out record.  A node is a function, or a
 * function in one of the situations that the input distinguishes: its first
 * activation on the stack, its second, ...; called along certain functions.
 * call_flow.h computes from it what calls used.
 */

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

/* Replaces the description of a node, callers as above. */
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
 * fit 64 bits for each resource.
 */
int call_graph_check(const struct call_graph *graph, struct error *error);

/* The sum of the own hits of all nodes; the graph must have been checked. */
uint64_t call_graph_total(const struct call_graph *graph, uint32_t resource);

/* ---- call_graph_sum.c ---- */

/*
 * The sum of call graphs.
 *
 * Nodes with equal descriptions are added up; their names are entered into
 * those of the sum.
 */

struct call_graph_sum;

struct call_graph_sum *call_graph_sum_new(struct names *names,
                                          uint32_t n_resources,
                                          struct error *error);
void call_graph_sum_free(struct call_graph_sum *sum);

/* A resource that is added: its number in the graph and in the sum. */
struct summed_resource {
	uint32_t from, to;
	uint64_t factor;	/* a hit in hits of the sum */
};

/*
 * Adds a graph whose names are `from_names`, and n of its resources.  0, or -1
 * with *error set if memory runs out or a count exceeds 64 bits.
 */
int call_graph_sum_add(struct call_graph_sum *sum,
                       const struct call_graph *graph,
                       const struct names *from_names,
                       const struct summed_resource *resources, uint32_t n,
                       struct error *error);

/*
 * The sum, checked, to be freed by the caller, who still frees the
 * call_graph_sum as well.  NULL with *error set.
 */
struct call_graph *call_graph_sum_take(struct call_graph_sum *sum,
                                       struct error *error);

/* ---- components.c ---- */

/* Strongly connected components of a directed graph. */

/*
 * Numbers the components of n vertices, those of vertex v's successors being
 * next[first[v]] .. next[first[v + 1] - 1]; component[n] is the caller's.  An
 * arc between two components leads from the higher number to the lower one.
 * Returns how many there are, UINT32_MAX with *error set if memory runs out.
 * O(n + arcs), without recursion.  Source: Tarjan 1972.
 */
uint32_t components_find(uint32_t n, const uint32_t *first,
                         const uint32_t *next, uint32_t *component,
                         struct error *error);

#endif
