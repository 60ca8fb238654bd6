/* SPDX-License-Identifier: GPL-3.0-or-later */
/* target.c -- a program for the collector to sample: `target MODE [NUMBER]`.
 *
 * Each mode does one thing that makes sampling difficult, prints one line that
 * does not depend on sampling, and exits with a status of its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/spin.h"

#define NOINLINE __attribute__((noinline, noclone))

extern char **environ;

static NOINLINE void
recurse(unsigned depth, long ms)
{
	if (depth == 0)
		spin(ms);
	else
		recurse(depth - 1, ms);
	sink++;
}

static int
run_spin(long ms)
{
	spin(ms);
	puts("spun");
	return 3;
}

static void *
spin_alone(void *ms)
{
	spin(*(long *)ms);
	_exit(3);
}

/* The first thread ends, another one goes on. */
static int
run_headless(long ms)
{
	static long time;
	pthread_t thread;

	time = ms;
	pthread_create(&thread, NULL, spin_alone, &time);
	pthread_exit(NULL);
}

/* Works for a millisecond of CPU time and sleeps for one, again and again. */
static int
run_doze(long ms)
{
	const struct timespec rest = { .tv_nsec = 1000000 };

	for (; ms > 0; ms--) {
		spin(1);
		nanosleep(&rest, NULL);
	}
	return 0;
}

static inline __attribute__((always_inline)) void
spin_until(int64_t ns)
{
	while (thread_ns() < ns)
		spin_round(1000);
}

static NOINLINE void
beat(int64_t until_ns)
{
	spin_until(until_ns);
	sink++;
}

static NOINLINE void
beat_on(int64_t until_ns)
{
	spin_until(until_ns);
	sink--;
}

/* Of each 4 ms of CPU time, the first is beat()'s, the others beat_on()'s. */
static int
run_beat(long ms)
{
	for (int64_t at = 4; at < ms; at += 4) {
		beat(1000000 * (at + 1));
		beat_on(1000000 * (at + 4));
	}
	return 0;
}

/*
 * Goes down and up all the time, some 60 frames of 500 bytes deep, so that
 * outer frames are others a little later.
 */
static NOINLINE void
wander(int depth, unsigned choice)
{
	volatile char frame[400];

	frame[0] = (char)depth;
	for (int i = 0; depth == 0 && i < 100; i++)
		sink++;
	if (depth > 0)
		wander(depth - 1, choice * 1103515245 + 12345);
	if (depth > 0 && (choice >> 16 & 7) == 0)
		wander(depth - 1, choice * 22695477 + 1);
	sink += (unsigned)frame[0];
}

static int
run_wander(long ms)
{
	struct timespec now;
	uint64_t end_ns = 0, now_ns = 0;

	for (unsigned i = 0; now_ns <= end_ns; i++) {
		wander(60, i * 7919);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		now_ns = (uint64_t)now.tv_sec * 1000000000 +
		    (uint64_t)now.tv_nsec;
		if (i == 0)
			end_ns = now_ns + (uint64_t)ms * 1000000;
	}
	puts("wandered");
	return 3;
}

static void *
recurse_in_thread(void *depth)
{
	recurse(*(unsigned *)depth, 400);
	return NULL;
}

static int
run_recursion(long depth)
{
	unsigned n = (unsigned)depth;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 20);
	if (pthread_create(&thread, &attr, recurse_in_thread, &n) != 0)
		return 1;
	pthread_join(thread, NULL);
	puts("recursed");
	return 0;
}

static NOINLINE void *
worker(void *argument)
{
	pthread_setname_np(pthread_self(), "worker");
	spin(20);
	return argument;
}

static NOINLINE int
worker_c11(void *argument)
{
	spin(40);
	return argument == NULL;
}

