/* SPDX-License-Identifier: MIT */
/* dispatch.c -- the handler of stopped system calls.
 *
 * Almost every call is made unchanged by a stub; lib/signals/signals.h has the
 * exceptions.
 *
 * If a program loads Go code while it runs, dispatch must end, because Go's
 * stacks have no room for the signal.  Such a library first creates a thread.
 * From then on the wrappers count (lib/wrap/kernel.c).
 *
 * The kernel does not inherit dispatch to a new thread or process, or across
 * exec; each that is sampled turns it on for itself.
 */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/thread.h"
#include "lib/signals/signals.h"
#include "lib/sources/dispatch-sites.h"
#include "lib/store/datafile.h"
#include "lib/unwind/traits.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif
#define STOPPED_BY_DISPATCH 2		/* si_code */
#define LET_THROUGH 0
#define STOP 1
#define PROBES_MAX 64

extern const char dispatch_stubs[];
_Atomic uintptr_t dispatch_sites[DISPATCH_SITES] BIG_TABLE;

static _Atomic bool is_given_up;
static __thread volatile unsigned char selector;
static __thread bool is_dispatched;

unsigned char
dispatch_pause(void)
{
	unsigned char state = selector;

	selector = LET_THROUGH;
	return state;
}

void
dispatch_resume(unsigned char state)
{
	selector = state;
}

void
dispatch_again(void)
{
	if (is_dispatched)
		selector = STOP;
}

void
own_work_begin(struct thread *thread)
{
	thread->meters->own_work.dispatch = dispatch_pause();
	perf_hold(thread);
	usage_hold(thread);
}

void
own_work_end(struct thread *thread)
{
	usage_release(thread);
	perf_release(thread);
	dispatch_resume(thread->meters->own_work.dispatch);
}

static bool
turn(int how)
{
	const bool is_on = how == PR_SYS_DISPATCH_ON;

	return arch_system_call_6(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, how,
	    is_on ? (long)process.own_start : 0,
	    is_on ? (long)(process.own_end - process.own_start) : 0,
	    is_on ? (long)&selector : 0, 0) == 0;
}

static void
dispatch_stop_here(void)
{
	selector = LET_THROUGH;
	if (is_dispatched)
		turn(PR_SYS_DISPATCH_OFF);
	is_dispatched = false;
}

/* The stub of a site, or NULL if there is no room. */
static const char *
find_stub(uintptr_t site)
{
	size_t i = site * 0x9e3779b97f4a7c15u >> 52 & (DISPATCH_SITES - 1);
	unsigned n;

	for (n = 0; n < PROBES_MAX; n++, i = (i + 1) & (DISPATCH_SITES - 1)) {
		uintptr_t found = 0;

		if (atomic_load(&dispatch_sites[i]) == site ||
		    atomic_compare_exchange_strong(&dispatch_sites[i], &found,
		    site) || found == site)
			return dispatch_stubs + ARCH_STUB_SIZE * i;
	}
	return NULL;
}

/* At each call the context is after the instruction, perhaps a function's last. */
static void
handle(int number, siginfo_t *info, void *context)
{
	const unsigned column = resources.place[RESOURCE_SYSCALLS] - 1u;
	struct thread *thread = thread_self;
	ucontext_t *call = context;
	const int saved = errno;
	const char *stub;
	uint64_t hits;

	if (info->si_code != STOPPED_BY_DISPATCH) {
		sigsys_pass_on(number, info, context);
		return;
	}
	if (is_given_up) {
		dispatch_stop_here();
		*arch_pc(call) -= ARCH_CALL_SIZE;
		errno = saved;
		return;
	}
	/*
	 * The return from a handler is not a call of the program.  The
	 * tracepoint does not count it either.
	 */
	if (thread != NULL && !thread->is_sampling && !sampling_is_stopped() &&
	    arch_call_number(call) != SYS_rt_sigreturn) {
		hits = meter_spend(&thread->meters->accounts[column].meter, 1);
		*arch_pc(call) -= ARCH_CALL_SIZE;
		if (hits > 0)
			resource_parts->on_due(thread, column, hits, NULL,
			    call);
		*arch_pc(call) += ARCH_CALL_SIZE;
	}
	if (!sigsys_make(call)) {
		stub = find_stub((uintptr_t)*arch_pc(call));
		if (stub != NULL) {
			*arch_pc(call) = (intptr_t)stub;
		} else {
			selector = LET_THROUGH;
			*arch_pc(call) -= ARCH_CALL_SIZE;
		}
	}
	errno = saved;
}

static bool
dispatch_start(struct thread *thread, unsigned column)
{
	(void)thread, (void)column;
	if (is_given_up)
		return true;
	selector = LET_THROUGH;
	sigsys_take(handle);
	if (!turn(PR_SYS_DISPATCH_ON))
		return false;
	alternate_begin();
	is_dispatched = true;
	selector = STOP;
	return true;
}

static void
dispatch_stop(struct thread *thread, unsigned column)
{
	(void)thread, (void)column;
	dispatch_stop_here();
}

static bool
dispatch_probe(const struct resource_row *row, uint64_t interval,
               const char **why)
{
	(void)row, (void)interval;
	*why = "the stacks of Go are too small for syscall user dispatch";
	if (traits_have_go())
		return false;
	*why = "the kernel has no syscall user dispatch, or forbids it";
	return turn(PR_SYS_DISPATCH_ON) && turn(PR_SYS_DISPATCH_OFF);
}

const struct resource_source source_dispatch = {
	.name = "syscall user dispatch",
	.probe = dispatch_probe,
	.start = dispatch_start,
	.stop = dispatch_stop,
	.can_be_random = true,
};

/* The source once the wrappers have taken over. */
static const struct resource_source source_calls_since = {
	.is_of_wrappers = true,
	.name = "syscall user dispatch, later library calls",
	.can_be_random = true,
};

/*
 * Each other thread turns dispatch off at its next system call, which it makes
 * on its own stack before it can run Go code.
 */
void
dispatch_check_caller(const void *return_address)
{
	const unsigned column = resources.place[RESOURCE_SYSCALLS] - 1u;

	if (!is_dispatched || is_given_up || !traits_is_go(return_address))
		return;
	is_given_up = true;
	dispatch_stop_here();
	thread_hold_off();
	resources.columns[column].source = &source_calls_since;
	resource_parts->on_change();
	if (datafile_lock_patiently()) {
		datafile_note_source(column);
		datafile_unlock();
	}
	thread_resume();
}
