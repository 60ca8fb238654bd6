/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runners.c -- threads and processes that know when each of them ran.
 *
 * runners HOW WHO N A B ROUNDS, where HOW is
 *	phases	part_one uses A microseconds in one runner, then part_all B in
 *		each of N, ROUNDS times, with barriers between them
 *	uneven	the same, but each part takes from half to one and a half times
 *		as long, at random: no samples are in step with it
 *	sleep	as phases, but N further runners only sleep, a millisecond at a
 *		time
 *	short	as phases, but the N are new ones in each round
 *	alone	each of the N in turn, new ones, with nothing beside it
 * and WHO is threads or processes, the N runners, or each for N processes with
 * two threads each.
 *
 * A runner reads the monotonic clock all the time.  Where the clock jumps, it
 * did not run for as long as its CPU clock has not advanced, and what it was
 * charged was used by the collector or the kernel; and it knows when it waits.  At
 * the end, the intervals of all are put side by side: "part_one LATENCY CPU" and
 * "part_all LATENCY CPU", in nanoseconds, have the time in which a part ran
 * divided by how many ran, and the same undivided; "any NS" the latency of both.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define MOST 400000		/* intervals */
#define JUMP_NS 60000
#define N_PARTS 3	/* part_one, part_all, and what is charged in jumps */
#define MOST_RUNNERS 64

struct interval {
	int64_t start, end;
	int part;
};

/* In memory that the processes share. */
static struct shared {
	_Atomic int n, is_over;
	pthread_barrier_t barrier;
	struct interval intervals[MOST];
} *shared;

static const char *how, *who;
static long n_runners, rounds;
static int64_t one_ns, all_ns;

static int64_t
read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int64_t
now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static void
note(int64_t start, int64_t end, int part)
{
	const int at = shared->n++;

	if (at < MOST)
		shared->intervals[at] = (struct interval){ start, end, part };
}

/*
 * Runs for ns of CPU time, and notes when.  What it was charged in a jump is taken
 * to be the end of that.
 */
static inline __attribute__((always_inline)) void
run_part(int64_t ns, int part)
{
	int64_t start = now(), last = start, used = 0, time, charged;
	int64_t cpu, before = read_clock(CLOCK_THREAD_CPUTIME_ID);

	while (used + last - start < ns) {
		for (volatile int i = 0; i < 100; i++)
			continue;
		time = now();
		if (time - last > JUMP_NS) {
			cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
			charged = cpu - before - (last - start);
			if (charged < 0)
				charged = 0;
			if (charged > time - last)
				charged = time - last;
			before = cpu;
			note(start, last, part);
			note(time - charged, time, N_PARTS - 1);
			used += last - start;
			start = time;
		}
		last = time;
	}
	note(start, last, part);
}

static NOINLINE void
part_one(int64_t ns)
{
	run_part(ns, 0);
}

static NOINLINE void
part_all(int64_t ns)
{
	run_part(ns, 1);
}

/* How long a part takes this time. */
static int64_t
draw(int64_t ns)
{
	static _Thread_local uint64_t state;

	if (strcmp(how, "uneven") != 0)
		return ns;
	if (state == 0)
		state = (uint64_t)gettid();
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ns / 2 + (int64_t)((state >> 33) % (uint64_t)ns);
}

static void
meet(void)
{
	pthread_barrier_wait(&shared->barrier);
}

static void *
run_rounds(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		meet();
		part_all(draw(all_ns));
		meet();
	}
	return unused;
}

static void *
run_once(void *unused)
{
	part_all(all_ns);
	return unused;
}

static void *
sleep_on(void *unused)
{
	while (!shared->is_over)
		usleep(1000);
	return unused;
}

/* ---- threads, processes, and processes with two threads ---- */

struct runners {
	pthread_t threads[MOST_RUNNERS];
	pid_t processes[MOST_RUNNERS];
	long n;
};

static void
start_thread(pthread_t *thread, void *(*routine)(void *))
{
	if (pthread_create(thread, NULL, routine, NULL) != 0)
		exit(2);
}

