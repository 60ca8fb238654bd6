/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing.c -- the state while a table is drawn as text, line by line. */
#include "src/output/drawing.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/printable.h"
#include "src/base/units.h"

/* Indentation stops growing at INDENT_MOST; the depth is then a number. */
enum { INDENT_STEP = 2, INDENT_MOST = 40, NARROWEST = 16 };

#define CYAN "\033[36m"
#define DIM "\033[2m"
#define RESET "\033[0m"

/* The character for a flag that is set, in columns. */
static char
flag_mark(const struct drawing *drawing, const struct cell *cell)
{
	size_t column = (size_t)(cell - drawing->cells);
	char mark = column < drawing->table->n_columns ?
	            drawing->table->columns[column].mark : '\0';

	return mark != '\0' ? mark : '*';
}

int
drawing_add_cell(struct drawing *drawing, struct text_buffer *text,
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
		text_add_gticks_of(text, cell->count, cell->whole,
		                   table->gtick);
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

const char *
drawing_title(const struct drawing *drawing, size_t i)
{
	const struct column *column = &drawing->table->columns[i];

	/*
	 * "#hits" is a number of hits; other titles say whose hits they are.
	 */
	if (column->kind == CELL_HITS && column->title[0] == '#' &&
	    drawing->layout->unit == UNIT_GTICKS)
		return "used";
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
	    drawing->path.word.failed)
		return error_out_of_memory(error);
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
has_numbers(const struct drawing *drawing)
{
	return drawing->layout->has_numbers &&
	    table_path_column(drawing->table) < drawing->table->n_columns;
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

void
drawing_add_lead(struct drawing *drawing, size_t row)
{
	if (!has_numbers(drawing))
		return;
	add_color(drawing, DIM);
	text_add_format(&drawing->line, "%*zu", number_width(drawing),
	                row + 1);
	add_color(drawing, RESET);
	text_add_string(&drawing->line, "  ");
}

void
drawing_add_lead_title(struct drawing *drawing)
{
	if (!has_numbers(drawing))
		return;
	if (drawing->table->pattern == NULL)
		text_add_fill(&drawing->line, ' ',
		              (size_t)number_width(drawing) - 2);
	text_add_string(&drawing->line, "%N  ");
}

void
drawing_indent(struct drawing *drawing)
{
	const struct table *table = drawing->table;
	const char *key = table->indent_key;
	size_t column;
	uint64_t depth;

	if (key == NULL)
		return;
	column = drawing_find_column(table, key, strlen(key));
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
	return width > used + NARROWEST ? width - used : NARROWEST;
}

/*
 * The blank at which to break a text of which so much fits; n if there is
 * none.
 */
static size_t
find_break(const char *text, size_t n, size_t fits)
{
	const char *blank;
	size_t at = fits;

	while (at > 0 && text[at] != ' ')
		at--;
	if (at > 0)
		return at;
	blank = memchr(text + fits, ' ', n - fits);
	return blank == NULL ? n : (size_t)(blank - text);
}

int
drawing_add_wrapped(struct drawing *drawing, const char *text, size_t n,
                    size_t indent, struct error *error)
{
	size_t width = drawing->layout->width;
	bool is_wrapped = width > indent + NARROWEST;

	for (;;) {
		size_t fits = !is_wrapped ? n :
		              printable_prefix(text, n, width - indent);

		if (fits < n)
			fits = find_break(text, n, fits);
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