static int
run_threads(long n)
{
	pthread_t thread;
	thrd_t other;
	long i;

	for (i = 0; i < n; i++) {
		if (pthread_create(&thread, NULL, worker, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	if (thrd_create(&other, worker_c11, NULL) != thrd_success)
		return 1;
	thrd_join(other, NULL);
	puts("threads done");
	return 0;
}

static void *
exit_early(void *argument)
{
	spin(30);
	pthread_exit(argument);
}

static void *
be_cancelled(void *argument)
{
	for (;;) {
		spin(5);
		pthread_testcancel();
	}
	return argument;
}

static int
run_ends(long unused)
{
	pthread_t threads[2];
	void *result;

	(void)unused;
	pthread_create(&threads[0], NULL, exit_early, threads);
	pthread_create(&threads[1], NULL, be_cancelled, NULL);
	spin(60);
	pthread_cancel(threads[1]);
	pthread_join(threads[0], &result);
	printf("%d", result == threads);
	pthread_join(threads[1], &result);
	printf("%d\n", result == PTHREAD_CANCELED);
	return 0;
}

static NOINLINE void
in_child(void)
{
	spin(80);
	sink++;		/* not a tail call, so that the frame exists */
}

static int
run_fork(long unused)
{
	int status = 0;
	pid_t child;

	(void)unused;
	spin(40);
	child = fork();
	if (child == 0) {
		in_child();
		_exit(7);
	}
	waitpid(child, &status, 0);
	child = (pid_t)syscall(SYS_fork);	/* unnoticed by the library */
	if (child == 0) {
		spin(20);
		exit(8);
	}
	waitpid(child, &status, 0);
	child = vfork();
	if (child == 0)
		_exit(9);
	waitpid(child, &status, 0);
	spin(40);
	printf("child %d\n", WEXITSTATUS(status));
	return 0;
}

/* A fork that takes longer than the interval must still end. */
static int
run_big_fork(long megabytes)
{
	size_t size = (size_t)megabytes << 20;
	char *memory = malloc(size);
	int i, status = 0;

	if (memory == NULL)
		return 1;
	memset(memory, 1, size);
	for (i = 0; i < 5; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(memory[size / 2]);
		waitpid(child, &status, 0);
	}
	printf("big fork %d\n", WEXITSTATUS(status));
	return 0;
}

static int
run_exec(long unused)
{
	static char name[] = "target", mode[] = "spin", ms[] = "100";
	char *arguments[] = { name, mode, ms, NULL };

	(void)unused;
	spin(100);
	execv("/proc/self/exe", arguments);
	return 1;
}

static int
run_spawn(long unused)
{
	static char name[] = "target", mode[] = "spin", ms[] = "60";
	char *arguments[] = { name, mode, ms, NULL };
	int status = 0;
	pid_t child;

	(void)unused;
	spin(60);
	if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments,
	    environ) != 0)
		return 1;
	waitpid(child, &status, 0);
	spin(60);
	printf("spawned %d\n", WEXITSTATUS(status));
	return 0;
}

static int
run_kill(long ms)
{
	spin(ms);
	kill(getpid(), SIGKILL);
	return 1;
}

static int
run_block_all(long ms)
{
	sigset_t all, seen;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	spin(ms);
	sigprocmask(SIG_SETMASK, NULL, &seen);
	printf("blocked %d\n", sigismember(&seen, SIGRTMAX - 1));
	return 0;
}

/* Sets all actions to the default, then to a handler that works. */
static volatile sig_atomic_t n_caught;

static void
catch(int number)
{
	n_caught += number;
}

static int
run_actions(long ms)
{
	struct sigaction action, old;
	int number;

	memset(&action, 0, sizeof action);
	for (number = 1; number <= 64; number++) {
		signal(number, SIG_DFL);
		sysv_signal(number, SIG_DFL);
		sigaction(number, &action, NULL);
	}
	spin(ms / 2);
	action.sa_handler = catch;
	sigfillset(&action.sa_mask);
	for (number = 1; number <= 64; number++)
		sigaction(number, &action, NULL);
	spin(ms / 2);
	sigaction(SIGRTMAX - 1, NULL, &old);
	printf("mine %d, ", old.sa_handler == catch);
	raise(SIGRTMAX - 1);
	printf("caught %d\n", n_caught);
	return 0;
}

/* What a handler finds blocked, how deep it is nested when it raises its own
 * signal once more, and what is blocked afterwards. */
static volatile sig_atomic_t depth, deepest, n_nested, blocked_inside;

static int
blocked_signals(void)
{
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	return sigismember(&mask, SIGUSR1) + 2 * sigismember(&mask, SIGUSR2);
}

static void
nest(int number)
{
	if (++depth > deepest)
		deepest = depth;
	blocked_inside = blocked_signals();
	if (n_nested++ == 0)
		raise(number);
	depth--;
}

static int
run_handler_mask(long ms)
{
	struct sigaction action = { .sa_handler = nest };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaddset(&action.sa_mask, SIGUSR2);
	for (int i = 0; i < 2; i++) {
		action.sa_flags = i == 0 ? 0 : SA_NODEFER;
		sigaction(SIGRTMAX - 1, &action, NULL);
		deepest = n_nested = 0;
		spin(ms / 2);
		raise(SIGRTMAX - 1);
		printf("%d times, %d deep, blocked %d, then %d\n", n_nested,
		    deepest, blocked_inside, blocked_signals());
	}
	return 0;
}

static int
run_default_action(long ms)
{
	spin(ms);
	fflush(stdout);
	raise(SIGRTMAX - 1);
	return 1;
}

/* A blocked signal stays pending and can be waited for; then it is caught. */
static int
run_blocked_signal(long ms)
{
	const union sigval value = { .sival_int = 7 };
	struct timespec timeout = { 0, 100000000 };
	sigset_t all, pending;
	siginfo_t info;
	int early, got;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	sigqueue(getpid(), SIGRTMAX - 1, value);
	spin(ms);
	sigpending(&pending);
	got = sigtimedwait(&all, &info, &timeout);
	printf("pending %d, got %d with %d, ", sigismember(&pending,
	    SIGRTMAX - 1), got, info.si_value.sival_int);
	signal(SIGRTMAX - 1, catch);
	raise(SIGRTMAX - 1);
	early = n_caught;
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	printf("caught %d then %d\n", early, n_caught);
	return 0;
}

/*
 * Four call paths to one function, which does 10, 20, 30 and 40% of its work
 * for them, in small pieces without a regular order.
 */
static NOINLINE void
work(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		sink = sink * 31 + i;
}

static NOINLINE void
share_10(void)
{
	work(5000);
	sink++;
}

static NOINLINE void
share_20(void)
{
	work(10000);
	sink++;
}

static NOINLINE void
share_30(void)
{
	work(15000);
	sink++;
}

static NOINLINE void
share_40(void)
{
	work(20000);
	sink++;
}

/* Each equally often, starting with a random one. */
static inline __attribute__((always_inline)) void
share(long n)
{
	static void (*const shares[])(void) = { share_10, share_20, share_30,
	    share_40 };
	static unsigned random = 1;
	int i;

	while (n-- > 0) {
		random = random * 1103515245 + 12345;
		for (i = 0; i < 4; i++)
			shares[((random >> 16) + (unsigned)i) % 4]();
	}
}

static int
run_shares(long ms)
{
	spend(ms, 1, share);
	puts("shared");
	return 0;
}

static int
run_close_all(long ms)
{
	char name[32];
	int fd, first;

	first = open("/dev/null", O_RDONLY);
	for (fd = 3; fd < 4096; fd++)
		close(fd);
	if (chdir("/") != 0)
		return 1;
	spin(ms / 2);
	/* Many nodes, so that the file grows to 100 KB and more. */
	for (fd = 0; fd < 500; fd += ms < 100 ? 10 : 1) {
		snprintf(name, sizeof name, "%d", fd);
		recurse((unsigned)fd, 2);
	}
	printf("closed, first %d\n", first);
	return 0;
}

static int pipes[2], epoll;
static unsigned long n_polled, n_failed;

static void
poll_often(long n)
{
	struct timespec moment = { 0, 1000 };
	struct epoll_event event;

	while (n-- > 0) {
		struct pollfd fd = { .fd = pipes[0], .events = POLLIN };
		struct timeval none = { 0, 0 };

		n_failed += poll(&fd, 1, 0) < 0;
		n_failed += ppoll(&fd, 1, &(struct timespec){ 0, 0 }, NULL) < 0;
		n_failed += select(0, NULL, NULL, NULL, &none) < 0;
		n_failed += epoll_wait(epoll, &event, 1, 0) < 0;
		if (n_polled++ % 64 == 0)
			n_failed += nanosleep(&moment, NULL) < 0;
	}
}

/* Interruptible calls must not fail. */
static int
run_poll(long ms)
{
	struct epoll_event event = { .events = EPOLLIN };

	epoll = epoll_create1(0);
	if (pipe(pipes) != 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0],
	    &event) != 0)
		return 1;
	spend(ms, 10, poll_often);
	printf("failed %lu\n", n_failed);
	return n_polled < 100;
}

