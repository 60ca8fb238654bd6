/* SPDX-License-Identifier: MIT */
/* blocking.c -- wrappers of calls that wait: `real`.
 *
 * Each call's time is charged to its caller when the call returns.
 * lib/wrap/wrapped.c handles the time between calls.  Calls that wait for
 * signals are in lib/wrap/sigwait.c, calls that read and write in
 * lib/wrap/io.c.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "lib/wrap/wrapped.h"

/* Declared in no header, or only under feature macros. */
int __poll(struct pollfd *, nfds_t, int);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *,
    const sigset_t *, size_t);
int __select(int, fd_set *, fd_set *, fd_set *, struct timeval *);
int __nanosleep(const struct timespec *, struct timespec *);
int __sigsuspend(const sigset_t *);
pid_t __wait(int *);
pid_t __waitpid(pid_t, int *, int);
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
int __connect(int, __CONST_SOCKADDR_ARG, socklen_t);

/*
 * <unistd.h> declares it with an ellipsis.  It takes at most this many
 * arguments.
 */
EXPORTED long system_call(long, long, long, long, long, long, long)
    __asm__("syscall");

/*
 * <fcntl.h> uses an ellipsis, too.  By the machine's calling convention,
 * passing on an argument that the caller did not give does no harm.
 */
typedef int opening(const char *, int, long);
typedef int opening_at(int, const char *, int, long);
typedef int control(int, int, long);
EXPORTED opening open_file __asm__("open");
EXPORTED opening open_file64 __asm__("open64");
EXPORTED opening_at open_file_at __asm__("openat");
EXPORTED opening_at open_file_at64 __asm__("openat64");
EXPORTED control control_file __asm__("fcntl");
EXPORTED control control_file64 __asm__("fcntl64");

static struct blocking_next {
#define BLOCKING(type, name, parameters, arguments) __typeof__(name) *name;
#include "lib/wrap/blocking.def"
#undef BLOCKING
	__typeof__(system_call) *syscall;
	opening *open, *open64;
	opening_at *openat, *openat64;
	control *fcntl, *fcntl64;
	__typeof__(pthread_mutex_lock) *pthread_mutex_lock;
	__typeof__(pthread_mutex_trylock) *pthread_mutex_trylock;
	__typeof__(pthread_rwlock_rdlock) *pthread_rwlock_rdlock;
	__typeof__(pthread_rwlock_tryrdlock) *pthread_rwlock_tryrdlock;
	__typeof__(pthread_rwlock_wrlock) *pthread_rwlock_wrlock;
	__typeof__(pthread_rwlock_trywrlock) *pthread_rwlock_trywrlock;
	__typeof__(mtx_lock) *mtx_lock;
	__typeof__(mtx_trylock) *mtx_trylock;
} next;

#define BLOCKING(type, name, parameters, arguments)			\
FIRST(type, name, parameters, arguments)
#include "lib/wrap/blocking.def"
#undef BLOCKING
FIRST(long, syscall, (long number, long a, long b, long c, long d, long e,
    long f), (number, a, b, c, d, e, f))
#define OPENING(name)							\
FIRST(int, name, (const char *path, int flags, long mode), (path, flags, mode))
#define OPENING_AT(name)						\
FIRST(int, name, (int folder, const char *path, int flags, long mode),	\
    (folder, path, flags, mode))
#define CONTROL(name)							\
FIRST(int, name, (int fd, int command, long argument), (fd, command, argument))
OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)
CONTROL(fcntl)
CONTROL(fcntl64)
#undef OPENING
#undef OPENING_AT
#undef CONTROL
#define LOCK(type, name) FIRST(int, name, (type *lock), (lock))
LOCK(pthread_mutex_t, pthread_mutex_lock)
LOCK(pthread_mutex_t, pthread_mutex_trylock)
LOCK(pthread_rwlock_t, pthread_rwlock_rdlock)
LOCK(pthread_rwlock_t, pthread_rwlock_tryrdlock)
LOCK(pthread_rwlock_t, pthread_rwlock_wrlock)
LOCK(pthread_rwlock_t, pthread_rwlock_trywrlock)
LOCK(mtx_t, mtx_lock)
LOCK(mtx_t, mtx_trylock)
#undef LOCK

static struct blocking_next next = {
#define BLOCKING(type, name, parameters, arguments) .name = first_##name,
#include "lib/wrap/blocking.def"
#undef BLOCKING
	.syscall = first_syscall,
	.open = first_open,
	.open64 = first_open64,
	.openat = first_openat,
	.openat64 = first_openat64,
	.fcntl = first_fcntl,
	.fcntl64 = first_fcntl64,
	.pthread_mutex_lock = first_pthread_mutex_lock,
	.pthread_mutex_trylock = first_pthread_mutex_trylock,
	.pthread_rwlock_rdlock = first_pthread_rwlock_rdlock,
	.pthread_rwlock_tryrdlock = first_pthread_rwlock_tryrdlock,
	.pthread_rwlock_wrlock = first_pthread_rwlock_wrlock,
	.pthread_rwlock_trywrlock = first_pthread_rwlock_trywrlock,
	.mtx_lock = first_mtx_lock,
	.mtx_trylock = first_mtx_trylock,
};

