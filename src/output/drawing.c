/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing.c -- the state while a table is drawn as text, line by line. */
#include "src/output/drawing.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/base/units.h"

/* The column of a cell of the row being drawn; NULL: it is a field. */
static const struct column *
drawing_column_of(const struct drawing *drawing, const struct cell *cell)
{
	size_t column = (size_t)(cell - drawing->cells);

	return column < drawing->table->n_columns ?
	       &drawing->table->columns[column] : NULL;
}

/* The character for a flag that is set, in columns. */
static char
flag_mark(const struct drawing *drawing, const struct cell *cell)
{
	const struct column *column = drawing_column_of(drawing, cell);

	return column != NULL && column->mark != '\0' ? column->mark : '*';
}

/* Adds the + of a number above 0 in a column that wants it. */
static void
add_sign(const struct drawing *drawing, struct text_buffer *text,
         const struct cell *cell, double number)
{
	const struct column *column = drawing_column_of(drawing, cell);

	if (number > 0 && column != NULL && column->has_sign)
		text_add_char(text, '+');
}

bool
drawing_has_unit(const struct drawing *drawing, const struct column *column)
{
	if (drawing->layout->unit != UNIT_AUTO)
		return drawing->layout->unit == UNIT_GTICKS;
	return column != NULL && column->interval != 0 ? column->has_unit :
	       drawing->table->has_unit;
}

/* Adds hits of the table's resource, or of the column's. */
static void
drawing_add_hits(const struct drawing *drawing, struct text_buffer *text,
                 const struct cell *cell)
{
	const struct table *table = drawing->table;
	const struct column *column = drawing_column_of(drawing, cell);

	if (!drawing_has_unit(drawing, column))
		text_add_format(text, "%" PRIu64, cell->count);
	else if (column != NULL && column->interval != 0)
		text_add_gticks(text, cell->count, column->interval,
		                column->gtick);
	else
		text_add_gticks(text, cell->count, table->interval,
		                table->gtick);
}

/* Adds a path or name; if it is cut, so that it looks like no other one. */
static int
drawing_add_names(struct drawing *drawing, struct text_buffer *text,
                  const struct cell *cell, size_t width, struct error *error)
{
	bool has_color = drawing->layout->has_color, is_cut = width > 0;
	struct path_names *path = &drawing->path;
	const struct drawn_row *row = !is_cut ? NULL :
	    alike_rows_find(&drawing->alike, drawing->row);
	size_t begin = text->length;

	if (path_names_get(path, cell, error) != 0)
		return -1;
	if (row != NULL && row->is_wide)
		width += drawing->layout->width;
	if (row != NULL && row->is_uncut)
		width = 0;
	path->n_must = row == NULL ? 0 : row->n_must;
	path->is_forked = row != NULL && row->is_forked;
	if (path->n_must > 0)
		path->must = drawing->alike.must + row->first_must;
	/* What must be shown is counted in whole paths. */
	if (cell->kind == CELL_PATH && drawing->table->folds_unnamed &&
	    path_names_fold(path))
		path->n_must = 0;
	if (cell->kind == CELL_PATH)
		text_add_path(text, path, width, has_color ? CYAN : "",
		              has_color ? RESET : "");
	else
		text_add_bare_name(text, path, width);
	if (!drawing->is_trial || !is_cut || text->failed)
		return 0;
	drawing->cut_column = (size_t)(cell - drawing->cells);
	return alike_rows_add(&drawing->alike, drawing->row, cell,
	                      text->bytes + begin, text->length - begin,
	                      cell->kind == CELL_PATH && width > 0 ?
	                      path_shown_hash(path) : 0, error);
}

/* Adds a text; the name in it is cut so that the text takes `width` columns. */
static void
drawing_add_text(struct drawing *drawing, struct text_buffer *text,
                 const struct cell *cell, size_t width)
{
	const char *behind = cell->text + cell->name_begin + cell->n_name;
	struct short_name name;
	size_t used;

	if (cell->n_name == 0 || drawing->path.shown == NULL) {
		text_add_printable(text, cell->text, strlen(cell->text));
		return;
	}
	name = shown_inner_name(drawing->path.shown, cell);
	used = text->length;
	text_add_printable(text, cell->text, cell->name_begin);
	used = printable_width(text->bytes + used, text->length - used) +
	    printable_width(behind, strlen(behind));
	if (width > 0)
		width = width > used + DRAWING_NARROWEST ? width - used : DRAWING_NARROWEST;
	text_add_name(text, &drawing->path, name.text, name.length, width);
	text_add_printable(text, behind, strlen(behind));
}

