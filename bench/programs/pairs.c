/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.c [TIMES] -- allocates and frees small blocks TIMES times, and prints the
 * nanoseconds of CPU time of each pair of calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 1024

static double
cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int
main(int argc, char **argv)
{
	static void *volatile blocks[BLOCKS];
	const unsigned times = argc > 1 ? (unsigned)atoi(argv[1]) : 3000000;
	const double begin = cpu_ns();
	unsigned seed = 1, i, at;

	for (i = 0; i < times; i++) {
		seed = seed * 1664525 + 1013904223;
		at = seed >> 12 & (BLOCKS - 1);
		free(blocks[at]);
		blocks[at] = malloc(16 + (seed >> 24));
	}
	printf("%.3f\n", (cpu_ns() - begin) / times);
	return 0;
}
