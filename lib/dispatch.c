/* SPDX-License-Identifier: MIT */
/* dispatch.c -- the handler of stopped system calls.
 *
 * Almost every call goes on in a stub as it is.  Those that would block SIGSYS
 * or change its action are made here, or with another mask.  What the program
 * wants of SIGSYS itself is kept, and done when one comes that is not ours
 * (from a seccomp filter, say).
 *
 * The kernel forgets the dispatch in a new thread or process, and where a
 * program is executed; those that are sampled begin their own.
 */
#include "lib/dispatch.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "lib/alternate.h"
#include "lib/arch.h"
#include "lib/control.h"
#include "lib/dispatch-sites.h"
#include "lib/sample.h"
#include "lib/signals.h"
#include "lib/traits.h"
#include "lib/wrapped.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif
#define STOPPED_BY_DISPATCH 2		/* si_code */
#define LET_THROUGH 0
#define STOP 1

#define MASK_SIZE 8
#define OUR_BIT ((uint64_t)1 << (SIGSYS - 1))
#define RESTORER 0x04000000		/* SA_RESTORER */
#define PROBES_MAX 64

/* What the kernel takes for an action. */
struct kernel_action {
	union {
		__sighandler_t plain;
		void (*with_info)(int, siginfo_t *, void *);
	} handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

void dispatch_restorer(void);
extern const char dispatch_stubs[];
_Atomic uintptr_t dispatch_sites[DISPATCH_SITES];

static bool is_installed;
static struct kernel_action program_action;
static __thread volatile unsigned char selector;
static __thread bool is_dispatched;
/* Masks that are passed on; some, as handlers may interrupt each other. */
static __thread uint64_t masks[8];
static __thread unsigned next_mask;

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

/* The site's stub, or NULL when there is no room for it. */
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
			return dispatch_stubs + 8 * i;
	}
	return NULL;
}

/* The context is past the instruction, where a function may have ended. */
static void
count(ucontext_t *interrupted)
{
	const unsigned column = resources.place[RESOURCE_SYSCALLS] - 1u;
	struct thread *thread = thread_self;
	uint64_t hits;

	if (thread == NULL || thread->is_sampling || control_is_stopped())
		return;
	hits = meter_spend(&thread->accounts[column].meter, 1);
	if (hits == 0)
		return;
	thread->accounts[column].owed += hits;
	interrupted->uc_mcontext.gregs[REG_RIP] -= 2;
	sample_take_at(thread, 1u << column, hits, interrupted);
	interrupted->uc_mcontext.gregs[REG_RIP] += 2;
}

/* Changes the mask that the program will have when the handler returns. */
static long
change_mask(ucontext_t *interrupted, const greg_t *r)
{
	uint64_t mask = 0;
	long result = arch_system_call(SYS_rt_sigprocmask, r[REG_RDI],
	    r[REG_RSI], r[REG_RDX], r[REG_R10]);

	if (result == 0) {
		arch_system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask,
		    MASK_SIZE);
		mask &= ~OUR_BIT;
		memcpy(&interrupted->uc_sigmask, &mask, sizeof mask);
	}
	return result;
}

static long
change_our_action(const greg_t *r)
{
	const struct kernel_action *action = (const void *)r[REG_RSI];
	struct kernel_action *old = (void *)r[REG_RDX];
	struct kernel_action previous = program_action;

	if (r[REG_R10] != MASK_SIZE)
		return -EINVAL;
	if (action != NULL)
		program_action = *action;
	if (old != NULL)
		*old = previous;
	return 0;
}

static long
change_action(const greg_t *r)
{
	struct kernel_action action;
	long result;

	if (r[REG_RDI] == SIGSYS)
		return change_our_action(r);
	result = arch_system_call(SYS_rt_sigaction, r[REG_RDI], r[REG_RSI],
	    r[REG_RDX], r[REG_R10]);
	if (result != 0 || r[REG_RSI] == 0 || arch_system_call(
	    SYS_rt_sigaction, r[REG_RDI], 0, (long)&action, MASK_SIZE) != 0)
		return result;
	if ((action.mask & OUR_BIT) != 0) {
		action.mask &= ~OUR_BIT;
		arch_system_call(SYS_rt_sigaction, r[REG_RDI], (long)&action, 0,
		    MASK_SIZE);
	}
	return 0;
}

/* A mask for the time of a call, without ours. */
static greg_t
without_ours(greg_t mask)
{
	uint64_t *copy = &masks[next_mask % (sizeof masks / sizeof *masks)];

	if (mask == 0 || (*(const uint64_t *)mask & OUR_BIT) == 0)
		return mask;
	next_mask++;
	*copy = *(const uint64_t *)mask & ~OUR_BIT;
	return (greg_t)copy;
}

