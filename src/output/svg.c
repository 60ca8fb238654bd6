/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg.c -- pictures as SVG, alone or in a page; what boxes and charts share. */
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
