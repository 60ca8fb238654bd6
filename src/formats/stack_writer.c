/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_writer.c -- stacks that are parsed go into a tree, by batches.
 *
 * The stack that was entered last is kept as nodes, for the next one to
 * continue.  Along it is known how the children of each frame came in: as long
 * as that was in ascending order, one that is above the last is new and can be
 * entered without a look.
 */
#include "src/formats/stack_writer.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/worker.h"

enum { WORTH_A_WORKER = 10000 };	/* labels in a batch */

struct stack_writer {
	const char *name;
	enum stack_positions positions;
	uint32_t n_resources;
	struct worker *worker;	/* NULL: batches are entered at once */
	struct stack_batch batches[2];
	unsigned filling;	/* the batch that is being filled */

	/* The worker's, while it has a batch. */
	struct stack_batch *entering;
	struct tree_builder *builder;
	struct error error;
	/*
	 * is_ascending[i], i <= depth: whether the children of nodes[i - 1]
	 * came in ascending order up to nodes[i].
	 */
	uint32_t *nodes;
	bool *is_ascending;
	size_t path_capacity;	/* of both of these */
	uint32_t *innermost;	/* of each stack of the batch */
	size_t innermost_capacity;
};

struct stack_writer *
stack_writer_new(const char *name, enum stack_positions positions,
                 uint32_t n_resources, struct error *error)
{
	struct stack_writer *writer = memory_array(1, sizeof *writer, error);

	if (writer == NULL)
		return NULL;
	writer->name = name;
	writer->positions = positions;
	writer->n_resources = n_resources;
	writer->builder = tree_builder_new(n_resources, error);
	if (writer->builder == NULL) {
		free(writer);
		return NULL;
	}
	return writer;
}

static void
batch_free(struct stack_batch *batch)
{
	free(batch->stacks);
	free(batch->lengths);
	free(batch->labels);
	free(batch->counts);
}

void
stack_writer_free(struct stack_writer *writer)
{
	if (writer == NULL)
		return;
	worker_free(writer->worker);
	tree_builder_free(writer->builder);
	batch_free(&writer->batches[0]);
	batch_free(&writer->batches[1]);
	free(writer->nodes);
	free(writer->is_ascending);
	free(writer->innermost);
	free(writer);
}

struct stack_batch *
stack_writer_batch(struct stack_writer *writer)
{
	return &writer->batches[writer->filling];
}

int
stack_batch_reserve(struct stack_batch *batch, size_t n_labels,
                    uint32_t n_resources, struct error *error)
{
	size_t n = batch->n_stacks + 1;

	if (n <= batch->stacks_capacity && n <= batch->lengths_capacity &&
	    batch->n_labels + n_labels <= batch->labels_capacity &&
	    n * n_resources <= batch->counts_capacity)
		return 0;
	if (memory_grow(&batch->stacks, &batch->stacks_capacity, n,
	                sizeof *batch->stacks, error) != 0 ||
	    memory_grow(&batch->lengths, &batch->lengths_capacity, n,
	                sizeof *batch->lengths, error) != 0 ||
	    memory_grow(&batch->labels, &batch->labels_capacity,
	                batch->n_labels + n_labels, sizeof *batch->labels,
	                error) != 0 ||
	    memory_grow(&batch->counts, &batch->counts_capacity,
	                n * n_resources, sizeof *batch->counts, error) != 0)
		return -1;
	return 0;
}

/* ---- what the worker does ---- */

static int
add_counts(struct stack_writer *writer, size_t stack)
{
	const struct stack_batch *batch = writer->entering;
	const uint64_t *counts = batch->counts + stack * writer->n_resources;
	uint32_t node = writer->innermost[stack];
	uint32_t n_samples = batch->stacks[stack].n_samples;

	for (uint32_t r = 0; r < writer->n_resources; r++) {
		struct error sum;

		sum.is_set = false;	/* its text need not be zeroed */
		if (counts[r] != 0 &&
		    tree_builder_add(writer->builder, node, r, counts[r],
		                     n_samples > 0 ? n_samples : counts[r],
		                     &sum) != 0)
			return error_set(&writer->error,
			    writer->positions == STACK_LINES ?
			        "%s:%llu: %s" : "%s: 0x%llx: %s",
			    writer->name, (unsigned long long)
			    batch->stacks[stack].position, sum.text);
	}
	return 0;
}

