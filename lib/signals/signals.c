/* SPDX-License-Identifier: MIT */
/* signals.c -- installs our handlers, and emulates the program's use of the
 * same signals.
 *
 * The program's masks: program_blocks is the part of its mask that concerns our
 * signals; in the kernel's mask they stay unblocked.  Its actions:
 * program_actions holds what it asked for, and signals_pass_on does what the
 * kernel would have done when a signal comes that is not ours.  Both are given
 * back before exec and when sampling ends.
 */
#include "lib/signals/signals.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"

static struct sigaction program_actions[OUR_SIGNALS];	/* as it asked for */
static bool signals_install(enum our_signal, struct sigaction *);
static __thread volatile bool program_blocks[OUR_SIGNALS];
static __thread bool has_yielded;
static __thread bool bus_was_blocked;	/* a handler has found SIGBUS blocked */
static void (*stop_sampling)(void *context);
static int stack_flag = SA_ONSTACK;	/* of our actions */
/*
 * The child of vfork whose mask the kernel keeps (signals_kernel_keeps_mask);
 * 0: none.
 */
static __thread pid_t child_with_mask;

/*
 * By a raw system call, as all that handlers here ask of the kernel: it is not
 * counted as the program's, and no sanitizer intercepts it.
 */
static uint64_t
signals_change_mask(int how, uint64_t set)
{
	uint64_t old = 0;

	arch_system_call(SYS_rt_sigprocmask, how, (long)&set, (long)&old,
	    sizeof set);
	return old;
}

static uint64_t
signals_bit_of(int number)
{
	return (uint64_t)1 << (number - 1);
}

/* The signals that the kernel knows, the first word of a set. */
static uint64_t
signals_of_set(const sigset_t *set)
{
	uint64_t signals;

	memcpy(&signals, set, sizeof signals);
	return signals;
}

const sigset_t *
signals_without_ours(const sigset_t *set, sigset_t *copy)
{
	unsigned i;

	if (set == NULL || !sampling_is_on())
		return set;
	*copy = *set;
	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL)
			sigdelset(copy, signals_number(i));
	return copy;
}

bool
signals_block(void)
{
	uint64_t ours = 0, old;
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL)
			ours |= signals_bit_of(signals_number(i));
	old = signals_change_mask(SIG_BLOCK, ours);
	return (old & signals_bit_of(signals_number(OUR_TICKS))) == 0;
}

void
signals_unblock(void)
{
	uint64_t ours = 0;
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL &&
		    (sampling_is_on() || !program_blocks[i]))
			ours |= signals_bit_of(signals_number(i));
	signals_change_mask(SIG_UNBLOCK, ours);
}

void
signals_fill(sigset_t *set)
{
	memset(set, 0xff, sizeof *set);
}

uint64_t
signals_blocked_for_work(void)
{
	return our_handlers[OUR_BUS_ERRORS] != NULL ? ~signals_bit_of(SIGBUS) :
	    UINT64_MAX;
}

static uint64_t
change_bus(int how)
{
	const uint64_t bus = signals_bit_of(SIGBUS);

	return signals_change_mask(how, bus) & bus;
}

bool
signals_unblock_bus(void)
{
	return our_handlers[OUR_BUS_ERRORS] != NULL &&
	    change_bus(SIG_UNBLOCK) != 0;
}

bool
signals_unblock_bus_if_needed(void)
{
	return bus_was_blocked && signals_unblock_bus();
}

void
signals_block_bus_again(bool again)
{
	if (again)
		change_bus(SIG_BLOCK);
}

void
signals_unblock_bus_in_handler(const void *context)
{
	const ucontext_t *interrupted = context;

	if (our_handlers[OUR_BUS_ERRORS] == NULL ||
	    sigismember(&interrupted->uc_sigmask, SIGBUS) == 0)
		return;
	bus_was_blocked = true;
	change_bus(SIG_UNBLOCK);
}

bool
signals_program_blocks(enum our_signal which)
{
	return program_blocks[which];
}

void
signals_set_program_blocks(enum our_signal which, bool is_blocked)
{
	if (our_handlers[which] != NULL)
		program_blocks[which] = is_blocked;
}

