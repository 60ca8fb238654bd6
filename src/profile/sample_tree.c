/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_tree.c -- every stack seen, shared by prefix. */
#include "src/profile/sample_tree.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

void
sample_tree_free(struct sample_tree *tree)
{
	if (tree == NULL)
		return;
	if (!tree->borrows_counts) {
		large_array_free_each(tree->hits, tree->n_resources);
		large_array_free_each(tree->samples, tree->n_resources);
		timeline_free(tree->timeline);
	}
	large_array_free(tree->parent);
	large_array_free(tree->end);
	large_array_free(tree->label);
	large_array_free(tree->row);
	large_array_free(tree->returns);
	free(tree);
}

struct sample_tree *
sample_tree_borrow(const struct sample_tree *from, uint32_t n,
                   struct error *error)
{
	struct sample_tree *tree = memory_array(1, sizeof *tree, error);

	if (tree == NULL)
		return NULL;
	*tree = (struct sample_tree){
		.n_resources = from->n_resources,
		.deepest = from->deepest,
		.n_rows = from->n_rows,
		.hits = from->hits,
		.samples = from->samples,
		.timeline = from->timeline,
		.borrows_counts = true,
	};
	if (large_array_reserve(&tree->parent, n, sizeof *tree->parent,
	                        error) == 0 &&
	    large_array_reserve(&tree->end, n, sizeof *tree->end,
	                        error) == 0 &&
	    large_array_reserve(&tree->label, n, sizeof *tree->label,
	                        error) == 0 &&
	    large_array_reserve(&tree->row, n, sizeof *tree->row,
	                        error) == 0 &&
	    (from->returns == NULL ||
	     large_array_reserve(&tree->returns, n, sizeof *tree->returns,
	                         error) == 0))
		return tree;
	sample_tree_free(tree);
	return NULL;
}

void
sample_tree_keep_resources(struct sample_tree *tree, uint32_t n)
{
	if (tree->timeline != NULL)
		timeline_keep_resources(tree->timeline, n);
	while (tree->n_resources > n) {
		uint32_t last = --tree->n_resources;

		large_array_free(tree->hits[last]);
		if (tree->samples != NULL)
			large_array_free(tree->samples[last]);
	}
}

void
sample_tree_weights(const struct sample_tree *tree, const uint64_t *self,
                    uint64_t *weight)
{
	for (uint32_t n = 0; n < tree->n_nodes; n++)
		weight[n] = self[tree->row[n]];
	for (uint32_t n = tree->n_nodes; n-- > 0;) {
		uint32_t parent = tree->parent[n];

		if (parent != NO_NODE)
			weight[parent] += weight[n];
	}
}

uint64_t *
sample_tree_new_weights(const struct sample_tree *tree, const uint64_t *self,
                        struct error *error)
{
	uint64_t *weight = NULL;

	if (large_array_reserve(&weight, tree->n_nodes, sizeof *weight,
	                        error) != 0)
		return NULL;
	sample_tree_weights(tree, self, weight);
	return weight;
}

uint64_t
sample_tree_total(const struct sample_tree *tree, const uint64_t *counts)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < tree->n_rows; i++)
		total += counts[i];
	return total;
}
