/* SPDX-License-Identifier: MIT */
/* dispatch.c -- the handler of stopped system calls.
 *
 * Almost every call goes on in a stub as it is.  Those that would block SIGSYS
 * or change its action are made here, or with another mask.  What the program
 * wants of SIGSYS itself is kept, and done when one comes that is not ours
 * (from a seccomp filter, say).
 *
 * A program that loads code of Go as it runs cannot be dispatched any more: its
 * stacks have no room for the signal.  Such a library first makes a thread, and
 * from then on the wrappers count (lib/interpose-kernel.c).
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
#include "lib/datafile.h"
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
#define N_MASKS 8

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

/* The last argument of calls that have too many. */
struct mask_argument {
	long long mask;
	uint64_t size;
};

void dispatch_restorer(void);
extern const char dispatch_stubs[];
_Atomic uintptr_t dispatch_sites[DISPATCH_SITES];

static bool is_installed;
static _Atomic bool is_given_up;
static struct kernel_action program_action;
static __thread volatile unsigned char selector;
static __thread bool is_dispatched;
/* Masks that are passed on; some, as handlers may interrupt each other. */
static __thread uint64_t masks[N_MASKS];
static __thread struct mask_argument mask_arguments[N_MASKS];
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

static bool
turn(int how)
{
	return prctl(PR_SET_SYSCALL_USER_DISPATCH, how,
	    how == PR_SYS_DISPATCH_ON ? process.own_start : 0,
	    how == PR_SYS_DISPATCH_ON ? process.own_end - process.own_start : 0,
	    how == PR_SYS_DISPATCH_ON ? &selector : NULL) == 0;
}

static void
stop_here(void)
{
	selector = LET_THROUGH;
	if (is_dispatched)
		turn(PR_SYS_DISPATCH_OFF);
	is_dispatched = false;
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
			return dispatch_stubs + ARCH_STUB_SIZE * i;
	}
	return NULL;
}

/* The context is past the instruction, where a function may have ended. */
static void
count(ucontext_t *call)
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
	*arch_pc(call) -= ARCH_CALL_SIZE;
	sample_take_at(thread, 1u << column, hits, call);
	*arch_pc(call) += ARCH_CALL_SIZE;
}

/* The same call, of four arguments, made here. */
static long
make(ucontext_t *call)
{
	return arch_system_call((long)arch_call_number(call),
	    (long)*arch_call_argument(call, 0),
	    (long)*arch_call_argument(call, 1),
	    (long)*arch_call_argument(call, 2),
	    (long)*arch_call_argument(call, 3));
}

/* Changes the mask that the program will have when the handler returns. */
static long
change_mask(ucontext_t *call)
{
	uint64_t mask = 0;
	long result = make(call);

	if (result == 0) {
		arch_system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask,
		    MASK_SIZE);
		mask &= ~OUR_BIT;
		memcpy(&call->uc_sigmask, &mask, sizeof mask);
	}
	return result;
}

/* Whether 8 bytes can be read: lib/readable.c. */
static bool
can_be_read(long long address)
{
	return arch_system_call(SYS_rt_sigprocmask, ~0L, (long)address, 0,
	    MASK_SIZE) != -EFAULT;
}

static long
change_our_action(const struct kernel_action *action,
    struct kernel_action *old, long long mask_size)
{
	struct kernel_action previous = program_action;

	if (mask_size != MASK_SIZE)
		return -EINVAL;
	if (!can_be_read((intptr_t)action) || !can_be_read((intptr_t)old))
		return -EFAULT;
	if (action != NULL)
		program_action = *action;
	if (old != NULL)
		*old = previous;
	return 0;
}

static long
change_action(ucontext_t *call)
{
	const long number = (long)*arch_call_argument(call, 0);
	const long long action = *arch_call_argument(call, 1);
	struct kernel_action now;
	long result;

	if (number == SIGSYS)
		return change_our_action((const void *)action,
		    (void *)*arch_call_argument(call, 2),
		    *arch_call_argument(call, 3));
	result = make(call);
	if (result != 0 || action == 0 || arch_system_call(SYS_rt_sigaction,
	    number, 0, (long)&now, MASK_SIZE) != 0)
		return result;
	if ((now.mask & OUR_BIT) != 0) {
		now.mask &= ~OUR_BIT;
		arch_system_call(SYS_rt_sigaction, number, (long)&now, 0,
		    MASK_SIZE);
	}
	return 0;
}

