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
#include "src/views/comparison/comparison.h"

static const struct view_kind callers_kind = {
	.schema = "cpprof.paths/1",
	.title = "Caller Profile",
	.has_root = true,
	.has_columns = true,
};

static const struct view_kind callees_kind = {
	.schema = "cpprof.paths/1",
	.title = "Callee Profile",
	.has_root = true,
	.has_columns = true,
};

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
	const uint32_t parent = tree->parent[node], callee = tree->label[node];

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
		neighbour->until = tree->end[node];
		neighbour->hits += set->weight[node];
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

/* Rows hold only the neighbours: the function is the same in every path. */
static int
keep_neighbours(struct rows *rows, const struct neighbour *neighbours,
                const struct view_request *request, uint64_t least,
                struct hidden *hidden, struct error *error)
{
	uint32_t n_names = names_count(request->set->names), n = 0;

	for (uint32_t name = 0; name < n_names; name++)
		n += neighbours[name].is_met;
	if (rows_of_functions(rows, request->set, n, error) != 0)
		return -1;
	rows->n = 0;
	for (uint32_t name = 0; name < n_names; name++) {
		if (!neighbours[name].is_met)
			continue;
		if (neighbours[name].hits < least) {
			hidden_add_small(hidden, name, neighbours[name].hits);
		} else if (request->depth < 2) {
			hidden->too_long++;
		} else {
			rows->name[rows->n] = name;
			if (rows->is_estimated != NULL)
				rows->is_estimated[rows->n] =
				    neighbours[name].is_estimated;
			rows->hits[rows->n++] = neighbours[name].hits;
		}
	}
	return 0;
}

/* The hits of the same calls in the request's columns. */
static int
keep_columns(struct rows *rows, const struct view_request *request,
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
			uint32_t name = rows->name[row];

			rows->columns[i][row] = neighbours[name].hits;
			if (rows->is_estimated != NULL)
				rows->is_estimated[row] |=
				    neighbours[name].is_estimated;
		}
		free(neighbours);
	}
	return status;
}

/* Record 0 is the function, record i + 1 its path with row i's name. */
static struct call_paths *
make_paths(const struct rows *rows, uint32_t n_rows,
           const struct view_request *request, bool wants_callers,
           struct table *table, struct error *error)
{
	size_t size = ((size_t)n_rows + 1) * sizeof(uint32_t);
	struct call_paths *paths = arena_alloc(&table->arena, sizeof *paths,
	                                       error);
	uint32_t *parent = arena_alloc(&table->arena, size, error);
	uint32_t *name = arena_alloc(&table->arena, size, error);

	if (paths == NULL || parent == NULL || name == NULL)
		return NULL;
	parent[0] = NO_RECORD;
	name[0] = request->root;
	for (uint32_t i = 0; i < n_rows; i++)
		name[i + 1] = rows->name[rows->order[i]];
	*paths = (struct call_paths){
		.names = request->set->names,
		.parent = parent,
		.name = name,
		.is_innermost_first = wants_callers,
	};
	return paths;
}

/*
 * When the hits of the first n_rows rows came, in their order; to be freed.  As
 * in count_calls, of a call within a call of the same neighbour only the outer
 * one counts.  NULL with *error set.
 */
static struct when_times *
times_of_rows(const struct view_request *request, const struct rows *rows,
              uint32_t n_rows, bool wants_callers, struct error *error)
{
	const struct sample_set *set = request->set;
	const struct sample_tree *tree = set->tree;
	struct when_times *times = memory_array(n_rows, sizeof *times, error);
	struct neighbours_shown {
		uint32_t place;		/* of its row, from 1; 0: none */
		uint32_t until;
	} *shown = memory_array(names_count(set->names), sizeof *shown, error);

	if (times == NULL || shown == NULL) {
		free(times);
		free(shown);
		return NULL;
	}
	for (uint32_t i = 0; i < n_rows; i++)
		shown[rows->name[rows->order[i]]].place = i + 1;
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t name = neighbour_at(tree, node, request->root,
		                                   wants_callers);

		if (name == NO_NAME || shown[name].place == 0 ||
		    node < shown[name].until)
			continue;
		shown[name].until = tree->end[node];
		tree_time_add(tree, set->resource_number, node,
		              tree->end[node],
		              times[shown[name].place - 1].hits);
	}
	free(shown);
	return times;
}

/* The text of each row; NULL with *error set. */
static struct when_text *
neighbours_draw_when(const struct view_request *request,
                     const struct when *when, const struct rows *rows,
                     uint32_t n_rows, bool wants_callers, struct table *table,
                     struct error *error)
{
	struct when_times *times = times_of_rows(request, rows, n_rows,
	                                         wants_callers, error);
	struct when_text *texts = times == NULL ? NULL :
	    when_draw_rows(when, times, n_rows, table, error);

	free(times);
	return texts;
}

static int
neighbours_add_rows(const struct view_request *request, const struct rows *rows,
                    uint32_t n_rows, const struct call_paths *paths,
                    const struct measure *measure, struct table *table,
                    struct error *error)
{
	struct when_text *texts = NULL;
	struct row_shape shape;

