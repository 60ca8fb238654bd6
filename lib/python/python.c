/* SPDX-License-Identifier: MIT */
/* python.c -- reads the interpreter's frames and places them on the stack.
 *
 * python_walk reads the list from its innermost frame outwards (read_frame).
 * Each anchor that it meets is looked up among the native frames, and gives its
 * index to the Python frames read since the anchor before.  Then compare_stack
 * finds out how much of the last sample's stack is still there.
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

#define FIRST_PYTHON_FRAMES 128
#define MAX_PYTHON_FRAMES ((size_t)1 << 20)
#define MAX_SIGNED 4096		/* frames in a signature */
#define MAX_INTERPRETERS 256
#define MAX_THREADS 65536	/* of an interpreter */
#define MANY_THREADS 64		/* for each sample to search them in vain */
#define SEARCH_EVERY 16		/* samples, if there are more */
#define FRAME_SIZE 80		/* what is read of a frame, a code object and */
#define CODE_SIZE 208		/* a string, all of which are longer */
#define STRING_SIZE 40
/*
 * The loop changes the list within so many bytes of its start, when it is
 * entered.
 */
#define ENTRY_SIZE 0xb0
/* The outermost frame, or one at the end of a signal stack, reaches so far. */
#define LAST_FRAME_SIZE 4096
#define NEAR_FRAMES 8	/* in which a remembered frame is looked for */
#define AHEAD_FRAMES 4	/* that are fetched before they are needed */
#define NOT_PLACED SIZE_MAX
#define NO_KEY UINT_MAX

/* What the functions below work on. */
struct python_reading {
	const struct python_runtime *runtime;
	const struct python_layout *layout;
	struct python *python;
	struct unwinder *unwinder;
	uint64_t state;		/* whose list is read */
	size_t candidate;	/* remembered frames not yet passed */
	size_t n_placed;	/* anchors that are in native frames of the loop */
	size_t innermost;	/* native frame with an anchor; NOT_PLACED */
	bool is_partial;	/* the native stack is, so anchors may be lost */
};

/*
 * Memory.
 */

static bool
reserve(struct python_frames *frames, size_t n)
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

	if (at > UINT64_MAX / 2)
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

static uint64_t
load(uint64_t at)
{
	uint64_t word;

	memcpy(&word, (const void *)(uintptr_t)at, sizeof word);
	return word;
}

static uint32_t
load_half(uint64_t at)
{
	uint32_t word;

	memcpy(&word, (const void *)(uintptr_t)at, sizeof word);
	return word;
}

static unsigned
load_byte(uint64_t at)
{
	return *(const volatile unsigned char *)(uintptr_t)at;
}

static bool
read_live_word(struct python_reading *reading, uint64_t at, uint64_t *word,
    bool is_live)
{
	if (at % sizeof *word != 0 || !can_read(reading->python,
	    reading->unwinder, at, sizeof *word, is_live))
		return false;
	*word = load(at);
	return true;
}

