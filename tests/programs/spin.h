/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spin.h -- CPU time for a program to use.
 *
 * When a thread's CPU time is read, Linux checks whether its time slice is
 * over.  So a program that reads it all the time, on a shared processor, is
 * always suspended between two of the kernel's ticks: no tick finds it
 * running, and no timer of CPU time expires.  This code reads it rarely.
 */
#ifndef CPPROF_TESTS_SPIN_H
#define CPPROF_TESTS_SPIN_H

#include <stdint.h>
#include <time.h>

static inline int64_t
thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/*
 * Uses that much CPU time of its thread in work(n), which does n equal pieces
 * of work; `least` of them take some ten microseconds.
 */
static inline __attribute__((always_inline)) void
spend(long ms, long least, void (*work)(long n))
{
	const int64_t wanted = ms * INT64_C(1000000), start = thread_ns();
	int64_t used = 0;
	long done = 0, n = least;

	while (used < wanted) {
		work(n);
		done += n;
		used = thread_ns() - start;
		/* Half of the rest, at the speed so far. */
		n = done * ((wanted - used) / 1000) / (2 * (used / 1000 + 1));
		if (n < least)
			n = least;
	}
}

static volatile unsigned sink;

/*
 * In a register: how long a value takes through memory depends on where the code
 * that stores and loads it lies, and differs by a third between copies of it.
 */
static inline __attribute__((always_inline)) void
spin_round(long n)
{
	unsigned product = 0;
	long i;

	for (i = 0; i < n; i++) {
		product = product * 31 + (unsigned)i;
		__asm__ volatile("" : "+r"(product));
	}
}

static __attribute__((noinline, noclone, unused)) void
spin(long ms)
{
	spend(ms, 20000, spin_round);
}

#endif
