/* SPDX-License-Identifier: GPL-3.0-or-later */
/* named_graph.h -- a call graph whose names are modules, files or lines.
 *
 * By module and file a node is named after the place where its function is
 * defined.  By line and call site a function stays a node, and its lines are
 * nodes below it, because the input records from which line a function was
 * called, but not which of its own lines it spent on that call:
 *
 * 	function -> file:line -> function called there		by line
 * 	function -> function:line -> function called there	by call site
 *
 * Each arc is as exact as the input.  By line, own hits belong to the line; by
 * call site they stay with the function.  Code from another file than the
 * function's was inlined: by file it is a node below the function's.
 */
#ifndef CPPROF_PROFILE_NAMED_GRAPH_H
#define CPPROF_PROFILE_NAMED_GRAPH_H

#include "src/profile/profile.h"

/* Whether the graph has names of that granularity. */
bool named_graph_is_possible(const struct call_graph *graph,
                             enum granularity granularity);

/*
 * Sets names[n_nodes] to what a granularity calls the nodes; by line and call
 * site, and where the module or file is unknown, that is the function's name.
 * 0, or -1 with *error set.  O(nodes).
 */
int named_graph_node_names(struct profile *profile,
                           const struct call_graph *graph,
                           enum granularity granularity, uint32_t *names,
                           struct error *error);

/*
 * A graph of the profile, its own or one made of it, named by a rule; names are
 * entered as needed.  *is_own: whether the caller must free it; false: it is
 * the graph itself, also if the rule is not possible.  NULL with *error set.
 * O(nodes + arcs + places).
 */
struct call_graph *named_graph_new(struct profile *profile,
                                   struct call_graph *graph,
                                   const struct naming_rule *rule,
                                   bool *is_own, struct error *error);

#endif
