/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_builder.c -- makes a sample tree of stacks in any order.
 *
 * Nodes are numbered as they are entered, in arrays that become those of the
 * tree.
 */
#include "src/profile/tree_builder.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { FIRST_CAPACITY = 1024 };

struct slot *
tree_builder_new_slots(unsigned bits, struct error *error)
{
	size_t n = (size_t)1 << bits;
	struct slot *slots = NULL;

	return large_array_zeroed(&slots, n, sizeof *slots, error) == 0 ?
	       slots : NULL;
}

struct tree_builder *
tree_builder_new(uint32_t n_resources, struct error *error)
{
	struct tree_builder *builder = memory_array(1, sizeof *builder, error);

	if (builder == NULL)
		return NULL;
	builder->n_resources = n_resources;
	builder->slots_bits = FIRST_SLOTS_BITS;
	builder->slots = tree_builder_new_slots(FIRST_SLOTS_BITS, error);
	builder->hits = memory_array(n_resources, sizeof *builder->hits,
	                             error);
	builder->samples = memory_array(n_resources, sizeof *builder->samples,
	                                error);
	builder->total_hits = memory_array(n_resources, sizeof(uint64_t),
	                                   error);
	builder->total_samples = memory_array(n_resources, sizeof(uint64_t),
	                                      error);
	if (error->is_set) {
		tree_builder_free(builder);
		return NULL;
	}
	return builder;
}

void
tree_builder_free(struct tree_builder *builder)
{
	if (builder == NULL)
		return;
	large_array_free_each(builder->hits, builder->n_resources);
	large_array_free_each(builder->samples, builder->n_resources);
	free(builder->total_hits);
	free(builder->total_samples);
	large_array_free(builder->returns);
	large_array_free(builder->slots);
	node_numbers_free(&builder->parents);
	large_array_free(builder->label);
	large_array_free(builder->open);
	node_numbers_free(&builder->rows);
	large_array_free(builder->row);
	large_array_free(builder->moments);
	free(builder);
}

uint32_t
tree_builder_count(const struct tree_builder *builder)
{
	return builder->n_nodes;
}

int
tree_builder_grow(struct tree_builder *builder, size_t more,
                  struct error *error)
{
	size_t n = builder->n_nodes, capacity = builder->capacity;

	if (more >= NO_NODE - n)
		return error_set(error, "more than 4,294,967,294 call paths");
	if (capacity == 0)
		capacity = FIRST_CAPACITY;
	while (capacity - n < more)
		capacity *= 2;
	if (node_numbers_reserve(&builder->parents, capacity, capacity,
	                         error) != 0 ||
	    large_array_reserve(&builder->label, capacity, sizeof(uint32_t),
	                        error) != 0 ||
	    large_array_reserve(&builder->open, capacity, sizeof(uint32_t),
	                        error) != 0 ||
	    (builder->row == NULL ?
	     node_numbers_reserve(&builder->rows, capacity, capacity, error) :
	     large_array_reserve(&builder->row, capacity, sizeof(uint32_t),
	                         error)) != 0)
		return -1;
	if (builder->returns != NULL &&
	    large_array_reserve(&builder->returns, capacity, sizeof(uint64_t),
	                        error) != 0)
		return -1;
	builder->capacity = capacity;
	return 0;
}

static int
grow_rows(struct tree_builder *builder, struct error *error)
{
	size_t capacity = builder->rows_capacity > 0 ?
	                  2 * builder->rows_capacity : FIRST_CAPACITY;

	for (uint32_t r = 0; r < builder->n_resources; r++)
		if (large_array_reserve(&builder->hits[r], capacity,
		                        sizeof(uint64_t), error) != 0 ||
		    (builder->samples[r] != NULL &&
		     large_array_reserve(&builder->samples[r], capacity,
		                         sizeof(uint64_t), error) != 0))
			return -1;
	builder->rows_capacity = capacity;
	return 0;
}

int
tree_builder_add_row(struct tree_builder *builder, struct error *error)
{
	uint32_t row = builder->n_rows;

	if (row == builder->rows_capacity && grow_rows(builder, error) != 0)
		return -1;
	for (uint32_t r = 0; r < builder->n_resources; r++) {
		builder->hits[r][row] = 0;
		if (builder->samples[r] != NULL)
			builder->samples[r][row] = 0;
	}
	builder->n_rows++;
	return 0;
}

uint32_t
tree_builder_row(const struct tree_builder *builder, uint32_t node)
{
	const struct node_numbers *rows = &builder->rows;

	return builder->row != NULL ? builder->row[node] :
	    node < rows->n_nodes && node_numbers_has(rows, node) ?
	    node_numbers_get(rows, node) : 0;
}

