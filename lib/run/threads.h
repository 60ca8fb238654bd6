/* SPDX-License-Identifier: MIT */
/* threads.h -- what each sampled thread has, and who gets it next.
 *
 * A thread's state is found through thread_self, a thread-local pointer.  A
 * thread that ends gives its state to the next one with the same start
 * routine, so that there are never more states (and trees in the file) than
 * were alive at once.
 */
#ifndef CPPROF_THREADS_H
#define CPPROF_THREADS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/cpprofdata.h"
#include "lib/run/progress.h"
#include "lib/sources/perf-clock.h"
#include "lib/sources/resource.h"
#include "lib/sources/tick-mode.h"
#include "lib/store/modules.h"
#include "lib/store/tree.h"
#include "lib/unwind/unwind.h"

/*
 * Only the first and the last step are taken by other threads than the state's
 * own, each while the thread does nothing with it.
 */
enum thread_stage {
	THREAD_IDLE,		/* nobody's, or its thread has not begun */
	THREAD_TO_BE_WOKEN,	/* by a timer: control.c */
	THREAD_RUNNING,		/* sampled; thread_self points to it */
	THREAD_ASLEEP,		/* not sampled for now */
	THREAD_HELD		/* in the hands of control.c */
};

struct thread {
	struct thread *next;		/* of all states ever made */
	struct thread *next_idle;	/* of those without a thread */
	union {
		void *(*posix)(void *);
		int (*c11)(void *);
	} start;
	void *argument;
	unsigned beliefs;		/* of its maker: signals.h */
	_Atomic enum thread_stage stage;
	bool has_begun;			/* its thread has been sampled */
	bool is_main;
	bool is_announced;		/* the record names this thread */
	bool has_timer;
	int timer;			/* by the kernel's number */
	uint32_t tid;
	struct cpprofdata_thread *record;	/* private, as datafile.h says;
					   NULL: none in the file yet */
	volatile sig_atomic_t held_off;	/* > 0: ticks are deferred */
	volatile bool is_sampling;	/* what it spends now is not the
					   program's */
	struct account accounts[CPPROFDATA_MAX_RESOURCES];	/* by column */
	struct perf_clock clock;
	struct tick_clocks tick_clocks;
	enum tick_mode tick_mode;	/* of the tick that is being handled */
	struct {			/* own-work.h: while it lasts, */
		unsigned char dispatch;
		bool has_usage;
		struct rusage usage;	/* the kernel's counts before it */
	} own_work;
	uint64_t n_expiries;		/* that ticks have brought */
	uint64_t last_tick_ns;		/* on its CPU clock; or its start */
	int64_t uncounted_ns;		/* CPU time: source-timer.c */
	int64_t unfound_ns;		/* real time: wrapped.c */
	int64_t allowance_ns;		/* that sampling may still cost */
	int64_t rest_until_ns;		/* monotonic: no sample before */
	struct progress progress;	/* of the program */
	uint64_t last_asked_ns;		/* monotonic: see sample_time_passed */
	uint64_t n_samples;
	uint32_t phase;			/* the tree's nodes are kept for */
	/* Waits (waits.h): */
	struct cpprofdata_wait *wait_mapped;	/* in the record's mapping, only
					   written to; NULL: no record */
	struct wait_sites *wait_sites;	/* NULL: none yet */
	uint32_t waits_generation;	/* in which sites hold */
	int64_t waits_allowance_ns;	/* that walking may still cost */
	uint64_t waits_asked_ns;	/* monotonic */
	struct node wait_node;		/* of the wait that is on */
	uint32_t wait_columns;		/* it counts for; 0: there is none */
	uint64_t wait_since_ns;
	struct tree tree;
	struct module_cache modules;
	struct unwinder unwinder;
};

extern __thread struct thread *thread_self;

/*
 * Ticks of the calling thread are deferred between the two; nests.  Needed
 * around locks that the handler may also want.  Any thread.
 */
void threads_hold_off(void);
void threads_resume(void);

/*
 * A state for a thread that will run `start`, an idle one's if it ran the same;
 * NULL for want of memory.  Not from a handler.
 */
struct thread *threads_take(const void *start, void *argument);

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
 * Names the calling thread, whether it is sampled or not; NULL: as the system
 * does.
 */
void threads_name(const char *name);

/*
 * Gives the thread its record in the file, or takes over the one its state
 * has.  Handler, or with ticks held off.
 */
enum tree_result threads_announce(struct thread *thread);

/* Notes in its record that it has ended.  Async-signal-safe. */
void threads_note_end(struct thread *thread);

/* Notes the thread's present name in its record.  On that thread; async-signal-safe. */
void threads_note_name(struct thread *thread);

/*
 * In a forked child: the other threads are gone, and no state has anything in
 * the file.  Async-signal-safe.
 */
void threads_forked(void);

#endif
