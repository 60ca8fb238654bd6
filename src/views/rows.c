/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.c -- records turned into the rows of a table, in order. */
#include "src/views/rows.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/views/paths.h"

void
rows_free(struct rows *rows)
{
	free(rows->name);
	free(rows->parent);
	free(rows->hits);
	free(rows->returns);
	free(rows->own);
	free(rows->solid);
	for (size_t i = 0; rows->columns != NULL && i < rows->n_columns; i++)
		free(rows->columns[i]);
	free(rows->columns);
	free(rows->is_estimated);
	free(rows->record);
	free(rows->order);
	*rows = (struct rows){ 0 };
}

int
rows_make_columns(struct rows *rows, const struct view_request *request,
                  uint32_t n, struct error *error)
{
	rows->n_columns = request->n_columns;
	if (rows->n_columns == 0)
		return 0;
	rows->columns = memory_array(rows->n_columns, sizeof *rows->columns,
	                             error);
	for (size_t i = 0; rows->columns != NULL && i < rows->n_columns; i++) {
		rows->columns[i] = memory_array(n, sizeof **rows->columns,
		                                error);
		if (rows->columns[i] == NULL)
			return -1;
	}
	return rows->columns == NULL ? -1 : 0;
}

/* Takes a column from the totals of functions; place: of a name, from 1. */
static void
take_functions(struct rows *rows, uint64_t *column,
               const struct function_total *totals, const uint32_t *place,
               bool are_bodies)
{
	for (uint32_t row = 0; row < rows->n; row++) {
		uint32_t at = place[rows->name[row]];

		if (at == 0)
			continue;
		column[row] = are_bodies ? totals[at - 1].self :
		              totals[at - 1].inclusive;
		if (rows->is_estimated != NULL && !are_bodies)
			rows->is_estimated[row] |= totals[at - 1].is_estimated;
	}
}

int
rows_count_functions(struct rows *rows, const struct view_request *request,
                     bool are_bodies, struct error *error)
{
	uint32_t n_names = names_count(request->set->names);

	if (rows_make_columns(rows, request, rows->n, error) != 0)
		return -1;
	for (size_t i = 0; i < rows->n_columns; i++) {
		uint32_t n;
		struct function_total *totals = function_totals(
		    &request->columns[i], &n, error);
		uint32_t *place = totals == NULL ? NULL :
		    memory_array(n_names, sizeof *place, error);

		for (uint32_t k = 0; place != NULL && k < n; k++)
			place[totals[k].name] = k + 1;
		if (place != NULL)
			take_functions(rows, rows->columns[i], totals, place,
			               are_bodies);
		free(totals);
		free(place);
		if (place == NULL)
			return -1;
	}
	return 0;
}

static uint32_t
count_kept(const struct path_trie *trie, uint64_t least)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < trie->n_records; r++)
		n += trie->records[r].hits >= least;
	return n;
}

/* Whether record 0 stands above all stacks, and so is no row. */
static bool
has_no_root(const struct path_trie *trie)
{
	return trie->n_records > 0 && trie->records[0].name == NO_NAME;
}

/*
 * The field `until` of a record is no longer needed and holds its row's
 * number.  A row is one longer than its parent; all descendants of rows that
 * are too long are too long.
 */
static void
keep_records(struct rows *rows, const struct path_trie *trie, size_t depth,
             uint64_t least, size_t *length)
{
	const bool is_forest = has_no_root(trie);

	if (is_forest)
		trie->records[0].until = NO_RECORD;
	for (uint32_t r = is_forest; r < trie->n_records; r++) {
		struct path_record *record = &trie->records[r];
		uint32_t parent = record->parent, row = rows->n;

		if (record->hits < least)
			continue;
		record->until = NO_RECORD;
		if (is_forest && parent == 0)
			parent = NO_RECORD;
		if (parent != NO_RECORD) {
			parent = trie->records[parent].until;
			if (parent == NO_RECORD)
				continue;
			length[row] = length[parent] + 1;
		} else {
			length[row] = 1;
		}
		if (length[row] > depth)
			continue;
		record->until = row;
		rows->parent[row] = parent;
		rows->name[row] = record->name;
		rows->hits[row] = record->hits;
		if (rows->returns != NULL)
			rows->returns[row] = trie->returns[r];
		if (rows->own != NULL)
			rows->own[row] = trie->own[r];
		for (size_t i = 0; i < rows->n_columns; i++)
			rows->columns[i][row] =
			    trie->columns[r * trie->n_columns + i];
		rows->n++;
	}
}

static uint32_t
rows_count_empty(const struct path_trie *trie)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < trie->n_records; r++)
		n += trie->records[r].hits == 0;
	return n;
}

/* Adds each record's own hits to those of all that it extends. */
static void
sum_own(struct path_trie *trie)
{
	for (uint32_t r = trie->n_records; r-- > 1;)
		trie->own[trie->records[r].parent] += trie->own[r];
}

/* For the rows that keep_records has made. */
static void
keep_solid(struct rows *rows, const struct path_trie *trie, uint64_t least)
{
	for (uint32_t r = 0; r < trie->n_records; r++) {
		uint32_t row = trie->records[r].until;

		if (trie->records[r].hits >= least && row != NO_RECORD)
			rows->solid[row] = trie->own[r];
	}
}

int
rows_from_trie(struct rows *rows, struct path_trie *trie,
               const struct view_request *request,
               const struct measure *measure, struct hidden *hidden,
               struct error *error)
{
	uint32_t n_kept = count_kept(trie, measure->least);
	uint32_t n = n_kept - has_no_root(trie);
	size_t *length = memory_array(n, sizeof *length, error);

