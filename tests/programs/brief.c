/* SPDX-License-Identifier: GPL-3.0-or-later */
/* brief.c -- many threads or processes that each live for a millisecond.
 *
 * brief MODE N: the main thread uses as much CPU time in spin_main as N
 *	threads, children (which return from main or call _exit) or programs
 *	use in spin_brief, one after another, 0.5 to 1.5 ms each.  In mode
 *	lookups, children first fail to execute something.
 * brief MODE N real: the same, but real time.
 * brief work US FD: one of those programs; writes what it used to FD.
 * brief spin MS: only MS of CPU time.
 * brief report MS: the same, and prints the microseconds.
 * brief titles MS: MS in each of three children: one overwrites its arguments
 *	with "brief: writer", one calls its thread "brief-checker", and one has
 *	its name from the thread that forks it.
 * brief as USER MS: MS in a child that has become that user.
 * brief root MS: in a child with "/tmp" as its root directory.
 * brief clone MS: in a child of a raw clone.
 * brief confined MS: under a seccomp filter that kills at any system call that
 *	the program itself does not make.
 * brief refused MS: the same, but the calls fail.
 * brief full MS: with no room for another open file.
 * brief together N MS: N threads, all at once, that each use MS, what is left of
 *	them after their start in spin_brief.  Prints the microseconds of the
 *	main thread's clock, of theirs, and of theirs in spin_brief.
 * brief together N MS asleep: the same, but they sleep, in real time.
 * brief together N MS forked: likewise; then a child uses 100 ms of CPU time.
 *	Prints how long the child lived, and the threads' microseconds.
 * brief missing N: executes and spawns a program that does not exist, N times.
 *
 * Prints the microseconds used in spin_main and, if it knows them, in
 * spin_brief.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long main_sink, brief_sink;
static unsigned short seeds[3] = { 1, 2, 3 };

static clockid_t spent = CLOCK_THREAD_CPUTIME_ID;

static double
now(void)
{
	struct timespec time;

	clock_gettime(spent, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

__attribute__((noinline)) static double
spin_main(double us)
{
	const double start = now();

	while (now() - start < us)
		for (int i = 0; i < 2000; i++)
			main_sink++;
	return now() - start;
}

__attribute__((noinline)) static double
spin_brief(double us)
{
	const double start = now();

	while (now() - start < us)
		for (int i = 0; i < 2000; i++)
			brief_sink++;
	return now() - start;
}

__attribute__((noinline)) static void
look_for_missing(int n)
{
	char *const words[] = { (char *)"missing", NULL };
	pid_t child;

	for (int i = 0; i < n; i++) {
		execv("/none/such", words);
		main_sink += posix_spawn(&child, "/none/such", NULL, NULL,
		    words, words);
	}
}

/* A file of one number: what a child has used, which a sample may add to. */
static int report = -1;

static void
write_report(double us)
{
	if (pwrite(report, &us, sizeof us, 0) != sizeof us)
		_exit(1);
}

static double
read_report(void)
{
	double us;

	if (pread(report, &us, sizeof us, 0) != sizeof us)
		exit(1);
	return us;
}

static double
draw(void)
{
	return 500 + 1000 * erand48(seeds);
}

static void *
run(void *us)
{
	*(double *)us = spin_brief(*(double *)us);
	return us;
}

/* What a child does, and how it ends. */
static void
be_child(const char *mode, const char *program, double us)
{
	char text[32], number[16];

	if (strcmp(mode, "programs") == 0) {
		snprintf(text, sizeof text, "%f", us);
		snprintf(number, sizeof number, "%d", report);
		execl(program, program, "work", text, number, (char *)NULL);
		_exit(1);
	}
	write_report(spin_brief(us));
	if (strcmp(mode, "lookups") == 0)
		for (int i = 0; i < 8; i++)
			execl("/nonexistent/program", "program", (char *)NULL);
	if (strcmp(mode, "leaving") == 0)
		_exit(0);
	exit(0);
}

static double
run_one(const char *mode, const char *program)
{
	double us = draw();
	pthread_t thread;
	pid_t child;

	if (strcmp(mode, "threads") == 0) {
		if (pthread_create(&thread, NULL, run, &us) != 0)
			exit(1);
		pthread_join(thread, NULL);
		return us;
	}
	child = fork();
	if (child == 0)
		be_child(mode, program, us);
	waitpid(child, NULL, 0);
	return read_report();
}

struct use {
	double us, spun_us;
};

static void *
run_until(void *state)
{
	struct use *const use = state;

	use->spun_us = spin_brief(use->us - now());
	use->us = now();
	return NULL;
}

static void *
sleep_until(void *state)
{
	struct use *const use = state;
	const double start = now();

	usleep((useconds_t)use->us);
	use->us = now() - start;
	return NULL;
}

