/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c -- tables as text, in the form of the 1993 paper.
 *
 *	Downward Call Path Profile for resource: Real Time
 *	614 samples, sampled every 20 gticks
 *	format: usage_fraction (call path) [#hits]
 *	-----------------------------------------------------
 *	1.0000 (main) [614]
 *	-----------------------------------------------------
 *
 * A table without a pattern is drawn in columns, under headings unless it is
 * plain.  On a terminal a row is shortened to its width, in the middle of its
 * one elastic cell: the first path or name (in columns: the last cell).
 */
#include <inttypes.h>
#include <string.h>

#include "src/output/output.h"
#include "src/output/path_text.h"
#include "src/output/printable.h"
#include "src/output/units.h"

static const char rule[] =
    "-----------------------------------------------------";

/* Indentation stops growing here; the depth is then a number. */
enum { INDENT_STEP = 2, INDENT_MOST = 40, NARROWEST = 16 };

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define CYAN "\033[36m"
#define RESET "\033[0m"

struct drawing {
	const struct table *table;
	const struct layout *layout;
	struct writer *writer;
	struct text_buffer line, rest;
	struct path_names path;
	struct cell cells[TABLE_MAX_COLUMNS];
	size_t widths[TABLE_MAX_COLUMNS];
};

static bool
is_name_like(enum cell_kind kind)
{
	return kind == CELL_NAME || kind == CELL_PATH;
}

static bool
is_number(enum cell_kind kind)
{
	return kind == CELL_COUNT || kind == CELL_HITS ||
	    kind == CELL_GTICKS || kind == CELL_FRACTION ||
	    kind == CELL_PERCENT;
}

/* What a flag that is set is shown as, in columns. */
static char
flag_mark(const struct drawing *drawing, const struct cell *cell)
{
	size_t column = (size_t)(cell - drawing->cells);
	char mark = column < drawing->table->n_columns ?
	            drawing->table->columns[column].mark : '\0';

	return mark != '\0' ? mark : '*';
}

/* Adds a cell; a path or name takes at most `width` columns (0: any). */
static int
add_cell(struct drawing *drawing, struct text_buffer *text,
         const struct cell *cell, size_t width, struct error *error)
{
	const struct layout *layout = drawing->layout;
	const struct table *table = drawing->table;

	switch (cell->kind) {
	case CELL_EMPTY:
		break;
	case CELL_TEXT:
		text_add_printable(text, cell->text, strlen(cell->text));
		break;
	case CELL_COUNT:
		text_add_format(text, "%" PRIu64, cell->count);
		break;
	case CELL_HITS:
		if (layout->unit == UNIT_GTICKS)
			text_add_gticks(text, cell->count, table->interval,
			                table->gtick);
		else
			text_add_format(text, "%" PRIu64, cell->count);
		break;
	case CELL_GTICKS:
		text_add_gticks(text, cell->count, 1, table->gtick);
		break;
	case CELL_FRACTION:
		text_add_format(text, "%.*f", layout->digits, cell->fraction);
		break;
	case CELL_PERCENT:
		text_add_format(text, "%.*f", layout->digits < 2 ? 0 :
		                layout->digits - 2, cell->fraction * 100);
		break;
	case CELL_FLAG:
		if (cell->flag)
			text_add_char(text, table->pattern ? '~' : flag_mark(
			              drawing, cell));
		break;
	case CELL_NAME:
	case CELL_PATH:
		if (path_names_get(&drawing->path, cell, error) != 0)
			return -1;
		if (cell->kind == CELL_PATH)
			text_add_path(text, &drawing->path, width,
			              layout->has_color ? CYAN : "",
			              layout->has_color ? RESET : "");
		else
			text_add_bare_name(text, &drawing->path, width);
		break;
	}
	return 0;
}

static const char *
column_title(const struct drawing *drawing, size_t i)
{
	const struct column *column = &drawing->table->columns[i];

	/* "#hits" counts them; other titles say whose they are. */
	if (column->kind == CELL_HITS && column->title[0] == '#' &&
	    drawing->layout->unit == UNIT_GTICKS)
		return "used";
	return column->title;
}

static size_t
find_column(const struct table *table, const char *key, size_t n)
{
	size_t i = 0;

	while (i < table->n_columns &&
	       (strlen(table->columns[i].key) != n ||
	        memcmp(table->columns[i].key, key, n) != 0))
		i++;
	return i;
}

/*
 * The next part of a pattern: a column's number, or n_columns for the literal
 * text from *at on, *n bytes long.  False at the end.
 */
static bool
next_part(const struct table *table, const char **pattern, const char **at,
          size_t *n, size_t *column)
{
	const char *p = *pattern, *close;

	if (*p == '\0')
		return false;
	*column = table->n_columns;
	close = *p == '{' ? strchr(p, '}') : NULL;
	if (close != NULL) {
		*column = find_column(table, p + 1, (size_t)(close - p - 1));
		*at = p;
		*n = (size_t)(close + 1 - p);
	} else {
		*at = p;
		*n = 1 + strcspn(p + 1, "{");
	}
	*pattern = p + *n;
	return true;
}

/* Writes the line and empties it. */
static int
flush_line(struct drawing *drawing, struct error *error)
{
	struct text_buffer *line = &drawing->line;

	text_add_char(line, '\n');
	if (line->failed || drawing->rest.failed ||
	    drawing->path.word.failed)
		return error_out_of_memory(error);
	writer_put(drawing->writer, line->bytes, line->length);
	text_clear(line);
	return 0;
}

static void
add_indent(struct drawing *drawing)
{
	const struct table *table = drawing->table;
	const char *key = table->indent_key;
	size_t column;
	uint64_t depth;

	if (key == NULL)
		return;
	column = find_column(table, key, strlen(key));
	if (column == table->n_columns)
		return;
	depth = drawing->cells[column].count;
	if (depth <= INDENT_MOST / INDENT_STEP) {
		text_add_fill(&drawing->line, ' ', depth * INDENT_STEP);
	} else {
		text_add_fill(&drawing->line, ' ', INDENT_MOST);
		text_add_format(&drawing->line, "%" PRIu64 ": ", depth);
	}
}

/* Columns left for an elastic cell beside `used`; 0 where any will do. */
static size_t
room_beside(const struct drawing *drawing, size_t used)
{
	size_t width = drawing->layout->width;

	if (width == 0)
		return 0;
	return width > used + NARROWEST ? width - used : NARROWEST;
}

static size_t
text_width(const struct text_buffer *text)
{
	return printable_width(text->bytes, text->length);
}

/*
 * Draws a row by its pattern: what stands before the first path or name goes
 * to the line, what stands behind it to rest; then it is known what room that
 * one has.
 */
static int
draw_pattern_row(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	const char *pattern = table->pattern, *at;
	const struct cell *elastic = NULL;
	struct text_buffer *text = &drawing->line;
	size_t n, column, room;

	text_clear(&drawing->rest);
	add_indent(drawing);
	while (next_part(table, &pattern, &at, &n, &column)) {
		if (column == table->n_columns) {
			text_add(text, at, n);
		} else if (elastic == NULL &&
		           is_name_like(table->columns[column].kind)) {
			elastic = &drawing->cells[column];
			text = &drawing->rest;
		} else if (add_cell(drawing, text, &drawing->cells[column], 0,
		                    error) != 0) {
			return -1;
		}
	}
	if (elastic != NULL) {
		room = room_beside(drawing, text_width(&drawing->line) +
		                   text_width(&drawing->rest));
		if (add_cell(drawing, &drawing->line, elastic, room,
		             error) != 0)
			return -1;
		text_add(&drawing->line, drawing->rest.bytes,
		         drawing->rest.length);
	}
	return flush_line(drawing, error);
}

static void
add_styled(struct drawing *drawing, const char *style, const char *text)
{
	bool has_color = drawing->layout->has_color && *style != '\0';

	if (has_color)
		text_add_string(&drawing->line, style);
	text_add_printable(&drawing->line, text, strlen(text));
	if (has_color)
		text_add_string(&drawing->line, RESET);
}

static int
draw_lines(struct drawing *drawing, const char *const *lines, size_t n,
           const char *first_style, const char *style, struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		add_styled(drawing, i == 0 ? first_style : style, lines[i]);
		if (flush_line(drawing, error) != 0)
			return -1;
	}
	return 0;
}

