/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-sample-tree.c -- building, ordering, weighing and relabelling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/profile/large_array.h"
#include "src/profile/sample_tree.h"

/* Enters a stack of small labels, "121" for 1, 2, 1, with its hits. */
static void
enter(struct tree_builder *builder, const char *stack, uint64_t hits)
{
	struct error error = { 0 };
	uint32_t node = NO_NODE;

	for (; *stack != '\0'; stack++) {
		node = tree_builder_child(builder, node,
		                          (uint32_t)(*stack - '0'), &error);
		assert_int_not_equal(node, NO_NODE);
	}
	assert_int_equal(tree_builder_add(builder, node, 0, hits, hits,
	                                  &error), 0);
}

static struct tree_builder *
new_builder(uint32_t n_resources)
{
	struct error error = { 0 };
	struct tree_builder *builder = tree_builder_new(n_resources, &error);

	assert_non_null(builder);
	return builder;
}

static struct sample_tree *
finish(struct tree_builder *builder)
{
	struct error error = { 0 };
	struct sample_tree *tree = tree_builder_finish(builder, &error);

	assert_non_null(tree);
	tree_builder_free(builder);
	return tree;
}

/* The invariants of sample_tree.h for a tree without sections. */
static void
assert_sound(const struct sample_tree *tree)
{
	struct error error = { 0 };
	struct names *edges = names_new(&error);
	bool *is_taken = calloc(tree->n_rows, sizeof *is_taken);

	assert_non_null(is_taken);
	for (uint32_t r = 0; r < tree->n_resources; r++)
		assert_int_equal(tree->hits[r][0], 0);
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t parent = sample_tree_parent(tree, n);
		uint32_t edge[2] = { parent, tree->label[n] };

		assert_true(parent == NO_NODE || parent < n);
		assert_true(sample_tree_end(tree, n) > n);
		assert_true(sample_tree_end(tree, n) <= (parent == NO_NODE ?
		                             tree->n_nodes :
		                             sample_tree_end(tree, parent)));
		/*
		 * There are as many distinct edges as nodes, so siblings are
		 * distinct.
		 */
		assert_int_equal(names_add(edges, (const char *)edge,
		                           sizeof edge, &error), n);
		assert_true(sample_tree_row(tree, n) < tree->n_rows);
		assert_true(!sample_tree_has_row(tree, n) ||
		            !is_taken[sample_tree_row(tree, n)]);
		is_taken[sample_tree_row(tree, n)] = true;
	}
	free(is_taken);
	names_free(edges);
}

/* "121:3 ..." of every node with hits of resource 0, in the tree's order. */
static char *
describe(const struct sample_tree *tree)
{
	static char text[4096];
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		char stack[100] = "";
		size_t depth = sizeof stack - 1;

		if (sample_tree_hits(tree, 0, n) == 0)
			continue;
		for (uint32_t v = n; v != NO_NODE; v = sample_tree_parent(tree,
		    v))
			stack[--depth] = (char)('0' + tree->label[v]);
		length += (size_t)snprintf(text + length,
		                           sizeof text - length, "%s:%llu ",
		                           stack + depth,
		                           (unsigned long long)
		                           sample_tree_hits(tree, 0, n));
	}
	return text;
}

static void
sample_tree_shares_common_prefixes(void **state)
{
	struct tree_builder *builder = new_builder(1);
	struct sample_tree *tree;

	(void)state;
	enter(builder, "12", 1);
	enter(builder, "123", 2);
	enter(builder, "13", 3);
	enter(builder, "12", 4);
	tree = finish(builder);
	assert_sound(tree);
	assert_int_equal(tree->n_nodes, 4);
	assert_int_equal(tree->deepest, 3);
	assert_string_equal(describe(tree), "12:5 123:2 13:3 ");
	assert_null(tree->samples[0]);
	sample_tree_free(tree);
}

static void
sample_tree_is_depth_first_whatever_the_order_of_input(void **state)
{
	struct tree_builder *builder = new_builder(1);
	struct sample_tree *tree;

	(void)state;
	enter(builder, "12", 1);
	enter(builder, "5", 9);
	enter(builder, "13", 3);
	enter(builder, "51", 8);
	enter(builder, "124", 2);
	tree = finish(builder);
	assert_sound(tree);
	assert_string_equal(describe(tree), "12:1 124:2 13:3 5:9 51:8 ");
	sample_tree_free(tree);
}

