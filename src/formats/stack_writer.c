/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_writer.c -- stacks that are parsed go into a tree, by batches.
 *
 * The stack that was entered last is kept as nodes, for the next one to
 * continue.  Along it the labels of all children are known of each frame that
 * was entered there, so that new ones are entered without a look at the tree.
 * If stacks that begin alike come together, as in sorted input, nothing else is
 * ever needed, and the tree makes no table of its nodes.
 */
#include "src/formats/reader.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/worker.h"
#include "src/formats/source.h"

enum { WORTH_A_WORKER = 10000 };	/* labels in a batch */

/* What is known of the children of a frame. */
struct writer_children {
	uint32_t n;		/* N_UNKNOWN: there may be others */
	uint32_t last;		/* the one of the last stack; NO_LABEL: none */
};

#define N_UNKNOWN UINT32_MAX

/* The labels of a frame's children, if it has several. */
struct writer_label_set {
	uint32_t few[8];	/* up to so many; then in a hash table: */
	uint32_t *slots;	/* label + 1; 0: empty; at least half are */
	unsigned bits;
};

enum { FEW = sizeof((struct writer_label_set *)0)->few / sizeof(uint32_t),
       FIRST_BITS = 6, KEPT_BITS = 9 };

struct stack_writer {
	const struct source *source;
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
	struct writer_children *children;	/* [i] of nodes[i - 1] */
	struct writer_label_set **sets;	/* likewise; NULL while one child is
					 * the most that there is */
	size_t path_capacity;	/* of these three */
	uint32_t *innermost;	/* of each stack of the batch */
	size_t innermost_capacity;
};

