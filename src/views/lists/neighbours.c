/* SPDX-License-Identifier: GPL-3.0-or-later */
/* neighbours.c -- the callers and callees of a function.
 *
 * These are the call paths of length two that end or begin with the function,
 * its calls to itself included.  The value of (x y) is the hits of the stacks
 * that contain the call x -> y (a path that short has no room for recursion
 * to be erased), so no trie is needed: each call is a node and its parent.
 *
 * Cost: one pass over the nodes, O(N) for any D; M <= F rows.  With `when`,
 * another one, which visits the subtrees of the calls shown.
 */
#include "src/views/lists/lists.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/sample_tree.h"

struct neighbour {
	uint64_t hits;
	uint32_t until;		/* end of the last subtree added */
	bool is_met;
	bool is_estimated;	/* never of a tree */
};

/*
 * The name that calls the function at a node, or that it calls there; NO_NAME
 * if the node is no such call.
 */
static uint32_t
neighbour_at(const struct sample_tree *tree, uint32_t node, uint32_t function,
             bool wants_callers)
{
	const uint32_t parent = sample_tree_parent(tree, node), callee =
	    tree->label[node];

	if (parent == NO_NODE || (wants_callers ? callee :
	    tree->label[parent]) != function)
		return NO_NAME;
	return wants_callers ? tree->label[parent] : callee;
}

/* Sums the hits by neighbours. */
static void
count_calls(const struct sample_set *set, uint32_t function,
            bool wants_callers, struct neighbour *neighbours)
{
	const struct sample_tree *tree = set->tree;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t name = neighbour_at(tree, node, function,
		                                   wants_callers);
		struct neighbour *neighbour;

		if (name == NO_NAME)
			continue;
		neighbour = &neighbours[name];
		neighbour->is_met = true;
		if (node < neighbour->until)
			continue;
		neighbour->until = sample_tree_end(tree, node);
		neighbour->hits += sample_set_weight(set, node);
	}
}

/*
 * The same for a flow.  Where a name has several vertices, only the sum is
 * rounded.
 */
static int
count_flow(const struct call_flow *flow, uint32_t function,
           bool wants_callers, struct neighbour *neighbours,
           struct error *error)
{
	long double *sums = memory_array(flow->n_names, sizeof *sums, error);

	if (sums == NULL)
		return -1;
	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		const struct flow_arc *arc = &flow->arcs[i];
		uint32_t caller = flow->vertices[arc->caller].name;
		uint32_t callee = flow->vertices[arc->callee].name;
		uint32_t name = wants_callers ? caller : callee;

		if ((wants_callers ? callee : caller) != function)
			continue;
		sums[name] += arc->hits;
		neighbours[name].is_met = true;
		neighbours[name].is_estimated |= arc->is_estimated;
		neighbours[name].hits = measure_hits(sums[name]);
	}
	free(sums);
	return 0;
}

static int
count_neighbours(const struct sample_set *set, uint32_t function,
                 bool wants_callers, struct neighbour *neighbours,
                 struct error *error)
{
	if (set->flow != NULL)
		return count_flow(set->flow, function, wants_callers,
		                  neighbours, error);
	count_calls(set, function, wants_callers, neighbours);
	return 0;
}

/* Of compared runs without stacks, each has calls of its own. */
static int
neighbours_count_all(const struct view_request *request, bool wants_callers,
                     struct neighbour *neighbours, struct error *error)
{
	uint32_t n_names = names_count(request->set->names);
	int status = 0;

	if (request->compared == NULL || request->set->flow == NULL)
		return count_neighbours(request->set, request->root,
		                        wants_callers, neighbours, error);
	for (size_t i = 0; status == 0 && i < request->n_columns; i++) {
		struct neighbour *of_run = memory_array(n_names,
		    sizeof *of_run, error);

		status = of_run == NULL ? -1 :
		    count_neighbours(&request->columns[i], request->root,
		                     wants_callers, of_run, error);
		for (uint32_t f = 0; status == 0 && f < n_names; f++) {
			neighbours[f].hits += of_run[f].hits;
			neighbours[f].is_met |= of_run[f].is_met;
			neighbours[f].is_estimated |= of_run[f].is_estimated;
		}
		free(of_run);
	}
	return status;
}

