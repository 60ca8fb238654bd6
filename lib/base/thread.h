/* SPDX-License-Identifier: MIT */
/* thread.h -- a sampled thread, as every room knows it.
 *
 * Each room keeps what it needs of a thread in a structure of its own, which
 * only this room and those above it know.  Here are pointers to these
 * structures and the few facts that every room needs.  lib/run/threads.c makes
 * all of them in one piece and sets the pointers before a thread uses them.
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
	struct thread_file *file;	/* lib/store/thread-file.h */
	struct thread_meters *meters;	/* lib/sources/thread-meters.h */
	struct thread_run *run;		/* lib/run/thread-run.h */
	struct thread_waits *waits;	/* lib/run/waits.h */
	struct thread *next;		/* of all states ever made */
	const void *routine;		/* that it runs; NULL: not known */
	uint32_t tid;
	bool is_main;
	volatile bool is_sampling;	/* what it spends now is the collector's,
					   not the program's */
	volatile sig_atomic_t held_off;	/* > 0: ticks are deferred */
	/* What the collector did outside of samples, to be left out: */
	uint32_t n_own_calls;		/* system calls */
	uint64_t own_bytes_read;
};

/* The state of the calling thread; NULL: it is not sampled. */
extern __thread struct thread *thread_self;

/*
 * Ticks of the calling thread are deferred between the two; nests.  Needed
 * around locks that the handler may also want.
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
 * The collector makes a system call now, outside of a sample, by
 * arch_system_call.
 */
static inline void
thread_made_call(struct thread *thread)
{
	thread->n_own_calls++;
}

#endif
