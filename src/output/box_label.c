/* SPDX-License-Identifier: GPL-3.0-or-later */
/* box_label.c -- the name and the colour of a box in a picture. */
#include "src/output/drawing.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/short_name.h"
#include "src/base/text_buffer.h"

static void
box_label_add_cut(struct text_buffer *text, const char *bytes, size_t n,
                  size_t width)
{
	if (printable_width(bytes, n) <= width) {
		text_add(text, bytes, n);
		return;
	}
	text_add(text, bytes, printable_prefix(bytes, n, width - 1));
	text_add_string(text, ELLIPSIS);
}

/*
 * Adds the last identifier after as many of its scopes as there is room for,
 * and an ellipsis for the others; or as much of it as there is room for.
 */
static void
add_end(struct text_buffer *text, const char *name,
        const struct name_parts *parts, size_t width)
{
	struct text_buffer end = { 0 };

	for (size_t i = 0; i < parts->n_scopes; i++) {
		uint32_t scope = parts->scopes[i];
		uint32_t begin = scope + (name[scope] == ':' ? 2 : 1);

		text_clear(&end);
		text_add_printable(&end, name + begin,
		                   parts->last_end - begin);
		if (printable_width(end.bytes, end.length) >= width)
			continue;
		text_add_string(text, ELLIPSIS);
		text_add(text, end.bytes, end.length);
		text->failed |= end.failed;
		text_free(&end);
		return;
	}
	text_clear(&end);
	text_add_printable(&end, name + parts->last_begin,
	                   parts->last_end - parts->last_begin);
	/* Show that something was there, if there is room for that. */
	if (parts->last_begin > 0 &&
	    printable_width(end.bytes, end.length) < width) {
		text_add_string(text, ELLIPSIS);
		width--;
	}
	box_label_add_cut(text, end.bytes, end.length, width);
	text->failed |= end.failed;
	text_free(&end);
}

void
text_add_label(struct text_buffer *text, const char *name, size_t n,
               size_t width)
{
	struct text_buffer shown = { 0 }, brief = { 0 };
	struct name_parts parts = { 0 };
	struct error error = { 0 };

	if (width < 3)
		return;
	text_add_printable(&shown, name, n);
	if (printable_width(shown.bytes, shown.length) > width &&
	    text_add_short_name(&brief, &parts, name, n, &error) == 0) {
		text_clear(&shown);
		text_add_printable(&shown, brief.bytes, brief.length);
	}
	text->failed |= shown.failed || brief.failed || error.is_set;
	if (printable_width(shown.bytes, shown.length) <= width)
		text_add(text, shown.bytes, shown.length);
	else if (!text->failed)		/* or the parts are not known */
		add_end(text, name, &parts, width);
	name_parts_free(&parts);
	text_free(&shown);
	text_free(&brief);
}

static uint32_t
box_label_hash(const char *bytes, size_t n)
{
	uint32_t value = UINT32_C(2166136261);	/* FNV-1a */

	for (size_t i = 0; i < n; i++)
		value = (value ^ (unsigned char)bytes[i]) * 16777619;
	return value ^ value >> 15;
}

/* The length of what names of the same family begin with. */
static size_t
family_length(const char *name, size_t n)
{
	const char *underline;

	for (size_t i = 1; i + 1 < n && name[i] != '(' && name[i] != '<'; i++)
		if (name[i] == '/' || (name[i] == ':' && name[i + 1] == ':'))
			return i;
	underline = n < 2 ? NULL : memchr(name + 1, '_', n - 1);
	return underline == NULL ? n : (size_t)(underline - name);
}

struct box_color
box_color(const char *name, size_t n)
{
	return (struct box_color){
		.hue = box_label_hash(name, family_length(name, n)) % BOX_HUES,
		.shade = box_label_hash(name, n) % BOX_SHADES,
	};
}