unsigned
signals_program_mask(void)
{
	unsigned program_mask = 0, i;

	for (i = 0; i < OUR_SIGNALS; i++)
		program_mask |= (unsigned)program_blocks[i] << i;
	return program_mask;
}

void
signals_inherit(unsigned program_mask)
{
	sigset_t mask;
	unsigned i;

	sigemptyset(&mask);
	real()->pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (i = 0; i < OUR_SIGNALS; i++)
		signals_set_program_blocks(i, (program_mask >> i & 1) != 0 ||
		    sigismember(&mask, signals_number(i)) == 1);
}

/*
 * Blocks or unblocks the signals that the program has blocked, and no others.
 */
static void
change_program_blocked(int how)
{
	uint64_t set = 0;
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++)
		if (program_blocks[i])
			set |= signals_bit_of(signals_number(i));
	if (set != 0)
		signals_change_mask(how, set);
}

/*
 * A child of vfork shares this memory with its parent, so its changes are left
 * to the kernel.
 */
static bool
is_child_of_vfork(void)
{
	return sampling_is_own_memory() && !sampling_is_own_process();
}

static bool
has_mask_of_child(void)
{
	return child_with_mask != 0 && child_with_mask == getpid();
}

bool
signals_kernel_keeps_mask(bool is_changed)
{
	if (has_mask_of_child())
		return true;
	if (!is_changed || !is_child_of_vfork())
		return false;
	change_program_blocked(SIG_BLOCK);
	child_with_mask = getpid();
	return true;
}

bool
signals_have_yielded(void)
{
	return has_yielded;
}

static bool
signals_is_ours(enum our_signal which, const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) != 0 &&
	    action->sa_sigaction == our_handlers[which];
}

void
signals_program_action(int number, const struct sigaction *action,
    struct sigaction *old)
{
	const enum our_signal which = signals_find(number);
	struct sigaction *kept = &program_actions[which];
	struct sigaction previous = *kept;

	if (is_child_of_vfork()) {
		real()->sigaction(number, action, &previous);
		if (signals_is_ours(which, &previous))
			previous = *kept;
	} else if (action != NULL) {
		*kept = *action;
		if (which == OUR_BUS_ERRORS)
			signals_install(which, NULL);
	}
	if (old != NULL)
		*old = previous;
}

/*
 * Passing on.
 */

/*
 * Makes the signal pending again, and blocked in the context to which the
 * handler returns.  It is blocked here, too: if the program's action does not
 * defer it, its handler would interrupt itself for ever.  For a queued signal
 * it is not known whether it was sent to the process or, which is rare, to the
 * thread.
 */
static void
defer(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	sigaddset(&interrupted->uc_sigmask, number);
	signals_change_mask(SIG_BLOCK, signals_bit_of(number));
	if (info->si_code == SI_TKILL || info->si_code > 0) {
		arch_system_call(SYS_rt_tgsigqueueinfo, process_id(),
		    process_thread_id(), number, (long)info);
		return;
	}
	/* To the process, because another thread may wait for it. */
	if (arch_system_call(SYS_rt_sigqueueinfo, process_id(), number,
	    (long)info, 0) == 0)
		return;
	/* Only a process's first thread may send it as if by kill. */
	info->si_code = SI_QUEUE;
	arch_system_call(SYS_rt_sigqueueinfo, process_id(), number, (long)info,
	    0);
}

/*
 * While a SIGBUS that was sent is pending and not blocked, Linux delivers a
 * SIGTRAP of an event even if that is blocked (dequeue_synchronous_signal).
 * The SIGBUS then interrupts the handler of the SIGTRAP and is deferred there.
 * If it were not blocked in the interrupted work, too, both would come again
 * as soon as they are deferred.
 */
