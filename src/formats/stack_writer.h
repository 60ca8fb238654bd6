/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_writer.h -- stacks that are parsed go into a tree, by batches.
 *
 * While a reader parses one batch, a worker enters the one before.
 */
#ifndef CPPROF_FORMATS_STACK_WRITER_H
#define CPPROF_FORMATS_STACK_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/sample_tree.h"

/*
 * Stacks, for the reader to fill.  Each continues the one before it from frame
 * n_shared on; scattered ones, which share little with their neighbours, are
 * whole, n_shared being 0.  So is the first stack after them.
 */
struct stack_batch {
	struct parsed_stack {
		uint64_t position;	/* line or offset, for errors */
		uint32_t n_shared;
		uint32_t n_samples;	/* raw; 0: each hit is one */
		bool has_time;		/* time_ns is when it was sampled */
		uint64_t time_ns;
	} *stacks;
	uint32_t *lengths;	/* [n_stacks], labels of each, at least 1 */
	uint32_t *labels;	/* one stack's after the other's */
	uint64_t *counts;	/* [n_stacks][n_resources] */
	size_t n_stacks, n_labels;
	size_t stacks_capacity, lengths_capacity, labels_capacity,
	    counts_capacity;
	uint64_t most_nodes;	/* of the tree afterwards, by the writer */
	bool is_scattered;	/* set by the writer */
	size_t n_frames, n_shared_frames;	/* by which it judges */
};

struct source;
struct stack_writer;

/* How errors say where a stack is. */
enum stack_positions { STACK_LINES, STACK_OFFSETS };

/*
 * Freed with stack_writer_free; NULL with *error set.  source: the
 * caller's, by which errors are named and the tree is limited.
 */
struct stack_writer *stack_writer_new(const struct source *source,
                                      enum stack_positions positions,
                                      uint32_t n_resources,
                                      struct error *error);
void stack_writer_free(struct stack_writer *writer);

/* One resource more, the last; enters what is in the batch first; 0 or -1. */
int stack_writer_add_resource(struct stack_writer *writer,
                              struct error *error);

/* The empty batch to be filled next, the writer's. */
struct stack_batch *stack_writer_batch(struct stack_writer *writer);

/* Room for one more stack of up to n_labels; 0, or -1 with *error set. */
int stack_batch_reserve(struct stack_batch *batch, size_t n_labels,
                        uint32_t n_resources, struct error *error);

/*
 * Has the batch entered and makes another one the batch to be filled.  0, or
 * -1 with *error set for want of memory, for a sum over 64 bits or for more
 * nodes than the source may have (source_most_nodes), perhaps of an earlier
 * batch.
 */
int stack_writer_enter(struct stack_writer *writer, struct error *error);

/* Waits until all is entered; 0, or -1 with *error set likewise. */
int stack_writer_wait(struct stack_writer *writer, struct error *error);

/* Whether any stack has been entered; after stack_writer_wait. */
bool stack_writer_has_stacks(const struct stack_writer *writer);

/* The tree, freed with sample_tree_free; NULL with *error set. */
struct sample_tree *stack_writer_finish(struct stack_writer *writer,
                                        struct error *error);

#endif
