/* SPDX-License-Identifier: MIT */
/* trampoline.h -- a mark on the stack that tells how much of it has changed.
 *
 * The return address of one frame of the thread's stack is replaced by that of
 * a stub.  As long as it stands there, no frame further out has returned, and
 * what the unwinder remembers of them holds without a look: a sample costs
 * only what lies above the mark.  When the frame returns, the stub goes on to
 * the true caller and sets the mark anew, further out.  Each such hit is one
 * return seen, which is what return counts count.
 *
 * What makes it safe is one rule: a true return address is found by the place
 * it was taken from, in a table of the process, and it stays there as long as
 * any copy of the stub's address may be left, in the slot itself or in
 * something that has read it (an unwinder in the middle of its walk, a saved
 * context).  So a stub that was forgotten, or is met on another thread or in a
 * forked child, still returns where it must; all other state is there for speed
 * and may be lost at any instant.  The stub preserves all registers and flags,
 * has unwind tables, so that exceptions, cancellation, backtrace and debuggers
 * pass through it, and is not used at all where something else reads return
 * addresses (lib/unwind/traits.h) or checks them (user shadow stacks).
 *
 * Source: Froyd, Mellor-Crummey & Fowler 2004, sections 2.2, 2.3 and 3.4.
 */
#ifndef CPPROF_TRAMPOLINE_H
#define CPPROF_TRAMPOLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/unwind/unwinder.h"

enum trampoline_use {
	TRAMPOLINE_NEVER,	/* the default, until told */
	TRAMPOLINE_DEEP,	/* where a stack is so deep that it pays */
	TRAMPOLINE_ALWAYS	/* and count returns */
};

/*
 * What the process wants; false if it may not have that, and then it is
 * TRAMPOLINE_NEVER.  From the constructor.
 */
bool trampoline_begin(enum trampoline_use use);

/*
 * The unwinder whose marks the calling thread's returns move; NULL: none any
 * more, and its mark is taken back.  Async-signal-safe.
 */
void trampoline_attach(struct unwinder *unwinder);

/*
 * After a sample, when all frames have their nodes: sets the mark where it is
 * wanted, or leaves it.  On the thread, with all signals blocked or ticks held
 * off; async-signal-safe.
 */
void trampoline_place(struct unwinder *unwinder);

/* Takes the mark back.  On the thread; async-signal-safe. */
void trampoline_withdraw(struct unwinder *unwinder);

/* Forgets the mark of a thread whose stack is gone.  Async-signal-safe. */
void trampoline_forget(struct unwinder *unwinder);

/*
 * Before the thread leaves frames otherwise than by returning: longjmp.
 * Async-signal-safe.
 */
void trampoline_before_jump(void);

/* The stub, and all code that runs in its place. */
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
 * The true return address of a slot that holds the stub, found by the stack
 * pointer after the return; 0 if none is known.  Async-signal-safe.
 */
uint64_t trampoline_true_return(uint64_t cfa);

#endif
