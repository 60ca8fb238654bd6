/* SPDX-License-Identifier: MIT */
/* hosted.c -- a program into which the collector is loaded while it runs.
 *
 *	hosted FILE MILLISECONDS [MODE...]
 *
 * Two threads spend CPU time in two functions each, in turns, and measure these
 * turns by their own clock.  The sums are in FILE while the program runs: ns of
 * first_long, first_short, second_long, second_short, blocked_long, late_long and
 * brief_long.  Two numbers follow, which others set: the program ends before its
 * time when the first is not 0.
 *
 * Modes: `late` starts threads in late_long, and many short ones in brief_long, when
 * the second number is not 0; `blocked` has a thread that blocks all signals;
 * `sealed` has one that blocks the C library's as well; `waits` has threads that
 * wait in many ways, and counts waits that were cut short or failed; `malloc` has
 * the main thread allocate without end; `returns` has a thread of that name that
 * calls functions and returns from them all the time.
 *
 * Prints what went wrong, and exits with 7.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { N_PARTS = 7 };

static _Atomic uint64_t *parts;
static _Atomic bool is_over;
static _Atomic unsigned n_interrupted, n_wrong;

static uint64_t
now_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Turns take milliseconds: reading the clock of CPU time too often keeps the
 * kernel's ticks away (tests/programs/spin.h).  __LINE__ keeps the compiler from
 * making one function of several.
 */
#define WORK(name)							\
static void __attribute__((noinline))					\
name(unsigned n)							\
{									\
	volatile unsigned long sum = 0;					\
									\
	for (unsigned i = 0; i < n; i++)				\
		sum += (i * 7 ^ sum >> 3) + __LINE__;			\
}

WORK(first_long)
WORK(first_short)
WORK(second_long)
WORK(second_short)
WORK(blocked_long)
WORK(late_long)
WORK(brief_long)

static void
turn(unsigned part, void (*work)(unsigned), unsigned n)
{
	const uint64_t since = now_of(CLOCK_THREAD_CPUTIME_ID);

	work(n);
	parts[part] += now_of(CLOCK_THREAD_CPUTIME_ID) - since;
}

static void *
first(void *unused)
{
	while (!is_over) {
		turn(0, first_long, 2800000);
		turn(1, first_short, 1200000);
	}
	return unused;
}

static void *
second(void *unused)
{
	/* Both shares have floating-point registers to be kept. */
	double x = 1;

	while (!is_over) {
		turn(2, second_long, 2400000);
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001;
		turn(3, second_short, 1600000);
		for (int i = 0; i < 1000; i++)
			x = x / 1.0000001;
		if (x < 0.99999 || x > 1.00001)
			n_wrong++;
	}
	return unused;
}

static void *
blocked(void *unused)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!is_over)
		turn(4, blocked_long, 2000000);
	pthread_sigmask(SIG_SETMASK, NULL, &all);
	for (int number = 1; number < SIGRTMAX; number++)
		if (number != SIGKILL && number != SIGSTOP && number != 32 &&
		    number != 33 && /* the C library's */
		    sigismember(&all, number) == 0)
			n_wrong++;
	return unused;
}

/* By the kernel's own call, which blocks the C library's signals, too. */
static void *
sealed(void *unused)
{
	const uint64_t all = UINT64_MAX;
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
	while (!is_over)
		turn(4, blocked_long, 2000000);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, sizeof mask);
	if ((mask | 1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1)) != all)
		n_wrong++;
	return unused;
}

static void *
late(void *unused)
{
	while (!is_over)
		turn(5, late_long, 2000000);
	return unused;
}

static void *
brief(void *unused)
{
	turn(6, brief_long, 3000000);
	return unused;
}

/* Not one of its calls is its last instruction. */
static unsigned __attribute__((noinline))
returns_sum(unsigned depth)
{
	volatile unsigned sum = 0;

	for (unsigned i = 0; i < 100; i++)
		sum += i;
	return depth == 0 ? sum : returns_sum(depth - 1) + sum;
}

static void *
returns(void *unused)
{
	pthread_setname_np(pthread_self(), "returns");
	while (!is_over)
		if (returns_sum(19) != 20 * 4950)
			n_wrong++;
	return unused;
}

