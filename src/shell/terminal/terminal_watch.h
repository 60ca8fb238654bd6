/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal_watch.h -- whether something was written to the terminal. */
#ifndef CPPROF_SHELL_TERMINAL_TERMINAL_WATCH_H
#define CPPROF_SHELL_TERMINAL_TERMINAL_WATCH_H

#include <stdbool.h>
#include <time.h>

struct terminal_watch {
	bool is_on;
	struct timespec written;
	bool saw_output;
};

/*
 * Watches the terminal on standard output, where that is one, for what any
 * process writes to it; what is typed and echoed does not count.
 */
void terminal_watch_start(struct terminal_watch *watch);

/*
 * Ends it: saw_output says whether anything was; false also where that cannot
 * be told.
 */
void terminal_watch_end(struct terminal_watch *watch);

#endif
