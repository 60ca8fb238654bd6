/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picture_svg.c -- boxes below boxes as SVG, alone or in a page.
 *
 * One file that needs no other.  A box is an svg element in the one that holds
 * all of them: it cuts off what its text is too long for, and since its place
 * and width are percentages, the picture fits any width without a script.  Its
 * title has the name, the row of the view, and what is own and solid, on lines.
 * Boxes are in depth-first order and not nested, so that no reader meets
 * elements as deep as stacks.  Attributes for the script: data-h is a box's
 * hits; data-s, where that is less, its solid hits, which no box beside it
 * has.  A rect of class o after a box marks how far boxes below it overhang it.
 *
 * Boxes narrower than a pixel are not drawn, and a file has an upper size.
 * Until the boxes fit it, the least width is raised to some pixels, then there
 * are fewer levels, and then only wider boxes.
 *
 * Where a name has parts that a reader can do without, desc has it without them
 * (short_name.h), for labels that the script makes.
 *
 * Names are untrusted: they are made printable, then escaped.  They only
 * appear as the text of title, desc and text elements.
 */
#include <inttypes.h>
#include <string.h>

#include "src/base/short_name.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/output/drawing.h"

enum {
	LEVEL = 18, BOX = 17,		/* heights */
	NAME_COLUMNS = 300, PATH_COLUMNS = 200,		/* in a title */
	SHORT_COLUMNS = 100,
	ROOM_FOR_BOXES = 900 * 1000,	/* bytes */
	FEWEST_BOXES = 100,		/* drawn even if their names are longer
					 * than that */
	MOST_LEVELS = 1000,
	FEW_LEVELS = 8,
	NARROW = 300,			/* boxes below this part of the picture
					 * are left out before there are fewer
					 * levels */
};

struct svg {
	struct drawing drawing;
	const struct picture *picture;
	struct text_buffer head, boxes, scratch;
	struct name_parts parts;
	uint64_t least;			/* narrower boxes are left out */
	uint32_t most_levels;		/* deeper boxes, likewise */
	uint64_t n_drawn;
	uint32_t n_levels;		/* that are drawn */
	bool has_deeper;
	bool has_hatched, has_overhang;
};

/* ---- boxes ---- */

/* Adds  name="12.3457%". */
static void
picture_svg_add_share(const struct svg *svg, const char *name, uint64_t hits)
{
	struct text_buffer *text = (struct text_buffer *)&svg->boxes;
	long double share = (long double)hits * 100 /
	                    (long double)svg->picture->extent;

	text_add_format(text, " %s=\"%.7Lg%%\"", name, share);
}

/* Adds "\nbase 1.20 s, now 1.31 s, change 110 ms, likely". */
static int
picture_svg_add_change(struct svg *svg, const struct cell *cells,
                       struct error *error)
{
	static const char *const keys[] = { "base", "now", "change",
		"verdict" };
	const struct table *table = svg->drawing.table;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		size_t column = drawing_find_column(table, keys[i],
		                                    strlen(keys[i]));

		text_add_string(&svg->scratch, i == 0 ? "\n" : ", ");
		if (cells[column].kind != CELL_TEXT)
			text_add_format(&svg->scratch, "%s ", keys[i]);
		if (drawing_add_cell(&svg->drawing, &svg->scratch,
		                     &cells[column], 0, error) != 0)
			return -1;
	}
	return 0;
}

/* Adds hits after a word. */
static int
picture_svg_add_hits(struct svg *svg, const char *word, uint64_t hits,
                     struct error *error)
{
	const struct cell cell = cell_hits(hits);

	text_add_string(&svg->scratch, word);
	return drawing_add_cell(&svg->drawing, &svg->scratch, &cell, 0, error);
}