static void
note_wait(int result, uint64_t since, uint64_t least_ns)
{
	if (result < 0 && errno == EINTR)
		n_interrupted++;
	if (now_of(CLOCK_MONOTONIC) - since < least_ns)
		n_wrong++;
}

static void *
wait_in_epoll(void *unused)
{
	const int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;

	while (!is_over) {
		const uint64_t since = now_of(CLOCK_MONOTONIC);

		note_wait(epoll_wait(fd, &event, 1, 70), since, 69000000);
	}
	close(fd);
	return unused;
}

static void *
wait_in_sleep(void *unused)
{
	const struct timespec pause = { .tv_nsec = 90000000 };

	while (!is_over) {
		const uint64_t since = now_of(CLOCK_MONOTONIC);

		note_wait(nanosleep(&pause, NULL), since, 90000000);
	}
	return unused;
}

static void *
wait_in_poll(void *unused)
{
	while (!is_over) {
		const uint64_t since = now_of(CLOCK_MONOTONIC);

		note_wait(poll(NULL, 0, 50), since, 49000000);
	}
	return unused;
}

static void *
wait_in_pipe(void *ends)
{
	char byte;

	while (!is_over)
		if (read(((int *)ends)[0], &byte, 1) != 1)
			note_wait(-1, 0, 0);
	return ends;
}

static void *
wait_in_condition(void *unused)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	while (!is_over) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 60000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		if (pthread_cond_timedwait(&condition, &mutex, &until) !=
		    ETIMEDOUT)
			n_wrong++;
	}
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void
allocate(void)
{
	static char *kept[64];

	for (unsigned i = 0; i < 1000; i++) {
		free(kept[i % 64]);
		kept[i % 64] = malloc(16 + i * 37 % 4000);
		if (kept[i % 64] == NULL)
			n_wrong++;
	}
}

int
main(int argc, char **argv)
{
	const uint64_t start = now_of(CLOCK_MONOTONIC);
	const uint64_t length = strtoull(argv[2], NULL, 10) * 1000000;
	bool is_late = false, waits = false, allocates = false;
	pthread_t threads[64];
	unsigned n = 0;
	int ends[2];
	int fd;

	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096) != 0 || pipe(ends) != 0)
		return 1;
	parts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (parts == MAP_FAILED)
		return 1;
	close(fd);
	pthread_create(&threads[n++], NULL, first, NULL);
	pthread_create(&threads[n++], NULL, second, NULL);
	for (int i = 3; i < argc; i++) {
		is_late |= strcmp(argv[i], "late") == 0;
		allocates |= strcmp(argv[i], "malloc") == 0;
		if (strcmp(argv[i], "returns") == 0)
			pthread_create(&threads[n++], NULL, returns, NULL);
		if (strcmp(argv[i], "blocked") == 0)
			pthread_create(&threads[n++], NULL, blocked, NULL);
		if (strcmp(argv[i], "sealed") == 0)
			pthread_create(&threads[n++], NULL, sealed, NULL);
		if (strcmp(argv[i], "waits") != 0)
			continue;
		waits = true;
		pthread_create(&threads[n++], NULL, wait_in_epoll, NULL);
		pthread_create(&threads[n++], NULL, wait_in_sleep, NULL);
		pthread_create(&threads[n++], NULL, wait_in_poll, NULL);
		pthread_create(&threads[n++], NULL, wait_in_pipe, ends);
		pthread_create(&threads[n++], NULL, wait_in_condition, NULL);
	}
	while (now_of(CLOCK_MONOTONIC) - start < length && parts[N_PARTS] == 0) {
		const struct timespec pause = { .tv_nsec = 20000000 };
		pthread_t one;

		if (waits && write(ends[1], "", 1) != 1)
			n_wrong++;
		if (is_late && parts[N_PARTS + 1] != 0 && n < 16)
			pthread_create(&threads[n++], NULL, late, NULL);
		if (is_late && pthread_create(&one, NULL, brief, NULL) == 0)
			pthread_join(one, NULL);
		if (allocates)
			allocate();
		else if (nanosleep(&pause, NULL) != 0)
			n_interrupted++;
	}
	is_over = true;
	if (waits && write(ends[1], "", 1) != 1)
		n_wrong++;
	while (n > 0)
		pthread_join(threads[--n], NULL);
	printf("interrupted %u, wrong %u\n", n_interrupted, n_wrong);
	return 7;
}
