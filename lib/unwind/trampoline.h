/* SPDX-License-Identifier: MIT */
/* trampoline.h -- a mark on the stack that shows how much of it has changed.
 *
 * The return address of one frame of the thread's stack is replaced with that
 * of a stub.  As long as it is there, no frame further out has returned, so the
 * remembered frames further out are valid without examining them.  A sample
 * then costs only the frames inside the mark.  When the marked frame returns,
 * the stub continues at the true caller and sets a new mark further out.  If
 * all returns are to be counted, each such hit counts as one.
 *
 * Safety rests on one rule: the true return address is stored in a table of the
 * process, found by the address of its slot.  It stays there as long as any
 * copy of the stub's address may exist, in the slot itself or in whatever has
 * read it (an unwinder in the middle of a walk, a saved context).  So a stub
 * that was forgotten, or is met on another thread or in a forked child, still
 * returns to the right place.  All other state only serves speed and may be
 * lost at any time.  The stub preserves all registers and flags.  It has unwind
 * tables, so that exceptions, cancellation, backtrace and debuggers can pass
 * it.  It is not used if something else reads return addresses
 * (lib/unwind/traits.h) or checks them (user shadow stacks).
 *
 * All functions: async-signal-safe, on the unwinder's thread, unless stated
 * otherwise.
 *
 * Source: Froyd, Mellor-Crummey & Fowler 2004, sections 2.2, 2.3 and 3.4.
 */
#ifndef CPPROF_TRAMPOLINE_H
#define CPPROF_TRAMPOLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/attributes.h"
#include "lib/unwind/unwinder.h"

enum trampoline_use {
	TRAMPOLINE_NEVER,	/* the default */
	TRAMPOLINE_DEEP,	/* on stacks so deep that it saves time */
	TRAMPOLINE_ALWAYS	/* on all stacks, to count returns */
};

/*
 * Sets when to use marks.  If the process must not use them, returns false and
 * uses none.  From the constructor.
 */
bool trampoline_begin(enum trampoline_use use);

/*
 * Sets the unwinder whose marks the calling thread moves when it returns.
 * NULL: none, and the present mark is taken back.
 */
void trampoline_attach(struct unwinder *unwinder);

/*
 * To be called after a sample, when all frames have their nodes: sets the mark
 * in the best place, or leaves it where it is.  With all signals blocked or
 * ticks held off.
 */
void trampoline_place(struct unwinder *unwinder);

/* Takes the mark back. */
void trampoline_withdraw(struct unwinder *unwinder);

/* Forgets the mark of a thread whose stack is gone.  Any thread. */
RUNS_ONCE void trampoline_forget(struct unwinder *unwinder);

/*
 * The same of a thread that goes on, whose stack may still have marks.  Their
 * entries in the table stay its own.
 */
void trampoline_begin_again(struct unwinder *unwinder);

/*
 * Marks are not moved any more, and no return counts, until trampoline_begin;
 * those that are left only return to where they should.  A thread may just be
 * moving one, and be stopped there for any time: then trampoline_runs is true,
 * and it may use everything that its frames refer to.  It is also true if the
 * program has jumped out of the stub, until the thread's next sample.  Any
 * thread.
 */
void trampoline_end(void);
bool trampoline_runs(const struct unwinder *unwinder);

/* A whole walk of the thread's stack has not met the stub. */
void trampoline_is_outside(struct unwinder *unwinder);

/*
 * To be called before the thread leaves frames other than by returning
 * (longjmp).
 */
void trampoline_before_jump(void);

/*
 * Marks the call of frame `index` of the unwinder's stack, as its call number
 * `which`, which has no mark.  Then unwinder->calls[which] says when the call
 * returned.  False if the frame cannot be marked.  As trampoline_place, with
 * which it gets on: one slot may have marks of both kinds.
 */
bool trampoline_mark_call(struct unwinder *unwinder, unsigned which,
    size_t index);

/*
 * Whether that frame has the mark of call number `which`, which has not
 * returned.
 */
bool trampoline_is_marked(const struct unwinder *unwinder, unsigned which,
    size_t index);

/* Whether the slot below that CFA has a call's mark. */
bool trampoline_is_call(const struct unwinder *unwinder, uint64_t cfa);

/*
 * Takes the mark of that call back, if it has one; of all calls, whose ends are
 * not known then.
 */
void trampoline_unmark_call(struct unwinder *unwinder, unsigned which);
void trampoline_withdraw_calls(struct unwinder *unwinder);

/* Forgets that there were calls. */
void trampoline_forget_calls(struct unwinder *unwinder);

/*
 * From now on, the ends of calls are not asked from the clock, and so not
 * known: the program has forbidden itself system calls.  Any thread.
 */
void trampoline_end_calls(void);

/* The stub, and the section of all code that runs in it. */
extern const char trampoline_stub[] __attribute__((visibility("hidden")));
extern const char __start_cpprof_trampoline[], __stop_cpprof_trampoline[]
    __attribute__((visibility("hidden")));

static inline bool
trampoline_is_stub(uint64_t address)
{
	return address == (uint64_t)(uintptr_t)trampoline_stub;
}

static inline bool
trampoline_has(uint64_t address)
{
	return address - (uint64_t)(uintptr_t)__start_cpprof_trampoline <
	    (uint64_t)(__stop_cpprof_trampoline - __start_cpprof_trampoline);
}

/*
 * The true return address of a slot that holds the stub's, found by the stack
 * pointer after the return; 0: not known.  Any thread.
 */
uint64_t trampoline_true_return(uint64_t cfa);

#endif
