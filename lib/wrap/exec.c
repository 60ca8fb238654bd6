/* SPDX-License-Identifier: MIT */
/* exec.c -- calls that replace the program, or end it at once.
 *
 * The file learns when, and of the CPU time used by then.
 * An event that comes to its end inside the call would send its SIGTRAP to the
 * new program, which knows nothing of it and dies.  So the thread's events go
 * first, and come back if the call fails.  A child of vfork has none of its
 * own, and its parent's are left alone.  And what the new program inherits of
 * our signals is what this one believes of them.
 *
 * What the process has used so far is counted, since there is no other end, nor
 * where _exit is called.  A program that will not be sampled is noted.
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
#include "lib/base/shared.h"
#include "lib/run/sample.h"
#include "lib/run/sampler.h"
#include "lib/run/start.h"
#include "lib/run/threads.h"
#include "lib/signals/signals.h"
#include "lib/sources/dispatch.h"
#include "lib/sources/perf.h"
#include "lib/sources/timer.h"
#include "lib/wrap/outsider.h"

extern char **environ;

/* What is set aside until the call fails. */
struct aside {
	struct thread *thread;	/* NULL: nothing of its own */
	bool has_timer;
	enum cpprof_shared_reason reason;	/* not to sample the program */
};

/*
 * Counts the program that is about to be executed, if it will not be sampled;
 * the reason.  To look at it is no work of the program's.
 */
static enum cpprof_shared_reason
judge(const char *path, char *const variables[], bool is_own)
{
	struct thread *thread = thread_self;
	enum cpprof_shared_reason reason;
	struct sample_guard guard;
	bool is_guarded;

	if (!shared_is_there() || !sampler_is_on())
		return CPPROF_SHARED_N_REASONS;
	is_guarded = thread != NULL && thread->held_off == 0 &&
	    !thread->is_sampling && is_own &&
	    sample_guard_begin(thread, &guard);
	reason = outsider_judge(path, variables);
	if (is_guarded)
		sample_guard_end(thread, &guard);
	if (reason != CPPROF_SHARED_N_REASONS)
		shared_count(reason, 0);
	return reason;
}

/*
 * Nothing of ours may be pending when our signals are blocked: it would reach
 * the next program.  (errno is a page, and a call that fails sets it; but in a
 * child of vfork it is its parent's.)
 */
static struct aside
set_aside(const char *path, char *const variables[])
{
	struct aside aside = { NULL };
	const unsigned char dispatch = dispatch_pause();
	const bool is_own = start_check_process() && start_is_own_process();
	const int saved = is_own ? 0 : errno;

	start_leave(true);
	if (is_own)
		aside.thread = thread_self;
	if (aside.thread != NULL)
		start_execute();
	aside.reason = judge(path, variables, is_own);
	/* Both may have set events going again. */
	if (aside.thread != NULL) {
		perf_pause(aside.thread);
		aside.has_timer = aside.thread->has_timer;
		timer_stop(aside.thread);
	}
	if (sampler_is_on())
		signals_bequeath();
	dispatch_resume(dispatch);
	if (!is_own)
		errno = saved;
	return aside;
}

static int
failed(const struct aside *aside)
{
	const unsigned char dispatch = dispatch_pause();
	int saved = errno;

	start_leave(false);
	if (sampler_is_on())
		signals_keep();
	if (aside->thread != NULL)
		perf_go_on(aside->thread);
	if (aside->has_timer)
		timer_start(aside->thread);
	if (aside->reason != CPPROF_SHARED_N_REASONS)
		shared_uncount(aside->reason);
	dispatch_resume(dispatch);
	errno = saved;
	return -1;
}

EXPORTED int
execve(const char *path, char *const words[], char *const variables[])
{
	const struct aside aside = set_aside(path, variables);

	real()->execve(path, words, variables);
	return failed(&aside);
}

EXPORTED int
execv(const char *path, char *const words[])
{
	return execve(path, words, environ);
}

EXPORTED int
execvpe(const char *file, char *const words[], char *const variables[])
{
	const struct aside aside = set_aside(file, variables);

	real()->execvpe(file, words, variables);
	return failed(&aside);
}

EXPORTED int
execvp(const char *file, char *const words[])
{
	return execvpe(file, words, environ);
}

EXPORTED int
fexecve(int fd, char *const words[], char *const variables[])
{
	const struct aside aside = set_aside(NULL, variables);

	real()->fexecve(fd, words, variables);
	return failed(&aside);
}

EXPORTED int
execveat(int folder, const char *path, char *const words[],
    char *const variables[], int flags)
{
	const struct aside aside = set_aside(NULL, variables);

	real()->execveat(folder, path, words, variables, flags);
	return failed(&aside);
}

/* How many words there are, the NULL behind them left out. */
static size_t
count(const char *first, va_list list)
{
	size_t n = first != NULL;

	while (n > 0 && va_arg(list, char *) != NULL)
		n++;
	return n;
}

/* words[n + 1]: the first, and what follows it. */
static void
collect(const char *first, va_list list, char **words, size_t n)
{
	size_t i;

	words[0] = (char *)(uintptr_t)first;
	for (i = 1; i <= n; i++)
		words[i] = va_arg(list, char *);
}

/*
 * The words as an array, on the stack since memory may be short; `list` is
 * left behind them.
 */
#define COLLECT(first, words, list) \
	do { \
		size_t n_; \
		\
		va_start(list, first); \
		n_ = count(first, list); \
		va_end(list); \
		words = alloca((n_ + 1) * sizeof *words); \
		va_start(list, first); \
		collect(first, list, words, n_); \
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
 * What posix_spawn executes comes by none of the above.
 */

static enum cpprof_shared_reason
judge_quietly(const char *path, char *const variables[])
{
	const int saved = errno;
	const enum cpprof_shared_reason reason = judge(path, variables,
	    start_check_process() && start_is_own_process());

	errno = saved;
	return reason;
}

/* What it returned: if an error, there is no such program. */
static int
spawned(int error, enum cpprof_shared_reason reason)
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
	const enum cpprof_shared_reason reason = judge_quietly(path, variables);

	return spawned(real()->posix_spawn(pid, path, actions, attr, words,
	    variables), reason);
}

EXPORTED int
posix_spawnp(pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
    char *const words[], char *const variables[])
{
	const enum cpprof_shared_reason reason = judge_quietly(file, variables);

	return spawned(real()->posix_spawnp(pid, file, actions, attr, words,
	    variables), reason);
}

/*
 * No exit handler will run.
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
