/* SPDX-License-Identifier: MIT */
/* unwind.c -- walks the stack by compact rules up to a remembered frame.
 *
 * walk_out is the loop.  At each frame, find_remembered checks whether the walk
 * has reached a frame of the last sample, and find_changed whether the frames
 * from there outwards are unchanged; if so, the walk ends.  Otherwise
 * unwind_step_frame finds the caller: most frames by a compact rule
 * (step_compact), frames with other unwind tables by interpreting them
 * (step_generic), and code without tables by guessing (step_by_guess).  A walk
 * follows only sp, fp and pc.  If some frame needs another register, the walk
 * starts again and follows all of them (`careful`).
 */
#include "lib/unwind/unwinder.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/unwind/rules.h"
#include "lib/unwind/traits.h"
#include "lib/unwind/trampoline.h"

#define MAX_FRAMES ((size_t)1 << 26)
#define INHERITED (FRAME_UNWINDING | FRAME_GUESSED)
#define AHEAD_BYTES 768		/* of the stack: a few frames */
#define AHEAD_NEAR ((uint64_t)16 << 20)
#define MAX_SWITCHES 256	/* of stacks, by signal frames */
#define FAR ((uint64_t)1 << 32)	/* larger than a stack */
#define LEAF_SIZE 4096		/* of functions without frames, from their
				   start */
#define LOST ((uint64_t)1 << 63)	/* a frame pointer that is not known; no
					   memory is there */
#define NEAR ((uint64_t)1 << 28)	/* size of a cache of code compiled at
					   run time */

/* The state of a walk. */
struct unwind_walk {
	struct unwinder *unwinder;
	uint64_t address, sp, fp;
	bool exact;
	bool unwinds;			/* a frame so far is an unwinder's */
	size_t candidate;	/* remembered frames not yet passed */
	bool is_marked;		/* the present frame was reached through the
				   mark */
	bool in_trampoline;	/* has met the trampoline's code: discard the
				   walk */
	bool is_entered;	/* the present code is returned to without a
				   call */
	struct cfi_registers registers;	/* as far as known; see `known` */
	const void *context;
	bool careful;		/* follows all registers */
	unsigned n_switches;
};

enum unwind_move {
	STEP_ON,
	STEP_END,
	STEP_NO_RULES,
	STEP_BAD_RULES,
	STEP_BAD_STACK,
	STEP_AGAIN,		/* the same frame, but an exact address */
	STEP_CAREFULLY		/* start again, following all registers */
};

/*
 * Memory for walked frames, and how they become the stack.
 */

/*
 * Makes room for n frames of the present walk, which may move.  False: no
 * memory, and nothing has changed.
 */
static bool
frames_reserve(struct frames *fresh, size_t n)
{
	const size_t old = fresh->capacity * sizeof *fresh->frames;
	size_t capacity = fresh->capacity != 0 ? fresh->capacity :
	    UNWIND_FIRST_FRAMES, size;
	void *memory;

	if (n <= fresh->capacity)
		return true;
	while (capacity < n)
		capacity *= 2;
	if (capacity > MAX_FRAMES)
		return false;
	size = capacity * sizeof *fresh->frames;
	if (old == 0 || fresh->are_lent)
		memory = files_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	else
		memory = files_remap(fresh->frames, old, size);
	if (memory == MAP_FAILED)
		return false;
	if (fresh->are_lent)
		memcpy(memory, fresh->frames, fresh->n * sizeof *fresh->frames);
	fresh->are_lent = false;
	fresh->frames = memory;
	fresh->capacity = capacity;
	return true;
}

static void
frames_free(struct frames *frames)
{
	if (frames->frames != NULL && !frames->are_lent)
		files_unmap(frames->frames,
		    frames->capacity * sizeof *frames->frames);
	*frames = (struct frames){ 0 };
}

void
unwind_free(struct unwinder *unwinder)
{
	frames_free(&unwinder->stack);
	frames_free(&unwinder->fresh);
	unwinder->n_kept = 0;
}

void
unwind_remember(struct unwinder *unwinder, size_t n)
{
	if (n < unwinder->stack.n)
		unwinder->stack.n = n;
	if (n < unwinder->n_same)
		unwinder->n_same = n;
	if (n < unwinder->trampoline.index)
		trampoline_withdraw(unwinder);
}

