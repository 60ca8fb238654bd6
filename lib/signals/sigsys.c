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
#include "lib/base/process.h"

#define OUR_BIT ((uint64_t)1 << (SIGSYS - 1))
#define RESTORER 0x04000000		/* SA_RESTORER */
#define N_MASKS 8

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

/* Whether 8 bytes can be read; as in lib/base/readable.c. */
static bool
can_be_read(long long address)
{
	return arch_system_call(SYS_rt_sigprocmask, ~0L, (long)address, 0,
	    KERNEL_MASK_SIZE) != -EFAULT;
}

/* The same for an action, which lies on at most two pages. */
static bool
action_can_be_read(const struct kernel_action *action)
{
	return action == NULL || (can_be_read((intptr_t)action) &&
	    can_be_read((intptr_t)&action->mask));
}

/* An action that cannot be read is passed on, and the kernel refuses it. */
static long
change_action(ucontext_t *call)
{
	const long number = (long)*arch_call_argument(call, 0);
	const struct kernel_action *action =
	    (const void *)*arch_call_argument(call, 1);
	struct kernel_action *old = (void *)*arch_call_argument(call, 2);
	const long long size = *arch_call_argument(call, 3);
	const struct kernel_action previous = program_action;
	struct kernel_action copy;

	if (number != SIGSYS) {
		if (action != NULL && action_can_be_read(action)) {
			copy = *action;
			copy.mask &= ~OUR_BIT;
			action = &copy;
		}
		return arch_system_call(SYS_rt_sigaction, number, (long)action,
		    (long)old, (long)size);
	}
	if (size != KERNEL_MASK_SIZE)
		return -EINVAL;
	if (!action_can_be_read(action))
		return -EFAULT;
	if (action != NULL)
		program_action = *action;
	if (old == NULL)
		return 0;
	/*
	 * As the kernel, set the action even if the old one cannot be written:
	 * write into its last and its first field.
	 */
	if (arch_system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0,
	    (long)&old->mask, KERNEL_MASK_SIZE) != 0 ||
	    arch_system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)old,
	    KERNEL_MASK_SIZE) != 0)
		return -EFAULT;
	*old = previous;
	return 0;
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

bool
sigsys_make(ucontext_t *call)
{
	struct mask_argument *copy = &mask_arguments[next_mask % N_MASKS];
	const struct mask_argument *given;
	long long *argument;
	ucontext_t *frame;
	uint64_t mask = 0;

	switch (arch_call_number(call)) {
	case SYS_rt_sigprocmask:
		*arch_call_result(call) = arch_system_call(SYS_rt_sigprocmask,
		    (long)*arch_call_argument(call, 0),
		    (long)*arch_call_argument(call, 1),
		    (long)*arch_call_argument(call, 2),
		    (long)*arch_call_argument(call, 3));
		if (*arch_call_result(call) != 0)
			return true;
		/* The program will have that mask when the handler returns. */
		arch_system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask,
		    KERNEL_MASK_SIZE);
		mask &= ~OUR_BIT;
		memcpy(&call->uc_sigmask, &mask, sizeof mask);
		return true;
	case SYS_rt_sigaction:
		*arch_call_result(call) = change_action(call);
		return true;
	case SYS_rt_sigreturn:
		/* A handler may have changed the mask in its frame. */
		frame = arch_call_frame(call);
		if (!can_be_read((intptr_t)&frame->uc_sigmask))
			break;
		memcpy(&mask, &frame->uc_sigmask, sizeof mask);
		if ((mask & OUR_BIT) == 0)
			break;
		mask &= ~OUR_BIT;
		memcpy(&frame->uc_sigmask, &mask, sizeof mask);
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
		/* The argument points to the mask's address and size. */
		argument = arch_call_argument(call, 5);
		given = (const void *)*argument;
		if (given == NULL || !can_be_read(*argument) ||
		    !can_be_read((intptr_t)&given->size))
			break;
		*copy = *given;
		unblock_ours(&copy->mask);
		if (copy->mask != given->mask)
			*argument = (intptr_t)copy;
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
		    KERNEL_MASK_SIZE);
		arch_system_call(SYS_tgkill, process_id(), process_thread_id(),
		    number, 0);
		return;
	}
	action.handler.with_info(number, info, context);
}

void
sigsys_set_restorer(int number)
{
	struct kernel_action action;

	if (!is_taken || arch_system_call(SYS_rt_sigaction, number, 0,
	    (long)&action, KERNEL_MASK_SIZE) != 0)
		return;
	action.restorer = dispatch_restorer;
	arch_system_call(SYS_rt_sigaction, number, (long)&action, 0,
	    KERNEL_MASK_SIZE);
}

void
sigsys_bypass_sanitizer(int number, signals_handler *handler)
{
	struct kernel_action action;

	if (arch_system_call(SYS_rt_sigaction, number, 0, (long)&action,
	    KERNEL_MASK_SIZE) != 0 || action.handler.with_info == handler)
		return;
	action.handler.with_info = handler;
	arch_system_call(SYS_rt_sigaction, number, (long)&action, 0,
	    KERNEL_MASK_SIZE);
}

void
sigsys_take(signals_handler *handler)
{
	const uint64_t ours = OUR_BIT;
	struct kernel_action action;
	unsigned i;

	if (!is_taken) {
		is_taken = true;
		memset(&action, 0, sizeof action);
		action.handler.with_info = handler;
		action.flags = SA_SIGINFO | SA_NODEFER | RESTORER;
		action.restorer = dispatch_restorer;
		arch_system_call(SYS_rt_sigaction, SIGSYS, (long)&action,
		    (long)&program_action, KERNEL_MASK_SIZE);
		for (i = 0; i < OUR_SIGNALS; i++)
			if (signals_are_ours(signals_number(i)))
				sigsys_set_restorer(signals_number(i));
	}
	arch_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, 0,
	    KERNEL_MASK_SIZE);
}
