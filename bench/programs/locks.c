/* SPDX-License-Identifier: GPL-3.0-or-later */
/* locks.c KIND [TIMES] -- takes and leaves a lock TIMES times, which nobody else
 * wants, and prints the nanoseconds of CPU time of each pair of calls.  With
 * "contended", four threads want it, and the number is real time of each pair.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned spent;
static unsigned times = 3000000;

static double
clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *
take_and_leave(void *unused)
{
	unsigned i, k;

	for (i = 0; i < times; i++) {
		pthread_mutex_lock(&mutex);
		for (k = 0; k < 100; k++)
			spent++;
		pthread_mutex_unlock(&mutex);
		for (k = 0; k < 300; k++)
			__asm__ volatile("");
	}
	return unused;
}

static double
contended(void)
{
	const double begin = clock_ns(CLOCK_MONOTONIC);
	pthread_t ids[THREADS];
	int i;

	times /= 30;
	for (i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, take_and_leave, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	times *= THREADS;
	return (clock_ns(CLOCK_MONOTONIC) - begin) / times;
}

int
main(int argc, char **argv)
{
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	const char *kind = argc > 1 ? argv[1] : "mutex";
	double begin;
	sem_t semaphore;
	unsigned i;

	if (argc > 2)
		times = (unsigned)atoi(argv[2]);
	if (strcmp(kind, "contended") == 0) {
		printf("%.3f\n", contended());
		return 0;
	}
	sem_init(&semaphore, 0, 1);
	begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (strcmp(kind, "rwlock") == 0)
		for (i = 0; i < times; i++) {
			pthread_rwlock_rdlock(&rwlock);
			spent++;
			pthread_rwlock_unlock(&rwlock);
		}
	else if (strcmp(kind, "semaphore") == 0)
		for (i = 0; i < times; i++) {
			sem_wait(&semaphore);
			spent++;
			sem_post(&semaphore);
		}
	else
		for (i = 0; i < times; i++) {
			pthread_mutex_lock(&mutex);
			spent++;
			pthread_mutex_unlock(&mutex);
		}
	printf("%.3f\n", (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / times);
	return 0;
}
