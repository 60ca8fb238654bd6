/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_hits.c -- the value of one call path in a tree.
 *
 * The value of (x1 .. xk) is that of the downward profile of x1, computed for
 * this path alone by an automaton: the canonical path of the paper's appendix,
 * restricted to this path.  A node's state is the number of names of the path
 * that its canonical path ends with, or the number when it left the path (a
 * detour), from where only a return to one of those names leads back.  A stack
 * counts once, at its outermost match, below which nothing is visited.
 */
#include "src/views/path_hits.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"
#include "src/profile/tree_time.h"

/* 0: the path's first name is not on the stack. */
struct state {
	uint32_t matched : 31;
	uint32_t is_detour : 1;
};

struct automaton {
	const uint32_t *path;
	uint32_t n;
	uint32_t *position;	/* [names] of path[0 .. n-2], from 1; else 0 */
};

static struct state
next_state(const struct automaton *automaton, struct state state,
           uint32_t name)
{
	uint32_t position = automaton->position[name];

	if (!state.is_detour && automaton->path[state.matched] == name)
		return (struct state){ state.matched + 1, false };
	if (position != 0 && position <= state.matched)
		return (struct state){ position, false };
	return (struct state){ state.matched, state.matched > 0 };
}

static int
count_hits(const struct sample_set *set, const struct automaton *automaton,
           struct path_hits *found, uint64_t *times, struct error *error)
{
	const struct sample_tree *tree = set->tree;
	struct state *states = NULL;
	uint32_t node = 0;

	if (large_array_reserve(&states, tree->n_nodes, sizeof *states,
	                        error) != 0)
		return -1;
	while (node < tree->n_nodes) {
		struct state state = { 0 };

		if (tree->parent[node] != NO_NODE)
			state = states[tree->parent[node]];
		state = next_state(automaton, state, tree->label[node]);
		if (state.matched == automaton->n) {
			found->hits += set->weight[node];
			found->is_seen = true;
			if (times != NULL)
				tree_time_add(tree, set->resource_number, node,
				              tree->end[node], times);
			node = tree->end[node];
		} else {
			states[node++] = state;
		}
	}
	large_array_free(states);
	return 0;
}

/* In a canonical path, only the last name may occur twice. */
static bool
is_canonical(const uint32_t *path, size_t n, uint32_t *position)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (position[path[i]] != 0)
			return false;
		position[path[i]] = (uint32_t)i + 1;
	}
	return true;
}

int
path_hits_find(const struct sample_set *set, const uint32_t *path, size_t n,
               struct path_hits *found, uint64_t *times, struct error *error)
{
	struct automaton automaton = { .path = path, .n = (uint32_t)n };
	int status = 0;

	*found = (struct path_hits){ 0 };
	automaton.position = memory_array(names_count(set->names),
	                                  sizeof *automaton.position, error);
	if (automaton.position == NULL)
		return -1;
	found->is_canonical = is_canonical(path, n, automaton.position);
	if (found->is_canonical)
		status = count_hits(set, &automaton, found, times, error);
	free(automaton.position);
	return status;
}

int
path_is_canonical(const struct sample_set *set, const uint32_t *path,
                  size_t n, bool *is_one, struct error *error)
{
	uint32_t *position = memory_array(names_count(set->names),
	                                  sizeof *position, error);

	if (position == NULL)
		return -1;
	*is_one = is_canonical(path, n, position);
	free(position);
	return 0;
}
