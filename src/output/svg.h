/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg.h -- what pictures of all kinds have in common as SVG.
 *
 * Shared by the kinds: boxes (picture_svg.c) and charts (chart_svg.c).  Names
 * are untrusted: they are made printable, then escaped, and only appear as the
 * text of elements.
 */
#ifndef CPPROF_OUTPUT_SVG_H
#define CPPROF_OUTPUT_SVG_H

#include "src/base/text_buffer.h"
#include "src/output/output.h"

enum {
	SVG_PIXELS = 1200,	/* the width that pictures are made for */
	SVG_LINE = 16,		/* height of a line of text */
	SVG_PADDING = 10,
	SVG_CHARACTER_TENTHS = 66,	/* the width of one, in the font */
};

/* Rules of every picture; on dark screens the second ones, which end in "}". */
#define SVG_STYLE \
	"#cpprof-picture { background: #fff; " \
	"font: 11px 'DejaVu Sans Mono', Menlo, Consolas, monospace }\n" \
	"text { fill: #111 }\n" \
	".t { font-weight: bold }\n"
#define SVG_DARK_STYLE \
	"@media (prefers-color-scheme: dark) {\n" \
	"#cpprof-picture { background: #1b1b1d }\n" \
	"text { fill: #eee }\n"

/* Adds printable text as the content of an element. */
void svg_add_escaped(struct text_buffer *text, const char *bytes, size_t n);

/* The same for bytes of any kind. */
void svg_add_untrusted(struct text_buffer *text, const char *bytes, size_t n);

/*
 * Adds line `number`, from 1 on, of the lines at the top.  attributes: those of
 * its element, after a blank each, or "".
 */
void svg_add_line(struct text_buffer *text, int number, const char *attributes,
                  const char *line);

void svg_put(struct writer *writer, const char *text);

/*
 * Draw the picture or chart of a table as an svg element; is_document: as a
 * file of its own.  0, or -1 with *error set.
 */
int draw_boxes_svg(const struct table *table, const struct layout *layout,
                   struct writer *writer, bool is_document,
                   struct error *error);
int draw_chart_svg(const struct table *table, const struct layout *layout,
                   struct writer *writer, bool is_document,
                   struct error *error);

#endif
