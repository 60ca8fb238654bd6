/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_order.c -- puts a fleet into the order in which it is written.
 *
 * Each kind of thing is sorted as an array of numbers, `order`; `place` is the
 * inverse.  Things move first, then what refers to them is rewritten.
 */
#include "src/profile/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

/* Old numbers in the new order, and new numbers by the old. */
struct renumbering {
	uint32_t *order, *place;
	uint32_t n;
};

typedef int compare_function(const void *a, const void *b, void *context);

static void
renumbering_free(struct renumbering *numbers)
{
	free(numbers->order);
	free(numbers->place);
}

/* Sorts the numbers 0 .. n - 1; freed with renumbering_free in either case. */
static int
sort_numbers(struct renumbering *numbers, uint32_t n,
             compare_function *compare, void *context, struct error *error)
{
	*numbers = (struct renumbering){
		.order = memory_array(n, sizeof(uint32_t), error),
		.place = memory_array(n, sizeof(uint32_t), error),
		.n = n,
	};
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		numbers->order[i] = i;
	if (sort_items(numbers->order, n, sizeof(uint32_t), compare, context,
	               error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		numbers->place[numbers->order[i]] = i;
	return 0;
}

/* Puts items of any size into the new order. */
static int
move_items(void *items, const struct renumbering *numbers, size_t size,
           struct error *error)
{
	char *old = memory_copy(items, numbers->n, size, error);
	char *to = items;

	if (old == NULL)
		return -1;
	for (uint32_t i = 0; i < numbers->n; i++)
		memcpy(to + i * size, old + numbers->order[i] * size, size);
	free(old);
	return 0;
}

static int
fleet_order_compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* ---- names ---- */

/* The names in byte order; *place: their new numbers, freed with free(). */
static struct names *
sort_names(struct names *names, uint32_t **place, struct error *error)
{
	struct renumbering numbers;
	struct names *sorted = names_new(error);

	*place = NULL;
	if (sorted != NULL &&
	    sort_numbers(&numbers, names_count(names),
	                 names_compare_items, names, error) == 0)
		for (uint32_t i = 0; i < numbers.n; i++)
			names_add(sorted, names_text(names, numbers.order[i]),
			          names_length(names, numbers.order[i]),
			          error);
	if (sorted == NULL)
		return NULL;
	if (error->is_set) {
		renumbering_free(&numbers);
		names_free(sorted);
		return NULL;
	}
	*place = numbers.place;
	free(numbers.order);
	return sorted;
}

/* Only frames have entered names, so all are used. */
static int
fleet_order_names(struct profile *profile, struct error *error)
{
	uint32_t *place;
	struct names *sorted = sort_names(profile->names, &place, error);

	if (sorted == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_locations; i++) {
		struct location *location = &profile->locations[i];

		location->function = place[location->function];
		if (location->file != NO_NAME)
			location->file = place[location->file];
	}
	free(place);
	names_free(profile->names);
	profile->names = sorted;
	return 0;
}

/* ---- modules and frames ---- */

static int
compare_modules(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	const struct module *x = &profile->modules[*(const uint32_t *)a];
	const struct module *y = &profile->modules[*(const uint32_t *)b];
	unsigned char x_build[MODULE_BUILD_MAX], y_build[MODULE_BUILD_MAX];
	size_t x_size = module_build(x, x_build);
	size_t y_size = module_build(y, y_build);
	int order = strcmp(x->path, y->path);

	if (order == 0)
		order = fleet_order_compare_numbers(x_size, y_size);
	return order != 0 ? order : memcmp(x_build, y_build, x_size);
}

static int
fleet_order_modules(struct profile *profile, struct error *error)
{
	struct renumbering numbers;
	int result = sort_numbers(&numbers, profile->n_modules,
	                          compare_modules, profile, error);

	if (result == 0)
		result = move_items(profile->modules, &numbers,
		                    sizeof *profile->modules, error);
	for (uint32_t i = 0; result == 0 && i < profile->n_frames; i++) {
		uint32_t *module = &profile->frames[i].module;

		if (*module != NO_MODULE)
			*module = numbers.place[*module];
	}
	renumbering_free(&numbers);
	return result;
}

static int
compare_locations(const struct location *a, const struct location *b)
{
	int order = fleet_order_compare_numbers(a->function, b->function);

	/* No file comes first: NO_NAME + 1 is 0. */
	if (order == 0)
		order = fleet_order_compare_numbers((uint32_t)(a->file + 1),
		                                     (uint32_t)(b->file + 1));
	return order != 0 ? order :
			    fleet_order_compare_numbers(a->line, b->line);
}

/* What tells frames of one address apart that have the same locations. */
static uint64_t
frame_flags(const struct frame *frame)
{
	return (uint64_t)(uint32_t)(frame->function_offset + 1) << 32 |
	    (uint64_t)frame->is_awaiting << 9 |
	    (uint64_t)frame->is_interpreted << 8 |
	    (uint64_t)frame->placeholder << 2 |
	    (uint64_t)frame->is_made_up << 1 | frame->has_debug_lines;
}

static int
fleet_order_compare_frames(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	const struct frame *x = &profile->frames[*(const uint32_t *)a];
	const struct frame *y = &profile->frames[*(const uint32_t *)b];
	int order = fleet_order_compare_numbers((uint32_t)(x->module + 1),
	                                         (uint32_t)(y->module + 1));

	if (order == 0)
		order = fleet_order_compare_numbers(x->address, y->address);
	for (uint32_t i = 0; order == 0 && i < x->n_locations &&
	     i < y->n_locations; i++)
		order = compare_locations(
		    &profile->locations[x->first_location + i],
		    &profile->locations[y->first_location + i]);
	if (order == 0)
		order = fleet_order_compare_numbers(x->n_locations,
		                                     y->n_locations);
	return order != 0 ? order :
	       fleet_order_compare_numbers(frame_flags(x), frame_flags(y));
}

/* Puts the locations into the order of their frames. */
static int
move_locations(struct profile *profile, struct error *error)
{
	struct location *moved = memory_array(profile->n_locations,
	                                      sizeof *moved, error);
	uint32_t n = 0;

	if (moved == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		struct frame *frame = &profile->frames[i];

		memcpy(moved + n, profile->locations + frame->first_location,
		       frame->n_locations * sizeof *moved);
		frame->first_location = n;
		n += frame->n_locations;
	}
	free(profile->locations);
	profile->locations = moved;
	profile->locations_capacity = profile->n_locations;
	return 0;
}

static int
fleet_order_frames(struct fleet *fleet, struct error *error)
{
	struct profile *profile = fleet->profile;
	struct renumbering numbers;
	int result = sort_numbers(&numbers, profile->n_frames,
	                          fleet_order_compare_frames, profile, error);

	if (result == 0 &&
	    (move_items(profile->frames, &numbers, sizeof *profile->frames,
	                error) != 0 ||
	     move_locations(profile, error) != 0))
		result = -1;
	for (uint32_t n = 0; result == 0 && n < fleet->n_nodes; n++)
		fleet->label[n] = numbers.place[fleet->label[n]];
	renumbering_free(&numbers);
	return result;
}

/* ---- nodes and rows ---- */

/*
 * Finds order and place of all nodes, large arrays.  Siblings get their places
 * in the order of their frames, first within their parent's subtree; a parent's
 * number is smaller, so that in ascending order its own place is known.
 */
static int
fleet_order_sort_nodes(const struct fleet *fleet, uint32_t **order,
                        uint32_t **place, struct error *error)
{
	const uint32_t n = fleet->n_nodes, n_frames = fleet->profile->n_frames;
	const uint32_t *parent = fleet->parent;
	uint32_t *size = NULL, *used, n_used = 0;
	uint32_t *first = memory_array((size_t)n_frames + 2, sizeof *first,
	                               error);

	if (first == NULL ||
	    large_array_reserve(order, n, sizeof **order, error) != 0 ||
	    large_array_reserve(place, n, sizeof **place, error) != 0 ||
	    large_array_reserve(&size, 2 * (size_t)n, sizeof *size,
	                        error) != 0) {
		free(first);
		large_array_free(size);
		return -1;
	}
	used = size + n;
	/* A counting sort keeps the order of nodes of one frame. */
	for (uint32_t i = 0; i < n; i++)
		first[fleet->label[i] + 1]++;
	for (uint32_t i = 0; i < n_frames; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i < n; i++)
		(*order)[first[fleet->label[i]]++] = i;
	for (uint32_t i = 0; i < n; i++) {
		size[i] = 1;
		used[i] = 1;		/* by the node itself */
	}
	for (uint32_t i = n; i-- > 0;)
		if (parent[i] != NO_NODE)
			size[parent[i]] += size[i];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = (*order)[i];
		uint32_t *next = parent[node] == NO_NODE ? &n_used :
		                 &used[parent[node]];

		(*place)[node] = *next;
		*next += size[node];
	}
	for (uint32_t i = 0; i < n; i++)
		if (parent[i] != NO_NODE)
			(*place)[i] += (*place)[parent[i]];
	for (uint32_t i = 0; i < n; i++)
		(*order)[(*place)[i]] = i;
	free(first);
	large_array_free(size);
	return 0;
}

/* Puts an item per node or row into the order; the array is a large one. */
static int
move_large(void *items, size_t *capacity, const uint32_t *order, uint32_t n,
           size_t size, struct error *error)
{
	char *old, *moved = NULL;

	memcpy(&old, items, sizeof old);
	if (large_array_reserve(&moved, n, size, error) != 0)
		return -1;
	if (size == sizeof(uint32_t))
		for (uint32_t i = 0; i < n; i++)
			((uint32_t *)moved)[i] = ((uint32_t *)old)[order[i]];
	else
		for (uint32_t i = 0; i < n; i++)
			((uint64_t *)moved)[i] = ((uint64_t *)old)[order[i]];
	large_array_free(old);
	memcpy(items, &moved, sizeof moved);
	*capacity = n;
	return 0;
}

static int
fleet_order_move_nodes(struct fleet *fleet, const uint32_t *order,
                        const uint32_t *place, struct error *error)
{
	uint32_t n = fleet->n_nodes;

	if (move_large(&fleet->parent, &fleet->parent_capacity, order, n,
	               sizeof *fleet->parent, error) != 0 ||
	    move_large(&fleet->label, &fleet->label_capacity, order, n,
	               sizeof *fleet->label, error) != 0 ||
	    move_large(&fleet->row, &fleet->row_capacity, order, n,
	               sizeof *fleet->row, error) != 0 ||
	    (fleet->returns != NULL &&
	     move_large(&fleet->returns, &fleet->returns_capacity, order, n,
	                sizeof *fleet->returns, error) != 0))
		return -1;
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		struct fleet_resource *resource = &fleet->resources[r];

		if (move_large(&resource->most_hits, &resource->most_capacity,
		               order, n, sizeof *resource->most_hits,
		               error) != 0 ||
		    move_large(&resource->most_member,
		               &resource->member_capacity, order, n,
		               sizeof *resource->most_member, error) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		if (fleet->parent[i] != NO_NODE)
			fleet->parent[i] = place[fleet->parent[i]];
	return 0;
}

/* Numbers rows by their nodes; *row_place: their new numbers. */
static int
fleet_order_rows(struct fleet *fleet, uint32_t **row_place, struct error *error)
{
	uint32_t *order = NULL, n = 1;
	int result = 0;

	if (large_array_zeroed(&order, fleet->n_rows, sizeof *order,
	                       error) != 0 ||
	    large_array_zeroed(row_place, fleet->n_rows, sizeof **row_place,
	                       error) != 0) {
		large_array_free(order);
		return -1;
	}
	for (uint32_t i = 0; i < fleet->n_nodes; i++) {
		if (fleet->row[i] == 0)
			continue;
		order[n] = fleet->row[i];
		(*row_place)[fleet->row[i]] = n;
		fleet->row[i] = n++;
	}
	for (uint32_t r = 0; result == 0 && r < fleet->n_resources; r++) {
		struct fleet_resource *resource = &fleet->resources[r];

		result = move_large(&resource->hits, &resource->hits_capacity,
		                    order, n, sizeof *resource->hits, error);
		if (result == 0)
			result = move_large(&resource->samples,
			    &resource->samples_capacity, order, n,
			    sizeof *resource->samples, error);
	}
	large_array_free(order);
	return result;
}

static int
fleet_order_nodes(struct fleet *fleet, uint32_t **row_place,
                  struct error *error)
{
	uint32_t *order = NULL, *place = NULL;
	int result = fleet_order_sort_nodes(fleet, &order, &place, error);

	if (result == 0)
		result = fleet_order_move_nodes(fleet, order, place, error);
	large_array_free(order);
	large_array_free(place);
	return result == 0 ? fleet_order_rows(fleet, row_place, error) : -1;
}

/* ---- resources and sources ---- */

static int
fleet_order_compare_resources(const void *a, const void *b, void *context)
{
	const struct fleet *fleet = context;
	const struct resource *x =
	    &fleet->resources[*(const uint32_t *)a].column;
	const struct resource *y =
	    &fleet->resources[*(const uint32_t *)b].column;
	int order = strcmp(x->name, y->name);

	if (order == 0)
		order = strcmp(x->gtick, y->gtick);
	return order != 0 ?
	    order :
	    fleet_order_compare_numbers(x->interval, y->interval);
}

/* Numbers the resources of the sources anew. */
static int
move_sources(struct fleet *fleet, const uint32_t *place, struct error *error)
{
	struct names *moved = names_new(error), *sorted;
	uint32_t *unused;

	for (uint32_t i = 0; moved != NULL && !error->is_set &&
	     i < names_count(fleet->sources); i++) {
		const char *text = names_text(fleet->sources, i);
		size_t length = strlen(text);
		uint32_t r;

		memcpy(&r, text + length + 1, sizeof r);
		names_add_pair(moved, text, length, &place[r], sizeof r,
		               error);
	}
	sorted = moved != NULL && !error->is_set ?
	    sort_names(moved, &unused, error) : NULL;
	names_free(moved);
	if (sorted == NULL)
		return -1;
	free(unused);
	names_free(fleet->sources);
	fleet->sources = sorted;
	return 0;
}

/* *place: new numbers, freed with free(). */
static int
fleet_order_resources(struct fleet *fleet, uint32_t **place,
                      struct error *error)
{
	struct renumbering numbers;
	int result = sort_numbers(&numbers, fleet->n_resources,
	                          fleet_order_compare_resources, fleet, error);

	if (result == 0)
		result = move_items(fleet->resources, &numbers,
		                    sizeof *fleet->resources, error);
	if (result == 0)
		result = move_sources(fleet, numbers.place, error);
	free(numbers.order);
	*place = numbers.place;
	return result;
}

/* ---- members, tallies ---- */

static int
compare_members(const void *a, const void *b, void *context)
{
	const struct fleet *fleet = context;
	const struct fleet_member *x = &fleet->members[*(const uint32_t *)a];
	const struct fleet_member *y = &fleet->members[*(const uint32_t *)b];
	int order = strcmp(x->id, y->id);

	return order != 0 ? order : strcmp(x->name, y->name);
}

/* Keeps those that are named, each once; place[] becomes their numbers. */
static uint32_t
keep_members(struct fleet *fleet, const struct renumbering *numbers,
             const bool *is_named, struct fleet_member *kept)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < numbers->n; i++) {
		uint32_t old = numbers->order[i];
		const struct fleet_member *member = &fleet->members[old];

		if (!is_named[old])
			continue;
		if (n == 0 || strcmp(kept[n - 1].id, member->id) != 0 ||
		    strcmp(kept[n - 1].name, member->name) != 0)
			kept[n++] = *member;
		numbers->place[old] = n - 1;
	}
	return n;
}