bool
unwind_cut(struct unwinder *unwinder, size_t n)
{
	struct frames *stack = &unwinder->stack;
	uint32_t inherited;
	size_t i;

	if (n == 0)
		return true;
	if (unwinder->trampoline.cfa != 0)
		return false;
	inherited = stack->frames[n - 1].flags & INHERITED;
	stack->n -= n;
	memmove(stack->frames, stack->frames + n,
	    stack->n * sizeof *stack->frames);
	/* What has a table was not left by a guess of its own. */
	for (i = 0; i < stack->n &&
	    (stack->frames[i].flags & FRAME_HAS_TABLE) != 0; i++)
		stack->frames[i].flags &= ~inherited;
	unwinder->guessed = stack->n > 0 &&
	    (stack->frames[stack->n - 1].flags & FRAME_GUESSED) != 0;
	unwinder->end = UNWIND_COMPLETE;
	unwinder->n_kept = unwinder->n_same = 0;
	return true;
}

/*
 * Makes the unwinder's stack from its n_kept remembered frames and the walked
 * frames, outermost first.  If there is no memory for all, keeps only the
 * innermost and sets `end` to UNWIND_TOO_DEEP.
 */
static void
frames_join(struct unwinder *unwinder)
{
	struct frames *stack = &unwinder->stack, *fresh = &unwinder->fresh;
	const size_t n_kept = unwinder->n_kept, n = n_kept + fresh->n;
	uint32_t inherited = 0;
	size_t i;

	unwind_remember(unwinder, n_kept);
	if (n > stack->capacity && frames_reserve(fresh, n)) {
		/*
		 * Reuse the memory of the walked frames for the whole stack.
		 * The old memory stays mapped, because a tick may have
		 * interrupted the trampoline while it was reading it.  All old
		 * memory together is at most as large as the new.
		 */
		for (i = n_kept; i > 0; i--)
			fresh->frames[fresh->n++] = stack->frames[i - 1];
		for (i = 0; i < n / 2; i++) {
			struct walked_frame inner = fresh->frames[i];

			fresh->frames[i] = fresh->frames[n - 1 - i];
			fresh->frames[n - 1 - i] = inner;
		}
		*stack = *fresh;
		*fresh = (struct frames){ 0 };
	} else if (n > stack->capacity) {
		/* Keep the innermost frames that fit. */
		unwinder->end = UNWIND_TOO_DEEP;
		unwinder->n_kept = 0;
		unwind_remember(unwinder, 0);
		if (fresh->n > stack->capacity)
			fresh->n = stack->capacity;
	}
	for (i = fresh->n; i > 0; i--)
		stack->frames[stack->n++] = fresh->frames[i - 1];
	/* Pass flags on from the outermost new frame inwards. */
	i = unwinder->n_kept;
	if (i > 0)
		inherited = stack->frames[i - 1].flags & INHERITED;
	for (; i < stack->n; i++) {
		inherited |= stack->frames[i].flags & INHERITED;
		stack->frames[i].flags |= inherited;
	}
	unwinder->guessed = (inherited & FRAME_GUESSED) != 0;
}

void
unwind_new_epoch(void)
{
	traits_new_epoch();
	tables_new_epoch();
}

/* The remembered frame that the walk has reached, or SIZE_MAX. */
static inline size_t
find_remembered(struct unwind_walk *walk)
{
	const struct walked_frame *frames = walk->unwinder->stack.frames;
	const struct walked_frame *frame;

	while (walk->candidate > 0) {
		frame = &frames[walk->candidate - 1];
		if (frame->sp < walk->sp) {
			walk->candidate--;
			continue;
		}
		if (frame->sp == walk->sp && frame->fp == walk->fp &&
		    frame->address == walk->address)
			return walk->candidate - 1;
		/* Several frames with the same sp occur only across signals. */
		return SIZE_MAX;
	}
	return SIZE_MAX;
}

/*
 * Going outwards from remembered frame `from`, the first that is not provably
 * left as it was; 0: none.  Frames outside the mark are unchanged.
 */
