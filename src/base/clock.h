/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h -- the time of this machine's clocks. */
#ifndef CPPROF_BASE_CLOCK_H
#define CPPROF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* In nanoseconds; 0 if there is no such clock, as of a process that is gone. */
static inline uint64_t
clock_ns(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) != 0 ? 0 :
	    (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What passes, in milliseconds. */
static inline int64_t
clock_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_MONOTONIC) / 1000000);
}

#endif
