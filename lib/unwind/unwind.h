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

#include "lib/unwind/frames.h"
#include "lib/unwind/unwinder.h"

/*
 * Walks the stack from a ucontext_t into unwinder->stack.  The frames from
 * n_kept on are new; the caller sets their nodes.  False, and nothing has
 * changed, when the trampoline is at work on this unwinder.
 */
bool unwind(struct unwinder *unwinder, const void *context);

/* Keeps only the n outermost frames as remembered. */
static inline void
unwind_remember(struct unwinder *unwinder, size_t n)
{
	frames_remember(unwinder, n);
}

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
