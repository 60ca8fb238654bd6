/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c -- runs commands from a file. */
#include "src/shell/input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/shell/command/interpret.h"
#include "src/shell/terminal/terminal.h"

/* A script may run itself. */
enum { DEEPEST = 16 };

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

int
script_run(struct session *session, FILE *stream, const char *name)
{
	struct error error = { 0 };
	char *line = NULL, place[300];
	size_t capacity = 0, length, number = 0;
	int status = 0, got;

	while (!session->quit_requested && !session->output_lost &&
	       (status == 0 || session->keeps_going)) {
		got = text_line_read(stream, &line, &capacity, &length, &error);
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
