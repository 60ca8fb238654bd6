/* SPDX-License-Identifier: MIT */
/* sampler.h -- the handlers of our signals, each of which takes a sample. */
#ifndef CPPROF_SAMPLER_H
#define CPPROF_SAMPLER_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/thread.h"

/*
 * Installs the handlers and turns sampling on.  Where the program has stopped
 * sampling, a tick calls put_to_sleep for its thread, in the handler.  Once,
 * from the constructor or cpprof_start; 0, or -1 with errno.
 */
int sampler_install(void (*put_to_sleep)(struct thread *));

/*
 * Asked by the handler of ticks first: whether the signal came to make its
 * thread begin to sample itself, and then it does.  The function must not look
 * at a thread-local variable unless that is so.  Not from a handler.
 */
void sampler_on_wake(bool (*wake)(const siginfo_t *info, const void *context));

/*
 * Gives the signals back to the program, for good.  In a forked child, which
 * has one thread.  Async-signal-safe.
 */
void sampler_uninstall(void);

/*
 * What samples the calling thread (lib/sources/resource.h): started, stopped
 * and freed. False with errno set if something could not start; the thread then
 * runs unsampled in that.  Not from the handler; in a forked child,
 * async-signal-safe.
 */
bool sampler_start(struct thread *thread);
void sampler_stop(struct thread *thread);

#endif
