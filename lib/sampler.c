/* SPDX-License-Identifier: MIT */
/* sampler.c -- the signal handler and its budget.
 *
 * In the handler all signals are blocked, so that no other handler can jump
 * out of it half way; it takes no lock it cannot give up on, allocates only by
 * mmap, and leaves errno as it was.
 *
 * Budget: each interval of CPU time earns half a percent of itself; each
 * sample costs what it took.  While a thread is in debt its ticks are deferred:
 * no stack is taken, and their hits go to the next sample.  So even stacks of
 * 100,000 frames cost half a percent, at fewer samples of more hits each.  A
 * sample of few frames costs no more than its tick has earned: on a busy
 * machine its time is mostly others', and deferring ticks for that would only
 * distort the shares.
 */
#include "lib/sampler.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/datafile.h"
#include "lib/process.h"
#include "lib/real.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define BUDGET_PART 200			/* of CPU time, for sampling */
#define ALLOWANCE_MAX_NS 1000000
#define ALLOWANCE_MIN_NS (-2000000)	/* debt beyond it is forgiven */
#define FEW_FRAMES 256
/* Time beyond this in a handler that did n things was another's. */
#define COST_MAX_NS(n) (50000 + 1000 * (int64_t)(n))

static const char timer_mark;	/* its address marks our timers' signals */
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

static int64_t
clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The node below which a stack's outermost frame hangs. */
static enum tree_result
find_root(struct thread *thread, struct node *root)
{
	root->number = CPPROFDATA_NO_NODE;
	root->record = NULL;
	if (thread->unwinder.end == UNWIND_COMPLETE)
		return TREE_OK;
	return tree_child(&thread->tree, CPPROFDATA_NO_NODE,
	    CPPROFDATA_PARTIAL, 0, root);
}

/* The child for a frame; the parent itself for a frame of this library. */
static enum tree_result
insert_frame(struct thread *thread, const struct node *parent,
    struct frame *frame, struct node *child)
{
	uint32_t module;
	uint64_t offset;

	*child = *parent;
	if (frame->address >= process.own_start &&
	    frame->address < process.own_end)
		return TREE_OK;
	switch (modules_find(&thread->modules, frame->address, &module,
	    &offset)) {
	case MODULES_BUSY:
		return TREE_BUSY;
	case MODULES_FULL:
		return TREE_FULL;
	case MODULES_OK:
		break;
	}
	return tree_child(&thread->tree, parent->number, module, offset, child);
}

/* Enters the unwinder's new frames; *leaf is the innermost frame's node. */
static enum tree_result
insert_stack(struct thread *thread, struct node *leaf)
{
	struct unwinder *unwinder = &thread->unwinder;
	struct frame *frames = unwinder->stack.frames;
	enum tree_result result = TREE_OK;
	struct node node;
	size_t i = unwinder->n_kept;

	if (i > 0) {
		leaf->number = frames[i - 1].node;
		leaf->record = frames[i - 1].record;
	} else {
		result = find_root(thread, leaf);
	}
	for (; i < unwinder->stack.n && result == TREE_OK; i++) {
		result = insert_frame(thread, leaf, &frames[i], &node);
		if (result != TREE_OK)
			break;
		*leaf = node;
		frames[i].node = node.number;
		frames[i].record = node.record;
	}
	unwind_remember(unwinder, i);
	if (result == TREE_OK && leaf->number == CPPROFDATA_NO_NODE)
		result = TREE_BUSY;	/* nothing but frames of our own */
	return result;
}

static void
count_drops(const struct unwinder *unwinder, uint64_t hits, uint64_t overrun)
{
	static const unsigned char reasons[] = {
		[UNWIND_NO_RULES] = CPPROFDATA_PARTIAL_NO_RULES,
		[UNWIND_BAD_RULES] = CPPROFDATA_PARTIAL_BAD_RULES,
		[UNWIND_BAD_STACK] = CPPROFDATA_PARTIAL_BAD_STACK,
		[UNWIND_TOO_DEEP] = CPPROFDATA_PARTIAL_TOO_DEEP,
	};

	if (unwinder->end != UNWIND_COMPLETE)
		datafile_count_drop(reasons[unwinder->end], 1, hits);
	else if (unwinder->guessed)
		datafile_count_drop(CPPROFDATA_GUESSED, 1, hits);
	if (overrun > 0)
		datafile_count_drop(CPPROFDATA_OVERRUN, 1, overrun);
}

/* A forked child's file is made by its first tick. */
static bool
make_file(void)
{
	static bool has_failed;
	static uint32_t failed_pid;
	bool ok;

	if (has_failed && failed_pid == process.pid)
		return false;
	if (!datafile_lock())
		return false;
	ok = datafile_header() != NULL || datafile_create();
	if (!ok) {
		has_failed = true;
		failed_pid = process.pid;
	}
	datafile_unlock();
	return ok;
}

