/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlined_calls.h -- which calls were inlined where an address is. */
#ifndef CPPROF_SYMBOLS_INLINED_CALLS_H
#define CPPROF_SYMBOLS_INLINED_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/error.h"
#include "src/base/progress.h"

#define NO_CALL UINT32_MAX

/* One place into which a function was copied.  Texts are libdw's. */
struct inlined_call {
	uint32_t outer;		/* the call around it, a smaller index, or
				 * NO_CALL */
	uint32_t line;		/* of the call, 0 unknown */
	const char *file;	/* likewise, NULL unknown */
	const char *function;	/* what was inlined, as the linker names it or
				 * else the programmer, NULL unknown */
};

struct inlined_calls {
	struct inlined_call *calls;
	size_t n, capacity;
	uint32_t *innermost;	/* [n_addresses] a call or NO_CALL */
};

/* How much a walk over debug information may still do. */
struct debug_walk {
	uint64_t steps_left;	/* entries and ranges */
	uint64_t n_steps;
	const struct progress *progress;	/* may be NULL */
	uint64_t done, total;			/* to be reported */
};

/*
 * Counts a step.  0, or -1: with *error set when interrupted, else the steps
 * are used up, as only damaged files do.
 */
int debug_walk_step(struct debug_walk *walk, struct error *error);

/*
 * The inlined calls at the addresses[n], sorted, that belong to a compilation
 * unit.  Only functions that hold one of them are looked into: O(entries of
 * the unit + n x depth).  0; or -1: with *error set for want of memory or when
 * interrupted, else the unit is damaged.  Free it in either case.
 */
int inlined_calls_find(struct inlined_calls *calls, Dwarf_Die *unit,
                       const uint64_t *addresses, size_t n,
                       struct debug_walk *walk, struct error *error);
void inlined_calls_free(struct inlined_calls *calls);

#endif
