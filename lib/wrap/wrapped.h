/* SPDX-License-Identifier: MIT */
/* wrapped.h -- what the functions that stand before library calls share.
 *
 * Each group of them (memory, I/O, standard I/O, blocking calls, others that
 * enter the kernel) has a gate.
 * It is closed unless a resource that the group measures is wanted, and then a
 * wrapper costs one predictable branch and a jump to the real function, which
 * the first call looks up: that neither allocates nor waits, since the C
 * library has all of them.  Until the constructor has run the gate is unset.
 *
 * Behind an open gate a wrapper measures its call and spends on the calling
 * thread.  The sample's innermost frame is the real function, as it is in a
 * sample of CPU time.  A wrapper holds nothing while the real function runs:
 * that may be cancelled, or left by a jump out of a signal handler, and then
 * only this call goes uncounted.  errno is the real function's.
 */
#ifndef CPPROF_WRAPPED_H
#define CPPROF_WRAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/exported.h"
#include "lib/base/process.h"
#include "lib/sources/resource.h"

enum gate {
	GATE_UNSET,
	GATE_CLOSED,
	GATE_OPEN
};

/* First in a wrapper: whether to do nothing but call the real function. */
#define GATE_IS_CLOSED(gate) __builtin_expect((gate) == GATE_CLOSED, 1)

/*
 * Finds a function of the libraries after this one, and puts its address in
 * *place.  Async-signal-safe.  What stands there before does that when it is
 * first called: most processes are short and call few.
 */
void wrapped_find(const char *name, void *place);

/* Defines that, for a function that returns something, in a group's `next`. */
#define FIRST(type, name, parameters, arguments)			\
static type								\
first_##name parameters							\
{									\
	wrapped_find(#name, &next.name);				\
	return next.name arguments;					\
}

/*
 * Whether the program's calls of a function come here; and of any at all: not
 * in a process that only asks what resources there are.
 */
bool wrapped_is_ours(const char *name);
bool wrapped_is_preloaded(void);

/* Whether any module that the program was loaded with has that function. */
bool wrapped_exists(const char *name);

/*
 * Whether the call is the program's, on a thread that is sampled, and the gate
 * is open.
 */
bool wrapped_pass(enum gate gate, const void *return_address);

/*
 * A call being measured: a variable of the wrapper.
 */
struct wrapped_call {
	const void *function;		/* the real one */
	struct wrapped_call *self;	/* while it lasts */
	struct wrapped_call *outer;	/* that has called this one, or NULL */
	uint64_t start_ns;
};

enum wrapped_kind {
	WRAPPED_WAIT,
	WRAPPED_IO	/* counts as `io-time`, too */
};

/*
 * Around the real call, for `real` and `io-time` (all of the time in it is
 * charged at its end).  Of calls within calls the outermost is measured.
 */
void wrapped_enter(struct wrapped_call *call, const void *function,
    enum wrapped_kind kind);
void wrapped_leave(struct wrapped_call *call);

/* The same of one that has turned out to enter no kernel. */
void wrapped_leave_quietly(struct wrapped_call *call);

/*
 * Whether `syscalls` are calls of the wrappers; then each that enters the
 * kernel counts itself, unless by wrapped_leave.
 */
bool wrapped_counts_calls(void);
void wrapped_count_call(const void *function);

/* Nanoseconds in the call up to now; 0 when it is within another. */
uint64_t wrapped_elapsed(const struct wrapped_call *call);

/* Whether the calling thread is in a measured call, seen from above it. */
bool wrapped_is_inside(void);

/*
 * The calling thread ends, perhaps cancelled in a call, which is charged up to
 * now.
 */
void wrapped_end_thread(struct thread *thread);

/* For lib/sources/resource.c's table. */
extern const struct source source_wall, source_bytes, source_bytes_seen,
    source_io_time, source_memory, source_memory_partly, source_mappings,
    source_calls, source_no_calls, source_dispatch, source_kernel_calls;

/*
 * From the constructor, when resources are chosen: the gates of what is wanted
 * are opened and the others closed.  Not sampled: all are closed.
 * (Cold code lies together: each page of code that a short process needs costs
 * it.)
 */
#define BEGINS __attribute__((cold))
void wrapped_begin(bool is_sampled);
BEGINS void memory_begin(bool is_sampled);
BEGINS void calls_begin(bool is_sampled);
BEGINS void kernel_begin(bool is_sampled);
BEGINS void io_begin(bool is_sampled);
BEGINS void stdio_begin(bool is_sampled);
BEGINS void blocking_begin(bool is_sampled);

#endif
