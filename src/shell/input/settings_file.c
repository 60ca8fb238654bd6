/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings_file.c -- applies the user's file of settings. */
#include "src/shell/input/input.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/terminal/terminal.h"

bool
settings_file_name(const char *file, char *path)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int length;

	if (config != NULL && config[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/cpprof/%s", config,
		                  file);
	else if (home != NULL && home[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/.config/cpprof/%s", home,
		                  file);
	else
		return false;
	return length > 0 && length < PATH_MAX;
}

/* 0 if a line sets a setting, is empty or a comment; else -1 with *error. */
static int
settings_file_check_line(const char *line, struct error *error)
{
	size_t start = strspn(line, " \t"), length;
	const struct command *command;

	line += start;
	length = strcspn(line, " \t\n");
	if (length == 0 || *line == '#')
		return 0;
	command = command_lookup(line, length, error);
	if (command == NULL)
		return -1;
	return command->set != NULL ? 0 :
	    error_set(error, "%s is not a setting: expected a line as show "
	              "prints it", command->name);
}

void
settings_file_apply(struct session *session)
{
	char path[PATH_MAX];
	FILE *file = settings_file_name("settings", path) ?
	             fopen(path, "re") : NULL;
	char *line = NULL, place[PATH_MAX + 24];
	size_t capacity;
	ssize_t length;

	if (file == NULL)
		return;
	session->reads_own_files = true;
	capacity = 0;
	for (size_t n = 1; (length = getline(&line, &capacity, file)) > 0;
	     n++) {
		struct error error = { 0 };

		length -= line[length - 1] == '\n';
		snprintf(place, sizeof place, "%s:%zu", path, n);
		if (settings_file_check_line(line, &error) != 0)
			message(place, error.text);
		else
			script_run_line(session, line, (size_t)length, place);
	}
	free(line);
	session->reads_own_files = false;
	fclose(file);
}
