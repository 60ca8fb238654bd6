/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress_line.h -- how far long work is, on a terminal. */
#ifndef CPPROF_SHELL_TERMINAL_PROGRESS_LINE_H
#define CPPROF_SHELL_TERMINAL_PROGRESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/progress.h"

struct progress_line {
	struct progress progress;
	const char *what;		/* "loading" */
	uint64_t start_ns, shown_ns;
	bool is_shown;
};

/*
 * For the work that starts now: a line on standard error once it has taken a
 * second, and nothing where that is no terminal.  Valid until _end, which
 * erases the line.
 */
const struct progress *progress_line_start(struct progress_line *line,
                                           const char *what);
void progress_line_end(struct progress_line *line);

#endif
