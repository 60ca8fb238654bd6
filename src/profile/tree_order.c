/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_order.c -- puts nodes into depth-first order.
 *
 * Sorted input enters its nodes in depth-first order; then the builder's
 * arrays become those of the tree.  Otherwise two passes find the place of each
 * run of nodes that follow each other.
 */
#include "src/profile/tree_builder.h"

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

		tree_builder_close_nodes(builder,
		                         tree_parent(&builder->parents, node));
		if (builder->is_mixed)
			return;
		builder->open[builder->depth++] = node;
	}
}

/*
 * Nodes that directly follow their parents do so in depth-first order, too.  So
 * what moves is runs of them, each of which is below a node of an earlier one.
 */
struct node_order {
	struct tree_builder *builder;
	uint32_t n_runs;
	uint32_t *begin;	/* [n_runs + 1] the first node of each */
	uint32_t *place;	/* [n_runs] where it belongs */
	uint32_t *runs;		/* [n_runs] in the order of their places */
	struct node_numbers forks;	/* see node_numbers_mark_forks */
	size_t longest;		/* nodes that change places among themselves */
	void *spare;		/* room for as many items */
};

static void
order_free(struct node_order *order)
{
	large_array_free(order->begin);
	large_array_free(order->place);
	large_array_free(order->runs);
	node_numbers_free(&order->forks);
	large_array_free(order->spare);
}

/* Checks for Ctrl-C between two passes. */
static int
tree_order_check_interrupt(struct error *error)
{
	return progress_step(NULL, 0, 0, error);
}

static int
find_runs(struct node_order *order, struct error *error)
{
	const struct node_numbers *parents = &order->builder->parents;
	uint32_t n = 0;

	order->n_runs = parents->n + 1;
	if (large_array_reserve(&order->begin, (size_t)order->n_runs + 1,
	                        sizeof *order->begin, error) != 0 ||
	    large_array_reserve(&order->place, order->n_runs,
	                        sizeof *order->place, error) != 0 ||
	    large_array_reserve(&order->runs, order->n_runs,
	                        sizeof *order->runs, error) != 0 ||
	    node_numbers_mark_forks(&order->forks, parents, error) != 0)
		return -1;
	order->begin[n++] = 0;
	for (uint32_t i = 0; i <= parents->n_nodes / NODES_A_BLOCK; i++)
		for (uint32_t has = parents->blocks[i].has; has != 0;
		     has &= has - 1)
			order->begin[n++] = i * NODES_A_BLOCK +
			    (uint32_t)__builtin_ctz(has);
	order->begin[n] = parents->n_nodes;
	return 0;
}

/* The node that run i is below; NO_NODE: it begins with an outermost frame. */
static uint32_t
run_parent(const struct node_order *order, uint32_t i)
{
	return i > 0 ? order->builder->parents.number[i - 1] : NO_NODE;
}

/*
 * Finds the place of each run.  The forks' numbers are first how many nodes
 * there are in the runs below them, and then the place of the next of those.
 */
static void
find_places(struct node_order *order)
{
	const struct node_numbers *forks = &order->forks;
	uint32_t *below = forks->number, *size = order->runs;
	uint32_t next_root = 0;

	memset(below, 0, forks->n * sizeof *below);
	for (uint32_t i = order->n_runs; i-- > 0;) {
		const uint32_t *begin = &order->begin[i];
		const uint32_t parent = run_parent(order, i);
		const uint32_t end = node_numbers_before(forks, begin[1]);

		size[i] = begin[1] - begin[0];
		for (uint32_t f = node_numbers_before(forks, begin[0]);
		     f < end; f++)
			size[i] += below[f];
		if (parent != NO_NODE)
			below[node_numbers_before(forks, parent)] += size[i];
	}
	for (uint32_t i = 0; i < order->n_runs; i++) {
		const uint32_t *begin = &order->begin[i];
		const uint32_t parent = run_parent(order, i);
		const uint32_t first = node_numbers_before(forks, begin[0]);
		uint32_t *next = parent == NO_NODE ? &next_root :
		    &below[node_numbers_before(forks, parent)];
		uint32_t place = *next;

		order->place[i] = place;
		*next += size[i];
		/* Below its last node come the first ones after it. */
		place += begin[1] - begin[0];
		for (uint32_t f = node_numbers_before(forks, begin[1]);
		     f-- > first;) {
			const uint32_t n = below[f];

			below[f] = place;
			place += n;
		}
	}
}

