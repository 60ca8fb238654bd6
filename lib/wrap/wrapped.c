/* SPDX-License-Identifier: MIT */
/* wrapped.c -- which calls are measured; the time in calls and between them.
 *
 * A thread's wall time is divided in two.  Time in a measured call is charged
 * to the call's caller when the call returns; until then the file records when
 * it began (lib/run/sample.h).  Time between such calls is gathered and charged
 * at the next tick of CPU time outside a call, to the stack that the tick
 * finds.  So it is distributed like CPU time.  It includes time that the thread
 * waited for a processor or blocked in calls that are not wrapped.
 *
 * Each part has its own meter.  With a single meter, a program whose period
 * keeps step with the ticks could have the remainder of one part charged to the
 * other again and again.
 *
 * No tick may find a short thread.  So, as with CPU time, the first tick that
 * finds a thread counts a whole tick.  What it and the thread's last tick leave
 * out, or have counted too much, passes to other threads with the same start
 * routine, or to the next process of the same program (lib/sources/sources.h,
 * lib/base/shared.h).  It must not count at the thread's own first tick: the
 * later that comes, the more it would count, although each moment of the thread
 * has the same right to be found.
 *
 * Where there are more threads than processors, most of that time are waits for
 * a processor.  A thread that loses it at a tick is found by that tick when it
 * runs again, so the wait is charged there.
 */
#include "lib/wrap/wrapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "lib/base/meter.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/unwind/unwinder.h"

#define LONG_TICKS 10	/* off the processor for that long, a thread may have
			   been blocked */

static __thread struct wrapped_call *current;
static __thread struct {
	uint64_t mark_ns;	/* all time before it is charged or gathered */
	uint64_t gathered_ns;
	uint64_t rest_ns;	/* not yet charged, as it is less than a
				   microsecond */
	struct meter meter;	/* of time between calls */
	bool was_found;		/* by a tick between calls */
	uint64_t cpu_ns;	/* the thread's CPU clock at the last tick */
	uint64_t delay_ns;	/* its waits for a processor, as last read */
} wall;

/*
 * In a process into which the library was loaded, calls are led here by import
 * tables, which a program does not have for functions of its own.
 */
bool
wrapped_is_ours(const char *name)
{
	const uintptr_t found = (uintptr_t)dlsym(RTLD_DEFAULT, name);
	struct dl_find_object object;
	void *first;
	size_t n;

	if (found >= process.own_start && found < process.own_end)
		return true;
	first = process.is_inside ? lookup_first(name) : NULL;
	return first != NULL && _dl_find_object(first, &object) == 0 &&
	    object.dlfo_link_map != lookup_loaded(&n);
}

bool
wrapped_exists(const char *name)
{
	const bool exists = dlsym(RTLD_DEFAULT, name) != NULL;

	if (!exists)
		dlerror();	/* clears the message: dlerror is for the
				   program's own errors */
	return exists;
}

bool
wrapped_is_preloaded(void)
{
	return wrapped_is_ours("vmsplice");
}

bool
wrapped_pass(enum gate gate, const void *return_address)
{
	return gate == GATE_OPEN && (uintptr_t)return_address -
	    process.own_start >= process.own_end - process.own_start &&
	    (process.is_inside ? control_begin_here() : thread_self != NULL);
}

static uint64_t
wrapped_now_ns(void)
{
	return process_clock(CLOCK_MONOTONIC);
}

/*
 * Whether the variable of a call still holds it.  Its memory may even be
 * unmapped.
 */
static bool
is_call(const struct wrapped_call *call)
{
	struct thread *thread = thread_self;
	uint64_t word;
	bool ok;

	if (thread == NULL)
		return false;
	if (thread->held_off > 0 || thread->is_sampling)
		return true;		/* the memory cannot be checked now */
	thread_hold_off();
	ok = readable_word(&thread->unwinder->readable, (uintptr_t)&call->self,
	    &word) && word == (uintptr_t)call;
	thread_resume();
	return ok;
}

/*
 * The call that this thread is in.  If a signal handler has left a call by a
 * jump, the call is further in on the stack, which grows downwards, than
 * `frame`, or other frames have overwritten it.  An alternate stack above the
 * thread's stack is not part of it.
 */
