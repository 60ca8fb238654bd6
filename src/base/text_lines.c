/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_lines.c -- the lines of a text file. */
#include "src/base/text_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { LONGEST_LINE = 16 << 20 };

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

int
text_line_read(FILE *file, char **line, size_t *capacity, size_t *length,
               struct error *error)
{
	int c;

	*length = 0;
	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		if (*length == LONGEST_LINE)
			return error_set(error, "line longer than 16 MiB");
		if (memory_grow(line, capacity, *length + 1, 1, error) != 0)
			return -1;
		(*line)[(*length)++] = (char)c;
	}
	if (c == EOF && ferror(file))
		return error_set(error, "%s", strerror(errno));
	if (c == EOF && *length == 0)
		return 0;
	/* Never NULL, so that an empty line is a line. */
	if (memory_grow(line, capacity, *length + 1, 1, error) != 0)
		return -1;
	(*line)[*length] = '\0';
	return 1;
}