bool
signals_defer(int number, siginfo_t *info, void *context)
{
	/* Only the collector blocks all signals but SIGBUS, at work. */
	const uint64_t never = signals_bit_of(SIGKILL) |
	    signals_bit_of(SIGSTOP) | signals_bit_of(SIGSYS);
	const uint64_t wanted = signals_blocked_for_work();
	ucontext_t *interrupted = context;
	uint64_t mask;

	memcpy(&mask, &interrupted->uc_sigmask, sizeof mask);
	if ((wanted & ~never & ~mask) != 0 || (mask & ~wanted) != 0 ||
	    ~wanted == 0)
		return false;
	defer(number, info, context);
	if ((signals_change_mask(SIG_BLOCK, 0) & signals_bit_of(SIGBUS)) != 0)
		sigaddset(&interrupted->uc_sigmask, SIGBUS);
	return true;
}

/*
 * Delivers the signal with its default action, which kills unless it is
 * ignored, when this handler returns.  A SIGBUS of an instruction comes again
 * by itself when the instruction is repeated.
 */
static void
act_by_default(int number, const siginfo_t *info)
{
	/* What the kernel takes: SIG_DFL, no flags, no restorer, no mask. */
	static const uint64_t standard[4];

	arch_system_call(SYS_rt_sigaction, number, (long)standard, 0,
	    sizeof(uint64_t));
	if (number == SIGBUS && info->si_code > 0)
		return;
	arch_system_call(SYS_tgkill, process_id(), process_thread_id(), number,
	    0);
}

/* Whether the action is SIG_DFL or SIG_IGN, for which no flag matters. */
static bool
signals_is_plain(const struct sigaction *action, __sighandler_t handler)
{
	return action->sa_handler == handler;
}

bool
signals_have_action(enum our_signal which)
{
	return !signals_is_plain(&program_actions[which], SIG_DFL) &&
	    !signals_is_plain(&program_actions[which], SIG_IGN);
}

static void
run_program_action(int number, siginfo_t *info, void *context)
{
	struct sigaction *kept = &program_actions[signals_find(number)];
	struct sigaction action = *kept;
	const ucontext_t *interrupted = context;
	uint64_t mask, saved = 0;

	if (signals_is_plain(&action, SIG_IGN))
		return;
	if (signals_is_plain(&action, SIG_DFL)) {
		act_by_default(number, info);
		return;
	}
	if ((action.sa_flags & SA_RESETHAND) != 0)
		kept->sa_handler = SIG_DFL;
	/*
	 * For SIGBUS, the kernel has done everything else as the program wants
	 * it, because our action imitates the program's.
	 */
	if (number == SIGBUS) {
		if ((action.sa_flags & SA_RESETHAND) != 0)
			signals_install(OUR_BUS_ERRORS, NULL);
	} else {
		if ((action.sa_flags & SA_RESTART) == 0)
			signals_end_call(context);
		mask = signals_of_set(&action.sa_mask) |
		       signals_of_set(&interrupted->uc_sigmask);
		if ((action.sa_flags & SA_NODEFER) == 0)
			mask |= signals_bit_of(number);
		saved = signals_change_mask(SIG_SETMASK, mask);
	}
	if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
	if (number != SIGBUS)
		signals_change_mask(SIG_SETMASK, saved);
}

void
signals_pass_on(int number, siginfo_t *info, void *context)
{
	const enum our_signal which = signals_find(number);
	const struct timespec no_time = { 0 };
	sigset_t trap;

	/*
	 * A signal raised by an instruction kills the program if it is blocked
	 * or ignored, as it cannot wait.
	 */
	if (which != OUR_TICKS && info->si_code > 0 &&
	    (program_blocks[which] ||
	    signals_is_plain(&program_actions[which], SIG_IGN))) {
		act_by_default(number, info);
	} else if (program_blocks[which]) {
		/* Leave it pending and stop sampling this thread. */
		has_yielded = true;
		stop_sampling(context);
		/*
		 * An event's SIGTRAP that is pending would swallow the
		 * program's, as SIGTRAP does not queue.
		 */
		sigemptyset(&trap);
		sigaddset(&trap, SIGTRAP);
		if (number == SIGTRAP)
			arch_system_call(SYS_rt_sigtimedwait, (long)&trap, 0,
			    (long)&no_time, _NSIG / 8);
		defer(number, info, context);
	} else {
		run_program_action(number, info, context);
	}
}

