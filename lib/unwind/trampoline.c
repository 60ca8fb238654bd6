/* SPDX-License-Identifier: MIT */
/* trampoline.c -- sets the mark, moves it, takes it back.
 *
 * trampoline_hit runs wherever the program returns.  The program's signal
 * handlers may interrupt it at any instruction and never return to it.  Ticks
 * that find it on the stack are deferred (see unwind), so that it and the
 * sampler do not use one unwinder at the same time.  If that fails
 * nevertheless, it only reads memory that stays mapped, and checks what it
 * writes against the stack and the table.
 *
 * An entry of the table may be reused for another slot only if nothing can
 * refer to it any more: the frame was seen to return; or the mark was taken
 * back and the slot was overwritten since, so the frame is gone; or the thread
 * is gone.  Otherwise no mark is set in that frame; the next frame out has
 * another entry.
 */
/* Callers may keep values in vector registers across calls that use none. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("general-regs-only"))), \
    apply_to = function)
#else
#pragma GCC target("general-regs-only")
#endif

#include "lib/unwind/trampoline.h"

#include <sys/syscall.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/sampling.h"
#include "lib/unwind/traits.h"
#include "lib/unwind/trampoline-table.h"

/*
 * A section of its own, so that ticks in this code can be recognised.  Such
 * code may only call inline functions.
 */
#define IN_STUB __attribute__((section("cpprof_trampoline")))

/*
 * A sample that examined more than DEEP_FRAMES frames sets the mark
 * DEEP_DISTANCE frames out from the innermost.  The frames inside the mark are
 * compared at each sample, and their returns cost nothing.  A comparison was
 * measured to cost about as much as a hit of the stub.
 */
#define DEEP_FRAMES 192
#define DEEP_DISTANCE 64
#define MAX_TRIES 32		/* frames examined for one that can be marked */

struct trampoline_entry trampoline_table[TRAMPOLINE_ENTRIES] BIG_TABLE;

static enum trampoline_use wanted_use;
static bool can_mark;
static bool knows_calls = true;	/* their ends */
static _Atomic bool has_ended;	/* the recording, and the process goes on */
static __thread struct unwinder *attached;
static __thread struct unwinder *interrupted;	/* attached before, when the
						   thread moved its mark */

static inline struct trampoline_entry *
entry_of(uint64_t cfa)
{
	return &trampoline_table[((cfa ^ cfa >> 20) & TRAMPOLINE_KEY_MASK) / 8];
}

static inline uint64_t *
trampoline_slot_of(uint64_t cfa)
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
	can_mark = use != TRAMPOLINE_NEVER;
	wanted_use = use;
	atomic_store(&has_ended, false);
	return use != TRAMPOLINE_NEVER;
}

/*
 * Adds a slot and its true return address to the table.  False: something may
 * still refer to the slot whose entry it would need.
 */
