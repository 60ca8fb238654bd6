/* SPDX-License-Identifier: MIT */
/* timer.c -- ticks of CPU time.
 *
 * The kernel checks CPU timers only at its own ticks, if one finds the thread
 * running.  So a timer that expires with the thread's first nanosecond goes off
 * at the first tick that finds the thread, and a thread that lives for a
 * quarter of a tick is found by one tick in four.  Such a tick counts as a
 * whole, whatever the thread has used so far.  So the counts of many short
 * threads add up to what they use.  If intervals are longer than a tick, the
 * first begins at a random tick.
 *
 * But threads that start and wake in step with the ticks are found too rarely
 * or too often.  So the time that no tick has counted yet is kept; it is
 * negative if a tick has counted too much.  It passes to the thread's later
 * ticks, and when the thread ends, to first ticks of other threads with the
 * same start routine (struct carryover).  These may have begun before the end:
 * a program may start all its threads at once.  So they take time of ended
 * threads only as far as it exceeds what living ones have been counted too
 * much; otherwise, the latter would come too late to make up for it.
 *
 * If it is more than a tick and comes from no other thread, it is counted when
 * the thread ends.  At the end of the process, the main thread's passes to the
 * next process of the same program (lib/base/shared.h), as does that of other
 * threads if it is less than a tick; more of it is reported as lost.
 */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <stdatomic.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/signals/signals.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static const char mark;		/* its address identifies our timers' signals */

static uint64_t
cpu_now(void)
{
	return process_clock(CLOCK_THREAD_CPUTIME_ID);
}

static struct timespec
to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
	    .tv_nsec = (long)(ns % 1000000000) };
}

static uint64_t
timer_seed(const struct thread *thread)
{
	return meter_random(process_ask_clock(CLOCK_REALTIME) +
	    ((uint64_t)thread->tid << 40));
}

bool
timer_sent(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_ptr == &mark;
}

bool
timer_make(struct thread *thread, clockid_t clock, const void *its_mark)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID };

	event.sigev_signo = signals_number(OUR_TICKS);
	event.sigev_value.sival_ptr = (void *)(uintptr_t)its_mark;
	event.sigev_notify_thread_id = (pid_t)thread->tid;
	return files_result(arch_system_call(SYS_timer_create, clock,
	    (long)&event, (long)&thread->meters->timer, 0)) == 0;
}

bool
timer_set(const struct thread *thread, uint64_t first_ns, uint64_t interval_ns)
{
	const struct itimerspec when = { .it_value = to_timespec(first_ns),
	    .it_interval = to_timespec(interval_ns) };

	return files_result(arch_system_call(SYS_timer_settime,
	    thread->meters->timer, 0, (long)&when, 0)) == 0;
}

void
timer_free(const struct thread *thread)
{
	arch_system_call(SYS_timer_delete, thread->meters->timer, 0, 0, 0);
}

bool
timer_start(struct thread *thread)
{
	const uint64_t kernel_ns = process_kernel_tick();
	uint64_t first_ns = 1;

	if (!timer_make(thread, CLOCK_THREAD_CPUTIME_ID, &mark))
		return false;
	thread->meters->has_timer = true;
	thread->meters->n_expiries = 0;
	thread->meters->tick_ns = resources.tick_ns;
	thread->meters->last_tick_ns = cpu_now();
	if (thread->meters->began_ns == 0)
		thread->meters->began_ns = thread->meters->last_tick_ns;
	if (resources.tick_ns > kernel_ns)
		first_ns += timer_seed(thread) % resources.tick_ns /
		    kernel_ns * kernel_ns;
	if (timer_set(thread, first_ns, resources.tick_ns))
		return true;
	timer_stop(thread);
	return false;
}

void
timer_change(struct thread *thread, uint64_t tick_ns)
{
	if (thread->meters->has_timer && thread->meters->tick_ns != tick_ns &&
	    timer_set(thread, tick_ns, tick_ns))
		thread->meters->tick_ns = tick_ns;
}

void
timer_stop(struct thread *thread)
{
	if (thread->meters->has_timer)
		timer_free(thread);
	thread->meters->has_timer = false;
}

