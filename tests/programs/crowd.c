/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crowd.c -- more threads than processors; prints how long they were where.
 *
 *	crowd equals N ROUNDS A B	N threads, each in part_a for A
 *					microseconds of CPU time, then in part_b
 *					for B, ROUNDS times
 *	crowd pool N ROUNDS A B		N workers that do the same for ROUNDS
 *					jobs each, from one queue
 *	crowd calls N ROUNDS A B	N threads, each in part_call for A system
 *					calls, then in part_b, ROUNDS times
 *	crowd memory N ROUNDS A B	the same, in part_touch for A new pages
 *	crowd polls N ROUNDS A B	N threads, each in part_a for A
 *					microseconds, then waiting for B
 *					milliseconds, ROUNDS times; every second
 *					one without the C library
 *	crowd pipes N ROUNDS A B	N threads connected by pipes; every second
 *					one is in part_b for each item
 *
 * A line for each part: its name, and the real time of all threads there, in
 * nanoseconds.  Of polls: "interrupted", and how many waits were.  The threads
 * make no system calls but those of the parts: a thread may lose its processor
 * at the end of any system call.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N_TRIED 3000000		/* rounds that measure the processor's speed */
#define PAGE 4096
#define PART __attribute__((noinline))

enum {
	PART_A, PART_B, PART_TAKE, PART_PASS, PART_CALL, PART_TOUCH, N_PARTS
};

static const char *const names[] = {
	"part_a", "part_b", "part_take", "part_pass", "part_call", "part_touch"
};
static _Atomic uint64_t times[N_PARTS];
static volatile uint64_t sink;
static unsigned long n_threads, n_rounds, length_a, length_b;

static uint64_t
now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t
spin(unsigned long n, uint64_t factor)
{
	uint64_t h = 1;
	unsigned long i;

	for (i = 0; i < n; i++)
		h = h * factor + i;
	return h;
}

static PART void
part_a(unsigned long n)
{
	sink = spin(n, 31);
	__asm__ volatile ("");
}

static PART void
part_b(unsigned long n)
{
	sink = spin(n, 37);
	__asm__ volatile ("");
}

#define TIMED(part, call)						\
do {									\
	const uint64_t start = now(CLOCK_MONOTONIC);			\
									\
	call;								\
	times[part] += now(CLOCK_MONOTONIC) - start;			\
} while (0)

static void *
equal(void *unused)
{
	unsigned long i;

	for (i = 0; i < n_rounds; i++) {
		TIMED(PART_A, part_a(length_a));
		TIMED(PART_B, part_b(length_b));
	}
	return unused;
}

static PART void
part_call(unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	__asm__ volatile ("");
}

static void *
call(void *unused)
{
	unsigned long i;

	for (i = 0; i < n_rounds; i++) {
		TIMED(PART_CALL, part_call(length_a));
		TIMED(PART_B, part_b(length_b));
	}
	return unused;
}

/* Threads wait for each other where they change what is mapped. */
static PART void
part_touch(unsigned long n)
{
	const size_t size = n * PAGE;
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long i;

	if (pages == MAP_FAILED)
		abort();
	for (i = 0; i < n; i++)
		pages[i * PAGE] = 1;
	munmap(pages, size);
	__asm__ volatile ("");
}

static void *
touch(void *unused)
{
	unsigned long i;

	for (i = 0; i < n_rounds; i++) {
		TIMED(PART_TOUCH, part_touch(length_a));
		TIMED(PART_B, part_b(length_b));
	}
	return unused;
}

static _Atomic uint64_t n_interrupted;

/* poll(NULL, 0, ms) without the C library. */
static int
bare_poll(unsigned long ms)
{
	long result;

	__asm__ volatile ("syscall" : "=a" (result) : "a" ((long)SYS_poll),
	    "D" (0L), "S" (0L), "d" (ms) : "rcx", "r11", "memory");
	if (result >= 0)
		return (int)result;
	errno = (int)-result;
	return -1;
}

static pthread_barrier_t everybody;

