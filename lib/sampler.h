/* SPDX-License-Identifier: MIT */
/* sampler.h -- the signals that ticks and events bring, each a sample.
 *
 * Ticks come as SIGRTMAX - 1.  SIGPROF belongs to programs and to other
 * profilers (some install a handler for it and die of a signal they did not
 * ask for); real-time signals near the top hardly ever do.  Perf events come
 * as SIGTRAP, which is the kernel's choice, and which is ours only where there
 * are such events.
 */
#ifndef CPPROF_SAMPLER_H
#define CPPROF_SAMPLER_H

#include <signal.h>
#include <stdbool.h>

#include "lib/threads.h"

/* The signal of ticks, a constant of the process. */
int sampler_signal(void);

/* Whether a signal is one of ours; the set of those that are. */
bool sampler_takes(int number);
void sampler_signals(sigset_t *set);

/* Those that are to be unblocked in this thread: all while sampling is on. */
void sampler_unblocked_signals(sigset_t *set);

/* Whether the handlers are installed: the constructor went well. */
bool sampler_is_on(void);

/* Installs the handlers.  Once, from the constructor; 0, or -1 with errno. */
int sampler_install(void);

/*
 * The handler stays, for signals that are on their way, and does nothing;
 * sampler_is_on is false.
 */
void sampler_give_up(void);

/* From now on the handler runs on the stack that it interrupts. */
void sampler_avoid_alternate_stack(void);

/*
 * Gives the signals back to the program, for good.  In a forked child, which
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
 * Whether the program believes that a signal of ours is blocked in this
 * thread.  It is not, until one comes that the program sent: that one is then
 * held back by the kernel as the program wants, and the thread is not sampled
 * any more (sampler_has_yielded).
 */
bool sampler_is_believed_blocked(int number);
void sampler_believe_blocked(int number, bool is_blocked);
bool sampler_has_yielded(void);

/*
 * The program's own idea of the action of a signal of ours: as sigaction(2).
 * Not from the handler.
 */
void sampler_program_action(int number, const struct sigaction *action,
    struct sigaction *old);

#endif
