/* SPDX-License-Identifier: MIT */
/* python.c -- reads the interpreter's frames and places them on the stack.
 *
 * python_walk reads the list from its innermost frame outwards
 * (cpython/walk.h).  Each anchor that it meets is looked up among the native
 * frames, and gives its index to the Python frames read since the anchor before.
 * Then compare_stack finds out how much of the last sample's stack is still
 * there.
 */
#include "lib/python/python.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/cpprofdata.h"
#include "lib/unwind/traits.h"

#define FIRST_PYTHON_FRAMES 128
#define MAX_PYTHON_FRAMES ((size_t)1 << 20)
#define MAX_SIGNED 4096		/* frames in a signature */
#define MANY_THREADS 64		/* for each sample to search them in vain */
#define SEARCH_EVERY 16		/* samples, if there are more */
#define NEAR_FRAMES 8	/* in which a remembered frame is looked for */
#define AHEAD_FRAMES 4	/* that are fetched before they are needed */
#define NO_KEY UINT_MAX

/* What the functions below work on. */
struct python_reading {
	const struct python_runtime *runtime;
	const struct python_layout *layout;
	struct python *python;
	struct unwinder *unwinder;
	uint32_t tid;
	uint64_t state;		/* whose list is read */
	size_t candidate;	/* remembered frames not yet passed */
	size_t n_placed;	/* anchors that are in native frames of the loop */
	size_t innermost, outermost;	/* native frames with an anchor;
				   PYTHON_NOT_PLACED */
	bool is_cut;		/* the list is not read to its end */
	bool is_partial;	/* the native stack is, so anchors may be lost */
	bool is_of_array;	/* what is read hangs on an entry of a list or set,
				   which may just be moved */
	unsigned n_objects;	/* that a chain of tasks has looked at */
};

#include "cpython/walk.h"

/*
 * Memory.
 */

static bool
python_reserve(struct python_frames *frames, size_t n)
{
	const size_t old = frames->capacity * sizeof *frames->frames;
	size_t capacity = frames->capacity != 0 ? frames->capacity :
	    FIRST_PYTHON_FRAMES, size;
	void *memory;

	if (n <= frames->capacity)
		return true;
	while (capacity < n)
		capacity *= 2;
	if (capacity > MAX_PYTHON_FRAMES)
		return false;
	size = capacity * sizeof *frames->frames;
	memory = old == 0 ? files_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1) :
	    files_remap(frames->frames, old, size);
	if (memory == MAP_FAILED)
		return false;
	frames->frames = memory;
	frames->capacity = capacity;
	return true;
}

/*
 * Whether memory can be read; is_live: it is of something in use, so that its
 * page need not be probed each time.
 */
static bool
can_read(struct python *python, struct unwinder *unwinder, uint64_t at,
    size_t size, bool is_live)
{
	const uint64_t walk = python->n_walks % READABLE_PAGE;
	uint64_t page = at & -(uint64_t)READABLE_PAGE;

	/* The first page would seem to be known: its number is 0. */
	if (at < READABLE_PAGE || at > UINT64_MAX / 2)
		return false;
	for (; page < at + size; page += READABLE_PAGE) {
		uint64_t *known = &python->pages[page / READABLE_PAGE %
		    PYTHON_N_PAGES];
		const uint64_t age = walk - *known;

		if ((*known & -(uint64_t)READABLE_PAGE) == page &&
		    ((walk - *known) % READABLE_PAGE == 0 || (is_live &&
		    age % READABLE_PAGE < PYTHON_PROBE_EVERY)))
			continue;
		if (readable_own(&unwinder->readable, page))
			continue;
		if (!readable_now((const void *)(uintptr_t)page, 1))
			return false;
		*known = page | walk;
	}
	return true;
}

static inline const unsigned char *
python_memory(struct python_reading *reading, uint64_t at, size_t size,
    bool is_live)
{
	return can_read(reading->python, reading->unwinder, at, size,
	    is_live) ? (const unsigned char *)(uintptr_t)at : NULL;
}

