/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.c -- the sample tree itself, indented.
 *
 * Source: Hall & Goldberg 1993, section 7.2.  A node never outweighs its
 * parent, so the nodes shown are connected.  Siblings are sorted by weight,
 * most expensive first, then by their names' bytes.
 *
 * Cost: one pass over the nodes, O(N) for any D; linear passes sort the nodes
 * shown; with `when`, each row's subtree.
 */
#include "src/views/paths/paths.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/sample_tree.h"
#include "src/views/comparison/comparison.h"
#include "src/views/lists/lists.h"

static const struct view_kind tree_kind = {
	.schema = "cpprof.tree/1",
	.title = "Sample Tree Profile",
	.has_columns = true,
};

struct shown_node {
	uint32_t node;
	uint32_t depth;		/* 0: an outermost frame */
};

/* The nodes shown, in preorder of the tree at first. */
struct selection {
	uint32_t n;
	struct shown_node *nodes;
	uint32_t *parent;	/* place in nodes, or UINT32_MAX */
	uint32_t *name;
	uint64_t *weight;
	uint32_t *order;
};

static void
selection_free(struct selection *selection)
{
	free(selection->nodes);
	free(selection->parent);
	free(selection->name);
	free(selection->weight);
	free(selection->order);
}

static int
selection_begin(struct selection *selection, uint32_t n, struct error *error)
{
	*selection = (struct selection){ 0 };
	selection->nodes = memory_array(n, sizeof *selection->nodes, error);
	selection->parent = memory_array(n, sizeof *selection->parent, error);
	selection->name = memory_array(n, sizeof *selection->name, error);
	selection->weight = memory_array(n, sizeof *selection->weight, error);
	selection->order = memory_array(n, sizeof *selection->order, error);
	if (selection->nodes == NULL || selection->parent == NULL ||
	    selection->name == NULL || selection->weight == NULL ||
	    selection->order == NULL)
		return -1;
	return 0;
}

/*
 * The place of the node's parent.  Its nearest ancestors are the last nodes
 * added, so climbing from the newest costs no more than adding them did.
 */
static uint32_t
tree_find_parent(const struct selection *selection,
                 const struct sample_tree *tree, uint32_t node)
{
	uint32_t parent = sample_tree_parent(tree, node), place = selection->n -
	    1;

	if (parent == NO_NODE)
		return UINT32_MAX;
	while (selection->nodes[place].node != parent)
		place = selection->parent[place];
	return place;
}

static void
tree_add_node(struct selection *selection, const struct sample_set *set,
              uint32_t node, uint32_t parent, uint32_t depth)
{
	uint32_t place = selection->n++;

	selection->nodes[place] = (struct shown_node){ node, depth };
	selection->parent[place] = parent;
	selection->name[place] = set->tree->label[node];
	selection->weight[place] = sample_set_weight(set, node);
	selection->order[place] = place;
}

/* Counts a subtree that is too deep. */
static void
hide_subtree(const struct sample_set *set, uint32_t node, uint64_t least,
             struct hidden *hidden)
{
	for (uint32_t end = sample_tree_end(set->tree, node); node < end;
	    node++) {
		if (sample_set_weight(set, node) < least)
			hidden->below_threshold++;
		else
			hidden->too_long++;
	}
}

enum { STEPS_A_LOOK = 1 << 16 };	/* at Ctrl-C */

