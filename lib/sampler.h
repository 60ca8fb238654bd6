/* SPDX-License-Identifier: MIT */
/* sampler.h -- the signal that ticks and events bring, each a sample.
 *
 * The signal is SIGRTMAX - 1.  SIGPROF belongs to programs and to other
 * profilers (some install a handler for it and die of a signal they did not
 * ask for); real-time signals near the top hardly ever do.
 */
#ifndef CPPROF_SAMPLER_H
#define CPPROF_SAMPLER_H

#include <signal.h>
#include <stdbool.h>

#include "lib/threads.h"

/* The signal, a constant of the process. */
int sampler_signal(void);

/* Whether the handler is installed: the constructor went well. */
bool sampler_is_on(void);

/* Installs the handler.  Once, from the constructor; 0, or -1 with errno. */
int sampler_install(void);

/*
 * Gives the signal back to the program, for good.  In a forked child, which
 * has one thread.  Async-signal-safe.
 */
void sampler_uninstall(void);

/*
 * What samples the calling thread (lib/resource.h): started, stopped and freed.
 * False with errno set if something could not start; the thread then runs
 * unsampled in that.  Not from the handler; in a forked child,
 * async-signal-safe.
 */
bool sampler_start(struct thread *thread);
void sampler_stop(struct thread *thread);

/*
 * Whether the program believes that our signal is blocked in this thread.  It
 * is not, until one comes that the program sent: that one is then held back by
 * the kernel as the program wants, and the thread is not sampled any more
 * (sampler_has_yielded).
 */
extern __thread volatile bool sampler_believed_blocked;
bool sampler_has_yielded(void);

/*
 * The program's own idea of our signal's action: as sigaction(2).  Not from
 * the handler.
 */
void sampler_program_action(const struct sigaction *action,
    struct sigaction *old);

#endif
