/* SPDX-License-Identifier: GPL-3.0-or-later */
/* up.c -- which callers make a function expensive: paths that end in it.
 *
 * The value of a path is that in the downward profile of its first function;
 * this view selects the paths.  What a node named like the root contributes
 * follows from its stack alone: for each name x on the stack, the path begins
 * with x and continues like the path from y, the callee of the last activation
 * of x.  (A canonical path depends only on the name at which it starts, and
 * goes through last activations.)  So the stack is kept as a list of its
 * distinct names, the most recently activated first, each with the callee of
 * its last activation.  x comes after its y in the list, so one pass finds the
 * record of every name.  Opening a node moves its name to the front; closing
 * it undoes that.
 *
 * Cost: O(N) to find the root's nodes, O(1) for each of their ancestors, and a
 * probe for each distinct name above each of them; that is also the bound on
 * records M.  No other part of the tree is visited.
 */
#include "src/views/paths/paths.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/large_array.h"
#include "src/views/lists/lists.h"

/*
 * A name on the stack, in a ring that starts with the most recently activated
 * name.
 */
struct up_activation {
	uint32_t newer, older;
	uint32_t callee;	/* name that its last activation called */
	uint32_t record;	/* of the path that begins with it */
	uint32_t before;	/* of the path up to the root's last
				 * activation; NO_RECORD if that is not on
				 * it */
	bool is_listed;
};

/* The state of the list before a node that is still open. */
struct up_path_node {
	uint32_t node;
	uint32_t newer, callee;		/* of the node's name */
	bool was_listed;
};

/* An activation of the root, and the record of its whole stack's path. */
struct open_root {
	uint32_t end, record;
};

struct up_walk {
	const struct sample_set *set;
	const struct sample_set *columns;	/* [trie.n_columns] */
	struct path_trie trie;
	struct up_activation *names;	/* [n_names + 1], the last one the head
					 * of the ring */
	uint32_t ring;			/* the number of the head */
	struct up_path_node *open;
	uint32_t n_open;
	uint32_t *chain;		/* nodes about to be opened */
	struct open_root *roots;	/* where own hits are counted */
	uint32_t n_roots;
	uint64_t n_steps;
};

static int
up_walk_begin(struct up_walk *walk, const struct view_request *request,
              bool counts_own, struct error *error)
{
	const struct sample_set *set = request->set;
	const struct sample_tree *tree = set->tree;
	uint32_t n_names = names_count(set->names);
	size_t deepest = (size_t)tree->deepest + 1;

	*walk = (struct up_walk){ .set = set, .columns = request->columns,
		               .ring = n_names };
	walk->names = memory_array((size_t)n_names + 1, sizeof *walk->names,
	                           error);
	if (walk->names == NULL ||
	    large_array_reserve(&walk->open, deepest, sizeof *walk->open,
	                        error) != 0 ||
	    large_array_reserve(&walk->chain, deepest, sizeof *walk->chain,
	                        error) != 0)
		return -1;
	walk->names[n_names].newer = walk->names[n_names].older = n_names;
	if (path_trie_begin(&walk->trie, request->root, tree->n_nodes,
	                    error) != 0)
		return -1;
	if (path_trie_count_columns(&walk->trie, request->n_columns,
	                            error) != 0)
		return -1;
	if (counts_own &&
	    (path_trie_count_own(&walk->trie, error) != 0 ||
	     large_array_reserve(&walk->roots, deepest, sizeof *walk->roots,
	                         error) != 0))
		return -1;
	return tree->returns == NULL ? 0 :
	    path_trie_count_returns(&walk->trie, error);
}

static void
up_walk_free(struct up_walk *walk)
{
	path_trie_free(&walk->trie);
	free(walk->names);
	large_array_free(walk->open);
	large_array_free(walk->chain);
	large_array_free(walk->roots);
}

static void
unlist(struct up_walk *walk, uint32_t name)
{
	struct up_activation *names = walk->names;

	names[names[name].newer].older = names[name].older;
	names[names[name].older].newer = names[name].newer;
}

/* Inserts the name after `newer`; the head of the ring precedes all names. */
static void
list_after(struct up_walk *walk, uint32_t newer, uint32_t name)
{
	struct up_activation *names = walk->names;
	uint32_t older = names[newer].older;

	names[name].newer = newer;
	names[name].older = older;
	names[newer].older = names[older].newer = name;
}

static void
up_open_node(struct up_walk *walk, uint32_t node)
{
	uint32_t name = walk->set->tree->label[node];
	struct up_activation *activation = &walk->names[name];

	if (walk->n_open > 0) {
		uint32_t caller = walk->open[walk->n_open - 1].node;

		walk->names[walk->set->tree->label[caller]].callee = name;
	}
	walk->open[walk->n_open++] = (struct up_path_node){
		.node = node,
		.newer = activation->newer,
		.callee = activation->callee,
		.was_listed = activation->is_listed,
	};
	if (activation->is_listed)
		unlist(walk, name);
	activation->is_listed = true;
	list_after(walk, walk->ring, name);
}

static void
up_close_node(struct up_walk *walk)
{
	const struct up_path_node *open = &walk->open[--walk->n_open];
	uint32_t name = walk->set->tree->label[open->node];
	struct up_activation *activation = &walk->names[name];

	unlist(walk, name);
	activation->is_listed = open->was_listed;
	activation->callee = open->callee;
	if (open->was_listed)
		list_after(walk, open->newer, name);
}

