/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_flow.h -- what functions and calls used, each hit counted once.
 *
 * Worked out from a call graph for one resource.  A vertex is a node of the
 * graph, but a function that can be its own descendant is one vertex, whatever
 * nodes the input has of it: what is said of it holds for its outermost
 * activation, so that recursion counts nothing twice.
 *
 * Where arcs carry hits (callgrind) all that is said of functions, and of
 * calls between two, is exact, with two exceptions, which are marked: calls
 * between two functions that are both below themselves, and functions of a
 * cycle where the input does not tell levels of recursion apart.  Where arcs
 * carry only their number (gmon.out) what a function used with its callees is
 * charged to its callers in proportion to their calls; members of a cycle
 * share its total (Graham, Kessler & McKusick 1982, section 4).  That is an
 * estimate unless there is but one caller.
 */
#ifndef CPPROF_PROFILE_CALL_FLOW_H
#define CPPROF_PROFILE_CALL_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/call_graph.h"
#include "src/profile/sample_tree.h"

struct flow_function {
	uint64_t self;		/* own hits */
	long double inclusive;	/* hits with it on the stack */
	uint64_t calls;		/* of it by others; by itself */
	uint64_t self_calls;
	uint32_t cycle;		/* functions of a cycle share a number */
	bool is_known;		/* the graph has it */
	bool is_used;		/* and it has hits or calls */
	bool occurs;		/* is_used, or has an arc */
	bool is_called;		/* by another one */
	bool is_estimated;	/* inclusive is */
	bool is_recursive;	/* on a cycle of calls, or calls itself */
	bool is_in_cycle;	/* with at least one other function */
};

struct flow_vertex {
	uint32_t name;
	long double self;	/* own hits */
	long double inclusive;
	long double total;	/* what shares of its arcs are taken of:
				 * inclusive, or where calls alone are known
				 * what its cycle used; no less than any arc */
};

struct flow_arc {
	uint32_t caller, callee;	/* vertices */
	uint64_t calls;
	long double hits;	/* with the call on the stack */
	long double self;	/* of these the callee's own, as far as it is
				 * known; else that part of its own hits that
				 * hits is of its inclusive ones, and of a
				 * whole cycle's where calls alone are known */
	bool is_estimated;	/* hits are */
};

struct call_flow {
	uint32_t n_names, n_vertices, n_arcs, n_cycles;
	bool has_calls;			/* arcs say how many */
	bool has_hits;			/* and what they used */
	bool has_stacks;		/* nothing is estimated */
	uint64_t total;			/* own hits of all functions */
	struct flow_function *functions;	/* [n_names] by name */
	struct flow_vertex *vertices;	/* those of one name together */
	uint32_t *first_vertex;		/* [n_names + 1] */
	struct flow_arc *arcs;		/* by caller, then callee */
	uint32_t *first_out;		/* [n_vertices + 1] in arcs */
	uint32_t *in;			/* [n_arcs] arcs by callee */
	uint32_t *first_in;		/* [n_vertices + 1] in in */
	uint32_t *graph_arcs;		/* [n_arcs of the graph] what each
					 * became; UINT32_MAX: nothing */
};

/*
 * The flow of one resource.  n_names: names are below it.  with_static: arcs
 * without hits and calls count as arcs, so that they can close cycles.  The
 * caller's, freed with call_flow_free; NULL with *error set.
 * O(nodes + arcs + names).
 */
struct call_flow *call_flow_new(const struct call_graph *graph,
                                uint32_t n_names, uint32_t resource,
                                bool with_static, struct error *error);

/*
 * The flow of a tree of names, in which nothing is an estimate: arcs have the
 * hits of the stacks that hold the call, each counted once.  self: by row,
 * weight: by node, as in sample_tree.h.  Likewise; O(nodes + names).
 */
struct call_flow *call_flow_of_tree(const struct sample_tree *tree,
                                    const uint64_t *self,
                                    const uint64_t *weight, uint32_t n_names,
                                    struct error *error);
void call_flow_free(struct call_flow *flow);

#endif
