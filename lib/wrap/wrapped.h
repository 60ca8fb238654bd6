/* SPDX-License-Identifier: MIT */
/* wrapped.h -- what all wrappers of library calls share.
 *
 * Each group of wrappers (memory, I/O, standard I/O, blocking calls, other
 * calls that enter the kernel) has a gate.  The constructor opens it if a
 * resource that the group measures is sampled.  If the gate is closed, a
 * wrapper costs one predictable branch and a jump to the real function.  The
 * first call looks the real function up, which neither allocates nor waits.
 * Until the constructor has run, the gate is unset.
 *
 * If the gate is open, a wrapper measures its call and charges the calling
 * thread.  The sample's innermost frame is the real function, as in a sample of
 * CPU time.  A wrapper holds no lock or state while the real function runs: if
 * the call is cancelled, or left by a jump out of a signal handler, only this
 * call is not counted.  errno is left as the real function set it.
 *
 * All functions, unless stated otherwise: async-signal-safe, any thread.
 */
#ifndef CPPROF_WRAPPED_H
#define CPPROF_WRAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/attributes.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/thread.h"
#include "lib/cpprof-shared.h"
#include "lib/sources/resource.h"

enum gate {
	GATE_UNSET,
	GATE_CLOSED,
	GATE_OPEN
};

/* First in a wrapper: whether only to call the real function. */
#define GATE_IS_CLOSED(gate) __builtin_expect((gate) == GATE_CLOSED, 1)

/* Whether to measure the call, which costs one branch if the gate is closed. */
#define GATE_LETS_PASS(gate) \
	(!GATE_IS_CLOSED(gate) && \
	wrapped_pass(gate, __builtin_return_address(0)))

/*
 * Whether the program's calls of a function reach this library, and whether any
 * do: not in a process that only lists the resources.  Takes the loader's lock:
 * from the constructor only.
 */
bool wrapped_is_ours(const char *name);
bool wrapped_is_preloaded(void);

/*
 * Whether any module of the program defines that function.  Takes the loader's
 * lock: from the constructor only.
 */
bool wrapped_exists(const char *name);

/*
 * Whether to measure a call: the gate is open, the thread is sampled, and
 * return_address is not in this library.
 */
bool wrapped_pass(enum gate gate, const void *return_address);

/*
 * A call being measured: a local variable of the wrapper.
 */
struct wrapped_call {
	const void *function;
	struct wrapped_call *self;	/* this call, while it lasts */
	struct wrapped_call *outer;	/* the measured call around this one, or
					   NULL */
	uint64_t start_ns;
	uint32_t recording;		/* in which it began */
};

enum wrapped_kind {
	WRAPPED_WAIT,
	WRAPPED_IO	/* also counts as `io-time` */
};

/*
 * Before and after the real call, for `real` and `io-time`.  All time in
 * between is charged at the end.  Of nested calls only the outermost is
 * measured.  wrapped_leave also counts a system call, if wrapped_counts_calls.
 * Both preserve errno.
 */
void wrapped_enter(struct wrapped_call *call, const void *function,
    enum wrapped_kind kind);
void wrapped_leave(struct wrapped_call *call);

/* As wrapped_leave, for a call that turned out not to enter the kernel. */
void wrapped_leave_uncounted(struct wrapped_call *call);

/*
 * Whether the wrappers count `syscalls`.  If so, each wrapper of a call that
 * enters the kernel counts it, by wrapped_leave or by wrapped_count_call.
 */
bool wrapped_counts_calls(void);
void wrapped_count_call(const void *function);

/* Nanoseconds in the call so far; 0 if it is within another. */
uint64_t wrapped_elapsed(const struct wrapped_call *call);

/*
 * To be called when the calling thread ends.  If it was cancelled in a call,
 * the call is charged up to now.
 */
void wrapped_end_thread(struct thread *thread);

/* ---- current.c ---- */

/*
 * The measured call that the calling thread is in, seen from a function with
 * that frame address; NULL: none, also if a handler has left it by a jump.
 */
struct wrapped_call *current_call(const void *frame);

/* Whether it is in one that is further out than the caller. */
bool current_is_inside(void);

/* The thread is in the call from now on; it is in none. */
void current_begin(struct wrapped_call *call);
void current_end(struct wrapped_call *call);