/* Makes the open nodes the ancestors of `node`. */
static void
open_ancestors(struct up_walk *walk, uint32_t node)
{
	const struct sample_tree *tree = walk->set->tree;
	uint32_t ancestor = sample_tree_parent(tree, node), innermost, n = 0;

	while (walk->n_open > 0 &&
	       sample_tree_end(tree, walk->open[walk->n_open - 1].node) <= node)
		up_close_node(walk);
	innermost = walk->n_open > 0 ? walk->open[walk->n_open - 1].node :
	            NO_NODE;
	for (; ancestor != innermost; ancestor = sample_tree_parent(tree,
	    ancestor))
		walk->chain[n++] = ancestor;
	while (n > 0)
		up_open_node(walk, walk->chain[--n]);
}

/*
 * Returns count as in down: for the node's path, and if the node is a call
 * back into the path, also for the path that continues from there.  Callees
 * have been counted before.
 */
static int
up_count_returns(struct up_walk *walk, uint32_t node, uint32_t name,
                 bool calls_node, struct error *error)
{
	const struct sample_tree *tree = walk->set->tree;
	struct up_activation *activation = &walk->names[name];
	uint32_t before = calls_node ? NO_RECORD :
	    walk->names[activation->callee].before;

	walk->trie.returns[activation->record] += tree->returns[node];
	if (name == tree->label[node]) {
		activation->before = 0;	/* counted with the node itself */
		return 0;
	}
	activation->before = before;
	if (before == NO_RECORD)
		return 0;
	activation->before = path_trie_child(&walk->trie, before, name, error);
	if (activation->before == NO_RECORD)
		return -1;
	walk->trie.returns[activation->before] += tree->returns[node];
	return 0;
}

/*
 * The hits of a node named like the root are those of the path from the
 * outermost frame, and no longer those of the activation of the root before.
 */
static void
count_own(struct up_walk *walk, uint32_t node)
{
	const struct sample_tree *tree = walk->set->tree;
	uint64_t weight = sample_set_weight(walk->set, node);
	uint32_t record = walk->n_open == 0 ? 0 :
	    walk->names[tree->label[walk->open[0].node]].record;

	while (walk->n_roots > 0 &&
	       walk->roots[walk->n_roots - 1].end <= node)
		walk->n_roots--;
	if (walk->n_roots > 0)
		walk->trie.own[walk->roots[walk->n_roots - 1].record] -=
		    weight;
	walk->trie.own[record] += weight;
	walk->roots[walk->n_roots++] =
	    (struct open_root){ sample_tree_end(tree, node), record };
}

static inline void
up_count_hits(struct up_walk *walk, uint32_t record, uint32_t node)
{
	if (path_trie_count(&walk->trie, record, node,
	                    sample_tree_end(walk->set->tree, node),
	                    sample_set_weight(walk->set, node)) &&
	    walk->trie.n_columns > 0)
		path_trie_add_columns(&walk->trie, record, walk->columns,
		                      node);
}

/* Counts a node named like the root for all paths that end in it. */
static int
up_count_node(struct up_walk *walk, uint32_t node, struct error *error)
{
	struct up_activation *names = walk->names;
	uint32_t innermost = names[walk->ring].older;
	uint32_t record = 0;
	const uint64_t *returns = walk->set->tree->returns;

	up_count_hits(walk, 0, node);
	if (returns != NULL)
		walk->trie.returns[0] += returns[node];
	for (uint32_t name = innermost; name != walk->ring;
	     name = names[name].older) {
		if (name != innermost)	/* unless it called the node itself */
			record = names[names[name].callee].record;
		record = path_trie_child(&walk->trie, record, name, error);
		if (record == NO_RECORD)
			return -1;
		names[name].record = record;
		up_count_hits(walk, record, node);
		if (returns != NULL &&
		    up_count_returns(walk, node, name, name == innermost,
		                     error) != 0)
			return -1;
		if ((++walk->n_steps & 0xffff) == 0 &&
		    progress_step(NULL, node, 0, error) != 0)
			return -1;
	}
	if (walk->trie.own != NULL)
		count_own(walk, node);
	return 0;
}

static int
up_count_paths(struct up_walk *walk, uint32_t root, struct error *error)
{
	const struct sample_tree *tree = walk->set->tree;
	uint32_t node = measure_next_node(tree, 0, root);

	if (node == tree->n_nodes)
		walk->trie.n_records = 0;
	while (node < tree->n_nodes) {
		open_ancestors(walk, node);
		if (up_count_node(walk, node, error) != 0)
			return -1;
		node = measure_next_node(tree, node + 1, root);
	}
	return 0;
}

int
rows_up(struct rows *rows, const struct view_request *request,
        const struct measure *measure, bool counts_own,
        struct hidden *hidden, struct error *error)
{
	struct up_walk walk;
	int status = -1;

	if (up_walk_begin(&walk, request, counts_own, error) == 0 &&
	    up_count_paths(&walk, request->root, error) == 0)
		status = rows_from_trie(rows, &walk.trie, request, measure,
		                        hidden, error);
	up_walk_free(&walk);
	return status;
}

static int
collect_up_paths(struct list *list, struct table *table, struct error *error)
{
	(void)table;
	list->rows.is_innermost_first = true;
	return list->set->flow != NULL ?
	    flow_paths_up(&list->rows, list->request, &list->measure,
	                  &list->hidden, error) :
	    rows_up(&list->rows, list->request, &list->measure, false,
	            &list->hidden, error);
}

static const struct list_view up_list = {
	.kind = { .schema = "cpprof.paths/1",
	          .title = "Upward Call Path Profile",
	          .has_root = true, .has_columns = true },
	.needs_root = true,
	.collect = collect_up_paths,
};

int
view_up(const struct view_request *request, struct table *table,
        struct error *error)
{
	return list_show(&up_list, request, NULL, table, error);
}
