/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bodies.c -- what the views by body have in common.
 *
 * Cost: one pass over the nodes, O(N) for any D, and another one for each
 * column and with `when`; M <= F rows.
 */

#include "src/views/lists/lists.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/views/comparison/comparison.h"

/*
 * Keeps the functions that the request wants and whose bodies have at least
 * measure->least hits; the others of these are counted as hidden.  Also moves
 * the totals, so that row i is of totals[i].
 */
static int
keep_bodies(struct rows *rows, const struct view_request *request,
            struct function_total *totals, uint32_t n,
            const struct measure *measure, struct hidden *hidden,
            struct error *error)
{
	if (rows_of_functions(rows, request->set, n, error) != 0)
		return -1;
	rows->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!view_wants(request, totals[i].name))
			continue;
		if (totals[i].self < measure->least) {
			hidden_add_small(hidden, totals[i].name,
			                 totals[i].self);
			continue;
		}
		totals[rows->n] = totals[i];
		rows->name[rows->n] = totals[i].name;
		rows->hits[rows->n++] = totals[i].self;
	}
	return 0;
}

/* By bodies; equal ones by totals; and before both, by the first column. */
static int
sort_with_totals(struct rows *rows, const struct view_request *request,
                 const struct function_total *totals, struct error *error)
{
	const struct names *names = request->set->names;
	uint64_t *self = memory_array(rows->n, sizeof *self, error);
	int status = -1;

	if (self == NULL)
		return -1;
	for (uint32_t i = 0; i < rows->n; i++) {
		self[i] = totals[i].self;
		rows->hits[i] = totals[i].inclusive;
	}
	if (rows_sort(rows, names, error) == 0 &&
	    order_descending(rows->order, rows->n, self, error) == 0)
		status = rows_sort_by_column(rows, request, self, error);
	free(self);
	return status;
}

static int
sort(struct rows *rows, const struct view_request *request,
     const struct body_view *view, const struct function_total *totals,
     struct error *error)
{
	if (view->compares_totals)
		return sort_with_totals(rows, request, totals, error);
	return rows_sort(rows, request->set->names, error) != 0 ? -1 :
	    rows_sort_by_column(rows, request, rows->hits, error);
}

static int
bodies_add_rows(const struct view_request *request,
                const struct body_view *view, const struct rows *rows,
                uint32_t n_rows, const struct function_total *totals,
                const struct measure *measure, struct table *table,
                struct error *error)
{
	const struct sample_set *set = request->set;
	struct column_view columns = columns_of(request, measure);
	struct call_paths *paths = arena_alloc(&table->arena, sizeof *paths,
	                                       error);
	struct body_row row = { 0 };
	const struct when_text *texts = NULL;
	struct when when;

	if (paths == NULL || columns_add_before(request, table, error) != 0)
		return -1;
	columns.shows_percent = true;
	view->add_columns(table, request);
	if (columns_add_after(request, table, error) != 0 ||
	    when_add_column(request, &when, table, error) != 0)
		return -1;
	if (when.n > 0) {
		texts = rows_draw_functions(rows, n_rows, set, true, &when,
		                            table, error);
		if (texts == NULL)
			return -1;
	}
	table_add_column(table, "path", "name", CELL_NAME);
	paths->names = set->names;
	for (uint32_t i = 0; i < n_rows; i++) {
		struct cell cells[TABLE_MAX_COLUMNS];
		uint64_t hits[COLUMN_SETS_MAX + 1];
		size_t n;

		row.total = &totals[rows->order[i]];
		row.cumulative += row.total->self;
		rows_get_hits(rows, rows->order[i], hits);
		hits[0] = row.total->self;
		n = columns_cells_before(&columns, hits, cells);
		n += view->fill(&cells[n], &row, set, measure);
		n += columns_cells_after(&columns, hits, &cells[n]);
		if (texts != NULL)
			cells[n++] = cell_text(texts[i].text);
		cells[n] = cell_name(paths, row.total->name);
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

static int
bodies_show(const struct view_request *request, const struct body_view *view,
            struct rows *rows, struct function_total *totals, uint32_t n,
            struct table *table, struct error *error)
{
	struct measure measure = measure_of(request);
	struct hidden hidden = { 0 };
	uint32_t n_rows;

	if (keep_bodies(rows, request, totals, n, &measure, &hidden,
	                error) != 0 ||
	    rows_count_functions(rows, request, true, error) != 0)
		return -1;
	if (request->compared != NULL)
		return rows_compare(rows, request, view->kind, &measure, false,
		                    &hidden, table, error);
	if (sort(rows, request, view, totals, error) != 0)
		return -1;
	n_rows = rows_limit(request, rows->n, &hidden);
	if (view_describe(request, view->kind, &measure, &hidden, table,
	                  error) != 0 ||
	    view_explain_hidden_rows(request, &measure, &hidden, rows->n,
	                             HIDDEN_NAME, table, error) != 0)
		return -1;
	return bodies_add_rows(request, view, rows, n_rows, totals, &measure,
	                       table, error);
}

int
view_bodies(const struct view_request *request, const struct body_view *view,
            struct table *table, struct error *error)
{
	struct rows rows = { 0 };
	uint32_t n;
	struct function_total *totals = function_totals(request->set, &n,
	                                                error);
	int status;

	if (totals == NULL)
		return -1;
	status = bodies_show(request, view, &rows, totals, n, table, error);
	rows_free(&rows);
	free(totals);
	return status;
}
