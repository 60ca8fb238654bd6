/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linked.c -- a program that is linked with libcpprof: `linked MODE [NAME]`.
 *
 * It is built as a user would build it, against the installed header and
 * library, and prints one line that does not depend on sampling.
 */
#include <cpprof.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define N_EARLY 3
#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE void
before(void)
{
	spin(100);
	sink++;
}

static NOINLINE void
between(void)
{
	spin(100);
	sink++;
}

static NOINLINE void
during(long ms)
{
	spin(ms);
	sink++;
}

static int
run_phases(const char *name)
{
	int i;

	before();
	if (cpprof_start(name) != 0)
		return 1;
	during(100);
	for (i = 0; i < 3; i++) {
		cpprof_phase("load");
		during(20);
		cpprof_phase("solve; fast");
		during(40);
	}
	cpprof_phase(NULL);
	during(100);
	cpprof_stop();
	between();
	if (cpprof_start(name) != 0)
		return 1;
	during(100);
	cpprof_stop();
	between();
	puts("phases");
	return 0;
}

/* The stage of the main thread, and the early threads that wait for it. */
static int stage, n_waiting;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void
set_stage(int next)
{
	pthread_mutex_lock(&mutex);
	stage = next;
	n_waiting = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void
wait_for_stage(int wanted)
{
	pthread_mutex_lock(&mutex);
	n_waiting++;
	pthread_cond_broadcast(&changed);
	while (stage < wanted)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void
wait_for_early_threads(void)
{
	pthread_mutex_lock(&mutex);
	while (n_waiting < N_EARLY)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

/* Alive before sampling begins, and when it is stopped and resumed. */
static NOINLINE void *
early_thread(void *argument)
{
	cpprof_name_thread("early bird of them all");
	before();
	wait_for_stage(1);
	during(200);
	wait_for_stage(2);
	between();
	wait_for_stage(3);
	during(200);
	return argument;
}

static NOINLINE void *
late_thread(void *argument)
{
	during(200);
	return argument;
}

static NOINLINE void *
unseen_thread(void *argument)
{
	before();
	return argument;
}

static int
run_threads(const char *name)
{
	pthread_t threads[N_EARLY + 1], *late = &threads[N_EARLY];
	int i;

	for (i = 0; i < N_EARLY; i++)
		pthread_create(&threads[i], NULL, early_thread, NULL);
	before();
	wait_for_early_threads();
	if (cpprof_start(name) != 0)
		return 1;
	set_stage(1);
	pthread_create(late, NULL, late_thread, NULL);
	pthread_join(*late, NULL);
	during(300);
	wait_for_early_threads();
	cpprof_stop();
	set_stage(2);
	pthread_create(late, NULL, unseen_thread, NULL);
	between();
	pthread_join(*late, NULL);
	wait_for_early_threads();
	if (cpprof_start(name) != 0)
		return 1;
	set_stage(3);
	for (i = 0; i < N_EARLY; i++)
		pthread_join(threads[i], NULL);
	puts("threads");
	return 0;
}

static int
run_fork(const char *name)
{
	int status = 0;
	pid_t child;

	if (cpprof_start(name) != 0)
		return 1;
	cpprof_phase("parent");
	child = fork();
	if (child == 0) {
		cpprof_phase("child");
		during(100);
		cpprof_stop();
		between();
		cpprof_start(name);
		during(100);
		_exit(4);
	}
	during(100);
	waitpid(child, &status, 0);
	printf("fork %d\n", WEXITSTATUS(status));
	return 0;
}

static NOINLINE void
serve(int requests, int n)
{
	int i;

	for (i = 0; i < n; i++)
		cpprof_spend(requests, 3);
	sink++;
}

static NOINLINE void
serve_more(int requests, int n)
{
	serve(requests, n);
	sink++;
}

static NOINLINE void *
serve_in_thread(void *requests)
{
	serve(*(int *)requests, 1000);
	return NULL;
}

static int
run_resources(const char *name)
{
	int requests = cpprof_resource("requests", "request", 10), bytes, other;
	pthread_t thread;

	serve(requests, 1000);
	printf("%d", cpprof_resource("requests", "request", 10));
	printf(" %d", cpprof_resource("cpu", "request", 10));
	if (cpprof_start(name) != 0)
		return 1;
	for (other = requests + 1; other < CPPROF_RESOURCES_MAX; other++)
		cpprof_spend(other, 1000000000);
	serve(requests, 1000);
	serve_more(requests, 3000);
	pthread_create(&thread, NULL, serve_in_thread, &requests);
	pthread_join(thread, NULL);
	bytes = cpprof_resource("bytes sent", "byte", 100);
	cpprof_spend(bytes, 12345);
	cpprof_spend(-1, 12345);
	during(50);
	cpprof_stop();
	serve(requests, 1000);
	printf(" %d\n", bytes);
	return 0;
}

static void *
wait_and_work(void *argument)
{
	wait_for_stage(1);
	during(100);
	return argument;
}

/* What the parent's threads have left must not count as the child's. */
static int
run_fork_threads(const char *name)
{
	pthread_t threads[N_EARLY];
	int status = 0, i, round;
	pid_t child = 1;

	for (round = 0; round < 2; round++) {
		stage = 0;
		for (i = 0; i < N_EARLY; i++)
			pthread_create(&threads[i], NULL, wait_and_work, NULL);
		wait_for_early_threads();
		if (cpprof_start(name) != 0)
			return 1;
		set_stage(1);
		for (i = 0; i < N_EARLY; i++)
			pthread_join(threads[i], NULL);
		cpprof_stop();
		if (round == 0)
			child = fork();
	}
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	printf("fork threads %d\n", status);
	return 0;
}

static NOINLINE void *
start_here(void *name)
{
	return cpprof_start(name) == 0 ? &stage : NULL;
}

static NOINLINE void *
stop_here(void *unused)
{
	(void)unused;
	cpprof_stop();
	return &stage;
}

static int
in_another_thread(void *(*routine)(void *), const char *name)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, routine, (void *)name) != 0)
		return -1;
	pthread_join(thread, &result);
	return result != NULL ? 0 : -1;
}

