/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picture_text.c -- boxes below boxes in a terminal's cells.
 *
 * A level of boxes is a line.  With colour, a box is a background with its
 * name on it, and half a cell is the smallest width: a left half block has the
 * colour of the box that ends in the cell, on that of the next.  Without
 * colour, boxes are divided by bars, and a cell is the smallest width.
 *
 * On a terminal, boxes at the top that are each alone on their level and look as
 * wide as the one below are a line of text: "1.0000 (main run loop)".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/output/drawing.h"

#define HALF_BLOCK "\xe2\x96\x8c"
#define RIGHT_HALF_BLOCK "\xe2\x96\x90"
#define HATCH "\xe2\x95\xb1"
#define DOT "\xc2\xb7"

enum {
	FEWEST_LEVELS = 3,
	OTHER_LINES = 5,	/* two rules, two lines about the picture, and
				 * the prompt */
};

/* Colours of the 256 that terminals have: calm, with dark text on them. */
static const unsigned char palette[BOX_HUES][BOX_SHADES] = {
	{ 180, 216, 223 }, { 144, 186, 187 }, { 150, 151, 193 },
	{ 115, 152, 158 }, { 110, 117, 153 }, { 146, 147, 189 },
	{ 139, 182, 183 }, { 174, 181, 217 }, { 137, 179, 222 },
	{ 108, 114, 157 }, { 109, 116, 159 }, { 103, 104, 141 },
};
enum { DARK = 16, HATCHED = 251, HATCH_LINE = 244, NO_COLOR = -1 };

static const unsigned char tints[N_BOX_TINTS] = {
	[TINT_UNCHANGED] = 252, [TINT_GREW] = 210, [TINT_LIKELY_GREW] = 224,
	[TINT_SHRANK] = 111, [TINT_LIKELY_SHRANK] = 153, [TINT_MOVED] = 222,
};

/* Where there are no colours. */
static const char *const signs[N_BOX_TINTS] = {
	[TINT_GREW] = "+", [TINT_LIKELY_GREW] = "+", [TINT_SHRANK] = "-",
	[TINT_LIKELY_SHRANK] = "-", [TINT_MOVED] = "~",
};

/* What half a cell shows. */
struct picture_half {
	uint32_t box;		/* NO_BOX: nothing */
	short color;
	bool is_solid;
	bool is_overhung;	/* nothing, but boxes below stick out here */
};

enum { NO_BOX = UINT32_MAX };

/* The boxes by level, and the line that is being drawn. */
struct canvas {
	struct drawing *drawing;
	const struct picture *picture;
	size_t width;		/* cells */
	uint32_t first_level;	/* that is drawn; a line is for those above */
	uint32_t n_levels;	/* from the top, with those above it */
	uint32_t *boxes;	/* [n_boxes] level by level */
	uint32_t *first;	/* [picture->n_levels + 1] of each level */
	struct picture_half *halves;	/* [2 * width + 1] */
	struct text_buffer label;
	size_t label_at;	/* what has been drawn of it */
	int ink, ground;	/* colours in force, or NO_COLOR */
	uint64_t n_narrow, n_deep;
	bool has_hatched, has_overhang;
};

/* Counting sort by level; within one, boxes stay from left to right. */
static void
sort_by_level(struct canvas *canvas)
{
	const struct picture *picture = canvas->picture;
	uint32_t *first = canvas->first;

	for (uint32_t i = 0; i < picture->n_boxes; i++)
		first[picture->boxes[i].depth + 2]++;
	for (uint32_t level = 2; level < picture->n_levels + 2; level++)
		first[level] += first[level - 1];
	for (uint32_t i = 0; i < picture->n_boxes; i++)
		canvas->boxes[first[picture->boxes[i].depth + 1]++] = i;
}

/* Where a place in the picture lies, in parts of which there are n. */
static size_t
place(const struct picture *picture, uint64_t at, size_t n)
{
	return (size_t)((long double)at / (long double)picture->extent *
	                (long double)n + 0.5L);
}

