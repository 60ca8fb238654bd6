/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench-load.c -- how long loading takes, and how much memory.
 *
 * 	bench-load PROFILE...
 *
 * Prints wall seconds, processor seconds, nodes, peak memory, and peak memory
 * per node; the profile is not freed.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "src/formats/format.h"

static double
now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	double start = now(CLOCK_MONOTONIC), wall, processor;
	struct read_options options = { 0 };
	struct error error = { 0 };
	struct profile *profile;
	struct rusage usage;

	if (argc < 2)
		errx(2, "usage: bench-load PROFILE...");
	profile = load_profiles((const char *const *)(argv + 1),
	                        (size_t)(argc - 1), &options, &error);
	if (profile == NULL)
		errx(1, "%s", error.text);
	wall = now(CLOCK_MONOTONIC) - start;
	processor = now(CLOCK_PROCESS_CPUTIME_ID);
	getrusage(RUSAGE_SELF, &usage);
	printf("%.3f s, processor %.3f s, %u nodes, peak %ld MiB, "
	       "%.1f bytes a node\n", wall, processor,
	       profile->tree != NULL ? profile->tree->n_nodes : 0,
	       usage.ru_maxrss / 1024, profile->tree != NULL ?
	       (double)usage.ru_maxrss * 1024 / profile->tree->n_nodes : 0);
	profile_free(profile);
	return 0;
}
