/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chart_svg.c -- a timeline as SVG: stacked bars, axes and a legend.
 *
 * It needs no script: the title of each part of a bar says what it is.  The
 * picture keeps its proportions in a page of any width.
 */
#include <inttypes.h>
#include <string.h>

#include "src/base/table.h"
#include "src/base/units.h"
#include "src/output/drawing.h"

enum {
	LEFT = 84, RIGHT = 24,		/* of the plot: labels; half of one */
	HEIGHT = 300,			/* of the plot */
	BELOW = 40,			/* labels and the name of the axis */
	WIDTH = SVG_PIXELS - LEFT - RIGHT,
	NAME_COLUMNS = 130,		/* in the legend, and in titles */
	X_TICKS = 12, Y_TICKS = 5,	/* at most, besides 0 */
	N_COLORS = 7,
};

struct chart_drawing {
	struct drawing drawing;
	const struct chart *chart;
	struct text_buffer text;	/* the picture so far */
	struct text_buffer name;	/* of a layer, escaped */
	int top;			/* of the plot */
	uint64_t most;			/* hits of the highest bar */
};

/* The least 1, 2 or 5 times a power of ten of which at most n fit. */
static uint64_t
nice_step(uint64_t whole, uint64_t n)
{
	static const uint64_t factors[] = { 1, 2, 5 };

	for (uint64_t power = 1;; power *= 10)
		for (int i = 0; i < 3; i++)
			if (whole / factors[i] / power <= n ||
			    power > UINT64_MAX / 100)
				return factors[i] * power;
}

static uint64_t
hits_of_bar(const struct chart *chart, uint32_t slice)
{
	uint64_t hits = 0;

	for (uint32_t i = 0; i < chart->n_layers; i++)
		hits += chart->layers[i].slices[slice];
	return hits;
}

static double
x_of(const struct chart *chart, double ns)
{
	return LEFT + WIDTH * ns /
	    ((double)chart->width_ns * chart->n_slices);
}

static double
y_of(const struct chart_drawing *to, uint64_t hits)
{
	return to->top + HEIGHT * (1 - (double)hits / (double)to->most);
}

/* The class of a layer's colour; `number` counts from the lowest layer. */
static void
chart_svg_add_class(struct text_buffer *text, const struct chart_layer *layer,
                    uint32_t number)
{
	if (layer->is_rest)
		text_add_string(text, " class=\"r\"");
	else
		text_add_format(text, " class=\"l%" PRIu32 "\"",
		                number % N_COLORS);
}

/* Puts the name of a layer into to->name: "f", "(main f)", "other stacks". */
static int
chart_svg_set_name(struct chart_drawing *to, const struct chart_layer *layer,
                   struct error *error)
{
	const bool is_path = layer->name.kind == CELL_PATH;
	struct text_buffer *rest = &to->drawing.rest;

	text_clear(rest);
	text_clear(&to->name);
	if (is_path)
		text_add_char(rest, '(');
	if (drawing_add_cell(&to->drawing, rest, &layer->name, NAME_COLUMNS,
	                     error) != 0)
		return -1;
	if (is_path)
		text_add_char(rest, ')');
	svg_add_escaped(&to->name, rest->bytes, rest->length);
	return 0;
}

/* Adds a number, whose unit is untrusted. */
static int
add_cell(struct chart_drawing *to, const struct cell *cell,
         struct error *error)
{
	struct text_buffer *rest = &to->drawing.rest;

	text_clear(rest);
	if (drawing_add_cell(&to->drawing, rest, cell, 0, error) != 0)
		return -1;
	svg_add_escaped(&to->text, rest->bytes, rest->length);
	return 0;
}

/* ---- axes ---- */

static void
add_x_axis(struct chart_drawing *to)
{
	const struct chart *chart = to->chart;
	const uint64_t end = chart->width_ns * chart->n_slices;
	const uint64_t step = nice_step(end, X_TICKS);
	const int decimals = seconds_decimals(step), y = to->top + HEIGHT;

	for (uint64_t ns = 0; ns <= end; ns += step) {
		const double x = x_of(chart, (double)ns);

		text_add_format(&to->text, "<line class=\"x\" x1=\"%.6g\" "
		    "x2=\"%.6g\" y1=\"%d\" y2=\"%d\"/><text x=\"%.6g\" "
		    "y=\"%d\" text-anchor=\"middle\">", x, x, y, y + 5, x,
		    y + 17);
		text_add_seconds(&to->text, ns, decimals);
		text_add_string(&to->text, " s</text>\n");
		if (ns > UINT64_MAX - step)
			break;
	}
	text_add_format(&to->text, "<text x=\"%d\" y=\"%d\" "
	    "text-anchor=\"middle\">seconds from the start</text>\n",
	    LEFT + WIDTH / 2, y + 33);
}