static struct wrapped_call *
live_call(const void *frame)
{
	const struct thread *thread = thread_self;
	const uintptr_t end = thread != NULL ?
	    thread->unwinder->readable.high : UINTPTR_MAX;

	if (current != NULL && (((uintptr_t)current <= (uintptr_t)frame &&
	    ((uintptr_t)frame < end || (uintptr_t)current >= end)) ||
	    !is_call(current)))
		current = NULL;
	return current;
}

bool
wrapped_is_inside(void)
{
	return live_call(__builtin_frame_address(0)) != NULL;
}

/* Whole microseconds of ns plus the earlier remainder. */
static uint64_t
wrapped_microseconds(uint64_t ns)
{
	uint64_t sum = wall.rest_ns + ns;

	wall.rest_ns = sum % 1000;
	return sum / 1000;
}

/*
 * Needs a frame pointer: waits_find_node compares the stack from here outwards.
 */
void
wrapped_enter(struct wrapped_call *call, const void *function,
    enum wrapped_kind kind)
{
	struct thread *thread = thread_self;
	uint32_t columns = 0;
	int saved = errno;

	call->function = function;
	call->recording = sampling_recording();
	call->outer = live_call(call);
	if (call->outer != NULL)
		return;
	/* From here on, ticks do not touch `wall`. */
	call->self = call;
	current = call;
	atomic_signal_fence(memory_order_seq_cst);
	if (thread != NULL && resource_is_wanted(RESOURCE_REAL))
		columns |= 1u << (resources.place[RESOURCE_REAL] - 1);
	if (thread != NULL && kind == WRAPPED_IO &&
	    resource_is_wanted(RESOURCE_IO_TIME))
		columns |= 1u << (resources.place[RESOURCE_IO_TIME] - 1);
	call->start_ns = wrapped_now_ns();
	if (columns != 0)
		call->start_ns = waits_find_node(thread,
		    (uintptr_t)__builtin_frame_address(0), function,
		    call->start_ns, &thread->waits->node);
	if (resource_is_wanted(RESOURCE_REAL)) {
		wall.gathered_ns += call->start_ns - wall.mark_ns;
		wall.mark_ns = call->start_ns;
	}
	if (columns != 0)
		waits_begin(thread, columns, call->start_ns,
		    wall.gathered_ns);
	errno = saved;
}

void
wrapped_leave_uncounted(struct wrapped_call *call)
{
	int saved = errno;
	uint64_t now, spent;

	if (call->outer != NULL)
		return;
	if (call->recording != sampling_recording()) {
		current = NULL;
		call->self = NULL;
		return;
	}
	if (resource_is_wanted(RESOURCE_REAL)) {
		now = wrapped_now_ns();
		spent = now - wall.mark_ns;
		wall.mark_ns = now;
		resource_spend_in(RESOURCE_REAL, wrapped_microseconds(spent),
		    call->function);
		if (thread_self != NULL)
			waits_end(thread_self, now, wall.gathered_ns);
	} else if (resource_is_wanted(RESOURCE_IO_TIME) &&
	    thread_self != NULL)
		waits_end(thread_self, 0, 0);
	atomic_signal_fence(memory_order_seq_cst);
	current = NULL;
	call->self = NULL;
	errno = saved;
}

void
wrapped_leave(struct wrapped_call *call)
{
	wrapped_leave_uncounted(call);
	if (call->outer == NULL)
		wrapped_count_call(call->function);
}

bool
wrapped_counts_calls(void)
{
	const unsigned place = resources.place[RESOURCE_SYSCALLS];

	return place != 0 &&
	    resources.columns[place - 1].source->is_of_wrappers;
}

void
wrapped_count_call(const void *function)
{
	if (wrapped_counts_calls())
		resource_spend_in(RESOURCE_SYSCALLS, 1, function);
}

uint64_t
wrapped_elapsed(const struct wrapped_call *call)
{
	return call->outer == NULL ? wrapped_now_ns() - call->start_ns : 0;
}

/*
 * The source of `real`.
 */

