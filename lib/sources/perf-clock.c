/* SPDX-License-Identifier: MIT */
/* perf-clock.c -- CPU time that a perf event does not see. */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/signals/signals.h"
#include "lib/store/datafile.h"

#define CHECK_US 10000		/* CPU time between two checks of switches, */
#define LONG_CHECK_US 200000	/* and while the event is closed */
#define STALLED_TICKS 8		/* ticks without a trap that is due, */
#define STALLED_PERIODS 8	/* or periods of user mode */
#define SWITCHES_MAX 2000	/* per second of CPU time */
#define NOT_COUNTED UINT64_MAX
#define AHEAD_MAX 8		/* intervals */
#define ROOM_DELAYS 3		/* usual delays of a trap, between two, */
#define ROOM_PART 4		/* but at most such a part of an interval */
#define LONG_WORK_US 20	/* of the collector, such as for a new file, */
#define LATE_WORK_US 200	/* with the way of a trap of user mode, if periods
				   include that */

/*
 * So many intervals apart are samples while a recording's CPU time is below the
 * limit.
 */
static const struct {
	uint64_t below_us;
	unsigned stride;
} paces[] = { { 1250000, 1 }, { 10000000, 4 }, { UINT64_MAX, 8 } };

static unsigned
stride_at(uint64_t us)
{
	unsigned i = 0;

	while (us >= paces[i].below_us)
		i++;
	return paces[i].stride;
}

static uint64_t
seed_of(const struct thread *thread, unsigned column)
{
	return thread->meters->accounts[column].meter.left +
	    ((uint64_t)thread->tid << 40) +
	    (process_clock(CLOCK_MONOTONIC) << 10);
}

static uint64_t
perf_clock_thread_us(void)
{
	return process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

/* On the event's clock, which begins when it is opened. */
static uint64_t
perf_clock_event_us(struct thread *thread, unsigned column)
{
	uint64_t us;

	if (perf_event_time(thread, column, &us))
		return us;
	return perf_clock_thread_us() -
	    (uint64_t)thread->meters->clock.offset_us;
}

void
perf_clock_compare(struct thread *thread, unsigned column)
{
	uint64_t us;

	if (perf_event_time(thread, column, &us))
		thread->meters->clock.offset_us =
		    (int64_t)(perf_clock_thread_us() - us);
}

/* Of the event's time, what is after the last counted. */
static uint64_t
perf_clock_unseen_at(const struct thread *thread, unsigned column, uint64_t now)
{
	const uint64_t seen = thread->meters->accounts[column].seen;
	const int64_t us = (int64_t)(now - seen) +
	    thread->meters->clock.offset_us;

	return us > 0 ? (uint64_t)us : 0;
}

uint64_t
perf_clock_unseen(struct thread *thread, unsigned column)
{
	return perf_clock_unseen_at(thread, column,
	    perf_clock_event_us(thread, column));
}

/*
 * Begins at that pace.  The boundaries have no memory until perf_clock_steady,
 * so that no time is more likely to be sampled than any other.  The kernel's
 * part is not located so exactly.  A program's timers keep step with whole
 * milliseconds: its intervals are drawn unless the user wants those.
 */
static void
set_pace(struct thread *thread, unsigned column, unsigned stride)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct meter *meter = &thread->meters->accounts[column].meter;
	const uint64_t interval = resources.columns[column].interval * stride,
	    seed = seed_of(thread, column);

	clock->stride = stride;
	meter_start_without_memory(meter, interval, seed);
	meter_start_apart(&clock->of_kernel, interval, (interval + 1) / 2,
	    resources.is_random || resources.columns[column].is_paced,
	    seed + 1);
}

bool
perf_clock_steady(struct thread *thread, unsigned column, bool is_fixed)
{
	struct meter *meter = &thread->meters->accounts[column].meter;
	const uint64_t interval = meter->interval;

	if (is_fixed ? meter->random == 0 : meter->random != 0 &&
	    meter->least != 0)
		return false;
	meter_start_apart(meter, interval, (interval + 1) / 2, !is_fixed,
	    seed_of(thread, column));
	return true;
}

/* Counts hits of the stride, which may then change. */
static uint64_t
paced(struct thread *thread, unsigned column, uint64_t hits)
{
	struct perf_clock *clock = &thread->meters->clock;
	unsigned stride = clock->stride;

	hits *= stride;
	if (hits == 0 || !resources.columns[column].is_paced)
		return hits;
	stride = stride_at(shared_pace(hits *
	    resources.columns[column].interval));
	if (stride == clock->stride)
		return hits;
	set_pace(thread, column, stride);
	clock->must_set = true;
	return hits;
}

uint64_t
perf_clock_room(uint64_t interval)
{
	const uint32_t usual = shared_trap_delay(TRAP_DELAY_UNKNOWN);
	const uint64_t most = interval / ROOM_PART;

	return usual == TRAP_DELAY_UNKNOWN ? 0 :
	    ROOM_DELAYS * usual < most ? ROOM_DELAYS * usual : most;
}

