/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_columns.c -- rows in columns, under headings.
 *
 * On a terminal the last cell of a row is fitted to its width: a name, or a
 * text of an elastic column, is shortened in the middle; other texts are
 * wrapped.  Where a name or path would have too little room, the columns move
 * together, and those that may give way are left out.
 */
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/output/drawing.h"

/* A path, and a name with an indentation or a suffix, want MORE_WANTED, too. */
enum { GAP = 2, NARROW_GAP = 1, ROOM_WANTED = 22, MORE_WANTED = 10 };

/*
 * The widest text to which others are padded.  A longer one, such as the name
 * of a C++ function, moves what follows it in its own row only.
 */
enum { PADDED_MOST = 60 };

static bool
text_columns_is_number(enum cell_kind kind)
{
	return kind == CELL_COUNT || kind == CELL_HITS ||
	    kind == CELL_GTICKS || kind == CELL_FRACTION ||
	    kind == CELL_PERCENT || kind == CELL_NUMBER ||
	    kind == CELL_AMOUNT;
}

static bool
is_drawn(const struct drawing *drawing, size_t column)
{
	return !drawing->table->columns[column].is_data_only &&
	    !drawing->gave_way[column];
}

static void
pad(struct drawing *drawing, size_t column, size_t width)
{
	if (width < drawing->widths[column])
		text_add_fill(&drawing->line, ' ',
		              drawing->widths[column] - width);
}

/*
 * Adds the text in `rest` as the cell of a column; numbers are right-aligned.
 */
static void
add_aligned(struct drawing *drawing, size_t column)
{
	const struct table *table = drawing->table;
	bool is_right = text_columns_is_number(table->columns[column].kind);
	size_t width = drawing_width(&drawing->rest);

	if (is_right)
		pad(drawing, column, width);
	text_add(&drawing->line, drawing->rest.bytes, drawing->rest.length);
	if (!is_right && column + 1 < table->n_columns)
		pad(drawing, column, width);
	if (column + 1 < table->n_columns)
		text_add_fill(&drawing->line, ' ', drawing->gap);
}

/* Whether a cell is shown as nothing. */
static bool
is_hidden_zero(const struct drawing *drawing, size_t column)
{
	const struct cell *cell = &drawing->cells[column];

	if (!drawing->table->columns[column].hides_zero)
		return false;
	return cell->kind == CELL_FRACTION || cell->kind == CELL_PERCENT ?
	    cell->fraction == 0 :
	    text_columns_is_number(cell->kind) && cell->count == 0;
}

/* What follows the last cell, or "". */
static const char *
suffix_of(const struct drawing *drawing)
{
	const char *key = drawing->table->suffix_key;

	return key == NULL ? "" : drawing->cells[drawing_find_column(
	    drawing->table, key, strlen(key))].text;
}

/* Writes a cell's text to `rest`. */
static int
make_cell(struct drawing *drawing, size_t column, struct error *error)
{
	const struct cell *cell = &drawing->cells[column];
	bool is_last = column + 1 == drawing->table->n_columns;
	size_t used = drawing_used(drawing) + strlen(suffix_of(drawing));

	text_clear(&drawing->rest);
	if (is_hidden_zero(drawing, column))
		return 0;
	return drawing_add_cell(drawing, &drawing->rest, cell, is_last ?
	                        drawing_room(drawing, used) : 0, error);
}

/* Adds the text in `rest` as the last cell. */
static int
add_last_text(struct drawing *drawing, const struct column *column,
              struct error *error)
{
	const struct text_buffer *text = &drawing->rest;
	size_t used = drawing_used(drawing);
	size_t room = drawing_room(drawing, used);

	if (!column->is_elastic || room == 0)
		return drawing_add_wrapped(drawing, text->bytes, text->length,
		                           used, error);
	if (!column->cuts_end ||
	    printable_width(text->bytes, text->length) <= room) {
		text_add_elided(&drawing->line, text->bytes, text->length,
		                room);
		return 0;
	}
	text_add(&drawing->line, text->bytes, printable_prefix(text->bytes,
	         text->length, room - 1));
	text_add_string(&drawing->line, ELLIPSIS);
	return 0;
}