static void
sample_tree_of_nothing_is_empty(void **state)
{
	struct sample_tree *tree = finish(new_builder(2));

	(void)state;
	assert_int_equal(tree->n_nodes, 0);
	assert_int_equal(tree->deepest, 0);
	sample_tree_free(tree);
}

static void
sample_tree_weights_sum_subtrees(void **state)
{
	struct tree_builder *builder = new_builder(1);
	struct sample_tree *tree;
	struct error error = { 0 };
	uint64_t *sums;

	(void)state;
	enter(builder, "12", 1);
	enter(builder, "123", 2);
	enter(builder, "13", 4);
	tree = finish(builder);
	assert_int_equal(sample_tree_total(tree, tree->hits[0]), 7);
	assert_int_equal(sample_tree_hits(tree, 0, 0), 0);
	assert_int_equal(sample_tree_hits(tree, 0, 1), 1);
	sums = sample_tree_new_sums(tree, tree->hits[0], &error);
	assert_non_null(sums);
	assert_int_equal(sample_tree_weight(tree, sums, 0), 7);
	assert_int_equal(sample_tree_weight(tree, sums, 1), 3);
	assert_int_equal(sample_tree_weight(tree, sums, 2), 2);
	assert_int_equal(sample_tree_weight(tree, sums, 3), 4);
	large_array_free(sums);
	sample_tree_free(tree);
}

/*
 * In any order of input each node has the parent, end and weight that a look at
 * all of its labels finds; weights are beyond 32 bits.
 */
static void
sample_tree_knows_parents_ends_and_weights(void **state)
{
	enum { STACKS = 3000, DEEPEST = 40 };
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };
	struct sample_tree *tree;
	uint64_t *sums, all = 0;
	uint32_t open[DEEPEST], depth = 0, seed = 1;

	(void)state;
	for (uint32_t i = 0; i < STACKS; i++) {
		const uint64_t hits = (UINT64_C(1) << 33) + i;
		uint32_t node = NO_NODE;

		seed = seed * 1103515245 + 12345;
		for (uint32_t k = 0; k <= (seed >> 16) % DEEPEST; k++)
			node = tree_builder_child(builder, node,
			    (seed >> 8 ^ k * 7) % 3, &error);
		assert_int_equal(tree_builder_add(builder, node, 0, hits, hits,
		                                  &error), 0);
		all += hits;
	}
	tree = finish(builder);
	sums = sample_tree_new_sums(tree, tree->hits[0], &error);
	assert_non_null(sums);
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		const uint32_t parent = sample_tree_parent(tree, n);
		uint64_t weight = 0;
		uint32_t end = n + 1;

		while (depth > 0 && open[depth - 1] != parent)
			depth--;
		assert_true(depth > 0 || parent == NO_NODE);
		open[depth++] = n;
		for (uint32_t m = n + 1; m < tree->n_nodes &&
		     sample_tree_parent(tree, m) != NO_NODE &&
		     sample_tree_parent(tree, m) >= n; m++)
			end = m + 1;
		assert_int_equal(sample_tree_end(tree, n), end);
		assert_int_equal(sample_tree_is_leaf(tree, n), end == n + 1);
		for (uint32_t m = n; m < end; m++)
			weight += sample_tree_hits(tree, 0, m);
		assert_true(sample_tree_weight(tree, sums, n) == weight);
		if (parent == NO_NODE)
			all -= weight;
	}
	assert_true(all == 0);
	large_array_free(sums);
	sample_tree_free(tree);
}

static void
sample_tree_keeps_sections_apart(void **state)
{
	struct tree_builder *builder = new_builder(1);
	struct sample_tree *tree;
	uint32_t second;

	(void)state;
	assert_int_equal(tree_builder_begin_section(builder), 0);
	enter(builder, "12", 1);
	enter(builder, "3", 1);
	enter(builder, "13", 1);
	second = tree_builder_begin_section(builder);
	enter(builder, "14", 2);
	enter(builder, "3", 2);
	enter(builder, "12", 2);
	tree = finish(builder);
	assert_int_equal(second, 4);
	assert_int_equal(tree->n_nodes, 8);
	assert_string_equal(describe(tree), "12:1 13:1 3:1 14:2 12:2 3:2 ");
	assert_int_equal(sample_tree_parent(tree, second), NO_NODE);
	sample_tree_free(tree);
}