static enum tree_result
take_sample(struct thread *thread, uint64_t hits, uint64_t overrun,
    const void *context)
{
	enum tree_result result;
	struct node leaf;

	if (datafile_header() == NULL && !make_file())
		return TREE_FULL;
	if (modules_refresh(&thread->modules))
		unwind_remember(&thread->unwinder, 0);
	if (!thread->is_announced) {
		result = threads_announce(thread);
		if (result != TREE_OK)
			return result;
	}
	unwind(&thread->unwinder, context);
	result = insert_stack(thread, &leaf);
	if (result != TREE_OK)
		return result;
	tree_count(&leaf, 0, hits);
	count_drops(&thread->unwinder, hits, overrun);
	/* Names change; once in a while is often enough. */
	thread->n_samples++;
	if ((thread->n_samples & (thread->n_samples - 1)) == 0)
		threads_note_name(thread);
	datafile_header()->last_sample_ns = process_now();
	return TREE_OK;
}

/* Charges a sample's time to the thread's allowance. */
static void
charge(struct thread *thread, int64_t elapsed_ns)
{
	const struct unwinder *unwinder = &thread->unwinder;
	uint64_t n_frames = unwinder->n_walked + unwinder->n_compared;
	int64_t most = n_frames <= FEW_FRAMES ?
	    (int64_t)(process.interval_ns / BUDGET_PART) :
	    COST_MAX_NS(n_frames);

	thread->allowance_ns -= elapsed_ns < most ? elapsed_ns : most;
	if (thread->allowance_ns < ALLOWANCE_MIN_NS)
		thread->allowance_ns = ALLOWANCE_MIN_NS;
}

/* A tick of `expiries` intervals. */
static void
tick(struct thread *thread, uint64_t expiries, void *context)
{
	int64_t start;

	thread->allowance_ns +=
	    (int64_t)(expiries * process.interval_ns / BUDGET_PART);
	if (thread->allowance_ns > ALLOWANCE_MAX_NS)
		thread->allowance_ns = ALLOWANCE_MAX_NS;
	thread->owed_hits += expiries;
	thread->n_expiries += expiries;
	if (thread->held_off > 0) {
		datafile_count_drop(CPPROFDATA_DEFERRED_UNSAFE, 1, expiries);
		return;
	}
	if (thread->allowance_ns < 0) {
		datafile_count_drop(CPPROFDATA_DEFERRED_BACK_OFF, 1, expiries);
		return;
	}
	start = clock_ns(CLOCK_MONOTONIC);
	switch (take_sample(thread, thread->owed_hits, expiries - 1, context)) {
	case TREE_OK:
		thread->owed_hits = 0;
		break;
	case TREE_BUSY:
		datafile_count_drop(CPPROFDATA_DEFERRED_UNSAFE, 1, expiries);
		break;
	case TREE_FULL:
		datafile_count_drop(CPPROFDATA_LOST_FULL, 1,
		    thread->owed_hits);
		thread->owed_hits = 0;
		break;
	}
	charge(thread, clock_ns(CLOCK_MONOTONIC) - start);
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
	struct thread *thread = thread_self;
	int saved = errno;

	if (info->si_code != SI_TIMER || info->si_ptr != &timer_mark) {
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

static struct timespec
to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
	    .tv_nsec = (long)(ns % 1000000000) };
}

/* 1 .. interval, from the clock's low bits. */
static uint64_t
random_phase(uint32_t tid)
{
	uint64_t x = process_now() + ((uint64_t)tid << 40);

	x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
	return 1 + (x ^ x >> 33) % process.interval_ns;
}

bool
sampler_start(struct thread *thread)
{
	struct sigevent event;
	struct itimerspec when;
	sigset_t ours;
	uint64_t phase;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = sampler_signal();
	event.sigev_value.sival_ptr = (void *)&timer_mark;
	event.sigev_notify_thread_id = (pid_t)thread->tid;
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &thread->timer) != 0)
		return false;
	thread->has_timer = true;
	sigemptyset(&ours);
	sigaddset(&ours, sampler_signal());
	real()->pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	phase = random_phase(thread->tid);
	thread->n_expiries = 0;
	thread->first_expiry_ns = phase +
	    (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
	when.it_interval = to_timespec(process.interval_ns);
	when.it_value = to_timespec(phase);
	if (timer_settime(thread->timer, 0, &when, NULL) != 0) {
		sampler_stop(thread);
		return false;
	}
	return true;
}

void
sampler_stop(struct thread *thread)
{
	if (thread->has_timer)
		timer_delete(thread->timer);
	thread->has_timer = false;
}

void
sampler_settle(struct thread *thread)
{
	uint64_t now = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t expired = 0;

	if (now >= thread->first_expiry_ns)
		expired = 1 + (now - thread->first_expiry_ns) /
		    process.interval_ns;
	if (expired > thread->n_expiries)
		thread->owed_hits += expired - thread->n_expiries;
	if (thread->owed_hits > 0)
		datafile_count_drop(CPPROFDATA_LOST_AT_EXIT, 1,
		    thread->owed_hits);
	thread->owed_hits = 0;
}
