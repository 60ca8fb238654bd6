/* SPDX-License-Identifier: MIT */
/* real.c -- looks each real function up when it is first called. */
#include "lib/base/real.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/types.h>

#include "lib/base/lookup.h"

static struct real next;

FIRST(int, pthread_create, (pthread_t *id, const pthread_attr_t *attr, void
    *(*start)(void *), void *argument),
    (id, attr, start, argument))
FIRST(int, thrd_create, (thrd_t *id, thrd_start_t start, void *argument),
    (id, start, argument))
FIRST(int, dlclose, (void *handle),
    (handle))
FIRST(int, sigaction, (int number, const struct sigaction *action, struct
    sigaction *old),
    (number, action, old))
FIRST(__sighandler_t, signal, (int number, __sighandler_t handler),
    (number, handler))
FIRST(__sighandler_t, bsd_signal, (int number, __sighandler_t handler),
    (number, handler))
FIRST(__sighandler_t, sysv_signal, (int number, __sighandler_t handler),
    (number, handler))
FIRST(__sighandler_t, sigset, (int number, __sighandler_t handler),
    (number, handler))
FIRST(int, sigignore, (int number),
    (number))
FIRST(int, sigaltstack, (const stack_t *stack, stack_t *old),
    (stack, old))
FIRST(int, siginterrupt, (int number, int interrupts),
    (number, interrupts))
FIRST(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old),
    (how, set, old))
FIRST(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old),
    (how, set, old))
FIRST(int, setuid, (uid_t user),
    (user))
FIRST(int, seteuid, (uid_t user),
    (user))
FIRST(int, setreuid, (uid_t user, uid_t effective),
    (user, effective))
FIRST(int, setresuid, (uid_t user, uid_t effective, uid_t saved),
    (user, effective, saved))
FIRST(int, setfsuid, (uid_t user),
    (user))
FIRST(int, chroot, (const char *path),
    (path))
FIRST(int, unshare, (int flags),
    (flags))
FIRST(int, setns, (int fd, int flags),
    (fd, flags))
FIRST(int, sigwait, (const sigset_t *set, int *number),
    (set, number))
FIRST(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct
    timespec *timeout),
    (set, info, timeout))
FIRST(int, signalfd, (int fd, const sigset_t *set, int flags),
    (fd, set, flags))
FIRST(int, execve, (const char *path, char *const *words, char *const
    *variables),
    (path, words, variables))
FIRST(int, execvpe, (const char *file, char *const *words, char *const
    *variables),
    (file, words, variables))
FIRST(int, fexecve, (int fd, char *const *words, char *const *variables),
    (fd, words, variables))
FIRST(int, execveat, (int folder, const char *path, char *const *words, char
    *const *variables, int flags),
    (folder, path, words, variables, flags))
FIRST(int, posix_spawn, (pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
    char *const *words, char *const *variables),
    (pid, path, actions, attr, words, variables))
FIRST(int, posix_spawnp, (pid_t *pid, const char *file,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
    char *const *words, char *const *variables),
    (pid, file, actions, attr, words, variables))

/* Functions under another name here, or with an ellipsis. */

static __sighandler_t
first_strict_signal(int number, __sighandler_t handler)
{
	lookup_real("__sysv_signal", &next.strict_signal);
	return next.strict_signal(number, handler);
}

/* Passes on more arguments than may have been given; those are not used. */
#define GET_WORDS(words, last, n) do {					\
	va_list list_;							\
	unsigned i_;							\
									\
	va_start(list_, last);						\
	for (i_ = 0; i_ < (n); i_++)					\
		(words)[i_] = va_arg(list_, long);			\
	va_end(list_);							\
} while (0)

static int
first_prctl(int what, ...)
{
	long words[4];

	GET_WORDS(words, what, 4);
	lookup_real("prctl", &next.prctl);
	return next.prctl(what, words[0], words[1], words[2], words[3]);
}

static long
first_ptrace(int request, ...)
{
	long words[3];

	GET_WORDS(words, request, 3);
	lookup_real("ptrace", &next.ptrace);
	return next.ptrace(request, words[0], words[1], words[2]);
}

static __attribute__((noreturn)) void
first_longjmp(jmp_buf buffer, int value)
{
	lookup_real("longjmp", &next.longjmp);
	next.longjmp(buffer, value);
}

static __attribute__((noreturn)) void
first_checked_longjmp(jmp_buf buffer, int value)
{
	lookup_real("__longjmp_chk", &next.checked_longjmp);
	next.checked_longjmp(buffer, value);
}

static __attribute__((noreturn)) void
first_exit(int status)
{
	lookup_real("_exit", &next._exit);
	next._exit(status);
}

static struct real next = {
	._exit = first_exit,
	.posix_spawn = first_posix_spawn,
	.posix_spawnp = first_posix_spawnp,
	.pthread_create = first_pthread_create,
	.thrd_create = first_thrd_create,
	.dlclose = first_dlclose,
	.sigaction = first_sigaction,
	.signal = first_signal,
	.bsd_signal = first_bsd_signal,
	.sysv_signal = first_sysv_signal,
	.sigset = first_sigset,
	.sigignore = first_sigignore,
	.sigaltstack = first_sigaltstack,
	.siginterrupt = first_siginterrupt,
	.sigprocmask = first_sigprocmask,
	.pthread_sigmask = first_pthread_sigmask,
	.setuid = first_setuid,
	.seteuid = first_seteuid,
	.setreuid = first_setreuid,
	.setresuid = first_setresuid,
	.setfsuid = first_setfsuid,
	.chroot = first_chroot,
	.unshare = first_unshare,
	.setns = first_setns,
	.sigwait = first_sigwait,
	.sigtimedwait = first_sigtimedwait,
	.signalfd = first_signalfd,
	.execve = first_execve,
	.execvpe = first_execvpe,
	.fexecve = first_fexecve,
	.execveat = first_execveat,
	.strict_signal = first_strict_signal,
	.prctl = first_prctl,
	.ptrace = first_ptrace,
	.longjmp = first_longjmp,
	.checked_longjmp = first_checked_longjmp,
};

const struct real *
real(void)
{
	return &next;
}

void
real_prepare(void)
{
	lookup_real("sigtimedwait", &next.sigtimedwait);
}

void
real_prepare_for_children(void)
{
	if (next.execve == first_execve)
		lookup_real("execve", &next.execve);
	if (next._exit == first_exit)
		lookup_real("_exit", &next._exit);
}