static int
grow_path(struct stack_writer *writer, size_t needed)
{
	size_t capacity = writer->path_capacity;

	if (memory_grow(&writer->nodes, &capacity, needed,
	                sizeof *writer->nodes, &writer->error) != 0)
		return -1;
	capacity = writer->path_capacity;
	if (memory_grow(&writer->is_ascending, &capacity, needed,
	                sizeof *writer->is_ascending, &writer->error) != 0)
		return -1;
	writer->path_capacity = capacity;
	return 0;
}

/* Enters the n labels of a stack that continues the one before. */
static int
continue_stack(struct stack_writer *writer, const struct parsed_stack *stack,
               const uint32_t *labels, uint32_t n)
{
	uint32_t at = stack->n_shared;
	uint32_t first_new = tree_builder_count(writer->builder);
	uint32_t parent, *nodes;
	bool *is_ascending;
	int result;

	if ((size_t)at + n >= writer->path_capacity &&
	    grow_path(writer, (size_t)at + n + 1) != 0)
		return -1;
	nodes = writer->nodes;
	is_ascending = writer->is_ascending;
	parent = at > 0 ? nodes[at - 1] : NO_NODE;
	is_ascending[at] = stack->is_above && is_ascending[at];
	result = is_ascending[at] ?
	    tree_builder_append(writer->builder, parent, labels, n, nodes + at,
	                        &writer->error) :
	    tree_builder_chain(writer->builder, parent, labels, n, nodes + at,
	                       &writer->error);
	for (uint32_t i = at; result == 0 && i < at + n; i++)
		is_ascending[i + 1] = nodes[i] >= first_new;
	return result;
}

static int
enter_continued(struct stack_writer *writer)
{
	const struct stack_batch *batch = writer->entering;
	const uint32_t *labels = batch->labels;

	for (size_t i = 0; i < batch->n_stacks; i++) {
		const struct parsed_stack *stack = &batch->stacks[i];
		uint32_t n = batch->lengths[i];

		if (continue_stack(writer, stack, labels, n) != 0)
			return -1;
		writer->innermost[i] = writer->nodes[stack->n_shared + n - 1];
		labels += n;
	}
	return 0;
}

static void
enter_batch(void *context)
{
	struct stack_writer *writer = context;
	const struct stack_batch *batch = writer->entering;
	int result;

	if (memory_grow(&writer->innermost, &writer->innermost_capacity,
	                batch->n_stacks, sizeof *writer->innermost,
	                &writer->error) != 0)
		return;
	result = batch->is_scattered ?
	    tree_builder_stacks(writer->builder, batch->labels,
	                        batch->lengths, batch->n_stacks,
	                        writer->innermost, &writer->error) :
	    enter_continued(writer);
	for (size_t i = 0; result == 0 && i < batch->n_stacks; i++)
		result = add_counts(writer, i);
	tree_builder_settle(writer->builder);
}

/* ---- what the reader sees ---- */

int
stack_writer_wait(struct stack_writer *writer, struct error *error)
{
	worker_wait(writer->worker);
	if (writer->error.is_set)
		return error_set(error, "%s", writer->error.text);
	return 0;
}

int
stack_writer_enter(struct stack_writer *writer, struct error *error)
{
	struct stack_batch *batch = stack_writer_batch(writer), *next;

	if (batch->n_stacks == 0)
		return 0;
	if (stack_writer_wait(writer, error) != 0)
		return -1;
	writer->filling ^= 1;
	next = stack_writer_batch(writer);
	next->n_stacks = next->n_labels = 0;
	next->n_frames = next->n_shared_frames = 0;
	next->is_scattered = batch->n_shared_frames < batch->n_frames / 2;
	writer->entering = batch;
	if (writer->worker == NULL && batch->n_labels > WORTH_A_WORKER)
		writer->worker = worker_new();
	worker_start(writer->worker, enter_batch, writer);
	return 0;
}

int
stack_writer_add_resource(struct stack_writer *writer, struct error *error)
{
	if (stack_writer_enter(writer, error) != 0 ||
	    stack_writer_wait(writer, error) != 0 ||
	    tree_builder_add_resource(writer->builder, error) != 0)
		return -1;
	writer->n_resources++;
	return 0;
}

bool
stack_writer_has_stacks(const struct stack_writer *writer)
{
	return tree_builder_count(writer->builder) > 0;
}

struct sample_tree *
stack_writer_finish(struct stack_writer *writer, struct error *error)
{
	if (stack_writer_enter(writer, error) != 0 ||
	    stack_writer_wait(writer, error) != 0)
		return NULL;
	return tree_builder_finish(writer->builder, error);
}
