/* SPDX-License-Identifier: MIT */
/* insert.h -- inserts the stack that the unwinder has walked into the tree.
 *
 * All functions: async-signal-safe, on the thread.  They return STORE_OK, or
 * why the stack could not be inserted completely.
 */
#ifndef CPPROF_INSERT_H
#define CPPROF_INSERT_H

#include "lib/base/thread.h"
#include "lib/store/tree.h"

/*
 * Inserts the unwinder's new frames into the thread's tree.  *leaf becomes the
 * node of the innermost frame.  Frames without nodes are dropped from the
 * unwinder's memory.  Returns STORE_BUSY also if all frames belong to this
 * library.
 */
enum store_result insert_stack(struct thread *thread, struct node *leaf);

/*
 * Inserts a frame of a function called by the code at *leaf.  *leaf becomes its
 * node.
 */
enum store_result insert_function(struct thread *thread, const void *function,
    struct node *leaf);

/* The node of stacks of which nothing is known. */
enum store_result insert_partial(struct thread *thread, struct node *node);

#endif