	if (rows_add_columns(&shape, request, measure, true, false, table,
	                     error) != 0)
		return -1;
	if (shape.when.n > 0) {
		texts = neighbours_draw_when(request, &shape.when, rows, n_rows,
		                             paths->is_innermost_first, table,
		                             error);
		if (texts == NULL)
			return -1;
	}
	for (uint32_t i = 0; i < n_rows; i++) {
		uint32_t row = rows->order[i];
		struct cell cells[TABLE_MAX_COLUMNS];
		struct row_values values = {
			.path = cell_path(paths, i + 1),
			.is_estimated = rows->is_estimated != NULL &&
			                rows->is_estimated[row],
			.when = texts != NULL ? texts[i].text : NULL,
		};

		rows_get_hits(rows, row, values.hits);
		row_shape_cells(&shape, &values, cells);
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

static uint64_t
neighbours_body_of(const struct sample_set *set, uint32_t function)
{
	uint64_t body = 0;

	if (set->flow != NULL)
		return set->flow->functions[function].self;
	for (uint32_t node = 0; node < set->tree->n_nodes; node++)
		if (set->tree->label[node] == function)
			body += set->self[set->tree->row[node]];
	return body;
}

/* Adds the function's own body and total to the fields. */
static int
neighbours_describe_function(const struct view_request *request,
                             struct table *table, struct error *error)
{
	const struct sample_set *set = request->set;
	uint64_t inclusive = measure_function(set, request->root);
	uint64_t body = neighbours_body_of(set, request->root);
	bool is_estimated = set->flow != NULL &&
	    set->flow->functions[request->root].is_estimated;

	if (table_add_field(table, "body", "root's body", cell_hits(body),
	                    error) != 0)
		return -1;
	return table_add_field(table, "inclusive", is_estimated ?
	                       "root's body+descendants, estimated" :
	                       "root's body+descendants",
	                       cell_hits(inclusive), error);
}

/* Hands the rows to a comparison of the request's columns. */
static int
neighbours_compare(const struct view_request *request,
                   const struct view_kind *kind, struct rows *rows,
                   const struct measure *measure, struct hidden *hidden,
                   struct table *table, struct error *error)
{
	rows->order = memory_array(rows->n, sizeof *rows->order, error);
	rows->record = memory_array(rows->n, sizeof *rows->record, error);
	if (rows->order == NULL || rows->record == NULL)
		return -1;
	for (uint32_t i = 0; i < rows->n; i++) {
		rows->order[i] = i;
		rows->record[i] = i + 1;
	}
	rows->paths = make_paths(rows, rows->n, request,
	                         kind == &callers_kind, table, error);
	free(rows->order);
	rows->order = NULL;
	return rows->paths == NULL ? -1 :
	    rows_compare(rows, request, kind, measure, false, hidden, table,
	                 error);
}

static int
neighbours_show(const struct view_request *request,
                const struct view_kind *kind,
                const struct neighbour *neighbours, struct rows *rows,
                struct table *table, struct error *error)
{
	bool wants_callers = kind == &callers_kind;
	struct measure measure = measure_of(request);
	struct hidden hidden = { 0 };
	struct call_paths *paths;
	uint32_t n_rows;

	if (keep_neighbours(rows, neighbours, request, measure.least, &hidden,
	                    error) != 0 ||
	    keep_columns(rows, request, wants_callers, error) != 0)
		return -1;
	if (request->compared != NULL)
		return neighbours_compare(request, kind, rows, &measure,
		                          &hidden, table, error);
	if (rows_sort(rows, request->set->names, error) != 0 ||
	    rows_sort_by_column(rows, request, rows->hits, error) != 0)
		return -1;
	n_rows = rows_limit(request, rows->n, &hidden);
	paths = make_paths(rows, n_rows, request, wants_callers, table,
	                   error);
	if (paths == NULL ||
	    view_describe(request, kind, &measure, &hidden, table,
	                  error) != 0 ||
	    neighbours_describe_function(request, table, error) != 0 ||
	    view_explain_hidden_rows(request, &measure, &hidden, rows->n,
	                             wants_callers ? HIDDEN_CALLER :
	                             HIDDEN_CALLEE, table, error) != 0)
		return -1;
	return neighbours_add_rows(request, rows, n_rows, paths, &measure,
	                           table, error);
}

static int
show_neighbours(const struct view_request *request,
                const struct view_kind *kind, struct table *table,
                struct error *error)
{
	uint32_t n_names = names_count(request->set->names);
	struct neighbour *neighbours;
	struct rows rows = { 0 };
	int status;

	if (view_need_root(request, table, error) != 0)
		return -1;
	neighbours = memory_array(n_names, sizeof *neighbours, error);
	if (neighbours == NULL)
		return -1;
	status = neighbours_count_all(request, kind == &callers_kind,
	                              neighbours, error);
	if (status == 0)
		status = neighbours_show(request, kind, neighbours, &rows,
		                         table, error);
	rows_free(&rows);
	free(neighbours);
	return status;
}

int
view_callers(const struct view_request *request, struct table *table,
             struct error *error)
{
	return show_neighbours(request, &callers_kind, table, error);
}

int
view_callees(const struct view_request *request, struct table *table,
             struct error *error)
{
	return show_neighbours(request, &callees_kind, table, error);
}
