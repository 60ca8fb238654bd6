/* SPDX-License-Identifier: MIT */
/* trampoline.c -- sets the mark, moves it, takes it back.
 *
 * trampoline_hit runs wherever the program returns, and may be interrupted at
 * any instruction, and left for good, by the program's own signal handlers.
 * Ticks that find it on the stack are deferred (see unwind), so that it and
 * the sampler do not work on one unwinder at once; if that should fail, what it
 * reads is memory that stays mapped, and what it writes is checked against the
 * stack and the table.
 *
 * An entry of the table may be used for another slot only when nothing can
 * come for it any more: the frame was seen to return; or the mark was taken
 * back and since then the slot was overwritten, so that the frame is gone; or
 * the thread is.  Otherwise the mark is not set there: the next frame out has
 * another entry.
 */
/* Callers keep values in vector registers across calls that use none. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("general-regs-only"))), \
    apply_to = function)
#else
#pragma GCC target("general-regs-only")
#endif

#include "lib/unwind/trampoline.h"

#include "lib/base/arch.h"
#include "lib/base/big.h"
#include "lib/base/sampling.h"
#include "lib/unwind/traits.h"
#include "lib/unwind/trampoline-table.h"

/* So that ticks in it can be told; calls nothing but inline functions. */
#define IN_STUB __attribute__((section("cpprof_trampoline")))

/*
 * A sample that had to look at more frames than DEEP_FRAMES sets the mark
 * DEEP_DISTANCE below the innermost: the frames between are compared, and
 * returns among them cost nothing.  Measured: a comparison costs about as much
 * as a hit.
 */
#define DEEP_FRAMES 192
#define DEEP_DISTANCE 64
#define MAX_TRIES 32		/* frames looked at for a slot to mark */

struct trampoline_entry trampoline_table[TRAMPOLINE_ENTRIES] BIG_TABLE;

static enum trampoline_use wanted_use;
static __thread struct unwinder *attached;

static inline struct trampoline_entry *
entry_of(uint64_t cfa)
{
	return &trampoline_table[((cfa ^ cfa >> 20) & TRAMPOLINE_KEY_MASK) / 8];
}

static inline uint64_t *
slot_of(uint64_t cfa)
{
	return (uint64_t *)(uintptr_t)(cfa - 8);
}

uint64_t
trampoline_true_return(uint64_t cfa)
{
	const struct trampoline_entry *entry = entry_of(cfa);

	return atomic_load_explicit(&entry->cfa, memory_order_acquire) == cfa ?
	    entry->true_return : 0;
}

bool
trampoline_begin(enum trampoline_use use)
{
	if (traits_forbid_trampoline() || arch_has_shadow_stack())
		use = TRAMPOLINE_NEVER;
	wanted_use = use;
	return use != TRAMPOLINE_NEVER;
}

/* Whether nothing can come for an entry any more.  It is locked. */
static inline bool IN_STUB
is_free(const struct trampoline_entry *entry, const struct unwinder *unwinder)
{
	uint64_t cfa, word;

	if (entry->state == TRAMPOLINE_EMPTY ||
	    entry->state == TRAMPOLINE_FIRED ||
	    entry->generation != entry->owner->trampoline.generation)
		return true;
	cfa = atomic_load_explicit(&entry->cfa, memory_order_relaxed);
	if (entry->state != TRAMPOLINE_RESTORED || entry->owner != unwinder ||
	    !readable_own(&unwinder->readable, cfa - 8))
		return false;
	word = *(volatile uint64_t *)slot_of(cfa);
	return word != entry->true_return && !trampoline_is_stub(word);
}