static size_t
find_changed(struct unwinder *unwinder, size_t from)
{
	const struct readable *readable = &unwinder->readable;
	const struct walked_frame *frame, *caller;
	size_t i;

	for (i = from; i > 0; i--) {
		uint64_t word;

		frame = &unwinder->stack.frames[i];
		caller = frame - 1;
		if ((frame->flags & FRAME_UNCHECKED) != 0 ||
		    !readable_own(readable, caller->sp - 8))
			break;
		memcpy(&word, (const void *)(uintptr_t)(caller->sp - 8), 8);
		if (trampoline_is_stub(word)) {
			if (i == unwinder->trampoline.index) {
				unwinder->n_compared += from - i;
				return 0;
			}
			word = trampoline_true_return(caller->sp);
		}
		if (word != caller->address + !(caller->flags & FRAME_EXACT))
			break;
		if (frame->fp_slot == 0)
			continue;
		if (!readable_own(readable, frame->fp_slot))
			break;
		memcpy(&word, (const void *)(uintptr_t)frame->fp_slot, 8);
		if (word != caller->fp)
			break;
	}
	unwinder->n_compared += from - i;
	return i;
}

/*
 * Goes to the caller, whose return address lies right below its stack pointer.
 */
static inline enum unwind_move
go_to_caller(struct unwind_walk *walk, uint64_t cfa, uint64_t fp)
{
	uint64_t ra;

	if (cfa <= walk->sp ||
	    !readable_word(&walk->unwinder->readable, cfa - 8, &ra))
		return STEP_BAD_STACK;
	if (trampoline_is_stub(ra)) {
		walk->is_marked = cfa == walk->unwinder->trampoline.cfa;
		ra = trampoline_true_return(cfa);
	}
	if (ra == 0)
		return STEP_END;
	walk->sp = cfa;
	walk->fp = fp;
	walk->address = ra - 1;
	walk->exact = false;
	walk->registers.known = 0;
	return STEP_ON;
}

static inline enum unwind_move
step_compact(struct unwind_walk *walk, struct compact_rule rule,
    struct walked_frame *frame)
{
	struct readable *readable = &walk->unwinder->readable;
	uint64_t cfa, fp = walk->fp;

	cfa = (rule.kind == COMPACT_STACK || rule.kind == COMPACT_STACK_LOAD ?
	    walk->sp : walk->fp) + (uint64_t)(int64_t)rule.cfa_offset;
	if (rule.kind == COMPACT_FRAME || rule.kind == COMPACT_FRAME_LOAD)
		frame->flags |= FRAME_BY_FP;
	if (rule.kind == COMPACT_STACK_LOAD ||
	    rule.kind == COMPACT_FRAME_LOAD) {
		frame->flags |= FRAME_UNCHECKED;
		if (!readable_word(readable, cfa, &cfa))
			return STEP_BAD_STACK;
	}
	if (rule.saves_frame) {
		frame->fp_slot = cfa + (uint64_t)(int64_t)rule.frame_offset;
		if (!readable_word(readable, frame->fp_slot, &fp))
			return STEP_BAD_STACK;
	}
	return go_to_caller(walk, cfa, fp);
}

/* Reads memory for cfi_step; see struct cfi_machine. */
static bool
read_memory(void *readable, uint64_t address, size_t size, uint64_t *number)
{
	if (size == sizeof *number)
		return readable_word(readable, address, number);
	if (!readable_range(readable, address, size))
		return false;
	*number = 0;
	memcpy(number, (const void *)(uintptr_t)address, size);
	return true;
}

/*
 * Interprets a row that has no compact rule: signal frames, realigned stacks,
 * unusual code.
 */
static enum unwind_move
step_generic(struct unwind_walk *walk, bool is_signal,
             struct walked_frame *frame)
{
	struct unwinder *unwinder = walk->unwinder;
	uint64_t cfa = 0, sp = walk->sp;
	struct dl_find_object object;
	uint64_t shift;

