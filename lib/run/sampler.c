/* SPDX-License-Identifier: MIT */
/* sampler.c -- the signal handlers.
 *
 * In a handler all signals are blocked, so that no other handler can jump
 * out of it half way; it leaves errno as it was.
 */
#include "lib/run/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "lib/base/fpu.h"
#include "lib/base/real.h"
#include "lib/base/sampling.h"
#include "lib/run/sample.h"
#include "lib/signals/alternate.h"
#include "lib/signals/signals.h"
#include "lib/signals/sigsys.h"
#include "lib/sources/dispatch.h"
#include "lib/sources/exceptions.h"
#include "lib/sources/own-work.h"
#include "lib/sources/perf-event.h"
#include "lib/sources/perf.h"
#include "lib/sources/resource.h"
#include "lib/sources/thread-meters.h"
#include "lib/sources/timer.h"
#include "lib/store/datafile.h"

/* What the rooms' upper floors do for the handlers. */
static struct {
	bool (*wake)(const siginfo_t *info, const void *context);
	void (*put_to_sleep)(struct thread *thread);
} parts;

/* A tick, of so many expiries of the thread's timer. */
static void
tick(struct thread *thread, uint64_t expiries, void *context)
{
	struct occasion occasion = {
		.time_ns = expiries * resources.tick_ns,
		.spends_itself = true,
	};

	if (sampling_is_stopped()) {
		parts.put_to_sleep(thread);
		return;
	}
	own_work_begin(thread);
	occasion.columns = resources_tick(thread, expiries, &occasion.hits,
	    &occasion.overrun);
	thread->meters->n_expiries += expiries;
	if (occasion.columns != 0)
		sample_take(thread, &occasion, context);
	perf_end_tick(thread);
	own_work_end(thread);
	if (exceptions_are_wanted())
		exceptions_tick(context);
}

/* An event has counted to its end; see source-perf.h. */
static void
take_trap(unsigned column, const void *context)
{
	struct thread *thread = thread_self;
	struct occasion occasion = {
		.spends_itself = perf_measures_work(column),
	};

	if (thread == NULL || !sampling_is_on() || sampling_is_stopped())
		return;
	own_work_begin(thread);
	occasion.columns = perf_trap(thread, column, &occasion.hits);
	if (occasion.hits > 0) {
		occasion.time_ns = sample_time_passed(thread);
		sample_take(thread, &occasion, context);
	}
	perf_end_trap(thread, column);
	own_work_end(thread);
}

/* The thread that exceptions are counted for, or NULL. */
static struct thread *
sampled_thread(void)
{
	return sampling_is_on() && !sampling_is_stopped() && !signals_have_yielded() ?
	    thread_self : NULL;
}

/* An instruction has raised a floating-point exception. */
static void
take_exception(const void *context)
{
	const unsigned column = resources.place[RESOURCE_FP_EXCEPTIONS] - 1u;
	struct thread *thread = sampled_thread();
	struct occasion occasion = { .columns = 1u << column };

	if (thread == NULL)
		return;
	occasion.hits = meter_spend(&thread->meters->accounts[column].meter, 1);
	if (occasion.hits == 0 || !sampling_is_own_process())
		return;
	thread->meters->accounts[column].owed += occasion.hits;
	occasion.time_ns = sample_time_passed(thread);
	own_work_begin(thread);
	sample_take(thread, &occasion, context);
	own_work_end(thread);
}

static void
handle_trap(int number, siginfo_t *info, void *context)
{
	const int column = perf_event_sender(info), saved = errno;
	const unsigned char dispatch = dispatch_pause();
	bool is_programs, has_raised;

	if (signals_put_off(number, info, context)) {
		dispatch_resume(dispatch);
		errno = saved;
		return;
	}
	signals_allow_cuts(context);
	/* An event's may have come in its place: SIGTRAP does not queue. */
	is_programs = exceptions_end_step(context, &has_raised);
	if (has_raised) {
		take_exception(context);
		exceptions_go_on(context);
	}
	if (column >= 0)
		take_trap((unsigned)column, context);
	else if (is_programs)
		signals_hand_on(number, info, context);
	errno = saved;
	dispatch_again();
}

static void
handle_fault(int number, siginfo_t *info, void *context)
{
	const int saved = errno;

	dispatch_pause();
	signals_allow_cuts(context);
	if (!exceptions_take(sampled_thread() != NULL, info, context))
		signals_hand_on(number, info, context);
	errno = saved;
	dispatch_again();
}

/*
 * A file of others, or of ours that has been cut short.  May be in the middle
 * of a handler of ours.
 */
static void
handle_cut(int number, siginfo_t *info, void *context)
{
	const int saved = errno;
	const unsigned char dispatch = dispatch_pause();
	const bool is_ours = info->si_code > 0 && sampling_is_own_memory() &&
	    datafile_replace_mapping(info->si_addr);

	dispatch_resume(dispatch);
	errno = saved;
	if (!is_ours)
		signals_hand_on(number, info, context);
}

static void
handle_tick(int number, siginfo_t *info, void *context)
{
	struct thread *thread;
	int saved;

	if (parts.wake != NULL && parts.wake(info, context))
		return;
	dispatch_pause();
	signals_allow_cuts(context);
	thread = thread_self;
	saved = errno;
	if (!timer_sent(info))
		signals_hand_on(number, info, context);
	else if (thread != NULL && sampling_is_on())
		tick(thread, 1 + (uint64_t)(info->si_overrun > 0 ?
		    info->si_overrun : 0), context);
	errno = saved;
	dispatch_again();
}

static int
take(enum our_signal which, signals_handler *handler)
{
	if (signals_take(which, handler) != 0)
		return -1;
	sigsys_handle_at_once(signals_number(which), handler);
	return 0;
}

/* A signal of ours came that the program wants, and has blocked. */
static void
stop_at_yield(void *context)
{
	if (thread_self != NULL)
		sampler_stop(thread_self);
	if (exceptions_are_wanted())
		fpu_mask_in(context);
}

void
sampler_on_wake(bool (*wake)(const siginfo_t *, const void *))
{
	parts.wake = wake;
}

int
sampler_install(void (*put_to_sleep)(struct thread *))
{
	stack_t stack;

	parts.put_to_sleep = put_to_sleep;
	signals_on_yield(stop_at_yield);
	if (take(OUR_CUTS, handle_cut) != 0 ||
	    take(OUR_TICKS, handle_tick) != 0)
		return -1;
	if ((perf_is_used() || exceptions_are_wanted()) &&
	    take(OUR_TRAPS, handle_trap) != 0)
		return -1;
	if (exceptions_are_wanted() &&
	    take(OUR_FAULTS, handle_fault) != 0)
		return -1;
	sampling_turn(true);
	if (real()->sigaltstack(NULL, &stack) == 0 &&
	    (stack.ss_flags & SS_DISABLE) == 0)
		alternate_fit(stack.ss_size);
	return 0;
}

void
sampler_uninstall(void)
{
	if (!sampling_is_on())
		return;
	sampling_turn(false);
	if (exceptions_are_wanted())
		fpu_mask();
	signals_give_back();
}

bool
sampler_start(struct thread *thread)
{
	signals_unblock();
	return resources_start(thread);
}

void
sampler_stop(struct thread *thread)
{
	resources_stop(thread);
}
