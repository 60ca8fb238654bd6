/* SPDX-License-Identifier: MIT */
/* sampler.h -- the handlers of our signals, each of which takes a sample.
 *
 * All functions: not from a handler, unless stated otherwise.
 */
#ifndef CPPROF_SAMPLER_H
#define CPPROF_SAMPLER_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/thread.h"

/*
 * Installs the handlers and turns sampling on.  If the program has stopped
 * sampling, a thread's next tick calls put_to_sleep, in the handler.  False
 * with errno set.  From the constructor or cpprof_start.
 */
bool sampler_install(void (*put_to_sleep)(struct thread *));

/*
 * Sets a function that the handler of ticks calls first: whether the signal was
 * sent to make its thread begin sampling, which the function then does.  It
 * must not touch thread-local variables otherwise.
 */
void sampler_on_wake(bool (*wake)(const siginfo_t *info, const void *context));

/*
 * Gives the signals back to the program, for good.  In a forked child, which
 * has only one thread.  Async-signal-safe.
 */
void sampler_uninstall(void);

/*
 * Start the calling thread's sources (lib/sources/resource.h), and stop and
 * free them.  False with errno set if one could not start; the thread then runs
 * without it.  sampler_start is async-signal-safe in a forked child,
 * sampler_stop also in the handler.
 */
bool sampler_start(struct thread *thread);
void sampler_stop(struct thread *thread);

#endif