/* The box that is alone on a level and solid; NULL: there is none. */
static const struct picture_box *
lone_box(const struct canvas *canvas, uint32_t level)
{
	const uint32_t *first = canvas->first;
	const struct picture_box *box;

	if (level >= canvas->picture->n_levels ||
	    first[level + 1] != first[level] + 1)
		return NULL;
	box = &canvas->picture->boxes[canvas->boxes[first[level]]];
	return box->solid == box->value && box->extent == box->value ? box :
	    NULL;
}

/* How many levels at the top are a line of text. */
static uint32_t
count_chain(const struct canvas *canvas)
{
	const struct picture *picture = canvas->picture;
	const struct picture_box *box = lone_box(canvas, 0), *below;
	const size_t n = 2 * canvas->width;
	uint32_t level = 0;

	for (; box != NULL; box = below, level++) {
		below = lone_box(canvas, level + 1);
		if (below == NULL || place(picture, box->begin + box->value,
		    n) != place(picture, below->begin + below->value, n) ||
		    place(picture, box->begin, n) !=
		    place(picture, below->begin, n))
			break;
	}
	/* One line for one saves nothing. */
	return level > 1 ? level : 0;
}

/* Decides which levels are drawn, after the boxes were sorted. */
static void
fit_levels(struct canvas *canvas)
{
	const struct table *table = canvas->drawing->table;
	const struct layout *layout = canvas->drawing->layout;
	size_t used = table->n_header + table->n_footer + OTHER_LINES, room;

	if (layout->width > 1)
		canvas->first_level = count_chain(canvas);
	used += canvas->first_level > 0;
	if (layout->height == 0)
		return;
	room = layout->height > used + FEWEST_LEVELS ?
	       layout->height - used : FEWEST_LEVELS;
	if (canvas->n_levels - canvas->first_level > room)
		canvas->n_levels = canvas->first_level + (uint32_t)room;
}

/* Draws the line for the levels above the first. */
static int
draw_chain(struct canvas *canvas, struct error *error)
{
	const struct picture *picture = canvas->picture;
	struct drawing *drawing = canvas->drawing;
	const struct picture_box *box;
	struct cell share, path;

	if (canvas->first_level == 0)
		return 0;
	box = lone_box(canvas, canvas->first_level - 1);
	share = cell_fraction((double)box->value /
	                      (double)picture->denominator);
	path = cell_path(picture->paths, box->record);
	if (box->is_estimated)
		text_add_char(&drawing->line, '~');
	if (drawing_add_cell(drawing, &drawing->line, &share, 0, error) != 0)
		return -1;
	text_add_string(&drawing->line, " (");
	if (drawing_add_cell(drawing, &drawing->line, &path,
	                     drawing_room(drawing, drawing_used(drawing) + 1),
	                     error) != 0)
		return -1;
	text_add_char(&drawing->line, ')');
	return drawing_flush(drawing, error);
}

/* The colour of a box, which differs from that of the box before. */
static short
solid_color(const struct picture *picture, const struct picture_box *box,
            short before)
{
	const struct call_paths *paths = picture->paths;
	uint32_t name = paths->name[box->record];
	struct box_color color = box_color(names_text(paths->names, name),
	                                   names_length(paths->names, name));

	/* A grey that is a little darker divides boxes of one colour. */
	if (box->tint != TINT_OF_NAME)
		return tints[box->tint] != before ? tints[box->tint] :
		    box->tint == TINT_UNCHANGED ? 250 : tints[box->tint] - 1;
	if (palette[color.hue][color.shade] == before)
		color.shade = (color.shade + 1) % BOX_SHADES;
	return palette[color.hue][color.shade];
}

/*
 * Fills the halves of a level.  Boxes that round to no width are counted and
 * left out.  unit: halves that the smallest box has.  Returns whether there is
 * any other.
 */