/*
 * The thread's states.
 */

/*
 * The key by which the C library keeps each thread's state for the interpreter,
 * found by trying all; NO_KEY: not known.  A state that is there is in use: the
 * interpreter takes it away before it frees it.
 */
static _Atomic unsigned state_key = NO_KEY;

static void
python_find_key(uint64_t state)
{
	unsigned key;

	if (atomic_load_explicit(&state_key, memory_order_relaxed) != NO_KEY)
		return;
	for (key = 0; key < PTHREAD_KEYS_MAX; key++)
		if ((uint64_t)(uintptr_t)pthread_getspecific(key) == state)
			atomic_store_explicit(&state_key, key,
			    memory_order_relaxed);
}

static inline bool
python_is_state_live(uint64_t state)
{
	const unsigned key = atomic_load_explicit(&state_key,
	    memory_order_relaxed);

	return key != NO_KEY &&
	    (uint64_t)(uintptr_t)pthread_getspecific(key) == state;
}

static inline bool
python_is_thread(const struct python_reading *reading, uint64_t ident,
    uint64_t tid)
{
	return ident == (uint64_t)(uintptr_t)pthread_self() &&
	    tid == reading->tid;
}

/* Whether the thread has states; searches for them if those known are gone. */
static bool
have_states(struct python_reading *reading)
{
	struct python *python = reading->python;
	unsigned i;

	for (i = 0; i < python->n_states; i++)
		if (!python_is_own_state(reading, python->states[i]))
			break;
	if (python->n_states > 0 && i == python->n_states) {
		/* A thread that is about to begin has no key yet. */
		if (python->n_states == 1 &&
		    (python->n_walks & (python->n_walks - 1)) == 0)
			python_find_key(python->states[0]);
		return true;
	}
	if (python->n_searched > MANY_THREADS &&
	    python->n_misses++ % SEARCH_EVERY != 0)
		return false;
	python_find_states(reading);
	return python->n_states > 0;
}

static bool
python_is_awaiting(const struct python_frame *frame)
{
	return frame->offset != CPPROFDATA_NO_INSTRUCTION &&
	    (frame->offset & CPPROFDATA_AWAITS) != 0;
}

/*
 * The remembered frame at an address, or NULL.  Frames of one chunk of the
 * interpreter's memory have rising addresses; those of generators may have any.
 */
static const struct python_frame *
find_same(struct python_reading *reading, uint64_t at)
{
	const struct python_frame *frames = reading->python->stack.frames;
	size_t from = reading->candidate, i;

	while (from > 0 && (frames[from - 1].frame > at ||
	    python_is_awaiting(&frames[from - 1])))
		from--;
	for (i = from; i > 0 && from - i < NEAR_FRAMES; i--) {
		if (frames[i - 1].frame != at)
			continue;
		reading->candidate = i - 1;
		if (i > AHEAD_FRAMES) {
			const struct python_frame *ahead =
			    &frames[i - 1 - AHEAD_FRAMES];

			__builtin_prefetch((const void *)(uintptr_t)
			    (ahead->frame + reading->layout->instruction));
			__builtin_prefetch((const void *)(uintptr_t)
			    (ahead->code + reading->layout->mark));
		}
		return &frames[i - 1];
	}
	return NULL;
}

/* The mark of a code object whose memory was probed. */
static inline uint64_t
mark_now(const struct python_layout *layout, uint64_t at)
{
	const unsigned char *code = (const unsigned char *)(uintptr_t)at;

	return python_mark(layout, code, (const unsigned char *)(uintptr_t)
	    python_word(code + layout->mark));
}

