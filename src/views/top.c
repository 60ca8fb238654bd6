/* SPDX-License-Identifier: GPL-3.0-or-later */
/* top.c -- the functions whose own bodies used most, each with its total.
 *
 * The two numbers say together what to do: a function that is expensive by
 * itself can be made faster, one that is expensive with its descendants can be
 * called less.  Cost: one pass over the nodes, O(N) for any D; M <= F rows.
 */
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/views/order.h"
#include "src/views/rows.h"
#include "src/views/totals.h"

static const struct view_kind top_kind = {
	.schema = "cpprof.top/1",
	.title = "Top Functions",
};

static void
add_columns(struct table *table, const struct sample_set *set)
{
	table_add_column(table, "hits", "self", CELL_HITS);
	table_add_column(table, "fraction", "%", CELL_PERCENT);
	table_add_column(table, "inclusive", "self+descendants", CELL_HITS);
	table_add_column(table, "inclusive_fraction", "%", CELL_PERCENT);
	if (set->flow != NULL)
		table_add_column(table, "estimated", "~", CELL_FLAG)->mark =
		    '~';
	table_add_column(table, "path", "name", CELL_NAME);
}

static int
add_rows(struct table *table, const struct sample_set *set,
         const struct rows *rows, uint32_t n_rows,
         const struct function_total *totals, const struct measure *measure,
         struct error *error)
{
	struct call_paths *paths = arena_alloc(&table->arena, sizeof *paths,
	                                       error);

	if (paths == NULL)
		return -1;
	paths->names = set->names;
	add_columns(table, set);
	for (uint32_t i = 0; i < n_rows; i++) {
		uint32_t row = rows->order[i], n = 0;
		uint64_t self = totals[row].self;
		uint64_t inclusive = totals[row].inclusive;
		struct cell cells[TABLE_MAX_COLUMNS];

		cells[n++] = cell_hits(self);
		cells[n++] = cell_percent(measure_fraction(measure, self));
		cells[n++] = cell_hits(inclusive);
		cells[n++] = cell_percent(measure_fraction(measure,
		                                           inclusive));
		if (set->flow != NULL)
			cells[n++] = cell_flag(totals[row].is_estimated);
		cells[n] = cell_name(paths, rows->name[row]);
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

/* By their bodies; equal ones by their totals, then by their names. */
static int
sort(struct rows *rows, const struct function_total *totals,
     const struct names *names, struct error *error)
{
	uint64_t *self = memory_array(rows->n, sizeof *self, error);
	int status = -1;

	if (self == NULL)
		return -1;
	for (uint32_t i = 0; i < rows->n; i++) {
		self[i] = totals[i].self;
		rows->hits[i] = totals[i].inclusive;
	}
	if (rows_sort(rows, names, error) == 0)
		status = order_descending(rows->order, rows->n, self, error);
	free(self);
	return status;
}

static int
show(const struct view_request *request, struct rows *rows,
     struct function_total *totals, uint32_t n, struct table *table,
     struct error *error)
{
	struct measure measure = measure_of(request);
	struct hidden hidden = { 0 };
	uint32_t n_rows;

	if (rows_of_bodies(rows, request, totals, n, &measure, &hidden,
	                   error) != 0 ||
	    sort(rows, totals, request->set->names, error) != 0)
		return -1;
	n_rows = rows_limit(request, rows->n, &hidden);
	if (view_describe(request, &top_kind, &measure, &hidden, table,
	                  error) != 0 ||
	    view_explain_hidden_rows(request, &measure, &hidden, rows->n,
	                             "", "", table, error) != 0)
		return -1;
	return add_rows(table, request->set, rows, n_rows, totals, &measure,
	                error);
}

int
view_top(const struct view_request *request, struct table *table,
         struct error *error)
{
	struct rows rows = { 0 };
	uint32_t n;
	struct function_total *totals = function_totals(request->set, &n,
	                                                error);
	int status;

	if (totals == NULL)
		return -1;
	status = show(request, &rows, totals, n, table, error);
	rows_free(&rows);
	free(totals);
	return status;
}