static void
sample_tree_refuses_sums_over_64_bits(void **state)
{
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };

	(void)state;
	enter(builder, "1", UINT64_MAX - 1);
	enter(builder, "2", 1);
	assert_int_equal(tree_builder_add(builder, 0, 0, 1, 1, &error), -1);
	assert_non_null(strstr(error.text, "64 bits"));
	tree_builder_free(builder);
}

static void
sample_tree_keeps_samples_only_where_hits_differ(void **state)
{
	struct tree_builder *builder = new_builder(2);
	struct error error = { 0 };
	struct sample_tree *tree;

	(void)state;
	enter(builder, "1", 5);
	enter(builder, "12", 6);
	assert_int_equal(tree_builder_add(builder, 0, 1, 30, 2, &error), 0);
	enter(builder, "13", 1);
	assert_int_equal(tree_builder_add(builder, 2, 1, 7, 1, &error), 0);
	tree = finish(builder);
	assert_null(tree->samples[0]);
	assert_non_null(tree->samples[1]);
	assert_int_equal(sample_tree_hits(tree, 1, 0), 30);
	assert_int_equal(sample_tree_samples(tree, 1, 0), 2);
	assert_int_equal(sample_tree_samples(tree, 1, 1), 0);
	assert_int_equal(sample_tree_samples(tree, 1, 2), 1);
	sample_tree_free(tree);
}

static void
sample_tree_holds_a_chain_of_two_million(void **state)
{
	enum { DEEP = 2000000 };
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };
	struct sample_tree *tree;
	uint32_t node = NO_NODE;
	uint64_t *sums;

	(void)state;
	for (uint32_t i = 0; i < DEEP; i++)
		node = tree_builder_child(builder, node, i & 1, &error);
	assert_int_equal(tree_builder_add(builder, node, 0, 3, 3, &error), 0);
	tree = finish(builder);
	assert_int_equal(tree->deepest, DEEP);
	assert_int_equal(tree->n_rows, 2);
	sums = sample_tree_new_sums(tree, tree->hits[0], &error);
	assert_non_null(sums);
	assert_int_equal(sample_tree_weight(tree, sums, 0), 3);
	large_array_free(sums);
	sample_tree_free(tree);
}

static void
sample_tree_holds_a_million_siblings(void **state)
{
	enum { WIDE = 1000000 };
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };
	struct sample_tree *tree;
	uint32_t root = tree_builder_child(builder, NO_NODE, 7, &error);

	(void)state;
	for (uint32_t i = 0; i < 2 * WIDE; i++)
		assert_int_equal(tree_builder_child(builder, root, i % WIDE,
		                                    &error), 1 + i % WIDE);
	tree = finish(builder);
	assert_int_equal(tree->n_nodes, 1 + WIDE);
	assert_int_equal(tree->deepest, 2);
	sample_tree_free(tree);
}

/* A stack of up to 8 labels below 4. */
static uint32_t
random_stack(uint32_t *labels)
{
	uint32_t n = 1 + (uint32_t)(rand() % 8);

	for (uint32_t i = 0; i < n; i++)
		labels[i] = (uint32_t)(rand() % 4);
	return n;
}

static void
sample_tree_is_the_same_by_child_or_by_whole_stacks(void **state)
{
	enum { STACKS = 300 };

	(void)state;
	srand(1);
	for (int round = 0; round < 200; round++) {
		struct tree_builder *one = new_builder(1);
		struct tree_builder *other = new_builder(1);
		uint32_t labels[STACKS * 8], lengths[STACKS], at[STACKS];
		uint32_t n = 0, seen = 0;
		struct error error = { 0 };
		struct sample_tree *x, *y;

		for (int i = 0; i < STACKS; i++)
			n += lengths[i] = random_stack(labels + n);
		assert_int_equal(tree_builder_stacks(other, labels, lengths,
		                                     STACKS, at, &error), 0);
		for (uint32_t i = 0; i < STACKS; seen += lengths[i++]) {
			uint32_t nodes[8];

			assert_int_equal(tree_builder_chain(
			    one, NO_NODE, labels + seen, lengths[i], nodes,
			    &error), 0);
			assert_int_equal(tree_builder_add(
			    one, nodes[lengths[i] - 1], 0, i, i, &error), 0);
			assert_int_equal(tree_builder_add(
			    other, at[i], 0, i, i, &error), 0);
		}
		x = finish(one);
		y = finish(other);
		assert_sound(x);
		assert_sound(y);
		assert_int_equal(x->n_nodes, y->n_nodes);
		assert_int_equal(x->deepest, y->deepest);
		assert_int_equal(sample_tree_total(x, x->hits[0]),
		                 sample_tree_total(y, y->hits[0]));
		sample_tree_free(x);
		sample_tree_free(y);
	}
}

