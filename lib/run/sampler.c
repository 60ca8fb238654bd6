/* SPDX-License-Identifier: MIT */
/* sampler.c -- the handlers of our signals.
 *
 * All signals are blocked in a handler, so that no other handler can jump out
 * of it.  Handlers preserve errno.
 */
#include "lib/run/start.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "lib/base/fpu.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/run/sample.h"
#include "lib/signals/signals.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/trampoline.h"
#include "lib/unwind/unwinder.h"

#define TICKS_TO_LOOK 256	/* between two looks at the recorder */

/* Functions of the files above this one. */
static struct {
	bool (*wake)(const siginfo_t *info, const void *context);
	void (*put_to_sleep)(struct thread *thread);
} parts;

/*
 * A thread may get its name after its first samples.  So the second, fourth and
 * eighth sample check the name again, unless something still refers to nodes of
 * its tree.
 */
static void
look_again_at_name(struct thread *thread)
{
	struct thread_file *file = thread->file;

	if (file->n_samples > 8)
		return;
	file->n_samples++;
	if ((file->n_samples & (file->n_samples - 1)) != 0 ||
	    !file->has_own_name || !thread_file_is_renamed(thread) ||
	    thread->waits->columns != 0 || thread->meters->n_found > 0 ||
	    process.counts_returns || open_calls_refer(thread))
		return;
	file->has_own_name = false;
	unwind_remember(thread->unwinder, 0);
	waits_forget(thread);
}

/*
 * Around what a handler does with its thread's state, if sampling may end while
 * the process goes on.  The end, which turns sampling off and then looks at the
 * flags, waits for it; so this comes before the handler asks whether it is on.
 */
static struct thread *
handler_begins(void)
{
	struct thread *thread = thread_self;

	if (process.is_inside && thread != NULL)
		atomic_store(&thread->run->is_in_handler, true);
	return thread;
}

static void
handler_ends(struct thread *thread)
{
	if (process.is_inside && thread != NULL)
		atomic_store_explicit(&thread->run->is_in_handler, false,
		    memory_order_release);
}

/* The thread for which exceptions are counted, or NULL. */
static struct thread *
sampled_thread(void)
{
	return sampling_is_on() && !sampling_is_stopped() &&
	    !signals_have_yielded() ? thread_self : NULL;
}

static void
handle_trap(int number, siginfo_t *info, void *context)
{
	const int column = perf_event_sender(info), saved = errno;
	const unsigned char dispatch = dispatch_pause();
	bool is_programs, has_raised;
	struct thread *thread, *self;

	if (signals_defer(number, info, context)) {
		dispatch_resume(dispatch);
		errno = saved;
		return;
	}
	signals_unblock_bus_in_handler(context);
	/* SIGTRAP does not queue, so an event's may have come in its place. */
	is_programs = exceptions_end_step(context, &has_raised);
	self = handler_begins();
	thread = sampled_thread();
	if (has_raised && thread != NULL) {
		/* Sample the instruction that has raised an exception. */
		unsigned of = resources.place[RESOURCE_FP_EXCEPTIONS] - 1u;
		struct account *account = &thread->meters->accounts[of];
		struct sample_request request = { .columns = 1u << of,
		    .hits = meter_spend(&account->meter, 1) };

		if (request.hits > 0 && sampling_is_own_process()) {
			account->pending += request.hits;
			request.time_ns = sample_time_passed(thread);
			own_work_begin(thread);
			sample_take(thread, &request, context);
			own_work_end(thread);
		}
	}
	if (has_raised)
		exceptions_go_on(context);
	/* An event has counted an interval (lib/sources/sources.h). */
	thread = sampling_is_on() && !sampling_is_stopped() ? thread_self :
	    NULL;
	if (thread != NULL && thread->run->stage == THREAD_LEFT)
		thread = NULL;
	if (column >= 0 && thread != NULL) {
		const unsigned of = (unsigned)column;
		struct sample_request request = {
			.counts_sampling = perf_measures_work(of),
		};

		own_work_begin(thread);
		request.columns = perf_trap(thread, of, &request.hits);
		request.clock_ns = perf_clock_ns(thread, of);
		if (request.hits > 0) {
			request.time_ns = sample_time_passed(thread);
			look_again_at_name(thread);
			sample_take(thread, &request, context);
		}
		perf_end_trap(thread, of);
		own_work_end(thread);
	} else if (column < 0 && is_programs) {
		signals_pass_on(number, info, context);
	}
	signals_let_interrupt(context);
	handler_ends(self);
	errno = saved;
	dispatch_again();
}

static void
handle_exception(int number, siginfo_t *info, void *context)
{
	const int saved = errno;

	dispatch_pause();
	signals_unblock_bus_in_handler(context);
	if (!exceptions_take(sampled_thread() != NULL, info, context))
		signals_pass_on(number, info, context);
	errno = saved;
	dispatch_again();
}

/*
 * SIGBUS: our file was truncated, or the program has caused it.  May interrupt
 * our own handlers.
 */
