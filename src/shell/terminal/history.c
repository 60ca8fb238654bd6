/* SPDX-License-Identifier: GPL-3.0-or-later */
/* history.c -- the lines typed at the prompt, kept from run to run. */
#include "src/shell/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"

void
history_free(struct history *history)
{
	for (size_t i = 0; i < history->n; i++)
		free(history->lines[i]);
	free(history->lines);
	*history = (struct history){ 0 };
}

int
history_add(struct history *history, const char *line, struct error *error)
{
	size_t length = strlen(line);
	const char *last = history->n > 0
	    ? history->lines[history->n - 1] : "";
	char *copy;

	while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
		length--;
	if (length == 0 || length > HISTORY_LONGEST ||
	    (strlen(last) == length && memcmp(last, line, length) == 0))
		return 0;
	if (memory_grow(&history->lines, &history->capacity, history->n + 1,
	                sizeof *history->lines, error) != 0)
		return -1;
	copy = strndup(line, length);
	if (copy == NULL)
		return error_out_of_memory(error);
	history->lines[history->n++] = copy;
	return 0;
}

/*
 * The file's name, which the caller frees; "" if there is no home directory.
 * NULL with *error set.
 */
static char *
file_name(struct error *error)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *name = NULL;
	int length;

	if (state != NULL && state[0] == '/')
		length = asprintf(&name, "%s/cpprof/history", state);
	else if (home != NULL && home[0] == '/')
		length = asprintf(&name, "%s/.local/state/cpprof/history",
		                  home);
	else
		return memory_string("", error);
	if (length < 0) {
		error_out_of_memory(error);
		return NULL;
	}
	return name;
}

/*
 * Makes the directories of a file name, as mkdir -p does.  Returns the errno
 * of the first that is still missing, or 0.
 */
static int
make_directories(char *name)
{
	int why = 0;

	for (char *slash = strchr(name + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(name, 0700) == 0 || errno == EEXIST)
			why = 0;
		else if (why == 0)
			why = errno;
		*slash = '/';
	}
	return why;
}

/* Opens a file to write; only the user may read it, as lines may be secret. */
static FILE *
open_private(const char *name, int flags, const char *mode)
{
	int descriptor = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags,
	                      0600);
	struct stat status;
	FILE *file;

	if (descriptor < 0)
		return NULL;
	/* An older version let everybody read it.  (It may be /dev/null.) */
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
	    (status.st_mode & 077) != 0)
		fchmod(descriptor, 0600);
	file = fdopen(descriptor, mode);
	if (file == NULL)
		close(descriptor);
	return file;
}

static void
drop_oldest(struct history *history, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(history->lines[i]);
	history->n -= n;
	history->n_saved -= n;
	memmove(history->lines, history->lines + n,
	        history->n * sizeof *history->lines);
}

/* Writes all lines to a new file, which then replaces the old one. */
static void
rewrite_file(const struct history *history, const char *name)
{
	char *new_name = NULL;
	FILE *file;

	if (asprintf(&new_name, "%s.new", name) < 0)
		return;
	file = open_private(new_name, O_TRUNC | O_NOFOLLOW, "w");
	if (file != NULL) {
		for (size_t i = 0; i < history->n; i++)
			fprintf(file, "%s\n", history->lines[i]);
		if (fclose(file) != 0 || rename(new_name, name) != 0)
			unlink(new_name);
	}
	free(new_name);
}

int
history_load(struct history *history, struct error *error)
{
	char *name = file_name(error);
	FILE *file;
	int status = 0;

	if (name == NULL)
		return -1;
	file = *name != '\0' ? fopen(name, "re") : NULL;
	if (file != NULL) {
		char *line = NULL;
		size_t size = 0;
		ssize_t length;

		while (status == 0 &&
		       (length = getline(&line, &size, file)) >= 0) {
			if (length > 0 && line[length - 1] == '\n')
				line[length - 1] = '\0';
			status = history_add(history, line, error);
		}
		free(line);
		fclose(file);
	}
	history->n_saved = history->n;
	if (history->n > 2 * HISTORY_MOST) {
		drop_oldest(history, history->n - HISTORY_MOST);
		rewrite_file(history, name);
	}
	free(name);
	return status;
}

int
history_save(struct history *history, struct error *error)
{
	char *name = file_name(error);
	FILE *file;
	int status = 0;

	if (name == NULL)
		return -1;
	if (*name != '\0' && history->n_saved < history->n) {
		int why = make_directories(name);

		file = open_private(name, O_APPEND, "a");
		if (file == NULL)
			error_set(error, "%s: %s", name,
			          strerror(why != 0 ? why : errno));
		for (size_t i = history->n_saved;
		     file != NULL && i < history->n; i++)
			fprintf(file, "%s\n", history->lines[i]);
		if (file != NULL && fclose(file) != 0)
			error_set(error, "%s: %s", name, strerror(errno));
		status = error->is_set ? -1 : 0;
		history->n_saved = history->n;
	}
	free(name);
	return status;
}
