/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compared_table.c -- rows of two sets of runs as a table of changes.
 *
 * What changed comes first, the largest change at the top; of paths, those two
 * that say where a change is (comparison.h) before all others.  Equal changes are
 * in the order that the view would have.
 */
#include "src/views/comparison/comparison.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"

static const char *const role_names[N_ROW_ROLES] = {
	[ROLE_FIRST] = "shortest", [ROLE_LAST] = "longest",
	[ROLE_BOTH] = "both",
};

static const char *const role_marks[N_ROW_ROLES] = {
	[ROLE_NONE] = "", [ROLE_FIRST] = ">", [ROLE_LAST] = ">>",
	[ROLE_BOTH] = ">>",
};

/* ---- rows ---- */

/* Drops rows below the threshold of both sides. */
static int
drop_small(struct rows *rows, const struct view_request *request,
           struct hidden *hidden, struct error *error)
{
	uint32_t *place = memory_array(rows->n, sizeof *place, error), n = 0;
	double least[2];

	if (place == NULL)
		return -1;
	compare_least(request, least);
	for (uint32_t i = 0; i < rows->n; i++) {
		if (!compare_is_shown(request, rows->columns, i, least)) {
			hidden->below_threshold++;
			continue;
		}
		place[i] = n;
		rows->items[n] = rows->items[i];
		if (rows->items[n].parent != NO_RECORD)
			rows->items[n].parent = place[rows->items[n].parent];
		for (size_t k = 0; k < rows->n_columns; k++)
			rows->columns[k][n] = rows->columns[k][i];
		n++;
	}
	rows->n = n;
	free(place);
	return 0;
}

/* What a row is sorted by: the lower group first, then the larger change. */
struct sort_key {
	uint32_t row;
	int group;
	double block;		/* the change of the path that it belongs to */
	uint32_t first;		/* that path's row */
	int place;		/* within the block */
};

static int
compare_keys(const void *a, const void *b, void *context)
{
	const struct sort_key *x = a, *y = b;

	(void)context;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->block != y->block)
		return x->block > y->block ? -1 : 1;
	if (x->group == 0 && x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->place - y->place;
}

static int
compared_table_group_of(const struct compared_rows *compared, uint32_t row)
{
	if (compared->roles[row] != ROLE_NONE)
		return 0;
	if (compared->verdicts[row] >= ROW_LIKELY)
		return 1;
	return compared->verdicts[row] == ROW_MOVED ? 2 : 3;
}

/* The shortest of the paths that changed like a row with a role. */
static uint32_t
first_of(const struct compared_rows *compared, const struct row *rows,
         uint32_t row)
{
	while (compared->roles[row] != ROLE_FIRST &&
	       compared->roles[row] != ROLE_BOTH)
		row = rows[row].parent;
	return row;
}

/* Sorts rows->order, which has the order of the view, by change. */
static int
sort_by_change(struct rows *rows, const struct compared_rows *compared,
               struct error *error)
{
	struct sort_key *keys = memory_array(rows->n, sizeof *keys, error);
	int status;

	if (keys == NULL)
		return -1;
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t row = rows->order[i], first = row;
		int group = compared_table_group_of(compared, row);

		if (group == 0)
			first = first_of(compared, rows->items, row);
		keys[i] = (struct sort_key){
			.row = row,
			.group = group,
			.block = fabs(compared->changes[first].change),
			.first = first,
			.place = first != row,
		};
	}
	status = sort_items(keys, rows->n, sizeof *keys, compare_keys, NULL,
	                    error);
	for (uint32_t i = 0; i < rows->n; i++)
		rows->order[i] = keys[i].row;
	free(keys);
	return status;
}

/* ---- the table ---- */

struct compared_row_source {
	struct rows rows;
	struct compared_rows compared;
	uint32_t *depth;		/* [rows.n], or NULL: not indented */
};

static struct cell
text_or_nothing(const char *text)
{
	return text != NULL ? cell_text(text) :
	       (struct cell){ .kind = CELL_EMPTY };
}

static struct cell
share_or_nothing(double part, double whole)
{
	return whole != 0 && isfinite(part) ? cell_percent(part / whole) :
	       (struct cell){ .kind = CELL_EMPTY };
}

static struct cell
number_or_nothing(double number)
{
	return isfinite(number) ? cell_number(number) :
	       (struct cell){ .kind = CELL_EMPTY };
}

static void
compared_table_get_row(const struct table *table, size_t i, struct cell *cells)
{
	const struct compared_row_source *source = table->row_source;
	uint32_t row = source->rows.order[i];
	const struct change *change = &source->compared.changes[row];
	enum row_role role = source->compared.roles[row];
	size_t n = 0;

	cells[n++] = cell_amount(change->base);
	cells[n++] = cell_amount(change->now);
	cells[n++] = cell_amount(change->change);
	cells[n++] = share_or_nothing(change->change, change->base);
	cells[n++] = amount_or_nothing((change->high - change->low) / 2);
	cells[n++] = amount_or_nothing(change->low);
	cells[n++] = amount_or_nothing(change->high);
	cells[n++] = amount_or_nothing(change->visible);
	cells[n++] = number_or_nothing(change->p);
	cells[n++] = number_or_nothing(change->q);
	cells[n++] = cell_text(row_verdict_names[
	    source->compared.verdicts[row]]);
	if (source->rows.has_estimates)
		cells[n++] = cell_flag(source->rows.items[row].is_estimated);
	if (source->rows.are_paths) {
		cells[n++] = text_or_nothing(role_names[role]);
		cells[n++] = cell_text(role_marks[role]);
	}
	if (source->depth != NULL)
		cells[n++] = cell_count(source->depth[row]);
	cells[n++] = rows_path(&source->rows, row);
	if (source->depth != NULL)
		cells[n++] = cell_name(&source->rows.paths,
		                       source->rows.items[row].name);
}

