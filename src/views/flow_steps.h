/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_steps.h -- what goes along calls, one call after the other.
 *
 * The way a path's value is reckoned (flow_paths.h): amounts at the vertices of
 * its newest name, each what passes through there along the path.
 */
#ifndef CPPROF_VIEWS_FLOW_STEPS_H
#define CPPROF_VIEWS_FLOW_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/call_flow.h"

struct flow_amount {
	uint32_t vertex;
	bool is_exact;		/* hits are */
	bool is_whole;		/* and all that the vertex has */
	bool is_entry;		/* it came from outside of its cycle */
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

/* 0, or -1 with *error set; to be ended in either case. */
int flow_steps_begin(struct flow_steps *steps, const struct call_flow *flow,
                     struct error *error);
void flow_steps_end(struct flow_steps *steps);

/* 0, or -1 with *error set for want of memory. */
int flow_amounts_add(struct flow_amounts *amounts, struct flow_amount amount,
                     struct error *error);

/* Adds all of a function, at each of its vertices; likewise. */
int flow_amounts_of(const struct call_flow *flow, uint32_t name,
                    struct flow_amounts *amounts, struct error *error);

/* The sum of n, in whole hits. */
void flow_amounts_sum(const struct flow_amount *amounts, size_t n,
                      uint64_t *hits, bool *is_estimated);

/*
 * Fills reached with what n amounts become by one call more; is_first: they are
 * whole functions.  0, or -1 as above.
 */
int flow_step(struct flow_steps *steps, const struct flow_amount *from,
              size_t n, bool is_first, struct error *error);

/* The value of path[n], n >= 1; reached is used.  Likewise. */
int flow_steps_value(struct flow_steps *steps, const uint32_t *path, size_t n,
                     uint64_t *hits, bool *is_estimated, struct error *error);

#endif
