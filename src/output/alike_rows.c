/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alike_rows.c -- rows whose shortened paths or names would look the same. */
#include "src/output/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/short_name.h"

void
alike_rows_free(struct alike_rows *alike)
{
	free(alike->rows);
	free(alike->must);
	*alike = (struct alike_rows){ 0 };
}

/* FNV-1a; never 0, which marks rows that are drawn again. */
static uint64_t
alike_rows_hash_text(const char *text, size_t n)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) *
		    UINT64_C(0x100000001b3);
	return hash == 0 ? 1 : hash;
}

struct drawn_row *
alike_rows_find(const struct alike_rows *alike, uint32_t row)
{
	size_t at = partition_point(alike->n, i, alike->rows[i].row < row);

	return at < alike->n && alike->rows[at].row == row ?
	       &alike->rows[at] : NULL;
}

int
alike_rows_add(struct alike_rows *alike, uint32_t row,
               const struct cell *cell, const char *text, size_t n,
               uint64_t shown, struct error *error)
{
	struct drawn_row *drawn = alike_rows_find(alike, row);

	if (drawn == NULL) {
		if (memory_grow(&alike->rows, &alike->capacity, alike->n + 1,
		                sizeof *alike->rows, error) != 0)
			return -1;
		drawn = &alike->rows[alike->n++];
		*drawn = (struct drawn_row){
			.row = row, .record = cell->path.record,
		};
	}
	drawn->hash = alike_rows_hash_text(text, n);
	drawn->shown = shown;
	return 0;
}

/* Paths of rows that look the same. */
struct alike_run {
	struct path {
		struct drawn_row *row;
		size_t first, n;	/* of its names */
	} *paths;			/* [n] */
	size_t n, capacity;
	uint32_t *names;
	size_t n_names, names_capacity;
	uint32_t *fork, *left, *right;	/* src/base/short_name.h */
	size_t fork_capacity, left_capacity, right_capacity;
};

static int
alike_rows_add_path(struct alike_run *run, struct drawn_row *row,
                    const struct cell *cell, struct error *error)
{
	size_t n = call_paths_length(cell->path.paths, cell->path.record);

	if (memory_grow(&run->paths, &run->capacity, run->n + 1,
	                sizeof *run->paths, error) != 0 ||
	    memory_grow(&run->names, &run->names_capacity, run->n_names + n,
	                sizeof *run->names, error) != 0)
		return -1;
	call_paths_get(cell->path.paths, cell->path.record,
	               run->names + run->n_names);
	run->paths[run->n++] = (struct path){ row, run->n_names, n };
	run->n_names += n;
	return 0;
}

static uint32_t
alike_rows_common_length(const struct alike_run *run, const struct path *a,
                         const struct path *b)
{
	const uint32_t *x = run->names + a->first, *y = run->names + b->first;
	uint32_t n = 0;

	while (n < a->n && n < b->n && x[n] == y[n])
		n++;
	return n;
}

static int
alike_rows_compare_paths(const void *a, const void *b, void *run)
{
	const struct path *x = a, *y = b;
	const uint32_t *names = ((const struct alike_run *)run)->names;
	uint32_t n = alike_rows_common_length(run, x, y);

	if (n == x->n || n == y->n)
		return x->n < y->n ? -1 : x->n > y->n;
	return names[x->first + n] < names[y->first + n] ? -1 : 1;
}

