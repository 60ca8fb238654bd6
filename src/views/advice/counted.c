/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counted.c -- which stacks a row of explain counts, and in which groups. */
#include "src/views/advice/advice.h"

#include <string.h>

#include "src/views/hits/hits.h"

bool
counted_is_cut_mark(const struct names *names, uint32_t name)
{
	static const char *const marks[] = {
		"[partial]", "[truncated]", "[broken]",
	};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (strcmp(names_text(names, name), marks[i]) == 0)
			return true;
	return false;
}

uint64_t
counted_without_root(const struct sample_set *set, uint32_t root,
                     uint32_t top, uint32_t *node)
{
	const struct sample_tree *tree = set->tree;
	uint64_t without = sample_set_weight(set, top);

	while (*node < sample_tree_end(tree, top)) {
		without -= sample_set_weight(set, *node);
		*node = measure_next_node(tree,
		    sample_tree_end(tree, *node), root);
	}
	return without;
}

static uint64_t
hits_of_starts(const struct sample_set *set, uint32_t name, uint32_t root)
{
	const struct sample_tree *tree = set->tree;
	uint32_t node = measure_next_node(tree, 0, root);
	uint64_t hits = 0;

	for (uint32_t top = 0; top < tree->n_nodes; top = sample_tree_end(tree,
	    top)) {
		uint64_t without = counted_without_root(set, root, top, &node);

		if (tree->label[top] == name)
			hits += without;
	}
	return hits;
}

static uint64_t
hits_of_cut(const struct sample_set *set)
{
	const struct sample_tree *tree = set->tree;
	uint64_t hits = 0;

	for (uint32_t top = 0; top < tree->n_nodes; top = sample_tree_end(tree,
	    top))
		if (counted_is_cut_mark(set->names, tree->label[top]))
			hits += sample_set_weight(set, top);
	return hits;
}

int
counted_in_groups(const struct group_noise *noise, enum counted counted,
                  const uint32_t *path, size_t n, uint32_t root,
                  struct group_hits *hits, struct error *error)
{
	if (counted == COUNTED_PATH || counted == COUNTED_OWN)
		return path_hits_of_sets(noise->sets, noise->groups->n, path,
		                         n, counted == COUNTED_OWN, hits->hits,
		                         error);
	for (uint32_t g = 0; g < noise->groups->n; g++) {
		const struct sample_set *set = &noise->sets[g];

		hits->hits[g] = counted == COUNTED_BODY ?
		    measure_body(set, *path) : counted == COUNTED_STARTS ?
		    hits_of_starts(set, *path, root) : hits_of_cut(set);
	}
	return 0;
}
