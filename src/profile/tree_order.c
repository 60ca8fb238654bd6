/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_order.c -- puts nodes into depth-first order.
 *
 * Sorted input enters its nodes in depth-first order; then the builder's
 * arrays become those of the tree.  Otherwise two passes find each node's
 * place.
 */
#include "src/profile/tree_builder.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/worker.h"

enum { WORTH_A_WORKER = 1 << 18 };	/* nodes to move */

/*
 * Extends the part that is in depth-first order: each node steps down by one,
 * or climbs out of subtrees that end here.
 */
void
tree_builder_order(struct tree_builder *builder)
{
	for (; builder->n_ordered < builder->n_nodes && !builder->is_mixed;
	     builder->n_ordered++) {
		const uint32_t node = builder->n_ordered;

		tree_builder_close_nodes(builder, builder->parent[node], node);
		if (builder->is_mixed)
			return;
		builder->open[builder->depth++] = node;
		if (builder->depth > builder->deepest)
			builder->deepest = builder->depth;
	}
}

/*
 * Runs of nodes that change places among themselves.  In nearly sorted input
 * they are few and short, and all other nodes stay where they are.
 */
struct order_runs {
	struct order_run {
		uint32_t begin, end;
	} *runs;
	size_t n, capacity;
	size_t longest;
};

static int
find_runs(const uint32_t *place, uint32_t n_nodes, struct order_runs *runs,
          struct error *error)
{
	for (uint32_t n = 0; n < n_nodes; n++) {
		uint32_t begin = n, last = place[n];

		if (last == n)
			continue;
		while (++n <= last)
			if (place[n] > last)
				last = place[n];
		if (memory_grow(&runs->runs, &runs->capacity, runs->n + 1,
		                sizeof *runs->runs, error) != 0)
			return -1;
		runs->runs[runs->n++] = (struct order_run){ begin, n };
		if (n - begin > runs->longest)
			runs->longest = n - begin;
		n--;
	}
	return 0;
}

/*
 * Each moves the items of all runs to their places; spare has room for a run.
 */
static void
permute_labels(uint32_t *labels, const uint32_t *place,
               const struct order_runs *runs, uint32_t *spare)
{
	for (size_t r = 0; r < runs->n; r++) {
		const struct order_run *run = &runs->runs[r];
		uint32_t n = run->end - run->begin;

		memcpy(spare, labels + run->begin, n * sizeof *spare);
		for (uint32_t i = 0; i < n; i++)
			labels[place[run->begin + i]] = spare[i];
	}
}

static void
permute_counts(uint64_t *counts, const uint32_t *place,
               const struct order_runs *runs, uint64_t *spare)
{
	for (size_t r = 0; r < runs->n; r++) {
		const struct order_run *run = &runs->runs[r];
		uint32_t n = run->end - run->begin;

		memcpy(spare, counts + run->begin, n * sizeof *spare);
		for (uint32_t i = 0; i < n; i++)
			counts[place[run->begin + i]] = spare[i];
	}
}

/* Half of the arrays to move, for a worker. */
struct order_half {
	struct tree_builder *builder;
	const uint32_t *place;
	const struct order_runs *runs;
	uint64_t *spare;	/* room for the longest run */
};

static void
permute_half(void *context)
{
	const struct order_half *half = context;
	struct tree_builder *builder = half->builder;
	uint32_t *spare = (uint32_t *)half->spare;

	permute_labels(builder->label, half->place, half->runs, spare);
	permute_labels(builder->row, half->place, half->runs, spare);
	if (builder->returns != NULL)
		permute_counts(builder->returns, half->place, half->runs,
		               half->spare);
}

/* Moves parents and ends here, and everything else in a worker. */
static int
permute_nodes(struct tree_builder *builder, uint32_t *place,
              const struct order_runs *runs, struct error *error)
{
	struct order_half half = { builder, place, runs, NULL };
	uint32_t *spare = NULL;
	struct worker *worker;

	if (large_array_reserve(&half.spare, runs->longest,
	                        builder->returns != NULL ? sizeof(uint64_t) :
	                        sizeof(uint32_t), error) != 0)
		return -1;
	if (large_array_reserve(&spare, runs->longest, sizeof *spare,
	                        error) != 0) {
		large_array_free(half.spare);
		return -1;
	}
	worker = runs->longest >= WORTH_A_WORKER ? worker_new() : NULL;
	worker_start(worker, permute_half, &half);
	permute_labels(builder->parent, place, runs, spare);
	permute_labels(builder->end, place, runs, spare);
	worker_free(worker);
	large_array_free(half.spare);
	large_array_free(spare);
	return 0;
}

