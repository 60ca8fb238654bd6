/* SPDX-License-Identifier: GPL-3.0-or-later */
/* die_walk.c -- walks over the DIEs of a unit. */
#include "src/symbols/lines/debug_lines.h"

#include <dwarf.h>

#include "src/base/memory.h"

enum { STEPS_A_LOOK = 4096 };	/* between two checks for Ctrl-C */

int
die_walk_step(struct die_walk *walk, struct error *error)
{
	if (walk->steps_left == 0)
		return -1;
	walk->steps_left--;
	if (walk->n_steps++ % STEPS_A_LOOK != 0)
		return 0;
	return progress_step(walk->progress, walk->done, walk->total, error);
}

/*
 * Goes on to the next sibling, of the DIE or of a parent.  0, also at the end.
 */
static int
advance(struct die_walk *walk)
{
	while (walk->depth > 0) {
		Dwarf_Die *die = &walk->levels[walk->depth - 1].die;
		int result = dwarf_siblingof(die, die);

		if (result <= 0)
			return result;
		walk->depth--;
	}
	return 0;
}

/* Pushes the first child of a DIE, if it has any. */
static int
die_walk_enter(struct die_walk *walk, Dwarf_Die *die, uint32_t within,
               bool *entered)
{
	struct die_level *level = &walk->levels[walk->depth];
	int result;

	*entered = false;
	if (walk->depth == DIE_WALK_DEPTH)
		return 0;
	result = dwarf_child(die, &level->die);
	if (result != 0)
		return result < 0 ? -1 : 0;
	level->within = within;
	walk->depth++;
	*entered = true;
	return 0;
}

int
die_walk_unit(struct die_walk *walk, Dwarf_Die *unit, uint32_t within,
                die_visitor *visit, void *context, struct error *error)
{
	bool entered;

	walk->depth = 0;
	if (die_walk_enter(walk, unit, within, &entered) != 0)
		return -1;
	while (walk->depth > 0) {
		struct die_level *level = &walk->levels[walk->depth - 1];
		bool enters = false;

		within = level->within;
		if (die_walk_step(walk, error) != 0 ||
		    visit(context, walk, &enters, &within, error) != 0)
			return -1;
		entered = false;
		if (enters &&
		    die_walk_enter(walk, &level->die, within, &entered) != 0)
			return -1;
		if (!entered && advance(walk) != 0)
			return -1;
	}
	return 0;
}

void
die_addresses_in(const uint64_t *addresses, size_t n, uint64_t low,
                   uint64_t high, size_t *first, size_t *end)
{
	*first = *end = 0;
	if (low == 0 || low >= high)
		return;
	*first = partition_point(n, i, addresses[i] < low);
	*end = *first;
	while (*end < n && addresses[*end] < high)
		(*end)++;
}

const char *
die_text(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute value;

	return dwarf_attr(die, attribute, &value) != NULL ?
	    dwarf_formstring(&value) : NULL;
}

bool
die_origin(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	if ((dwarf_attr(die, DW_AT_abstract_origin, &attribute) == NULL &&
	     dwarf_attr(die, DW_AT_specification, &attribute) == NULL) ||
	    dwarf_formref_die(&attribute, &origin) == NULL)
		return false;
	*die = origin;
	return true;
}
