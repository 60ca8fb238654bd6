/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shorts.c -- threads or child processes that end before they can be sampled.
 *
 *	shorts threads|processes N CALLS
 *
 * Reads a byte, starts N of them one after the other, each of which makes so
 * many system calls, and prints what all have used by the kernel's account:
 * seconds of CPU time, page faults, and how many calls they made.  Ends with its
 * input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long n_calls;
static double *worked_until;	/* shared with child processes */

static double
seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	    (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static double
now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *
work(void *unused)
{
	for (long i = 0; i < n_calls; i++)
		syscall(SYS_getppid);
	*worked_until = now();
	return unused;
}

/* What the process and its children have used since its first call. */
static void
account(double *cpu, long *faults)
{
	static struct rusage before;
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	*cpu = seconds(&own) + seconds(&children) - seconds(&before);
	*faults = own.ru_minflt + children.ru_minflt - before.ru_minflt;
	before = own;
}

int
main(int argc, char **argv)
{
	double cpu, begin, worked = 0, lived = 0;
	long faults, n;
	char byte;

	if (argc != 4 || read(0, &byte, 1) < 0)
		return 2;
	n = atol(argv[2]);
	n_calls = atol(argv[3]);
	worked_until = mmap(NULL, sizeof *worked_until, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (worked_until == MAP_FAILED)
		return 1;
	account(&cpu, &faults);
	begin = now();
	for (long i = 0; i < n; i++) {
		const double start = now();
		pthread_t thread;

		if (strcmp(argv[1], "threads") == 0) {
			if (pthread_create(&thread, NULL, work, NULL) != 0)
				return 1;
			pthread_join(thread, NULL);
		} else if (fork() == 0) {
			work(NULL);
			_exit(0);
		} else {
			wait(NULL);
		}
		worked += *worked_until - start;
		lived += now() - start;
	}
	account(&cpu, &faults);
	begin = now() - begin;
	printf("%.6f %ld %ld %.6f %.6f\n", cpu, faults, n * n_calls,
	    begin + worked, begin + lived);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
