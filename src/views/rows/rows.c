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

void
rows_get_hits(const struct rows *rows, uint32_t row,
              uint64_t hits[COLUMN_SETS_MAX + 1])
{
	hits[0] = rows->hits[row];
	for (size_t i = 0; i < rows->n_columns; i++)
		hits[i + 1] = rows->columns[i][row];
}

