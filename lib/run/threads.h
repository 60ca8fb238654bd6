/* SPDX-License-Identifier: MIT */
/* threads.h -- states of threads, and who gets them next.
 *
 * A state is one piece of memory, in which each room has its own part
 * (lib/base/thread.h).  A thread that ends gives its state to the next one with
 * the same start routine, so that there are never more states (and trees in the
 * file) than were alive at once.
 */
#ifndef CPPROF_THREADS_H
#define CPPROF_THREADS_H

#include "lib/base/thread.h"

/*
 * A state for a thread that will run `routine`, with an argument for it; an
 * idle one's if that ran the same.  NULL for want of memory.  Not from a
 * handler.
 */
struct thread *threads_take(const void *routine, void *argument);

/* Gives a state back whose thread was not created or has ended. */
void threads_give_back(struct thread *thread);

/* All states there are; a handler may follow their `next`, too. */
struct thread *threads_all(void);

/*
 * First in a thread that is to be sampled, whose stack is at `stack` now and
 * goes up to `stack_end`.  Makes thread_self point to the state.
 * Async-signal-safe.
 */
void threads_begin(struct thread *thread, const void *stack,
    const void *stack_end);

/*
 * The calling thread, which slept, is sampled again.  Async-signal-safe.
 */
void threads_resume_sampling(struct thread *thread);

/*
 * In a forked child: the other threads are gone, and no state has anything in
 * the file.  Async-signal-safe.
 */
void threads_forked(void);

#endif
