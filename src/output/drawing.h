/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing.h -- the state while a table is drawn as text, line by line.
 *
 * Shared by the two forms of rows: by a pattern (text_pattern.c) and in
 * columns (text_columns.c).  text.c draws headings, rules and footers.
 */
#ifndef CPPROF_OUTPUT_DRAWING_H
#define CPPROF_OUTPUT_DRAWING_H

#include <stddef.h>

#include "src/output/alike_rows.h"
#include "src/output/output.h"
#include "src/output/path_text.h"

/* Start with the first three members set. */
struct drawing {
	const struct table *table;
	const struct layout *layout;
	struct writer *writer;
	struct text_buffer line;	/* not written yet */
	size_t unseen;			/* columns that drawing_width counts for
					 * colours in the line */
	struct text_buffer rest;	/* scratch */
	struct path_names path;
	struct shown_names shown;
	struct alike_rows alike;
	uint32_t row;			/* that is being drawn */
	size_t cut_column;		/* of the paths or names that are cut */
	bool is_trial;			/* rows are drawn but not written */
	struct cell cells[TABLE_MAX_COLUMNS];	/* of the row being drawn */
	size_t indent_step, indent_most;	/* columns; see drawing_fit_indent */
	bool gave_way[TABLE_MAX_COLUMNS];	/* columns that are left out */
	/* Of aligned rows. */
	size_t widths[TABLE_MAX_COLUMNS];	/* of columns */
	size_t cell_widths[TABLE_MAX_COLUMNS];
	size_t gap;			/* blanks between columns */
	bool has_short_titles;
};

/* Adds a cell; a path or name takes at most `width` columns (0: any). */
int drawing_add_cell(struct drawing *drawing, struct text_buffer *text,
                     const struct cell *cell, size_t width,
                     struct error *error);

/* Writes the line and empties it. */
int drawing_flush(struct drawing *drawing, struct error *error);

/*
 * What comes before each row on a terminal, if the layout wants it: its
 * number, if the table has paths, and a bar of its share.
 * drawing_add_lead_title adds a title in the place of both.
 */
void drawing_add_lead(struct drawing *drawing, size_t row);
void drawing_add_lead_title(struct drawing *drawing);

/* Indents the line by the row's depth, where the table has one. */
void drawing_indent(struct drawing *drawing);

/*
 * Decides how rows are indented, before any is drawn: on a terminal, so that
 * names have room.  0, or -1 with *error set.
 */
int drawing_fit_indent(struct drawing *drawing, struct error *error);

/* The heading of a column. */
/* Whether hits of a column, or of no column if it is NULL, are shown in gticks. */
bool drawing_has_unit(const struct drawing *drawing,
                      const struct column *column);

const char *drawing_title(const struct drawing *drawing, size_t column);

/* The column of that key, or n_columns. */
size_t drawing_find_column(const struct table *table, const char *key,
                           size_t n);

/* The columns that a text takes on a terminal. */
size_t drawing_width(const struct text_buffer *text);

/* The columns that the line takes so far. */
size_t drawing_used(const struct drawing *drawing);

/* The columns left for an elastic cell when `used` are taken; 0: no limit. */
size_t drawing_room(const struct drawing *drawing, size_t used);

/*
 * Adds a printable text to the line.  On a terminal it is broken at blanks
 * where it exceeds the width, and the following lines are indented by `indent`
 * blanks, like the text already in the line.  0, or -1 with *error set.
 */
int drawing_add_wrapped(struct drawing *drawing, const char *text, size_t n,
                        size_t indent, struct error *error);

/* Draws a row of a table with a pattern. */
int draw_pattern_row(struct drawing *drawing, struct error *error);

/*
 * Sets the columns that the rows of such a table leave at least for the first
 * path or name and its indentation.
 */
int measure_pattern(struct drawing *drawing, size_t *room,
                    struct error *error);

/* Before any row is drawn: decides whether a column gives way. */
int fit_pattern(struct drawing *drawing, struct error *error);
int draw_format_line(struct drawing *drawing, struct error *error);

/*
 * Draws the table's picture, and lines that say what is not drawn and what
 * hatching means.
 */
int draw_picture(struct drawing *drawing, struct error *error);

/*
 * For a table without a pattern: measures the widths, before any row is drawn,
 * and fits them to the terminal.  Columns that are left out are named by
 * draw_what_gave_way.  measured_room: the columns that are left for the last
 * cell; 0: too few.
 */
int measure_columns(struct drawing *drawing, struct error *error);
int draw_what_gave_way(struct drawing *drawing, struct error *error);
size_t measured_room(struct drawing *drawing);
int draw_headings(struct drawing *drawing, struct error *error);
int draw_aligned_row(struct drawing *drawing, struct error *error);

#endif
