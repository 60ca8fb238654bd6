/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c -- tables as text, in the form of the 1993 paper.
 *
 * 	Downward Call Path Profile for resource: Real Time
 * 	614 samples, one per 200 ms
 * 	format: usage_fraction (call path) [#hits]
 * 	-----------------------------------------------------
 * 	1.0000 (main) [614]
 * 	-----------------------------------------------------
 *
 * A table without a pattern is drawn in columns, with headings unless it is
 * plain.
 */
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/output/drawing.h"

/* Indentation stops growing at INDENT_MOST; the depth is then a number. */
enum { INDENT_STEP = 2, INDENT_MOST = 40 };

/* The same behind other columns, which leave less room. */
enum { LAST_INDENT_STEP = 1, LAST_INDENT_MOST = 16 };

/*
 * On a terminal, indentation takes at most half of the room, and leaves
 * NAME_LEAST columns for the depth as a number and the name.
 */
enum { NAME_LEAST = 4 + DRAWING_NARROWEST, INDENT_LEAST = 4 };

static const char rule[] =
    "-----------------------------------------------------";

static int
draw_line(struct drawing *drawing, const char *style, const char *text,
          struct error *error)
{
	bool has_color = drawing->layout->has_color && *style != '\0';
	size_t indent = strspn(text, " ");

	if (has_color)
		text_add_string(&drawing->line, style);
	text_add_fill(&drawing->line, ' ', indent);
	text_clear(&drawing->rest);
	text_add_printable(&drawing->rest, text + indent,
	                   strlen(text + indent));
	if (drawing_add_wrapped(drawing, drawing->rest.bytes,
	                        drawing->rest.length, indent, error) != 0)
		return -1;
	if (has_color)
		text_add_string(&drawing->line, RESET);
	return drawing_flush(drawing, error);
}

/* Adds a header line or footer with its names as the rows show them. */
static int
text_add_names(struct drawing *drawing, struct text_buffer *text,
               const char *line, bool is_footer, size_t number,
               struct error *error)
{
	const struct table *table = drawing->table;
	size_t at = 0;

	for (size_t i = 0; i < table->n_line_names; i++) {
		const struct line_name *name = &table->line_names[i];

		if (name->line != number || name->is_footer != is_footer)
			continue;
		text_add(text, line + at, name->begin - at);
		if (drawing_add_cell(drawing, text, &name->name, 0,
		                     error) != 0)
			return -1;
		at = name->begin + name->length;
	}
	text_add_string(text, line + at);
	return 0;
}

static int
draw_line_with_names(struct drawing *drawing, const char *style,
                     const char *line, bool is_footer, size_t number,
                     struct error *error)
{
	struct text_buffer text = { 0 };
	int status = -1;

	if (drawing->path.shown == NULL || drawing->table->n_line_names == 0)
		return draw_line(drawing, style, line, error);
	if (text_add_names(drawing, &text, line, is_footer, number,
	                   error) == 0) {
		line = text_string(&text);
		status = text.failed ? error_out_of_memory(error) :
		         draw_line(drawing, style, line, error);
	}
	text_free(&text);
	return status;
}

static int
draw_rule(struct drawing *drawing, struct error *error)
{
	return draw_line(drawing, DIM, rule, error);
}

static bool
is_same_group(const struct cell *a, const struct cell *b)
{
	return a->kind == CELL_TEXT ? strcmp(a->text, b->text) == 0 :
	       a->count == b->count;
}

/*
 * An empty line separates groups of rows, or each begins with its line.
 * *group: of the row before, if there is one.
 */
static int
draw_gap(struct drawing *drawing, size_t row, struct cell *group,
         struct error *error)
{
	const struct table *table = drawing->table;
	const char *key = table->group_key;
	struct cell before = *group;
	size_t column;

	if (key == NULL || table->pattern != NULL)
		return 0;
	column = drawing_find_column(table, key, strlen(key));
	*group = drawing->cells[column];
	if (row > 0 && is_same_group(&before, group))
		return 0;
	if (table->group_lines != NULL)
		return group->count - 1 < table->n_group_lines &&
		    table->group_lines[group->count - 1] != NULL ?
		    draw_line(drawing, DIM,
		              table->group_lines[group->count - 1], error) : 0;
	if (row > 0 && drawing_flush(drawing, error) != 0)
		return -1;
	return group->kind != CELL_TEXT ? 0 :
	    draw_line(drawing, BOLD, group->text, error);
}

/* Draws the row whose cells are at hand. */
static int
draw_row(struct drawing *drawing, size_t i, struct error *error)
{
	int status;

	drawing->row = (uint32_t)i;
	drawing_add_lead(drawing, i);
	status = drawing->table->pattern != NULL
	    ? draw_pattern_row(drawing, error)
	    : draw_aligned_row(drawing, error);
	return status != 0 ? -1 : output_may_go_on(i, drawing->writer, error);
}

/* Draws all rows for nothing. */
static int
try_all_rows(struct drawing *drawing, struct error *error)
{
	for (size_t i = 0; i < drawing->table->n_rows; i++) {
		table_get_row(drawing->table, i, drawing->cells);
		if (draw_row(drawing, i, error) != 0)
			return -1;
	}
	return 0;
}

/* Likewise those that looked like others. */
static int
try_alike_rows(struct drawing *drawing, struct error *error)
{
	for (size_t i = 0; i < drawing->alike.n; i++) {
		const struct drawn_row *row = &drawing->alike.rows[i];

		if (row->hash != 0)
			continue;
		table_get_row(drawing->table, row->row, drawing->cells);
		if (draw_row(drawing, row->row, error) != 0)
			return -1;
	}
	return 0;
}

static int
text_draw_rows(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	struct cell group = { 0 };
	size_t n_alike = 0;
	int status;

	/*
	 * Finds out how paths and names must be cut so that no two look the
	 * same.
	 */
	if (drawing->layout->width != 0 &&
	    drawing->table->n_rows < UINT32_MAX) {
		drawing->is_trial = true;
		status = try_all_rows(drawing, error);
		for (int stage = 0; status == 0 && stage < ALIKE_STAGES;
		     stage++) {
			status = alike_rows_part(&drawing->alike,
			                         drawing->table,
			                         drawing->cut_column,
			                         (enum alike_stage)stage,
			                         &n_alike, error);
			if (status == 0 && n_alike > 0)
				status = shown_names_find_forks(&drawing->shown,
				                                error);
			if (status == 0 && n_alike > 0)
				status = try_alike_rows(drawing, error);
		}
		drawing->is_trial = false;
		if (status != 0)
			return -1;
	}
	for (size_t i = 0; i < table->n_rows; i++) {
		table_get_row(table, i, drawing->cells);
		if (draw_gap(drawing, i, &group, error) != 0 ||
		    draw_row(drawing, i, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Finds how deep the rows are, and how many columns are left at least for the
 * indentation and the name.
 */
static int
text_measure_depths(struct drawing *drawing, uint64_t *deepest, size_t *room,
                    struct error *error)
{
	const struct table *table = drawing->table;
	size_t column = drawing_depth_column(drawing);

	*deepest = 0;
	for (size_t i = 0; i < table->n_rows; i++) {
		table_get_row(table, i, drawing->cells);
		if (*deepest < drawing->cells[column].count)
			*deepest = drawing->cells[column].count;
	}
	if (table->pattern != NULL)
		return measure_pattern(drawing, room, error);
	*room = measured_room(drawing);
	return 0;
}

/* Headings or the format line, between rules; a plain table has only rows. */
static int
draw_body(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	bool is_last;
	uint64_t deepest;
	size_t room, most;

	if (table->n_columns == 0)
		return 0;
	if (table->picture != NULL)
		return draw_rule(drawing, error) != 0 ? -1 :
		    draw_picture(drawing, error);
	if ((table->pattern == NULL ? measure_columns(drawing, error) :
	     fit_pattern(drawing, error)) != 0)
		return -1;
	/*
	 * Decides how rows are indented, before any is drawn: on a terminal, so
	 * that names have room.
	 */
	is_last = table->indents_last;
	drawing->indent_step = is_last ? LAST_INDENT_STEP : INDENT_STEP;
	drawing->indent_most = is_last ? LAST_INDENT_MOST : INDENT_MOST;
	if (drawing->layout->width != 0 &&
	    drawing_depth_column(drawing) != table->n_columns) {
		if (text_measure_depths(drawing, &deepest, &room, error) != 0)
			return -1;
		most = room / 2;
		if (room < most + NAME_LEAST)
			most = room > NAME_LEAST ? room - NAME_LEAST : 0;
		if (most < INDENT_LEAST && table->suffix_key != NULL)
			most = INDENT_LEAST;
		if (drawing->indent_most > most)
			drawing->indent_most = most;
		if (deepest > drawing->indent_most / drawing->indent_step)
			drawing->indent_step = 1;
	}
	if (table->is_plain)
		return text_draw_rows(drawing, error);
	if (table->pattern != NULL) {
		if (draw_format_line(drawing, error) != 0)
			return -1;
	} else if (draw_headings(drawing, error) != 0) {
		return -1;
	}
	if (draw_rule(drawing, error) != 0 ||
	    text_draw_rows(drawing, error) != 0 ||
	    draw_rule(drawing, error) != 0)
		return -1;
	return draw_what_gave_way(drawing, error);
}

static int
draw_text(struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;

	for (size_t i = 0; i < table->n_header; i++)
		if (draw_line_with_names(drawing, i == 0 && !table->is_plain ?
		                         BOLD : "", table->header[i], false, i,
		                         error) != 0)
			return -1;
	for (size_t i = 0; i < drawing->table->n_fields; i++) {
		const struct field *field = &drawing->table->fields[i];

		if (field->title == NULL)
			continue;
		text_add_format(&drawing->line, "%s: ", field->title);
		text_clear(&drawing->rest);
		if (drawing_add_cell(drawing, &drawing->rest, &field->value,
		                     0, error) != 0 ||
		    drawing_add_wrapped(drawing, drawing->rest.bytes,
		                        drawing->rest.length,
		                        drawing_used(drawing), error) != 0 ||
		    drawing_flush(drawing, error) != 0)
			return -1;
	}
	if (draw_body(drawing, error) != 0)
		return -1;
	for (size_t i = 0; i < table->n_footer; i++)
		if (draw_line_with_names(drawing, "", table->footer[i], true,
		                         i, error) != 0)
			return -1;
	return 0;
}

int
output_text(const struct table *table, const struct layout *layout,
            struct writer *writer, struct error *error)
{
	struct drawing drawing = { .table = table, .layout = layout,
		                   .writer = writer,
		                   .path.layout = layout };
	int status = 0;

	if (layout->has_short_names || layout->width > 0) {
		status = shown_names_make(&drawing.shown, table,
		                          layout->has_short_names, error);
		drawing.path.shown = &drawing.shown;
	}
	if (status == 0)
		status = draw_text(&drawing, error);
	shown_names_free(&drawing.shown);
	alike_rows_free(&drawing.alike);
	text_free(&drawing.line);
	text_free(&drawing.rest);
	path_names_free(&drawing.path);
	return status;
}