/* The exit status of the child, or 100 and the number of its signal. */
static int
status_of(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? 100 + WTERMSIG(status) :
	    WEXITSTATUS(status);
}

/*
 * A thread waits inside cpprof_start for the lock of the directory, and the
 * main thread forks.
 */
static int
run_fork_in_start(const char *name)
{
	const struct timespec while_it_waits = { .tv_nsec = 30000000 };
	int folder, status;
	pthread_t thread;
	pid_t child;

	if (mkdir(name, 0700) != 0 ||
	    (folder = open(name, O_RDONLY | O_CLOEXEC)) < 0 ||
	    flock(folder, LOCK_EX) != 0 ||
	    pthread_create(&thread, NULL, start_here, (void *)name) != 0)
		return 1;
	nanosleep(&while_it_waits, NULL);
	child = fork();
	if (child == 0) {
		alarm(10);
		flock(folder, LOCK_UN);
		if (cpprof_start(name) != 0)
			_exit(1);
		during(100);
		cpprof_stop();
		_exit(0);
	}
	status = status_of(child);
	pthread_join(thread, NULL);
	printf("fork in start %d\n", status);
	return 0;
}

/* The main thread forks before it is sampled, and when it is stopped. */
static int
run_fork_unsampled(const char *name)
{
	pid_t child;

	if (in_another_thread(start_here, name) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		cpprof_phase("unsampled");
		during(200);
		_exit(4);
	}
	printf("fork unsampled %d", status_of(child));
	during(50);
	in_another_thread(stop_here, NULL);
	child = fork();
	if (child == 0) {
		between();
		if (cpprof_start(name) != 0)
			_exit(1);
		cpprof_phase("stopped");
		during(200);
		_exit(5);
	}
	printf(" %d\n", status_of(child));
	return 0;
}

#define N_STOPS 20

/* No tick has come to the main thread while it was stopped. */
static int
run_start_again(const char *name)
{
	int i;

	if (cpprof_start(name) != 0)
		return 1;
	during(50);
	for (i = 0; i < N_STOPS; i++) {
		in_another_thread(stop_here, NULL);
		if (cpprof_start(name) != 0)
			return 1;
	}
	during(100);
	cpprof_stop();
	printf("start again %d\n", N_STOPS);
	return 0;
}

