/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_graph.h -- the calls that the steps of a refinement leave.
 *
 * A profile of calls without stacks can be grouped: the functions of a group
 * become one node of the call graph.  Own hits add up, and so do calls into the
 * group and out of it; calls within the group are no calls any more.  Which
 * stacks to keep, or by which function a stack entered a group, such a profile
 * does not say.
 */
#ifndef CPPROF_REFINE_REFINE_GRAPH_H
#define CPPROF_REFINE_REFINE_GRAPH_H

#include "src/refine/step.h"

/* 0, or -1 with *error saying why a step is not possible without stacks. */
int refine_graph_check(const struct step *step, struct error *error);

/*
 * The graph of a profile of calls after n steps.  A step that matches nothing,
 * or is not possible, is skipped, and skipped[i] set; *why says why if the last
 * step is.  *is_own: whether the caller must free the graph; false: it is the
 * profile's.  NULL with *error set.  O(nodes + arcs + places), and O(nodes) for
 * each step.
 */
struct call_graph *refine_graph(struct profile *profile,
                                struct step *const *steps, size_t n,
                                bool *skipped, bool *is_own,
                                struct error *why, struct error *error);

#endif
