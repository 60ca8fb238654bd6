/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress_line.h -- shows the progress of long work on a terminal. */
#ifndef CPPROF_SHELL_TERMINAL_PROGRESS_LINE_H
#define CPPROF_SHELL_TERMINAL_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/progress.h"

struct progress_line {
	struct progress progress;
	const char *what;		/* "loading" */
	const char *unit;		/* "files"; NULL: what counts is bytes */
	uint64_t start_ns, shown_ns;
	bool is_shown;
};

/*
 * Starts a line on standard error, which appears after the work has taken a
 * second.  Returns what the work reports to, valid until progress_line_end,
 * which erases the line; NULL if standard error is no terminal.
 */
const struct progress *progress_line_start(struct progress_line *line,
                                           const char *what);
void progress_line_end(struct progress_line *line);

#endif