static bool
python_is_as_before(struct python_reading *reading, struct python_frame *frame,
    uint64_t instruction)
{
	const struct python_layout *layout = reading->layout;
	const struct python_frame *same = find_same(reading, frame->frame);

	if (same == NULL || same->code != frame->code || instruction -
	    (frame->code + layout->instructions) + CPPROFDATA_BEFORE_CODE !=
	    same->offset || reading->python->n_walks - same->probed >=
	    PYTHON_PROBE_EVERY || same->mark == 0 ||
	    mark_now(layout, frame->code) != same->mark)
		return false;
	frame->tag = same->tag;
	frame->mark = same->mark;
	frame->probed = same->probed;
	frame->offset = same->offset;
	return true;
}

/*
 * The place on the stack.
 */

static inline size_t
python_n_native(const struct python_reading *reading)
{
	return reading->unwinder->stack.n;
}

static inline uint64_t
python_native_sp(const struct python_reading *reading, size_t i)
{
	return reading->unwinder->stack.frames[i].sp;
}

static inline uint64_t
python_native_address(const struct python_reading *reading, size_t i)
{
	return reading->unwinder->stack.frames[i].address;
}

static inline bool
python_is_greenlet(const struct python_reading *reading, size_t i)
{
	return traits_is_greenlet(python_native_address(reading, i));
}

static bool
python_place(struct python_reading *reading, size_t from, uint64_t anchor)
{
	struct python_frames *fresh = &reading->python->fresh;
	const size_t native = python_note_native(reading, anchor);
	size_t i;

	if (native == PYTHON_NOT_PLACED)
		return false;
	for (i = from; i < fresh->n; i++)
		fresh->frames[i].native = (uint32_t)native;
	return true;
}

/* Whether the innermost native frame has just been entered. */
static bool
is_being_entered(const struct python_reading *reading)
{
	return python_is_being_entered(reading,
	    python_word((const unsigned char *)(uintptr_t)
	    (reading->state + reading->layout->current)));
}

static enum python_result
read_states(struct python_reading *reading)
{
	struct python *python = reading->python;
	const bool has_cframes =
	    reading->layout->is_entry != PYTHON_NO_FIELD;
	uint64_t start;
	unsigned i;

	python->fresh.n = 0;
	for (i = 0; i < python->n_states; i++) {
		reading->state = python->states[i];
		if (!python_read_start(reading, python->states[i], &start))
			return PYTHON_UNKNOWN;
		if (start == 0)
			continue;
		if (!(has_cframes ? python_read_cframes(reading, start) :
		    python_read_frames(reading, start)))
			return is_being_entered(reading) ?
			    PYTHON_BUSY : PYTHON_UNKNOWN;
		if (is_being_entered(reading))
			return PYTHON_BUSY;
	}
	return PYTHON_FOUND;
}

static bool
is_same_frame(const struct python_frame *a, const struct python_frame *b)
{
	return a->frame == b->frame && a->code == b->code &&
	    a->tag == b->tag && a->offset == b->offset;
}

/* Makes the frames that were read the stack.  False: no memory. */
static bool
compare_stack(struct python *python)
{
	struct python_frames *stack = &python->stack, *fresh = &python->fresh;
	struct python_frame *new;
	size_t i, n = fresh->n;

	if (!python_reserve(stack, n))
		return false;
	new = &fresh->frames[n];
	for (i = 0; i < n && i < stack->n; i++) {
		if (!is_same_frame(&stack->frames[i], --new))
			break;
		stack->frames[i].native = new->native;
		stack->frames[i].probed = new->probed;
	}
	python->n_kept = i;
	python->changed = SIZE_MAX;
	if (i < stack->n)
		python->changed = stack->frames[i].native;
	if (i < n && fresh->frames[n - 1 - i].native < python->changed)
		python->changed = fresh->frames[n - 1 - i].native;
	for (; i < n; i++)
		stack->frames[i] = fresh->frames[n - 1 - i];
	stack->n = n;
	return true;
}