	frame->flags |= FRAME_UNCHECKED;
	if (is_signal) {
		/*
		 * The first byte of the signal trampoline, where the handler
		 * returns to.
		 */
		frame->address += !walk->exact;
		frame->flags |= FRAME_EXACT;
		if (++walk->n_switches > MAX_SWITCHES)
			return STEP_BAD_STACK;
	}
	if (!mappings_find_object(walk->address, &object, &shift) ||
	    tables_find(walk->address + shift, &object, &unwinder->scratch) !=
	    CFI_FOUND)
		return STEP_BAD_RULES;
	/* The walk's own registers, where cfi_step expects them. */
	walk->registers.value[ARCH_STACK] = walk->sp;
	walk->registers.value[ARCH_FRAME] = walk->fp;
	walk->registers.value[ARCH_RETURN] = walk->address + !walk->exact;
	walk->registers.known |= 1u << ARCH_STACK | 1u << ARCH_FRAME |
	    1u << ARCH_RETURN;
	unwinder->machine.arch = DWARF_OWN_ARCH;
	unwinder->machine.read = read_memory;
	unwinder->machine.context = &unwinder->readable;
	unwinder->machine.preserved = ARCH_PRESERVED;
	switch (cfi_step(&unwinder->scratch.row, &unwinder->machine,
	    &walk->registers, &cfa)) {
	case CFI_STEP_DONE:
		break;
	case CFI_STEP_OUTERMOST:
		return STEP_END;
	case CFI_STEP_FAILED:
		return walk->careful ? STEP_BAD_STACK : STEP_CAREFULLY;
	}
	walk->sp = walk->registers.value[ARCH_STACK];
	walk->fp = walk->registers.value[ARCH_FRAME];
	if (!(walk->registers.known >> ARCH_FRAME & 1))
		return STEP_BAD_STACK;
	if (trampoline_is_stub(walk->registers.value[ARCH_RETURN]))
		walk->registers.value[ARCH_RETURN] =
		    trampoline_true_return(cfa);
	if (walk->registers.value[ARCH_RETURN] == 0)
		return STEP_END;
	/* In the last instructions of longjmp, sp is already the caller's. */
	if (!is_signal && (walk->sp < sp ||
	    (walk->sp == sp && ++walk->n_switches > MAX_SWITCHES)))
		return STEP_BAD_STACK;
	walk->exact = is_signal;
	walk->address = walk->registers.value[ARCH_RETURN] - !is_signal;
	/* On another stack, remembered frames may lie above or below. */
	if (is_signal)
		walk->candidate = unwinder->stack.n;
	return STEP_ON;
}

static bool
is_return_address(struct unwinder *unwinder, uint64_t ra)
{
	return arch_follows_call((const unsigned char *)(uintptr_t)ra,
	    readable_before(&unwinder->readable, ra, ARCH_CALLING_SIZE));
}

/* The target of the call before a return address; 0: not known. */
static uint64_t
called_before(struct unwinder *unwinder, uint64_t ra)
{
	return arch_call_target((const unsigned char *)(uintptr_t)ra,
	    readable_before(&unwinder->readable, ra, ARCH_CALLING_SIZE));
}

/*
 * Goes to the context that a signal interrupted, which may be on another stack.
 */
static enum unwind_move
go_to_context(struct unwind_walk *walk, uint64_t at)
{
	struct unwinder *unwinder = walk->unwinder;

	if (++walk->n_switches > MAX_SWITCHES || at % 8 != 0 ||
	    !readable_range(&unwinder->readable, at, sizeof(ucontext_t)))
		return STEP_BAD_STACK;
	arch_registers((const void *)(uintptr_t)at, &walk->registers);
	walk->address = walk->registers.value[ARCH_RETURN];
	walk->sp = walk->registers.value[ARCH_STACK];
	walk->fp = walk->registers.value[ARCH_FRAME];
	walk->exact = true;
	walk->candidate = unwinder->stack.n;
	return STEP_ON;
}

/* The address is exact, and not inside a call instruction before it. */
static void
make_exact(struct unwind_walk *walk, struct walked_frame *frame)
{
	walk->address++;
	walk->exact = true;
	frame->address = walk->address;
	frame->flags |= FRAME_EXACT;
}

/*
 * A supposed return address that no call instruction precedes.
 *
 * On a stack that the program has created, the word below the first function is
 * where that function returns to: the start of another function (makecontext),
 * or code without tables (boost.context, goroutines).  There the stack is
 * complete.  The stack of a thread itself begins in the loader or the kernel,
 * so there such an address is wrong.
 *
 * The handler of an exception is entered by a return without a call, too.
 */
static enum unwind_move
step_uncalled(struct unwind_walk *walk, struct walked_frame *frame,
              bool has_table)
{
	struct unwinder *unwinder = walk->unwinder;
	const bool is_own = readable_own(&unwinder->readable, walk->sp - 8);

	if (!traits_is_code(walk->address + 1) ||
	    (is_own && !(has_table && walk->unwinds))) {
		/* What looked like a return address is something else. */
		unwinder->fresh.n--;
		return STEP_BAD_STACK;
	}
	make_exact(walk, frame);
	return has_table && walk->unwinds ? STEP_AGAIN : STEP_END;
}