static int
alike_rows_compare_offsets(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Adds a fork.  The last name is always shown, so where the paths part only
 * there or behind it, the one before it has to be shown as well.
 */
static void
add_must(uint32_t *must, size_t *end, size_t fork, size_t n)
{
	if (fork < n)
		must[(*end)++] = (uint32_t)fork;
	if (fork + 1 >= n && n > 1)
		must[(*end)++] = (uint32_t)n - 2;
}

/* Sets which names path i must show: those at the forks on the way to it. */
static int
set_must(struct alike_rows *alike, const struct alike_run *run, size_t i,
         struct error *error)
{
	const struct path *path = &run->paths[i];
	size_t first = alike->n_must, end = first, n = 0;
	uint32_t *must;

	if (memory_grow(&alike->must, &alike->must_capacity,
	                first + 4 * path->n + 4, sizeof *alike->must,
	                error) != 0)
		return -1;
	must = alike->must;
	for (size_t k = i; k > 0; k = run->left[k])
		add_must(must, &end, run->fork[k], path->n);
	for (size_t k = i + 1; k < run->n; k = run->right[k])
		add_must(must, &end, run->fork[k], path->n);
	qsort(must + first, end - first, sizeof *must,
	      alike_rows_compare_offsets);
	for (size_t k = first; k < end; k++)
		if (n == 0 || must[first + n - 1] != must[k])
			must[first + n++] = must[k];
	path->row->first_must = first;
	path->row->n_must = n;
	alike->n_must += n;
	return 0;
}

/* Decides how n rows that look the same are drawn. */
static int
part_rows(struct alike_rows *alike, const struct table *table, size_t column,
          enum alike_stage stage, struct drawn_row *const *rows, size_t n,
          struct alike_run *run, struct error *error)
{
	struct cell cells[TABLE_MAX_COLUMNS];

	run->n = run->n_names = 0;
	for (size_t i = 0; i < n; i++) {
		rows[i]->hash = 0;
		table_get_row(table, rows[i]->row, cells);
		rows[i]->is_forked = stage >= ALIKE_TEXTS;
		rows[i]->is_wide = stage >= ALIKE_WIDE;
		if (stage == ALIKE_LAST)
			rows[i]->is_uncut = true;
		else if (cells[column].kind == CELL_PATH &&
		         alike_rows_add_path(run, rows[i], &cells[column],
		                             error) != 0)
			return -1;
	}
	if (run->n == 0)
		return 0;
	/* Tells the paths of a run apart. */
	if (sort_items(run->paths, run->n, sizeof *run->paths,
	               alike_rows_compare_paths, run, error) != 0 ||
	    memory_grow(&run->fork, &run->fork_capacity, run->n,
	                sizeof *run->fork, error) != 0 ||
	    memory_grow(&run->left, &run->left_capacity, run->n,
	                sizeof *run->left, error) != 0 ||
	    memory_grow(&run->right, &run->right_capacity, run->n,
	                sizeof *run->right, error) != 0)
		return -1;
	for (size_t i = 1; i < run->n; i++)
		run->fork[i] = alike_rows_common_length(run, &run->paths[i - 1],
		                                        &run->paths[i]);
	forks_link(run->fork, run->left, run->right, run->n);
	for (size_t i = 0; i < run->n; i++)
		if (set_must(alike, run, i, error) != 0)
			return -1;
	return 0;
}

static uint64_t
alike_rows_look(const struct drawn_row *row, enum alike_stage stage)
{
	return stage == ALIKE_NAMES ? row->shown : row->hash;
}

static int
compare_looks(const void *a, const void *b, void *stage)
{
	const struct drawn_row *x = *(struct drawn_row *const *)a;
	const struct drawn_row *y = *(struct drawn_row *const *)b;
	uint64_t of_x = alike_rows_look(x, *(const enum alike_stage *)stage);
	uint64_t of_y = alike_rows_look(y, *(const enum alike_stage *)stage);

	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return x->record < y->record ? -1 : x->record > y->record;
}

int
alike_rows_part(struct alike_rows *alike, const struct table *table,
                size_t column, enum alike_stage stage, size_t *n_alike,
                struct error *error)
{
	struct drawn_row **rows = memory_array(alike->n, sizeof *rows, error);
	struct alike_run run = { 0 };
	int status = rows == NULL ? -1 : 0;

	*n_alike = 0;
	for (size_t i = 0; status == 0 && i < alike->n; i++)
		rows[i] = &alike->rows[i];
	if (status == 0)
		status = sort_items(rows, alike->n, sizeof *rows,
		                    compare_looks, &stage, error);
	for (size_t i = 0, end; status == 0 && i < alike->n; i = end) {
		uint64_t of_all = alike_rows_look(rows[i], stage);

		for (end = i + 1; end < alike->n &&
		     alike_rows_look(rows[end], stage) == of_all; end++)
			;
		/* The same path or name in several rows is no mistake. */
		if (of_all == 0 ||
		    rows[i]->record == rows[end - 1]->record)
			continue;
		*n_alike += end - i;
		status = part_rows(alike, table, column, stage, rows + i,
		                   end - i, &run, error);
	}
	free(run.paths);
	free(run.names);
	free(run.fork);
	free(run.left);
	free(run.right);
	free(rows);
	return status;
}
