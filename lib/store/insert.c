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
#include "lib/unwind/unwinder.h"

#define AT_ONCE 32

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

enum store_result
insert_stack(struct thread *thread, struct node *leaf)
{
	struct tree *tree = &thread->file->tree;
	struct unwinder *unwinder = thread->unwinder;
	struct walked_frame *const frames = unwinder->stack.frames;
	const size_t n_frames = unwinder->stack.n;
	enum store_result result = STORE_OK;
	size_t at = unwinder->n_kept, end, i;
	struct tree_place places[AT_ONCE];
	uint32_t paths[AT_ONCE];

	if (at > 0) {
		leaf->number = frames[at - 1].node;
		leaf->path = frames[at - 1].path;
		leaf->twin = (struct tree_node *)frames[at - 1].returns;
		leaf->is_new = false;
	} else if (unwinder->end == UNWIND_COMPLETE) {
		result = phase_node(tree, thread->file->phase, leaf);
	} else {
		result = insert_partial(thread, leaf);
	}
	/*
	 * A wrapper calls the function that it wraps through a pointer.  What
	 * it calls directly, such as reading the clock, is its own work and not
	 * the program's: those frames are hidden.  The frames of a signal
	 * handler are the program's again.
	 */
	for (i = at > 0 ? at : 1; i < n_frames; i++) {
		const struct walked_frame *caller = &frames[i - 1];

		if (is_hidden(caller) && (caller->flags & FRAME_EXACT) == 0 &&
		    ((caller->flags & FRAME_HELPER) != 0 || arch_call_target(
		    (const unsigned char *)(uintptr_t)caller->address + 1) !=
		    0))
			frames[i].flags |= FRAME_HELPER;
	}
	while (at < n_frames && result == STORE_OK) {
		enum store_result inserted = STORE_OK;
		uint32_t path = leaf->path;

		/* Their places, as far as these are found. */
		for (end = at; end < n_frames && end - at < AT_ONCE; end++) {
			struct tree_place *place = &places[end - at];

			if (!is_hidden(&frames[end])) {
				result = modules_find(&thread->file->modules,
				    frames[end].address, &place->module,
				    &place->offset);
				if (result != STORE_OK)
					break;
				path = tree_path(path, place);
			}
			paths[end - at] = path;
		}
		if (!leaf->is_new)
			tree_prefetch(tree, paths, end - at);
		/* Their nodes. */
		for (i = at; i < end; i++) {
			struct walked_frame *frame = &frames[i];

			if (!is_hidden(frame))
				inserted = tree_child(tree, leaf,
				    &places[i - at], leaf);
			if (inserted != STORE_OK)
				break;
			frame->node = leaf->number;
			frame->path = leaf->path;
			frame->returns = leaf->twin != NULL ?
			    &leaf->twin->returns : NULL;
		}
		at = i;
		if (inserted != STORE_OK)
			result = inserted;
	}
	unwind_remember(unwinder, at);
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
