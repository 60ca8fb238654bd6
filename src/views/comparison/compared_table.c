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
		rows->name[n] = rows->name[i];
		rows->hits[n] = rows->hits[i];
		if (rows->is_estimated != NULL)
			rows->is_estimated[n] = rows->is_estimated[i];
		if (rows->record != NULL)
			rows->record[n] = rows->record[i];
		if (rows->parent != NULL)
			rows->parent[n] = rows->parent[i] == NO_RECORD ?
			    NO_RECORD : place[rows->parent[i]];
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
first_of(const struct compared_rows *compared, const uint32_t *parent,
         uint32_t row)
{
	while (compared->roles[row] != ROLE_FIRST &&
	       compared->roles[row] != ROLE_BOTH)
		row = parent[row];
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
			first = first_of(compared, rows->parent, row);
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
	struct call_paths paths;
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
	const struct cell name = cell_name(&source->paths,
	                                   source->rows.name[row]);
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
	if (source->rows.is_estimated != NULL)
		cells[n++] = cell_flag(source->rows.is_estimated[row]);
	if (source->rows.parent != NULL) {
		cells[n++] = text_or_nothing(role_names[role]);
		cells[n++] = cell_text(role_marks[role]);
	}
	if (source->depth != NULL)
		cells[n++] = cell_count(source->depth[row]);
	cells[n++] = source->rows.record != NULL ?
	    cell_path(source->rows.paths, source->rows.record[row]) :
	    source->rows.parent == NULL ? name :
	    cell_path(&source->paths, row);
	if (source->depth != NULL)
		cells[n++] = name;
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
	bool are_functions = source->rows.parent == NULL &&
	                     source->rows.record == NULL;
	struct column *fraction;

	table_add_column(table, "base", "base", CELL_AMOUNT);
	table_add_column(table, "now", "now", CELL_AMOUNT);
	table_add_column(table, "change", "change", CELL_AMOUNT)->has_sign =
	    true;
	fraction = table_add_column(table, "change_fraction", "%",
	                            CELL_PERCENT);
	fraction->has_sign = true;
	fraction->gives_way = !are_functions;
	table_add_column(table, "half", "+-", CELL_AMOUNT)->is_text_only =
	    true;
	table_add_column(table, "low", "low", CELL_AMOUNT)->is_data_only =
	    true;
	table_add_column(table, "high", "high", CELL_AMOUNT)->is_data_only =
	    true;
	table_add_column(table, "visible", "visible", CELL_AMOUNT)->gives_way =
	    true;
	table_add_column(table, "p", "p", CELL_NUMBER)->is_data_only = true;
	table_add_column(table, "q", "q", CELL_NUMBER)->is_data_only = true;
	table_add_column(table, "verdict", "verdict", CELL_TEXT);
	if (source->rows.is_estimated != NULL)
		table_add_column(table, "estimated", "~", CELL_FLAG)->mark =
		    '~';
	if (source->rows.parent != NULL) {
		table_add_column(table, "role", "", CELL_TEXT)->is_data_only =
		    true;
		table_add_column(table, "mark", "", CELL_TEXT)->is_text_only =
		    true;
	}
	if (source->depth != NULL)
		table_add_column(table, "depth", "depth",
		                 CELL_COUNT)->is_data_only = true;
	table_add_column(table, "path", are_functions ? "function_name" :
	                 "call path", are_functions ? CELL_NAME : CELL_PATH)->
	    is_data_only = source->depth != NULL;
	if (source->depth == NULL)
		return;
	table_add_column(table, "name", "frame_designator",
	                 CELL_NAME)->is_text_only = true;
	table->indent_key = "depth";
	table->indents_last = true;
}

/* ---- all together ---- */

/* Depths of rows by their parents, which come before them. */
static int
find_depths(struct compared_row_source *source, struct error *error)
{
	const uint32_t *parent = source->rows.parent;

	source->depth = memory_array(source->rows.n, sizeof *source->depth,
	                             error);
	for (uint32_t i = 0; source->depth != NULL && i < source->rows.n; i++)
		source->depth[i] = parent[i] == NO_RECORD ? 0 :
		    source->depth[parent[i]] + 1;
	return source->depth != NULL ? 0 : -1;
}

/* The order of the rows, and how many of them are shown; or UINT32_MAX. */
static uint32_t
choose_rows(struct compared_row_source *source,
            const struct view_request *request, struct hidden *hidden,
            struct error *error)
{
	struct rows *rows = &source->rows;
	uint32_t n = rows->n;

	if (rows_sort(rows, request->set->names, error) != 0)
		return UINT32_MAX;
	if (source->depth != NULL) {
		if (order_preorder(rows->order, rows->n, rows->parent,
		                   error) != 0)
			return UINT32_MAX;
	} else if (sort_by_change(rows, &source->compared, error) != 0) {
		return UINT32_MAX;
	}
	return rows_limit(request, n, hidden);
}

static int
compared_table_show(struct compared_row_source *source,
                    const struct view_request *request,
                    const struct view_kind *kind, const struct measure *measure,
                    bool is_tree, struct hidden *hidden, struct table *table,
                    struct error *error)
{
	struct rows *rows = &source->rows;
	bool has_paths = rows->parent != NULL;
	uint32_t n_shown;

	if ((measure->least > 0 &&
	     drop_small(rows, request, hidden, error) != 0) ||
	    compare_rows(request, rows->columns, rows->parent,
	                 rows->is_estimated, rows->n, &source->compared,
	                 error) != 0 ||
	    (is_tree && find_depths(source, error) != 0))
		return -1;
	n_shown = choose_rows(source, request, hidden, error);
	if (n_shown == UINT32_MAX)
		return -1;
	source->paths = (struct call_paths){
		.names = request->set->names,
		.parent = rows->parent,
		.name = rows->name,
		.is_innermost_first = rows->is_innermost_first,
	};
	if (compared_describe(request, kind, &source->compared, hidden, table,
	                      error) != 0 ||
	    (has_paths && table_add_header(table, error, "marks: > the "
	        "shortest path that changed, >> the longest with most of "
	        "it") != 0))
		return -1;
	compared_table_add_columns(table, source);
	table->row = compared_table_get_row;
	table->n_rows = n_shown;
	return 0;
}

int
rows_compare(struct rows *rows, const struct view_request *request,
             const struct view_kind *kind, const struct measure *measure,
             bool is_tree, struct hidden *hidden, struct table *table,
             struct error *error)
{
	struct compared_row_source *source = memory_array(1, sizeof *source,
	                                                  error);

	if (source == NULL) {
		rows_free(rows);
		return -1;
	}
	source->rows = *rows;
	*rows = (struct rows){ 0 };
	table->row_source = source;
	table->row_source_free = compared_table_free_source;
	return compared_table_show(source, request, kind, measure, is_tree,
	                           hidden, table, error);
}