static int
fleet_order_members(struct fleet *fleet, struct error *error)
{
	struct renumbering numbers;
	int result = sort_numbers(&numbers, fleet->n_listed, compare_members,
	                          fleet, error);
	bool *is_named = memory_array(fleet->n_listed, sizeof *is_named, error);
	struct fleet_member *kept = memory_array(fleet->n_listed, sizeof *kept,
	                                         error);

	if (error->is_set)
		result = -1;
	if (result == 0) {
		for (uint32_t r = 0; r < fleet->n_resources; r++) {
			const uint32_t *most = fleet->resources[r].most_member;

			for (uint32_t n = 0; n < fleet->n_nodes; n++)
				if (most[n] != NO_MEMBER)
					is_named[most[n]] = true;
		}
		fleet->n_listed = keep_members(fleet, &numbers, is_named,
		                               kept);
		free(fleet->members);
		fleet->members = kept;
		kept = NULL;
	}
	for (uint32_t r = 0; result == 0 && r < fleet->n_resources; r++) {
		uint32_t *most = fleet->resources[r].most_member;

		for (uint32_t n = 0; n < fleet->n_nodes; n++)
			if (most[n] != NO_MEMBER)
				most[n] = numbers.place[most[n]];
	}
	free(kept);
	free(is_named);
	renumbering_free(&numbers);
	return result;
}

