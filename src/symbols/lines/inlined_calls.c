/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlined_calls.c -- which inlined calls an address lies in.
 *
 * The DIEs of a compilation unit form a tree: functions, in these blocks and
 * inlined calls, and in these again.  The walk goes only into functions and
 * calls whose ranges contain an address that was asked for; each such call is
 * added below the call around it.
 */
#include "src/symbols/lines/debug_lines.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/memory.h"

enum { ORIGINS_MAX = 16 };	/* DIEs that refer to one another */

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif

struct inline_finding {
	struct inlined_calls *calls;
	struct die_walk *walk;
	const uint64_t *addresses;
	size_t n;
	bool *is_found;		/* [n] whether a function contains it */
	bool is_thorough;	/* searches inside of everything, since some
				 * address was not found */
	Dwarf_Files *files;
	size_t n_files;
};

static uint32_t
inlined_calls_number_of(Dwarf_Die *die, unsigned name, uint32_t if_missing)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_attr(die, name, &attribute) == NULL ||
	    dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
		return if_missing;
	return (uint32_t)value;
}

/*
 * The function that a DIE describes, itself or by the DIEs it refers to.  If it
 * has no linkage name, *origin is the first and *declaration the last of these;
 * else origin->addr is NULL.
 */
static struct debug_function
inlined_calls_declared(const Dwarf_Die *function, Dwarf_Die *origin,
                       Dwarf_Die *declaration)
{
	struct debug_function declared = { 0 };
	const char *name = NULL;
	Dwarf_Die die = *function;

	*origin = (Dwarf_Die){ 0 };
	for (int i = 0; i < ORIGINS_MAX; i++) {
		if (i > 0)
			*declaration = die;
		if (i == 1)
			*origin = die;
		if (declared.start_line == 0)
			declared.start_line = inlined_calls_number_of(&die,
			    DW_AT_decl_line, 0);
		if (declared.linkage == NULL)
			declared.linkage = die_text(&die, DW_AT_linkage_name);
		if (declared.linkage == NULL)
			declared.linkage = die_text(&die,
			                            DW_AT_MIPS_linkage_name);
		if (name == NULL)
			name = die_text(&die, DW_AT_name);
		if ((declared.linkage != NULL && declared.start_line != 0) ||
		    !die_origin(&die))
			break;
	}
	if (declared.linkage != NULL)
		origin->addr = NULL;
	else
		declared.linkage = name;
	return declared;
}

/*
 * Marks the addresses in a DIE's ranges: with NO_CALL as found, and as the
 * function's if it is one; else as lying in `call`, if they lie in the call
 * around it.  *n_marked: how many; *n_ranges: how many ranges the DIE has.
 */
static int
inlined_calls_mark(struct inline_finding *finding, Dwarf_Die *die,
                   uint32_t call, size_t *n_marked, size_t *n_ranges,
                   struct error *error)
{
	bool is_function = dwarf_tag(die) == DW_TAG_subprogram;
	struct debug_function function = { 0 };
	Dwarf_Die origin, declaration;
	uint32_t *innermost = finding->calls->innermost;
	uint32_t outer = call != NO_CALL ?
	    finding->calls->calls[call].outer : NO_CALL;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t first, end;

	*n_marked = *n_ranges = 0;
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		(*n_ranges)++;
		if (die_walk_step(finding->walk, error) != 0)
			return -1;
		die_addresses_in(finding->addresses, finding->n, low, high,
		                   &first, &end);
		for (size_t i = first; i < end; i++) {
			if (is_function && *n_marked == 0)
				function = inlined_calls_declared(die,
				    &origin, &declaration);
			if (is_function)
				finding->calls->functions[i] = function;
			if (call == NO_CALL)
				finding->is_found[i] = true;
			else if (innermost[i] == outer)
				innermost[i] = call;
			else
				continue;
			(*n_marked)++;
			if (die_walk_step(finding->walk, error) != 0)
				return -1;
		}
	}
	return 0;
}

static const char *
inlined_calls_file_of(const struct inline_finding *finding, uint32_t number)
{
	return number < finding->n_files ?
	    dwarf_filesrc(finding->files, number, NULL, NULL) : NULL;
}

/* *call: the new call, or NO_CALL if it contains no address. */
static int
enter_call(struct inline_finding *finding, Dwarf_Die *die, uint32_t outer,
           uint32_t *call, struct error *error)
{
	struct inlined_calls *calls = finding->calls;
	struct inlined_call *entered;
	size_t n_marked, n_ranges;

	*call = NO_CALL;
	if (memory_grow(&calls->calls, &calls->capacity, calls->n + 1,
	                sizeof *calls->calls, error) != 0)
		return -1;
	calls->calls[calls->n] = (struct inlined_call){ .outer = outer };
	if (inlined_calls_mark(finding, die, (uint32_t)calls->n, &n_marked,
	                       &n_ranges, error) != 0)
		return -1;
	if (n_marked == 0)
		return 0;
	*call = (uint32_t)calls->n;
	entered = &calls->calls[calls->n++];
	entered->line = inlined_calls_number_of(die, DW_AT_call_line, 0);
	entered->file = inlined_calls_file_of(finding,
	    inlined_calls_number_of(die, DW_AT_call_file, UINT32_MAX));
	entered->discriminator = inlined_calls_number_of(die,
	    DW_AT_GNU_discriminator, 0);
	entered->inlined = inlined_calls_declared(die, &entered->origin,
	                                          &entered->declaration);
	entered->function = entered->inlined.linkage;
	return 0;
}

