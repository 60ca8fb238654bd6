/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list_show.c -- rows as a table: sorted, limited, with the usual columns. */
#include "src/views/lists/lists.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/views/comparison/comparison.h"

struct rows_row_source {
	struct call_paths paths;
	struct rows rows;
	struct row_shape shape;
	const struct when_text *texts;	/* of row order[i]; NULL: rows do not
					 * say when their hits came */
};

void
row_shape_cells(const struct row_shape *shape, const struct row_values *values,
                struct cell *cells)
{
	size_t n = columns_cells(&shape->columns, values->hits, cells);
	bool is_aligned = shape->columns.n_shown > 0;

	if (!is_aligned)
		cells[n++] = values->path;
	if (shape->has_returns)
		cells[n++] = cell_count(values->returns);
	if (shape->has_estimates)
		cells[n++] = cell_flag(values->is_estimated);
	if (shape->when.n > 0)
		cells[n++] = cell_text(values->when);
	if (is_aligned)
		cells[n] = values->path;
}

static void
rows_get_row(const struct table *table, size_t i, struct cell *cells)
{
	const struct rows_row_source *source = table->row_source;
	const struct rows *rows = &source->rows;
	uint32_t row = rows->order[i];
	struct row_values values = {
		.path = rows->parent != NULL ? cell_path(&source->paths, row) :
		        cell_name(&source->paths, rows->name[row]),
		.returns = rows->returns != NULL ? rows->returns[row] : 0,
		.is_estimated = rows->is_estimated != NULL &&
		                rows->is_estimated[row],
		.when = source->texts != NULL ? source->texts[i].text : NULL,
	};

	rows_get_hits(rows, row, values.hits);
	row_shape_cells(&source->shape, &values, cells);
}

static void
rows_free_source(void *row_source)
{
	struct rows_row_source *source = row_source;

	rows_free(&source->rows);
	free(source);
}

/* Hands the rows to the table, which frees them. */
static int
rows_give_to_table(struct rows *rows, const struct names *names,
                   struct table *table, struct error *error)
{
	struct rows_row_source *source = memory_array(1, sizeof *source, error);

	if (source == NULL) {
		rows_free(rows);
		return -1;
	}
	source->rows = *rows;
	source->paths = (struct call_paths){
		.names = names,
		.parent = rows->parent,
		.name = rows->name,
		.is_innermost_first = rows->is_innermost_first,
	};
	table->row_source = source;
	table->row_source_free = rows_free_source;
	*rows = (struct rows){ 0 };
	return 0;
}

static void
rows_add_path(const struct row_shape *shape, struct table *table)
{
	if (shape->has_paths)
		table_add_column(table, "path", "call path", CELL_PATH);
	else
		table_add_column(table, "path", "function_name", CELL_NAME);
}

/* The form of a row in text, if it has no columns of other resources. */
static int
set_pattern(const struct row_shape *shape, struct table *table,
            struct error *error)
{
	const char *mark = shape->has_estimates ? "{estimated}" : "";

	table->pattern = table_text(table, error,
	    "%s{fraction}%s %s{path}%s [%s{hits}%s]", mark,
	    shape->columns.has_error ? " +-{error}" : "",
	    shape->has_paths ? "(" : "", shape->has_paths ? ")" : "", mark,
	    shape->has_returns ? "; {returns} returns" : "");
	return table->pattern == NULL ? -1 : 0;
}

int
rows_add_columns(struct row_shape *shape, const struct view_request *request,
                 const struct measure *measure, bool has_paths,
                 bool has_returns, struct table *table, struct error *error)
{
	bool is_aligned = request->n_shown > 0;

	*shape = (struct row_shape){
		.columns = columns_of(request, measure),
		.has_paths = has_paths,
		.has_returns = has_returns,
		.has_estimates = request->set->flow != NULL,
	};
	if (columns_add(request, table, error) != 0)
		return -1;
	if (!is_aligned)
		rows_add_path(shape, table);
	if (has_returns)
		table_add_column(table, "returns", is_aligned ? "returns" :
		                 "#returns", CELL_COUNT);
	if (shape->has_estimates)
		table_add_column(table, "estimated", "~", CELL_FLAG)->mark =
		    '~';
	if ((!is_aligned && set_pattern(shape, table, error) != 0) ||
	    when_add_column(request, &shape->when, table, error) != 0)
		return -1;
	if (is_aligned)
		rows_add_path(shape, table);
	return 0;
}

