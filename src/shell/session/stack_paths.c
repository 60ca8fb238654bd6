/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_paths.c -- the canonical paths that a stack counts for.
 *
 * A canonical path begins with a name's outermost activation, and goes on along
 * the stack.  Where a name comes that stands on it already, the path goes on
 * from there, without what lay between.
 */
#include "src/shell/session/path_tables.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "src/base/memory.h"

/* Where a name is, from 1; 0: nowhere. */
struct name_place {
	uint32_t in_path;
	uint32_t first, last;		/* in the stack */
};

/* A stack whose paths are sought. */
struct path_walk {
	struct stack_paths *paths;
	const struct names *names;
	size_t most_names;
	new_path *take;
	void *context;
};

uint64_t
path_number_after(uint64_t before, const char *text, size_t length)
{
	const uint64_t number = XXH3_64bits_withSeed(text, length, before);

	return number == 0 ? 1 : number;
}

uint64_t
path_number(const struct names *names, uint64_t before, uint32_t name)
{
	return path_number_after(before, names_text(names, name),
	                         names_length(names, name));
}

void
stack_paths_free(struct stack_paths *paths)
{
	free(paths->names);
	free(paths->ids);
	free(paths->places);
	free(paths->found);
}

/*
 * The path of n names goes on by one more; returns how many it then has.  With
 * the name at its end it is one that the stack counts for.
 */
static size_t
path_walk_step(const struct path_walk *walk, size_t n, uint32_t name,
               struct error *error)
{
	struct stack_paths *paths = walk->paths;
	const uint64_t before = n == 0 ? 0 : paths->ids[n - 1];
	const uint64_t id = path_number(walk->names, before, name);

	if (n < walk->most_names) {
		if (memory_grow(&paths->found, &paths->found_capacity,
		                paths->n_found + 1, sizeof *paths->found,
		                error) != 0)
			return 0;
		paths->found[paths->n_found++] = id;
		paths->names[n] = name;
		if (walk->take(walk->context, id, paths->names, n + 1, before,
		               error) != 0)
			return 0;
	}
	if (paths->places[name].in_path > 0) {
		const size_t place = paths->places[name].in_path;

		while (n > place)
			paths->places[paths->names[--n]].in_path = 0;
		/* The number of the path up to there is still in ids. */
		return place;
	}
	paths->names[n] = name;
	paths->ids[n] = id;
	paths->places[name].in_path = (uint32_t)n + 1;
	return n + 1;
}

/*
 * The paths that begin with stack[first], its outermost activation.  Once a path
 * is too long it only matters again if a name on it comes back.
 */
static void
path_walk_from(const struct path_walk *walk, const uint32_t *stack,
               size_t first, size_t depth, struct error *error)
{
	struct stack_paths *paths = walk->paths;
	size_t n = 0, last = 0;

	for (size_t i = first; i < depth && !error->is_set &&
	     (n < walk->most_names || i < last); i++) {
		if (paths->places[stack[i]].last > last)
			last = paths->places[stack[i]].last;
		n = path_walk_step(walk, n, stack[i], error);
	}
	while (n > 0)
		paths->places[paths->names[--n]].in_path = 0;
}

static int
stack_paths_compare(const void *a, const void *b, void *context)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	(void)context;
	return (x > y) - (x < y);
}

int
stack_paths_find(struct stack_paths *paths, const struct names *names,
                 const uint32_t *stack, size_t depth, size_t most_names,
                 new_path *take, void *context, struct error *error)
{
	const struct path_walk walk = { paths, names, most_names, take,
		context };
	const size_t n_before = paths->places_capacity;
	size_t n = 0;

	if (memory_grow(&paths->names, &paths->capacity, depth,
	                sizeof *paths->names, error) != 0 ||
	    memory_grow(&paths->ids, &paths->ids_capacity, depth,
	                sizeof *paths->ids, error) != 0 ||
	    memory_grow(&paths->places, &paths->places_capacity,
	                names_count(names), sizeof *paths->places, error) != 0)
		return -1;
	if (paths->places_capacity > n_before)
		memset(paths->places + n_before, 0, (paths->places_capacity -
		       n_before) * sizeof *paths->places);
	paths->n_found = 0;
	for (size_t i = 0; i < depth; i++) {
		struct name_place *place = &paths->places[stack[i]];

		if (place->first == 0)
			place->first = (uint32_t)i + 1;
		place->last = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < depth && !error->is_set; i++)
		if (paths->places[stack[i]].first == i + 1)
			path_walk_from(&walk, stack, i, depth, error);
	for (size_t i = 0; i < depth; i++)
		paths->places[stack[i]] = (struct name_place){ 0 };
	if (error->is_set ||
	    sort_items(paths->found, paths->n_found, sizeof *paths->found,
	               stack_paths_compare, NULL, error) != 0)
		return -1;
	for (size_t i = 0; i < paths->n_found; i++)
		if (n == 0 || paths->found[i] != paths->found[n - 1])
			paths->found[n++] = paths->found[i];
	paths->n_found = n;
	return 0;
}