/* Returns how long the child lived. */
static double
spin_in_child(void)
{
	const double start = now();
	pid_t child = fork();

	if (child == 0) {
		spent = CLOCK_THREAD_CPUTIME_ID;
		spin_main(1e5);
		exit(0);
	}
	waitpid(child, NULL, 0);
	return now() - start;
}

static int
run_titles(char **words, double us)
{
	/* As setproctitle does: the arguments lie one after another. */
	static const char title[] = "brief: writer";
	char *const end = words[2] + strlen(words[2]);

	prctl(PR_SET_NAME, "brief-parent");
	for (int i = 0; i < 3; i++) {
		if (fork() != 0)
			continue;
		if (i == 0 && end - words[0] > (long)sizeof title) {
			memset(words[0], 0, (size_t)(end - words[0]));
			strcpy(words[0], title);
		}
		if (i == 1)
			prctl(PR_SET_NAME, "brief-checker");
		spin_main(us);
		exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int
run_together(int n, double us, void *(*task)(void *), bool forks)
{
	pthread_t *const threads = calloc((size_t)n, sizeof *threads);
	struct use *const used = calloc((size_t)n, sizeof *used);
	const double start = now();
	double sum = 0, spun = 0;

	if (threads == NULL || used == NULL)
		return 1;
	for (int i = 0; i < n; i++) {
		used[i].us = us;
		if (pthread_create(&threads[i], NULL, task, &used[i]) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		sum += used[i].us;
		spun += used[i].spun_us;
	}
	printf("%.0f %.0f", forks ? spin_in_child() : now() - start, sum);
	if (task == run_until)
		printf(" %.0f", spun);
	return puts("") < 0;
}

static void
spin_elsewhere(int n, char **words)
{
	pid_t child = strcmp(words[1], "clone") == 0 ?
	    (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0) : fork();
	int failed = 0;

	if (child != 0) {
		waitpid(child, &failed, 0);
		exit(failed != 0);
	}
	if (strcmp(words[1], "as") == 0)
		failed = setgid((gid_t)atoi(words[2])) != 0 ||
		    setuid((uid_t)atoi(words[2])) != 0;
	else if (strcmp(words[1], "root") == 0)
		failed = chroot("/tmp") != 0;
	if (!failed)
		spin_brief(1000 * atof(words[n - 1]));
	exit(failed);
}

#define LET_PASS(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void
confine(unsigned action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		LET_PASS(SYS_clock_gettime),
		LET_PASS(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, action),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(77);
}

int
main(int n, char **words)
{
	double used = 0, brief = 0;

	if (n < 3)
		return 2;
	if (n > 3 && strcmp(words[1], "work") == 0) {
		report = atoi(words[3]);
		write_report(spin_brief(atof(words[2])));
		return 0;
	}
	if (strcmp(words[1], "confined") == 0)
		confine(SECCOMP_RET_KILL_PROCESS);
	if (strcmp(words[1], "refused") == 0)
		confine(SECCOMP_RET_ERRNO | 1);
	if (strcmp(words[1], "full") == 0 &&
	    setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 3, 3 }) != 0)
		return 1;
	if (strcmp(words[1], "spin") == 0 || strcmp(words[1], "full") == 0 ||
	    strcmp(words[1], "confined") == 0 ||
	    strcmp(words[1], "refused") == 0) {
		spin_main(1000 * atof(words[2]));
		return 0;
	}
	if (strcmp(words[1], "report") == 0)
		return printf("%.0f\n", spin_main(1000 * atof(words[2]))) < 0;
	if (strcmp(words[1], "titles") == 0)
		return run_titles(words, 1000 * atof(words[2]));
	if (n > 4)	/* asleep, forked */
		spent = CLOCK_MONOTONIC;
	if (n > 3 && strcmp(words[1], "together") == 0)
		return run_together(atoi(words[2]), 1000 * atof(words[3]),
		    n > 4 ? sleep_until : run_until,
		    n > 4 && strcmp(words[4], "forked") == 0);
	if (strcmp(words[1], "missing") == 0) {
		look_for_missing(atoi(words[2]));
		return 0;
	}
	if (strcmp(words[1], "as") == 0 || strcmp(words[1], "root") == 0 ||
	    strcmp(words[1], "clone") == 0)
		spin_elsewhere(n, words);
	if (n > 3 && strcmp(words[3], "real") == 0)
		spent = CLOCK_MONOTONIC;
	report = (int)syscall(SYS_memfd_create, "report", 0);
	for (int i = 0; i < atoi(words[2]); i++) {
		used += spin_main(draw());
		brief += run_one(words[1], words[0]);
	}
	printf("%.0f %.0f\n", used, brief);
	return 0;
}