static int
picture_svg_add_title(struct svg *svg, uint32_t number, const char *name,
                      size_t n, struct error *error)
{
	const struct table *table = svg->drawing.table;
	const struct picture_box *box = &svg->picture->boxes[number];
	struct cell cells[TABLE_MAX_COLUMNS];
	struct text_buffer *text = &svg->boxes;

	table_get_row(table, number, cells);
	text_add_string(text, "<title>");
	text_clear(&svg->drawing.rest);
	text_add_printable(&svg->drawing.rest, name, n);
	text_clear(&svg->scratch);
	text_add_elided(&svg->scratch, svg->drawing.rest.bytes,
	                svg->drawing.rest.length, NAME_COLUMNS);
	svg_add_escaped(text, svg->scratch.bytes, svg->scratch.length);

	text_clear(&svg->scratch);
	text_add_string(&svg->scratch, box->is_estimated ? "\n~" : "\n");
	if (drawing_add_cell(&svg->drawing, &svg->scratch, &cells[1], 0,
	                     error) != 0)
		return -1;
	text_add_string(&svg->scratch, " (");
	if (drawing_add_cell(&svg->drawing, &svg->scratch,
	                     &cells[table->n_columns - 1], PATH_COLUMNS,
	                     error) != 0)
		return -1;
	text_add_string(&svg->scratch, box->is_estimated ? ") [~" : ") [");
	if (drawing_add_cell(&svg->drawing, &svg->scratch, &cells[0], 0,
	                     error) != 0)
		return -1;
	text_add_char(&svg->scratch, ']');
	if (svg->picture->is_comparison &&
	    picture_svg_add_change(svg, cells, error) != 0)
		return -1;
	if (box->own > 0 &&
	    picture_svg_add_hits(svg, "\nown ", box->own, error) != 0)
		return -1;
	if (box->solid < box->value &&
	    (picture_svg_add_hits(svg, "\nsolid ", box->solid, error) != 0 ||
	     picture_svg_add_hits(svg, ", passed through and re-entered ",
	                          box->value - box->solid, error) != 0))
		return -1;
	svg_add_escaped(text, svg->scratch.bytes, svg->scratch.length);
	text_add_string(text, "</title>");
	return 0;
}

/* Adds the class of a box's colour. */
static void
picture_svg_add_class(struct svg *svg, const struct picture_box *box,
                      struct box_color color)
{
	if (box->tint != TINT_OF_NAME)
		text_add_format(&svg->boxes, "v%d", (int)box->tint);
	else
		text_add_format(&svg->boxes, "c%u",
		                color.hue * BOX_SHADES + color.shade);
}

/* The rectangles: what is solid, then what is hatched. */
static void
add_rectangles(struct svg *svg, const struct picture_box *box,
               struct box_color color)
{
	struct text_buffer *text = &svg->boxes;
	double solid = 100 * (double)box->solid / (double)box->value;

	if (box->solid > 0) {
		text_add_string(text, "<rect class=\"");
		picture_svg_add_class(svg, box, color);
		text_add_format(text, "\" width=\"%.5g%%\" height=\"%d\"/>",
		                solid, BOX);
	}
	if (box->solid == box->value)
		return;
	svg->has_hatched = true;
	text_add_format(text, "<rect class=\"g\" x=\"%.5g%%\" "
	                "width=\"%.5g%%\" height=\"%d\"/>", solid,
	                100 - solid, BOX);
}

static int
picture_svg_add_label(struct svg *svg, const struct picture_box *box,
                      const char *name, size_t n, struct error *error)
{
	const struct picture *picture = svg->picture;
	long double pixels = (long double)box->value * SVG_PIXELS /
	                     (long double)picture->extent;
	size_t room = pixels < 6 ? 0 :
	    (size_t)((pixels - 6) * 10 / SVG_CHARACTER_TENTHS);
	struct cell fraction = cell_fraction((double)box->value /
	                                     (double)picture->denominator);
	struct text_buffer *label = &svg->scratch;
	struct text_buffer *number = &svg->drawing.rest;

	text_clear(label);
	text_clear(number);
	text_add_label(label, name, n, room);
	if (label->length == 0)
		return 0;
	if (box->is_estimated)
		text_add_char(number, '~');
	if (drawing_add_cell(&svg->drawing, number, &fraction, 0, error) != 0)
		return -1;
	if (drawing_width(label) + 1 + number->length <= room) {
		text_add_char(label, ' ');
		text_add(label, number->bytes, number->length);
	}
	text_add_string(&svg->boxes, box->solid < box->value / 2 ?
	                "<text class=\"w\" x=\"3\" y=\"13\">" :
	                "<text x=\"3\" y=\"13\">");
	svg_add_escaped(&svg->boxes, label->bytes, label->length);
	text_add_string(&svg->boxes, "</text>");
	return 0;
}

