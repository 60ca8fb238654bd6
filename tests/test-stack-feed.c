/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-stack-feed.c -- stacks by batches, against one after the other. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/stack_feed.h"

/* Several batches of each kind. */
enum { N_STACKS = 400000, MAX_DEPTH = 12, N_LABELS = 5 };

struct stack {
	uint32_t labels[MAX_DEPTH];	/* outermost first */
	size_t n;
};

static struct stack *stacks;

static void
make_stack(struct stack *stack)
{
	stack->n = 1 + (size_t)rand() % MAX_DEPTH;
	for (size_t i = 0; i < stack->n; i++)
		stack->labels[i] = (uint32_t)(rand() % N_LABELS);
	/* Here and there many children, and labels whose bits agree. */
	if (stack->n > 1 && rand() % 8 == 0)
		stack->labels[stack->n - 1] = (uint32_t)rand() % 3000;
}

static int
compare_stacks(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;
	size_t n = x->n < y->n ? x->n : y->n;

	for (size_t i = 0; i < n; i++)
		if (x->labels[i] != y->labels[i])
			return x->labels[i] < y->labels[i] ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

/* Ordered, then scattered, then ordered again. */
static int
make_stacks(void **state)
{
	(void)state;
	srand(7);
	stacks = calloc(N_STACKS, sizeof *stacks);
	if (stacks == NULL)
		return -1;
	for (size_t i = 0; i < N_STACKS; i++) {
		make_stack(&stacks[i]);
		/* New outermost frames, well among the scattered stacks. */
		if (i > N_STACKS / 2)
			stacks[i].labels[0] += N_LABELS;
	}
	qsort(stacks, N_STACKS / 3, sizeof *stacks, compare_stacks);
	qsort(stacks + N_STACKS / 3 * 2, N_STACKS / 3, sizeof *stacks,
	      compare_stacks);
	return 0;
}

static int
free_stacks(void **state)
{
	(void)state;
	free(stacks);
	return 0;
}

static struct sample_tree *
enter_one_by_one(void)
{
	struct error error = { 0 };
	struct tree_builder *builder = tree_builder_new(2, &error);
	struct sample_tree *tree;
	uint32_t node = NO_NODE;

	assert_non_null(builder);
	for (size_t i = 0; i < N_STACKS; i++) {
		const struct stack *stack = &stacks[i];

		node = NO_NODE;
		for (size_t k = 0; k < stack->n; k++)
			node = tree_builder_child(builder, node,
			                          stack->labels[k], &error);
		assert_int_equal(tree_builder_add(builder, node, 0, i, i,
		                                  &error), 0);
		assert_int_equal(tree_builder_add(builder, node, 1, 1, 1,
		                                  &error), 0);
	}
	tree = tree_builder_finish(builder, &error);
	assert_non_null(tree);
	tree_builder_free(builder);
	return tree;
}

/* Of the frames that a stack shares it tells at most n_told itself. */
static int
push(struct stack_feed *feed, size_t number, size_t n_told,
     struct error *error)
{
	const struct stack *stack = &stacks[number], *last = stack - 1;
	uint64_t counts[] = { number, 1 };
	size_t shared = 0, n;
	uint32_t *room;

	while (number > 0 && shared < n_told && shared < stack->n &&
	       shared < last->n &&
	       stack->labels[shared] == last->labels[shared])
		shared++;
	n = stack->n - shared;
	room = stack_feed_room(feed, n, error);
	assert_non_null(room);
	for (size_t i = 0; i < n; i++)
		room[i] = stack->labels[stack->n - 1 - i];
	return n_told > 0 ?
	    stack_feed_continue(feed, shared, n, number, counts, 0, error) :
	    stack_feed_push(feed, n, number, counts, 0, error);
}

/*
 * The same for trees of the same paths and hits, in whatever order: scattered
 * stacks are entered several at a time.
 */
static uint64_t
sum_up(const struct sample_tree *tree)
{
	uint64_t *path = calloc(tree->n_nodes, sizeof *path), sum = 0;

	assert_non_null(path);
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint64_t above = tree->parent[n] == NO_NODE ? 1 :
		                 path[tree->parent[n]];

		path[n] = (above ^ above >> 29) * 0x9e3779b97f4a7c15 +
		          tree->label[n];
		sum += (path[n] ^ path[n] >> 31) *
		       (2 * sample_tree_hits(tree, 0, n) + 1) +
		       path[n] * sample_tree_hits(tree, 1, n);
	}
	free(path);
	return sum;
}

static void
feed_and_compare(size_t n_told)
{
	struct error error = { 0 };
	struct stack_feed *feed = stack_feed_new("in", STACK_OFFSETS, 2,
	                                         &error);
	struct sample_tree *tree, *expected = enter_one_by_one();

	assert_non_null(feed);
	for (size_t i = 0; i < N_STACKS; i++)
		assert_int_equal(push(feed, i, n_told, &error), 0);
	assert_int_equal(stack_feed_count(feed), N_STACKS);
	tree = stack_feed_finish(feed, &error);
	assert_non_null(tree);
	assert_int_equal(tree->n_nodes, expected->n_nodes);
	assert_int_equal(tree->deepest, expected->deepest);
	assert_true(sum_up(tree) == sum_up(expected));
	sample_tree_free(tree);
	sample_tree_free(expected);
	stack_feed_free(feed);
}

static void
stack_feed_makes_the_tree_that_single_stacks_make(void **state)
{
	(void)state;
	feed_and_compare(0);
}

static void
stack_feed_believes_what_is_told_to_be_shared(void **state)
{
	(void)state;
	feed_and_compare(3);
	feed_and_compare(MAX_DEPTH);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    stack_feed_makes_the_tree_that_single_stacks_make),
		cmocka_unit_test(
		    stack_feed_believes_what_is_told_to_be_shared),
	};

	return cmocka_run_group_tests(tests, make_stacks, free_stacks);
}
