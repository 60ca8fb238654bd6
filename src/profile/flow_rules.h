/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_rules.h -- between call_flow.c and the two ways to fill it in. */
#ifndef CPPROF_PROFILE_FLOW_RULES_H
#define CPPROF_PROFILE_FLOW_RULES_H

#include "src/profile/call_flow.h"

/* A flow while it is worked out: its structure is there, its numbers not. */
struct flow_making {
	const struct call_graph *graph;
	uint32_t resource;
	struct call_flow *flow;
	bool has_levels;	/* recursion is told apart by levels */
	uint32_t *vertex;	/* [n_nodes] */
	/* Of cycles, by flow_function.cycle; a lone function is one, too. */
	uint32_t *n_members;
	long double *cycle_total;
};

/*
 * Sets inclusive and self of functions, vertices and arcs, hits of arcs, and
 * what of it is an estimate.  context: the caller's.  0, or -1 with *error set
 * for want of memory.
 */
typedef int flow_rule(struct flow_making *making, const void *context,
                      struct error *error);

/* From the hits that arcs carry; from their number alone. */
flow_rule flow_from_hits, flow_from_calls;

/* A flow by a rule, as call_flow_new. */
struct call_flow *flow_make(const struct call_graph *graph, uint32_t n_names,
                            uint32_t resource, bool with_static,
                            flow_rule *rule, const void *context,
                            struct error *error);

#endif
