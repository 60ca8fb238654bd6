/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outermost.c -- the functions that stacks begin with. */
#include "src/views/hits/hits.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* Goes through them; a tree can have one at several outermost nodes. */
struct outermost_walk {
	const struct sample_set *set;
	uint32_t at;		/* the next node, or name of a flow */
	uint64_t hits;		/* of what was found last */
};

static uint32_t
next_in_tree(struct outermost_walk *walk)
{
	const struct sample_tree *tree = walk->set->tree;

	while (walk->at < tree->n_nodes) {
		uint32_t node = walk->at;

		walk->at = sample_tree_end(tree, node);
		walk->hits = sample_set_weight(walk->set, node);
		if (walk->hits > 0 || walk->set->left == 0)
			return tree->label[node];
	}
	return NO_NAME;
}

static uint32_t
next_in_flow(struct outermost_walk *walk)
{
	const struct call_flow *flow = walk->set->flow;

	while (walk->at < flow->n_names) {
		uint32_t name = walk->at++;
		const struct flow_function *function = &flow->functions[name];

		walk->hits = measure_hits(function->inclusive);
		if (function->occurs && !function->is_called &&
		    (walk->hits > 0 || walk->set->left == 0))
			return name;
	}
	return NO_NAME;
}

/* The next function; NO_NAME after the last. */
static uint32_t
next_function(struct outermost_walk *walk)
{
	return walk->set->flow != NULL ? next_in_flow(walk) :
	       next_in_tree(walk);
}

/* The function with the most hits of all, where each is called by others. */
static uint32_t
heaviest_of_all(const struct sample_set *set)
{
	const struct call_flow *flow = set->flow;
	uint32_t best = NO_NAME;

	for (uint32_t name = 0; flow != NULL && name < flow->n_names;
	     name++) {
		const struct flow_function *function = &flow->functions[name];

		if (function->occurs && (best == NO_NAME ||
		    function->inclusive > flow->functions[best].inclusive ||
		    (function->inclusive == flow->functions[best].inclusive &&
		     names_compare(set->names, name, best) < 0)))
			best = name;
	}
	return best;
}

bool *
outermost_functions(const struct sample_set *set, struct error *error)
{
	struct outermost_walk walk = { .set = set };
	bool *are_outermost = memory_array(names_count(set->names),
	                                   sizeof *are_outermost, error);
	uint32_t name, n = 0;

	if (are_outermost == NULL)
		return NULL;
	for (; (name = next_function(&walk)) != NO_NAME; n++)
		are_outermost[name] = true;
	if (n == 0 && (name = heaviest_of_all(set)) != NO_NAME)
		are_outermost[name] = true;
	return are_outermost;
}

uint32_t
outermost_only(const struct sample_set *set)
{
	struct outermost_walk walk = { .set = set };
	uint32_t first = next_function(&walk), name;

	if (first == NO_NAME)
		return heaviest_of_all(set);
	while ((name = next_function(&walk)) != NO_NAME)
		if (name != first)
			return NO_NAME;
	return first;
}

uint32_t
outermost_heaviest(const struct sample_set *set, struct error *error)
{
	struct outermost_walk walk = { .set = set };
	uint64_t *hits = memory_array(names_count(set->names), sizeof *hits,
	                              error);
	uint32_t best = NO_NAME, name;

	if (hits == NULL)
		return NO_NAME;
	while ((name = next_function(&walk)) != NO_NAME)
		hits[name] += walk.hits;
	walk = (struct outermost_walk){ .set = set };
	while ((name = next_function(&walk)) != NO_NAME)
		if (best == NO_NAME || hits[name] > hits[best] ||
		    (hits[name] == hits[best] &&
		     names_compare(set->names, name, best) < 0))
			best = name;
	free(hits);
	return best != NO_NAME ? best : heaviest_of_all(set);
}
