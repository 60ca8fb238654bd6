/* SPDX-License-Identifier: MIT */
/* perf-clock.h -- CPU time by a perf event: who says what its traps do not see.
 *
 * Without rights the event traps in user mode alone.  Each of its traps is then
 * one period, of user mode; the rest of the thread's CPU time was spent in the
 * kernel, and goes to where ticks find the thread in the kernel, and nowhere
 * else (lib/sources/tick-mode.h).
 *
 * An event that runs on the kernel's fine timers has these set anew each time
 * that its thread leaves a processor and comes back.  Where threads do that all
 * the time, it costs more than the samples, and its cost falls into the calls
 * that wait; and what passes between the thread's clock and the event's goes to
 * wherever the next trap is.  So such a thread has its event closed, and is
 * sampled at ticks (CPPROFDATA_CLOCK_GIVEN_UP) until it switches less.
 *
 * And should an event have stopped to trap, as some under --random have on a
 * busy machine for a quarter of a second, ticks notice: it is opened anew.
 *
 * All of this is for the handler, on the thread, or with its ticks and traps
 * held off; async-signal-safe.
 */
#ifndef CPPROF_PERF_CLOCK_H
#define CPPROF_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"

/* A new event, on a thread that begins. */
void perf_clock_start(struct thread *thread, unsigned column);

/* New hits at a trap of a period's length. */
uint64_t perf_clock_trap(struct thread *thread, unsigned column,
    uint64_t period);

/* At the end of the handler of such a trap. */
void perf_clock_end_trap(struct thread *thread);

/* New hits at a tick, or with no expiries when the thread ends. */
uint64_t perf_clock_tick(struct thread *thread, unsigned column,
    uint64_t expiries);

/*
 * The sample of that tick has been taken, or put off: then the kernel's part
 * waits for another such tick.  Whether the event is to be opened anew.
 */
bool perf_clock_end_tick(struct thread *thread, unsigned column);

/*
 * Looks, once in a while, at how often the thread switches: the event is to be
 * closed, or opened again, and is_given_up says so from then on.
 */
enum perf_clock_change {
	PERF_CLOCK_AS_IT_WAS, PERF_CLOCK_GIVE_UP, PERF_CLOCK_TAKE_UP
};
enum perf_clock_change perf_clock_look(struct thread *thread);

#endif
