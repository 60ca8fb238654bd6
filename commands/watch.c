/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/watch.c -- repeats a command while the profile grows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/progress.h"
#include "src/shell/command/command.h"
#include "src/shell/command/interpret.h"
#include "src/shell/terminal/terminal.h"

enum { DEFAULT_SECONDS = 2, MAX_SECONDS = 86400 };

static const struct argument watch_arguments[] = {
	{ "[SECONDS] COMMAND", &arg_command_line, 0,
	  "the command to repeat, and how often (default: every 2 s)" },
	ARGUMENTS_END
};

/*
 * Reads the seconds if the text begins with a number.  Returns the command
 * after them, or NULL with *error set.
 */
static const char *
read_seconds(const char *text, double *seconds, struct error *error)
{
	char *end;

	*seconds = DEFAULT_SECONDS;
	if (strchr("0123456789.", *text) == NULL)
		return text;
	*seconds = strtod(text, &end);
	end += strspn(end, " \t");
	if (*end != '\0' && end[-1] != ' ' && end[-1] != '\t')
		return text;	/* an unknown command will be reported */
	if (!(*seconds > 0) || *seconds > MAX_SECONDS) {
		error_set(error, "%.*s: expected seconds, more than 0",
		          (int)strcspn(text, " \t"), text);
		return NULL;
	}
	if (*end == '\0') {
		error_set(error, "expected a command to repeat");
		return NULL;
	}
	return end;
}

/* Waits; false if Ctrl-C ends the wait. */
static bool
watch_wait_for(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	while (!interrupt_requested && nanosleep(&time, &time) != 0 &&
	       errno == EINTR)
		;
	return !interrupt_requested;
}

static int
repeat(struct session *session, const char *command, double seconds,
       struct error *error)
{
	for (unsigned n = 0;; n++) {
		if (sink_begin_again(session, n == 0, error) != 0 ||
		    interpret_line(session, command, strlen(command),
		                   error) != 0)
			return -1;
		if (!profile_is_growing(session->subject->profile)) {
			message_note(n == 0
			    ? "no running program is writing this profile"
			    : "the program has ended");
			return 0;
		}
		if (!watch_wait_for(seconds))
			return 0;
		if (session_reload(session, error) != 0)
			return -1;
	}
}

static int
watch_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const char *command;
	double seconds;
	int status;

	(void)table;
	command = read_seconds(arguments->values[0].text, &seconds, error);
	if (command == NULL || session_need_profile(session, error) != 0)
		return -1;
	if (session->is_watching)
		return error_set(error, "watch cannot run watch");
	session->is_watching = true;
	status = repeat(session, command, seconds, error);
	session->is_watching = false;
	if (!interrupt_requested)
		return status;
	*error = (struct error){ 0 };	/* Ctrl-C is the usual end */
	return 0;
}

const struct command command_watch = {
	.name = "watch",
	.words = COMMAND_WORDS(SHORT("w")),
	.group = GROUP_FILES,
	.summary = "repeats a command while the program runs",
	.description =
	    "For the profile of a program that is still running: shows the "
	    "command's output, reads the files again after some seconds, and "
	    "shows the new output, until the program ends or you press "
	    "Ctrl-C. On a terminal, each output replaces the one before and "
	    "is cut at the end of the screen; elsewhere, an empty line "
	    "separates them.",
	.example = "watch 1 functions",
	.arguments = watch_arguments,
	.run = watch_run,
};
