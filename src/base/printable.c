/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printable.c -- escapes untrusted names for printing. */
#include "src/base/text_buffer.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

/* How many bytes at the front are printable ASCII. */
static size_t
printable_plain_run(const char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && bytes[i] >= 0x20 && bytes[i] < 0x7f)
		i++;
	return i;
}

/*
 * Length of the first character, n >= 1, and in *is_printable whether it may
 * be printed.  A byte that is not UTF-8 is a character of its own.
 */
static size_t
next_character(const char *bytes, size_t n, bool *is_printable)
{
	uint32_t character;
	size_t length = utf8_decode(bytes, n, &character);

	*is_printable = length > 0 && character_is_printable(character);
	return length > 0 ? length : 1;
}

static void
add_escapes(struct text_buffer *text, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_add_format(text, "\\x%02x", (unsigned char)bytes[i]);
}

void
text_add_printable(struct text_buffer *text, const char *bytes, size_t n)
{
	while (n > 0) {
		size_t length = printable_plain_run(bytes, n);

		if (length > 0) {
			text_add(text, bytes, length);
		} else {
			bool is_printable;

			length = next_character(bytes, n, &is_printable);
			if (is_printable)
				text_add(text, bytes, length);
			else
				add_escapes(text, bytes, length);
		}
		bytes += length;
		n -= length;
	}
}

static bool
needs_bars(const char *name, size_t n)
{
	if (n == 0)
		return true;
	while (n > 0) {
		bool is_printable;
		size_t length = next_character(name, n, &is_printable);

		if (!is_printable ||
		    (length == 1 && strchr(" ();|#>\"'`", *name) != NULL))
			return true;
		name += length;
		n -= length;
	}
	return false;
}

static bool
printable_is_hex(char c)
{
	return c != '\0' && strchr("0123456789abcdefABCDEF", c) != NULL;
}

/* Whether a backslash before rest[n] would be read as an escape. */
static bool
backslash_acts(const char *rest, size_t n)
{
	return n == 0 || rest[0] == '|' ||
	    (n >= 3 && rest[0] == 'x' && printable_is_hex(rest[1]) &&
	     printable_is_hex(rest[2]));
}

void
text_add_between_bars(struct text_buffer *text, const char *name, size_t n)
{
	const char *first = name;

	text_add_char(text, '|');
	while (n > 0) {
		bool is_printable;
		size_t length = next_character(name, n, &is_printable);

		if (*name == '|')
			text_add_string(text, "\\|");
		else if (!is_printable || (*name == ' ' && name == first) ||
		         (*name == '\\' && backslash_acts(name + 1, n - 1)))
			add_escapes(text, name, length);
		else
			text_add(text, name, length);
		name += length;
		n -= length;
	}
	text_add_char(text, '|');
}

void
text_add_word(struct text_buffer *text, const char *name, size_t n)
{
	if (needs_bars(name, n))
		text_add_between_bars(text, name, n);
	else
		text_add(text, name, n);
}

/* wcwidth needs a locale that knows more than ASCII; glibc always has one. */
static size_t
character_width(uint32_t character)
{
	static locale_t utf8;
	locale_t before;
	int width;

	if (utf8 == (locale_t)0)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (utf8 == (locale_t)0)
		return 1;
	before = uselocale(utf8);
	width = wcwidth((wchar_t)character);
	uselocale(before);
	return width < 0 ? 1 : (size_t)width;
}

size_t
printable_width(const char *bytes, size_t n)
{
	size_t width = 0;

	while (n > 0) {
		size_t length = printable_plain_run(bytes, n);
		uint32_t character;

		if (length > 0) {
			width += length;
		} else {
			length = utf8_decode(bytes, n, &character);
			width += length == 0 ? 1 : character_width(character);
			length += length == 0;
		}
		bytes += length;
		n -= length;
	}
	return width;
}

size_t
printable_prefix(const char *bytes, size_t n, size_t width)
{
	size_t at = 0;

	while (at < n) {
		uint32_t character;
		size_t length = utf8_decode(bytes + at, n - at, &character);
		size_t columns = length == 0 ? 1 : character_width(character);

		if (columns > width)
			break;
		width -= columns;
		at += length == 0 ? 1 : length;
	}
	return at;
}

void
text_add_elided(struct text_buffer *text, const char *bytes, size_t n,
                size_t width)
{
	size_t whole = printable_width(bytes, n), head, tail, skip;
	bool is_printable;

	if (whole <= width) {
		text_add(text, bytes, n);
		return;
	}
	if (width < 3)
		width = 3;
	head = width / 2;
	tail = width - 1 - head;
	text_add(text, bytes, printable_prefix(bytes, n, head));
	text_add_string(text, ELLIPSIS);
	skip = printable_prefix(bytes, n, whole - tail);
	/* Drop a wide character that crosses the edge, too. */
	if (printable_width(bytes + skip, n - skip) > tail)
		skip += next_character(bytes + skip, n - skip, &is_printable);
	text_add(text, bytes + skip, n - skip);
}
