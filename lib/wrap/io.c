/* SPDX-License-Identifier: MIT */
/* io.c -- calls that read and write: their bytes and time.
 *
 * Bytes are what the wrappers have seen, and at ticks also what the kernel has
 * counted beyond that.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/cpprofdata.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/wrap/blame.h"
#include "lib/wrap/wrapped.h"

enum direction {
	BYTES_READ,
	BYTES_WRITTEN,
	BYTES_DIRECTIONS
};

static __thread struct {
	uint64_t seen;		/* part of the kernel's count already accounted
				   for */
	uint64_t unseen;	/* found, but not yet charged */
} moved[BYTES_DIRECTIONS];

uint64_t (*bytes_pending)(void);

/* The calling thread has moved n bytes in `function`. */
static void
bytes_spend(enum direction direction, uint64_t n, bool is_in_kernels,
    const void *function)
{
	if (is_in_kernels)
		moved[direction].seen += n;
	resource_spend_in(direction == BYTES_READ ? RESOURCE_BYTES_READ :
	    RESOURCE_BYTES_WRITTEN, n, function);
}

static bool
find_count(const char *text, const char *label, uint64_t *count)
{
	const char *at = strstr(text, label);

	if (at == NULL)
		return false;
	at += strlen(label);
	*count = files_take_number(&at);
	return true;
}

/*
 * The kernel's counts for this thread just before this read of the file.  The
 * bytes of the read itself are the collector's, so they are added to `seen`.
 */
static bool
bytes_ask_kernel(uint64_t counts[BYTES_DIRECTIONS])
{
	char text[256];

	moved[BYTES_READ].seen += files_read_start("/proc/thread-self/io", text,
	    sizeof text);
	return find_count(text, "rchar: ", &counts[BYTES_READ]) &&
	    find_count(text, "wchar: ", &counts[BYTES_WRITTEN]);
}

static bool
bytes_start(struct thread *thread, unsigned column)
{
	uint64_t counts[BYTES_DIRECTIONS];
	int i;

	(void)column;
	moved[BYTES_READ].seen = 0;
	if (!bytes_ask_kernel(counts))
		return false;
	for (i = 0; i < BYTES_DIRECTIONS; i++) {
		moved[i].seen = i == BYTES_READ ?
		    counts[i] + moved[i].seen : counts[i];
		moved[i].unseen = 0;
	}
	thread->own_bytes_read = 0;
	return true;
}

/*
 * If both directions are sampled, one read of the kernel's counts serves both.
 */
static uint64_t
bytes_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	enum direction direction =
	    resources.place[RESOURCE_BYTES_READ] == column + 1 ?
	    BYTES_READ : BYTES_WRITTEN;
	const uint64_t seen[BYTES_DIRECTIONS] = {
	    moved[BYTES_READ].seen + thread->own_bytes_read,
	    moved[BYTES_WRITTEN].seen };
	uint64_t counts[BYTES_DIRECTIONS], n;
	int i;

	/*
	 * During a call, the kernel's count and `seen` may already differ by
	 * what the call has moved so far.
	 */
	if (expiries > 0 && current_is_inside())
		return 0;
	moved[BYTES_READ].seen += thread->own_bytes_read;
	thread->own_bytes_read = 0;
	if (moved[direction].unseen == 0 && bytes_ask_kernel(counts))
		for (i = 0; i < BYTES_DIRECTIONS; i++)
			if (counts[i] > seen[i]) {
				moved[i].unseen += counts[i] - seen[i];
				moved[i].seen += counts[i] - seen[i];
			}
	n = moved[direction].unseen;
	moved[direction].unseen = 0;
	if (expiries == 0 && thread->is_main && direction == BYTES_WRITTEN)
		n += bytes_pending != NULL ? bytes_pending() : 0;
	return meter_spend(&thread->meters->accounts[column].meter, n);
}

static bool
bytes_probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	uint64_t counts[BYTES_DIRECTIONS];

	(void)row, (void)interval;
	*why = "the kernel does not report bytes per thread";
	return bytes_ask_kernel(counts);
}

const struct resource_source source_bytes = {
	.name = "library calls, and /proc/thread-self/io at ticks",
	.probe = bytes_probe,
	.start = bytes_start,
	.hits = bytes_hits,
	.needs_ticks = true,
	.can_be_random = true,
};

const struct resource_source source_bytes_seen = {
	.name = "library calls",
	.can_be_random = true,
};

const struct resource_source source_io_time = {
	.name = "library calls",
	.can_be_random = true,
};

/*
 * The wrappers.
 */

