/* SPDX-License-Identifier: MIT */
/* threads.h -- the states of threads, and which thread gets them next.
 *
 * A state is one block of memory, in which each room has its own part
 * (lib/base/thread.h).  A thread that ends gives its state to the next one with
 * the same start routine.  So there are never more states than there were
 * threads at once, and not many more trees in the file
 * (lib/store/thread-file.c).
 */
#ifndef CPPROF_THREADS_H
#define CPPROF_THREADS_H

#include "lib/base/thread.h"

struct leftover;

/*
 * Returns a state for a thread that will run `routine` with `argument`: an idle
 * one if its last thread ran the same.  NULL if there is no memory.  Not from a
 * handler.
 */
struct thread *threads_take(const void *routine, void *argument);

/*
 * Gives back a state whose thread was not created or has ended.  Not from a
 * handler.
 */
void threads_give_back(struct thread *thread);

/* The list of all states.  Async-signal-safe. */
struct thread *threads_all(void);

/* What ended threads have left, for each start routine.  Async-signal-safe. */
struct leftover *threads_leftovers(void);

/*
 * First in a thread that is to be sampled: sets up its state and makes
 * thread_self point to it.  Its stack is at `stack` now and ends at
 * `stack_end`.  Async-signal-safe.
 */
void threads_begin(struct thread *thread, const void *stack,
    const void *stack_end);

/*
 * Samples the calling thread again, which was asleep.  Async-signal-safe.
 */
void threads_resume_sampling(struct thread *thread);

/*
 * In a forked child: the other threads are gone, and no state has anything in
 * the child's file.  Async-signal-safe.
 */
void threads_forked(void);

#endif
