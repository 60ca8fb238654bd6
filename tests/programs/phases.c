/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.c -- a program that changes what it does, and says when.
 *
 * phases STEP...	in that order:
 *	first:MS, second:MS	use MS milliseconds of CPU time, in the function
 *				of that name
 *	rest:MS			sleeps
 *	fork			goes on in a child, for which the parent waits
 *	thread			goes on in another thread, likewise
 *	kill			kills itself
 *
 * Each step is reported on standard output as "NAME BEGIN END", in nanoseconds
 * of CLOCK_MONOTONIC; that of `kill` has no end.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/spin.h"

static int64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static __attribute__((noinline, noclone)) void
first(long ms)
{
	spin(ms);
	sink++;		/* not a tail call */
}

static __attribute__((noinline, noclone)) void
second(long ms)
{
	spin(ms);
	sink++;
}

static __attribute__((noinline, noclone)) void
rest(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
	sink++;
}

static void *run(void *steps);

static void
continue_elsewhere(const char *how, char **steps)
{
	pthread_t thread;
	pid_t child;

	if (strcmp(how, "thread") == 0) {
		if (pthread_create(&thread, NULL, run, steps) != 0)
			_exit(1);
		pthread_join(thread, NULL);
		return;
	}
	fflush(stdout);
	child = fork();
	if (child == 0) {
		run(steps);
		exit(0);
	}
	waitpid(child, NULL, 0);
}

static __attribute__((noinline)) void *
run(void *steps)
{
	static const struct {
		const char *name;
		void (*run)(long ms);
	} kinds[] = { { "first", first }, { "second", second },
	    { "rest", rest } };
	char **step;

	for (step = steps; *step != NULL; step++) {
		const char *colon = strchr(*step, ':');
		const int64_t begin = now();
		size_t i;

		if (strcmp(*step, "kill") == 0) {
			printf("kill %" PRId64 "\n", begin);
			fflush(stdout);
			kill(getpid(), SIGKILL);
		}
		if (colon == NULL) {
			continue_elsewhere(*step, step + 1);
			return NULL;
		}
		for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (strncmp(*step, kinds[i].name,
			    (size_t)(colon - *step)) == 0)
				kinds[i].run(atol(colon + 1));
		printf("%.*s %" PRId64 " %" PRId64 "\n",
		    (int)(colon - *step), *step, begin, now());
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	(void)argc;
	run(argv + 1);
	return 0;
}
