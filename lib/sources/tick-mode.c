/* SPDX-License-Identifier: MIT */
/* tick-mode.c -- reads the kernel's clocks that advance by ticks. */
#include "lib/sources/sources.h"

#include <time.h>

#include "lib/base/files.h"
#include "lib/base/process.h"

/* CPU clocks of the calling thread, numbered as in linux/posix-timers.h. */
#define OF_THIS_THREAD (~0u << 3 | 4)
#define CLOCK_OF_BOTH ((clockid_t)(OF_THIS_THREAD | 0))
#define CLOCK_OF_USER ((clockid_t)(OF_THIS_THREAD | 1))

/* The file lists the processors without ticks, if any. */
bool
tick_mode_is_known(void)
{
	struct timespec time;
	char first[2];

	files_read_start("/sys/devices/system/cpu/nohz_full", first,
	    sizeof first);
	return (*first < '0' || *first > '9') &&
	    process_read_clock(CLOCK_OF_USER, &time) == 0;
}

void
tick_mode_start(struct tick_clocks *clocks)
{
	clocks->all_ns = process_clock(CLOCK_OF_BOTH);
	clocks->user_ns = process_clock(CLOCK_OF_USER);
}

enum tick_mode
tick_mode_read(struct tick_clocks *clocks)
{
	const struct tick_clocks before = *clocks;
	uint64_t all, user;

	tick_mode_start(clocks);
	all = clocks->all_ns - before.all_ns;
	user = clocks->user_ns - before.user_ns;
	if (all == 0 || (user != 0 && user != all))
		return TICK_UNCLEAR;
	return user == all ? TICK_OF_USER : TICK_OF_KERNEL;
}
