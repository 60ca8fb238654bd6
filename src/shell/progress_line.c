/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress_line.c -- how far long work is, on a terminal. */
#include "src/shell/progress_line.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void
show(void *context, uint64_t done, uint64_t total)
{
	struct progress_line *line = context;
	uint64_t now = now_ns();

	if (now - line->start_ns < SECOND ||
	    now - line->shown_ns < SECOND / 10)
		return;
	line->shown_ns = now;
	line->is_shown = true;
	if (total > 0 && done <= total)
		fprintf(stderr, "\r%s: %2.0f%% of %.0f MB\033[K", line->what,
		        100.0 * (double)done / (double)total,
		        (double)total / 1e6);
	else
		fprintf(stderr, "\r%s: %.0f MB\033[K", line->what,
		        (double)done / 1e6);
	fflush(stderr);
}

const struct progress *
progress_line_start(struct progress_line *line, const char *what)
{
	*line = (struct progress_line){
		.progress = { .report = show, .context = line },
		.what = what,
		.start_ns = now_ns(),
	};
	return isatty(STDERR_FILENO) ? &line->progress : NULL;
}

void
progress_line_end(struct progress_line *line)
{
	if (line->is_shown)
		fputs("\r\033[K", stderr);
	line->is_shown = false;
}