struct when_text *
rows_draw_functions(const struct rows *rows, uint32_t n_rows,
                    const struct sample_set *set, bool are_bodies,
                    const struct when *when, struct table *table,
                    struct error *error)
{
	uint32_t *functions = memory_array(n_rows, sizeof *functions, error);
	struct when_times *times = NULL;
	struct when_text *texts = NULL;

	for (uint32_t i = 0; functions != NULL && i < n_rows; i++)
		functions[i] = rows->name[rows->order[i]];
	if (functions != NULL)
		times = when_of_functions(set, functions, n_rows, are_bodies,
		                          error);
	if (times != NULL)
		texts = when_draw_rows(when, times, n_rows, table, error);
	free(times);
	free(functions);
	return texts;
}

/* The same of rows that are paths.  O(nodes) for each row. */
static struct when_text *
draw_paths(const struct rows_row_source *source, uint32_t n_rows,
           const struct sample_set *set, struct table *table,
           struct error *error)
{
	struct when_text *texts = arena_alloc(&table->arena,
	    (size_t)n_rows * sizeof *texts, error);
	uint32_t *path = NULL;
	size_t capacity = 0;

	for (uint32_t i = 0; texts != NULL && i < n_rows; i++) {
		const uint32_t row = source->rows.order[i];
		const size_t n = call_paths_length(&source->paths, row);
		struct when_times times = { 0 };
		struct path_hits found;

		if (progress_step(NULL, 0, 0, error) != 0 ||
		    memory_grow(&path, &capacity, n, sizeof *path,
		                error) != 0)
			break;
		call_paths_get(&source->paths, row, path);
		if (path_hits_find(set, path, n, &found, times.hits,
		                   error) != 0)
			break;
		when_draw(&source->shape.when, &times, &texts[i]);
	}
	free(path);
	return error->is_set ? NULL : texts;
}

int
rows_show(struct rows *rows, const struct view_request *request,
          const struct view_kind *kind, const struct measure *measure,
          struct hidden *hidden, struct table *table, struct error *error)
{
	const struct names *names = request->set->names;
	bool has_paths = rows->parent != NULL;
	bool has_returns = rows->returns != NULL;
	struct rows_row_source *source;
	uint32_t n_kept = rows->n, n_rows = n_kept;

	if (request->compared != NULL)
		return rows_compare(rows, request, kind, measure, false,
		                    hidden, table, error);
	if (rows_sort(rows, names, error) != 0 ||
	    rows_sort_by_column(rows, request, rows->hits, error) != 0) {
		rows_free(rows);
		return -1;
	}
	if (has_paths && request->folds_chains) {
		n_rows = rows_fold(rows, hidden, error);
		if (n_rows == UINT32_MAX) {
			rows_free(rows);
			return -1;
		}
	}
	n_rows = rows_limit(request, n_rows, hidden);
	if (rows_give_to_table(rows, names, table, error) != 0 ||
	    view_describe(request, kind, measure, hidden, table, error) != 0)
		return -1;
	if (n_kept == 0 && kind->has_root && request->root != NO_NAME &&
	    view_explain_hidden_root(request, measure, table, error) != 0)
		return -1;
	if (!kind->has_root &&
	    view_explain_hidden_rows(request, measure, hidden, n_kept,
	                             HIDDEN_NAME, table, error) != 0)
		return -1;
	source = table->row_source;
	if (rows_add_columns(&source->shape, request, measure, has_paths,
	                     has_returns, table, error) != 0)
		return -1;
	if (source->shape.when.n > 0) {
		source->texts = has_paths ?
		    draw_paths(source, n_rows, request->set, table, error) :
		    rows_draw_functions(&source->rows, n_rows, request->set,
		                        source->rows.are_bodies,
		                        &source->shape.when, table, error);
		if (source->texts == NULL)
			return -1;
	}
	table->row = rows_get_row;
	table->n_rows = n_rows;
	return 0;
}
