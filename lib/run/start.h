/* SPDX-License-Identifier: MIT */
/* start.h -- beginning and end of processes and threads. */
#ifndef CPPROF_START_H
#define CPPROF_START_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/run/threads.h"

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

/* 0 before; and in children, even of a raw fork, until they are set up. */
extern volatile uint32_t start_same_process;

/* Whether the memory is that of the sampled process: also in a child of vfork. */
bool start_is_own_memory(void);

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
