/* SPDX-License-Identifier: MIT */
/* perf-clock.c -- CPU time that a perf event does not see. */
#include "lib/sources/perf-clock.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/process.h"
#include "lib/signals/ours.h"
#include "lib/sources/resource.h"
#include "lib/sources/thread-meters.h"
#include "lib/sources/usage.h"

#define LOOK_US 10000		/* of CPU time, between two looks at switches, */
#define LONG_LOOK_US 200000	/* and where it is given up */
#define STALLED_TICKS 8		/* that long without a trap that is due, */
#define STALLED_PERIODS 8	/* or as many of user mode */
#define SWITCHES_MAX 2000	/* in a second of CPU time */

static uint64_t
count_switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		return 0;
	return (uint64_t)usage.ru_nvcsw;
}

void
perf_clock_start(struct thread *thread, unsigned column)
{
	const struct meter *meter = &thread->meters->accounts[column].meter;

	thread->meters->clock = (struct perf_clock){
		.n_switches = count_switches(),
		.looked_us = process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000,
	};
	meter_start(&thread->meters->clock.of_kernel, meter->interval,
	    resources.is_random, meter->left + ((uint64_t)thread->tid << 40));
}

/*
 * The trap's way into the handler and the handler's own system calls are of the
 * kernel, too, and a tick may find those.  It waits for the handler's end then.
 */
static bool
is_tick_pending(void)
{
	uint64_t pending;

	return arch_system_call(SYS_rt_sigpending, (long)&pending,
	    sizeof pending, 0, 0) == 0 &&
	    (pending >> (signals_number(OUR_TICKS) - 1) & 1) != 0;
}

void
perf_clock_end_trap(struct thread *thread)
{
	if (thread->meters->clock.is_of_user_mode && is_tick_pending())
		thread->meters->clock.is_own_tick = true;
}

/*
 * A trap stands for its whole period, though a tick may have charged a part of
 * that time to the kernel: the next such ticks are charged as much less.  Where
 * the event's clock is faster than the thread's, as on a virtual machine that
 * others put off, the account stays at most two intervals ahead.
 */
static uint64_t
user_hits(struct thread *thread, unsigned column, uint64_t period)
{
	struct account *account = &thread->meters->accounts[column];
	const uint64_t most = process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000 +
	    2 * account->meter.interval;
	const uint64_t spent = most - account->seen;

	if (period > spent)
		period = spent;
	account->seen += period;
	return meter_spend(&account->meter, period);
}

uint64_t
perf_clock_trap(struct thread *thread, unsigned column, uint64_t period)
{
	thread->meters->clock.n_user_ticks = 0;
	if (thread->meters->clock.is_given_up)	/* and this was on its way */
		return 0;
	if (!thread->meters->clock.is_of_user_mode)
		return usage_hits_of(thread, column, UINT64_MAX);
	return user_hits(thread, column, period);
}

static bool
has_found_kernel(struct thread *thread)
{
	const bool is_own = thread->meters->clock.is_own_tick;

	thread->meters->clock.is_own_tick = false;
	return !is_own && thread->meters->tick_mode == TICK_OF_KERNEL;
}

/*
 * What is charged at a tick is from the last such tick up to it; so what comes
 * after the last one of a thread is never charged.  A tick's worth at the first
 * one makes good for that, less an interval, which traps may be ahead at the
 * end.  If the first tick of all is such a one, the time up to it is a part of
 * that worth.
 */
static uint64_t
kernel_hits(struct thread *thread, unsigned column)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct account *account = &thread->meters->accounts[column];
	uint64_t us = usage_unseen(thread, column), more = 0;

	account->seen += us;
	if (!clock->has_met_kernel) {
		const uint64_t less = clock->has_met_tick ?
		    account->meter.interval : us;

		more = process_kernel_tick() / 1000;
		more -= less < more ? less : more;
	}
	clock->has_met_kernel = true;
	return meter_spend(&clock->of_kernel, us + more);
}

static uint64_t
last_hits(struct thread *thread, unsigned column)
{
	const uint64_t tick_us = process_kernel_tick() / 1000;
	uint64_t us = usage_unseen(thread, column);

	if (thread->meters->clock.is_of_user_mode && !thread->meters->clock.is_given_up)
		us -= us < tick_us ? us : tick_us;
	return usage_hits_of(thread, column, us);
}

/* Hits of an event that should have trapped by now, and has not. */
static uint64_t
stalled_hits(struct thread *thread, unsigned column)
{
	struct perf_clock *clock = &thread->meters->clock;
	const uint64_t tick_us = process_kernel_tick() / 1000,
	    period = thread->meters->accounts[column].period;
	uint64_t most = UINT64_MAX;

	/* Periods may end in the kernel, and a few in a row will. */
	if (clock->is_of_user_mode) {
		clock->n_user_ticks += thread->meters->tick_mode == TICK_OF_USER;
		most = clock->n_user_ticks * tick_us;
		clock->is_stalled = clock->n_user_ticks >= STALLED_TICKS &&
		    most >= STALLED_PERIODS * period;
	} else {
		clock->is_stalled = usage_unseen(thread, column) >
		    period + STALLED_TICKS * tick_us;
	}
	if (!clock->is_stalled)
		return 0;
	clock->n_user_ticks = 0;
	return usage_hits_of(thread, column, most);
}

uint64_t
perf_clock_tick(struct thread *thread, unsigned column, uint64_t expiries)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct account *account = &thread->meters->accounts[column];
	uint64_t hits = 0;

	if (expiries == 0)
		return last_hits(thread, column);
	clock->is_at_tick = clock->is_of_user_mode && has_found_kernel(thread);
	if (clock->is_given_up) {
		clock->is_at_tick = false;
		hits = usage_hits(thread, column, expiries);
	} else if (clock->is_at_tick) {
		clock->seen = account->seen;
		clock->had_met_kernel = clock->has_met_kernel;
		clock->left = clock->of_kernel.left;
		clock->aside = account->owed;
		account->owed = 0;
		hits = kernel_hits(thread, column);
	} else {
		hits = stalled_hits(thread, column);
	}
	clock->has_met_tick = true;
	return hits;
}

bool
perf_clock_end_tick(struct thread *thread, unsigned column)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct account *account = &thread->meters->accounts[column];
	const bool is_stalled = clock->is_stalled;

	clock->is_stalled = false;
	if (!clock->is_at_tick)
		return is_stalled;
	clock->is_at_tick = false;
	if (account->owed > 0) {
		account->seen = clock->seen;
		clock->has_met_kernel = clock->had_met_kernel;
		clock->of_kernel.left = clock->left;
	}
	account->owed = clock->aside;
	return is_stalled;
}

enum perf_clock_change
perf_clock_look(struct thread *thread)
{
	struct perf_clock *clock = &thread->meters->clock;
	const bool was_given_up = clock->is_given_up;
	const uint64_t now_us = process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000;
	const uint64_t us = now_us - clock->looked_us;
	uint64_t n, rate;

	if (us < (was_given_up ? LONG_LOOK_US : LOOK_US))
		return PERF_CLOCK_AS_IT_WAS;
	n = count_switches();
	rate = (n - clock->n_switches) * 1000000 / us;
	clock->n_switches = n;
	clock->looked_us = now_us;
	clock->is_given_up = rate > (was_given_up ? SWITCHES_MAX / 4 :
	    SWITCHES_MAX);
	if (clock->is_given_up == was_given_up)
		return PERF_CLOCK_AS_IT_WAS;
	return was_given_up ? PERF_CLOCK_TAKE_UP : PERF_CLOCK_GIVE_UP;
}
