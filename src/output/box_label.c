/* SPDX-License-Identifier: GPL-3.0-or-later */
/* box_label.c -- the name and the colour of a box in a picture.
 *
 * The last identifier of a name is found from the left: what is in
 * brackets is skipped, and each "::", "/" or blank outside of them begins a
 * new identifier.  After "operator" everything belongs to the identifier up to
 * its arguments.
 */
#include "src/output/box_label.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/printable.h"

static const char ellipsis[] = "\xe2\x80\xa6";

static bool
is_opening(char c)
{
	return c == '(' || c == '<' || c == '[' || c == '{';
}

static bool
is_closing(char c)
{
	return c == ')' || c == '>' || c == ']' || c == '}';
}

/* Whether name[at..] is the keyword, not the end of a longer word. */
static bool
is_operator(const char *name, size_t n, size_t at)
{
	static const char word[] = "operator";
	size_t length = sizeof word - 1;

	return n - at > length && memcmp(name + at, word, length) == 0 &&
	    (at == 0 || strchr(" :", name[at - 1]) != NULL) &&
	    strchr("()<>[]=+-*/%^&|~!, ", name[at + length]) != NULL;
}

/* The end of an operator's symbol or type, where its arguments begin. */
static size_t
operator_end(const char *name, size_t n, size_t at)
{
	const char *open;

	at += strlen("operator");
	if (n - at >= 2 && memcmp(name + at, "()", 2) == 0)
		return at + 2;
	open = memchr(name + at, '(', n - at);
	return open == NULL ? n : (size_t)(open - name);
}

/* The last identifier of name[n]: where it begins, and its length. */
static size_t
last_identifier(const char *name, size_t n, size_t *length)
{
	size_t begin = 0, end = 0, depth = 0;
	bool has_arguments = false;

	for (size_t at = 0; at < n; at++) {
		char c = name[at];
		bool is_scope = c == ':' && at + 1 < n && name[at + 1] == ':';

		if (depth == 0 && is_operator(name, n, at)) {
			*length = operator_end(name, n, at) - at;
			return at;
		}
		if (is_opening(c)) {
			depth++;
		} else if (is_closing(c) && depth > 0) {
			depth--;
			has_arguments |= c == ')' && depth == 0 && end > begin;
		} else if (depth == 0 && (is_scope || c == '/' || c == ' ')) {
			/* What follows arguments is "const" or the like. */
			if (c == ' ' && has_arguments)
				break;
			at += is_scope;
			begin = end = at + 1;
			has_arguments = false;
		} else if (depth == 0) {
			end = at + 1;
		}
	}
	/* [jit] and {lambda()#1} are all brackets. */
	if (end <= begin)
		end = n;
	if (begin >= n)
		begin = 0;
	*length = end - begin;
	return begin;
}

static void
add_cut(struct text_buffer *text, const char *bytes, size_t n, size_t width)
{
	if (printable_width(bytes, n) <= width) {
		text_add(text, bytes, n);
		return;
	}
	text_add(text, bytes, printable_prefix(bytes, n, width - 1));
	text_add_string(text, ellipsis);
}

void
text_add_label(struct text_buffer *text, const char *name, size_t n,
               size_t width)
{
	struct text_buffer whole = { 0 };
	size_t begin, length;

	if (width < 3)
		return;
	text_add_printable(&whole, name, n);
	if (whole.failed) {
		text->failed = true;
	} else if (printable_width(whole.bytes, whole.length) <= width) {
		text_add(text, whole.bytes, whole.length);
	} else {
		begin = last_identifier(whole.bytes, whole.length, &length);
		/* Show that something was there, if there is room for that. */
		if (begin > 0 && printable_width(whole.bytes + begin, length) <
		    width) {
			text_add_string(text, ellipsis);
			width--;
		}
		add_cut(text, whole.bytes + begin, length, width);
	}
	text_free(&whole);
}

static uint32_t
hash(const char *bytes, size_t n)
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
		.hue = hash(name, family_length(name, n)) % BOX_HUES,
		.shade = hash(name, n) % BOX_SHADES,
	};
}
