/* SPDX-License-Identifier: MIT */
/* wall.c -- the source of `real`: a thread's wall time, in calls and between them.
 *
 * Time in a measured call is charged to its caller (wrapped.c).  Time between
 * calls is gathered and charged at the next tick of CPU time outside a call, to
 * the stack that the tick finds.  So it is distributed like CPU time.
 *
 * A tick may find the wrapper of a call before the call's time begins or after
 * it ends.  Where a program does little but short calls, most ticks do, and the
 * time between them would be charged to the program's other parts.  So it is
 * charged to the call when that returns.
 *
 * Time in which the thread was off the processor is charged where it was:
 *  - A thread that loses the processor at a tick is found by that tick when it
 *    runs again.  If that was its only wait since the last tick, all of its time
 *    off the processor is charged there.
 *  - Otherwise it is left to the places where the ticks of other threads find
 *    threads with the same start routine waiting (lib/run/off-cpu.c).  The longer
 *    they wait in a place, the more often they are found there.
 *  - Where no thread is found so, as behind other programs, it is charged like
 *    CPU time.  If it is long, and the kernel says that the thread did not wait
 *    for a processor, the thread was blocked in a call that is not measured, and
 *    it is charged where the next tick finds the thread.
 *
 * Time in calls and between them has a meter each.  With a single meter, a
 * program whose period keeps step with the ticks could have the remainder of one
 * part charged to the other again and again.
 *
 * No tick may find a short thread.  So, as with CPU time, the first tick that
 * finds a thread counts a whole tick.  What it and the thread's last tick leave
 * out, or have counted too much, passes to other threads with the same start
 * routine, or to the next process of the same program (lib/sources/sources.h,
 * lib/base/shared.h).  It must not count at the thread's own first tick: the
 * later that comes, the more it would count, although each moment of the thread
 * has the same right to be found.
 */
#include "lib/wrap/wrapped.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "lib/base/meter.h"
#include "lib/base/proc.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/run/sample.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#define LEAST_WAIT_NS 5000	/* of a call in which a thread may have waited */
#define LONG_TICKS 10	/* off the processor for that long, a thread may have
			   been blocked */

static __thread struct {
	uint64_t mark_ns;	/* all time before it is charged or gathered */
	uint64_t gathered_ns;
	uint64_t rest_ns;	/* not yet charged, as it is less than a
				   microsecond */
	uint64_t stopped_ns;	/* no later time is charged; 0: it is */
	struct meter meter;	/* of time between calls */
	bool was_found;		/* by a tick between calls */

	bool is_in_call;	/* the time of a call passes; else in a wrapper */
	bool is_due;		/* a tick has found the wrapper, */
	uint64_t late_ns;	/* after so long a wait for the processor */

	/* As of the last tick: */
	uint64_t cpu_ns;	/* the thread's CPU clock */
	uint64_t waited_ns, n_runs;	/* struct proc_schedule */
	bool is_exact;		/* it has charged a wait where that was */
} wall;

static uint64_t
wall_now(void)
{
	return process_clock(CLOCK_MONOTONIC);
}

/* Whole microseconds of ns plus the earlier remainder. */
static uint64_t
wall_microseconds(uint64_t ns)
{
	uint64_t sum = wall.rest_ns + ns;

	wall.rest_ns = sum % 1000;
	return sum / 1000;
}

/* ---- at ticks ---- */

/* What has passed between calls since the last tick. */
struct wall_time {
	uint64_t now_ns, spent_ns;
	uint64_t off_cpu_ns;	/* of it, not running; perhaps too little, as
				   what ran in calls is taken for the rest */
	uint64_t blocked_ns;	/* of that, not ready to run, either */
	uint64_t n_waits;	/* how often; 0: not known */
};

