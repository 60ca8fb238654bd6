/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_costs.c -- converts stacks to costs of functions' lines and calls.
 */
#include "src/formats/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/profile/frame_labels.h"
#include "src/profile/stack_list.h"

/* A location of a frame. */
struct costs_place {
	uint32_t outermost;	/* the function, with its level */
	uint32_t inner;
	uint32_t file, line;
};

/* The place of a call. */
struct caller {
	uint32_t function, file, line;
};

struct callgrind_costs {
	const struct export_source *source;
	const struct writer *writer;
	struct names *functions;	/* struct cost_function */
	struct names *keys;		/* struct cost */
	uint64_t *hits;			/* [keys][n_resources] */
	size_t hits_capacity;
	uint32_t *order;		/* [keys] */
	uint32_t *files;		/* [functions] the first known file */
	size_t files_capacity;

	/* Used while costs are added up. */
	struct costs_place *places;		/* [n_locations] */
	uint32_t *n_active;		/* [functions], of the outermost kind:
					 * activations on the stack */
	struct caller *callers;		/* [deepest] innermost of each frame
					 * on the stack */
	uint64_t *weight;		/* [n_nodes] of one resource */
};

static uint32_t
callgrind_costs_add_function(struct callgrind_costs *costs,
                             const struct frame *frame,
                             const struct location *location, uint32_t level,
                             struct error *error)
{
	struct cost_function key = { frame->module, location->function,
		level };
	uint32_t n = names_count(costs->functions);
	uint32_t number = names_add(costs->functions, (const char *)&key,
	                            sizeof key, error);

	if (number == NO_NAME ||
	    memory_grow(&costs->files, &costs->files_capacity, (size_t)n + 1,
	                sizeof *costs->files, error) != 0)
		return NO_NAME;
	if (number == n || costs->files[number] == NO_NAME)
		costs->files[number] = location->file;
	return number;
}

static int
callgrind_costs_find_places(struct callgrind_costs *costs, struct error *error)
{
	const struct profile *profile = costs->source->profile;

	for (uint32_t f = 0; f < profile->n_frames; f++) {
		const struct frame *frame = &profile->frames[f];

		for (uint32_t i = 0; i < frame->n_locations; i++) {
			uint32_t at = frame->first_location + i;
			struct location *location = &profile->locations[at];

			costs->places[at] = (struct costs_place){
				callgrind_costs_add_function(costs, frame,
				                             location, 1,
				                             error),
				callgrind_costs_add_function(costs, frame,
				                             location, 2,
				                             error),
				location->file, location->line
			};
		}
	}
	return error->is_set ? -1 : 0;
}

/* The places of a frame's locations, outermost first; *n of them. */
static const struct costs_place *
places_of(const struct callgrind_costs *costs, uint32_t label, uint32_t *n)
{
	const struct profile *profile = costs->source->profile;
	const struct frame *frame = &profile->frames[label];

	*n = frame_shown_locations(frame, costs->source->inlines);
	return &costs->places[frame->first_location];
}

static int
callgrind_costs_add_cost(struct callgrind_costs *costs, uint32_t resource,
                         const struct caller *caller, uint32_t callee,
                         uint64_t hits, struct error *error)
{
	struct cost key = { caller->function, caller->file, caller->line,
		callee };
	uint32_t n_resources = costs->source->profile->n_resources;
	uint32_t n = names_count(costs->keys);
	uint32_t number = names_add(costs->keys, (const char *)&key,
	                            sizeof key, error);
	uint64_t *count;

	if (number == NO_NAME ||
	    memory_grow(&costs->hits, &costs->hits_capacity,
	                ((size_t)n + 1) * n_resources,
	                sizeof *costs->hits, error) != 0)
		return -1;
	if (number == n)
		memset(&costs->hits[(size_t)n * n_resources], 0,
		       n_resources * sizeof *costs->hits);
	count = &costs->hits[(size_t)number * n_resources + resource];
	if (__builtin_add_overflow(*count, hits, count))
		return error_set(error, "the hits of recursive calls exceed 64 "
		                 "bits");
	return 0;
}

/* Takes the functions of a node's frame off the stack. */
static void
callgrind_costs_leave(struct callgrind_costs *costs, uint32_t node)
{
	uint32_t n;
	const struct costs_place *places = places_of(costs,
	    costs->source->profile->tree->label[node], &n);

	while (n-- > 0)
		costs->n_active[places[n].outermost]--;
}

/*
 * Adds the call of each function of the node, then what the innermost used
 * itself.
 */
static int
callgrind_costs_add_node(struct callgrind_costs *costs, uint32_t resource,
                         const struct stack_walk *walk, struct error *error)
{
	uint32_t node = walk->nodes[walk->depth - 1], n;
	const struct costs_place *places = places_of(costs,
	                                             walk->tree->label[node],
	                                             &n);
	struct caller *caller = walk->depth > 1 ?
	    &costs->callers[walk->depth - 2] : NULL;
	struct caller *own = &costs->callers[walk->depth - 1];

	for (uint32_t i = 0; i < n; i++) {
		bool is_inner = costs->n_active[places[i].outermost]++ > 0;
		uint32_t function = is_inner ? places[i].inner :
		                    places[i].outermost;

		if (caller != NULL &&
		    callgrind_costs_add_cost(costs, resource, caller, function,
		                             costs->weight[node], error) != 0)
			return -1;
		*own = (struct caller){ function, places[i].file,
			                places[i].line };
		caller = own;
	}
	return callgrind_costs_add_cost(costs, resource, own, NO_FUNCTION,
	                                sample_tree_hits(walk->tree, resource,
	                                                 node),
	                                error);
}

