/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lists.c -- the view that all lists are: collect rows, sort them, show them. */
#include "src/views/lists/lists.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/views/comparison/comparison.h"

static void
list_free(void *row_source)
{
	struct list *list = row_source;

	if (list->view->free_found != NULL && list->found != NULL)
		list->view->free_found(list->found);
	rows_free(&list->rows);
	free(list->totals);
	free(list->sums);
	free(list);
}

/* ---- cells ---- */

struct cell
list_hits(const struct list *list, uint32_t i)
{
	return cell_hits(list_row(list, i)->hits);
}

struct cell
list_fraction(const struct list *list, uint32_t i)
{
	return cell_fraction(measure_fraction(&list->measure,
	                                      list_row(list, i)->hits));
}

static struct cell
list_percent(const struct list *list, uint32_t i)
{
	return cell_percent(measure_fraction(&list->measure,
	                                     list_row(list, i)->hits));
}

static struct cell
list_returns(const struct list *list, uint32_t i)
{
	return cell_count(list_row(list, i)->returns);
}

static struct cell
list_estimated(const struct list *list, uint32_t i)
{
	return cell_flag(list_row(list, i)->is_estimated);
}

struct cell
list_when(const struct list *list, uint32_t i)
{
	return cell_text(list->texts[i].text);
}

struct cell
list_path(const struct list *list, uint32_t i)
{
	return rows_path(&list->rows, list->rows.order[i]);
}

/* ---- columns ---- */

static bool
list_is_alone(const struct list *list)
{
	return list->columns.n_shown == 0;
}

static bool
list_is_beside(const struct list *list)
{
	return list->columns.n_shown > 0;
}

static bool
list_has_returns(const struct list *list)
{
	return list->rows.has_returns;
}

static bool
list_shows_path_first(const struct list *list)
{
	return list_is_alone(list) && rows_show_paths(&list->rows);
}

static bool
list_shows_name_first(const struct list *list)
{
	return list_is_alone(list) && !rows_show_paths(&list->rows);
}

static bool
list_shows_path_last(const struct list *list)
{
	return list_is_beside(list) && rows_show_paths(&list->rows);
}

static bool
list_shows_name_last(const struct list *list)
{
	return list_is_beside(list) && !rows_show_paths(&list->rows);
}

bool
list_is_of_flow(const struct list *list)
{
	return list->set->flow != NULL;
}

/*
 * Alone, a row is a sentence, of which set_pattern is the form; beside other
 * resources it is aligned, with the path at the end.
 */
static const struct list_column usual_columns[] = {
	{ "hits", "#hits", CELL_HITS, .cell = list_hits,
	  .names_resource = true },
	{ "fraction", "usage_fraction", CELL_FRACTION, .cell = list_fraction,
	  .is_there = list_is_alone },
	{ "fraction", "%", CELL_PERCENT, .cell = list_percent,
	  .is_there = list_is_beside },
	{ "path", "call path", CELL_PATH, .cell = list_path,
	  .is_there = list_shows_path_first,
	  .is_after = true },
	{ "path", "function_name", CELL_NAME, .cell = list_path,
	  .is_there = list_shows_name_first, .is_after = true },
	{ "returns", "#returns", CELL_COUNT, .cell = list_returns,
	  .is_there = list_has_returns,
	  .beside = "returns", .is_after = true },
	{ "estimated", "~", CELL_FLAG, .cell = list_estimated,
	  .is_there = list_is_of_flow,
	  .is_after = true },
	{ "when", "when", CELL_TEXT, .cell = list_when, .is_after = true },
	{ "path", "call path", CELL_PATH, .cell = list_path,
	  .is_there = list_shows_path_last,
	  .is_after = true },
	{ "path", "function_name", CELL_NAME, .cell = list_path,
	  .is_there = list_shows_name_last, .is_after = true },
	{ .key = NULL }
};

/* The form of a row in text, if it has no columns of other resources. */
static int
list_set_pattern(const struct list *list, struct table *table,
                 struct error *error)
{
	const bool has_paths = rows_show_paths(&list->rows);
	const char *mark = list_is_of_flow(list) ? "{estimated}" : "";

	table->pattern = table_text(table, error,
	    "%s{fraction}%s %s{path}%s [%s{hits}%s]", mark,
	    list->columns.has_error ? " +-{error}" : "",
	    has_paths ? "(" : "", has_paths ? ")" : "", mark,
	    list->rows.has_returns ? "; {returns} returns" : "");
	return table->pattern == NULL ? -1 : 0;
}

