/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_writer.c -- stacks that are parsed go into a tree, by batches.
 *
 * The stack that was entered last is kept as nodes, for the next one to
 * continue.  Along it something is known of the children of each frame, so that
 * most new ones can be entered without a look: as long as they came in
 * ascending order, one that is above the last is new; and so is, below a frame
 * that is new itself, one whose label is none of those seen.
 */
#include "src/formats/stack_writer.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/worker.h"

enum { WORTH_A_WORKER = 10000 };	/* labels in a batch */

/* What is known of the children of a frame. */
struct children {
	uint64_t seen;		/* a bit for each label's hash; ALL_SEEN: there
				 * may be others */
	bool is_ascending;	/* they came so, as far as the last stack's */
};

#define ALL_SEEN UINT64_MAX

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
	uint32_t *nodes;
	struct children *children;	/* [i] of nodes[i - 1] */
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
	free(writer->children);
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
	const struct parsed_stack *parsed = &batch->stacks[stack];

	for (uint32_t r = 0; r < writer->n_resources; r++) {
		uint64_t n_samples = parsed->n_samples > 0 ?
		    parsed->n_samples : counts[r];
		struct error sum;

		sum.is_set = false;	/* its text need not be zeroed */
		if (counts[r] == 0)
			continue;
		if (tree_builder_add(writer->builder, node, r, counts[r],
		                     n_samples, &sum) != 0 ||
		    (parsed->has_time &&
		     tree_builder_add_time(writer->builder, node, r,
		                           parsed->time_ns, 0, counts[r],
		                           n_samples, &sum) != 0))
			return error_set(&writer->error,
			    writer->positions == STACK_LINES ?
			        "%s:%llu: %s" : "%s: 0x%llx: %s",
			    writer->name, (unsigned long long)
			    parsed->position, sum.text);
	}
	return 0;
}

static int
grow_path(struct stack_writer *writer, size_t needed)
{
	size_t capacity = writer->path_capacity;
	bool is_first;

	if (memory_grow(&writer->nodes, &capacity, needed,
	                sizeof *writer->nodes, &writer->error) != 0)
		return -1;
	capacity = writer->path_capacity;
	is_first = capacity == 0;
	if (memory_grow(&writer->children, &capacity, needed,
	                sizeof *writer->children, &writer->error) != 0)
		return -1;
	writer->path_capacity = capacity;
	if (is_first)
		writer->children[0] = (struct children){
			.seen = stack_writer_has_stacks(writer) ? ALL_SEEN : 0,
		};
	return 0;
}

static uint64_t
label_bit(uint32_t label)
{
	return (uint64_t)1 << (label * 0x9e3779b1 >> 26);
}

/* Whether the frame that has these children lacks one. */
static bool
is_new_child(const struct children *children, bool is_above, uint32_t label)
{
	return (is_above && children->is_ascending) ||
	       (children->seen & label_bit(label)) == 0;
}

/* Of nodes[n] that have been entered with their labels; new: from there on. */
static void
note_children(struct children *children, const uint32_t *nodes,
              const uint32_t *labels, uint32_t n, uint32_t first_new)
{
	for (uint32_t i = 0; i < n; i++) {
		bool is_new = nodes[i] >= first_new;

		children[i + 1].is_ascending = is_new;
		children[i + 1].seen = !is_new ? ALL_SEEN :
		                       i + 1 < n ? label_bit(labels[i + 1]) :
		                       0;
	}
}

/* Enters the n labels of a stack that continues the one before. */
static int
continue_stack(struct stack_writer *writer, const struct parsed_stack *stack,
               const uint32_t *labels, uint32_t n)
{
	uint32_t at = stack->n_shared;
	uint32_t first_new = tree_builder_count(writer->builder);
	uint32_t parent, *nodes;
	struct children *children;
	bool is_new;
	int result;

	if ((size_t)at + n >= writer->path_capacity &&
	    grow_path(writer, (size_t)at + n + 1) != 0)
		return -1;
	nodes = writer->nodes + at;
	children = writer->children + at;
	parent = at > 0 ? nodes[-1] : NO_NODE;
	is_new = is_new_child(children, stack->is_above, labels[0]);
	result = is_new ?
	    tree_builder_append(writer->builder, parent, labels, n, nodes,
	                        &writer->error) :
	    tree_builder_chain(writer->builder, parent, labels, n, nodes,
	                       &writer->error);
	if (result != 0)
		return -1;
	children->is_ascending = stack->is_above && children->is_ascending;
	children->seen |= label_bit(labels[0]);
	note_children(children, nodes, labels, n, first_new);
	return 0;
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

static int
enter_scattered(struct stack_writer *writer)
{
	const struct stack_batch *batch = writer->entering;

	if (writer->path_capacity > 0)
		writer->children[0].seen = ALL_SEEN;
	return tree_builder_stacks(writer->builder, batch->labels,
	                           batch->lengths, batch->n_stacks,
	                           writer->innermost, &writer->error);
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
	result = batch->is_scattered ? enter_scattered(writer) :
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
