/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph_entries.h -- what the call graph profile is of: functions, cycles and
 * the calls among them.
 *
 * Exact, each function is an entry of its own.  Classic, as gprof reads it,
 * functions that can reach each other belong to a cycle, which is an entry,
 * too: calls among its members carry nothing, and what it used as a whole is
 * charged to those who call into it.
 *
 * Source: Graham, Kessler & McKusick 1982, section 5.2.
 */
#ifndef CPPROF_VIEWS_GRAPH_ENTRIES_H
#define CPPROF_VIEWS_GRAPH_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/profile/call_flow.h"

#define NO_CYCLE UINT32_MAX

/* All calls of one function by another. */
struct graph_call {
	uint32_t caller, callee;	/* names */
	uint64_t calls;
	long double hits, self;
	bool is_estimated;
	bool is_inside;		/* a collapsed cycle: carries nothing */
};

/* A function, or a cycle as a whole. */
struct graph_entry {
	uint32_t name;		/* NO_NAME: a cycle */
	uint32_t cycle;		/* the flow's number; of a function in no
				 * collapsed cycle NO_CYCLE */
	long double self, total;
	uint64_t calls, self_calls;
	bool is_estimated;
};

struct graph_entries {
	const struct call_flow *flow;
	const struct names *names;
	bool is_classic;

	struct graph_call *calls;	/* by caller's number */
	uint32_t n_calls;
	uint32_t *first_out;		/* [n_names + 1] in calls and out */
	uint32_t *out;			/* calls by caller's number, a caller's
					 * in byte order of the callees */
	uint32_t *first_in;		/* [n_names + 1] in in */
	uint32_t *in;			/* and the other way round */

	struct graph_entry *entries;	/* in the order of their numbers,
					 * dearest first */
	uint32_t n_entries;
	uint32_t *number;		/* [n_names] of the function's entry;
					 * who has a call has one */
	uint32_t *cycle_number;		/* [flow->n_cycles] from 1; 0: none */
	uint32_t *cycle_entry;		/* [flow->n_cycles] */
};

/*
 * The entries of a flow, which must outlive them, as must the names.  0, or -1
 * with *error set and nothing to free.
 */
int graph_entries_make(struct graph_entries *graph,
                       const struct call_flow *flow,
                       const struct names *names, bool is_classic,
                       struct error *error);
void graph_entries_free(struct graph_entries *graph);

#endif
