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
 * same start routine (struct leftover).  These may have begun before the end:
 * a program may start all its threads at once.  So they take time of ended
 * threads only as far as it exceeds what living ones have been counted too
 * much; otherwise, the latter would come too late to make up for it.
 *
 * If it is more than a tick and comes from no other thread, it is counted when
 * the thread ends.  At the end of the process, the main thread's passes to the
 * next process of the same program (lib/base/shared.h), as does that of other
 * threads if it is less than a tick; more of it is reported as lost.
 */
#include "lib/sources/timer.h"

#include <stdatomic.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/signals/signals.h"
#include "lib/sources/resource.h"
#include "lib/sources/thread-meters.h"

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
seed(const struct thread *thread)
{
	return meter_random(process_ask_clock(CLOCK_REALTIME) +
	    ((uint64_t)thread->tid << 40));
}

/* Nanoseconds to the first expiry. */
static uint64_t
choose_phase(const struct thread *thread)
{
	if (resources.tick_ns <= process_kernel_tick())
		return 1;
	return 1 + seed(thread) % resources.tick_ns / process_kernel_tick() *
	    process_kernel_tick();
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
	if (!timer_make(thread, CLOCK_THREAD_CPUTIME_ID, &mark))
		return false;
	thread->meters->has_timer = true;
	thread->meters->n_expiries = 0;
	thread->meters->tick_ns = resources.tick_ns;
	thread->meters->last_tick_ns = cpu_now();
	if (timer_set(thread, choose_phase(thread), resources.tick_ns))
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

/* The number of intervals in n units, on average. */
static uint64_t
intervals_in(const struct thread *thread, int64_t n)
{
	const uint64_t ns = (uint64_t)(n * timer_unit());
	const uint64_t rest = ns % resources.tick_ns;

	return ns / resources.tick_ns +
	    (rest > 0 && seed(thread) % resources.tick_ns < rest);
}

/*
 * Adds what the thread has used since its last tick to the uncounted time, and
 * returns it.
 */
static int64_t
timer_take_time(struct thread *thread)
{
	const uint64_t now = cpu_now();
	const int64_t passed = (int64_t)(now - thread->meters->last_tick_ns);

	thread->meters->uncounted_ns += passed;
	thread->meters->last_tick_ns = now;
	return passed;
}

/* The main thread's time passes to other processes instead. */
static bool
has_heirs(const struct thread *thread)
{
	return thread->tid != process_own.pid;
}

/* Units that a tick counts; a unit that has begun counts as a whole. */
static int64_t
units_at_tick(const struct thread *thread)
{
	const bool is_first = thread->meters->n_expiries == 0;
	const int64_t ns = thread->meters->uncounted_ns;
	const int64_t ended_ns = has_heirs(thread) ?
	    thread->meters->leftover->ended_ns : 0;

	if (is_first && ns + ended_ns <= -TIMER_MOST_AHEAD * timer_unit())
		return 0;
	return ns > 0 ? (ns + timer_unit() - 1) / timer_unit() : is_first;
}

/* Of that routine, more than was counted too much; may be negative. */
static int64_t
left_ns(struct leftover *leftover)
{
	return leftover->ended_ns + leftover->living_ns;
}

/*
 * Takes whole units.  If another thread changes the time meanwhile, they are
 * left to the next tick.
 */
static int64_t
timer_take_units(struct leftover *leftover, int64_t unit)
{
	int64_t ended = leftover->ended_ns;
	const int64_t n = (ended + leftover->living_ns) / unit;

	return n > 0 && atomic_compare_exchange_strong(&leftover->ended_ns,
	    &ended, ended - n * unit) ? n : 0;
}

static void
note_living(struct thread_meters *meters, int64_t ns)
{
	if (ns == meters->noted_ns)
		return;
	atomic_fetch_add(&meters->leftover->living_ns, ns - meters->noted_ns);
	meters->noted_ns = ns;
}

/*
 * Units that ended threads have left, for a first tick.  A thread that lives on
 * makes up itself for what it was counted too much.
 */
static int64_t
units_of_others(struct thread *thread)
{
	struct thread_meters *meters = thread->meters;
	const bool is_young = meters->n_expiries < LEFTOVER_TICKS;

	if (!has_heirs(thread))
		return 0;
	note_living(meters, is_young ? meters->uncounted_ns : 0);
	return is_young ? timer_take_units(meters->leftover, timer_unit()) : 0;
}

/*
 * At the end, only the units that were due since the last tick; the next thread
 * or process takes the rest.
 */
static int64_t
units_at_end(const struct thread *thread, int64_t passed)
{
	if (passed > thread->meters->uncounted_ns)
		passed = thread->meters->uncounted_ns;
	return passed > 0 ? passed / timer_unit() : 0;
}

static uint64_t
timer_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	const int64_t passed = timer_take_time(thread);
	int64_t n;

	(void)column;
	if (expiries > 0 && thread->meters->n_expiries == 0 &&
	    thread->tid == process_own.pid)
		thread->meters->uncounted_ns +=
		    shared_take_time(CPPROF_SHARED_CPU);
	n = expiries > 0 ? units_at_tick(thread) :
	    units_at_end(thread, passed);
	thread->meters->uncounted_ns -= n * timer_unit();
	if (expiries > 0)
		n += units_of_others(thread);
	return intervals_in(thread, n);
}

void
timer_leave(struct thread *thread)
{
	struct thread_meters *meters = thread->meters;

	if (!has_heirs(thread))
		return;
	atomic_fetch_add(&meters->leftover->ended_ns, meters->uncounted_ns);
	note_living(meters, 0);
	meters->uncounted_ns = 0;
}

uint64_t
timer_lose(struct leftover *leftover)
{
	return left_ns(leftover) < timer_unit() ? 0 :
	    (uint64_t)timer_take_units(leftover, (int64_t)resources.tick_ns);
}

int64_t
timer_take_rest(struct leftover *leftover)
{
	return atomic_exchange(&leftover->ended_ns, 0) +
	    atomic_exchange(&leftover->living_ns, 0);
}

const struct resource_source source_timer = {
	.name = "thread CPU timer",
	.hits = timer_hits,
	.needs_ticks = true,
	.sets_ticks = true,
};
