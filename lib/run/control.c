/* SPDX-License-Identifier: MIT */
/* control.c -- the program starts and stops sampling itself.
 *
 * Each thread creates, arms and frees its own timers, so other threads must be
 * asked to do it.  A thread that should begin gets a timer on its CPU clock
 * that expires once, as soon as it runs; so sleeping threads are never
 * interrupted.  A thread that should stop notices it at its next tick.
 *
 * Until then a thread's state is found by its id, because thread_self is not
 * set.  States are only added, at the head of a list, so a handler may walk it.
 * Whoever changes a state's stage from TO_BE_WOKEN owns the state.
 */
#include "lib/run/start.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/attributes.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/cpprof-environment.h"
#include "lib/cpprof.h"
#include "lib/run/sample.h"
#include "lib/signals/signals.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/live.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/trampoline.h"
#include "lib/unwind/unwinder.h"

#define NOTICE_NS 100000000	/* for threads to have a tick */

static atomic_uint n_wakings;	/* how often others were woken */
static const char wake_mark;	/* its address identifies the waking timers */
static atomic_flag control_lock WIPED;

/*
 * Waking.
 */

/*
 * Claims a state that is to be woken, and frees its timer.  False: another was
 * faster.
 */
static bool
take_wake(struct thread *thread, enum thread_stage next)
{
	enum thread_stage expected = THREAD_TO_BE_WOKEN;

	if (!atomic_compare_exchange_strong(&thread->run->stage, &expected,
	    next))
		return false;
	timer_free(thread);
	return true;
}

/* The state in which the calling thread waits to be woken, claimed; or NULL. */
static struct thread *
control_find_own(void)
{
	const uint32_t tid = process_thread_id();
	struct thread *thread;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->tid == tid && take_wake(thread, THREAD_RUNNING))
			break;
	return thread;
}

static bool
wake(const siginfo_t *info, const void *context)
{
	struct thread *thread;

	if (info->si_code != SI_TIMER || info->si_ptr != &wake_mark)
		return false;
	thread = sampling_is_on() ? control_find_own() : NULL;
	if (thread != NULL)
		start_woken_thread(thread, context);
	return true;
}

/* Gives up a state that this file has claimed. */
static void
control_put_back(struct thread *thread)
{
	if (thread->run->has_begun || thread->run->is_owned)
		thread->run->stage = THREAD_ASLEEP;
	else
		threads_give_back(thread);
}

/*
 * Claims a state of the thread, or takes a new one.  NULL: it need not be woken.
 * A thread has several if it has not noticed the end of earlier recordings.
 */
static struct thread *
find_sleeper(uint32_t tid)
{
	struct thread *thread, *found = NULL;
	enum thread_stage asleep = THREAD_ASLEEP;

	for (thread = threads_all(); thread != NULL; thread = thread->next) {
		const enum thread_stage stage = thread->run->stage;

		if (thread->tid != tid || stage == THREAD_IDLE ||
		    stage == THREAD_LEFT)
			continue;
		if (stage != THREAD_ASLEEP)
			return NULL;
		found = thread;
	}
	if (found != NULL)
		return atomic_compare_exchange_strong(&found->run->stage,
		    &asleep, THREAD_HELD) ? found : NULL;
	thread = threads_take(NULL, NULL);
	if (thread != NULL)
		thread->run->stage = THREAD_HELD;
	return thread;
}

/* Makes all other threads begin, unless they have begun or are about to. */
static void
wake_others(void)
{
	const uint32_t self = process_thread_id();
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	struct thread *thread;

	sampler_on_wake(wake);
	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid == 0 || tid == self ||
		    (thread = find_sleeper(tid)) == NULL)
			continue;
		/* On its CPU clock, as the kernel numbers it. */
		thread->tid = tid;
		if (timer_make(thread, (clockid_t)(~tid << 3 | 6),
		    &wake_mark)) {
			thread->run->stage = THREAD_TO_BE_WOKEN;
			if (timer_set(thread, 1, 0))
				continue;
			timer_free(thread);
		}
		control_put_back(thread);
	}
	if (tasks != NULL)
		closedir(tasks);
	atomic_fetch_add(&n_wakings, 1);
}

bool
control_begin_here(void)
{
	static __thread unsigned n_seen;
	const unsigned n = atomic_load_explicit(&n_wakings,
	    memory_order_relaxed);
	const struct thread *self = thread_self;
	const int saved = errno;
	struct thread *thread;

	if (self != NULL && self->run->stage != THREAD_LEFT)
		return true;
	if (n == n_seen || !sampling_is_on() || sampling_is_stopped() ||
	    !sampling_is_own_memory())
		return false;
	n_seen = n;
	thread = control_find_own();
	if (thread != NULL)
		start_waking_thread(thread,
		    (uintptr_t)__builtin_frame_address(0));
	errno = saved;
	return thread != NULL && thread_self == thread;
}

