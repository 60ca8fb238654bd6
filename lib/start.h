/* SPDX-License-Identifier: MIT */
/* start.h -- beginning and end of processes and threads. */
#ifndef CPPROF_START_H
#define CPPROF_START_H

#include <stdbool.h>

#include "lib/threads.h"

/*
 * Whether the collector is on.  Finds out, too, that this is a forked child
 * whose fork we did not see (a raw clone), and sets it up.  Not from the
 * handler.
 */
bool start_check_process(void);

/*
 * Whether the collector's memory and timers are this process's own: not those
 * of the parent of a vfork, and not a copy that has not been set up yet.
 * Async-signal-safe.
 */
bool start_is_own_process(void);

/* First thing in a thread that has a state: begins it and starts its timer. */
void start_thread_sampling(struct thread *thread);

#endif
