/* SPDX-License-Identifier: MIT */
/* walk.h -- the walk along CPython's list of frames, and its place on the stack.
 *
 * CPython 3.11 and later run many Python frames in one native frame, that of
 * the evaluation loop, and keep them in a list of their own.  The list and the
 * native stack are put together by addresses, never by guess: in each native
 * frame of the loop lies a structure, the anchor, that the list names, and the
 * Python frames of that native frame are those up to the anchor.  In 3.11 this
 * is the loop's _PyCFrame, from 3.12 on its entry frame.
 *
 *	native stack			the thread's list, innermost first
 *	  loop	[ anchor B ]	<--	g, f, entry frame B
 *	  sort
 *	  loop	[ anchor A ]	<--	main, <module>, entry frame A
 *	  main
 *
 * If the two do not fit together, the Python frames are unknown.
 *
 * greenlet, the library below gevent and eventlet, has many stacks of C at one
 * place: it copies the one that is left to the heap, and the one that is entered
 * back.  Each has a list of its own.  The list begins in the loop that greenlet
 * has called, and the stack there, too.  What is further out belongs to another
 * greenlet, and may have changed since this one began:
 *
 *	native stack			the thread's list, innermost first
 *	  loop	[ anchor C ]	<--	work, entry frame C
 *	  greenlet's function		(the list ends)
 *	  greenlet.switch		not of this stack
 *	  loop	[ anchor A ]
 *	  main
 *
 * This is code of two files: that of the collector, which reads its own memory,
 * and that of the sampler outside, which reads another process's.  Each includes
 * this header once, as objects.h says, with these members of its types, too; the
 * functions that are declared below are its own: each file defines them.
 *
 *	struct python_reading	state, whose list is read; n_placed, innermost,
 *				outermost, is_partial, is_cut; and python
 *				leads to states, n_states of PYTHON_MAX_STATES,
 *				and n_searched
 *
 * Async-signal-safe, if the includer's functions are.
 */
#ifndef CPPROF_CPYTHON_WALK_H
#define CPPROF_CPYTHON_WALK_H

#include "cpython/objects.h"
#include "cpython/tasks.h"

/*
 * The loop changes the list within so many bytes of its start, when it is
 * entered.
 */
#define PYTHON_ENTRY_SIZE 0xb0
/* The outermost frame, or one at the end of a signal stack, reaches so far. */
#define PYTHON_LAST_FRAME_SIZE 4096
#define PYTHON_NOT_PLACED SIZE_MAX

/* ---- the includer's ---- */

/* Whether a thread state is known to be in use. */
static inline bool python_is_state_live(uint64_t state);

/* Whether the numbers in a thread state are those of the thread. */
static inline bool python_is_thread(const struct python_reading *reading,
    uint64_t ident, uint64_t tid);

/*
 * Whether a frame is as it was in the last sample; fills in what is known of its
 * code object then.
 */
static bool python_is_as_before(struct python_reading *reading,
    struct python_frame *frame, uint64_t instruction);

/*
 * Gives the frames from `from` on the native frame of their anchor.  False if
 * there is none.
 */
static bool python_place(struct python_reading *reading, size_t from,
    uint64_t anchor);

/* The native frames, outermost first. */
static inline size_t python_n_native(const struct python_reading *reading);
static inline uint64_t python_native_sp(const struct python_reading *reading,
    size_t i);
static inline uint64_t python_native_address(
    const struct python_reading *reading, size_t i);

/* Whether a native frame is one of greenlet's functions. */
static inline bool python_is_greenlet(const struct python_reading *reading,
    size_t i);

/* ---- the thread's states ---- */

static bool
python_is_own_state(struct python_reading *reading, uint64_t state)
{
	const struct python_layout *layout = reading->layout;
	const bool is_live = python_is_state_live(state);
	uint64_t ident, tid;

	return python_read_word(reading, state + layout->ident, &ident,
	    is_live) && python_read_word(reading, state + layout->tid, &tid,
	    is_live) && python_is_thread(reading, ident, tid);
}

