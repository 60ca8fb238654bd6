/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.c -- records turned into the rows of a table, in order. */
#include "src/views/rows.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/views/order.h"
#include "src/views/path_hits.h"

void
rows_free(struct rows *rows)
{
	free(rows->name);
	free(rows->parent);
	free(rows->hits);
	free(rows->returns);
	free(rows->own);
	free(rows->solid);
	free(rows->is_estimated);
	free(rows->order);
	*rows = (struct rows){ 0 };
}

static uint32_t
count_kept(const struct path_trie *trie, uint64_t least)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < trie->n_records; r++)
		n += trie->records[r].hits >= least;
	return n;
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
	for (uint32_t r = 0; r < trie->n_records; r++) {
		struct path_record *record = &trie->records[r];
		uint32_t parent = record->parent, row = rows->n;

		if (record->hits < least)
			continue;
		record->until = NO_RECORD;
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
		rows->n++;
	}
}

static uint32_t
count_empty(const struct path_trie *trie)
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
	uint32_t n = count_kept(trie, measure->least);
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
	    (trie->returns != NULL && rows->returns == NULL) ||
	    (trie->own != NULL &&
	     (rows->own == NULL || rows->solid == NULL))) {
		free(length);
		return -1;
	}
	keep_records(rows, trie, request->depth, measure->least, length);
	if (trie->own != NULL) {
		if (measure->least > 0)
			hidden->empty = count_empty(trie);
		sum_own(trie);
		keep_solid(rows, trie, measure->least);
	}
	hidden->below_threshold = trie->n_records - n;
	hidden->too_long = n - rows->n;
	free(length);
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

struct row_source {
	struct call_paths paths;
	struct rows rows;
	struct measure measure;
	const struct sample_set *set;
	struct when when;
	struct when_text when_text;	/* of the last row */
	const struct when_text *bodies;	/* of row order[i]; NULL: each row is
					 * drawn when it is asked for */
	uint32_t *path;			/* scratch */
	size_t path_capacity;
};

/* Draws when a row's hits came; nothing if memory runs out. */
static const char *
draw_when(struct row_source *source, uint32_t row)
{
	struct when_times times = { 0 };
	const struct rows *rows = &source->rows;
	struct path_hits found;
	struct error error = { 0 };
	size_t n = rows->parent != NULL ?
	    call_paths_length(&source->paths, row) : 1;

	if (memory_grow(&source->path, &source->path_capacity, n,
	                sizeof *source->path, &error) != 0)
		return "";
	if (rows->parent != NULL)
		call_paths_get(&source->paths, row, source->path);
	else
		source->path[0] = rows->name[row];
	if (path_hits_find(source->set, source->path, n, &found, times.hits,
	                   &error) != 0)
		return "";
	when_draw(&source->when, &times, &source->when_text);
	return source->when_text.text;
}

static void
get_row(const struct table *table, size_t i, struct cell *cells)
{
	struct row_source *source = table->row_source;
	uint32_t row = source->rows.order[i];
	uint64_t hits = source->rows.hits[row];
	size_t n = 3;

	cells[0] = cell_hits(hits);
	cells[1] = cell_fraction(measure_fraction(&source->measure, hits));
	if (source->rows.parent != NULL)
		cells[2] = cell_path(&source->paths, row);
	else
		cells[2] = cell_name(&source->paths, source->rows.name[row]);
	if (source->rows.returns != NULL)
		cells[n++] = cell_hits(source->rows.returns[row]);
	if (source->rows.is_estimated != NULL)
		cells[n++] = cell_flag(source->rows.is_estimated[row]);
	if (source->when.n > 0)
		cells[n] = cell_text(source->bodies != NULL ?
		    source->bodies[i].text : draw_when(source, row));
}

static void
free_source(void *row_source)
{
	struct row_source *source = row_source;

	rows_free(&source->rows);
	free(source->path);
	free(source);
}