/*
 * States of threads that have not run since they were to be woken, and those
 * that belong to no thread, are given back.
 */
static void
control_cancel_waking(void)
{
	struct thread *thread;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->run->stage == THREAD_HELD ||
		    (!thread->run->has_begun && take_wake(thread, THREAD_HELD)))
			control_put_back(thread);
		else
			take_wake(thread, THREAD_ASLEEP);
}

/* Stops the calling thread's sampling and cancels the waking of others. */
static void
control_stop_here(void)
{
	struct thread *self = thread_self;

	if (self != NULL) {
		resources_stop(self);
		sample_take_last(self);
	}
	sampling_stop(true);
	if (thread_self != NULL)
		start_put_to_sleep(self);
	control_cancel_waking();
}

static void
complete_file(void)
{
	datafile_lock_wait();
	datafile_finish();
	datafile_unlock();
}

/*
 * Afterwards the program may forbid system calls, so that other threads must
 * make none of the collector's.
 */
void
control_end(uint32_t flag)
{
	struct thread *thread;
	unsigned i = 0;

	process_lock(&control_lock);
	control_stop_here();
	sampling_turn(false);
	start_wait_for_changes();
	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->run->stage == THREAD_RUNNING &&
		    thread->meters->has_timer)
			timer_free(thread);
	/* A sample that another thread is taking makes system calls, too. */
	for (thread = threads_all(); thread != NULL; thread = thread->next)
		for (; thread->run->stage == THREAD_RUNNING &&
		    thread->is_sampling && i < PROCESS_LONG_WAITS; i++)
			process_pause();
	datafile_flag(flag);
	complete_file();
	process_unlock(&control_lock);
}

/*
 * A process into which the library was loaded.
 */

/* Waits for handlers that had begun before sampling was turned off. */
static bool
control_await_handlers(void)
{
	const struct thread *thread;
	unsigned i = 0;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		for (; thread->run->is_in_handler; i++) {
			if (i == PROCESS_LONG_WAITS)
				return false;
			process_pause();
		}
	return true;
}

/*
 * What a recording that has ended has left, because a thread is stopped in the
 * collector's code and may yet reach it.  A forked child has nothing of it.
 */
static struct {
	_Atomic uint32_t user;		/* PID of the process that uses this */
	uint32_t pid;			/* of the process that has left it; 0:
					   nothing is left */
	bool are_in;			/* threads in handlers and the like */
} left;

/*
 * Lock of `left`, which no fork keeps.  Whoever takes control_lock as well takes
 * it afterwards.
 */
static bool
control_try_left(void)
{
	uint32_t user = left.user;

	return user != process_id() &&
	    atomic_compare_exchange_strong(&left.user, &user, process_id());
}

/* Whether a recording from inside begins, or has left something. */
static bool
control_has_left(void)
{
	const uint32_t pid = process_id();

	return left.user == pid || left.pid == pid;
}

/*
 * Ends the sampling of a thread that has had no tick since it was stopped, and
 * so sleeps, waits for a processor, or has ended.  Not of one that is stopped in
 * a handler, which uses its state.
 */
static void
control_leave(struct thread *thread)
{
	if (thread->run->stage == THREAD_RUNNING) {
		thread->run->is_left_stopped = false;
		thread->run->stage = THREAD_LEFT;
		/* Marks on its stack would count returns there. */
		unwind_forget_nodes(thread->unwinder);
	}
	if (thread->run->stage == THREAD_LEFT &&
	    !thread->run->is_left_stopped && !thread->run->is_in_handler) {
		resources_stop(thread);
		thread->held_off++;
		thread->run->is_left_stopped = true;
	}
}

/* All of them, unless one is just beginning, which would begin after that. */
static void
control_leave_all(void)
{
	struct thread *thread;

	if (start_is_changing())
		return;
	for (thread = threads_all(); thread != NULL; thread = thread->next)
		control_leave(thread);
}

/* Whether some thread moves a mark, and so uses the recording's memory. */
static bool
control_marks_move(void)
{
	const struct thread *thread;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (trampoline_runs(thread->unwinder) && threads_lives(thread))
			return true;
	return false;
}

/*
 * Gives back what can be given back.  With the lock of `left`; are_in: some
 * thread is in a handler or the like.
 */
static void
control_give_back(bool are_in)
{
	control_leave_all();
	if (!are_in && left.are_in) {
		signals_discard();
		signals_give_back();
		shared_end();
		left.are_in = false;
	}
	if (!left.are_in && !control_marks_move()) {
		store_unmap_all();
		left.pid = 0;
	}
}

