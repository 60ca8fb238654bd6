/* SPDX-License-Identifier: GPL-3.0-or-later */
/* die_walk.h -- walks over the debugging information entries (DIEs) of a unit.
 *
 * DIEs form a tree.  The walk has a stack of its own, which is at most
 * DIE_WALK_DEPTH deep, and skips deeper DIEs.  A sibling always lies further on
 * in the section, so a walk ends; the number of its steps is limited.
 */
#ifndef CPPROF_SYMBOLS_LINES_DIE_WALK_H
#define CPPROF_SYMBOLS_LINES_DIE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/error.h"
#include "src/base/progress.h"

enum { DIE_WALK_DEPTH = 256 };

struct die_walk {
	uint64_t steps_left;	/* DIEs and ranges, for all units */
	uint64_t n_steps;
	const struct progress *progress;	/* may be NULL */
	uint64_t done, total;			/* to report */

	/* levels[depth - 1].die is the current DIE, the levels before it are
	 * its parents, and the first is a child of the unit. */
	size_t depth;
	struct die_level {
		Dwarf_Die die;
		uint32_t within;	/* the visitor's, for this DIE and its
					 * siblings */
	} levels[DIE_WALK_DEPTH];
};

/*
 * Visits the current DIE, the last of walk->levels.  May set *enters, at first
 * false, so that its children are visited, too; and *within, which its children
 * get, at first the DIE's own.  0, or -1 as below.
 */
typedef int die_visitor(void *context, struct die_walk *walk, bool *enters,
                          uint32_t *within, struct error *error);

/*
 * Visits the children of a unit in order, and in them all that the visitor
 * enters. 0; or -1: with *error set by the visitor or after Ctrl-C, or without
 * if the unit is damaged or takes too long.
 */
int die_walk_unit(struct die_walk *walk, Dwarf_Die *unit, uint32_t within,
                    die_visitor *visit, void *context,
                    struct error *error);

/* Counts a step.  0, or -1 as above. */
int die_walk_step(struct die_walk *walk, struct error *error);

/*
 * Finds which of n ascending addresses lie in [low, high): numbers *first to
 * *end - 1.  None if low is 0, which marks code that the linker dropped.
 */
void die_addresses_in(const uint64_t *addresses, size_t n, uint64_t low,
                        uint64_t high, size_t *first, size_t *end);

/* The text of an attribute, or NULL. */
const char *die_text(Dwarf_Die *die, unsigned attribute);

/*
 * Replaces *die by its DW_AT_abstract_origin or DW_AT_specification; false: it
 * has neither.
 */
bool die_origin(Dwarf_Die *die);

#endif
