/* SPDX-License-Identifier: GPL-3.0-or-later */
/* down.c -- what a function spends its use on: paths that begin with it.
 *
 * Source: Hall & Goldberg 1993, appendix, with a walk in preorder instead of
 * recursion.  The canonical path is kept in place: position i holds a name and
 * the record of the path so far.  A name n is on the path when position[n] is
 * below the length and holds n.  Going back to it only shortens the length and
 * leaves the entries above.  So each node changes at most one position, which
 * is restored when the walk leaves the node's subtree.  Popping entries
 * instead would be quadratic on chains that go back again and again.
 *
 * Cost: one probe for each node below an outermost root, O(N) for any D; M <=
 * N records; linear passes sort the rows shown.
 */
#include "src/views/paths/paths.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/large_array.h"
#include "src/views/lists/lists.h"

/* Instead of a record: that of a path without one, see struct down_walk. */
enum { LEFT_OUT = NO_RECORD - 1 };

struct position {
	uint32_t name, record;
};

/* The state of the path before a node that is still open. */
struct down_path_node {
	uint32_t end;		/* of its subtree */
	uint32_t length;
	uint32_t slot;		/* the position it overwrote, or NO_RECORD */
	struct position position;
	uint32_t name_position;	/* position[] of that position's new name */
};

struct down_walk {
	const struct sample_set *set;
	const struct sample_set *columns;	/* [trie.n_columns] */
	struct path_trie trie;
	struct position *path;
	uint32_t length;
	uint32_t *position;		/* [names] */
	struct down_path_node *open;
	uint32_t n_open;
	bool *is_small;			/* [names] no path that has the name
					 * gets a record; NULL: all do */
};

/*
 * A path has no more hits than each of its functions: so those that are below
 * the threshold make all their paths so.
 */
static int
find_small(struct down_walk *walk, uint64_t least, struct error *error)
{
	uint32_t n;
	struct function_total *totals = function_totals(walk->set, &n, error);

	walk->is_small = memory_array(names_count(walk->set->names),
	                              sizeof *walk->is_small, error);
	if (totals != NULL && walk->is_small != NULL)
		for (uint32_t i = 0; i < n; i++)
			walk->is_small[totals[i].name] =
			    totals[i].inclusive < least;
	free(totals);
	return totals != NULL && walk->is_small != NULL ? 0 : -1;
}

static int
down_walk_begin(struct down_walk *walk, const struct view_request *request,
                bool counts_own, struct error *error)
{
	const struct sample_set *set = request->set;
	const struct sample_tree *tree = set->tree;
	uint32_t n_names = names_count(set->names);
	size_t longest = tree->deepest < n_names ? tree->deepest : n_names;

	longest += request->root == NO_NAME;

	*walk = (struct down_walk){ .set = set, .columns = request->columns };
	walk->path = memory_array(longest + 1, sizeof *walk->path, error);
	walk->position = memory_array(n_names, sizeof *walk->position, error);
	if (walk->path == NULL || walk->position == NULL ||
	    large_array_reserve(&walk->open, (size_t)tree->deepest + 1,
	                        sizeof *walk->open, error) != 0)
		return -1;
	if (path_trie_begin(&walk->trie, request->root, tree->n_nodes,
	                    error) != 0)
		return -1;
	if (path_trie_count_columns(&walk->trie, request->n_columns,
	                            error) != 0)
		return -1;
	if (counts_own && path_trie_count_own(&walk->trie, error) != 0)
		return -1;
	return tree->returns == NULL ? 0 :
	    path_trie_count_returns(&walk->trie, error);
}

static void
down_walk_free(struct down_walk *walk)
{
	path_trie_free(&walk->trie);
	free(walk->path);
	free(walk->position);
	free(walk->is_small);
	large_array_free(walk->open);
}

static void
down_close_node(struct down_walk *walk)
{
	const struct down_path_node *node = &walk->open[--walk->n_open];

	walk->length = node->length;
	if (node->slot == NO_RECORD)
		return;
	walk->position[walk->path[node->slot].name] = node->name_position;
	walk->path[node->slot] = node->position;
}

/* Updates the path: goes back to the name's position, or adds the name. */
static void
down_open_node(struct down_walk *walk, uint32_t name, uint32_t record,
               uint32_t end)
{
	uint32_t at = walk->position[name];
	struct down_path_node *node = &walk->open[walk->n_open++];

	node->end = end;
	node->length = walk->length;
	node->slot = NO_RECORD;
	if (at < walk->length && walk->path[at].name == name) {
		walk->length = at + 1;
		return;
	}
	node->slot = walk->length;
	node->position = walk->path[walk->length];
	node->name_position = at;
	walk->path[walk->length] = (struct position){ name, record };
	walk->position[name] = walk->length++;
}

/*
 * A node's returns count for its path.  If the node is a call back into the
 * path, they also count for the path that continues from there, whose hits
 * include the node already.
 */
