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

#define CHECK_US 10000		/* CPU time between two checks of switches, */
#define LONG_CHECK_US 200000	/* and while the event is closed */
#define STALLED_TICKS 8		/* ticks without a trap that is due, */
#define STALLED_PERIODS 8	/* or periods of user mode */
#define SWITCHES_MAX 2000	/* per second of CPU time */

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
		.checked_us = process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000,
	};
	meter_start(&thread->meters->clock.of_kernel, meter->interval,
	    resources.is_random, meter->left + ((uint64_t)thread->tid << 40));
}

/*
 * The trap's way into the handler and the handler's own system calls are kernel
 * time, too.  A tick that finds those waits for the end of the handler.
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
 * A trap counts its whole period, although a tick may have charged a part of
 * that time to the kernel; the following such ticks are charged less.  If the
 * event's clock is faster than the thread's, as on a virtual machine that was
 * not running, the account stays at most two intervals ahead.
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
	if (thread->meters->clock.is_given_up)	/* a trap that was still on its
						   way */
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
 * A kernel tick charges the time since the last kernel tick, so the time after
 * a thread's last one is never charged.  To compensate, the first one counts a
 * whole tick more, minus an interval, because traps may be that far ahead at
 * the end.  If the thread's first tick is a kernel tick, the time up to it is
 * part of that tick.
 */
static uint64_t
kernel_hits(struct thread *thread, unsigned column)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct account *account = &thread->meters->accounts[column];
	uint64_t us = usage_unseen(thread, column), more = 0;

	account->seen += us;
	if (!clock->has_seen_kernel) {
		const uint64_t less = clock->has_seen_tick ?
		    account->meter.interval : us;

		more = process_kernel_tick() / 1000;
		more -= less < more ? less : more;
	}
	clock->has_seen_kernel = true;
	return meter_spend(&clock->of_kernel, us + more);
}

static uint64_t
last_hits(struct thread *thread, unsigned column)
{
	const uint64_t tick_us = process_kernel_tick() / 1000;
	uint64_t us = usage_unseen(thread, column);

	if (thread->meters->clock.is_of_user_mode &&
	    !thread->meters->clock.is_given_up)
		us -= us < tick_us ? us : tick_us;
	return usage_hits_of(thread, column, us);
}

/* The hits of an event that should have trapped by now but has not. */
static uint64_t
stalled_hits(struct thread *thread, unsigned column)
{
	struct perf_clock *clock = &thread->meters->clock;
	const uint64_t tick_us = process_kernel_tick() / 1000,
	    period = thread->meters->accounts[column].period;
	uint64_t most = UINT64_MAX;

	/* Some periods end in the kernel, sometimes a few in a row. */
	if (clock->is_of_user_mode) {
		clock->n_user_ticks +=
		    thread->meters->tick_mode == TICK_OF_USER;
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
		clock->had_seen_kernel = clock->has_seen_kernel;
		clock->left = clock->of_kernel.left;
		clock->pending_traps = account->pending;
		account->pending = 0;
		hits = kernel_hits(thread, column);
	} else {
		hits = stalled_hits(thread, column);
	}
	clock->has_seen_tick = true;
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
	if (account->pending > 0) {
		account->seen = clock->seen;
		clock->has_seen_kernel = clock->had_seen_kernel;
		clock->of_kernel.left = clock->left;
	}
	account->pending = clock->pending_traps;
	return is_stalled;
}

enum perf_clock_change
perf_clock_check(struct thread *thread)
{
	struct perf_clock *clock = &thread->meters->clock;
	const bool was_given_up = clock->is_given_up;
	const uint64_t now_us = process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000;
	const uint64_t us = now_us - clock->checked_us;
	uint64_t n, rate;

	if (us < (was_given_up ? LONG_CHECK_US : CHECK_US))
		return PERF_CLOCK_UNCHANGED;
	n = count_switches();
	rate = (n - clock->n_switches) * 1000000 / us;
	clock->n_switches = n;
	clock->checked_us = now_us;
	clock->is_given_up = rate > (was_given_up ? SWITCHES_MAX / 4 :
	    SWITCHES_MAX);
	if (clock->is_given_up == was_given_up)
		return PERF_CLOCK_UNCHANGED;
	return was_given_up ? PERF_CLOCK_OPEN : PERF_CLOCK_CLOSE;
}
