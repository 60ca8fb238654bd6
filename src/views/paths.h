/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.h -- hits of functions and of call paths. */
#ifndef CPPROF_VIEWS_PATHS_H
#define CPPROF_VIEWS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/call_flow.h"
#include "src/views/view.h"

/* ---- totals.c ---- */

/* Body and body+descendants of every function. */

struct function_total {
	uint32_t name;
	uint64_t self;		/* hits of its body */
	uint64_t inclusive;	/* hits of the stacks that contain it */
	bool is_estimated;	/* inclusive is; never of a tree */
	uint64_t calls;		/* of it by others; 0: unknown */
	uint64_t returns;	/* those seen, if the tree counts them */
};

/*
 * One item for each name in the tree, in order of first appearance; *n of
 * them, to be freed by the caller.  A node adds its weight unless an ancestor
 * of the same name has added its own: in preorder, unless it lies before the
 * end of the last subtree that was added.  The bodies sum to the total.  O(N),
 * one pass; memory O(F).  For a flow, the functions are in the order of their
 * names' numbers.  NULL with *error set.
 */
struct function_total *function_totals(const struct sample_set *set,
                                       uint32_t *n, struct error *error);

/* ---- path_hits.c ---- */

/* The value of one call path in a tree, and when its hits came. */

struct path_hits {
	uint64_t hits;
	bool is_seen;		/* it is in a stack */
	bool is_canonical;	/* otherwise no stack can have this path */
};

/*
 * The value of path[n], n >= 1, in a set that is a tree.  times: NULL, or
 * [TIMELINE_SLICES] to which its hits by slice are added; then the tree has a
 * timeline.  O(nodes) for a path of any length, and with times O(entries).
 */
int path_hits_find(const struct sample_set *set, const uint32_t *path,
                   size_t n, struct path_hits *found, uint64_t *times,
                   struct error *error);

/*
 * The same for n_sets sets of one tree.  ends_there: hits of the stacks that
 * end in the path, which has no name twice (struct rows, own).
 */
int path_hits_of_sets(const struct sample_set *sets, size_t n_sets,
                      const uint32_t *path, size_t n, bool ends_there,
                      uint64_t *hits, struct error *error);

/*
 * Whether only the last name of a path occurs twice in it, as in every
 * canonical path.
 */
int path_is_canonical(const struct sample_set *set, const uint32_t *path,
                      size_t n, bool *is_canonical, struct error *error);

/* ---- flow_steps.c ---- */

/*
 * How much of an amount goes along calls, one call after the other.
 *
 * How the value of a path is computed (flow_paths.c): the path's newest name
 * has an amount at each of its vertices, what passes through there along the
 * path.
 */

struct flow_amount {
	uint32_t vertex;
	bool is_exact;		/* hits are */
	bool is_whole;		/* and everything that the vertex has */
	bool is_entry;		/* reached from outside of its cycle */
	long double hits;
};

struct flow_amounts {
	struct flow_amount *items;
	size_t n, capacity;
};

/* Start with `{ 0 }`. */
struct flow_steps {
	const struct call_flow *flow;
	bool is_up;			/* from callees to callers */
	struct flow_amounts reached;	/* by one more call */
	uint32_t *slot;		/* [n_vertices] place in reached, from 1 */
};

/* Call flow_steps_end even if it fails. */
int flow_steps_begin(struct flow_steps *steps, const struct call_flow *flow,
                     struct error *error);
void flow_steps_end(struct flow_steps *steps);

int flow_amounts_add(struct flow_amounts *amounts, struct flow_amount amount,
                     struct error *error);

/* Adds the whole function, at each of its vertices; likewise. */
int flow_amounts_of(const struct call_flow *flow, uint32_t name,
                    struct flow_amounts *amounts, struct error *error);

/* The sum of n amounts, in whole hits. */
void flow_amounts_sum(const struct flow_amount *amounts, size_t n,
                      uint64_t *hits, bool *is_estimated);

/*
 * Fills `reached` with what n amounts become after one more call, to one name
 * or, if that is NO_NAME, to all; is_first: they are whole functions.  0, or -1
 * as above.
 */
int flow_step(struct flow_steps *steps, const struct flow_amount *from,
              size_t n, bool is_first, uint32_t name, struct error *error);

/* The value of path[n], n >= 1; overwrites `reached`.  Likewise. */
int flow_steps_value(struct flow_steps *steps, const uint32_t *path, size_t n,
                     uint64_t *hits, bool *is_estimated, struct error *error);

/* ---- outermost.c ---- */

/*
 * The functions that stacks begin with.
 *
 * Those of calls without stacks are the functions that no other one calls; if
 * there is none, the one with the most hits.  Functions without hits count only
 * if the set has no hits at all.
 */

/*
 * Which functions they are, by name: [names], to be freed by the caller; NULL
 * with *error set.  O(outermost nodes + names).
 */
bool *outermost_functions(const struct sample_set *set, struct error *error);

/* A view of them with their hits: what down shows if there is no root. */
view_function view_outermost;

/* The only one, or NO_NAME if there are several. */
uint32_t outermost_only(const struct sample_set *set);

/*
 * The one that most hits begin with, of equals the first in byte order; NO_NAME
 * if the set is empty, or with *error set.
 */
uint32_t outermost_heaviest(const struct sample_set *set,
                            struct error *error);

#endif
