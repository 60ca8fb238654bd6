/* SPDX-License-Identifier: MIT */
/* thread-meters.h -- what the sources of resources keep for a thread.
 *
 * Only the thread itself, or its handler, touches it; another thread may free
 * its timer when sampling ends.
 */
#ifndef CPPROF_THREAD_METERS_H
#define CPPROF_THREAD_METERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "lib/base/meter.h"
#include "lib/base/thread.h"
#include "lib/cpprofdata.h"
#include "lib/sources/tick-mode.h"

/* A thread's part of a column. */
struct account {
	struct meter meter;
	uint64_t owed;		/* hits that are in no sample yet */
	uint64_t put_off;	/* of them, as the file has it */
	uint64_t seen;		/* what the source counted so far */
	bool needs_ticks;	/* whether the source as such does or not */

	/* Of perf events (source-perf.c): */
	bool is_armed;		/* traps may be counted */
	int fd;			/* -1: none any more */
	uint64_t event_id;	/* by which it is known to be ours still */
	uint64_t period;	/* gticks to its next trap */
	uint64_t unsampled;	/* hits that were found when it was held */
	void *page;		/* NULL: none */
};

/* Of perf-clock.c. */
struct perf_clock {
	bool is_of_user_mode;	/* its traps see no kernel */
	bool is_given_up;	/* only ticks are left */

	/* Of one of user mode: */
	bool has_met_tick, has_met_kernel;
	bool is_own_tick;	/* the next tick has found the collector */

	unsigned n_user_ticks;	/* in a row, without a trap */
	bool is_stalled;	/* no trap comes, though time has passed */

	/*
	 * The kernel's part has a meter of its own: the other one's boundaries
	 * are where traps are.  A tick soon after a trap would cross fewer of
	 * those than its time is worth, and the next trap more.
	 */
	struct meter of_kernel;

	/* While a tick is being sampled: */
	bool is_at_tick;
	uint64_t aside;		/* hits of traps that are still owed */
	uint64_t seen, left;	/* before it */
	bool had_met_kernel;

	/* How often the thread switches: as of the last look */
	uint64_t n_switches, looked_us;
};

/* The part of a thread's state that belongs to lib/sources. */
struct thread_meters {
	bool has_timer;
	int timer;		/* by the kernel's number */
	struct perf_clock clock;
	struct tick_clocks tick_clocks;
	enum tick_mode tick_mode;	/* of the tick that is being handled */
	struct {		/* own-work.h: while it lasts, */
		unsigned char dispatch;
		bool has_usage;
		struct rusage usage;	/* the kernel's counts before it */
	} own_work;
	uint64_t n_expiries;	/* that ticks have brought */
	uint64_t last_tick_ns;	/* on its CPU clock; or its start */
	int64_t uncounted_ns;	/* CPU time: timer.c */
	int64_t unfound_ns;	/* real time: lib/wrap/wrapped.c */
	struct account accounts[CPPROFDATA_MAX_RESOURCES];	/* by column */
};

#endif