/*
 * Whether both an address and the present code are code outside all modules, at
 * most `distance` bytes apart.
 */
static bool
is_made_within(struct unwind_walk *walk, uint64_t distance, uint64_t address)
{
	struct dl_find_object object;
	void *code = (void *)(uintptr_t)address;

	return address - walk->address + distance < 2 * distance &&
	    _dl_find_object((void *)(uintptr_t)walk->address, &object) != 0 &&
	    _dl_find_object(code, &object) != 0 &&
	    !readable_own(&walk->unwinder->readable, address) &&
	    readable_range(&walk->unwinder->readable, address, 1);
}

/* The same, so close that both lie in one cache of code compiled at run time. */
static bool
is_made_nearby(struct unwind_walk *walk, uint64_t address)
{
	return is_made_within(walk, NEAR, address);
}

/*
 * Whether fp and ra are what a frame has saved: a return address, or the start
 * of a stack that the program has created, which holds zeros or where to go
 * from there.
 */
static bool
ends_frame(struct unwind_walk *walk, uint64_t fp, uint64_t ra)
{
	struct unwinder *unwinder = walk->unwinder;
	struct readable *readable = &unwinder->readable;
	uint64_t next;

	if (ra == 0)
		return !walk->exact && fp == 0;
	if (is_return_address(unwinder, ra) || (fp == 0 &&
	    !readable_own(readable, walk->fp) && traits_is_code(ra)))
		return true;
	/*
	 * Interpreters generated at run time (Java) jump to a function and make
	 * it return to their dispatcher, so the return address follows no call.
	 * Such an address is accepted if the next frame out has one, too, or
	 * one that follows a call.
	 */
	walk->is_entered = fp > walk->fp && fp % 8 == 0 &&
	    readable_own(readable, fp + 8) && is_made_nearby(walk, ra) &&
	    readable_word(readable, fp + 8, &next) &&
	    (is_return_address(unwinder, next) || is_made_nearby(walk, next));
	return walk->is_entered;
}

/*
 * Whether fp, which is below sp, points to another stack than the thread's own:
 * some page between the two is unreadable, or they are too far apart for one
 * stack.
 */
static bool
is_on_other_stack(struct unwind_walk *walk)
{
	struct readable *readable = &walk->unwinder->readable;

	if (walk->sp - walk->fp > FAR)
		return true;
	/* readable_range finds out how far down the own stack reaches. */
	return readable_own(readable, walk->sp) &&
	    readable_range(readable, walk->fp, 16) &&
	    !readable_own(readable, walk->fp);
}

/*
 * Whether the frame at fp is the outermost of a stack that the program has
 * created: its saved frame pointer is 0, and it returns to generated code that
 * no call precedes (Erlang's processes).  That may be in a cache of its own.
 */
static bool
is_outermost_made(struct unwind_walk *walk)
{
	struct readable *readable = &walk->unwinder->readable;
	uint64_t fp, ra;

	return walk->fp % 8 == 0 && !readable_own(readable, walk->fp) &&
	    readable_word(readable, walk->fp, &fp) && fp == 0 &&
	    readable_word(readable, walk->fp + 8, &ra) &&
	    is_made_within(walk, FAR, ra);
}

/*
 * Interpreters generate code for each function that only makes a call
 * (CPython).  The instructions after the call show where its caller is.  False:
 * other code.
 */
static bool
is_about_to_return(struct unwind_walk *walk, uint64_t *cfa, uint64_t *fp,
    uint64_t *fp_slot)
{
	struct readable *readable = &walk->unwinder->readable;
	const uint64_t code = walk->address + 1;
	const size_t size = readable_after(readable, code, ARCH_LEAVING_SIZE);
	int64_t saved_at;
	uint64_t ra;

	*fp = walk->fp;
	*fp_slot = 0;
	if (!arch_is_left((const unsigned char *)(uintptr_t)code, size, cfa,
	    &saved_at))
		return false;
	*cfa += walk->sp;
	if (saved_at >= 0) {
		*fp_slot = walk->sp + (uint64_t)saved_at;
		if (!readable_word(readable, *fp_slot, fp))
			return false;
	}
	return readable_word(readable, *cfa - 8, &ra) &&
	    is_return_address(walk->unwinder, ra);
}