/* Counts the native frames of the loop; *last is the innermost one. */
static size_t
count_loops(const struct python_reading *reading, size_t *last)
{
	struct python *python = reading->python;
	struct unwinder *unwinder = reading->unwinder;
	struct walked_frame *frames = unwinder->stack.frames;
	const size_t n = unwinder->stack.n;
	size_t i = unwinder->n_kept < python->n_counted ? unwinder->n_kept :
	    python->n_counted;
	uint32_t count;

	if (python->counted_by != reading->runtime)
		i = 0;
	python->counted_by = reading->runtime;
	count = i > 0 ? frames[i - 1].loops : 0;
	for (; i < n; i++) {
		count += python_is_loop(reading->runtime, frames[i].address);
		frames[i].loops = count;
	}
	python->n_counted = n;
	*last = n - 1;
	while (*last > 0 && count > 0 &&
	    !python_is_loop(reading->runtime, frames[*last].address))
		--*last;
	return count;
}

/*
 * Leaves the frames of a greenlet, if the list is one's.  Those of other
 * greenlets have no place on its stack.
 */
static bool
python_leave_outside(struct python_reading *reading)
{
	struct python_frames *fresh = &reading->python->fresh;
	const size_t n = traits_have_greenlet() &&
	    reading->python->n_states == 1 ? python_n_outside(reading) : 0;
	size_t i;

	if (n == 0)
		return true;
	if (!unwind_cut(reading->unwinder, n))
		return false;
	reading->python->n_counted = 0;
	reading->innermost -= n;
	reading->outermost -= n;
	for (i = 0; i < fresh->n; i++)
		fresh->frames[i].native -= (uint32_t)n;
	return true;
}

static enum python_result
read_all(struct python_reading *reading, size_t *n_loops, size_t *last)
{
	const struct unwinder *unwinder = reading->unwinder;
	enum python_result result = PYTHON_FOUND;

	reading->python->fresh.n = 0;
	reading->candidate = reading->python->stack.n;
	reading->n_placed = 0;
	reading->innermost = reading->outermost = PYTHON_NOT_PLACED;
	reading->is_cut = false;
	if (have_states(reading))
		result = read_states(reading);
	if (result == PYTHON_FOUND && !python_leave_outside(reading))
		result = PYTHON_UNKNOWN;
	*n_loops = count_loops(reading, last);
	return result == PYTHON_FOUND && !python_loops_fit(reading, *n_loops,
	    *last, (unwinder->stack.frames[*last].flags & FRAME_EXACT) != 0) ?
	    PYTHON_UNKNOWN : result;
}

/*
 * Finds the loop of an interpreter without symbols, by a frame with an anchor: that
 * is in nothing but the loop.  False: there is none that proves it.
 */
static bool
learn_loop(struct python_reading *reading)
{
	const size_t native = reading->outermost;

	if (native == PYTHON_NOT_PLACED || native == 0 || reading->is_partial)
		return false;
	reading->runtime = python_learn_loop(reading->runtime,
	    python_native_address(reading, native) - 1);
	if (reading->runtime == PYTHON_RUNTIME_BUSY)
		return false;
	reading->layout = &reading->runtime->layout;
	return reading->runtime->loop_end != 0;
}

enum python_result
python_walk(struct python *python, struct unwinder *unwinder, uint32_t tid,
    size_t *innermost)
{
	struct python_reading reading = {
		.runtime = python_runtime(),
		.python = python,
		.unwinder = unwinder,
		.tid = tid,
		.is_partial = unwinder->end != UNWIND_COMPLETE,
	};
	enum python_result result;
	size_t n_loops;

	if (reading.runtime == NULL || unwinder->stack.n == 0)
		return PYTHON_NONE;
	if (reading.runtime == PYTHON_RUNTIME_BUSY)
		return PYTHON_BUSY;
	reading.layout = &reading.runtime->layout;
	python->n_walks++;
	result = read_all(&reading, &n_loops, innermost);
	if (reading.runtime->loop_end == 0) {
		if (!learn_loop(&reading))
			return PYTHON_NONE;
		result = read_all(&reading, &n_loops, innermost);
	}
	if (result == PYTHON_UNKNOWN && python->n_states > 0) {
		/* The thread may be in an interpreter that is new to it. */
		python->n_states = 0;
		result = read_all(&reading, &n_loops, innermost);
	}
	if (result == PYTHON_UNKNOWN && n_loops == 0)
		return PYTHON_NONE;
	if (result != PYTHON_FOUND)
		return result;
	if (python->n_states > 1)
		python_sort_frames(&python->fresh);
	return compare_stack(python) ? PYTHON_FOUND : PYTHON_UNKNOWN;
}

