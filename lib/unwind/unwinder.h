/* SPDX-License-Identifier: MIT */
/* unwinder.h -- walks the stack of the sampled thread, new frames only.
 *
 * An unwinder belongs to one thread and remembers the stack of its last sample.
 * A walk goes outwards from the interrupted instruction until it reaches a
 * remembered frame (same address, stack pointer and frame pointer).  The frames
 * further out depend only on return addresses and saved frame pointers in the
 * stack.  If these slots hold the same words as before, the remembered frames
 * are still the stack, and are kept together with their tree nodes.  So a deep
 * stack costs one comparison per frame instead of a walk, and frames outside
 * the stack's mark (trampoline.h) cost nothing.
 *
 * All functions: async-signal-safe, on the unwinder's thread.
 */
#ifndef CPPROF_UNWINDER_H
#define CPPROF_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/step.h"
#include "lib/base/readable.h"

/*
 * What a thread remembers of its stack, which is the part of a thread's state
 * that belongs to lib/unwind.  trampoline.h keeps it up to date between two
 * samples.
 */

/* frame.flags */
#define FRAME_EXACT 1u		/* address is a pc, not a return address - 1 */
#define FRAME_UNCHECKED 2u	/* left by a rule that comparing slots cannot
				   verify */
#define FRAME_HAS_TABLE 4u	/* has a table, and is not a signal's */
#define FRAME_IN_CALL 8u	/* by its tables, its return address lies right
				   below its caller's sp.  May be replaced
				   unless FRAME_EXACT */
#define FRAME_UNWINDING 16u	/* it or one further out is an unwinder's, */
#define FRAME_GUESSED 32u	/* or was left by a guess */
#define FRAME_BY_FP 64u		/* its tables use the frame pointer */
#define FRAME_HELPER 128u	/* called by the collector for itself */

/*
 * How often frames of one node have returned, as the trampoline counts it, and
 * a copy of that in the file.  The first member of the node's structure in
 * lib/store/tree.h.
 */
struct frame_returns {
	uint64_t n;
	uint64_t *copy;
};

/* A frame's tree node: number, path hash, and returns; NULL: no node. */
struct frame_node {
	uint32_t number, path;
	struct frame_returns *returns;
};

struct walked_frame {
	uint64_t address;	/* inside the executing instruction */
	uint64_t sp, fp;	/* in this frame */
	uint64_t fp_slot;	/* where the caller's fp is saved; 0: nowhere */
	uint64_t method;	/* for lib/java: what it runs as an
				   interpreter's frame; 0: none */
	uint32_t flags;
	uint32_t loops;		/* for lib/python: how many frames from the
				   outermost one to this one are an
				   interpreter's evaluation loop */
	struct frame_node at;
};

struct frames {
	struct walked_frame *frames;
	size_t n, capacity;
	bool are_lent;		/* the memory is not to be freed */
};

#define UNWIND_FIRST_FRAMES 512

#define UNWIND_MANY_FRAMES 8192	/* half a megabyte */

enum unwind_end {
	UNWIND_COMPLETE,
	UNWIND_NO_RULES,	/* code without tables, and no good guess */
	UNWIND_BAD_RULES,
	UNWIND_BAD_STACK,
	UNWIND_TOO_DEEP,	/* no memory */
	UNWIND_NO_PYTHON	/* its interpreted frames could not be placed */
};

/* An unwinder's mark. */
struct trampoline {
	uint64_t cfa;	/* right above the marked slot; 0: no mark */
	size_t index;	/* the frame whose return address is replaced */
	size_t stride;	/* how many frames further out the next mark is set */
	uint32_t generation;	/* of the stack */
	_Atomic bool is_running;	/* the thread is moving it */
};

/*
 * Marks of calls whose ends are to be known exactly.  A call mark stays where it
 * is until the call is left.
 */
#define UNWIND_CALLS 4

enum call_mark_state {
	CALL_UNMARKED,
	CALL_MARKED,
	CALL_RETURNED,		/* at end_ns */
	CALL_UNKNOWN		/* the mark was taken back, so its end is not
				   known */
};

