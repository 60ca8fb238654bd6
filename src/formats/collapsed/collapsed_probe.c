/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_probe.c -- whether a text is collapsed stacks. */
#include "src/formats/collapsed/collapsed.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/formats/format.h"
#include "src/formats/reader.h"

enum { LINES_MAX = 100 };

/* What the lines seen so far look like. */
struct evidence {
	size_t n_lines;
	size_t n_stacks;
	bool has_joined;	/* a stack of several names */
	bool is_binary;		/* the first line has a NUL */
};

static bool
has_letter(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (memchr("0123456789 \t.,+-%", text[i], 17) == NULL)
			return true;
	return false;
}

/* Whether the text ends in an operator, as in source code: "a; b = 5". */
static bool
ends_in_operator(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && memchr("=<>+-*/%&|!", text[length - 1 - n], 11))
		n++;
	return n > 0 && n < length && text[length - 1 - n] == ' ' &&
	       (length - n < 9 ||
	        memcmp(text + length - n - 9, "operator ", 9) != 0);
}

static void
inspect_line(struct evidence *evidence, const char *line, size_t length)
{
	const char *blank = collapsed_find_blank(line, length);
	uint64_t count;
	double fraction;
	bool is_negative;
	size_t before;

	if (evidence->n_lines++ == 0)
		evidence->is_binary = memchr(line, '\0', length) != NULL;
	if (blank == NULL || blank == line)
		return;
	/* One below zero is for the reader to refuse. */
	is_negative = blank + 1 < line + length && blank[1] == '-';
	if (!collapsed_parse_decimal(blank + 1 + is_negative, line + length,
	                             &count, &fraction))
		return;
	before = (size_t)(blank - line);
	if (ends_in_operator(line, before))
		return;
	if (memchr(line, ';', before) != NULL && line[before - 1] != ';') {
		evidence->has_joined |= !is_negative;
		evidence->n_stacks++;
	} else if (!is_negative && *blank == ' ' && has_letter(line, before) &&
	           memchr(",:=", line[before - 1], 3) == NULL) {
		evidence->n_stacks++;
	}
}

/*
 * Inspects the lines that end within text[size], or all if the text is
 * complete.
 */
static struct evidence
inspect_lines(const char *text, size_t size, bool is_whole)
{
	struct evidence evidence = { 0 };
	const char *stop = text + size, *end;

	for (const char *line = text; line < stop &&
	     evidence.n_lines < LINES_MAX; line = end + 1) {
		size_t length;

		end = memchr(line, '\n', (size_t)(stop - line));
		if (end == NULL && !is_whole)
			break;
		if (end == NULL)
			end = stop;
		length = (size_t)(end - line);
		if (length > 0 && line[length - 1] == '\r')
			length--;
		if (length > 0 && !collapsed_is_comment(line, length))
			inspect_line(&evidence, line, length);
	}
	return evidence;
}

int
collapsed_probe(const void *head, size_t size)
{
	bool is_text = line_find_binary(head, size) == size;
	struct evidence evidence;

	if (size >= 10 && memcmp(head, "# cpprof 1", 10) == 0)
		return PROBE_SURE;
	evidence = inspect_lines(head, size, size < FORMAT_HEAD_SIZE);
	if (evidence.n_lines == 0)
		return is_text ? PROBE_MAYBE : PROBE_NO;
	if (!evidence.is_binary &&
	    2 * evidence.n_stacks >= evidence.n_lines)
		return PROBE_LIKELY;
	return evidence.has_joined && is_text ? PROBE_MAYBE : PROBE_NO;
}
