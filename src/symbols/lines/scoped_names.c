/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scoped_names.c -- functions that the linker has no name for.
 *
 * An entry does not say what it stands in, so a unit that declares such a
 * function is walked once, whole, and all of its plain functions are entered,
 * by the offsets of their entries: in a program that was optimised as a whole,
 * every unit refers to the others.
 */
#include "src/symbols/lines/scoped_names.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/arena.h"
#include "src/base/memory.h"
#include "src/base/names.h"

enum { ORIGINS_MAX = 16, SCOPES_MAX = 1000 };	/* bytes of scopes */

/* An entry or a unit, across units and the supplement, as a key. */
struct place {
	uint64_t offset;
	uint64_t is_supplement;
};

/* What is known of an entry. */
struct plain_function {
	const char *name;	/* if it is a declaration, else NULL */
	uint64_t copy;		/* if it is an origin, else 0 */
};

struct plain_functions {
	struct arena arena;
	struct names *units;		/* places of those that were walked */
	struct names *entries;		/* places */
	struct plain_function *items;	/* by entry */
	size_t capacity;
};

struct walking {
	struct plain_functions *functions;
	const Dwarf *main;
};

struct plain_functions *
plain_functions_new(struct error *error)
{
	struct plain_functions *functions = memory_array(1, sizeof *functions,
	                                                 error);

	if (functions == NULL)
		return NULL;
	functions->units = names_new(error);
	functions->entries = names_new(error);
	if (functions->units != NULL && functions->entries != NULL)
		return functions;
	plain_functions_free(functions);
	return NULL;
}

void
plain_functions_free(struct plain_functions *functions)
{
	if (functions == NULL)
		return;
	names_free(functions->units);
	names_free(functions->entries);
	free(functions->items);
	arena_free(&functions->arena);
	free(functions);
}

static struct place
place_of(const Dwarf *main, Dwarf_Die *die)
{
	return (struct place){ dwarf_dieoffset(die),
		dwarf_cu_getdwarf(die->cu) != main };
}

/* What is known of an entry, which is entered if new. */
static struct plain_function *
item_of(struct plain_functions *functions, const Dwarf *main, Dwarf_Die *die,
        struct error *error)
{
	const struct place place = place_of(main, die);
	uint32_t n = names_count(functions->entries), number;

	if (memory_grow(&functions->items, &functions->capacity,
	                (size_t)n + 1, sizeof *functions->items, error) != 0)
		return NULL;
	functions->items[n] = (struct plain_function){ 0 };
	number = names_add(functions->entries, (const char *)&place,
	                   sizeof place, error);
	return number != NO_NAME ? &functions->items[number] : NULL;
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
static const char *
qualify(struct plain_functions *functions, const char *plain,
        const struct debug_walk *walk, struct error *error)
{
	const char *name = plain;
	size_t size = 0;

	for (size_t i = walk->depth - 1; i-- > 0 && size < SCOPES_MAX;) {
		const char *scope = scope_of(&walk->levels[i].die, plain);

		if (scope == NULL)
			continue;
		name = arena_format(&functions->arena, error, "%s::%s", scope,
		                    name);
		if (name == NULL)
			return NULL;
		size += strlen(scope);
	}
	/* libdw's text goes before this does. */
	return name != plain ? name :
	    arena_text(&functions->arena, name, strlen(name), error);
}

static int
enter_declaration(const struct walking *walking, Dwarf_Die *die,
                  const char *plain, const struct debug_walk *walk,
                  struct error *error)
{
	struct plain_function *item = item_of(walking->functions,
	                                      walking->main, die, error);

	if (item == NULL)
		return -1;
	item->name = qualify(walking->functions, plain, walk, error);
	return item->name != NULL ? 0 : -1;
}

static int
enter_copy(const struct walking *walking, Dwarf_Die *origin, uint64_t address,
           struct error *error)
{
	struct plain_function *item = item_of(walking->functions,
	                                      walking->main, origin, error);

	if (item == NULL)
		return -1;
	item->copy = address;
	return 0;
}

static int
visit(void *context, struct debug_walk *walk, bool *enters, uint32_t *within,
      struct error *error)
{
	const struct walking *walking = context;
	Dwarf_Die *die = &walk->levels[walk->depth - 1].die, origin = *die;
	const char *plain;
	Dwarf_Addr address;

	(void)within;
	*enters = true;
	if (dwarf_tag(die) != DW_TAG_subprogram)
		return 0;
	plain = debug_text(die, DW_AT_name);
	if (plain != NULL && !dwarf_hasattr(die, DW_AT_linkage_name) &&
	    enter_declaration(walking, die, plain, walk, error) != 0)
		return -1;
	if (dwarf_lowpc(die, &address) == 0 && debug_origin(&origin))
		return enter_copy(walking, &origin, address, error);
	return 0;
}

/* Walks the unit that has the declaration, unless that is done. */
static int
walk_unit_of(struct plain_functions *functions, const Dwarf *main,
             Dwarf_Die *declaration, struct debug_walk *walk,
             struct error *error)
{
	struct walking walking = { functions, main };
	uint32_t n = names_count(functions->units), number;
	struct place place;
	Dwarf_Die unit;

	if (dwarf_diecu(declaration, &unit, NULL, NULL) == NULL)
		return -1;
	place = place_of(main, &unit);
	number = names_add(functions->units, (const char *)&place,
	                   sizeof place, error);
	if (number == NO_NAME)
		return -1;
	return number < n ? 0 :
	    debug_walk_unit(walk, &unit, 0, visit, &walking, error);
}

int
plain_functions_find(struct plain_functions *functions, const Dwarf *main,
                     Dwarf_Die *origin, Dwarf_Die *declaration,
                     const char **name, uint64_t *copy,
                     struct debug_walk *walk, struct error *error)
{
	const struct plain_function *item;

	if (walk_unit_of(functions, main, declaration, walk, error) != 0)
		return -1;
	item = item_of(functions, main, declaration, error);
	if (item == NULL)
		return -1;
	if (item->name != NULL)
		*name = item->name;
	item = item_of(functions, main, origin, error);
	if (item == NULL)
		return -1;
	*copy = item->copy;
	return 0;
}