/* Sorts the runs by their places, which are as many as there are bits. */
static void
sort_runs(struct node_order *order)
{
	/* The forks are done with. */
	struct node_numbers *places = &order->forks;
	const uint32_t n_blocks = places->n_nodes / NODES_A_BLOCK + 1;
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_blocks; i++)
		places->blocks[i].has = 0;
	for (uint32_t i = 0; i < order->n_runs; i++)
		places->blocks[order->place[i] / NODES_A_BLOCK].has |=
		    UINT32_C(1) << order->place[i] % NODES_A_BLOCK;
	for (uint32_t i = 0; i < n_blocks; i++) {
		places->blocks[i].before = n;
		n += (uint32_t)__builtin_popcount(places->blocks[i].has);
	}
	for (uint32_t i = 0; i < order->n_runs; i++)
		order->runs[node_numbers_before(places, order->place[i])] = i;
}

/*
 * The end of the runs from `first` on that change places among themselves.  In
 * nearly sorted input they are few, and all other nodes stay where they are.
 */
static uint32_t
end_of_moved(const struct node_order *order, uint32_t first)
{
	uint32_t last = order->runs[first];

	for (uint32_t i = first + 1; i <= last; i++)
		if (order->runs[i] > last)
			last = order->runs[i];
	return last + 1;
}

/* Moves the items of all nodes to their places. */
static void
order_move(const struct node_order *order, void *items, size_t size)
{
	const uint32_t *begin = order->begin;

	for (uint32_t i = 0, end; i < order->n_runs; i = end) {
		const uint32_t first = begin[i];
		char *to = (char *)items + first * size;

		end = end_of_moved(order, i);
		if (end == i + 1)
			continue;
		memcpy(order->spare, to, (begin[end] - first) * size);
		for (; i < end; i++) {
			const uint32_t run = order->runs[i];
			const size_t n = (begin[run + 1] - begin[run]) * size;

			memcpy(to, (char *)order->spare +
			       (begin[run] - first) * size, n);
			to += n;
		}
	}
}

/* Moves labels, rows and returns, for a worker. */
static void
order_move_arrays(void *context)
{
	const struct node_order *order = context;
	struct tree_builder *builder = order->builder;

	order_move(order, builder->label, sizeof *builder->label);
	if (builder->row != NULL)
		order_move(order, builder->row, sizeof *builder->row);
	if (builder->returns != NULL)
		order_move(order, builder->returns, sizeof *builder->returns);
}

/* The rows that are numbers, too, unless builder->row has them. */
static int
order_move_rows(struct node_order *order, struct error *error)
{
	struct tree_builder *builder = order->builder;
	struct node_numbers *old = &builder->rows, rows = { 0 };

	if (builder->row != NULL)
		return 0;
	if (old->n_nodes < builder->n_nodes)
		node_numbers_skip(old, builder->n_nodes - old->n_nodes);
	if (node_numbers_reserve(&rows, old->n_nodes, old->n, error) != 0) {
		node_numbers_free(&rows);
		return -1;
	}
	for (uint32_t i = 0; i < order->n_runs; i++) {
		const uint32_t *begin = &order->begin[order->runs[i]];

		node_numbers_append(&rows, old, begin[0], begin[1]);
	}
	node_numbers_free(old);
	*old = rows;
	return 0;
}