static void
handle_bus_error(int number, siginfo_t *info, void *context)
{
	const int saved = errno;
	const unsigned char dispatch = dispatch_pause();
	/* Deferred here, since the interrupted handler may block SIGSYS. */
	const bool is_done = info->si_code > 0 ? sampling_is_own_memory() &&
	    (datafile_replace_mapping(info->si_addr) ||
	    shared_replace_mapping(info->si_addr)) :
	    signals_defer(number, info, context);

	dispatch_resume(dispatch);
	errno = saved;
	if (!is_done)
		signals_pass_on(number, info, context);
}

/*
 * A forked child of a process into which the library was loaded has no thread
 * that ends its sampling when the recording has ended.
 */
static void
sampler_look_for_recorder(void)
{
	static atomic_uint n_ticks;

	if (process.is_inside && process.is_forked &&
	    atomic_fetch_add_explicit(&n_ticks, 1, memory_order_relaxed) %
	    TICKS_TO_LOOK == 0 && output_is_abandoned())
		sampling_stop(true);
}

static void
take_tick(struct thread *thread, const siginfo_t *info, void *context)
{
	const uint64_t expiries = 1 + (uint64_t)(info->si_overrun > 0 ?
	    info->si_overrun : 0);
	struct sample_request request = { .counts_sampling = true,
	    .time_ns = expiries * thread->meters->tick_ns };

	own_work_begin(thread);
	request.columns = resources_tick(thread, expiries, &request.hits,
	    &request.overrun);
	thread->meters->n_expiries += expiries;
	if (request.columns != 0) {
		look_again_at_name(thread);
		sample_take(thread, &request, context);
	}
	perf_end_tick(thread);
	own_work_end(thread);
	if (resource_is_wanted(RESOURCE_FP_EXCEPTIONS))
		exceptions_tick(context);
	sampler_look_for_recorder();
}

/* Another thread's tick has found this one waiting. */
static void
take_off_cpu(struct thread *thread, enum off_cpu state, void *context)
{
	struct sample_request request = { 0 };

	own_work_begin(thread);
	request.columns = resources_off_cpu(thread,
	    state == OFF_CPU_BLOCKED, &request.hits);
	if (request.columns != 0) {
		request.time_ns = sample_time_passed(thread);
		sample_take(thread, &request, context);
		resources_leave_off_cpu(thread, request.hits);
	}
	own_work_end(thread);
}

static void
handle_tick(int number, siginfo_t *info, void *context)
{
	const enum off_cpu off_cpu = off_cpu_sent(info);
	struct thread *thread;
	int saved;

	if (parts.wake != NULL && parts.wake(info, context))
		return;
	dispatch_pause();
	signals_unblock_bus_in_handler(context);
	thread = handler_begins();
	saved = errno;
	if (!timer_sent(info) && off_cpu == OFF_CPU_NOT) {
		signals_pass_on(number, info, context);
	} else if (thread != NULL && thread->run->stage == THREAD_LEFT) {
		/* A tick of an earlier recording, which waited till now. */
	} else if (thread != NULL && sampling_is_stopped()) {
		/* Not inside the stub of a mark, which still uses its state. */
		if (sampling_is_on() && !(process.is_inside &&
		    trampoline_runs(thread->unwinder)))
			parts.put_to_sleep(thread);
	} else if (thread != NULL && sampling_is_on()) {
		if (off_cpu == OFF_CPU_NOT)
			take_tick(thread, info, context);
		else
			take_off_cpu(thread, off_cpu, context);
	}
	signals_let_interrupt(context);
	handler_ends(thread);
	errno = saved;
	dispatch_again();
}

static bool
sampler_take(enum our_signal which, signals_handler *handler)
{
	if (!signals_take(which, handler))
		return false;
	sigsys_bypass_sanitizer(signals_number(which), handler);
	return true;
}

/*
 * The program has sent and blocked one of our signals: stops sampling this
 * thread.
 */
static void
stop_at_yield(void *context)
{
	if (thread_self != NULL)
		resources_stop(thread_self);
	if (resource_is_wanted(RESOURCE_FP_EXCEPTIONS))
		fpu_mask_in(context);
}

void
sampler_on_wake(bool (*wake)(const siginfo_t *, const void *))
{
	parts.wake = wake;
}

bool
sampler_install(void (*put_to_sleep)(struct thread *))
{
	stack_t stack;

	parts.put_to_sleep = put_to_sleep;
	signals_on_yield(stop_at_yield);
	if (!sampler_take(OUR_BUS_ERRORS, handle_bus_error) ||
	    !sampler_take(OUR_TICKS, handle_tick))
		return false;
	if ((perf_is_used() || resource_is_wanted(RESOURCE_FP_EXCEPTIONS)) &&
	    !sampler_take(OUR_TRAPS, handle_trap))
		return false;
	if (resource_is_wanted(RESOURCE_FP_EXCEPTIONS) &&
	    !sampler_take(OUR_EXCEPTIONS, handle_exception))
		return false;
	sampling_turn(true);
	if (real()->sigaltstack(NULL, &stack) == 0 &&
	    (stack.ss_flags & SS_DISABLE) == 0)
		alternate_fit(stack.ss_size);
	return true;
}

void
sampler_uninstall(void)
{
	if (!sampling_is_on())
		return;
	sampling_turn(false);
	if (resource_is_wanted(RESOURCE_FP_EXCEPTIONS))
		fpu_mask();
	signals_give_back();
}
