/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turns.c -- short threads, processes and turns that measure themselves.
 *
 * turns threads N A B: N threads, one after another, that each use A
 *	microseconds of CPU time in part_a and then B in part_b.
 * turns fork N A B, turns vfork N A B, turns spawn N A B: the same in children,
 *	and in programs that children of vfork or posix_spawn execute.
 * turns pool N A B: eight threads that each take N turns of A microseconds of
 *	system calls in part_calls and B of computing in part_b, and a lock now
 *	and then.
 * turns itimer N A B, turns timer N A B: a timer goes off every 10 ms, N times,
 *	and its handler uses A microseconds in part_a; B is ignored, and
 *	part_rest computes meanwhile.
 * turns pieces N: N pieces of part_a of the same work.  Prints "cpu" and the
 *	nanoseconds of all of them, then "longest" and those of the longest.
 *
 * The others print the names of the parts and the nanoseconds of each, by the
 * CPU clocks of the threads themselves.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/spin.h"

#define NOINLINE __attribute__((noinline, noclone))

extern char **environ;

/* What the parts have used; a child writes it to the pipe. */
struct used {
	int64_t a, b;
};

static _Atomic int64_t used_a, used_b;
static int64_t a_ns, b_ns;
static int report[2];

static NOINLINE void
part_a(int64_t ns)
{
	const int64_t start = thread_ns();

	do
		spin_round(2000);
	while (thread_ns() - start < ns);
	sink++;
}

static NOINLINE void
part_b(int64_t ns)
{
	const int64_t start = thread_ns();

	do
		spin_round(2000);
	while (thread_ns() - start < ns);
	sink++;
}

/* The clock is read outside of the part. */
static void
measure(void (*part)(int64_t ns), int64_t ns, _Atomic int64_t *used)
{
	const int64_t start = thread_ns();

	part(ns);
	*used += thread_ns() - start;
}

static void
take_turns(void)
{
	measure(part_a, a_ns, &used_a);
	measure(part_b, b_ns, &used_b);
}

static void *
run_thread(void *unused)
{
	take_turns();
	return unused;
}

static void
write_report(void)
{
	const struct used used = { used_a, used_b };

	if (write(report[1], &used, sizeof used) != sizeof used)
		_exit(9);
}

static void
read_report(void)
{
	struct used used;

	if (read(report[0], &used, sizeof used) == sizeof used) {
		used_a += used.a;
		used_b += used.b;
	}
}

static void
run_child(char **words, const char *how)
{
	pid_t pid = -1;

	if (strcmp(how, "fork") == 0)
		pid = fork();
	else if (strcmp(how, "vfork") == 0)
		pid = vfork();
	else
		posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ);
	if (pid == 0 && strcmp(how, "vfork") == 0) {
		execv("/proc/self/exe", words);
		_exit(127);
	}
	if (pid == 0) {
		used_a = used_b = 0;
		take_turns();
		write_report();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	read_report();
}

static void
run_children(const char *how, long n, char *a, char *b)
{
	char number[24];
	char *words[] = { (char[]){ "turns" }, (char[]){ "child" }, number, a, b,
		NULL };

	if (pipe(report) != 0)
		exit(2);
	snprintf(number, sizeof number, "%d", report[1]);
	while (n-- > 0)
		run_child(words, how);
}

/*
 * A pool.
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long n_turns;

static NOINLINE void
part_calls(int64_t ns)
{
	const int64_t start = thread_ns();

	do
		for (int i = 0; i < 20; i++)
			syscall(SYS_getppid);
	while (thread_ns() - start < ns);
}

static void *
work(void *unused)
{
	for (long i = 0; i < n_turns; i++) {
		measure(part_calls, a_ns, &used_a);
		measure(part_b, b_ns, &used_b);
		if (i % 4 == 0) {
			pthread_mutex_lock(&lock);
			sink++;
			pthread_mutex_unlock(&lock);
		}
	}
	return unused;
}

static void
run_pool(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

/*
 * Timers.
 */

static _Atomic long n_expired;

static void
expire(int number)
{
	(void)number;
	measure(part_a, a_ns, &used_a);
	n_expired++;
}

/* What the handler interrupts. */
static NOINLINE void
part_rest(long n)
{
	while (n_expired < n)
		spin_round(2000);
}

static void
run_timer(const char *how, long n)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } };
	const struct itimerspec as_often = { { 0, 10000000 }, { 0, 10000000 } };
	struct sigaction action = { .sa_handler = expire,
		.sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGALRM };
	int64_t start;
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	if (strcmp(how, "itimer") == 0)
		setitimer(ITIMER_REAL, &often, NULL);
	else if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &as_often, NULL) != 0)
		exit(2);
	start = thread_ns();
	part_rest(n);
	used_b += thread_ns() - start - used_a;
}

static void
run_pieces(long n)
{
	int64_t longest = 0, all = thread_ns();

	for (long i = 0; i < n; i++) {
		const int64_t start = thread_ns();
		int64_t ns;

		spin_round(150000);
		ns = thread_ns() - start;
		if (ns > longest)
			longest = ns;
	}
	printf("cpu %lld\nlongest %lld\n", (long long)(thread_ns() - all),
	       (long long)longest);
}

int
main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	const long n = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(how, "pieces") == 0) {
		run_pieces(n);
		return 0;
	}
	if (argc < 5)
		return 2;
	a_ns = atol(argv[3]) * INT64_C(1000);
	b_ns = atol(argv[4]) * INT64_C(1000);
	if (strcmp(how, "child") == 0) {
		report[1] = (int)n;
		take_turns();
		write_report();
		return 0;
	}
	if (strcmp(how, "threads") == 0) {
		for (long i = 0; i < n; i++) {
			pthread_t thread;

			pthread_create(&thread, NULL, run_thread, NULL);
			pthread_join(thread, NULL);
		}
	} else if (strcmp(how, "pool") == 0) {
		n_turns = n;
		run_pool();
	} else if (strstr(how, "timer") != NULL) {
		run_timer(how, n);
	} else {
		run_children(how, n, argv[3], argv[4]);
	}
	printf("%s %lld\n%s %lld\n",
	       strcmp(how, "pool") == 0 ? "part_calls" : "part_a",
	       (long long)used_a,
	       strstr(how, "timer") != NULL ? "part_rest" : "part_b",
	       (long long)used_b);
	return 0;
}