static long
thread_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Stores, in place of its argument, the CPU time while it is recorded. */
static NOINLINE void *
stop_and_go_on(void *ms)
{
	const long began = thread_ms();
	long stopped, resumed;

	during(300);
	cpprof_stop();
	stopped = thread_ms();
	between();
	if (cpprof_start(NULL) != 0)
		return NULL;
	resumed = thread_ms();
	during(100);
	*(long *)ms = stopped - began + thread_ms() - resumed;
	return ms;
}

/* A thread that was recorded from its first instruction on is resumed. */
static int
run_whole_thread(const char *name)
{
	pthread_t thread;
	void *result;
	long ms = 0;

	if (cpprof_start(name) != 0 ||
	    pthread_create(&thread, NULL, stop_and_go_on, &ms) != 0)
		return 1;
	pthread_join(thread, &result);
	cpprof_stop();
	printf("whole thread %ld\n", result == NULL ? -1 : ms);
	return 0;
}

/* Only calls that must have no effect. */
static int
run_never(const char *name)
{
	(void)name;
	cpprof_stop();
	cpprof_phase("unseen");
	cpprof_name_thread("unseen");
	during(100);
	cpprof_stop();
	puts("never");
	return 0;
}

static int
run_many(const char *name)
{
	int i, failed = 0;
	char phase[100];

	for (i = 0; i < 200; i++) {
		failed += cpprof_start(name) != 0;
		during(1);
		cpprof_stop();
	}
	for (i = 0; i < 2000; i++) {
		snprintf(phase, sizeof phase, "%d", i);
		failed += cpprof_phase(phase) != 0;
	}
	printf("many %d %d\n", failed, errno == ENOSPC);
	return 0;
}

static int
run_refused(const char *name)
{
	int result = cpprof_start(name);

	printf("%d %s\n", result, strerrorname_np(errno));
	return 0;
}

/* There is no room for the file at first. */
static int
run_second_attempt(const char *name)
{
	struct rlimit usual, none;
	int first, second;

	getrlimit(RLIMIT_FSIZE, &usual);
	none = usual;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &none);
	first = cpprof_start(name);
	setrlimit(RLIMIT_FSIZE, &usual);
	second = cpprof_start(name);
	printf("%d %d\n", first, second);
	return 0;
}

static volatile int is_spinning, is_watching, found;

/* Is sampled, waits, and then watches its errno without a call. */
static NOINLINE void *
watch_errno(void *argument)
{
	volatile int *const place = &errno;

	while (is_spinning)
		sink++;
	wait_for_stage(1);
	*place = 0;
	while (is_watching)
		sink++;
	found = *place;
	return argument;
}

/*
 * A thread is sampled again from its handler on, while no descriptor can be
 * opened.
 */
static int
run_resumed(const char *name)
{
	struct rlimit limit;
	pthread_t thread;
	int failed;

	getrlimit(RLIMIT_NOFILE, &limit);
	is_spinning = is_watching = 1;
	failed = pthread_create(&thread, NULL, watch_errno, NULL);
	failed += cpprof_start(name) != 0;
	during(100);
	cpprof_stop();
	during(100);
	is_spinning = 0;
	during(100);
	failed += cpprof_start(name) != 0;
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 3, limit.rlim_max });
	set_stage(1);
	during(100);
	is_watching = 0;
	pthread_join(thread, NULL);
	setrlimit(RLIMIT_NOFILE, &limit);
	printf("resumed %d, errno %d\n", failed, found);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(const char *);
} modes[] = {
	{ "phases", run_phases },
	{ "threads", run_threads },
	{ "fork", run_fork },
	{ "resources", run_resources },
	{ "fork-threads", run_fork_threads },
	{ "fork-in-start", run_fork_in_start },
	{ "fork-unsampled", run_fork_unsampled },
	{ "start-again", run_start_again },
	{ "whole-thread", run_whole_thread },
	{ "never", run_never },
	{ "many", run_many },
	{ "refused", run_refused },
	{ "second-attempt", run_second_attempt },
	{ "resumed", run_resumed },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argc > 2 ? argv[2] : NULL);
	return 2;
}
