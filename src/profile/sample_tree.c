/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_tree.c -- every stack seen, shared by prefix. */
#include "src/profile/sample_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
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

/* All resources of one node, wherever it has something. */
static int
copy_node(struct tree_builder *builder, uint32_t to,
          const struct sample_tree *tree, uint32_t from, struct error *error)
{
	if (tree->row[from] == 0)
		return 0;
	for (uint32_t r = 0; r < tree->n_resources; r++) {
		uint64_t hits = sample_tree_hits(tree, r, from);
		uint64_t samples = sample_tree_samples(tree, r, from);

		if ((hits != 0 || samples != 0) &&
		    tree_builder_add(builder, to, r, hits, samples,
		                     error) != 0)
			return -1;
	}
	return 0;
}

/* innermost[n]: where node n of the tree stands in the builder. */
static int
copy_relabelled(struct tree_builder *builder, const struct sample_tree *tree,
                const uint32_t *first, const uint32_t *labels,
                uint32_t *innermost, struct error *error)
{
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t label = tree->label[n];
		uint32_t node = NO_NODE;
		bool is_outermost = true;

		if (tree->parent[n] != NO_NODE)
			node = innermost[tree->parent[n]];
		for (uint32_t i = first[label]; i < first[label + 1]; i++) {
			node = tree_builder_child(builder, node, labels[i],
			                          error);
			if (node == NO_NODE ||
			    (is_outermost && tree->returns != NULL &&
			     tree_builder_add_returns(builder, node,
			                              tree->returns[n],
			                              error) != 0))
				return -1;
			is_outermost = false;
		}
		innermost[n] = node;
		if (copy_node(builder, node, tree, n, error) != 0)
			return -1;
	}
	return 0;
}

struct sample_tree *
sample_tree_relabel(const struct sample_tree *tree, const uint32_t *first,
                    const uint32_t *labels, struct error *error)
{
	struct tree_builder *builder;
	struct sample_tree *relabelled = NULL;
	uint32_t *innermost;

	builder = tree_builder_new(tree->n_resources, error);
	innermost = memory_array(tree->n_nodes, sizeof *innermost, error);
	if (builder != NULL && innermost != NULL &&
	    copy_relabelled(builder, tree, first, labels, innermost,
	                    error) == 0)
		relabelled = tree_builder_finish(builder, error);
	free(innermost);
	tree_builder_free(builder);
	return relabelled;
}
