/* SPDX-License-Identifier: MIT */
/* alternate.h -- alternate stacks with room for stopped system calls.
 *
 * A stopped system call (lib/sources/dispatch.h) raises a signal wherever it is
 * made, and the signal cannot wait.  In a handler of the program, a small
 * alternate stack has no room for it.  So a thread whose calls are stopped gets
 * a larger stack of ours in place of a small one.  The program sees its own.
 *
 * All functions: on the calling thread; async-signal-safe.
 */
#ifndef CPPROF_ALTERNATE_H
#define CPPROF_ALTERNATE_H

#include <signal.h>
#include <stddef.h>

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

#endif
