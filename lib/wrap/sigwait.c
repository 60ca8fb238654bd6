/* SPDX-License-Identifier: MIT */
/* sigwait.c -- wrappers of functions that wait for signals.
 *
 * A thread that waits for signals does not receive ours, and ours do not make
 * its wait fail with EINTR.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <time.h>

#include "lib/base/exported.h"
#include "lib/base/readable.h"
#include "lib/base/real.h"
#include "lib/base/sampling.h"
#include "lib/signals/signals.h"
#include "lib/wrap/wrapped.h"

static const sigset_t *
waitable(const sigset_t *set, sigset_t *copy)
{
	return signals_have_yielded() || !readable_now(set, sizeof *set) ?
	    set : signals_without_ours(set, copy);
}

/* The time waited is charged to `real`. */
static int
wait_once(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct wrapped_call call;
	int result;

	if (thread_self == NULL ||
	    (!resource_is_wanted(RESOURCE_REAL) && !wrapped_counts_calls()))
		return real()->sigtimedwait(set, info, timeout);
	wrapped_enter(&call, (const void *)real()->sigtimedwait,
	    WRAPPED_WAIT);
	result = real()->sigtimedwait(set, info, timeout);
	wrapped_leave(&call);
	return result;
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

/* What remains of `timeout`, which began at `start`. */
static const struct timespec *
sigwait_rest_of(const struct timespec *timeout, const struct timespec *start,
    struct timespec *rest)
{
	struct timespec now;

	process_read_clock(CLOCK_MONOTONIC, &now);
	rest->tv_sec = timeout->tv_sec - (now.tv_sec - start->tv_sec);
	rest->tv_nsec = timeout->tv_nsec - (now.tv_nsec - start->tv_nsec);
	if (rest->tv_nsec < 0) {
		rest->tv_nsec += 1000000000;
		rest->tv_sec--;
	} else if (rest->tv_nsec >= 1000000000) {
		rest->tv_nsec -= 1000000000;
		rest->tv_sec++;
	}
	if (rest->tv_sec < 0)
		*rest = (struct timespec){ 0 };
	return rest;
}

/*
 * A wait may be interrupted by a signal of ours that the program has blocked:
 * this thread leaves it pending, or another thread takes it and sends it on.
 * If the program had no handler that could run, before or after, nothing else
 * can have interrupted the wait.
 */
static int
sigwait_wait_for(const sigset_t *set, siginfo_t *info,
                 const struct timespec *timeout)
{
	const struct timespec *left = timeout;
	struct timespec start, rest;
	bool had_yielded, is_undisturbed;
	sigset_t copy;
	int result;

	if (!sampling_is_on())
		return real()->sigtimedwait(set, info, timeout);
	is_undisturbed = signals_program_mask() != 0 && !may_be_interrupted();
	process_read_clock(CLOCK_MONOTONIC, &start);
	for (;;) {
		had_yielded = signals_have_yielded();
		result = wait_once(waitable(set, &copy), info, left);
		if (result >= 0 || errno != EINTR)
			return result;
		if (had_yielded == signals_have_yielded() &&
		    (!is_undisturbed || may_be_interrupted())) {
			errno = EINTR;
			return result;
		}
		if (timeout != NULL)
			left = sigwait_rest_of(timeout, &start, &rest);
	}
}

EXPORTED int
sigwait(const sigset_t *restrict set, int *restrict number)
{
	int result;

	if (!sampling_is_on())
		return real()->sigwait(set, number);
	do
		result = sigwait_wait_for(set, NULL, NULL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*number = result;
	return 0;
}

EXPORTED int
sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return sigwait_wait_for(set, info, NULL);
}

EXPORTED int
sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
    const struct timespec *restrict timeout)
{
	return sigwait_wait_for(set, info, timeout);
}

EXPORTED int
signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return real()->signalfd(fd, waitable(set, &copy), flags);
}
