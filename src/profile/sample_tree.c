/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_tree.c -- every stack seen, shared by prefix. */
#include "src/profile/sample_tree.h"

#include <stdlib.h>

#include "src/profile/large_array.h"

void
sample_tree_free(struct sample_tree *tree)
{
	if (tree == NULL)
		return;
	for (uint32_t r = 0; r < tree->n_resources; r++) {
		if (tree->hits != NULL)
			large_array_free(tree->hits[r]);
		if (tree->samples != NULL)
			large_array_free(tree->samples[r]);
	}
	free(tree->hits);
	free(tree->samples);
	large_array_free(tree->parent);
	large_array_free(tree->end);
	large_array_free(tree->label);
	large_array_free(tree->row);
	large_array_free(tree->returns);
	free(tree);
}

void
sample_tree_keep_resources(struct sample_tree *tree, uint32_t n)
{
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

uint64_t
sample_tree_total(const struct sample_tree *tree, const uint64_t *counts)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < tree->n_rows; i++)
		total += counts[i];
	return total;
}