static bool
python_read_word(struct python_reading *reading, uint64_t at, uint64_t *word)
{
	return read_live_word(reading, at, word, false);
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

static bool
is_state_live(uint64_t state)
{
	const unsigned key = atomic_load_explicit(&state_key,
	    memory_order_relaxed);

	return key != NO_KEY &&
	    (uint64_t)(uintptr_t)pthread_getspecific(key) == state;
}

static bool
is_own_state(struct python_reading *reading, uint64_t state, uint32_t tid)
{
	const struct python_layout *layout = reading->layout;
	const bool is_live = is_state_live(state);
	uint64_t ident, number;

	return read_live_word(reading, state + layout->ident, &ident,
	    is_live) && read_live_word(reading, state + layout->tid, &number,
	    is_live) && ident == (uint64_t)(uintptr_t)pthread_self() &&
	    number == tid;
}

/*
 * Looks for the thread's states in the lists of all interpreters.  Other
 * threads may change these meanwhile; a state counts only if it has this
 * thread's numbers.
 */
static void
find_states(struct python_reading *reading, uint32_t tid)
{
	const struct python_layout *layout = reading->layout;
	struct python *python = reading->python;
	uint64_t interpreter, state;
	unsigned i, k;

	python->n_states = 0;
	python->n_searched = 0;
	if (!python_read_word(reading, reading->runtime->runtime +
	    layout->interpreters, &interpreter))
		return;
	for (i = 0; interpreter != 0 && i < MAX_INTERPRETERS; i++) {
		if (!python_read_word(reading, interpreter + layout->threads, &state))
			return;
		for (k = 0; state != 0 && k < MAX_THREADS; k++) {
			python->n_searched++;
			if (python->n_states < PYTHON_MAX_STATES &&
			    is_own_state(reading, state, tid))
				python->states[python->n_states++] = state;
			if (!python_read_word(reading, state + layout->next_thread,
			    &state))
				break;
		}
		if (!python_read_word(reading, interpreter +
		    layout->next_interpreter, &interpreter))
			return;
	}
}

/* Whether the thread has states; searches for them if those known are gone. */
static bool
have_states(struct python_reading *reading, uint32_t tid)
{
	struct python *python = reading->python;
	unsigned i;

	for (i = 0; i < python->n_states; i++)
		if (!is_own_state(reading, python->states[i], tid))
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
	find_states(reading, tid);
	return python->n_states > 0;
}

/*
 * Code objects.
 */

static uint64_t
mix(uint64_t tag, uint64_t word)
{
	tag = (tag ^ word) * 0x9e3779b97f4a7c15u;
	return tag ^ tag >> 29;
}

/*
 * The mark of a code object.  Strings that were freed are often followed by
 * others at the same address, so in 3.11, which does not number its code
 * objects, the name's hash is part of it.
 */
static uint64_t
load_mark(const struct python_layout *layout, uint64_t code)
{
	const uint64_t first = load(code + layout->mark);
	const uint64_t mark = first ^
	    load(code + layout->mark + sizeof first) << 1;

	return layout->hash == PYTHON_NO_FIELD ? mark :
	    mark ^ load(first + layout->hash) << 2;
}

/*
 * Whether there is a code object; fills in the frame's tag and the offset of
 * the instruction.
 */
static bool
python_read_code(struct python_reading *reading, struct python_frame *frame,
    uint64_t instruction, bool is_live)
{
	const struct python_layout *layout = reading->layout;
	const uint64_t code = frame->code;
	bool has_name = true;
	uint64_t tag, name, offset;

	if (code % sizeof(uint64_t) != 0 || !can_read(reading->python,
	    reading->unwinder, code, CODE_SIZE, is_live) ||
	    load(code + layout->type) != reading->runtime->code_type)
		return false;
	name = load(code + layout->name);
	tag = mix(name, load(code + layout->file));
	tag = mix(tag, load(code + layout->lines));
	tag = mix(tag, load_half(code + layout->first_line));
	if (layout->version != PYTHON_NO_FIELD)
		tag = mix(tag, load_half(code + layout->version));
	if (layout->hash != PYTHON_NO_FIELD)
		has_name = can_read(reading->python, reading->unwinder, name,
		    STRING_SIZE, is_live);
	if (layout->hash != PYTHON_NO_FIELD && has_name)
		tag = mix(tag, load(name + layout->hash));
	frame->tag = tag;
	frame->mark = has_name ? load_mark(layout, code) : 0;
	frame->probed = reading->python->n_walks;
	offset = instruction - (code + layout->instructions) +
	    CPPROFDATA_BEFORE_CODE;
	frame->offset = offset <= 2 * load(code + layout->units) &&
	    offset < CPPROFDATA_NO_INSTRUCTION ? (uint32_t)offset :
	    CPPROFDATA_NO_INSTRUCTION;
	return true;
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

	while (from > 0 && frames[from - 1].frame > at)
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

/*
 * Whether a frame is as it was in the last sample; fills in what is known of its
 * code object then.
 */
static bool
is_as_before(struct python_reading *reading, struct python_frame *frame,
    uint64_t instruction)
{
	const struct python_layout *layout = reading->layout;
	const struct python_frame *same = find_same(reading, frame->frame);

	if (same == NULL || same->code != frame->code || instruction -
	    (frame->code + layout->instructions) + CPPROFDATA_BEFORE_CODE !=
	    same->offset || reading->python->n_walks - same->probed >=
	    PYTHON_PROBE_EVERY || same->mark == 0 ||
	    load_mark(layout, frame->code) != same->mark)
		return false;
	frame->tag = same->tag;
	frame->mark = same->mark;
	frame->probed = same->probed;
	frame->offset = same->offset;
	return true;
}

/*
 * The list of frames.
 */

static bool
python_is_loop(const struct python_runtime *runtime, uint64_t address)
{
	return address - runtime->loop < runtime->loop_end - runtime->loop;
}

/* Whether native frame i contains an address of its stack. */
static bool
frame_contains(const struct unwinder *unwinder, size_t i, uint64_t at)
{
	const struct walked_frame *frame = &unwinder->stack.frames[i];

	if (at < frame->sp)
		return false;
	/* The caller may be on another stack. */
	if (i == 0 || frame[-1].sp <= frame->sp)
		return at - frame->sp < LAST_FRAME_SIZE;
	return at < frame[-1].sp;
}

/* The native frame that contains an anchor, or NOT_PLACED. */
static size_t
find_native(const struct unwinder *unwinder, uint64_t anchor)
{
	const struct walked_frame *frames = unwinder->stack.frames;
	size_t low = 0, high = unwinder->stack.n, i;

	/* On one stack, sp falls from the outermost frame inwards. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (frames[middle].sp > anchor)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < unwinder->stack.n && frame_contains(unwinder, low, anchor))
		return low;
	for (i = unwinder->stack.n; i > 0; i--)
		if (frame_contains(unwinder, i - 1, anchor))
			return i - 1;
	return NOT_PLACED;
}

/*
 * Gives the frames from `from` on the native frame of their anchor.  False if
 * there is none.
 */
static bool
place_frames(struct python_reading *reading, size_t from, uint64_t anchor)
{
	const struct unwinder *unwinder = reading->unwinder;
	struct python_frames *fresh = &reading->python->fresh;
	const size_t native = find_native(unwinder, anchor);
	size_t i;

	if (native == NOT_PLACED)
		return false;
	if (reading->innermost == NOT_PLACED || native > reading->innermost)
		reading->innermost = native;
	reading->n_placed += python_is_loop(reading->runtime,
	    unwinder->stack.frames[native].address);
	for (i = from; i < fresh->n; i++)
		fresh->frames[i].native = (uint32_t)native;
	return true;
}

/*
 * Whether the frame that the list begins with is in use, and with it its code
 * object.  3.11 frees a frame before it takes it off the list.  The frame is in
 * the newest chunk of the thread's stack of frames then, or was, and its stack
 * pointer is set.
 */
static bool
is_first_live(struct python_reading *reading, uint64_t at)
{
	const struct python_layout *layout = reading->layout;
	uint64_t chunk, size;

	if (layout->is_entry == PYTHON_NO_FIELD)
		return true;
	return read_live_word(reading, reading->state + layout->chunk, &chunk,
	    true) && read_live_word(reading, chunk + layout->chunk_size,
	    &size, true) && at - chunk < size && can_read(reading->python,
	    reading->unwinder, at, FRAME_SIZE, true) &&
	    load_half(at + layout->stack_pointer) == UINT32_MAX;
}

/*
 * Reads a frame of the list; *next is the one further out.  The innermost one
 * may be about to be freed: then frame->code is 0, as it is for an entry frame,
 * which runs no code.
 */
static bool
read_frame(struct python_reading *reading, uint64_t at, bool is_innermost,
    struct python_frame *frame, bool *is_entry, uint64_t *next)
{
	const struct python_layout *layout = reading->layout;
	const bool has_entry_frames = layout->is_entry == PYTHON_NO_FIELD;
	const bool is_live = !is_innermost || is_first_live(reading, at);

	if (at % sizeof at != 0 || !can_read(reading->python,
	    reading->unwinder, at, FRAME_SIZE, is_live))
		return false;
	*next = load(at + layout->previous);
	*is_entry = has_entry_frames ?
	    load_byte(at + layout->owner) == layout->entry_owner :
	    load_byte(at + layout->is_entry) != 0;
	frame->frame = at;
	frame->code = 0;
	if (*is_entry && has_entry_frames)
		return true;
	frame->code = load(at + layout->code);
	if (is_live && !is_innermost && is_as_before(reading, frame,
	    load(at + layout->instruction)))
		return true;
	if (python_read_code(reading, frame, load(at + layout->instruction),
	    is_live))
		return true;
	frame->code = 0;
	return is_innermost;
}

/* Reads the next frame of the list into python->fresh. */
static bool
add_frame(struct python_reading *reading, uint64_t at, bool is_innermost,
    bool *is_entry, uint64_t *next)
{
	struct python_frames *fresh = &reading->python->fresh;

	if (!reserve(fresh, fresh->n + 1) || !read_frame(reading, at,
	    is_innermost, &fresh->frames[fresh->n], is_entry, next))
		return false;
	fresh->n += fresh->frames[fresh->n].code != 0;
	return true;
}

/* Reads the frames of a state in 3.11, group by group. */
static bool
read_cframes(struct python_reading *reading, uint64_t cframe)
{
	const struct python_layout *layout = reading->layout;
	struct python_frames *fresh = &reading->python->fresh;
	const bool is_live = is_state_live(reading->state);
	bool is_innermost = true, is_entry;
	uint64_t previous, frame, outer;
	size_t from;

	for (;; cframe = previous) {
		if (!read_live_word(reading, cframe + layout->cframe_previous,
		    &previous, is_live) || !read_live_word(reading, cframe +
		    layout->cframe_current, &frame, is_live))
			return false;
		if (previous == 0)
			return frame == 0;
		from = fresh->n;
		do {
			if (frame == 0 || !add_frame(reading, frame,
			    is_innermost, &is_entry, &outer))
				return false;
			is_innermost = false;
			frame = outer;
		} while (!is_entry);
		/* The list goes on where the outer loop is. */
		if (!read_live_word(reading, previous + layout->cframe_current,
		    &outer, is_live) || outer != frame)
			return false;
		if (!place_frames(reading, from, cframe)) {
			fresh->n = from;
			return reading->is_partial;
		}
	}
}

/* The same from 3.12 on. */
static bool
read_frames(struct python_reading *reading, uint64_t frame)
{
	struct python_frames *fresh = &reading->python->fresh;
	bool is_innermost = true, is_entry = true;
	size_t from = fresh->n;
	uint64_t outer;

	for (; frame != 0; frame = outer, is_innermost = false) {
		if (!add_frame(reading, frame, is_innermost, &is_entry,
		    &outer))
			return false;
		if (!is_entry)
			continue;
		if (!place_frames(reading, from, frame)) {
			fresh->n = from;
			return reading->is_partial;
		}
		from = fresh->n;
	}
	return is_entry;
}

/* The frame that a state's list begins with. */
static bool
read_start(struct python_reading *reading, uint64_t state, uint64_t *start)
{
	const struct python_layout *layout = reading->layout;

	if (!read_live_word(reading, state + layout->current, start,
	    is_state_live(state)))
		return false;
	if (layout->cframe_current == PYTHON_NO_FIELD ||
	    layout->is_entry != PYTHON_NO_FIELD)
		return true;
	return *start == 0 || read_live_word(reading, *start +
	    layout->cframe_current, start, is_state_live(state));
}

/*
 * Whether the innermost native frame has just been entered, and its structures
 * are not complete.
 */
static bool
is_being_entered(const struct python_reading *reading, uint64_t state)
{
	const struct unwinder *unwinder = reading->unwinder;
	const size_t n = unwinder->stack.n;
	const struct walked_frame *frame = &unwinder->stack.frames[n - 1];
	uint64_t current;

	if (frame->address - reading->runtime->loop >= ENTRY_SIZE)
		return false;
	current = load(state + reading->layout->current);
	return frame_contains(unwinder, n - 1, current) || (n > 1 &&
	    reading->innermost == n - 1);
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
		if (!read_start(reading, python->states[i], &start))
			return PYTHON_UNKNOWN;
		if (start == 0)
			continue;
		if (!(has_cframes ? read_cframes(reading, start) :
		    read_frames(reading, start)))
			return is_being_entered(reading, python->states[i]) ?
			    PYTHON_BUSY : PYTHON_UNKNOWN;
		if (is_being_entered(reading, python->states[i]))
			return PYTHON_BUSY;
	}
	return PYTHON_FOUND;
}

/*
 * Several states: the frames of one may stand between those of another.  Sorts
 * them by their native frames, innermost first.
 */
static void
sort_frames(struct python_frames *fresh)
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

	if (!reserve(stack, n))
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
	uint32_t count = i > 0 ? frames[i - 1].loops : 0;

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

/* Whether the loops are as many as the anchors found in them. */
static bool
loops_fit(const struct python_reading *reading, size_t n_loops, size_t last)
{
	const struct unwinder *unwinder = reading->unwinder;

	/* One that is entered, or about to return, has no anchor in the list. */
	return n_loops == reading->n_placed ||
	    (n_loops == reading->n_placed + 1 &&
	    last + 1 == unwinder->stack.n &&
	    (unwinder->stack.frames[last].flags & FRAME_EXACT) != 0 &&
	    (reading->innermost == NOT_PLACED || reading->innermost < last));
}

static enum python_result
read_all(struct python_reading *reading, uint32_t tid, size_t n_loops,
    size_t last)
{
	enum python_result result = PYTHON_FOUND;

	reading->python->fresh.n = 0;
	reading->candidate = reading->python->stack.n;
	reading->n_placed = 0;
	reading->innermost = NOT_PLACED;
	if (have_states(reading, tid))
		result = read_states(reading);
	return result == PYTHON_FOUND && !loops_fit(reading, n_loops, last) ?
	    PYTHON_UNKNOWN : result;
}

enum python_result
python_walk(struct python *python, struct unwinder *unwinder, uint32_t tid,
    size_t *innermost)
{
	struct python_reading reading = {
		.runtime = python_runtime(),
		.python = python,
		.unwinder = unwinder,
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
	n_loops = count_loops(&reading, innermost);
	result = read_all(&reading, tid, n_loops, *innermost);
	if (result == PYTHON_UNKNOWN && python->n_states > 0) {
		/* The thread may be in an interpreter that is new to it. */
		python->n_states = 0;
		result = read_all(&reading, tid, n_loops, *innermost);
	}
	if (result == PYTHON_UNKNOWN && n_loops == 0)
		return PYTHON_NONE;
	if (result != PYTHON_FOUND)
		return result;
	if (python->n_states > 1)
		sort_frames(&python->fresh);
	return compare_stack(python) ? PYTHON_FOUND : PYTHON_UNKNOWN;
}

bool
python_signature(struct python *python, struct unwinder *unwinder,
    uint32_t tid, uint64_t *signature)
{
	struct python_reading reading = {
		.runtime = python_runtime(),
		.python = python,
		.unwinder = unwinder,
	};
	struct python_frame frame;
	uint64_t at, next;
	bool is_entry;
	unsigned i, n = 0;

	*signature = 0;
	if (reading.runtime == NULL)
		return true;
	if (reading.runtime == PYTHON_RUNTIME_BUSY)
		return false;
	reading.layout = &reading.runtime->layout;
	python->n_walks++;
	if (!have_states(&reading, tid))
		return true;
	for (i = 0; i < python->n_states; i++) {
		reading.state = python->states[i];
		if (!read_start(&reading, python->states[i], &at))
			return false;
		if (reading.layout->is_entry != PYTHON_NO_FIELD &&
		    !python_read_word(&reading, at + reading.layout->cframe_current,
		    &at))
			return false;
		for (; at != 0; at = next) {
			if (n == MAX_SIGNED || !read_frame(&reading, at,
			    n == 0, &frame, &is_entry, &next))
				return false;
			n++;
			*signature = mix(*signature, at);
			if (frame.code == 0)
				continue;
			*signature = mix(*signature, frame.tag);
			*signature = mix(*signature, frame.offset);
		}
	}
	return true;
}

/*
 * What the file says of a code object.
 */

bool
python_describe(struct python *python, struct unwinder *unwinder,
    const struct python_frame *frame, struct python_code *code)
{
	const struct python_runtime *runtime = python_runtime();
	const struct python_layout *layout = &runtime->layout;
	uint64_t lines;

	if (runtime == NULL || !can_read(python, unwinder, frame->code,
	    CODE_SIZE, false) ||
	    load(frame->code + layout->type) != runtime->code_type)
		return false;
	*code = (struct python_code){
		.name = load(frame->code + layout->name),
		.file = load(frame->code + layout->file),
		.first_line = load_half(frame->code + layout->first_line),
	};
	lines = load(frame->code + layout->lines);
	if (!can_read(python, unwinder, lines, layout->bytes, false))
		return true;
	code->lines = lines + layout->bytes;
	code->lines_size = load(lines + layout->size);
	if (code->lines_size > PYTHON_MAX_LINES || !can_read(python, unwinder,
	    code->lines, code->lines_size, false))
		code->lines_size = 0;
	return true;
}

/* Writes a character as UTF-8, at most 4 bytes; returns how many. */
static size_t
put_character(unsigned char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (unsigned char)(0xc0 | c >> 6);
		to[1] = (unsigned char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (unsigned char)(0xe0 | c >> 12);
		to[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (unsigned char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (unsigned char)(0xf0 | (c >> 18 & 7));
	to[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (unsigned char)(0x80 | (c & 0x3f));
	return 4;
}

size_t
python_copy_text(struct python *python, struct unwinder *unwinder,
    uint64_t string, char *text, size_t size)
{
	const struct python_runtime *runtime = python_runtime();
	const struct python_layout *layout = &runtime->layout;
	uint64_t length, at, i;
	uint32_t state, kind;
	size_t n = 0;

	if (runtime == NULL || string % sizeof string != 0 ||
	    !can_read(python, unwinder, string, layout->compact, false))
		return SIZE_MAX;
	length = load(string + layout->length);
	state = load_half(string + layout->state) >> layout->kind_shift;
	kind = state & 7;
	/* A character of 1, 2 or 4 bytes; bit 3: compact; bit 4: ASCII. */
	if ((kind != 1 && kind != 2 && kind != 4) || (state & 8) == 0)
		return SIZE_MAX;
	if (length > size)
		length = size;
	at = string + ((state & 16) != 0 ? layout->ascii : layout->compact);
	if (!can_read(python, unwinder, at, length * kind, false))
		return SIZE_MAX;
	for (i = 0; i < length && n + 5 <= size; i++, at += kind) {
		uint32_t c = 0;

		memcpy(&c, (const void *)(uintptr_t)at, kind);
		n += put_character((unsigned char *)text + n, c);
	}
	text[n] = '\0';
	return n;
}

uint64_t
python_loop(void)
{
	const struct python_runtime *runtime = python_runtime();

	return runtime != NULL ? runtime->loop : 0;
}
