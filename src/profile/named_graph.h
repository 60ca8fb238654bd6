/* SPDX-License-Identifier: GPL-3.0-or-later */
/* named_graph.h -- a call graph whose names are modules, files or lines.
 *
 * By module and file a node has the name of where its function is defined.  By
 * line and call site a function stays, and its lines are nodes below it: the
 * input says from which line a function was called, not which of its own lines
 * it spent on that call.  So
 *
 *	function -> file:line -> function called there		by line
 *	function -> function:line -> function called there	by call site
 *
 * where each arc is as exact as the input.  By line, own hits are the line's;
 * by call site they stay the function's.  Code of another file than the
 * function's was inlined: by file it is a node below the function's.
 */
#ifndef CPPROF_PROFILE_NAMED_GRAPH_H
#define CPPROF_PROFILE_NAMED_GRAPH_H

#include "src/profile/profile.h"

/* Whether a profile of calls has names of that kind. */
bool named_graph_is_possible(const struct call_graph *graph,
                             enum granularity granularity);

/*
 * The profile's graph under a rule; names are entered as needed.  *is_own tells
 * whether the caller must free it; false: it is the profile's, as for a rule
 * that is not possible.  NULL with *error set.  O(nodes + arcs + places).
 */
struct call_graph *named_graph_new(struct profile *profile,
                                   const struct naming_rule *rule,
                                   bool *is_own, struct error *error);

#endif
