/* SPDX-License-Identifier: MIT */
/* sigsys.h -- keeps SIGSYS unblocked and ours while system calls are stopped.
 *
 * In a thread whose calls are stopped (lib/sources/dispatch.h), SIGSYS must
 * never be blocked, and its action must stay ours.  So system calls that would
 * change that are made here, or with another mask.  The program's own action
 * for SIGSYS is kept, and applied when a SIGSYS comes that is not ours (for
 * example from a seccomp filter).  But the program cannot block it.
 *
 * All functions: async-signal-safe, on the calling thread.
 */
#ifndef CPPROF_SIGSYS_H
#define CPPROF_SIGSYS_H

#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#include "lib/signals/ours.h"

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

#endif
