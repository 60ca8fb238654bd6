/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlined_calls.c -- which calls were inlined where an address is.
 *
 * The entries of a compilation unit form a tree: functions, in them blocks and
 * inlined calls, in these again.  It is walked with a stack of its own, at most
 * DEPTH_MAX deep, and only into functions and calls whose ranges hold an
 * address that was asked for; each such call is entered below the call around
 * it.  Siblings only ever lie further on, so that a walk ends.
 */
#include "src/symbols/inlined_calls.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/memory.h"

enum {
	DEPTH_MAX = 256,
	ORIGINS_MAX = 16,	/* entries that refer to one another */
	STEPS_A_LOOK = 4096,	/* between two looks at Ctrl-C */
};

/* One entry that is looked into, its children are next. */
struct level {
	Dwarf_Die die;		/* the child */
	uint32_t call;		/* the innermost call around it */
};

struct finding {
	struct inlined_calls *calls;
	struct debug_walk *walk;
	const uint64_t *addresses;
	size_t n;
	bool *is_found;		/* [n] whether a function holds it */
	bool is_thorough;	/* look for functions inside others, too */
	Dwarf_Files *files;
	size_t n_files;
	struct level levels[DEPTH_MAX];
	size_t depth;
};

int
debug_walk_step(struct debug_walk *walk, struct error *error)
{
	if (walk->steps_left == 0)
		return -1;
	walk->steps_left--;
	if (walk->n_steps++ % STEPS_A_LOOK != 0)
		return 0;
	return progress_step(walk->progress, walk->done, walk->total, error);
}

/* The first of the addresses that is not below. */
static size_t
first_at(const struct finding *finding, uint64_t address)
{
	size_t low = 0, high = finding->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (finding->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Marks the addresses in an entry's ranges: as found, or as being in `call`
 * where they were in the call around it.  *n_marked: how many; *n_ranges: how
 * many ranges the entry has at all.  Code that the linker dropped is left at
 * address 0.
 */
static int
mark(struct finding *finding, Dwarf_Die *die, uint32_t call, size_t *n_marked,
     size_t *n_ranges, struct error *error)
{
	uint32_t *innermost = finding->calls->innermost;
	uint32_t outer = call != NO_CALL ?
	    finding->calls->calls[call].outer : NO_CALL;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	*n_marked = *n_ranges = 0;
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		(*n_ranges)++;
		if (debug_walk_step(finding->walk, error) != 0)
			return -1;
		for (size_t i = low == 0 ? finding->n : first_at(finding, low);
		     i < finding->n && finding->addresses[i] < high; i++) {
			if (call == NO_CALL)
				finding->is_found[i] = true;
			else if (innermost[i] == outer)
				innermost[i] = call;
			else
				continue;
			(*n_marked)++;
			if (debug_walk_step(finding->walk, error) != 0)
				return -1;
		}
	}
	return 0;
}

static uint32_t
number_of(Dwarf_Die *die, unsigned name, uint32_t if_missing)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_attr(die, name, &attribute) == NULL ||
	    dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
		return if_missing;
	return (uint32_t)value;
}

static const char *
text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) != NULL ?
	    dwarf_formstring(&attribute) : NULL;
}

/* The entry that one refers to as what it is a copy or a definition of. */
static bool
find_origin(Dwarf_Die *die)
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

/* The linker's name of what was inlined, else the programmer's. */
static const char *
function_of(Dwarf_Die *die)
{
	Dwarf_Die origin = *die;
	const char *name = NULL;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		const char *linkage = text_of(&origin, DW_AT_linkage_name);

		if (linkage == NULL)
			linkage = text_of(&origin, DW_AT_MIPS_linkage_name);
		if (linkage != NULL)
			return linkage;
		if (name == NULL)
			name = text_of(&origin, DW_AT_name);
		if (!find_origin(&origin))
			break;
	}
	return name;
}

static const char *
file_of(const struct finding *finding, uint32_t number)
{
	return number < finding->n_files ?
	    dwarf_filesrc(finding->files, number, NULL, NULL) : NULL;
}

/* *call: the new one, or NO_CALL where it holds no address. */
static int
enter_call(struct finding *finding, Dwarf_Die *die, uint32_t outer,
           uint32_t *call, struct error *error)
{
	struct inlined_calls *calls = finding->calls;
	size_t n_marked, n_ranges;

	*call = NO_CALL;
	if (memory_grow(&calls->calls, &calls->capacity, calls->n + 1,
	                sizeof *calls->calls, error) != 0)
		return -1;
	calls->calls[calls->n].outer = outer;
	if (mark(finding, die, (uint32_t)calls->n, &n_marked, &n_ranges,
	         error) != 0)
		return -1;
	if (n_marked == 0)
		return 0;
	calls->calls[calls->n] = (struct inlined_call){
		.outer = outer,
		.line = number_of(die, DW_AT_call_line, 0),
		.file = file_of(finding, number_of(die, DW_AT_call_file,
		                                   UINT32_MAX)),
		.function = function_of(die),
	};
	*call = (uint32_t)calls->n++;
	return 0;
}

