/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ledger.c -- a server whose slow requests wait for a lock that is held over a
 * write: the manual's story of slow calls.
 *
 * 16 threads answer requests, each after a pause.  Most look up an account and
 * fetch its owner's name, which takes 5 to 14 ms.  One in 400 is a payment, which
 * is answered when it is in the journal on the disk.  That takes 60 ms, during
 * which the book is locked.  Built with -DSTEP=1 the book is unlocked before,
 * and the journal has a lock of its own.  Runs for 20 seconds, or as many as it
 * is told, and prints how long requests took by its own clock.
 *
 *	cc -O1 -g -o ledger ledger.c -lpthread
 *	cpprof record --calls handle_request -r real -r blame ./ledger
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef STEP
#define STEP 0
#endif
#define NOINLINE __attribute__((noinline, noclone))

enum { N_THREADS = 16, MAX_REQUESTS = 100000, PAYMENTS = 400, MS = 1000000 };

static pthread_mutex_t book_lock = PTHREAD_MUTEX_INITIALIZER;
#if STEP >= 1
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
#endif
static unsigned book[1000];
static volatile unsigned sum;

static atomic_uint n_requests;
static atomic_bool is_closing;
static uint64_t lengths_ns[MAX_REQUESTS];

static void
wait_ns(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
	sum++;
}

static NOINLINE void
write_journal(void)
{
	wait_ns(60 * MS);
}

static NOINLINE void
fetch_name(unsigned account)
{
	wait_ns((5 + account * 7 % 10) * (long)MS);
}

static NOINLINE void
look_up(unsigned account)
{
	pthread_mutex_lock(&book_lock);
	sum += book[account % 1000];
	pthread_mutex_unlock(&book_lock);
	fetch_name(account);
}

static NOINLINE void
pay(unsigned account)
{
	pthread_mutex_lock(&book_lock);
	book[account % 1000]++;
#if STEP == 0
	write_journal();
	pthread_mutex_unlock(&book_lock);
#else
	pthread_mutex_unlock(&book_lock);
	pthread_mutex_lock(&journal_lock);
	write_journal();
	pthread_mutex_unlock(&journal_lock);
#endif
	sum++;
}

NOINLINE void
handle_request(unsigned number)
{
	if (number % PAYMENTS == PAYMENTS - 1)
		pay(number);
	else
		look_up(number);
	sum++;
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void *
serve(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument, number;

	while (!is_closing && (number = n_requests++) < MAX_REQUESTS) {
		wait_ns((20 + rand_r(&seed) % 20) * (long)MS);
		lengths_ns[number] = now_ns();
		handle_request(number);
		lengths_ns[number] = now_ns() - lengths_ns[number];
	}
	return NULL;
}

static int
compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left;
	const uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static double
percentile_ms(unsigned n, double share)
{
	return (double)lengths_ns[(unsigned)(share * n)] / MS;
}

int
main(int argc, char **argv)
{
	const struct timespec open = { argc > 1 ? atoi(argv[1]) : 20, 0 };
	pthread_t threads[N_THREADS];
	unsigned n;

	for (size_t i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, serve,
		                   (void *)(i + 1)) != 0)
			return 1;
	nanosleep(&open, NULL);
	is_closing = true;
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	n = n_requests < MAX_REQUESTS ? n_requests : MAX_REQUESTS;
	qsort(lengths_ns, n, sizeof *lengths_ns, compare);
	printf("%u requests: p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, "
	       "p99.9 %.1f ms\n", n, percentile_ms(n, 0.5),
	       percentile_ms(n, 0.9), percentile_ms(n, 0.99),
	       percentile_ms(n, 0.999));
	return 0;
}
