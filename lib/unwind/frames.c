/* SPDX-License-Identifier: MIT */
/* frames.c -- memory for walked frames, and how they become the stack. */
#include "lib/unwind/unwind.h"

#include <sys/mman.h>

#include "lib/base/files.h"
#include "lib/unwind/trampoline.h"

#define MAX_FRAMES ((size_t)1 << 26)
#define FIRST_FRAMES 512
#define INHERITED (FRAME_UNWINDING | FRAME_GUESSED)

bool
frames_reserve(struct frames *fresh, size_t n)
{
	const size_t old = fresh->capacity * sizeof *fresh->frames;
	size_t capacity = fresh->capacity != 0 ? fresh->capacity :
	    FIRST_FRAMES, size;
	void *memory;

	if (n <= fresh->capacity)
		return true;
	while (capacity < n)
		capacity *= 2;
	if (capacity > MAX_FRAMES)
		return false;
	size = capacity * sizeof *fresh->frames;
	if (old == 0)
		memory = files_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	else
		memory = files_remap(fresh->frames, old, size);
	if (memory == MAP_FAILED)
		return false;
	fresh->frames = memory;
	fresh->capacity = capacity;
	return true;
}

void
frames_free(struct frames *frames)
{
	if (frames->frames != NULL)
		files_unmap(frames->frames,
		    frames->capacity * sizeof *frames->frames);
	*frames = (struct frames){ 0 };
}

/* Passes flags on from the outermost new frame inwards. */
static void
frames_inherit(struct unwinder *unwinder, size_t from)
{
	const struct frames *stack = &unwinder->stack;
	uint32_t inherited = 0;
	size_t i;

	if (from > 0)
		inherited = stack->frames[from - 1].flags & INHERITED;
	for (i = from; i < stack->n; i++) {
		inherited |= stack->frames[i].flags & INHERITED;
		stack->frames[i].flags |= inherited;
	}
	unwinder->guessed = (inherited & FRAME_GUESSED) != 0;
}

/*
 * Reuses the memory of the walked frames for the whole stack, adding the
 * remembered frames to it.  The old memory stays mapped, because a tick may
 * have interrupted the trampoline while it was reading it.  All old memory
 * together is at most as large as the new.
 */
static bool
replace_stack(struct unwinder *unwinder)
{
	struct frames *stack = &unwinder->stack, *fresh = &unwinder->fresh;
	size_t n = fresh->n + unwinder->n_kept, i;

	if (!frames_reserve(fresh, n))
		return false;
	for (i = unwinder->n_kept; i > 0; i--)
		fresh->frames[fresh->n++] = stack->frames[i - 1];
	for (i = 0; i < n / 2; i++) {
		struct walked_frame inner = fresh->frames[i];

		fresh->frames[i] = fresh->frames[n - 1 - i];
		fresh->frames[n - 1 - i] = inner;
	}
	*stack = *fresh;
	*fresh = (struct frames){ 0 };
	return true;
}

void
frames_remember(struct unwinder *unwinder, size_t n)
{
	if (n < unwinder->stack.n)
		unwinder->stack.n = n;
	if (n < unwinder->trampoline.index)
		trampoline_withdraw(unwinder);
}

void
frames_join(struct unwinder *unwinder)
{
	struct frames *stack = &unwinder->stack, *fresh = &unwinder->fresh;
	const size_t n = unwinder->n_kept + fresh->n;
	size_t i;

	frames_remember(unwinder, unwinder->n_kept);
	if (n > stack->capacity && !replace_stack(unwinder)) {
		/* Keep the innermost frames that fit. */
		unwinder->end = UNWIND_TOO_DEEP;
		unwinder->n_kept = 0;
		frames_remember(unwinder, 0);
		if (fresh->n > stack->capacity)
			fresh->n = stack->capacity;
	}
	for (i = fresh->n; i > 0; i--)
		stack->frames[stack->n++] = fresh->frames[i - 1];
	frames_inherit(unwinder, unwinder->n_kept);
}
