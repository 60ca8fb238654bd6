/* SPDX-License-Identifier: MIT */
/* interpose-signals.c -- functions we stand before: signals.
 *
 * The program sees of our signals what it asked for, while the kernel's
 * handlers stay ours (lib/signals.h).
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>

#include "lib/action.h"
#include "lib/alternate.h"
#include "lib/real.h"
#include "lib/sampler.h"
#include "lib/signals.h"
#include "lib/threads.h"
#include "lib/wrapped.h"

/*
 * Actions.
 */

/* *set, or *copy without our signals. */
static const sigset_t *
without_ours(const sigset_t *set, sigset_t *copy)
{
	unsigned i;

	if (set == NULL || !sampler_is_on())
		return set;
	*copy = *set;
	for (i = 0; i < OUR_SIGNALS; i++)
		if (signals_are_ours(signals_number(i)))
			sigdelset(copy, signals_number(i));
	return copy;
}

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

/* What the C library's headers call signal, by the standard asked for. */
__sighandler_t bsd_signal(int, __sighandler_t);
__sighandler_t sysv_signal(int, __sighandler_t);
__sighandler_t __sysv_signal(int, __sighandler_t);
__sighandler_t sigset(int, __sighandler_t);
int sigignore(int);
int siginterrupt(int, int);

static __sighandler_t
set_handler(__sighandler_t (*set)(int, __sighandler_t), int number,
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
	action.sa_flags = SA_RESTART;
	signals_program_action(number, &action, &old);
	return old.sa_handler;
}

EXPORTED __sighandler_t
signal(int number, __sighandler_t handler)
{
	return set_handler(real()->signal, number, handler);
}

EXPORTED __sighandler_t
bsd_signal(int number, __sighandler_t handler)
{
	return set_handler(real()->bsd_signal, number, handler);
}

EXPORTED __sighandler_t
sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(real()->sysv_signal, number, handler);
}

EXPORTED __sighandler_t
__sysv_signal(int number, __sighandler_t handler)
{
	return set_handler(real()->strict_signal, number, handler);
}

EXPORTED __sighandler_t
sigset(int number, __sighandler_t handler)
{
	return set_handler(real()->sigset, number, handler);
}

EXPORTED int
sigignore(int number)
{
	if (!signals_are_ours(number))
		return real()->sigignore(number);
	signal(number, SIG_IGN);
	return 0;
}

/* Would change our action's flags. */
EXPORTED int
siginterrupt(int number, int interrupt)
{
	return signals_are_ours(number) ? 0 : real()->siginterrupt(number, interrupt);
}

/*
 * Masks and waiting.
 */

/*
 * What the program will believe of a signal of ours after a change of its
 * mask.
 */
static bool
belief_after(enum our_signal which, int how, const sigset_t *set)
{
	const bool named = set != NULL &&
	    sigismember(set, signals_number(which)) == 1;

	if (set != NULL && how == SIG_SETMASK)
		return named;
	return named ? how == SIG_BLOCK : signals_are_believed_blocked(which);
}

static int
change_mask(int (*change)(int, const sigset_t *, sigset_t *), int how,
    const sigset_t *set, sigset_t *old)
{
	bool were_blocked[OUR_SIGNALS];
	sigset_t copy;
	unsigned i;
	int result;

	if (!sampler_is_on())
		return change(how, set, old);
	/* Before the change: a signal that is unblocked comes during it. */
	for (i = 0; i < OUR_SIGNALS; i++) {
		were_blocked[i] = signals_are_believed_blocked(i);
		signals_believe_blocked(i, belief_after(i, how, set));
	}
	if (how != SIG_UNBLOCK && !signals_have_yielded())
		set = without_ours(set, &copy);
	result = change(how, set, old);
	for (i = 0; i < OUR_SIGNALS; i++) {
		if (result != 0)
			signals_believe_blocked(i, were_blocked[i]);
		else if (old != NULL && were_blocked[i])
			sigaddset(old, signals_number(i));
	}
	return result;
}

EXPORTED int
sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return change_mask(real()->sigprocmask, how, set, old);
}

EXPORTED int
pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return change_mask(real()->pthread_sigmask, how, set, old);
}

/* A thread that waits for all signals must not be handed our ticks. */
static const sigset_t *
waitable(const sigset_t *set, sigset_t *copy)
{
	return signals_have_yielded() ? set : without_ours(set, copy);
}

/* Its time is `real` time of the caller. */
static int
wait_once(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct wrapped_call call;
	int result;

	if (thread_self == NULL ||
	    (!resource_is_wanted(RESOURCE_REAL) && !wrapped_counts_calls()))
		return real()->sigtimedwait(set, info, timeout);
	wrapped_enter(&call, (const void *)real()->sigtimedwait);
	result = real()->sigtimedwait(set, info, timeout);
	wrapped_leave(&call);
	return result;
}

/* What interrupts it may be the signal waited for, held back. */
static int
wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	bool had_yielded;
	sigset_t copy;
	int result;

	do {
		had_yielded = signals_have_yielded();
		result = wait_once(waitable(set, &copy), info, timeout);
	} while (result < 0 && errno == EINTR && !had_yielded &&
	    signals_have_yielded());
	return result;
}

EXPORTED int
sigwait(const sigset_t *restrict set, int *restrict number)
{
	int result;

	if (!sampler_is_on())
		return real()->sigwait(set, number);
	do
		result = wait_for(set, NULL, NULL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*number = result;
	return 0;
}

EXPORTED int
sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return wait_for(set, info, NULL);
}

EXPORTED int
sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
    const struct timespec *restrict timeout)
{
	return wait_for(set, info, timeout);
}

EXPORTED int
signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return real()->signalfd(fd, waitable(set, &copy), flags);
}
