/* SPDX-License-Identifier: GPL-3.0-or-later */
/* departures.h -- when the recorded processes went.
 *
 * A process that is killed does not say so in its file, and what its threads
 * waited for lasts up to then.  But its file is closed for good at that moment,
 * of which the directory's watchers learn.
 */
#ifndef CPPROF_SHELL_RECORD_DEPARTURES_H
#define CPPROF_SHELL_RECORD_DEPARTURES_H

#include <sys/types.h>

struct departures {
	int fd;			/* inotify; -1: none to be had */
	const char *directory;	/* the caller's */
};

void departures_begin(struct departures *departures, const char *directory);
void departures_end(struct departures *departures);

/*
 * Waits until a child has ended, which is left to be reaped.  Meanwhile, and
 * once more then, notes in the files of the directory which processes have
 * gone without an end.
 */
void departures_wait(struct departures *departures, pid_t child);

#endif