int64_t
timer_unit(void)
{
	return (int64_t)(resources.tick_ns > process_kernel_tick() ?
	    resources.tick_ns : process_kernel_tick());
}

/* The main thread's time passes to other processes instead. */
static bool
leaves_time_to_threads(const struct thread *thread)
{
	return thread->tid != process_own.pid;
}

/*
 * Takes whole units.  If another thread changes the time meanwhile, they are
 * left to the next tick.
 */
static int64_t
timer_take_units(struct carryover *carryover, int64_t unit)
{
	int64_t ended = carryover->ended_ns;
	const int64_t n = (ended + carryover->living_ns) / unit;

	return n > 0 && atomic_compare_exchange_strong(&carryover->ended_ns,
	    &ended, ended - n * unit) ? n : 0;
}

static void
note_living(struct thread_meters *meters, int64_t ns)
{
	if (ns == meters->noted_ns)
		return;
	atomic_fetch_add(&meters->carryover->living_ns, ns - meters->noted_ns);
	meters->noted_ns = ns;
}

static uint64_t
timer_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	struct thread_meters *meters = thread->meters;
	const int64_t unit = timer_unit();
	const bool is_first = meters->n_expiries == 0;
	const bool is_young = meters->n_expiries < CARRYOVER_TICKS;
	const uint64_t now = cpu_now();
	int64_t passed = (int64_t)(now - meters->last_tick_ns), ended_ns, n = 0;
	uint64_t ns, rest;

	(void)column;
	meters->uncounted_ns += passed;
	meters->last_tick_ns = now;
	if (expiries > 0 && is_first && !leaves_time_to_threads(thread))
		meters->uncounted_ns += shared_take_time(CPPROF_SHARED_CPU);
	if (expiries == 0) {
		/*
		 * At the end, only the units that were due since the last tick;
		 * the next thread or process takes the rest.
		 */
		if (passed > meters->uncounted_ns)
			passed = meters->uncounted_ns;
		if (passed > 0)
			n = passed / unit;
	} else {
		/* A unit that has begun counts as a whole. */
		ended_ns = leaves_time_to_threads(thread) ?
		    meters->carryover->ended_ns : 0;
		if (meters->uncounted_ns > 0)
			n = (meters->uncounted_ns + unit - 1) / unit;
		else
			n = is_first;
		if (is_first && meters->uncounted_ns + ended_ns <=
		    -TIMER_MOST_AHEAD * unit)
			n = 0;
	}
	meters->uncounted_ns -= n * unit;
	/*
	 * A first tick also counts units that ended threads have left.  A
	 * thread that lives on makes up itself for what it was counted too
	 * much.
	 */
	if (expiries > 0 && leaves_time_to_threads(thread)) {
		note_living(meters, is_young ? meters->uncounted_ns : 0);
		if (is_young)
			n += timer_take_units(meters->carryover, unit);
	}
	/* The number of intervals in so many units, on average. */
	ns = (uint64_t)(n * unit);
	rest = ns % resources.tick_ns;
	return ns / resources.tick_ns +
	    (rest > 0 && timer_seed(thread) % resources.tick_ns < rest);
}

void
timer_leave(struct thread *thread)
{
	struct thread_meters *meters = thread->meters;

	if (!leaves_time_to_threads(thread))
		return;
	atomic_fetch_add(&meters->carryover->ended_ns, meters->uncounted_ns);
	note_living(meters, 0);
	meters->uncounted_ns = 0;
}

uint64_t
timer_lose(struct carryover *carryover)
{
	/* More than was counted too much. */
	return carryover->ended_ns + carryover->living_ns < timer_unit() ? 0 :
	    (uint64_t)timer_take_units(carryover, (int64_t)resources.tick_ns);
}

int64_t
timer_take_rest(struct carryover *carryover)
{
	return atomic_exchange(&carryover->ended_ns, 0) +
	    atomic_exchange(&carryover->living_ns, 0);
}

const struct resource_source source_timer = {
	.name = "thread CPU timer",
	.hits = timer_hits,
	.needs_ticks = true,
	.sets_ticks = true,
};
