/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scoped_names.c -- names with their scope, for functions without linkage name.
 *
 * A DIE does not refer to its parent.  So a unit that declares such a function
 * is walked once as a whole, and all such functions in it are entered, by the
 * offsets of their DIEs.  (In a program that was optimised as a whole, every
 * unit refers to the others.)
 */
#include "src/symbols/lines/debug_lines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"

enum { ORIGINS_MAX = 16, SCOPES_MAX = 1000 };	/* bytes of scopes */

/* A DIE, unique in the file and its supplement; a key. */
struct scope_place {
	uint64_t offset;
	uint64_t is_supplement;
};

/* What is known of a DIE. */
struct scoped_name {
	const char *name;	/* if it is a declaration, else NULL */
	uint64_t copy;		/* if it is an origin, else 0 */
};

struct scoped_names {
	struct arena arena;
	struct names *units;		/* places of those that were walked */
	struct names *dies;		/* places; their numbers index: */
	struct scoped_name *items;
	size_t capacity;
};

struct walking {
	struct scoped_names *names;
	const Dwarf *main;
};

struct scoped_names *
scoped_names_new(struct error *error)
{
	struct scoped_names *names = memory_array(1, sizeof *names, error);

	if (names == NULL)
		return NULL;
	names->units = names_new(error);
	names->dies = names_new(error);
	if (names->units != NULL && names->dies != NULL)
		return names;
	scoped_names_free(names);
	return NULL;
}

void
scoped_names_free(struct scoped_names *names)
{
	if (names == NULL)
		return;
	names_free(names->units);
	names_free(names->dies);
	free(names->items);
	arena_free(&names->arena);
	free(names);
}

static struct scope_place
scoped_names_place_of(const Dwarf *main, Dwarf_Die *die)
{
	return (struct scope_place){ dwarf_dieoffset(die),
		dwarf_cu_getdwarf(die->cu) != main };
}

/* What is known of a DIE, which is added if new; NULL with *error set. */
static struct scoped_name *
item_of(struct scoped_names *names, const Dwarf *main, Dwarf_Die *die,
        struct error *error)
{
	const struct scope_place place = scoped_names_place_of(main, die);
	uint32_t n = names_count(names->dies), number;

	if (memory_grow(&names->items, &names->capacity, (size_t)n + 1,
	                sizeof *names->items, error) != 0)
		return NULL;
	names->items[n] = (struct scoped_name){ 0 };
	number = names_add(names->dies, (const char *)&place, sizeof place,
	                   error);
	return number != NO_NAME ? &names->items[number] : NULL;
}

/* What a parent contributes to the name of a function in it, or NULL. */
static const char *
scope_of(const Dwarf_Die *scope, const char *function)
{
	Dwarf_Die die = *scope;
	const char *name = die_text(&die, DW_AT_name);

	switch (dwarf_tag(&die)) {
	case DW_TAG_namespace:
		return name != NULL ? name : "(anonymous namespace)";
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		if (name != NULL)
			return name;
		return strcmp(function, "operator()") == 0 ? "{lambda}" :
		    "{unnamed}";
	case DW_TAG_module:
		return name;
	case DW_TAG_subprogram:
		for (int i = 0; name == NULL && i < ORIGINS_MAX &&
		     die_origin(&die); i++)
			name = die_text(&die, DW_AT_name);
		return name;
	default:
		return NULL;
	}
}

/* The name of the current DIE, after those of its parents. */
static const char *
qualify(struct scoped_names *names, const char *plain,
        const struct die_walk *walk, struct error *error)
{
	const char *name = plain;
	size_t size = 0;

	for (size_t i = walk->depth - 1; i-- > 0 && size < SCOPES_MAX;) {
		const char *scope = scope_of(&walk->levels[i].die, plain);

		if (scope == NULL)
			continue;
		name = arena_format(&names->arena, error, "%s::%s", scope,
		                    name);
		if (name == NULL)
			return NULL;
		size += strlen(scope);
	}
	/* libdw's text does not live as long. */
	return name != plain ? name :
	    arena_text(&names->arena, name, strlen(name), error);
}

/* Enters functions that are declared without linkage name, and copies. */
static int
scoped_names_visit(void *context, struct die_walk *walk, bool *enters,
                   uint32_t *within, struct error *error)
{
	const struct walking *walking = context;
	struct scoped_names *names = walking->names;
	Dwarf_Die *die = &walk->levels[walk->depth - 1].die, origin = *die;
	struct scoped_name *item;
	const char *plain;
	Dwarf_Addr address;

	(void)within;
	*enters = true;
	if (dwarf_tag(die) != DW_TAG_subprogram)
		return 0;
	plain = die_text(die, DW_AT_name);
	if (plain != NULL && !dwarf_hasattr(die, DW_AT_linkage_name)) {
		item = item_of(names, walking->main, die, error);
		if (item == NULL)
			return -1;
		item->name = qualify(names, plain, walk, error);
		if (item->name == NULL)
			return -1;
	}
	if (dwarf_lowpc(die, &address) == 0 && die_origin(&origin)) {
		item = item_of(names, walking->main, &origin, error);
		if (item == NULL)
			return -1;
		item->copy = address;
	}
	return 0;
}

int
scoped_names_find(struct scoped_names *names, const Dwarf *main,
                  Dwarf_Die *origin, Dwarf_Die *declaration,
                  const char **name, uint64_t *copy, struct die_walk *walk,
                  struct error *error)
{
	struct walking walking = { names, main };
	uint32_t n = names_count(names->units), number;
	const struct scoped_name *item;
	struct scope_place place;
	Dwarf_Die unit;

	if (dwarf_diecu(declaration, &unit, NULL, NULL) == NULL)
		return -1;
	place = scoped_names_place_of(main, &unit);
	number = names_add(names->units, (const char *)&place, sizeof place,
	                   error);
	if (number == NO_NAME ||
	    (number == n &&
	     die_walk_unit(walk, &unit, 0, scoped_names_visit, &walking,
	                   error) != 0))
		return -1;
	item = item_of(names, main, declaration, error);
	if (item == NULL)
		return -1;
	if (item->name != NULL)
		*name = item->name;
	item = item_of(names, main, origin, error);
	if (item == NULL)
		return -1;
	*copy = item->copy;
	return 0;
}