/*
 * Installing and giving back.
 */

static bool
signals_install(enum our_signal which, struct sigaction *old)
{
	const struct sigaction *programs = &program_actions[which];
	struct sigaction action, copy;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = our_handlers[which];
	action.sa_flags = SA_SIGINFO | SA_RESTART | stack_flag;
	signals_fill(&action.sa_mask);
	if (our_handlers[OUR_BUS_ERRORS] != NULL)
		sigdelset(&action.sa_mask, SIGBUS);
	/* The program's handler of SIGBUS can be called from ours. */
	if (which == OUR_BUS_ERRORS && signals_have_action(which)) {
		programs = action_adapt(programs, &copy);
		action.sa_mask = programs->sa_mask;
		action.sa_flags = (programs->sa_flags & ~SA_RESETHAND) |
		    SA_SIGINFO;
	} else if (which == OUR_BUS_ERRORS) {
		sigemptyset(&action.sa_mask);
	}
	/*
	 * SIGSYS must not be blocked in handlers that may make system calls
	 * (lib/sources/sources.h).  But a trap that comes together with a
	 * stopped call is handled first, and the call's SIGSYS must wait until
	 * the trap's handler has returned.
	 */
	if (which != OUR_TRAPS)
		sigdelset(&action.sa_mask, SIGSYS);
	if (real()->sigaction(signals_number(which), &action, old) != 0)
		return false;
	sigsys_set_restorer(signals_number(which));
	return true;
}

void
signals_on_yield(void (*stop)(void *context))
{
	stop_sampling = stop;
}

bool
signals_take(enum our_signal which, signals_handler *handler)
{
	const bool is_taken = our_handlers[which] != NULL;

	our_handlers[which] = handler;
	if (which == OUR_BUS_ERRORS && !is_taken &&
	    real()->sigaction(SIGBUS, NULL, &program_actions[which]) != 0)
		return false;
	return signals_install(which, is_taken || which == OUR_BUS_ERRORS ?
	    NULL : &program_actions[which]);
}

void
signals_avoid_alternate_stack(void)
{
	unsigned i;

	stack_flag = 0;
	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL)
			signals_install(i, NULL);
}

void
signals_prepare_exec(void)
{
	struct sigaction now;
	unsigned i;

	if (!has_mask_of_child())
		change_program_blocked(SIG_BLOCK);
	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL &&
		    signals_is_plain(&program_actions[i], SIG_IGN) &&
		    real()->sigaction(signals_number(i), NULL, &now) == 0 &&
		    signals_is_ours(i, &now))
			real()->sigaction(signals_number(i),
			    &program_actions[i], NULL);
}

void
signals_undo_exec(void)
{
	struct sigaction now;
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL &&
		    signals_is_plain(&program_actions[i], SIG_IGN) &&
		    real()->sigaction(signals_number(i), NULL, &now) == 0 &&
		    signals_is_plain(&now, SIG_IGN))
			signals_install(i, NULL);
	if (!has_yielded && !has_mask_of_child())
		change_program_blocked(SIG_UNBLOCK);
}

/* To ignore a signal removes it from all queues (POSIX, sigaction). */
void
signals_discard(void)
{
	struct sigaction ignore;
	unsigned i;

	memset(&ignore, 0, sizeof ignore);
	ignore.sa_handler = SIG_IGN;
	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL && i != OUR_BUS_ERRORS &&
		    !signals_have_action(i))
			real()->sigaction(signals_number(i), &ignore, NULL);
}

uint64_t
signals_wanted(void)
{
	uint64_t wanted = 0;
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL && i != OUR_BUS_ERRORS)
			wanted |= signals_bit_of(signals_number(i));
	return wanted;
}

void
signals_give_back(void)
{
	sigset_t set;
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++) {
		const int number = signals_number(i);

		if (our_handlers[i] == NULL)
			continue;
		real()->sigaction(number, &program_actions[i], NULL);
		sigemptyset(&set);
		sigaddset(&set, number);
		if (program_blocks[i])
			real()->pthread_sigmask(SIG_BLOCK, &set, NULL);
		our_handlers[i] = NULL;
	}
}
