/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_lines.c -- the lines of a text file. */
#include "src/base/text_lines.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* Ends the line that begins there; returns where the next one begins. */
static char *
end_line(char *line, char *end)
{
	char *feed = memchr(line, '\n', (size_t)(end - line));

	if (feed == NULL)
		return end;
	*feed = '\0';
	if (feed > line && feed[-1] == '\r')
		feed[-1] = '\0';
	return feed + 1;
}

int
text_lines_split(struct text_lines *text, char *bytes, size_t size,
                 struct error *error)
{
	char *end = bytes + size, *next;
	size_t capacity = 0;

	*text = (struct text_lines){ .bytes = bytes, .size = size };
	*end = '\0';
	for (char *line = bytes; line < end; line = next) {
		next = end_line(line, end);
		if (text->n == UINT32_MAX ||
		    memory_grow(&text->lines, &capacity, (size_t)text->n + 1,
		                sizeof *text->lines, error) != 0) {
			text_lines_free(text);
			return error_set(error, "the text has too many lines");
		}
		text->lines[text->n++] = line;
	}
	return 0;
}

void
text_lines_free(struct text_lines *text)
{
	free(text->bytes);
	free(text->lines);
	*text = (struct text_lines){ 0 };
}