static void
python_add_state(struct python_reading *reading, uint64_t state)
{
	if (reading->python->n_states < PYTHON_MAX_STATES)
		reading->python->states[reading->python->n_states++] = state;
}

/*
 * Looks for the thread's states in the lists of all interpreters.  Other
 * threads may change these meanwhile; a state counts only if it has this
 * thread's numbers.
 */
static void
python_find_states(struct python_reading *reading)
{
	const struct python_layout *layout = reading->layout;
	uint64_t interpreter, state;
	unsigned i, k;

	reading->python->n_states = 0;
	reading->python->n_searched = 0;
	if (!python_read_word(reading, reading->runtime->runtime +
	    layout->interpreters, &interpreter, false))
		return;
	for (i = 0; interpreter != 0 && i < PYTHON_MAX_INTERPRETERS; i++) {
		if (!python_read_word(reading, interpreter + layout->threads,
		    &state, false))
			return;
		for (k = 0; state != 0 && k < PYTHON_MAX_THREADS; k++) {
			reading->python->n_searched++;
			if (python_is_own_state(reading, state))
				python_add_state(reading, state);
			if (!python_read_word(reading, state +
			    layout->next_thread, &state, false))
				break;
		}
		if (!python_read_word(reading, interpreter +
		    layout->next_interpreter, &interpreter, false))
			return;
	}
}

/* ---- the task that runs ---- */

/* Whether what runs is a coroutine and not, as more often, a generator. */
static bool
python_is_running_coroutine(struct python_reading *reading, uint64_t object)
{
	static const char coroutine[] = "coroutine";
	const unsigned char *name;
	uint64_t at;

	return python_task_word(reading, object + reading->layout->type,
	    &at) && python_task_word(reading, at +
	    reading->layout->type_name, &at) &&
	    (name = python_task_bytes(reading, at, sizeof coroutine)) !=
	    NULL && memcmp(name, coroutine, sizeof coroutine) == 0;
}

/* The task whose coroutine a frame of Handle._run runs; 0: it is none. */
static uint64_t
python_run_task(struct python_reading *reading, uint64_t run,
    uint64_t coroutine)
{
	const struct python_tasks *tasks = &reading->layout->tasks;
	uint64_t at = python_object_at(reading, run + tasks->locals);

	if (python_kind(reading, at) != PYTHON_HANDLE)
		return 0;
	at = python_object_at(reading, at + PYTHON_HANDLE_CALLBACK);
	switch (python_kind(reading, at)) {
	case PYTHON_STEP:
		at = python_object_at(reading, at + PYTHON_STEP_TASK);
		break;
	case PYTHON_BUILTIN:
		at = python_object_at(reading, at + PYTHON_BUILTIN_SELF);
		break;
	default:
		return 0;
	}
	return python_kind(reading, at) == PYTHON_TASK &&
	    python_object_at(reading, at + tasks->coroutine) == coroutine ?
	    at : 0;
}

/*
 * Adds the frames that await the task whose outermost frame is the last one of
 * python->fresh, if it is a task's.  outer: the next frame of the list; 0:
 * there is none.
 */
