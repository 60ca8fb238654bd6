/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph_sum.h -- the sum of call graphs.
 *
 * Nodes that agree in all that describes them are one; names are entered into
 * the sum's.
 */
#ifndef CPPROF_PROFILE_CALL_GRAPH_SUM_H
#define CPPROF_PROFILE_CALL_GRAPH_SUM_H

#include "src/profile/call_graph.h"

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
