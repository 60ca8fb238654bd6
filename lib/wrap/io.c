/* SPDX-License-Identifier: MIT */
/* io.c -- wrappers of calls that read and write: their bytes and time. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/cpprofdata.h"
#include "lib/store/datafile.h"
#include "lib/wrap/wrapped.h"

enum io_kind {
	IO_READ,
	IO_WRITE,
	IO_RECEIVE,	/* not in the kernel's count of bytes */
	IO_SEND,
	IO_COPY,	/* reads and writes */
	IO_MOVE		/* moves pages: nothing is read or written */
};

/* Declared in no header, or only under feature macros. */
ssize_t __read(int, void *, size_t);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread64(int, void *, size_t, off64_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __write(int, const void *, size_t);
ssize_t __pwrite64(int, const void *, size_t, off64_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, __SOCKADDR_ARG,
    socklen_t *);
ssize_t __send(int, const void *, size_t, int);

static struct io_next {
#define IO(kind, name, parameters, arguments) __typeof__(name) *name;
#include "lib/wrap/io.def"
#undef IO
	__typeof__(recvmmsg) *recvmmsg;
	__typeof__(sendmmsg) *sendmmsg;
} next;

#define IO(kind, name, parameters, arguments)				\
FIRST(ssize_t, name, parameters, arguments)
#include "lib/wrap/io.def"
#undef IO
FIRST(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned n,
    int flags, struct timespec *timeout), (fd, messages, n, flags, timeout))
FIRST(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned n,
    int flags), (fd, messages, n, flags))

static struct io_next next = {
#define IO(kind, name, parameters, arguments) .name = first_##name,
#include "lib/wrap/io.def"
#undef IO
	.recvmmsg = first_recvmmsg,
	.sendmmsg = first_sendmmsg,
};

static void
io_look_up(void)
{
#define IO(kind, name, parameters, arguments) lookup_real(#name, &next.name);
#include "lib/wrap/io.def"
#undef IO
	lookup_real("recvmmsg", &next.recvmmsg);
	lookup_real("sendmmsg", &next.sendmmsg);
}

static enum gate gate;

static bool
io_enter(struct wrapped_call *call, const void *function,
    const void *return_address)
{
	if (!wrapped_pass(gate, return_address))
		return false;
	wrapped_enter(call, function, WRAPPED_IO);
	return true;
}

static void
spend_time(const struct wrapped_call *call)
{
	static __thread uint64_t rest_ns;	/* only whole microseconds are
						   charged */
	uint64_t sum = rest_ns + wrapped_elapsed(call);

	rest_ns = sum % 1000;
	resource_spend_in(RESOURCE_IO_TIME, sum / 1000, call->function);
}

void
io_leave(struct wrapped_call *call, uint64_t n_read, uint64_t n_written,
    bool is_in_kernels)
{
	int saved = errno;

	if (resource_is_wanted(RESOURCE_IO_TIME))
		spend_time(call);
	if (n_read > 0)
		bytes_spend(BYTES_READ, n_read, is_in_kernels, call->function);
	if (n_written > 0)
		bytes_spend(BYTES_WRITTEN, n_written, is_in_kernels,
		    call->function);
	wrapped_leave(call);
	errno = saved;
}

static void
io_leave_call(struct wrapped_call *call, enum io_kind kind, ssize_t result)
{
	const uint64_t n = result > 0 ? (uint64_t)result : 0;

	io_leave(call,
	    kind == IO_READ || kind == IO_RECEIVE || kind == IO_COPY ? n : 0,
	    kind == IO_WRITE || kind == IO_SEND || kind == IO_COPY ? n : 0,
	    kind != IO_RECEIVE && kind != IO_SEND);
}

#define IO(kind, name, parameters, arguments)				\
EXPORTED ssize_t							\
name parameters								\
{									\
	struct wrapped_call call;					\
	ssize_t result;							\
									\
	if (GATE_IS_CLOSED(gate) || !io_enter(&call,			\
	    (const void *)next.name, __builtin_return_address(0)))	\
		return next.name arguments;				\
	result = next.name arguments;					\
	io_leave_call(&call, IO_##kind, result);				\
	return result;							\
}
#include "lib/wrap/io.def"
#undef IO

static uint64_t
io_sum_of(const struct mmsghdr *messages, int n)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += messages[i].msg_len;
	return sum;
}

EXPORTED int
recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags,
    struct timespec *timeout)
{
	struct wrapped_call call;
	int result;

	if (GATE_IS_CLOSED(gate) || !io_enter(&call,
	    (const void *)next.recvmmsg, __builtin_return_address(0)))
		return next.recvmmsg(fd, messages, n, flags, timeout);
	result = next.recvmmsg(fd, messages, n, flags, timeout);
	io_leave(&call, io_sum_of(messages, result), 0, false);
	return result;
}

EXPORTED int
sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
	struct wrapped_call call;
	int result;

	if (GATE_IS_CLOSED(gate) || !io_enter(&call,
	    (const void *)next.sendmmsg, __builtin_return_address(0)))
		return next.sendmmsg(fd, messages, n, flags);
	result = next.sendmmsg(fd, messages, n, flags);
	io_leave(&call, 0, io_sum_of(messages, result), false);
	return result;
}

const struct resource_source source_io_time = {
	.name = "library calls",
	.can_be_random = true,
};

/*
 * io_uring: the kernel reads and writes while the program does something else,
 * and reports completion through shared memory.
 */

void
io_note_ring(void)
{
	static atomic_flag is_noted = ATOMIC_FLAG_INIT;

	if (!sampling_is_on() || !(resource_is_wanted(RESOURCE_IO_TIME) ||
	    resource_is_wanted(RESOURCE_BYTES_READ) ||
	    resource_is_wanted(RESOURCE_BYTES_WRITTEN)) ||
	    atomic_flag_test_and_set(&is_noted))
		return;
	datafile_flag(CPPROFDATA_IO_URING);
	shared_count_ring();
}

/*
 * liburing makes system calls without the C library.  A program that refers to
 * these functions has that library, or checks first whether they exist.
 */
typedef int ring_function(unsigned long, void *, void *, void *, unsigned long);

#define RING(name)							\
EXPORTED ring_function ring_##name __asm__(#name);			\
int									\
ring_##name(unsigned long n, void *ring, void *a, void *b,		\
    unsigned long c)							\
{									\
	ring_function *function = NULL;					\
									\
	lookup_real(#name, &function);					\
	if (function == NULL)						\
		return -ENOSYS;						\
	io_note_ring();							\
	return function(n, ring, a, b, c);				\
}

RING(io_uring_queue_init)
RING(io_uring_queue_init_params)
RING(io_uring_queue_init_mem)

void
io_begin(bool is_sampled)
{
	gate = is_sampled && io_is_wanted() ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		io_look_up();
}
