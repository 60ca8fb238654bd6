/* SPDX-License-Identifier: MIT */
/* blocking.c -- wrappers of calls that wait: `real`.
 *
 * Each call's time is charged to its caller when the call returns.
 * lib/wrap/wrapped.c handles the time between calls.  Calls that wait for
 * signals are in lib/wrap/signal-calls.c, calls that read and write in
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

#define NEXT_ROWS "lib/wrap/blocking.def"
#define NEXT_LOOK_UP blocking_look_up
#define BLOCKING NEXT
#define BLOCKING_ANY NEXT
#define BLOCKING_BY_HAND NEXT
#define BLOCKING_LOCK(type, name, try_name, busy)			\
	NEXT(int, name, (type *lock), (lock))				\
	NEXT(int, try_name, (type *lock), (lock))
#define BLOCKING_CONTROL(name)						\
	NEXT(int, name, (int fd, int command, long argument),		\
	    (fd, command, argument))
#include "lib/base/next.def"
#undef BLOCKING
#undef BLOCKING_ANY
#undef BLOCKING_BY_HAND
#undef BLOCKING_LOCK
#undef BLOCKING_CONTROL

static enum gate gate;

/* Makes the real call and charges its time. */
#define WAIT(type, name, arguments)					\
{									\
	struct wrapped_call call;					\
	type result;							\
									\
	wrapped_enter(&call, (const void *)next.name, WRAPPED_WAIT);	\
	result = next.name arguments;					\
	wrapped_leave(&call);						\
	return result;							\
}

#define BLOCKING_WRAPPER(function, type, name, parameters, arguments)		\
EXPORTED type								\
function parameters							\
{									\
	if (!GATE_LETS_PASS(gate))					\
		return next.name arguments;				\
	WAIT(type, name, arguments)					\
}
#define BLOCKING(type, name, parameters, arguments)			\
BLOCKING_WRAPPER(name, type, name, parameters, arguments)
#define BLOCKING_ANY(type, name, parameters, arguments)			\
EXPORTED type blocking_##name parameters __asm__(#name);		\
BLOCKING_WRAPPER(blocking_##name, type, name, parameters, arguments)

/*
 * Locks are rarely contended: the clock is read only if the lock is taken.  If
 * trylock succeeds, or fails for another reason than "busy", lock would have
 * returned the same.
 */
#define BLOCKING_LOCK(type, name, try_name, busy)			\
EXPORTED int								\
name(type *lock)							\
{									\
	int tried;							\
									\
	if (!GATE_LETS_PASS(gate))					\
		return next.name(lock);					\
	tried = next.try_name(lock);					\
	if (tried != (busy))						\
		return tried;						\
	WAIT(int, name, (lock))						\
}

/* Only its commands that wait for a file lock block. */
#define BLOCKING_CONTROL(name)						\
EXPORTED int blocking_##name(int, int, long) __asm__(#name);		\
int									\
blocking_##name(int fd, int command, long argument)			\
{									\
	int answer;							\
									\
	if (!GATE_LETS_PASS(gate))					\
		return next.name(fd, command, argument);		\
	if (command == F_SETLKW || command == F_OFD_SETLKW)		\
		WAIT(int, name, (fd, command, argument))		\
	answer = next.name(fd, command, argument);			\
	wrapped_count_call((const void *)next.name);			\
	return answer;							\
}

#define BLOCKING_BY_HAND(type, name, parameters, arguments)
#include "lib/wrap/blocking.def"

EXPORTED long blocking_syscall(long, long, long, long, long, long, long)
    __asm__("syscall");

long
blocking_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_seccomp)
		confine_expect((unsigned long)a, (unsigned long)b,
		    (const void *)c);
	if (number == SYS_io_uring_setup)
		io_note_ring();
	if (!GATE_LETS_PASS(gate))
		return next.syscall(number, a, b, c, d, e, f);
	WAIT(long, syscall, (number, a, b, c, d, e, f))
}

void
blocking_begin(bool is_sampled)
{
	gate = is_sampled && (resource_is_wanted(RESOURCE_REAL) ||
	    wrapped_counts_calls()) ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		blocking_look_up();
}
