/* SPDX-License-Identifier: GPL-3.0-or-later */
/* box_label.h -- the name and the colour of a box in a picture. */
#ifndef CPPROF_OUTPUT_BOX_LABEL_H
#define CPPROF_OUTPUT_BOX_LABEL_H

#include <stddef.h>

#include "src/base/text_buffer.h"

/*
 * Adds name[n], made printable, in at most `width` columns.  A name that is
 * too wide becomes a short one (short_name.h), then loses its outer scopes to
 * an ellipsis; if its last identifier is still too wide, that ends in one.
 * Adds nothing if there is no room for three columns.
 */
void text_add_label(struct text_buffer *text, const char *name, size_t n,
                    size_t width);

enum { BOX_HUES = 12, BOX_SHADES = 3 };

/*
 * The colour of name[n]: names of one scope or with one prefix ("std::",
 * "db_") have the same hue, below BOX_HUES, in different shades, below
 * BOX_SHADES.  The same name has the same colour in every run.
 */
struct box_color {
	unsigned hue, shade;
};
struct box_color box_color(const char *name, size_t n);

#endif