static int
compare_tallies(const void *a, const void *b)
{
	return strcmp(((const struct tally *)a)->what,
	              ((const struct tally *)b)->what);
}

/* ---- cells ---- */

static int
compare_cells(const void *a, const void *b, void *context)
{
	const struct fleet_cell *x = a, *y = b;
	int order = fleet_order_compare_numbers(x->code, y->code);

	(void)context;
	return order != 0 ? order :
			    fleet_order_compare_numbers(x->row, y->row);
}

static int
fleet_order_take_line(void *context, uint32_t row, uint32_t code,
                       uint64_t hits, struct error *error)
{
	struct fleet_cells *cells = context;

	if (cells->n == cells->capacity) {
		size_t n = cells->n < 512 ? 1024 : 2 * cells->n;

		if (large_array_reserve(&cells->cells, n, sizeof *cells->cells,
		                        error) != 0)
			return -1;
		cells->capacity = n;
	}
	cells->cells[cells->n++] = (struct fleet_cell){ .row = row,
		.code = code, .hits = hits };
	return 0;
}

/* part_place: NULL if parts keep their numbers. */
static int
fleet_order_cells(struct fleet_cells *cells, const uint32_t *row_place,
                  const uint32_t *part_place, const uint32_t *resource_place,
                  struct error *error)
{
	index_free(&cells->index);
	for (size_t i = 0; i < cells->n; i++) {
		struct fleet_cell *cell = &cells->cells[i];
		uint32_t part = fleet_part(cell->code);

		cell->row = row_place[cell->row];
		cell->code = fleet_code(part_place != NULL ?
		    part_place[part] : part,
		    resource_place[fleet_resource_of(cell->code)]);
	}
	return sort_items(cells->cells, cells->n, sizeof *cells->cells,
	                  compare_cells, NULL, error);
}

