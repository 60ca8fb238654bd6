/* SPDX-License-Identifier: GPL-3.0-or-later */
/* departures.h -- notes when the recorded processes ended.
 *
 * A process that is killed cannot write so in its file, but the waits of its
 * threads last until that moment.  Its file is then closed, which inotify
 * reports.
 */
#ifndef CPPROF_SHELL_RECORD_DEPARTURES_H
#define CPPROF_SHELL_RECORD_DEPARTURES_H

#include <sys/types.h>

struct departures {
	int fd;			/* of inotify; -1: none */
	const char *directory;	/* borrowed */
};

void departures_begin(struct departures *departures, const char *directory);
void departures_end(struct departures *departures);

/*
 * Waits until a child has ended, but does not reap it.  While it waits, and
 * once more at the end, it notes in the files of the directory which processes
 * ended without writing so.
 */
void departures_wait(struct departures *departures, pid_t child);

#endif
