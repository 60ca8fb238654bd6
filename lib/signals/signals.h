/* SPDX-License-Identifier: MIT */
/* signals.h -- our signals, and the program's own use of them.
 *
 * The program may use these signals as it likes: it sees the masks and actions
 * that it asked for, while the kernel has our handlers and the signals stay
 * unblocked.
 *
 * All functions: async-signal-safe, on the calling thread, unless stated
 * otherwise.
 */
#ifndef CPPROF_SIGNALS_H
#define CPPROF_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* An action as the kernel takes it. */
struct kernel_action {
	union {
		__sighandler_t plain;
		void (*with_info)(int, siginfo_t *, void *);
	} handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define KERNEL_MASK_SIZE 8		/* of a mask of signals */

/* ---- action.c ---- */

/*
 * Which signals the collector uses.
 *
 * Ticks come as SIGRTMAX - 1.  SIGPROF belongs to programs and other profilers:
 * some install a handler for it and die of a signal that they did not ask for.
 * Real-time signals near the top are hardly ever used.  The kernel sends perf
 * events as SIGTRAP and floating-point exceptions as SIGFPE; these are ours
 * only if such events are counted.  SIGBUS comes if somebody has truncated the
 * recording's file (lib/store/datafile.h).  It is always ours, although it is
 * hardly ever meant for us.
 *
 * All functions: async-signal-safe, any thread.
 */

enum our_signal {
	OUR_TICKS,
	OUR_TRAPS,
	OUR_EXCEPTIONS,
	OUR_BUS_ERRORS,
	OUR_SIGNALS
};

typedef void signals_handler(int number, siginfo_t *info, void *context);

/* Our handlers; NULL: the signal is not ours. */
extern signals_handler *our_handlers[OUR_SIGNALS];

/* The signal's number, a constant of the process. */
int signals_number(enum our_signal which);

/* Which of our signals has that number; OUR_SIGNALS: none. */
enum our_signal signals_find(int number);

/* Whether sampling is on and a signal is one of ours. */
bool signals_are_ours(int number);

/*
 * Actions of the program's own signals, and the stacks that they use.
 *
 * A tick needs some stack.  In a handler of the program on a small alternate
 * stack there is too little, so ticks wait.  This is done by masks of the
 * program's actions, which the program must not see.
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.
 */

/*
 * Returns the action to give to the kernel instead of `action`: `action`
 * itself, or *copy with our signals added to its mask or removed from it.
 */
const struct sigaction *action_adapt(const struct sigaction *action,
    struct sigaction *copy);

/*
 * To be called after the kernel has accepted `action` (NULL: none was set).
 * Notes the mask that the program asked for, and corrects that in *old, unless
 * NULL, to what it asked for before.
 */
void action_note(int number, const struct sigaction *action,
    struct sigaction *old);

/*
 * To be called before the program gets an alternate stack of `size` bytes.
 * False if not even a tick fits on it.  Not from a handler.
 */
bool action_fit_stack(size_t size);

/*
 * Whether ticks must wait on a stack of `size` bytes; the size of a stack on
 * which they need not and on which system calls may be stopped.
 */
bool action_is_small(size_t size);
size_t action_size_for_calls(void);

/* ---- alternate.c ---- */

/*
 * Alternate stacks with room for stopped system calls.
 *
 * A stopped system call (lib/sources/sources.h) raises a signal wherever it is
 * made, and the signal cannot wait.  In a handler of the program, a small
 * alternate stack has no room for it.  So a thread whose calls are stopped gets
 * a larger stack of ours in place of a small one.  The program sees its own.
 *
 * All functions: on the calling thread; async-signal-safe.
 */

/* As sigaltstack(2), for the program. */
int alternate_set(const stack_t *stack, stack_t *old);

/*
 * To be called before the program gets an alternate stack of `size` bytes.  If
 * that is too small for ticks, they will wait or not use it.
 */
void alternate_fit(size_t size);

/*
 * To be called before the calling thread's calls are stopped.  If it has a
 * small alternate stack and is not running on it, replaces it.
 */
void alternate_begin(void);

/*
 * To be called when the calling thread ends, after its calls are no longer
 * stopped.
 */
void alternate_end(void);

/* ---- sigsys.c ---- */

/*
 * Keeps SIGSYS unblocked and ours while system calls are stopped.
 *
 * In a thread whose calls are stopped (lib/sources/sources.h), SIGSYS must
 * never be blocked, and its action must stay ours.  So system calls that would
 * change that are made here, or with another mask.  The program's own action
 * for SIGSYS is kept, and applied when a SIGSYS comes that is not ours (for
 * example from a seccomp filter).  But the program cannot block it.
 *
 * All functions: async-signal-safe, on the calling thread.
 */

/*
 * Installs our action, the first time, and unblocks the signal.  From then on,
 * the handlers of our other signals return through this library's own code,
 * which is not stopped.
 */
void sigsys_take(signals_handler *handler);

/*
 * To be called after the action of one of our signals was set: makes its
 * handler return through this library's code.
 */
void sigsys_set_restorer(int number);

/*
 * Makes the kernel call `handler` directly.  A thread sanitizer's sigaction
 * installs its own handler, which would call ours only at the program's next
 * library call, with an outdated context.
 */
void sigsys_bypass_sanitizer(int number, signals_handler *handler);

/*
 * Makes a stopped system call that concerns SIGSYS.  True: the call was made,
 * and its result is in the context.  False: it is still to be made, with the
 * arguments now in the context.
 */
bool sigsys_make(ucontext_t *call);

/* Handles a SIGSYS that the program or one of its filters has caused. */
void sigsys_pass_on(int number, siginfo_t *info, void *context);

/* ---- interrupted.c ---- */

/*
 * In a handler of ours.  If it has interrupted a system call that is to be made
 * again, the call ends with EINTR, as if our action had no SA_RESTART; so does
 * signals_let_interrupt, at the end of the handler, if the program's handler that
 * follows has none.
 */
void signals_end_call(ucontext_t *context);
void signals_let_interrupt(ucontext_t *context);

/* ---- signals.c ---- */

/*
 * Block our signals in this thread; unblock those that should not be blocked,
 * which are all of them while sampling is on.  signals_block returns whether
 * ticks were unblocked.  Both are raw system calls, so a forked child can make
 * them.
 */
bool signals_block(void);
void signals_unblock(void);

/* Returns `set`, or *copy without our signals; NULL if `set` is NULL. */
const sigset_t *signals_without_ours(const sigset_t *set, sigset_t *copy);

/*
 * Fills a set with all signals, also those that the C library hides and
 * sigfillset leaves out.  The one that cancels a thread would unwind a handler
 * of ours.
 */
void signals_fill(sigset_t *set);

/*
 * The signals blocked while the collector works: all but SIGBUS if it is ours.
 * A fault whose signal is blocked would kill the process.
 */
uint64_t signals_blocked_for_work(void);

/*
 * Unblocks SIGBUS for work on the file outside handlers.  Returns whether it
 * was blocked, for signals_block_bus_again.
 */
bool signals_unblock_bus(void);

/*
 * The same for frequent work: only if a handler has found SIGBUS blocked
 * before.
 */
bool signals_unblock_bus_if_needed(void);

void signals_block_bus_again(bool again);

/*
 * In a handler of ours: unblocks SIGBUS until the handler returns, if the
 * program had blocked it without the C library.
 */
void signals_unblock_bus_in_handler(const void *context);

/*
 * Installs our handler for a signal.  It runs with all signals blocked; that of
 * OUR_BUS_ERRORS runs like the program's own, with the same stack and mask.
 * False with errno set.  From the constructor.
 */
bool signals_take(enum our_signal which, signals_handler *handler);

/*
 * Sets the function that stops the sampling of the calling thread when a signal
 * comes that the program has sent and blocked (signals_have_yielded).
 * `context` is what the signal has interrupted.  From the constructor, before
 * signals_take.
 */
void signals_on_yield(void (*stop)(void *context));

/* From now on, the handlers run on the stack that they interrupt. */
void signals_avoid_alternate_stack(void);

/*
 * Gives the signals back to the program, for good.  In a forked child, which
 * has only one thread.
 */
void signals_give_back(void);

/*
 * Discards signals of ours that are pending in any thread, before they are given
 * back.  What would send more has been stopped, and so has all sampling.
 */
void signals_discard(void);

/*
 * Our signals as a set, bit number - 1, which threads must not block.
 */
uint64_t signals_wanted(void);

/*
 * Before exec: makes what the new program inherits (the thread's mask and
 * ignored signals) as this program sees it.  If exec fails, signals_undo_exec
 * takes that back.  Also in a child of vfork.
 */
void signals_prepare_exec(void);
void signals_undo_exec(void);

/*
 * Defers a signal that has come although a handler of ours, or a sample, had it
 * blocked; it then comes again afterwards.  False if nothing of ours was
 * interrupted.  If several signals raised by instructions are pending and one
 * of them is not blocked, Linux delivers the first of them, blocked or not: a
 * perf event's trap may come with the fault of OUR_BUS_ERRORS.
 */
bool signals_defer(int number, siginfo_t *info, void *context);

/*
 * Handles a signal with one of our numbers that is not ours as the program
 * wants.
 */
void signals_pass_on(int number, siginfo_t *info, void *context);

/*
 * Whether the program sees a signal of ours as blocked in this thread, and
 * changes that.  The kernel does not block it until one comes that the program
 * has sent.  That one is left pending in the kernel, as the program wants, and
 * from then on the thread is not sampled (signals_have_yielded).
 */
bool signals_program_blocks(enum our_signal which);
void signals_set_program_blocks(enum our_signal which, bool is_blocked);
bool signals_have_yielded(void);

/*
 * Whether the thread's whole mask is left to the kernel.  This is the case in a
 * child of vfork from its first change of a signal of ours on.
 */
bool signals_kernel_keeps_mask(bool is_changed);

/*
 * Our signals that the program has blocked, as a set for a new thread; takes
 * over that set in the new thread, together with what is blocked in it before
 * it is sampled.
 */
unsigned signals_program_mask(void);
void signals_inherit(unsigned program_mask);

/* Whether the program has a handler of its own for a signal. */
bool signals_have_action(enum our_signal which);

/*
 * As sigaction(2) for a signal of ours, on the program's own action.  Not from
 * a handler.
 */
void signals_program_action(int number, const struct sigaction *action,
    struct sigaction *old);

#endif
