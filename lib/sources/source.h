/* SPDX-License-Identifier: MIT */
/* source.h -- where the gticks of a resource come from.
 *
 * lib/collector.c lists the sources of each resource, best first.  The
 * constructor takes the first that can work in this process, and the file names
 * it.  There are three kinds:
 *
 *  - spending: wrappers of library functions call resource_spend_in.  Such a
 *   source has no functions but perhaps `probe`.
 *  - counts: `hits` is called at every tick of the thread's CPU timer, and what
 *   was spent between two ticks is charged to the stack of the second.
 *  - events: the kernel signals the thread at each interval (`start`, `stop`),
 *   and `hits` returns the number of intervals that have passed.
 */
#ifndef CPPROF_SOURCE_H
#define CPPROF_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct resource_row;
struct thread;

struct resource_source {
	/* For info and `record --list`, such as "perf event". */
	const char *name;

	/*
	 * Whether the source can work here and is the one to use for that
	 * interval.  If not, *why is the reason ("the kernel forbids perf
	 * events"), or "" if another source is as good.  Called once, by the
	 * constructor.  NULL: always.
	 */
	bool (*probe)(const struct resource_row *row, uint64_t interval,
	    const char **why);

	/*
	 * Start and stop the source for the calling thread and the resource in
	 * `column`.  False with errno set if it cannot start.  Not from a
	 * handler; async-signal-safe in a forked child.  NULL: nothing to do.
	 */
	bool (*start)(struct thread *thread, unsigned column);
	void (*stop)(struct thread *thread, unsigned column);

	/*
	 * The hits of the calling thread since the last call, at a tick with
	 * that many expiries of its timer; with 0 expiries, the thread ends.
	 * In the handler, or with ticks stopped.
	 */
	uint64_t (*hits)(struct thread *thread, unsigned column,
	    uint64_t expiries);

	/*
	 * Called after all of the thread's sources have started.  NULL: nothing
	 * to do.
	 */
	void (*release)(struct thread *thread);

	bool needs_ticks;	/* `hits` must be called at each tick */
	bool sets_ticks;	/* ticks come at its interval, which is in us */
	bool is_clock;		/* its traps follow the CPU clock; ticks find
				   what they do not see */
	bool traps;		/* each interval costs a trap, so random ones
				   are at least half as long as their mean */
	bool needs_mode;	/* it matters whether ticks find the thread in
				   the kernel */
	bool is_coarse;		/* charges to where a tick found the thread, not
				   to where it was spent */
	bool can_be_random;	/* intervals can be randomised */
	bool is_of_wrappers;	/* wrappers of library calls count, each its
				   own call */

	/*
	 * For the source's own use: what the kernel counts (enum usage), and
	 * which perf event it is.
	 */
	unsigned usage;
	uint32_t event_type;
	uint64_t event;
};

#endif
