/* SPDX-License-Identifier: MIT */
/* tick-mode.h -- in which mode a tick has found the thread.
 *
 * The kernel charges each of its ticks to user mode or to itself, depending on
 * where it found the thread.  Its clocks of both show which it was, because
 * they are not smoothed by other clocks.  (getrusage's times are smoothed: both
 * move a little at every tick.)  The handler cannot tell otherwise, since it
 * always runs on the way back to user mode.
 */
#ifndef CPPROF_TICK_MODE_H
#define CPPROF_TICK_MODE_H

#include <stdbool.h>
#include <stdint.h>

enum tick_mode {
	TICK_NO_MODE,
	TICK_OF_USER, TICK_OF_KERNEL,
	TICK_UNCLEAR		/* several ticks of both modes, or the time was
				   another virtual machine's */
};

struct tick_clocks {
	uint64_t all_ns, user_ns;	/* as of the last tick */
};

/*
 * Whether the kernel charges whole ticks.  On processors without ticks
 * (nohz_full) it measures both modes instead.  Once, from the constructor.
 */
bool tick_mode_is_known(void);

/*
 * Begins on the calling thread; returns the mode in which its ticks have found
 * it since the last call.  Async-signal-safe.
 */
void tick_mode_start(struct tick_clocks *clocks);
enum tick_mode tick_mode_read(struct tick_clocks *clocks);

#endif