/* The DIE that another one is a copy of; false: there is none. */
static bool
origin_of(Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, DW_AT_abstract_origin, &attribute) != NULL &&
	    dwarf_formref_die(&attribute, origin) != NULL;
}

/*
 * Whether an inlined call is to the function around it, from the place where
 * that function is declared.  There is no such call in the source: the compiler
 * has split the function and put its parts together again.
 */
static bool
is_part(struct die_walk *walk)
{
	Dwarf_Die *die = &walk->levels[walk->depth - 1].die;
	Dwarf_Die origin, other = { 0 };
	size_t depth = walk->depth - 1;

	while (depth > 0 && dwarf_tag(&walk->levels[depth - 1].die) !=
	    DW_TAG_subprogram && dwarf_tag(&walk->levels[depth - 1].die) !=
	    DW_TAG_inlined_subroutine)
		depth--;
	return depth > 0 && origin_of(die, &origin) &&
	    origin_of(&walk->levels[depth - 1].die, &other) &&
	    origin.addr == other.addr &&
	    inlined_calls_number_of(die, DW_AT_call_line, 0) ==
	    inlined_calls_number_of(&origin, DW_AT_decl_line, 0) &&
	    inlined_calls_number_of(die, DW_AT_call_column, 0) ==
	    inlined_calls_number_of(&origin, DW_AT_decl_column, 0);
}

/* within: the innermost call around the DIE. */
static int
inlined_calls_visit(void *context, struct die_walk *walk, bool *enters,
                    uint32_t *within, struct error *error)
{
	struct inline_finding *finding = context;
	Dwarf_Die *die = &walk->levels[walk->depth - 1].die;
	uint32_t outer = *within;
	size_t n_marked, n_ranges;
	int tag = dwarf_tag(die);

	if (tag == DW_TAG_inlined_subroutine && is_part(walk))
		tag = DW_TAG_lexical_block;
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		*enters = true;
		return 0;
	case DW_TAG_subprogram:
		*within = NO_CALL;
		/* fall through */
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		if (inlined_calls_mark(finding, die, NO_CALL, &n_marked,
		                       &n_ranges, error) != 0)
			return -1;
		*enters = n_marked > 0 || finding->is_thorough ||
		    (n_ranges == 0 && tag != DW_TAG_subprogram);
		return 0;
	case DW_TAG_inlined_subroutine:
		if (enter_call(finding, die, outer, within, error) != 0)
			return -1;
		*enters = *within != NO_CALL || finding->is_thorough;
		if (*within == NO_CALL)
			*within = outer;
		return 0;
	default:
		*enters = finding->is_thorough;
		return 0;
	}
}

static int
walk_unit(struct inline_finding *finding, Dwarf_Die *unit, struct error *error)
{
	for (size_t i = 0; i < finding->n; i++)
		finding->calls->innermost[i] = NO_CALL;
	finding->calls->n = 0;
	return die_walk_unit(finding->walk, unit, NO_CALL, inlined_calls_visit,
	                     finding, error);
}

/* In C, a function's own name is its linkage name. */
static bool
has_scopes(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return false;
	default:
		return true;
	}
}

static int
inlined_calls_find_all(struct inline_finding *finding, Dwarf_Die *unit,
                       struct scoped_names *names, struct error *error)
{
	struct inlined_calls *calls = finding->calls;
	const Dwarf *main = dwarf_cu_getdwarf(unit->cu);

	if (dwarf_getsrcfiles(unit, &finding->files, &finding->n_files) != 0)
		finding->n_files = 0;
	if (walk_unit(finding, unit, error) != 0)
		return -1;
	for (size_t i = 0; i < finding->n && !finding->is_thorough; i++)
		finding->is_thorough = !finding->is_found[i];
	if (finding->is_thorough && walk_unit(finding, unit, error) != 0)
		return -1;
	if (!has_scopes(unit))
		return 0;
	for (size_t i = 0; i < calls->n; i++) {
		struct inlined_call *call = &calls->calls[i];

		if (call->origin.addr != NULL && call->function != NULL &&
		    scoped_names_find(names, main, &call->origin,
		        &call->declaration, &call->function, &call->copy,
		        finding->walk, error) != 0)
			return -1;
	}
	return 0;
}

int
inlined_calls_find(struct inlined_calls *calls, Dwarf_Die *unit,
                   const uint64_t *addresses, size_t n,
                   struct scoped_names *names, struct die_walk *walk,
                   struct error *error)
{
	struct inline_finding finding = {
		.calls = calls,
		.walk = walk,
		.addresses = addresses,
		.n = n,
		.is_found = memory_array(n, sizeof *finding.is_found, error),
	};
	int result = -1;

	*calls = (struct inlined_calls){ 0 };
	calls->innermost = memory_array(n, sizeof *calls->innermost, error);
	calls->functions = memory_array(n, sizeof *calls->functions, error);
	if (!error->is_set)
		result = inlined_calls_find_all(&finding, unit, names, error);
	free(finding.is_found);
	return result;
}

void
inlined_calls_free(struct inlined_calls *calls)
{
	free(calls->calls);
	free(calls->innermost);
	free(calls->functions);
}
