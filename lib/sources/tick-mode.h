/* SPDX-License-Identifier: MIT */
/* tick-mode.h -- in which mode a tick has found the thread.
 *
 * The kernel charges each of its ticks to user mode or to itself, by where it
 * found the thread, and its clocks of both, which no division by other clocks
 * has smoothed, tell which it was (getrusage's times are smoothed: they move a
 * little at every tick).  The handler cannot tell otherwise: it runs on the way
 * back to user mode in either case.
 */
#ifndef CPPROF_TICK_MODE_H
#define CPPROF_TICK_MODE_H

#include <stdbool.h>
#include <stdint.h>

enum tick_mode {
	TICK_NOT_ASKED,
	TICK_OF_USER, TICK_OF_KERNEL,
	TICK_UNCLEAR		/* there were several, of both modes; or the
				   time was another virtual machine's */
};

struct tick_clocks {
	uint64_t all_ns, user_ns;	/* as of the last tick */
};

/*
 * Whether the kernel charges whole ticks: on processors without (nohz_full) it
 * measures both modes instead.  Once, in the constructor.
 */
bool tick_mode_is_known(void);

/* On the thread: begins, and says in which mode its ticks since then, or since
 * the last time, have found it.  Async-signal-safe. */
void tick_mode_start(struct tick_clocks *clocks);
enum tick_mode tick_mode_look(struct tick_clocks *clocks);

#endif
