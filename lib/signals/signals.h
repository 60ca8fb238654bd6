/* SPDX-License-Identifier: MIT */
/* signals.h -- our signals (ours.h), and the program's own use of them.
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
#include <stdint.h>

#include "lib/signals/ours.h"

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
