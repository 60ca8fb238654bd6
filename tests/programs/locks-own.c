/* SPDX-License-Identifier: GPL-3.0-or-later */
/* locks-own.c -- a program that stands in front of pthread's functions itself.
 *
 * Prints "waited NS" and how often its own functions were called.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t waited;
static atomic_uint n_calls;

int
pthread_mutex_lock(pthread_mutex_t *lock)
{
	static int (*next)(pthread_mutex_t *);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	n_calls++;
	return next(lock);
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void
culprit(void)
{
	const struct timespec time = { .tv_nsec = 10000000 };

	pthread_mutex_lock(&mutex);
	nanosleep(&time, NULL);
	pthread_mutex_unlock(&mutex);
	n_calls++;
}

static void *
slow(void *unused)
{
	const struct timespec time = { .tv_nsec = 1000000 };

	for (int i = 0; i < 20; i++) {
		culprit();
		nanosleep(&time, NULL);
	}
	return unused;
}

int
main(void)
{
	const struct timespec time = { .tv_nsec = 1000000 };
	pthread_t id;

	if (pthread_create(&id, NULL, slow, NULL) != 0)
		return 2;
	for (int i = 0; i < 100; i++) {
		const uint64_t begin = now_ns();

		pthread_mutex_lock(&mutex);
		waited += now_ns() - begin;
		pthread_mutex_unlock(&mutex);
		nanosleep(&time, NULL);
	}
	nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	printf("waited %llu\n", (unsigned long long)waited);
	return n_calls == 140 ? 0 : 1;
}
