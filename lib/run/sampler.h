/* SPDX-License-Identifier: MIT */
/* sampler.h -- the handlers of our signals, each of which takes a sample. */
#ifndef CPPROF_SAMPLER_H
#define CPPROF_SAMPLER_H

#include <stdbool.h>

#include "lib/run/threads.h"

/* Whether the handlers are installed: the constructor went well. */
bool sampler_is_on(void);

/* Installs the handlers.  Once, from the constructor; 0, or -1 with errno. */
int sampler_install(void);

/*
 * The handler stays, for signals that are on their way, and does nothing;
 * sampler_is_on is false.
 */
void sampler_give_up(void);

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
