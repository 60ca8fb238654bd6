/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server.c -- a server that waits: four workers and one lock around a log.
 *
 * The requests come from nowhere, one every few milliseconds.  Each is parsed
 * and looked up, which takes CPU time, and written to a log, which sleeps as a
 * slow disk does, while it holds the lock.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

enum { WORKERS = 4, REQUESTS = 400 };

static sem_t requests;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint32_t sink;

static void
sleep_us(long us)
{
	struct timespec pause = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&pause, NULL);
}

static int64_t
cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static NOINLINE void
compute(long us)
{
	int64_t end = cpu_us() + us;

	while (cpu_us() < end)
		for (int i = 0; i < 2000; i++)
			sink = sink * 31 + (uint32_t)i;
}

static NOINLINE void
parse_request(void)
{
	compute(700);
	sink++;
}

static NOINLINE void
look_up(void)
{
	compute(1300);
	sink++;
}

static NOINLINE void
write_to_disk(void)
{
	sleep_us(3000);
	sink++;
}

static NOINLINE void
log_request(void)
{
	pthread_mutex_lock(&log_lock);
	write_to_disk();
	pthread_mutex_unlock(&log_lock);
	sink++;
}

static NOINLINE void
serve(void)
{
	parse_request();
	look_up();
	log_request();
	sink++;		/* not a tail call, so that serve has a frame */
}

static void *
work(void *number)
{
	char name[16];

	snprintf(name, sizeof name, "worker-%d", (int)(intptr_t)number);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < REQUESTS / WORKERS; i++) {
		sem_wait(&requests);
		serve();
	}
	return NULL;
}

int
main(void)
{
	pthread_t workers[WORKERS];

	sem_init(&requests, 0, 0);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work,
		               (void *)(intptr_t)(i + 1));
	for (int i = 0; i < REQUESTS; i++) {
		sleep_us(2000);
		sem_post(&requests);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	return 0;
}