static void
python_add_tasks(struct python_reading *reading, uint64_t outer)
{
	const struct python_layout *layout = reading->layout;
	const struct python_tasks *tasks = &layout->tasks;
	struct python_frames *fresh = &reading->python->fresh;
	const size_t from = fresh->n;
	const uint64_t frame = fresh->frames[from - 1].frame;
	uint64_t seen[PYTHON_MAX_TASKS];
	const unsigned char *bytes;
	unsigned n = 0, i;

	if (tasks->frame == 0 || outer == 0)
		return;
	reading->n_objects = 0;
	/* A coroutine that a function has called. */
	bytes = python_task_bytes(reading, frame, PYTHON_FRAME_SIZE);
	if (bytes == NULL || bytes[layout->owner] != PYTHON_OWNED_BY_GENERATOR)
		return;
	bytes = python_task_bytes(reading, outer, PYTHON_FRAME_SIZE);
	if (bytes == NULL || bytes[layout->owner] != PYTHON_OWNED_BY_THREAD ||
	    !python_is_running_coroutine(reading, frame - tasks->frame))
		return;
	seen[0] = python_run_task(reading, outer, frame - tasks->frame);
	while (seen[n] != 0 && n + 1 < PYTHON_MAX_TASKS) {
		seen[n + 1] = python_awaiting_task(reading, seen[n]);
		n++;
		/* Tasks that await each other never end. */
		for (i = 0; i < n && seen[i] != seen[n]; i++)
			;
		if (i < n || seen[n] == 0 || !python_add_task(reading,
		    seen[n], PYTHON_MAX_AWAITING - (fresh->n - from)))
			break;
	}
}

/* ---- the list of frames ---- */

/*
 * Whether the frame that the list begins with is in use, and with it its code
 * object.  3.11 frees a frame before it takes it off the list.  The frame is in
 * the newest chunk of the thread's stack of frames then, or was, and its stack
 * pointer is set.
 */
static bool
python_is_first_live(struct python_reading *reading, uint64_t at)
{
	const struct python_layout *layout = reading->layout;
	const unsigned char *frame;
	uint64_t chunk, size;

	if (layout->is_entry == PYTHON_NO_FIELD)
		return true;
	if (!python_read_word(reading, reading->state + layout->chunk, &chunk,
	    true) || !python_read_word(reading, chunk + layout->chunk_size,
	    &size, true) || at - chunk >= size)
		return false;
	frame = python_memory(reading, at, PYTHON_FRAME_SIZE, true);
	return frame != NULL &&
	    python_half(frame + layout->stack_pointer) == UINT32_MAX;
}

/*
 * Reads a frame of the list; *next is the one further out.  The innermost one
 * may be about to be freed: then frame->code is 0, as it is for an entry frame,
 * which runs no code.
 */
static bool
python_read_frame(struct python_reading *reading, uint64_t at,
    bool is_innermost, struct python_frame *frame, bool *is_entry,
    uint64_t *next)
{
	const struct python_layout *layout = reading->layout;
	const bool has_entry_frames = layout->is_entry == PYTHON_NO_FIELD;
	const bool is_live = !is_innermost ||
	    python_is_first_live(reading, at);
	const unsigned char *bytes = at % sizeof at != 0 ? NULL :
	    python_memory(reading, at, PYTHON_FRAME_SIZE, is_live);

	if (bytes == NULL)
		return false;
	*next = python_word(bytes + layout->previous);
	*is_entry = has_entry_frames ?
	    bytes[layout->owner] == layout->entry_owner :
	    bytes[layout->is_entry] != 0;
	frame->frame = at;
	frame->code = 0;
	if (*is_entry && has_entry_frames)
		return true;
	frame->code = python_word(bytes + layout->code) & ~layout->tag;
	if (is_live && !is_innermost && python_is_as_before(reading, frame,
	    python_word(bytes + layout->instruction)))
		return true;
	if (python_read_code(reading, frame,
	    python_word(bytes + layout->instruction), is_live))
		return true;
	frame->code = 0;
	return is_innermost;
}

/* Reads the next frame of the list into python->fresh. */
static bool
python_add_frame(struct python_reading *reading, uint64_t at,
    bool is_innermost, bool *is_entry, uint64_t *next)
{
	struct python_frames *fresh = &reading->python->fresh;

	if (!python_reserve(fresh, fresh->n + 1) ||
	    !python_read_frame(reading, at, is_innermost,
	    &fresh->frames[fresh->n], is_entry, next))
		return false;
	fresh->n += fresh->frames[fresh->n].code != 0;
	return true;
}

