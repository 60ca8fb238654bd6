/* SPDX-License-Identifier: MIT */
/* served.c -- a program that counts what it asks of the C library, for a collector
 * that is loaded while it runs.
 *
 *	served FILE MILLISECONDS [MODE...]
 *
 * Threads allocate, read, write and wait in two functions each, in turns.  The
 * sums are in FILE while the program runs: bytes that grow_long and grow_short
 * asked for, bytes that read_long and write_long moved, ns that sleep_long,
 * poll_long, condition_long, sleep_short and rare_long waited, the bytes in use
 * by the C library's allocator, as it says itself, how many of early_long's were
 * freed, and how often a dive has returned.  Who reads them may set the last one,
 * so that a dive may return, or a library is loaded.
 *
 * Modes: `keep`: grow_long keeps all of its blocks, and early_long's, from the
 * beginning, are freed meanwhile; `rare`: a thread that waits nearly always, for
 * a second each time, with `edge` for 90 ms; `plugin PATH`: when it may, loads a
 * library and calls its function plugin_run all the time; `dive`: a thread that
 * stays at the end of 2,000 calls until it may return, again and again; `greedy`:
 * 16 threads that do nothing but allocate and free.
 *
 * Prints what went wrong, and exits with 7.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N_GREEDY = 16 };

enum part {
	GROW_LONG,
	GROW_SHORT,
	READ_LONG,
	WRITE_LONG,
	SLEEP_LONG,
	POLL_LONG,
	CONDITION_LONG,
	SLEEP_SHORT,
	RARE_LONG,
	IN_USE,
	FREED_EARLY,
	DIVES,
	MAY_GO_ON
};

static _Atomic uint64_t *parts;
static _Atomic bool is_over;
static _Atomic unsigned n_wrong;
static bool keeps;
static long rare_ns = 999999999;

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
pause_ns(long ns)
{
	const struct timespec pause = { .tv_nsec = ns };

	if (nanosleep(&pause, NULL) != 0)
		n_wrong++;
}

/* Allocation. */

#define KEPT 100000

static char *kept[KEPT];
static size_t n_kept, n_first;

/* By their addresses, as programs have them in tables. */
static void *(*const volatile allocators[])(size_t) = { malloc };

static char * __attribute__((noinline))
grow_long(size_t size)
{
	char *const block = allocators[0](size);

	parts[GROW_LONG] += size;
	if (block == NULL)
		n_wrong++;
	else
		block[0] = 1;
	return block;
}

static char * __attribute__((noinline))
grow_short(char *old, size_t size)
{
	char *const block = realloc(old, size);

	parts[GROW_SHORT] += size;
	if (block == NULL)
		n_wrong++;
	return block;
}

static void __attribute__((noinline))
early_long(void)
{
	for (; n_first < 2000; n_first++)
		kept[n_first] = calloc(1, 10000);
	n_kept = n_first;
}

static void *
allocate(void *unused)
{
	char *ring[64] = { NULL };
	char *changing = NULL;
	unsigned i;

	for (i = 0; !is_over; i++) {
		if (keeps && n_kept < KEPT) {
			kept[n_kept++] = grow_long(700 + i % 600);
		} else {
			free(ring[i % 64]);
			ring[i % 64] = grow_long(700 + i % 600);
		}
		changing = grow_short(changing, 200 + i % 200);
		/* A block from before the recording, perhaps. */
		if (n_first > 0 && i % 4 == 0) {
			free(kept[--n_first]);
			parts[FREED_EARLY] += 10000;
		}
		parts[IN_USE] = mallinfo2().uordblks;
		if (i % 4 == 0)
			pause_ns(keeps ? 1000000 : 100000);
	}
	free(changing);
	for (i = 0; i < 64; i++)
		free(ring[i]);
	return unused;
}

static void *
allocate_greedily(void *unused)
{
	while (!is_over) {
		char *volatile block = malloc(1000);

		free(block);
	}
	return unused;
}

/* Reading and writing. */

static void __attribute__((noinline))
read_long(int fd)
{
	char bytes[5000];

	if (read(fd, bytes, sizeof bytes) != sizeof bytes)
		n_wrong++;
	parts[READ_LONG] += sizeof bytes;
}

static void __attribute__((noinline))
write_long(FILE *file)
{
	static const char bytes[3000];

	if (fwrite(bytes, 1, sizeof bytes, file) != sizeof bytes)
		n_wrong++;
	parts[WRITE_LONG] += sizeof bytes;
}