/* Enters a slot, and its content, in the table; false: it has no room. */
static inline bool IN_STUB
enter(struct unwinder *unwinder, uint64_t cfa, uint64_t true_return)
{
	struct trampoline_entry *entry = entry_of(cfa);
	bool ok;

	/* Who is interrupted in here for good blocks the entry. */
	if (atomic_exchange_explicit(&entry->is_locked, 1,
	    memory_order_acquire) != 0)
		return false;
	ok = (atomic_load_explicit(&entry->cfa, memory_order_relaxed) == cfa &&
	    entry->true_return == true_return) || is_free(entry, unwinder);
	if (ok) {
		atomic_store_explicit(&entry->cfa, cfa, memory_order_relaxed);
		entry->true_return = true_return;
		entry->owner = unwinder;
		entry->generation = unwinder->trampoline.generation;
		entry->state = TRAMPOLINE_SET;
	}
	atomic_store_explicit(&entry->is_locked, 0, memory_order_release);
	return ok;
}

/*
 * Marks the return address of frame `index`, if the frame has made a call, is
 * left by tables that say where the address is, and returns to code with
 * tables; and if the stack says so too.
 */
static inline bool IN_STUB
set_mark(struct unwinder *unwinder, size_t index)
{
	struct trampoline *mark = &unwinder->trampoline;
	const struct frame *frame = &unwinder->stack.frames[index];
	const struct frame *caller = frame - 1;
	uint64_t cfa = caller->sp;
	volatile uint64_t *slot = slot_of(cfa);

	if ((frame->flags & (FRAME_IN_CALL | FRAME_EXACT)) != FRAME_IN_CALL ||
	    (caller->flags & (FRAME_HAS_TABLE | FRAME_EXACT)) !=
	    FRAME_HAS_TABLE ||
	    !readable_own(&unwinder->readable, cfa - 8) ||
	    *slot != caller->address + 1 || arch_has_shadow_stack() ||
	    !enter(unwinder, cfa, caller->address + 1))
		return false;
	mark->index = index;
	mark->cfa = cfa;
	*slot = (uint64_t)(uintptr_t)trampoline_stub;
	return true;
}

/* Marks the first that will do from frame `index` outwards. */
static inline bool IN_STUB
set_mark_from(struct unwinder *unwinder, size_t index)
{
	unsigned tries;

	for (tries = 0; index > 0 && tries < MAX_TRIES; tries++, index--)
		if (index == unwinder->trampoline.index ||
		    set_mark(unwinder, index))
			return true;
	return false;
}

static inline void IN_STUB
count_return(const struct frame *frame)
{
	struct frame_returns *returns = frame->returns;

	/* In a child of a raw fork what it points to is not there. */
	if (returns == NULL || sampling_same_process == 0)
		return;
	__atomic_store_n(&returns->n, returns->n + 1, __ATOMIC_RELAXED);
	__atomic_store_n(returns->copy, returns->n, __ATOMIC_RELAXED);
}

/* The marked frame has returned: the mark goes out, by the present stride. */
static inline void IN_STUB
move_mark(struct unwinder *unwinder)
{
	struct trampoline *mark = &unwinder->trampoline;
	size_t index = mark->index, stride = 1;

	mark->cfa = 0;
	mark->index = 0;
	if (index >= unwinder->stack.n)
		return;
	if (wanted_use == TRAMPOLINE_ALWAYS) {
		count_return(&unwinder->stack.frames[index]);
	} else {
		stride = mark->stride;
		mark->stride *= 2;
	}
	unwinder->stack.n = index;
	if (index > stride)
		set_mark_from(unwinder, index - stride);
}

void trampoline_hit(uint64_t cfa);
void trampoline_landed(uint64_t cfa);

/*
 * A frame has returned to the stub: its slot, right below the CFA, is given the
 * true return address, to which the stub goes on.
 */
void IN_STUB
trampoline_hit(uint64_t cfa)
{
	struct trampoline_entry *entry = entry_of(cfa);
	struct unwinder *unwinder = attached;

	if (atomic_load_explicit(&entry->cfa, memory_order_relaxed) != cfa)
		__builtin_trap();	/* there is nowhere to go */
	*(volatile uint64_t *)slot_of(cfa) = entry->true_return;
	if (unwinder != NULL && unwinder->trampoline.cfa == cfa)
		move_mark(unwinder);
	entry->state = TRAMPOLINE_FIRED;
}