/* Whether to look into an entry; *call: the innermost call in it. */
static int
visit(struct finding *finding, Dwarf_Die *die, bool *enters, uint32_t *call,
      struct error *error)
{
	size_t n_marked, n_ranges;
	uint32_t outer = *call;

	*enters = false;
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		*enters = true;
		return 0;
	case DW_TAG_subprogram:
		*call = NO_CALL;
		/* fall through */
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		if (mark(finding, die, NO_CALL, &n_marked, &n_ranges,
		         error) != 0)
			return -1;
		*enters = n_marked > 0 || finding->is_thorough ||
		    (n_ranges == 0 && dwarf_tag(die) != DW_TAG_subprogram);
		return 0;
	case DW_TAG_inlined_subroutine:
		if (enter_call(finding, die, outer, call, error) != 0)
			return -1;
		*enters = *call != NO_CALL || finding->is_thorough;
		if (*call == NO_CALL)
			*call = outer;
		return 0;
	default:
		*enters = finding->is_thorough;
		return 0;
	}
}

/* Goes on to the next entry that was not looked into; 0 at the end, too. */
static int
advance(struct finding *finding)
{
	while (finding->depth > 0) {
		Dwarf_Die *die = &finding->levels[finding->depth - 1].die;
		int result = dwarf_siblingof(die, die);

		if (result <= 0)
			return result;
		finding->depth--;
	}
	return 0;
}

/* Puts the first child of an entry on the stack, if it has any. */
static int
enter(struct finding *finding, Dwarf_Die *die, uint32_t call, bool *entered)
{
	struct level *level = &finding->levels[finding->depth];
	int result;

	*entered = false;
	if (finding->depth == DEPTH_MAX)
		return 0;
	result = dwarf_child(die, &level->die);
	if (result != 0)
		return result < 0 ? -1 : 0;
	level->call = call;
	finding->depth++;
	*entered = true;
	return 0;
}

static int
walk_unit(struct finding *finding, Dwarf_Die *unit, struct error *error)
{
	bool entered;

	for (size_t i = 0; i < finding->n; i++)
		finding->calls->innermost[i] = NO_CALL;
	finding->calls->n = 0;
	finding->depth = 0;
	if (enter(finding, unit, NO_CALL, &entered) != 0)
		return -1;
	while (finding->depth > 0) {
		struct level *level = &finding->levels[finding->depth - 1];
		uint32_t call = level->call;
		bool enters;

		if (debug_walk_step(finding->walk, error) != 0 ||
		    visit(finding, &level->die, &enters, &call, error) != 0)
			return -1;
		entered = false;
		if (enters &&
		    enter(finding, &level->die, call, &entered) != 0)
			return -1;
		if (!entered && advance(finding) != 0)
			return -1;
	}
	return 0;
}

static bool
all_found(const struct finding *finding)
{
	for (size_t i = 0; i < finding->n; i++)
		if (!finding->is_found[i])
			return false;
	return true;
}

int
inlined_calls_find(struct inlined_calls *calls, Dwarf_Die *unit,
                   const uint64_t *addresses, size_t n,
                   struct debug_walk *walk, struct error *error)
{
	struct finding *finding = memory_array(1, sizeof *finding, error);
	int result = -1;

	*calls = (struct inlined_calls){ 0 };
	calls->innermost = memory_array(n, sizeof *calls->innermost, error);
	if (finding == NULL || calls->innermost == NULL) {
		free(finding);
		return -1;
	}
	finding->calls = calls;
	finding->walk = walk;
	finding->addresses = addresses;
	finding->n = n;
	finding->is_found = memory_array(n, sizeof *finding->is_found, error);
	if (dwarf_getsrcfiles(unit, &finding->files, &finding->n_files) != 0)
		finding->n_files = 0;
	if (finding->is_found != NULL)
		result = walk_unit(finding, unit, error);
	if (result == 0 && !all_found(finding)) {
		finding->is_thorough = true;
		result = walk_unit(finding, unit, error);
	}
	free(finding->is_found);
	free(finding);
	return result;
}

void
inlined_calls_free(struct inlined_calls *calls)
{
	free(calls->calls);
	free(calls->innermost);
}
