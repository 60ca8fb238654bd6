/* SPDX-License-Identifier: MIT */
/* insert.c -- from frames to nodes, in batches.
 *
 * Between two samples the program has filled the caches with its own data, and
 * the nodes of a deep stack are scattered.  So the places of several frames are
 * looked up first, from which the addresses of their nodes follow.  The nodes
 * are prefetched together and then visited one after the other.
 */
#include "lib/store/tree.h"

#include "lib/base/arch.h"
#include "lib/base/process.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/unwind.h"

#define AT_ONCE 32

/* Frames that are inserted together, with their places and paths. */
struct batch {
	struct walked_frame *frames;
	size_t n;
	struct tree_place places[AT_ONCE];
	uint32_t paths[AT_ONCE];
};

enum store_result
insert_partial(struct thread *thread, struct node *node)
{
	const struct tree_place partial = { .module = CPPROFDATA_PARTIAL };
	enum store_result result;
	struct node phase;

	result = phase_node(&thread->file->tree, thread->file->phase, &phase);
	return result != STORE_OK ? result :
	    tree_child(&thread->file->tree, &phase, &partial, node);
}

/* Frames of this library get no nodes. */
static bool
insert_is_own(uint64_t address)
{
	return address >= process.own_start && address < process.own_end;
}

static bool
is_hidden(const struct walked_frame *frame)
{
	return insert_is_own(frame->address) ||
	    (frame->flags & FRAME_HELPER) != 0;
}

/*
 * A wrapper calls the function that it wraps through a pointer.  What it calls
 * directly, such as reading the clock, is its own work and not the program's:
 * those frames are hidden.  The frames of a signal handler are the program's
 * again.
 */
static void
mark_helpers(const struct frames *stack, size_t from)
{
	size_t i;

	for (i = from > 0 ? from : 1; i < stack->n; i++) {
		const struct walked_frame *caller = &stack->frames[i - 1];

		if (is_hidden(caller) && (caller->flags & FRAME_EXACT) == 0 &&
		    ((caller->flags & FRAME_HELPER) != 0 || arch_call_target(
		    (const unsigned char *)(uintptr_t)caller->address + 1) !=
		    0))
			stack->frames[i].flags |= FRAME_HELPER;
	}
}

/*
 * Looks up the places of at most n frames, as many as fit, starting at `path`.
 */
static enum store_result
fill_batch(struct thread *thread, struct batch *batch, size_t n, uint32_t path)
{
	enum store_result result;

	for (batch->n = 0; batch->n < n && batch->n < AT_ONCE; batch->n++) {
		struct tree_place *place = &batch->places[batch->n];
		const struct walked_frame *frame = &batch->frames[batch->n];

		if (!is_hidden(frame)) {
			result = modules_find(&thread->file->modules,
			    frame->address, &place->module,
			    &place->offset);
			if (result != STORE_OK)
				return result;
			path = tree_path(path, place);
		}
		batch->paths[batch->n] = path;
	}
	return STORE_OK;
}

/* Inserts the frames below *leaf, and adds the number inserted to *n. */
static enum store_result
insert_batch(struct thread *thread, const struct batch *batch,
    struct node *leaf, size_t *n)
{
	enum store_result result;
	size_t i;

	if (!leaf->is_new)
		tree_prefetch(&thread->file->tree, batch->paths, batch->n);
	for (i = 0; i < batch->n; i++, (*n)++) {
		struct walked_frame *frame = &batch->frames[i];

		if (!is_hidden(frame)) {
			result = tree_child(&thread->file->tree, leaf,
			    &batch->places[i], leaf);
			if (result != STORE_OK)
				return result;
		}
		frame->node = leaf->number;
		frame->path = leaf->path;
		frame->returns = leaf->twin != NULL ?
		    &leaf->twin->returns : NULL;
	}
	return STORE_OK;
}

enum store_result
insert_stack(struct thread *thread, struct node *leaf)
{
	struct unwinder *unwinder = thread->unwinder;
	const struct frames *stack = &unwinder->stack;
	enum store_result result = STORE_OK, inserted;
	size_t i = unwinder->n_kept;
	struct batch batch;

	if (i > 0) {
		leaf->number = stack->frames[i - 1].node;
		leaf->path = stack->frames[i - 1].path;
		leaf->twin = (struct tree_node *)stack->frames[i - 1].returns;
		leaf->is_new = false;
	} else if (unwinder->end == UNWIND_COMPLETE) {
		result = phase_node(&thread->file->tree, thread->file->phase,
		    leaf);
	} else {
		result = insert_partial(thread, leaf);
	}
	mark_helpers(stack, i);
	while (i < stack->n && result == STORE_OK) {
		batch.frames = &stack->frames[i];
		result = fill_batch(thread, &batch, stack->n - i, leaf->path);
		inserted = insert_batch(thread, &batch, leaf, &i);
		if (inserted != STORE_OK)
			result = inserted;
	}
	unwind_remember(unwinder, i);
	if (result == STORE_OK && leaf->number == CPPROFDATA_NO_NODE)
		result = STORE_BUSY;
	return result;
}

enum store_result
insert_function(struct thread *thread, const void *function,
    struct node *leaf)
{
	enum store_result result;
	struct tree_place place;

	if (insert_is_own((uintptr_t)function))
		return STORE_OK;
	result = modules_find(&thread->file->modules, (uintptr_t)function,
	    &place.module, &place.offset);
	if (result != STORE_OK)
		return result;
	return tree_child(&thread->file->tree, leaf, &place, leaf);
}
