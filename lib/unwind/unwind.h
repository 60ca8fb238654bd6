/* SPDX-License-Identifier: MIT */
/* unwind.h -- walks the stack of the sampled thread, new frames only.
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
#ifndef CPPROF_UNWIND_H
#define CPPROF_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/unwind/unwinder.h"

/*
 * Walks the stack from a ucontext_t into unwinder->stack.  The frames from
 * n_kept on are new, and the caller sets their nodes.  Returns false and
 * changes nothing if the trampoline is running on this unwinder.
 */
bool unwind(struct unwinder *unwinder, const void *context);

/* Forgets all but the n outermost frames. */
void unwind_remember(struct unwinder *unwinder, size_t n);

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
	unwinder->stack.n = unwinder->fresh.n = unwinder->n_kept = 0;
	if (unwinder->stack.capacity + unwinder->fresh.capacity >
	    UNWIND_MANY_FRAMES)
		unwind_free(unwinder);
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
void look_ahead(const struct unwinder *unwinder, const void *context);

#endif
