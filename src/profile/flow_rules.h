/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_rules.h -- between call_flow.c and the three ways to fill in a flow. */
#ifndef CPPROF_PROFILE_FLOW_RULES_H
#define CPPROF_PROFILE_FLOW_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

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
 * which of these are estimates.  context: that of flow_make.  0, or -1 with
 * *error set if memory runs out.
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

#endif