static inline bool IN_STUB
trampoline_enter(struct unwinder *unwinder, uint64_t cfa, uint64_t true_return)
{
	struct trampoline_entry *entry = entry_of(cfa);
	uint64_t old, word;
	bool ok;

	/*
	 * A thread that is interrupted here and never returns leaves the entry
	 * locked.
	 */
	if (atomic_exchange_explicit(&entry->is_locked, 1,
	    memory_order_acquire) != 0)
		return false;
	old = atomic_load_explicit(&entry->cfa, memory_order_relaxed);
	ok = (old == cfa && entry->true_return == true_return) ||
	    entry->state == TRAMPOLINE_EMPTY ||
	    entry->state == TRAMPOLINE_FIRED ||
	    entry->generation != entry->owner->trampoline.generation;
	if (!ok && entry->state == TRAMPOLINE_RESTORED &&
	    entry->owner == unwinder &&
	    readable_own(&unwinder->readable, old - 8)) {
		word = *(volatile uint64_t *)trampoline_slot_of(old);
		ok = word != entry->true_return && !trampoline_is_stub(word);
	}
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

/* The call whose mark is in that slot; NULL: none. */
static inline struct call_mark * IN_STUB
call_mark_at(struct unwinder *unwinder, uint64_t cfa)
{
	unsigned i;

	for (i = 0; i < UNWIND_CALLS; i++)
		if (unwinder->calls[i].state == CALL_MARKED &&
		    unwinder->calls[i].cfa == cfa)
			return &unwinder->calls[i];
	return NULL;
}

/*
 * Marks the return address of frame `index`.  Only if the frame has made a
 * call, its return address is known from unwind tables and confirmed by the
 * stack, and it returns to code with tables.
 */
static inline bool IN_STUB
set_mark(struct unwinder *unwinder, size_t index)
{
	struct trampoline *mark = &unwinder->trampoline;
	const struct walked_frame *frame = &unwinder->stack.frames[index];
	const struct walked_frame *caller = frame - 1;
	uint64_t cfa = caller->sp;
	volatile uint64_t *slot = trampoline_slot_of(cfa);

	if ((frame->flags & (FRAME_IN_CALL | FRAME_EXACT)) != FRAME_IN_CALL ||
	    (caller->flags & (FRAME_HAS_TABLE | FRAME_EXACT)) !=
	    FRAME_HAS_TABLE ||
	    !readable_own(&unwinder->readable, cfa - 8))
		return false;
	if (call_mark_at(unwinder, cfa) != NULL &&
	    trampoline_is_stub(*slot)) {
		mark->index = index;
		mark->cfa = cfa;
		return true;
	}
	if (*slot != caller->address + 1 || arch_has_shadow_stack() ||
	    !trampoline_enter(unwinder, cfa, caller->address + 1))
		return false;
	mark->index = index;
	mark->cfa = cfa;
	*slot = (uint64_t)(uintptr_t)trampoline_stub;
	return true;
}

/* Marks the first possible frame from `index` outwards. */
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

/*
 * The marked frame has returned: moves the mark further out by the present
 * stride.
 */
static inline void IN_STUB
move_mark(struct unwinder *unwinder)
{
	struct trampoline *mark = &unwinder->trampoline;
	size_t index = mark->index, stride = 1;
	struct frame_returns *returns;

	mark->cfa = 0;
	mark->index = 0;
	if (index >= unwinder->stack.n || atomic_load(&has_ended))
		return;
	if (wanted_use == TRAMPOLINE_ALWAYS) {
		/*
		 * In a child of a raw fork, the memory that it points to does
		 * not exist.
		 */
		returns = unwinder->stack.frames[index].at.returns;
		if (returns != NULL && sampling_same_process != 0) {
			__atomic_store_n(&returns->n, returns->n + 1,
			    __ATOMIC_RELAXED);
			__atomic_store_n(returns->copy, returns->n,
			    __ATOMIC_RELAXED);
		}
	} else {
		stride = mark->stride;
		mark->stride *= 2;
	}
	unwinder->stack.n = index;
	if (index > stride)
		set_mark_from(unwinder, index - stride);
}

/* A clock's time, by a system call, which needs no stack to speak of. */
static inline uint64_t IN_STUB
ask_clock(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	arch_system_call(SYS_clock_gettime, clock, (long)&now, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The frame with that slot has returned. */
static inline void IN_STUB
end_call(struct unwinder *unwinder, uint64_t cfa)
{
	struct call_mark *call = call_mark_at(unwinder, cfa);

	if (call == NULL)
		return;
	/* In a child of a raw fork, it is the parent's. */
	if (!knows_calls || sampling_same_process == 0) {
		call->state = CALL_UNKNOWN;
		return;
	}
	call->end_ns = ask_clock(CLOCK_MONOTONIC);
	call->end_cpu_ns = ask_clock(CLOCK_THREAD_CPUTIME_ID);
	call->state = CALL_RETURNED;
}

void trampoline_hit(uint64_t cfa);
void trampoline_landed(uint64_t cfa);

/*
 * A frame has returned to the stub.  Stores the true return address in its
 * slot, right below the CFA; the stub then returns there.
 */
void IN_STUB
trampoline_hit(uint64_t cfa)
{
	struct trampoline_entry *entry = entry_of(cfa);
	struct unwinder *unwinder = attached;
	bool was_running;

	if (atomic_load_explicit(&entry->cfa, memory_order_relaxed) != cfa)
		__builtin_trap();	/* there is nowhere to return to */
	*(volatile uint64_t *)trampoline_slot_of(cfa) = entry->true_return;
	if (unwinder != NULL) {
		/*
		 * Whoever ends the recording sets has_ended first and then
		 * looks at is_running; so one of both sees the other.
		 */
		was_running = atomic_exchange(
		    &unwinder->trampoline.is_running, true);
		if (unwinder->trampoline.cfa == cfa)
			move_mark(unwinder);
		end_call(unwinder, cfa);
		atomic_store_explicit(&unwinder->trampoline.is_running,
		    was_running, memory_order_release);
	}
	entry->state = TRAMPOLINE_FIRED;
}

/*
 * The same after an exception has discarded the marked frame.  It was no call's:
 * the personality routine has taken those marks back.
 */
void IN_STUB
trampoline_landed(uint64_t cfa)
{
	struct trampoline_entry *entry = entry_of(cfa);
	struct unwinder *unwinder = attached;

	*(volatile uint64_t *)trampoline_slot_of(cfa) = entry->true_return;
	entry->state = TRAMPOLINE_FIRED;
	if (unwinder != NULL && unwinder->trampoline.cfa == cfa) {
		unwinder->trampoline.cfa = 0;
		unwinder->trampoline.index = 0;
	}
}

void
trampoline_forget_calls(struct unwinder *unwinder)
{
	unsigned i;

	/* Leave untouched memory alone. */
	for (i = 0; i < UNWIND_CALLS; i++)
		if (unwinder->calls[i].state != CALL_UNMARKED)
			unwinder->calls[i].state = CALL_UNMARKED;
}

void
trampoline_begin_again(struct unwinder *unwinder)
{
	trampoline_forget_calls(unwinder);
	unwinder->trampoline.cfa = 0;
	unwinder->trampoline.index = 0;
}

void
trampoline_forget(struct unwinder *unwinder)
{
	trampoline_begin_again(unwinder);
	unwinder->trampoline.generation++;
	if (trampoline_runs(unwinder))
		atomic_store(&unwinder->trampoline.is_running, false);
}

void
trampoline_end(void)
{
	atomic_store(&has_ended, true);
}

bool
trampoline_runs(const struct unwinder *unwinder)
{
	return atomic_load(&unwinder->trampoline.is_running);
}

void
trampoline_is_outside(struct unwinder *unwinder)
{
	if (unwinder != attached)
		return;
	if (trampoline_runs(unwinder))
		atomic_store(&unwinder->trampoline.is_running, false);
	if (interrupted != NULL && interrupted != unwinder)
		atomic_store(&interrupted->trampoline.is_running, false);
	interrupted = NULL;
}

/*
 * Stores the true return address in a slot if it still holds the stub's, and
 * neither kind of mark needs it.
 */
static void
trampoline_restore(struct unwinder *unwinder, uint64_t cfa,
    enum trampoline_state state)
{
	struct trampoline_entry *entry = entry_of(cfa);
	volatile uint64_t *slot = trampoline_slot_of(cfa);

	if (unwinder->trampoline.cfa == cfa ||
	    call_mark_at(unwinder, cfa) != NULL)
		return;
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
		trampoline_restore(unwinder, cfa, TRAMPOLINE_RESTORED);
}

bool
trampoline_is_call(const struct unwinder *unwinder, uint64_t cfa)
{
	unsigned i;

	for (i = 0; i < UNWIND_CALLS; i++)
		if (unwinder->calls[i].state == CALL_MARKED &&
		    unwinder->calls[i].cfa == cfa)
			return trampoline_is_stub(*trampoline_slot_of(cfa));
	return false;
}

void
trampoline_unmark_call(struct unwinder *unwinder, unsigned which)
{
	struct call_mark *call = &unwinder->calls[which];
	const bool was_marked = call->state == CALL_MARKED;

	call->state = CALL_UNMARKED;
	if (was_marked)
		trampoline_restore(unwinder, call->cfa, TRAMPOLINE_RESTORED);
}

void
trampoline_withdraw_calls(struct unwinder *unwinder)
{
	unsigned i;

	for (i = 0; i < UNWIND_CALLS; i++)
		if (unwinder->calls[i].state == CALL_MARKED) {
			trampoline_unmark_call(unwinder, i);
			unwinder->calls[i].state = CALL_UNKNOWN;
		}
}

void
trampoline_end_calls(void)
{
	knows_calls = false;
}

bool
trampoline_mark_call(struct unwinder *unwinder, unsigned which, size_t index)
{
	const struct walked_frame *frame = &unwinder->stack.frames[index];
	const struct walked_frame *caller = frame - 1;
	struct call_mark *call = &unwinder->calls[which];
	volatile uint64_t *slot;
	bool is_shared;

	/*
	 * Unlike the other marks, also in the innermost frame: who asks for this
	 * call accepts that a function that reads its own return address may
	 * get the stub's.
	 */
	if (!can_mark || unwinder != attached || index == 0 || !knows_calls ||
	    (frame->flags & FRAME_IN_CALL) == 0 ||
	    (caller->flags & (FRAME_HAS_TABLE | FRAME_EXACT)) !=
	    FRAME_HAS_TABLE ||
	    !readable_own(&unwinder->readable, caller->sp - 8) ||
	    traits_forbid_trampoline() || arch_has_shadow_stack())
		return false;
	slot = trampoline_slot_of(caller->sp);
	is_shared = (unwinder->trampoline.cfa == caller->sp ||
	    call_mark_at(unwinder, caller->sp) != NULL) &&
	    trampoline_is_stub(*slot);
	if (!is_shared && (*slot != caller->address + 1 ||
	    !trampoline_enter(unwinder, caller->sp, caller->address + 1)))
		return false;
	call->cfa = caller->sp;
	call->end_ns = 0;
	call->state = CALL_MARKED;
	*slot = (uint64_t)(uintptr_t)trampoline_stub;
	return true;
}

bool
trampoline_is_marked(const struct unwinder *unwinder, unsigned which,
    size_t index)
{
	const struct call_mark *call = &unwinder->calls[which];

	return call->state == CALL_MARKED && index > 0 &&
	    unwinder->stack.frames[index - 1].sp == call->cfa &&
	    readable_own(&unwinder->readable, call->cfa - 8) &&
	    trampoline_is_stub(*trampoline_slot_of(call->cfa));
}

void
trampoline_attach(struct unwinder *unwinder)
{
	if (attached != NULL) {
		trampoline_withdraw(attached);
		trampoline_withdraw_calls(attached);
		if (trampoline_runs(attached))
			interrupted = attached;
	}
	attached = unwinder;
}

void
trampoline_before_jump(void)
{
	if (attached == NULL)
		return;
	trampoline_withdraw(attached);
	trampoline_withdraw_calls(attached);
}

void
trampoline_place(struct unwinder *unwinder)
{
	struct trampoline *mark = &unwinder->trampoline;
	const struct walked_frame *frames = unwinder->stack.frames;
	const size_t n = unwinder->stack.n;
	const struct trampoline old = *mark;
	size_t index;
	bool is_left;

	mark->stride = DEEP_DISTANCE;
	if (wanted_use == TRAMPOLINE_NEVER || unwinder != attached)
		return;
	if (traits_forbid_trampoline()) {
		trampoline_withdraw(unwinder);
		return;
	}
	if (unwinder->end != UNWIND_COMPLETE || n < 3 ||
	    (frames[n - 1].flags & FRAME_UNWINDING) != 0)
		return;
	/*
	 * n - 2, because the innermost frame may be about to read its return
	 * address.
	 */
	if (wanted_use == TRAMPOLINE_ALWAYS)
		index = n - 2;
	else if (unwinder->n_walked + unwinder->n_compared > DEEP_FRAMES &&
	    n > DEEP_DISTANCE + 1)
		index = n - 1 - DEEP_DISTANCE;
	else
		return;
	if (index == old.index)
		return;
	if (!set_mark_from(unwinder, index) || mark->cfa == old.cfa)
		return;
	/*
	 * After setting the new mark, which so cannot reuse the old one's
	 * entry.  A function that waits for one that it has called cannot have
	 * just read its own return address.  So if no unwinder is running
	 * either, no copy of the stub's address is left.
	 */
	if (old.cfa == 0)
		return;
	is_left = old.index + 1 < n && (frames[old.index].flags &
	    (FRAME_IN_CALL | FRAME_EXACT)) == FRAME_IN_CALL;
	trampoline_restore(unwinder, old.cfa, is_left ? TRAMPOLINE_FIRED :
	    TRAMPOLINE_RESTORED);
}