static bool
fill_level(struct canvas *canvas, uint32_t level, size_t unit)
{
	const struct picture *picture = canvas->picture;
	/* Without colour, the last column is for the last bar. */
	size_t n = unit == 1 ? 2 * canvas->width : canvas->width - 1;

	short color = NO_COLOR;
	bool is_empty = true;

	for (size_t i = 0; i <= 2 * canvas->width; i++)
		canvas->halves[i] = (struct picture_half){ NO_BOX, NO_COLOR,
			                                   false, false };
	for (uint32_t i = canvas->first[level]; i < canvas->first[level + 1];
	     i++) {
		const struct picture_box *box =
		    &picture->boxes[canvas->boxes[i]];
		size_t begin = place(picture, box->begin, n) * unit;
		size_t end = place(picture, box->begin + box->value, n) * unit;
		size_t solid = place(picture, box->begin + box->solid, n) *
		               unit;

		if (begin == end) {
			canvas->n_narrow++;
			continue;
		}
		is_empty = false;
		if (solid < end)
			canvas->has_hatched = true;
		color = solid_color(picture, box, color);
		for (size_t half = begin; half < end; half++)
			canvas->halves[half] = (struct picture_half){
				canvas->boxes[i],
				half < solid ? color : HATCHED,
				half < solid, false,
			};
		end = place(picture, box->begin + box->extent, n) * unit;
		for (size_t half = begin; half < end; half++)
			if (canvas->halves[half].box == NO_BOX)
				canvas->halves[half].is_overhung =
				    canvas->has_overhang = true;
	}
	return !is_empty;
}

/*
 * The boxes of the levels that are not drawn, because there are no lines for
 * them or nothing on them is wide enough.
 */
static void
count_deep(struct canvas *canvas, bool has_lines)
{
	const struct picture *picture = canvas->picture;

	for (uint32_t i = canvas->first[canvas->n_levels];
	     i < picture->n_boxes; i++) {
		const struct picture_box *box =
		    &picture->boxes[canvas->boxes[i]];
		size_t n = 2 * canvas->width;

		if (!has_lines && place(picture, box->begin, n) <
		    place(picture, box->begin + box->value, n))
			canvas->n_deep++;
		else
			canvas->n_narrow++;
	}
}

/* Makes the text for a box with room for so many columns. */
static int
picture_text_make_label(struct canvas *canvas, uint32_t number, size_t room,
                        struct error *error)
{
	const struct picture_box *box = &canvas->picture->boxes[number];
	const struct call_paths *paths = canvas->picture->paths;
	uint32_t name = paths->name[box->record];
	struct text_buffer *label = &canvas->label;
	size_t n = names_length(paths->names, name);
	const char *text = names_text(paths->names, name);
	struct text_buffer fraction = { 0 };
	double denominator = (double)canvas->picture->denominator;
	struct cell cell = cell_fraction((double)box->value / denominator);
	int status;

	if (box->is_estimated)
		text_add_char(&fraction, '~');
	status = drawing_add_cell(canvas->drawing, &fraction, &cell, 0, error);
	text_clear(label);
	canvas->label_at = 0;
	if (!canvas->drawing->layout->has_color && room > 3 &&
	    signs[box->tint] != NULL) {
		text_add_string(label, signs[box->tint]);
		room--;
	}
	text_add_label(label, text, n, room);
	if (label->length > 0 &&
	    drawing_width(label) + 1 + fraction.length <= room) {
		text_add_char(label, ' ');
		text_add(label, fraction.bytes, fraction.length);
	}
	if (fraction.failed || label->failed)
		status = error_out_of_memory(error);
	text_free(&fraction);
	return status;
}

/* Adds the label's next character and returns its columns; 0: it has ended. */
static size_t
add_label_character(struct canvas *canvas)
{
	const char *next = canvas->label.bytes + canvas->label_at;
	size_t n = canvas->label.length - canvas->label_at, length, columns;

	if (n == 0)
		return 0;
	length = printable_prefix(next, n, 1);
	if (length == 0)	/* a wide character */
		length = printable_prefix(next, n, 2);
	columns = printable_width(next, length);
	text_add(&canvas->drawing->line, next, length);
	canvas->label_at += length;
	return columns;
}

static void
set_colors(struct canvas *canvas, int ink, int ground)
{
	struct text_buffer *line = &canvas->drawing->line;

	if (ink == canvas->ink && ground == canvas->ground)
		return;
	text_add_string(line, RESET);
	if (ink != NO_COLOR)
		text_add_format(line, "\033[38;5;%dm", ink);
	if (ground != NO_COLOR)
		text_add_format(line, "\033[48;5;%dm", ground);
	canvas->ink = ink;
	canvas->ground = ground;
}

