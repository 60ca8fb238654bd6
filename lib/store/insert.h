/* SPDX-License-Identifier: MIT */
/* insert.h -- the nodes of a stack that the unwinder has walked.
 *
 * All functions: async-signal-safe, on the thread.
 */
#ifndef CPPROF_INSERT_H
#define CPPROF_INSERT_H

#include "lib/base/thread.h"
#include "lib/store/tree.h"

/*
 * Enters the unwinder's new frames into the thread's tree; *leaf becomes the
 * innermost frame's node.  The unwinder remembers no frames without nodes.
 * TREE_BUSY also if there is no frame but of this library.
 */
enum tree_result insert_stack(struct thread *thread, struct node *leaf);

/*
 * Enters one frame more, of a function that the code at *leaf has called, and
 * *leaf becomes its node.
 */
enum tree_result insert_function(struct thread *thread, const void *function,
    struct node *leaf);

/* The node that stands for a stack of which nothing is known. */
enum tree_result insert_partial(struct thread *thread, struct node *node);

#endif