/* Marks how far the boxes below overhang this one. */
static void
add_overhang(struct svg *svg, const struct picture_box *box,
             struct box_color color)
{
	if (box->extent == box->value)
		return;
	svg->has_overhang = true;
	text_add_string(&svg->boxes, "<rect class=\"o ");
	picture_svg_add_class(svg, box, color);
	text_add_char(&svg->boxes, '"');
	picture_svg_add_share(svg, "x", box->begin + box->value);
	picture_svg_add_share(svg, "width", box->extent - box->value);
	text_add_format(&svg->boxes, " y=\"%" PRIu64 "\" height=\"%d\"/>\n",
	                (uint64_t)box->depth * LEVEL, BOX);
}

static int
add_box(struct svg *svg, uint32_t number, struct error *error)
{
	const struct picture_box *box = &svg->picture->boxes[number];
	const struct call_paths *paths = svg->picture->paths;
	uint32_t name = paths->name[box->record];
	const char *bytes = names_text(paths->names, name);
	size_t n = names_length(paths->names, name);
	struct text_buffer *text = &svg->boxes;
	struct text_buffer *brief;

	/* Without stacks, boxes side by side may share any of their hits. */
	uint64_t unshared = svg->picture->is_open_ended ? 0 : box->solid;

	text_add_string(text, "<svg class=\"b\"");
	picture_svg_add_share(svg, "x", box->begin);
	picture_svg_add_share(svg, "width", box->value);
	text_add_format(text, " y=\"%" PRIu64 "\" height=\"%d\" data-h=\"%"
	                PRIu64 "\"", (uint64_t)box->depth * LEVEL, BOX,
	                box->value);
	if (unshared < box->value)
		text_add_format(text, " data-s=\"%" PRIu64 "\"", unshared);
	text_add_char(text, '>');
	if (picture_svg_add_title(svg, number, bytes, n, error) != 0)
		return -1;
	/* Adds the short name, if that is not the whole one. */
	brief = &svg->drawing.rest;
	text_clear(brief);
	if (text_add_short_name(brief, &svg->parts, bytes, n, error) != 0)
		return -1;
	if (brief->length != n) {
		text_clear(&svg->scratch);
		text_add_printable(&svg->scratch, brief->bytes, brief->length);
		text_clear(brief);
		text_add_elided(brief, svg->scratch.bytes, svg->scratch.length,
		                SHORT_COLUMNS);
		text_add_string(&svg->boxes, "<desc>");
		svg_add_escaped(&svg->boxes, brief->bytes, brief->length);
		text_add_string(&svg->boxes, "</desc>");
	}
	add_rectangles(svg, box, box_color(bytes, n));
	if (picture_svg_add_label(svg, box, bytes, n, error) != 0)
		return -1;
	text_add_string(text, "</svg>\n");
	add_overhang(svg, box, box_color(bytes, n));
	if (box->depth >= svg->n_levels)
		svg->n_levels = box->depth + 1;
	svg->n_drawn++;
	return 0;
}

static int
picture_svg_draw_boxes(struct svg *svg, struct error *error)
{
	bool fits;

	svg->least = svg->picture->extent / SVG_PIXELS;
	if (svg->least * SVG_PIXELS < svg->picture->extent)
		svg->least++;
	svg->most_levels = MOST_LEVELS;
	for (;;) {
		const struct picture *picture = svg->picture;

		/*
		 * Draws all boxes that are wide enough; stops when there is no
		 * more room.
		 */
		text_clear(&svg->boxes);
		svg->n_drawn = svg->n_levels = 0;
		svg->has_hatched = svg->has_overhang = svg->has_deeper = false;
		fits = true;
		for (uint32_t i = 0; i < picture->n_boxes && fits; i++) {
			if (picture->boxes[i].value < svg->least)
				continue;
			if (picture->boxes[i].depth >= svg->most_levels) {
				svg->has_deeper = true;
				continue;
			}
			if (add_box(svg, i, error) != 0)
				return -1;
			fits = svg->n_drawn <= FEWEST_BOXES ||
			    svg->boxes.length <= ROOM_FOR_BOXES;
		}
		if (svg->boxes.failed || svg->scratch.failed ||
		    svg->drawing.rest.failed)
			return error_out_of_memory(error);
		if (output_may_go_on(0, svg->drawing.writer, error) != 0)
			return -1;
		if (fits)
			return 0;
		if (svg->least < svg->picture->extent / NARROW ||
		    svg->most_levels <= FEW_LEVELS)
			svg->least += svg->least / 4 + 1;
		else
			svg->most_levels /= 2;
	}
}