/* Both stay 0 if the kernel does not tell. */
static void
wall_read_schedule(struct wall_time *time)
{
	struct proc_schedule schedule;
	uint64_t waited_ns;

	if (!proc_read_schedule(PROC_THIS_THREAD, &schedule))
		return;
	waited_ns = schedule.waited_ns - wall.waited_ns;
	if (time->off_cpu_ns > waited_ns)
		time->blocked_ns = time->off_cpu_ns - waited_ns;
	time->n_waits = schedule.n_runs - wall.n_runs;
	wall.waited_ns = schedule.waited_ns;
	wall.n_runs = schedule.n_runs;
}

/*
 * Takes that time.  has_parts: what it was off the processor for is wanted;
 * else it is read if it was long.
 */
static struct wall_time
wall_take(struct thread *thread, bool has_parts)
{
	const uint64_t unit = (uint64_t)timer_unit();
	const uint64_t cpu_ns = process_clock(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t ran_ns = cpu_ns - wall.cpu_ns;
	struct wall_time time = { .now_ns = wall.stopped_ns != 0 ?
		wall.stopped_ns : wall_now() };

	time.spent_ns = wall.gathered_ns + time.now_ns - wall.mark_ns;
	if (time.spent_ns > ran_ns)
		time.off_cpu_ns = time.spent_ns - ran_ns;
	if (time.off_cpu_ns > (has_parts ? unit / 16 : LONG_TICKS * unit))
		wall_read_schedule(&time);
	wall.cpu_ns = cpu_ns;
	wall.mark_ns = time.now_ns;
	wall.gathered_ns = 0;
	off_cpu_note_waits(thread);
	return time;
}

/* Whether time off the processor is left to where threads are found waiting. */
static bool
wall_leaves(const struct carryover *carryover)
{
	return carryover->off_cpu_ticks[false] > 0 ||
	    carryover->off_cpu_ticks[true] > 0;
}

/* Leaves it.  late_ns: of it, what belongs to the place of the tick. */
static void
wall_leave_off_cpu(struct carryover *carryover, struct wall_time *time,
    uint64_t late_ns)
{
	const uint64_t ready_ns = time->off_cpu_ns - time->blocked_ns;
	uint64_t left_ns = 0;

	if (carryover->off_cpu_ticks[false] > 0) {
		carryover->off_cpu_ticks[false]--;
		left_ns += ready_ns;
	}
	if (carryover->off_cpu_ticks[true] > 0) {
		carryover->off_cpu_ticks[true]--;
		left_ns += time->blocked_ns;
		time->blocked_ns = 0;
	}
	left_ns -= left_ns < late_ns ? left_ns : late_ns;
	time->spent_ns -= left_ns;
	time->off_cpu_ns -= left_ns;
	atomic_fetch_add(&carryover->off_cpu_ns, (int64_t)left_ns);
}

static uint64_t
wall_take_left(struct carryover *carryover)
{
	return carryover->off_cpu_ns == 0 ? 0 :
	    (uint64_t)atomic_exchange(&carryover->off_cpu_ns, 0);
}

/*
 * What is due of the time between calls up to now.  is_tick: a tick has found
 * the thread here; has_waited: after it had lost the processor; late_ns: for so
 * long, in a wrapper, where no other thread's tick finds it.
 */
static uint64_t
wall_due(struct thread *thread, bool is_tick, bool has_waited, uint64_t late_ns)
{
	const uint64_t unit = (uint64_t)timer_unit();
	struct carryover *carryover = thread->meters->carryover;
	const bool leaves = wall_leaves(carryover);
	struct wall_time time = wall_take(thread,
	    leaves || process.n_call_functions > 0);
	const uint64_t ran_ns = time.spent_ns - time.off_cpu_ns;
	bool is_here = is_tick && (has_waited || time.blocked_ns > 0);
	uint64_t due_ns;

	wall.is_due = false;
	if (is_tick)	/* the first one counts a whole tick, as below */
		thread->meters->ran_ns += wall.was_found ? ran_ns : unit;
	if (is_tick)
		off_cpu_look(thread, time.off_cpu_ns >= unit / 4);
	if (is_here)
		thread->meters->off_here_ns = time.n_waits > 1 ?
		    time.off_cpu_ns / time.n_waits : time.off_cpu_ns;
	wall.is_exact = is_tick && has_waited && late_ns == 0 &&
	    time.n_waits == 1;
	if (!leaves) {
		time.spent_ns += wall_take_left(carryover);
	} else if (!wall.is_exact && time.off_cpu_ns > unit / 16) {
		wall_leave_off_cpu(carryover, &time, late_ns);
		is_here = time.blocked_ns > LONG_TICKS * unit || late_ns > 0;
	}
	due_ns = time.blocked_ns;
	if (is_tick && wall.was_found) {
		/*
		 * If it has lost the processor between two ticks, it was at any
		 * moment, so the wait belongs to either stack.
		 */
		due_ns = is_here || time.off_cpu_ns < unit / 4 ||
		    meter_random(wall.mark_ns) % 2 == 0 ? time.spent_ns :
		    time.spent_ns - unsampled_count_back(thread,
		    time.off_cpu_ns);
	} else {
		/* Before the first tick, or after the last one. */
		if (is_here)
			due_ns = time.off_cpu_ns;
		thread->meters->unsampled_ns += (int64_t)(time.spent_ns -
		    due_ns);
	}
	if (is_tick && !wall.was_found) {
		/*
		 * The first tick also counts all time that others have left,
		 * and at least one tick, unless too much was counted.
		 */
		const int64_t left = thread->tid == process_own.pid ?
		    shared_take_time(CPPROF_SHARED_REAL) :
		    unsampled_take(carryover);
		const int64_t taken = left >= (int64_t)unit ? left :
		    left > -TIMER_MOST_AHEAD * (int64_t)unit ?
		    (int64_t)unit : 0;

		thread->meters->unsampled_ns += left - taken;
		due_ns += (uint64_t)taken;
	}
	if (is_tick)
		thread->meters->awaits_found = wall.was_found = true;
	waits_end(thread, time.now_ns, 0);
	return meter_spend(&wall.meter, wall_microseconds(due_ns));
}

/*
 * Whether the thread lost the processor at the tick whose signal this is: it
 * comes when the thread runs again, and the coarse clock advances at each tick.
 */
static bool
wall_has_waited(void)
{
	return wall_now() - process_clock(CLOCK_MONOTONIC_COARSE) >
	    process_kernel_tick() / 16;
}

static uint64_t
wall_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	const bool is_tick = expiries > 0;

	(void)column;
	thread->meters->off_here_ns = 0;
	if (!is_tick || !current_is_inside())
		return wall_due(thread, is_tick, is_tick && wall_has_waited(),
		    0);
	if (!wall.is_in_call) {
		wall.is_due = true;
		wall.late_ns = wall_has_waited() ? wall_now() - wall.mark_ns :
		    0;
	}
	off_cpu_look(thread, false);
	return 0;
}