static int
draw_fields(struct drawing *drawing, struct error *error)
{
	for (size_t i = 0; i < drawing->table->n_fields; i++) {
		const struct field *field = &drawing->table->fields[i];

		if (field->title == NULL)
			continue;
		text_add_format(&drawing->line, "%s: ", field->title);
		if (add_cell(drawing, &drawing->line, &field->value, 0,
		             error) != 0 || flush_line(drawing, error) != 0)
			return -1;
	}
	return 0;
}

static int
draw_rule(struct drawing *drawing, struct error *error)
{
	add_styled(drawing, DIM, rule);
	return flush_line(drawing, error);
}

static int
draw_format_line(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	const char *pattern = table->pattern, *at;
	size_t n, column;

	text_add_string(&drawing->line, "format: ");
	while (next_part(table, &pattern, &at, &n, &column)) {
		if (column == table->n_columns)
			text_add(&drawing->line, at, n);
		else
			text_add_string(&drawing->line,
			                column_title(drawing, column));
	}
	return flush_line(drawing, error);
}

static void
pad(struct drawing *drawing, size_t column, size_t width)
{
	if (width < drawing->widths[column])
		text_add_fill(&drawing->line, ' ',
		              drawing->widths[column] - width);
}

/* Adds what rest holds as the cell of a column: numbers to the right. */
static void
add_aligned(struct drawing *drawing, size_t column)
{
	const struct table *table = drawing->table;
	bool is_right = is_number(table->columns[column].kind);
	size_t width = text_width(&drawing->rest);

	if (is_right)
		pad(drawing, column, width);
	text_add(&drawing->line, drawing->rest.bytes, drawing->rest.length);
	if (!is_right && column + 1 < table->n_columns)
		pad(drawing, column, width);
	if (column + 1 < table->n_columns)
		text_add_string(&drawing->line, "  ");
}