/* Whether the call is done; else it is to be made. */
static bool
make_here(ucontext_t *interrupted, greg_t *r)
{
	switch (r[REG_RAX]) {
	case SYS_rt_sigprocmask:
		r[REG_RAX] = change_mask(interrupted, r);
		return true;
	case SYS_rt_sigaction:
		r[REG_RAX] = change_action(r);
		return true;
	case SYS_rt_sigsuspend:
		r[REG_RDI] = without_ours(r[REG_RDI]);
		break;
	case SYS_ppoll:
		r[REG_R10] = without_ours(r[REG_R10]);
		break;
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		r[REG_R8] = without_ours(r[REG_R8]);
		break;
	case SYS_pselect6:
		if (r[REG_R9] != 0)
			*(greg_t *)r[REG_R9] =
			    without_ours(*(greg_t *)r[REG_R9]);
		break;
	}
	return false;
}

/* One that the program, or a filter it has set, has caused. */
static void
run_program_action(int number, siginfo_t *info, void *context)
{
	struct kernel_action action = program_action;

	if (action.handler.plain == SIG_IGN)
		return;
	if (action.handler.plain == SIG_DFL) {
		arch_system_call(SYS_rt_sigaction, number, (long)&action, 0,
		    MASK_SIZE);
		arch_system_call(SYS_tgkill,
		    arch_system_call(SYS_getpid, 0, 0, 0, 0),
		    arch_system_call(SYS_gettid, 0, 0, 0, 0), number, 0);
		return;
	}
	action.handler.with_info(number, info, context);
}

static void
handle(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	greg_t *r = interrupted->uc_mcontext.gregs;
	int saved = errno;
	const char *stub;

	if (info->si_code != STOPPED_BY_DISPATCH) {
		run_program_action(number, info, context);
		return;
	}
	count(interrupted);
	if (!make_here(interrupted, r)) {
		stub = find_stub((uintptr_t)r[REG_RIP]);
		if (stub != NULL) {
			r[REG_RIP] = (greg_t)stub;
		} else {
			selector = LET_THROUGH;
			r[REG_RIP] -= 2;	/* again, from the start */
		}
	}
	errno = saved;
}

void
dispatch_return_by_ours(int number)
{
	struct kernel_action action;

	if (!is_installed || arch_system_call(SYS_rt_sigaction, number, 0,
	    (long)&action, MASK_SIZE) != 0)
		return;
	action.restorer = dispatch_restorer;
	arch_system_call(SYS_rt_sigaction, number, (long)&action, 0, MASK_SIZE);
}

static void
install(void)
{
	struct kernel_action action;
	unsigned i;

	if (is_installed)
		return;
	is_installed = true;
	memset(&action, 0, sizeof action);
	action.handler.with_info = handle;
	action.flags = SA_SIGINFO | SA_NODEFER | RESTORER;
	action.restorer = dispatch_restorer;
	arch_system_call(SYS_rt_sigaction, SIGSYS, (long)&action,
	    (long)&program_action, MASK_SIZE);
	for (i = 0; i < OUR_SIGNALS; i++)
		if (signals_are_ours(signals_number(i)))
			dispatch_return_by_ours(signals_number(i));
}

static bool
turn(int how)
{
	return prctl(PR_SET_SYSCALL_USER_DISPATCH, how,
	    how == PR_SYS_DISPATCH_ON ? process.own_start : 0,
	    how == PR_SYS_DISPATCH_ON ? process.own_end - process.own_start : 0,
	    how == PR_SYS_DISPATCH_ON ? &selector : NULL) == 0;
}

static bool
start(struct thread *thread, unsigned column)
{
	const uint64_t ours = OUR_BIT;

	(void)thread, (void)column;
	install();
	selector = LET_THROUGH;
	arch_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, 0,
	    MASK_SIZE);
	if (!turn(PR_SYS_DISPATCH_ON))
		return false;
	alternate_begin();
	is_dispatched = true;
	selector = STOP;
	return true;
}

static void
stop(struct thread *thread, unsigned column)
{
	(void)thread, (void)column;
	selector = LET_THROUGH;
	if (is_dispatched)
		turn(PR_SYS_DISPATCH_OFF);
	is_dispatched = false;
}

static bool
probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	(void)row, (void)interval;
	*why = "the stacks of Go are too small for syscall user dispatch";
	if (traits_have_go())
		return false;
	*why = "the kernel has no syscall user dispatch, or forbids it";
	return turn(PR_SYS_DISPATCH_ON) && turn(PR_SYS_DISPATCH_OFF);
}

const struct source source_dispatch = {
	.name = "syscall user dispatch",
	.probe = probe,
	.start = start,
	.stop = stop,
	.can_be_random = true,
};
