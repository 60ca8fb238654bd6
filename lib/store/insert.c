/* SPDX-License-Identifier: MIT */
/* insert.c -- from frames to nodes, in batches.
 *
 * Between two samples the program has filled the caches with its own data, and
 * the nodes of a deep stack are scattered.  So the places of several frames are
 * looked up first, from which the addresses of their nodes follow.  The nodes
 * are prefetched together and then visited one after the other.
 *
 * The frames of an interpreter (lib/python/python.h) stand below the native
 * frame of its evaluation loop that runs them.  All native frames of the loop
 * have one place, since the Python frames tell more than the loop's addresses.
 */
#include "lib/store/tree.h"

#include "lib/base/arch.h"
#include "lib/base/process.h"
#include "lib/java/java-frames.h"
#include "lib/python/python.h"
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

/* The node that was remembered for a frame. */
static struct node
remembered_node(const struct frame_node *at)
{
	return (struct node){ .number = at->number, .path = at->path,
	    .twin = tree_node_of_returns(at->returns) };
}

static void
remember_node(struct frame_node *at, const struct node *node)
{
	at->number = node->number;
	at->path = node->path;
	at->returns = node->twin != NULL ? &node->twin->returns : NULL;
}

/*
 * A wrapper calls the function that it wraps through a pointer.  What it calls
 * directly, such as reading the clock, is its own work and not the program's:
 * those frames are hidden.  The frames of a signal handler are the program's
 * again.
 */
static void
mark_helpers(struct readable *readable, struct walked_frame *frames,
    size_t from, size_t n)
{
	uintptr_t called_at;
	size_t i;

	for (i = from > 0 ? from : 1; i < n; i++) {
		const struct walked_frame *caller = &frames[i - 1];

		called_at = (uintptr_t)caller->address + 1;
		if (is_hidden(caller) && (caller->flags & FRAME_EXACT) == 0 &&
		    ((caller->flags & FRAME_HELPER) != 0 || arch_call_target(
		    (const unsigned char *)called_at, readable_before(readable,
		    called_at, ARCH_CALLING_SIZE)) != 0))
			frames[i].flags |= FRAME_HELPER;
	}
}

/*
 * Signals wait until a fork has ended, so that samples of all of it come in our
 * handlers of forks.  They are fork's own, not those of what calls its handlers.
 */
static size_t
caller_of_handlers(const struct walked_frame *frames, size_t from, size_t n)
{
	size_t i = n;

	while (i > from && insert_is_own(frames[i - 1].address))
		i--;
	return i > from && i > 1 && i < n ? i - 1 : SIZE_MAX;
}

/* Where the insertion of a stack has got to. */
struct insertion {
	struct thread *thread;
	struct walked_frame *native;
	size_t n_native, at;	/* native frames before `at` have nodes */
	struct python_frame *python;
	size_t n_python;	/* 0: there are none */
	size_t python_at;	/* Python frames before this one have nodes */
	size_t python_kept;	/* those before this one had nodes that may
				   still be right */
	struct node *leaf;
	size_t hidden;		/* one more native frame, of this stack only;
				   SIZE_MAX: none */
};

/* Frames whose places were found, and which get nodes together. */
struct insert_batch {
	size_t n;
	struct tree_place places[AT_ONCE];
	uint32_t paths[AT_ONCE];
	struct frame_node *frames[AT_ONCE];
	bool is_hidden[AT_ONCE];
};

/* Whether the next frame is a Python frame of the last native one. */
static bool
is_python_next(const struct insertion *insertion, size_t at, size_t python_at)
{
	return python_at < insertion->n_python && at > 0 &&
	    insertion->python[python_at].native == at - 1;
}

/* Whether the last frame that has a node is a Python frame. */
static bool
is_python_last(const struct insertion *insertion)
{
	return insertion->python_at > 0 && insertion->at > 0 &&
	    insertion->python[insertion->python_at - 1].native ==
	    insertion->at - 1;
}

/* Whether a native frame is an interpreter's loop. */
static bool
insert_is_loop(const struct insertion *insertion, size_t at, size_t python_at)
{
	const struct walked_frame *frame = &insertion->native[at];

	return is_python_next(insertion, at + 1, python_at) ||
	    (insertion->thread->python->n_counted > at &&
	    frame->loops != (at > 0 ? frame[-1].loops : 0));
}

/*
 * Finds the places of the next frames.  Ends with a native frame that has
 * Python frames whose nodes may still be right, because that depends on its
 * node.
 */
static enum store_result
fill_batch(const struct insertion *insertion, struct insert_batch *batch)
{
	size_t at = insertion->at, python_at = insertion->python_at;
	uint32_t path = insertion->leaf->path;
	enum store_result result = STORE_OK;

	for (batch->n = 0; batch->n < AT_ONCE; batch->n++) {
		struct tree_place *place = &batch->places[batch->n];
		struct python_frame *python = &insertion->python[python_at];
		struct walked_frame *native = &insertion->native[at];

		batch->is_hidden[batch->n] = false;
		if (is_python_next(insertion, at, python_at)) {
			if (python_at >= insertion->python_kept)
				result = functions_find(insertion->thread,
				    python);
			place->module = CPPROFDATA_INTERPRETED;
			place->offset = (uint64_t)python->function << 32 |
			    python->offset;
			batch->frames[batch->n] = &python->at;
			python_at++;
		} else if (at < insertion->n_native) {
			batch->is_hidden[batch->n] = is_hidden(native) ||
			    at == insertion->hidden;
			java_find_method(insertion->thread->unwinder, native);
			if (!batch->is_hidden[batch->n])
				result = modules_find(
				    &insertion->thread->file->modules,
				    insert_is_loop(insertion, at, python_at) ?
				    python_loop() : native->method != 0 ?
				    native->method : native->address,
				    &place->module, &place->offset);
			batch->frames[batch->n] = &native->at;
			at++;
		} else {
			break;
		}
		if (result != STORE_OK)
			break;
		if (!batch->is_hidden[batch->n])
			path = tree_path_hash(path, place);
		batch->paths[batch->n] = path;
		if (is_python_next(insertion, at, python_at) &&
		    batch->frames[batch->n] == &native->at &&
		    python_at < insertion->python_kept) {
			batch->n++;
			break;
		}
	}
	return result;
}

