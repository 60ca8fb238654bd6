/* SPDX-License-Identifier: MIT */
/* sigsys.h -- SIGSYS, where stopped system calls need it.
 *
 * In a thread whose calls are stopped (lib/sources/dispatch.h) it must never be blocked, and the action
 * must stay ours.  So the calls that would change that are made here, or with
 * another mask.  What the program wants of SIGSYS itself is kept, and done when
 * one comes that is not ours (from a seccomp filter, say); but it cannot block
 * it.
 *
 * All functions: async-signal-safe; of the calling thread.
 */
#ifndef CPPROF_SIGSYS_H
#define CPPROF_SIGSYS_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "lib/signals/ours.h"

/*
 * Makes its action ours, the first time, and unblocks it.  From then on the
 * handlers of our other signals return from this library's own code, which is
 * not stopped.
 */
void sigsys_take(signals_handler *handler);

/* The action of a signal of ours has been set anew: the same for that. */
void sigsys_return_by_ours(int number);

/*
 * Makes the kernel call a handler that sigaction has set.  A thread sanitizer's
 * sigaction sets a handler of its own, which calls ours at the program's next
 * library call, with a context that is out of date by then.
 */
void sigsys_handle_at_once(int number, signals_handler *handler);

/*
 * A system call that was stopped: whether it is done, its result in the
 * context; else it is to be made, with what its arguments are then.
 */
bool sigsys_make(ucontext_t *call);

/* One came that the program, or a filter that it has set, has caused. */
void sigsys_hand_on(int number, siginfo_t *info, void *context);

#endif
