/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlined_calls.h -- which calls were inlined where an address is. */
#ifndef CPPROF_SYMBOLS_LINES_INLINED_CALLS_H
#define CPPROF_SYMBOLS_LINES_INLINED_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/error.h"
#include "src/symbols/lines/die_walk.h"
#include "src/symbols/lines/scoped_names.h"

#define NO_CALL UINT32_MAX

/* One place into which a function was copied.  Texts are borrowed. */
struct inlined_call {
	uint32_t outer;		/* the call around it, a smaller index, or
				 * NO_CALL */
	uint32_t line;		/* of the call, 0 unknown */
	const char *file;	/* likewise, NULL unknown */
	const char *function;	/* what was inlined, as the linker names it or
				 * else with its scope, NULL unknown */
	uint64_t copy;		/* where that was not inlined, if its name is
				 * not the linker's and there is such a place;
				 * else 0 */
	Dwarf_Die origin, declaration;	/* of a function without the linker's
					 * name, as plain_functions.h says */
};

struct inlined_calls {
	struct inlined_call *calls;
	size_t n, capacity;
	uint32_t *innermost;	/* [n_addresses] a call or NO_CALL */
};

/*
 * The inlined calls at the addresses[n], sorted, that belong to a compilation
 * unit.  Only functions that hold one of them are looked into: O(entries of
 * the unit + n x depth).  0; or -1: with *error set for want of memory or when
 * interrupted, else the unit is damaged.  Free it in either case.
 */
int inlined_calls_find(struct inlined_calls *calls, Dwarf_Die *unit,
                       const uint64_t *addresses, size_t n,
                       struct plain_functions *plain, struct debug_walk *walk,
                       struct error *error);
void inlined_calls_free(struct inlined_calls *calls);

#endif
