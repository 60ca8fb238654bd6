/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_paths.h -- call paths where the input has calls but no stacks.
 *
 * The value of a path (x1 .. xk) is what the call x1 -> x2 used, apportioned
 * by gprof's rule from there on: the share of x2 that the call x2 -> x3 used
 * is the share of the path that goes on to x3, and so on.  A function can have
 * several vertices in the flow; then each way through them gives a term.  In
 * symbols, the sum over all ways v1 .. vk of
 *
 * 	hits(v1 v2) * hits(v2 v3)/total(v2) * .. * hits(vk-1 vk)/total(vk-1)
 *
 * It is the same from either end, and never grows as a path gets longer.  The
 * shares of a recursive function's calls can sum to more than one, because a
 * stack can pass through several of its calls, and so belongs to several
 * paths.  Paths of one and two functions are those of the flow; longer ones
 * are estimates, except where every inner vertex can only be reached along the
 * path: such terms are exact.  That is how callers that callgrind separates
 * become paths again.
 */
#ifndef CPPROF_VIEWS_FLOW_PATHS_H
#define CPPROF_VIEWS_FLOW_PATHS_H

#include "src/views/rows.h"

/*
 * The limits of a search.  Functions that all call each other have more paths
 * than can be counted; then only the largest are searched for.
 */
enum { MAX_FLOW_RECORDS = 1 << 17, MAX_FLOW_AMOUNTS = 1 << 22 };

/* The value of path[n], n >= 1; 0, or -1 with *error set. */
int flow_path_value(const struct call_flow *flow, const uint32_t *path,
                    size_t n, uint64_t *hits, bool *is_estimated,
                    struct error *error);

/*
 * All canonical paths that begin with the request's root, or end in it, down
 * to the threshold.  If there is no room for all of them, only those of at
 * least hidden->least_searched hits.  Estimates below half a hit are left out
 * in any case.  0, or -1 with *error set: interrupted, or out of memory.
 */
int flow_paths_down(struct rows *rows, const struct view_request *request,
                    const struct measure *measure, struct hidden *hidden,
                    struct error *error);
int flow_paths_up(struct rows *rows, const struct view_request *request,
                  const struct measure *measure, struct hidden *hidden,
                  struct error *error);

#endif