static bool
start_wall(struct thread *thread, unsigned column)
{
	const struct meter *of_calls = &thread->meters->accounts[column].meter;

	memset(&wall, 0, sizeof wall);
	meter_start(&wall.meter, of_calls->interval, resources.is_random,
	    of_calls->left + ((uint64_t)thread->tid << 40));
	wall.mark_ns = wrapped_now_ns();
	wall.cpu_ns = process_clock(CLOCK_THREAD_CPUTIME_ID);
	/*
	 * Not for the first thread: a tick finds it soon, and until then it
	 * needs no file.
	 */
	if (thread->tid != process_own.pid)
		waits_begin_thread(thread, wall.mark_ns);
	return true;
}

static uint64_t
wall_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	const int64_t unit = timer_unit();
	const bool is_tick = expiries > 0;
	uint64_t now, spent, cpu, ran, off_cpu, due = 0, delay;
	bool is_here;

	(void)column;
	thread->meters->off_here_ns = 0;
	if (is_tick && wrapped_is_inside())
		return 0;
	now = wrapped_now_ns();
	spent = wall.gathered_ns + now - wall.mark_ns;
	wall.mark_ns = now;
	wall.gathered_ns = 0;
	/*
	 * Of that time, the thread was so long off the processor.  What it ran
	 * inside measured calls is taken for time outside, so this may be too
	 * little.
	 */
	cpu = process_clock(CLOCK_THREAD_CPUTIME_ID);
	ran = cpu - wall.cpu_ns;
	wall.cpu_ns = cpu;
	off_cpu = spent > ran ? spent - ran : 0;
	/*
	 * A thread that has waited for a processor has not been blocked.  For
	 * the rest it was, in calls that are not wrapped.
	 */
	if (off_cpu > LONG_TICKS * (uint64_t)unit &&
	    unsampled_read_delay(&delay)) {
		const uint64_t waited = delay - wall.delay_ns;

		wall.delay_ns = delay;
		due = off_cpu > waited ? off_cpu - waited : 0;
	}
	/*
	 * Or it has lost the processor at this tick: the tick's signal comes
	 * when the thread runs again, and the coarse clock advances at each
	 * tick.
	 */
	is_here = is_tick && (due > 0 ||
	    now - process_clock(CLOCK_MONOTONIC_COARSE) >
	    process_kernel_tick() / 16);
	if (is_here)
		thread->meters->off_here_ns = off_cpu;
	if (is_tick && wall.was_found) {
		/*
		 * If it has lost the processor between two ticks, it was at any
		 * moment, so the wait belongs to either stack.
		 */
		due = is_here || off_cpu < (uint64_t)unit / 4 ||
		    meter_random(wall.mark_ns) % 2 == 0 ? spent :
		    spent - unsampled_count_back(thread, off_cpu);
	} else {
		/* Before the first tick, or after the last one. */
		if (is_here)
			due = off_cpu;
		thread->meters->unsampled_ns += (int64_t)(spent - due);
	}
	if (is_tick && !wall.was_found) {
		/*
		 * The first tick also counts all time that others have left,
		 * and at least one tick, unless too much was counted.
		 */
		const int64_t left = thread->tid == process_own.pid ?
		    shared_take_time(CPPROF_SHARED_REAL) :
		    unsampled_take(thread->meters->carryover);
		const int64_t taken = left >= unit ? left :
		    left > -TIMER_MOST_AHEAD * unit ? unit : 0;

		thread->meters->unsampled_ns += left - taken;
		due += (uint64_t)taken;
	}
	if (is_tick)
		thread->meters->awaits_found = wall.was_found = true;
	waits_end(thread, now, 0);
	return meter_spend(&wall.meter, wrapped_microseconds(due));
}

void
wrapped_end_thread(struct thread *thread)
{
	uint64_t now;

	if (thread->waits->columns == 0)
		return;
	now = wrapped_now_ns();
	waits_charge_last(thread, now);
	wall.mark_ns = now;
}

const struct resource_source source_wall = {
	.name = "blocking calls, and ticks of CPU time",
	.start = start_wall,
	.hits = wall_hits,
	.needs_ticks = true,
};