/*
 * A frame of code that no table covers, by what its instructions do.  The caller
 * counts only if it has called that code.
 */
static enum unwind_move
step_by_code(struct unwind_walk *walk, struct compact_rule rule,
             struct walked_frame *frame)
{
	const uint64_t callee = walk->address;
	uint64_t cfa, fp = walk->fp;
	enum unwind_move move;

	if (!walk->exact && !is_return_address(walk->unwinder,
	                                       walk->address + 1))
		return step_uncalled(walk, frame, false);
	if (rule.kind == COMPACT_CODE_END)
		return STEP_END;
	if (rule.kind == COMPACT_CODE_OTHER ||
	    (rule.kind == COMPACT_CODE_FRAME && walk->fp == LOST))
		return STEP_NO_RULES;
	cfa = (rule.kind == COMPACT_CODE_STACK ? walk->sp : walk->fp) +
	    (uint64_t)(int64_t)rule.cfa_offset;
	if (rule.saves_frame && rule.frame_offset == 0) {
		fp = LOST;
	} else if (rule.saves_frame) {
		frame->fp_slot = cfa + (uint64_t)(int64_t)rule.frame_offset;
		if (!readable_word(&walk->unwinder->readable, frame->fp_slot,
		                   &fp))
			return STEP_NO_RULES;
	}
	move = go_to_caller(walk, cfa, fp);
	if (move == STEP_BAD_STACK || (move == STEP_ON &&
	    rule.traits != TABLELESS_PROVED && tableless_is_called(
	    &walk->unwinder->readable, walk->address + 1, callee) !=
	    TABLELESS_YES))
		return STEP_NO_RULES;
	return move;
}

/*
 * Code without tables.  Handwritten leaf functions have the return address on
 * top of the stack, and most compilers at run time use frame pointers.  was_read:
 * `record` has read the module's code, which does not tell more; then it may tell
 * that the call was another one.
 */
static enum unwind_move
step_by_guess(struct unwind_walk *walk, struct walked_frame *frame,
              bool was_read)
{
	struct unwinder *unwinder = walk->unwinder;
	struct readable *readable = &unwinder->readable;
	const uint64_t callee = walk->address;
	const bool is_entered = walk->is_entered;
	enum unwind_move move;
	uint64_t ra, fp, cfa;
	bool is_elsewhere;

	walk->is_entered = false;
	if (!walk->exact && !is_entered &&
	    !is_return_address(unwinder, walk->address + 1))
		return step_uncalled(walk, frame, false);
	/* The loader's entry point, which calls constructors; psABI 3.4.1. */
	if (!walk->exact && walk->fp == 0 &&
	    walk->sp >= readable->high - READABLE_PAGE &&
	    walk->sp < readable->high)
		return STEP_END;
	if (!walk->exact &&
	    is_about_to_return(walk, &cfa, &fp, &frame->fp_slot))
		return go_to_caller(walk, cfa, fp);
	frame->fp_slot = 0;
	frame->flags |= FRAME_GUESSED;
	/*
	 * The word on top of the stack is the return address of a leaf function
	 * if it leads to code with tables, or follows a call to code just
	 * before the present address.
	 */
	if (walk->exact && !was_read &&
	    readable_word(readable, walk->sp, &ra) &&
	    is_return_address(unwinder, ra) &&
	    (rules_find(&unwinder->scratch, (ra - 1) | RULES_RETURN).kind >
	    COMPACT_BAD || walk->address - called_before(unwinder, ra) <
	    LEAF_SIZE))
		return go_to_caller(walk, walk->sp + 8, walk->fp);
	/*
	 * The frame pointer may point to another stack, further down.  Code
	 * that switches stacks for a call does not change it (Go calling C,
	 * Erlang calling its runtime).
	 */
	is_elsewhere = walk->fp < walk->sp && !walk->exact &&
	    is_on_other_stack(walk) && ++walk->n_switches <= MAX_SWITCHES;
	if ((walk->fp >= walk->sp || is_elsewhere) && is_outermost_made(walk))
		return STEP_END;
	if ((walk->fp < walk->sp && !is_elsewhere) || walk->fp % 8 != 0 ||
	    !readable_word(readable, walk->fp, &fp) ||
	    !readable_word(readable, walk->fp + 8, &ra) ||
	    !ends_frame(walk, fp, ra)) {
		/*
		 * Go's entry point aligns its stack, and C code in a Go program
		 * that Go itself has linked has no tables.  Near its start a
		 * stack of such code is complete.
		 */
		return !walk->exact && walk->sp < readable->high &&
		    readable->high - walk->sp <= 2 * READABLE_PAGE &&
		    traits_is_go((const void *)(uintptr_t)walk->address) ?
		    STEP_END : STEP_NO_RULES;
	}
	frame->fp_slot = walk->fp;
	if (walk->fp < walk->sp) {
		frame->flags |= FRAME_UNCHECKED;
		walk->sp = walk->fp;
		walk->candidate = unwinder->stack.n;
	}
	move = go_to_caller(walk, walk->fp + 16, fp);
	return was_read && move == STEP_ON && tableless_is_called(readable,
	    walk->address + 1, callee) == TABLELESS_NO ? STEP_NO_RULES : move;
}

