/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crew.c -- the same work, divided among threads or processes.
 *
 * crew threads|processes N MS SLEEPERS: N of them do work for about MS
 * milliseconds in all; SLEEPERS further ones wake every 2 milliseconds until
 * the others have ended.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000, ROUNDS_PER_MS = 800000 };

static long rounds;
static volatile int is_over;

static void *
work(void *unused)
{
	volatile unsigned product = 0;

	for (long i = 0; i < rounds; i++)
		product = product * 31 + (unsigned)i;
	return unused;
}

static void *
rest(void *unused)
{
	while (!is_over)
		usleep(2000);
	return unused;
}

int
main(int argc, char **argv)
{
	static pthread_t threads[2 * MOST];
	static pid_t processes[2 * MOST];
	long n, n_sleepers;
	int are_threads;

	if (argc < 5)
		return 2;
	are_threads = strcmp(argv[1], "threads") == 0;
	n = atol(argv[2]);
	n_sleepers = atol(argv[4]);
	if (n < 1 || n > MOST || n_sleepers > MOST)
		return 2;
	rounds = atol(argv[3]) * ROUNDS_PER_MS / n;
	for (long i = 0; i < n + n_sleepers; i++) {
		void *(*const routine)(void *) = i < n ? work : rest;

		if (are_threads) {
			pthread_create(&threads[i], NULL, routine, NULL);
			continue;
		}
		processes[i] = fork();
		if (processes[i] == 0) {
			routine(NULL);
			_exit(0);
		}
	}
	for (long i = 0; i < n; i++)
		if (are_threads)
			pthread_join(threads[i], NULL);
		else
			waitpid(processes[i], NULL, 0);
	is_over = 1;
	for (long i = n; i < n + n_sleepers; i++) {
		if (are_threads) {
			pthread_join(threads[i], NULL);
			continue;
		}
		kill(processes[i], SIGTERM);
		waitpid(processes[i], NULL, 0);
	}
	return 0;
}