/* The whole cells that a box has from this one on. */
static size_t
count_cells(const struct canvas *canvas, size_t cell)
{
	const struct picture_half *halves = canvas->halves;
	uint32_t box = halves[2 * cell].box;
	size_t n = 0;

	while (cell + n < canvas->width &&
	       halves[2 * (cell + n)].box == box &&
	       halves[2 * (cell + n) + 1].box == box)
		n++;
	return n;
}

/* One cell, or the two of a wide character; returns how many. */
static size_t
draw_cell(struct canvas *canvas, size_t cell)
{
	struct text_buffer *line = &canvas->drawing->line;
	const struct picture_half *left = &canvas->halves[2 * cell];
	int left_color = left[0].color, right_color = left[1].color;
	size_t columns;

	if (left->box != left[1].box) {
		if (left->box == NO_BOX) {	/* a right half block */
			set_colors(canvas, right_color, NO_COLOR);
			text_add_string(line, RIGHT_HALF_BLOCK);
		} else {
			set_colors(canvas, left_color, right_color);
			text_add_string(line, HALF_BLOCK);
		}
		return 1;
	}
	if (left->box == NO_BOX) {
		set_colors(canvas, left->is_overhung ? HATCH_LINE : NO_COLOR,
		           NO_COLOR);
		text_add_string(line, left->is_overhung ? DOT : " ");
		return 1;
	}
	if (canvas->label_at < canvas->label.length) {
		set_colors(canvas, DARK, left_color);
		columns = add_label_character(canvas);
		if (columns > 0)
			return columns;
	}
	if (left->is_solid != left[1].is_solid) {
		set_colors(canvas, left_color, right_color);
		text_add_string(line, HALF_BLOCK);
	} else if (left->is_solid) {
		set_colors(canvas, DARK, left_color);
		text_add_char(line, ' ');
	} else {
		set_colors(canvas, HATCH_LINE, left_color);
		text_add_string(line, HATCH);
	}
	return 1;
}

static int
draw_colored_level(struct canvas *canvas, struct error *error)
{
	const struct picture_half *halves = canvas->halves;
	uint32_t labelled = NO_BOX;
	size_t cell = 0;

	while (cell < canvas->width) {
		uint32_t box = halves[2 * cell].box;

		if (box != NO_BOX && box != labelled &&
		    box == halves[2 * cell + 1].box) {
			labelled = box;
			if (picture_text_make_label(canvas, box,
			                            count_cells(canvas, cell),
			                            error) != 0)
				return -1;
		}
		cell += draw_cell(canvas, cell);
	}
	set_colors(canvas, NO_COLOR, NO_COLOR);
	return 0;
}

/* "|name    |other////|"; the halves are filled by cells. */
static int
draw_plain_level(struct canvas *canvas, struct error *error)
{
	struct text_buffer *line = &canvas->drawing->line;
	const struct picture_half *halves = canvas->halves;
	uint32_t before = NO_BOX;
	size_t cell = 0, end = 0;

	while (cell < canvas->width) {
		uint32_t box = halves[2 * cell].box;
		size_t columns = 0;

		if (box != before) {
			text_add_char(line, '|');
			if (box != NO_BOX &&
			    picture_text_make_label(canvas, box,
			                            count_cells(canvas, cell) -
			                                1,
			                            error) != 0)
				return -1;
			before = box;
			cell++;
			end = line->length;
			continue;
		}
		if (box != NO_BOX)
			columns = add_label_character(canvas);
		if (columns == 0) {
			text_add_char(line, halves[2 * cell].is_overhung ? '.' :
			              box == NO_BOX ||
			              halves[2 * cell].is_solid ? ' ' : '/');
			columns = 1;
		}
		if (box != NO_BOX || halves[2 * cell].is_overhung)
			end = line->length;
		cell += columns;
	}
	line->length = end;
	return 0;
}

