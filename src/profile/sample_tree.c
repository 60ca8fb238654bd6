/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_tree.c -- every stack seen, shared by prefix. */
#include "src/profile/sample_tree.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

int
node_numbers_reserve(struct node_numbers *numbers, size_t n_nodes, size_t n,
                     struct error *error)
{
	if (large_array_reserve(&numbers->blocks, n_nodes / NODES_A_BLOCK + 1,
	                        sizeof *numbers->blocks, error) != 0 ||
	    large_array_reserve(&numbers->number, n, sizeof *numbers->number,
	                        error) != 0)
		return -1;
	if (numbers->n_nodes == 0)
		numbers->blocks[0] = (struct number_block){ 0 };
	return 0;
}

void
node_numbers_free(struct node_numbers *numbers)
{
	large_array_free(numbers->blocks);
	large_array_free(numbers->number);
	*numbers = (struct node_numbers){ 0 };
}

void
node_numbers_append(struct node_numbers *to, const struct node_numbers *from,
                    uint32_t begin, uint32_t end)
{
	uint32_t at = node_numbers_before(from, begin);

	for (uint32_t node = begin; node < end; node++) {
		const uint32_t next = node_numbers_next(from, node, end);

		node_numbers_skip(to, next - node);
		if (next < end)
			node_numbers_add(to, true, from->number[at++]);
		node = next;
	}
}

int
node_numbers_mark_forks(struct node_numbers *forks,
                        const struct node_numbers *parents,
                        struct error *error)
{
	const uint32_t last = parents->n_nodes - 1;
	const uint32_t n_blocks = last / NODES_A_BLOCK + 1;
	uint32_t n = 0;

	if (large_array_reserve(&forks->blocks, (size_t)n_blocks + 1,
	                        sizeof *forks->blocks, error) != 0)
		return -1;
	/* Where the next one has a parent by number, a node leads nowhere. */
	for (uint32_t i = 0; i < n_blocks; i++)
		forks->blocks[i].has = parents->blocks[i].has >> 1 |
		    (i + 1 < n_blocks ? parents->blocks[i + 1].has << 31 : 0);
	forks->blocks[last / NODES_A_BLOCK].has |=
	    UINT32_C(1) << last % NODES_A_BLOCK;
	for (uint32_t i = 0; i < parents->n; i++) {
		const uint32_t parent = parents->number[i];

		if (parent != NO_NODE)
			forks->blocks[parent / NODES_A_BLOCK].has |=
			    UINT32_C(1) << parent % NODES_A_BLOCK;
	}
	for (uint32_t i = 0; i < n_blocks; i++) {
		forks->blocks[i].before = n;
		n += (uint32_t)__builtin_popcount(forks->blocks[i].has);
	}
	forks->blocks[n_blocks] = (struct number_block){ 0, n };
	forks->n = n;
	forks->n_nodes = parents->n_nodes;
	return large_array_reserve(&forks->number, n, sizeof *forks->number,
	                           error);
}

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
	node_numbers_free(&tree->parents);
	node_numbers_free(&tree->ends);
	large_array_free(tree->label);
	node_numbers_free(&tree->rows);
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
		.n_rows = from->n_rows,
		.hits = from->hits,
		.samples = from->samples,
		.timeline = from->timeline,
		.borrows_counts = true,
	};
	if (node_numbers_reserve(&tree->parents, n, n, error) == 0 &&
	    large_array_reserve(&tree->label, n, sizeof *tree->label,
	                        error) == 0 &&
	    node_numbers_reserve(&tree->rows, n, from->rows.n, error) == 0 &&
	    (from->returns == NULL ||
	     large_array_reserve(&tree->returns, n, sizeof *tree->returns,
	                         error) == 0))
		return tree;
	sample_tree_free(tree);
	return NULL;
}

/* ---- ends ---- */

/* A node that is being walked through, and has an end of its own. */
struct open_end {
	uint32_t node, depth;
	uint32_t at;		/* of its end, in the numbers */
};

struct end_finding {
	struct node_numbers *ends;
	struct open_end *open;	/* outermost first */
	size_t n_open, capacity;
	uint32_t first, depth;	/* of the run of nodes that follow their
				 * parents, and of its first node */
	uint32_t deepest;
};

