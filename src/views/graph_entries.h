/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph_entries.h -- the entries of the call graph profile: functions, cycles
 * and the calls among them.
 *
 * In the exact form each function is an entry of its own.  In the classic
 * form, gprof's, functions that can reach each other belong to a cycle, which
 * is an entry, too: calls among its members carry nothing, and what the cycle
 * used as a whole is charged to those that call into it.
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
	bool is_inside;		/* inside a collapsed cycle: carries nothing */
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
	uint32_t *out;			/* calls by the caller's number, then
					 * by the callee's name in byte
					 * order */
	uint32_t *first_in;		/* [n_names + 1] in in */
	uint32_t *in;			/* the same by callee, then caller */

	struct graph_entry *entries;	/* in the order of their numbers, most
					 * expensive first */
	uint32_t n_entries;
	uint32_t *number;		/* [n_names] of the function's entry;
					 * every function in a call has one */
	uint32_t *cycle_number;		/* [flow->n_cycles] from 1; 0: none */
	uint32_t *cycle_entry;		/* [flow->n_cycles] */
};

/*
 * Makes the entries of a flow; the flow and the names must outlive them.  0,
 * or -1 with *error set and nothing to free.
 */
int graph_entries_make(struct graph_entries *graph,
                       const struct call_flow *flow,
                       const struct names *names, bool is_classic,
                       struct error *error);
void graph_entries_free(struct graph_entries *graph);

#endif