/* The parents of the runs in their order. */
static int
order_move_parents(struct node_order *order, struct error *error)
{
	struct node_numbers *old = &order->builder->parents, parents = { 0 };

	if (node_numbers_reserve(&parents, old->n_nodes, order->n_runs,
	                         error) != 0) {
		node_numbers_free(&parents);
		return -1;
	}
	for (uint32_t i = 0; i < order->n_runs; i++) {
		const uint32_t run = order->runs[i];
		const uint32_t *begin = &order->begin[run];
		uint32_t parent = run_parent(order, run), above;

		if (parent != NO_NODE) {
			above = node_numbers_before(old, parent + 1);
			parent += order->place[above] - order->begin[above];
		}
		tree_add_parent(&parents, parent);
		node_numbers_skip(&parents, begin[1] - begin[0] - 1);
	}
	node_numbers_free(old);
	*old = parents;
	return 0;
}

static int
move_nodes(struct node_order *order, struct error *error)
{
	const uint32_t *begin = order->begin;
	const struct tree_builder *builder = order->builder;
	struct worker *worker;
	int result;

	for (uint32_t i = 0, end; i < order->n_runs; i = end) {
		end = end_of_moved(order, i);
		if (end > i + 1 && begin[end] - begin[i] > order->longest)
			order->longest = begin[end] - begin[i];
	}
	if (large_array_reserve(&order->spare, order->longest,
	                        builder->returns != NULL ? sizeof(uint64_t) :
	                        sizeof(uint32_t), error) != 0)
		return -1;
	worker = order->longest >= WORTH_A_WORKER ? worker_new() : NULL;
	worker_start(worker, order_move_arrays, order);
	result = order_move_rows(order, error);
	if (result == 0)
		result = order_move_parents(order, error);
	worker_free(worker);
	return result;
}

/* Puts the nodes into depth-first order. */
static int
order_nodes(struct tree_builder *builder, struct error *error)
{
	struct node_order order = { .builder = builder };
	int result = find_runs(&order, error);

	if (result == 0) {
		find_places(&order);
		result = tree_order_check_interrupt(error);
	}
	if (result == 0) {
		sort_runs(&order);
		result = tree_order_check_interrupt(error);
	}
	if (result == 0)
		result = move_nodes(&order, error);
	if (result == 0)
		result = tree_order_check_interrupt(error);
	order_free(&order);
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

/* Gives the rows to the tree, which has the nodes in order. */
static int
give_rows(struct tree_builder *builder, struct sample_tree *tree,
          struct error *error)
{
	struct node_numbers *rows = &tree->rows;

	*rows = builder->rows;
	builder->rows = (struct node_numbers){ 0 };
	if (builder->row == NULL) {
		node_numbers_skip(rows, tree->n_nodes - rows->n_nodes);
		return 0;
	}
	node_numbers_free(rows);
	if (node_numbers_reserve(rows, tree->n_nodes, tree->n_rows,
	                         error) != 0)
		return -1;
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		tree_add_row(rows, builder->row[node]);
	large_array_free(builder->row);
	builder->row = NULL;
	return 0;
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
	if (builder->is_mixed && order_nodes(builder, error) != 0)
		return NULL;
	tree = memory_array(1, sizeof *tree, error);
	if (tree == NULL)
		return NULL;
	*tree = (struct sample_tree){
		.n_nodes = builder->n_nodes,
		.n_resources = builder->n_resources,
		.parents = builder->parents,
		.label = builder->label,
		.n_rows = builder->n_rows,
		.hits = builder->hits,
		.samples = builder->samples,
		.returns = builder->returns,
	};
	builder->parents = (struct node_numbers){ 0 };
	builder->label = NULL;
	builder->hits = builder->samples = NULL;
	builder->returns = NULL;
	if (sample_tree_find_ends(tree, error) != 0 ||
	    give_rows(builder, tree, error) != 0 ||
	    add_timeline(builder, tree, error) != 0) {
		sample_tree_free(tree);
		return NULL;
	}
	return tree;
}
