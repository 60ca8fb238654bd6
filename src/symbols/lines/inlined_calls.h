/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlined_calls.h -- which inlined calls an address lies in. */
#ifndef CPPROF_SYMBOLS_LINES_INLINED_CALLS_H
#define CPPROF_SYMBOLS_LINES_INLINED_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/error.h"
#include "src/symbols/lines/die_walk.h"
#include "src/symbols/lines/scoped_names.h"

#define NO_CALL UINT32_MAX

/* A place where a call was inlined.  Texts are borrowed. */
struct inlined_call {
	uint32_t outer;		/* the call around it, a smaller index, or
				 * NO_CALL */
	uint32_t line;		/* of the call; 0: unknown */
	const char *file;	/* of the call; NULL: unknown */
	const char *function;	/* that was inlined: its linkage name, else its
				 * name with its scope; NULL: unknown */
	uint64_t copy;		/* if it has no linkage name: the address of a
				 * copy that was not inlined; else 0 */
	Dwarf_Die origin, declaration;	/* if it has no linkage name, see
					 * scoped_names.h; else origin.addr is
					 * NULL */
};

struct inlined_calls {
	struct inlined_call *calls;
	size_t n, capacity;
	uint32_t *innermost;	/* [n_addresses] the call, or NO_CALL */
};

/*
 * Finds the inlined calls at addresses[n], ascending, of a compilation unit.
 * Goes only into functions that contain one of them: O(DIEs of the unit + n x
 * depth). 0; or -1: with *error set for want of memory or after Ctrl-C, or
 * without if the unit is damaged.  *calls must be freed in either case.
 */
int inlined_calls_find(struct inlined_calls *calls, Dwarf_Die *unit,
                       const uint64_t *addresses, size_t n,
                       struct scoped_names *names, struct die_walk *walk,
                       struct error *error);
void inlined_calls_free(struct inlined_calls *calls);

#endif