/* ---- what surrounds the boxes ---- */

/* On light and on dark screens. */
static const char *const tints[N_BOX_TINTS][2] = {
	[TINT_UNCHANGED] = { "#d9d9d9", "#48484b" },
	[TINT_GREW] = { "#f08a7a", "#a1382a" },
	[TINT_LIKELY_GREW] = { "#f7c4bb", "#6f3a33" },
	[TINT_SHRANK] = { "#84b4ee", "#2a5c9c" },
	[TINT_LIKELY_SHRANK] = { "#c0d8f6", "#33496a" },
	[TINT_MOVED] = { "#f0d77a", "#776318" },
};

/* Hues around the circle in calm tones; darker ones for dark screens. */
static void
picture_svg_add_style(struct text_buffer *text)
{
	static const unsigned hues[BOX_HUES] = {
		12, 32, 48, 70, 100, 150, 175, 195, 212, 232, 270, 330,
	};

	text_add_string(text, "<style>\n" SVG_STYLE
	    "#cpprof-map text { pointer-events: none }\n"
	    ".b, .m { cursor: pointer }\n"
	    ".b:hover rect { opacity: .75 }\n"
	    ".m rect { fill: #d6409f }\n"
	    ".w { paint-order: stroke; stroke: #f6f6f6; stroke-width: 3px }\n"
	    "#cpprof-map rect { stroke: #fff; stroke-width: .6px }\n"
	    ".o { opacity: .25 }\n"
	    ".a { cursor: pointer; text-decoration: underline }\n"
	    ".g { fill: url(#cpprof-hatch) }\n"
	    ".h { fill: #f0f0f0 }\n"
	    ".i { fill: #b4b4b4 }\n");
	for (unsigned i = 0; i < BOX_HUES * BOX_SHADES; i++)
		text_add_format(text, ".c%u { fill: hsl(%u,%u%%,%u%%) }\n", i,
		                hues[i / BOX_SHADES], 60u,
		                72 + i % BOX_SHADES * 5);
	for (unsigned i = 1; i < N_BOX_TINTS; i++)
		text_add_format(text, ".v%u { fill: %s }\n", i, tints[i][0]);
	text_add_string(text, SVG_DARK_STYLE
	    "#cpprof-map rect { stroke: #1b1b1d }\n"
	    ".w { stroke: #2a2a2c }\n"
	    ".h { fill: #2a2a2c }\n"
	    ".i { fill: #5a5a5e }\n");
	for (unsigned i = 0; i < BOX_HUES * BOX_SHADES; i++)
		text_add_format(text, ".c%u { fill: hsl(%u,%u%%,%u%%) }\n", i,
		                hues[i / BOX_SHADES], 35u,
		                28 + i % BOX_SHADES * 5);
	for (unsigned i = 1; i < N_BOX_TINTS; i++)
		text_add_format(text, ".v%u { fill: %s }\n", i, tints[i][1]);
	text_add_string(text, "}\n</style>\n"
	    "<defs><pattern id=\"cpprof-hatch\" width=\"6\" height=\"6\" "
	    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
	    "<rect class=\"h\" width=\"6\" height=\"6\"/>"
	    "<rect class=\"i\" width=\"2\" height=\"6\"/></pattern></defs>\n");
}

