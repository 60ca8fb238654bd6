/* SPDX-License-Identifier: MIT */
/* phase.h -- the phase of its run that the program says it is in.
 *
 * The whole process is in one phase at a time.  In the file, the phase is the
 * outermost frame of all stacks sampled in it, so a phase that is entered again
 * continues its earlier entry.
 */
#ifndef CPPROF_PHASE_H
#define CPPROF_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/tree.h"

/*
 * Begins the phase `name`; NULL or "": no phase.  Only the first 63 bytes of a
 * name count.  False with errno set if there are too many names.  Not from a
 * handler.
 */
bool phase_set(const char *name);

/*
 * The number of a phase, whether the program ever enters it or not; 0 if there
 * are too many.  Not from a handler.
 */
uint32_t phase_number(const char *name);

/* The current phase; 0: none.  Async-signal-safe. */
uint32_t phase_current(void);

/*
 * Sets a thread's *phase to the current one.  If it was another, returns true,
 * and the nodes that the thread remembers are invalid.  Async-signal-safe.
 */
bool phase_refresh(uint32_t *phase);

/*
 * The node of a phase in a thread's tree; of phase 0, TREE_ROOT.
 * Async-signal-safe, on the tree's thread.
 */
enum store_result phase_node(struct tree *tree, uint32_t phase,
    struct node *node);

#endif
