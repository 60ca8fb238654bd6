/* SPDX-License-Identifier: MIT */
/* signal-calls.c -- wrappers of functions that set signals' actions and masks,
 * and of those that wait for signals.
 *
 * For our signals the program sees the actions and masks that it asked for,
 * while the kernel keeps our handlers (lib/signals/signals.h).  A thread that
 * waits for signals does not receive ours, and ours do not make its wait fail
 * with EINTR.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#include "lib/base/lookup.h"
#include "lib/base/readable.h"
#include "lib/base/sampling.h"
#include "lib/signals/signals.h"
#include "lib/wrap/wrapped.h"

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

#define SET_HANDLER(name, flags)						\
EXPORTED __sighandler_t							\
name(int number, __sighandler_t handler)				\
{									\
	return set_handler(real()->name, flags, number, handler);	\
}
SET_HANDLER(signal, SA_RESTART)
SET_HANDLER(bsd_signal, SA_RESTART)
SET_HANDLER(sysv_signal, ONCE)
SET_HANDLER(__sysv_signal, ONCE)
SET_HANDLER(sigset, 0)

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

static int
change_mask(int (*change)(int, const sigset_t *, sigset_t *), int how,
    const sigset_t *set, sigset_t *old)
{
	bool were_blocked[OUR_SIGNALS], are_blocked[OUR_SIGNALS];
	bool is_changed = false;
	sigset_t copy;
	unsigned i;
	int result;

	if (!sampling_is_on())
		return change(how, set, old);
	for (i = 0; i < OUR_SIGNALS; i++) {
		const bool is_named = set != NULL &&
		    sigismember(set, signals_number(i)) == 1;

		were_blocked[i] = signals_program_blocks(i);
		if (is_named || (set != NULL && how == SIG_SETMASK))
			are_blocked[i] = is_named && how != SIG_UNBLOCK;
		else
			are_blocked[i] = were_blocked[i];
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
	return change_mask(real()->sigprocmask, how, set, old);
}

EXPORTED int
pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	return change_mask(real()->pthread_sigmask, how, set, old);
}

/*
 * Waits.
 */

static const sigset_t *
waitable(const sigset_t *set, sigset_t *copy)
{
	return signals_have_yielded() || !readable_now(set, sizeof *set) ?
	    set : signals_without_ours(set, copy);
}

/*
 * Whether the program has a handler that could run in this thread.  SIGSYS is
 * left out: it may be ours, and its handler runs at the calls that raise it.
 */
static bool
may_be_interrupted(void)
{
	struct sigaction action;
	sigset_t mask;
	int number;

	sigemptyset(&mask);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (number = 1; number < _NSIG; number++)
		if (number != SIGSYS && sigismember(&mask, number) == 0 &&
		    sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			return true;
	return false;
}

/*
 * A wait may be interrupted by a signal of ours that the program has blocked:
 * this thread leaves it pending, or another thread takes it and sends it on.
 * If the program had no handler that could run, before or after, nothing else
 * can have interrupted the wait.
 */
static int
wait_for_signal(const sigset_t *set, siginfo_t *info,
    const struct timespec *timeout)
{
	const bool is_measured = thread_self != NULL &&
	    (resource_is_wanted(RESOURCE_REAL) || wrapped_counts_calls());
	struct timespec start, now, left;
	bool had_yielded, is_undisturbed;
	struct wrapped_call call;
	sigset_t copy;
	int result;

	if (!sampling_is_on())
		return real()->sigtimedwait(set, info, timeout);
	is_undisturbed = signals_program_mask() != 0 && !may_be_interrupted();
	process_read_clock(CLOCK_MONOTONIC, &start);
	if (timeout != NULL)
		left = *timeout;
	for (;;) {
		had_yielded = signals_have_yielded();
		if (is_measured)
			wrapped_enter(&call, (const void *)real()->sigtimedwait,
			    WRAPPED_WAIT);
		result = real()->sigtimedwait(waitable(set, &copy), info,
		    timeout != NULL ? &left : NULL);
		if (is_measured)
			wrapped_leave(&call);
		if (result >= 0 || errno != EINTR)
			return result;
		if (had_yielded == signals_have_yielded() &&
		    (!is_undisturbed || may_be_interrupted())) {
			errno = EINTR;
			return result;
		}
		if (timeout == NULL)
			continue;
		process_read_clock(CLOCK_MONOTONIC, &now);
		left.tv_sec = timeout->tv_sec - (now.tv_sec - start.tv_sec);
		left.tv_nsec = timeout->tv_nsec - (now.tv_nsec - start.tv_nsec);
		if (left.tv_nsec < 0) {
			left.tv_nsec += 1000000000;
			left.tv_sec--;
		} else if (left.tv_nsec >= 1000000000) {
			left.tv_nsec -= 1000000000;
			left.tv_sec++;
		}
		if (left.tv_sec < 0)
			left = (struct timespec){ 0 };
	}
}

EXPORTED int
sigwait(const sigset_t *restrict set, int *restrict number)
{
	int result;

	if (!sampling_is_on())
		return real()->sigwait(set, number);
	do
		result = wait_for_signal(set, NULL, NULL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*number = result;
	return 0;
}

EXPORTED int
sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return wait_for_signal(set, info, NULL);
}

EXPORTED int
sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
    const struct timespec *restrict timeout)
{
	return wait_for_signal(set, info, timeout);
}

EXPORTED int
signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return real()->signalfd(fd, waitable(set, &copy), flags);
}
