/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.c -- storms of calls that could wait, but hardly do.
 *
 * 	waits WHAT TIMES DEPTH
 * pong: two threads pass a semaphore back and forth; epoll: epoll_wait that
 * finds nothing; pipe: a byte written, read, and epoll_wait; places: a byte
 * written and read, each time at another of 128 depths of the stack.  DEPTH
 * calls lie between main and these calls.  Prints the CPU time of one round in
 * us.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

static sem_t there, back;
static long n_rounds;
static int epoll_fd, ends[2];
static volatile char byte;

static double
cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static __attribute__((noinline)) void
below(int depth, void (*run)(void))
{
	if (depth > 0)
		below(depth - 1, run);
	else
		run();
	byte++;			/* no call in its tail */
}

static void *
give_back(void *argument)
{
	for (long i = 0; i < n_rounds; i++) {
		sem_wait(&there);
		sem_post(&back);
	}
	return argument;
}

static void
run_pong(void)
{
	for (long i = 0; i < n_rounds; i++) {
		sem_post(&there);
		sem_wait(&back);
	}
}

static void
run_epoll(void)
{
	struct epoll_event event;

	for (long i = 0; i < n_rounds; i++)
		epoll_wait(epoll_fd, &event, 1, 0);
}

static void
pass_byte(void)
{
	char c = 0;

	if (write(ends[1], &c, 1) != 1 || read(ends[0], &c, 1) != 1)
		abort();
}

static void
run_pipe(void)
{
	struct epoll_event event;

	for (long i = 0; i < n_rounds; i++) {
		pass_byte();
		epoll_wait(epoll_fd, &event, 1, 0);
	}
}

static void
run_places(void)
{
	unsigned random = 1;

	for (long i = 0; i < n_rounds; i++) {
		random = random * 1664525 + 1013904223;
		below((int)(random >> 25), pass_byte);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} storms[] = {
	{ "pong", run_pong },
	{ "epoll", run_epoll },
	{ "pipe", run_pipe },
	{ "places", run_places },
};

int
main(int argc, char **argv)
{
	void (*run)(void) = NULL;
	pthread_t other;
	double start;

	for (size_t i = 0; argc == 4 && i < 4; i++)
		if (strcmp(argv[1], storms[i].name) == 0)
			run = storms[i].run;
	if (run == NULL)
		return 2;
	n_rounds = atol(argv[2]);
	epoll_fd = epoll_create1(0);
	if (pipe(ends) != 0 || sem_init(&there, 0, 0) != 0 ||
	    sem_init(&back, 0, 0) != 0)
		return 1;
	start = cpu_seconds();
	if (run == run_pong)
		pthread_create(&other, NULL, give_back, NULL);
	below(atoi(argv[3]), run);
	if (run == run_pong)
		pthread_join(other, NULL);
	printf("%.3f\n", (cpu_seconds() - start) / (double)n_rounds * 1e6);
	return 0;
}
