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
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/exported.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/wiped.h"
#include "lib/cpprof-environment.h"
#include "lib/cpprof.h"
#include "lib/run/sample.h"
#include "lib/sources/thread-meters.h"
#include "lib/sources/timer.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"

static const char wake_mark;	/* its address identifies the waking timers */
static atomic_flag locked WIPED;

/* Handlers never take this lock.  In a forked child it is free again. */
static void
control_lock(void)
{
	while (atomic_flag_test_and_set_explicit(&locked,
	    memory_order_acquire))
		process_pause();
}

static void
control_unlock(void)
{
	atomic_flag_clear_explicit(&locked, memory_order_release);
}

/*
 * Waking.
 */

/* The CPU clock of a thread, as the kernel numbers it. */
static clockid_t
cpu_clock(pid_t tid)
{
	return (clockid_t)(~(unsigned)tid << 3 | 6);
}

static bool
arm_wake(struct thread *thread)
{
	if (!timer_make(thread, cpu_clock((pid_t)thread->tid), &wake_mark))
		return false;
	thread->run->stage = THREAD_TO_BE_WOKEN;
	if (timer_set(thread, 1, 0))
		return true;
	timer_free(thread);
	return false;
}

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

static bool
wake(const siginfo_t *info, const void *context)
{
	struct thread *thread;
	uint32_t tid;

	if (info->si_code != SI_TIMER || info->si_ptr != &wake_mark)
		return false;
	if (!sampling_is_on())
		return true;
	tid = (uint32_t)syscall(SYS_gettid);
	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->tid == tid &&
		    take_wake(thread, THREAD_RUNNING)) {
			start_woken_thread(thread, context);
			break;
		}
	return true;
}

/*
 * Claims the thread's state, or takes a new one.  NULL: it need not be woken.
 */
static struct thread *
find_sleeper(uint32_t tid)
{
	struct thread *thread;
	enum thread_stage asleep;

	for (thread = threads_all(); thread != NULL; thread = thread->next) {
		if (thread->tid != tid)
			continue;
		asleep = THREAD_ASLEEP;
		if (atomic_compare_exchange_strong(&thread->run->stage, &asleep,
		    THREAD_HELD))
			return thread;
		if (asleep != THREAD_IDLE)
			return NULL;
	}
	thread = threads_take(NULL, NULL);
	if (thread != NULL)
		thread->run->stage = THREAD_HELD;
	return thread;
}

/*
 * Gives back the states of threads that have not run since they were to be
 * woken, and of those that belong to no thread.
 */
static void
forget_sleepers(void)
{
	struct thread *thread;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->run->stage == THREAD_HELD ||
		    (!thread->run->has_begun && take_wake(thread, THREAD_HELD)))
			threads_give_back(thread);
		else
			take_wake(thread, THREAD_ASLEEP);
}

/* Makes all other threads begin, unless they have begun or are about to. */
static void
wake_others(void)
{
	const uint32_t self = (uint32_t)syscall(SYS_gettid);
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	struct thread *thread;

	sampler_on_wake(wake);
	while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (tid == 0 || tid == self ||
		    (thread = find_sleeper(tid)) == NULL)
			continue;
		thread->tid = tid;
		if (arm_wake(thread))
			continue;
		if (thread->run->has_begun)
			thread->run->stage = THREAD_ASLEEP;
		else
			threads_give_back(thread);
	}
	if (tasks != NULL)
		closedir(tasks);
}

/*
 * The functions of cpprof.h.
 */

static bool
control_begin(const char *directory)
{
	char path[PATH_MAX];
	const char *problem;

	if (directory == NULL)
		directory = getenv(CPPROF_ENVIRONMENT_OUTPUT);
	if (!output_prepare(directory, path, sizeof path) ||
	    !start_process(environ, NULL, path, &problem))
		return false;
	wake_others();
	return true;
}

/* Stops the calling thread's sampling and cancels the waking of others. */
static void
control_stop_here(void)
{
	struct thread *self = thread_self;

	if (self != NULL) {
		sampler_stop(self);
		sample_take_last(self);
	}
	sampling_stop(true);
	if (thread_self != NULL)
		start_put_to_sleep(self);
	forget_sleepers();
}

static void
complete_file(void)
{
	datafile_lock_wait();
	datafile_finish();
	datafile_unlock();
}

/* A sample that another thread is taking makes system calls, too. */
static void
wait_for_samples(void)
{
	const struct thread *thread;
	unsigned i = 0;

	for (thread = threads_all(); thread != NULL; thread = thread->next)
		for (; thread->run->stage == THREAD_RUNNING &&
		    thread->is_sampling && i < PROCESS_LONG_WAITS; i++)
			process_pause();
}

/*
 * Afterwards the program may forbid system calls, so that other threads must
 * make none of the collector's.
 */
void
control_end(uint32_t flag)
{
	struct thread *thread;

	control_lock();
	control_stop_here();
	sampling_turn(false);
	start_wait_for_changes();
	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->run->stage == THREAD_RUNNING &&
		    thread->meters->has_timer)
			timer_free(thread);
	wait_for_samples();
	datafile_flag(flag);
	complete_file();
	control_unlock();
}

EXPORTED int
cpprof_start(const char *directory)
{
	bool ok = true;

	control_lock();
	if (!sampling_check_process()) {
		ok = control_begin(directory);
	} else if (sampling_is_stopped()) {
		datafile_resume();
		sampling_stop(false);
		ok = start_calling_thread();
		wake_others();
	}
	control_unlock();
	return ok ? 0 : -1;
}

EXPORTED void
cpprof_stop(void)
{
	control_lock();
	if (sampling_check_process() && !sampling_is_stopped()) {
		control_stop_here();
		complete_file();
	}
	control_unlock();
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