/* The same where an exception has thrown the marked frame away. */
void IN_STUB
trampoline_landed(uint64_t cfa)
{
	struct trampoline_entry *entry = entry_of(cfa);
	struct unwinder *unwinder = attached;

	*(volatile uint64_t *)slot_of(cfa) = entry->true_return;
	entry->state = TRAMPOLINE_FIRED;
	if (unwinder != NULL && unwinder->trampoline.cfa == cfa) {
		unwinder->trampoline.cfa = 0;
		unwinder->trampoline.index = 0;
	}
}

void
trampoline_forget(struct unwinder *unwinder)
{
	unwinder->trampoline.cfa = 0;
	unwinder->trampoline.index = 0;
	unwinder->trampoline.generation++;
}

/* Gives a slot its true return address back, if it still has the stub's. */
static void
restore(uint64_t cfa, enum trampoline_state state)
{
	struct trampoline_entry *entry = entry_of(cfa);
	volatile uint64_t *slot = slot_of(cfa);

	if (trampoline_is_stub(*slot)) {
		*slot = entry->true_return;
		entry->state = (uint16_t)state;
	} else if (entry->state == TRAMPOLINE_SET) {
		entry->state = TRAMPOLINE_LOST;
	}
}

void
trampoline_withdraw(struct unwinder *unwinder)
{
	const uint64_t cfa = unwinder->trampoline.cfa;

	unwinder->trampoline.cfa = 0;
	unwinder->trampoline.index = 0;
	if (cfa != 0)
		restore(cfa, TRAMPOLINE_RESTORED);
}

void
trampoline_attach(struct unwinder *unwinder)
{
	if (attached != NULL)
		trampoline_withdraw(attached);
	attached = unwinder;
}

void
trampoline_before_jump(void)
{
	if (attached != NULL)
		trampoline_withdraw(attached);
}

/* The mark where this sample wants it: the frame, or 0 to leave it alone. */
static size_t
wanted_index(const struct unwinder *unwinder)
{
	const size_t n = unwinder->stack.n;

	if (unwinder->end != UNWIND_COMPLETE || n < 3 ||
	    (unwinder->stack.frames[n - 1].flags & FRAME_UNWINDING) != 0)
		return 0;
	/* The innermost frame may be about to read its return address. */
	if (wanted_use == TRAMPOLINE_ALWAYS)
		return n - 2;
	if (unwinder->n_walked + unwinder->n_compared <= DEEP_FRAMES)
		return 0;
	return n > DEEP_DISTANCE + 1 ? n - 1 - DEEP_DISTANCE : 0;
}

/*
 * What becomes of the entry of a mark that this walk has met.  A function that
 * waits for one it has called, with nobody unwinding, is not one that was just
 * about to save its own return address: then no copy of the stub is left.
 */
static enum trampoline_state
state_after(const struct unwinder *unwinder, size_t index)
{
	const struct frame *frame = &unwinder->stack.frames[index];

	return index + 1 < unwinder->stack.n &&
	    (frame->flags & (FRAME_IN_CALL | FRAME_EXACT)) == FRAME_IN_CALL ?
	    TRAMPOLINE_FIRED : TRAMPOLINE_RESTORED;
}

void
trampoline_place(struct unwinder *unwinder)
{
	struct trampoline *mark = &unwinder->trampoline;
	struct trampoline old = *mark;
	size_t index;

	mark->stride = DEEP_DISTANCE;
	if (wanted_use == TRAMPOLINE_NEVER || unwinder != attached)
		return;
	if (traits_forbid_trampoline()) {
		trampoline_withdraw(unwinder);
		return;
	}
	index = wanted_index(unwinder);
	if (index == 0 || index == old.index)
		return;
	if (!set_mark_from(unwinder, index) || mark->cfa == old.cfa)
		return;
	/* After the new one, which so cannot get the old one's entry. */
	if (old.cfa != 0)
		restore(old.cfa, state_after(unwinder, old.index));
}
