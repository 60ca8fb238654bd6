/* SPDX-License-Identifier: MIT */
/* interpose.c -- the functions we stand before, and nothing else exported.
 *
 * Threads: a new one begins in our routine, which sets its sampling up.
 * Signals: the program may do what it likes with our signals' numbers: it sees
 * what it asked for, while the kernel's handlers stay ours and the signals
 * stay unblocked (but see sampler_is_believed_blocked).  Unloading: a new epoch
 * after dlclose.  dlopen is left alone: it looks at who calls it, and what it
 * loads is found when sampled.  Jumps: they leave the stack's mark behind.
 *
 * If the collector is off, each does nothing but call the real one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>

#include "lib/action.h"
#include "lib/control.h"
#include "lib/modules.h"
#include "lib/real.h"
#include "lib/sampler.h"
#include "lib/start.h"
#include "lib/threads.h"
#include "lib/trampoline.h"
#include "lib/wrapped.h"

#define SMALL_STACK ((size_t)128 << 10)
#define STACK_OF_TICKS ((size_t)16 << 10)

/*
 * Threads.
 */

static void *
begin_posix(void *argument)
{
	struct thread *thread = argument;

	start_thread_sampling(thread);
	return thread->start.posix(thread->argument);
}

static int
begin_c11(void *argument)
{
	struct thread *thread = argument;

	start_thread_sampling(thread);
	return thread->start.c11(thread->argument);
}

static struct thread *
take_state(const void *start, void *argument)
{
	struct thread *thread = NULL;

	if (start_check_process() && !control_is_stopped()) {
		threads_hold_off();
		thread = threads_take(start, argument);
		threads_resume();
	}
	return thread;
}

static void
give_back_state(struct thread *thread)
{
	threads_hold_off();
	threads_give_back(thread);
	threads_resume();
}

/*
 * The attributes with room for a tick on the stack, where the program has made
 * that as small as it can be.  The copy shares what the original points to.
 */
static const pthread_attr_t *
with_room(const pthread_attr_t *attr, pthread_attr_t *copy)
{
	void *start;
	size_t size;

	/* Where a stack has not been given, it ends at address 0. */
	if (attr == NULL || pthread_attr_getstack(attr, &start, &size) != 0 ||
	    (uintptr_t)start + size != 0 || size == 0 || size >= SMALL_STACK)
		return attr;
	memcpy(copy, attr, sizeof *copy);
	return pthread_attr_setstacksize(copy, size + STACK_OF_TICKS) == 0 ?
	    copy : attr;
}

EXPORTED int
pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
    void *(*start)(void *), void *restrict argument)
{
	struct thread *thread = take_state((const void *)start, argument);
	pthread_attr_t roomy;
	int failed;

	if (thread == NULL)
		return real()->pthread_create(id, attr, start, argument);
	failed = real()->pthread_create(id, with_room(attr, &roomy),
	    begin_posix, thread);
	if (failed != 0)
		give_back_state(thread);
	return failed;
}

EXPORTED int
thrd_create(thrd_t *id, thrd_start_t start, void *argument)
{
	struct thread *thread = take_state((const void *)start, argument);
	int result;

	if (thread == NULL)
		return real()->thrd_create(id, start, argument);
	result = real()->thrd_create(id, begin_c11, thread);
	if (result != thrd_success)
		give_back_state(thread);
	return result;
}

/*
 * Modules.
 */

EXPORTED int
dlclose(void *handle)
{
	int result = real()->dlclose(handle);

	if (result == 0 && start_check_process()) {
		threads_hold_off();
		modules_unloaded();
		threads_resume();
	}
	return result;
}

/*
 * Actions.
 */

/* *set, or *copy without our signals. */
static const sigset_t *
without_ours(const sigset_t *set, sigset_t *copy)
{
	sigset_t ours;
	int number;

	if (set == NULL || !sampler_is_on())
		return set;
	*copy = *set;
	sampler_signals(&ours);
	for (number = 1; number < NSIG; number++)
		if (sigismember(&ours, number) == 1)
			sigdelset(copy, number);
	return copy;
}

EXPORTED int
sigaction(int number, const struct sigaction *restrict action,
    struct sigaction *restrict old)
{
	struct sigaction copy;
	int result;