static void *
move(void *unused)
{
	const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	FILE *const null = fopen("/dev/null", "we");

	while (!is_over) {
		for (int i = 0; i < 10; i++) {
			read_long(zero);
			write_long(null);
		}
		pause_ns(1000000);
	}
	close(zero);
	fclose(null);
	return unused;
}

/* Waits. */

#define WAIT(name, part, wait)						\
static void __attribute__((noinline))					\
name(void)								\
{									\
	const uint64_t since = now_ns();				\
									\
	wait;								\
	parts[part] += now_ns() - since;				\
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void
wait_for_condition(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 30000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&mutex);
	if (pthread_cond_timedwait(&condition, &mutex, &until) != ETIMEDOUT)
		n_wrong++;
	pthread_mutex_unlock(&mutex);
}

WAIT(sleep_long, SLEEP_LONG, pause_ns(20000000))
WAIT(poll_long, POLL_LONG, poll(NULL, 0, 10))
WAIT(condition_long, CONDITION_LONG, wait_for_condition())
WAIT(sleep_short, SLEEP_SHORT, pause_ns(5000000))
WAIT(rare_long, RARE_LONG, pause_ns(rare_ns))

static void *
wait_here(void *unused)
{
	while (!is_over) {
		sleep_long();
		poll_long();
		condition_long();
		sleep_short();
	}
	return unused;
}

static void *
wait_rarely(void *unused)
{
	while (!is_over)
		rare_long();
	return unused;
}

/* A stack so deep that the collector marks it. */

static unsigned __attribute__((noinline))
dive(unsigned depth)
{
	volatile unsigned sum = depth;

	if (depth > 0)
		sum += dive(depth - 1);
	while (depth == 0 && parts[MAY_GO_ON] == 0 && !is_over)
		for (unsigned i = 0; i < 100000; i++)
			sum += i;
	return sum;
}

static void *
dive_again(void *unused)
{
	while (!is_over) {
		dive(2000);
		parts[DIVES]++;
	}
	return unused;
}

/* A library that is loaded later. */

static void *
run_plugin(void *path)
{
	void (*run)(void);
	void *library;
	void *found;

	while (parts[MAY_GO_ON] == 0)
		pause_ns(5000000);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	found = library != NULL ? dlsym(library, "plugin_run") : NULL;
	if (found == NULL) {
		n_wrong++;
		return NULL;
	}
	memcpy(&run, &found, sizeof run);
	while (!is_over)
		run();
	return NULL;
}

int
main(int argc, char **argv)
{
	const uint64_t start = now_ns();
	const uint64_t length = strtoull(argv[2], NULL, 10) * 1000000;
	/* In code: at a fixed address, that of a stub of the program's. */
	void *(*const volatile allocator)(size_t) = malloc;
	pthread_t threads[8 + N_GREEDY];
	unsigned n = 0;
	int fd;

	if (allocator == NULL)
		return 1;

	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return 1;
	parts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (parts == MAP_FAILED)
		return 1;
	close(fd);
	for (int i = 3; i < argc; i++) {
		keeps |= strcmp(argv[i], "keep") == 0;
		if (strcmp(argv[i], "edge") == 0)
			rare_ns = 90000000;
		if (strcmp(argv[i], "rare") == 0)
			pthread_create(&threads[n++], NULL, wait_rarely, NULL);
		if (strcmp(argv[i], "dive") == 0)
			pthread_create(&threads[n++], NULL, dive_again, NULL);
		for (unsigned j = 0; strcmp(argv[i], "greedy") == 0 &&
		    j < N_GREEDY; j++)
			pthread_create(&threads[n++], NULL, allocate_greedily,
			    NULL);
		if (strcmp(argv[i], "plugin") == 0)
			pthread_create(&threads[n++], NULL, run_plugin,
			    argv[++i]);
	}
	if (keeps)
		early_long();
	pthread_create(&threads[n++], NULL, allocate, NULL);
	pthread_create(&threads[n++], NULL, move, NULL);
	pthread_create(&threads[n++], NULL, wait_here, NULL);
	while (now_ns() - start < length)
		pause_ns(20000000);
	is_over = true;
	while (n > 0)
		pthread_join(threads[--n], NULL);
	printf("wrong %u\n", n_wrong);
	return 7;
}