struct call_mark {
	uint64_t cfa;		/* right above the slot */
	uint64_t end_ns;	/* CLOCK_MONOTONIC, and then on the thread's */
	uint64_t end_cpu_ns;	/* CPU clock */
	volatile uint32_t state;
};

struct unwinder {
	struct frames stack;	/* outermost first */
	size_t n_kept;		/* remembered ones, which have nodes */
	size_t n_same;		/* for lib/run/open-calls.c: those that are
				   still as they were when it set this to
				   `stack.n` */
	enum unwind_end end;	/* why the walk ended */
	bool guessed;		/* some frame was left by a guess */
	size_t n_walked;	/* frames walked for this sample */
	size_t n_compared;	/* remembered frames compared for it */
	struct frames fresh;	/* of this walk, innermost first */
	struct trampoline trampoline;
	struct call_mark calls[UNWIND_CALLS];
	struct readable readable;
	struct cfi_scratch scratch;
	struct cfi_machine machine;
};

/*
 * Walks the stack from a ucontext_t into unwinder->stack.  The frames from
 * n_kept on are new, and the caller sets their nodes.  Returns false and
 * changes nothing if the trampoline is running on this unwinder.
 */
bool unwind(struct unwinder *unwinder, const void *context);

/* Forgets all but the n outermost frames. */
void unwind_remember(struct unwinder *unwinder, size_t n);

/*
 * The n outermost frames do not belong to the stack, which is whole without them.
 * The other ones have no nodes then.  False: not now, as there is a mark.
 */
bool unwind_cut(struct unwinder *unwinder, size_t n);

/*
 * Lends the unwinder that memory for its first frames.  (Without it, it maps
 * some.)
 */
static inline void
unwind_lend(struct unwinder *unwinder,
    struct walked_frame frames[2][UNWIND_FIRST_FRAMES])
{
	unwinder->stack = (struct frames){ .frames = frames[0],
		.capacity = UNWIND_FIRST_FRAMES, .are_lent = true };
	unwinder->fresh = (struct frames){ .frames = frames[1],
		.capacity = UNWIND_FIRST_FRAMES, .are_lent = true };
}

/*
 * Frees the memory; the unwinder can be used again.  Not while a stack contains
 * its marks.
 */
void unwind_free(struct unwinder *unwinder);

/*
 * To be called in a forked child: forgets all frames.  Frees the memory only if
 * it is large, because most children do not walk stacks, and unmapping it costs
 * them more than keeping it.
 */
static inline void
unwind_forked(struct unwinder *unwinder)
{
	unwinder->stack.n = unwinder->fresh.n = unwinder->n_kept =
	    unwinder->n_same = 0;
	if (unwinder->stack.capacity + unwinder->fresh.capacity >
	    UNWIND_MANY_FRAMES)
		unwind_free(unwinder);
}

/*
 * Forgets the nodes of all frames, whose memory is to be unmapped when the
 * thread is not in the handler and moves no mark (trampoline_runs).  What it
 * returns to then counts no more.
 */
static inline void
unwind_forget_nodes(struct unwinder *unwinder)
{
	size_t i;

	for (i = 0; i < unwinder->stack.n; i++)
		__atomic_store_n(&unwinder->stack.frames[i].at.returns, NULL,
		    __ATOMIC_RELAXED);
}

/*
 * To be called after code was unmapped: invalidates what all threads have
 * cached of addresses.  The remembered frames of each thread are its own
 * concern (unwind_remember).
 */
void unwind_new_epoch(void);

/*
 * Prefetches the rules that a walk from a ucontext_t will need one after the
 * other, all at once: those of words on the stack that look like return
 * addresses because they are close to code that runs.  Useful if the program
 * has filled the caches with its own data since the last sample.
 * Async-signal-safe, on the unwinder's thread.
 */
void unwind_prefetch(const struct unwinder *unwinder, const void *context);

#endif
