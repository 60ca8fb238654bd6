/* SPDX-License-Identifier: MIT */
/* exceptions.c -- counts faulting instructions and executes them.
 *
 * Between the two signals of a fault, all signals are blocked except those that
 * instructions raise, so that no handler of the program can jump away.
 */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <ucontext.h>

#include "lib/base/fpu.h"
#include "lib/base/lookup.h"
#include "lib/base/sampling.h"
#include "lib/signals/signals.h"

static __thread struct {
	struct fpu_step step;
	sigset_t mask;		/* the program's */
	bool is_stepping;
} state;

static volatile bool was_tried;

static void
begin_step(void *context)
{
	static const int needed[] = { SIGFPE, SIGTRAP, SIGSEGV, SIGBUS,
	    SIGILL, SIGSYS };
	sigset_t *mask = &((ucontext_t *)context)->uc_sigmask;
	size_t i;

	fpu_begin_step(context, &state.step);
	state.mask = *mask;
	signals_fill(mask);
	for (i = 0; i < sizeof needed / sizeof *needed; i++)
		if (sigismember(&state.mask, needed[i]) == 0)
			sigdelset(mask, needed[i]);
	state.is_stepping = true;
}

bool
exceptions_take(bool is_sampled, const siginfo_t *info, void *context)
{
	if (!fpu_has_faulted(info, context,
	    signals_have_action(OUR_EXCEPTIONS)))
		return false;
	if (is_sampled)
		begin_step(context);
	else
		fpu_mask_in(context);
	return true;
}

bool
exceptions_end_step(void *context, bool *has_raised)
{
	ucontext_t *interrupted = context;

	*has_raised = false;
	if (!state.is_stepping ||
	    !fpu_end_step(context, &state.step, has_raised))
		return true;
	state.is_stepping = false;
	interrupted->uc_sigmask = state.mask;
	if (*has_raised)
		fpu_go_back(context, &state.step);
	return state.step.was_traced;
}

void
exceptions_go_on(void *context)
{
	fpu_go_on(context, &state.step);
}

void
exceptions_tick(void *context)
{
	const ucontext_t *interrupted = context;

	if (sigismember(&interrupted->uc_sigmask, SIGFPE) == 0)
		state.step.flags = fpu_unmask_in(context);
}

static bool
exceptions_start(struct thread *thread, unsigned column)
{
	thread->meters->accounts[column].needs_ticks = true;
	state.is_stepping = false;
	state.step.flags = fpu_unmask();
	return true;
}

static void
exceptions_stop(struct thread *thread, unsigned column)
{
	(void)thread, (void)column;
	fpu_mask();
}

/*
 * Whether the machine really traps; emulators may not.
 */

static void
try_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	if (fpu_has_faulted(info, context, false))
		begin_step(context);
	else
		fpu_mask_in(context);
}

static void
exceptions_try_step(int number, siginfo_t *info, void *context)
{
	bool has_raised;

	(void)number, (void)info;
	exceptions_end_step(context, &has_raised);
	exceptions_go_on(context);
	was_tried = has_raised;
}

static bool
exceptions_probe(const struct resource_row *row, uint64_t interval,
                 const char **why)
{
	struct sigaction fault = { .sa_flags = SA_SIGINFO }, step = fault;
	struct sigaction old_fault, old_step;
	sigset_t both, old;

	(void)row, (void)interval;
	fault.sa_sigaction = try_fault;
	step.sa_sigaction = exceptions_try_step;
	sigemptyset(&both);
	sigaddset(&both, SIGFPE);
	sigaddset(&both, SIGTRAP);
	real()->sigaction(SIGFPE, &fault, &old_fault);
	real()->sigaction(SIGTRAP, &step, &old_step);
	real()->pthread_sigmask(SIG_UNBLOCK, &both, &old);
	fpu_unmask();
	fpu_divide_by_zero();
	fpu_mask();
	real()->pthread_sigmask(SIG_SETMASK, &old, NULL);
	real()->sigaction(SIGTRAP, &old_step, NULL);
	real()->sigaction(SIGFPE, &old_fault, NULL);
	*why = "the machine does not trap floating-point exceptions";
	return was_tried;
}

const struct resource_source source_exceptions = {
	.name = "traps of SSE and AVX instructions",
	.probe = exceptions_probe,
	.start = exceptions_start,
	.stop = exceptions_stop,
	.needs_ticks = true,
	.can_be_random = true,
};

void
exceptions_program_enables(void)
{
	if (sampling_is_on() && resource_is_wanted(RESOURCE_FP_EXCEPTIONS))
		fpu_mask();
}

void
exceptions_program_clears(int exceptions)
{
	state.step.flags &= ~(uint32_t)exceptions;
}