enum io_kind {
	IO_READ,
	IO_WRITE,
	IO_RECEIVE,	/* not in the kernel's count of bytes */
	IO_SEND,
	IO_COPY,	/* reads and writes */
	IO_MOVE		/* moves pages: nothing is read or written */
};

#define NEXT_ROWS "lib/wrap/io.def"
#define NEXT_LOOK_UP io_look_up
#define IO(kind, name, parameters, arguments)				\
	NEXT(ssize_t, name, parameters, arguments)
#define IO_ANY IO
#define IO_MESSAGES(kind, name, parameters, arguments)			\
	NEXT(int, name, parameters, arguments)
#include "lib/base/next.def"
#undef IO
#undef IO_ANY
#undef IO_MESSAGES

static enum gate gate;
static bool io_measures;	/* not only who wakes whom */

/* Notes who waits to read, and whom a call wakes that writes. */
#define IO_BEGIN_READ(name)						\
	do {								\
		const struct blame_object object = {			\
		    .kind = CONTENTION_FILE,				\
		    .object = wakers_awaited(fd) };			\
									\
		if (object.object != NULL)				\
			blame_begin(&blame, &object,			\
			    (const void *)next.name,			\
			    __builtin_frame_address(0));		\
	} while (0)
#define IO_BEGIN_RECEIVE IO_BEGIN_READ
#define IO_BEGIN_WRITE(name)						\
	wakers_wake(fd, (const void *)next.name, __builtin_frame_address(0))
#define IO_BEGIN_SEND IO_BEGIN_WRITE
#define IO_BEGIN_COPY(name) (void)0
#define IO_BEGIN_MOVE(name) (void)0

void
io_leave(struct wrapped_call *call, uint64_t n_read, uint64_t n_written,
    bool is_in_kernels)
{
	static __thread uint64_t rest_ns;	/* only whole microseconds are
						   charged */
	const bool is_of_this = call->recording == sampling_recording();
	int saved = errno;

	if (is_of_this && resource_is_wanted(RESOURCE_IO_TIME)) {
		const uint64_t ns = rest_ns + wrapped_elapsed(call);

		rest_ns = ns % 1000;
		resource_spend_in(RESOURCE_IO_TIME, ns / 1000, call->function);
	}
	if (is_of_this && n_read > 0)
		bytes_spend(BYTES_READ, n_read, is_in_kernels, call->function);
	if (is_of_this && n_written > 0)
		bytes_spend(BYTES_WRITTEN, n_written, is_in_kernels,
		    call->function);
	wrapped_leave(call);
	errno = saved;
}

static void
io_leave_call(struct wrapped_call *call, enum io_kind kind, ssize_t moved_bytes)
{
	const uint64_t n = moved_bytes > 0 ? (uint64_t)moved_bytes : 0;

	io_leave(call,
	    kind == IO_READ || kind == IO_RECEIVE || kind == IO_COPY ? n : 0,
	    kind == IO_WRITE || kind == IO_SEND || kind == IO_COPY ? n : 0,
	    kind != IO_RECEIVE && kind != IO_SEND);
}

static ssize_t
io_sum_of(const struct mmsghdr *messages, int n)
{
	ssize_t sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += messages[i].msg_len;
	return sum;
}

#define IO_WRAPPER(function, type, kind, name, parameters, arguments, n_bytes) \
EXPORTED type								\
function parameters							\
{									\
	const bool is_measured = io_measures;				\
	struct blame blame = { NULL };					\
	struct wrapped_call call;					\
	type result;							\
									\
	if (!GATE_LETS_PASS(gate))					\
		return next.name arguments;				\
	if (is_measured)						\
		wrapped_enter(&call, (const void *)next.name,		\
		    WRAPPED_IO);					\
	if (blame_is_on)						\
		IO_BEGIN_##kind(name);					\
	result = next.name arguments;					\
	blame_end(&blame, CONTENTION_GOT);				\
	if (is_measured)						\
		io_leave_call(&call, IO_##kind, n_bytes);		\
	return result;							\
}
#define IO(kind, name, parameters, arguments)				\
IO_WRAPPER(name, ssize_t, kind, name, parameters, arguments, result)
#define IO_ANY(kind, name, parameters, arguments)			\
EXPORTED ssize_t io_##name parameters __asm__(#name);			\
IO_WRAPPER(io_##name, ssize_t, kind, name, parameters, arguments, result)
#define IO_MESSAGES(kind, name, parameters, arguments)			\
IO_WRAPPER(name, int, kind, name, parameters, arguments,			\
    io_sum_of(messages, result))
#include "lib/wrap/io.def"

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
	io_measures = is_sampled && io_is_wanted();
	gate = io_measures || (is_sampled &&
	    resource_is_wanted(RESOURCE_BLAME)) ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		io_look_up();
}