static const char *
picture_text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* What is not drawn, and what the hatching means. */
static int
draw_legend(struct canvas *canvas, struct error *error)
{
	const struct picture *picture = canvas->picture;
	struct drawing *drawing = canvas->drawing;
	struct text_buffer text = { 0 };
	uint64_t n_narrow = canvas->n_narrow + picture->n_left_out;
	uint64_t n_all = picture->n_boxes + picture->n_left_out;
	uint64_t n_drawn = n_all - n_narrow - canvas->n_deep;
	int status = 0;

	if (n_all == 0)
		text_add_string(&text, "nothing to draw");
	else if (picture->is_open_ended)
		text_add_format(&text, "%" PRIu64 " path%s drawn", n_drawn,
		                picture_text_plural(n_drawn));
	else
		text_add_format(&text,
		                "%" PRIu64 " of %" PRIu64 " path%s "
		                "drawn",
		                n_drawn, n_all, picture_text_plural(n_all));
	if (n_narrow > 0)
		text_add_format(&text, ", %" PRIu64 " too narrow", n_narrow);
	if (canvas->n_deep > 0)
		text_add_format(&text, ", %" PRIu64 " below the screen",
		                canvas->n_deep);
	status = text.failed ? error_out_of_memory(error) :
	    drawing_add_wrapped(drawing, text.bytes, text.length, 0, error);
	if (status == 0)
		status = drawing_flush(drawing, error);
	if (status == 0 && (canvas->has_hatched || canvas->has_overhang)) {
		bool has_color = drawing->layout->has_color;

		if (canvas->has_hatched)
			text_add_format(&drawing->line, "%s re-entered the "
			                "path, solid elsewhere%s",
			                has_color ? HATCH HATCH : "//",
			                canvas->has_overhang ? "; " : "");
		if (canvas->has_overhang)
			text_add_format(&drawing->line, "%s room for what is "
			                "below", has_color ? DOT DOT : "..");
		status = drawing_flush(drawing, error);
	}
	text_free(&text);
	return status;
}

/* Draws the levels that fit, down to the first on which nothing is seen. */
static int
draw_levels(struct canvas *canvas, struct error *error)
{
	bool has_color = canvas->drawing->layout->has_color;
	uint32_t n_levels = canvas->n_levels;

	canvas->n_levels = canvas->first_level;
	for (uint32_t level = canvas->first_level; level < n_levels; level++) {
		if (!fill_level(canvas, level, has_color ? 1 : 2)) {
			canvas->n_narrow -= canvas->first[level + 1] -
			                    canvas->first[level];
			count_deep(canvas, true);
			return 0;
		}
		canvas->n_levels++;
		if ((has_color ? draw_colored_level(canvas, error) :
		     draw_plain_level(canvas, error)) != 0)
			return -1;
		if (drawing_flush(canvas->drawing, error) != 0 ||
		    output_may_go_on(level, canvas->drawing->writer,
		                     error) != 0)
			return -1;
	}
	count_deep(canvas, false);
	return 0;
}

int
draw_picture(struct drawing *drawing, struct error *error)
{
	struct canvas canvas;
	int status;
	const struct layout *layout = drawing->layout;
	const struct picture *picture = drawing->table->picture;

	canvas = (struct canvas){
		.drawing = drawing,
		.picture = picture,
		.width = layout->width > 1 ? layout->width : PICTURE_COLUMNS,
		.n_levels = picture->n_levels,
		.ink = NO_COLOR,
		.ground = NO_COLOR,
	};
	canvas.boxes = memory_array(picture->n_boxes, sizeof *canvas.boxes,
	                            error);
	canvas.first = memory_array((size_t)picture->n_levels + 2,
	                            sizeof *canvas.first, error);
	canvas.halves = memory_array(2 * canvas.width + 2,
	                             sizeof *canvas.halves, error);
	status = canvas.boxes == NULL || canvas.first == NULL ||
	    canvas.halves == NULL ? -1 : 0;
	if (status == 0) {
		sort_by_level(&canvas);
		fit_levels(&canvas);
		status = draw_chain(&canvas, error);
	}
	if (status == 0)
		status = draw_levels(&canvas, error);
	if (status == 0)
		status = draw_legend(&canvas, error);
	free(canvas.boxes);
	free(canvas.first);
	free(canvas.halves);
	text_free(&canvas.label);
	return status;
}