/* Hands the rows to the table, which frees them. */
static int
give_to_table(struct rows *rows, const struct sample_set *set,
              const struct measure *measure, struct table *table,
              struct error *error)
{
	struct row_source *source = memory_array(1, sizeof *source, error);

	if (source == NULL) {
		rows_free(rows);
		return -1;
	}
	source->rows = *rows;
	source->measure = *measure;
	source->set = set;
	source->paths = (struct call_paths){
		.names = set->names,
		.parent = rows->parent,
		.name = rows->name,
		.is_innermost_first = rows->is_innermost_first,
	};
	table->row_source = source;
	table->row_source_free = free_source;
	*rows = (struct rows){ 0 };
	return 0;
}

void
rows_add_columns(struct table *table, const struct sample_set *set,
                 bool has_paths, bool has_returns)
{
	table_add_column(table, "hits", "#hits", CELL_HITS);
	table_add_column(table, "fraction", "usage_fraction", CELL_FRACTION);
	if (has_paths)
		table_add_column(table, "path", "call path", CELL_PATH);
	else
		table_add_column(table, "path", "function_name", CELL_NAME);
	if (has_returns) {
		table_add_column(table, "returns", "#returns", CELL_HITS);
		table->pattern = has_paths ?
		    "{fraction} ({path}) [{hits}; {returns} returns]" :
		    "{fraction} {path} [{hits}; {returns} returns]";
		return;
	}
	if (set->flow == NULL) {
		table->pattern = has_paths ? "{fraction} ({path}) [{hits}]" :
		                 "{fraction} {path} [{hits}]";
		return;
	}
	table_add_column(table, "estimated", "~", CELL_FLAG);
	table->pattern = has_paths ?
	    "{estimated}{fraction} ({path}) [{estimated}{hits}]" :
	    "{estimated}{fraction} {path} [{estimated}{hits}]";
}

struct when_text *
rows_draw_bodies(const struct rows *rows, uint32_t n_rows,
                 const struct sample_set *set, const struct when *when,
                 struct table *table, struct error *error)
{
	uint32_t *functions = memory_array(n_rows, sizeof *functions, error);
	struct when_times *times = NULL;
	struct when_text *texts = NULL;

	for (uint32_t i = 0; functions != NULL && i < n_rows; i++)
		functions[i] = rows->name[rows->order[i]];
	if (functions != NULL)
		times = when_of_bodies(set, functions, n_rows, error);
	if (times != NULL)
		texts = when_draw_rows(when, times, n_rows, table, error);
	free(times);
	free(functions);
	return texts;
}

int
rows_show(struct rows *rows, const struct view_request *request,
          const struct view_kind *kind, const struct measure *measure,
          struct hidden *hidden, struct table *table, struct error *error)
{
	const struct names *names = request->set->names;
	bool has_paths = rows->parent != NULL;
	bool has_returns = rows->returns != NULL;
	struct row_source *source;
	uint32_t n_kept = rows->n, n_rows = n_kept;

	if (rows_sort(rows, names, error) != 0) {
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
	if (give_to_table(rows, request->set, measure, table, error) != 0 ||
	    view_describe(request, kind, measure, hidden, table, error) != 0)
		return -1;
	if (n_kept == 0 && kind->has_root &&
	    view_explain_hidden_root(request, measure, table, error) != 0)
		return -1;
	if (!kind->has_root &&
	    view_explain_hidden_rows(request, measure, hidden, n_kept, "", "",
	                             table, error) != 0)
		return -1;
	rows_add_columns(table, request->set, has_paths, has_returns);
	source = table->row_source;
	if (when_add_column(request, &source->when, table, error) != 0)
		return -1;
	if (source->rows.are_bodies && source->when.n > 0) {
		source->bodies = rows_draw_bodies(&source->rows, n_rows,
		    request->set, &source->when, table, error);
		if (source->bodies == NULL)
			return -1;
	}
	table->row = get_row;
	table->n_rows = n_rows;
	return 0;
}