/* Without waiting. */
static bool
control_some_are_in(void)
{
	const struct thread *thread;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->run->is_in_handler)
			return true;
	return start_is_changing() || sampling_has_work();
}

bool
control_clean_up(void)
{
	bool is_done;

	if (!control_try_left())
		return false;
	process_lock(&control_lock);
	if (left.pid == process_id() && !sampling_is_on())
		control_give_back(control_some_are_in());
	is_done = left.pid != process_id() || sampling_is_on();
	process_unlock(&control_lock);
	left.user = 0;
	return is_done;
}

bool
control_begin_inside(char **environment, const char **problem)
{
	static bool has_recorded;
	size_t kept;
	bool ok, is_on;

	*problem = "its threads cannot be found, since it sees no /proc";
	if (access("/proc/self/task", F_OK) != 0) {
		errno = 0;
		return false;
	}
	*problem = "it is recorded already";
	while (!control_try_left())
		process_pause();
	/* From here on, cpprof_start begins no recording. */
	process_lock(&control_lock);
	is_on = sampling_is_on();
	process_unlock(&control_lock);
	if (is_on) {
		left.user = 0;
		errno = 0;
		return false;
	}
	*problem = "a thread has not left an earlier recording";
	if (!control_await_handlers() || !sampling_await_work() ||
	    !start_wait_for_changes()) {
		left.user = 0;
		errno = 0;
		return false;
	}
	if (left.pid == process_id())
		control_give_back(false);
	if (has_recorded) {
		/* As in a forked child: what was the process's own is new. */
		kept = store_keep();
		sampling_wipe_here();
		store_go_on(kept);
		live_forget();
		disk_forked();
		threads_begin_again();
		sampling_stop(false);
	}
	process_lock(&control_lock);
	has_recorded = true;
	process.is_inside = true;
	ok = start_process(environment, NULL, NULL, problem);
	if (ok)
		wake_others();
	else
		sampler_uninstall();
	process_unlock(&control_lock);
	left.user = 0;
	return ok;
}

void
control_wake_new(void)
{
	process_lock(&control_lock);
	if (sampling_check_process() && !sampling_is_stopped()) {
		start_look_for_modules();
		wake_others();
	}
	process_unlock(&control_lock);
}

static bool
some_thread_runs(void)
{
	const struct thread *thread;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->run->stage == THREAD_RUNNING)
			return true;
	return false;
}

void
control_end_inside(void)
{
	uint64_t end_ns, end_mono_ns;
	bool are_in;

	while (!control_try_left())
		process_pause();
	process_lock(&control_lock);
	sampling_stop(true);
	end_ns = process_now();
	end_mono_ns = process_clock(CLOCK_MONOTONIC);
	control_cancel_waking();
	while (some_thread_runs() &&
	    process_clock(CLOCK_MONOTONIC) < end_mono_ns + NOTICE_NS)
		process_pause();
	are_in = !start_end_inside();
	are_in |= !control_await_handlers();
	are_in |= !sampling_await_work();
	trampoline_end();
	control_leave_all();
	complete_file();
	datafile_set_end(end_ns, end_mono_ns);
	shared_report_cpu_time(0);
	left.pid = process_id();
	left.are_in = true;
	control_give_back(are_in);
	process_unlock(&control_lock);
	left.user = 0;
}

/*
 * The functions of cpprof.h.
 */

EXPORTED int
cpprof_start(const char *directory)
{
	char path[PATH_MAX];
	const char *problem;
	bool ok = true;

	process_lock(&control_lock);
	if (!sampling_check_process() && control_has_left()) {
		errno = EBUSY;
		ok = false;
	} else if (!sampling_check_process()) {
		if (directory == NULL)
			directory = getenv(CPPROF_ENVIRONMENT_OUTPUT);
		ok = output_prepare(directory, path, sizeof path) &&
		    start_process(environ, NULL, path, &problem);
		if (ok)
			wake_others();
	} else if (sampling_is_stopped()) {
		datafile_resume();
		sampling_stop(false);
		ok = start_calling_thread();
		wake_others();
	}
	process_unlock(&control_lock);
	return ok ? 0 : -1;
}

EXPORTED void
cpprof_stop(void)
{
	process_lock(&control_lock);
	if (sampling_check_process() && !sampling_is_stopped()) {
		control_stop_here();
		complete_file();
	}
	process_unlock(&control_lock);
}

EXPORTED int
cpprof_phase(const char *name)
{
	return phase_set(name) ? 0 : -1;
}

EXPORTED void
cpprof_name_thread(const char *name)
{
	thread_file_name(name);
}
