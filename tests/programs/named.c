/* SPDX-License-Identifier: GPL-3.0-or-later */
/* named.c -- threads with names that say how long they computed.
 *
 * Two readers, a writer and one that hardly computes run at once; then first,
 * second and first run one after another, with the same start routine.  Each
 * prints its name, its process, its number and its CPU time in milliseconds.
 * With an argument, the path of a copy of this program, a child process
 * executes that, whose only thread is called other.  With the argument many, a
 * hundred threads of different names run one after another.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct work {
	const char *name;
	int ms;
};

static volatile unsigned sink;

static double
used_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void
spin(const struct work *work)
{
	while (used_ms() < work->ms)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned)i;
	printf("%s %ld %ld %.3f\n", work->name, (long)getpid(),
	       (long)syscall(SYS_gettid), used_ms());
	fflush(stdout);
}

static void *
run(void *argument)
{
	const struct work *work = argument;

	prctl(PR_SET_NAME, work->name);
	spin(work);
	return NULL;
}

/* Threads of as many names as there are, each twice. */
static void
run_many(void)
{
	char names[100][16];
	struct work work = { NULL, 16 };
	pthread_t thread;

	for (int i = 0; i < 200; i++) {
		work.name = names[i % 100];
		snprintf(names[i % 100], sizeof *names, "name-%d", i % 100);
		pthread_create(&thread, NULL, run, &work);
		pthread_join(thread, NULL);
	}
}

int
main(int n, char **arguments)
{
	struct work at_once[] = { { "reader", 300 }, { "writer", 600 },
		{ "reader", 200 }, { "idle", 10 } };
	struct work in_turn[] = { { "first", 100 }, { "second", 200 },
		{ "first", 100 } };
	struct work own = { n > 0 && strcmp(arguments[0], "other") == 0 ?
	    "other" : "main", 150 };
	pthread_t threads[4];
	pid_t child;

	prctl(PR_SET_NAME, own.name);
	if (n > 1 && strcmp(arguments[1], "many") == 0) {
		run_many();
		return 0;
	}
	if (n > 1 && posix_spawn(&child, arguments[1], NULL, NULL,
	    (char *[]){ "other", NULL }, environ) == 0)
		waitpid(child, NULL, 0);
	if (strcmp(own.name, "main") == 0) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, run, &at_once[i]);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		for (int i = 0; i < 3; i++) {
			pthread_create(&threads[0], NULL, run, &in_turn[i]);
			pthread_join(threads[0], NULL);
		}
	}
	spin(&own);
	return 0;
}