/* ---- wall.c ---- */

/*
 * `real` around a measured call, on its thread: a wrapper begins; the call
 * begins, which returns what of the time before is gathered and not charged; it
 * has ended, and its time is charged.
 */
void wall_enter_wrapper(void);
uint64_t wall_begin_call(uint64_t now_ns);
void wall_end_call(const void *function);

/* All time before has been charged. */
void wall_is_charged(uint64_t now_ns);

/* For the table in lib/collector.c. */
extern const struct resource_source source_wall, source_bytes,
    source_bytes_seen, source_io_time, source_memory,
    source_memory_without_new, source_memory_partly, source_mappings,
    source_live, source_live_without_new, source_live_partly,
    source_live_mappings, source_live_part, source_calls,
    source_no_calls, source_kernel_calls, source_blame,
    source_blame_partly, source_blame_part;

/*
 * Open a group's gate if a resource that it measures is sampled, and close it
 * otherwise.  From the constructor or cpprof_start, after resources were chosen,
 * and again when one has changed its source.  Not from a handler.
 */
RUNS_ONCE void memory_begin(bool is_sampled);
RUNS_ONCE void calls_begin(bool is_sampled);
RUNS_ONCE void kernel_begin(bool is_sampled);
RUNS_ONCE void io_begin(bool is_sampled);
RUNS_ONCE void stdio_begin(bool is_sampled);
RUNS_ONCE void blocking_begin(bool is_sampled);
RUNS_ONCE void locks_begin(bool is_sampled);

/* ---- io.c ---- */

/*
 * Bytes moved by the calling thread, seen by a wrapper or not.
 *
 * Wrappers report the bytes that pass through them.  The kernel counts all
 * bytes that a thread reads and writes (/proc/thread-self/io).  At ticks of CPU
 * time, the difference (bytes moved by calls that are not wrapped) is charged
 * to the stack that the tick finds.  So the sum is right, whoever the caller
 * was.
 *
 * All functions: async-signal-safe, for the calling thread.
 */

/*
 * Returns the bytes in standard output's buffer that will be written at exit.
 * NULL: not known.  Set by stdio.c.
 */
extern uint64_t (*bytes_pending)(void);

/* Whether any resource is sampled that reading and writing spend. */
static inline bool
io_is_wanted(void)
{
	return resource_is_wanted(RESOURCE_BYTES_READ) ||
	    resource_is_wanted(RESOURCE_BYTES_WRITTEN) ||
	    resource_is_wanted(RESOURCE_IO_TIME) ||
	    resource_is_wanted(RESOURCE_REAL) || wrapped_counts_calls();
}

/*
 * The program creates an io_uring: flags the recording, since I/O through the
 * ring is not counted.
 */
void io_note_ring(void);

/*
 * Charges the call's time and bytes, then does what wrapped_leave does.
 * is_in_kernels: the kernel's count includes the bytes, as it does for all but
 * those of the sockets' own calls.  Preserves errno.
 */
void io_leave(struct wrapped_call *call, uint64_t n_read, uint64_t n_written,
    bool is_in_kernels);

/* ---- confine.c ---- */

/*
 * Programs that forbid themselves system calls (seccomp).
 *
 * A program's own filter must not kill it for a system call that a tick makes.
 * So before the kernel gets a filter, it is run on the calls that sampling
 * makes.  If it would do anything else than allow them or make them fail, the
 * recording is completed and sampling ends for good; from then on the collector
 * makes no system calls.  A filter that is installed without a library call is
 * not noticed.
 */

/*
 * To be called before the program calls seccomp(2) on this thread, with the
 * same arguments.  `filter` may be any address.  Not from a handler.
 */
void confine_expect(unsigned long operation, unsigned long flags,
    const void *filter);

/* The same for prctl(PR_SET_SECCOMP, mode, filter). */
void confine_expect_prctl(unsigned long mode, const void *filter);

/* ---- imports.c ---- */

/*
 * In a process into which the library was loaded: puts wrappers in front of
 * functions that start threads and of those that the chosen resources need, in
 * all modules, or takes them away.  The second does it for modules that were
 * loaded since.  Not from a handler.
 */
void imports_wrap(bool is_on);
void imports_wrap_new(void);

#endif
