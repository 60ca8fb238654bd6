/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own-clock.c -- what a server's main thread spends in three calls, by its own
 * clock.
 *
 * Preloaded into a program (bench/redis.py), it reads the thread's CPU clock
 * around epoll_wait, write and read, and appends one line to the file
 * OWN_CLOCK when the program ends: microseconds of CPU time, then those in
 * each call.  Reading the clock takes some of that time; this is measured at
 * the start and subtracted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100000

static int64_t spent_ns[3], n_calls[3], asking_ns;
static __thread int is_main;

static int64_t
now_ns(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#define MEASURE(number, result, name, parameters, arguments) \
	result \
	name parameters \
	{ \
		static result (*next)parameters; \
		int64_t start; \
		result value; \
		if (next == NULL) \
			next = (result (*)parameters)dlsym(RTLD_NEXT, #name); \
		if (!is_main) \
			return next arguments; \
		start = now_ns(); \
		value = next arguments; \
		spent_ns[number] += now_ns() - start; \
		n_calls[number]++; \
		return value; \
	}

MEASURE(0, int, epoll_wait, (int fd, struct epoll_event *events, int most,
    int timeout), (fd, events, most, timeout))
MEASURE(1, ssize_t, write, (int fd, const void *bytes, size_t size),
    (fd, bytes, size))
MEASURE(2, ssize_t, read, (int fd, void *bytes, size_t size),
    (fd, bytes, size))

__attribute__((constructor)) static void
begin(void)
{
	int64_t start = now_ns();
	int i;

	for (i = 0; i < TRIES; i++)
		now_ns();
	asking_ns = (now_ns() - start) / TRIES;
	is_main = 1;
}

__attribute__((destructor)) static void
end(void)
{
	const char *path = getenv("OWN_CLOCK");
	const int64_t cpu = now_ns() - asking_ns * TRIES -
	    2 * asking_ns * (n_calls[0] + n_calls[1] + n_calls[2]);
	FILE *file = path != NULL && is_main && n_calls[0] > 0 ?
	    fopen(path, "a") : NULL;
	int i;

	if (file == NULL)
		return;
	fprintf(file, "%lld", (long long)cpu / 1000);
	for (i = 0; i < 3; i++)
		fprintf(file, " %lld", (long long)(spent_ns[i] -
		    asking_ns * n_calls[i]) / 1000);
	fputc('\n', file);
	fclose(file);
}
