/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_graph_sum.h -- the sum of call graphs.
 *
 * Nodes with equal descriptions are added up; their names are entered into
 * those of the sum.
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
 * Adds a graph whose names are `from_names`.  resource_map: the numbers of its
 * resources in the sum; factor: a hit of each in hits of the sum.  0, or -1
 * with *error set if memory runs out or a count exceeds 64 bits.
 */
int call_graph_sum_add(struct call_graph_sum *sum,
                       const struct call_graph *graph,
                       const struct names *from_names,
                       const uint32_t *resource_map, const uint64_t *factor,
                       struct error *error);

/*
 * The sum, checked, to be freed by the caller, who still frees the
 * call_graph_sum as well.  NULL with *error set.
 */
struct call_graph *call_graph_sum_take(struct call_graph_sum *sum,
                                       struct error *error);

#endif
