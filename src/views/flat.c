/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flat.c -- gprof's flat profile: bodies, most expensive first, and running
 * sums.
 *
 * Source: Graham, Kessler & McKusick 1982, with the true body+descendants
 * beside each body.  Cost: one pass over the nodes, O(N) for any D; M <= F
 * rows.
 */
#include <stdlib.h>

#include "src/views/rows.h"
#include "src/views/totals.h"

static const struct view_kind flat_kind = {
	.schema = "cpprof.flat/1",
	.title = "Flat Profile",
};

/* The columns, depending on what the input has. */
struct shape {
	bool has_calls;		/* the input counts calls */
	bool has_estimates;	/* values may be estimates */
	bool has_returns;	/* some were seen */
	uint64_t interval;	/* gticks a hit */
};

static struct shape
shape_of(const struct sample_set *set)
{
	return (struct shape){
		.has_calls = set->flow != NULL && set->flow->has_calls,
		.has_estimates = set->flow != NULL,
		.has_returns = set->flow == NULL && set->tree->returns != NULL,
		.interval = set->resource->interval,
	};
}

static void
add_columns(struct table *table, const struct shape *shape)
{
	table_add_column(table, "fraction", "%", CELL_PERCENT);
	table_add_column(table, "cumulative", "cumulative", CELL_HITS);
	table_add_column(table, "hits", "self", CELL_HITS);
	table_add_column(table, "inclusive", "self+descendants", CELL_HITS);
	if (shape->has_estimates)
		table_add_column(table, "estimated", "~", CELL_FLAG)->mark =
		    '~';
	if (shape->has_calls) {
		table_add_column(table, "calls", "calls", CELL_COUNT);
		table_add_column(table, "self_per_call", "self/call",
		                 CELL_FRACTION);
		table_add_column(table, "inclusive_per_call", "total/call",
		                 CELL_FRACTION);
	}
	if (shape->has_returns)
		table_add_column(table, "returns", "returns", CELL_HITS);
	table_add_column(table, "path", "name", CELL_NAME);
}

/* Gticks per call; empty where no calls are known. */
static struct cell
per_call(uint64_t hits, uint64_t calls, const struct shape *shape)
{
	if (calls == 0)
		return (struct cell){ .kind = CELL_EMPTY };
	return cell_fraction((double)hits * (double)shape->interval /
	                     (double)calls);
}

/*
 * Adds the cells of the columns between inclusive and path, in the order of
 * add_columns.  Averages are right with recursion, too: inclusive counts
 * nothing twice.
 */
static uint32_t
add_cells(struct cell *cells, uint32_t n, const struct function_total *total,
          const struct shape *shape)
{
	bool is_known = total->calls > 0;

	if (shape->has_estimates)
		cells[n++] = cell_flag(total->is_estimated);
	if (shape->has_calls) {
		cells[n++] = is_known ? cell_count(total->calls) :
		             (struct cell){ .kind = CELL_EMPTY };
		cells[n++] = per_call(total->self, total->calls, shape);
		cells[n++] = per_call(total->inclusive, total->calls, shape);
	}
	if (shape->has_returns)
		cells[n++] = cell_hits(total->returns);
	return n;
}

static int
add_rows(struct table *table, const struct rows *rows, uint32_t n_rows,
         const struct function_total *totals, const struct measure *measure,
         const struct call_paths *paths, const struct shape *shape,
         struct error *error)
{
	uint64_t cumulative = 0;

	for (uint32_t i = 0; i < n_rows; i++) {
		uint32_t row = rows->order[i], n;
		uint64_t hits = rows->hits[row];
		struct cell cells[TABLE_MAX_COLUMNS];

		cumulative += hits;
		cells[0] = cell_percent(measure_fraction(measure, hits));
		cells[1] = cell_hits(cumulative);
		cells[2] = cell_hits(hits);
		cells[3] = cell_hits(totals[row].inclusive);
		n = add_cells(cells, 4, &totals[row], shape);
		cells[n] = cell_name(paths, rows->name[row]);
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

static int
show(const struct view_request *request, struct rows *rows,
     struct function_total *totals, uint32_t n, struct table *table,
     struct error *error)
{
	const struct shape shape = shape_of(request->set);
	struct measure measure = measure_of(request);
	struct hidden hidden = { 0 };
	struct call_paths *paths = arena_alloc(&table->arena, sizeof *paths,
	                                       error);
	uint32_t n_rows;

	if (paths == NULL ||
	    rows_of_bodies(rows, request, totals, n, &measure, &hidden,
	                   error) != 0 ||
	    rows_sort(rows, request->set->names, error) != 0)
		return -1;
	paths->names = request->set->names;
	n_rows = rows_limit(request, rows->n, &hidden);
	if (view_describe(request, &flat_kind, &measure, &hidden, table,
	                  error) != 0 ||
	    view_explain_hidden_rows(request, &measure, &hidden, rows->n,
	                             "", "", table, error) != 0)
		return -1;
	add_columns(table, &shape);
	return add_rows(table, rows, n_rows, totals, &measure, paths, &shape,
	                error);
}

int
view_flat(const struct view_request *request, struct table *table,
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