/* Drops values that no cell has. */
static int
drop_values(struct fleet *fleet, struct error *error)
{
	uint32_t n = names_count(fleet->values);
	struct names *used = names_new(error);
	uint32_t *place = memory_array(n, sizeof *place, error);

	for (uint32_t i = 0; place != NULL && i < n; i++)
		place[i] = NO_NAME;
	for (size_t i = 0; !error->is_set && i < fleet->by.n; i++)
		place[fleet_part(fleet->by.cells[i].code)] = 0;
	for (uint32_t i = 0; !error->is_set && i < n; i++)
		if (place[i] != NO_NAME)
			place[i] = names_add(used,
			    names_text(fleet->values, i),
			    names_length(fleet->values, i), error);
	for (size_t i = 0; !error->is_set && i < fleet->by.n; i++) {
		uint32_t *code = &fleet->by.cells[i].code;

		*code = fleet_code(place[fleet_part(*code)],
		                   fleet_resource_of(*code));
	}
	free(place);
	if (error->is_set) {
		names_free(used);
		return -1;
	}
	names_free(fleet->values);
	fleet->values = used;
	return 0;
}

static int
fleet_order_parts(struct fleet *fleet, const uint32_t *row_place,
                  const uint32_t *resource_place, struct error *error)
{
	uint32_t *value_place = NULL;
	struct fleet_lines *lines = fleet->lines;
	struct names *sorted;
	int result = 0;

	/* Cells take the place of lines. */
	for (uint32_t code = 0; lines != NULL && result == 0 &&
	     code < fleet_lines_codes(lines); code++)
		result = fleet_lines_take(lines, code, fleet_order_take_line,
		                          &fleet->groups, error);
	fleet_lines_free(lines);
	fleet->lines = NULL;
	if (result != 0 ||
	    fleet_order_cells(&fleet->groups, row_place, NULL, resource_place,
	                      error) != 0 ||
	    drop_values(fleet, error) != 0)
		return -1;
	sorted = sort_names(fleet->values, &value_place, error);
	if (sorted == NULL)
		return -1;
	result = fleet_order_cells(&fleet->by, row_place, value_place,
	                           resource_place, error);
	names_free(fleet->values);
	fleet->values = sorted;
	free(value_place);
	return result;
}

