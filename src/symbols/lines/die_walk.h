/* SPDX-License-Identifier: GPL-3.0-or-later */
/* die_walk.h -- over the entries of a unit of debug information.
 *
 * They form a tree.  It is walked with a stack of its own, at most
 * DEBUG_WALK_DEPTH deep: what lies deeper is passed over.  Siblings only ever
 * lie further on, so that a walk ends; how long that takes is limited.
 */
#ifndef CPPROF_SYMBOLS_LINES_DIE_WALK_H
#define CPPROF_SYMBOLS_LINES_DIE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/error.h"
#include "src/base/progress.h"

enum { DEBUG_WALK_DEPTH = 256 };

struct debug_walk {
	uint64_t steps_left;	/* entries and ranges, over all units */
	uint64_t n_steps;
	const struct progress *progress;	/* may be NULL */
	uint64_t done, total;			/* to be reported */

	/* levels[depth - 1].die is the entry at hand, the ones before it those
	 * around it, the outermost a child of the unit's. */
	size_t depth;
	struct debug_level {
		Dwarf_Die die;
		uint32_t within;	/* the visitor's, for this entry and
					 * its siblings */
	} levels[DEBUG_WALK_DEPTH];
};

/*
 * Looks at an entry, the last of walk->levels.  *enters, at first false:
 * whether its children are to be visited; *within: what they get as theirs, at
 * first what the entry has.  0, or -1 as below.
 */
typedef int debug_visitor(void *context, struct debug_walk *walk, bool *enters,
                          uint32_t *within, struct error *error);

/*
 * Visits the children of a unit, and what is to be visited in them, in order.
 * 0; or -1: with *error set by the visitor or when interrupted, else the unit
 * is damaged or took too long.
 */
int debug_walk_unit(struct debug_walk *walk, Dwarf_Die *unit, uint32_t within,
                    debug_visitor *visit, void *context,
                    struct error *error);

/* Counts a step; 0, or -1 likewise. */
int debug_walk_step(struct debug_walk *walk, struct error *error);

/*
 * Which of n ascending addresses lie in [low, high): those from *first to
 * before *end.  None where low is 0: code that the linker dropped.
 */
void debug_addresses_in(const uint64_t *addresses, size_t n, uint64_t low,
                        uint64_t high, size_t *first, size_t *end);

/* The text of an attribute, or NULL. */
const char *debug_text(Dwarf_Die *die, unsigned attribute);

/*
 * Replaces *die by the entry that it refers to as what it is a copy or the
 * definition of; false: there is none.
 */
bool debug_origin(Dwarf_Die *die);

#endif
