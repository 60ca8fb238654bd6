/* SPDX-License-Identifier: MIT */
/* thread-run.h -- how a thread is sampled: its stage and its budget. */
#ifndef CPPROF_THREAD_RUN_H
#define CPPROF_THREAD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/run/progress.h"

/*
 * Other threads take only the first and the last step, each while the thread
 * does not use its state.
 */
enum thread_stage {
	THREAD_IDLE,		/* nobody's, or its thread has not begun */
	THREAD_TO_BE_WOKEN,	/* by a timer of control.c */
	THREAD_RUNNING,		/* sampled; thread_self points to it */
	THREAD_ASLEEP,		/* not sampled for now */
	THREAD_HELD		/* claimed by control.c */
};

/* The part of a thread's state that belongs to lib/run. */
struct thread_run {
	struct thread *next_idle;	/* of the states without a thread */
	void *argument;			/* of its routine */
	unsigned program_mask;		/* of its creator; signals.h */
	_Atomic enum thread_stage stage;
	bool has_begun;			/* its thread has been sampled */
	int64_t allowance_ns;		/* what sampling may still cost */
	int64_t rest_ns;		/* a pause after the last sample, */
	int64_t rest_until_ns;		/* which ends then; monotonic */
	uint64_t last_sample_ns;	/* monotonic; for sample_time_passed */
	uint64_t n_samples;
	struct thread_progress progress;	/* of the program */
};

#endif