/* Makes a frame the only one of python->fresh.  False: no memory. */
static bool
python_keep_last(struct python *python, const struct python_frame *frame)
{
	if (!python_reserve(&python->fresh, 1))
		return false;
	python->fresh.frames[0] = *frame;
	python->fresh.n = 1;
	return true;
}

/* A signature with the frames of python->fresh. */
static uint64_t
python_sign_frames(struct python *python, uint64_t signature)
{
	const struct python_frames *fresh = &python->fresh;
	size_t i;

	for (i = 0; i < fresh->n; i++) {
		signature = python_mix(signature, fresh->frames[i].tag);
		signature = python_mix(signature, fresh->frames[i].offset);
	}
	return signature;
}

bool
python_signature(struct python *python, struct unwinder *unwinder,
    uint32_t tid, uint64_t *signature)
{
	struct python_reading reading = {
		.runtime = python_runtime(),
		.python = python,
		.unwinder = unwinder,
		.tid = tid,
	};
	struct python_frame frame;
	uint64_t at, next;
	bool is_entry;
	unsigned i, n = 0;

	*signature = 0;
	python->fresh.n = 0;
	if (reading.runtime == NULL)
		return true;
	if (reading.runtime == PYTHON_RUNTIME_BUSY)
		return false;
	reading.layout = &reading.runtime->layout;
	python->n_walks++;
	if (!have_states(&reading))
		return true;
	for (i = 0; i < python->n_states; i++) {
		reading.state = python->states[i];
		if (!python_read_start(&reading, python->states[i], &at))
			return false;
		if (reading.layout->is_entry != PYTHON_NO_FIELD &&
		    !python_read_word(&reading, at +
		    reading.layout->cframe_current, &at, false))
			return false;
		for (; at != 0; at = next) {
			if (n == MAX_SIGNED || !python_read_frame(&reading,
			    at, n == 0, &frame, &is_entry, &next))
				return false;
			n++;
			*signature = python_mix(*signature, at);
			if (frame.code != 0 && !python_keep_last(python, &frame))
				return false;
			if (is_entry && python->fresh.n > 0)
				python_add_tasks(&reading, next);
			*signature = python_sign_frames(python, *signature);
			python->fresh.n = is_entry ? 0 : python->fresh.n;
		}
	}
	return true;
}

/*
 * What the file says of a code object.
 */

/* What the functions that read strings and code objects work on. */
static bool
python_reading_begin(struct python_reading *reading, struct python *python,
    struct unwinder *unwinder)
{
	*reading = (struct python_reading){ .runtime = python_runtime(),
		.python = python, .unwinder = unwinder };
	if (reading->runtime == NULL)
		return false;
	reading->layout = &reading->runtime->layout;
	return true;
}

bool
python_describe(struct python *python, struct unwinder *unwinder,
    const struct python_frame *frame, struct python_code *code)
{
	struct python_reading reading;

	return python_reading_begin(&reading, python, unwinder) &&
	    python_read_description(&reading, frame->code, code);
}

size_t
python_copy_text(struct python *python, struct unwinder *unwinder,
    uint64_t string, char *text, size_t size)
{
	struct python_reading reading;

	return python_reading_begin(&reading, python, unwinder) ?
	    python_read_text(&reading, string, text, size) : SIZE_MAX;
}

uint64_t
python_loop(void)
{
	const struct python_runtime *runtime = python_runtime();

	return runtime != NULL ? runtime->loop : 0;
}