/* The lines of the view, what is not drawn, and what hatching means. */
static int
picture_svg_add_lines(struct svg *svg)
{
	const struct table *table = svg->drawing.table;
	const struct picture *picture = svg->picture;
	uint64_t n_all = (uint64_t)picture->n_boxes + picture->n_left_out;
	struct text_buffer line = { 0 };
	int number = 0;

	for (size_t i = 0; i < table->n_header; i++)
		svg_add_line(&svg->head, ++number, i == 0 ? " class=\"t\"" : "",
		         table->header[i]);
	for (size_t i = 0; i < table->n_footer; i++)
		svg_add_line(&svg->head, ++number, "", table->footer[i]);
	if (n_all == 0)
		text_add_string(&line, "nothing to draw");
	else if (picture->is_open_ended)
		text_add_format(&line, "%" PRIu64 " path%s drawn",
		                svg->n_drawn, svg->n_drawn == 1 ? "" : "s");
	else
		text_add_format(&line, "%" PRIu64 " of %" PRIu64 " path%s "
		                "drawn", svg->n_drawn, n_all,
		                n_all == 1 ? "" : "s");
	if (svg->n_drawn < n_all)
		text_add_format(&line, "; the others are narrower than %.3g%% "
		    "of the picture", 100 * (double)svg->least /
		    (double)(picture->extent > 0 ? picture->extent : 1));
	if (svg->has_deeper)
		text_add_format(&line, " or deeper than %" PRIu32 " levels",
		                svg->most_levels);
	svg_add_line(&svg->head, ++number, "", text_string(&line));
	svg->head.failed |= line.failed;
	text_free(&line);
	if (svg->has_hatched)
		svg_add_line(&svg->head, ++number, "", "Hatched: passed "
		    "through the path and re-entered it, solid elsewhere. "
		    "Blank: room for what is below");
	else if (svg->has_overhang)
		svg_add_line(&svg->head, ++number, "",
		             "Blank: room for what is below");
	svg_add_line(&svg->head, ++number, " id=\"cpprof-line\"", "");
	return SVG_PADDING + SVG_LINE * number + SVG_PADDING / 2;
}

static void
add_head(struct svg *svg, int top, bool is_document)
{
	const struct table *table = svg->drawing.table;
	struct text_buffer *lines = &svg->head, head = { 0 };
	uint64_t height = svg->n_levels > 0 ?
	    (uint64_t)svg->n_levels * LEVEL : 1;

	if (is_document)
		text_add_string(&head, "<?xml version=\"1.0\" "
		                "encoding=\"UTF-8\"?>\n");
	text_add_format(&head, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
	    "id=\"cpprof-picture\" width=\"%d\" height=\"%" PRIu64 "\" "
	    "data-all=\"%" PRIu64 "\"%s>\n<title>", SVG_PIXELS,
	    (uint64_t)top + height + SVG_PADDING, svg->picture->denominator,
	    svg->picture->paths->is_innermost_first ? " data-up=\"\"" : "");
	svg_add_untrusted(&head, table->header[0], strlen(table->header[0]));
	text_add_string(&head, "</title>\n");
	picture_svg_add_style(&head);
	text_add(&head, lines->bytes, lines->length);
	text_add_format(&head, "<svg id=\"cpprof-map\" y=\"%d\" "
	                "width=\"100%%\" height=\"%" PRIu64 "\">\n", top,
	                height);
	head.failed |= lines->failed;
	text_free(lines);
	*lines = head;
}

static int
draw_svg(struct svg *svg, bool is_document, struct error *error)
{
	struct writer *writer = svg->drawing.writer;

	if (picture_svg_draw_boxes(svg, error) != 0)
		return -1;
	add_head(svg, picture_svg_add_lines(svg), is_document);
	if (svg->head.failed || svg->scratch.failed)
		return error_out_of_memory(error);
	writer_put(writer, svg->head.bytes, svg->head.length);
	writer_put(writer, svg->boxes.bytes, svg->boxes.length);
	svg_put(writer, "</svg>\n");
	svg_put(writer, "<script><![CDATA[\n");
	for (size_t i = 0; picture_script[i] != NULL; i++) {
		svg_put(writer, picture_script[i]);
		svg_put(writer, "\n");
	}
	svg_put(writer, "]]></script>\n");
	svg_put(writer, "</svg>\n");
	return 0;
}

int
draw_boxes_svg(const struct table *table, const struct layout *layout,
               struct writer *writer, bool is_document, struct error *error)
{
	struct svg svg = {
		.drawing = { .table = table, .layout = layout,
			     .writer = writer },
		.picture = table->picture,
	};
	int status = draw_svg(&svg, is_document, error);

	text_free(&svg.head);
	text_free(&svg.boxes);
	text_free(&svg.scratch);
	name_parts_free(&svg.parts);
	text_free(&svg.drawing.rest);
	path_names_free(&svg.drawing.path);
	return status;
}
