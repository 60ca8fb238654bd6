/* SPDX-License-Identifier: MIT */
/* alternate.h -- alternate stacks with room for stopped system calls.
 *
 * A system call that is stopped (lib/sources/dispatch.h) brings a signal
 * wherever it is made, and that cannot wait: on a small alternate stack, below
 * a handler of the program, there would be no room for it.  So a thread whose
 * calls are stopped gets a larger one of ours in place of a small one.  The
 * program sees its own.
 */
#ifndef CPPROF_ALTERNATE_H
#define CPPROF_ALTERNATE_H

#include <signal.h>
#include <stddef.h>

/* For the program, as sigaltstack(2).  Any thread. */
int alternate_set(const stack_t *stack, stack_t *old);

/*
 * The program is about to have an alternate stack of that size: where that is
 * too small for ticks, they wait or do without it.  Any thread; not from a
 * handler.
 */
void alternate_fit(size_t size);

/*
 * The calling thread's calls are about to be stopped: the stack that it has,
 * unless it is on it, is replaced if it is small.
 */
void alternate_begin(void);

/* The calling thread ends, and makes its calls itself again. */
void alternate_end(void);

#endif