static int
run_small_file(long limit)
{
	struct rlimit size = { (rlim_t)limit, (rlim_t)limit };
	unsigned i;

	setrlimit(RLIMIT_FSIZE, &size);
	for (i = 0; i < 300; i++)
		recurse(i * 20, 2);
	puts("limited");
	return 0;
}

#define N_FILES 50

static sem_t has_spun, may_end;

static void *
spin_and_stay(void *ms)
{
	spin((long)(intptr_t)ms);
	sem_post(&has_spun);
	sem_wait(&may_end);
	return NULL;
}

/* Opens files while so many threads live that have spun for some ms. */
static int
run_files(long n_threads)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int n = 0;
	long i;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 18);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (i = 0; i < n_threads; i++) {
		if (pthread_create(&thread, &attributes, spin_and_stay,
		    (void *)1) != 0)
			return 1;
		sem_wait(&has_spun);
	}
	while (n < N_FILES && open("/dev/null", O_RDONLY) >= 0)
		n++;
	for (i = 0; i < n_threads; i++)
		sem_post(&may_end);
	printf("files %d\n", n);
	return 0;
}

/* Loads, uses and unloads a library again and again. */
static int
run_load(long n)
{
	double (*cosine)(double) = NULL;
	double sum = 0;
	long i;
	int j;

	for (i = 0; i < n; i++) {
		void *handle = dlopen("libm.so.6", RTLD_NOW);

		if (handle == NULL)
			return 1;
		*(void **)&cosine = dlsym(handle, "cos");
		for (j = 0; j < 300000; j++)
			sum += cosine(1e6 + j);
		dlclose(handle);
	}
	printf("loaded %d\n", sum != 0);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(long);
} modes[] = {
	{ "spin", run_spin },
	{ "headless", run_headless },
	{ "doze", run_doze },
	{ "beat", run_beat },
	{ "recursion", run_recursion },
	{ "wander", run_wander },
	{ "threads", run_threads },
	{ "ends", run_ends },
	{ "fork", run_fork },
	{ "big-fork", run_big_fork },
	{ "exec", run_exec },
	{ "spawn", run_spawn },
	{ "kill", run_kill },
	{ "block-all", run_block_all },
	{ "actions", run_actions },
	{ "handler-mask", run_handler_mask },
	{ "default-action", run_default_action },
	{ "blocked-signal", run_blocked_signal },
	{ "shares", run_shares },
	{ "close-all", run_close_all },
	{ "poll", run_poll },
	{ "small-file", run_small_file },
	{ "files", run_files },
	{ "load", run_load },
};

int
main(int argc, char **argv)
{
	int status;
	size_t i;

	for (i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			status = modes[i].run(argc > 2 ? atol(argv[2]) : 0);
			sink++;
			return status;
		}
	fputs("usage: target MODE [NUMBER]\n", stderr);
	return 2;
}