int
drawing_add_cell(struct drawing *drawing, struct text_buffer *text,
                 const struct cell *cell, size_t width, struct error *error)
{
	const struct layout *layout = drawing->layout;
	const struct table *table = drawing->table;

	switch (cell->kind) {
	case CELL_EMPTY:
		if (cell->text != NULL)
			text_add_string(text, cell->text);
		break;
	case CELL_TEXT:
		drawing_add_text(drawing, text, cell, width);
		break;
	case CELL_COUNT:
		text_add_format(text, "%" PRIu64, cell->count);
		break;
	case CELL_HITS:
		drawing_add_hits(drawing, text, cell);
		break;
	case CELL_GTICKS:
		text_add_gticks_of(text, cell->count, cell->whole,
		                   table->gtick);
		break;
	case CELL_FRACTION:
		text_add_format(text, "%.*f", layout->digits, cell->fraction);
		break;
	case CELL_PERCENT:
		add_sign(drawing, text, cell, cell->fraction);
		text_add_decimal(text, cell->fraction * 100,
		                 layout->digits < 2 ? 0 : layout->digits - 2);
		break;
	case CELL_NUMBER:
		if (cell->is_by_zero)
			text_add_format(text, "%.6g/0", cell->number);
		else
			text_add_rounded(text, cell->number);
		break;
	case CELL_AMOUNT:
		add_sign(drawing, text, cell, cell->amount);
		text_add_amount(text, cell->amount, table->interval,
		                table->gtick);
		break;
	case CELL_FLAG:
		if (cell->flag)
			text_add_char(text, table->pattern ? '~' : flag_mark(
			              drawing, cell));
		break;
	case CELL_NAME:
	case CELL_PATH:
		return drawing_add_names(drawing, text, cell, width, error);
	}
	return 0;
}

const char *
drawing_title(const struct drawing *drawing, size_t i)
{
	const struct column *column = &drawing->table->columns[i];

	/* These are numbers of hits; other titles say whose hits they are. */
	if (column->kind == CELL_HITS &&
	    (strcmp(column->title, "#hits") == 0 ||
	     strcmp(column->title, "hits") == 0) &&
	    drawing_has_unit(drawing, column))
		return "used";
	if (drawing->has_short_titles && column->short_title != NULL)
		return column->short_title;
	return column->title;
}

size_t
drawing_find_column(const struct table *table, const char *key, size_t n)
{
	size_t i = 0;

	while (i < table->n_columns &&
	       (strlen(table->columns[i].key) != n ||
	        memcmp(table->columns[i].key, key, n) != 0))
		i++;
	return i;
}

int
drawing_flush(struct drawing *drawing, struct error *error)
{
	struct text_buffer *line = &drawing->line;

	text_add_char(line, '\n');
	if (line->failed || drawing->rest.failed ||
	    drawing->path.word.failed || drawing->path.cut.failed)
		return error_out_of_memory(error);
	if (!drawing->is_trial)
		writer_put(drawing->writer, line->bytes, line->length);
	text_clear(line);
	drawing->unseen = 0;
	return 0;
}

/* Adds the bytes of a colour to the line. */
static void
add_color(struct drawing *drawing, const char *color)
{
	if (!drawing->layout->has_color)
		return;
	text_add_string(&drawing->line, color);
	drawing->unseen += printable_width(color, strlen(color));
}

static bool
drawing_has_numbers(const struct drawing *drawing)
{
	return drawing->layout->has_numbers &&
	    table_handle_column(drawing->table) < drawing->table->n_columns;
}

/* The columns of the largest row number, which "%N" heads. */
static int
number_width(const struct drawing *drawing)
{
	size_t n = drawing->table->n_rows;
	int width = 1;

	while (n >= 10) {
		n /= 10;
		width++;
	}
	return drawing->table->is_plain || drawing->table->pattern != NULL ||
	    width > 2 ? width : 2;
}

/* The column whose share a bar shows, or n_columns: none does. */
static size_t
bar_column(const struct drawing *drawing)
{
	const struct table *table = drawing->table;
	size_t column = drawing_find_column(table, "fraction", 8);

	if (drawing->layout->bar_width == 0 || column == table->n_columns)
		return table->n_columns;
	/* Lines of code are long, and have shares in columns of their own. */
	return table->columns[column].kind == CELL_FRACTION ||
	    table_handle_column(table) < table->n_columns ? column :
	    table->n_columns;
}

/* A share in eighths of a column; one that is not 0 is seen. */
static size_t
eighths_of(double fraction, size_t width)
{
	double eighths = fraction * (double)width * 8;

	if (!(eighths > 0))
		return 0;
	if (eighths >= (double)width * 8)
		return width * 8;
	return eighths < 1 ? 1 : (size_t)(eighths + 0.5);
}