/* Whether a _PyCFrame is the one below all others, that of the state. */
static bool
python_is_root(struct python_reading *reading, uint64_t cframe)
{
	const struct python_layout *layout = reading->layout;
	const bool is_live = python_is_state_live(reading->state);
	uint64_t previous, frame;

	return python_read_word(reading, cframe + layout->cframe_previous,
	    &previous, is_live) && python_read_word(reading, cframe +
	    layout->cframe_current, &frame, is_live) && previous == 0 &&
	    frame == 0;
}

/* Reads the frames of a state in 3.11, group by group. */
static bool
python_read_cframes(struct python_reading *reading, uint64_t cframe)
{
	const struct python_layout *layout = reading->layout;
	struct python_frames *fresh = &reading->python->fresh;
	const bool is_live = python_is_state_live(reading->state);
	bool is_innermost = true, is_entry;
	uint64_t previous, frame, outer;
	size_t from;

	for (;; cframe = previous) {
		if (!python_read_word(reading, cframe +
		    layout->cframe_previous, &previous, is_live) ||
		    !python_read_word(reading, cframe +
		    layout->cframe_current, &frame, is_live))
			return false;
		if (previous == 0)
			return frame == 0;
		/* The one with which a greenlet begins has no frames. */
		if (frame == 0)
			return python_is_root(reading, previous);
		from = fresh->n;
		do {
			if (frame == 0 || !python_add_frame(reading, frame,
			    is_innermost, &is_entry, &outer))
				return false;
			is_innermost = false;
			frame = outer;
		} while (!is_entry);
		/* The list goes on where the outer loop is. */
		if (!python_read_word(reading, previous +
		    layout->cframe_current, &outer, is_live) ||
		    outer != frame)
			return false;
		if (fresh->n > from)
			python_add_tasks(reading, frame);
		if (!python_place(reading, from, cframe)) {
			fresh->n = from;
			reading->is_cut = true;
			return reading->is_partial;
		}
	}
}

/* The same from 3.12 on. */
static bool
python_read_frames(struct python_reading *reading, uint64_t frame)
{
	struct python_frames *fresh = &reading->python->fresh;
	bool is_innermost = true, is_entry = true;
	size_t from = fresh->n;
	uint64_t outer, base = 0;

	if (reading->layout->base != PYTHON_NO_FIELD &&
	    !python_read_word(reading, reading->state + reading->layout->base,
	    &base, python_is_state_live(reading->state)))
		return false;
	/* The frame below all others is in no native one. */
	for (; frame != base && frame != 0; frame = outer, is_innermost = false) {
		if (!python_add_frame(reading, frame, is_innermost, &is_entry,
		    &outer))
			return false;
		if (!is_entry)
			continue;
		if (fresh->n > from)
			python_add_tasks(reading, outer);
		if (!python_place(reading, from, frame)) {
			fresh->n = from;
			reading->is_cut = true;
			return reading->is_partial;
		}
		from = fresh->n;
	}
	return is_entry;
}

/* The frame that a state's list begins with; of 3.11, the _PyCFrame. */
static bool
python_read_start(struct python_reading *reading, uint64_t state,
    uint64_t *start)
{
	const struct python_layout *layout = reading->layout;
	const bool is_live = python_is_state_live(state);

	if (!python_read_word(reading, state + layout->current, start,
	    is_live))
		return false;
	if (layout->cframe_current == PYTHON_NO_FIELD ||
	    layout->is_entry != PYTHON_NO_FIELD)
		return true;
	return *start == 0 || python_read_word(reading, *start +
	    layout->cframe_current, start, is_live);
}

/* ---- the place on the stack ---- */

