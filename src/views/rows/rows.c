/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.c -- records turned into the rows of a table, in order. */
#include "src/views/rows/rows.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

void
rows_free(struct rows *rows)
{
	free(rows->items);
	free(rows->disjoint);
	for (size_t i = 0; rows->columns != NULL && i < rows->n_columns; i++)
		free(rows->columns[i]);
	free(rows->columns);
	free(rows->order);
	free(rows->path_parent);
	free(rows->path_name);
	*rows = (struct rows){ 0 };
}

int
rows_make(struct rows *rows, const struct sample_set *set, uint32_t n,
          struct error *error)
{
	rows->n = 0;
	rows->has_estimates = set->flow != NULL;
	rows->has_returns = set->flow == NULL && set->tree->returns != NULL;
	rows->items = memory_array(n, sizeof *rows->items, error);
	return rows->items == NULL ? -1 : 0;
}

uint32_t *
rows_parents(const struct rows *rows, struct error *error)
{
	uint32_t *parents = memory_array(rows->n, sizeof *parents, error);

	for (uint32_t i = 0; parents != NULL && i < rows->n; i++)
		parents[i] = rows->items[i].parent;
	return parents;
}

uint32_t *
rows_names(const struct rows *rows, struct error *error)
{
	uint32_t *names = memory_array(rows->n, sizeof *names, error);

	for (uint32_t i = 0; names != NULL && i < rows->n; i++)
		names[i] = rows->items[i].name;
	return names;
}

int
rows_make_paths(struct rows *rows, const struct names *names,
                struct error *error)
{
	const uint32_t first = rows->are_calls;
	const size_t n = (size_t)rows->n + first;

	rows->paths = (struct call_paths){
		.names = names,
		.is_innermost_first = rows->is_innermost_first ||
		                      rows->are_outer,
	};
	if (!rows->are_paths && !rows->are_calls)
		return 0;
	rows->path_parent = memory_array(n, sizeof(uint32_t), error);
	rows->path_name = memory_array(n, sizeof(uint32_t), error);
	if (rows->path_parent == NULL || rows->path_name == NULL)
		return -1;
	if (rows->are_calls) {
		rows->path_parent[0] = NO_RECORD;
		rows->path_name[0] = rows->function;
	}
	for (uint32_t i = 0; i < rows->n; i++) {
		rows->path_parent[first + i] = rows->are_calls ? 0 :
		    rows->items[i].parent;
		rows->path_name[first + i] = rows->items[i].name;
	}
	rows->paths.parent = rows->path_parent;
	rows->paths.name = rows->path_name;
	return 0;
}

struct cell
rows_path(const struct rows *rows, uint32_t row)
{
	if (rows->path.kind != CELL_EMPTY)
		return rows->path;
	if (rows->are_calls)
		return cell_path(&rows->paths, row + 1);
	return rows->are_paths ? cell_path(&rows->paths, row) :
	       cell_name(&rows->paths, rows->items[row].name);
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
		/* Where a name is among them, from 1; 0: nowhere. */
		uint32_t *place = totals == NULL ? NULL :
		    memory_array(n_names, sizeof *place, error);

		for (uint32_t k = 0; place != NULL && k < n; k++)
			place[totals[k].name] = k + 1;
		for (uint32_t k = 0; place != NULL && k < rows->n; k++) {
			struct row *row = &rows->items[k];
			const struct function_total *total;

			if (place[row->name] == 0)
				continue;
			total = &totals[place[row->name] - 1];
			rows->columns[i][k] = are_bodies ? total->self :
			                      total->inclusive;
			row->is_estimated |= total->is_estimated &&
			                     !are_bodies;
		}
		free(totals);
		free(place);
		if (place == NULL)
			return -1;
	}
	return 0;
}

int
rows_order_by_hits(struct rows *rows, struct error *error)
{
	uint64_t *hits = memory_array(rows->n, sizeof *hits, error);
	int status;

	if (hits == NULL)
		return -1;
	for (uint32_t i = 0; i < rows->n; i++)
		hits[i] = rows->items[i].hits;
	status = order_descending(rows->order, rows->n, hits, error);
	free(hits);
	return status;
}

int
rows_sort(struct rows *rows, const struct names *names, struct error *error)
{
	const uint32_t n = rows->n;
	uint32_t *rank = memory_array(n, sizeof *rank, error);
	uint32_t *name = rows_names(rows, error), *parent = NULL, n_ranks;
	int status = -1;

	rows->order = memory_array(n, sizeof *rows->order, error);
	if (rows->are_paths)
		parent = rows_parents(rows, error);
	if (error->is_set)
		goto done;
	for (uint32_t i = 0; i < n; i++)
		rows->order[i] = i;
	n_ranks = order_rank_names(names, name, n, rank, error);
	if (n_ranks == UINT32_MAX)
		goto done;
	if (rows->is_innermost_first)
		status = order_by_walk(rows->order, n, parent, rank, n_ranks,
		                       error);
	else
		status = order_ascending(rows->order, n, rank, n_ranks, error);
	if (status == 0 && rows->are_paths && !rows->is_innermost_first)
		status = order_preorder(rows->order, n, parent, error);
	if (status == 0)
		status = rows_order_by_hits(rows, error);
done:
	free(rank);
	free(name);
	free(parent);
	return status;
}

int
rows_sort_by_column(struct rows *rows, const struct view_request *request,
                    struct error *error)
{
	const struct measure none = { 0 };
	const struct column_view view = columns_of(request, &none);

	return columns_sort(&view, rows, error);
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
	const struct row *items = rows->items;
	unsigned char *n_longer = memory_array(rows->n, 1, error);
	bool *is_folded = memory_array(rows->n, sizeof *is_folded, error);
	uint32_t n = UINT32_MAX;

	if (n_longer != NULL && is_folded != NULL) {
		for (uint32_t i = 0; i < rows->n; i++)
			if (items[i].parent != NO_RECORD &&
			    n_longer[items[i].parent] < 2)
				n_longer[items[i].parent]++;
		for (uint32_t i = 0; i < rows->n; i++) {
			uint32_t parent = items[i].parent;

			if (parent == NO_RECORD || n_longer[parent] > 1 ||
			    items[parent].hits != items[i].hits ||
			    !columns_equal(rows, parent, i) ||
			    items[parent].is_estimated !=
			    items[i].is_estimated)
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

void
rows_get_hits(const struct rows *rows, uint32_t row,
              uint64_t hits[COLUMN_SETS_MAX + 1])
{
	hits[0] = rows->items[row].hits;
	for (size_t i = 0; i < rows->n_columns; i++)
		hits[i + 1] = rows->columns[i][row];
}

