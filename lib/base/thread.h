/* SPDX-License-Identifier: MIT */
/* thread.h -- a sampled thread, as every room sees it.
 *
 * Each room keeps what it needs of a thread in a structure of its own, which
 * only that room and those above it know.  This structure has pointers to them,
 * and the few facts that every room needs.  lib/run/threads.c allocates them
 * all together and sets the pointers before a thread uses them.
 *
 * All functions: async-signal-safe, on the thread.
 */
#ifndef CPPROF_THREAD_H
#define CPPROF_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread {
	struct unwinder *unwinder;	/* lib/unwind/unwinder.h */
	struct python *python;		/* lib/python/python.h */
	struct thread_file *file;	/* lib/store/thread-file.h */
	struct thread_meters *meters;	/* lib/sources/sources.h */
	struct thread_run *run;		/* lib/run/sample.h */
	struct thread_waits *waits;	/* lib/run/sample.h */
	struct thread_calls *calls;	/* lib/run/sample.h; NULL: none yet */
	struct thread *next;		/* list of all states ever created */
	const void *routine;		/* its start routine; NULL: not known */
	uint32_t tid;
	bool is_main;
	volatile bool is_sampling;	/* what it spends now is the
					   collector's, not the program's */
	volatile sig_atomic_t held_off;	/* > 0: ticks are deferred */
	/* What the collector did outside samples, which must not be counted: */
	uint32_t n_own_calls;		/* system calls */
	uint64_t own_bytes_read;
};

/* The calling thread's state; NULL: not sampled. */
extern __thread struct thread *thread_self;

/*
 * Whether the calling thread is between our handlers of a fork, and had not
 * blocked our signals before.  Thread-local, since the child writes to that page
 * anyway: after a fork, the first write to a page costs a copy.
 */
extern __thread bool thread_is_in_fork;

/*
 * Between these two, ticks of the calling thread are deferred.  They nest.
 * Needed around locks that a handler may also take.
 */
static inline void
thread_hold_off(void)
{
	struct thread *self = thread_self;

	if (self != NULL)
		self->held_off++;
}

static inline void
thread_resume(void)
{
	struct thread *self = thread_self;

	if (self != NULL)
		self->held_off--;
}

/*
 * To be called when the collector has made a system call outside a sample
 * (arch_system_call).
 */
static inline void
thread_made_call(struct thread *thread)
{
	thread->n_own_calls++;
}

#endif
