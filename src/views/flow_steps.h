/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_steps.h -- how much of an amount goes along calls, one call after the
 * other.
 *
 * How the value of a path is computed (flow_paths.h): the path's newest name
 * has an amount at each of its vertices, what passes through there along the
 * path.
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

/* 0, or -1 with *error set; call flow_steps_end in either case. */
int flow_steps_begin(struct flow_steps *steps, const struct call_flow *flow,
                     struct error *error);
void flow_steps_end(struct flow_steps *steps);

/* 0, or -1 with *error set if memory runs out. */
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

#endif
