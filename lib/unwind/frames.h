/* SPDX-License-Identifier: MIT */
/* frames.h -- memory for walked frames, and how they become the stack.
 *
 * Parts of lib/unwind/unwind.c, under its rules.
 */
#ifndef CPPROF_FRAMES_H
#define CPPROF_FRAMES_H

#include "lib/unwind/unwinder.h"

/*
 * Room for n frames of the present walk, which may move; false: there is no
 * memory, and nothing has changed.
 */
bool frames_reserve(struct frames *fresh, size_t n);

void frames_free(struct frames *frames);

/* Keeps only the n outermost frames as remembered. */
void frames_remember(struct unwinder *unwinder, size_t n);

/*
 * Makes the unwinder's stack of its n_kept remembered frames and the walked
 * ones, outermost first; of them only the innermost, if there is no memory for
 * all.
 */
void frames_join(struct unwinder *unwinder);

#endif