/* Rows no longer come in the order of their nodes. */
static int
mix_rows(struct tree_builder *builder, struct error *error)
{
	uint32_t *row = NULL;

	if (large_array_reserve(&row, builder->capacity, sizeof *row,
	                        error) != 0)
		return -1;
	for (uint32_t n = 0; n < builder->n_nodes; n++)
		row[n] = tree_builder_row(builder, n);
	builder->row = row;
	node_numbers_free(&builder->rows);
	return 0;
}

/* Gives a row to a node that has none; 0 with *error set. */
static uint32_t
add_row_of(struct tree_builder *builder, uint32_t node, struct error *error)
{
	struct node_numbers *rows = &builder->rows;
	uint32_t row;

	if ((builder->n_rows == 0 &&
	     tree_builder_add_row(builder, error) != 0) ||
	    tree_builder_add_row(builder, error) != 0)
		return 0;
	row = builder->n_rows - 1;
	if (builder->row == NULL && node < rows->n_nodes &&
	    mix_rows(builder, error) != 0)
		return 0;
	if (builder->row != NULL) {
		builder->row[node] = row;
	} else {
		node_numbers_skip(rows, node - rows->n_nodes);
		node_numbers_add(rows, true, row);
	}
	return row;
}

/* Adds a zeroed item of size bytes to the array *items of n; 0 or -1. */
static int
tree_builder_extend(void *items, size_t n, size_t size, struct error *error)
{
	size_t capacity = n;
	char *bytes;

	if (memory_grow(items, &capacity, n + 1, size, error) != 0)
		return -1;
	memcpy(&bytes, items, sizeof bytes);
	memset(bytes + n * size, 0, size);
	return 0;
}

int
tree_builder_add_resource(struct tree_builder *builder, struct error *error)
{
	uint32_t n = builder->n_resources;
	size_t capacity = builder->rows_capacity;

	if (tree_builder_extend(&builder->hits, n, sizeof *builder->hits,
	                        error) != 0 ||
	    tree_builder_extend(&builder->samples, n, sizeof *builder->samples,
	                        error) != 0 ||
	    tree_builder_extend(&builder->total_hits, n, sizeof(uint64_t),
	                        error) != 0 ||
	    tree_builder_extend(&builder->total_samples, n, sizeof(uint64_t),
	                        error) != 0)
		return -1;
	if (capacity > 0) {
		if (large_array_reserve(&builder->hits[n], capacity,
		                        sizeof(uint64_t), error) != 0)
			return -1;
		memset(builder->hits[n], 0,
		       builder->n_rows * sizeof(uint64_t));
	}
	builder->n_resources++;
	return 0;
}

/* Counts samples apart from hits from here on. */
static int
split_samples(struct tree_builder *builder, uint32_t resource,
              struct error *error)
{
	uint64_t *samples = NULL;

	if (large_array_reserve(&samples, builder->rows_capacity,
	                        sizeof *samples, error) != 0)
		return -1;
	memcpy(samples, builder->hits[resource],
	       builder->n_rows * sizeof *samples);
	builder->samples[resource] = samples;
	return 0;
}

int
tree_builder_add(struct tree_builder *builder, uint32_t node,
                 uint32_t resource, uint64_t hits, uint64_t samples,
                 struct error *error)
{
	uint64_t *total_hits = &builder->total_hits[resource];
	uint64_t *total_samples = &builder->total_samples[resource];
	uint32_t row = tree_builder_row(builder, node);

	if (hits > UINT64_MAX - *total_hits)
		return error_set(error, "the sum of hits exceeds 64 bits");
	if (samples > UINT64_MAX - *total_samples)
		return error_set(error, "the sum of samples exceeds 64 bits");
	if (row == 0 && (row = add_row_of(builder, node, error)) == 0)
		return -1;
	if (hits != samples && builder->samples[resource] == NULL &&
	    split_samples(builder, resource, error) != 0)
		return -1;
	*total_hits += hits;
	*total_samples += samples;
	builder->hits[resource][row] += hits;
	if (builder->samples[resource] != NULL)
		builder->samples[resource][row] += samples;
	return 0;
}

void
tree_builder_clear(struct tree_builder *builder, uint32_t first)
{
	for (uint32_t node = first; node < builder->n_nodes; node++) {
		uint32_t row = tree_builder_row(builder, node);

		for (uint32_t r = 0; row > 0 && r < builder->n_resources; r++) {
			uint64_t *hits = &builder->hits[r][row];
			uint64_t *samples = builder->samples[r] != NULL ?
			    &builder->samples[r][row] : hits;

			builder->total_samples[r] -= *samples;
			builder->total_hits[r] -= *hits;
			*hits = *samples = 0;
		}
	}
}

