/* SPDX-License-Identifier: MIT */
/* thread-meters.h -- what the sources of resources keep for a thread.
 *
 * Only the thread itself and its handlers use it, except that another thread
 * may free its timer when sampling ends.  What threads leave to others when
 * they end is in struct leftover.
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
#include "lib/store/tree.h"

/* A thread's part of a column. */
struct account {
	struct meter meter;
	uint64_t pending;	/* hits that are in no sample yet */
	uint64_t noted;		/* of these, how many the file shows */
	uint64_t seen;		/* counted by the source so far */
	bool needs_ticks;	/* may differ from the source's */

	/* Of perf events (perf.c): */
	bool is_armed;		/* its traps count */
	int fd;			/* -1: closed */
	uint64_t event_id;	/* shows whether fd is still our event */
	uint64_t period;	/* gticks that its next trap stands for */
	uint64_t unsampled;	/* hits found while the event was disabled */
	bool is_by_hand;	/* the handler sets each period */
	bool traps_once;	/* the event is disabled after its trap */
	unsigned n_traps;	/* since it was opened */
	void *page;		/* NULL: none */
};

/* Of perf-clock.c. */
struct perf_clock {
	unsigned stride;	/* intervals from one boundary to the next */
	bool must_set;		/* the period in progress is not the meter's */
	uint64_t armed_us, alarm_us;	/* when the alarm was set, for when */
	uint64_t counted_us;	/* up to when time is counted */
	bool is_stray;		/* it was of an earlier period */
	bool is_of_user_mode;	/* its traps do not see the kernel */
	bool is_given_up;	/* only ticks are used */

	/* If is_of_user_mode: */
	bool has_seen_tick, has_seen_kernel;
	bool is_own_tick;	/* the next tick has found the collector */

	unsigned n_user_ticks;	/* in a row without a trap */
	bool is_stalled;	/* no trap came, although time has passed */

	/*
	 * The kernel's part has its own meter.  The other meter's boundaries
	 * are where traps are, so a tick soon after a trap would cross too few
	 * of them, and the next trap too many.
	 */
	struct meter of_kernel;

	/* While a tick is being sampled: */
	bool is_at_tick;
	uint64_t pending_traps;	/* pending hits of traps */
	uint64_t seen, left;	/* before the tick */
	bool had_seen_kernel;

	/* How often the thread switches, as of the last check. */
	uint64_t n_switches, checked_us;
};

/*
 * What threads with one start routine leave to each other.  Any thread may
 * change it at any time, in handlers, too.
 */
struct leftover {
	struct leftover *next;		/* of another routine */
	const void *routine;
	/* CPU time without hits, of ended threads and of others: timer.c */
	_Atomic int64_t ended_ns, living_ns;
	/* Real time of ended threads, likewise: unfound.c */
	_Atomic int64_t unfound_ns;
	/* Hits of ended threads that are in no sample: resource.c */
	_Atomic bool has_pending;
	_Atomic uint64_t pending[CPPROFDATA_MAX_RESOURCES];	/* by column */
};

/*
 * Only a thread's first ticks take what others have left, since the others were
 * short.
 */
#define LEFTOVER_TICKS 4

/* The part of a thread's state that belongs to lib/sources. */
struct thread_meters {
	bool has_timer;
	int timer;		/* the kernel's number */
	struct perf_clock clock;
	struct tick_clocks tick_clocks;
	enum tick_mode tick_mode;	/* of the tick being handled */
	struct {		/* dispatch.h, while it lasts: */
		unsigned char dispatch;
		bool has_usage;
		struct rusage usage;	/* the kernel's counts before it */
	} own_work;
	uint64_t n_expiries;	/* brought by ticks */
	uint64_t last_tick_ns;	/* on its CPU clock; or when it began */
	uint64_t tick_ns;	/* the interval of its timer */
	struct leftover *leftover;
	int64_t uncounted_ns;	/* CPU time: timer.c */
	int64_t noted_ns;	/* its part of leftover->living_ns */
	int64_t unfound_ns;	/* real time: lib/wrap/wrapped.c */
	bool awaits_found;	/* a tick's real time is in no sample yet */
	uint32_t n_found;	/* samples of such ticks */
	struct node found, last_found;	/* nodes of the first and the last */
	struct account accounts[CPPROFDATA_MAX_RESOURCES];	/* by column */
};

#endif
