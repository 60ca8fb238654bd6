/* SPDX-License-Identifier: MIT */
/* sampler.c -- the signal handlers, and the program's own use of the signals.
 *
 * In a handler all signals are blocked, so that no other handler can jump
 * out of it half way; it leaves errno as it was.
 */
#include "lib/sampler.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/action.h"
#include "lib/control.h"
#include "lib/dispatch.h"
#include "lib/real.h"
#include "lib/sample.h"
#include "lib/source-perf.h"
#include "lib/source-timer.h"
#include "lib/start.h"
#include "lib/waiting.h"

enum { TICKS, TRAPS, N_SIGNALS };

static bool is_on, takes_traps;
static struct sigaction program_actions[N_SIGNALS];	/* as it asked for */
static __thread volatile bool believed_blocked[N_SIGNALS];
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
sampler_takes(int number)
{
	return is_on && (number == sampler_signal() ||
	    (takes_traps && number == SIGTRAP));
}

void
sampler_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, sampler_signal());
	if (takes_traps)
		sigaddset(set, SIGTRAP);
}

static int
index_of(int number)
{
	return number == SIGTRAP ? TRAPS : TICKS;
}

void
sampler_unblocked_signals(sigset_t *set)
{
	sampler_signals(set);
	if (is_on)
		return;
	if (believed_blocked[TICKS])
		sigdelset(set, sampler_signal());
	if (believed_blocked[TRAPS])
		sigdelset(set, SIGTRAP);
}

bool
sampler_is_believed_blocked(int number)
{
	return believed_blocked[index_of(number)];
}

void
sampler_believe_blocked(int number, bool is_blocked)
{
	believed_blocked[index_of(number)] = is_blocked;
}

bool
sampler_has_yielded(void)
{
	return has_yielded;
}

void
sampler_program_action(int number, const struct sigaction *action,
    struct sigaction *old)
{
	struct sigaction *kept = &program_actions[index_of(number)];
	struct sigaction previous = *kept;

	if (action != NULL)
		*kept = *action;
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
		.spends_itself = true,
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

/* Delivered, and deadly unless it is ignored, when this handler returns. */
static void
act_by_default(int number)
{
	struct sigaction standard;

	memset(&standard, 0, sizeof standard);
	standard.sa_handler = SIG_DFL;
	real()->sigaction(number, &standard, NULL);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

/* A signal of our number, but not ours: what the program wanted. */
static void
run_program_action(int number, siginfo_t *info, void *context)
{
	struct sigaction *kept = &program_actions[index_of(number)];
	struct sigaction action = *kept;
	const ucontext_t *interrupted = context;
	const bool is_plain = (action.sa_flags & SA_SIGINFO) == 0;
	sigset_t mask, saved;

	if (is_plain && action.sa_handler == SIG_IGN)
		return;
	if (is_plain && action.sa_handler == SIG_DFL) {
		act_by_default(number);
		return;
	}
	if ((action.sa_flags & SA_RESETHAND) != 0)
		kept->sa_handler = SIG_DFL;
	sigorset(&mask, &action.sa_mask, &interrupted->uc_sigmask);
	sigaddset(&mask, number);
	real()->pthread_sigmask(SIG_SETMASK, &mask, &saved);
	if (!is_plain)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
	real()->pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

/*
 * A trap that an instruction of the program brought kills it if blocked or
 * ignored: it cannot wait.
 */
static bool
is_forced(int number, const siginfo_t *info)
{
	const struct sigaction *action = &program_actions[TRAPS];

	return number == SIGTRAP && info->si_code > 0 &&
	    (believed_blocked[TRAPS] ||
	    ((action->sa_flags & SA_SIGINFO) == 0 &&
	    action->sa_handler == SIG_IGN));
}

static void
hand_on(int number, siginfo_t *info, void *context)
{
	if (is_forced(number, info))
		act_by_default(number);
	else if (believed_blocked[index_of(number)])
		hold_back(number, info, context);
	else
		run_program_action(number, info, context);
}

/* An event has counted to its end; see source-perf.h. */
static void
take_trap(unsigned column, const void *context)
{
	struct thread *thread = thread_self;
	struct occasion occasion = {
		.spends_itself = perf_measures_work(column),
	};

	if (thread == NULL || !is_on || control_is_stopped())
		return;
	occasion.columns = perf_trap(thread, column, &occasion.hits);
	if (occasion.hits == 0)
		return;
	occasion.time_ns = sample_time_passed(thread);
	sample_take(thread, &occasion, context);
}

static void
handle_trap(int number, siginfo_t *info, void *context)
{
	const int column = perf_sender(info), saved = errno;

	dispatch_pause();
	if (column < 0)
		hand_on(number, info, context);
	else
		take_trap((unsigned)column, context);
	errno = saved;
	dispatch_again();
}

static void
handle(int number, siginfo_t *info, void *context)
{
	struct thread *thread;
	int saved;

	if (control_wake(info, context))
		return;
	dispatch_pause();
	thread = thread_self;
	saved = errno;
	if (waiting_answer(info, context))
		;
	else if (!timer_sent(info))
		hand_on(number, info, context);
	else if (thread != NULL && is_on)
		tick(thread, 1 + (uint64_t)(info->si_overrun > 0 ?
		    info->si_overrun : 0), context);
	errno = saved;
	dispatch_again();
}

static bool
install(int number, void (*handler)(int, siginfo_t *, void *), int more_flags,
    struct sigaction *old)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO | SA_RESTART | more_flags;
	sigfillset(&action.sa_mask);
	/*
	 * A handler that may stop a call must not have it blocked
	 * (lib/dispatch.h).  But a trap that comes with a stopped call comes
	 * first, and that call's signal has to wait until it is over.
	 */
	if (number != SIGTRAP)
		sigdelset(&action.sa_mask, SIGSYS);
	return real()->sigaction(number, &action, old) == 0;
}

int
sampler_install(void)
{
	stack_t stack;

	if (!install(sampler_signal(), handle, SA_ONSTACK,
	    &program_actions[TICKS]))
		return -1;
	takes_traps = perf_is_used();
	if (takes_traps && !install(SIGTRAP, handle_trap, SA_ONSTACK,
	    &program_actions[TRAPS]))
		return -1;
	is_on = true;
	if (real()->sigaltstack(NULL, &stack) == 0 &&
	    (stack.ss_flags & SS_DISABLE) == 0)
		action_fit_stack(stack.ss_size);
	return 0;
}

void
sampler_give_up(void)
{
	is_on = false;
}

void
sampler_avoid_alternate_stack(void)
{
	install(sampler_signal(), handle, 0, NULL);
	if (takes_traps)
		install(SIGTRAP, handle_trap, 0, NULL);
}

static void
give_back(int number)
{
	sigset_t set;

	real()->sigaction(number, &program_actions[index_of(number)], NULL);
	sigemptyset(&set);
	sigaddset(&set, number);
	if (believed_blocked[index_of(number)])
		real()->pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void
sampler_uninstall(void)
{
	if (!is_on)
		return;
	is_on = false;
	give_back(sampler_signal());
	if (takes_traps)
		give_back(SIGTRAP);
}

bool
sampler_start(struct thread *thread)
{
	sigset_t ours;

	sampler_signals(&ours);
	real()->pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	return resources_start(thread);
}

void
sampler_stop(struct thread *thread)
{
	resources_stop(thread);
}