/* Passes over the Python frames whose nodes are still right. */
static void
skip_kept(struct insertion *insertion)
{
	const size_t first = insertion->python_at;
	struct python_frame *python = insertion->python;

	if (!is_python_next(insertion, insertion->at, first))
		return;
	if (first < insertion->python_kept &&
	    python[first].parent == insertion->leaf->number) {
		while (insertion->python_at < insertion->python_kept &&
		    is_python_next(insertion, insertion->at,
		    insertion->python_at))
			insertion->python_at++;
		*insertion->leaf = remembered_node(
		    &python[insertion->python_at - 1].at);
	}
	python[first].parent = insertion->leaf->number;
}

/* Gives the frames of a batch their nodes. */
static enum store_result
insert_frames(struct insertion *insertion, const struct insert_batch *batch)
{
	struct tree *tree = &insertion->thread->file->tree;
	struct node *leaf = insertion->leaf;
	enum store_result result = STORE_OK;
	size_t i;

	if (!leaf->is_new)
		tree_prefetch(tree, batch->paths, batch->n);
	for (i = 0; i < batch->n; i++) {
		const bool is_python = is_python_next(insertion,
		    insertion->at, insertion->python_at);

		if (!batch->is_hidden[i])
			result = tree_child(tree, leaf, &batch->places[i],
			    leaf);
		if (result != STORE_OK)
			break;
		remember_node(batch->frames[i], leaf);
		if (is_python)
			insertion->python_at++;
		else
			insertion->at++;
		if (!is_python)
			skip_kept(insertion);
	}
	return result;
}

/*
 * Places the Python frames, and finds out which frames have nodes already:
 * native ones up to the first whose Python frames have changed.
 */
static enum store_result
insert_begin(struct insertion *insertion)
{
	struct thread *thread = insertion->thread;
	struct unwinder *unwinder = thread->unwinder;
	struct python *python = thread->python;
	struct tree *tree = &thread->file->tree;
	enum python_result found;
	size_t innermost, at;

	unwinder->n_kept = java_n_kept(unwinder);
	if (python->owner != tree->owner)
		python_forget(python);
	python->owner = tree->owner;
	/* It may take frames away that are not of this stack. */
	found = python_walk(python, unwinder, thread->tid, &innermost);
	insertion->native = unwinder->stack.frames;
	insertion->n_native = unwinder->stack.n;
	at = unwinder->n_kept;
	switch (found) {
	case PYTHON_BUSY:
		insertion->at = at;
		return STORE_UNSAFE;
	case PYTHON_UNKNOWN:
		/* What is further out than the innermost loop is not known. */
		insertion->at = innermost;
		unwinder->end = UNWIND_NO_PYTHON;
		return insert_partial(thread, insertion->leaf);
	case PYTHON_NONE:
		if (python_is_unsupported(unwinder))
			datafile_flag(CPPROFDATA_UNKNOWN_PYTHON);
		break;
	case PYTHON_FOUND:
		insertion->python = python->stack.frames;
		insertion->n_python = python->stack.n;
		insertion->python_kept = python->n_kept;
		if (at > python->changed)
			at = python->changed;
		while (insertion->python_at < insertion->n_python &&
		    insertion->python[insertion->python_at].native < at)
			insertion->python_at++;
		break;
	}
	insertion->at = at;
	if (is_python_last(insertion))
		*insertion->leaf = remembered_node(
		    &insertion->python[insertion->python_at - 1].at);
	else if (at > 0)
		*insertion->leaf = remembered_node(
		    &insertion->native[at - 1].at);
	else if (unwinder->end == UNWIND_COMPLETE)
		return phase_node(tree, thread->file->phase, insertion->leaf);
	else
		return insert_partial(thread, insertion->leaf);
	return STORE_OK;
}

enum store_result
insert_stack(struct thread *thread, struct node *leaf)
{
	struct unwinder *unwinder = thread->unwinder;
	struct insertion insertion = {
		.thread = thread,
		.leaf = leaf,
		.hidden = SIZE_MAX,
	};
	enum store_result result = insert_begin(&insertion), filled;
	struct insert_batch batch;
	size_t n_kept;

	mark_helpers(&unwinder->readable, insertion.native, insertion.at,
	    insertion.n_native);
	if (thread_is_in_fork)
		insertion.hidden = caller_of_handlers(insertion.native,
		    insertion.at, insertion.n_native);
	while (result == STORE_OK && (insertion.at < insertion.n_native ||
	    insertion.python_at < insertion.n_python)) {
		filled = fill_batch(&insertion, &batch);
		result = insert_frames(&insertion, &batch);
		if (result == STORE_OK)
			result = filled;
	}
	/* Other handlers of the fork, which are called next, are not hidden. */
	n_kept = unwinder->end == UNWIND_NO_PYTHON ? 0 : insertion.at;
	if (n_kept > insertion.hidden)
		n_kept = insertion.hidden;
	unwind_remember(unwinder, n_kept);
	thread->python->stack.n = insertion.python_at;
	if (result == STORE_OK && leaf->number == CPPROFDATA_NO_NODE)
		result = STORE_UNSAFE;
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