static int
lists_add_columns(struct list *list, struct table *table, struct error *error)
{
	const struct view_request *request = list->request;
	const struct list_column *columns = list->own_columns;
	const bool is_alone = list_is_alone(list);
	size_t i = 0;

	if ((columns == usual_columns && is_alone &&
	     list_set_pattern(list, table, error) != 0) ||
	    columns_add_before(request, table, error) != 0)
		return -1;
	for (bool is_after = false;; i++) {
		const struct list_column *column = &columns[i];
		struct column *added;

		if (!is_after && (column->key == NULL || column->is_after)) {
			is_after = true;
			if (columns_add_after(request, table, error) != 0)
				return -1;
		}
		if (column->key == NULL)
			return 0;
		if (column->cell == list_when) {
			if (when_add_column(request, &list->when, table,
			                    error) != 0)
				return -1;
			list->is_there[i] = list->when.n > 0;
			continue;
		}
		list->is_there[i] = column->is_there == NULL ||
		                    column->is_there(list);
		if (!list->is_there[i])
			continue;
		added = table_add_column(table, column->key, is_alone ||
		    column->beside == NULL ? column->title : column->beside,
		    column->kind);
		if (column->names_resource && !is_alone)
			added->title = list->set->resource->name;
		added->short_title = column->short_title;
		added->gives_way = column->gives_way;
		added->is_elastic = column->is_elastic;
		added->is_data_only = column->is_data_only ||
		    (column->is_data_beside && !is_alone);
		if (column->kind == CELL_FLAG)
			added->mark = '~';
	}
}

static void
list_get_row(const struct table *table, size_t i, struct cell *cells)
{
	const struct list *list = table->row_source;
	const struct list_column *column = list->own_columns;
	uint64_t hits[COLUMN_SETS_MAX + 1];
	bool is_after = false;
	size_t n;

	rows_get_hits(&list->rows, list->rows.order[i], hits);
	n = columns_cells_before(&list->columns, hits, cells);
	for (size_t k = 0; column[k].key != NULL; k++) {
		if (!is_after && column[k].is_after) {
			is_after = true;
			n += columns_cells_after(&list->columns, hits,
			                         &cells[n]);
		}
		if (list->is_there[k])
			cells[n++] = column[k].cell(list, (uint32_t)i);
	}
}

/* ---- when the hits of rows came ---- */

/* Of rows that are paths.  O(nodes) for each row. */
static const struct when_text *
list_draw_paths(const struct list *list, struct table *table,
                struct error *error)
{
	struct when_text *texts = arena_alloc(&table->arena,
	    (size_t)list->n_shown * sizeof *texts, error);
	uint32_t *path = NULL;
	size_t capacity = 0;

	for (uint32_t i = 0; texts != NULL && i < list->n_shown; i++) {
		const struct cell cell = list_path(list, i);
		const size_t n = call_paths_length(cell.path.paths,
		                                   cell.path.record);
		struct when_times times = { 0 };
		struct path_hits found;

		if (progress_step(NULL, 0, 0, error) != 0 ||
		    memory_grow(&path, &capacity, n, sizeof *path,
		                error) != 0)
			break;
		call_paths_get(cell.path.paths, cell.path.record, path);
		if (path_hits_find(list->set, path, n, &found, times.hits,
		                   error) != 0)
			break;
		when_draw(&list->when, &times, &texts[i]);
	}
	free(path);
	return error->is_set ? NULL : texts;
}

static int
list_draw_when(struct list *list, struct table *table, struct error *error)
{
	uint32_t *names;
	struct when_times *times = NULL;

	if (list->when.n == 0)
		return 0;
	if (rows_show_paths(&list->rows) && list->view->name_at == NULL) {
		list->texts = list_draw_paths(list, table, error);
		return list->texts == NULL ? -1 : 0;
	}
	names = memory_array(list->n_shown, sizeof *names, error);
	for (uint32_t i = 0; names != NULL && i < list->n_shown; i++)
		names[i] = list_row(list, i)->name;
	if (names != NULL)
		times = when_of_names(list->set, names, list->n_shown,
		                      list->rows.are_bodies,
		                      list->view->name_at, list, error);
	if (times != NULL)
		list->texts = when_draw_rows(&list->when, times, list->n_shown,
		                             table, error);
	free(times);
	free(names);
	return list->texts == NULL ? -1 : 0;
}

/* ---- the whole ---- */