/* Checks for Ctrl-C between two passes over the nodes. */
static int
tree_order_check_interrupt(struct error *error)
{
	return progress_step(NULL, 0, 0, error);
}

/* Puts the nodes into depth-first order. */
static int
order_nodes(struct tree_builder *builder, struct error *error)
{
	const uint32_t n_nodes = builder->n_nodes;
	uint32_t *parent = builder->parent, *room = builder->end;
	uint32_t *place = NULL, next_root = 0;
	struct order_runs runs = { 0 };
	int result;

	large_array_free(builder->open);
	builder->open = NULL;
	if (large_array_reserve(&place, n_nodes, sizeof *place, error) != 0)
		return -1;
	/* How many nodes each subtree has. */
	for (uint32_t n = 0; n < n_nodes; n++)
		room[n] = 1;
	for (uint32_t n = n_nodes; n-- > 0;)
		if (parent[n] != NO_NODE)
			room[parent[n]] += room[n];
	result = tree_order_check_interrupt(error);
	/*
	 * Each node's place; a node that has its own keeps its next child's in
	 * room, which is the end of its subtree when all children have theirs.
	 */
	for (uint32_t n = 0; result == 0 && n < n_nodes; n++) {
		uint32_t above = parent[n], size = room[n];
		uint32_t *next = above != NO_NODE ? &room[above] : &next_root;

		place[n] = *next;
		*next += size;
		room[n] = place[n] + 1;
		if (above != NO_NODE)
			parent[n] = place[above];
	}
	if (result == 0)
		result = tree_order_check_interrupt(error);
	if (result == 0)
		result = find_runs(place, n_nodes, &runs, error);
	if (result == 0)
		result = permute_nodes(builder, place, &runs, error);
	if (result == 0)
		result = tree_order_check_interrupt(error);
	for (uint32_t n = 0; result == 0 && n < n_nodes; n++) {
		uint32_t *depth = place;	/* which is done with */

		depth[n] = parent[n] != NO_NODE ? depth[parent[n]] + 1 : 1;
		if (depth[n] > builder->deepest)
			builder->deepest = depth[n];
	}
	free(runs.runs);
	large_array_free(place);
	return result;
}

/* Makes the tree's timeline of the moments that are known. */
static int
add_timeline(struct tree_builder *builder, struct sample_tree *tree,
             struct error *error)
{
	const struct timeline_rows rows = sample_tree_rows(tree);

	if (builder->n_moments == 0)
		return 0;
	tree->timeline = timeline_new(&rows, builder->moments,
	    builder->n_moments, builder->has_origin ? 0 : builder->earliest_ns,
	    builder->origin_ns, error);
	large_array_free(builder->moments);
	builder->moments = NULL;
	return tree->timeline != NULL ? 0 : -1;
}

struct sample_tree *
tree_builder_finish(struct tree_builder *builder, struct error *error)
{
	struct sample_tree *tree;

	large_array_free(builder->slots);
	builder->slots = NULL;
	if ((builder->capacity == 0 &&
	     tree_builder_reserve_nodes(builder, 1, error) != 0) ||
	    (builder->n_rows == 0 && tree_builder_add_row(builder, error) != 0))
		return NULL;
	tree_builder_order(builder);
	if (!builder->is_mixed)
		tree_builder_close_nodes(builder, NO_NODE, builder->n_nodes);
	else if (order_nodes(builder, error) != 0)
		return NULL;
	tree = memory_array(1, sizeof *tree, error);
	if (tree == NULL)
		return NULL;
	*tree = (struct sample_tree){
		.n_nodes = builder->n_nodes,
		.n_resources = builder->n_resources,
		.deepest = builder->deepest,
		.parent = builder->parent,
		.end = builder->end,
		.label = builder->label,
		.row = builder->row,
		.n_rows = builder->n_rows,
		.hits = builder->hits,
		.samples = builder->samples,
		.returns = builder->returns,
	};
	builder->parent = builder->end = builder->label = builder->row = NULL;
	builder->hits = builder->samples = NULL;
	builder->returns = NULL;
	if (add_timeline(builder, tree, error) != 0) {
		sample_tree_free(tree);
		return NULL;
	}
	return tree;
}