static enum unwind_move
step_without_table(struct unwind_walk *walk, struct compact_rule rule,
                   struct walked_frame *frame)
{
	struct readable *readable = &walk->unwinder->readable;

	/*
	 * Handlers return to code of the C library, which has tables, or to the
	 * program's own.
	 */
	if (!walk->exact && arch_is_signal_return(
	    (const unsigned char *)(uintptr_t)walk->address + 1,
	    readable_after(readable, walk->address + 1, ARCH_RETURN_SIZE))) {
		make_exact(walk, frame);
		frame->flags |= FRAME_UNCHECKED;
		return go_to_context(walk, walk->sp);
	}
	if (rule.kind == COMPACT_NONE || rule.kind == COMPACT_CODE_UNKNOWN)
		return step_by_guess(walk, frame,
		    rule.kind == COMPACT_CODE_UNKNOWN);
	return step_by_code(walk, rule, frame);
}

static inline enum unwind_move
unwind_step_frame(struct unwind_walk *walk, struct walked_frame *frame)
{
	struct compact_rule rule;

	rule = rules_find(&walk->unwinder->scratch, walk->exact ?
	    walk->address : walk->address | RULES_RETURN);
	if (rule.kind > COMPACT_BAD && rule.kind != COMPACT_SIGNAL)
		frame->flags |= FRAME_HAS_TABLE;
	if ((rule.traits & TRAIT_UNWINDS) != 0) {
		frame->flags |= FRAME_UNWINDING;
		walk->unwinds = true;
	}
	if (rule.kind >= COMPACT_STACK && !walk->careful) {
		if ((rule.traits & TRAIT_READS_RETURN) == 0)
			frame->flags |= FRAME_IN_CALL;
		return step_compact(walk, rule, frame);
	}
	switch (rule.kind) {
	case COMPACT_NONE:
	case COMPACT_CODE_UNKNOWN:
	case COMPACT_CODE_OTHER:
	case COMPACT_CODE_END:
	case COMPACT_CODE_STACK:
	case COMPACT_CODE_FRAME:
		return step_without_table(walk, rule, frame);
	case COMPACT_UNCALLED:
		return step_uncalled(walk, frame, true);
	case COMPACT_BAD:
		return STEP_BAD_RULES;
	case COMPACT_END:
		return STEP_END;
	}
	return step_generic(walk, rule.kind == COMPACT_SIGNAL, frame);
}

static void
start_walk(struct unwind_walk *walk)
{
	uint64_t below;

	arch_registers(walk->context, &walk->registers);
	/*
	 * If a handler has not executed an instruction yet, the time belongs to
	 * the code that it interrupted.
	 */
	while ((below = arch_context_below(&walk->registers)) != 0 &&
	    go_to_context(walk, below) == STEP_ON)
		;
	walk->address = walk->registers.value[ARCH_RETURN];
	walk->sp = walk->registers.value[ARCH_STACK];
	walk->fp = walk->registers.value[ARCH_FRAME];
	walk->exact = true;
	walk->candidate = walk->careful ? 0 : walk->unwinder->stack.n;
	walk->is_marked = walk->in_trampoline = walk->unwinds =
	    walk->is_entered = false;
	walk->unwinder->fresh.n = 0;
}