static void
blocking_look_up(void)
{
#define BLOCKING(type, name, parameters, arguments)			\
	lookup_real(#name, &next.name);
#include "lib/wrap/blocking.def"
#undef BLOCKING
	lookup_real("syscall", &next.syscall);
	lookup_real("open", &next.open);
	lookup_real("open64", &next.open64);
	lookup_real("openat", &next.openat);
	lookup_real("openat64", &next.openat64);
	lookup_real("fcntl", &next.fcntl);
	lookup_real("fcntl64", &next.fcntl64);
	lookup_real("pthread_mutex_lock", &next.pthread_mutex_lock);
	lookup_real("pthread_mutex_trylock", &next.pthread_mutex_trylock);
	lookup_real("pthread_rwlock_rdlock", &next.pthread_rwlock_rdlock);
	lookup_real("pthread_rwlock_tryrdlock", &next.pthread_rwlock_tryrdlock);
	lookup_real("pthread_rwlock_wrlock", &next.pthread_rwlock_wrlock);
	lookup_real("pthread_rwlock_trywrlock", &next.pthread_rwlock_trywrlock);
	lookup_real("mtx_lock", &next.mtx_lock);
	lookup_real("mtx_trylock", &next.mtx_trylock);
}

static enum gate gate;

static bool
blocking_pass(const void *return_address)
{
	return wrapped_pass(gate, return_address);
}

#define IS_MEASURED \
	(!GATE_IS_CLOSED(gate) && blocking_pass(__builtin_return_address(0)))

#define WAIT(type, name, arguments)					\
{									\
	struct wrapped_call call;					\
	type result;							\
									\
	if (!IS_MEASURED)						\
		return next.name arguments;				\
	wrapped_enter(&call, (const void *)next.name, WRAPPED_WAIT);	\
	result = next.name arguments;					\
	wrapped_leave(&call);						\
	return result;							\
}

#define BLOCKING(type, name, parameters, arguments)			\
EXPORTED type								\
name parameters								\
WAIT(type, name, arguments)
#include "lib/wrap/blocking.def"
#undef BLOCKING

/*
 * Locks that are rarely contended: read the clock only if the lock is taken.
 * If trylock succeeds, or fails for another reason than "busy", lock would have
 * returned the same.
 */
#define LOCK(type, name, try_name, busy)				\
EXPORTED int								\
name(type *lock)							\
{									\
	struct wrapped_call call;					\
	int result;							\
									\
	if (!IS_MEASURED)						\
		return next.name(lock);					\
	result = next.try_name(lock);					\
	if (result != (busy))						\
		return result;						\
	wrapped_enter(&call, (const void *)next.name, WRAPPED_WAIT);	\
	result = next.name(lock);					\
	wrapped_leave(&call);						\
	return result;							\
}
LOCK(pthread_mutex_t, pthread_mutex_lock, pthread_mutex_trylock, EBUSY)
LOCK(pthread_rwlock_t, pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY)
LOCK(pthread_rwlock_t, pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY)
LOCK(mtx_t, mtx_lock, mtx_trylock, thrd_busy)

long
system_call(long number, long a, long b, long c, long d, long e, long f)
{
	struct wrapped_call call;
	long result;

	if (number == SYS_seccomp)
		confine_expect((unsigned long)a, (unsigned long)b,
		    (const void *)c);
	if (number == SYS_io_uring_setup)
		io_note_ring();
	if (!IS_MEASURED)
		return next.syscall(number, a, b, c, d, e, f);
	wrapped_enter(&call, (const void *)next.syscall, WRAPPED_WAIT);
	result = next.syscall(number, a, b, c, d, e, f);
	wrapped_leave(&call);
	return result;
}

/*
 * Opening a FIFO waits for its other end, and opening a remote file for its
 * server.
 */
int
open_file(const char *path, int flags, long mode)
WAIT(int, open, (path, flags, mode))

int
open_file64(const char *path, int flags, long mode)
WAIT(int, open64, (path, flags, mode))

int
open_file_at(int folder, const char *path, int flags, long mode)
WAIT(int, openat, (folder, path, flags, mode))

int
open_file_at64(int folder, const char *path, int flags, long mode)
WAIT(int, openat64, (folder, path, flags, mode))

/* Only its commands that wait for a file lock block. */
#define CONTROL(function, name)						\
int									\
function(int fd, int command, long argument)				\
{									\
	struct wrapped_call call;					\
	int result;							\
									\
	if (!IS_MEASURED)						\
		return next.name(fd, command, argument);		\
	if (command != F_SETLKW && command != F_OFD_SETLKW) {		\
		result = next.name(fd, command, argument);		\
		wrapped_count_call((const void *)next.name);		\
		return result;						\
	}								\
	wrapped_enter(&call, (const void *)next.name, WRAPPED_WAIT);	\
	result = next.name(fd, command, argument);			\
	wrapped_leave(&call);						\
	return result;							\
}
CONTROL(control_file, fcntl)
CONTROL(control_file64, fcntl64)

void
blocking_begin(bool is_sampled)
{
	gate = is_sampled && (resource_is_wanted(RESOURCE_REAL) ||
	    wrapped_counts_calls()) ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		blocking_look_up();
}