static int
compare_rows_of_list(const void *left, const void *right, void *context)
{
	const struct list *list = context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct row *a = &list->rows.items[i], *b = &list->rows.items[j];
	int order;

	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	order = list->view->compare(list, a->name, b->name);
	return order != 0 ? order : i < j ? -1 : i > j;
}

static int
list_sort(struct list *list, struct error *error)
{
	struct rows *rows = &list->rows;
	uint64_t *totals;
	int status;

	if (list->view->compare != NULL) {
		rows->order = memory_array(rows->n, sizeof *rows->order,
		                           error);
		if (rows->order == NULL)
			return -1;
		for (uint32_t i = 0; i < rows->n; i++)
			rows->order[i] = i;
		if (rows->n > 1)
			qsort_r(rows->order, rows->n, sizeof *rows->order,
			        compare_rows_of_list, list);
	} else if (rows_sort(rows, list->set->names, error) != 0) {
		return -1;
	}
	if (list->view->orders_by_totals) {
		totals = memory_array(rows->n, sizeof *totals, error);
		if (totals == NULL)
			return -1;
		for (uint32_t i = 0; i < rows->n; i++)
			totals[i] = list->totals[i].inclusive;
		status = order_descending(rows->order, rows->n, totals, error);
		free(totals);
		if (status != 0 || rows_order_by_hits(rows, error) != 0)
			return -1;
	}
	return rows_sort_by_column(rows, list->request, error);
}

static int
list_fill(struct list *list, struct table *table, struct error *error)
{
	const struct list_view *view = list->view;
	const struct view_request *request = list->request;
	const uint32_t n_kept = list->rows.n;
	uint64_t sum = 0;

	if (list_sort(list, error) != 0)
		return -1;
	list->n_shown = n_kept;
	if (list->rows.are_paths && request->folds_chains &&
	    (list->n_shown = rows_fold(&list->rows, &list->hidden, error)) ==
	        UINT32_MAX)
		return -1;
	list->n_shown = rows_limit(request, list->n_shown, &list->hidden);
	if (rows_make_paths(&list->rows, list->set->names, error) != 0 ||
	    view_describe(request, &view->kind, &list->measure, &list->hidden,
	                  table, error) != 0)
		return -1;
	if (view->compare != NULL) {
		/* Groups have no names to be found by. */
	} else if (view->kind.has_root && !list->rows.are_calls) {
		if (n_kept == 0 && request->root != NO_NAME &&
		    view_explain_hidden_root(request, &list->measure, table,
		                             error) != 0)
			return -1;
	} else if (view_explain_hidden_rows(request, &list->measure,
	               &list->hidden, n_kept, view->row_is, table,
	               error) != 0) {
		return -1;
	}
	if (view->describe != NULL && view->describe(list, table, error) != 0)
		return -1;
	list->columns = columns_of(request, &list->measure);
	list->columns.shows_percent |= list->totals != NULL;
	list->own_columns = view->columns != NULL ? view->columns :
	                    usual_columns;
	if (list->totals != NULL) {
		list->sums = memory_array(list->n_shown, sizeof *list->sums,
		                          error);
		if (list->sums == NULL)
			return -1;
		for (uint32_t i = 0; i < list->n_shown; i++)
			list->sums[i] = sum += list_row(list, i)->hits;
	}
	return lists_add_columns(list, table, error) != 0 ? -1 :
	    list_draw_when(list, table, error);
}

int
list_show(const struct list_view *view, const struct view_request *request,
          const void *wanted, struct table *table, struct error *error)
{
	struct list *list;
	int status;

	if (view->needs_root && view_need_root(request, table, error) != 0)
		return -1;
	list = memory_array(1, sizeof *list, error);
	if (list == NULL)
		return -1;
	list->view = view;
	list->request = request;
	list->set = request->set;
	list->wanted = wanted;
	list->measure = measure_of(request);
	status = view->collect(list, table, error);
	if (status == 0 && request->compared != NULL) {
		status = compared_table_fill(&list->rows, request, &view->kind,
		                             &list->measure, false,
		                             &list->hidden, table, error);
		if (status == 0 && view->describe != NULL)
			status = view->describe(list, table, error);
		list_free(list);
		return status;
	}
	if (status == 0)
		status = list_fill(list, table, error);
	if (status != 0) {
		list_free(list);
		return -1;
	}
	list->request = NULL;		/* it need not outlive the view */
	table->row_source = list;
	table->row_source_free = list_free;
	table->row = list_get_row;
	table->n_rows = list->n_shown;
	return 0;
}
