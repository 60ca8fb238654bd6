/* SPDX-License-Identifier: MIT */
/* sampler.h -- ticks of CPU time, each a signal, each a sample.
 *
 * Every thread has a timer on its own CPU clock that signals that thread.  A
 * tick's hits are 1 + the timer's overrun: expiries are exact multiples of the
 * interval, so the hits of a thread add up to its CPU time whatever the
 * kernel's tick rate, without a system call.  The first expiry comes at a
 * random point of the first interval, so that on average a thread or process
 * shorter than an interval counts as much as it uses.
 *
 * The signal is SIGRTMAX - 1.  SIGPROF belongs to programs and to other
 * profilers (some install a handler for it and die of a signal they did not
 * ask for), real-time signals near the top hardly ever do, and a timer's signal
 * is queued in advance, so that none is lost and none can flood.  It does not
 * make system calls fail with EINTR: Linux on x86 (5.9 and later) looks at CPU
 * timers on the way back to user space, when a call has its result.
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
 * The calling thread's timer: made and started, stopped and freed.  False with
 * errno set if it could not be made; the thread then runs unsampled.  Not from
 * the handler; in a forked child, async-signal-safe.
 */
bool sampler_start(struct thread *thread);
void sampler_stop(struct thread *thread);

/*
 * At the thread's end: what it still owes, and the intervals since its last
 * tick, are counted as lost.  On the thread, with no ticks or with ticks held
 * off.
 */
void sampler_settle(struct thread *thread);

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