/* ---- bars ---- */

/* "f\n0.25 s to 0.50 s\n12 hits, 45.60% of the slice", escaped. */
static int
chart_svg_add_title(struct chart_drawing *to, uint32_t slice, uint64_t hits,
                    uint64_t of_bar, struct error *error)
{
	const struct cell cell = cell_hits(hits);
	const uint64_t width = to->chart->width_ns;
	const int decimals = seconds_decimals(width);
	struct text_buffer *text = &to->text;

	text_add_string(text, "<title>");
	text_add(text, to->name.bytes, to->name.length);
	text_add_char(text, '\n');
	text_add_seconds(text, slice * width, decimals);
	text_add_string(text, " s to ");
	text_add_seconds(text, (slice + 1) * width, decimals);
	text_add_string(text, " s\n");
	if (add_cell(to, &cell, error) != 0)
		return -1;
	text_add_format(text, "%s, %.4g%% of the slice</title>",
	                drawing_has_unit(&to->drawing, NULL) ? "" :
	                hits == 1 ? " hit" : " hits",
	                100 * (double)hits / (double)of_bar);
	return 0;
}

static int
chart_svg_add_layer(struct chart_drawing *to, uint32_t number,
                    struct error *error)
{
	const struct chart *chart = to->chart;
	const struct chart_layer *layer = &chart->layers[number];
	const double width = (double)WIDTH / chart->n_slices;

	if (chart_svg_set_name(to, layer, error) != 0)
		return -1;
	for (uint32_t i = 0; i < chart->n_slices; i++) {
		const uint64_t hits = layer->slices[i];
		uint64_t below = 0;

		if (hits == 0)
			continue;
		for (uint32_t k = 0; k < number; k++)
			below += chart->layers[k].slices[i];
		text_add_string(&to->text, "<rect");
		chart_svg_add_class(&to->text, layer, number);
		text_add_format(&to->text, " x=\"%.6g\" y=\"%.6g\" "
		    "width=\"%.5g\" height=\"%.5g\" data-h=\"%" PRIu64 "\">",
		    LEFT + width * (i + 0.03), y_of(to, below + hits),
		    width * 0.94, HEIGHT * (double)hits / (double)to->most,
		    hits);
		if (chart_svg_add_title(to, i, hits, hits_of_bar(chart, i),
		                        error) != 0)
			return -1;
		text_add_string(&to->text, "</rect>\n");
	}
	return 0;
}

/* ---- the whole ---- */

/* Calm colours that differ in tone as well; darker ones for dark screens. */
static void
chart_svg_add_style(struct text_buffer *text, bool is_document)
{
	static const struct {
		unsigned hue, saturation, light, dark;
	} colors[N_COLORS] = {
		{ 212, 60, 58, 48 }, { 28, 80, 66, 55 }, { 150, 42, 48, 38 },
		{ 330, 50, 66, 52 }, { 48, 85, 62, 46 }, { 268, 42, 62, 54 },
		{ 185, 55, 68, 58 },
	};

	text_add_string(text, "<style>\n" SVG_STYLE);
	if (!is_document)
		text_add_string(text, "#cpprof-picture { height: auto }\n");
	text_add_string(text, ".x { stroke: #555 }\n.y { stroke: #ddd }\n"
	    ".r { fill: #c4c4c4 }\n"
	    "rect:hover { opacity: .75 }\n");
	for (unsigned i = 0; i < N_COLORS; i++)
		text_add_format(text, ".l%u { fill: hsl(%u,%u%%,%u%%) }\n", i,
		                colors[i].hue, colors[i].saturation,
		                colors[i].light);
	text_add_string(text, SVG_DARK_STYLE
	    ".x { stroke: #aaa }\n.y { stroke: #3a3a3d }\n"
	    ".r { fill: #5a5a5e }\n");
	for (unsigned i = 0; i < N_COLORS; i++)
		text_add_format(text, ".l%u { fill: hsl(%u,%u%%,%u%%) }\n", i,
		                colors[i].hue, colors[i].saturation,
		                colors[i].dark);
	text_add_string(text, "}\n</style>\n");
}