int
draw_aligned_row(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	size_t last = table->n_columns - 1;

	if (!table->indents_last)
		drawing_indent(drawing);
	for (size_t i = 0; i <= last; i++) {
		const struct column *column = &table->columns[i];

		if (!is_drawn(drawing, i))
			continue;
		if (i == last && table->indents_last)
			drawing_indent(drawing);
		if (make_cell(drawing, i, error) != 0)
			return -1;
		if (i < last || column->kind != CELL_TEXT)
			add_aligned(drawing, i);
		else if (add_last_text(drawing, column, error) != 0)
			return -1;
	}
	text_add_string(&drawing->line, suffix_of(drawing));
	while (drawing->line.length > 0 &&
	       drawing->line.bytes[drawing->line.length - 1] == ' ')
		drawing->line.length--;
	return drawing_flush(drawing, error);
}

int
draw_headings(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;

	drawing_add_lead_title(drawing);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (!is_drawn(drawing, i))
			continue;
		text_clear(&drawing->rest);
		text_add_string(&drawing->rest, drawing_title(drawing, i));
		add_aligned(drawing, i);
	}
	return drawing_flush(drawing, error);
}

/* The columns of a terminal that are left for the last cell; 0: too few. */
size_t
measured_room(struct drawing *drawing)
{
	size_t width = drawing->layout->width, used;

	drawing_add_lead_title(drawing);
	used = drawing_used(drawing);
	text_clear(&drawing->line);
	for (size_t i = 0; i + 1 < drawing->table->n_columns; i++)
		if (is_drawn(drawing, i))
			used += drawing->widths[i] + drawing->gap;
	return width > used ? width - used : 0;
}

/* The widths of columns are those of their cells or titles. */
static void
set_widths(struct drawing *drawing)
{
	const struct table *table = drawing->table;

	for (size_t i = 0; i < table->n_columns; i++) {
		const char *title = drawing_title(drawing, i);
		size_t width = table->is_plain ? 0 :
		    printable_width(title, strlen(title));

		drawing->widths[i] = drawing->cell_widths[i] < width ?
		                     width : drawing->cell_widths[i];
	}
}

static void
fit_columns(struct drawing *drawing)
{
	const struct table *table = drawing->table;
	const struct column *last = &table->columns[table->n_columns - 1];
	const bool is_name = last->kind == CELL_PATH || last->kind == CELL_NAME;
	const size_t wanted = !is_name ? last->room : ROOM_WANTED +
	    (last->kind == CELL_PATH || table->indents_last ? MORE_WANTED : 0);

	drawing->gap = GAP;
	set_widths(drawing);
	if (drawing->layout->width == 0 || table->is_plain || wanted == 0 ||
	    measured_room(drawing) >= wanted)
		return;
	drawing->gap = NARROW_GAP;
	drawing->has_short_titles = measured_room(drawing) < wanted;
	set_widths(drawing);
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].gives_way &&
		    measured_room(drawing) < wanted)
			drawing->gave_way[i] = true;
}

int
draw_what_gave_way(struct drawing *drawing, struct error *error)
{
	size_t n = 0, n_named = 0;

	for (size_t i = 0; i < drawing->table->n_columns; i++)
		n += drawing->gave_way[i];
	if (n == 0)
		return 0;
	text_add_string(&drawing->line, n == 1 ? "column " : "columns ");
	for (size_t i = 0; i < drawing->table->n_columns; i++)
		if (drawing->gave_way[i])
			text_add_format(&drawing->line, "%s\"%s\"",
			                n_named++ == 0 ? "" : ", ",
			                drawing_title(drawing, i));
	text_add_string(&drawing->line, n == 1 ? " needs a wider terminal" :
	                " need a wider terminal");
	return drawing_flush(drawing, error);
}

/* Measures how wide the cells of each column except the last are. */
static int
measure_widths(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	size_t n = table->n_columns;

	for (size_t row = 0; row < table->n_rows; row++) {
		table_get_row(table, row, drawing->cells);
		for (size_t i = 0; i < n; i++) {
			size_t width;

			if (table->columns[i].is_data_only ||
			    (i + 1 == n &&
			     !text_columns_is_number(table->columns[i].kind)))
				continue;
			text_clear(&drawing->rest);
			if (drawing_add_cell(drawing, &drawing->rest,
			                     &drawing->cells[i], 0,
			                     error) != 0)
				return -1;
			width = drawing_width(&drawing->rest);
			if (width > PADDED_MOST &&
			    !text_columns_is_number(table->columns[i].kind))
				continue;
			if (drawing->cell_widths[i] < width)
				drawing->cell_widths[i] = width;
		}
		if (output_may_go_on(row, drawing->writer, error) != 0)
			return -1;
	}
	return 0;
}

int
measure_columns(struct drawing *drawing, struct error *error)
{
	if (measure_widths(drawing, error) != 0)
		return -1;
	fit_columns(drawing);
	return 0;
}
