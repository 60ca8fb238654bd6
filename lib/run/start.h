/* SPDX-License-Identifier: MIT */
/* start.h -- beginning and end of processes and threads. */
#ifndef CPPROF_START_H
#define CPPROF_START_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"

/* What the room above does when sampling begins and when a thread ends. */
struct start_parts {
	/*
	 * Called when resources are chosen: opens the gates of the wrappers, or
	 * closes them all.  Not from a handler.
	 */
	void (*open_gates)(bool is_sampled);
	/*
	 * Called when the calling thread ends, perhaps cancelled in a measured
	 * call.  Async-signal-safe.
	 */
	void (*end_calls)(struct thread *thread);
};

/*
 * To be called when the library has been loaded.  Samples the process if the
 * environment says so.  If the environment asks for it, instead lists the
 * available resources (offer.h) and ends the process.  From the constructor.
 */
void start_library(const struct start_parts *parts, char **environment,
    char **words);

/*
 * Begins to sample this process, with the calling thread and the environment's
 * settings.  `output` is the absolute path of an existing directory; NULL:
 * named in the environment.  `words` is main's argv; NULL if the program may
 * have changed it.  False with errno set; *problem is then a message, or NULL.
 * Not from a handler.
 */
bool start_process(char **environment, char **words, const char *output,
    const char **problem);

/*
 * Notes that the process is about to end other than by exit; `false` takes that
 * back.  Async-signal-safe.
 */
void start_leave(bool is_leaving);

/*
 * Count what the process has used so far: start_end before an end without exit
 * handlers, start_execute before another program is executed.  start_execute
 * only in the sampled process itself (sampling_is_own_process).  start_end is
 * async-signal-safe.  May change errno.
 */
void start_end(void);
void start_execute(void);

/*
 * First in a new thread that has a state: begins the thread and starts its
 * timer.  On that thread, not from a handler.
 */
void start_thread_sampling(struct thread *thread);

/*
 * Samples the calling thread, if it is not sampled yet or sleeps.  False if
 * there is no memory.  Not from a handler.
 */
bool start_calling_thread(void);

/* Samples the interrupted thread, with that state.  In the handler. */
void start_woken_thread(struct thread *thread, const void *context);

/*
 * Waits until no other thread is just beginning or ending to be sampled, which
 * takes system calls.  After sampling_turn(false) none does.  Not from a
 * handler.
 */
void start_wait_for_changes(void);

/*
 * Stops sampling the calling thread until control.c wakes it.  Its timers are
 * freed.  Also in the handler.
 */
void start_put_to_sleep(struct thread *thread);

#endif
