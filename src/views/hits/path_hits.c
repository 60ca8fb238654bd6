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
#include "src/views/hits/hits.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"
#include "src/profile/sample_tree.h"

/* 0: the path's first name is not on the stack. */
struct path_state {
	uint32_t matched : 31;
	uint32_t is_detour : 1;
};

struct automaton {
	const uint32_t *path;
	uint32_t n;
	uint32_t *position;	/* [names] of path[0 .. n-2], from 1; else 0 */
};

/* What is counted: hits of the sets, which have one tree. */
struct path_counting {
	const struct sample_set *sets;
	size_t n_sets;
	uint64_t *hits;		/* [n_sets] */
	bool ends_there;	/* of the stacks that end in the path, whose
				 * last name has a position, too */
	bool is_seen;
	uint64_t *times;	/* of the first set; NULL: not counted */
};

static struct path_state
next_state(const struct automaton *automaton, struct path_state state,
           uint32_t name)
{
	uint32_t position = automaton->position[name];

	if (!state.is_detour && state.matched < automaton->n &&
	    automaton->path[state.matched] == name)
		return (struct path_state){ state.matched + 1, false };
	if (position != 0 && position <= state.matched)
		return (struct path_state){ position, false };
	return (struct path_state){ state.matched, state.matched > 0 };
}

/* Counts the stacks through a node where the path ends. */
static void
path_hits_count_node(struct path_counting *counting, uint32_t node)
{
	const struct sample_tree *tree = counting->sets->tree;

	for (size_t i = 0; i < counting->n_sets; i++)
		counting->hits[i] += counting->ends_there ?
		    counting->sets[i].self[sample_tree_row(tree, node)] :
		    sample_set_weight(&counting->sets[i], node);
	counting->is_seen = true;
	if (counting->times != NULL)
		tree_time_add(tree, counting->sets->resource_number, node,
		              sample_tree_end(tree, node), counting->times);
}

static int
path_hits_count_hits(const struct automaton *automaton,
                     struct path_counting *counting, struct error *error)
{
	const struct sample_tree *tree = counting->sets->tree;
	struct path_state *states = NULL;
	uint32_t node = 0;

	if (large_array_reserve(&states, tree->n_nodes, sizeof *states,
	                        error) != 0)
		return -1;
	while (node < tree->n_nodes) {
		struct path_state state = { 0 };
		bool is_end;

		if (sample_tree_parent(tree, node) != NO_NODE)
			state = states[sample_tree_parent(tree, node)];
		state = next_state(automaton, state, tree->label[node]);
		states[node] = state;
		is_end = state.matched == automaton->n && !state.is_detour;
		if (is_end)
			path_hits_count_node(counting, node);
		node = is_end && !counting->ends_there ? sample_tree_end(tree,
		    node) :
		    node + 1;
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

/* *is_one: whether the path is canonical; otherwise no stack has it. */
static int
path_hits_count_path(const uint32_t *path, size_t n,
                     struct path_counting *counting, bool *is_one,
                     struct error *error)
{
	struct automaton automaton = { .path = path, .n = (uint32_t)n };
	int status = 0;

	automaton.position = memory_array(names_count(counting->sets->names),
	                                  sizeof *automaton.position, error);
	if (automaton.position == NULL)
		return -1;
	*is_one = is_canonical(path, n, automaton.position);
	if (counting->ends_there && automaton.position[path[n - 1]] == 0)
		automaton.position[path[n - 1]] = (uint32_t)n;
	if (*is_one)
		status = path_hits_count_hits(&automaton, counting, error);
	free(automaton.position);
	return status;
}

int
path_hits_find(const struct sample_set *set, const uint32_t *path, size_t n,
               struct path_hits *found, uint64_t *times, struct error *error)
{
	struct path_counting counting = {
		.sets = set, .n_sets = 1, .hits = &found->hits,
		.times = times,
	};
	int status;

	*found = (struct path_hits){ 0 };
	status = path_hits_count_path(path, n, &counting, &found->is_canonical,
	                              error);
	found->is_seen = counting.is_seen;
	return status;
}

int
path_hits_of_sets(const struct sample_set *sets, size_t n_sets,
                  const uint32_t *path, size_t n, bool ends_there,
                  uint64_t *hits, struct error *error)
{
	struct path_counting counting = {
		.sets = sets, .n_sets = n_sets, .hits = hits,
		.ends_there = ends_there,
	};
	bool is_one;

	for (size_t i = 0; i < n_sets; i++)
		hits[i] = 0;
	return path_hits_count_path(path, n, &counting, &is_one, error);
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
