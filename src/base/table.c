/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c -- the answer of a command: typed cells, no layout. */
#include "src/base/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

void
table_free(struct table *table)
{
	if (table->row_source_free != NULL)
		table->row_source_free(table->row_source);
	free(table->fields);
	free(table->header);
	free(table->footer);
	free(table->cells);
	arena_free(&table->arena);
	*table = (struct table){ 0 };
}

int
table_add_field(struct table *table, const char *key, const char *title,
                struct cell value, struct error *error)
{
	if (memory_grow(&table->fields, &table->fields_capacity,
	                table->n_fields + 1, sizeof *table->fields,
	                error) != 0)
		return -1;
	table->fields[table->n_fields++] = (struct field){ key, title, value };
	return 0;
}

int
table_add_fields(struct table *table, const struct field *fields, size_t n,
                 struct error *error)
{
	for (size_t i = 0; i < n; i++)
		if (table_add_field(table, fields[i].key, fields[i].title,
		                    fields[i].value, error) != 0)
			return -1;
	return 0;
}

__attribute__((format(printf, 3, 0)))
static const char *
format_text(struct table *table, struct error *error, const char *format,
            va_list arguments)
{
	char *line = NULL;
	const char *kept = NULL;
	int length = vasprintf(&line, format, arguments);

	if (length < 0) {
		error_out_of_memory(error);
		return NULL;
	}
	kept = arena_text(&table->arena, line, (size_t)length, error);
	free(line);
	return kept;
}

static int
table_add_line(const char ***lines, size_t *n, size_t *capacity,
               const char *line, struct error *error)
{
	if (line == NULL ||
	    memory_grow(lines, capacity, *n + 1, sizeof **lines, error) != 0)
		return -1;
	(*lines)[(*n)++] = line;
	return 0;
}

int
table_add_header(struct table *table, struct error *error, const char *format,
                 ...)
{
	va_list arguments;
	const char *line;

	va_start(arguments, format);
	line = format_text(table, error, format, arguments);
	va_end(arguments);
	return table_add_line(&table->header, &table->n_header,
	                      &table->header_capacity, line, error);
}

static void
mark_name(struct table *table, struct line_name name)
{
	if (table->n_line_names < TABLE_MAX_LINE_NAMES)
		table->line_names[table->n_line_names++] = name;
}

void
table_mark_header_name(struct table *table, size_t begin, size_t length,
                       struct cell name)
{
	mark_name(table, (struct line_name){ false, table->n_header - 1, begin,
	                                     length, name });
}

void
table_mark_footer_name(struct table *table, size_t begin, size_t length,
                       struct cell name)
{
	mark_name(table, (struct line_name){ true, table->n_footer, begin,
	                                     length, name });
}

int
table_add_footer(struct table *table, struct error *error, const char *format,
                 ...)
{
	va_list arguments;
	const char *line;

	va_start(arguments, format);
	line = format_text(table, error, format, arguments);
	va_end(arguments);
	return table_add_line(&table->footer, &table->n_footer,
	                      &table->footer_capacity, line, error);
}

const char *
table_text(struct table *table, struct error *error, const char *format, ...)
{
	va_list arguments;
	const char *text;

	va_start(arguments, format);
	text = format_text(table, error, format, arguments);
	va_end(arguments);
	return text;
}

struct cell
table_path(struct table *table, const struct names *names,
           const uint32_t *path, size_t n, struct error *error)
{
	struct arena *arena = &table->arena;
	struct call_paths *paths = arena_alloc(arena, sizeof *paths, error);
	uint32_t *parent = arena_alloc(arena, n * sizeof *parent, error);
	uint32_t *name = arena_alloc(arena, n * sizeof *name, error);

	if (paths == NULL || parent == NULL || name == NULL)
		return (struct cell){ .kind = CELL_EMPTY };
	for (size_t i = 0; i < n; i++) {
		parent[i] = i == 0 ? NO_RECORD : (uint32_t)i - 1;
		name[i] = path[i];
	}
	*paths = (struct call_paths){
		.names = names,
		.parent = parent,
		.name = name,
	};
	return cell_path(paths, (uint32_t)n - 1);
}

struct column *
table_add_column(struct table *table, const char *key, const char *title,
                 enum cell_kind kind)
{
	struct column *column = &table->columns[table->n_columns];

	assert(table->n_columns < TABLE_MAX_COLUMNS && table->n_rows == 0);
	*column = (struct column){ .key = key, .title = title, .kind = kind };
	table->n_columns++;
	return column;
}

void
table_add_columns(struct table *table, const struct column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (columns[i].key != NULL)
			*table_add_column(table, NULL, NULL, CELL_EMPTY) =
			    columns[i];
}

int
table_add_row(struct table *table, const struct cell *cells,
              struct error *error)
{
	size_t n = table->n_columns;

	if (memory_grow(&table->cells, &table->cells_capacity,
	                (table->n_rows + 1) * n, sizeof *cells, error) != 0)
		return -1;
	memcpy(&table->cells[table->n_rows * n], cells, n * sizeof *cells);
	table->n_rows++;
	return 0;
}

/* The column of that key and one of two kinds, or n_columns. */
static size_t
table_find_column(const struct table *table, const char *key,
                  enum cell_kind kind, enum cell_kind other)
{
	size_t i = 0;

	while (i < table->n_columns &&
	       (strcmp(table->columns[i].key, key) != 0 ||
	        (table->columns[i].kind != kind &&
	         table->columns[i].kind != other)))
		i++;
	return i;
}

size_t
table_handle_column(const struct table *table)
{
	size_t path = table_find_column(table, "path", CELL_PATH, CELL_NAME);

	if (table->picture != NULL)
		return table->n_columns;
	return path < table->n_columns || table->handle_key == NULL ? path :
	    table_find_column(table, table->handle_key, CELL_TEXT, CELL_TEXT);
}

void
table_get_row(const struct table *table, size_t i, struct cell *cells)
{
	if (table->row != NULL)
		table->row(table, i, cells);
	else
		memcpy(cells, &table->cells[i * table->n_columns],
		       table->n_columns * sizeof *cells);
}
