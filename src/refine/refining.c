/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refining.c -- what the stacks have before a step. */
#include "src/refine/refining.h"

#include <stdlib.h>

#include "src/base/memory.h"

uint32_t *
refining_names(const struct refining *refining, struct error *error)
{
	uint32_t *names = memory_array(refining->n_kinds, sizeof *names,
	                               error);

	for (uint32_t i = 0; names != NULL && i < refining->n_kinds; i++)
		names[i] = refining_name(refining, i);
	return names;
}

int
refining_look(struct refining *refining, struct error *error)
{
	const struct sample_tree *tree = refining->tree;
	uint32_t n_names = names_count(refining->stacks->profile->names);
	unsigned char *has_name = memory_array(n_names, 1, error);
	unsigned char *is_used = memory_array(refining->n_kinds, 1, error);

	free(refining->has_name);
	refining->has_name = has_name;
	refining->n_names = n_names;
	if (has_name == NULL || is_used == NULL) {
		free(is_used);
		return -1;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		is_used[refining->kind[node]] |=
		    refining->flags[node] & NODE_LEFT;
	for (uint32_t i = 0; i < refining->n_kinds; i++) {
		refining->kinds[i].is_used = is_used[i] != 0;
		has_name[refining_name(refining, i)] |= is_used[i] != 0;
	}
	free(is_used);
	return 0;
}

void
refining_find_left(struct refining *refining)
{
	const struct sample_tree *tree = refining->tree;
	unsigned char *flags = refining->flags;
	uint32_t next = tree->n_nodes;	/* at which a stack ends that is left */
	/* A node without an end of its own ends with its child, the next one. */
	uint32_t end = 0, at = tree->ends.n;

	for (uint32_t node = tree->n_nodes; node-- > 0;) {
		unsigned char others = flags[node] & (unsigned char)~NODE_LEFT;

		if (node_numbers_has(&tree->ends, node))
			end = tree->ends.number[--at];
		if (!(others & NODE_DROPPED) && ends_stack(tree, node))
			next = node;
		flags[node] = next < end ? others | NODE_LEFT : others;
	}
}
