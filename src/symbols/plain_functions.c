/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plain_functions.c -- functions that the linker has no name for.
 *
 * An entry does not say what it stands in, so each unit that declares some of
 * the functions is walked once, whole.
 */
#include "src/symbols/plain_functions.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { ORIGINS_MAX = 16, SCOPES_MAX = 1000 };	/* bytes of scopes */

struct completing {
	struct plain_function *functions;	/* [n] by origin */
	struct plain_function **declared;	/* [n] by declaration */
	size_t n;
	struct arena *arena;
};

static int
compare_entries(const Dwarf_Die *a, const Dwarf_Die *b)
{
	uintptr_t left = (uintptr_t)a->addr, right = (uintptr_t)b->addr;

	return left < right ? -1 : left > right;
}

static int
compare_origins(const void *left, const void *right)
{
	const struct plain_function *a = left, *b = right;

	return compare_entries(&a->origin, &b->origin);
}

static int
compare_declarations(const void *left, const void *right)
{
	struct plain_function *const *a = left, *const *b = right;

	return compare_entries(&(*a)->declaration, &(*b)->declaration);
}

size_t
plain_functions_unite(struct plain_function *functions, size_t n)
{
	size_t n_kept = 0;

	if (n == 0)
		return 0;
	qsort(functions, n, sizeof *functions, compare_origins);
	for (size_t i = 1; i < n; i++)
		if (functions[i].origin.addr != functions[n_kept].origin.addr)
			functions[++n_kept] = functions[i];
	return n_kept + 1;
}

struct plain_function *
plain_functions_find(struct plain_function *functions, size_t n,
                     const Dwarf_Die *origin)
{
	const struct plain_function key = { .origin = *origin };

	return n == 0 ? NULL :
	    bsearch(&key, functions, n, sizeof key, compare_origins);
}

/* The index of the first function declared there, or n. */
static size_t
first_declared(const struct completing *completing, const Dwarf_Die *die)
{
	size_t low = 0, high = completing->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_entries(&completing->declared[middle]->declaration,
		                    die) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What an entry adds to the name of a function in it, or NULL. */
static const char *
scope_of(const Dwarf_Die *scope, const char *function)
{
	Dwarf_Die die = *scope;
	const char *name;

	switch (dwarf_tag(&die)) {
	case DW_TAG_namespace:
		name = debug_text(&die, DW_AT_name);
		return name != NULL ? name : "(anonymous namespace)";
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		name = debug_text(&die, DW_AT_name);
		if (name != NULL)
			return name;
		return strcmp(function, "operator()") == 0 ? "{lambda}" :
		    "{unnamed}";
	case DW_TAG_module:
		return debug_text(&die, DW_AT_name);
	case DW_TAG_subprogram:
		name = debug_text(&die, DW_AT_name);
		for (int i = 0; name == NULL && i < ORIGINS_MAX &&
		     debug_origin(&die); i++)
			name = debug_text(&die, DW_AT_name);
		return name;
	default:
		return NULL;
	}
}

/* Puts before the name what the entry at hand stands in. */
static int
qualify(struct completing *completing, struct plain_function *function,
        const struct debug_walk *walk, struct error *error)
{
	const char *name = function->name;
	size_t size = 0;

	for (size_t i = walk->depth - 1; i-- > 0 && size < SCOPES_MAX;) {
		const char *scope = scope_of(&walk->levels[i].die,
		                             function->name);

		if (scope == NULL)
			continue;
		name = arena_format(completing->arena, error, "%s::%s", scope,
		                    name);
		if (name == NULL)
			return -1;
		size += strlen(scope);
	}
	function->name = name;
	return 0;
}

static int
visit(void *context, struct debug_walk *walk, bool *enters, uint32_t *within,
      struct error *error)
{
	struct completing *completing = context;
	Dwarf_Die *die = &walk->levels[walk->depth - 1].die, origin = *die;
	struct plain_function *function;
	Dwarf_Addr address;

	(void)within;
	*enters = true;
	if (dwarf_tag(die) != DW_TAG_subprogram)
		return 0;
	for (size_t i = first_declared(completing, die); i < completing->n &&
	     completing->declared[i]->declaration.addr == die->addr; i++)
		if (qualify(completing, completing->declared[i], walk,
		            error) != 0)
			return -1;
	if (dwarf_lowpc(die, &address) != 0 || !debug_origin(&origin))
		return 0;
	function = plain_functions_find(completing->functions, completing->n,
	                                &origin);
	if (function != NULL)
		function->copy = address;
	return 0;
}

/* Functions of one unit stand together in the order of declarations. */
static int
walk_units(struct completing *completing, struct debug_walk *walk,
           struct error *error)
{
	void *last = NULL;

	for (size_t i = 0; i < completing->n; i++) {
		Dwarf_Die unit;

		if (dwarf_diecu(&completing->declared[i]->declaration, &unit,
		                NULL, NULL) == NULL)
			return -1;
		if (unit.addr == last)
			continue;
		last = unit.addr;
		if (debug_walk_unit(walk, &unit, 0, visit, completing,
		                    error) != 0)
			return -1;
	}
	return 0;
}

int
plain_functions_complete(struct plain_function *functions, size_t n,
                         struct arena *arena, struct debug_walk *walk,
                         struct error *error)
{
	struct completing completing = { functions, NULL, n, arena };
	int result;

	completing.declared = memory_array(n, sizeof functions, error);
	if (completing.declared == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		completing.declared[i] = &functions[i];
	qsort(completing.declared, n, sizeof functions, compare_declarations);
	result = walk_units(&completing, walk, error);
	free(completing.declared);
	return result;
}
