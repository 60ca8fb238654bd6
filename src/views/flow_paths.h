/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_paths.h -- call paths where the input has calls and no stacks.
 *
 * The value of a path (x1 .. xk) is what the call x1 -> x2 used, apportioned
 * by gprof's rule from there on: of what passes through x2 that share goes on
 * to x3 which the call x2 -> x3 has of all that x2 used, and so forth.  A
 * vertex of the flow that a path can go through in several ways gives several
 * terms.  In symbols, over all ways v1 .. vk through the path,
 *
 *	hits(v1 v2) * hits(v2 v3)/total(v2) * .. * hits(vk-1 vk)/total(vk-1)
 *
 * which is the same from either end, and never grows as a path does.  Shares of
 * what is below a function can sum to more than one: where it recurs, a stack
 * passes through several of its calls, as it belongs to several paths.  Paths
 * of one and two are what the flow says; longer ones are estimates, but for
 * those whose every inner vertex is only ever reached along the path: these
 * terms are exact, which is how callers that callgrind tells apart become
 * paths again.
 */
#ifndef CPPROF_VIEWS_FLOW_PATHS_H
#define CPPROF_VIEWS_FLOW_PATHS_H

#include "src/views/rows.h"

/*
 * What a search makes at most.  Functions that all call each other have more
 * paths than can be counted; then only the largest are searched for.
 */
enum { MAX_FLOW_RECORDS = 1 << 17, MAX_FLOW_AMOUNTS = 1 << 22 };

/* The value of path[n], n >= 1; 0, or -1 with *error set. */
int flow_path_value(const struct call_flow *flow, const uint32_t *path,
                    size_t n, uint64_t *hits, bool *is_estimated,
                    struct error *error);

/*
 * All canonical paths that begin with the request's root, or end in it, down to
 * the threshold, or to what there is room for, which hidden->least_searched
 * then says; estimates below half a hit end there in any case.  0, or -1 with
 * *error set: interrupted, want of memory.
 */
int flow_paths_down(struct rows *rows, const struct view_request *request,
                    const struct measure *measure, struct hidden *hidden,
                    struct error *error);
int flow_paths_up(struct rows *rows, const struct view_request *request,
                  const struct measure *measure, struct hidden *hidden,
                  struct error *error);

#endif