int
fleet_order(struct fleet *fleet, struct error *error)
{
	struct profile *profile = fleet->profile;
	uint32_t *row_place = NULL, *resource_place = NULL;
	int result = -1;

	large_array_free(fleet->child);
	large_array_free(fleet->next);
	large_array_free(fleet->n_children);
	large_array_free(fleet->weight);
	large_array_free(fleet->has_weight);
	digest_index_free(fleet->stacks);
	fleet->child = fleet->next = NULL;
	fleet->n_children = NULL;
	fleet->weight = fleet->has_weight = NULL;
	fleet->stacks = NULL;
	index_free(&fleet->index);
	frame_union_free(fleet->frames);
	fleet->frames = NULL;
	if (fleet_order_names(profile, error) == 0 &&
	    fleet_order_modules(profile, error) == 0 &&
	    fleet_order_frames(fleet, error) == 0 &&
	    fleet_order_nodes(fleet, &row_place, error) == 0 &&
	    fleet_order_resources(fleet, &resource_place, error) == 0 &&
	    fleet_order_members(fleet, error) == 0)
		result = fleet_order_parts(fleet, row_place, resource_place,
		                           error);
	if (profile->n_tallies > 1)
		qsort(profile->tallies, profile->n_tallies,
		      sizeof *profile->tallies, compare_tallies);
	large_array_free(row_place);
	free(resource_place);
	return result;
}