static void
down_count_returns(struct down_walk *walk, uint32_t record, uint32_t node)
{
	uint32_t name = walk->set->tree->label[node];
	uint32_t at = walk->position[name];
	uint64_t returns = walk->set->tree->returns[node];

	if (record != LEFT_OUT)
		walk->trie.returns[record] += returns;
	if (at < walk->length && walk->path[at].name == name &&
	    walk->path[at].record != LEFT_OUT)
		walk->trie.returns[walk->path[at].record] += returns;
}

/* The record of a node's path; NO_RECORD with *error set. */
static uint32_t
find_record(struct down_walk *walk, uint32_t name, struct error *error)
{
	uint32_t parent;

	if (walk->length == 0)
		return 0;
	parent = walk->path[walk->length - 1].record;
	if (parent == LEFT_OUT ||
	    (walk->is_small != NULL && walk->is_small[name]))
		return LEFT_OUT;
	return path_trie_child(&walk->trie, parent, name, error);
}

static void
down_count_node(struct down_walk *walk, uint32_t record, uint32_t node)
{
	const struct sample_set *set = walk->set;

	if (path_trie_count(&walk->trie, record, node,
	    sample_tree_end(set->tree, node),
	                    sample_set_weight(set, node)) &&
	    walk->trie.n_columns > 0)
		path_trie_add_columns(&walk->trie, record, walk->columns,
		                      node);
	if (walk->trie.own != NULL)
		walk->trie.own[record] +=
		    set->self[sample_tree_row(set->tree, node)];
}

/* Everything below one outermost root. */
static int
walk_subtree(struct down_walk *walk, uint32_t top, struct error *error)
{
	const struct sample_tree *tree = walk->set->tree;
	uint32_t end = sample_tree_end(tree, top);

	for (uint32_t node = top; node < end; node++) {
		uint32_t name = tree->label[node], record;

		while (walk->n_open > 0 &&
		       walk->open[walk->n_open - 1].end <= node)
			down_close_node(walk);
		record = find_record(walk, name, error);
		if (record == NO_RECORD)
			return -1;
		if (record != LEFT_OUT)
			down_count_node(walk, record, node);
		if (tree->returns != NULL)
			down_count_returns(walk, record, node);
		if (!sample_tree_is_leaf(tree, node))
			down_open_node(walk, name, record, sample_tree_end(tree,
			    node));
		if ((node & 0xffff) == 0 &&
		    progress_step(NULL, node, end, error) != 0)
			return -1;
	}
	while (walk->n_open > 0)
		down_close_node(walk);
	return 0;
}

/*
 * Without a root, all stacks begin in a function above them, which has no name:
 * record 0, which is always on the path.
 */
static int
count_all_paths(struct down_walk *walk, struct error *error)
{
	const struct sample_tree *tree = walk->set->tree;

	walk->path[walk->length++] = (struct position){ NO_NAME, 0 };
	for (uint32_t top = 0; top < tree->n_nodes; top = sample_tree_end(tree,
	    top))
		if (walk_subtree(walk, top, error) != 0)
			return -1;
	return 0;
}

static int
down_count_paths(struct down_walk *walk, uint32_t root, struct error *error)
{
	const struct sample_tree *tree = walk->set->tree;
	uint32_t top;

	if (root == NO_NAME)
		return count_all_paths(walk, error);
	top = measure_next_node(tree, 0, root);
	if (top == tree->n_nodes)
		walk->trie.n_records = 0;
	while (top < tree->n_nodes) {
		if (walk_subtree(walk, top, error) != 0)
			return -1;
		top = measure_next_node(tree, sample_tree_end(tree, top), root);
	}
	return 0;
}

int
rows_down(struct rows *rows, const struct view_request *request,
          const struct measure *measure, bool counts_own,
          struct hidden *hidden, struct error *error)
{
	struct down_walk walk;
	int status = -1;

	if (down_walk_begin(&walk, request, counts_own, error) == 0 &&
	    (hidden != NULL || find_small(&walk, measure->least, error) == 0) &&
	    down_count_paths(&walk, request->root, error) == 0)
		status = rows_from_trie(rows, &walk.trie, request, measure,
		                        hidden, error);
	down_walk_free(&walk);
	return status;
}

static int
collect_down_paths(struct list *list, struct table *table, struct error *error)
{
	(void)table;
	return list->set->flow != NULL ?
	    flow_paths_down(&list->rows, list->request, &list->measure,
	                    &list->hidden, error) :
	    rows_down(&list->rows, list->request, &list->measure, false,
	              &list->hidden, error);
}

static const struct list_view down_list = {
	.kind = { .schema = "cpprof.paths/1",
	          .title = "Downward Call Path Profile",
	          .has_root = true, .has_columns = true },
	.collect = collect_down_paths,
};

int
view_down(const struct view_request *request, struct table *table,
          struct error *error)
{
	return request->root == NO_NAME ?
	    view_outermost(request, table, error) :
	    list_show(&down_list, request, NULL, table, error);
}
