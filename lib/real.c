/* SPDX-License-Identifier: MIT */
/* real.c -- looks the real functions up, once. */
#include "lib/real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	{ "pthread_create", offsetof(struct real, pthread_create) },
	{ "thrd_create", offsetof(struct real, thrd_create) },
	{ "dlclose", offsetof(struct real, dlclose) },
	{ "sigaction", offsetof(struct real, sigaction) },
	{ "signal", offsetof(struct real, signal) },
	{ "bsd_signal", offsetof(struct real, bsd_signal) },
	{ "sysv_signal", offsetof(struct real, sysv_signal) },
	{ "__sysv_signal", offsetof(struct real, strict_signal) },
	{ "sigset", offsetof(struct real, sigset) },
	{ "sigignore", offsetof(struct real, sigignore) },
	{ "sigaltstack", offsetof(struct real, sigaltstack) },
	{ "siginterrupt", offsetof(struct real, siginterrupt) },
	{ "sigprocmask", offsetof(struct real, sigprocmask) },
	{ "pthread_sigmask", offsetof(struct real, pthread_sigmask) },
	{ "prctl", offsetof(struct real, prctl) },
	{ "ptrace", offsetof(struct real, ptrace) },
	{ "setuid", offsetof(struct real, setuid) },
	{ "seteuid", offsetof(struct real, seteuid) },
	{ "setreuid", offsetof(struct real, setreuid) },
	{ "setresuid", offsetof(struct real, setresuid) },
	{ "setfsuid", offsetof(struct real, setfsuid) },
	{ "chroot", offsetof(struct real, chroot) },
	{ "unshare", offsetof(struct real, unshare) },
	{ "setns", offsetof(struct real, setns) },
	{ "sigwait", offsetof(struct real, sigwait) },
	{ "sigtimedwait", offsetof(struct real, sigtimedwait) },
	{ "signalfd", offsetof(struct real, signalfd) },
	{ "_exit", offsetof(struct real, _exit) },
	{ "execve", offsetof(struct real, execve) },
	{ "execvpe", offsetof(struct real, execvpe) },
	{ "fexecve", offsetof(struct real, fexecve) },
	{ "execveat", offsetof(struct real, execveat) },
	{ "longjmp", offsetof(struct real, longjmp) },
	{ "__longjmp_chk", offsetof(struct real, checked_longjmp) },
};

const struct real *
real(void)
{
	static struct real table;
	static _Atomic bool is_filled;
	unsigned i;

	/* Two threads that fill it at once write the same words. */
	if (!atomic_load_explicit(&is_filled, memory_order_acquire)) {
		for (i = 0; i < sizeof functions / sizeof *functions; i++) {
			void *address = dlsym(RTLD_NEXT, functions[i].name);

			memcpy((char *)&table + functions[i].offset, &address,
			    sizeof address);
		}
		atomic_store_explicit(&is_filled, true, memory_order_release);
	}
	return &table;
}
