/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_flow.h -- what functions and calls used, each hit counted once.
 *
 * Computed from a call graph for one resource.  A vertex is a node of the
 * graph, but a function that can be its own descendant is one vertex, whatever
 * nodes the input has of it: its values are those of its outermost activation,
 * so that recursion counts nothing twice.
 *
 * If arcs have hits (callgrind), the values of functions and of calls between
 * two functions are exact, with two exceptions, which are marked: calls
 * between two functions that are both below themselves, and functions of a
 * cycle if the input does not distinguish levels of recursion.  If arcs have
 * only numbers of calls (gmon.out), what a function used with its callees is
 * charged to its callers in proportion to their calls; members of a cycle
 * share its total (Graham, Kessler & McKusick 1982, section 4).  That is an
 * estimate unless there is only one caller.
 */
#ifndef CPPROF_PROFILE_CALL_FLOW_H
#define CPPROF_PROFILE_CALL_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/call_graph.h"
#include "src/profile/sample_tree.h"

/* ---- flow_rules ---- */

/* Between call_flow.c and the three ways to fill in a flow. */

struct call_flow;
struct call_graph;

/* A flow that has its structure, but no numbers yet. */
struct flow_making {
	const struct call_graph *graph;
	uint32_t resource;
	struct call_flow *flow;
	bool has_levels;	/* the graph has levels of recursion */
	uint32_t *vertex;	/* [n_nodes] */
	/* By flow_function.cycle; a function in no cycle has one by itself. */
	uint32_t *n_members;
	long double *cycle_total;
};

/*
 * Sets inclusive and self of functions, vertices and arcs, hits of arcs, and
 * which of these are estimates.  context: that of flow_make.
 */
typedef int flow_rule(struct flow_making *making, const void *context,
                      struct error *error);

/* From the hits of arcs; from their number of calls. */
flow_rule flow_from_hits, flow_from_calls;

/* A flow filled in by a rule; otherwise like call_flow_new. */
struct call_flow *flow_make(const struct call_graph *graph, uint32_t n_names,
                            uint32_t resource, bool with_static,
                            flow_rule *rule, const void *context,
                            struct error *error);

/* ---- call_flow.c ---- */

struct flow_function {
	uint64_t self;		/* own hits */
	long double inclusive;	/* hits with it on the stack */
	uint64_t calls;		/* of it by others; by itself */
	uint64_t self_calls;
	uint32_t cycle;		/* number of its cycle */
	bool is_known;		/* the graph has it */
	bool is_used;		/* it has hits or calls */
	bool occurs;		/* it is_used, or has an arc */
	bool is_called;		/* by another one */
	bool is_estimated;	/* inclusive is an estimate */
	bool is_recursive;	/* on a cycle of calls, or calls itself */
	bool is_in_cycle;	/* with at least one other function */
};

struct flow_vertex {
	uint32_t name;
	long double self;	/* own hits */
	long double inclusive;
	long double total;	/* what shares of its arcs are relative to:
				 * inclusive, or if only calls are known, its
				 * cycle's; never less than an arc */
};

struct flow_arc {
	uint32_t caller, callee;	/* vertices */
	uint64_t calls;
	long double hits;	/* with the call on the stack */
	long double self;	/* the callee's own part of hits, if known;
				 * otherwise the callee's own hits times hits /
				 * its inclusive hits; if only calls are known,
				 * those of its whole cycle */
	bool is_estimated;	/* hits are an estimate */
};

struct call_flow {
	uint32_t n_names, n_vertices, n_arcs, n_cycles;
	bool has_calls;			/* arcs have numbers of calls */
	bool has_hits;			/* arcs have hits */
	bool has_stacks;		/* made from stacks, nothing is
					 * estimated */
	uint64_t total;			/* own hits of all functions */
	struct flow_function *functions;	/* [n_names] by name */
	struct flow_vertex *vertices;	/* those of one name together */
	uint32_t *first_vertex;		/* [n_names + 1] */
	struct flow_arc *arcs;		/* by caller, then callee */
	uint32_t *first_out;		/* [n_vertices + 1] in arcs */
	uint32_t *in;			/* [n_arcs] arcs by callee */
	uint32_t *first_in;		/* [n_vertices + 1] in in */
	uint32_t *graph_arcs;		/* [n_arcs of the graph] the arc that
					 * each became; UINT32_MAX: none */
};

/*
 * The flow of one resource.  n_names: all names are less.  with_static: arcs
 * without hits and calls count as arcs, so that they can close cycles.  Freed
 * with call_flow_free; NULL with *error set.  O(nodes + arcs + names).
 */
struct call_flow *call_flow_new(const struct call_graph *graph,
                                uint32_t n_names, uint32_t resource,
                                bool with_static, struct error *error);

/*
 * The flow of a tree of names, without estimates: arcs have the hits of the
 * stacks that contain the call, each stack counted once.  self: by row,
 * sums: of self, as in sample_tree.h.  Freed likewise; O(nodes + names).
 */
struct call_flow *call_flow_of_tree(const struct sample_tree *tree,
                                    const uint64_t *self,
                                    const uint64_t *sums, uint32_t n_names,
                                    struct error *error);
void call_flow_free(struct call_flow *flow);

#endif
