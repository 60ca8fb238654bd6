/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plain_functions.h -- functions that the linker has no name for.
 *
 * Compilers give debug information the linker's name, which holds scope and
 * parameters, of most functions of C++ and its like, but not of those that are
 * local to a file.  What they have is a plain name, such as "operator()".
 */
#ifndef CPPROF_SYMBOLS_PLAIN_FUNCTIONS_H
#define CPPROF_SYMBOLS_PLAIN_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/arena.h"
#include "src/base/error.h"
#include "src/symbols/debug_walk.h"

struct plain_function {
	Dwarf_Die origin;	/* what inlined calls refer to */
	Dwarf_Die declaration;	/* the entry that stands in its scope */
	const char *name;	/* plain at first */
	uint64_t copy;		/* where it was not inlined, 0: nowhere known */
};

/* Orders functions[n] by origin and leaves one of each; how many. */
size_t plain_functions_unite(struct plain_function *functions, size_t n);

/*
 * Of functions[n] so united, puts scopes before the names, "(anonymous namespace)::f", and looks for copies that
 * were not inlined, whose symbols have the whole name.  Names are the arena's.
 * O(entries of the units that declare the functions).  0; or -1: with *error
 * set for want of memory or when interrupted, else a unit is damaged.
 */
int plain_functions_complete(struct plain_function *functions, size_t n,
                             struct arena *arena, struct debug_walk *walk,
                             struct error *error);

/* The one of united functions that has this origin, or NULL.  O(log n). */
struct plain_function *plain_functions_find(struct plain_function *functions,
                                            size_t n,
                                            const Dwarf_Die *origin);

#endif
