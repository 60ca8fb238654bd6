/* SPDX-License-Identifier: GPL-3.0-or-later */
/* separated.c -- tables as TSV and CSV: keys first, then the rows.
 *
 * Unprintable characters become \xNN, so a value never holds a tab or a line
 * break.  CSV quotes as RFC 4180 prescribes; lines end with a line feed.
 * Fields are left out, unless the table has a rows_key: then it becomes one
 * list of keys and values.
 */
#include <inttypes.h>
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/output/drawing.h"
#include "src/output/output.h"

/* What drawing one row needs. */
struct separated {
	char separator;
	struct writer *writer;
	struct text_buffer line, value;
	struct path_names path;
};

static void
separated_add_value(struct separated *drawing)
{
	struct text_buffer *line = &drawing->line, *value = &drawing->value;

	if (drawing->separator != ',' ||
	    (memchr(value->bytes, ',', value->length) == NULL &&
	     memchr(value->bytes, '"', value->length) == NULL)) {
		text_add(line, value->bytes, value->length);
		return;
	}
	text_add_char(line, '"');
	for (size_t i = 0; i < value->length; i++) {
		if (value->bytes[i] == '"')
			text_add_char(line, '"');
		text_add_char(line, value->bytes[i]);
	}
	text_add_char(line, '"');
}

static int
make_value(struct separated *drawing, const struct cell *cell,
           struct error *error)
{
	struct text_buffer *value = &drawing->value;

	text_clear(value);
	switch (cell->kind) {
	case CELL_EMPTY:
		break;
	case CELL_TEXT:
		text_add_printable(value, cell->text, strlen(cell->text));
		break;
	case CELL_COUNT:
	case CELL_HITS:
	case CELL_GTICKS:
		text_add_format(value, "%" PRIu64, cell->count);
		break;
	case CELL_FRACTION:
	case CELL_PERCENT:
		text_add_exact(value, cell->fraction);
		break;
	case CELL_NUMBER:
		if (!cell->is_by_zero)
			text_add_exact(value, cell->number);
		break;
	case CELL_AMOUNT:
		text_add_exact(value, cell->amount);
		break;
	case CELL_FLAG:
		text_add_string(value, cell->flag ? "true" : "false");
		break;
	case CELL_NAME:
	case CELL_PATH:
		if (path_names_get(&drawing->path, cell, error) != 0)
			return -1;
		text_add_collapsed(value, &drawing->path);
		break;
	}
	return 0;
}

static int
separated_add_cells(struct separated *drawing, const struct cell *cells,
                    size_t n, struct error *error)
{
	text_clear(&drawing->line);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			text_add_char(&drawing->line, drawing->separator);
		if (make_value(drawing, &cells[i], error) != 0)
			return -1;
		if (drawing->value.length > 0)
			separated_add_value(drawing);
	}
	text_add_char(&drawing->line, '\n');
	if (drawing->line.failed || drawing->value.failed)
		return error_out_of_memory(error);
	writer_put(drawing->writer, drawing->line.bytes,
	           drawing->line.length);
	return 0;
}

static int
add_pair(struct separated *drawing, const char *key, struct cell value,
         struct error *error)
{
	struct cell cells[] = { cell_text(key), value };

	return separated_add_cells(drawing, cells, 2, error);
}

/* The cells after the first, which names the row: "resources.cpu.hits". */
static int
add_row_as_pairs(struct separated *drawing, const struct table *table,
                 const struct cell *cells, struct error *error)
{
	struct text_buffer key = { 0 };
	int status = 0;

	for (size_t i = 1; status == 0 && i < table->n_columns; i++) {
		text_clear(&key);
		text_add_format(&key, "%s.%s.%s", table->rows_key,
		                cells[0].text, table->columns[i].key);
		status = add_pair(drawing, text_string(&key), cells[i], error);
	}
	if (key.failed)
		status = error_out_of_memory(error);
	text_free(&key);
	return status;
}

static int
draw_pairs(struct separated *drawing, const struct table *table,
           struct error *error)
{
	struct cell cells[TABLE_MAX_COLUMNS];
	int status = add_pair(drawing, "key", cell_text("value"), error);

	for (size_t i = 0; status == 0 && i < table->n_fields; i++)
		status = add_pair(drawing, table->fields[i].key,
		                  table->fields[i].value, error);
	for (size_t i = 0; status == 0 && i < table->n_rows; i++) {
		table_get_row(table, i, cells);
		status = add_row_as_pairs(drawing, table, cells, error);
	}
	return status;
}

/*
 * The cells of one row, or the keys of all columns, except those for text
 * only.
 */
static int
separated_add_row(struct separated *drawing, const struct table *table,
                  const struct cell *cells, struct error *error)
{
	struct cell kept[TABLE_MAX_COLUMNS];
	size_t n = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (!table->columns[i].is_text_only)
			kept[n++] = cells[i];
	return separated_add_cells(drawing, kept, n, error);
}

static int
separated_draw_rows(struct separated *drawing, const struct table *table,
                    struct error *error)
{
	struct cell cells[TABLE_MAX_COLUMNS];
	int status;

	for (size_t i = 0; i < table->n_columns; i++)
		cells[i] = cell_text(table->columns[i].key);
	status = separated_add_row(drawing, table, cells, error);
	for (size_t i = 0; status == 0 && i < table->n_rows; i++) {
		table_get_row(table, i, cells);
		status = separated_add_row(drawing, table, cells, error);
		if (status == 0)
			status = output_may_go_on(i, drawing->writer, error);
	}
	return status;
}

static int
draw_separated(const struct table *table, char separator,
               struct writer *writer, struct error *error)
{
	struct separated drawing = { .separator = separator,
		                     .writer = writer };
	int status = table->n_columns == 0 || table->rows_key != NULL
	    ? draw_pairs(&drawing, table, error)
	    : separated_draw_rows(&drawing, table, error);

	text_free(&drawing.line);
	text_free(&drawing.value);
	path_names_free(&drawing.path);
	return status;
}

int
output_tsv(const struct table *table, const struct layout *layout,
           struct writer *writer, struct error *error)
{
	(void)layout;
	return draw_separated(table, '\t', writer, error);
}

int
output_csv(const struct table *table, const struct layout *layout,
           struct writer *writer, struct error *error)
{
	(void)layout;
	return draw_separated(table, ',', writer, error);
}
