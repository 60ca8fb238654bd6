/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_pattern.c -- rows as the paper prints them: "0.5 (main f) [12]".
 *
 * On a terminal a row is shortened to the width, in the middle of its first
 * path or name.  Where that would have too little room, a column that may give
 * way is left out.
 */
#include <string.h>

#include "src/output/drawing.h"

/* Two cut names of a path, the first of which has to be there, and more. */
enum { ROOM_WANTED = 40 };

static bool
is_name_like(enum cell_kind kind)
{
	return kind == CELL_NAME || kind == CELL_PATH;
}

/*
 * The next part of a pattern: a column's number, or n_columns for the literal
 * text from *at on, *n bytes long.  False at the end.
 */
static bool
text_pattern_next_part(const struct table *table, const char **pattern,
                       const char **at, size_t *n, size_t *column)
{
	const char *p = *pattern, *close;

	if (*p == '\0')
		return false;
	*column = table->n_columns;
	close = *p == '{' ? strchr(p, '}') : NULL;
	if (close != NULL) {
		*column = drawing_find_column(table, p + 1,
		                              (size_t)(close - p - 1));
		*at = p;
		*n = (size_t)(close + 1 - p);
	} else {
		*at = p;
		*n = 1 + strcspn(p + 1, "{");
	}
	*pattern = p + *n;
	return true;
}

/* The same, without the columns that gave way and the blank after each. */
static bool
next_drawn_part(const struct drawing *drawing, const char **pattern,
                const char **at, size_t *n, size_t *column)
{
	const struct table *table = drawing->table;

	for (;;) {
		if (!text_pattern_next_part(table, pattern, at, n, column))
			return false;
		if (*column == table->n_columns || !drawing->gave_way[*column])
			return true;
		*pattern += **pattern == ' ';
	}
}

/*
 * Adds what comes before the first path or name to the line, and what comes
 * after it to `rest`.  *elastic: that path or name, or NULL.
 */
static int
add_around(struct drawing *drawing, const struct cell **elastic,
           struct error *error)
{
	const struct table *table = drawing->table;
	const char *pattern = table->pattern, *at;
	struct text_buffer *text = &drawing->line;
	size_t n, column;

	*elastic = NULL;
	text_clear(&drawing->rest);
	while (next_drawn_part(drawing, &pattern, &at, &n, &column)) {
		if (column == table->n_columns) {
			text_add(text, at, n);
		} else if (*elastic == NULL &&
		           is_name_like(table->columns[column].kind)) {
			*elastic = &drawing->cells[column];
			text = &drawing->rest;
		} else if (drawing_add_cell(drawing, text,
		                            &drawing->cells[column], 0,
		                            error) != 0) {
			return -1;
		}
	}
	return 0;
}

/* Draws a row by its pattern; its path or name has the width that is left. */
int
draw_pattern_row(struct drawing *drawing, struct error *error)
{
	const struct cell *elastic;
	size_t room;

	if (add_around(drawing, &elastic, error) != 0)
		return -1;
	if (elastic != NULL) {
		drawing_indent(drawing);
		room = drawing_room(drawing, drawing_used(drawing) +
		                    drawing_width(&drawing->rest));
		if (drawing_add_cell(drawing, &drawing->line, elastic, room,
		                     error) != 0)
			return -1;
		text_add(&drawing->line, drawing->rest.bytes,
		         drawing->rest.length);
	}
	return drawing_flush(drawing, error);
}

int
measure_pattern(struct drawing *drawing, size_t *room, struct error *error)
{
	const size_t width = drawing->layout->width;

	*room = width;
	for (size_t i = 0; i < drawing->table->n_rows; i++) {
		const struct cell *elastic;
		size_t used;

		table_get_row(drawing->table, i, drawing->cells);
		drawing_add_lead(drawing, i);
		if (add_around(drawing, &elastic, error) != 0 ||
		    output_may_go_on(i, drawing->writer, error) != 0)
			return -1;
		used = drawing_used(drawing) + drawing_width(&drawing->rest);
		text_clear(&drawing->line);
		drawing->unseen = 0;
		if (width < used + *room)
			*room = width > used ? width - used : 0;
	}
	return 0;
}

/* Whether the path or name of a row takes more than `room` columns. */
static int
find_wider(struct drawing *drawing, size_t room, bool *is_wider,
           struct error *error)
{
	*is_wider = false;
	for (size_t i = 0; i < drawing->table->n_rows && !*is_wider; i++) {
		const struct cell *elastic;

		table_get_row(drawing->table, i, drawing->cells);
		if (add_around(drawing, &elastic, error) != 0 ||
		    output_may_go_on(i, drawing->writer, error) != 0)
			return -1;
		text_clear(&drawing->line);
		if (elastic == NULL)
			continue;
		if (drawing_add_cell(drawing, &drawing->line, elastic, 0,
		                     error) != 0)
			return -1;
		*is_wider = drawing_width(&drawing->line) > room;
		text_clear(&drawing->line);
	}
	return 0;
}

int
fit_pattern(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	const struct layout *layout = drawing->layout;
	struct layout plain = *layout;
	size_t room, column = 0;
	int status;

	while (column < table->n_columns && !table->columns[column].gives_way)
		column++;
	if (column == table->n_columns || layout->width == 0)
		return 0;
	if (measure_pattern(drawing, &room, error) != 0)
		return -1;
	if (room >= ROOM_WANTED)
		return 0;
	/* Colours take no columns. */
	plain.has_color = false;
	drawing->layout = &plain;
	status = find_wider(drawing, room, &drawing->gave_way[column], error);
	drawing->layout = layout;
	return status;
}

int
draw_format_line(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	const char *pattern = table->pattern, *at;
	size_t n, column;

	text_add_string(&drawing->line, "format: ");
	drawing_add_lead_title(drawing);
	while (next_drawn_part(drawing, &pattern, &at, &n, &column)) {
		if (column == table->n_columns)
			text_add(&drawing->line, at, n);
		else
			text_add_string(&drawing->line,
			                drawing_title(drawing, column));
	}
	return drawing_flush(drawing, error);
}
