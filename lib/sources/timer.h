/* SPDX-License-Identifier: MIT */
/* timer.h -- a timer on each thread's CPU clock.
 *
 * Expiries are exact multiples of the interval, so that those of a thread add
 * up to its CPU time whatever the kernel's tick rate: a tick that comes late
 * brings the ones it missed as its overrun.  The first comes at a random point
 * of the first interval, so that on average a thread or process shorter than
 * an interval counts as much as it uses.
 *
 * A timer's signal is queued in advance, so that none is lost and none can
 * flood.  It does not make system calls fail with EINTR: Linux on x86 (5.9 and
 * later) looks at CPU timers on the way back to user space, when a call has
 * its result.
 */
#ifndef CPPROF_SOURCE_TIMER_H
#define CPPROF_SOURCE_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lib/sources/source.h"

/* CPU time: the expiries themselves. */
extern const struct source source_timer;

/*
 * The calling thread's timer, of resources.tick_ns: made and started; stopped
 * and freed.  False with errno set if it could not be made.  Not
 * from the handler; in a forked child, async-signal-safe.
 */
bool timer_start(struct thread *thread);
void timer_stop(struct thread *thread);

/*
 * Their parts, by the kernel's own calls, for other clocks and marks of whose
 * signals they are: makes a timer of a thread whose tid is known; sets it to
 * go off once, or again and again; and frees it.  Async-signal-safe.
 */
bool timer_make(struct thread *thread, clockid_t clock, const void *mark);
bool timer_set(const struct thread *thread, uint64_t first_ns,
    uint64_t interval_ns);
void timer_free(const struct thread *thread);

/*
 * Nanoseconds that an expiry stands for; and how many of these those of a
 * thread may count more than there was.  Async-signal-safe.
 */
#define TIMER_MOST_AHEAD 2
int64_t timer_unit(void);

/* Whether a signal is a timer's of ours. */
bool timer_sent(const siginfo_t *info);

#endif
