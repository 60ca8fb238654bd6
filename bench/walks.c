/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walks.c -- a large sample tree that looks like a program's. */
#include "bench/walks.h"

#include "src/profile/tree_builder.h"

enum { CALLEES = 8, DEEPEST = 60 };

static uint64_t
random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct sample_tree *
walks_new(uint32_t n, uint32_t *begin, uint32_t n_sections,
          struct error *error)
{
	static uint32_t callees[WALK_FUNCTIONS][CALLEES];
	struct tree_builder *builder = tree_builder_new(1, error);
	struct sample_tree *tree = NULL;
	uint64_t state = 1;
	uint32_t last = 0, section = 0;

	for (int i = 0; i < WALK_FUNCTIONS * CALLEES; i++)
		callees[i / CALLEES][i % CALLEES] =
		    (uint32_t)(random_number(&state) % WALK_FUNCTIONS);
	while (builder != NULL && !error->is_set && last < n) {
		uint64_t depth = 2 + random_number(&state) % DEEPEST;
		uint32_t function = 0, node = NO_NODE;

		if (last >= (uint64_t)n * section / n_sections)
			begin[section++] = tree_builder_begin_section(builder);
		while (depth-- > 0 && !error->is_set) {
			uint64_t draw = random_number(&state);

			node = tree_builder_child(builder, node, function,
			                          error);
			if (node > last)
				last = node;
			function = callees[function]
			    [draw % CALLEES * (draw >> 32 & 7) / 7];
		}
		tree_builder_add(builder, node, 0, 1, 1, error);
	}
	if (!error->is_set)
		tree = tree_builder_finish(builder, error);
	tree_builder_free(builder);
	return tree;
}