	if (sampler_takes(number)) {
		sampler_program_action(number, action, old);
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
	if (stack != NULL && (stack->ss_flags & SS_DISABLE) == 0)
		action_fit_stack(stack->ss_size);
	return real()->sigaltstack(stack, old);
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
	if (!sampler_takes(number) || handler == SIG_HOLD) {
		before = set(number, handler);
		if (before != SIG_ERR && handler != SIG_HOLD)
			action_note(number, &action, NULL);
		return before;
	}
	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	sampler_program_action(number, &action, &old);
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
	if (!sampler_takes(number))
		return real()->sigignore(number);
	signal(number, SIG_IGN);
	return 0;
}

/* Would change our action's flags. */
EXPORTED int
siginterrupt(int number, int interrupt)
{
	return sampler_takes(number) ? 0 : real()->siginterrupt(number, interrupt);
}

/*
 * Masks and waiting.
 */

/*
 * What the program will believe of a signal of ours after a change of its
 * mask.
 */
static bool
belief_after(int number, int how, const sigset_t *set)
{
	const bool named = set != NULL && sigismember(set, number) == 1;

	if (set != NULL && how == SIG_SETMASK)
		return named;
	return named ? how == SIG_BLOCK : sampler_is_believed_blocked(number);
}

static int
change_mask(int (*change)(int, const sigset_t *, sigset_t *), int how,
    const sigset_t *set, sigset_t *old)
{
	static const int traps = SIGTRAP;
	const int ticks = sampler_signal();
	const bool ticks_were = sampler_is_believed_blocked(ticks);
	const bool traps_were = sampler_is_believed_blocked(traps);
	sigset_t copy;
	int result;

	if (!sampler_is_on())
		return change(how, set, old);
	/* Before the change: a signal that is unblocked comes during it. */
	sampler_believe_blocked(ticks, belief_after(ticks, how, set));
	if (sampler_takes(traps))
		sampler_believe_blocked(traps, belief_after(traps, how, set));
	if (how != SIG_UNBLOCK && !sampler_has_yielded())
		set = without_ours(set, &copy);
	result = change(how, set, old);
	if (result != 0) {
		sampler_believe_blocked(ticks, ticks_were);
		sampler_believe_blocked(traps, traps_were);
	} else if (old != NULL) {
		if (ticks_were)
			sigaddset(old, ticks);
		if (traps_were)
			sigaddset(old, traps);
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
	return sampler_has_yielded() ? set : without_ours(set, copy);
}

/* Its time is `real` time of the caller. */
static int
wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct wrapped_call call;
	int result;

	if (!resource_is_wanted(RESOURCE_REAL) || thread_self == NULL)
		return real()->sigtimedwait(set, info, timeout);
	wrapped_enter(&call, (const void *)real()->sigtimedwait);
	result = real()->sigtimedwait(set, info, timeout);
	wrapped_leave(&call);
	return result;
}

EXPORTED int
sigwait(const sigset_t *restrict set, int *restrict number)
{
	sigset_t copy;
	int result;

	if (!sampler_is_on())
		return real()->sigwait(set, number);
	/* What interrupts it may be the signal waited for, held back. */
	do
		result = wait_for(waitable(set, &copy), NULL, NULL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*number = result;
	return 0;
}

EXPORTED int
sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	sigset_t copy;

	return wait_for(waitable(set, &copy), info, NULL);
}

EXPORTED int
sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
    const struct timespec *restrict timeout)
{
	sigset_t copy;

	return wait_for(waitable(set, &copy), info, timeout);
}

EXPORTED int
signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return real()->signalfd(fd, waitable(set, &copy), flags);
}

/*
 * Jumps.  The C library has four names for two functions.
 */

void __longjmp_chk(jmp_buf, int) __attribute__((noreturn));

static __attribute__((noreturn)) void
jump(jmp_buf buffer, int value)
{
	trampoline_before_jump();
	real()->longjmp(buffer, value);
}

EXPORTED void
longjmp(jmp_buf buffer, int value)
{
	jump(buffer, value);
}

EXPORTED void
_longjmp(jmp_buf buffer, int value)
{
	jump(buffer, value);
}

EXPORTED void
siglongjmp(sigjmp_buf buffer, int value)
{
	jump(buffer, value);
}

EXPORTED void
__longjmp_chk(jmp_buf buffer, int value)
{
	trampoline_before_jump();
	real()->checked_longjmp(buffer, value);
}