/* Whether native frame i contains an address of its stack. */
static inline bool
python_frame_contains(const struct python_reading *reading, size_t i,
    uint64_t at)
{
	const uint64_t sp = python_native_sp(reading, i);

	if (at < sp)
		return false;
	/* The caller may be on another stack. */
	if (i == 0 || python_native_sp(reading, i - 1) <= sp)
		return at - sp < PYTHON_LAST_FRAME_SIZE;
	return at < python_native_sp(reading, i - 1);
}

/* The native frame that contains an anchor, or PYTHON_NOT_PLACED. */
static size_t
python_find_native(const struct python_reading *reading, uint64_t anchor)
{
	const size_t n = python_n_native(reading);
	size_t low = 0, high = n, i;

	/* On one stack, sp falls from the outermost frame inwards. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (python_native_sp(reading, middle) > anchor)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < n && python_frame_contains(reading, low, anchor))
		return low;
	for (i = n; i > 0; i--)
		if (python_frame_contains(reading, i - 1, anchor))
			return i - 1;
	return PYTHON_NOT_PLACED;
}

/* Likewise; notes what python_loops_fit needs. */
static size_t
python_note_native(struct python_reading *reading, uint64_t anchor)
{
	const size_t native = python_find_native(reading, anchor);

	if (native == PYTHON_NOT_PLACED)
		return native;
	if (reading->innermost == PYTHON_NOT_PLACED ||
	    native > reading->innermost)
		reading->innermost = native;
	if (reading->outermost == PYTHON_NOT_PLACED ||
	    native < reading->outermost)
		reading->outermost = native;
	reading->n_placed += python_is_loop(reading->runtime,
	    python_native_address(reading, native));
	return native;
}

/*
 * How many of the outermost native frames do not belong to the stack, since the
 * list, which was read to its end, is that of a greenlet.
 */
static size_t
python_n_outside(const struct python_reading *reading)
{
	size_t i = reading->outermost;

	if (i == PYTHON_NOT_PLACED || reading->is_cut)
		return 0;
	while (i > 0)
		if (python_is_greenlet(reading, --i))
			return i;
	return 0;
}

/* Whether the innermost native frame is a loop that may still be entered. */
static inline bool
python_is_at_entry(const struct python_reading *reading)
{
	return python_native_address(reading, python_n_native(reading) - 1) -
	    reading->runtime->loop < PYTHON_ENTRY_SIZE;
}

/*
 * Whether the innermost native frame has just been entered, and its structures
 * are not complete.  current: what the state names as such.
 */
static inline bool
python_is_being_entered(const struct python_reading *reading,
    uint64_t current)
{
	const size_t n = python_n_native(reading);

	if (!python_is_at_entry(reading))
		return false;
	return python_frame_contains(reading, n - 1, current) || (n > 1 &&
	    reading->innermost == n - 1);
}

/*
 * Whether the loops among the native frames are as many as the anchors found in
 * them.  last: the innermost loop; is_exact: of the innermost native frame, the
 * instruction that was executing is known.
 */
static bool
python_loops_fit(const struct python_reading *reading, size_t n_loops,
    size_t last, bool is_exact)
{
	/* One that is entered, or about to return, has no anchor in the list. */
	return n_loops == reading->n_placed ||
	    (n_loops == reading->n_placed + 1 &&
	    last + 1 == python_n_native(reading) && is_exact &&
	    (reading->innermost == PYTHON_NOT_PLACED ||
	    reading->innermost < last));
}

/*
 * Several states: the frames of one may stand between those of another.  Sorts
 * them by their native frames, innermost first.
 */
static void
python_sort_frames(struct python_frames *fresh)
{
	struct python_frame *frames = fresh->frames, moved;
	size_t i, k;

	for (i = 1; i < fresh->n; i++) {
		if (frames[i].native <= frames[i - 1].native)
			continue;
		moved = frames[i];
		for (k = i; k > 0 && frames[k - 1].native < moved.native; k--)
			frames[k] = frames[k - 1];
		frames[k] = moved;
	}
}

#endif