struct stack_writer *
stack_writer_new(const struct source *source, enum stack_positions positions,
                 uint32_t n_resources, struct error *error)
{
	struct stack_writer *writer = memory_array(1, sizeof *writer, error);

	if (writer == NULL)
		return NULL;
	writer->source = source;
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
	for (size_t i = 0; i < writer->path_capacity; i++)
		if (writer->sets[i] != NULL) {
			free(writer->sets[i]->slots);
			free(writer->sets[i]);
		}
	free(writer->sets);
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

/* Sets an error at a stack of the batch; -1. */
static int
stack_writer_fail_at(struct stack_writer *writer, size_t stack,
                     const char *what)
{
	return error_set(&writer->error, writer->positions == STACK_LINES ?
	    "%s:%llu: %s" : "%s: 0x%llx: %s",
	    source_name(writer->source),
	    (unsigned long long)writer->entering->stacks[stack].position,
	    what);
}

static int
stack_writer_add_counts(struct stack_writer *writer, size_t stack)
{
	const struct stack_batch *batch = writer->entering;
	const uint64_t *counts = batch->counts + stack * writer->n_resources;
	uint32_t node = writer->innermost[stack];
	const struct parsed_stack *parsed = &batch->stacks[stack];

	for (uint32_t r = 0; r < writer->n_resources; r++) {
		uint64_t n_samples = parsed->n_samples > 0 ?
		    parsed->n_samples : counts[r];
		struct error sum;

		/* Its text need not be zeroed. */
		sum.is_set = sum.is_out_of_memory = false;
		if (counts[r] == 0)
			continue;
		if (tree_builder_add(writer->builder, node, r, counts[r],
		                     n_samples, &sum) != 0 ||
		    (parsed->has_time &&
		     tree_builder_add_time(writer->builder, node, r,
		                           parsed->time_ns, 0, counts[r],
		                           n_samples, &sum) != 0))
			return sum.is_out_of_memory ?
			    error_pass(&writer->error, &sum) :
			    stack_writer_fail_at(writer, stack, sum.text);
	}
	return 0;
}

static int
grow_path(struct stack_writer *writer, size_t needed)
{
	const size_t old = writer->path_capacity;
	size_t nodes = old, children = old, sets = old;
	struct error *error = &writer->error;

	if (memory_grow(&writer->nodes, &nodes, needed,
	                sizeof *writer->nodes, error) != 0 ||
	    memory_grow(&writer->children, &children, needed,
	                sizeof *writer->children, error) != 0 ||
	    memory_grow(&writer->sets, &sets, needed, sizeof *writer->sets,
	                error) != 0)
		return -1;
	writer->path_capacity = nodes;
	memset(writer->sets + old, 0, (nodes - old) * sizeof *writer->sets);
	if (old == 0)
		writer->children[0] = (struct writer_children){
			stack_writer_has_stacks(writer) ? N_UNKNOWN : 0,
			NO_LABEL,
		};
	return 0;
}

/* ---- sets of labels ---- */

/* The slot that has the label, or the empty one where it belongs. */
static uint32_t *
stack_writer_find_slot(const struct writer_label_set *set, uint32_t label)
{
	const uint32_t mask = ((uint32_t)1 << set->bits) - 1;
	uint32_t i = label * 0x9e3779b1 >> (32 - set->bits);

	while (set->slots[i] != 0 && set->slots[i] != label + 1)
		i = (i + 1) & mask;
	return &set->slots[i];
}

static int
make_slots(struct writer_label_set *set, unsigned bits, struct error *error)
{
	uint32_t *slots = memory_array((size_t)1 << bits, sizeof *slots,
	                               error);

	if (slots == NULL)
		return -1;
	set->slots = slots;
	set->bits = bits;
	return 0;
}

static int
double_table(struct writer_label_set *set, struct error *error)
{
	struct writer_label_set old = *set;

	if (make_slots(set, old.bits + 1, error) != 0)
		return -1;
	for (size_t i = 0; i < (size_t)1 << old.bits; i++)
		if (old.slots[i] != 0)
			*stack_writer_find_slot(set,
			                        old.slots[i] -
			                            1) = old.slots[i];
	free(old.slots);
	return 0;
}

/* Adds a label to a set of n.  1: added, 0: it is there already, -1: failed. */
static int
stack_writer_add_label(struct writer_label_set *set, uint32_t n, uint32_t label,
                       struct error *error)
{
	uint32_t *slot;

	if (n <= FEW)
		for (uint32_t i = 0; i < n; i++)
			if (set->few[i] == label)
				return 0;
	if (n < FEW) {
		set->few[n] = label;
		return 1;
	}
	if (n == FEW) {
		/* They move to the table; a small one is used again. */
		if (set->slots != NULL && set->bits <= KEPT_BITS) {
			memset(set->slots, 0, sizeof *set->slots << set->bits);
		} else {
			free(set->slots);
			set->slots = NULL;
			if (make_slots(set, FIRST_BITS, error) != 0)
				return -1;
		}
		for (size_t i = 0; i < FEW; i++)
			*stack_writer_find_slot(set,
			                        set->few[i]) = set->few[i] + 1;
	}
	slot = stack_writer_find_slot(set, label);
	if (*slot != 0)
		return 0;
	*slot = label + 1;
	return n < (size_t)1 << set->bits >> 1 ||
	       double_table(set, error) == 0 ? 1 : -1;
}

/*
 * Makes the label the last of these children, which it is not so far.  1: it
 * is a new one, 0: perhaps not; -1: failed.
 */
static int
stack_writer_add_child(struct writer_children *children,
                       struct writer_label_set **sets, uint32_t label,
                       struct error *error)
{
	const uint32_t last = children->last;
	struct writer_label_set *set = *sets;
	int is_new;

	children->last = label;
	if (children->n == N_UNKNOWN)
		return 0;
	/* A single child is not in the set yet. */
	if (children->n == 1 && set == NULL) {
		set = *sets = memory_array(1, sizeof *set, error);
		if (set == NULL)
			return -1;
	}
	if (children->n == 1)
		set->few[0] = last;
	is_new = children->n == 0 ? 1 :
	         stack_writer_add_label(set, children->n, label, error);
	children->n += is_new > 0;
	return is_new;
}

/* ---- stacks ---- */

/*
 * Enters the n labels of a stack that continues the one before; its node, or
 * NO_NODE if that failed.
 */
static uint32_t
continue_stack(struct stack_writer *writer, uint32_t at,
               const uint32_t *labels, uint32_t n)
{
	uint32_t first_new = tree_builder_count(writer->builder);
	uint32_t parent, *nodes;
	struct writer_children *children;
	int is_new;

	if ((size_t)at + n >= writer->path_capacity &&
	    grow_path(writer, (size_t)at + n + 1) != 0)
		return NO_NODE;
	/* It may share more. */
	for (; n > 0 && writer->children[at].last == *labels; labels++, n--)
		at++;
	nodes = writer->nodes + at;
	children = writer->children + at;
	parent = at > 0 ? nodes[-1] : NO_NODE;
	if (n == 0)
		return parent;
	is_new = stack_writer_add_child(children, &writer->sets[at], *labels,
	                                &writer->error);
	if (is_new < 0 || (is_new > 0 ?
	    tree_builder_append(writer->builder, parent, labels, n, nodes,
	                        &writer->error) :
	    tree_builder_chain(writer->builder, parent, labels, n, nodes,
	                       &writer->error)) != 0)
		return NO_NODE;
	/* What is known of the children of what has been entered. */
	for (uint32_t i = 1; i < n; i++)
		children[i] = (struct writer_children){
			nodes[i - 1] >= first_new ? 1 : N_UNKNOWN, labels[i],
		};
	children[n] = (struct writer_children){
		nodes[n - 1] >= first_new ? 0 : N_UNKNOWN, NO_LABEL,
	};
	return nodes[n - 1];
}

static int
enter_continued(struct stack_writer *writer)
{
	const struct stack_batch *batch = writer->entering;
	const uint32_t *labels = batch->labels;

	for (size_t i = 0; i < batch->n_stacks; i++) {
		uint32_t n = batch->lengths[i];

		writer->innermost[i] = continue_stack(writer,
		    batch->stacks[i].n_shared, labels, n);
		if (writer->innermost[i] == NO_NODE)
			return -1;
		labels += n;
	}
	return 0;
}

static int
enter_scattered(struct stack_writer *writer)
{
	const struct stack_batch *batch = writer->entering;

	if (writer->path_capacity > 0)
		writer->children[0] = (struct writer_children){ N_UNKNOWN,
			                                        NO_LABEL };
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
		result = stack_writer_add_counts(writer, i);
	if (result == 0 &&
	    tree_builder_count(writer->builder) > batch->most_nodes)
		stack_writer_fail_at(
		    writer, batch->n_stacks - 1,
		    "too many call paths, " SOURCE_UNPACK_FIRST);
	tree_builder_order(writer->builder);
}

/* ---- what the reader sees ---- */

int
stack_writer_wait(struct stack_writer *writer, struct error *error)
{
	worker_wait(writer->worker);
	if (writer->error.is_set)
		return error_pass(error, &writer->error);
	return 0;
}

/* Whether no stack of the batch alone is too much; 0 or -1. */
static int
check_lengths(struct stack_writer *writer)
{
	const struct stack_batch *batch = writer->entering;

	for (size_t i = 0; batch->n_labels > batch->most_nodes &&
	     i < batch->n_stacks; i++)
		if (batch->lengths[i] > batch->most_nodes)
			return stack_writer_fail_at(
			    writer, i,
			    "a stack of too many frames, " SOURCE_UNPACK_FIRST);
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
	batch->most_nodes = source_most_nodes(writer->source);
	writer->entering = batch;
	if (check_lengths(writer) != 0)
		return error_pass(error, &writer->error);
	writer->filling ^= 1;
	next = stack_writer_batch(writer);
	next->n_stacks = next->n_labels = 0;
	next->n_frames = next->n_shared_frames = 0;
	next->is_scattered = batch->n_shared_frames < batch->n_frames / 2;
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
