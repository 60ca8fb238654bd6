/* SPDX-License-Identifier: GPL-3.0-or-later */
/* startup.c -- runs the user's files of commands before the prompt opens. */
#include "src/shell/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/shell/terminal/terminal.h"

static const char local_file[] = ".cpprofrc";

void
startup_run_own(struct session *session)
{
	char path[PATH_MAX];
	FILE *file = settings_file_name("init", path) ? fopen(path, "re") :
	             NULL;

	if (file == NULL)
		return;
	session->reads_own_files = true;
	script_run(session, file, path);
	session->reads_own_files = false;
	fclose(file);
}

/*
 * Why an open file is not to be run, whatever the settings; NULL if it may be.
 * Whoever can write it could run commands as the user.
 */
static const char *
distrust(int descriptor)
{
	struct stat status;

	if (fstat(descriptor, &status) != 0)
		return strerror(errno);
	if (!S_ISREG(status.st_mode))
		return "it is not a plain file";
	if (status.st_uid != geteuid())
		return "it belongs to another user";
	if ((status.st_mode & S_IWOTH) != 0)
		return "everyone can write it";
	return NULL;
}

static void
run_local(struct session *session, int descriptor)
{
	FILE *file = fdopen(descriptor, "r");

	if (file == NULL) {
		message_note("%s was not read: %s", local_file,
		             strerror(errno));
		close(descriptor);
		return;
	}
	script_run(session, file, local_file);
	fclose(file);
}

void
startup_run_local(struct session *session)
{
	/* A link could lead to a file that is the user's, but not meant. */
	int descriptor = open(local_file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	                      O_NONBLOCK | O_NOCTTY);
	char path[PATH_MAX];
	const char *why;

	if (descriptor < 0) {
		if (errno != ENOENT)
			message_note("%s was not read: %s", local_file,
			             errno == ELOOP ? "it is a symbolic link" :
			             strerror(errno));
		return;
	}
	why = distrust(descriptor);
	if (why == NULL && session->settings.has_autoload) {
		run_local(session, descriptor);
		return;
	}
	close(descriptor);
	if (why != NULL)
		message_note("%s was not read: %s", local_file, why);
	else if (!session->is_quiet && settings_file_name("init", path))
		message_note("%s was not read; the line \"autoload on\" in %s "
		             "allows it", local_file, path);
}