static int
select_nodes(struct selection *selection, const struct view_request *request,
             uint64_t least, struct hidden *hidden, struct error *error)
{
	const struct sample_set *set = request->set;
	const struct sample_tree *tree = set->tree;
	uint32_t node = 0, n_steps = 0;

	while (node < tree->n_nodes) {
		uint32_t parent, depth = 0;

		if (n_steps++ % STEPS_A_LOOK == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (sample_set_weight(set, node) < least) {
			hidden->below_threshold += sample_tree_end(tree, node) -
			    node;
			node = sample_tree_end(tree, node);
			continue;
		}
		parent = tree_find_parent(selection, tree, node);
		if (parent != UINT32_MAX)
			depth = selection->nodes[parent].depth + 1;
		if (depth < request->depth) {
			tree_add_node(selection, set, node, parent, depth);
			node++;
		} else {
			hide_subtree(set, node, least, hidden);
			node = sample_tree_end(tree, node);
		}
	}
	return 0;
}

/* The nodes as rows with the request's columns, to be freed even if it fails. */
static int
tree_make_rows(const struct selection *selection,
               const struct view_request *request, struct rows *rows,
               struct error *error)
{
	const uint32_t n = selection->n;

	*rows = (struct rows){ .are_paths = true };
	if (rows_make(rows, request->set, n, error) != 0 ||
	    rows_make_columns(rows, request, n, error) != 0)
		return -1;
	rows->n = n;
	for (uint32_t row = 0; row < n; row++) {
		rows->items[row] = (struct row){
			.hits = selection->weight[row],
			.name = selection->name[row],
			.parent = selection->parent[row],
		};
		for (size_t i = 0; i < rows->n_columns; i++)
			rows->columns[i][row] = sample_set_weight(
			    &request->columns[i], selection->nodes[row].node);
	}
	return 0;
}

/* Sorts the nodes by the first column shown, if that is not their weight. */
static int
tree_sort_by_column(struct selection *selection,
                    const struct view_request *request, struct error *error)
{
	struct rows rows;
	int status;

	if (request->n_shown == 0)
		return 0;
	status = tree_make_rows(selection, request, &rows, error);
	rows.order = selection->order;
	if (status == 0)
		status = rows_sort_by_column(&rows, request, error);
	rows.order = NULL;
	rows_free(&rows);
	return status;
}

/*
 * Sorts siblings by weight, then name, and puts parents before their children.
 */
static int
tree_sort_nodes(struct selection *selection, const struct view_request *request,
                struct error *error)
{
	const struct names *names = request->set->names;
	uint32_t n = selection->n, n_ranks;
	uint32_t *rank = memory_array(n, sizeof *rank, error);
	int status = -1;

	if (rank == NULL)
		return -1;
	n_ranks = order_rank_names(names, selection->name, n, rank, error);
	if (n_ranks != UINT32_MAX &&
	    order_ascending(selection->order, n, rank, n_ranks, error) == 0 &&
	    order_descending(selection->order, n, selection->weight,
	                     error) == 0 &&
	    tree_sort_by_column(selection, request, error) == 0)
		status = order_preorder(selection->order, n,
		                        selection->parent, error);
	free(rank);
	return status;
}

/* The selection is a trie of paths. */
struct tree_row_source {
	struct selection selection;
	struct call_paths paths;
	const struct sample_set *set;
	const struct sample_set *sets;	/* [n_sets] of the columns */
	size_t n_sets;
	struct column_view columns;
	struct when when;
	struct when_text when_text;	/* of the last row */
};

static struct cell
tree_draw_when(struct tree_row_source *source, uint32_t node)
{
	const struct sample_set *set = source->set;
	struct when_times times = { 0 };

	tree_time_add(set->tree, set->resource_number, node,
	              sample_tree_end(set->tree, node), times.hits);
	when_draw(&source->when, &times, &source->when_text);
	return cell_text(source->when_text.text);
}

static void
tree_get_row(const struct table *table, size_t i, struct cell *cells)
{
	struct tree_row_source *source = table->row_source;
	const struct sample_set *set = source->set;
	const uint32_t place = source->selection.order[i];
	const uint32_t node = source->selection.nodes[place].node;
	const struct column_view *columns = &source->columns;
	bool is_aligned = columns->n_shown > 0;
	uint64_t hits[COLUMN_SETS_MAX + 1] = { sample_set_weight(set, node) };
	const struct cell name = cell_name(&source->paths,
	                                   source->paths.name[place]);
	size_t n;

	for (size_t k = 0; k < source->n_sets; k++)
		hits[k + 1] = sample_set_weight(&source->sets[k], node);
	n = columns_cells(columns, hits, cells);
	cells[n++] = cell_count(source->selection.nodes[place].depth);
	cells[n++] = cell_path(&source->paths, place);
	if (!is_aligned)
		cells[n++] = name;
	if (source->when.n > 0)
		cells[n++] = tree_draw_when(source, node);
	if (is_aligned)
		cells[n] = name;
}

static void
tree_row_source_free(void *row_source)
{
	struct tree_row_source *source = row_source;

	selection_free(&source->selection);
	free(source);
}

/* The table takes the selection. */
static int
tree_give_to_table(struct selection *selection, uint32_t n_rows,
                   const struct view_request *request,
                   const struct measure *measure, const struct when *when,
                   struct table *table,
                   struct error *error)
{
	const struct sample_set *set = request->set;
	struct tree_row_source *source = memory_array(1, sizeof *source,
	                                              error);

	if (source == NULL)
		return -1;
	source->selection = *selection;
	*selection = (struct selection){ 0 };
	source->paths = (struct call_paths){
		.names = set->names,
		.parent = source->selection.parent,
		.name = source->selection.name,
	};
	source->set = set;
	source->sets = request->columns;
	source->n_sets = request->n_columns;
	source->columns = columns_of(request, measure);
	source->when = *when;
	table->row_source = source;
	table->row_source_free = tree_row_source_free;
	table->row = tree_get_row;
	table->n_rows = n_rows;
	return 0;
}

static void
tree_add_name(struct table *table)
{
	table_add_column(table, "name", "frame_designator",
	                 CELL_NAME)->is_text_only = true;
}

static int
tree_add_columns(const struct view_request *request,
                 const struct measure *measure, struct when *when,
                 struct table *table, struct error *error)
{
	bool is_aligned = request->n_shown > 0;

	if (columns_add(request, table, error) != 0)
		return -1;
	table_add_column(table, "depth", "depth",
	                 CELL_COUNT)->is_data_only = is_aligned;
	table_add_column(table, "path", "call path",
	                 CELL_PATH)->is_data_only = is_aligned;
	if (!is_aligned) {
		tree_add_name(table);
		table->pattern = columns_of(request, measure).has_error ?
		    "{name} ({fraction} +-{error}) [{hits}]" :
		    "{name} ({fraction}) [{hits}]";
	}
	if (when_add_column(request, when, table, error) != 0)
		return -1;
	if (is_aligned)
		tree_add_name(table);
	table->indent_key = "depth";
	table->indents_last = is_aligned;
	return 0;
}

static int
tree_show(const struct view_request *request, struct selection *selection,
          struct table *table, struct error *error)
{
	struct measure measure = measure_of(request);
	struct hidden hidden = { 0 };
	struct rows rows;
	struct when when;
	uint32_t n_rows;

	if (select_nodes(selection, request, measure.least, &hidden,
	                 error) != 0 ||
	    (request->compared == NULL &&
	     tree_sort_nodes(selection, request, error) != 0))
		return -1;
	if (request->compared != NULL) {
		if (tree_make_rows(selection, request, &rows, error) == 0)
			return compared_table_fill(&rows, request, &tree_kind,
			                           &measure, true, &hidden,
			                           table, error);
		rows_free(&rows);
		return -1;
	}
	n_rows = rows_limit(request, selection->n, &hidden);
	if (view_describe(request, &tree_kind, &measure, &hidden, table,
	                  error) != 0)
		return -1;
	if (tree_add_columns(request, &measure, &when, table, error) != 0)
		return -1;
	return tree_give_to_table(selection, n_rows, request, &measure, &when,
	                          table, error);
}

int
view_tree(const struct view_request *request, struct table *table,
          struct error *error)
{
	struct selection selection;
	int status = -1;

	if (request->set->flow != NULL)
		return error_set(error, "tree: the profile has calls between "
		                 "functions and no stacks");
	if (selection_begin(&selection, request->set->tree->n_nodes,
	                    error) == 0)
		status = tree_show(request, &selection, table, error);
	selection_free(&selection);
	return status;
}