/*
 * Adds a bar of so many columns: solid for the share, and lighter up to that
 * with descendants, if the table has one.
 */
static void
add_bar(struct drawing *drawing, double fraction, double inclusive)
{
	static const char *const blocks[] = {
		"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a",
		"\u2589",
	};
	const struct layout *layout = drawing->layout;
	size_t width = layout->bar_width, at = 0;
	size_t eighths = eighths_of(fraction, width);
	size_t lighter = (eighths_of(inclusive, width) + 7) / 8;

	add_color(drawing, GREEN);
	for (; at < eighths / 8; at++)
		text_add_string(&drawing->line,
		                layout->has_blocks ? "\u2588" : "#");
	if (at < width && eighths % 8 > 0) {
		text_add_string(&drawing->line, layout->has_blocks ?
		                blocks[eighths % 8] : "#");
		at++;
	}
	for (; at < lighter; at++)
		text_add_string(&drawing->line,
		                layout->has_blocks ? "\u2591" : "-");
	add_color(drawing, RESET);
	text_add_fill(&drawing->line, ' ', width - at + 2);
}

void
drawing_add_lead(struct drawing *drawing, size_t row)
{
	const struct table *table = drawing->table;
	size_t bar = bar_column(drawing), inclusive;

	if (drawing_has_numbers(drawing)) {
		add_color(drawing, DIM);
		text_add_format(&drawing->line, "%*zu", number_width(drawing),
		                row + 1);
		add_color(drawing, RESET);
		text_add_string(&drawing->line, "  ");
	}
	if (bar == table->n_columns)
		return;
	inclusive = drawing_find_column(table, "inclusive_fraction", 18);
	add_bar(drawing, drawing->cells[bar].kind == CELL_EMPTY ? 0 :
	        drawing->cells[bar].fraction, inclusive < table->n_columns ?
	        drawing->cells[inclusive].fraction : 0);
}

void
drawing_add_lead_title(struct drawing *drawing)
{
	const struct table *table = drawing->table;

	if (drawing_has_numbers(drawing)) {
		if (table->pattern == NULL)
			text_add_fill(&drawing->line, ' ',
			              (size_t)number_width(drawing) - 2);
		text_add_string(&drawing->line, "%N  ");
	}
	if (bar_column(drawing) == table->n_columns)
		return;
	if (table->pattern != NULL)
		text_add_string(&drawing->line, "bar  ");
	else
		text_add_fill(&drawing->line, ' ',
		              drawing->layout->bar_width + 2);
}

size_t
drawing_depth_column(const struct drawing *drawing)
{
	const char *key = drawing->table->indent_key;

	return key == NULL ? drawing->table->n_columns :
	       drawing_find_column(drawing->table, key, strlen(key));
}

void
drawing_indent(struct drawing *drawing)
{
	size_t column = drawing_depth_column(drawing);
	uint64_t depth;

	if (column == drawing->table->n_columns)
		return;
	depth = drawing->cells[column].count;
	if (depth <= drawing->indent_most / drawing->indent_step) {
		text_add_fill(&drawing->line, ' ',
		              depth * drawing->indent_step);
	} else {
		text_add_fill(&drawing->line, ' ', drawing->indent_most);
		text_add_format(&drawing->line, "%" PRIu64 ": ", depth);
	}
}

size_t
drawing_width(const struct text_buffer *text)
{
	return printable_width(text->bytes, text->length);
}

size_t
drawing_used(const struct drawing *drawing)
{
	return drawing_width(&drawing->line) - drawing->unseen;
}

size_t
drawing_room(const struct drawing *drawing, size_t used)
{
	size_t width = drawing->layout->width;

	if (width == 0)
		return 0;
	return width > used + DRAWING_NARROWEST ? width - used : DRAWING_NARROWEST;
}

int
drawing_add_wrapped(struct drawing *drawing, const char *text, size_t n,
                    size_t indent, struct error *error)
{
	size_t width = drawing->layout->width;
	bool is_wrapped = width > indent + DRAWING_NARROWEST;

	for (;;) {
		size_t fits = !is_wrapped ? n :
		              wrapping_line(text, n, width - indent);

		text_add(&drawing->line, text, fits);
		while (fits < n && text[fits] == ' ')
			fits++;
		if (fits == n)
			return 0;
		text += fits;
		n -= fits;
		if (drawing_flush(drawing, error) != 0)
			return -1;
		text_add_fill(&drawing->line, ' ', indent);
	}
}
