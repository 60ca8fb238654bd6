/* SPDX-License-Identifier: MIT */
/* start.h -- beginning and end of processes and threads. */
#ifndef CPPROF_START_H
#define CPPROF_START_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"

/* What the room above does at the beginning, and where a thread ends. */
struct start_parts {
	/*
	 * Resources are chosen: functions that stand before those of the C
	 * library measure what is wanted, or nothing.  Not from a handler.
	 */
	void (*open_gates)(bool is_sampled);
	/*
	 * The calling thread ends, perhaps cancelled in a call that is measured.
	 * Async-signal-safe.
	 */
	void (*end_calls)(struct thread *thread);
};

/*
 * The library has been loaded: samples the process, if the environment says so.
 * Or, if that asks for it, tells the launcher which resources can be had here
 * (offer.h), and ends the process.  From the constructor.
 */
void start_library(const struct start_parts *parts, char **environment,
    char **words);

/*
 * Begins to sample this process, with the calling thread.  With the
 * environment's settings; `output` is the absolute path of an existing
 * directory, or NULL: the environment's.  `words`: as main gets them, NULL
 * where they may have changed.  False with errno set; *problem is what to tell
 * the user, NULL if nothing.  Not from a handler.
 */
bool start_process(char **environment, char **words, const char *output,
    const char **problem);

/*
 * Notes that the process is about to leave in another way than by exit, which
 * `false` takes back.  Async-signal-safe.
 */
void start_leave(bool is_leaving);

/*
 * What the process has used is counted: it ends without exit handlers, or is
 * about to execute another program.  Of its own process (see above) it is; the
 * first async-signal-safe.  May change errno.
 */
void start_end(void);
void start_execute(void);

/* First thing in a thread that has a state: begins it and starts its timer. */
void start_thread_sampling(struct thread *thread);

/* Samples the calling thread, which is not sampled yet or sleeps. */
bool start_calling_thread(void);

/* The same for the interrupted thread, with that state.  In the handler. */
void start_woken_thread(struct thread *thread, const void *context);

/*
 * Samples the calling thread no more until it is woken, which control.h tells
 * to.  Its timers are gone.  Also in the handler.
 */
void start_put_to_sleep(struct thread *thread);

#endif