static void
run_both(void *(*routine)(void *))
{
	pthread_t thread;

	start_thread(&thread, routine);
	routine(NULL);
	pthread_join(thread, NULL);
}

static void
start(struct runners *runners, void *(*routine)(void *), long n)
{
	runners->n = n;
	for (long i = 0; i < n; i++) {
		if (strcmp(who, "threads") == 0) {
			start_thread(&runners->threads[i], routine);
			continue;
		}
		runners->processes[i] = fork();
		if (runners->processes[i] == 0) {
			if (strcmp(who, "each") == 0)
				run_both(routine);
			else
				routine(NULL);
			exit(0);
		}
	}
}

static void
finish(struct runners *runners)
{
	for (long i = 0; i < runners->n; i++)
		if (strcmp(who, "threads") == 0)
			pthread_join(runners->threads[i], NULL);
		else
			waitpid(runners->processes[i], NULL, 0);
}

static void
run_phases(void)
{
	struct runners runners, sleepers = { .n = 0 };

	if (strcmp(how, "sleep") == 0)
		start(&sleepers, sleep_on, n_runners);
	start(&runners, run_rounds, n_runners);
	for (long i = 0; i < rounds; i++) {
		part_one(draw(one_ns));
		meet();
		meet();
	}
	finish(&runners);
	shared->is_over = 1;
	finish(&sleepers);
}

static void
run_short(void)
{
	struct runners runners;
	const int are_alone = strcmp(how, "alone") == 0;

	for (long i = 0; i < rounds; i++) {
		part_one(one_ns);
		for (long k = 0; k < (are_alone ? n_runners : 1); k++) {
			start(&runners, run_once, are_alone ? 1 : n_runners);
			finish(&runners);
		}
	}
}

/* ---- what was true ---- */

struct event {
	int64_t time;
	int part, step;
};

static int
compare(const void *a, const void *b)
{
	const struct event *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

static void
report(void)
{
	const int n = shared->n;
	struct event *events = calloc(2 * (size_t)n, sizeof *events);
	double latency[N_PARTS] = { 0 }, cpu[N_PARTS] = { 0 };
	long running[N_PARTS] = { 0 };

	if (n > MOST || events == NULL)
		exit(3);
	for (int i = 0; i < n; i++) {
		const struct interval *from = &shared->intervals[i];

		events[2 * i] = (struct event){ from->start, from->part, 1 };
		events[2 * i + 1] = (struct event){ from->end, from->part, -1 };
	}
	qsort(events, 2 * (size_t)n, sizeof *events, compare);
	for (int i = 0; i < 2 * n; i++) {
		const long all = running[0] + running[1] + running[2];

		if (all > 0) {
			const double ns = (double)(events[i].time -
			    events[i - 1].time);

			for (int k = 0; k < N_PARTS; k++) {
				cpu[k] += ns * (double)running[k];
				latency[k] += ns * (double)running[k] /
				    (double)all;
			}
		}
		running[events[i].part] += events[i].step;
	}
	printf("part_one %.0f %.0f\npart_all %.0f %.0f\nany %.0f\n",
	       latency[0], cpu[0], latency[1], cpu[1],
	       latency[0] + latency[1]);
	free(events);
}

int
main(int argc, char **argv)
{
	pthread_barrierattr_t attributes;

	if (argc < 7)
		return 2;
	how = argv[1];
	who = argv[2];
	n_runners = atol(argv[3]);
	one_ns = atol(argv[4]) * INT64_C(1000);
	all_ns = atol(argv[5]) * INT64_C(1000);
	rounds = atol(argv[6]);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || n_runners > MOST_RUNNERS)
		return 2;
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attributes,
	                     (unsigned)(1 + n_runners *
	                     (strcmp(who, "each") == 0 ? 2 : 1)));
	if (strcmp(how, "short") == 0 || strcmp(how, "alone") == 0)
		run_short();
	else
		run_phases();
	report();
	return 0;
}
