/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sanitized.c -- work that a thread sanitizer watches: locks, memory, plain
 * loops.
 *
 * 	sanitized parts MS	two parts, each for so long of CPU time; prints
 * 				the microseconds that each has used
 * 	sanitized threads N	that many times six threads that allocate, fill
 * 				and lock; prints how often they did
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_locked;
static volatile double sum;

static long
cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

__attribute__((noinline)) static void
add(void)
{
	for (int i = 0; i < 20000; i++)
		sum += i * 0.5;
}

/* Mostly the sanitizer's own code. */
__attribute__((noinline)) static void
fill(void)
{
	for (int i = 0; i < 20; i++) {
		char *block = malloc((size_t)10000 + (size_t)i);

		memset(block, 1, 10000);
		__asm__ volatile ("" : : "r" (block) : "memory");
		free(block);
	}
}

static void
run_parts(long ms)
{
	static void (*const parts[])(void) = { add, fill };
	long used[2] = { 0, 0 };

	while (used[0] < ms * 1000 || used[1] < ms * 1000) {
		int i = used[0] > used[1];
		long start = cpu_us();

		parts[i]();
		used[i] += cpu_us() - start;
	}
	printf("%ld %ld\n", used[0], used[1]);
}

static void *
work(void *unused)
{
	for (int i = 0; i < 30 * 2000; i++) {
		char *block = malloc((size_t)(i % 2000) + 1);

		memset(block, 1, (size_t)(i % 2000) + 1);
		free(block);
		pthread_mutex_lock(&lock);
		n_locked++;
		pthread_mutex_unlock(&lock);
		if (i % 16000 == 0)
			usleep(100);
	}
	return unused;
}

static void
run_threads(long n)
{
	for (; n > 0; n--) {
		pthread_t threads[6];

		for (int i = 0; i < 6; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		for (int i = 0; i < 6; i++)
			pthread_join(threads[i], NULL);
	}
	printf("%ld\n", n_locked);
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	(strcmp(argv[1], "parts") == 0 ? run_parts : run_threads)(
	    atol(argv[2]));
	return 0;
}
