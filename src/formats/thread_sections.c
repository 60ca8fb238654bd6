/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread_sections.c -- sections, where samples of all threads come mixed.
 *
 * In depth-first order the subtree of outermost node number k (from 0) is a
 * run, all of which moves down by k + 1.
 */
#include "src/formats/thread_sections.h"

#include <stdlib.h>
#include <string.h>

/* Moves the nodes [begin, end), which lie below node begin - 1. */
static void
move_nodes(struct sample_tree *tree, uint32_t begin, uint32_t end,
           uint32_t down)
{
	for (uint32_t n = begin; n < end; n++) {
		uint32_t parent = tree->parent[n];

		tree->parent[n - down] = parent == begin - 1 ? NO_NODE :
		                         parent - down;
		tree->end[n - down] = tree->end[n] - down;
		tree->label[n - down] = tree->label[n];
		tree->row[n - down] = tree->row[n];
	}
	if (tree->returns != NULL)
		memmove(tree->returns + begin - down, tree->returns + begin,
		        (end - begin) * sizeof *tree->returns);
}

int
thread_sections_split(struct profile *profile, const uint32_t *threads,
                      struct error *error)
{
	struct sample_tree *tree = profile->tree;
	uint32_t n_nodes = tree->n_nodes, down = 0;

	for (uint32_t root = 0, end; root < n_nodes; root = end) {
		uint32_t label = tree->label[root];
		uint32_t thread = threads != NULL ? threads[label] : label;
		bool is_only = root == 0 && tree->end[root] == n_nodes;

		end = tree->end[root];
		down++;
		move_nodes(tree, root + 1, end, down);
		if ((thread != NO_THREAD || !is_only) &&
		    profile_add_section(profile, root + 1 - down, end - down,
		                        thread, error) == UINT32_MAX)
			return -1;
	}
	tree->n_nodes -= down;
	if (tree->deepest > 0)
		tree->deepest--;
	return 0;
}
