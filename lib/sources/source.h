/* SPDX-License-Identifier: MIT */
/* source.h -- where the gticks of a resource come from.
 *
 * A resource's row in lib/sources/resource.c names its sources, best first; the
 * constructor takes the first that says it can work in this process, and the
 * file says which that was.  There are three kinds:
 *  - spending: functions we stand before call resource_spend_in; of the
 *    functions below `probe` at most is there;
 *  - counts: `hits` is asked at every tick of the thread's CPU timer, and what
 *    was spent between two ticks is charged to the stack of the second;
 *  - events: the kernel signals the thread at each interval (`start`, `stop`),
 *    and `hits` says how many intervals have passed.
 */
#ifndef CPPROF_SOURCE_H
#define CPPROF_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct resource_row;
struct thread;

struct source {
	/* "perf event", for info and `record --list`. */
	const char *name;

	/*
	 * Whether it can work here and is the one to use for that interval; if
	 * not, *why says why not ("the kernel forbids perf events"), "" where
	 * another is as good.  Once, in the constructor; NULL: always.
	 */
	bool (*probe)(const struct resource_row *row, uint64_t interval,
	    const char **why);

	/*
	 * The calling thread's part of it, for the resource in `column`; false
	 * with errno set if there can be none.  Not from the handler; in a
	 * forked child, async-signal-safe.  NULL: nothing to do.
	 */
	bool (*start)(struct thread *thread, unsigned column);
	void (*stop)(struct thread *thread, unsigned column);

	/*
	 * Hits of the calling thread since it was asked last, when that many
	 * expiries of its timer have passed; with 0 of them the thread ends.
	 * Handler, or with ticks stopped.
	 */
	uint64_t (*hits)(struct thread *thread, unsigned column,
	    uint64_t expiries);

	/*
	 * After all of the thread's sources have been started; NULL: nothing to
	 * do.
	 */
	void (*release)(struct thread *thread);

	bool needs_ticks;	/* `hits` is to be asked at each tick */
	bool sets_ticks;	/* ticks come at its interval, in microseconds */
	bool is_clock;		/* its traps come by the CPU clock, and what
				   they do not see is looked for at each tick */
	bool needs_mode;	/* it matters whether ticks find the thread in
				   the kernel */
	bool is_coarse;		/* charges to where a tick found the thread,
				   not to where it was spent: a fallback */
	bool can_be_random;	/* intervals can be randomised */

	/* The sources' own: what the kernel counts (enum usage, 0: nothing),
	 * and which perf event it is. */
	unsigned usage;
	uint32_t event_type;
	uint64_t event;
};

#endif
