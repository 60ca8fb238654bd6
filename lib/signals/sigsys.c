/* SPDX-License-Identifier: MIT */
/* sigsys.c -- keeps SIGSYS unblocked and ours while system calls are stopped.
 *
 * Masks and actions are those of the kernel here, not of the C library, because
 * it is system calls that are stopped.
 */
#include "lib/signals/signals.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"

#define MASK_SIZE 8
#define OUR_BIT ((uint64_t)1 << (SIGSYS - 1))
#define RESTORER 0x04000000		/* SA_RESTORER */
#define N_MASKS 8

/* An action as the kernel takes it. */
struct kernel_action {
	union {
		__sighandler_t plain;
		void (*with_info)(int, siginfo_t *, void *);
	} handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* The last argument of calls that would have too many. */
struct mask_argument {
	long long mask;
	uint64_t size;
};

void dispatch_restorer(void);		/* lib/signals/restorer-*.S */

static bool is_taken;
static struct kernel_action program_action;
/*
 * Masks passed on to the kernel.  There are several because handlers may
 * interrupt each other.
 */
static __thread uint64_t masks[N_MASKS];
static __thread struct mask_argument mask_arguments[N_MASKS];
static __thread unsigned next_mask;

/* Changes the mask that the program will have when the handler returns. */
static long
sigsys_change_mask(ucontext_t *call)
{
	uint64_t mask = 0;
	long result = arch_system_call(SYS_rt_sigprocmask,
	    (long)*arch_call_argument(call, 0),
	    (long)*arch_call_argument(call, 1),
	    (long)*arch_call_argument(call, 2),
	    (long)*arch_call_argument(call, 3));

	if (result == 0) {
		arch_system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask,
		    MASK_SIZE);
		mask &= ~OUR_BIT;
		memcpy(&call->uc_sigmask, &mask, sizeof mask);
	}
	return result;
}

/* Whether 8 bytes can be read; as in lib/base/readable.c. */
static bool
can_be_read(long long address)
{
	return arch_system_call(SYS_rt_sigprocmask, ~0L, (long)address, 0,
	    MASK_SIZE) != -EFAULT;
}

/* The same for an action, which lies on at most two pages. */
static bool
action_can_be_read(const struct kernel_action *action)
{
	return action == NULL || (can_be_read((intptr_t)action) &&
	    can_be_read((intptr_t)&action->mask));
}

/* Writes into its first and its last field. */
static bool
action_can_be_written(struct kernel_action *action)
{
	return action == NULL || (arch_system_call(SYS_rt_sigprocmask,
	    SIG_BLOCK, 0, (long)&action->mask, MASK_SIZE) == 0 &&
	    arch_system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)action,
	    MASK_SIZE) == 0);
}

/* As the kernel, sets the action even if the old one cannot be written. */
static long
change_our_action(const struct kernel_action *action,
    struct kernel_action *old, long long mask_size)
{
	struct kernel_action previous = program_action;

	if (mask_size != MASK_SIZE)
		return -EINVAL;
	if (!action_can_be_read(action))
		return -EFAULT;
	if (action != NULL)
		program_action = *action;
	if (!action_can_be_written(old))
		return -EFAULT;
	if (old != NULL)
		*old = previous;
	return 0;
}

/* An action that cannot be read is passed on, and the kernel refuses it. */
static long
change_action(ucontext_t *call)
{
	const long number = (long)*arch_call_argument(call, 0);
	const long long old = *arch_call_argument(call, 2),
	    mask_size = *arch_call_argument(call, 3);
	const struct kernel_action *action =
	    (const void *)*arch_call_argument(call, 1);
	struct kernel_action copy;

	if (number == SIGSYS)
		return change_our_action(action, (void *)old, mask_size);
	if (action != NULL && action_can_be_read(action)) {
		copy = *action;
		copy.mask &= ~OUR_BIT;
		action = &copy;
	}
	return arch_system_call(SYS_rt_sigaction, number, (long)action,
	    (long)old, (long)mask_size);
}

/* Replaces a mask that blocks ours. */
static void
unblock_ours(long long *mask)
{
	uint64_t *copy = &masks[next_mask % N_MASKS];

	if (*mask == 0 || !can_be_read(*mask) ||
	    (*(const uint64_t *)*mask & OUR_BIT) == 0)
		return;
	next_mask++;
	*copy = *(const uint64_t *)*mask & ~OUR_BIT;
	*mask = (intptr_t)copy;
}

/* The same for an argument that points to the mask's address and size. */
static void
unblock_ours_in_argument(long long *argument)
{
	struct mask_argument *copy = &mask_arguments[next_mask % N_MASKS];
	const struct mask_argument *given = (const void *)*argument;

	if (given == NULL || !can_be_read(*argument) ||
	    !can_be_read((intptr_t)&given->size))
		return;
	*copy = *given;
	unblock_ours(&copy->mask);
	if (copy->mask != given->mask)
		*argument = (intptr_t)copy;
}

/* A handler may have changed the mask in its frame. */
static void
unblock_ours_in_frame(ucontext_t *frame)
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

bool
sigsys_make(ucontext_t *call)
{
	switch (arch_call_number(call)) {
	case SYS_rt_sigprocmask:
		*arch_call_result(call) = sigsys_change_mask(call);
		return true;
	case SYS_rt_sigaction:
		*arch_call_result(call) = change_action(call);
		return true;
	case SYS_rt_sigreturn:
		unblock_ours_in_frame(arch_call_frame(call));
		break;
	case SYS_rt_sigsuspend:
		unblock_ours(arch_call_argument(call, 0));
		break;
	case SYS_ppoll:
		unblock_ours(arch_call_argument(call, 3));
		break;
	case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		unblock_ours(arch_call_argument(call, 4));
		break;
	case SYS_pselect6:
	case SYS_io_pgetevents:
		unblock_ours_in_argument(arch_call_argument(call, 5));
		break;
	}
	return false;
}

void
sigsys_pass_on(int number, siginfo_t *info, void *context)
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

void
sigsys_set_restorer(int number)
{
	struct kernel_action action;

	if (!is_taken || arch_system_call(SYS_rt_sigaction, number, 0,
	    (long)&action, MASK_SIZE) != 0)
		return;
	action.restorer = dispatch_restorer;
	arch_system_call(SYS_rt_sigaction, number, (long)&action, 0, MASK_SIZE);
}

void
sigsys_bypass_sanitizer(int number, signals_handler *handler)
{
	struct kernel_action action;

	if (arch_system_call(SYS_rt_sigaction, number, 0, (long)&action,
	    MASK_SIZE) != 0 || action.handler.with_info == handler)
		return;
	action.handler.with_info = handler;
	arch_system_call(SYS_rt_sigaction, number, (long)&action, 0, MASK_SIZE);
}

static void
sigsys_install(signals_handler *handler)
{
	struct kernel_action action;
	unsigned i;

	is_taken = true;
	memset(&action, 0, sizeof action);
	action.handler.with_info = handler;
	action.flags = SA_SIGINFO | SA_NODEFER | RESTORER;
	action.restorer = dispatch_restorer;
	arch_system_call(SYS_rt_sigaction, SIGSYS, (long)&action,
	    (long)&program_action, MASK_SIZE);
	for (i = 0; i < OUR_SIGNALS; i++)
		if (signals_are_ours(signals_number(i)))
			sigsys_set_restorer(signals_number(i));
}

void
sigsys_take(signals_handler *handler)
{
	const uint64_t ours = OUR_BIT;

	if (!is_taken)
		sigsys_install(handler);
	arch_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, 0,
	    MASK_SIZE);
}
