/* SPDX-License-Identifier: MIT */
/* exec.c -- calls that replace the program or end it at once.
 *
 * Neither runs exit handlers, so the time of the end and the CPU time used so
 * far are written to the file here.
 *
 * A perf event that overflowed inside execve would send its SIGTRAP to the new
 * program, which would die of it.  So the thread's events are stopped first,
 * and started again if the call fails.  A child of vfork has no events of its
 * own, and its parent's are left alone.
 *
 * The new program inherits signal masks and ignored signals as the old program
 * sees them.  If it will not be sampled, the recording counts it with the
 * reason.
 */
#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spawn.h>
#include <unistd.h>

#include "lib/base/exported.h"
#include "lib/base/real.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/signals/signals.h"
#include "lib/sources/dispatch.h"
#include "lib/sources/perf.h"
#include "lib/sources/thread-meters.h"
#include "lib/sources/timer.h"
#include "lib/wrap/wrapped.h"

extern char **environ;

/* What to undo if the call fails. */
struct undo {
	struct thread *thread;	/* NULL: nothing of its own */
	bool has_timer;
	enum cpprof_shared_reason reason;	/* why the new program will not
						   be sampled */
};

/*
 * The reason why the program about to be executed will not be sampled, which is
 * counted; CPPROF_SHARED_N_REASONS if it will be.  Reading the file is not
 * charged to the program.
 */
static enum cpprof_shared_reason
count_unsampled(const char *path, char *const variables[], bool is_own)
{
	struct thread *thread = thread_self;
	enum cpprof_shared_reason reason;
	struct sample_guard guard;
	bool is_guarded;

	if (!shared_is_mapped() || !sampling_is_on())
		return CPPROF_SHARED_N_REASONS;
	is_guarded = thread != NULL && thread->held_off == 0 &&
	    !thread->is_sampling && is_own &&
	    sample_guard_begin(thread, &guard);
	reason = unsampled_reason(path, variables);
	if (is_guarded)
		sample_guard_end(thread, &guard);
	if (reason != CPPROF_SHARED_N_REASONS)
		shared_count(reason, 0);
	return reason;
}

/*
 * Nothing of ours may be pending when our signals are blocked, or the next
 * program would get it.  errno is written only in a child of vfork, where it
 * belongs to the parent: elsewhere saving it would touch another page, and a
 * failing call sets it anyway.
 */
static struct undo
before_exec(const char *path, char *const variables[])
{
	struct undo undo = { NULL };
	const unsigned char dispatch = dispatch_pause();
	const bool is_own = sampling_check_process() &&
	    sampling_is_own_process();
	const int saved = is_own ? 0 : errno;

	start_leave(true);
	if (is_own)
		undo.thread = thread_self;
	if (undo.thread != NULL)
		start_execute();
	undo.reason = count_unsampled(path, variables, is_own);
	/* Both may have started events again. */
	if (undo.thread != NULL) {
		perf_pause(undo.thread);
		undo.has_timer = undo.thread->meters->has_timer;
		timer_stop(undo.thread);
	}
	if (sampling_is_on())
		signals_prepare_exec();
	dispatch_resume(dispatch);
	if (!is_own)
		errno = saved;
	return undo;
}

static int
after_failed_exec(const struct undo *undo)
{
	const unsigned char dispatch = dispatch_pause();
	int saved = errno;

	start_leave(false);
	if (sampling_is_on())
		signals_undo_exec();
	if (undo->thread != NULL)
		perf_go_on(undo->thread);
	if (undo->has_timer)
		timer_start(undo->thread);
	if (undo->reason != CPPROF_SHARED_N_REASONS)
		shared_uncount(undo->reason);
	dispatch_resume(dispatch);
	errno = saved;
	return -1;
}

EXPORTED int
execve(const char *path, char *const words[], char *const variables[])
{
	const struct undo undo = before_exec(path, variables);

	real()->execve(path, words, variables);
	return after_failed_exec(&undo);
}

