/* SPDX-License-Identifier: MIT */
/* phase.h -- the part of its run that the program says it is in.
 *
 * There is one at a time, of the whole process.  In the file it is the
 * outermost frame of all stacks that are sampled in it, so a phase that is
 * entered again goes on where it was.
 */
#ifndef CPPROF_PHASE_H
#define CPPROF_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/tree.h"

/*
 * Begins the phase of that name, NULL: none.  A name is cut after 63 bytes.
 * False with errno set when there are too many names.  Not from a handler.
 */
bool phase_set(const char *name);

/*
 * The number of a phase that the program may never be in; 0 when there are too
 * many.  Not from a handler.
 */
uint32_t phase_number(const char *name);

/* The current phase; 0: none.  Async-signal-safe. */
uint32_t phase_current(void);

/*
 * Brings a thread's *phase up to the current one; true if it was another, and
 * then the nodes that the thread remembers are void.  Async-signal-safe.
 */
bool phase_refresh(uint32_t *phase);

/*
 * The node of a phase in a thread's tree; of phase 0, which is none, the
 * *node that stands for no parent.  Async-signal-safe, on the tree's thread.
 */
enum tree_result phase_node(struct tree *tree, uint32_t phase,
    struct node *node);

#endif
