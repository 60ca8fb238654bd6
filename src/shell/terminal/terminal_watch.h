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
 * If standard output is a terminal, begins to watch for what any process
 * writes to it.  The echo of what is typed does not count.
 */
void terminal_watch_start(struct terminal_watch *watch);

/*
 * Ends the watch and sets saw_output: whether anything was written.  It is
 * false if that is not known.
 */
void terminal_watch_end(struct terminal_watch *watch);

#endif