static void
compared_table_free_source(void *row_source)
{
	struct compared_row_source *source = row_source;

	rows_free(&source->rows);
	compared_rows_free(&source->compared);
	free(source->depth);
	free(source);
}

static void
compared_table_add_columns(struct table *table,
                           const struct compared_row_source *source)
{
	const bool are_functions = !rows_show_paths(&source->rows);
	const bool are_paths = source->rows.are_paths;
	const bool is_tree = source->depth != NULL;
	const struct column columns[] = {
		{ "base", "base", .kind = CELL_AMOUNT },
		{ "now", "now", .kind = CELL_AMOUNT },
		{ "change", "change", .kind = CELL_AMOUNT, .has_sign = true },
		{ "change_fraction", "%", .kind = CELL_PERCENT,
		  .has_sign = true,
		  .gives_way = !are_functions },
		{ "half", "+-", .kind = CELL_AMOUNT, .is_text_only = true },
		{ "low", "low", .kind = CELL_AMOUNT, .is_data_only = true },
		{ "high", "high", .kind = CELL_AMOUNT, .is_data_only = true },
		{ "visible", "visible", .kind = CELL_AMOUNT,
		  .gives_way = true },
		{ "p", "p", .kind = CELL_NUMBER, .is_data_only = true },
		{ "q", "q", .kind = CELL_NUMBER, .is_data_only = true },
		{ "verdict", "verdict", .kind = CELL_TEXT },
		{ source->rows.has_estimates ? "estimated" : NULL, "~",
		  .kind = CELL_FLAG, .mark = '~' },
		{ are_paths ? "role" : NULL, "", .kind = CELL_TEXT,
		  .is_data_only = true },
		{ are_paths ? "mark" : NULL, "", .kind = CELL_TEXT,
		  .is_text_only = true },
		{ is_tree ? "depth" : NULL, "depth", .kind = CELL_COUNT,
		  .is_data_only = true },
		{ "path", are_functions ? "function_name" : "call path",
		  .kind = are_functions ? CELL_NAME : CELL_PATH,
		  .is_data_only = is_tree },
		{ is_tree ? "name" : NULL, "frame_designator",
		  .kind = CELL_NAME,
		  .is_text_only = true },
	};

	table_add_columns(table, columns, sizeof columns / sizeof *columns);
	if (is_tree) {
		table->indent_key = "depth";
		table->indents_last = true;
	}
}

/* ---- all together ---- */

/*
 * Puts the rows in the order in which they are shown.  A tree is in preorder,
 * and a row's depth is one more than its parent's, which comes before it.
 */
static int
compared_table_sort(struct compared_row_source *source,
                    const struct view_request *request, bool is_tree,
                    struct error *error)
{
	struct rows *rows = &source->rows;
	uint32_t *parent;
	int status;

	if (rows_sort(rows, request->set->names, error) != 0)
		return -1;
	if (!is_tree)
		return sort_by_change(rows, &source->compared, error);
	source->depth = memory_array(rows->n, sizeof *source->depth, error);
	parent = rows_parents(rows, error);
	status = error->is_set ? -1 :
	    order_preorder(rows->order, rows->n, parent, error);
	for (uint32_t i = 0; status == 0 && i < rows->n; i++)
		source->depth[i] = parent[i] == NO_RECORD ? 0 :
		    source->depth[parent[i]] + 1;
	free(parent);
	return status;
}

int
compared_table_fill(struct rows *rows, const struct view_request *request,
                    const struct view_kind *kind, const struct measure *measure,
                    bool is_tree, struct hidden *hidden, struct table *table,
                    struct error *error)
{
	struct compared_row_source *source = memory_array(1, sizeof *source,
	                                                  error);
	uint32_t n_shown;

	if (source == NULL) {
		rows_free(rows);
		return -1;
	}
	source->rows = *rows;
	*rows = (struct rows){ 0 };
	rows = &source->rows;
	table->row_source = source;
	table->row_source_free = compared_table_free_source;
	if ((measure->least > 0 &&
	     drop_small(rows, request, hidden, error) != 0) ||
	    compare_rows(request, rows, &source->compared, error) != 0 ||
	    compared_table_sort(source, request, is_tree, error) != 0)
		return -1;
	n_shown = rows_limit(request, rows->n, hidden);
	if (rows_make_paths(rows, request->set->names, error) != 0 ||
	    compared_describe(request, kind, &source->compared, hidden, table,
	                      error) != 0 ||
	    compared_add_inlining(request, rows, &source->compared, table,
	                          error) != 0 ||
	    (rows->are_paths && table_add_header(table, error, "marks: > the "
	        "shortest path that changed, >> the longest with most of "
	        "it") != 0))
		return -1;
	compared_table_add_columns(table, source);
	table->row = compared_table_get_row;
	table->n_rows = n_shown;
	return 0;
}
