/* SPDX-License-Identifier: MIT */
/* interrupted.c -- system calls that a signal of the program's interrupts.
 *
 * A signal makes a call that waits return.  The kernel then looks at the first
 * signal that it delivers: if its action has SA_RESTART, as ours have, the call
 * is made again when the handler returns, else it ends with EINTR.  A perf
 * event's trap or a tick may be due in the same moment as a signal of the
 * program's, which has just woken the thread.  A trap is delivered before all
 * others, and a tick, as it is sent to the thread, before what is sent to the
 * process.  So the program, which may wait for nothing but that signal, would
 * wait forever.
 */
#include "lib/signals/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/process.h"

#define N_SIGNALS 64

/*
 * Whether a call that is to be made again would end with EINTR if the first
 * handler had no SA_RESTART.  The others that a signal interrupts are always
 * made again, or have ended already.
 */
static bool
call_can_be_interrupted(ucontext_t *call)
{
	switch (arch_call_number(call)) {
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_preadv:
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_open:
	case SYS_openat:
	case SYS_connect:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_flock:
	case SYS_mq_timedreceive:
	case SYS_mq_timedsend:
	case SYS_getrandom:
		return true;
	case SYS_fcntl:
		return *arch_call_argument(call, 1) == F_SETLKW ||
		    *arch_call_argument(call, 1) == F_OFD_SETLKW;
	case SYS_futex:
		switch (*arch_call_argument(call, 1) & FUTEX_CMD_MASK) {
		case FUTEX_WAIT:
		case FUTEX_WAIT_BITSET:
			return true;
		}
		return false;
	}
	return false;
}

/*
 * Whether the handler that the program will run first, after this one of ours,
 * interrupts calls.  Blocked are those in the mask.
 */
static bool
next_handler_interrupts(uint64_t blocked)
{
	struct kernel_action action;
	uint64_t pending;
	int number;

	if (arch_system_call(SYS_rt_sigpending, (long)&pending,
	    KERNEL_MASK_SIZE, 0, 0) != 0)
		return false;
	for (number = 1; number <= N_SIGNALS; number++) {
		if (((pending & ~blocked) >> (number - 1) & 1) == 0 ||
		    signals_are_ours(number) ||
		    arch_system_call(SYS_rt_sigaction, number, 0,
		    (long)&action, KERNEL_MASK_SIZE) != 0 ||
		    action.handler.plain == SIG_DFL ||
		    action.handler.plain == SIG_IGN)
			continue;
		return (action.flags & SA_RESTART) == 0;
	}
	return false;
}

void
signals_end_call(ucontext_t *context)
{
	if (!arch_repeats_call(context) || !call_can_be_interrupted(context))
		return;
	*arch_pc(context) += ARCH_CALL_SIZE;
	*arch_call_result(context) = -EINTR;
}

void
signals_let_interrupt(ucontext_t *context)
{
	uint64_t blocked;

	if (process.asks_no_signals || !arch_repeats_call(context))
		return;
	memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
	if (next_handler_interrupts(blocked))
		signals_end_call(context);
}
