/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c -- runs commands from a file. */
#include "src/shell/input/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/shell/command/interpret.h"
#include "src/shell/terminal/message.h"

/* Limits: a longer line is no command; a script may run itself. */
enum { LONGEST_LINE = 16 << 20, DEEPEST = 16 };

int
script_run_line(struct session *session, const char *line, size_t length,
                const char *place)
{
	struct error error = { 0 };
	int status;

	if (memchr(line, '\0', length) != NULL)
		status = error_set(&error,
		                   "a command cannot contain a NUL byte");
	else
		status = interpret_line(session, line, length, &error);
	if (status != 0 && error.is_set)
		message(place, error.text);
	return status;
}

/* Reads a line without its end.  1, or 0 at the end, or -1 with *error set. */
static int
read_line(FILE *stream, char **line, size_t *capacity, size_t *length,
          struct error *error)
{
	int c;

	*length = 0;
	while ((c = getc_unlocked(stream)) != EOF && c != '\n') {
		if (*length == LONGEST_LINE)
			return error_set(error, "line longer than 16 MiB");
		if (memory_grow(line, capacity, *length + 1, 1, error) != 0)
			return -1;
		(*line)[(*length)++] = (char)c;
	}
	if (c == EOF && ferror(stream))
		return error_set(error, "%s", strerror(errno));
	if (c == EOF && *length == 0)
		return 0;
	/* Never NULL, so that an empty line is a line. */
	return memory_grow(line, capacity, 1, 1, error) == 0 ? 1 : -1;
}

int
script_run(struct session *session, FILE *stream, const char *name)
{
	struct error error = { 0 };
	char *line = NULL, place[300];
	size_t capacity = 0, length, number = 0;
	int status = 0, got;

	while (!session->quit_requested && !session->output_lost &&
	       (status == 0 || session->keeps_going)) {
		got = read_line(stream, &line, &capacity, &length, &error);
		if (got == 0)
			break;
		snprintf(place, sizeof place, "%.250s:%zu", name, ++number);
		if (got < 0) {
			message(place, error.text);
			status = -1;
			break;
		}
		if (script_run_line(session, line, length, place) != 0)
			status = -1;
	}
	free(line);
	return status;
}

int
script_run_file(struct session *session, const char *path,
                struct error *error)
{
	FILE *stream;
	int status;

	if (session->script_depth == DEEPEST)
		return error_set(error, "%.200s: scripts run each other "
		                 "more than %d deep", path, DEEPEST);
	stream = fopen(path, "re");
	if (stream == NULL)
		return error_set(error, "%.200s: %s", path, strerror(errno));
	session->script_depth++;
	status = script_run(session, stream, path);
	session->script_depth--;
	fclose(stream);
	return status;
}