/*
 * The time since the last tick in which the thread ran is left to the next one.
 * If that tick has charged the wait that ends now, there is none.
 */
static uint64_t
wall_hits_off_cpu(struct thread *thread, bool is_blocked)
{
	struct carryover *carryover = thread->meters->carryover;
	const uint64_t cpu_ns = wall.cpu_ns;
	struct wall_time time;

	/* At its beginning or end, the thread is the collector's. */
	if (current_is_inside() || thread->run->is_in_call)
		return 0;
	time = wall_take(thread, true);
	wall.cpu_ns = cpu_ns;
	wall.gathered_ns = time.spent_ns - time.off_cpu_ns;
	waits_end(thread, time.now_ns, wall.gathered_ns);
	if (wall.is_exact && time.off_cpu_ns < (uint64_t)timer_unit() / 16)
		return 0;
	wall.is_exact = false;
	carryover->off_cpu_ticks[is_blocked] = OFF_CPU_LEFT_TICKS;
	return meter_spend(&wall.meter, wall_microseconds(time.off_cpu_ns +
	    wall_take_left(carryover)));
}

static void
wall_leave_hits(struct thread *thread, uint64_t hits)
{
	atomic_fetch_add(&thread->meters->carryover->off_cpu_ns,
	    (int64_t)(hits * wall.meter.interval * 1000));
}

