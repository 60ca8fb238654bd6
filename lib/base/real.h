/* SPDX-License-Identifier: MIT */
/* real.h -- the C library's own versions of functions that we wrap.
 *
 * All functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_REAL_H
#define CPPROF_REAL_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <threads.h>
#include <time.h>

struct real {
	int (*pthread_create)(pthread_t *, const pthread_attr_t *,
	    void *(*)(void *), void *);
	int (*thrd_create)(thrd_t *, thrd_start_t, void *);
	int (*dlclose)(void *);
	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	__sighandler_t (*signal)(int, __sighandler_t);
	__sighandler_t (*bsd_signal)(int, __sighandler_t);
	__sighandler_t (*sysv_signal)(int, __sighandler_t);
	__sighandler_t (*strict_signal)(int, __sighandler_t);
	__sighandler_t (*sigset)(int, __sighandler_t);
	int (*sigignore)(int);
	int (*sigaltstack)(const stack_t *, stack_t *);
	int (*siginterrupt)(int, int);
	int (*sigprocmask)(int, const sigset_t *, sigset_t *);
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*prctl)(int, ...);
	long (*ptrace)(int, ...);
	int (*setuid)(uid_t);
	int (*seteuid)(uid_t);
	int (*setreuid)(uid_t, uid_t);
	int (*setresuid)(uid_t, uid_t, uid_t);
	int (*setfsuid)(uid_t);
	int (*chroot)(const char *);
	int (*unshare)(int);
	int (*setns)(int, int);
	int (*sigwait)(const sigset_t *, int *);
	int (*sigtimedwait)(const sigset_t *, siginfo_t *,
	    const struct timespec *);
	int (*signalfd)(int, const sigset_t *, int);
	int (*execve)(const char *, char *const *, char *const *);
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
	int (*execveat)(int, const char *, char *const *, char *const *, int);
	int (*posix_spawn)(pid_t *, const char *,
	    const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
	    char *const *, char *const *);
	int (*posix_spawnp)(pid_t *, const char *,
	    const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
	    char *const *, char *const *);
	void (*_exit)(int) __attribute__((noreturn));
	void (*longjmp)(jmp_buf, int) __attribute__((noreturn));
	void (*checked_longjmp)(jmp_buf, int) __attribute__((noreturn));
};

/*
 * The table of real functions.  Each is looked up when it is first called,
 * because constructors of other libraries may call before ours runs.
 */
const struct real *real(void);

/*
 * Looks up the functions that samples show as frames, so that their addresses
 * are known.
 */
void real_prepare(void);

/*
 * Looks up the functions that most forked children call, so that not every
 * child has to.
 */
void real_prepare_for_children(void);

#endif
