/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pieces.c -- threads that are short, or more than there are processors.
 *
 * pieces N 1: N threads of the same work, about a millisecond, one after
 * another.  pieces N T: T threads at once that take N pieces of that work from
 * a counter under a lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_left;
static _Atomic unsigned long sink;

static __attribute__((noinline)) void
work(void)
{
	unsigned long x = 1;

	for (long i = 0; i < 800000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink += x;
}

static void *
run_once(void *unused)
{
	work();
	return unused;
}

static int
take_piece(void)
{
	int is_left;

	pthread_mutex_lock(&lock);
	is_left = n_left > 0;
	n_left -= is_left;
	pthread_mutex_unlock(&lock);
	return is_left;
}

static void *
run_pool(void *unused)
{
	while (take_piece())
		work();
	return unused;
}

static void
run_threads(int n, void *(*routine)(void *))
{
	pthread_t threads[THREADS_MAX];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, routine, NULL) != 0)
			exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

int
main(int argc, char **argv)
{
	const int n_threads = argc == 3 ? atoi(argv[2]) : 0;

	if (n_threads < 1 || n_threads > THREADS_MAX)
		return 2;
	n_left = atol(argv[1]);
	if (n_threads > 1)
		run_threads(n_threads, run_pool);
	else
		for (; n_left > 0; n_left--)
			run_threads(1, run_once);
	printf("%lu\n", sink);
	return 0;
}