/* ---- at calls ---- */

void
wall_enter_wrapper(void)
{
	wall.is_in_call = false;
}

uint64_t
wall_begin_call(uint64_t now_ns)
{
	wall.gathered_ns += now_ns - wall.mark_ns;
	wall.mark_ns = now_ns;
	wall.is_in_call = true;
	return wall.gathered_ns;
}

/* Charges what is due to a call whose wrapper a tick has found.  False: not now. */
static __attribute__((noinline)) bool
wall_charge_wrapper(struct thread *thread, const void *function)
{
	struct sample_guard guard;
	uint64_t hits = 0;
	bool ok;

	if (!sample_work_begins(thread))
		return false;
	ok = thread->held_off == 0 && !thread->is_sampling &&
	    sampling_is_own_process() && sample_guard_begin(thread, &guard);
	if (ok) {
		hits = wall_due(thread, true, wall.late_ns > 0, wall.late_ns);
		sample_guard_end(thread, &guard);
	}
	sampling_work_ends();
	if (hits > 0)
		resource_hit(thread, RESOURCE_REAL, hits, function);
	return ok;
}

void
wall_end_call(const void *function)
{
	struct thread *thread = thread_self;
	const uint64_t now_ns = wall_now(), spent_ns = now_ns - wall.mark_ns;

	wall.mark_ns = now_ns;
	wall.is_in_call = false;
	if (thread != NULL)
		thread->meters->in_calls_ns += spent_ns;
	if (thread != NULL && spent_ns >= LEAST_WAIT_NS) {
		thread_made_call(thread);
		off_cpu_note_waits(thread);
	}
	resource_spend_in(RESOURCE_REAL, wall_microseconds(spent_ns), function);
	if (thread != NULL &&
	    !(wall.is_due && wall_charge_wrapper(thread, function)))
		waits_end(thread, now_ns, wall.gathered_ns);
}

void
wall_is_charged(uint64_t now_ns)
{
	wall.mark_ns = now_ns;
}

/* ---- the source ---- */

static bool
wall_start(struct thread *thread, unsigned column)
{
	const struct meter *of_calls = &thread->meters->accounts[column].meter;

	memset(&wall, 0, sizeof wall);
	thread->meters->in_calls_ns = thread->meters->ran_ns = 0;
	meter_start(&wall.meter, of_calls->interval, resources.is_random,
	    of_calls->left + ((uint64_t)thread->tid << 40));
	wall.mark_ns = wall_now();
	wall.cpu_ns = process_clock(CLOCK_THREAD_CPUTIME_ID);
	off_cpu_note_waits(thread);
	/*
	 * Not for the first thread: a tick finds it soon, and until then it
	 * needs no file.
	 */
	if (thread->tid != process_own.pid)
		waits_begin_thread(thread, wall.mark_ns);
	return true;
}

/* What the thread does until then, and after wall_stop, is the collector's. */
static void
wall_release(struct thread *thread)
{
	thread->run->is_in_call = false;
}

static void
wall_stop(struct thread *thread, unsigned column)
{
	(void)column;
	thread->run->is_in_call = true;
	wall.stopped_ns = wall_now();
}

const struct resource_source source_wall = {
	.name = "blocking calls, and ticks of CPU time",
	.start = wall_start,
	.stop = wall_stop,
	.release = wall_release,
	.hits = wall_hits,
	.hits_off_cpu = wall_hits_off_cpu,
	.leave_off_cpu = wall_leave_hits,
	.needs_ticks = true,
};