void
tree_builder_set_origin(struct tree_builder *builder, uint64_t utc_ns)
{
	builder->has_origin = true;
	builder->origin_ns = utc_ns;
}

/* Whether the last moment is of the same counts; many samples are. */
static bool
is_last_moment(const struct tree_builder *builder, const struct moment *moment)
{
	const struct moment *last;

	if (builder->n_moments == 0)
		return false;
	last = &builder->moments[builder->n_moments - 1];
	return last->row == moment->row && last->begin_ns == moment->begin_ns &&
	    last->width_ns == moment->width_ns &&
	    last->resource == moment->resource;
}

/*
 * Sums up the moments by the slices that there would be now, so that they are
 * bounded by rows and slices, and not by samples.  Later slices are as wide, or
 * wider by a power of two, and begin at the same time, so nothing is lost.
 */
static int
fold_moments(struct tree_builder *builder, struct error *error)
{
	const struct timeline_rows rows = { builder->n_rows,
		builder->n_resources, builder->hits, builder->samples };
	const uint64_t from = builder->has_origin ? 0 : builder->earliest_ns;
	struct timeline *timeline = timeline_new(&rows, builder->moments,
	    builder->n_moments, from, 0, error);
	size_t n = 0;

	if (timeline == NULL)
		return -1;
	for (uint32_t row = 0; row < timeline->n_rows; row++)
		for (size_t i = timeline->first[row];
		     i < timeline->first[row + 1]; i++)
			for (uint32_t r = 0; r < timeline->n_resources; r++) {
				const struct moment moment = {
					from + timeline->slice[i] *
					    timeline->width_ns,
					timeline->width_ns,
					timeline->hits[r][i],
					timeline->samples[r][i], row, r
				};

				if ((moment.hits | moment.samples) != 0)
					builder->moments[n++] = moment;
			}
	builder->n_moments = n;
	builder->folded_ns = timeline->width_ns;
	builder->fold_at = n > MOMENTS_TO_FOLD / 2 ? 2 * n : MOMENTS_TO_FOLD;
	timeline_free(timeline);
	return 0;
}

/* Where slices begin stays where it is, or moves by whole ones. */
static void
note_earliest(struct tree_builder *builder, uint64_t begin_ns)
{
	const uint64_t width = builder->folded_ns;
	uint64_t earlier;

	if (builder->n_moments == 0 && width == 0) {
		builder->earliest_ns = begin_ns;
	} else if (begin_ns < builder->earliest_ns) {
		earlier = builder->earliest_ns - begin_ns;
		if (width > 0 && earlier % width != 0)
			earlier += width - earlier % width;
		builder->earliest_ns -= earlier < builder->earliest_ns ?
		                        earlier : builder->earliest_ns;
	}
}

int
tree_builder_add_time(struct tree_builder *builder, uint32_t node,
                      uint32_t resource, uint64_t begin_ns, uint64_t width_ns,
                      uint64_t hits, uint64_t samples, struct error *error)
{
	const struct moment moment = { .begin_ns = begin_ns,
		.width_ns = width_ns, .hits = hits, .samples = samples,
		.row = tree_builder_row(builder, node), .resource = resource };

	if (moment.row == 0)
		return 0;
	if (is_last_moment(builder, &moment)) {
		struct moment *last =
		    &builder->moments[builder->n_moments - 1];

		if (!__builtin_add_overflow(last->hits, hits, &last->hits) &&
		    !__builtin_add_overflow(last->samples, samples,
		                            &last->samples))
			return 0;
		last->hits = last->samples = UINT64_MAX;
		return 0;
	}
	if (builder->n_moments == builder->moments_capacity) {
		const size_t capacity = builder->moments_capacity > 0 ?
		    2 * builder->moments_capacity : FIRST_CAPACITY;

		if (large_array_reserve(&builder->moments, capacity,
		                        sizeof *builder->moments, error) != 0)
			return -1;
		builder->moments_capacity = capacity;
	}
	note_earliest(builder, begin_ns);
	builder->moments[builder->n_moments++] = moment;
	return builder->n_moments < (builder->fold_at > 0 ? builder->fold_at :
	    MOMENTS_TO_FOLD) ? 0 : fold_moments(builder, error);
}

int
tree_builder_add_returns(struct tree_builder *builder, uint32_t node,
                         uint64_t returns, struct error *error)
{
	if (returns > UINT64_MAX - builder->total_returns)
		return error_set(error, "the sum of returns exceeds 64 bits");
	if (builder->returns == NULL) {
		if (large_array_reserve(&builder->returns, builder->capacity,
		                        sizeof(uint64_t), error) != 0)
			return -1;
		memset(builder->returns, 0,
		       builder->n_nodes * sizeof(uint64_t));
	}
	builder->total_returns += returns;
	builder->returns[node] += returns;
	return 0;
}
