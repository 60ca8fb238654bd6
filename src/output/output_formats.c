/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output_formats.c -- the table of output formats, and pictures as files. */
#include "src/output/output.h"

#include "src/output/drawing.h"

const struct output_format output_formats[] = {
	{ "text", output_text },
	{ "tsv", output_tsv },
	{ "csv", output_csv },
	{ "json", output_json },
	{ NULL, NULL }
};

static int
output_draw_svg(const struct table *table, const struct layout *layout,
                struct writer *writer, bool is_document, struct error *error)
{
	return table->chart != NULL ?
	    draw_chart_svg(table, layout, writer, is_document, error) :
	    draw_boxes_svg(table, layout, writer, is_document, error);
}

int
output_svg(const struct table *table, const struct layout *layout,
           struct writer *writer, struct error *error)
{
	return output_draw_svg(table, layout, writer, true, error);
}

int
output_html(const struct table *table, const struct layout *layout,
            struct writer *writer, struct error *error)
{
	svg_put(writer, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width\">\n"
	    "<title>cpprof</title>\n"
	    "<style>html { background: #fff } body { margin: 0 } "
	    "#cpprof-picture { width: 100%; display: block }\n"
	    "@media (prefers-color-scheme: dark) "
	    "{ html { background: #1b1b1d } }</style>\n</head>\n<body>\n");
	if (output_draw_svg(table, layout, writer, false, error) != 0)
		return -1;
	svg_put(writer, "</body>\n</html>\n");
	return 0;
}
