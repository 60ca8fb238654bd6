/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sleeper.c -- threads that wait in several ways, and know how long.
 *
 * sleeper MS N		N threads wait and work in turns for MS milliseconds,
 *			and one sleeps all the time
 * sleeper MS pairs N	N pairs of threads wake each other as often as they can
 *
 * All of them wait until standard input has a byte or ends.  Each part of the
 * work is a function, part_NAME, and at the end "part_NAME NANOSECONDS" is the
 * real time that all threads were in it; then "switches N", how often pairs
 * have waited.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PART __attribute__((noinline, noclone)) static void

enum { N_MAX = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int has_begun;
static long long end_ns, n_switches;
static volatile unsigned sink;

static long long
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void
sleep_ns(long ns)
{
	nanosleep(&(struct timespec){ ns / 1000000000, ns % 1000000000 },
	          NULL);
}

/* Behind each call is something to do, so that none is a jump. */

PART
part_work(void)
{
	const long long until = now() + 2000000;

	while (now() < until)
		for (int i = 0; i < 1000; i++)
			sink++;
}

PART
part_short(void)
{
	for (int i = 0; i < 5; i++)
		sleep_ns(200000);
	sink++;
}

PART
part_long(void)
{
	sleep_ns(11000000);
	sink++;
}

PART
part_poll(void)
{
	poll(NULL, 0, 3);
	sink++;
}

PART
part_lock(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 5000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&never, &lock, &until);
	pthread_mutex_unlock(&lock);
	sink++;
}

PART
part_gate(void)
{
	pthread_mutex_lock(&lock);
	while (!has_begun)
		pthread_cond_wait(&go, &lock);
	pthread_mutex_unlock(&lock);
	sink++;
}

PART
part_always(void)
{
	sleep(1000);
	sink++;
}

PART
part_ask(int socket)
{
	char byte = 0;

	if (write(socket, &byte, 1) == 1 && read(socket, &byte, 1) == 1)
		sink++;
}

PART
part_answer(int socket)
{
	char byte = 0;

	if (read(socket, &byte, 1) == 1 && write(socket, &byte, 1) == 1)
		sink++;
}

static void (*const parts[])(void) = { part_work, part_short, part_long,
	part_poll, part_lock };
static const char *const names[] = { "work", "short", "long", "poll",
	"lock", "ask", "answer" };
enum { N_PARTS = sizeof parts / sizeof *parts, ASK = N_PARTS, ANSWER,
	N_NAMES };
static long long sums[N_NAMES];

static void
add(int part, long long ns)
{
	__atomic_fetch_add(&sums[part], ns, __ATOMIC_RELAXED);
}

static void *
run(void *first)
{
	part_gate();
	for (size_t i = (size_t)first; now() < end_ns; i++) {
		const long long begin = now();

		parts[i % N_PARTS]();
		add((int)(i % N_PARTS), now() - begin);
	}
	return NULL;
}

static void *
run_always(void *unused)
{
	part_always();
	return unused;
}

static int sockets[2 * N_MAX];

/* The end of one of a pair ends the other. */
static void *
run_pair(void *number)
{
	const size_t i = (size_t)number;
	long long n = 0;

	part_gate();
	while (now() < end_ns) {
		const long long begin = now();

		if (i % 2 == 0)
			part_ask(sockets[i]);
		else
			part_answer(sockets[i]);
		add(i % 2 == 0 ? ASK : ANSWER, now() - begin);
		n++;
	}
	shutdown(sockets[i], SHUT_RDWR);
	__atomic_fetch_add(&n_switches, n, __ATOMIC_RELAXED);
	return NULL;
}

int
main(int argc, char **argv)
{
	const int has_pairs = argc == 4 && strcmp(argv[2], "pairs") == 0;
	const int n = argc > 2 ? atoi(argv[argc - 1]) * (has_pairs ? 2 : 1) :
	    0;
	pthread_t threads[N_MAX], always;
	char byte;

	if (n <= 0 || n > N_MAX)
		return 2;
	for (int i = 0; has_pairs && i < n; i += 2)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets + i) != 0)
			return 1;
	pthread_create(&always, NULL, run_always, NULL);
	for (size_t i = 0; i < (size_t)n; i++)
		pthread_create(&threads[i], NULL, has_pairs ? run_pair : run,
		               (void *)i);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		return 1;
	end_ns = now() + atoi(argv[1]) * 1000000ll;
	pthread_mutex_lock(&lock);
	has_begun = 1;
	pthread_cond_broadcast(&go);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < N_NAMES; i++)
		printf("part_%s %lld\n", names[i], sums[i]);
	printf("switches %lld\n", n_switches);
	return 0;
}
