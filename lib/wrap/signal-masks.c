/* SPDX-License-Identifier: MIT */
/* signal-masks.c -- wrappers of functions that set signals' actions and masks.
 *
 * For our signals the program sees the actions and masks that it asked for,
 * while the kernel keeps our handlers (lib/signals/signals.h).
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/exported.h"
#include "lib/base/real.h"
#include "lib/base/sampling.h"
#include "lib/signals/signals.h"

/*
 * Actions.
 */

EXPORTED int
sigaction(int number, const struct sigaction *restrict action,
    struct sigaction *restrict old)
{
	struct sigaction copy;
	int result;

	if (signals_are_ours(number)) {
		signals_program_action(number, action, old);
		return 0;
	}
	result = real()->sigaction(number, action_adapt(action, &copy), old);
	if (result == 0)
		action_note(number, action, old);
	return result;
}

EXPORTED int
sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
	return alternate_set(stack, old);
}

/*
 * The C library's headers map signal() to one of these, depending on the
 * standard selected.
 */
__sighandler_t bsd_signal(int, __sighandler_t);
__sighandler_t sysv_signal(int, __sighandler_t);
__sighandler_t __sysv_signal(int, __sighandler_t);
__sighandler_t sigset(int, __sighandler_t);
int sigignore(int);
int siginterrupt(int, int);

/* System V's signal(): for one signal. */
#define ONCE ((int)SA_RESETHAND | SA_NODEFER)

/* flags: those that the real function `set` gives to an action. */
static __sighandler_t
set_handler(__sighandler_t (*set)(int, __sighandler_t), int flags, int number,
    __sighandler_t handler)
{
	struct sigaction action, old;
	__sighandler_t before;

	memset(&action, 0, sizeof action);
	if (!signals_are_ours(number) || handler == SIG_HOLD) {
		before = set(number, handler);
		if (before != SIG_ERR && handler != SIG_HOLD)
			action_note(number, &action, NULL);
		return before;
	}
	action.sa_handler = handler;
	action.sa_flags = flags;
	signals_program_action(number, &action, &old);
	return old.sa_handler;
}

EXPORTED __sighandler_t
signal(int number, __sighandler_t handler)
{
	return set_handler(real()->signal, SA_RESTART, number, handler);
}

EXPORTED __sighandler_t
bsd_signal(int number, __sighandler_t handler)
{
	return set_handler(real()->bsd_signal, SA_RESTART, number, handler);
}

EXPORTED __sighandler_t
sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(real()->sysv_signal, ONCE, number, handler);
}

EXPORTED __sighandler_t
__sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(real()->strict_signal, ONCE, number, handler);
}

EXPORTED __sighandler_t
sigset(int number, __sighandler_t handler)
{
	return set_handler(real()->sigset, 0, number, handler);
}

EXPORTED int
sigignore(int number)
{
	if (!signals_are_ours(number))
		return real()->sigignore(number);
	signal(number, SIG_IGN);
	return 0;
}

/* The real one would change our action's flags. */
EXPORTED int
siginterrupt(int number, int interrupt)
{
	return signals_are_ours(number) ? 0 :
	    real()->siginterrupt(number, interrupt);
}

/*
 * Masks.
 */

/*
 * Whether the program sees a signal of ours as blocked after the change.
 */
static bool
is_blocked_after(enum our_signal which, int how, const sigset_t *set)
{
	const bool named = set != NULL &&
	    sigismember(set, signals_number(which)) == 1;

	if (set != NULL && how == SIG_SETMASK)
		return named;
	return named ? how == SIG_BLOCK : signals_program_blocks(which);
}

static int
signal_masks_change_mask(int (*change)(int, const sigset_t *, sigset_t *),
                         int how, const sigset_t *set, sigset_t *old)
{
	bool were_blocked[OUR_SIGNALS], are_blocked[OUR_SIGNALS];
	bool is_changed = false;
	sigset_t copy;
	unsigned i;
	int result;

	if (!sampling_is_on())
		return change(how, set, old);
	for (i = 0; i < OUR_SIGNALS; i++) {
		were_blocked[i] = signals_program_blocks(i);
		are_blocked[i] = is_blocked_after(i, how, set);
		is_changed |= are_blocked[i] != were_blocked[i];
	}
	if (signals_kernel_keeps_mask(is_changed))
		return change(how, set, old);
	/* Before the change: an unblocked signal arrives during it. */
	for (i = 0; i < OUR_SIGNALS; i++)
		signals_set_program_blocks(i, are_blocked[i]);
	if (how != SIG_UNBLOCK && !signals_have_yielded())
		set = signals_without_ours(set, &copy);
	result = change(how, set, old);
	for (i = 0; i < OUR_SIGNALS; i++) {
		if (result != 0)
			signals_set_program_blocks(i, were_blocked[i]);
		else if (old != NULL && were_blocked[i])
			sigaddset(old, signals_number(i));
	}
	return result;
}

EXPORTED int
sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return signal_masks_change_mask(real()->sigprocmask, how, set, old);
}

EXPORTED int
pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return signal_masks_change_mask(real()->pthread_sigmask, how, set, old);
}