/* Gives a call another mask in place of one that blocks ours. */
static void
leave_ours_out(long long *mask)
{
	uint64_t *copy = &masks[next_mask % N_MASKS];

	if (*mask == 0 || !can_be_read(*mask) ||
	    (*(const uint64_t *)*mask & OUR_BIT) == 0)
		return;
	next_mask++;
	*copy = *(const uint64_t *)*mask & ~OUR_BIT;
	*mask = (intptr_t)copy;
}

/* The same where the argument is the address of the mask's, and its size. */
static void
leave_ours_out_behind(long long *argument)
{
	struct mask_argument *copy = &mask_arguments[next_mask % N_MASKS];

	if (*argument == 0 || !can_be_read(*argument))
		return;
	*copy = *(const struct mask_argument *)*argument;
	leave_ours_out(&copy->mask);
	*argument = (intptr_t)copy;
}

/* A handler may have changed what is blocked behind it. */
static void
leave_ours_out_of_frame(ucontext_t *frame)
{
	uint64_t mask;

	if (!can_be_read((intptr_t)&frame->uc_sigmask))
		return;
	memcpy(&mask, &frame->uc_sigmask, sizeof mask);
	if ((mask & OUR_BIT) == 0)
		return;
	mask &= ~OUR_BIT;
	memcpy(&frame->uc_sigmask, &mask, sizeof mask);
}

/* Whether the call is done; else it is to be made. */
static bool
make_here(ucontext_t *call)
{
	switch (arch_call_number(call)) {
	case SYS_rt_sigprocmask:
		*arch_call_result(call) = change_mask(call);
		return true;
	case SYS_rt_sigaction:
		*arch_call_result(call) = change_action(call);
		return true;
	case SYS_rt_sigreturn:
		leave_ours_out_of_frame(arch_call_frame(call));
		break;
	case SYS_rt_sigsuspend:
		leave_ours_out(arch_call_argument(call, 0));
		break;
	case SYS_ppoll:
		leave_ours_out(arch_call_argument(call, 3));
		break;
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		leave_ours_out(arch_call_argument(call, 4));
		break;
	case SYS_pselect6:
	case SYS_io_pgetevents:
		leave_ours_out_behind(arch_call_argument(call, 5));
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
	ucontext_t *call = context;
	int saved = errno;
	const char *stub;

	if (info->si_code != STOPPED_BY_DISPATCH) {
		run_program_action(number, info, context);
		return;
	}
	if (is_given_up) {
		stop_here();
		*arch_pc(call) -= ARCH_CALL_SIZE;
		errno = saved;
		return;
	}
	count(call);
	if (!make_here(call)) {
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
start(struct thread *thread, unsigned column)
{
	const uint64_t ours = OUR_BIT;

	(void)thread, (void)column;
	if (is_given_up)
		return true;
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
	stop_here();
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

/* What are calls of the wrappers only from some time on. */
static const struct source source_calls_since = {
	.name = "syscall user dispatch, later library calls",
	.can_be_random = true,
};

bool
dispatch_was_given_up(void)
{
	return is_given_up;
}

/*
 * Threads of other code stop by themselves, at their next call: they have to
 * make one on their own stack before they can run any Go.
 */
void
dispatch_check_caller(const void *return_address)
{
	const unsigned column = resources.place[RESOURCE_SYSCALLS] - 1u;

	if (!is_dispatched || is_given_up || !traits_is_go(return_address))
		return;
	is_given_up = true;
	stop_here();
	threads_hold_off();
	resources.columns[column].source = &source_calls_since;
	wrapped_begin(true);
	if (datafile_lock_patiently()) {
		datafile_note_source(column);
		datafile_unlock();
	}
	threads_resume();
}