/* A leaf, whose end is at a place; the next node has that parent. */
static void
end_run(struct end_finding *finding, uint32_t leaf, uint32_t at,
        uint32_t parent)
{
	uint32_t *end = finding->ends->number;
	const uint32_t depth = finding->depth + leaf - finding->first;

	end[at] = leaf + 1;
	if (depth > finding->deepest)
		finding->deepest = depth;
	while (finding->n_open > 0 && (parent == NO_NODE ||
	       finding->open[finding->n_open - 1].node > parent))
		end[finding->open[--finding->n_open].at] = leaf + 1;
	finding->first = leaf + 1;
	finding->depth = finding->n_open > 0 ?
	    finding->open[finding->n_open - 1].depth + 1 : 1;
}

int
sample_tree_find_ends(struct sample_tree *tree, struct error *error)
{
	const struct node_numbers *parents = &tree->parents;
	struct end_finding finding = { .ends = &tree->ends, .depth = 1 };
	uint32_t at = 0, run = 0;

	node_numbers_free(&tree->ends);
	tree->deepest = 0;
	if (tree->n_nodes == 0)
		return node_numbers_reserve(&tree->ends, 0, 0, error);
	if (node_numbers_mark_forks(&tree->ends, parents, error) != 0)
		return -1;
	for (uint32_t node = 0; (node = node_numbers_next(&tree->ends, node,
	     tree->n_nodes)) < tree->n_nodes; node++) {
		if (sample_tree_is_leaf(tree, node)) {
			end_run(&finding, node, at++, run < parents->n ?
			        parents->number[run++] : NO_NODE);
			continue;
		}
		if (finding.n_open == finding.capacity &&
		    memory_grow(&finding.open, &finding.capacity,
		                finding.n_open + 1, sizeof *finding.open,
		                error) != 0)
			break;
		finding.open[finding.n_open++] = (struct open_end){ node,
			finding.depth + node - finding.first, at++ };
	}
	free(finding.open);
	tree->deepest = finding.deepest;
	return error->is_set ? -1 : 0;
}

void
sample_tree_move_up(struct sample_tree *tree, uint32_t root,
                    struct node_numbers *parents, struct node_numbers *rows)
{
	const uint32_t begin = root + 1, end = sample_tree_end(tree, root);
	const uint32_t down = begin - parents->n_nodes;
	uint32_t *labels = tree->label + begin;
	uint32_t first;

	if (begin == end)
		return;
	memmove(labels - down, labels, (end - begin) * sizeof *labels);
	tree_add_parent(parents, NO_NODE);
	first = parents->n;
	node_numbers_append(parents, &tree->parents, begin + 1, end);
	for (uint32_t *above = parents->number + first;
	     above < parents->number + parents->n; above++)
		*above = *above == root ? NO_NODE : *above - down;
	node_numbers_append(rows, &tree->rows, begin, end);
}

int
sample_tree_replace_nodes(struct sample_tree *tree,
                          const struct node_numbers *parents,
                          const struct node_numbers *rows, struct error *error)
{
	node_numbers_free(&tree->parents);
	node_numbers_free(&tree->rows);
	tree->parents = *parents;
	tree->rows = *rows;
	tree->n_nodes = parents->n_nodes;
	return error->is_set ? -1 : sample_tree_find_ends(tree, error);
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
sample_tree_sum(const struct sample_tree *tree, const uint64_t *self,
                uint64_t *sums)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tree->rows.n; i++) {
		sums[i] = sum;
		sum += self[tree->rows.number[i]];
	}
	sums[tree->rows.n] = sum;
}

uint64_t *
sample_tree_new_sums(const struct sample_tree *tree, const uint64_t *self,
                     struct error *error)
{
	uint64_t *sums = NULL;

	if (large_array_reserve(&sums, (size_t)tree->rows.n + 1, sizeof *sums,
	                        error) != 0)
		return NULL;
	sample_tree_sum(tree, self, sums);
	return sums;
}

uint64_t
sample_tree_total(const struct sample_tree *tree, const uint64_t *counts)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < tree->n_rows; i++)
		total += counts[i];
	return total;
}