/*
 * Walks outwards.  Returns the number of remembered frames that complete the
 * stack.  If there are none, sets unwinder->end.
 */
static size_t
walk_out(struct unwind_walk *walk)
{
	static const unsigned char ends[] = {
		[STEP_END] = UNWIND_COMPLETE,
		[STEP_NO_RULES] = UNWIND_NO_RULES,
		[STEP_BAD_RULES] = UNWIND_BAD_RULES,
		[STEP_BAD_STACK] = UNWIND_BAD_STACK,
	};
	struct unwinder *unwinder = walk->unwinder;
	struct frames *fresh = &unwinder->fresh;
	enum unwind_move result = STEP_ON;

	start_walk(walk);
	while (result == STEP_ON) {
		struct walked_frame *frame;
		size_t remembered, changed;

		/*
		 * If the remembered frames from there outwards are still on the
		 * stack, it is complete.  If not, an outer one may be.
		 */
		remembered = find_remembered(walk);
		if (remembered != SIZE_MAX) {
			if (walk->is_marked &&
			    remembered + 1 == unwinder->trampoline.index)
				return remembered + 1;
			changed = find_changed(unwinder, remembered);
			if (changed == 0)
				return remembered + 1;
			walk->candidate = changed;
		}
		walk->is_marked = false;
		walk->in_trampoline |= trampoline_has(walk->address);
		/* Record the frame.  The step fills in how it was left. */
		if (fresh->n == fresh->capacity &&
		    !frames_reserve(fresh, fresh->n + 1)) {
			unwinder->end = UNWIND_TOO_DEEP;
			return 0;
		}
		frame = &fresh->frames[fresh->n++];
		frame->address = walk->address;
		frame->sp = walk->sp;
		frame->fp = walk->fp;
		frame->fp_slot = 0;
		frame->flags = walk->exact ? FRAME_EXACT : 0;
		result = unwind_step_frame(walk, frame);
		if (result == STEP_AGAIN)
			result = unwind_step_frame(walk, frame);
		if (result == STEP_CAREFULLY) {
			walk->careful = true;
			start_walk(walk);
			result = STEP_ON;
		}
	}
	unwinder->end = (enum unwind_end)ends[result];
	return 0;
}

bool
unwind(struct unwinder *unwinder, const void *context)
{
	struct unwind_walk walk = { .unwinder = unwinder, .context = context };
	const enum unwind_end end = unwinder->end;
	size_t n_kept;

	unwinder->n_compared = 0;
	readable_forget(&unwinder->readable);
	n_kept = walk_out(&walk);
	if (walk.in_trampoline) {
		unwinder->end = end;
		return false;
	}
	unwinder->n_kept = n_kept;
	unwinder->n_walked = unwinder->fresh.n;
	frames_join(unwinder);
	if (unwinder->end == UNWIND_COMPLETE)
		trampoline_is_outside(unwinder);
	return true;
}

static inline bool
look_ahead_is_near(uint64_t word, uint64_t address)
{
	return word - address + AHEAD_NEAR < 2 * AHEAD_NEAR;
}

/* Stops at the first remembered frame whose return address is unchanged. */
void
unwind_prefetch(const struct unwinder *unwinder, const void *context)
{
	const struct readable *readable = &unwinder->readable;
	const struct frames *stack = &unwinder->stack;
	const struct walked_frame *frame = &stack->frames[stack->n];
	struct cfi_registers registers;
	uint64_t at, end, near, other, word;

	arch_registers(context, &registers);
	near = other = registers.value[ARCH_RETURN];
	at = registers.value[ARCH_STACK];
	if (at % 8 != 0 || !readable_own(readable, at))
		return;
	end = readable->high - at < AHEAD_BYTES ? readable->high :
	    at + AHEAD_BYTES;
	rules_prefetch(near);
	if (stack->n > 0)
		other = stack->frames[stack->n / 2].address;
	for (; at + 8 <= end; at += 8) {
		memcpy(&word, (const void *)(uintptr_t)at, 8);
		if (!look_ahead_is_near(word, near) &&
		    !look_ahead_is_near(word, other))
			continue;
		while (frame > stack->frames && frame[-1].sp < at + 8)
			frame--;
		if (frame > stack->frames && frame[-1].sp == at + 8 &&
		    frame[-1].address + 1 == word)
			break;
		rules_prefetch((word - 1) | RULES_RETURN);
	}
}