/* All that is below the head, whose height depends on it. */
static int
add_content(struct chart_drawing *to, struct error *error)
{
	const struct table *table = to->drawing.table;
	int number = 0;
	const struct chart *chart;
	uint64_t step;

	for (size_t i = 0; i < table->n_header; i++)
		svg_add_line(&to->text, ++number, i == 0 ? " class=\"t\"" : "",
		             table->header[i]);
	for (size_t i = 0; i < table->n_footer; i++)
		svg_add_line(&to->text, ++number, "", table->footer[i]);
	for (uint32_t i = 0; i < to->chart->n_slices; i++)
		if (hits_of_bar(to->chart, i) > to->most)
			to->most = hits_of_bar(to->chart, i);
	if (to->most == 0) {
		svg_add_line(&to->text, ++number, "", "nothing to draw");
		to->top = SVG_PADDING + SVG_LINE * number - HEIGHT - BELOW;
		return 0;
	}
	chart = to->chart;
	for (uint32_t i = 0; i < chart->n_layers; i++) {
		const struct chart_layer *layer = &chart->layers[i];
		const struct cell fraction = cell_fraction(layer->fraction);
		const struct cell hits = cell_hits(layer->hits);
		const int y = SVG_PADDING + SVG_LINE * ++number - 4;

		if (chart_svg_set_name(to, layer, error) != 0)
			return -1;
		text_add_string(&to->text, "<rect");
		chart_svg_add_class(&to->text, layer, i);
		text_add_format(&to->text, " x=\"%d\" y=\"%d\" width=\"12\" "
		    "height=\"12\"/><text x=\"%d\" y=\"%d\">", SVG_PADDING,
		    y - 10, SVG_PADDING + 18, y);
		if (add_cell(to, &fraction, error) != 0)
			return -1;
		text_add_format(&to->text, " %s [", text_string(&to->name));
		if (add_cell(to, &hits, error) != 0)
			return -1;
		text_add_string(&to->text, "]</text>\n");
	}
	to->top = SVG_PADDING + SVG_LINE * (number + 2);
	step = nice_step(to->most, Y_TICKS);
	for (uint64_t hits = 0; hits <= to->most; hits += step) {
		const struct cell cell = cell_hits(hits);
		const double y = y_of(to, hits);

		text_add_format(&to->text, "<line class=\"%s\" x1=\"%d\" "
		    "x2=\"%d\" y1=\"%.5g\" y2=\"%.5g\"/><text x=\"%d\" "
		    "y=\"%.5g\" text-anchor=\"end\">", hits == 0 ? "x" : "y",
		    LEFT, LEFT + WIDTH, y, y, LEFT - 6, y + 4);
		if (add_cell(to, &cell, error) != 0)
			return -1;
		text_add_string(&to->text, "</text>\n");
		if (hits > UINT64_MAX - step)
			break;
	}
	text_add_format(&to->text, "<text x=\"%d\" y=\"%d\">%s</text>\n",
	    LEFT, to->top - 10, drawing_has_unit(&to->drawing, NULL) ?
	    "per slice" : "hits per slice");
	for (uint32_t i = 0; i < to->chart->n_layers; i++)
		if (chart_svg_add_layer(to, i, error) != 0)
			return -1;
	add_x_axis(to);
	return 0;
}

int
draw_chart_svg(const struct table *table, const struct layout *layout,
               struct writer *writer, bool is_document, struct error *error)
{
	struct chart_drawing to = {
		.drawing = { .table = table, .layout = layout,
			     .writer = writer },
		.chart = table->chart,
	};
	int status = add_content(&to, error);

	if (status == 0) {
		const int height = to.top + HEIGHT + BELOW + SVG_PADDING;
		struct text_buffer head = { 0 };

		if (is_document)
			text_add_string(&head, "<?xml version=\"1.0\" "
			                "encoding=\"UTF-8\"?>\n");
		text_add_format(
		    &head,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		    "id=\"cpprof-picture\" width=\"%d\" height=\"%d\" "
		    "viewBox=\"0 0 %d %d\">\n<title>",
		    SVG_PIXELS, height, SVG_PIXELS, height);
		svg_add_untrusted(&head, table->header[0],
		                  strlen(table->header[0]));
		text_add_string(&head, "</title>\n");
		chart_svg_add_style(&head, is_document);
		to.text.failed |= head.failed;
		writer_put(to.drawing.writer, head.bytes, head.length);
		text_free(&head);
		writer_put(writer, to.text.bytes, to.text.length);
		svg_put(writer, "</svg>\n");
		if (to.text.failed || to.name.failed || to.drawing.rest.failed)
			status = error_out_of_memory(error);
	}
	text_free(&to.text);
	text_free(&to.name);
	text_free(&to.drawing.rest);
	path_names_free(&to.drawing.path);
	return status;
}
