/* SPDX-License-Identifier: MIT */
/* perf-clock.h -- CPU time by a perf event, and what the event does not see.
 *
 * Without privileges, the event traps only in user mode.  Each trap then is one
 * period of user mode; a period that ends in the kernel is repeated.  The rest
 * of the thread's CPU time was spent in the kernel.  It is charged only where
 * ticks find the thread in the kernel (lib/sources/tick-mode.h).
 *
 * Unless the user has chosen the interval, samples are one interval apart at
 * the beginning of a recording and several of them later, and then stand for as
 * many hits.  So a short run has enough samples and a long one costs little.
 * The pace depends on nothing but the CPU time of the whole recording, and each
 * thread begins and changes it at a random point of an interval.  The intervals
 * of its first samples have no memory (lib/base/meter.h), since these cost most.
 * So it is equally likely for each microsecond to be counted, whatever its age
 * in its thread or process.
 *
 * An event uses the kernel's high-resolution timers, which are set again each
 * time the thread leaves a processor and comes back.  If a thread does this
 * very often, it costs more than the samples, and the cost falls into the calls
 * that wait; the difference between the thread's clock and the event's goes to
 * wherever the next trap is.  Therefore such a thread's event is closed, and
 * the thread is sampled at ticks (CPPROFDATA_CLOCK_GIVEN_UP) until it switches
 * less.
 *
 * If an event has stopped trapping, as some with --random have for a quarter of
 * a second on a busy machine, ticks notice, and it is opened again.
 *
 * All functions: async-signal-safe, in the handler on the thread, or with its
 * ticks and traps held off.
 */
#ifndef CPPROF_PERF_CLOCK_H
#define CPPROF_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"

/* Begins a new event on a thread. */
void perf_clock_start(struct thread *thread, unsigned column);

/*
 * After a thread's first samples: makes intervals differ by no more than they
 * have to.  They are drawn between half and one and a half of their mean, if
 * they are random or are to be out of step with the program's timers, or fixed,
 * if not or if the kernel is to repeat them.  If this changes them, the new ones
 * begin at a random point of the first: returns true, and the next boundary is
 * the end of another period.
 */
bool perf_clock_settle(struct thread *thread, unsigned column,
    bool is_repeated);

/*
 * Whether the period in progress does not end at the meter's next boundary.
 */
bool perf_clock_must_set(const struct thread *thread);

/*
 * The period to set now, at least `least`, so that the event traps after
 * `period` since the boundary that was due last.
 */
uint64_t perf_clock_set(struct thread *thread, uint64_t period,
    uint64_t least);

/*
 * The new hits for what the collector itself has used since the trap.  The
 * thread's clock counts that as the time of the interrupted code, so the hits
 * belong there and not to wherever the thread goes next.
 */
uint64_t perf_clock_own(struct thread *thread, unsigned column);

/* The new hits at its own trap, or at that of another event. */
uint64_t perf_clock_trap(struct thread *thread, unsigned column,
    bool is_own_trap);

/* To be called at the end of the handler of such a trap. */
void perf_clock_end_trap(struct thread *thread);

/* The new hits at a tick; with 0 expiries, when the thread ends. */
uint64_t perf_clock_tick(struct thread *thread, unsigned column,
    uint64_t expiries);

/*
 * To be called when that tick's sample has been taken or deferred.  If it was
 * deferred, the kernel's part waits for another such tick.  Returns whether the
 * event must be opened again.
 */
bool perf_clock_end_tick(struct thread *thread, unsigned column);

/*
 * Checks from time to time how often the thread switches, and says whether its
 * event is to be closed (given up) or opened again.  is_given_up is set
 * accordingly.
 */
enum perf_clock_change {
	PERF_CLOCK_UNCHANGED, PERF_CLOCK_CLOSE, PERF_CLOCK_OPEN
};
enum perf_clock_change perf_clock_check(struct thread *thread);

#endif