static void
appended_nodes_are_found_later(void **state)
{
	enum { CHILDREN = 1000 };
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };
	uint32_t root = tree_builder_child(builder, NO_NODE, 0, &error);
	uint32_t nodes[CHILDREN];

	(void)state;
	for (uint32_t label = 0; label < CHILDREN; label++)
		assert_int_equal(tree_builder_append(builder, root, &label, 1,
		                                     &nodes[label], &error),
		                 0);
	for (uint32_t label = 0; label < CHILDREN; label++)
		assert_int_equal(tree_builder_child(builder, root, label,
		                                    &error), nodes[label]);
	assert_int_equal(tree_builder_count(builder), 1 + CHILDREN);
	tree_builder_free(builder);
}

static void
relabelling_with_the_same_labels_changes_nothing(void **state)
{
	uint32_t first[] = { 0, 1, 2, 3, 4, 5, 6 };
	uint32_t labels[] = { 0, 1, 2, 3, 4, 5 };
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };
	struct sample_tree *tree, *again;

	(void)state;
	enter(builder, "12", 1);
	enter(builder, "5", 9);
	enter(builder, "13", 3);
	tree = finish(builder);
	again = sample_tree_relabel(tree, first, labels, &error);
	assert_non_null(again);
	assert_int_equal(again->n_nodes, tree->n_nodes);
	assert_string_equal(describe(again), "12:1 13:3 5:9 ");
	sample_tree_free(tree);
	sample_tree_free(again);
}

static void
relabelling_merges_what_becomes_equal(void **state)
{
	/* 2 and 3 become 7; 4 becomes the chain 8, 9. */
	uint32_t first[] = { 0, 1, 2, 3, 4, 6 };
	uint32_t labels[] = { 0, 1, 7, 7, 8, 9 };
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };
	struct sample_tree *tree, *again;

	(void)state;
	enter(builder, "12", 1);
	enter(builder, "13", 2);
	enter(builder, "134", 4);
	enter(builder, "124", 8);
	tree_builder_begin_section(builder);
	enter(builder, "14", 16);
	enter(builder, "12", 32);
	tree = finish(builder);
	again = sample_tree_relabel(tree, first, labels, &error);
	assert_non_null(again);
	assert_sound(again);
	assert_string_equal(describe(again), "17:35 1789:12 189:16 ");
	assert_int_equal(again->deepest, 4);
	sample_tree_free(tree);
	sample_tree_free(again);
}

static void
spreading_keeps_order_and_sections(void **state)
{
	/* 2 becomes the chain 7, 8, and 4 the chain 0, 9, 3. */
	uint32_t first[] = { 0, 1, 2, 4, 5, 8 };
	uint32_t labels[] = { 5, 1, 7, 8, 6, 0, 9, 3 };
	struct tree_builder *builder = new_builder(1);
	struct error error = { 0 };
	struct sample_tree *tree, *spread;
	uint32_t part[] = { 10, 10, 10, 10, 10, 20, 20 };
	uint32_t *new_part = NULL;

	(void)state;
	enter(builder, "124", 1);
	enter(builder, "12", 2);
	enter(builder, "134", 4);
	tree_builder_begin_section(builder);
	enter(builder, "12", 16);
	tree_builder_add_returns(builder, 1, 5, &error);
	tree = finish(builder);
	assert_int_equal(tree->n_nodes, sizeof part / sizeof *part);
	spread = sample_tree_spread(tree, first, labels, part, &new_part,
	                            &error);
	assert_non_null(spread);
	assert_string_equal(describe(spread),
	                    "178:2 178093:1 16093:4 178:16 ");
	assert_int_equal(spread->n_nodes, 13);
	assert_int_equal(spread->deepest, 6);
	for (uint32_t n = 0; n < spread->n_nodes; n++) {
		static const uint32_t end[] = {
			10, 6, 6, 6, 6, 6, 10, 10, 10, 10, 13, 13, 13
		};

		assert_int_equal(new_part[n], n < 10 ? 10 : 20);
		assert_int_equal(spread->returns[n], n == 1 ? 5 : 0);
		assert_int_equal(sample_tree_end(spread, n), end[n]);
	}
	sample_tree_free(spread);
	large_array_free(new_part);
	sample_tree_free(tree);
}

