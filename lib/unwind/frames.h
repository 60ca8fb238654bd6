/* SPDX-License-Identifier: MIT */
/* frames.h -- memory for walked frames, and how they become the stack.
 *
 * Part of lib/unwind/unwind.c.  All functions: async-signal-safe, on the
 * unwinder's thread.
 */
#ifndef CPPROF_FRAMES_H
#define CPPROF_FRAMES_H

#include "lib/unwind/unwinder.h"

/*
 * Makes room for n frames of the present walk, which may move.  False: no
 * memory, and nothing has changed.
 */
bool frames_reserve(struct frames *fresh, size_t n);

void frames_free(struct frames *frames);

/* Forgets all but the n outermost frames. */
void frames_remember(struct unwinder *unwinder, size_t n);

/*
 * Makes the unwinder's stack from its n_kept remembered frames and the walked
 * frames, outermost first.  If there is no memory for all, keeps only the
 * innermost and sets `end` to UNWIND_TOO_DEEP.
 */
void frames_join(struct unwinder *unwinder);

#endif
