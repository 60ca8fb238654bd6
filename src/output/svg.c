/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg.c -- pictures as SVG, alone or in a page; what all kinds share. */
#include "src/output/drawing.h"

#include <string.h>

#include "src/base/text_buffer.h"

void
svg_add_escaped(struct text_buffer *text, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		switch (bytes[i]) {
		case '<':
			text_add_string(text, "&lt;");
			break;
		case '>':
			text_add_string(text, "&gt;");
			break;
		case '&':
			text_add_string(text, "&amp;");
			break;
		default:
			text_add_char(text, bytes[i]);
		}
}

void
svg_add_untrusted(struct text_buffer *text, const char *bytes, size_t n)
{
	struct text_buffer printable = { 0 };

	text_add_printable(&printable, bytes, n);
	svg_add_escaped(text, printable.bytes, printable.length);
	text->failed |= printable.failed;
	text_free(&printable);
}

void
svg_add_line(struct text_buffer *text, int number, const char *attributes,
             const char *line)
{
	text_add_format(text, "<text x=\"%d\" y=\"%d\"%s>", SVG_PADDING,
	                SVG_PADDING + SVG_LINE * number - 4, attributes);
	svg_add_untrusted(text, line, strlen(line));
	text_add_string(text, "</text>\n");
}

void
svg_put(struct writer *writer, const char *text)
{
	writer_put(writer, text, strlen(text));
}

static int
svg_draw(const struct table *table, const struct layout *layout,
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
	return svg_draw(table, layout, writer, true, error);
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
	if (svg_draw(table, layout, writer, false, error) != 0)
		return -1;
	svg_put(writer, "</body>\n</html>\n");
	return 0;
}