/* The hits of the same calls in the request's columns. */
static int
neighbours_count_columns(struct rows *rows,
                         const struct view_request *request,
                         bool wants_callers, struct error *error)
{
	uint32_t n_names = names_count(request->set->names);
	int status = rows_make_columns(rows, request, rows->n, error);

	for (size_t i = 0; status == 0 && i < rows->n_columns; i++) {
		struct neighbour *neighbours = memory_array(n_names,
		    sizeof *neighbours, error);

		status = neighbours == NULL ? -1 :
		    count_neighbours(&request->columns[i], request->root,
		                     wants_callers, neighbours, error);
		for (uint32_t row = 0; status == 0 && row < rows->n; row++) {
			struct row *item = &rows->items[row];

			rows->columns[i][row] = neighbours[item->name].hits;
			item->is_estimated |=
			    neighbours[item->name].is_estimated;
		}
		free(neighbours);
	}
	return status;
}

/* Rows hold only the neighbours: the function is the same in every path. */
static int
neighbours_collect(struct list *list, struct table *table,
                   struct error *error)
{
	const struct view_request *request = list->request;
	const bool wants_callers = list->view->row_is == HIDDEN_CALLER;
	uint32_t n_names = names_count(request->set->names), n = 0;
	struct neighbour *neighbours = memory_array(n_names,
	                                            sizeof *neighbours, error);
	struct rows *rows = &list->rows;

	(void)table;
	if (neighbours == NULL ||
	    neighbours_count_all(request, wants_callers, neighbours,
	                         error) != 0) {
		free(neighbours);
		return -1;
	}
	for (uint32_t name = 0; name < n_names; name++)
		n += neighbours[name].is_met;
	if (rows_make(rows, request->set, n, error) != 0) {
		free(neighbours);
		return -1;
	}
	rows->are_calls = true;
	rows->are_outer = wants_callers;
	rows->has_returns = false;
	rows->function = request->root;
	for (uint32_t name = 0; name < n_names; name++) {
		const struct neighbour *neighbour = &neighbours[name];

		if (!neighbour->is_met)
			continue;
		if (neighbour->hits < list->measure.least)
			hidden_add_small(&list->hidden, name, neighbour->hits);
		else if (request->depth < 2)
			list->hidden.too_long++;
		else
			rows->items[rows->n++] = (struct row){
				.hits = neighbour->hits,
				.is_estimated = neighbour->is_estimated,
				.name = name,
				.parent = NO_RECORD,
			};
	}
	free(neighbours);
	return neighbours_count_columns(rows, request, wants_callers, error);
}

static uint32_t
neighbours_name_at(const void *context, uint32_t node)
{
	const struct list *list = context;

	return neighbour_at(list->set->tree, node, list->rows.function,
	                    list->rows.are_outer);
}

/* Adds the function's own body and total to the fields. */
static int
neighbours_describe(const struct list *list, struct table *table,
                    struct error *error)
{
	const struct view_request *request = list->request;
	const struct sample_set *set = request->set;
	bool is_estimated = set->flow != NULL &&
	    set->flow->functions[request->root].is_estimated;
	uint64_t inclusive, body;

	if (request->compared != NULL)
		return 0;
	inclusive = measure_function(set, request->root);
	body = measure_body(set, request->root);
	if (table_add_field(table, "body", "root's body", cell_hits(body),
	                    error) != 0)
		return -1;
	return table_add_field(table, "inclusive", is_estimated ?
	                       "root's body+descendants, estimated" :
	                       "root's body+descendants",
	                       cell_hits(inclusive), error);
}

static const struct list_view callers_list = {
	.kind = { .schema = "cpprof.paths/1", .title = "Caller Profile",
	          .has_root = true, .has_columns = true },
	.needs_root = true,
	.row_is = HIDDEN_CALLER,
	.collect = neighbours_collect,
	.describe = neighbours_describe,
	.name_at = neighbours_name_at,
};

static const struct list_view callees_list = {
	.kind = { .schema = "cpprof.paths/1", .title = "Callee Profile",
	          .has_root = true, .has_columns = true },
	.needs_root = true,
	.row_is = HIDDEN_CALLEE,
	.collect = neighbours_collect,
	.describe = neighbours_describe,
	.name_at = neighbours_name_at,
};

int
view_callers(const struct view_request *request, struct table *table,
             struct error *error)
{
	return list_show(&callers_list, request, NULL, table, error);
}

int
view_callees(const struct view_request *request, struct table *table,
             struct error *error)
{
	return list_show(&callees_list, request, NULL, table, error);
}
