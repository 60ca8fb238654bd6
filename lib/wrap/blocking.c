/* SPDX-License-Identifier: MIT */
/* blocking.c -- wrappers of calls that wait: `real`, and of those for
 * descriptors: `blame`.
 *
 * Each call's time is charged to its caller when the call returns.
 * lib/wrap/wrapped.c handles the time between calls.  Calls that wait for
 * other threads are in lib/wrap/locks.c, those that wait for signals in
 * lib/wrap/signal-calls.c, those that read and write in lib/wrap/io.c.
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

#include "lib/wrap/blame.h"
#include "lib/wrap/wrapped.h"

#define NEXT_ROWS "lib/wrap/blocking.def"
#define NEXT_LOOK_UP blocking_look_up
#define BLOCKING NEXT
#define BLOCKING_ANY NEXT
#define BLOCKING_CONTROL(name)						\
	NEXT(int, name, (int fd, int command, long argument),		\
	    (fd, command, argument))
#define BLOCKING_FILES(type, name, parameters, arguments, object)	\
	NEXT(type, name, parameters, arguments)
#include "lib/base/next.def"
#undef BLOCKING
#undef BLOCKING_ANY
#undef BLOCKING_CONTROL
#undef BLOCKING_FILES

static enum gate gate, files_gate;

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

#define BLOCKING_FILES(type, name, parameters, arguments, object_)	\
EXPORTED type								\
name parameters								\
{									\
	const bool is_measured = gate == GATE_OPEN;			\
	struct blame_object object = { .kind = CONTENTION_FILE };	\
	struct blame blame = { NULL };					\
	struct wrapped_call call;					\
	type result;							\
									\
	if (!GATE_LETS_PASS(files_gate))				\
		return next.name arguments;				\
	if (is_measured)						\
		wrapped_enter(&call, (const void *)next.name,		\
		    WRAPPED_WAIT);					\
	if (blame_is_on && (object.object = object_) != NULL)		\
		blame_begin(&blame, &object, (const void *)next.name,	\
		    __builtin_frame_address(0));			\
	result = next.name arguments;					\
	blame_end(&blame, CONTENTION_GOT);				\
	if (is_measured)						\
		wrapped_leave(&call);					\
	return result;							\
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

#include "lib/wrap/blocking.def"

void
blocking_begin(bool is_sampled)
{
	gate = is_sampled && (resource_is_wanted(RESOURCE_REAL) ||
	    wrapped_counts_calls()) ? GATE_OPEN : GATE_CLOSED;
	files_gate = gate == GATE_OPEN || (is_sampled &&
	    resource_is_wanted(RESOURCE_BLAME)) ? GATE_OPEN : GATE_CLOSED;
	if (files_gate == GATE_OPEN)
		blocking_look_up();
}