/* Puts a cell's text into rest. */
static int
make_cell(struct drawing *drawing, size_t column, struct error *error)
{
	const struct cell *cell = &drawing->cells[column];
	bool is_last = column + 1 == drawing->table->n_columns;
	size_t used = text_width(&drawing->line);

	text_clear(&drawing->rest);
	return add_cell(drawing, &drawing->rest, cell,
	                is_last ? room_beside(drawing, used) : 0, error);
}

static int
draw_aligned_row(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;

	add_indent(drawing);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].is_data_only)
			continue;
		if (make_cell(drawing, i, error) != 0)
			return -1;
		add_aligned(drawing, i);
	}
	while (drawing->line.length > 0 &&
	       drawing->line.bytes[drawing->line.length - 1] == ' ')
		drawing->line.length--;
	return flush_line(drawing, error);
}

static int
draw_headings(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;

	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].is_data_only)
			continue;
		text_clear(&drawing->rest);
		text_add_string(&drawing->rest, column_title(drawing, i));
		add_aligned(drawing, i);
	}
	return flush_line(drawing, error);
}

/* How wide each column but the last must be. */
static int
measure_columns(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	size_t n = table->n_columns;

	for (size_t i = 0; i < n && !table->is_plain; i++) {
		const char *title = column_title(drawing, i);

		drawing->widths[i] = printable_width(title, strlen(title));
	}
	for (size_t row = 0; row < table->n_rows; row++) {
		table_get_row(table, row, drawing->cells);
		for (size_t i = 0; i < n; i++) {
			size_t width;

			if (table->columns[i].is_data_only ||
			    (i + 1 == n && !is_number(table->columns[i].kind)))
				continue;
			text_clear(&drawing->rest);
			if (add_cell(drawing, &drawing->rest,
			             &drawing->cells[i], 0, error) != 0)
				return -1;
			width = text_width(&drawing->rest);
			if (drawing->widths[i] < width)
				drawing->widths[i] = width;
		}
		if (output_may_go_on(row, drawing->writer, error) != 0)
			return -1;
	}
	return 0;
}

/* Rows whose group changes stand apart. */
static int
draw_gap(struct drawing *drawing, size_t row, uint64_t *group,
         struct error *error)
{
	const struct table *table = drawing->table;
	const char *key = table->group_key;
	uint64_t before = *group;

	if (key == NULL || table->pattern != NULL)
		return 0;
	*group = drawing->cells[find_column(table, key, strlen(key))].count;
	return row == 0 || *group == before ? 0 : flush_line(drawing, error);
}

static int
draw_rows(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	uint64_t group = 0;

	for (size_t i = 0; i < table->n_rows; i++) {
		int status;

		table_get_row(table, i, drawing->cells);
		if (draw_gap(drawing, i, &group, error) != 0)
			return -1;
		status = table->pattern != NULL
		    ? draw_pattern_row(drawing, error)
		    : draw_aligned_row(drawing, error);
		if (status != 0 ||
		    output_may_go_on(i, drawing->writer, error) != 0)
			return -1;
	}
	return 0;
}

/* Headings or format line, between rules; a plain table is its rows. */
static int
draw_body(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;

	if (table->n_columns == 0)
		return 0;
	if (table->pattern == NULL && measure_columns(drawing, error) != 0)
		return -1;
	if (table->is_plain)
		return draw_rows(drawing, error);
	if (table->pattern != NULL) {
		if (draw_format_line(drawing, error) != 0)
			return -1;
	} else if (draw_headings(drawing, error) != 0) {
		return -1;
	}
	if (draw_rule(drawing, error) != 0 ||
	    draw_rows(drawing, error) != 0)
		return -1;
	return draw_rule(drawing, error);
}

static int
draw_text(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	const char *title_style = table->is_plain ? "" : BOLD;

	if (draw_lines(drawing, table->header, table->n_header, title_style,
	               "", error) != 0 ||
	    draw_fields(drawing, error) != 0 ||
	    draw_body(drawing, error) != 0)
		return -1;
	return draw_lines(drawing, table->footer, table->n_footer, "", "",
	                  error);
}

int
output_text(const struct table *table, const struct layout *layout,
            struct writer *writer, struct error *error)
{
	struct drawing drawing = { .table = table, .layout = layout,
		                   .writer = writer };
	int status = draw_text(&drawing, error);

	text_free(&drawing.line);
	text_free(&drawing.rest);
	path_names_free(&drawing.path);
	return status;
}