EXPORTED int
execv(const char *path, char *const words[])
{
	return execve(path, words, environ);
}

EXPORTED int
execvpe(const char *file, char *const words[], char *const variables[])
{
	const struct undo undo = before_exec(file, variables);

	real()->execvpe(file, words, variables);
	return after_failed_exec(&undo);
}

EXPORTED int
execvp(const char *file, char *const words[])
{
	return execvpe(file, words, environ);
}

EXPORTED int
fexecve(int fd, char *const words[], char *const variables[])
{
	const struct undo undo = before_exec(NULL, variables);

	real()->fexecve(fd, words, variables);
	return after_failed_exec(&undo);
}

EXPORTED int
execveat(int folder, const char *path, char *const words[],
    char *const variables[], int flags)
{
	const struct undo undo = before_exec(NULL, variables);

	real()->execveat(folder, path, words, variables, flags);
	return after_failed_exec(&undo);
}

/* The number of arguments, without the final NULL. */
static size_t
exec_count(const char *first, va_list list)
{
	size_t n = first != NULL;

	while (n > 0 && va_arg(list, char *) != NULL)
		n++;
	return n;
}

/* Fills words[n + 1]. */
static void
exec_collect(const char *first, va_list list, char **words, size_t n)
{
	size_t i;

	words[0] = (char *)(uintptr_t)first;
	for (i = 1; i <= n; i++)
		words[i] = va_arg(list, char *);
}

/*
 * Collects the arguments into an array on the stack, since memory may be short.
 * Leaves `list` after the final NULL.
 */
#define COLLECT(first, words, list) \
	do { \
		size_t n_; \
		\
		va_start(list, first); \
		n_ = exec_count(first, list); \
		va_end(list); \
		words = alloca((n_ + 1) * sizeof *words); \
		va_start(list, first); \
		exec_collect(first, list, words, n_); \
	} while (0)

EXPORTED int
execl(const char *path, const char *first, ...)
{
	char **words;
	va_list list;

	COLLECT(first, words, list);
	va_end(list);
	return execve(path, words, environ);
}

EXPORTED int
execlp(const char *file, const char *first, ...)
{
	char **words;
	va_list list;

	COLLECT(first, words, list);
	va_end(list);
	return execvpe(file, words, environ);
}

EXPORTED int
execle(const char *path, const char *first, ...)
{
	char **words, *const *variables;
	va_list list;

	COLLECT(first, words, list);
	variables = va_arg(list, char *const *);
	va_end(list);
	return execve(path, words, variables);
}

/*
 * posix_spawn calls none of the functions above.
 */

static enum cpprof_shared_reason
count_spawned(const char *path, char *const variables[])
{
	const int saved = errno;
	const enum cpprof_shared_reason reason = count_unsampled(path,
	    variables, sampling_check_process() && sampling_is_own_process());

	errno = saved;
	return reason;
}

/* If posix_spawn failed, there is no such program. */
static int
uncount_failed(int error, enum cpprof_shared_reason reason)
{
	if (error != 0 && reason != CPPROF_SHARED_N_REASONS)
		shared_uncount(reason);
	return error;
}

EXPORTED int
posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
    char *const words[], char *const variables[])
{
	const enum cpprof_shared_reason reason = count_spawned(path, variables);

	return uncount_failed(real()->posix_spawn(pid, path, actions, attr,
	    words, variables), reason);
}

EXPORTED int
posix_spawnp(pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
    char *const words[], char *const variables[])
{
	const enum cpprof_shared_reason reason = count_spawned(file, variables);

	return uncount_failed(real()->posix_spawnp(pid, file, actions, attr,
	    words, variables), reason);
}

/*
 * Ends that run no exit handlers.
 */

EXPORTED __attribute__((noreturn)) void
_exit(int status)
{
	start_end();
	start_leave(true);
	real()->_exit(status);
}

EXPORTED __attribute__((noreturn)) void
_Exit(int status)
{
	_exit(status);
}