/*
 * Notes how late a trap was, if its period is over.  Those that have waited for
 * the end of a system call are later than usual, which shared_trap_delay allows
 * for.
 */
static void
perf_clock_note_delay(uint64_t passed_us, uint64_t period_us)
{
	const uint64_t delay = passed_us - period_us;

	if (passed_us >= period_us)
		shared_trap_delay(delay < TRAP_DELAY_MAX_US ? (uint32_t)delay :
		    TRAP_DELAY_MAX_US);
}

/*
 * Of the period up to the next boundary, a part may have passed, since the trap
 * was due or since the collector's own time was counted.  For an event that
 * sees all modes, the meter knows.
 */
uint64_t
perf_clock_set(struct thread *thread, unsigned column, uint64_t period,
    uint64_t least)
{
	struct perf_clock *clock = &thread->meters->clock;
	const uint64_t now = perf_clock_event_us(thread, column);
	uint64_t late = 0;

	if (clock->is_of_user_mode && clock->counted_us != 0)
		late = now - clock->counted_us;
	if (!clock->is_of_user_mode && clock->alarm_us != 0)
		perf_clock_note_delay(now - clock->armed_us, clock->alarm_us);
	clock->must_set = false;
	clock->armed_us = now;
	clock->counted_us = now - late;
	clock->alarm_us = period > late + least ? period - late : least;
	return clock->alarm_us;
}

static uint64_t
count_switches(void)
{
	struct rusage usage;

	return process_thread_usage(&usage) ? (uint64_t)usage.ru_nvcsw : 0;
}

void
perf_clock_start(struct thread *thread, unsigned column)
{
	thread->meters->clock = (struct perf_clock){
		.n_switches = NOT_COUNTED,
		.checked_us = perf_clock_thread_us(),
	};
	set_pace(thread, column, resources.columns[column].is_paced ?
	    stride_at(shared_pace(0)) : 1);
}

/*
 * The trap's way into the handler and the handler's own system calls are kernel
 * time, too.  A tick that finds those waits for the end of the handler.
 */
void
perf_clock_end_trap(struct thread *thread)
{
	uint64_t pending;

	if (thread->meters->clock.is_of_user_mode &&
	    arch_system_call(SYS_rt_sigpending, (long)&pending, sizeof pending,
	    0, 0) == 0 &&
	    (pending >> (signals_number(OUR_TICKS) - 1) & 1) != 0)
		thread->meters->clock.is_own_tick = true;
}

/*
 * The time that a trap of user mode stands for, if the handler has set its
 * period.  If its distance has no memory, the first end of the period is a
 * boundary.  A repeated period is not drawn again, and a short one is repeated
 * soon, so each of its later ends stands for no more than itself: if it counted
 * as a boundary, a thread's first milliseconds would have too many.  The meter,
 * begun again, makes hits of it.
 */
static uint64_t
time_of_trap(struct perf_clock *clock, struct account *account, uint64_t now)
{
	const uint64_t before = clock->counted_us;
	const uint64_t passed = now - clock->armed_us;
	uint64_t delay, usual, shorter, n = 1, due;

	/*
	 * How many times the period has ended: more than once if it has ended
	 * in the kernel.  It has ended, although the event's clock may be
	 * ahead.
	 */
	if (clock->alarm_us != 0 && passed >= clock->alarm_us) {
		delay = passed - clock->alarm_us;
		if (delay > TRAP_DELAY_MAX_US)
			delay = TRAP_DELAY_MAX_US;
		usual = shared_trap_delay((uint32_t)delay);
		/* A delay may be shorter than usual. */
		shorter = usual < clock->alarm_us / 2 ? usual :
		    clock->alarm_us / 2;
		n = (passed - (usual < delay ? usual : delay) + shorter) /
		    clock->alarm_us;
	}
	due = clock->armed_us + n * clock->alarm_us;
	clock->counted_us = due < now ? due : now;
	if (meter_has_memory(&account->meter))
		return account->period;
	clock->must_set = true;
	if (n == 1)
		return due - before;
	account->meter.left = meter_draw(&account->meter);
	return clock->alarm_us;
}

/*
 * In user mode a trap counts its whole period, although a tick may have charged
 * a part of that time to the kernel; the following such ticks are charged less.
 * If the event's clock is faster than the thread's, as on a virtual machine
 * that was not running, the account stays at most AHEAD_MAX intervals ahead,
 * more than most random periods.
 *
 * In all modes a trap is the end of its period, whatever else the thread's
 * clock says: the clocks of the two differ by what is not the thread's own, such
 * as interrupts and the time of other virtual machines.  Only much less than a
 * period means that they have drifted apart, and that nothing is due.
 */