/* All live at the same time. */
static void *
wait_often(void *argument)
{
	const bool is_bare = (uintptr_t)argument % 2 == 1;
	unsigned long i;

	pthread_barrier_wait(&everybody);
	for (i = 0; i < n_rounds; i++) {
		part_a(length_a);
		if ((is_bare ? bare_poll(length_b) :
		    poll(NULL, 0, (int)length_b)) < 0 && errno == EINTR)
			n_interrupted++;
	}
	pthread_barrier_wait(&everybody);
	return NULL;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long n_jobs;
static bool is_done;

static PART bool
part_take(void)
{
	bool ok;

	pthread_mutex_lock(&lock);
	while (n_jobs == 0 && !is_done)
		pthread_cond_wait(&changed, &lock);
	ok = n_jobs > 0;
	if (ok)
		n_jobs--;
	pthread_mutex_unlock(&lock);
	return ok;
}

static void *
work(void *unused)
{
	bool ok;

	for (;;) {
		TIMED(PART_TAKE, ok = part_take());
		if (!ok)
			return unused;
		TIMED(PART_A, part_a(length_a));
		TIMED(PART_B, part_b(length_b));
	}
}

static void
give_jobs(void)
{
	unsigned long i;

	for (i = 0; i < n_rounds * n_threads; i++) {
		pthread_mutex_lock(&lock);
		n_jobs++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	is_done = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int (*pipes)[2];		/* one behind each thread */

static PART bool
part_take_item(int from, uint64_t *item)
{
	const bool ok = read(from, item, sizeof *item) == sizeof *item;

	__asm__ volatile ("");
	return ok;
}

static PART void
part_pass(int to, uint64_t item)
{
	if (write(to, &item, sizeof item) != sizeof item)
		abort();
	__asm__ volatile ("");
}

static void *
relay(void *argument)
{
	const size_t place = (size_t)(uintptr_t)argument;
	uint64_t item = 0;
	unsigned long i;
	bool ok = true;

	for (i = 0; i < n_rounds; i++) {
		if (place > 0)
			TIMED(PART_TAKE, ok = part_take_item(
			    pipes[place - 1][0], &item));
		if (!ok)
			abort();
		if (place % 2 == 0)
			TIMED(PART_A, part_a(length_a));
		else
			TIMED(PART_B, part_b(length_b));
		if (place + 1 < n_threads)
			TIMED(PART_PASS, part_pass(pipes[place][1], item + 1));
	}
	return NULL;
}

static void
measure_speed(bool are_calls, bool are_waits)
{
	const uint64_t start = now(CLOCK_THREAD_CPUTIME_ID);
	double per_us;

	sink = spin(N_TRIED, 31);
	per_us = N_TRIED * 1000.0 /
	    (double)(now(CLOCK_THREAD_CPUTIME_ID) - start);
	if (!are_calls)
		length_a = (unsigned long)((double)length_a * per_us);
	if (!are_waits)
		length_b = (unsigned long)((double)length_b * per_us);
}

int
main(int argc, char **argv)
{
	void *(*routine)(void *);
	pthread_t *threads;
	unsigned long i;

	if (argc != 6)
		return 2;
	routine = strcmp(argv[1], "pool") == 0 ? work :
	    strcmp(argv[1], "pipes") == 0 ? relay :
	    strcmp(argv[1], "calls") == 0 ? call :
	    strcmp(argv[1], "memory") == 0 ? touch :
	    strcmp(argv[1], "polls") == 0 ? wait_often : equal;
	n_threads = strtoul(argv[2], NULL, 10);
	n_rounds = strtoul(argv[3], NULL, 10);
	length_a = strtoul(argv[4], NULL, 10);
	length_b = strtoul(argv[5], NULL, 10);
	measure_speed(routine == call || routine == touch,
	    routine == wait_often);
	threads = calloc(n_threads, sizeof *threads);
	if (pthread_barrier_init(&everybody, NULL, (unsigned)n_threads) != 0)
		return 2;
	pipes = calloc(n_threads, sizeof *pipes);
	for (i = 0; routine == relay && i < n_threads; i++)
		if (pipe(pipes[i]) != 0)
			return 2;
	for (i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, routine,
		    (void *)(uintptr_t)i) != 0)
			return 2;
	if (routine == work)
		give_jobs();
	for (i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < N_PARTS; i++)
		if (times[i] > 0)
			printf("%s %llu\n", names[i],
			    (unsigned long long)times[i]);
	if (routine == wait_often)
		printf("interrupted %llu\n", (unsigned long long)n_interrupted);
	return 0;
}
