/* SPDX-License-Identifier: MIT */
/* unwind.h -- the stack of the sampled thread, new frames only.
 *
 * An unwinder belongs to one thread and remembers the stack of its last
 * sample.  A walk goes outwards from the interrupted instruction until it
 * meets a remembered frame (same address, stack and frame pointer).  What
 * lies further out was derived from nothing but return addresses and saved
 * frame pointers in the stack, so if these slots still hold the same words the
 * remembered frames are still the stack, and are kept with the tree nodes
 * they belong to.  So a deep stack costs one comparison a frame, not a walk;
 * and what lies further out than the stack's mark (trampoline.h) costs nothing.
 *
 * All functions: async-signal-safe, on the unwinder's thread.
 */
#ifndef CPPROF_UNWIND_H
#define CPPROF_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/step.h"
#include "lib/base/readable.h"
#include "lib/unwind/trampoline.h"

/* frame.flags */
#define FRAME_EXACT 1u		/* address is the pc, not a return address - 1 */
#define FRAME_UNCHECKED 2u	/* left by a rule that slots alone cannot prove */
#define FRAME_HAS_TABLE 4u	/* and is no signal's */
#define FRAME_IN_CALL 8u	/* by tables, its return address lies right
				   below its caller's sp, and it may be
				   replaced if the frame is not exact */
#define FRAME_UNWINDING 16u	/* some frame from here outwards unwinds, */
#define FRAME_GUESSED 32u	/* or was left by guess */
#define FRAME_BY_FP 64u		/* left by its frame pointer, by tables */
#define FRAME_HELPER 128u	/* the collector called it for itself */

struct tree_node;

struct frame {
	uint64_t address;	/* inside the executing instruction */
	uint64_t sp, fp;	/* in this frame */
	uint64_t fp_slot;	/* where the caller's fp was saved; 0: unsaved */
	uint32_t flags;
	uint32_t node, path;	/* the tree's: number, path to it, */
	struct tree_node *twin;	/* and twin */
};

struct frames {
	struct frame *frames;
	size_t n, capacity;
};

#define UNWIND_MANY_FRAMES 8192	/* half a megabyte */

enum unwind_end {
	UNWIND_COMPLETE,
	UNWIND_NO_RULES,	/* code without tables, and no good guess */
	UNWIND_BAD_RULES,
	UNWIND_BAD_STACK,
	UNWIND_TOO_DEEP		/* no memory */
};

struct unwinder {
	struct frames stack;	/* outermost first */
	size_t n_kept;		/* of them, remembered and still with nodes */
	enum unwind_end end;	/* how the stack's outer end was reached */
	bool guessed;		/* some frame was left by guess */
	size_t n_walked;	/* frames walked for this sample */
	size_t n_compared;	/* remembered frames compared for it */
	struct frames fresh;	/* this walk, innermost first */
	struct trampoline trampoline;
	struct readable readable;
	struct cfi_scratch scratch;
	struct cfi_machine machine;
};

/*
 * Walks the stack from a ucontext_t into unwinder->stack.  The frames from
 * n_kept on are new; the caller sets their nodes.  False, and nothing has
 * changed, when the trampoline is at work on this unwinder.
 */
bool unwind(struct unwinder *unwinder, const void *context);

/* Keeps only the n outermost frames as remembered. */
void unwind_remember(struct unwinder *unwinder, size_t n);

/*
 * Gives the memory back; the unwinder can be used again.  Not while any stack
 * has marks of it.
 */
void unwind_free(struct unwinder *unwinder);

/*
 * In a forked child: nothing is remembered.  Memory is given back if it is
 * much: most children will not walk, and to unmap it costs them more than to
 * have it.
 */
static inline void
unwind_forked(struct unwinder *unwinder)
{
	unwinder->stack.n = unwinder->fresh.n = unwinder->n_kept = 0;
	if (unwinder->stack.capacity + unwinder->fresh.capacity >
	    UNWIND_MANY_FRAMES)
		unwind_free(unwinder);
}

/*
 * To be called after code was unmapped: what was learnt of addresses is void
 * in all threads.  (Each thread's own unwind_remember(.., 0) is its affair.)
 */
void unwind_new_epoch(void);

#endif
