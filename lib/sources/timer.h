/* SPDX-License-Identifier: MIT */
/* timer.h -- a timer on each thread's CPU clock.
 *
 * Expiries are exact multiples of the interval.  So those of a thread add up to
 * its CPU time at any tick rate of the kernel: a late tick brings the ones it
 * missed as its overrun.  The first comes at a random point of the first
 * interval, so that on average a thread or process shorter than an interval
 * counts as much as it uses.
 *
 * A timer's signal is allocated in advance, so none is lost and signals cannot
 * pile up.  It does not make system calls fail with EINTR: Linux on x86 (5.9
 * and later) checks CPU timers on the way back to user space, when a call has
 * its result.
 */
#ifndef CPPROF_SOURCE_TIMER_H
#define CPPROF_SOURCE_TIMER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "lib/base/thread.h"
#include "lib/sources/resource.h"
#include "lib/store/tree.h"

struct leftover;

/* CPU time: counts the expiries themselves. */
extern const struct resource_source source_timer;

/*
 * Create and start the calling thread's timer, with interval resources.tick_ns;
 * stop and free it.  False with errno set if it could not be created.  Not from
 * a handler; async-signal-safe in a forked child.
 */
bool timer_start(struct thread *thread);
void timer_stop(struct thread *thread);

/* Changes the interval of its ticks.  On the thread; async-signal-safe. */
void timer_change(struct thread *thread, uint64_t tick_ns);

/*
 * The parts of these, by raw system calls, for other clocks and marks: create a
 * timer for a thread whose tid is known; set it to expire once or repeatedly;
 * free it.  Async-signal-safe.
 */
bool timer_make(struct thread *thread, clockid_t clock, const void *mark);
bool timer_set(const struct thread *thread, uint64_t first_ns,
    uint64_t interval_ns);
void timer_free(const struct thread *thread);

/*
 * The nanoseconds that an expiry counts for; a thread's expiries may count at
 * most TIMER_MOST_AHEAD of these more than it has used.  Async-signal-safe.
 */
#define TIMER_MOST_AHEAD 2
int64_t timer_unit(void);

/*
 * When a thread ends: leaves the CPU time that no tick has counted to others
 * with the same start routine.  On the thread, after its last sample.
 */
void timer_leave(struct thread *thread);

/*
 * At the end of the process: the hits that stand for the time which nobody has
 * taken, if it is more than an expiry counts for; the rest in ns, which may be
 * negative.  Each takes it.
 */
uint64_t timer_lose(struct leftover *leftover);
int64_t timer_take_rest(struct leftover *leftover);

/* Whether a signal comes from one of our timers.  Async-signal-safe. */
bool timer_sent(const siginfo_t *info);

/* ---- unfound.c ---- */

/*
 * Real time of threads that is in no sample.
 *
 * It is time outside calls before the first tick that finds a thread, and after
 * the last one (lib/wrap/wrapped.c).  A thread with many samples counts it at
 * the first and the last of these when it ends.  Other threads leave that time,
 * or what was counted too much, to threads with the same start routine.  These
 * count it where their first ticks have found them, when that happens or when
 * they end.
 * So the time of many short threads is spread as their first ticks are.  At the
 * end of the process, the rest is lost, or if it is less than a tick, passes to
 * the next process of the same program.
 */

struct leftover;

/*
 * Notes the node of a sample with these columns.  Async-signal-safe, on the
 * thread.
 */
void unfound_note_sample(struct thread *thread, uint32_t columns,
    const struct node *node);

/*
 * Counts time at the thread's last sample, if that is possible now; returns how
 * much was counted.  In the handler.
 */
uint64_t unfound_count_back(struct thread *thread, uint64_t ns);

/*
 * When a thread ends: counts what others have left, and leaves its own time.
 * On the thread, after its last sample.
 */
void unfound_leave(struct thread *thread);

/*
 * What ended threads have left, in ns, perhaps negative; the caller takes it.
 * Async-signal-safe.
 */
int64_t unfound_take(struct leftover *leftover);

/*
 * At the end of the process: the hits that stand for it, if it is more than a
 * tick counts for; takes these, and leaves the rest.  Real time is sampled.
 */
uint64_t unfound_lose(struct leftover *leftover);

/*
 * How long the calling thread has waited for a processor so far, in ns; false
 * if the kernel does not tell.  Async-signal-safe.
 */
bool unfound_read_delay(uint64_t *ns);

#endif
