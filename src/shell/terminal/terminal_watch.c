/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal_watch.c -- whether something was written to the terminal.
 *
 * A terminal's modification time says when it was last written to, but only to
 * eight seconds, so that nobody learns from it when keys are pressed.  Many
 * programs end sooner.  Therefore the time is first set back by more than
 * eight seconds, which the owner of the terminal may do.  On another user's
 * terminal (after su), output is only noticed in a later interval of eight
 * seconds.
 */
#include "src/shell/terminal/terminal.h"

#include <sys/stat.h>
#include <unistd.h>

enum { BACK_SECONDS = 16 };

static bool
get_written(struct timespec *written)
{
	struct stat status;

	if (!isatty(STDOUT_FILENO) || fstat(STDOUT_FILENO, &status) != 0)
		return false;
	*written = status.st_mtim;
	return true;
}

void
terminal_watch_start(struct terminal_watch *watch)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };

	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= BACK_SECONDS;
	if (isatty(STDOUT_FILENO))
		futimens(STDOUT_FILENO, times);
	watch->saw_output = false;
	watch->is_on = get_written(&watch->written);
}

void
terminal_watch_end(struct terminal_watch *watch)
{
	struct timespec now;

	watch->saw_output = watch->is_on && get_written(&now) &&
	    (now.tv_sec != watch->written.tv_sec ||
	     now.tv_nsec != watch->written.tv_nsec);
}
