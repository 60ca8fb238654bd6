/* SPDX-License-Identifier: GPL-3.0-or-later */
/* last_rows.c -- the rows of the last view at the prompt, for %N. */
#include "src/shell/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/*
 * The most names that are held, 16 MB of them: nobody picks a row from a view
 * longer than that, and the prompt must not pay for it.
 */
enum { MOST_NAMES = 4 << 20 };

void
last_rows_free(struct last_rows *rows)
{
	names_free(rows->texts);
	free(rows->end);
	free(rows->far);
	free(rows->names);
	*rows = (struct last_rows){ 0 };
}

void
last_rows_forget(struct last_rows *rows)
{
	bool had_some = rows->texts != NULL || rows->was_reloaded;

	last_rows_free(rows);
	rows->was_reloaded = had_some;
}

/* Adds a name as a text of its own to the row that is being made. */
static int
last_rows_add_name(struct last_rows *rows, const struct names *names,
                   uint32_t name, uint32_t *text, struct error *error)
{
	*text = names_add(rows->texts, names_text(names, name),
	                  names_length(names, name), error);
	return *text == NO_NAME ? -1 : 0;
}

/*
 * Adds the names of a path.  The last one added is the function that the row is
 * about.
 */
static int
last_rows_add_path(struct last_rows *rows, const struct call_paths *paths,
                   uint32_t record, struct error *error)
{
	size_t n = call_paths_length(paths, record);
	uint32_t *path;

	if (memory_grow(&rows->names, &rows->names_capacity,
	                rows->n_names + n, sizeof *rows->names, error) != 0)
		return -1;
	path = rows->names + rows->n_names;
	call_paths_get(paths, record, path);
	for (size_t i = 0; i < n; i++)
		if (last_rows_add_name(rows, paths->names, path[i], &path[i],
		                       error) != 0)
			return -1;
	rows->n_names += n;
	return last_rows_add_name(rows, paths->names, paths->name[record],
	                          &rows->far[rows->n], error);
}

/* Adds a function, or the name of what else the row is about. */
static int
last_rows_add_text(struct last_rows *rows, const char *text, size_t length,
                   struct error *error)
{
	uint32_t name = names_add(rows->texts, text, length, error);

	if (name == NO_NAME ||
	    memory_grow(&rows->names, &rows->names_capacity,
	                rows->n_names + 1, sizeof *rows->names, error) != 0)
		return -1;
	rows->names[rows->n_names++] = rows->far[rows->n] = name;
	return 0;
}

static int
last_rows_add_row(struct last_rows *rows, const struct cell *cell,
                  struct error *error)
{
	const struct names *names = cell->kind != CELL_NAME ? NULL :
	                            cell->path.paths->names;
	uint32_t name = cell->path.record;
	int status = 0;

	if (memory_grow(&rows->end, &rows->n_capacity, rows->n + 1,
	                sizeof *rows->end, error) != 0 ||
	    memory_grow(&rows->far, &rows->far_capacity, rows->n + 1,
	                sizeof *rows->far, error) != 0)
		return -1;
	rows->far[rows->n] = NO_NAME;
	if (cell->kind == CELL_PATH)
		status = last_rows_add_path(rows, cell->path.paths,
		                            cell->path.record, error);
	else if (cell->kind == CELL_NAME)
		status = last_rows_add_text(rows, names_text(names, name),
		                            names_length(names, name), error);
	else if (cell->kind == CELL_TEXT)
		status = last_rows_add_text(rows, cell->text,
		                            strlen(cell->text), error);
	rows->end[rows->n++] = rows->n_names;
	return status;
}

int
last_rows_keep(struct last_rows *rows, const struct table *table,
               struct error *error)
{
	size_t column = table_handle_column(table);
	struct cell cells[TABLE_MAX_COLUMNS];

	last_rows_free(rows);
	rows->texts = names_new(error);
	rows->n_shown = table->n_rows;
	for (size_t i = 0; rows->texts != NULL && i < table->n_rows &&
	     rows->n_names < MOST_NAMES; i++) {
		table_get_row(table, i, cells);
		if (last_rows_add_row(rows, &cells[column], error) != 0) {
			last_rows_free(rows);
			break;
		}
	}
	return rows->texts == NULL ? -1 : 0;
}

static int
last_rows_report_missing(const struct last_rows *rows, size_t number,
                         struct error *error)
{
	if (rows->was_reloaded)
		return error_set(error, "%%%zu: a profile has been loaded "
		                 "since; show a view again to number its "
		                 "rows", number);
	if (rows->texts == NULL)
		return error_set(error, "%%%zu: no view with row numbers has "
		                 "been shown yet", number);
	if (number > rows->n && number <= rows->n_shown)
		return error_set(error, "%%%zu: the last view is so long that "
		                 "only its first %zu rows can be named",
		                 number, rows->n);
	return error_set(error, "%%%zu: the last view has %zu row%s", number,
	                 rows->n_shown, rows->n_shown == 1 ? "" : "s");
}

const uint32_t *
last_rows_path(const struct last_rows *rows, size_t number, size_t *n,
               uint32_t *far, struct error *error)
{
	size_t begin;

	if (number == 0 || number > rows->n) {
		last_rows_report_missing(rows, number, error);
		return NULL;
	}
	begin = number > 1 ? rows->end[number - 2] : 0;
	*n = rows->end[number - 1] - begin;
	*far = rows->far[number - 1];
	if (*n == 0) {
		error_set(error, "%%%zu: this row has no function", number);
		return NULL;
	}
	return rows->names + begin;
}
