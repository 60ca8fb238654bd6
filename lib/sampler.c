/* SPDX-License-Identifier: MIT */
/* sampler.c -- the signal handler, and the program's own use of the signal.
 *
 * In the handler all signals are blocked, so that no other handler can jump
 * out of it half way; it leaves errno as it was.
 */
#include "lib/sampler.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/control.h"
#include "lib/real.h"
#include "lib/sample.h"
#include "lib/source-timer.h"
#include "lib/start.h"

static bool is_on;
static struct sigaction program_action;	/* what the program asked for */
__thread volatile bool sampler_believed_blocked;
static __thread bool has_yielded;

int
sampler_signal(void)
{
	return SIGRTMAX - 1;
}

bool
sampler_is_on(void)
{
	return is_on;
}

bool
sampler_has_yielded(void)
{
	return has_yielded;
}

void
sampler_program_action(const struct sigaction *action, struct sigaction *old)
{
	struct sigaction previous = program_action;

	if (action != NULL)
		program_action = *action;
	if (old != NULL)
		*old = previous;
}

/* A tick, of so many expiries of the thread's timer. */
static void
tick(struct thread *thread, uint64_t expiries, const void *context)
{
	struct occasion occasion = {
		.overrun = expiries - 1,
		.time_ns = expiries * resources.tick_ns,
	};

	if (control_is_stopped()) {
		start_put_to_sleep(thread);
		return;
	}
	occasion.columns = resources_tick(thread, expiries, &occasion.hits);
	thread->n_expiries += expiries;
	if (occasion.columns != 0)
		sample_take(thread, &occasion, context);
}

/* The program's, who has it blocked: pending again when the handler returns. */
static void
hold_back(int number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	has_yielded = true;
	if (thread_self != NULL)
		sampler_stop(thread_self);
	sigaddset(&interrupted->uc_sigmask, number);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number,
	    info);
}

/* Our signal number, but not from our timer: what the program wanted. */
static void
run_program_action(int number, siginfo_t *info, void *context)
{
	struct sigaction action = program_action, standard;
	const ucontext_t *interrupted = context;
	sigset_t mask, saved;

	if ((action.sa_flags & SA_SIGINFO) == 0 &&
	    action.sa_handler == SIG_IGN)
		return;
	if ((action.sa_flags & SA_SIGINFO) == 0 &&
	    action.sa_handler == SIG_DFL) {
		/* Delivered, and deadly, when this handler returns. */
		memset(&standard, 0, sizeof standard);
		standard.sa_handler = SIG_DFL;
		real()->sigaction(number, &standard, NULL);
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
		return;
	}
	if ((action.sa_flags & SA_RESETHAND) != 0)
		program_action.sa_handler = SIG_DFL;
	sigorset(&mask, &action.sa_mask, &interrupted->uc_sigmask);
	sigaddset(&mask, number);
	real()->pthread_sigmask(SIG_SETMASK, &mask, &saved);
	if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
	real()->pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

static void
handle(int number, siginfo_t *info, void *context)
{
	struct thread *thread;
	int saved;

	if (control_wake(info, context))
		return;
	thread = thread_self;
	saved = errno;
	if (!timer_sent(info)) {
		if (sampler_believed_blocked)
			hold_back(number, info, context);
		else
			run_program_action(number, info, context);
	} else if (thread != NULL) {
		tick(thread, 1 + (uint64_t)(info->si_overrun > 0 ?
		    info->si_overrun : 0), context);
	}
	errno = saved;
}

int
sampler_install(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = handle;
	action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigfillset(&action.sa_mask);
	if (real()->sigaction(sampler_signal(), &action, &program_action) != 0)
		return -1;
	is_on = true;
	return 0;
}

void
sampler_uninstall(void)
{
	sigset_t ours;

	if (!is_on)
		return;
	is_on = false;
	real()->sigaction(sampler_signal(), &program_action, NULL);
	sigemptyset(&ours);
	sigaddset(&ours, sampler_signal());
	if (sampler_believed_blocked)
		real()->pthread_sigmask(SIG_BLOCK, &ours, NULL);
}

bool
sampler_start(struct thread *thread)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, sampler_signal());
	real()->pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	return resources_start(thread);
}

void
sampler_stop(struct thread *thread)
{
	resources_stop(thread);
}