	rows->parent = memory_array(n, sizeof *rows->parent, error);
	rows->name = memory_array(n, sizeof *rows->name, error);
	rows->hits = memory_array(n, sizeof *rows->hits, error);
	if (trie->returns != NULL)
		rows->returns = memory_array(n, sizeof *rows->returns, error);
	if (trie->own != NULL) {
		rows->own = memory_array(n, sizeof *rows->own, error);
		rows->solid = memory_array(n, sizeof *rows->solid, error);
	}
	if (length == NULL || rows->parent == NULL || rows->name == NULL ||
	    rows->hits == NULL ||
	    rows_make_columns(rows, request, n, error) != 0 ||
	    (trie->returns != NULL && rows->returns == NULL) ||
	    (trie->own != NULL &&
	     (rows->own == NULL || rows->solid == NULL))) {
		free(length);
		return -1;
	}
	keep_records(rows, trie, request->depth, measure->least, length);
	free(length);
	if (hidden == NULL)
		return 0;
	if (trie->own != NULL) {
		if (measure->least > 0)
			hidden->empty = rows_count_empty(trie);
		sum_own(trie);
		keep_solid(rows, trie, measure->least);
	}
	hidden->below_threshold = trie->n_records - n_kept;
	hidden->too_long = n - rows->n;
	return 0;
}

int
rows_of_functions(struct rows *rows, const struct sample_set *set, uint32_t n,
                  struct error *error)
{
	rows->n = n;
	if (set->flow != NULL) {
		rows->is_estimated = memory_array(n,
		                                  sizeof *rows->is_estimated,
		                                  error);
		if (rows->is_estimated == NULL)
			return -1;
	}
	if (set->flow == NULL && set->tree->returns != NULL) {
		rows->returns = memory_array(n, sizeof *rows->returns, error);
		if (rows->returns == NULL)
			return -1;
	}
	rows->name = memory_array(n, sizeof *rows->name, error);
	rows->hits = memory_array(n, sizeof *rows->hits, error);
	return rows->name == NULL || rows->hits == NULL ? -1 : 0;
}

static int
sort_by_path(struct rows *rows, const uint32_t *rank, uint32_t n_ranks,
             struct error *error)
{
	if (rows->is_innermost_first)
		return order_by_walk(rows->order, rows->n, rows->parent, rank,
		                     n_ranks, error);
	if (order_ascending(rows->order, rows->n, rank, n_ranks, error) != 0)
		return -1;
	if (rows->parent == NULL)
		return 0;
	return order_preorder(rows->order, rows->n, rows->parent, error);
}

int
rows_sort(struct rows *rows, const struct names *names, struct error *error)
{
	uint32_t *rank = memory_array(rows->n, sizeof *rank, error);
	uint32_t n_ranks;
	int status = -1;

	rows->order = memory_array(rows->n, sizeof *rows->order, error);
	if (rank != NULL && rows->order != NULL) {
		for (uint32_t i = 0; i < rows->n; i++)
			rows->order[i] = i;
		n_ranks = order_rank_names(names, rows->name, rows->n, rank,
		                           error);
		if (n_ranks != UINT32_MAX &&
		    sort_by_path(rows, rank, n_ranks, error) == 0)
			status = order_descending(rows->order, rows->n,
			                          rows->hits, error);
	}
	free(rank);
	return status;
}

int
rows_sort_by_column(struct rows *rows, const struct view_request *request,
                    const uint64_t *own, struct error *error)
{
	const struct measure none = { 0 };
	const struct column_view view = columns_of(request, &none);

	return columns_sort(&view, rows->order, rows->n, own, rows->columns,
	                    error);
}

static bool
columns_equal(const struct rows *rows, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < rows->n_columns; i++)
		if (rows->columns[i][a] != rows->columns[i][b])
			return false;
	return true;
}

uint32_t
rows_fold(const struct rows *rows, struct hidden *hidden,
          struct error *error)
{
	unsigned char *n_longer = memory_array(rows->n, 1, error);
	bool *is_folded = memory_array(rows->n, sizeof *is_folded, error);
	uint32_t n = UINT32_MAX;

	if (n_longer != NULL && is_folded != NULL) {
		for (uint32_t i = 0; i < rows->n; i++)
			if (rows->parent[i] != NO_RECORD &&
			    n_longer[rows->parent[i]] < 2)
				n_longer[rows->parent[i]]++;
		for (uint32_t i = 0; i < rows->n; i++) {
			uint32_t parent = rows->parent[i];

			if (parent == NO_RECORD || n_longer[parent] > 1 ||
			    rows->hits[parent] != rows->hits[i] ||
			    !columns_equal(rows, parent, i) ||
			    (rows->is_estimated != NULL &&
			     rows->is_estimated[parent] !=
			     rows->is_estimated[i]))
				continue;
			is_folded[parent] = true;
		}
		n = 0;
		for (uint32_t i = 0; i < rows->n; i++)
			if (!is_folded[rows->order[i]])
				rows->order[n++] = rows->order[i];
		hidden->folded = rows->n - n;
	}
	free(n_longer);
	free(is_folded);
	return n;
}

uint32_t
rows_limit(const struct view_request *request, uint32_t n,
           struct hidden *hidden)
{
	if (n <= request->limit)
		return n;
	hidden->beyond_limit = n - request->limit;
	return (uint32_t)request->limit;
}

struct rows_row_source {
	struct call_paths paths;
	struct rows rows;
	struct row_shape shape;
	const struct when_text *texts;	/* of row order[i]; NULL: rows do not
					 * say when their hits came */
};

void
rows_get_hits(const struct rows *rows, uint32_t row,
              uint64_t hits[COLUMN_SETS_MAX + 1])
{
	hits[0] = rows->hits[row];
	for (size_t i = 0; i < rows->n_columns; i++)
		hits[i + 1] = rows->columns[i][row];
}

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