/* An array of so many bytes. */
static unsigned char *
new_bytes(size_t n)
{
	struct error error = { 0 };
	unsigned char *bytes = NULL;

	assert_int_equal(large_array_reserve(&bytes, n, 1, &error), 0);
	return bytes;
}

/* Whether the page of a byte is in memory. */
static bool
is_resident(const unsigned char *byte)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char flags = 0;

	return mincore((void *)((uintptr_t)byte & -page), page, &flags) == 0 &&
	    flags & 1;
}

static void
large_arrays_get_the_pages_of_freed_ones(void **state)
{
	enum { SIZE = 8 << 20 };
	unsigned char *bytes = new_bytes(SIZE), *zeroed = NULL, *more = NULL;
	struct error error = { 0 };

	(void)state;
	memset(bytes, 1, SIZE);
	large_array_free(bytes);
	/* Zeros are never those of a freed one. */
	assert_int_equal(large_array_zeroed(&zeroed, SIZE, 1, &error), 0);
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(zeroed[i], 0);
	/* One that is larger begins with its pages, and grows as usual. */
	assert_int_equal(large_array_reserve(&more, 10 * SIZE, 1, &error), 0);
	assert_true(is_resident(more + SIZE / 2));
	memset(more, 2, 10 * SIZE);
	assert_int_equal(large_array_reserve(&more, 20 * SIZE, 1, &error), 0);
	memset(more + 10 * SIZE, 2, 10 * SIZE);
	for (size_t i = 0; i < 20 * SIZE; i += 4096)
		assert_int_equal(more[i], 2);
	large_array_free(more);
	large_array_free(zeroed);
}

static void
freed_arrays_are_kept_up_to_a_limit(void **state)
{
	enum { N = 20, SIZE = 30 << 20, LIMIT = 48 << 20 };
	unsigned char *arrays[N];
	size_t kept = 0;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		arrays[i] = new_bytes(SIZE);
		arrays[i][0] = 1;
	}
	for (size_t i = 0; i < N; i++)
		large_array_free(arrays[i]);
	for (size_t i = 0; i < N; i++)
		if (is_resident(arrays[i]))
			kept += SIZE;
	assert_true(kept > 0);
	assert_true(kept <= LIMIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_tree_shares_common_prefixes),
		cmocka_unit_test(
		    sample_tree_is_depth_first_whatever_the_order_of_input),
		cmocka_unit_test(sample_tree_of_nothing_is_empty),
		cmocka_unit_test(sample_tree_weights_sum_subtrees),
		cmocka_unit_test(sample_tree_knows_parents_ends_and_weights),
		cmocka_unit_test(sample_tree_keeps_sections_apart),
		cmocka_unit_test(sample_tree_refuses_sums_over_64_bits),
		cmocka_unit_test(
		    sample_tree_keeps_samples_only_where_hits_differ),
		cmocka_unit_test(sample_tree_holds_a_chain_of_two_million),
		cmocka_unit_test(sample_tree_holds_a_million_siblings),
		cmocka_unit_test(
		    sample_tree_is_the_same_by_child_or_by_whole_stacks),
		cmocka_unit_test(appended_nodes_are_found_later),
		cmocka_unit_test(
		    relabelling_with_the_same_labels_changes_nothing),
		cmocka_unit_test(relabelling_merges_what_becomes_equal),
		cmocka_unit_test(spreading_keeps_order_and_sections),
		cmocka_unit_test(large_arrays_get_the_pages_of_freed_ones),
		cmocka_unit_test(freed_arrays_are_kept_up_to_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
