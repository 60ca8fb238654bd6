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
#include "src/base/writer.h"

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
		struct error ignored = { 0 };

		*slash = '\0';
		if (own_directory_make(name, OWN_NOTHING, 0700,
		                       &ignored) == 0)
			why = 0;
		else if (why == 0)
			why = errno;
		*slash = '/';
	}
	return why;
}

/*
 * Opens the file to write; only the user may read it, as lines may be secret.
 * A link of the user's is followed.  NULL with *error set.
 */
static FILE *
open_private(const char *name, int flags, const char *mode,
             struct error *error)
{
	struct own_place place;
	struct error why = { 0 };
	FILE *file;
	int descriptor = own_file_open(&place, name, OWN_NOTHING, flags, 0600,
	                               &why);

	/* Root may have another user's home directory, after sudo. */
	if (place.is_there && S_ISREG(place.status.st_mode) &&
	    place.status.st_uid != geteuid()) {
		error_set(error, "%s belongs to another user", name);
		if (descriptor >= 0)
			close(descriptor);
		return NULL;
	}
	if (descriptor < 0) {
		error_pass(error, &why);
		return NULL;
	}
	/* An older version let everybody read it.  (It may be /dev/null.) */
	if (place.is_there && S_ISREG(place.status.st_mode) &&
	    (place.status.st_mode & 077) != 0)
		fchmod(descriptor, 0600);
	file = fdopen(descriptor, mode);
	if (file == NULL) {
		error_set(error, "%s: %s", name, strerror(errno));
		close(descriptor);
	}
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
history_rewrite(const struct history *history, const char *name)
{
	struct error ignored = { 0 };
	struct new_file file;

	if (new_file_open(&file, name, &ignored) != 0)
		return;
	for (size_t i = 0; i < history->n; i++) {
		writer_put(&file.writer, history->lines[i],
		           strlen(history->lines[i]));
		writer_put(&file.writer, "\n", 1);
	}
	new_file_close(&file, true, &ignored);
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
		history_rewrite(history, name);
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

		if (why != 0)
			error_set(error, "%s: %s", name, strerror(why));
		file = why != 0 ? NULL :
		    open_private(name, O_APPEND, "a", error);
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
