/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress_line.c -- shows the progress of long work on a terminal.
 *
 * The line is erased with blanks, because a dumb terminal has no escape
 * sequences.
 */
#include "src/shell/terminal/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"

#define SECOND UINT64_C(1000000000)

enum { WIDTH = 36 };

static void
progress_line_show(void *context, uint64_t done, uint64_t total)
{
	struct progress_line *line = context;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	char text[WIDTH + 1];

	if (now - line->start_ns < SECOND ||
	    now - line->shown_ns < SECOND / 10)
		return;
	line->shown_ns = now;
	line->is_shown = true;
	if (line->unit != NULL)
		snprintf(text, sizeof text, "%s: %" PRIu64 " of %" PRIu64 " %s",
		         line->what, done, total, line->unit);
	else if (total > 0 && done <= total)
		snprintf(text, sizeof text, "%s: %2.0f%% of %.0f MB",
		         line->what, 100.0 * (double)done / (double)total,
		         (double)total / 1e6);
	else
		snprintf(text, sizeof text, "%s: %.0f MB", line->what,
		         (double)done / 1e6);
	fprintf(stderr, "\r%-*s", WIDTH, text);
	fflush(stderr);
}

const struct progress *
progress_line_start(struct progress_line *line, const char *what)
{
	*line = (struct progress_line){
		.progress = { .report = progress_line_show, .context = line },
		.what = what,
		.start_ns = clock_ns(CLOCK_MONOTONIC),
	};
	return isatty(STDERR_FILENO) ? &line->progress : NULL;
}

void
progress_line_end(struct progress_line *line)
{
	if (line->is_shown)
		fprintf(stderr, "\r%-*s\r", WIDTH, "");
	line->is_shown = false;
}
