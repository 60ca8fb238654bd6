/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrapping.c -- where the lines of a long text end. */
#include "src/base/text_buffer.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/units.h"

static bool
wrapping_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether the blank there is in "190 ms". */
static bool
is_before_unit(const char *bytes, size_t n, size_t blank)
{
	size_t begin = blank + 1, end = begin;
	long double size;

	while (end < n && wrapping_is_letter(bytes[end]))
		end++;
	return blank > 0 && bytes[blank - 1] >= '0' &&
	    bytes[blank - 1] <= '9' &&
	    unit_find(bytes + begin, end - begin, &size, NULL) != UNIT_IS_OTHER;
}

size_t
wrapping_line(const char *bytes, size_t n, size_t width)
{
	const size_t fits = printable_prefix(bytes, n, width);
	const char *blank;
	size_t at = fits;

	if (fits == n)
		return n;
	while (at > 0 && (bytes[at] != ' ' || is_before_unit(bytes, n, at)))
		at--;
	if (at > 0)
		return at;
	blank = memchr(bytes + fits, ' ', n - fits);
	return blank == NULL ? n : (size_t)(blank - bytes);
}
