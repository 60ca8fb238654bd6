/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_pattern.c -- rows as the paper prints them: "0.5 (main f) [12]".
 *
 * On a terminal a row is shortened to the width, in the middle of its first
 * path or name.
 */
#include <string.h>

#include "src/output/drawing.h"

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
next_part(const struct table *table, const char **pattern, const char **at,
          size_t *n, size_t *column)
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
	while (next_part(table, &pattern, &at, &n, &column)) {
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
measure_pattern_row(struct drawing *drawing, size_t *columns,
                    struct error *error)
{
	const struct cell *elastic;
	int status = add_around(drawing, &elastic, error);

	*columns = drawing_used(drawing) + drawing_width(&drawing->rest);
	text_clear(&drawing->line);
	drawing->unseen = 0;
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
	while (next_part(table, &pattern, &at, &n, &column)) {
		if (column == table->n_columns)
			text_add(&drawing->line, at, n);
		else
			text_add_string(&drawing->line,
			                drawing_title(drawing, column));
	}
	return drawing_flush(drawing, error);
}