static int
callgrind_costs_add_resource(struct callgrind_costs *costs, uint32_t resource,
                             struct error *error)
{
	const struct sample_tree *tree = costs->source->profile->tree;
	struct stack_walk walk = { .tree = tree };
	int result = stack_walk_begin(&walk, error);

	sample_tree_weights(tree, tree->hits[resource], costs->weight);
	for (uint32_t n = 0; result == 0 && n < tree->n_nodes; n++) {
		uint32_t parent = tree->parent[n];

		while (walk.depth > 0 && walk.nodes[walk.depth - 1] != parent)
			callgrind_costs_leave(costs, walk.nodes[--walk.depth]);
		stack_walk_to(&walk, n);
		result = callgrind_costs_add_node(costs, resource, &walk,
		                                  error);
		if (result == 0)
			result = export_may_go_on(n, costs->writer, error);
	}
	while (walk.depth > 0)
		callgrind_costs_leave(costs, walk.nodes[--walk.depth]);
	free(walk.nodes);
	return result;
}

static int
callgrind_costs_add_costs(struct callgrind_costs *costs, struct error *error)
{
	const struct profile *profile = costs->source->profile;

	costs->places = memory_array(profile->n_locations,
	                             sizeof *costs->places, error);
	costs->weight = memory_array(profile->tree->n_nodes,
	                             sizeof *costs->weight, error);
	if (costs->places == NULL || costs->weight == NULL ||
	    callgrind_costs_find_places(costs, error) != 0)
		return -1;
	costs->n_active = memory_array(names_count(costs->functions),
	                               sizeof *costs->n_active, error);
	costs->callers = memory_array(profile->tree->deepest,
	                              sizeof *costs->callers, error);
	if (costs->n_active == NULL || costs->callers == NULL)
		return -1;
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (callgrind_costs_add_resource(costs, r, error) != 0)
			return -1;
	return 0;
}

static struct cost
key_of(const struct callgrind_costs *costs, uint32_t number)
{
	struct cost key;

	memcpy(&key, names_text(costs->keys, number), sizeof key);
	return key;
}

static int
compare_costs(const void *a, const void *b, void *context)
{
	struct cost x = key_of(context, *(const uint32_t *)a);
	struct cost y = key_of(context, *(const uint32_t *)b);

	if (x.function != y.function)
		return x.function < y.function ? -1 : 1;
	if (x.file != y.file)
		return x.file < y.file ? -1 : 1;
	if (x.line != y.line)
		return x.line < y.line ? -1 : 1;
	return x.callee + 1 < y.callee + 1 ? -1 : x.callee + 1 > y.callee + 1;
}

static int
sort_costs(struct callgrind_costs *costs, struct error *error)
{
	uint32_t n = names_count(costs->keys);

	costs->order = memory_array(n, sizeof *costs->order, error);
	if (costs->order == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		costs->order[i] = i;
	return sort_items(costs->order, n, sizeof *costs->order, compare_costs,
	                  costs, error);
}

struct callgrind_costs *
callgrind_costs_new(const struct export_source *source,
                    const struct writer *writer, struct error *error)
{
	struct callgrind_costs *costs = memory_array(1, sizeof *costs, error);

	if (costs == NULL)
		return NULL;
	costs->source = source;
	costs->writer = writer;
	costs->functions = names_new(error);
	costs->keys = names_new(error);
	if (costs->functions == NULL || costs->keys == NULL ||
	    callgrind_costs_add_costs(costs, error) != 0 ||
	    sort_costs(costs, error) != 0) {
		callgrind_costs_free(costs);
		return NULL;
	}
	return costs;
}

void
callgrind_costs_free(struct callgrind_costs *costs)
{
	if (costs == NULL)
		return;
	names_free(costs->functions);
	names_free(costs->keys);
	free(costs->hits);
	free(costs->order);
	free(costs->files);
	free(costs->places);
	free(costs->n_active);
	free(costs->callers);
	free(costs->weight);
	free(costs);
}

size_t
callgrind_costs_count(const struct callgrind_costs *costs)
{
	return names_count(costs->keys);
}

struct cost
callgrind_costs_get(const struct callgrind_costs *costs, size_t i,
                    const uint64_t **hits)
{
	uint32_t number = costs->order[i];

	*hits = costs->hits + (size_t)number *
	    costs->source->profile->n_resources;
	return key_of(costs, number);
}

struct cost_function
callgrind_costs_function(const struct callgrind_costs *costs,
                         uint32_t function, uint32_t *file)
{
	struct cost_function key;

	*file = costs->files[function];
	memcpy(&key, names_text(costs->functions, function), sizeof key);
	return key;
}
