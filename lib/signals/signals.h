/* SPDX-License-Identifier: MIT */
/* signals.h -- our signals (ours.h), and the program's own use of them.
 *
 * The program may do what it likes with these numbers: it sees what it asked
 * for, while the kernel's handlers stay ours and the signals stay unblocked.
 *
 * All functions: on any thread, for that thread; async-signal-safe unless said
 * otherwise.
 */
#ifndef CPPROF_SIGNALS_H
#define CPPROF_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/signals/ours.h"

/*
 * Blocks ours in this thread, and unblocks those that are to be unblocked: all
 * while sampling is on.  The first returns whether ticks were unblocked.  Both
 * by the kernel's own call: a forked child makes it.
 */
bool signals_block(void);
void signals_unblock(void);

/* *set, or *copy without those; of NULL, NULL. */
const sigset_t *signals_without_ours(const sigset_t *set, sigset_t *copy);

/*
 * All there are, those too that the C library keeps to itself and leaves out
 * of sigfillset: the one that cancels a thread would unwind a handler of ours.
 */
void signals_fill(sigset_t *set);

/*
 * All but SIGBUS if it is ours: what the collector has blocked while it works.
 * A fault whose signal is blocked ends the process.
 */
uint64_t signals_for_work(void);

/*
 * Around work on the file outside handlers: SIGBUS, unless it is unblocked,
 * is so in between.  Returns what to give to signals_refuse_cuts.
 */
bool signals_admit_cuts(void);

/* The same where it is often: only if a handler once found SIGBUS blocked. */
bool signals_admit_cuts_if_known(void);

void signals_refuse_cuts(bool again);

/*
 * In a handler of ours, where the program may have had SIGBUS blocked by other
 * means than the C library: unblocked until the handler returns.
 */
void signals_allow_cuts(const void *context);

/*
 * Makes one of them ours; our handler then runs with all signals blocked, but
 * that of OUR_CUTS as the program's own would: same stack, same mask.
 * From the constructor; 0, or -1 with errno.
 */
int signals_take(enum our_signal which, signals_handler *handler);

/*
 * What stops the sampling of the calling thread when one of our signals comes
 * that the program sent to itself and has blocked (signals_have_yielded); the
 * context is what the signal has interrupted.  From the constructor, before
 * signals_take.
 */
void signals_on_yield(void (*stop)(void *context));

/* From now on the handlers run on the stack that they interrupt. */
void signals_avoid_alternate_stack(void);

/*
 * Gives them back to the program, for good.  In a forked child, which has one
 * thread.  Async-signal-safe.
 */
void signals_give_back(void);

/*
 * Before another program takes the place of this one: what it inherits, the
 * calling thread's mask and what is ignored, becomes what this program believes
 * of our signals; and should that fail, ours again.  Also in a child of vfork.
 */
void signals_bequeath(void);
void signals_keep(void);

/*
 * Whether a signal came although a handler of ours, or a sample, has it
 * blocked; it then comes again when that is over.  Linux hands out the first
 * of several pending signals of instructions, blocked or not, if any of them
 * is not: with the fault of OUR_CUTS a perf event's trap may come.
 */
bool signals_put_off(int number, siginfo_t *info, void *context);

/* One of our numbers came that is not ours: what the program wanted. */
void signals_hand_on(int number, siginfo_t *info, void *context);

/*
 * Whether the program believes that a signal of ours is blocked in this
 * thread.  It is not, until one comes that the program sent: that one is then
 * held back by the kernel as the program wants, and the thread is not sampled
 * any more (signals_have_yielded).
 */
bool signals_are_believed_blocked(enum our_signal which);
void signals_believe_blocked(enum our_signal which, bool is_blocked);
bool signals_have_yielded(void);

/*
 * Whether the thread's mask is only the kernel's to keep, who then has all of
 * it: in a child of vfork, from its first change of what is believed on.
 */
bool signals_leave_mask(bool is_changed);

/*
 * A new thread has the beliefs, a set, of the thread that makes it; and what is
 * blocked in it before it is sampled, it believes to be blocked.
 */
unsigned signals_beliefs(void);
void signals_inherit(unsigned beliefs);

/* Whether the program has an action of its own for it, neither default nor
 * none.  Async-signal-safe. */
bool signals_have_action(enum our_signal which);

/*
 * The program's own idea of the action of a signal of ours: as sigaction(2).
 * Not from the handler.
 */
void signals_program_action(int number, const struct sigaction *action,
    struct sigaction *old);

#endif