uint64_t
perf_clock_trap(struct thread *thread, unsigned column, bool is_own_trap)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct account *account = &thread->meters->accounts[column];
	const uint64_t now = perf_clock_event_us(thread, column);
	uint64_t most, us;

	clock->n_user_ticks = 0;
	/* One that was on its way when another period was set. */
	clock->is_stray = now - clock->armed_us < clock->alarm_us / 2;
	if (clock->is_stray || clock->is_given_up)	/* likewise */
		return 0;
	if (clock->is_of_user_mode) {
		most = now + (uint64_t)clock->offset_us +
		    AHEAD_MAX * account->meter.interval - account->seen;
		us = account->period;
		if (account->is_by_hand)
			us = time_of_trap(clock, account, now);
		else
			clock->counted_us = now;
		if (us > most)
			us = most;
	} else {
		us = perf_clock_unseen_at(thread, column, now);
		if (us < account->meter.left && is_own_trap &&
		    us >= account->period / 2)
			us = account->meter.left;
	}
	account->seen += us;
	return paced(thread, column, meter_spend(&account->meter, us));
}

/* Rounded at random, so that the sum is right on average. */
static uint64_t
hits_of_long_work(struct thread *thread, unsigned column, uint64_t us)
{
	const uint64_t step = resources.columns[column].interval *
	    thread->meters->clock.stride;
	const uint64_t random = meter_random(seed_of(thread, column));

	return (us + random % step) / step;
}

uint64_t
perf_clock_draw(struct thread *thread, unsigned column, uint64_t us)
{
	return hits_of_long_work(thread, column, us) *
	    thread->meters->clock.stride;
}

struct own_work
perf_clock_own(struct thread *thread, unsigned column)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct account *account = &thread->meters->accounts[column];
	struct own_work work = { 0 };
	uint64_t now, hits;

	if (clock->is_given_up)
		return work;
	now = perf_clock_event_us(thread, column);
	work.us = clock->is_of_user_mode ? now - clock->counted_us :
	    perf_clock_unseen_at(thread, column, now);
	work.is_long = work.us >= (clock->is_of_user_mode &&
	    meter_has_memory(&account->meter) ? LATE_WORK_US : LONG_WORK_US);
	if (!work.is_long && (clock->is_of_user_mode ?
	    meter_has_memory(&account->meter) :
	    work.us < account->meter.left))
		return work;
	hits = work.is_long ? hits_of_long_work(thread, column, work.us) :
	    meter_spend(&account->meter, work.us);
	clock->counted_us += work.us;
	clock->must_set = true;
	account->seen += work.us;
	work.hits = paced(thread, column, hits);
	return work;
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

uint64_t
perf_clock_tick(struct thread *thread, unsigned column, uint64_t expiries)
{
	struct perf_clock *clock = &thread->meters->clock;
	struct account *account = &thread->meters->accounts[column];
	const uint64_t tick_us = process_kernel_tick() / 1000;
	uint64_t hits = 0, most, late;

	if (expiries == 0) {
		/*
		 * At the end, the event may be a little late by the thread's
		 * clock.  Only what must have been lost is counted there, where
		 * it was not used.
		 */
		most = usage_unseen(thread, column);
		late = clock->is_of_user_mode ? tick_us :
		    account->meter.interval;
		if (!clock->is_given_up)
			most -= most < late ? most : late;
		return usage_hits_of(thread, column, most) * clock->stride;
	}
	perf_clock_compare(thread, column);
	clock->is_at_tick = clock->is_of_user_mode && !clock->is_own_tick &&
	    thread->meters->tick_mode == TICK_OF_KERNEL;
	if (clock->is_of_user_mode)
		clock->is_own_tick = false;
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
		/* The event may have stalled: should have trapped by now. */
		if (clock->is_of_user_mode) {
			/*
			 * Some periods end in the kernel, sometimes a few in a
			 * row.
			 */
			clock->n_user_ticks +=
			    thread->meters->tick_mode == TICK_OF_USER;
			most = clock->n_user_ticks * tick_us;
			clock->is_stalled =
			    clock->n_user_ticks >= STALLED_TICKS &&
			    most >= STALLED_PERIODS * account->period;
		} else {
			most = UINT64_MAX;
			clock->is_stalled = usage_unseen(thread, column) >
			    account->period + STALLED_TICKS * tick_us;
		}
		if (clock->is_stalled) {
			clock->n_user_ticks = 0;
			hits = usage_hits_of(thread, column, most);
		}
	}
	clock->has_seen_tick = true;
	clock->tick_hits = paced(thread, column, hits);
	return clock->tick_hits;
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
	} else if (clock->tick_hits > 0) {
		datafile_count_at_tick(clock->tick_hits);
	}
	account->pending = clock->pending_traps;
	return is_stalled;
}

enum perf_clock_change
perf_clock_check(struct thread *thread, unsigned column)
{
	struct perf_clock *clock = &thread->meters->clock;
	const bool was_given_up = clock->is_given_up;
	const uint64_t now_us = perf_clock_event_us(thread, column) +
	    (uint64_t)clock->offset_us;
	const uint64_t us = now_us > clock->checked_us ?
	    now_us - clock->checked_us : 0;
	uint64_t n, rate;

	if (clock->n_switches == NOT_COUNTED)
		clock->n_switches = count_switches();
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
